//! Images that become the previews of models.

use std::{
    io,
    path::{Path, PathBuf},
};

use sluice_engine::{models::own_preview, request::ModelSource, session::Failure};
use tempfile::NamedTempFile;

use super::{FileEvent, read::generated_by, read_first};
use crate::{language::tr, window::state::shrink};

/// The longer side of a preview: enough for the panel of a model on a dense screen, and for other programs.
const LONGEST: usize = 768;

/// The models of which an image may become the preview: its own model and its LoRAs, as far as they are files here, and the
/// opened model. Each with whether it has a preview that would be replaced.
pub(super) fn models_of(image: &Path, opened: &ModelSource) -> Vec<(PathBuf, bool)> {
    let settings = generated_by(image);
    let request = settings.as_ref().map(|settings| &settings.request);
    let own = request.map(|request| &request.model);
    let loras = request.into_iter().flat_map(|request| &request.adapters).map(|adapter| &adapter.path);
    let of_source = |source: &ModelSource| match source {
        ModelSource::Path(path) => Some(path.clone()),
        ModelSource::Starter | ModelSource::StarterClip | ModelSource::Upscaler => None,
    };
    let all = own.and_then(of_source).into_iter().chain(loras.cloned()).chain(of_source(opened));
    let mut models: Vec<(PathBuf, bool)> = Vec::new();
    for model in all {
        if model.exists() && models.iter().all(|(known, _)| *known != model) {
            let has_preview = own_preview(&model).exists();
            models.push((model, has_preview));
        }
    }
    models
}

/// Writes an image, or the first frame of a clip, beside a model. If there is a preview that may not be replaced, it is asked
/// for again.
pub(super) fn save(image: &Path, model: PathBuf, replaces: bool) -> FileEvent {
    let path = own_preview(&model);
    if path.exists() && !replaces {
        return FileEvent::Previewed(image.to_owned(), vec![(model, true)]);
    }
    let failed = |failure| FileEvent::Failed { title: tr!("library-preview-failed"), failure };
    let first = match read_first(image) {
        Ok((first, _)) => first,
        Err(failure) => return failed(failure),
    };
    match write(&path, &first) {
        Ok(()) => FileEvent::PreviewSaved { model, path },
        Err(error) => {
            let message = format!("{}: {error}", path.display());
            failed(Failure { message, advice: Some(tr!("files-not-saved-advice")) })
        }
    }
}

fn write(path: &Path, image: &egui::ColorImage) -> io::Result<()> {
    let is_large = image.size.iter().any(|side| *side > LONGEST);
    let image = if is_large { shrink(image, LONGEST) } else { image.clone() };
    let pixels: Vec<u8> = image.pixels.iter().flat_map(|pixel| pixel.to_array()).collect();
    let mut file = NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    let [width, height] = image.size.map(|side| side as u32);
    let encoder = image::codecs::png::PngEncoder::new(file.as_file_mut());
    image::ImageEncoder::write_image(encoder, &pixels, width, height, image::ExtendedColorType::Rgba8)
        .map_err(io::Error::other)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
