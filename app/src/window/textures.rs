//! Images on the GPU that renders the window.

mod frames;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use egui::{ColorImage, Context, TextureFilter, TextureHandle, TextureId, TextureOptions};
use sluice_engine::{
    output::{Clip, Media},
    session::JobId,
};

use super::state::{MaskPainting, Progress, RecentId, State, color_image, shrink, shrink_frame};
use frames::FrameTexture;

/// Which mask an overlay is of.
#[derive(PartialEq, Eq)]
struct MaskVersion {
    image: PathBuf,
    version: u64,
    is_applied: bool,
}

/// Longer side of the frames that the filmstrip plays.
const HOVERED_PIXELS: usize = 160;

/// The textures: thumbnails, the displayed image or frame, live previews.
#[derive(Default)]
pub struct Textures {
    thumbnails: HashMap<RecentId, TextureHandle>,
    /// On each side of a comparison.
    shown: [Option<(RecentId, bool, TextureHandle)>; 2],
    frame: [Option<FrameTexture>; 2],
    hovered: Option<(RecentId, u32, TextureHandle)>,
    /// With the version of the previews and the frame that is shown.
    live: Option<(JobId, (u64, usize), Vec<TextureHandle>)>,
    inputs: HashMap<PathBuf, (Arc<ColorImage>, TextureHandle)>,
    mask: Option<(MaskVersion, TextureHandle)>,
}

/// A side of a comparison. What is not compared is on the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The shown image.
    A,
    /// What it is compared with.
    B,
}

impl Textures {
    /// The thumbnail of an image.
    pub fn thumbnail(&mut self, ctx: &Context, id: RecentId, image: &Arc<ColorImage>) -> TextureId {
        let load = || ctx.load_texture("thumbnail", Arc::clone(image), TextureOptions::LINEAR);
        self.thumbnails.entry(id).or_insert_with(load).id()
    }

    /// The displayed image, smooth or with visible pixels.
    pub fn shown(
        &mut self,
        ctx: &Context,
        side: Side,
        id: RecentId,
        image: &Arc<ColorImage>,
        pixels: bool,
    ) -> TextureId {
        let slot = &mut self.shown[side as usize];
        match slot {
            Some((shown, shown_pixels, texture)) if (*shown, *shown_pixels) == (id, pixels) => texture.id(),
            _ => {
                let texture = ctx.load_texture("image", for_gpu(ctx, image), magnified(pixels));
                let drawn = texture.id();
                *slot = Some((id, pixels, texture));
                drawn
            }
        }
    }

    /// A frame of the displayed clip, smooth or with visible pixels. The texture is the same for all frames.
    pub fn frame(
        &mut self,
        ctx: &Context,
        side: Side,
        (id, clip): (RecentId, &Clip),
        index: u32,
        pixels: bool,
    ) -> Option<TextureId> {
        let frame = clip.frames.get(index as usize)?;
        let texture = self.frame[side as usize].get_or_insert_with(|| FrameTexture::new(ctx));
        Some(texture.show(ctx, (id, index), frame, magnified(pixels)))
    }

    /// A frame of the clip under the pointer in the filmstrip.
    pub fn hovered(&mut self, ctx: &Context, id: RecentId, clip: &Clip, index: u32) -> Option<TextureId> {
        let frame = clip.frames.get(index as usize)?;
        let small = || shrink_frame(frame, HOVERED_PIXELS);
        match &mut self.hovered {
            Some((shown, at, _)) if (*shown, *at) == (id, index) => {}
            Some((shown, at, texture)) => {
                texture.set(small(), TextureOptions::LINEAR);
                (*shown, *at) = (id, index);
            }
            None => {
                self.hovered =
                    Some((id, index, ctx.load_texture("hovered", small(), TextureOptions::LINEAR)));
            }
        }
        self.hovered.as_ref().map(|(_, _, texture)| texture.id())
    }

    /// The input image or its mask.
    pub fn input(&mut self, ctx: &Context, path: &Path, image: &Arc<ColorImage>) -> TextureId {
        match self.inputs.get(path) {
            Some((known, texture)) if Arc::ptr_eq(known, image) => texture.id(),
            _ => {
                let texture = ctx.load_texture("input", for_gpu(ctx, image), TextureOptions::LINEAR);
                let drawn = texture.id();
                self.inputs.insert(path.to_owned(), (Arc::clone(image), texture));
                drawn
            }
        }
    }

    /// The overlay of a mask that is being painted, or was applied.
    pub fn mask(&mut self, ctx: &Context, painting: &MaskPainting, is_applied: bool) -> TextureId {
        let version = MaskVersion { image: painting.image.clone(), version: painting.version(), is_applied };
        let overlay = || for_gpu(ctx, &Arc::new(painting.overlay()));
        match &mut self.mask {
            Some((known, texture)) if *known == version => texture.id(),
            Some((known, texture)) => {
                texture.set(overlay(), TextureOptions::LINEAR);
                *known = version;
                texture.id()
            }
            None => {
                let texture = ctx.load_texture("mask", overlay(), TextureOptions::LINEAR);
                let drawn = texture.id();
                self.mask = Some((version, texture));
                drawn
            }
        }
    }

    /// Forgets the overlay: another mask of the same image has the same versions.
    pub fn forget_mask(&mut self) {
        self.mask = None;
    }

    /// Live previews; of clips, the frames of this moment.
    pub fn live(&mut self, ctx: &Context, job: JobId, progress: &Progress) -> Vec<TextureId> {
        let seconds = ctx.input(|input| input.time);
        let moment = progress.preview.iter().map(|media| playing(ctx, media, seconds)).max().unwrap_or(0);
        let version = (progress.preview_version, moment);
        let image =
            |media: &Media| media.frames().get(moment % media.frames().len().max(1)).and_then(color_image);
        match &mut self.live {
            Some((shown, shown_version, textures))
                if *shown == job && textures.len() == progress.preview.len() =>
            {
                if *shown_version != version {
                    *shown_version = version;
                    for (texture, media) in textures.iter_mut().zip(&progress.preview) {
                        if let Some(image) = image(media) {
                            texture.set(image, TextureOptions::LINEAR);
                        }
                    }
                }
            }
            _ => {
                let images = progress.preview.iter().filter_map(image);
                let load = |image| ctx.load_texture("preview", image, TextureOptions::LINEAR);
                self.live = Some((job, version, images.map(load).collect()));
            }
        }
        self.live.iter().flat_map(|(_, _, textures)| textures.iter().map(TextureHandle::id)).collect()
    }

    /// Frees textures that are no longer listed or shown.
    pub fn prune(&mut self, state: &State) {
        self.thumbnails.retain(|&id, _| state.images.recents.get(id).is_some());
        self.inputs.retain(|path, _| state.input.files.pixels(path).is_some());
        if state.input.painting.is_none() {
            self.mask = None;
        }
        let drawn = [state.images.shown_recent(), state.images.compared()];
        for ((recent, shown), frame) in drawn.into_iter().zip(&mut self.shown).zip(&mut self.frame) {
            let is_clip = recent.is_some_and(|recent| recent.clip().is_some());
            if is_clip || recent.is_none() {
                *shown = None;
            }
            if !is_clip {
                *frame = None;
            }
        }
        let running = state.jobs.running().map(|(job, _)| job.id);
        if self.live.as_ref().is_some_and(|(job, ..)| Some(*job) != running) {
            self.live = None;
        }
    }
}

/// The frame of a clip that plays in a loop at this time; asks for a repaint when the next one is due.
fn playing(ctx: &Context, media: &Media, seconds: f64) -> usize {
    let Media::Clip(clip) = media else { return 0 };
    let (count, rate) = (clip.frames.len().max(1), f64::from(clip.rate.max(0.1)));
    let place = seconds * rate;
    ctx.request_repaint_after(Duration::from_secs_f64((place.floor() + 1.0 - place) / rate));
    place as usize % count
}

/// How an image is enlarged: smooth, or with visible pixels.
fn magnified(pixels: bool) -> TextureOptions {
    let magnification = if pixels { TextureFilter::Nearest } else { TextureFilter::Linear };
    TextureOptions { magnification, ..TextureOptions::LINEAR }
}

/// Shrinks an image to the GPU's maximum texture size.
fn for_gpu(ctx: &Context, image: &Arc<ColorImage>) -> Arc<ColorImage> {
    let most = ctx.input(|input| input.max_texture_side);
    match image.size.iter().any(|&side| side > most) {
        true => Arc::new(shrink(image, most)),
        false => Arc::clone(image),
    }
}
