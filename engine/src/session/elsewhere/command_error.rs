//! Commands that lead to no engine.

use std::io;

use crate::session::event::Failure;

/// Why an engine's command cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The operating system does not start it.
    #[error("the engine's command {program} cannot be started: {cause}")]
    NotStarted { program: String, cause: io::Error },
    /// It ended.
    #[error("the engine's command ended before the engine answered: {how}")]
    Ended { how: String },
    /// It wrote text.
    #[error("the engine's command wrote something else than an engine does: {words}")]
    OtherWords { words: String },
    /// It wrote nothing for long.
    #[error("the engine's command does not answer")]
    Silent,
}

impl CommandError {
    fn advice(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } => "Check the name of the program, and whether it is installed.",
            Self::Ended { .. } => {
                "Run the command in a terminal to see what it says. Sluice has to be installed where it leads to."
            }
            Self::OtherWords { .. } => {
                "What a shell prints when it starts there, such as a greeting, must not be printed without a terminal."
            }
            Self::Silent => {
                "Run the command in a terminal. If it asks for something, such as a password, nobody can answer here."
            }
        }
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        Self { message: error.to_string(), advice: Some(error.advice().to_owned()) }
    }
}
