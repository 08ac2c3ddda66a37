//! Images whose faces and other details are inpainted again, and what the results are called.

use std::path::Path;

use sluice_engine::{
    output::read_settings,
    request::Request,
    source::{GivenMedia, SourceError},
};

/// The request that inpaints the details of an image, and what the image's header says. Without a prompt it is that in the
/// file, if there is one.
///
/// # Errors
/// When the file cannot be read, or is no image.
pub fn request_of(path: &Path, usual: &Request) -> Result<(Request, GivenMedia), SourceError> {
    let given = GivenMedia::open(path)?;
    let mut request = Request { detail_of: Some(path.to_owned()), ..usual.clone() };
    if request.prompt.is_empty()
        && let Ok(known) = read_settings(path)
    {
        request.prompt = known.settings.request.prompt;
        if request.negative_prompt.is_empty() {
            request.negative_prompt = known.settings.request.negative_prompt;
        }
    }
    Ok((request, given))
}

/// The name of the result: `photo-detailed.png` of `photo.jpg`.
pub fn name_of_result(input: &Path) -> String {
    format!("{}-detailed.png", input.file_stem().unwrap_or_default().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_called_after_inputs() {
        assert_eq!(name_of_result(Path::new("in/photo.of.me.jpg")), "photo.of.me-detailed.png");
    }

    #[test]
    fn an_image_without_settings_has_no_prompt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plain.png");
        image::RgbImage::new(4, 4).save(&path).unwrap();
        let (request, given) = request_of(&path, &Request { steps: 9, ..Request::default() }).unwrap();
        assert_eq!((request.prompt.as_str(), request.steps, given.size), ("", 9, [4, 4]));
        assert_eq!(request.detail_of, Some(path.clone()));
        let usual = Request { prompt: "a face".to_owned(), ..Request::default() };
        assert_eq!(request_of(&path, &usual).unwrap().0.prompt, "a face");
        assert!(request_of(&folder.path().join("none.png"), &usual).is_err());
    }
}
