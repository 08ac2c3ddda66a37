//! The thumbnails on the GPU: those of the rows that are in sight, and some that were.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use egui::{ColorImage, Context, TextureHandle, TextureId, TextureOptions};

use crate::window::collection::{Item, Stamp};

/// Fewest textures that are kept after they are out of sight.
const KEPT: usize = 192;

/// A thumbnail.
#[derive(Debug, Clone)]
pub enum Thumbnail {
    /// Its texture, with its size in pixels.
    Ready(TextureId, [usize; 2]),
    /// It is being read.
    Waiting,
    /// It cannot be read.
    Broken(String),
}

enum Loaded {
    Texture(TextureHandle),
    Broken(String),
}

/// The thumbnails.
#[derive(Default)]
pub struct Thumbnails {
    loaded: HashMap<PathBuf, (Stamp, u64, Loaded)>,
    requested: HashSet<PathBuf>,
    /// Counts frames.
    frame: u64,
    used: usize,
}

impl Thumbnails {
    /// The thumbnail of an item. If it is not there, it is asked for with `request`, which says whether it was taken.
    pub fn get(&mut self, item: &Item, request: impl FnOnce() -> bool) -> Thumbnail {
        self.used += 1;
        if let Some(reason) = &item.broken {
            return Thumbnail::Broken(reason.clone());
        }
        if let Some((stamp, last_used, loaded)) = self.loaded.get_mut(&item.path)
            && *stamp == item.stamp
        {
            *last_used = self.frame;
            return match loaded {
                Loaded::Texture(texture) => Thumbnail::Ready(texture.id(), texture.size()),
                Loaded::Broken(reason) => Thumbnail::Broken(reason.clone()),
            };
        }
        if !self.requested.contains(&item.path) && request() {
            self.requested.insert(item.path.clone());
        }
        Thumbnail::Waiting
    }

    /// A thumbnail has come.
    pub fn take(&mut self, ctx: &Context, path: PathBuf, stamp: Stamp, image: Result<ColorImage, String>) {
        self.requested.remove(&path);
        let loaded = match image {
            Ok(image) => Loaded::Texture(ctx.load_texture("gallery", image, TextureOptions::LINEAR)),
            Err(reason) => Loaded::Broken(reason),
        };
        self.loaded.insert(path, (stamp, self.frame, loaded));
    }

    /// A file is gone.
    pub fn forget(&mut self, path: &Path) {
        self.requested.remove(path);
        self.loaded.remove(path);
    }

    /// Ends a frame: frees what has been out of sight for the longest time.
    pub fn end_frame(&mut self) {
        self.frame += 1;
        let most = KEPT.max(3 * std::mem::take(&mut self.used));
        if self.loaded.len() <= most {
            return;
        }
        let mut uses: Vec<u64> = self.loaded.values().map(|(_, last, _)| *last).collect();
        uses.sort_unstable();
        // A quarter at once, so that this is rare.
        let oldest = uses[uses.len() - most * 3 / 4];
        self.loaded.retain(|_, (_, last, _)| *last >= oldest);
    }

    /// Frees all of them.
    pub fn clear(&mut self) {
        self.loaded.clear();
    }

    /// Whether a thumbnail is there.
    pub fn has(&self, path: &Path) -> bool {
        self.loaded.contains_key(path)
    }

    /// How many are there.
    pub fn count(&self) -> usize {
        self.loaded.len()
    }
}
