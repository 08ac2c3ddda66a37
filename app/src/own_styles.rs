//! Styles that were saved in the window: a file of A1111's kind in the folder of styles.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sluice_engine::{
    request::Style,
    text::{StyleError, read_styles},
};

/// Its name.
const FILE: &str = "saved.csv";

/// Why a style cannot be saved or deleted.
#[derive(Debug, thiserror::Error)]
pub enum OwnStyleError {
    /// The file that is there cannot be read, and is left as it is.
    #[error(transparent)]
    Unreadable(StyleError),
    /// It cannot be written.
    #[error("{} cannot be written: {error}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// The saved styles in a folder. A missing file has none.
///
/// # Errors
/// When the file cannot be read.
pub fn saved(folder: &Path) -> Result<Vec<Style>, OwnStyleError> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    read_styles(&path).map_err(OwnStyleError::Unreadable)
}

/// Saves a style, in place of one of its name.
///
/// # Errors
/// When the file cannot be read or written.
pub fn save(folder: &Path, style: Style) -> Result<(), OwnStyleError> {
    let mut styles = saved(folder)?;
    match styles.iter_mut().find(|known| known.name == style.name) {
        Some(known) => *known = style,
        None => styles.push(style),
    }
    write(folder, &styles)
}

/// Gives a style another name, in its place.
///
/// # Errors
/// When the file cannot be read or written.
pub fn rename(folder: &Path, name: &str, new: String) -> Result<(), OwnStyleError> {
    let mut styles = saved(folder)?;
    styles.iter_mut().filter(|style| style.name == name).for_each(|style| style.name.clone_from(&new));
    write(folder, &styles)
}

/// Deletes a style.
///
/// # Errors
/// When the file cannot be read or written.
pub fn delete(folder: &Path, name: &str) -> Result<(), OwnStyleError> {
    let mut styles = saved(folder)?;
    styles.retain(|known| known.name != name);
    write(folder, &styles)
}

fn write(folder: &Path, styles: &[Style]) -> Result<(), OwnStyleError> {
    let path = folder.join(FILE);
    let write = || {
        fs::create_dir_all(folder)?;
        let mut table = csv::Writer::from_writer(tempfile::NamedTempFile::new_in(folder)?);
        table.write_record(["name", "prompt", "negative_prompt"])?;
        for Style { name, prompt, negative_prompt } in styles {
            table.write_record([name, prompt, negative_prompt])?;
        }
        let whole = table.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        whole.persist(&path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| OwnStyleError::Write { path: path.clone(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(name: &str, prompt: &str) -> Style {
        Style {
            name: name.to_owned(),
            prompt: prompt.to_owned(),
            negative_prompt: "fog, \"rain\"".to_owned(),
        }
    }

    #[test]
    fn styles_are_saved_replaced_and_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let styles = folder.path().join("styles");
        assert_eq!(saved(&styles).unwrap(), []);
        save(&styles, style("ink", "ink wash of {prompt}, \"paper\"\nsoft")).unwrap();
        save(&styles, style("film", "film grain")).unwrap();
        save(&styles, style("ink", "ink")).unwrap();
        assert_eq!(saved(&styles).unwrap(), [style("ink", "ink"), style("film", "film grain")]);
        rename(&styles, "ink", "wash".to_owned()).unwrap();
        assert_eq!(saved(&styles).unwrap(), [style("wash", "ink"), style("film", "film grain")]);
        delete(&styles, "wash").unwrap();
        assert_eq!(saved(&styles).unwrap(), [style("film", "film grain")]);
        delete(&styles, "film").unwrap();
        assert_eq!(saved(&styles).unwrap(), []);
        assert_eq!(fs::read_dir(&styles).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        fs::write(&path, "title;text\nink;wash\n").unwrap();
        let error = save(folder.path(), style("film", "grain")).unwrap_err();
        assert!(error.to_string().contains("saved.csv has no styles"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "title;text\nink;wash\n");
    }
}
