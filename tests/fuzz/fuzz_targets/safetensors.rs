//! Safetensors headers: half of the inputs get a valid length, so that the code after it is reached.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match bytes.split_first() {
        Some((0..128, header)) => {
            let split = header.iter().rposition(|byte| *byte == b'}').map_or(header.len(), |last| last + 1);
            let length = (split as u64).to_le_bytes();
            sluice_fuzz::read(&[&length, header].concat());
        }
        Some((_, rest)) => sluice_fuzz::read(rest),
        None => {}
    }
});
