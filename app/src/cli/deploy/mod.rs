//! `sluice deploy`: copies this program to another computer, where it then is an engine.

mod remote;

use std::{
    env,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};
use sluice_engine::units;

use super::{
    exit::{Outcome, refuse, stderr_line},
    stdout,
};
use crate::engines::Engines;
use remote::{Remote, RemoteError};

const EXAMPLES: &str = "\
Examples:
  sluice deploy attic
  sluice deploy --ssh \"ssh -p 2222 -i ~/.ssh/lab\" --to /opt/sluice me@lab.example";

/// Copy this program to another computer over SSH, to use it as an engine there.
///
/// Copies the program and, if it is installed, the engine for NVIDIA GPUs, unless the same ones are already there. Prints
/// what to give as --engine.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The computer, as for ssh: a name, or user@name.
    #[arg(value_name = "HOST")]
    host: String,
    /// The folder there. A path that does not begin with / is in the home folder.
    #[arg(long, value_name = "FOLDER", default_value = ".local/bin")]
    to: String,
    /// The ssh program with its options.
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    ssh: String,
    /// Do not show progress.
    #[arg(short, long)]
    quiet: bool,
}

/// Why a program is not copied.
#[derive(Debug, thiserror::Error)]
enum DeployError {
    /// What follows would be an option of ssh.
    #[error("{host} is no name of a computer")]
    Host { host: String },
    /// The command for ssh cannot be split.
    #[error("the command {command} is empty or has a quotation mark too few")]
    Ssh { command: String },
    /// Another kind of computer.
    #[error("this program is for {own}, and {host} is {there}")]
    OtherKind { own: &'static str, host: String, there: String },
    /// The bytes differ.
    #[error("{file} arrived on {host} with other bytes than it was sent with")]
    Damaged { file: String, host: String },
    /// It cannot be run there.
    #[error("{file} was copied to {host}, but does not start there: {words}")]
    DoesNotStart { file: String, host: String, words: String },
    /// A step failed there.
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

impl DeployError {
    fn advice(&self) -> String {
        match self {
            Self::Host { .. } => "Write it as for ssh, such as me@attic.".to_owned(),
            Self::Ssh { .. } => "Write it as for a shell, such as: --ssh \"ssh -p 2222\"".to_owned(),
            Self::OtherKind { .. } => {
                "Install Sluice there from its own package, with the same version as here.".to_owned()
            }
            Self::Damaged { .. } => {
                "Try again, and look whether the disk of that computer is full. The old file is still in place.".to_owned()
            }
            Self::DoesNotStart { .. } => {
                "That computer may have older system libraries. Install Sluice there from its own package.".to_owned()
            }
            Self::Remote(error) => error.advice().to_owned(),
        }
    }
}

/// A program to be copied.
struct Program {
    name: String,
    path: PathBuf,
    bytes: u64,
    sha256: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let programs = own_programs()?;
    let engine = deploy(args, &programs).map_err(|error| match error {
        Stop::Refused(error) => {
            let advice = error.advice();
            refuse(error.to_string(), advice)
        }
        Stop::Here(error) => error,
    })?;
    stdout::line(&engine)?;
    Ok(Outcome::Done)
}

/// Why it ends early.
enum Stop {
    /// Because of the other computer.
    Refused(DeployError),
    /// Because of this one.
    Here(anyhow::Error),
}

impl<E: Into<DeployError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

/// This program, and the engine for GPUs next to it.
fn own_programs() -> anyhow::Result<Vec<Program>> {
    let own = env::current_exe().context("the program does not know where it is")?;
    let engines = Engines::beside(&own);
    let others = engines.programs.into_iter().map(|program| program.path).filter(|path| *path != own);
    std::iter::once(own.clone()).chain(others).map(|path| Program::read(&path)).collect()
}

impl Program {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let unreadable = || format!("{} cannot be read", path.display());
        let mut file = File::open(path).with_context(unreadable)?;
        let bytes = file.metadata().with_context(unreadable)?.len();
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer).with_context(unreadable)? {
                0 => break,
                count => hash.update(&buffer[..count]),
            }
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { name, path: path.to_owned(), bytes, sha256 })
    }
}

/// Copies what is missing or different, and returns the command of the best engine there.
fn deploy(args: &Args, programs: &[Program]) -> Result<String, Stop> {
    if args.host.is_empty() || args.host.starts_with('-') {
        return Err(DeployError::Host { host: args.host.clone() }.into());
    }
    let ssh = shlex::split(&args.ssh).filter(|words| !words.is_empty());
    let ssh = ssh.ok_or_else(|| DeployError::Ssh { command: args.ssh.clone() })?;
    let remote = Remote { ssh, host: args.host.clone() };
    let say = |line: &str| {
        if !args.quiet {
            stderr_line(line);
        }
    };
    let there = remote.kind()?;
    if there != own_kind() {
        return Err(DeployError::OtherKind { own: own_kind(), host: args.host.clone(), there }.into());
    }
    let folder = remote.folder(&args.to)?;
    let mut best = None;
    for program in programs {
        let Program { name, sha256, .. } = program;
        let path = format!("{folder}/{name}");
        if remote.sha256(&path)?.as_ref() == Some(sha256) {
            say(&format!("{path} is already there"));
        } else {
            say(&format!("copying {name}, {}", units::memory(program.bytes)));
            copy(&remote, program, &path, args.quiet)?;
        }
        match remote.starts(&path)? {
            Ok(()) => best = Some(path),
            Err(words) if best.is_some() => say(&format!("{name} cannot be used there: {words}")),
            Err(words) => {
                let host = args.host.clone();
                return Err(DeployError::DoesNotStart { file: path, host, words }.into());
            }
        }
    }
    let path = best.unwrap_or_default();
    let engine = remote.engine(&path);
    say("Use it with --engine, or add it in the window under Settings:");
    Ok(engine)
}

/// Copies a program under another name and gives it its own one when it has arrived whole.
fn copy(remote: &Remote, program: &Program, path: &str, quiet: bool) -> Result<(), Stop> {
    let unreadable = |error: io::Error| {
        Stop::Here(anyhow::Error::from(error).context(format!("{} cannot be read", program.path.display())))
    };
    let mut file = File::open(&program.path).map_err(unreadable)?;
    let part = format!("{path}.part");
    remote.write(&part, &mut file, program.bytes, quiet)?;
    if remote.sha256(&part)?.as_ref() != Some(&program.sha256) {
        remote.remove(&part)?;
        let (file, host) = (path.to_owned(), remote.host.clone());
        return Err(DeployError::Damaged { file, host }.into());
    }
    Ok(remote.put_in_place(&part, path)?)
}

/// What this program is for, in the words of `uname -sm`.
fn own_kind() -> &'static str {
    match (env::consts::OS, env::consts::ARCH) {
        ("linux", "x86_64") => "Linux x86_64",
        ("linux", "aarch64") => "Linux aarch64",
        ("macos", "aarch64") => "Darwin arm64",
        ("macos", "x86_64") => "Darwin x86_64",
        ("windows", _) => "Windows",
        _ => "another kind of computer",
    }
}
