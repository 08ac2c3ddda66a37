//! Finished images, from this session and from the output folder, and what the viewer shows.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::Arc,
};

use egui::{Color32, ColorImage};
use sluice_engine::{output::Image, request::Request, session::Picture};

/// Identifies an image during the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecentId(pub u64);

/// A finished image.
#[derive(Debug, Clone)]
pub struct Recent {
    /// Its id.
    pub id: RecentId,
    /// Its file.
    pub path: Option<PathBuf>,
    /// Its pixels, while they are in memory.
    pub image: Option<Arc<ColorImage>>,
    /// The thumbnail.
    pub thumbnail: Arc<ColorImage>,
    /// The request that generates only this image.
    pub request: Option<Request>,
    /// The duration of its job.
    pub seconds: Option<f64>,
}

impl Recent {
    /// Its display name.
    pub fn name(&self) -> String {
        match (&self.path, &self.request) {
            (Some(path), _) => file_name(path),
            (None, Some(request)) => format!("Image with seed {}", request.seed),
            (None, None) => format!("Image {}", self.id.0),
        }
    }
}

/// What the viewer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// No image yet.
    Nothing,
    /// The live preview.
    Live,
    /// A finished image.
    Recent(RecentId),
}

/// Finished images, and the selected one.
#[derive(Debug)]
pub struct Images {
    /// Newest first.
    pub recents: Recents,
    /// What the viewer shows.
    pub shown: Shown,
    /// Whether a new image is shown automatically.
    pub follow: bool,
}

impl Default for Images {
    fn default() -> Self {
        Self { recents: Recents::default(), shown: Shown::Nothing, follow: true }
    }
}

impl Images {
    /// Shows an image and stays there, or shows the live preview.
    pub fn show(&mut self, shown: Shown) {
        self.follow = shown == Shown::Live;
        self.shown = shown;
    }

    /// Shows the newest image.
    pub fn show_newest(&mut self) {
        self.shown = self.recents.newest().map_or(Shown::Nothing, Shown::Recent);
    }

    /// The finished image being shown.
    pub fn shown_recent(&self) -> Option<&Recent> {
        match self.shown {
            Shown::Recent(id) => self.recents.get(id),
            Shown::Nothing | Shown::Live => None,
        }
    }
}

/// The file name of a path.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Finished images, newest first.
#[derive(Debug, Default)]
pub struct Recents {
    list: VecDeque<Recent>,
    last: u64,
}

impl Recents {
    /// Maximum number of images.
    pub const LIMIT: usize = 60;
    /// Maximum number of images whose pixels stay in memory; others are reloaded when they are shown.
    const KEPT: usize = 12;

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Recent> {
        self.list.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The image with this id.
    pub fn get(&self, id: RecentId) -> Option<&Recent> {
        self.list.iter().find(|recent| recent.id == id)
    }

    /// The newest image.
    pub fn newest(&self) -> Option<RecentId> {
        self.list.front().map(|recent| recent.id)
    }

    /// The image before or after another one in the filmstrip.
    pub fn neighbour(&self, id: RecentId, step: isize) -> Option<RecentId> {
        let index = self.list.iter().position(|recent| recent.id == id)?;
        self.list.get(index.checked_add_signed(step)?).map(|recent| recent.id)
    }

    /// Adds a job's images and returns their ids, in batch order.
    pub fn add_finished(&mut self, request: &Request, images: Vec<Picture>, seconds: f64) -> Vec<RecentId> {
        let mut ids = Vec::new();
        for made in images.into_iter().rev() {
            let Some(image) = made.media.first().and_then(color_image) else {
                tracing::warn!(seed = made.seed, "an image has fewer pixels than its size says");
                continue;
            };
            let request = Request { seed: made.seed, batch: 1, ..request.clone() };
            ids.push(self.add(made.path, image, Some(request), Some(seconds)));
        }
        ids.reverse();
        ids
    }

    /// Adds an image that was opened; moves it to the front if it is already listed.
    pub fn add(
        &mut self,
        path: Option<PathBuf>,
        image: ColorImage,
        request: Option<Request>,
        seconds: Option<f64>,
    ) -> RecentId {
        if path.is_some() {
            self.list.retain(|recent| recent.path != path);
        }
        let thumbnail = Arc::new(thumbnail(&image));
        let id = self.new_id();
        let image = Some(Arc::new(image));
        self.list.push_front(Recent { id, path, image, thumbnail, request, seconds });
        self.list.truncate(Self::LIMIT);
        for recent in self.list.iter_mut().skip(Self::KEPT) {
            if recent.path.is_some() {
                recent.image = None;
            }
        }
        id
    }

    /// Adds an image found in the folder, after the others.
    pub fn add_found(&mut self, path: PathBuf, thumbnail: ColorImage, request: Option<Request>) {
        let listed = self.list.iter().any(|recent| recent.path.as_ref() == Some(&path));
        if listed || self.list.len() >= Self::LIMIT {
            return;
        }
        let id = self.new_id();
        let thumbnail = Arc::new(thumbnail);
        self.list.push_back(Recent { id, path: Some(path), image: None, thumbnail, request, seconds: None });
    }

    /// Sets the reloaded pixels of an image.
    pub fn loaded(&mut self, path: &Path, image: ColorImage) {
        if let Some(recent) = self.list.iter_mut().find(|recent| recent.path.as_deref() == Some(path)) {
            recent.image = Some(Arc::new(image));
        }
    }

    /// Removes an image whose file is gone.
    pub fn remove(&mut self, path: &Path) {
        self.list.retain(|recent| recent.path.as_deref() != Some(path));
    }

    fn new_id(&mut self) -> RecentId {
        self.last += 1;
        RecentId(self.last)
    }
}

/// Converts an image for display, if the number of pixels matches its size.
pub fn color_image(image: &Image) -> Option<ColorImage> {
    let size = [image.width as usize, image.height as usize];
    (image.pixels.len() == 3 * size[0] * size[1] && !image.pixels.is_empty())
        .then(|| ColorImage::from_rgb(size, &image.pixels))
}

/// Longer side of a thumbnail in pixels: twice its size on screen, for high-density screens.
const THUMBNAIL_PIXELS: usize = 160;
/// Samples per thumbnail pixel in each direction.
const TAPS: usize = 4;

/// A thumbnail.
pub fn thumbnail(image: &ColorImage) -> ColorImage {
    shrink(image, THUMBNAIL_PIXELS)
}

/// Shrinks an image to at most `longest` pixels on its longer side. The cost depends only on the size of the
/// result.
pub fn shrink(image: &ColorImage, longest: usize) -> ColorImage {
    let [width, height] = image.size;
    let longer = width.max(height);
    if longer <= longest {
        return image.clone();
    }
    let small = [width, height].map(|side| (side * longest / longer).max(1));
    let sample = |x: usize, y: usize| {
        let mut sums = [0_u32; 3];
        for tap in 0..TAPS * TAPS {
            let source_x = (x * TAPS + tap % TAPS) * width / (small[0] * TAPS);
            let source_y = (y * TAPS + tap / TAPS) * height / (small[1] * TAPS);
            let color = image.pixels[source_y * width + source_x];
            for (sum, channel) in sums.iter_mut().zip([color.r(), color.g(), color.b()]) {
                *sum += u32::from(channel);
            }
        }
        let [r, g, b] = sums.map(|sum| (sum / (TAPS * TAPS) as u32) as u8);
        Color32::from_rgb(r, g, b)
    };
    let places = (0..small[1]).flat_map(|y| (0..small[0]).map(move |x| (x, y)));
    ColorImage::new(small, places.map(|(x, y)| sample(x, y)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(side: usize, value: u8) -> ColorImage {
        ColorImage::filled([side, side], Color32::from_gray(value))
    }

    #[test]
    fn a_thumbnail_is_small_and_keeps_the_aspect() {
        let small = thumbnail(&ColorImage::filled([1600, 800], Color32::from_rgb(10, 200, 30)));
        assert_eq!(small.size, [160, 80]);
        assert!(small.pixels.iter().all(|&pixel| pixel == Color32::from_rgb(10, 200, 30)));
        assert_eq!(thumbnail(&grey(16, 3)).size, [16, 16]);
    }

    #[test]
    fn an_image_is_listed_once_and_old_ones_give_their_pixels_back() {
        let mut recents = Recents::default();
        for name in 0..Recents::LIMIT + 5 {
            recents.add(Some(PathBuf::from(format!("{name}.png"))), grey(2, 0), None, None);
        }
        assert_eq!(recents.iter().count(), Recents::LIMIT);
        assert_eq!(recents.iter().filter(|recent| recent.image.is_some()).count(), Recents::KEPT);
        recents.add(Some("10.png".into()), grey(2, 9), None, None);
        assert_eq!(
            recents.iter().filter(|recent| recent.path.as_deref() == Some("10.png".as_ref())).count(),
            1
        );
        let newest = recents.newest().unwrap();
        assert_eq!(recents.neighbour(newest, -1), None);
        assert!(recents.neighbour(newest, 1).is_some());
    }

    #[test]
    fn an_image_with_missing_pixels_is_refused() {
        assert!(color_image(&Image { width: 2, height: 2, pixels: vec![0; 11] }).is_none());
        assert!(color_image(&Image { width: 0, height: 2, pixels: Vec::new() }).is_none());
        assert!(color_image(&Image { width: 2, height: 2, pixels: vec![0; 12] }).is_some());
    }
}
