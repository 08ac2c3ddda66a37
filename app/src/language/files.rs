//! The table of languages. A new one is one entry and a folder of files.

use std::{
    io::{self, Read},
    sync::OnceLock,
};

use flate2::read::GzDecoder;
use tar::Archive;

use super::Language;

/// The folder of a language, compressed by the build script.
macro_rules! folder {
    ($tag:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $tag, ".tar.gz"))
    };
}

const fn language(
    tag: &'static str,
    [name, english]: [&'static str; 2],
    decimal: &'static str,
    sample: &'static str,
    folder: &'static [u8],
) -> Language {
    Language { tag, name, english, decimal, sample, folder, bundle: OnceLock::new() }
}

/// The languages of the window. English comes first: it has every text.
pub static LANGUAGES: [Language; 6] = [
    language("en", ["English", "English"], ".", "", folder!("en")),
    language("de", ["Deutsch", "German"], ",", "", folder!("de")),
    language("es", ["Español", "Spanish"], ",", "", folder!("es")),
    language("fr", ["Français", "French"], ",", "", folder!("fr")),
    language("ja", ["日本語", "Japanese"], ".", "ひらがなカタカナ画像", folder!("ja")),
    language("zh-CN", ["简体中文", "Simplified Chinese"], ".", "简体中文图像设置", folder!("zh-CN")),
];

/// The files of a compressed folder: their names without `.ftl`, and what they contain.
pub fn unpacked(folder: &[u8]) -> io::Result<Vec<(String, String)>> {
    let mut archive = Archive::new(GzDecoder::new(folder));
    let files = archive.entries()?.map(|entry| {
        let mut entry = entry?;
        let path = entry.path()?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text)?;
        Ok((name, text))
    });
    files.collect()
}
