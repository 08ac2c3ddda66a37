//! Sluice's window and command line. Both talk to the engine through its session only.

pub mod cli;
pub mod engines;
pub mod folders;
pub mod seed;
pub mod units;
#[cfg(feature = "window")]
pub mod window;
