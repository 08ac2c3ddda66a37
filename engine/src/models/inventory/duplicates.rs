//! Files with the same content. Models of one family often have the same header and size, so weights decide.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use sha2::{Digest as _, Sha256};

use crate::checkpoint::{CheckpointError, files_of};

/// How many places of a file are sampled, and how many bytes of each.
const PLACES: u64 = 16;
const SAMPLE: u64 = 4096;
/// Bytes that are read at once.
const PIECE: usize = 4 << 20;

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

/// The SHA-256 of a weight file in hexadecimal digits, as model sites name it; of several files that belong together, that of
/// their hashes. `goes_on` is called after each piece and may wait; once it says no, the result is `None`.
///
/// # Errors
/// When a file cannot be read.
pub fn content_hash(
    path: &Path,
    mut goes_on: impl FnMut() -> bool,
) -> Result<Option<String>, CheckpointError> {
    let files = files_of(path)?;
    let mut hashes = Vec::with_capacity(files.len());
    for file in &files {
        let io = |source| CheckpointError::Io { path: file.clone(), source };
        match hash_of(file, &mut goes_on).map_err(io)? {
            Some(hash) => hashes.push(hash),
            None => return Ok(None),
        }
    }
    Ok(Some(match hashes.as_slice() {
        [only] => hex(only),
        all => hex(&Sha256::digest(all.concat()).into()),
    }))
}

fn hash_of(path: &Path, goes_on: &mut impl FnMut() -> bool) -> io::Result<Option<[u8; 32]>> {
    let mut file = File::open(path)?;
    let (mut hash, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(Some(hash.finalize().into()));
        }
        hash.update(&piece[..read]);
        if !goes_on() {
            return Ok(None);
        }
    }
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
