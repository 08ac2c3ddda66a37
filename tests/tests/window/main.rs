//! The window, driven by scripted events of an engine that is not there.

#![cfg(test)]

mod behaviour;
mod input_image;
mod memory;
mod prompts;
mod real_run;
mod runs;
mod snapshots;
mod support;
mod timeline;
