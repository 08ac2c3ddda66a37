//! The programs that can serve as the engine, which are installed next to this one.

use std::{env, io, path::Path};

use sluice_engine::session::{Failure, WorkerProgram};

/// The name of the engine for NVIDIA GPUs.
pub const CUDA: &str = "CUDA";
/// Its program. It is separate, because it needs libraries that not every machine has.
const CUDA_PROGRAM: &str = "sluice-cuda";

/// The available engines, fastest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engines {
    /// In the order in which they are tried.
    pub programs: Vec<WorkerProgram>,
    /// Why the engine for NVIDIA GPUs is not available.
    pub without_cuda: Option<Failure>,
}

impl Engines {
    /// The engines next to the running program.
    ///
    /// # Errors
    /// Fails if the operating system does not know the path of the program.
    pub fn find() -> io::Result<Self> {
        Ok(Self::beside(&env::current_exe()?))
    }

    /// The engines next to a program; the program itself is the last of them.
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
            message: format!("The engine for NVIDIA GPUs is not installed: {} is missing.", cuda.display()),
            advice: Some("The README explains how to install it.".to_owned()),
        };
        Self { programs: vec![here], without_cuda: Some(missing) }
    }
}
