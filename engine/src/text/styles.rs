//! Styles: named parts of prompts, as in A1111's `styles.csv` and Fooocus' `sdxl_styles`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::request::Style;

/// Where a style has the prompt.
const PLACE: &str = "{prompt}";
/// Folders above a model in which styles are searched: A1111 has them in its own folder, three above.
const ABOVE: usize = 5;
/// The most bytes of a file.
const LARGEST: u64 = 16 << 20;

/// Why styles cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StyleError {
    /// The file cannot be read.
    #[error("{} cannot be read: {error}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is too large to be a file of styles.
    #[error("{} is too large for a file of styles", .0.display())]
    TooLarge(PathBuf),
    /// It is not a table with the columns of A1111.
    #[error("{} has no styles: {error}; A1111's styles.csv has the columns name, prompt and negative_prompt", .path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// Why.
        error: csv::Error,
    },
    /// It is not a list of Fooocus.
    #[error("{} has no styles: {error}; Fooocus' files are lists of name, prompt and negative_prompt", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Why.
        error: serde_json::Error,
    },
}

/// A style in a file.
#[derive(Deserialize)]
struct Stored {
    name: String,
    /// A1111 once named it `text`.
    #[serde(default, alias = "text")]
    prompt: Option<String>,
    #[serde(default)]
    negative_prompt: Option<String>,
}

/// The prompt and the negative prompt with styles, one after the other: a style's `{prompt}` is replaced by the prompt so far;
/// one without it is appended after a comma.
pub fn styled(prompt: &str, negative_prompt: &str, styles: &[Style]) -> [String; 2] {
    let merged = |text: &str, part: fn(&Style) -> &str| {
        styles.iter().map(part).fold(text.to_owned(), |text, style| match style.trim() {
            "" => text,
            style if style.contains(PLACE) => style.replace(PLACE, text.trim()),
            style if text.trim().is_empty() => style.to_owned(),
            style => format!("{}, {style}", text.trim()),
        })
    };
    [merged(prompt, |style| &style.prompt), merged(negative_prompt, |style| &style.negative_prompt)]
}

/// The styles of a file: CSV of A1111, or JSON of Fooocus.
///
/// # Errors
/// When it cannot be read, or has no styles.
pub fn read_styles(path: &Path) -> Result<Vec<Style>, StyleError> {
    let owned = || path.to_owned();
    let read_error = |error| StyleError::Read { path: owned(), error };
    if fs::metadata(path).map_err(read_error)?.len() > LARGEST {
        return Err(StyleError::TooLarge(owned()));
    }
    let bytes = fs::read(path).map_err(read_error)?;
    // Spreadsheets write a mark before UTF-8.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let stored: Vec<Stored> = match has_extension(path, "json") {
        true => serde_json::from_slice(bytes).map_err(|error| StyleError::Json { path: owned(), error })?,
        false => {
            let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
            let stored: Result<Vec<Stored>, _> = reader.deserialize().collect();
            stored.map_err(|error| StyleError::Csv { path: owned(), error })?
        }
    };
    let styles = stored.into_iter().filter_map(|stored| {
        let name = stored.name.trim().to_owned();
        let part = |text: Option<String>| text.unwrap_or_default().trim().to_owned();
        let style =
            Style { name, prompt: part(stored.prompt), negative_prompt: part(stored.negative_prompt) };
        let is_empty = style.prompt.is_empty() && style.negative_prompt.is_empty();
        (!style.name.is_empty() && !is_empty).then_some(style)
    });
    Ok(styles.collect())
}

/// Styles by name: of these files, of the files in these folders, and of those that A1111 and Fooocus have above a model. Of
/// several with a name, the first counts. Also returns why files could not be read.
pub fn styles_around(model: &Path, chosen: &[PathBuf]) -> (Vec<Style>, Vec<StyleError>) {
    let mut files: Vec<PathBuf> = chosen.iter().flat_map(|path| files_of(path)).collect();
    for base in model.ancestors().take(ABOVE) {
        files.push(base.join("styles.csv"));
        files.extend(files_of(&base.join("sdxl_styles")));
    }
    let mut styles: Vec<Style> = Vec::new();
    let mut errors = Vec::new();
    for file in files.into_iter().filter(|file| file.is_file()) {
        match read_styles(&file) {
            Ok(found) => {
                for style in found {
                    if styles.iter().all(|known| known.name != style.name) {
                        styles.push(style);
                    }
                }
            }
            Err(error) => errors.push(error),
        }
    }
    (styles, errors)
}

/// A file, or the files of styles in a folder, by name.
fn files_of(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        entries.filter(|path| ["csv", "json"].iter().any(|known| has_extension(path, known))).collect();
    files.sort();
    files
}

fn has_extension(path: &Path, known: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(name: &str, prompt: &str, negative_prompt: &str) -> Style {
        Style {
            name: name.to_owned(),
            prompt: prompt.to_owned(),
            negative_prompt: negative_prompt.to_owned(),
        }
    }

    #[test]
    fn styles_enclose_the_prompt_or_follow_it() {
        let film = style("Film", "film still of {prompt}, grain", "drawing");
        let fog = style("Fog", "fog", "");
        assert_eq!(
            styled("a fox ", "blurry", &[film.clone(), fog.clone()]),
            ["film still of a fox, grain, fog", "blurry, drawing",]
        );
        assert_eq!(styled("a fox", "", &[fog.clone(), film]), ["film still of a fox, fog, grain", "drawing"]);
        assert_eq!(styled("", "", &[fog]), ["fog", ""]);
        assert_eq!(styled(" a fox", "x", &[]), [" a fox", "x"], "without styles, nothing changes");
    }

    #[test]
    fn files_of_a1111_and_fooocus_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let webui = folder.path().join("webui");
        let fooocus = webui.join("sdxl_styles");
        fs::create_dir_all(&fooocus).unwrap();
        fs::create_dir_all(webui.join("models/Stable-diffusion")).unwrap();
        let table = "\u{feff}name,prompt,negative_prompt\nFilm,\"film still of {prompt}, grain\",drawing\n\
                     Separator,,\nFog,\"fog,\nmist\",\n";
        fs::write(webui.join("styles.csv"), table).unwrap();
        let list = r#"[{"name": "sai-anime", "prompt": "anime artwork {prompt}", "negative_prompt": "photo"},
            {"name": "Film", "prompt": "another"}, {"name": "only negative", "negative_prompt": "ugly"}]"#;
        fs::write(fooocus.join("sdxl_styles_sai.json"), list).unwrap();
        fs::write(fooocus.join("broken.json"), "[1, 2").unwrap();
        let old = folder.path().join("old.csv");
        fs::write(&old, "name,text\nInk,ink drawing\n").unwrap();
        let model = webui.join("models/Stable-diffusion/fox.safetensors");
        let (styles, errors) = styles_around(&model, &[old, folder.path().join("missing")]);
        assert_eq!(
            styles,
            [
                style("Ink", "ink drawing", ""),
                style("Film", "film still of {prompt}, grain", "drawing"),
                style("Fog", "fog,\nmist", ""),
                style("sai-anime", "anime artwork {prompt}", "photo"),
                style("only negative", "", "ugly"),
            ]
        );
        let [StyleError::Json { path, .. }] = &errors[..] else { panic!("{errors:?}") };
        assert!(path.ends_with("broken.json"));
        fs::write(folder.path().join("no.csv"), "a,b\n1,2\n").unwrap();
        let error = read_styles(&folder.path().join("no.csv")).unwrap_err().to_string();
        assert!(error.contains("has the columns name, prompt and negative_prompt"), "{error}");
    }
}
