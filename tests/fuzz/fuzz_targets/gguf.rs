//! GGUF: inputs begin after the magic number.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sluice_fuzz::read(&[b"GGUF", bytes].concat()));
