//! Presets: what can be read and kept can be read again.
#![no_main]

use std::path::Path;

use sluice::presets::{Preset, PresetError, find, save};
use sluice_engine::request::Request;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let folder = sluice_fuzz::with_files("presets", &[("given.toml", text.as_bytes())]);
    let Ok(preset) = read(&folder, "given") else { return };
    let _ = preset.given_to(Request::default());
    // TOML lacks some numbers that a preset may have.
    if save(&folder, "kept", &preset).is_ok() {
        assert!(read(&folder, "kept").is_ok(), "what was kept cannot be read");
    }
});

fn read(folder: &Path, name: &str) -> Result<Preset, PresetError> {
    find(&folder.join(name).with_extension("toml").to_string_lossy())
}
