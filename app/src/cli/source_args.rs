//! The input image of a run, for image to image, inpainting and clips, the input clip, and what controls a clip.

use std::path::{Path, PathBuf};

use anyhow::Context;
use image::ColorType;
use sluice_engine::{
    request::{
        Control, Fit, FrameRange, Keyframe, Mode, Outpaint, Preprocessor, Redux, References, Request,
        SourceClip, SourceImage, SourceMask,
    },
    session::ModelSummary,
    source::{count_frames, mapped, read},
};
use tempfile::TempDir;

use super::{exit::refuse, names::named};
use crate::{input_sizes::size_of_inputs, masks::MaskEdits};

/// From which lightness on a pixel of a mask is inpainted.
const LIGHT: u8 = 128;

/// The input image and its mask, or the input clip.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SourceArgs {
    /// The input image of image to image: a PNG, JPEG or WebP file, or a folder of them, of which each becomes an image of
    /// its name. In models that generate videos, the first image of the
    /// clip.
    #[arg(long, value_name = "FILE", groups = ["input", "first"])]
    init_image: Option<PathBuf>,
    /// With a folder as --init-image, also use the images of its subfolders. The results keep that structure.
    #[arg(long, requires = "init_image")]
    pub subfolders: bool,
    /// The image to edit, in models that edit images (FLUX.1 Kontext); some take several. In other models, and with
    /// --mask, the same as --init-image.
    #[arg(long, value_name = "FILE", groups = ["input", "first"])]
    image: Vec<PathBuf>,
    /// The last image of a clip.
    #[arg(long, value_name = "FILE", requires = "first")]
    last_image: Option<PathBuf>,
    /// An image at a frame of a clip, counted from 0, in models that take keyframes (LTX-Video from 0.9.7 on). Can be given
    /// several times.
    #[arg(long, value_name = "FRAME=FILE")]
    keyframe: Vec<Keyframe>,
    /// The input clip: MP4 or MOV with H.264, a folder of images, or any other format if ffmpeg is installed.
    #[arg(long, alias = "init-video", value_name = "FILE", groups = ["input", "clips"])]
    video: Option<PathBuf>,
    /// A clip that controls the result, in models for control (Wan VACE): depths, poses, lines, a clip of which
    /// --control-preprocessor makes them, or one of which a mask shows what to generate.
    #[arg(long, value_name = "FILE", groups = ["input", "clips"])]
    control_video: Option<PathBuf>,
    /// The mask of the control clip, white where it is generated and black where its pixels stay: a clip, or an image
    /// for all frames.
    #[arg(long, alias = "mask-video", value_name = "FILE", requires = "control_video")]
    control_mask: Option<PathBuf>,
    /// A reference image: one to edit, or one of something that appears in a clip, in models for that. Some take several.
    #[arg(long, alias = "ref-image", value_name = "FILE")]
    reference: Vec<PathBuf>,
    /// A Redux model, through which FLUX.1 reads the references beside the prompt: flux1-redux-dev, or its folder.
    #[arg(long, value_name = "PATH", requires = "reference")]
    redux: Option<PathBuf>,
    /// How strongly a reference counts that is read through Redux. Can be given several times, in the order of the
    /// references; 1 for those without.
    #[arg(long, value_name = "NUMBER", requires = "redux")]
    reference_strength: Vec<f32>,
    /// Scale the references of images to about the square of this many pixels, instead of the model's own size. Smaller
    /// references take less memory and time.
    #[arg(long, value_name = "PIXELS")]
    reference_side: Option<u32>,
    /// How strongly the control clip and the references control a clip.
    #[arg(long, alias = "vace-strength", value_name = "NUMBER", default_value_t = Control::default().strength)]
    control_strength: f32,
    /// The frames of the input or control clip to use, counted at the frame rate of the result: the first one, and the one after
    /// the last.
    #[arg(long, value_name = "FIRST..END", default_value_t, hide_default_value = true, requires = "clips")]
    range: FrameRange,
    /// Continue the input clip from its last frames instead of changing it. The result is appended to it.
    #[arg(long, requires = "video")]
    extend: bool,
    /// Denoising strength, above 0 and up to 1: the higher, the more the image or the clip changes. 0.6 if none is given, and 1
    /// with --outpaint.
    #[arg(
        long,
        alias = "denoising-strength",
        value_name = "NUMBER",
        requires = "input",
        allow_negative_numbers = true
    )]
    strength: Option<f64>,
    /// How to fit an input with another aspect ratio to the size of the output.
    #[arg(long, value_name = "NAME", default_value = Fit::default().name(), value_parser = named(&Fit::ALL, Fit::name), requires = "input")]
    fit: Fit,
    /// The area to inpaint: an image that is white where the input image changes and black where it stays.
    #[arg(long, value_name = "FILE", requires = "first")]
    mask: Option<PathBuf>,
    /// Inpaint what is black in the mask, and not what is white.
    #[arg(long, requires = "mask")]
    mask_invert: bool,
    /// Pixels of the mask by which the inpainted area grows on all sides; it shrinks if the number is negative. --mask-invert
    /// comes first.
    #[arg(
        long,
        value_name = "PIXELS",
        default_value_t = 0,
        hide_default_value = true,
        requires = "mask",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(-256..=256)
    )]
    mask_grow: i32,
    /// Pixels over which the inpainted area fades into the rest.
    #[arg(long, value_name = "PIXELS", default_value_t = SourceMask::default().blur, requires = "mask")]
    mask_blur: u32,
    /// Generate this many pixels around the input image: one number for all sides, or four in this order. The result has
    /// the size of the image with them, unless --width and --height say another. The strength is 1 if none is given.
    #[arg(long, value_name = "LEFT,TOP,RIGHT,BOTTOM", requires = "first")]
    outpaint: Option<Outpaint>,
    /// Pixels at the edges of the input image over which it fades into what is added.
    #[arg(long, value_name = "PIXELS", default_value_t = Outpaint::USUAL_FEATHER, requires = "outpaint")]
    outpaint_feather: u32,
    /// Inpaint the masked area and this many pixels around it alone (32 if no number is given), in the full size of the request, and put it back into
    /// the input image. The result has the size of the input image.
    #[arg(long, value_name = "PADDING", requires = "mask")]
    only_masked: Option<Option<u32>>,
    /// Do not paste the unmasked pixels of the input image back into the result. They then change slightly, because
    /// they go through the autoencoder.
    #[arg(long, alias = "redraw-all", requires = "mask")]
    no_paste_back: bool,
}

impl SourceArgs {
    /// The request with the inputs, for a model that takes references in this way, if it does.
    ///
    /// # Errors
    /// Fails if several images are given to a model that takes one.
    pub fn given_to(&self, request: Request, takes: Option<&References>) -> anyhow::Result<Request> {
        let edits = takes.is_some_and(|takes| takes.edits) && self.mask.is_none() && self.outpaint.is_none();
        let mut references = self.reference.clone();
        if edits {
            references.splice(..0, self.image.iter().cloned());
        } else if let [_, _, ..] = self.image[..] {
            let advice = match takes {
                Some(_) => "Give one with --image, and the others with --reference.",
                None => "Give one image, or use a model that edits images.",
            };
            return Err(refuse("this model takes one --image".to_owned(), advice.to_owned()));
        }
        let first = self.init_image.as_ref().or(self.image.first().filter(|_| !edits));
        Ok(Request {
            source: first.map(|path| self.source(path)),
            last_image: self.last_image.clone(),
            keyframes: self.keyframe.clone(),
            clip: self.clip(),
            references,
            reference_side: self.reference_side,
            redux: self.redux(),
            control: self.control(),
            ..request
        })
    }

    /// Changes the mask as the options say. What becomes of it is in a folder that is there until it is dropped.
    ///
    /// # Errors
    /// Fails if the mask cannot be read, or what becomes of it cannot be written.
    pub fn edit_mask(&mut self) -> anyhow::Result<Option<TempDir>> {
        let edits = MaskEdits { inverts: self.mask_invert, grow: self.mask_grow };
        let Some(file) = self.mask.as_mut().filter(|_| !edits.are_none()) else { return Ok(None) };
        let mask = read(file).map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
        let mask = mapped(mask, Preprocessor::Gray);
        let masked = mask.pixels.as_chunks::<3>().0.iter().map(|[lightness, ..]| *lightness >= LIGHT);
        let masked = edits.applied_to(masked.collect(), [mask.width as usize, mask.height as usize]);
        let pixels: Vec<u8> = masked.into_iter().map(|masked| if masked { u8::MAX } else { 0 }).collect();
        let folder = tempfile::tempdir().context("a temporary folder cannot be created")?;
        let edited = folder.path().join("mask.png");
        image::save_buffer(&edited, &pixels, mask.width, mask.height, ColorType::L8)
            .with_context(|| format!("{} cannot be written", edited.display()))?;
        *file = edited;
        Ok(Some(folder))
    }

    /// The request in the [size that its inputs suggest](size_of_inputs), if they do.
    ///
    /// # Errors
    /// Fails if the image cannot be read.
    pub fn with_size_of_inputs(
        request: Request,
        takes: Option<&References>,
        multiple: u32,
    ) -> anyhow::Result<Request> {
        let size = size_of_inputs(&request, takes, multiple)
            .map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
        let [width, height] = size.unwrap_or([request.width, request.height]);
        Ok(Request { width, height, ..request })
    }

    /// The request with as many frames as the clip that it changes or that controls it has, as far as the model can generate them.
    ///
    /// # Errors
    /// Fails if the clip cannot be read.
    pub fn with_frames_of_clip(&self, request: Request, summary: &ModelSummary) -> anyhow::Result<Request> {
        let clip = match request.mode() {
            Mode::VideoToVideo => request.clip.clone(),
            Mode::Control => request.control.as_ref().and_then(Control::clip),
            _ => None,
        };
        let (Some(clip), Some(multiple)) = (clip, summary.frame_multiple) else {
            return Ok(request);
        };
        let frames = count_frames(&clip, request.frame_rate)
            .map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
        let frames = frames.map(|frames| 1 + frames.saturating_sub(1) / multiple * multiple);
        Ok(Request { frames: frames.unwrap_or(request.frames), ..request })
    }

    fn source(&self, path: &Path) -> SourceImage {
        let mask = self.mask.clone().map(|path| SourceMask {
            path,
            blur: self.mask_blur,
            keeps_the_rest: !self.no_paste_back,
            only_masked: self.only_masked.map(|padding| padding.unwrap_or(SourceMask::USUAL_PADDING)),
        });
        let usual = if self.outpaint.is_some() { 1.0 } else { SourceImage::default().strength };
        let outpaint = self.outpaint.map(|sides| Outpaint { feather: self.outpaint_feather, ..sides });
        SourceImage {
            path: path.to_owned(),
            strength: self.strength.unwrap_or(usual),
            fit: self.fit,
            mask,
            outpaint: outpaint.unwrap_or_default(),
        }
    }

    fn redux(&self) -> Option<Redux> {
        let strengths = self.reference_strength.clone();
        self.redux.clone().map(|path| Redux { path, strengths })
    }

    fn control(&self) -> Option<Control> {
        let usual = Control::default().strength;
        (self.control_video.is_some() || self.control_strength != usual).then(|| Control {
            video: self.control_video.clone(),
            range: self.range,
            mask: self.control_mask.clone(),
            strength: self.control_strength,
            fit: self.fit,
            ..Control::default()
        })
    }

    fn clip(&self) -> Option<SourceClip> {
        let (path, range) = (self.video.clone()?, self.range);
        let strength = self.strength.unwrap_or(SourceClip::default().strength);
        Some(SourceClip { path, range, strength, extends: self.extend, fit: self.fit })
    }
}
