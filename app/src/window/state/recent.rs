//! Finished images and clips, from this session and from the output folder.

use std::{
    collections::{HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::Arc,
};

use egui::ColorImage;
use sluice_engine::{
    output::{Clip, Media},
    request::Request,
    session::Picture,
};

use super::pixels::{ClipLength, Pixels, color_image, is_clip};
use crate::{
    language::tr,
    window::image_settings::{Changes, ImageSettings},
};

/// Identifies an image during the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecentId(pub u64);

/// A finished image or clip.
#[derive(Debug, Clone)]
pub struct Recent {
    /// Its id.
    pub id: RecentId,
    /// Its file.
    pub path: Option<PathBuf>,
    /// Its pixels, while they are in memory.
    pub pixels: Option<Pixels>,
    /// The length of a clip; `None` for an image.
    pub length: Option<ClipLength>,
    /// The thumbnail; of a clip, its first frame.
    pub thumbnail: Arc<ColorImage>,
    /// The request that generates only this image.
    pub request: Option<Request>,
    /// The duration of its job.
    pub seconds: Option<f64>,
    /// How it was made of another file, if it is not known how that was generated.
    pub changes: Option<Changes>,
    /// Whether it is composed of other images, as grids are.
    pub is_composed: bool,
}

impl Recent {
    /// A file whose pixels are not loaded yet.
    fn of_file(
        id: RecentId,
        path: PathBuf,
        thumbnail: ColorImage,
        length: Option<ClipLength>,
        settings: Option<ImageSettings>,
    ) -> Self {
        let (path, thumbnail) = (Some(path), Arc::new(thumbnail));
        let is_composed = settings.as_ref().is_some_and(|settings| settings.is_composed);
        let (request, changes) = settings.map(known).unwrap_or_default();
        Self { id, path, pixels: None, length, thumbnail, request, seconds: None, changes, is_composed }
    }

    /// Whether it is known how it was made.
    pub fn is_result(&self) -> bool {
        self.request.is_some() || self.changes.is_some()
    }

    /// Its display name.
    pub fn name(&self) -> String {
        match (&self.path, &self.request) {
            (Some(path), _) => file_name(path),
            (None, Some(request)) => {
                let seed = request.seed.to_string();
                match self.length {
                    Some(_) => tr!("state-clip-of-seed", seed = seed),
                    None => tr!("state-image-of-seed", seed = seed),
                }
            }
            (None, None) => match self.length {
                Some(_) => tr!("state-clip-of-number", number = self.id.0),
                None => tr!("state-image-of-number", number = self.id.0),
            },
        }
    }

    /// Its name without an extension.
    pub fn stem(&self) -> String {
        match &self.path {
            Some(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            None => self.name(),
        }
    }

    /// The frames of a clip, while they are in memory.
    pub fn clip(&self) -> Option<&Arc<Clip>> {
        match &self.pixels {
            Some(Pixels::Clip(clip)) => Some(clip),
            Some(Pixels::Image(_)) | None => None,
        }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [usize; 2] {
        match (&self.pixels, &self.request) {
            (Some(pixels), _) => pixels.size(),
            (None, Some(request)) => request.result_size(1).map(|side| side as usize),
            (None, None) => match &self.changes {
                Some(changes) => changes.size.map(|side| side as usize),
                None => self.thumbnail.size,
            },
        }
    }

    /// How many times as wide and as high it was made after it was generated, if it was enlarged.
    pub fn enlarged(&self) -> Option<f32> {
        let request = self.request.as_ref().filter(|_| !self.is_composed && self.pixels.is_some())?;
        // What is put back into the input image has the size of that.
        let mask = request.source.as_ref().and_then(|source| source.mask.as_ref());
        if mask.is_some_and(|mask| mask.only_masked.is_some()) {
            return None;
        }
        let (size, generated) = (self.size(), request.result_size(1));
        let [wide, high] = [0, 1].map(|side| size[side] as f32 / generated[side] as f32);
        // Sizes that are composed otherwise have no such factor.
        let scale = (4.0 * wide).round() / 4.0;
        let is_alike = |times: f32| (times - scale).abs() < 0.01 * scale;
        (scale > 1.0 && is_alike(wide) && is_alike(high)).then_some(scale)
    }
}

/// The request that generated a file, or how the file was changed.
fn known(settings: ImageSettings) -> (Option<Request>, Option<Changes>) {
    match settings.changes {
        None => (Some(settings.request), None),
        changes => (None, changes),
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
    /// Images whose files are in the trash or gone, each with its place, the latest last.
    aside: Vec<(usize, Recent)>,
    /// Files that left the end of the list.
    left: HashSet<PathBuf>,
}

impl Recents {
    /// Maximum number of images.
    pub const LIMIT: usize = 60;
    /// Maximum number of images whose pixels stay in memory, and the bytes of all pixels; others are reloaded when
    /// they are shown.
    const KEPT: usize = 12;
    const KEPT_BYTES: usize = 1 << 30;

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

    /// The next older image of the same kind as one of these, or the next newer one.
    pub(super) fn comparable(&self, shown: &Recent) -> Option<RecentId> {
        let place = self.list.iter().position(|recent| recent.id == shown.id)?;
        let is_alike = |recent: &&Recent| recent.length.is_some() == shown.length.is_some();
        let older = self.list.iter().skip(place + 1).find(is_alike);
        let newer = || self.list.iter().take(place).rev().find(is_alike);
        older.or_else(newer).map(|recent| recent.id)
    }

    /// Adds a job's images and returns their ids, in batch order.
    pub fn add_finished(&mut self, request: &Request, images: Vec<Picture>, seconds: f64) -> Vec<RecentId> {
        let mut ids = Vec::new();
        for (index, made) in (0..).zip(images).collect::<Vec<(u32, _)>>().into_iter().rev() {
            let pixels = match made.media {
                Media::Image(image) => color_image(&image).map(|image| Pixels::Image(Arc::new(image))),
                Media::Clip(clip) => is_clip(&clip).then(|| Pixels::Clip(Arc::new(clip))),
            };
            let Some(pixels) = pixels else {
                tracing::warn!(seed = made.seed, "an image has fewer pixels than its size says");
                continue;
            };
            let request = match request.changes_file() {
                // What an image or a clip was generated with before it was changed.
                Some(path) => self.of_file(path).and_then(|id| self.get(id)?.request.clone()),
                None => Some(Request { seed: made.seed, detail_of: None, ..request.alone(index) }),
            };
            ids.push(self.add(made.path, pixels, request, Some(seconds)));
        }
        ids.reverse();
        ids
    }

    /// Adds an image that was opened; moves it to the front if it is already listed.
    pub fn add(
        &mut self,
        path: Option<PathBuf>,
        pixels: Pixels,
        request: Option<Request>,
        seconds: Option<f64>,
    ) -> RecentId {
        if path.is_some() {
            self.list.retain(|recent| recent.path != path);
        }
        let thumbnail = Arc::new(pixels.thumbnail());
        let (id, length) = (self.new_id(), pixels.length());
        let pixels = Some(pixels);
        self.list.push_front(Recent {
            id,
            path,
            pixels,
            length,
            thumbnail,
            request,
            seconds,
            changes: None,
            is_composed: false,
        });
        self.shorten();
        self.free_pixels(&[id], Self::KEPT_BYTES);
        id
    }

    /// Adds an image found in the folder, after the others, unless it is listed.
    pub fn add_found(
        &mut self,
        path: PathBuf,
        thumbnail: ColorImage,
        length: Option<ClipLength>,
        settings: Option<ImageSettings>,
    ) -> Option<RecentId> {
        let listed = self.list.iter().any(|recent| recent.path.as_ref() == Some(&path));
        if listed || self.list.len() >= Self::LIMIT {
            return None;
        }
        let id = self.new_id();
        let recent = Recent::of_file(id, path, thumbnail, length, settings);
        self.list.push_back(recent);
        Some(id)
    }

    /// The image of a file.
    pub fn of_file(&self, path: &Path) -> Option<RecentId> {
        self.list.iter().find(|recent| recent.path.as_deref() == Some(path)).map(|recent| recent.id)
    }

    /// Adds a file before the others, unless it is listed. Its pixels are loaded when it is shown.
    pub fn recall(
        &mut self,
        path: PathBuf,
        thumbnail: ColorImage,
        length: Option<ClipLength>,
        settings: Option<ImageSettings>,
    ) -> RecentId {
        if let Some(known) = self.of_file(&path) {
            return known;
        }
        let id = self.new_id();
        let recent = Recent::of_file(id, path, thumbnail, length, settings);
        self.list.push_front(recent);
        self.shorten();
        id
    }

    /// The files of all images, and those of the ones that are gone, the latest first.
    pub fn files(&self) -> [Vec<PathBuf>; 2] {
        let aside = self.aside.iter().rev().map(|(_, recent)| recent);
        [
            self.list.iter().filter_map(|recent| recent.path.clone()).collect(),
            aside.filter_map(|recent| recent.path.clone()).collect(),
        ]
    }

    /// The files of these that it is not known of how they were generated.
    pub fn unknown(&self, files: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
        let is_unknown = |path: &PathBuf| {
            let recent = self.of_file(path).and_then(|id| self.get(id));
            recent.is_some_and(|recent| !recent.is_result())
        };
        files.into_iter().filter(is_unknown).collect()
    }

    /// Sets how an image was made, unless that is known.
    pub fn learn(&mut self, path: &Path, settings: ImageSettings) {
        let is_meant = |recent: &&mut Recent| recent.path.as_deref() == Some(path) && !recent.is_result();
        if let Some(recent) = self.list.iter_mut().find(is_meant) {
            (recent.request, recent.changes) = known(settings);
        }
    }

    /// Sets the reloaded pixels of an image. Those of `drawn` images stay in memory too.
    pub fn loaded(&mut self, path: &Path, pixels: Pixels, drawn: &[RecentId]) {
        if let Some(recent) = self.list.iter_mut().find(|recent| recent.path.as_deref() == Some(path)) {
            recent.length = pixels.length();
            recent.pixels = Some(pixels);
            let kept = [drawn, &[recent.id]].concat();
            self.free_pixels(&kept, Self::KEPT_BYTES);
        }
    }

    /// Frees the pixels of images that have a file, the oldest first, until the others are few enough.
    fn free_pixels(&mut self, kept: &[RecentId], most: usize) {
        let (mut count, mut bytes) = (0, 0);
        for recent in self.list.iter().filter(|recent| kept.contains(&recent.id)) {
            count += 1;
            bytes += recent.pixels.as_ref().map_or(0, Pixels::bytes);
        }
        for recent in self.list.iter_mut().filter(|recent| !kept.contains(&recent.id)) {
            let Some(pixels) = &recent.pixels else { continue };
            let fits = count < Self::KEPT && bytes + pixels.bytes() <= most;
            if fits || recent.path.is_none() {
                count += 1;
                bytes += pixels.bytes();
            } else {
                recent.pixels = None;
            }
        }
    }

    /// Remembers that an image is composed of others.
    pub fn set_composed(&mut self, id: RecentId) {
        if let Some(recent) = self.list.iter_mut().find(|recent| recent.id == id) {
            recent.is_composed = true;
        }
    }

    /// Removes an image whose file cannot be read.
    pub fn remove(&mut self, path: &Path) {
        self.list.retain(|recent| recent.path.as_deref() != Some(path));
    }

    /// Removes an image whose file is in the trash or gone, and remembers where it was.
    pub(super) fn set_aside(&mut self, id: RecentId) {
        let Some(place) = self.list.iter().position(|recent| recent.id == id) else { return };
        let removed = self.list.remove(place).map(|recent| (place, Recent { pixels: None, ..recent }));
        self.aside.extend(removed);
        let over = self.aside.len().saturating_sub(2 * Self::LIMIT);
        self.aside.drain(..over);
    }

    /// Puts an image whose file is back where it was.
    pub fn put_back(&mut self, path: &Path) -> Option<RecentId> {
        let index = self.aside.iter().rposition(|(_, recent)| recent.path.as_deref() == Some(path))?;
        let (place, recent) = self.aside.remove(index);
        if let Some(known) = self.of_file(path) {
            return Some(known);
        }
        let id = recent.id;
        self.list.insert(place.min(self.list.len()), recent);
        self.shorten();
        self.get(id).map(|recent| recent.id)
    }

    /// The files that are listed, or were.
    pub fn known_files(&self) -> HashSet<PathBuf> {
        self.files().into_iter().flatten().chain(self.left.iter().cloned()).collect()
    }

    fn shorten(&mut self) {
        let most = self.list.len().min(Self::LIMIT);
        self.left.extend(self.list.drain(most..).filter_map(|recent| recent.path));
    }

    fn new_id(&mut self) -> RecentId {
        self.last += 1;
        RecentId(self.last)
    }
}

#[cfg(test)]
mod tests;
