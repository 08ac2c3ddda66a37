//! What to do about a request that is not valid. Most errors say it themselves. What is only for the command line comes last,
//! in a sentence that says so: the window leaves it out.

use super::RequestError;
use crate::checkpoint::MapKind;

impl RequestError {
    /// What the user can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::NoMapEstimator(kind) => {
                let option = option_of(*kind);
                let words =
                    format!("On the command line, give it with {option}, or to `sluice map` with --model.");
                ["Choose one below the preprocessor.", &words].join(" ")
            }
            Self::OnlyMakesMaps => {
                ["Choose another model.", "On the command line, use `sluice map`."].join(" ")
            }
            Self::OnlyUpscales
            | Self::OnlyMakesMasks
            | Self::OnlyInterpolates
            | Self::OnlyDetects
            | Self::NoUpscaler
            | Self::NoInterpolator
            | Self::NoSegmenter => "Choose another model.".to_owned(),
            Self::SeesNoImages => {
                "Choose Qwen2.5-VL or Qwen3-VL, a GGUF file of one with its mmproj file in the same folder."
                    .to_owned()
            }
            Self::InterpolatesImage | Self::NothingBetween => "Choose a clip with several frames.".to_owned(),
            Self::NothingToDescribe | Self::TooNarrow { .. } => "Choose another image.".to_owned(),
            Self::NothingToMask | Self::MaskPointOutside { .. } | Self::MaskBox { .. } => {
                "Give points or a box in pixels of the image.".to_owned()
            }
            Self::SeenPixels { .. }
            | Self::NoInstruction
            | Self::Temperature(_)
            | Self::TopP(_)
            | Self::LongestPrompt { .. }
            | Self::NothingToEnhance
            | Self::Scale(_)
            | Self::InterpolationFactor(_) => "Change the setting and try again.".to_owned(),
            _ => "Change the setting and generate again.".to_owned(),
        }
    }
}

/// The option of the command line for what makes maps of a kind.
fn option_of(kind: MapKind) -> &'static str {
    match kind {
        MapKind::Depth => "--depth-model",
        MapKind::Pose => "--pose-model",
        MapKind::Segments => "--segment-model",
        MapKind::SoftEdge => "--soft-edge-model",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_about_what_was_asked_for() {
        let advice = RequestError::NoMapEstimator(MapKind::Depth).advice();
        assert_eq!(
            advice,
            "Choose one below the preprocessor. On the command line, give it with --depth-model, or to `sluice map` \
             with --model."
        );
        for (error, advice) in [
            (RequestError::NoInterpolator, "Choose another model."),
            (RequestError::NothingBetween, "Choose a clip with several frames."),
            (RequestError::NothingToMask, "Give points or a box in pixels of the image."),
            (RequestError::TopP(2.0), "Change the setting and try again."),
            (RequestError::NoSteps, "Change the setting and generate again."),
        ] {
            assert_eq!(error.advice(), advice);
        }
    }
}
