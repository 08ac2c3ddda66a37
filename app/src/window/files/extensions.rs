//! Which files are models, images, clips and others, by their extensions.

use std::path::Path;

pub(super) use sluice_engine::source::{CLIP_EXTENSIONS, IMAGE_EXTENSIONS, has_extension};

/// Extensions of model files.
pub(super) const MODEL_EXTENSIONS: [&str; 2] = ["safetensors", "gguf"];
/// Extensions of what other programs keep models in and Sluice does not read, because opening it can run any program.
pub(super) const PICKLE_EXTENSIONS: [&str; 5] = ["ckpt", "pth", "pt", "bin", "pkl"];
/// Extensions of clips and images.
pub(super) const MEDIA_EXTENSIONS: [&str; 7] = {
    let ([a, b, c], [d, e, f, g]) = (CLIP_EXTENSIONS, IMAGE_EXTENSIONS);
    [a, b, c, d, e, f, g]
};
/// Extensions of what Sluice saves by itself.
pub(super) const SAVED_EXTENSIONS: [&str; 6] = ["png", "jpg", "mp4", "mov", "webp", "gif"];
/// Extensions of animated images.
pub(super) const ANIMATION_EXTENSIONS: [&str; 2] = ["webp", "gif"];
/// Extensions of files of styles.
pub(super) const STYLE_EXTENSIONS: [&str; 2] = ["csv", "json"];
/// Extensions of files of tags.
pub(super) const TAG_EXTENSIONS: [&str; 1] = ["csv"];
/// Extensions of archives with an engine.
pub(super) const ARCHIVE_EXTENSIONS: [&str; 1] = ["xz"];
/// Extensions of adapters.
pub(super) const ADAPTER_EXTENSIONS: [&str; 1] = ["safetensors"];

/// Whether a file is an image or a clip by its name.
pub fn is_image_or_clip(path: &Path) -> bool {
    [&IMAGE_EXTENSIONS[..], &CLIP_EXTENSIONS, &ANIMATION_EXTENSIONS]
        .iter()
        .any(|known| has_extension(path, known))
}
