//! What is wrong with a request.

use super::{
    ControlNet, Detailer, FACTORS, FrameRange, GuidanceError, ImagePrompt, LARGEST_BATCH, LARGEST_CLIP_SKIP,
    LARGEST_SHIFT, Mode, Outpaint, REFERENCE_SIDES, Redux, Regions, STRONGEST_CONTROL, Schedule, SourceMask,
    WIDEST_BLUR, Windows,
};
use crate::checkpoint::MapKind;

/// Why a request is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// The model cannot generate this size.
    #[error("{side} {pixels} is not a multiple of {multiple}; use {below} or {above}")]
    SizeNotMultiple {
        /// "width" or "height".
        side: &'static str,
        /// The requested value.
        pixels: u32,
        /// The multiple.
        multiple: u32,
        /// The next smaller valid size.
        below: u32,
        /// The next larger valid size.
        above: u32,
    },
    /// The size exceeds the limit of Sluice or of this model.
    #[error("{side} {pixels} is too large; use {longest} or less")]
    SideTooLong {
        /// "width" or "height".
        side: &'static str,
        /// The requested value.
        pixels: u32,
        /// The largest valid size.
        longest: u32,
    },
    /// A scale that is not offered.
    #[error("the scale {0} is not between 1 and 4")]
    Scale(f32),
    /// An upscaler is to generate.
    #[error(
        "this model is an upscaler, which enlarges images and generates none; use `sluice upscale`, or Upscale… in the window"
    )]
    OnlyUpscales,
    /// A map estimator is to generate.
    #[error("this model makes maps and generates no images; choose it as the preprocessor of a ControlNet")]
    OnlyMakesMaps,
    /// Maps without what makes them.
    #[error("no model is chosen that makes {}; choose a .safetensors file of {}", .0.maps(), .0.networks())]
    NoMapEstimator(MapKind),
    /// A segmenter is to generate.
    #[error(
        "this model makes masks and generates no images; use `sluice mask`, or the tools for masks in the window"
    )]
    OnlyMakesMasks,
    /// A better prompt of nothing.
    #[error("there is no prompt to enhance; write a few words")]
    NothingToEnhance,
    /// A description of nothing.
    #[error("there is no image to describe; give one or more")]
    NothingToDescribe,
    /// A language model that reads only text is to describe images.
    #[error("the language model has no vision tower and sees no images")]
    SeesNoImages,
    /// Images are to be read in a size that no model is made for.
    #[error("images of {pixels} pixels cannot be described; use {least} to {most}")]
    SeenPixels {
        /// The requested value.
        pixels: u32,
        /// The smallest valid value.
        least: u32,
        /// The largest valid value.
        most: u32,
    },
    /// An image that is much longer than wide.
    #[error(
        "an image of {width}×{height} pixels is too narrow to be described; cut it so that one side is at most 200 times the other"
    )]
    TooNarrow {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// A language model without an instruction.
    #[error("the language model has no instruction; leave it out for the usual one")]
    NoInstruction,
    /// A temperature that makes no sense.
    #[error("the temperature {0} is not between 0 and 2")]
    Temperature(f32),
    /// A probability that is none.
    #[error("top-p {0} is not above 0 and at most 1")]
    TopP(f32),
    /// A text without tokens, or a book.
    #[error("a prompt of {tokens} tokens is not possible; use 1 to {most}")]
    LongestPrompt {
        /// The requested value.
        tokens: u32,
        /// The largest valid value.
        most: u32,
    },
    /// A detailer without a detector.
    #[error("a detailer has no detector; choose a .safetensors file of YOLOv8, such as face_yolov8n")]
    NoDetector,
    /// An image that nothing changes.
    #[error("nothing says what to find in the image; give a detailer")]
    NoDetailer,
    /// More detailers than are taken.
    #[error("{0} detailers are given; use at most {most}", most = Detailer::MOST)]
    TooManyDetailers(usize),
    /// How sure a detector must be, out of range.
    #[error("confidence {0} is invalid; use a value between 0 and 1, such as 0.3")]
    DetailerConfidence(f32),
    /// No boxes, or more than anybody waits for.
    #[error("{0} boxes of an image cannot be inpainted; use 1 to {most}", most = Detailer::MOST_BOXES)]
    DetailerBoxes(u32),
    /// What is found is to grow by more than images are wide.
    #[error("growing what is found by {0} pixels is too much; use {most} or less", most = Detailer::WIDEST_GROWTH)]
    DetailerGrowth(u32),
    /// A detailer with a clip.
    #[error("detailers are only for images; remove them, or generate an image")]
    DetailerOfClip,
    /// A model that cannot inpaint.
    #[error("this model does not inpaint, so detailers cannot be used; remove them")]
    NoDetailing,
    /// A LoRA for the boxes alone.
    #[error(
        "the prompt of a detailer names the LoRA {0}, which the image does not have; name it in the prompt of the image"
    )]
    DetailerAdapter(String),
    /// A setting of images that are generated, where only the details of one that exists are inpainted.
    #[error("details of an image that exists are inpainted without {0}; leave that out")]
    NotForDetails(&'static str),
    /// More regions than are taken.
    #[error("{0} regions are given; use at most {most}", most = Regions::MOST)]
    TooManyRegions(usize),
    /// A region without a prompt; regions are counted from 1.
    #[error("region {0} has no prompt; say what is in it, or remove it")]
    RegionWithoutPrompt(usize),
    /// A box that is not inside of the image.
    #[error(
        "the area {0} of a region is not inside of the image; use left, top, width and height between 0 and 1, such as 0,0,0.5,1"
    )]
    RegionArea(String),
    /// The weight of a region, out of range.
    #[error("the weight {0} of a region is invalid; use a value above 0 and at most {most}", most = Regions::STRONGEST)]
    RegionWeight(f32),
    /// How much the prompt of the image counts inside of regions, out of range.
    #[error("{0} is no part that the prompt can have inside of regions; use 0 to 1")]
    RegionBase(f32),
    /// Over how much of the image regions fade in, out of range.
    #[error("regions cannot fade in over {0} of the image; use 0 to {most}", most = Regions::WIDEST_FADE)]
    RegionFade(f32),
    /// Regions where only a part of the image is generated.
    #[error("regions cannot be used where only the masked part is generated; turn off one of the two")]
    RegionsOfPart,
    /// A LoRA for a region alone.
    #[error(
        "the prompt of a region names the LoRA {0}, which the image does not have; name it in the prompt of the image"
    )]
    RegionAdapter(String),
    /// A detector as a model that generates.
    #[error("a detector only finds things; choose it for a detailer of another model")]
    OnlyDetects,
    /// Masks without what makes them.
    #[error("a mask of points needs Segment Anything; choose a .safetensors file of it or of MobileSAM")]
    NoSegmenter,
    /// A mask of nothing.
    #[error("nothing shows what the mask is of; give a point in it, or a box around it")]
    NothingToMask,
    /// A point that is not in the image.
    #[error("the point {x},{y} is not in the image, which has {width}×{height} pixels")]
    MaskPointOutside {
        /// Its column.
        x: u32,
        /// Its row.
        y: u32,
        /// Width of the image.
        width: u32,
        /// Height of the image.
        height: u32,
    },
    /// A box that is empty or not in the image.
    #[error(
        "the box {left},{top},{right},{bottom} is no box in the image, which has {width}×{height} pixels; give left, top, right \
         and bottom"
    )]
    MaskBox {
        /// Its first column.
        left: u32,
        /// Its first row.
        top: u32,
        /// The column after its last.
        right: u32,
        /// The row after its last.
        bottom: u32,
        /// Width of the image.
        width: u32,
        /// Height of the image.
        height: u32,
    },
    /// A model that generates is to enlarge an image.
    #[error("this model generates images and is no upscaler")]
    NoUpscaler,
    /// A model that only interpolates frames is to generate something.
    #[error(
        "this model makes the frames between those of a clip and generates none; use `sluice interpolate`, or Interpolate… in the \
         window"
    )]
    OnlyInterpolates,
    /// A model of another kind is to interpolate frames.
    #[error("this model does not interpolate frames; choose a .safetensors file of RIFE 4")]
    NoInterpolator,
    /// A factor that is not offered.
    #[error("{0} times as many frames are not possible; use {least} to {most}", least = FACTORS.start(), most = FACTORS.end())]
    InterpolationFactor(u32),
    /// An image is to get frames between.
    #[error("an image has no frames to put others between; choose a clip")]
    InterpolatesImage,
    /// Frames are to be put between those of an image that is generated.
    #[error("frame interpolation is for clips; use more than 1 frame, or leave it out")]
    SmoothsImage,
    /// A clip of one frame.
    #[error("the clip has one frame, so that nothing is between its frames; choose a longer one")]
    NothingBetween,
    /// A clip is to be enlarged and denoised again.
    #[error("hires fix is for images, not for clips; leave it out, and upscale the clip")]
    HiresOfClip,
    /// An image that starts from an input image is to be enlarged and denoised again.
    #[error(
        "hires fix starts from the prompt; leave the input image out, or leave hires fix out and use a larger size"
    )]
    HiresOfInput,
    /// A model that takes no images is to denoise one again.
    #[error(
        "hires fix needs image to image, which this model cannot do; leave it out, and upscale the image"
    )]
    NoHires,
    /// No steps.
    #[error("0 steps would leave only noise; use 1 or more")]
    NoSteps,
    /// A clip without frames.
    #[error("0 frames produce nothing; use 1 or more")]
    NoFrames,
    /// More than one frame from a model that generates images.
    #[error("this model generates images, not clips; use 1 frame instead of {0}")]
    OneFrameOnly(u32),
    /// The model's latents do not divide into this number of frames.
    #[error(
        "this model generates 1 frame and multiples of {multiple} more, not {frames}; use {below} or {above}"
    )]
    FramesNotMultiple {
        /// The requested value.
        frames: u32,
        /// The multiple.
        multiple: u32,
        /// The next smaller valid number.
        below: u32,
        /// The next larger valid number.
        above: u32,
    },
    /// The model cannot generate from these inputs.
    #[error("this model cannot do {wanted}; it can do {}", Mode::list(modes))]
    NoSuchMode {
        /// What the request asks for.
        wanted: Mode,
        /// What the model can do.
        modes: Vec<Mode>,
    },
    /// An input image and an input clip.
    #[error("an input image and an input clip are given; remove one of them")]
    ImageAndClip,
    /// A variation strength out of range.
    #[error("variation strength {0} is invalid; use 0 to 1")]
    Variation(f32),
    /// A last image without a first one.
    #[error("a last image needs a first image")]
    LastImageAlone,
    /// A last image, keyframes, an input clip or control for an image.
    #[error(
        "a last image, keyframes, an input clip and control are for clips; use more than 1 frame, or remove them"
    )]
    ClipInputOfImage,
    /// A keyframe that is not a frame after the first.
    #[error(
        "{}", match frame {
            0 => "frame 0 is the start of the clip; give its image as the first image".to_owned(),
            _ => format!("frame {frame} is not in the clip; its last frame is {last}"),
        }
    )]
    KeyframeOutside {
        /// The requested value.
        frame: u32,
        /// The last frame of the clip.
        last: u32,
    },
    /// Two images at one frame.
    #[error("two images are for frame {0}; remove one of them")]
    KeyframeTwice(u32),
    /// Keyframes and an input clip.
    #[error("keyframes cannot be combined with an input clip; remove one of them")]
    KeyframesAndClip,
    /// Images at later frames in windows, of which only the first would see them.
    #[error(
        "keyframes and a last image cannot be used in windows of frames with this model; remove the images or the windows"
    )]
    KeyframesInWindows,
    /// Control beside an input image or an input clip.
    #[error(
        "control cannot be combined with an input image or an input clip; remove one of them, or give the image as a \
         reference"
    )]
    ControlAndInput,
    /// Control without a clip and without images.
    #[error("nothing controls the clip; give a control clip or reference images")]
    NothingControls,
    /// A mask without the clip that it belongs to.
    #[error("the mask belongs to a control clip; give that as well")]
    MaskWithoutControl,
    /// A strength of control out of range.
    #[error("control strength {0} is invalid; use a value from 0 to {STRONGEST_CONTROL}")]
    ControlStrength(f32),
    /// A range of steps in which nothing can control.
    #[error(
        "a clip cannot be controlled from {start} to {end} of the steps; use values from 0 to 1, the first the smaller"
    )]
    ControlRange {
        /// The requested start.
        start: f64,
        /// The requested end.
        end: f64,
    },
    /// A preprocessor without the clip of which it makes maps.
    #[error(
        "a preprocessor is chosen for a control clip, and there is none; give one, or choose no preprocessor"
    )]
    PreprocessorWithoutControl,
    /// A preprocessor that makes nothing of the frames of a clip.
    #[error("the preprocessor {0} makes no maps of a control clip; choose another one")]
    ControlPreprocessor(&'static str),
    /// References for a model that takes none.
    #[error("this model takes no reference images; remove them, or give one as the input image")]
    NoReferences,
    /// More references than the model takes.
    #[error("this model takes {}, and {given} are given", if *most == 1 { "one reference image".to_owned() } else { format!("at most {most} reference images") })]
    TooManyReferences {
        /// The number of images in the request.
        given: usize,
        /// The most that the model takes.
        most: usize,
    },
    /// A side of references out of range.
    #[error(
        "reference side {0} is invalid; use a value from {least} to {most} pixels",
        least = REFERENCE_SIDES.start(),
        most = REFERENCE_SIDES.end()
    )]
    ReferenceSide(u32),
    /// References in windows, of which only the first would see them.
    #[error("reference images cannot be used in windows of frames; remove the images or the windows")]
    ReferencesInWindows,
    /// Nothing to fill in, for a model that does nothing else.
    #[error("this model fills in a part of an image; give an image and a mask of that part")]
    NothingToFillIn,
    /// A mask for a clip.
    #[error("a mask is for images; remove it, or use 1 frame")]
    MaskOfClip,
    /// A clip that adds nothing to the one that it extends.
    #[error(
        "{frames} frames add nothing: the first {overlap} repeat the end of the input clip; use {least} or more"
    )]
    NothingAdded {
        /// The requested value.
        frames: u32,
        /// The last frames of the input clip that are used.
        overlap: u32,
        /// The smallest valid number.
        least: u32,
    },
    /// A frame rate that no player has.
    #[error("{0} frames per second are invalid; use a value from 1 to 60")]
    FrameRate(f32),
    /// Windows without frames of their own.
    #[error("windows of {} frames that share {} do not move on; a window must be longer than its overlap", .0.frames, .0.overlap)]
    Windows(Windows),
    /// An empty batch.
    #[error("batch size 0 produces nothing; use 1 or more")]
    EmptyBatch,
    /// A batch that no machine can hold.
    #[error("batch size {0} is too large; use {LARGEST_BATCH} or less")]
    BatchTooLarge(u32),
    /// A limit of 0 prompt tokens.
    #[error("a prompt limit of 0 tokens leaves no prompt; use 1 or more")]
    NoTokens,
    /// A guidance scale that is negative or not finite.
    #[error("guidance {0} is invalid; use 0 or more")]
    Guidance(f32),
    /// An adapter weight that is not finite.
    #[error("LoRA weight {0} is not a finite number")]
    AdapterWeight(f32),
    /// More steps than there are distinct noise levels.
    #[error("{0} steps are too many; use 1000 or fewer")]
    TooManySteps(u32),
    /// A layer that CLIP does not have.
    #[error("clip skip {0} is more layers than CLIP has; use {LARGEST_CLIP_SKIP} or less")]
    ClipSkip(u32),
    /// An invalid guidance option.
    #[error(transparent)]
    Guiding(#[from] GuidanceError),
    /// A step cache threshold that is negative or not finite.
    #[error("step cache threshold {0} is invalid; use 0 or more")]
    StepCache(f32),
    /// A shift out of range.
    #[error("shift {0} is invalid; use a value from 0.01 to {LARGEST_SHIFT}")]
    Shift(f32),
    /// The model was not trained with flow matching.
    #[error("this model has no shift; leave it out")]
    NoShift,
    /// An input image for a model that takes none.
    #[error("this model makes images of prompts alone; leave the input image out")]
    PromptsOnly,
    /// The schedule has no noise levels for this kind of model.
    #[error("the schedule {} is not available for this model", .0.title())]
    NoSuchLevels(Schedule),
    /// A range without frames.
    #[error("the frames {0} are none; the second number must be larger than the first")]
    FrameRange(FrameRange),
    /// A denoising strength out of range.
    #[error("denoising strength {0} is invalid; use a value above 0, up to 1")]
    Strength(f64),
    /// A denoising strength so low that no step is left.
    #[error(
        "denoising strength {strength} leaves none of the {steps} steps; use {least} or more, or more steps"
    )]
    StrengthTakesNoStep {
        /// The requested value.
        strength: f64,
        /// The requested value.
        steps: u32,
        /// The lowest strength that leaves a step.
        least: f64,
    },
    /// A switch to the refiner that leaves one of the two models no steps.
    #[error("refiner switch {0} is invalid; use a value between 0 and 1, such as 0.8")]
    RefinerSwitch(f64),
    /// A Redux model without references.
    #[error("Redux reads reference images, and none is given; give one, or remove Redux")]
    ReduxAlone,
    /// More strengths than references.
    #[error("{given} strengths are given for {}", crate::units::counted(*references, "reference image"))]
    ReduxStrengths {
        /// The number of strengths.
        given: usize,
        /// The number of images.
        references: usize,
    },
    /// A strength of a reference out of range.
    #[error(
        "the strength {0} of a reference is invalid; use a value from {least} to {most}",
        least = Redux::STRENGTHS.start(),
        most = Redux::STRENGTHS.end()
    )]
    ReduxStrength(f32),
    /// A weight of a ControlNet out of range.
    #[error("the weight {0} of a ControlNet is invalid; use a value from 0 to {most}", most = ControlNet::LARGEST_WEIGHT)]
    ControlNetWeight(f32),
    /// A range of steps that is none.
    #[error(
        "a ControlNet cannot act from {start} to {end} of the steps; use values from 0 to 1, the first the smaller"
    )]
    ControlNetRange {
        /// The requested start.
        start: f64,
        /// The requested end.
        end: f64,
    },
    /// A ControlNet that has nothing to follow.
    #[error("a ControlNet has no image to follow; choose one, or remove the ControlNet")]
    ControlNetWithoutImage,
    /// A ControlNet that follows the masked input image, without one.
    #[error(
        "a ControlNet follows the input image without its masked part, and there is no input image with a mask; add \
         both, or choose another preprocessor"
    )]
    ControlNetWithoutMask,
    /// A ControlNet for inpainting that is given something else.
    #[error("a ControlNet is for inpainting and reads a mask; choose the preprocessor inpaint for it")]
    ControlNetReadsMask,
    /// A ControlNet for several kinds of maps that is not told one.
    #[error("a ControlNet follows several kinds of images and was not told which; choose one of {modes}")]
    ControlNetWithoutMode {
        /// Their names.
        modes: String,
    },
    /// A kind of map that a ControlNet was not trained with.
    #[error("a ControlNet follows no images of the kind {mode}; choose one of {modes}")]
    NoSuchControlMode {
        /// Its name.
        mode: String,
        /// The names of the others.
        modes: String,
    },
    /// A ControlNet for one kind of map that is told one.
    #[error("a ControlNet follows only one kind of image; do not choose one for it")]
    ControlNetHasNoModes,
    /// More ControlNets than are taken.
    #[error("{0} ControlNets are given; use at most {most}", most = ControlNet::MOST)]
    TooManyControlNets(usize),
    /// An IP-Adapter without images.
    #[error("an IP-Adapter has no image to read; choose one, or remove the IP-Adapter")]
    ImagePromptWithoutImage,
    /// More images than are read through an IP-Adapter.
    #[error("{0} images are given for an IP-Adapter; use at most {most}", most = ImagePrompt::MOST_IMAGES)]
    TooManyPromptImages(usize),
    /// More IP-Adapters than are taken.
    #[error("{0} IP-Adapters are given; use at most {most}", most = ImagePrompt::MOST)]
    TooManyImagePrompts(usize),
    /// A weight of image prompts out of range.
    #[error("the weight {0} of image prompts is invalid; use a value from 0 to {most}", most = ImagePrompt::LARGEST_WEIGHT)]
    ImagePromptWeight(f32),
    /// A range of steps that is none.
    #[error(
        "image prompts cannot be read from {start} to {end} of the steps; use values from 0 to 1, the first the smaller"
    )]
    ImagePromptRange {
        /// The requested start.
        start: f64,
        /// The requested end.
        end: f64,
    },
    /// Too much is added to an input image.
    #[error("{0} pixels around the input image are too many; use {most} or fewer", most = Outpaint::MOST)]
    Outpaint(u32),
    /// A mask blur wider than images are.
    #[error("mask blur {0} is too large; use {WIDEST_BLUR} or less")]
    MaskBlur(u32),
    /// More padding around a mask than images are wide.
    #[error("a padding of {0} pixels around the mask is too large; use {most} or less", most = SourceMask::WIDEST_PADDING)]
    MaskPadding(u32),
}
