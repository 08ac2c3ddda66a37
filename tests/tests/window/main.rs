//! The window, driven by scripted events of an engine that is not there.

#![cfg(test)]

mod behaviour;
mod memory;
mod prompts;
mod real_run;
mod runs;
mod snapshots;
mod source;
mod support;
mod timeline;
