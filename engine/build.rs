//! Computes a fingerprint of the source of the engine and of `sluice-nn`, so that a window and a worker of different versions
//! detect it in the handshake.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;
const SOURCES: [&str; 2] = ["src", "nn/src"];

fn main() -> ExitCode {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    match fingerprint(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot read the source: {error}");
            ExitCode::FAILURE
        }
    }
}

fn fingerprint(folder: &Path) -> io::Result<()> {
    let mut hash = START;
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        hash = of_folder(&folder.join(source), hash)?;
    }
    println!("cargo::rustc-env=SLUICE_ENGINE_SOURCE={hash:016x}");
    Ok(())
}

/// FNV-1a over all files in a folder, sorted by name; ignores line endings.
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
