//! One texture that shows the frames of a clip one after the other.

use std::sync::Arc;

use egui::{ColorImage, Context, TextureHandle, TextureId, TextureOptions};
use sluice_engine::output::Image;

use super::for_gpu;
use crate::window::state::{RecentId, color_image, fill_from};

/// A texture whose pixels are replaced from frame to frame. Neither it nor its buffer is allocated again while the
/// size stays the same.
pub(super) struct FrameTexture {
    shown: Option<(RecentId, u32)>,
    options: TextureOptions,
    texture: TextureHandle,
    /// The pixels of the last frame; free to be overwritten once they are on the GPU.
    buffer: Arc<ColorImage>,
}

impl FrameTexture {
    pub(super) fn new(ctx: &Context) -> Self {
        let buffer = Arc::new(ColorImage::filled([1, 1], egui::Color32::TRANSPARENT));
        let texture = ctx.load_texture("frame", Arc::clone(&buffer), TextureOptions::LINEAR);
        Self { shown: None, options: TextureOptions::LINEAR, texture, buffer }
    }

    /// Shows a frame, if it is not shown already. `key` identifies it.
    pub(super) fn show(
        &mut self,
        ctx: &Context,
        key: (RecentId, u32),
        frame: &Image,
        options: TextureOptions,
    ) -> TextureId {
        if self.shown != Some(key) || self.options != options {
            self.convert(frame);
            let image = for_gpu(ctx, &self.buffer);
            // A whole image would allocate a new texture; a part of the same size does not.
            if self.texture.size() == image.size && self.options == options {
                self.texture.set_partial([0, 0], image, options);
            } else {
                self.texture.set(image, options);
            }
            (self.shown, self.options) = (Some(key), options);
        }
        self.texture.id()
    }

    fn convert(&mut self, frame: &Image) {
        let size = [frame.width as usize, frame.height as usize];
        match Arc::get_mut(&mut self.buffer) {
            Some(buffer) if buffer.size == size => fill_from(buffer, frame),
            _ => {
                if let Some(image) = color_image(frame) {
                    self.buffer = Arc::new(image);
                }
            }
        }
    }
}
