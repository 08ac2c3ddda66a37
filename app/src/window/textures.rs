//! Pictures on the graphics adapter.

use std::{collections::HashMap, sync::Arc};

use egui::{ColorImage, Context, TextureFilter, TextureHandle, TextureId, TextureOptions};
use sluice_engine::session::JobId;

use super::{
    recent::{RecentId, Recents, color_image, shrink},
    state::Progress,
};

/// What is kept there: thumbnails, the shown picture, the forming ones.
#[derive(Default)]
pub struct Textures {
    thumbnails: HashMap<RecentId, TextureHandle>,
    shown: Option<(RecentId, bool, TextureHandle)>,
    live: Option<(JobId, u64, Vec<TextureHandle>)>,
}

impl Textures {
    /// A picture's thumbnail.
    pub fn thumbnail(&mut self, ctx: &Context, id: RecentId, image: &Arc<ColorImage>) -> TextureId {
        let load = || ctx.load_texture("thumbnail", Arc::clone(image), TextureOptions::LINEAR);
        self.thumbnails.entry(id).or_insert_with(load).id()
    }

    /// The shown picture, smooth or with its pixels seen.
    pub fn picture(
        &mut self,
        ctx: &Context,
        id: RecentId,
        image: &Arc<ColorImage>,
        pixels: bool,
    ) -> TextureId {
        match &self.shown {
            Some((shown, shown_pixels, texture)) if (*shown, *shown_pixels) == (id, pixels) => texture.id(),
            _ => {
                let magnification = if pixels { TextureFilter::Nearest } else { TextureFilter::Linear };
                let options = TextureOptions { magnification, ..TextureOptions::LINEAR };
                let most = ctx.input(|input| input.max_texture_side);
                let image = match image.size.iter().any(|&side| side > most) {
                    true => Arc::new(shrink(image, most)),
                    false => Arc::clone(image),
                };
                let texture = ctx.load_texture("picture", image, options);
                let drawn = texture.id();
                self.shown = Some((id, pixels, texture));
                drawn
            }
        }
    }

    /// The forming pictures.
    pub fn live(&mut self, ctx: &Context, job: JobId, progress: &Progress) -> Vec<TextureId> {
        let version = progress.preview_version;
        match &mut self.live {
            Some((shown, shown_version, textures))
                if *shown == job && textures.len() == progress.preview.len() =>
            {
                if *shown_version != version {
                    *shown_version = version;
                    for (texture, image) in textures.iter_mut().zip(&progress.preview) {
                        if let Some(image) = color_image(image) {
                            texture.set(image, TextureOptions::LINEAR);
                        }
                    }
                }
            }
            _ => {
                let images = progress.preview.iter().filter_map(color_image);
                let load = |image| ctx.load_texture("preview", image, TextureOptions::LINEAR);
                self.live = Some((job, version, images.map(load).collect()));
            }
        }
        self.live.iter().flat_map(|(_, _, textures)| textures.iter().map(TextureHandle::id)).collect()
    }

    /// Gives back what is not listed or shown any more.
    pub fn prune(&mut self, recents: &Recents, running: Option<JobId>) {
        self.thumbnails.retain(|&id, _| recents.get(id).is_some());
        if self.live.as_ref().is_some_and(|(job, ..)| Some(*job) != running) {
            self.live = None;
        }
    }
}
