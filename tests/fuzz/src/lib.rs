//! Shared code of the targets: readers take files, so the bytes are written to one.

use std::{
    cell::RefCell,
    fs::File,
    io::{Seek as _, Write as _},
    path::Path,
};

use serde_json::{Map, json};
use sluice_engine::checkpoint::{read_header, read_notes, read_vocabulary};
use tempfile::{NamedTempFile, TempDir};

/// Maximum size of a sparse file, below the limit of all file systems.
const LONGEST: u64 = 1 << 40;

thread_local! {
    static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::new().expect("a temporary file"));
    static FOLDER: TempDir = TempDir::new().expect("a temporary folder");
}

/// Reads a file of these bytes: everything in its header, and every tensor that it claims to hold.
pub fn read(parts: &[&[u8]]) {
    FILE.with_borrow_mut(|file| {
        let length = parts.iter().map(|part| part.len() as u64).sum();
        file.rewind().expect("the file can be rewound");
        parts.iter().for_each(|part| file.write_all(part).expect("the file takes bytes"));
        file.as_file().set_len(length).expect("the file can be cut off");
        // An error is as good as values.
        let _ = (read_notes(file.path()), read_vocabulary(file.path()));
        let Ok(tensors) = read_header(file.path()) else { return };
        for tensor in tensors.values() {
            assert!(tensor.stored_bytes() <= length, "a tensor is larger than its file");
            let _ = tensor.load(&candle_core::Device::Cpu);
        }
    });
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
    let header = serde_json::Value::Object(header).to_string();
    FOLDER.with(|folder| {
        let path = folder.path().join("model.safetensors");
        let mut file = File::create(&path).expect("a file in a temporary folder");
        let start = header.len() as u64;
        file.write_all(&start.to_le_bytes()).expect("the file takes bytes");
        file.write_all(header.as_bytes()).expect("the file takes bytes");
        file.set_len(8 + start + length).expect("the file can have holes");
        look(&path);
    });
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
        "F8_E4M3" | "F8_E5M2" | "I8" | "U8" => 1,
        _ => return None,
    };
    sides.iter().try_fold(bytes, |product: u64, side| product.checked_mul(*side))
}
