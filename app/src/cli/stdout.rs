//! The standard output: results only, never progress.

use std::io::{self, Write};

use anyhow::Context;

/// Writes a line. A closed pipe, as with `head`, is not an error: the run continues.
pub(super) fn line(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("the standard output cannot be written"),
    }
}
