//! Detailers in the format of A1111's web UI, as its extension ADetailer writes them.

use crate::request::{Detailer, Request};

/// What the names of all of them begin with.
pub(super) const PREFIX: &str = "ADetailer";

/// A name for each detailer of a request: the extension numbers those after the first.
macro_rules! numbered {
    ($name:literal) => {
        [
            concat!("ADetailer ", $name),
            concat!("ADetailer ", $name, " 2nd"),
            concat!("ADetailer ", $name, " 3rd"),
            concat!("ADetailer ", $name, " 4th"),
        ]
    };
}

type Names = [&'static str; Detailer::MOST];

const MODEL: Names = numbered!("model");
const PROMPT: Names = numbered!("prompt");
const NEGATIVE: Names = numbered!("negative prompt");
const CONFIDENCE: Names = numbered!("confidence");
const MOST: Names = numbered!("mask only top k");
const GROW: Names = numbered!("dilate erode");
const BLUR: Names = numbered!("mask blur");
const STRENGTH: Names = numbered!("denoising strength");
const ONLY_MASKED: Names = numbered!("inpaint only masked");
const PADDING: Names = numbered!("inpaint padding");
const OWN_STEPS: Names = numbered!("use separate steps");
const STEPS: Names = numbered!("steps");

/// What was found in an image and inpainted again.
pub(super) fn pairs(request: &Request) -> Vec<(&'static str, String)> {
    let mut pairs = Vec::new();
    for (number, detailer) in request.detailers.iter().take(Detailer::MOST).enumerate() {
        let Detailer { model, confidence, most, grow, blur, padding, strength, steps, .. } = detailer;
        let stem = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        pairs.push((MODEL[number], stem));
        for (names, text) in [(PROMPT, &detailer.prompt), (NEGATIVE, &detailer.negative_prompt)] {
            pairs.extend((!text.is_empty()).then(|| (names[number], text.clone())));
        }
        pairs.extend([
            (CONFIDENCE[number], confidence.to_string()),
            (MOST[number], most.to_string()),
            // The extension counts both sides.
            (GROW[number], (2 * grow).to_string()),
            (BLUR[number], blur.to_string()),
            (STRENGTH[number], strength.to_string()),
            (ONLY_MASKED[number], "True".to_owned()),
            (PADDING[number], padding.to_string()),
        ]);
        if let Some(steps) = steps {
            pairs.extend([(OWN_STEPS[number], "True".to_owned()), (STEPS[number], steps.to_string())]);
        }
    }
    pairs
}

/// What is said of detailers that other programs ran, for each a sentence: the name of a detector does not tell where it is.
pub(super) fn notes(pairs: &[(String, String)]) -> Vec<String> {
    let value = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
    let used = MODEL.iter().filter_map(|name| value(name)).filter(|name| *name != "None");
    used.map(|name| format!("The detailer “{name}” is not restored; choose its detector again.")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detailers_have_the_names_of_the_extension() {
        let face =
            Detailer { prompt: "a smile".to_owned(), ..Detailer::new("/models/face_yolov8n.safetensors") };
        let hand = Detailer { steps: Some(9), grow: 3, ..Detailer::new("hand_yolov8n.safetensors") };
        let request = Request { detailers: vec![face, hand], ..Request::default() };
        let text: Vec<String> =
            pairs(&request).iter().map(|(name, value)| format!("{name}: {value}")).collect();
        assert_eq!(
            text.join(", "),
            "ADetailer model: face_yolov8n, ADetailer prompt: a smile, ADetailer confidence: 0.3, \
             ADetailer mask only top k: 10, ADetailer dilate erode: 8, ADetailer mask blur: 4, \
             ADetailer denoising strength: 0.4, ADetailer inpaint only masked: True, \
             ADetailer inpaint padding: 32, ADetailer model 2nd: hand_yolov8n, \
             ADetailer confidence 2nd: 0.3, ADetailer mask only top k 2nd: 10, \
             ADetailer dilate erode 2nd: 6, ADetailer mask blur 2nd: 4, \
             ADetailer denoising strength 2nd: 0.4, ADetailer inpaint only masked 2nd: True, \
             ADetailer inpaint padding 2nd: 32, ADetailer use separate steps 2nd: True, \
             ADetailer steps 2nd: 9"
        );
        let read: Vec<_> =
            pairs(&request).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        assert_eq!(
            notes(&read),
            [
                "The detailer “face_yolov8n” is not restored; choose its detector again.",
                "The detailer “hand_yolov8n” is not restored; choose its detector again.",
            ]
        );
        assert!(notes(&[("ADetailer model 3rd".to_owned(), "None".to_owned())]).is_empty());
    }
}
