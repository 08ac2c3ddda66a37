//! Reduce motion of macOS, from the settings for accessibility. It was not tried on macOS yet.

use std::{io, process::Command};

use super::Said;

pub(super) fn tell(said: &Said) -> io::Result<()> {
    let read =
        Command::new("defaults").args(["read", "com.apple.universalaccess", "reduceMotion"]).output()?;
    // Nothing is written there until somebody has changed it.
    said.say(read.status.success() && read.stdout.trim_ascii() == b"1");
    Ok(())
}
