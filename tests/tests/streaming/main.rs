//! Weights that come and go: the same bytes under every plan, budgets that hold, forecasts that come true, and files
//! that vanish.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail"
)]

mod adapters;
mod budgets;
mod exactness;
mod faults;
mod options;
mod pictures;
mod support;
mod traffic;
