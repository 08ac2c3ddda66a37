//! GGUF: inputs begin after its mark.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sluice_fuzz::read(&[b"GGUF", bytes]));
