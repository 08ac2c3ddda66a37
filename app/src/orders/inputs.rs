//! The pictures and clips of an order: data in base64, or paths where they are allowed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::{Deserialize, Serialize};
use sluice_engine::source::{ClipInfo, size_of};
use tempfile::TempDir;

use super::OrderError;

/// Some programs leave out the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A picture or a clip: its file in base64, perhaps as a `data:` URL, or a path where [`Inputs`] allow it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Given(pub String);

impl Given {
    /// A picture of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(BASE64.encode(bytes))
    }

    fn bytes(&self, what: &str) -> Result<Vec<u8>, OrderError> {
        let wrong = |detail: String| OrderError::NotBase64 { what: what.to_owned(), detail };
        let text = self.0.trim();
        let text = match text.strip_prefix("data:") {
            Some(rest) => {
                let data = rest.split_once(";base64,").map(|(_, data)| data);
                data.ok_or_else(|| wrong("the data URL does not say base64".to_owned()))?
            }
            None => text,
        };
        let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        if text.is_empty() {
            return Err(wrong("it is empty".to_owned()));
        }
        BASE64.decode(text).map_err(|error| wrong(error.to_string()))
    }
}

/// Where the pictures of one order are while it runs.
#[derive(Debug)]
pub struct Inputs {
    folder: TempDir,
    /// Where paths begin, if they are allowed.
    base: Option<PathBuf>,
    count: usize,
}

impl Inputs {
    /// Pictures as data only.
    ///
    /// # Errors
    /// When no temporary folder can be made.
    pub fn of_data() -> Result<Self, OrderError> {
        let folder = tempfile::Builder::new().prefix("sluice-order-").tempdir();
        let folder = folder.map_err(|cause| OrderError::Write { path: std::env::temp_dir(), cause })?;
        Ok(Self { folder, base: None, count: 0 })
    }

    /// Pictures as data or as paths, which are relative to a folder.
    ///
    /// # Errors
    /// When no temporary folder can be made.
    pub fn of_files_in(base: &Path) -> Result<Self, OrderError> {
        Ok(Self { base: Some(base.to_owned()), ..Self::of_data()? })
    }

    /// The folder for what the order needs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file of a picture. `what` names it in errors.
    ///
    /// # Errors
    /// When it is no picture.
    pub fn file(&mut self, given: &Given, what: &str) -> Result<PathBuf, OrderError> {
        if let Some(path) = self.base.as_ref().map(|base| base.join(&given.0)).filter(|path| path.is_file()) {
            size_of(&path)?;
            return Ok(path);
        }
        self.add(&given.bytes(what)?, what)
    }

    /// The file of a clip, or where paths are allowed its folder of images. What comes as data is an MP4 file with H.264, so
    /// that no other program has to find out what it is. `what` names it in errors.
    ///
    /// # Errors
    /// When it is no clip.
    pub fn clip(&mut self, given: &Given, what: &str) -> Result<PathBuf, OrderError> {
        let path = self.base.as_ref().filter(|_| !given.0.is_empty()).map(|base| base.join(&given.0));
        if let Some(path) = path.filter(|path| path.exists()) {
            return Ok(path);
        }
        let bytes = given.bytes(what)?;
        let no_clip = |detail: String| OrderError::NotAClip { what: what.to_owned(), detail };
        let unknown = || no_clip("it is no MP4 file with H.264 video".to_owned());
        if !bytes.get(4..).is_some_and(|rest| rest.starts_with(b"ftyp")) {
            return Err(unknown());
        }
        self.count += 1;
        let path = self.folder.path().join(format!("{}.mp4", self.count));
        fs::write(&path, bytes).map_err(|cause| OrderError::Write { path: path.clone(), cause })?;
        match ClipInfo::open(&path) {
            Ok(Some(info)) if !info.needs_ffmpeg => Ok(path),
            Ok(_) => Err(unknown()),
            // The path means nothing to who sent the bytes.
            Err(error) => Err(no_clip(error.to_string().replace(&path.display().to_string(), "it"))),
        }
    }

    /// The file of a picture or a clip.
    ///
    /// # Errors
    /// When it is neither.
    pub fn picture_or_clip(&mut self, given: &Given, what: &str) -> Result<PathBuf, OrderError> {
        self.file(given, what).or_else(|_| self.clip(given, what))
    }

    /// The file of a picture with these bytes.
    ///
    /// # Errors
    /// When it is no picture, or cannot be written.
    pub fn add(&mut self, bytes: &[u8], what: &str) -> Result<PathBuf, OrderError> {
        self.count += 1;
        let kind = image::guess_format(bytes);
        let extension = kind.ok().and_then(|kind| kind.extensions_str().first().copied()).unwrap_or("png");
        let path = self.folder.path().join(format!("{}.{extension}", self.count));
        fs::write(&path, bytes).map_err(|cause| OrderError::Write { path: path.clone(), cause })?;
        match size_of(&path) {
            Ok(_) => Ok(path),
            // The path means nothing to who sent the bytes.
            Err(error) => {
                let detail = error.to_string().replace(&path.display().to_string(), "it");
                Err(OrderError::NotAnImage { what: what.to_owned(), detail })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot() -> Vec<u8> {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image::RgbImage::new(2, 1).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn pictures_come_in_base64_and_never_by_path() {
        let mut inputs = Inputs::of_data().unwrap();
        let plain = Given::of(&dot());
        for given in [
            plain.clone(),
            Given(format!("data:image/png;base64,{}", plain.0)),
            Given(plain.0.trim_end_matches('=').to_owned()),
        ] {
            let path = inputs.file(&given, "the input image").unwrap();
            assert_eq!(fs::read(path).unwrap(), dot());
        }
        for wrong in ["/etc/passwd", "../secret.png", "file:///etc/passwd", "http://a/b.png", "", "data:,x"] {
            let error = inputs.file(&Given(wrong.to_owned()), "the input image").unwrap_err();
            assert!(matches!(error, OrderError::NotBase64 { .. } | OrderError::NotAnImage { .. }), "{error}");
        }
    }

    #[test]
    fn clips_are_mp4_files_or_paths_where_they_are_allowed() {
        let mut inputs = Inputs::of_data().unwrap();
        let said = |inputs: &mut Inputs, given: Given| {
            let error = inputs.clip(&given, "the control clip").unwrap_err();
            assert!(matches!(error, OrderError::NotAClip { .. } | OrderError::NotBase64 { .. }), "{error}");
            error.to_string()
        };
        for bytes in [&b"#EXTM3U\n/etc/passwd"[..], b"ftyp", b"", &dot()[..]] {
            said(&mut inputs, Given::of(bytes));
        }
        let damaged = said(&mut inputs, Given::of(b"\0\0\0\x08ftyp"));
        assert!(!damaged.contains("sluice-order"), "{damaged}");
        said(&mut inputs, Given("/etc".to_owned()));
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("poses")).unwrap();
        let mut inputs = Inputs::of_files_in(folder.path()).unwrap();
        let path = inputs.picture_or_clip(&Given("poses".to_owned()), "the control clip").unwrap();
        assert_eq!(path, folder.path().join("poses"));
        said(&mut inputs, Given(String::new()));
    }

    #[test]
    fn errors_do_not_name_temporary_files() {
        let mut inputs = Inputs::of_data().unwrap();
        let error = inputs.file(&Given::of(b"no image"), "the mask").unwrap_err().to_string();
        assert!(error.starts_with("the mask cannot be read") && !error.contains("sluice-order"), "{error}");
    }

    #[test]
    fn paths_are_read_where_they_are_allowed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("dot.png"), dot()).unwrap();
        let mut inputs = Inputs::of_files_in(folder.path()).unwrap();
        assert_eq!(inputs.file(&Given("dot.png".to_owned()), "it").unwrap(), folder.path().join("dot.png"));
        assert!(inputs.file(&Given("missing.png".to_owned()), "it").is_err());
    }
}
