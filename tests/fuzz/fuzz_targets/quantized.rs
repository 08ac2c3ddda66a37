//! Weights that other programs quantized: inputs describe a safetensors file, one part per line, with what says how the
//! tensors belong together.
#![no_main]

libfuzzer_sys::fuzz_target!(|lines: &str| sluice_fuzz::read_described(lines));
