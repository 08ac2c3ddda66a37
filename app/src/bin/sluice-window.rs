//! Starts the `sluice` next to it without a console, for shortcuts and file managers on Windows.
#![cfg_attr(windows, windows_subsystem = "windows")]

use std::{
    env, io,
    process::{Command, ExitCode},
};

fn main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is no console; a terminal that waits for it sees this.
            eprintln!("sluice cannot be started: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start() -> io::Result<()> {
    let program = env::current_exe()?.with_file_name(format!("sluice{}", env::consts::EXE_SUFFIX));
    let mut command = Command::new(program);
    command.args(env::args_os().skip(1));
    // The engine's process has the same console, which nobody sees.
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(&mut command, CREATE_NO_WINDOW);
    command.spawn().map(drop)
}

/// `CREATE_NO_WINDOW` of Windows' `CreateProcess`.
#[cfg(windows)]
const CREATE_NO_WINDOW: u32 = 0x0800_0000;
