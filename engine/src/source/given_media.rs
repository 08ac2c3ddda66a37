//! Images and clips that are taken as they are.

use std::path::Path;

use image::DynamicImage;

use super::{
    ClipError, ClipInfo, SourceError, decoder_of, is_clip_name, not_a_picture, read_clip, read_sound, size_of,
};
use crate::{
    output::{Image, Sound},
    request::{Fit, FrameRange, Interpolate, Request, SourceClip},
};

/// What the header of an image or of an MP4 or MOV clip says.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenMedia {
    /// Width and height as shown.
    pub size: [u32; 2],
    /// More, if it is a clip.
    pub clip: Option<ClipInfo>,
}

impl GivenMedia {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// When it cannot be read, or is neither an image nor a clip.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        // Clips say by their first bytes what they are.
        let clip = if path.is_file() || is_clip_name(path) { ClipInfo::open(path)? } else { None };
        let size = match &clip {
            Some(clip) => [clip.width, clip.height],
            None if is_clip_name(path) => {
                return Err(ClipError::NotAClip { path: path.to_owned() }.into());
            }
            None => size_of(path)?,
        };
        Ok(Self { size, clip })
    }

    /// The number of frames and how many there are in a second; an image is one frame.
    pub fn frames(&self) -> (u32, f32) {
        self.clip.as_ref().map_or((1, 1.0), |clip| (clip.frames, clip.rate as f32))
    }

    /// A request that enlarges it, makes maps of it or puts frames between its own, with the size of the result.
    pub fn sized(&self, request: &Request) -> Request {
        let [width, height] = match &request.upscale {
            Some(upscale) => upscale.size(self.size),
            None => self.size,
        };
        let (frames, frame_rate) = self.frames();
        let (frames, frame_rate) = match &request.interpolate {
            Some(Interpolate { how, .. }) => (how.frames(frames), frame_rate * how.factor as f32),
            None => (frames, frame_rate),
        };
        Request { width, height, frames, frame_rate, batch: 1, ..request.clone() }
    }

    /// Reads all frames in the size that they have; an image with its opacity.
    ///
    /// # Errors
    /// When the file is damaged, or needs ffmpeg and that is not there.
    pub fn read(&self, path: &Path) -> Result<Vec<Image>, SourceError> {
        if self.clip.is_none() {
            return Ok(vec![read_with_opacity(path)?]);
        }
        let wanted = SourceClip {
            path: path.to_owned(),
            range: FrameRange::default(),
            fit: Fit::Stretch,
            ..SourceClip::default()
        };
        Ok(read_clip(&wanted, None, (self.size[0], self.size[1]))?)
    }

    /// The sound of a clip, if it can be copied.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub fn sound(&self, path: &Path) -> Result<Option<Sound>, SourceError> {
        match &self.clip {
            Some(clip) if clip.has_sound => Ok(read_sound(path, 0.0..clip.seconds)?),
            _ => Ok(None),
        }
    }
}

/// Reads an image of any supported format, upright.
fn read_with_opacity(path: &Path) -> Result<Image, SourceError> {
    let (orientation, decoder) = decoder_of(path)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| not_a_picture(path, &error))?;
    picture.apply_orientation(orientation);
    let opacity: Vec<u8> = match picture.color().has_alpha() {
        true => picture.to_rgba8().as_raw().iter().skip(3).step_by(4).copied().collect(),
        false => Vec::new(),
    };
    let picture = picture.into_rgb8();
    let (width, height) = picture.dimensions();
    if width == 0 || height == 0 {
        return Err(SourceError::NotAPicture { path: path.to_owned(), detail: "it is empty".to_owned() });
    }
    let is_opaque = opacity.iter().all(|opacity| *opacity == u8::MAX);
    let opacity = if is_opaque { Vec::new() } else { opacity };
    Ok(Image { opacity, ..Image::opaque(width, height, picture.into_raw()) })
}
