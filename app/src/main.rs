//! The program `sluice`.

use std::process::ExitCode;

fn main() -> ExitCode {
    sluice::cli::run()
}
