//! `sluice deploy`: copies this program, and what comes with it, to another computer, where it then is an engine.

mod assets;
mod remote;

use std::{
    env,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};
use sluice_engine::units;

use super::{
    exit::{Outcome, refuse, stderr_line},
    progress::tenths,
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
/// Copies the program, the models and tokenizers that come with it, and the engine for NVIDIA GPUs if that is next to it,
/// as far as they are not already there. Prints what to give as --engine.
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
    /// Leave out the models that come with Sluice: the starters and the upscaler.
    #[arg(long)]
    no_models: bool,
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
    /// It leads to another engine there.
    #[error("{file} on {host} leads to an engine that cannot be used: {words}")]
    OtherEngine { file: String, host: String, words: String },
    /// It does not see what was copied for it.
    #[error("{file} on {host} cannot open the starter model: {words}")]
    NoStarter { file: String, host: String, words: String },
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
            Self::OtherEngine { .. } => {
                "Look which sluice-cuda is beside it on that computer, and remove that or replace it.".to_owned()
            }
            Self::NoStarter { .. } => {
                "If SLUICE_ASSETS is set on that computer, remove it there. Or leave the models out with --no-models."
                    .to_owned()
            }
            Self::Remote(error) => error.advice().to_owned(),
        }
    }
}

/// A file to be copied.
struct OwnFile {
    /// Its name in the folder that it goes to, with `/` between the folders in it.
    name: String,
    path: PathBuf,
    bytes: u64,
    sha256: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let programs = own_programs()?;
    let assets = assets::own(!args.no_models)?;
    let engine = deploy(args, &programs, &assets).map_err(|error| match error {
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
fn own_programs() -> anyhow::Result<Vec<OwnFile>> {
    let own = env::current_exe().context("the program does not know where it is")?;
    let engines = Engines::beside(&own);
    let others = engines.programs.into_iter().map(|program| program.path).filter(|path| *path != own);
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    std::iter::once(own.clone()).chain(others).map(|path| OwnFile::read(name(&path), &path)).collect()
}

impl OwnFile {
    fn open(&self) -> Result<File, Stop> {
        let unreadable = || format!("{} cannot be read", self.path.display());
        File::open(&self.path).with_context(unreadable).map_err(Stop::Here)
    }

    fn read(name: String, path: &Path) -> anyhow::Result<Self> {
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
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { name, path: path.to_owned(), bytes, sha256 })
    }
}

/// Copies what is missing or different, and returns the command of the engine there.
fn deploy(args: &Args, programs: &[OwnFile], assets: &[OwnFile]) -> Result<String, Stop> {
    if args.host.is_empty() || args.host.starts_with('-') {
        return Err(DeployError::Host { host: args.host.clone() }.into());
    }
    let ssh = shlex::split(&args.ssh).filter(|words| !words.is_empty());
    let ssh = ssh.ok_or_else(|| DeployError::Ssh { command: args.ssh.clone() })?;
    let host = args.host.clone();
    let remote = Remote { ssh, host: host.clone() };
    let there = remote.kind()?;
    if there != own_kind() {
        return Err(DeployError::OtherKind { own: own_kind(), host, there }.into());
    }
    let folder = remote.folder(&args.to)?;
    let mut own = None;
    for program in programs {
        let OwnFile { name, sha256, .. } = program;
        let path = format!("{folder}/{name}");
        if remote.sha256(&[&path])?.first() == Some(&Some(sha256.clone())) {
            say(args.quiet, &format!("{path} is already there"));
        } else {
            say(args.quiet, &format!("copying {name}, {}", units::memory(program.bytes)));
            copy(&remote, program, &path, args.quiet)?;
        }
        match (remote.runs(&path, &["worker", "--own"])?, own.is_some()) {
            (Ok(()), false) => own = Some(path),
            (Ok(()), true) => {}
            (Err(words), true) => say(args.quiet, &format!("{name} cannot be used there: {words}")),
            (Err(words), false) => return Err(DeployError::DoesNotStart { file: path, host, words }.into()),
        }
    }
    let path = own.unwrap_or_default();
    if let Err(words) = remote.greets(&path)? {
        return Err(DeployError::OtherEngine { file: path, host, words }.into());
    }
    assets::copy(&remote, assets, &assets::folder_for(&remote.without_links(&folder)?), args.quiet)?;
    if assets.iter().any(|file| file.name.starts_with("starter/"))
        && let Err(words) = remote.runs(&path, &["inspect", "starter"])?
    {
        return Err(DeployError::NoStarter { file: path, host, words }.into());
    }
    say(args.quiet, "Use it with --engine, or add it in the window under Settings:");
    Ok(remote.engine(&path))
}

fn say(quiet: bool, line: &str) {
    if !quiet {
        stderr_line(line);
    }
}

/// Copies a program under another name and gives it its own one when it has arrived whole.
fn copy(remote: &Remote, program: &OwnFile, path: &str, quiet: bool) -> Result<(), Stop> {
    let part = format!("{path}.part");
    send(remote, program, &part, &mut progress(program.bytes, quiet))?;
    if remote.sha256(&[&part])?.first() != Some(&Some(program.sha256.clone())) {
        remote.remove(&[&part])?;
        let (file, host) = (path.to_owned(), remote.host.clone());
        return Err(DeployError::Damaged { file, host }.into());
    }
    Ok(remote.put_in_place(&part, path)?)
}

/// Sends a file.
fn send(remote: &Remote, file: &OwnFile, to: &str, told: &mut impl FnMut(usize)) -> Result<(), Stop> {
    Ok(remote.write(to, &mut file.open()?, told)?)
}

/// Shows how much of some bytes is sent; takes how many were sent each time.
fn progress(bytes: u64, quiet: bool) -> impl FnMut(usize) {
    let (mut show, mut sent) = (tenths(quiet), 0_u64);
    move |count| {
        sent += count as u64;
        show(sent as f64 / bytes.max(1) as f64);
    }
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
