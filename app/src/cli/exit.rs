//! How the program ends: exit codes and error messages.

use std::{
    fmt,
    process::{self, ExitCode},
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::Context;
use crossbeam_channel::{Receiver, bounded};
use sluice_engine::{session::Failure, units::without_numbers};

const FAILED: u8 = 1;
const CANCELLED: u8 = 130;

/// How a command ended. Of several outcomes, the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Done,
    /// The failure has been written to the standard error.
    Failed,
    Cancelled,
}

/// A failure with advice.
#[derive(Debug)]
pub(super) struct Explained(pub Failure);

/// An error with advice.
pub(super) fn refuse(message: String, advice: String) -> anyhow::Error {
    Explained(Failure { message, advice: Some(advice) }).into()
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Explained {}

/// Writes an error to the standard error and returns the exit code.
pub(super) fn report(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Cancelled) => {
            stderr_line("cancelled");
            CANCELLED.into()
        }
        Ok(Outcome::Failed) => FAILED.into(),
        Err(error) => {
            match error.downcast_ref() {
                Some(Explained(failure)) => complain(failure),
                None => stderr_line(&format!("error: {}", without_numbers(&format!("{error:#}")))),
            }
            FAILED.into()
        }
    }
}

/// Writes a failure and its advice to the standard error.
pub(super) fn complain(Failure { message, advice }: &Failure) {
    stderr_line(&format!("error: {}", without_numbers(message)));
    if let Some(advice) = advice {
        stderr_line(&format!("help: {advice}"));
    }
}

/// Writes clap's message: the help, the version, or a usage error.
pub(super) fn usage(message: &clap::Error) -> ExitCode {
    if let Err(error) = message.print() {
        // The reader of a long help text may close the pipe early.
        tracing::debug!(%error, "the message was not written");
    }
    u8::try_from(message.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Writes a line to the standard error. Ignores errors, because there is nobody to report them to.
pub(super) fn stderr_line(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A channel that receives the first Ctrl-C; the second one ends the program at once.
pub(super) fn interrupts() -> anyhow::Result<Receiver<()>> {
    static PRESSED: AtomicBool = AtomicBool::new(false);
    let (sender, receiver) = bounded(1);
    ctrlc::set_handler(move || {
        if PRESSED.swap(true, Ordering::Relaxed) || sender.try_send(()).is_err() {
            process::exit(CANCELLED.into());
        }
    })
    .context("cannot set a handler for Ctrl-C")?;
    Ok(receiver)
}
