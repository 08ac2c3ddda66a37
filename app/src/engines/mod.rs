//! The engines: programs next to this one, and commands that lead to others. Window and command line start them here.

pub mod cuda_engine;
mod greeting;
mod hand_over;
mod list;
mod start;
mod trial;

use std::{
    env, io,
    path::{Path, PathBuf},
};

use sluice_engine::session::{Failure, WorkerProgram};

use cuda_engine::Installed;
pub use greeting::greeting;
pub use hand_over::hand_over;
pub use list::{EngineList, OtherEngine, OwnCard, UsedEngine};
pub use start::{Card, Place, cards, start};
pub use trial::{Introduction, Trial};

/// The name of the engine for NVIDIA GPUs.
pub const CUDA: &str = "CUDA";
/// Its program. It is separate, because it needs libraries that not every machine has.
const CUDA_PROGRAM: &str = "sluice-cuda";
/// The name of the engine for the GPUs of Apple's chips.
pub const METAL: &str = "Metal";
/// Its program. It is separate, because it was never run: without it, Sluice computes on the CPU.
const METAL_PROGRAM: &str = "sluice-metal";

/// Whether the engine of this name computes on GPUs.
pub fn computes_on_gpus(engine: &str) -> bool {
    matches!(engine, CUDA | METAL)
}

/// Why the command of an engine cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandLineError {
    /// A quotation mark is missing, or a backslash is the last character.
    #[error("the engine's command has a quotation mark too few: {0}")]
    Quotes(String),
    /// There is nothing in it.
    #[error("the engine's command is empty")]
    Empty,
}

impl CommandLineError {
    /// What to do.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Quotes(_) => "Write it as for a shell, with quotation marks around what has spaces.",
            Self::Empty => "Write a command such as: ssh -T host sluice worker",
        }
    }
}

/// The engine behind a command, which is split as a shell does.
///
/// # Errors
/// When it cannot be split.
pub fn command(line: &str) -> Result<WorkerProgram, CommandLineError> {
    let words = shlex::split(line).ok_or_else(|| CommandLineError::Quotes(line.to_owned()))?;
    let (program, arguments) = words.split_first().ok_or(CommandLineError::Empty)?;
    Ok(WorkerProgram {
        engine: line.to_owned(),
        path: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        variables: Vec::new(),
    })
}

/// The engine for NVIDIA GPUs next to a program.
fn cuda_beside(program: &Path) -> PathBuf {
    cuda_in(program.parent().unwrap_or(Path::new("")))
}

/// The engine for NVIDIA GPUs in a folder.
fn cuda_in(folder: &Path) -> PathBuf {
    folder.join(format!("{CUDA_PROGRAM}{}", env::consts::EXE_SUFFIX))
}

/// The engine for Apple's GPUs next to a program.
fn metal_beside(program: &Path) -> PathBuf {
    program.with_file_name(METAL_PROGRAM)
}

/// A program that is an engine.
fn worker(engine: &str, path: &Path) -> WorkerProgram {
    WorkerProgram {
        engine: engine.to_owned(),
        path: path.to_owned(),
        arguments: vec!["worker".into()],
        variables: Vec::new(),
    }
}

/// The available engines, fastest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engines {
    /// In the order in which they are tried.
    pub programs: Vec<WorkerProgram>,
    /// Why no engine for GPUs is available.
    pub without_gpus: Option<Failure>,
}

impl Engines {
    /// The engines next to the running program, or else the one for NVIDIA GPUs that is installed for the user.
    ///
    /// # Errors
    /// Fails if the operating system does not know the path of the program.
    pub fn find() -> io::Result<Self> {
        let installed = cuda_engine::engines_folder().and_then(|folder| Installed::find(&folder));
        Ok(Self::of(&env::current_exe()?, installed.as_ref()))
    }

    /// The engines next to a program; the program itself is the last of them.
    pub fn beside(program: &Path) -> Self {
        Self::of(program, None)
    }

    /// The engines next to a program, or else the one for NVIDIA GPUs that is installed.
    fn of(program: &Path, installed: Option<&Installed>) -> Self {
        let cuda = cuda_beside(program);
        // It would hand over to the first one again otherwise.
        let arguments = vec!["worker".into(), "--own".into()];
        let here = WorkerProgram { arguments, ..worker("CPU", program) };
        if cuda.is_file() {
            return Self { programs: vec![worker(CUDA, &cuda), here], without_gpus: None };
        }
        let metal = metal_beside(program);
        if metal.is_file() {
            return Self { programs: vec![worker(METAL, &metal), here], without_gpus: None };
        }
        if let Some(installed) = installed {
            let program = worker(CUDA, &installed.program());
            let cuda = WorkerProgram { variables: installed.variables(), ..program };
            return Self { programs: vec![cuda, here], without_gpus: None };
        }
        let missing = Failure {
            message: format!("The engine for NVIDIA GPUs is not installed: {} is missing.", cuda.display()),
            advice: Some(
                "Install it with `sluice engine install`, or build it with packaging/cuda/build.".to_owned(),
            ),
        };
        Self { programs: vec![here], without_gpus: Some(missing) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_next_to_the_program_comes_before_one_that_is_installed() {
        let folder = tempfile::tempdir().unwrap();
        let engines = folder.path().join("engines");
        assert_eq!(Installed::find(&engines), None);
        let own = engines.join(concat!("cuda-", env!("CARGO_PKG_VERSION")));
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(cuda_in(&own), "").unwrap();
        let installed = Installed::find(&engines).unwrap();
        let program = folder.path().join("sluice");
        let found = Engines::of(&program, Some(&installed));
        assert_eq!((&found.programs[0].path, &found.without_gpus), (&cuda_in(&own), &None));
        let paths =
            found.programs[0].variables.iter().find(|(name, _)| name.to_string_lossy().ends_with("PATH"));
        let first = env::split_paths(&paths.unwrap().1).next().unwrap();
        assert_eq!(first, own.join("lib"));
        std::fs::write(cuda_beside(&program), "").unwrap();
        let beside = Engines::of(&program, Some(&installed));
        assert_eq!(beside.programs[0].path, cuda_beside(&program));
        assert!(beside.programs[0].variables.is_empty());
    }

    #[test]
    fn an_engine_for_apples_gpus_next_to_the_program_comes_before_the_cpu() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("sluice");
        std::fs::write(metal_beside(&program), "").unwrap();
        let found = Engines::beside(&program);
        assert_eq!(found.programs[0], worker(METAL, &folder.path().join("sluice-metal")));
        assert_eq!((found.programs[1].path.as_path(), found.without_gpus), (program.as_path(), None));
        assert!(found.programs.iter().map(|found| computes_on_gpus(&found.engine)).eq([true, false]));
    }

    #[test]
    fn commands_are_split_as_a_shell_does() {
        let found = command("ssh -T 'my host' \"sluice worker\" a\\ b").unwrap();
        assert_eq!(found.path, Path::new("ssh"));
        assert_eq!(found.arguments, ["-T", "my host", "sluice worker", "a b"]);
        assert!(matches!(command("ssh 'host"), Err(CommandLineError::Quotes(_))));
        assert_eq!(command("  "), Err(CommandLineError::Empty));
    }
}
