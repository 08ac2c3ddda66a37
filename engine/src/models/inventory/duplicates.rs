//! Files with the same content. Models of one family often have the same header and size, so weights decide.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use crate::checkpoint::{CheckpointError, files_of};

/// How many places of a file are sampled, and how many bytes of each.
const PLACES: u64 = 16;
const SAMPLE: u64 = 4096;
/// Bytes that are compared at once.
const PIECE: usize = 1 << 20;

/// A checksum of some bytes from all over a file.
pub fn sample(path: &Path) -> io::Result<u32> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut hash = crc32fast::Hasher::new();
    let mut bytes = Vec::new();
    for place in 0..PLACES {
        let last = length.saturating_sub(SAMPLE);
        file.seek(SeekFrom::Start(last / PLACES * (place + 1)))?;
        bytes.clear();
        file.by_ref().take(SAMPLE).read_to_end(&mut bytes)?;
        hash.update(&bytes);
    }
    Ok(hash.finalize())
}

/// Whether two weight files, with all their shards, have the same bytes. Reads both to the first difference.
///
/// # Errors
/// When a file cannot be read.
pub fn identical(one: &Path, other: &Path) -> Result<bool, CheckpointError> {
    let (ones, others) = (files_of(one)?, files_of(other)?);
    if ones.len() != others.len() {
        return Ok(false);
    }
    for (one, other) in ones.iter().zip(&others) {
        let io = |source| CheckpointError::Io { path: one.clone(), source };
        if !same_bytes(one, other).map_err(io)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut first, mut second) = (Vec::with_capacity(PIECE), Vec::with_capacity(PIECE));
    loop {
        first.clear();
        second.clear();
        one.by_ref().take(PIECE as u64).read_to_end(&mut first)?;
        other.by_ref().take(PIECE as u64).read_to_end(&mut second)?;
        if first != second {
            return Ok(false);
        }
        if first.is_empty() {
            return Ok(true);
        }
    }
}
