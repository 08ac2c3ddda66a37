//! The window, driven by scripted events of an engine that is not there.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod behaviour;
mod memory;
mod prompts;
mod real_run;
mod runs;
mod snapshots;
mod support;
mod timeline;
