//! Shared code of the targets: readers take files, so the bytes are written to one.

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
};

use serde_json::{Map, Value, json};
use sluice_engine::{
    checkpoint::{read_header, read_notes, read_vocabulary},
    output::read_settings,
};
use tempfile::TempDir;

/// Maximum size of a sparse file, below the limit of all file systems.
const LONGEST: u64 = 1 << 40;
/// Most bytes of values in a file that is written with them.
const MOST_VALUES: usize = 1 << 20;

/// Calls `look` with a folder that has these files.
pub fn with_files(files: &[(&str, &[&[u8]])], look: impl FnOnce(&Path)) {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, parts) in files {
        fs::write(folder.path().join(name), parts.concat()).expect("a file in a temporary folder");
    }
    look(folder.path());
}

/// Calls `look` with a file of this name and these bytes, alone in its folder.
pub fn with_file(name: &str, parts: &[&[u8]], look: impl FnOnce(&Path)) {
    with_files(&[(name, parts)], |folder| look(&folder.join(name)));
}

/// Reads a file of these bytes: everything in its header, and every tensor that it claims to hold.
pub fn read(parts: &[&[u8]]) {
    let length: u64 = parts.iter().map(|part| part.len() as u64).sum();
    with_file("model", parts, |path| {
        // An error is as good as values.
        let _ = (read_notes(path), read_vocabulary(path));
        let Ok(tensors) = read_header(path) else { return };
        for tensor in tensors.values() {
            assert!(tensor.stored_bytes() <= length, "a tensor is larger than its file");
            let _ = tensor.load(&candle_core::Device::Cpu);
        }
    });
}

/// Reads the settings in a file, and writes them as other programs do.
pub fn restore(path: &Path) {
    let Ok(restored) = read_settings(path) else { return };
    let _ = (restored.settings.parameters(), restored.settings.pairs(), restored.settings.picture_request());
}

/// Calls `look` with a safetensors file in its own folder. Each line of `tensors` describes one of its
/// tensors: dtype, dimensions, name. Invalid lines are skipped, and values are holes.
pub fn with_hollow(tensors: &str, look: impl FnOnce(&Path)) {
    let (mut header, mut length) = (Map::new(), 0u64);
    for (dtype, sides, name) in tensors.lines().filter_map(described) {
        let Some(bytes) = bytes_of(dtype, &sides) else { return };
        let end = length.saturating_add(bytes);
        let row = json!({ "dtype": dtype, "shape": sides, "data_offsets": [length, end] });
        if end > LONGEST || header.insert(name.to_owned(), row).is_some() {
            return;
        }
        length = end;
    }
    let header = Value::Object(header).to_string();
    let start = header.len() as u64;
    with_files(&[], |folder| {
        let path = folder.join("model.safetensors");
        let mut file = File::create(&path).expect("a file in a temporary folder");
        file.write_all(&start.to_le_bytes()).expect("the file takes bytes");
        file.write_all(header.as_bytes()).expect("the file takes bytes");
        file.set_len(8 + start + length).expect("the file can have holes");
        look(&path);
    });
}

/// Reads a safetensors file that is described line by line, with everything in it. `# NAME TEXT` is an entry of the header's
/// metadata, `= NAME TEXT` a tensor that consists of this text, and every other line a tensor as in [`with_hollow`] with values
/// that repeat.
pub fn read_described(lines: &str) {
    let (mut header, mut notes, mut values) = (Map::new(), Map::new(), Vec::new());
    for line in lines.lines() {
        if let Some((name, text)) = named(line, "# ") {
            notes.insert(name.to_owned(), text.into());
            continue;
        }
        let start = values.len();
        let (dtype, sides, name) = match named(line, "= ") {
            Some((name, text)) => {
                values.extend(text.bytes());
                ("U8", vec![text.len() as u64], name)
            }
            None => {
                let Some((dtype, sides, name)) = described(line) else { continue };
                let Some(bytes) = bytes_of(dtype, &sides) else { return };
                if bytes > MOST_VALUES as u64 {
                    return;
                }
                values.extend((0..bytes).map(|place| (place * 151) as u8));
                (dtype, sides, name)
            }
        };
        let row = json!({ "dtype": dtype, "shape": sides, "data_offsets": [start, values.len()] });
        if values.len() > MOST_VALUES || header.insert(name.to_owned(), row).is_some() {
            return;
        }
    }
    header.insert("__metadata__".to_owned(), Value::Object(notes));
    let header = Value::Object(header).to_string();
    read(&[&(header.len() as u64).to_le_bytes(), header.as_bytes(), &values]);
}

/// The name and the text of a line that begins with a mark.
fn named<'a>(line: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    line.strip_prefix(mark)?.split_once(' ')
}

/// Parses dtype, dimensions and name from a line.
fn described(line: &str) -> Option<(&str, Vec<u64>, &str)> {
    let (dtype, mut rest) = line.split_once(' ')?;
    let mut sides = Vec::new();
    while let Some((side, after)) = rest.split_once(' ')
        && let Ok(side) = side.parse()
    {
        sides.push(side);
        rest = after;
    }
    Some((dtype, sides, rest))
}

/// Size of a tensor in bytes; `None` if the format has no such tensor.
fn bytes_of(dtype: &str, sides: &[u64]) -> Option<u64> {
    let bytes = match dtype {
        "F64" | "I64" => 8,
        "F32" | "I32" => 4,
        "F16" | "BF16" => 2,
        "F8_E4M3" | "F8_E5M2" | "F8_E8M0" | "I8" | "U8" => 1,
        _ => return None,
    };
    sides.iter().try_fold(bytes, |product: u64, side| product.checked_mul(*side))
}
