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
    /// The model.
    Model,
    /// The number of frames of a clip.
    Frames,
    /// Guidance rescale.
    Rescale,
    /// The threshold of the step cache.
    StepCache,
    /// The scale of hires fix.
    HiresScale,
    /// The weight of all ControlNets.
    ControlWeight,
    /// The weight of all image prompts.
    ImagePromptWeight,
}

impl GridSetting {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 25] = [
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
        Self::TrueCfg,
        Self::Shift,
        Self::ClipSkip,
        Self::Frames,
        Self::Rescale,
        Self::StepCache,
        Self::HiresScale,
        Self::ControlWeight,
        Self::ImagePromptWeight,
        Self::Precision,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Steps => "steps",
            Self::Guidance => "guidance",
            Self::TrueCfg => "true-cfg",
            Self::Sampler => "sampler",
            Self::Schedule => "schedule",
            Self::Shift => "shift",
            Self::Strength => "strength",
            Self::Lora => "lora",
            Self::LoraFile => "lora-file",
            Self::Style => "style",
            Self::Precision => "precision",
            Self::Prompt => "prompt",
            Self::Size => "size",
            Self::Width => "width",
            Self::Height => "height",
            Self::ClipSkip => "clip-skip",
            Self::Variation => "variation",
            Self::Model => "model",
            Self::Frames => "frames",
            Self::Rescale => "rescale",
            Self::StepCache => "step-cache",
            Self::HiresScale => "hires-scale",
            Self::ControlWeight => "control-weight",
            Self::ImagePromptWeight => "image-prompt-weight",
        }
    }

    /// The name in the window and in labels.
    pub fn title(self) -> &'static str {
        match self {
            Self::Seed => "Seed",
            Self::Steps => "Steps",
            Self::Guidance => "Guidance",
            Self::TrueCfg => "True CFG",
            Self::Sampler => "Sampler",
            Self::Schedule => "Schedule",
            Self::Shift => "Shift",
            Self::Strength => "Denoising strength",
            Self::Lora => "LoRA weight",
            Self::LoraFile => "LoRA",
            Self::Style => "Style",
            Self::Precision => "Precision",
            Self::Prompt => "Words in the prompt",
            Self::Size => "Size",
            Self::Width => "Width",
            Self::Height => "Height",
            Self::ClipSkip => "Clip skip",
            Self::Variation => "Variation strength",
            Self::Model => "Model",
            Self::Frames => "Frames",
            Self::Rescale => "Guidance rescale",
            Self::StepCache => "Step cache",
            Self::HiresScale => "Scale of hires fix",
            Self::ControlWeight => "ControlNet weight",
            Self::ImagePromptWeight => "Image prompt weight",
        }
    }

    /// What its values look like.
    pub fn example(self) -> &'static str {
        match self {
            Self::Seed => "1-4",
            Self::Steps => "10, 20, 30 or 10-50 (+10)",
            Self::Guidance => "1-7 (+2) or 1-7 [4]",
            Self::TrueCfg => "1-5",
            Self::Sampler => "euler, dpmpp-2m",
            Self::Schedule => "normal, karras",
            Self::Shift => "1-5 (+2)",
            Self::Strength => "0.3-0.9 [4]",
            Self::Lora => "0-1 (+0.25)",
            Self::LoraFile => "none, ink, oil",
            Self::Style => "none, film, ink",
            Self::Precision => "auto, f32, bf16",
            Self::Prompt => "fox, wolf, bear: the first is replaced by the others",
            Self::Size => "512x768, 768x512",
            Self::Width | Self::Height => "512, 768",
            Self::ClipSkip => "1, 2",
            Self::Variation => "0-0.4 [5]",
            Self::Model => "paths of models, separated by commas",
            Self::Frames => "33, 49, 81",
            Self::Rescale => "0-0.7 [3]",
            Self::StepCache => "0, 0.1, 0.2",
            Self::HiresScale => "1.5, 2",
            Self::ControlWeight | Self::ImagePromptWeight => "0.4-1 (+0.2)",
        }
    }

    /// Names of A1111's X/Y/Z plot and other usual ones.
    pub(super) fn has_name(self, name: &str) -> bool {
        let name = name.trim().to_lowercase().replace([' ', '_'], "-");
        let others: &[&str] = match self {
            Self::Guidance => &["cfg-scale", "cfg"],
            Self::Strength => &["denoising", "denoising-strength"],
            Self::Lora => &["lora-weight"],
            Self::LoraFile => &["loras", "lora-name"],
            Self::Style => &["styles"],
            Self::Precision => &["dtype"],
            Self::Prompt => &["prompt-s/r", "words", "words-in-the-prompt"],
            Self::Schedule => &["schedule-type", "scheduler"],
            Self::Variation => &["var.-strength", "var-strength", "variation-strength"],
            Self::Model => &["checkpoint-name", "checkpoint"],
            Self::Shift => &["flow-shift"],
            Self::Rescale => &["guidance-rescale", "cfg-rescale"],
            Self::ControlWeight => &["controlnet-weight", "control-net-weight"],
            Self::ImagePromptWeight => &["ip-adapter-weight"],
            Self::HiresScale => &["hires-upscale", "scale-of-hires-fix"],
            _ => &[],
        };
        name == self.name() || others.contains(&name.as_str())
    }

    /// How costly a change from one value to the next is: a lower number is costlier.
    pub(super) fn cost(self) -> u8 {
        match self {
            Self::Model => 0,
            Self::Precision => 1,
            // A LoRA is there before it is weighed.
            Self::LoraFile => 2,
            Self::Lora => 3,
            Self::Size | Self::Width | Self::Height | Self::Frames | Self::HiresScale => 4,
            // The text encoders run again.
            Self::Prompt | Self::Style | Self::ClipSkip => 5,
            _ => 6,
        }
    }
}
