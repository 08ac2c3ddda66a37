//! Streamed weights: identical results under every plan, budgets that hold, accurate predictions, and files
//! that vanish.

#![cfg(test)]

mod adapters;
mod budgets;
mod describe;
mod detailer;
mod exactness;
mod faults;
mod hires;
mod interpolating;
#[cfg(target_os = "linux")]
mod less_memory;
mod maps;
mod offload_cache;
mod options;
mod out_of_memory;
mod past_runs;
mod pictures;
mod precisions;
mod regions;
mod residency;
mod segment;
mod support;
mod traffic;
mod upscaling;
mod writer;
