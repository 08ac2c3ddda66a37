//! The settings that can vary.

/// A setting that can vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GridSetting {
    /// The seed.
    Seed,
    /// Denoising steps.
    Steps,
    /// The guidance scale.
    Guidance,
    /// True CFG.
    TrueCfg,
    /// The sampler.
    Sampler,
    /// The schedule.
    Schedule,
    /// The shift of the noise levels.
    Shift,
    /// The denoising strength.
    Strength,
    /// The weight of a LoRA.
    Lora,
    /// Which LoRA is added.
    LoraFile,
    /// Which style is added.
    Style,
    /// The number format of the computation.
    Precision,
    /// Words of the prompts: each value but the first replaces the first.
    Prompt,
    /// Width and height.
    Size,
    /// The width.
    Width,
    /// The height.
    Height,
    /// The clip skip.
    ClipSkip,
    /// The variation strength.
    Variation,
    /// The variation seed.
    VariationSeed,
    /// The model.
    Model,
    /// The number of frames of a clip.
    Frames,
    /// Frames per second of a clip.
    FrameRate,
    /// How many times as many frames frame interpolation makes.
    Interpolation,
    /// Frames of each window of a long clip.
    WindowFrames,
    /// Frames that windows share.
    WindowOverlap,
    /// Guidance rescale.
    Rescale,
    /// Where guidance starts.
    GuidanceStart,
    /// Where guidance ends.
    GuidanceEnd,
    /// The threshold of the step cache.
    StepCache,
    /// The scale of hires fix.
    HiresScale,
    /// The denoising strength of its second pass.
    HiresStrength,
    /// The steps of its second pass.
    HiresSteps,
    /// What enlarges between its passes.
    HiresUpscaler,
    /// Where the refiner takes over.
    RefinerSwitch,
    /// The weight of ControlNets.
    ControlWeight,
    /// Where ControlNets start, or without one what controls a clip.
    ControlStart,
    /// Where they end.
    ControlEnd,
    /// What is made of their images, or of the clip that controls another one.
    Preprocessor,
    /// How strongly a clip and its references control another one.
    ControlStrength,
    /// The weight of image prompts.
    ImagePromptWeight,
    /// Where image prompts start.
    ImagePromptStart,
    /// Where they end.
    ImagePromptEnd,
    /// How strongly references count that are read through Redux.
    ReferenceStrength,
    /// The size in which references are read.
    ReferenceSide,
    /// The denoising strength of detailers.
    DetailerStrength,
    /// How sure detectors must be.
    DetailerConfidence,
    /// The steps of detailers.
    DetailerSteps,
    /// Pixels around a box that the model sees.
    DetailerPadding,
    /// The weight of regions where they overlap.
    RegionWeight,
    /// How much the prompt of the image counts inside of regions.
    RegionBase,
    /// Over how much of the shorter side regions fade in.
    RegionFade,
    /// The input image.
    InputImage,
    /// How the input is fitted to the size.
    Fit,
    /// Pixels over which the inpainted area fades.
    MaskBlur,
    /// Pixels around the masked area that the model sees.
    MaskPadding,
    /// Pixels over which the image fades into what is added around it.
    OutpaintFeather,
}

impl GridSetting {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 56] = [
        Self::Seed,
        Self::Steps,
        Self::Guidance,
        Self::Sampler,
        Self::Schedule,
        Self::Prompt,
        Self::Strength,
        Self::LoraFile,
        Self::Lora,
        Self::Style,
        Self::Size,
        Self::Width,
        Self::Height,
        Self::Model,
        Self::Variation,
        Self::VariationSeed,
        Self::TrueCfg,
        Self::Rescale,
        Self::GuidanceStart,
        Self::GuidanceEnd,
        Self::Shift,
        Self::ClipSkip,
        Self::StepCache,
        Self::Precision,
        Self::HiresScale,
        Self::HiresStrength,
        Self::HiresSteps,
        Self::HiresUpscaler,
        Self::RefinerSwitch,
        Self::ControlWeight,
        Self::ControlStart,
        Self::ControlEnd,
        Self::Preprocessor,
        Self::ImagePromptWeight,
        Self::ImagePromptStart,
        Self::ImagePromptEnd,
        Self::ReferenceStrength,
        Self::ReferenceSide,
        Self::DetailerStrength,
        Self::DetailerConfidence,
        Self::DetailerSteps,
        Self::DetailerPadding,
        Self::RegionWeight,
        Self::RegionBase,
        Self::RegionFade,
        Self::InputImage,
        Self::Fit,
        Self::MaskBlur,
        Self::MaskPadding,
        Self::OutpaintFeather,
        Self::Frames,
        Self::FrameRate,
        Self::Interpolation,
        Self::WindowFrames,
        Self::WindowOverlap,
        Self::ControlStrength,
    ];

    /// Whether it may vary for one of several, such as one LoRA or one ControlNet.
    pub fn has_names(self) -> bool {
        matches!(
            self,
            Self::Lora
                | Self::ControlWeight
                | Self::ControlStart
                | Self::ControlEnd
                | Self::Preprocessor
                | Self::ImagePromptWeight
                | Self::ImagePromptStart
                | Self::ImagePromptEnd
                | Self::ReferenceStrength
                | Self::DetailerStrength
                | Self::DetailerConfidence
                | Self::DetailerSteps
                | Self::DetailerPadding
                | Self::RegionWeight
        )
    }

    /// How costly a change from one value to the next is: a lower number is costlier.
    pub(super) fn cost(self) -> u8 {
        match self {
            Self::Model => 0,
            Self::Precision => 1,
            // A LoRA is there before it is weighed.
            Self::LoraFile => 2,
            Self::Lora => 3,
            Self::Size
            | Self::Width
            | Self::Height
            | Self::Frames
            | Self::WindowFrames
            | Self::HiresScale
            | Self::HiresUpscaler
            | Self::Preprocessor
            | Self::ReferenceSide
            | Self::InputImage => 4,
            // The text encoders run again.
            Self::Prompt | Self::Style | Self::ClipSkip => 5,
            // Its strength is there before it.
            Self::VariationSeed => 7,
            _ => 6,
        }
    }
}
