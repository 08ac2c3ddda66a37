//! The programs that can serve as the engine: they stand beside this one.

use std::{env, io, path::Path};

use sluice_engine::session::{Failure, WorkerProgram};

/// The engine for NVIDIA cards, as it is called in the window.
pub const CUDA: &str = "CUDA";
/// Its program; it needs libraries that not every machine has, so it is one of its own.
const CUDA_PROGRAM: &str = "sluice-cuda";

/// What can serve, the fastest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engines {
    /// In the order in which they are tried.
    pub programs: Vec<WorkerProgram>,
    /// Why the engine for NVIDIA cards is not among them.
    pub without_cuda: Option<Failure>,
}

impl Engines {
    /// Those beside the running program.
    ///
    /// # Errors
    /// When the operating system does not say where that is.
    pub fn find() -> io::Result<Self> {
        Ok(Self::beside(&env::current_exe()?))
    }

    /// Those beside a program, which is the last of them itself.
    pub fn beside(program: &Path) -> Self {
        let worker = |engine: &str, path: &Path| WorkerProgram {
            engine: engine.to_owned(),
            path: path.to_owned(),
            arguments: vec!["worker".into()],
        };
        let cuda = program.with_file_name(format!("{CUDA_PROGRAM}{}", env::consts::EXE_SUFFIX));
        let here = worker("CPU", program);
        if cuda.is_file() {
            return Self { programs: vec![worker(CUDA, &cuda), here], without_cuda: None };
        }
        let missing = Failure {
            message: format!("The engine for NVIDIA cards is not installed: there is no {}.", cuda.display()),
            advice: Some("The README says how it is built.".to_owned()),
        };
        Self { programs: vec![here], without_cuda: Some(missing) }
    }
}
