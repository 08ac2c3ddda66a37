//! The languages of the window: their files, what the source takes from them, and the window in each of them. The
//! language belongs to the process, so these tests are not among those of the window, which are in English.

#![cfg(test)]

mod catalog;
mod engine;
mod files;
mod source;
#[allow(dead_code, reason = "the tests of the window use the rest")]
#[path = "../window/support.rs"]
mod support;
mod window;
