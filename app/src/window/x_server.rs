//! An X server without a screen, for tests.

use std::{
    env, io,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

/// The server. It ends when this is dropped.
pub struct Server {
    process: Child,
    display: String,
}

impl Server {
    /// Starts one, where there is one. With `CI` set there has to be one.
    pub fn start() -> Option<Self> {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "400x300x24", "-nolisten", "tcp"]);
        let mut process = match command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() {
            Ok(process) => process,
            Err(error) if error.kind() == io::ErrorKind::NotFound && env::var_os("CI").is_none() => {
                eprintln!("skipped: there is no Xvfb");
                return None;
            }
            Err(error) => panic!("Xvfb does not start: {error}"),
        };
        let mut number = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Some(Self { process, display: format!(":{}", number.trim()) })
    }

    /// Its name.
    pub fn display(&self) -> &str {
        &self.display
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _code = self.process.wait();
    }
}
