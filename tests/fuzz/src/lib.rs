//! What the targets share: readers take files, so bytes become one.

use std::{
    cell::RefCell,
    io::{Seek as _, Write as _},
};

use sluice_engine::checkpoint::read_header;
use tempfile::NamedTempFile;

thread_local! {
    static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::new().expect("a temporary file"));
}

/// Reads a file of these bytes: its header, and every tensor that it claims to hold.
pub fn read(parts: &[&[u8]]) {
    FILE.with_borrow_mut(|file| {
        let length = parts.iter().map(|part| part.len() as u64).sum();
        file.rewind().expect("the file can be rewound");
        parts.iter().for_each(|part| file.write_all(part).expect("the file takes bytes"));
        file.as_file().set_len(length).expect("the file can be cut off");
        let Ok(tensors) = read_header(file.path()) else { return };
        for tensor in tensors.values() {
            assert!(tensor.stored_bytes() <= length, "a tensor is larger than its file");
            // An error in words is as good as values.
            let _ = tensor.load(&candle_core::Device::Cpu);
        }
    });
}
