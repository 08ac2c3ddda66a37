//! The frames of a clip that are given: images, or frames of an input clip.

use candle_core::{DType, Device, Result as TensorResult, Tensor};

use super::{
    ClipError, SourceError, fitted, read, read_clip, read_sound,
    resample::{Kernel, Side, resize},
    tensor_of,
};
use crate::{
    output::{Clip, Image, Sound},
    request::{FrameRange, Mode, Request, SourceClip},
};

/// Means and deviations of the pixels that CLIP was trained on.
const MEANS: [f32; 3] = [0.481_454_66, 0.457_827_5, 0.408_210_73];
const DEVIATIONS: [f32; 3] = [0.268_629_54, 0.261_302_6, 0.275_777_1];
/// The least and the most that the contrast of an extension is changed by.
const CONTRAST: [f64; 2] = [0.8, 1.25];

/// The frames that are given, in the requested size, and gray ones between them.
#[derive(Debug, Clone)]
pub struct GivenClip {
    /// Number of frames with gray ones.
    count: usize,
    first: Vec<Image>,
    last: Option<Image>,
    /// The clip that is extended.
    before: Vec<Image>,
    /// The sound of the frames of the clip that are used.
    sound: Option<Sound>,
    size: (u32, u32),
}

impl GivenClip {
    /// Reads the images and the clip of a request for `count` frames. Of a clip that is extended, the last `given` frames
    /// come first.
    ///
    /// # Errors
    /// When a file cannot be read, or the clip is too short.
    pub fn open(request: &Request, count: usize, given: usize) -> Result<Self, SourceError> {
        let size = (request.width, request.height);
        let fit = request.source.as_ref().map(|source| source.fit).unwrap_or_default();
        let image = |path| Ok::<_, SourceError>(fitted(&read(path)?, fit, size.0, size.1));
        let mut opened = Self { count, first: Vec::new(), last: None, before: Vec::new(), sound: None, size };
        if let Some(source) = &request.source {
            opened.first.push(image(&source.path)?);
            opened.last = request.last_image.as_deref().map(image).transpose()?;
        }
        if let Some(clip) = &request.clip {
            let extends = request.mode() == Mode::Extend;
            let needed = if extends { given } else { count };
            let most = clip.range.start.saturating_add(count as u32);
            let end = if extends { clip.range.end } else { Some(clip.range.end.unwrap_or(most).min(most)) };
            let range = FrameRange { end, ..clip.range };
            let mut frames =
                read_clip(&SourceClip { range, ..clip.clone() }, Some(request.frame_rate), size)?;
            if frames.len() < needed {
                let (path, frames, needed) = (clip.path.clone(), frames.len() as u32, needed as u32);
                return Err(ClipError::TooShort { path, frames, needed }.into());
            }
            opened.sound = sound_of(clip, request.frame_rate, if extends { frames.len() } else { needed });
            if extends {
                opened.first = frames[frames.len() - needed..].to_vec();
                opened.before = frames;
            } else {
                frames.truncate(needed);
                opened.first = frames;
            }
        }
        Ok(opened)
    }

    /// A frame, `[1, 3, height, width]` in −1…1.
    pub fn frame(&self, index: usize) -> TensorResult<Tensor> {
        let last = self.last.as_ref().filter(|_| index + 1 == self.count);
        match self.first.get(index).or(last) {
            Some(image) => tensor_of(image, |_| true),
            None => {
                let (width, height) = self.size;
                Tensor::zeros((1, 3, height as usize, width as usize), DType::F32, &Device::Cpu)
            }
        }
    }

    /// The images that CLIP sees: scaled so that the shorter side is `side`, and cropped to a square.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn squares(&self, request: &Request, side: u32) -> Result<Vec<Image>, SourceError> {
        let files = request.source.as_ref().map(|source| source.path.as_path()).into_iter();
        let images = files.chain(request.last_image.as_deref()).map(read).collect::<Result<Vec<_>, _>>()?;
        let seen = if images.is_empty() { &self.first[..self.first.len().min(1)] } else { &images };
        Ok(seen.iter().map(|image| square(image, side)).collect())
    }

    /// Gives a generated clip the sound of the input clip, and appends it to that clip if it extends it. Its first frames, which repeat the end of that clip, are
    /// dropped after they have shown how the colours of the others are brought back to those of the clip.
    pub fn joined(&self, mut made: Clip) -> Clip {
        made.sound.clone_from(&self.sound);
        if self.before.is_empty() {
            return made;
        }
        let overlap = self.first.len().min(made.frames.len());
        let mut added = made.frames.split_off(overlap);
        let maps = [0, 1, 2].map(|channel| {
            let [to, from] = [&self.first, &made.frames].map(|frames| spread(frames, channel));
            let gain = if from[1] > 0.0 { (to[1] / from[1]).clamp(CONTRAST[0], CONTRAST[1]) } else { 1.0 };
            let value =
                |byte: usize| ((byte as f64 - from[0]) * gain + to[0]).round().clamp(0.0, 255.0) as u8;
            (0..256).map(value).collect::<Vec<u8>>()
        });
        for pixel in added.iter_mut().flat_map(|frame| frame.pixels.as_chunks_mut::<3>().0) {
            pixel.iter_mut().zip(&maps).for_each(|(value, map)| *value = map[usize::from(*value)]);
        }
        Clip { frames: self.before.iter().cloned().chain(added).collect(), ..made }
    }
}

/// The sound of the frames of a clip that are used. Frames are not lost because their sound is damaged.
fn sound_of(clip: &SourceClip, rate: f32, frames: usize) -> Option<Sound> {
    let start = f64::from(clip.range.start) / f64::from(rate);
    let end = start + frames as f64 / f64::from(rate);
    read_sound(&clip.path, start..end).unwrap_or_else(|error| {
        tracing::warn!(clip = %clip.path.display(), %error, "the sound is left out");
        None
    })
}

/// The middle of an image whose shorter side becomes `side`.
fn square(image: &Image, side: u32) -> Image {
    let [width, height] = [image.width, image.height].map(u64::from);
    let shorter = width.min(height);
    let scaled = |own: u64| (u64::from(side) * own / shorter) as u32;
    let cut = |own: u64| {
        let whole = scaled(own);
        Side { whole, first: (whole - side) / 2, length: side }
    };
    resize(image, cut(width), cut(height), Kernel::Bicubic)
}

/// Images of the same size as CLIP sees them, `[images, 3, height, width]`.
pub fn normalized(images: &[Image]) -> TensorResult<Tensor> {
    let (width, height) =
        images.first().map_or((0, 0), |image| (image.width as usize, image.height as usize));
    let mut values = Vec::with_capacity(images.len() * 3 * width * height);
    for image in images {
        for (channel, (mean, deviation)) in MEANS.iter().zip(DEVIATIONS).enumerate() {
            let pixels = image.pixels.as_chunks::<3>().0;
            values.extend(pixels.iter().map(|pixel| (f32::from(pixel[channel]) / 255.0 - mean) / deviation));
        }
    }
    Tensor::from_vec(values, (images.len(), 3, height, width), &Device::Cpu)
}

/// Mean and standard deviation of a channel.
fn spread(frames: &[Image], channel: usize) -> [f64; 2] {
    let mut counts = [0_u64; 256];
    for pixel in frames.iter().flat_map(|frame| frame.pixels.as_chunks::<3>().0) {
        counts[usize::from(pixel[channel])] += 1;
    }
    let all = counts.iter().sum::<u64>().max(1) as f64;
    let moment = |power: i32| -> f64 {
        let each = counts.iter().enumerate();
        each.map(|(value, count)| (value as f64).powi(power) * *count as f64).sum::<f64>() / all
    };
    let mean = moment(1);
    [mean, (moment(2) - mean * mean).max(0.0).sqrt()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Timing;

    fn gray(values: [u8; 4]) -> Image {
        Image { width: 2, height: 2, pixels: values.iter().flat_map(|value| [*value; 3]).collect() }
    }

    fn given(first: Vec<Image>, last: Option<Image>, before: Vec<Image>) -> GivenClip {
        GivenClip { count: 4, first, last, before, sound: None, size: (2, 2) }
    }

    #[test]
    fn frames_between_the_given_ones_are_gray() {
        let clip = given(vec![gray([255; 4])], Some(gray([0; 4])), Vec::new());
        let of = |index| clip.frame(index).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!([0, 1, 2, 3].map(|index| of(index)[0]), [1.0, 0.0, 0.0, -1.0]);
    }

    #[test]
    fn extensions_keep_the_colours_and_drop_what_was_there() {
        let (before, end) = (gray([10; 4]), gray([100, 120, 140, 160]));
        let clip = given(vec![end.clone()], None, vec![before.clone(), end.clone()]);
        // Everything is darker by 20 and has a little less contrast.
        let darker = gray([83, 101, 119, 137]);
        let made = Clip::silent(vec![darker.clone(), darker, gray([83; 4])], 8.0);
        let joined = clip.joined(made);
        assert_eq!(joined.frames, [before, end.clone(), end, gray([100; 4])]);
    }

    #[test]
    fn the_sound_of_the_clip_stays() {
        let sound = Sound {
            channels: 1,
            rate: 8000,
            description: Vec::new(),
            timescale: 8000,
            packets: Vec::new(),
            bytes: Vec::new(),
            timing: Timing { heard: 0..8000, delay: 0 },
        };
        let clip = GivenClip { sound: Some(sound.clone()), ..given(vec![gray([1; 4])], None, Vec::new()) };
        let made = clip.joined(Clip::silent(vec![gray([7; 4]); 3], 8.0));
        assert_eq!((made.sound, made.frames.len()), (Some(sound), 3));
    }

    #[test]
    fn other_clips_stay_as_they_are() {
        let made = Clip::silent(vec![gray([7; 4]); 3], 8.0);
        assert_eq!(given(vec![gray([1; 4])], None, Vec::new()).joined(made.clone()), made);
    }
}
