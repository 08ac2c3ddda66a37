//! Files that other programs keep beside a model: a preview image, and descriptions in JSON.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a name continues with if the file is a preview, the better ones first: those of A1111 and Forge, SwarmUI, and
/// Stability Matrix.
const IMAGES: [&str; 11] = [
    ".preview.png",
    ".preview.jpg",
    ".preview.jpeg",
    ".preview.webp",
    ".png",
    ".jpg",
    ".jpeg",
    ".webp",
    ".swarmpreview.jpg",
    ".thumb.jpg",
    ".thumb.png",
];
/// What it continues with if the file is a description: what a person wrote in A1111 first, then those of Civitai Helper,
/// Stability Matrix, LoRA Manager and SwarmUI.
const DESCRIPTIONS: [&str; 5] = [".json", ".civitai.info", ".cm-info.json", ".metadata.json", ".swarm.json"];
/// Larger files are not descriptions.
const LONGEST: u64 = 1 << 20;

/// What other programs have written about a model beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Notes or a description, as plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Words in the prompt that it was trained with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trigger_words: Vec<String>,
    /// Tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// A preview image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<PathBuf>,
}

impl About {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads the files beside a model: [`Beside::of`]. What comes first counts.
    pub(super) fn read(files: &[PathBuf]) -> Self {
        let mut about = Self::default();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            if IMAGES.iter().any(|ending| name.ends_with(ending)) {
                about.preview.get_or_insert_with(|| file.clone());
                continue;
            }
            let is_short = fs::metadata(file).is_ok_and(|data| data.len() <= LONGEST);
            let text = if is_short { fs::read_to_string(file).unwrap_or_default() } else { String::new() };
            match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
                Ok(described) => about.add(&described),
                Err(error) => tracing::debug!(path = %file.display(), %error, "a description is ignored"),
            }
        }
        about
    }

    fn add(&mut self, described: &Value) {
        let text = |places: &[&str]| places.iter().find_map(|place| words(described.pointer(place)?));
        let list = |places: &[&str]| -> Vec<String> {
            let found =
                places.iter().find_map(|place| described.pointer(place).filter(|found| !is_empty(found)));
            found.map(items).unwrap_or_default()
        };
        let title = || text(&["/model/name", "/ModelName", "/model_name", "/modelspec.title", "/title"]);
        self.title = self.title.take().or_else(title);
        let base = || text(&["/baseModel", "/BaseModel", "/base_model", "/sd version"]);
        self.base = self.base.take().or_else(base).filter(|base| base != "Unknown");
        let notes = || {
            text(&[
                "/notes",
                "/description",
                "/ModelDescription",
                "/modelspec.description",
                "/model/description",
            ])
        };
        self.notes = self.notes.take().or_else(notes);
        if self.trigger_words.is_empty() {
            self.trigger_words = list(&[
                "/activation text",
                "/trainedWords",
                "/TrainedWords",
                "/civitai/trainedWords",
                "/modelspec.trigger_phrase",
            ]);
        }
        if self.tags.is_empty() {
            self.tags = list(&["/model/tags", "/Tags", "/tags", "/civitai/model/tags", "/modelspec.tags"]);
        }
    }
}

/// The files of a folder that are no weights.
#[derive(Debug, Default)]
pub struct Beside {
    by_name: BTreeMap<OsString, PathBuf>,
}

impl Beside {
    pub fn new(files: Vec<PathBuf>) -> Self {
        let named = files.into_iter().filter_map(|file| Some((file.file_name()?.to_owned(), file)));
        Self { by_name: named.collect() }
    }

    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// One of the files.
    pub fn known(&self, path: &Path) -> Option<&Path> {
        self.by_name.get(path.file_name()?).map(PathBuf::as_path)
    }

    /// The preview of a model and its descriptions.
    pub fn of(&self, model: &Path) -> Vec<PathBuf> {
        let stem = stem(model);
        let named = |ending: &&str| self.by_name.get(&OsString::from(format!("{stem}{ending}"))).cloned();
        let image = IMAGES.iter().find_map(&named);
        image.into_iter().chain(DESCRIPTIONS.iter().filter_map(named)).collect()
    }
}

/// Where a preview of a model is written, which comes before all others.
pub fn own_preview(model: &Path) -> PathBuf {
    model.with_file_name(format!("{}{}", stem(model), IMAGES[0]))
}

/// The name of a weight file without extension and number, or of a folder.
pub fn stem(path: &Path) -> String {
    let stem = if path.is_dir() { path.file_name() } else { path.file_stem() };
    let stem = stem.unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let numbered = stem.rsplit_once("-of-").and_then(|(before, _)| before.rsplit_once('-'));
    match numbered {
        Some((name, number)) if number.len() == 5 && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            name.to_owned()
        }
        _ => stem,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => true,
    }
}

/// A text that is not empty, without markup.
fn words(value: &Value) -> Option<String> {
    let text = plain(value.as_str()?);
    (!text.is_empty()).then_some(text)
}

/// The texts of a list, or of a text with commas.
fn items(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(|text| text.trim().trim_end_matches(',').to_owned());
    let texts: Vec<String> = match value {
        Value::Array(values) => values.iter().filter_map(text).collect(),
        value => value.as_str().unwrap_or_default().split(',').map(|part| part.trim().to_owned()).collect(),
    };
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

/// A text without the tags and entities of HTML.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        out.push_str(before);
        let is_tag =
            tag[1..].starts_with(|next: char| next.is_ascii_alphabetic() || next == '/' || next == '!');
        let Some(end) = tag.find('>').filter(|_| is_tag) else {
            out.push('<');
            rest = &tag[1..];
            continue;
        };
        let name = tag[1..end].trim_start_matches('/').to_ascii_lowercase();
        let breaks = ["p", "br", "li", "div", "h1", "h2", "h3"].iter();
        let is_break = breaks.into_iter().any(|block| {
            name.strip_prefix(block)
                .is_some_and(|after| !after.starts_with(|next: char| next.is_ascii_alphanumeric()))
        });
        if is_break {
            out.push('\n');
        }
        rest = &tag[end + 1..];
    }
    out.push_str(rest);
    let entities =
        [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    for (entity, letter) in entities {
        out = out.replace(entity, letter);
    }
    let lines = out.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn markup_becomes_plain_text() {
        let html = "<p>A <strong>bold</strong> style.</p><ul><li>use 0.8</li></ul>Tom &amp; Ann, 3 < 4 &lt;3<br />end";
        assert_eq!(plain(html), "A bold style.\nuse 0.8\nTom & Ann, 3 < 4 <3\nend");
        assert_eq!(plain("<"), "<");
        assert_eq!(plain("<b"), "<b");
    }

    #[test]
    fn descriptions_of_several_programs_are_understood() {
        let mut about = About::default();
        about.add(&json!({"description": "", "activation text": "inkwash, paper", "notes": "my own", "sd version": "SDXL"}));
        about.add(&json!({
            "name": "v1", "baseModel": "SDXL 1.0", "description": "<p>theirs</p>",
            "trainedWords": ["other"], "model": {"name": "Ink wash", "tags": ["style", "ink"]},
        }));
        assert_eq!(about.title.as_deref(), Some("Ink wash"));
        assert_eq!((about.base.as_deref(), about.notes.as_deref()), (Some("SDXL"), Some("my own")));
        assert_eq!(about.trigger_words, ["inkwash", "paper"]);
        assert_eq!(about.tags, ["style", "ink"]);
        let mut manager = About::default();
        manager.add(
            &json!({"model_name": "Film", "civitai": {"trainedWords": ["film grain, 35mm"]}, "tags": []}),
        );
        assert_eq!(
            (manager.title.as_deref(), manager.trigger_words),
            (Some("Film"), vec!["film grain, 35mm".to_owned()])
        );
    }

    #[test]
    fn numbers_of_shards_are_no_part_of_a_name() {
        for (path, name) in [
            ("a/t5-00001-of-00003.safetensors", "t5"),
            ("a/flux.1-dev.gguf", "flux.1-dev"),
            ("a/best-of-all.gguf", "best-of-all"),
        ] {
            assert_eq!(stem(Path::new(path)), name);
        }
    }
}
