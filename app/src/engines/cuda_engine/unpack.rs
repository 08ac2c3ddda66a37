//! Takes files out of archives and wheels. Nothing is written outside the folder that is meant.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read, Write},
    path::{Component, Path, PathBuf},
};

use lzma_rust2::XzReader;
use zip::ZipArchive;

use super::{CudaEngineError, LIBRARIES, Library};
use crate::downloads::{DownloadError, Stop};

/// Bytes that are copied at once.
const CHUNK: usize = 256 << 10;
/// The folder of NVIDIA's licences.
const LICENCES: &str = "licences";

/// Unpacks an archive into a folder; it has at most so many bytes.
///
/// # Errors
/// If it is damaged, has something other than files and folders, or cannot be written.
pub(super) fn archive(path: &Path, folder: &Path, most: u64, stop: &Stop) -> Result<(), CudaEngineError> {
    let name = name_of(path);
    let broken = |error: io::Error| damaged(&name, &error);
    let file = File::open(path).map_err(|source| failed(path, "read", source))?;
    let mut archive = tar::Archive::new(XzReader::new(BufReader::new(file), false));
    let mut left = most;
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let inside = entry.path().map_err(broken)?.into_owned();
        if !inside.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(CudaEngineError::Outside {
                inside: inside.display().to_string(),
                name: name.clone(),
            });
        }
        let place = folder.join(&inside);
        let kind = entry.header().entry_type();
        if kind.is_dir() {
            make_folder(&place)?;
            continue;
        }
        if !kind.is_file() {
            return Err(wrong(&name, "it has something that is neither a file nor a folder"));
        }
        left = left.checked_sub(entry.size()).ok_or_else(|| wrong(&name, "it is larger than announced"))?;
        let is_program = entry.header().mode().map_err(broken)? & 0o111 != 0;
        copy(&mut entry, &place, &name, stop)?;
        if is_program {
            make_executable(&place).map_err(|source| failed(&place, "written", source))?;
        }
    }
    Ok(())
}

/// Takes the libraries and the licence out of a wheel, for the engine in a folder.
///
/// # Errors
/// If it is damaged or lacks one of them, or they cannot be written.
pub(super) fn wheel(
    path: &Path,
    library: &Library,
    folder: &Path,
    stop: &Stop,
) -> Result<(), CudaEngineError> {
    let name = name_of(path);
    let broken = |error: zip::result::ZipError| wrong(&name, &error.to_string());
    let file = File::open(path).map_err(|source| failed(path, "read", source))?;
    let mut wheel = ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    let mut left = library.unpacked;
    for inside in &library.files {
        let mut entry = wheel.by_name(inside).map_err(broken)?;
        left = left.checked_sub(entry.size()).ok_or_else(|| wrong(&name, "it is larger than announced"))?;
        let own = Path::new(inside)
            .file_name()
            .ok_or_else(|| CudaEngineError::Outside { inside: inside.clone(), name: name.clone() })?;
        let place = match inside.ends_with("License.txt") {
            true => folder.join(LICENCES).join(format!("{}.txt", name_of(Path::new(&library.name)))),
            false => folder.join(LIBRARIES).join(own),
        };
        copy(&mut entry, &place, &name, stop)?;
    }
    Ok(())
}

/// Copies a file of the archive `name` to its place.
fn copy(from: &mut impl Read, place: &Path, name: &str, stop: &Stop) -> Result<(), CudaEngineError> {
    make_folder(place.parent().unwrap_or(place))?;
    let mut to = File::create(place).map_err(|source| failed(place, "written", source))?;
    let mut chunk = vec![0; CHUNK];
    loop {
        if stop.is_stopped() {
            return Err(DownloadError::Stopped.into());
        }
        match from.read(&mut chunk).map_err(|error| damaged(name, &error))? {
            0 => break,
            read => to.write_all(&chunk[..read]).map_err(|source| failed(place, "written", source))?,
        }
    }
    to.sync_all().map_err(|source| failed(place, "written", source))
}

fn make_folder(folder: &Path) -> Result<(), CudaEngineError> {
    fs::create_dir_all(folder).map_err(|source| failed(folder, "created", source))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}

fn damaged(name: &str, error: &io::Error) -> CudaEngineError {
    wrong(name, &error.to_string())
}

fn wrong(name: &str, reason: &str) -> CudaEngineError {
    CudaEngineError::Damaged { name: name.to_owned(), reason: reason.to_owned() }
}

pub(super) fn failed(path: &Path, doing: &'static str, source: io::Error) -> CudaEngineError {
    DownloadError::File { path: PathBuf::from(path), doing, source }.into()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
