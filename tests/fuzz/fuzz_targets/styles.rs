//! Files of styles: A1111's tables, and Fooocus' lists if the first byte is even.
#![no_main]

use sluice_engine::text::{read_styles, styled};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let name = if kind % 2 == 0 { "styles.json" } else { "styles.csv" };
    if let Ok(styles) = read_styles(&sluice_fuzz::with_file(name, bytes)) {
        let _ = styled("a red boat", "fog", &styles);
    }
});
