//! What the window calls the settings in images, which have the names of A1111's web UI.

use crate::language::text;

/// The names in images, and the keys of those in the window.
const NAMES: [(&str, &str); 50] = [
    ("Steps", "side-panel-steps"),
    ("Sampler", "side-panel-sampler"),
    ("Schedule type", "side-panel-schedule"),
    ("CFG scale", "side-panel-guidance"),
    ("Seed", "side-panel-seed"),
    ("Size", "side-panel-size"),
    ("Model", "palette-model"),
    ("Clip skip", "side-panel-clip-skip"),
    ("Shift", "side-panel-shift"),
    ("Window frames", "side-panel-window"),
    ("Window overlap", "side-panel-overlap"),
    ("Variation seed", "side-panel-variation-seed"),
    ("Variation seed strength", "side-panel-variation-strength"),
    ("Denoising strength", "side-panel-denoising-strength"),
    ("Last image", "side-panel-end-image"),
    ("Keyframe", "gallery-setting-keyframe"),
    ("Extended clip", "gallery-setting-extended-clip"),
    ("Init clip", "side-panel-input-clip"),
    ("Clip frames", "gallery-setting-clip-frames"),
    ("Reference image", "gallery-setting-reference-image"),
    ("Reference strengths", "gallery-setting-reference-strengths"),
    ("Control video", "side-panel-control-clip"),
    ("Control mask", "side-panel-control-mask"),
    ("Control strength", "side-panel-control-strength"),
    ("Control preprocessor", "control-nets-preprocessor"),
    ("Control start", "control-nets-start"),
    ("Control end", "control-nets-end"),
    ("Init image", "gallery-setting-input-image"),
    ("Mask blur", "side-panel-mask-feather"),
    ("Inpaint area", "gallery-setting-inpaint-area"),
    ("Masked area padding", "side-panel-mask-padding"),
    ("Refiner", "gallery-setting-refiner"),
    ("Refiner switch at", "side-panel-refiner-switch"),
    ("Template", "gallery-setting-template"),
    ("Negative Template", "gallery-setting-negative-template"),
    ("Styles", "side-panel-styles"),
    ("Postprocess upscale by", "gallery-setting-upscaled-by"),
    ("Postprocess upscaler", "upscale-model"),
    ("Frame interpolation by", "gallery-setting-interpolated-by"),
    ("Frame interpolation model", "interpolate-model"),
    ("Version", "gallery-setting-version"),
    ("X axis", "gallery-setting-axis-x"),
    ("Y axis", "gallery-setting-axis-y"),
    ("Z axis", "gallery-setting-axis-z"),
    ("Guidance rescale", "side-panel-guidance-rescale"),
    ("Guidance interval", "gallery-setting-guidance-interval"),
    ("True CFG", "side-panel-true-cfg"),
    ("Step cache", "side-panel-step-cache"),
    ("Frames", "gallery-setting-frames"),
    ("FPS", "side-panel-frame-rate"),
];

/// What the window calls a setting. Names of models' features, such as Redux, are the same in all languages.
pub fn setting_name(in_images: &str) -> String {
    let known = NAMES.iter().find(|(name, _)| *name == in_images);
    known.map_or_else(|| in_images.to_owned(), |(_, key)| text(key))
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        output::Settings,
        request::{Request, Variation},
    };

    use super::*;

    /// Settings that every image has, and some that many have.
    #[test]
    fn usual_settings_have_names_in_the_window() {
        let mut request =
            Request { frames: 9, shift: Some(3.0), clip_skip: 2, step_cache: 0.1, ..Request::default() };
        request.variation = Some(Variation { seed: 3, strength: 0.2 });
        request.guiding.rescale = 0.7;
        request.guiding.true_cfg = 4.0;
        let settings = Settings::new(&request, "fox", "SDXL", 3);
        for (name, _) in settings.pairs() {
            let is_known = NAMES.iter().any(|(known, _)| *known == name);
            assert!(is_known, "{name} has no name in the window");
        }
        assert_eq!(setting_name("CFG scale"), "Guidance");
        assert_eq!(setting_name("Redux"), "Redux");
    }
}
