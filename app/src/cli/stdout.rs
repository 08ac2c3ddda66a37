//! The standard output: results only, never progress.

use std::io::{self, Write};

use anyhow::Context;

/// Writes a line. A closed pipe, as with `head`, is not an error: the run continues.
pub(super) fn line(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if is_closed(&error) => Ok(()),
        result => result.context("the standard output cannot be written"),
    }
}

/// Writes a part of a line.
pub(super) fn piece(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if is_closed(&error) => Ok(()),
        result => result.context("the standard output cannot be written"),
    }
}

/// Whether nobody reads the other end of a pipe any more. Windows has an error for it that is of no kind.
fn is_closed(error: &io::Error) -> bool {
    const PIPE_NOT_CONNECTED: i32 = 233;
    error.kind() == io::ErrorKind::BrokenPipe
        || (cfg!(windows) && error.raw_os_error() == Some(PIPE_NOT_CONNECTED))
}
