//! Decodes the latents of clips, piece by piece.

use candle_core::{DType, Device, Tensor};

use super::{PipelineError, Run, decode::byte};
use crate::{
    hardware::unmetered,
    models::Used,
    output::{Clip, Image, Media},
    residency::{Blocks, RunError},
    vae::{Autoencoder, Piece, Place, Seams, Tiling, Values},
};

/// A decoded clip.
pub(super) struct Decoded {
    pub media: Media,
    /// Its values in −1…1, `[1, 3, frames, height, width]`, if they are recorded.
    pub values: Option<Tensor>,
}

impl Run<'_> {
    /// Decodes the latents of one clip `[1, channels, frames, height, width]`. Finished frames become bytes at once.
    pub(super) fn decode_clip(
        &self,
        stage: usize,
        Used { part, network: autoencoder }: &Used<dyn Autoencoder>,
        latents: &Tensor,
        is_recording: bool,
    ) -> Result<Decoded, PipelineError> {
        let (store, executor) = self.enter(stage, *part);
        let canvas = self.within_memory(stage, || {
            let tiling = self.tiling(stage, *part);
            let mut canvas = self.canvas(autoencoder.as_ref(), tiling, is_recording);
            let latents = latents.to_device(store.device())?.into();
            let blocks = Blocks::stored(&executor, store);
            autoencoder.decode_clip(blocks, &latents, tiling, &mut |piece| canvas.add(piece))?;
            Ok(canvas)
        })?;
        if !canvas.is_finite {
            return Err(PipelineError::NotFinite { dtype: self.loaded.dtype().name() });
        }
        let shape = (1, 3, canvas.frames.len(), self.request.height as usize, self.request.width as usize);
        let values = canvas.values.map(|values| unmetered(|| Tensor::from_vec(values, shape, &Device::Cpu)));
        let media = Media::Clip(Clip::silent(canvas.frames, self.request.frame_rate));
        Ok(Decoded { media, values: values.transpose()? })
    }

    fn canvas(&self, autoencoder: &dyn Autoencoder, tiling: Option<Tiling>, is_recording: bool) -> Canvas {
        let (width, height, count) = (self.request.width, self.request.height, self.request.frames as usize);
        let bytes = 3 * width as usize * height as usize;
        let image = || Image::opaque(width, height, vec![0; bytes]);
        unmetered(|| Canvas {
            frames: (0..count).map(|_| image()).collect(),
            values: is_recording.then(|| vec![0.0; count * bytes]),
            seams: Seams::new(tiling, autoencoder.scale()),
            scale: autoencoder.scale(),
            is_finite: true,
        })
    }
}

/// The frames of a clip, filled piece by piece.
struct Canvas {
    frames: Vec<Image>,
    /// The values of all frames, channel by channel, if they are recorded.
    values: Option<Vec<f32>>,
    seams: Seams,
    /// Pixels per latent, in each direction.
    scale: usize,
    is_finite: bool,
}

impl Canvas {
    fn add(&mut self, Piece { place, first, frames }: Piece) -> Result<(), RunError> {
        for (number, frame) in (first..).zip(frames) {
            let frame = frame.into_computed()?.to_device(&Device::Cpu)?.to_dtype(DType::F32)?;
            let (_, _, height, width) = frame.dims4()?;
            let values = frame.flatten_all()?.to_vec1()?;
            drop(frame);
            let mut tile = Values { values, height, width };
            unmetered(|| {
                let kept = self.seams.blend(&place, number, &mut tile);
                self.fill(&place, number, &tile, kept);
            });
        }
        Ok(())
    }

    /// Writes the part of a tile that belongs to the image.
    fn fill(&mut self, place: &Place, number: usize, tile: &Values, [rows, columns]: [usize; 2]) {
        let count = self.frames.len();
        let Some(image) = self.frames.get_mut(number) else { return };
        let [width, height] = [image.width, image.height].map(|side| side as usize);
        let [top, left] = [place.top, place.left].map(|latents| latents * self.scale);
        for (line, values) in tile.values.chunks(tile.width).enumerate() {
            let (channel, row) = (line / tile.height, line % tile.height);
            if row >= rows {
                continue;
            }
            let values = &values[..columns];
            self.is_finite &= values.iter().all(|value| value.is_finite());
            let start = (top + row) * width + left;
            let pixels = image.pixels[3 * start..].iter_mut().skip(channel).step_by(3);
            pixels.zip(values).for_each(|(pixel, value)| *pixel = byte(value * 0.5 + 0.5));
            if let Some(all) = &mut self.values {
                let start = (channel * count + number) * width * height + start;
                let limited = values.iter().map(|value| value.clamp(-1.0, 1.0));
                all[start..start + columns].iter_mut().zip(limited).for_each(|(kept, value)| *kept = value);
            }
        }
    }
}
