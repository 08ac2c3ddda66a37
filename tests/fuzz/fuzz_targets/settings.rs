//! Settings in images and clips: inputs are files of any kind that can hold them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sluice_fuzz::restore(&sluice_fuzz::with_file("given", bytes)));
