//! How the program ends: exit codes, and errors in words.

use std::{
    fmt,
    process::{self, ExitCode},
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::Context;
use crossbeam_channel::{Receiver, bounded};
use sluice_engine::session::Failure;

const FAILED: u8 = 1;
const CANCELLED: u8 = 130;

/// How a command ended. Of several, the greatest is what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Done,
    /// What failed has been written to the standard error.
    Failed,
    Cancelled,
}

/// A failure that says what to do about it.
#[derive(Debug)]
pub(super) struct Explained(pub Failure);

/// What cannot be done, and what can.
pub(super) fn refuse(message: String, advice: String) -> anyhow::Error {
    Explained(Failure { message, advice: Some(advice) }).into()
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Explained {}

/// Writes an error to the standard error and gives the exit code.
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
                None => stderr_line(&format!("error: {error:#}")),
            }
            FAILED.into()
        }
    }
}

/// Writes what went wrong and what to do about it to the standard error.
pub(super) fn complain(Failure { message, advice }: &Failure) {
    stderr_line(&format!("error: {message}"));
    if let Some(advice) = advice {
        stderr_line(&format!("help: {advice}"));
    }
}

/// Writes what clap has to say: help, the version, or what it did not understand.
pub(super) fn usage(message: &clap::Error) -> ExitCode {
    if let Err(error) = message.print() {
        // The reader of a long help text may leave early.
        tracing::debug!(%error, "the message was not written");
    }
    u8::try_from(message.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// A line for the person at the terminal; when nobody is there to read it, nothing is to be done about that.
pub(super) fn stderr_line(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The first Ctrl-C comes out here; the second ends the program at once.
pub(super) fn interrupts() -> anyhow::Result<Receiver<()>> {
    static PRESSED: AtomicBool = AtomicBool::new(false);
    let (sender, receiver) = bounded(1);
    ctrlc::set_handler(move || {
        if PRESSED.swap(true, Ordering::Relaxed) || sender.try_send(()).is_err() {
            process::exit(CANCELLED.into());
        }
    })
    .context("Ctrl-C cannot be listened to")?;
    Ok(receiver)
}
