//! Packages of the engine for NVIDIA GPUs, with a shell script in the place of the program.

use std::io::{self, Cursor, Write};

use lzma_rust2::{XzOptions, XzWriter};
use serde_json::json;
use sha2::{Digest, Sha256};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::file_server::{Answer, Asked};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The name of the list.
pub const LIST: &str = concat!("sluice-cuda-", env!("CARGO_PKG_VERSION"), ".json");
/// The name of the archive.
pub const ARCHIVE: &str = "sluice-cuda-linux-x86_64-sm75.tar.xz";
/// Where the wheel is on the server for files of PyPI.
pub const WHEEL: &str = "packages/aa/bb/nvidia_cublas-13.0-any.whl";
/// What is in the library of the wheel.
pub const LIBRARY: &str = "a library";

/// What a release has.
#[derive(Debug, Clone)]
pub struct Package {
    /// The archive.
    pub archive: Vec<u8>,
    /// NVIDIA's library.
    pub wheel: Vec<u8>,
    /// The list of both.
    pub list: String,
}

/// A program that says this version.
pub fn program(version: &str) -> String {
    format!("#!/bin/sh\necho \"sluice {version}\"\n")
}

impl Package {
    /// One with this program.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(program: &str) -> io::Result<Self> {
        let archive = archive(&[
            ("sluice-cuda/sluice-cuda", program, 0o755),
            ("sluice-cuda/LICENSE-MIT", "MIT", 0o644),
        ])?;
        Self::of(archive)
    }

    /// One with this archive.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn of(archive: Vec<u8>) -> io::Result<Self> {
        // Random bytes, which stay as large as they are.
        let padding: Vec<u8> =
            (0..200_000_u32).flat_map(|seed| Sha256::digest(seed.to_le_bytes()).into_iter().next()).collect();
        let wheel = wheel(&[
            ("nvidia/cu13/lib/libcublas.so.13", LIBRARY.as_bytes()),
            ("nvidia/cu13/lib/libother.so", &padding),
            ("nvidia_cublas.dist-info/licenses/License.txt", b"NVIDIA's licence"),
        ])?;
        let list = list(&archive, &wheel);
        Ok(Self { archive, wheel, list })
    }

    /// What a server with it answers: its releases are at `/releases/latest`.
    pub fn answer(&self, asked: &Asked) -> Answer {
        let host = &asked.host;
        let latest = format!("/releases/tags/v{VERSION}");
        match asked.path.as_str() {
            // The latest release is a newer one.
            "/releases/latest" => Answer::text(r#"{"tag_name": "v99.0.0", "assets": []}"#),
            path if path == latest => {
                let asset = |name: &str| json!({"name": name, "browser_download_url": format!("http://{host}/assets/{name}")});
                let release =
                    json!({"tag_name": format!("v{VERSION}"), "assets": [asset(LIST), asset(ARCHIVE)]});
                Answer::text(&release.to_string())
            }
            path if path.ends_with(LIST) => Answer::text(&self.list),
            path if path.ends_with(ARCHIVE) => Answer::file(&self.archive, asked),
            path if path.ends_with(WHEEL) => Answer::file(&self.wheel, asked),
            _ => Answer::status(404),
        }
    }
}

/// An archive with these files: their paths, contents and modes.
///
/// # Errors
/// If it cannot be made.
pub fn archive(files: &[(&str, &str, u32)]) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, contents, mode) in files {
        let mut header = tar::Header::new_ustar();
        // Paths that lead out of the folder are not taken otherwise.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_size(contents.len() as u64);
        header.set_mode(*mode);
        header.set_cksum();
        tar.append(&header, contents.as_bytes())?;
    }
    compressed(&tar.into_inner()?)
}

/// An archive with a link to another folder.
///
/// # Errors
/// If it cannot be made.
pub fn archive_with_link() -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    tar.append_link(&mut header, "sluice-cuda/lib", "/tmp")?;
    compressed(&tar.into_inner()?)
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(1))?;
    writer.write_all(bytes)?;
    writer.finish()
}

fn wheel(files: &[(&str, &[u8])]) -> io::Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (path, contents) in files {
        zip.start_file(*path, options).map_err(io::Error::other)?;
        zip.write_all(contents)?;
    }
    Ok(zip.finish().map_err(io::Error::other)?.into_inner())
}

/// The list for an archive and a wheel.
pub fn list(archive: &[u8], wheel: &[u8]) -> String {
    let list = json!({
        "version": VERSION,
        "packages": [{
            "file": ARCHIVE, "capability": 75, "bytes": archive.len(), "unpacked": 100_000, "sha256": sha256(archive),
        }],
        "libraries": [{
            "name": "nvidia-cublas", "version": "13.0", "path": WHEEL, "bytes": wheel.len(), "unpacked": 1000,
            "sha256": sha256(wheel),
            "files": ["nvidia/cu13/lib/libcublas.so.13", "nvidia_cublas.dist-info/licenses/License.txt"],
        }],
    });
    list.to_string()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
