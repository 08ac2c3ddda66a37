//! Which file a result was made of.

use std::{
    cell::OnceCell,
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Settings, read::read_mark, read_settings};

/// Bytes at the beginning of a file that are hashed: all of most images. Clips differ there, and in their length.
const HASHED: u64 = 1 << 20;

/// What tells an input file from others, wherever it is and whatever it is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputMark {
    /// Its length in bytes.
    pub bytes: u64,
    /// The SHA-256 of its first MiB, in hexadecimal digits.
    pub sha256: String,
}

impl InputMark {
    /// The mark of a file.
    ///
    /// # Errors
    /// When it cannot be read, or ends before its length.
    pub fn of(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        Self::of_stream(file, bytes)
    }

    fn of_stream(file: impl Read, bytes: u64) -> io::Result<Self> {
        let mut start = Vec::new();
        file.take(HASHED).read_to_end(&mut start)?;
        if (start.len() as u64) < bytes.min(HASHED) {
            let detail = format!("it ends after {} of {bytes} bytes", start.len());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, detail));
        }
        let sha256 = Sha256::digest(&start).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { bytes, sha256 })
    }
}

/// What a file says about its contents.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About<'a> {
    pub settings: Option<&'a Settings>,
    /// The file that it was made of, if there are no settings to say so.
    pub made_of: Option<&'a InputMark>,
}

impl About<'_> {
    /// The mark as it is written.
    pub fn mark(self) -> io::Result<Option<String>> {
        Ok(self.made_of.map(serde_json::to_string).transpose()?)
    }
}

impl<'a> From<&'a Settings> for About<'a> {
    fn from(settings: &'a Settings) -> Self {
        Some(settings).into()
    }
}

impl<'a> From<Option<&'a Settings>> for About<'a> {
    fn from(settings: Option<&'a Settings>) -> Self {
        Self { settings, made_of: None }
    }
}

/// A file of which others may have been made. Its mark is taken once, when it is first compared.
#[derive(Debug)]
pub struct InputFile<'a> {
    path: &'a Path,
    mark: OnceCell<Option<InputMark>>,
}

impl<'a> InputFile<'a> {
    /// The file with this path.
    pub fn new(path: &'a Path) -> Self {
        Self { path, mark: OnceCell::new() }
    }

    /// Whether a result was made of it. One that does not say so, such as those of earlier versions, is taken for one unless the
    /// input is newer.
    pub fn made(&self, result: &Path) -> bool {
        let said = read_settings(result).ok().and_then(|restored| restored.settings.made_of);
        match said.or_else(|| read_mark(result)) {
            Some(mark) => self.mark.get_or_init(|| InputMark::of(self.path).ok()).as_ref() == Some(&mark),
            None => {
                let [result, input] =
                    [result, self.path].map(|path| fs::metadata(path).and_then(|file| file.modified()));
                !matches!((result, input), (Ok(result), Ok(input)) if input > result)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::{
        output::{Clip, Codec, Image, Media, write_plain, write_png},
        request::{Request, SourceImage, Upscale},
    };

    fn is_made_of(result: &Path, input: &Path) -> bool {
        InputFile::new(input).made(result)
    }

    #[test]
    fn a_result_belongs_to_the_contents_of_its_input() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("fox.png"), "a fox").unwrap();
        fs::write(at("copy.png"), "a fox").unwrap();
        fs::write(at("den.png"), "a den").unwrap();
        let source = Some(SourceImage { path: at("fox.png"), ..SourceImage::default() });
        let request = Request { source, ..Request::default() };
        let made_of = request.marked_input().map(|input| InputMark::of(input).unwrap());
        assert_eq!(made_of, Some(InputMark::of(&at("fox.png")).unwrap()));
        let settings = Settings { made_of, ..Settings::new(&request, "Starter", "z_image", 0) };
        let image = Media::Image(Image::opaque(4, 4, vec![0; 48]));
        write_png(&at("result.png"), &image, &settings).unwrap();
        assert!(is_made_of(&at("result.png"), &at("fox.png")));
        assert!(is_made_of(&at("result.png"), &at("copy.png")), "wherever it is");
        assert!(!is_made_of(&at("result.png"), &at("den.png")));
        assert!(!is_made_of(&at("result.png"), &at("none.png")));
        for name in ["plain.png", "plain.mp4"] {
            let mark = InputMark::of(&at("fox.png")).unwrap();
            let media = match name {
                "plain.png" => image.clone(),
                _ => Media::Clip(Clip::silent(vec![Image::opaque(32, 32, vec![0; 3 << 10]); 2], 8.0)),
            };
            write_plain(&at(name), &media, Some(&mark), Codec::H264).unwrap();
            assert!(read_settings(&at(name)).is_err(), "{name}");
            assert!(is_made_of(&at(name), &at("copy.png")), "{name}");
            assert!(!is_made_of(&at(name), &at("den.png")), "{name}");
        }
        let upscale = Some(Upscale { path: at("den.png"), scale: 2.0 });
        let enlarges = Request { upscale, ..request };
        assert_eq!(enlarges.marked_input(), Some(&at("den.png")));
        assert_eq!(Request::default().marked_input(), None);
    }

    #[test]
    fn a_file_that_ends_early_has_no_mark() {
        let file = [7; 100].as_slice();
        assert_eq!(InputMark::of_stream(file, 100).unwrap().bytes, 100);
        let error = InputMark::of_stream(&file[..40], 100).unwrap_err();
        assert_eq!(error.to_string(), "it ends after 40 of 100 bytes");
        let long = vec![7; HASHED as usize];
        assert_eq!(InputMark::of_stream(&*long, 2 * HASHED).unwrap().bytes, 2 * HASHED);
    }

    #[test]
    fn without_a_mark_the_older_file_is_the_input() {
        let folder = tempfile::tempdir().unwrap();
        let [input, result] = ["input.png", "result.png"].map(|name| folder.path().join(name));
        fs::write(&input, "an input").unwrap();
        fs::write(&result, "no settings").unwrap();
        let now = SystemTime::now();
        let touch =
            |path: &Path, at: SystemTime| File::options().write(true).open(path).unwrap().set_modified(at);
        touch(&input, now).unwrap();
        touch(&result, now + Duration::from_secs(9)).unwrap();
        assert!(is_made_of(&result, &input));
        touch(&input, now + Duration::from_secs(20)).unwrap();
        assert!(!is_made_of(&result, &input));
    }
}
