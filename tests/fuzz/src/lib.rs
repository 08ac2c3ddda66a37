//! Shared code of the targets. Readers take files, so bytes are written to one, which is written over by the next input:
//! `tests/fuzz/run` has it in memory.

use std::{
    fs::{self, File},
    io::Write as _,
    panic,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde_json::{Map, Value, json};
use sluice_engine::{
    checkpoint::{read_header, read_notes, read_vocabulary},
    output::read_settings,
};
use tempfile::TempDir;

/// Maximum size of a sparse file, below the limit of all file systems.
const LONGEST: u64 = 1 << 40;
/// How many times larger the number that scales a group may be than in a file: four bytes instead of half a byte.
const WIDER: u64 = 8;
/// Most bytes of values in a file that is written with them.
const MOST_VALUES: usize = 1 << 20;

/// Lets the program catch panics of its libraries. libFuzzer's hook would end the process before that; a panic that nobody catches
/// ends it still.
pub fn let_panics_be_caught() {
    drop(panic::take_hook());
}

/// The folder of this process.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a temporary folder"));

/// A folder that is there at the next call, too.
fn folder(name: &str) -> PathBuf {
    let folder = FOLDER.path().join(name);
    fs::create_dir_all(&folder).expect("a folder in a temporary folder");
    folder
}

/// A folder that has these files. What other names were written to it before is still there.
pub fn with_files(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let folder = folder(name);
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).expect("a file in a temporary folder");
    }
    folder
}

/// A file of this name and these bytes.
pub fn with_file(name: &str, bytes: &[u8]) -> PathBuf {
    with_files("alone", &[(name, bytes)]).join(name)
}

/// Reads a file of these bytes: everything in its header, and every tensor that it claims to hold.
pub fn read(bytes: &[u8]) {
    let path = with_file("model", bytes);
    // An error is as good as values.
    let _ = (read_notes(&path), read_vocabulary(&path));
    let Ok(tensors) = read_header(&path) else { return };
    for tensor in tensors.values() {
        assert!(tensor.stored_bytes() / WIDER <= bytes.len() as u64, "a tensor is larger than its file");
        let _ = tensor.load(&candle_core::Device::Cpu);
    }
}

/// Reads the settings in a file, and writes them as other programs do.
pub fn restore(path: &Path) {
    let Ok(restored) = read_settings(path) else { return };
    let _ = (restored.settings.parameters(), restored.settings.pairs(), restored.settings.picture_request());
}

/// A safetensors file. Each line of `tensors` describes one of its tensors: dtype, dimensions, name. Invalid lines are skipped,
/// and values are holes. `None` if there is no such file.
pub fn hollow(tensors: &str) -> Option<PathBuf> {
    let (mut header, mut length) = (Map::new(), 0u64);
    for (dtype, sides, name) in tensors.lines().filter_map(described) {
        let end = length.saturating_add(bytes_of(dtype, &sides)?);
        let row = json!({ "dtype": dtype, "shape": sides, "data_offsets": [length, end] });
        if end > LONGEST || header.insert(name.to_owned(), row).is_some() {
            return None;
        }
        length = end;
    }
    let header = Value::Object(header).to_string();
    let start = header.len() as u64;
    let path = folder("hollow").join("model.safetensors");
    let mut file = File::create(&path).expect("a file in a temporary folder");
    file.write_all(&start.to_le_bytes()).expect("the file takes bytes");
    file.write_all(header.as_bytes()).expect("the file takes bytes");
    file.set_len(8 + start + length).expect("the file can have holes");
    Some(path)
}

/// Reads a safetensors file that is described line by line, with everything in it. `# NAME TEXT` is an entry of the header's
/// metadata, `= NAME TEXT` a tensor that consists of this text, and every other line a tensor as in [`hollow`] with values
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
    read(&[&(header.len() as u64).to_le_bytes(), header.as_bytes(), &values].concat());
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
