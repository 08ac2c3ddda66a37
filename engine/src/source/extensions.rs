//! Which files are images and clips, by their names.

use std::path::Path;

/// Extensions of images that can be read.
pub const IMAGE_EXTENSIONS: [&str; 4] = ["png", "jpg", "jpeg", "webp"];

/// Extensions of clips that can be read.
pub const CLIP_EXTENSIONS: [&str; 3] = ["mp4", "m4v", "mov"];

/// Whether a file has the name of an image.
pub fn is_image_name(path: &Path) -> bool {
    has_extension(path, &IMAGE_EXTENSIONS)
}

/// Whether a file has the name of a clip.
pub fn is_clip_name(path: &Path) -> bool {
    has_extension(path, &CLIP_EXTENSIONS)
}

/// Whether the extension of a file is one of these, in small or capital letters.
pub fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|own| extensions.iter().any(|known| own.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_extension_decides_in_any_case() {
        for (name, is_image, is_clip) in [
            ("a.png", true, false),
            ("in.mp4/a.JPEG", true, false),
            ("a.png.Mov", false, true),
            ("a.gif", false, false),
            ("png", false, false),
            (".png", false, false),
        ] {
            let path = Path::new(name);
            assert_eq!((is_image_name(path), is_clip_name(path)), (is_image, is_clip), "{name}");
        }
    }
}
