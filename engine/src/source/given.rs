//! The frames of a clip that are given: images, or frames of an input clip or of one that controls.

use std::path::Path;

use candle_core::{DType, Device, Result as TensorResult, Tensor};
use rayon::prelude::*;

use super::{
    ClipError, SourceError, fitted, is_image_name, mapped, read, read_clip, read_sound,
    resample::{Kernel, Side, resize},
    tensor_of,
};
use crate::{
    hardware::unmetered,
    output::{Clip, Image, Sound},
    request::{Control, FrameRange, Mode, Preprocessor, Request, SourceClip},
};

/// The sides of images of what appears are multiples of this before they are scaled.
const STEP: u32 = 8;
/// The least and the most that the contrast of an extension is changed by.
const CONTRAST: [f64; 2] = [0.8, 1.25];

/// The frames that are given, in the requested size, and gray ones between them.
#[derive(Debug, Clone)]
pub struct GivenClip {
    /// Number of frames with gray ones.
    count: usize,
    first: Vec<Image>,
    last: Option<Image>,
    /// Images at later frames that are encoded alone.
    later: Vec<Image>,
    /// The clip that is extended.
    before: Vec<Image>,
    /// The sound of the frames of the clip that are used.
    sound: Option<Sound>,
    /// The masks of a controlling clip: one for each frame, or one for all.
    masks: Vec<Image>,
    /// The maps of the frames of a controlling clip whose mask keeps some of their pixels. Without a mask, the maps take the
    /// place of the frames.
    maps: Vec<Image>,
    /// Images of what appears: the values of `[1, 3, height, width]` in −1…1.
    references: Vec<Vec<f32>>,
    /// Whether a controlling clip is given, whose pixels are generated unless its mask says otherwise.
    controls: bool,
    size: (u32, u32),
}

/// Which pixels of a controlling clip are meant; the others are gray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pixels {
    /// Those that stay.
    Kept,
    /// Those that are generated.
    Generated,
}

/// How far the pixels of a frame are generated: 1 where they are, 0 where they stay.
#[derive(Debug, Clone, Copy)]
pub enum FrameMask<'a> {
    /// All pixels alike.
    All(f32),
    /// As light as this image is.
    Image(&'a Image),
}

impl FrameMask<'_> {
    /// The value of a pixel, counted row by row.
    pub fn at(self, pixel: usize) -> f32 {
        match self {
            Self::All(value) => value,
            Self::Image(image) => f32::from(image.pixels[3 * pixel]) / 255.0,
        }
    }
}

impl GivenClip {
    /// Reads the images and the clip of a request for `count` frames. Of a clip that is extended, the last `given` frames
    /// come first. Images at later frames are read apart if they are encoded alone.
    ///
    /// # Errors
    /// When a file cannot be read, or the clip is too short.
    pub fn open(
        request: &Request,
        [count, given]: [usize; 2],
        is_later_alone: bool,
    ) -> Result<Self, SourceError> {
        let size = (request.width, request.height);
        let fit = request.source.as_ref().map(|source| source.fit).unwrap_or_default();
        let image = |path| Ok::<_, SourceError>(fitted(&read(path)?, fit, size.0, size.1));
        let mut opened = Self {
            count,
            first: Vec::new(),
            last: None,
            later: Vec::new(),
            before: Vec::new(),
            sound: None,
            masks: Vec::new(),
            maps: Vec::new(),
            references: Vec::new(),
            controls: false,
            size,
        };
        if let Some(control) = &request.control {
            opened.open_control(control, request.frame_rate)?;
        }
        let references = request.references.iter();
        opened.references =
            references.map(|path| Ok(reference(&read(path)?, size))).collect::<Result<_, SourceError>>()?;
        if let Some(source) = &request.source {
            opened.first.push(image(&source.path)?);
            opened.last = request.last_image.as_deref().filter(|_| !is_later_alone).map(image).transpose()?;
        }
        if is_later_alone {
            let images = request.later_images().into_iter();
            opened.later = images.map(|(_, path)| image(path)).collect::<Result<_, SourceError>>()?;
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

    fn open_control(&mut self, control: &Control, rate: f32) -> Result<(), SourceError> {
        let size = self.size;
        let needed = self.count;
        let frames_of = |path: &Path| {
            let clip = control.clip_of(path.to_owned());
            let mut frames = read_clip(&clip, Some(rate), size)?;
            if frames.len() < needed {
                let (path, frames, needed) = (clip.path, frames.len() as u32, needed as u32);
                return Err(SourceError::from(ClipError::TooShort { path, frames, needed }));
            }
            frames.truncate(needed);
            Ok(frames)
        };
        if let Some(video) = &control.video {
            self.controls = true;
            self.first = frames_of(video)?;
        }
        if let Some(mask) = &control.mask {
            self.masks = match is_image_name(mask) && mask.is_file() {
                true => vec![fitted(&read(mask)?, control.fit, size.0, size.1)],
                false => frames_of(mask)?,
            };
        }
        self.map_frames(control.preprocessor);
        Ok(())
    }

    /// Makes the maps of a controlling clip that need no network.
    fn map_frames(&mut self, preprocessor: Preprocessor) {
        if preprocessor == Preprocessor::None || preprocessor.estimated().is_some() {
            return;
        }
        if self.masks.is_empty() {
            let frames = std::mem::take(&mut self.first).into_par_iter();
            self.first = frames.map(|frame| unmetered(|| mapped(frame, preprocessor))).collect();
        } else {
            let frames = self.first.par_iter();
            self.maps = frames.map(|frame| unmetered(|| mapped(frame.clone(), preprocessor))).collect();
        }
    }

    /// A frame of a controlling clip, of which a network makes a map.
    pub fn unmapped(&self, index: usize) -> Option<&Image> {
        self.first.get(index)
    }

    /// Controls by the map of a frame. Maps come in the order of their frames.
    pub fn control_by(&mut self, index: usize, map: Image) {
        if !self.masks.is_empty() {
            self.maps.push(map);
        } else if let Some(frame) = self.first.get_mut(index) {
            *frame = map;
        }
    }

    /// The images of what appears, `[1, 3, height, width]` in −1…1.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn references(&self) -> TensorResult<Vec<Tensor>> {
        let shape = (1, 3, self.size.1 as usize, self.size.0 as usize);
        let tensor = |values: &Vec<f32>| Tensor::from_vec(values.clone(), shape, &Device::Cpu);
        self.references.iter().map(tensor).collect()
    }

    /// The images at later frames that are encoded alone. They take memory as tensors `[1, 3, height, width]` in −1…1 one
    /// at a time.
    pub fn later(&self) -> impl Iterator<Item = TensorResult<Tensor>> {
        self.later.iter().map(|image| tensor_of(image, |_| true))
    }

    /// The mask of a frame. Without one, the pixels of a controlling clip are generated, and given frames stay.
    pub fn mask(&self, index: usize) -> FrameMask<'_> {
        if let Some(image) = self.masks.get(index).or(self.masks.last()) {
            return FrameMask::Image(image);
        }
        let is_last = self.last.is_some() && index + 1 == self.count;
        let stays = !self.controls && (index < self.first.len() || is_last);
        FrameMask::All(if stays { 0.0 } else { 1.0 })
    }

    /// The pixels of a frame that stay or those that are generated; the others are gray. Those that are generated are of its
    /// map, if there is one.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn pixels(&self, index: usize, wanted: Pixels) -> TensorResult<Tensor> {
        let mask = self.mask(index);
        let is_wanted = |pixel: usize| (mask.at(pixel) > 0.5) == (wanted == Pixels::Generated);
        let map = self.maps.get(index).filter(|_| wanted == Pixels::Generated);
        let last = self.last.as_ref().filter(|_| index + 1 == self.count);
        match map.or(self.first.get(index)).or(last) {
            Some(image) => tensor_of(image, is_wanted),
            None => self.frame(index),
        }
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

/// The values `[1, 3, height, width]` in −1…1 of an image of what appears, scaled to fit into the size on white. As in
/// diffusers its sides are first rounded down to a multiple of 8, and the scaling is bilinear.
fn reference(image: &Image, (width, height): (u32, u32)) -> Vec<f32> {
    let [own_width, own_height] = [image.width, image.height].map(|side| (side / STEP * STEP).max(STEP));
    let side = |length| Side { whole: length, first: 0, length };
    let image = resize(image, side(own_width), side(own_height), Kernel::Lanczos);
    let scale = (f64::from(height) / f64::from(own_height)).min(f64::from(width) / f64::from(own_width));
    let [inner_width, inner_height] =
        [own_width, own_height].map(|side| ((f64::from(side) * scale) as u32).max(1));
    let [left, top] = [(width - inner_width) / 2, (height - inner_height) / 2];
    let columns = Between::all(own_width, inner_width);
    let rows = Between::all(own_height, inner_height);
    let plane = (width * height) as usize;
    let mut values = vec![1.0_f32; 3 * plane];
    let at = |row: usize, column: usize, channel: usize| {
        f32::from(image.pixels[3 * (row * own_width as usize + column) + channel]) / 255.0 * 2.0 - 1.0
    };
    for (channel, values) in values.chunks_mut(plane).enumerate() {
        for (y, row) in rows.iter().enumerate() {
            let start = (top as usize + y) * width as usize + left as usize;
            for (value, column) in values[start..].iter_mut().zip(&columns) {
                let of_row = |row: usize| {
                    at(row, column.before, channel) * (1.0 - column.share)
                        + at(row, column.after, channel) * column.share
                };
                *value = of_row(row.before) * (1.0 - row.share) + of_row(row.after) * row.share;
            }
        }
    }
    values
}

/// A place between two pixels.
struct Between {
    before: usize,
    after: usize,
    share: f32,
}

impl Between {
    /// The places of `to` pixels among `from`.
    fn all(from: u32, to: u32) -> Vec<Self> {
        let scale = from as f32 / to as f32;
        let place = |index: u32| {
            let place = ((index as f32 + 0.5) * scale - 0.5).max(0.0);
            let before = (place as usize).min(from as usize - 1);
            Self { before, after: (before + 1).min(from as usize - 1), share: place - before as f32 }
        };
        (0..to).map(place).collect()
    }
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

/// The middle of an image in a file, scaled to a square of this side.
///
/// # Errors
/// When it cannot be read, or is not an image.
pub(crate) fn middle_square(path: &Path, side: u32) -> Result<Image, SourceError> {
    Ok(square(&read(path)?, side))
}

/// Images of the same size as a network sees them that takes this mean and deviation out of the values in 0…1 of each
/// channel, `[images, 3, height, width]`.
pub fn normalized(images: &[Image], [means, deviations]: [[f32; 3]; 2]) -> TensorResult<Tensor> {
    let (width, height) =
        images.first().map_or((0, 0), |image| (image.width as usize, image.height as usize));
    let mut values = Vec::with_capacity(images.len() * 3 * width * height);
    for image in images {
        for (channel, (mean, deviation)) in means.iter().zip(deviations).enumerate() {
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
        Image::opaque(2, 2, values.iter().flat_map(|value| [*value; 3]).collect())
    }

    fn given(first: Vec<Image>, last: Option<Image>, before: Vec<Image>) -> GivenClip {
        GivenClip {
            count: 4,
            first,
            last,
            later: Vec::new(),
            before,
            sound: None,
            masks: Vec::new(),
            maps: Vec::new(),
            references: Vec::new(),
            controls: false,
            size: (2, 2),
        }
    }

    /// A clip of two frames that controls, with these masks.
    fn controlling(masks: Vec<Image>) -> GivenClip {
        let frames = vec![gray([10, 20, 30, 40]), gray([50, 60, 70, 80])];
        GivenClip { count: 2, masks, controls: true, ..given(frames, None, Vec::new()) }
    }

    /// The shades of the pixels of a frame.
    fn shades(clip: &GivenClip, index: usize, wanted: Pixels) -> Vec<u8> {
        let values: Vec<f32> = clip.pixels(index, wanted).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        values[..4].iter().map(|value| ((value + 1.0) * 127.5).round() as u8).collect()
    }

    #[test]
    fn maps_take_the_place_of_frames_where_pixels_are_generated() {
        let mut clip = controlling(Vec::new());
        clip.map_frames(Preprocessor::Invert);
        assert_eq!(shades(&clip, 1, Pixels::Generated), [205, 195, 185, 175]);
        assert_eq!(shades(&clip, 1, Pixels::Kept), [128; 4]);
        let mut masked = controlling(vec![gray([255, 255, 0, 0])]);
        masked.map_frames(Preprocessor::Invert);
        assert_eq!(shades(&masked, 0, Pixels::Generated), [245, 235, 128, 128]);
        assert_eq!(shades(&masked, 0, Pixels::Kept), [128, 128, 30, 40]);
    }

    #[test]
    fn maps_that_networks_make_come_one_by_one() {
        for masks in [Vec::new(), vec![gray([255; 4])]] {
            let mut clip = controlling(masks);
            clip.map_frames(Preprocessor::Depth);
            for index in 0..2 {
                assert!(clip.unmapped(index).is_some());
                clip.control_by(index, gray([index as u8; 4]));
            }
            assert_eq!([0, 1].map(|index| shades(&clip, index, Pixels::Generated)[0]), [0, 1]);
            assert_eq!(clip.unmapped(2), None);
        }
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
