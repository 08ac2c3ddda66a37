//! Reads the settings in a file of any kind that can hold them.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use super::{
    OutputError, RestoredSettings, Settings, a1111,
    chunks::{self, ChunkError, MADE_OF},
    elsewhere, gif_file, jpeg,
    made_of::InputMark,
    mp4,
    settings::{JsonError, Origin, SETTINGS_VERSION},
    stealth, webp,
};
use crate::request::Request;

/// Most bytes of the box with the texts: cover images are in it too.
const LARGEST_MOOV: u64 = 256 << 20;
/// Most bytes of a file beside a clip.
const LARGEST_SIDECAR: u64 = 8 << 20;

/// Names of texts that hold settings by themselves.
const HOLDERS: [&str; 8] =
    ["sluice", "parameters", "comment", "prompt", "workflow", "invokeai_metadata", "sd-metadata", "dream"];

/// Names and texts.
type Texts = Vec<(String, String)>;

/// Reads the settings in an image or a clip: Sluice's own or, if there are none, those of another program. SwarmUI
/// writes them into a file beside the clip.
///
/// # Errors
/// When the file cannot be read, or has no settings.
pub fn read_settings(path: &Path) -> Result<RestoredSettings, OutputError> {
    let inside = read_texts(path).and_then(|texts| restore(path, &texts));
    let restored = match inside {
        Err(OutputError::NoSettings { .. } | OutputError::NotMedia { .. }) => {
            sidecar(path).map_or(inside, Ok)
        }
        other => other,
    };
    restored.map(|restored| sized(path, restored))
}

/// The mark in a file without settings of what it was made of.
pub(super) fn read_mark(path: &Path) -> Option<InputMark> {
    let texts = read_texts(path).ok()?;
    let (_, text) = texts.iter().find(|(name, _)| name == MADE_OF)?;
    serde_json::from_str(text).ok()
}

/// Settings that say no size have that of the file.
fn sized(path: &Path, mut restored: RestoredSettings) -> RestoredSettings {
    let request = &mut restored.settings.request;
    if request.width == 0 || request.height == 0 {
        let usual = Request::default();
        let size = image::image_dimensions(path).unwrap_or((usual.width, usual.height));
        (request.width, request.height) = size;
    }
    restored
}

fn read_texts(path: &Path) -> Result<Texts, OutputError> {
    let read_error = |cause: io::Error| OutputError::Read { path: path.to_owned(), cause };
    let mut file = File::open(path).map_err(read_error)?;
    let mut start = Vec::with_capacity(12);
    file.by_ref().take(12).read_to_end(&mut start).map_err(read_error)?;
    match start.as_slice() {
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P'] => {
            webp::read_texts(&mut io::BufReader::new(file)).map_err(read_error)
        }
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => {
            file.seek(SeekFrom::Start(6)).map_err(read_error)?;
            gif_file::read_texts(&mut io::BufReader::new(file)).map_err(read_error)
        }
        [0xFF, 0xD8, 0xFF, ..] => {
            file.seek(SeekFrom::Start(2)).map_err(read_error)?;
            jpeg::read_texts(&mut io::BufReader::new(file)).map_err(read_error)
        }
        [_, _, _, _, kind @ ..] if is_movie(kind) => read_movie(path, file),
        _ => {
            file.seek(SeekFrom::Start(0)).map_err(read_error)?;
            read_png(path, file)
        }
    }
}

/// Whether a file starts with a box of an MP4 or MOV file.
fn is_movie(kind: &[u8]) -> bool {
    [b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"].iter().any(|known| kind.starts_with(*known))
}

fn read_png(path: &Path, file: File) -> Result<Texts, OutputError> {
    let owned = || path.to_owned();
    let texts = chunks::read_texts(file).map_err(|error| match error {
        ChunkError::Io(cause) => OutputError::Read { path: owned(), cause },
        ChunkError::NotPng => OutputError::NotMedia { path: owned() },
        ChunkError::Truncated => OutputError::Truncated { path: owned() },
        ChunkError::Damaged(detail) => OutputError::Damaged { path: owned(), detail: detail.to_owned() },
        ChunkError::TooLarge(keyword) => OutputError::TooLarge { path: owned(), keyword },
    })?;
    let named = [("sluice", texts.sluice), ("parameters", texts.parameters)];
    let mut all: Texts =
        named.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))).collect();
    all.extend(texts.others);
    if !all.iter().any(|(name, _)| HOLDERS.contains(&name.as_str())) {
        all.extend(stealth::read(path));
    }
    Ok(all)
}

fn read_movie(path: &Path, mut file: File) -> Result<Texts, OutputError> {
    let owned = || path.to_owned();
    let read_error = |cause: io::Error| match cause.kind() {
        io::ErrorKind::UnexpectedEof => OutputError::Truncated { path: owned() },
        io::ErrorKind::FileTooLarge => OutputError::TooLarge { path: owned(), keyword: "moov" },
        _ => OutputError::Read { path: owned(), cause },
    };
    let found = mp4::top_boxes(&mut file).map_err(read_error)?;
    let Some(moov) = found.boxes.iter().find(|found| &found.kind == b"moov") else {
        return Err(if found.is_truncated {
            OutputError::Truncated { path: owned() }
        } else {
            OutputError::NoSettings { path: owned() }
        });
    };
    let moov = mp4::read_box(&mut file, *moov, LARGEST_MOOV).map_err(read_error)?;
    Ok(mp4::tags::read_tags(&moov))
}

/// Makes settings of texts: the first that can be read, from the most exact to the least.
fn restore(path: &Path, texts: &Texts) -> Result<RestoredSettings, OutputError> {
    let of = |name: &'static str| {
        texts.iter().filter(move |(found, _)| found == name).map(|(_, text)| text.trim())
    };
    if let Some(json) = of("sluice").find(|text| !text.is_empty()) {
        return own(path, json);
    }
    let parameters = of("parameters").find(|text| !text.is_empty());
    if let Some(text) = parameters {
        return Ok(elsewhere::read(text).unwrap_or_else(|| a1111::parse(text)));
    }
    // Exif has no name for A1111's parameters. They say more than a graph beside them.
    let is_of_a1111 = |text: &&str| !text.starts_with('{') && a1111::has_settings(text);
    if let Some(text) = of("comment").find(is_of_a1111) {
        return Ok(a1111::parse(text));
    }
    let first = |name: &str| {
        let text = texts.iter().find(|(found, _)| found == name).map(|(_, text)| text.trim());
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    if let Some(restored) = elsewhere::read_named(&first) {
        return Ok(restored);
    }
    let comments = || of("comment").chain(of("\u{A9}cmt")).chain(of("description"));
    comments()
        .find_map(elsewhere::read)
        .or_else(|| comments().find(|text| a1111::has_settings(text)).map(a1111::parse))
        .ok_or_else(|| OutputError::NoSettings { path: path.to_owned() })
}

fn own(path: &Path, json: &str) -> Result<RestoredSettings, OutputError> {
    let owned = || path.to_owned();
    let settings = Settings::from_json(json).map_err(|error| match error {
        JsonError::Newer(found) => {
            OutputError::NewerVersion { path: owned(), found, known: SETTINGS_VERSION }
        }
        JsonError::Malformed(error) => OutputError::Damaged { path: owned(), detail: error.to_string() },
    })?;
    let notes = settings.note_on_precision().into_iter().collect();
    Ok(RestoredSettings { settings, origin: Origin::Sluice, notes })
}

/// The settings that SwarmUI wrote beside a file.
fn sidecar(path: &Path) -> Option<RestoredSettings> {
    let file = path.with_extension("swarm.json");
    if fs::metadata(&file).ok()?.len() > LARGEST_SIDECAR {
        return None;
    }
    elsewhere::read(&fs::read_to_string(file).ok()?)
}
