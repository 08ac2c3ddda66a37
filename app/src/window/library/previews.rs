//! Preview images on the GPU that renders the window.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use egui::{ColorImage, Context, TextureHandle, TextureOptions};

/// Textures that are kept.
const KEPT: usize = 300;
/// Images that are requested at a time.
const WAITING: usize = 8;
/// Longer sides in pixels: of a thumbnail, and of the image of the selected model.
pub const SMALL: usize = 112;
pub const LARGE: usize = 640;

/// Preview images, by file and longer side.
#[derive(Default)]
pub struct Previews {
    all: HashMap<(PathBuf, usize), Preview>,
    frame: u64,
    wanted: Vec<(PathBuf, usize)>,
}

struct Preview {
    texture: Option<TextureHandle>,
    is_waiting: bool,
    last_frame: u64,
}

impl Previews {
    /// An image, once it is read. It is requested after the frame.
    pub fn get(&mut self, path: &Path, side: usize) -> Option<&TextureHandle> {
        let key = (path.to_owned(), side);
        if !self.all.contains_key(&key) {
            self.wanted.push(key);
            return None;
        }
        let preview = self.all.get_mut(&key)?;
        preview.last_frame = self.frame;
        preview.texture.as_ref()
    }

    /// The images to request now. Those that were drawn longest ago are forgotten if there are too many.
    pub fn next(&mut self) -> Vec<(PathBuf, usize)> {
        self.frame += 1;
        let waiting = self.all.values().filter(|preview| preview.is_waiting).count();
        let mut next = std::mem::take(&mut self.wanted);
        next.truncate(WAITING.saturating_sub(waiting));
        for key in &next {
            let preview = Preview { texture: None, is_waiting: true, last_frame: self.frame };
            self.all.insert(key.clone(), preview);
        }
        if self.all.len() > KEPT {
            let mut frames: Vec<u64> = self.all.values().map(|preview| preview.last_frame).collect();
            frames.sort_unstable();
            let oldest = frames[frames.len() - KEPT];
            self.all.retain(|_, preview| preview.last_frame >= oldest || preview.is_waiting);
        }
        next
    }

    /// An image that could not be requested.
    pub fn forget(&mut self, path: PathBuf, side: usize) {
        self.all.remove(&(path, side));
    }

    /// Takes an image that was read, or the news that it cannot be.
    pub fn take(&mut self, ctx: &Context, path: PathBuf, side: usize, image: Option<ColorImage>) {
        let texture = image.map(|image| ctx.load_texture("preview", image, TextureOptions::LINEAR));
        self.all.insert((path, side), Preview { texture, is_waiting: false, last_frame: self.frame });
    }

    /// Forgets everything, because files may have changed.
    pub fn clear(&mut self) {
        self.all.clear();
    }
}
