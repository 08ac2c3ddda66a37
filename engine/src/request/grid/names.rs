//! What the settings are called, and what their values look like.

use super::GridSetting;

/// What is said about a setting.
struct Words {
    name: &'static str,
    title: &'static str,
    example: &'static str,
    /// Names of A1111's X/Y/Z plot and other usual ones.
    others: &'static [&'static str],
}

const fn words(
    name: &'static str,
    title: &'static str,
    example: &'static str,
    others: &'static [&'static str],
) -> Words {
    Words { name, title, example, others }
}

impl GridSetting {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.words().name
    }

    /// The name in the window and in labels.
    pub fn title(self) -> &'static str {
        self.words().title
    }

    /// What its values look like.
    pub fn example(self) -> &'static str {
        self.words().example
    }

    /// The setting with this name, or else with this title or another usual name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let plain = |words: &str| words.trim().to_lowercase().replace([' ', '_'], "-");
        let name = plain(name);
        let is_other = |setting: &Self| {
            let Words { title, others, .. } = setting.words();
            plain(title) == name || others.contains(&name.as_str())
        };
        // `lora` is the weight, though LoRA is the title of the file.
        let named = Self::ALL.into_iter().find(|setting| setting.name() == name);
        named.or_else(|| Self::ALL.into_iter().find(is_other))
    }

    fn words(self) -> Words {
        match self {
            Self::Seed => words("seed", "Seed", "1-4", &[]),
            Self::Steps => words("steps", "Steps", "10, 20, 30 or 10-50 (+10)", &[]),
            Self::Guidance => words("guidance", "Guidance", "1-7 (+2) or 1-7 [4]", &["cfg-scale", "cfg"]),
            Self::TrueCfg => words("true-cfg", "True CFG", "1-5", &[]),
            Self::Sampler => words("sampler", "Sampler", "euler, dpmpp-2m", &[]),
            Self::Schedule => {
                words("schedule", "Schedule", "normal, karras", &["schedule-type", "scheduler"])
            }
            Self::Shift => words("shift", "Shift", "1-5 (+2)", &["flow-shift"]),
            Self::Strength => {
                let others = &["denoising", "denoising-strength"];
                words("strength", "Denoising strength", "0.3-0.9 [4]", others)
            }
            Self::Lora => words("lora", "LoRA weight", "0-1 (+0.25)", &["lora-weight"]),
            Self::LoraFile => words("lora-file", "LoRA", "none, ink, oil", &["loras", "lora-name"]),
            Self::Style => words("style", "Style", "none, film, ink", &["styles"]),
            Self::Precision => words("precision", "Precision", "auto, f32, bf16", &["dtype"]),
            Self::Prompt => {
                let example = "fox, wolf, bear: the first is replaced by the others";
                let others = &["prompt-s/r", "words", "words-in-the-prompt"];
                words("prompt", "Words in the prompt", example, others)
            }
            Self::Size => words("size", "Size", "512x768, 768x512", &[]),
            Self::Width => words("width", "Width", "512, 768", &[]),
            Self::Height => words("height", "Height", "512, 768", &[]),
            Self::ClipSkip => words("clip-skip", "Clip skip", "1, 2", &[]),
            Self::Variation => {
                let others = &["var.-strength", "var-strength", "variation-strength"];
                words("variation", "Variation strength", "0-0.4 [5]", others)
            }
            Self::VariationSeed => {
                words("variation-seed", "Variation seed", "1-4", &["var.-seed", "var-seed", "subseed"])
            }
            Self::Model => {
                let others = &["checkpoint-name", "checkpoint"];
                words("model", "Model", "paths of models, separated by commas", others)
            }
            Self::Frames => words("frames", "Frames", "33, 49, 81", &[]),
            Self::FrameRate => words("fps", "Frame rate", "8, 16, 24", &["frame-rate"]),
            Self::Interpolation => words("interpolate", "Frame interpolation", "2, 4", &["interpolation"]),
            Self::WindowFrames => words("window", "Frames of a window", "49, 81", &["window-frames"]),
            Self::WindowOverlap => words("window-overlap", "Overlap of windows", "8-24 (+8)", &["overlap"]),
            Self::Rescale => {
                words("rescale", "Guidance rescale", "0-0.7 [3]", &["guidance-rescale", "cfg-rescale"])
            }
            Self::GuidanceStart => words("guidance-start", "Guidance start", "0-0.4 (+0.2)", &[]),
            Self::GuidanceEnd => words("guidance-end", "Guidance end", "0.6-1 (+0.2)", &[]),
            Self::StepCache => words("step-cache", "Step cache", "0, 0.1, 0.2", &[]),
            Self::HiresScale => words("hires-scale", "Scale of hires fix", "1.5, 2", &["hires-upscale"]),
            Self::HiresStrength => {
                let others = &["hires-denoising", "hires-denoising-strength"];
                words("hires-strength", "Strength of hires fix", "0.2-0.6 (+0.1)", others)
            }
            Self::HiresSteps => words("hires-steps", "Steps of hires fix", "10, 20", &[]),
            Self::HiresUpscaler => words("hires-upscaler", "Upscaler of hires fix", "latent, upscaler", &[]),
            Self::RefinerSwitch => {
                words("refiner-switch", "Refiner switch", "0.6-0.9 (+0.1)", &["refiner-switch-at"])
            }
            Self::ControlWeight => {
                let others = &["controlnet-weight", "control-net-weight", "[controlnet]-weight"];
                words("control-weight", "ControlNet weight", "0.4-1 (+0.2)", others)
            }
            Self::ControlStart => {
                let others = &["controlnet-start", "control-net-start", "[controlnet]-guidance-start"];
                words("control-start", "ControlNet start", "0-0.4 (+0.2)", others)
            }
            Self::ControlEnd => {
                let others = &["controlnet-end", "control-net-end", "[controlnet]-guidance-end"];
                words("control-end", "ControlNet end", "0.4-1 (+0.2)", others)
            }
            Self::Preprocessor => {
                let others = &["preprocessor", "controlnet-preprocessor", "[controlnet]-preprocessor"];
                words("control-preprocessor", "Preprocessor", "canny, lineart, depth", others)
            }
            Self::ControlStrength => words("control-strength", "Control strength", "0.5-1 (+0.25)", &[]),
            Self::ImagePromptWeight => {
                let others = &["ip-adapter-weight"];
                words("image-prompt-weight", "Image prompt weight", "0.4-1 (+0.2)", others)
            }
            Self::ImagePromptStart => {
                let others = &["ip-adapter-start"];
                words("image-prompt-start", "Image prompt start", "0-0.4 (+0.2)", others)
            }
            Self::ImagePromptEnd => {
                let others = &["ip-adapter-end"];
                words("image-prompt-end", "Image prompt end", "0.4-1 (+0.2)", others)
            }
            Self::ReferenceStrength => {
                words("reference-strength", "Reference strength", "0.5-1.5 (+0.5)", &["redux-strength"])
            }
            Self::ReferenceSide => words("reference-side", "Reference size", "512, 1024", &[]),
            Self::DetailerStrength => {
                let others = &["detailer-denoising", "[adetailer]-denoising-strength"];
                words("detailer-strength", "Detailer strength", "0.2-0.6 (+0.1)", others)
            }
            Self::DetailerConfidence => {
                words("detailer-confidence", "Detailer confidence", "0.3, 0.5, 0.7", &[])
            }
            Self::DetailerSteps => words("detailer-steps", "Detailer steps", "10, 20", &[]),
            Self::DetailerPadding => words("detailer-padding", "Detailer padding", "16, 32, 64", &[]),
            Self::RegionWeight => words("region-weight", "Region weight", "0.5-1.5 (+0.5)", &[]),
            Self::RegionBase => words("region-base", "Whole image in regions", "0-0.4 (+0.2)", &[]),
            Self::RegionFade => words("region-fade", "Soft edges of regions", "0, 0.05, 0.2", &[]),
            Self::InputImage => {
                let others = &["input-image", "init-image"];
                words("image", "Input image", "paths of images, separated by commas", others)
            }
            Self::Fit => words("fit", "Fit", "crop, stretch, pad", &["resize-mode"]),
            Self::MaskBlur => words("mask-blur", "Mask feather", "0, 4, 16", &["mask-feather"]),
            Self::MaskPadding => words("mask-padding", "Mask padding", "16, 32, 64", &["only-masked"]),
            Self::OutpaintFeather => words("outpaint-feather", "Outpaint feather", "0, 24, 64", &[]),
        }
    }
}
