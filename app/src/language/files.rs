//! The table of languages. A new one is one entry and a folder of files; a new file is one line.

use std::sync::OnceLock;

use super::Language;

macro_rules! file {
    ($tag:literal, $name:literal) => {
        (
            $name,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../assets/languages/",
                $tag,
                "/",
                $name,
                ".ftl"
            )),
        )
    };
}

/// The files of a language, one for each area of the window.
macro_rules! files {
    ($tag:literal) => {
        &[
            file!($tag, "advice"),
            file!($tag, "app"),
            file!($tag, "commands"),
            file!($tag, "common"),
            file!($tag, "control-nets"),
            file!($tag, "detailers"),
            file!($tag, "engines"),
            file!($tag, "enhance"),
            file!($tag, "error"),
            file!($tag, "files"),
            file!($tag, "gallery"),
            file!($tag, "get"),
            file!($tag, "grid"),
            file!($tag, "help"),
            file!($tag, "hires"),
            file!($tag, "image-prompts"),
            file!($tag, "interpolate"),
            file!($tag, "library"),
            file!($tag, "monitor"),
            file!($tag, "note"),
            file!($tag, "palette"),
            file!($tag, "plan"),
            file!($tag, "queue"),
            file!($tag, "reason"),
            file!($tag, "regions"),
            file!($tag, "settings"),
            file!($tag, "side-panel"),
            file!($tag, "start"),
            file!($tag, "state"),
            file!($tag, "status-bar"),
            file!($tag, "top-bar"),
            file!($tag, "upscale"),
            file!($tag, "viewer"),
        ]
    };
}

const fn language(
    tag: &'static str,
    [name, english]: [&'static str; 2],
    decimal: &'static str,
    sample: &'static str,
    files: &'static [(&'static str, &'static str)],
) -> Language {
    Language { tag, name, english, decimal, sample, files, bundle: OnceLock::new() }
}

/// The languages of the window. English comes first: it has every text.
pub static LANGUAGES: [Language; 6] = [
    language("en", ["English", "English"], ".", "", files!("en")),
    language("de", ["Deutsch", "German"], ",", "", files!("de")),
    language("es", ["Español", "Spanish"], ",", "", files!("es")),
    language("fr", ["Français", "French"], ",", "", files!("fr")),
    language("ja", ["日本語", "Japanese"], ".", "ひらがなカタカナ画像", files!("ja")),
    language("zh-CN", ["简体中文", "Simplified Chinese"], ".", "简体中文图像设置", files!("zh-CN")),
];
