//! Gives the engine a fingerprint of its own source, so that a window and a worker that speak of different things can
//! be told before they do.

use std::{env, fs, io, path::Path};

const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let hash = of_folder(&Path::new(&folder).join("src"), START)?;
    println!("cargo::rustc-env=SLUICE_ENGINE_SOURCE={hash:016x}");
    Ok(())
}

/// FNV-1a over all files below a folder, in the order of their names; line ends do not count.
fn of_folder(folder: &Path, mut hash: u64) -> io::Result<u64> {
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        hash = if path.is_dir() { of_folder(&path, hash)? } else { of_bytes(&fs::read(&path)?, hash) };
    }
    Ok(hash)
}

fn of_bytes(bytes: &[u8], hash: u64) -> u64 {
    bytes
        .iter()
        .filter(|byte| **byte != b'\r')
        .fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}
