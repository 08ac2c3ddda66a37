//! Detailers in the format of A1111's web UI, as its extension ADetailer writes them.

use std::{ops::RangeInclusive, str::FromStr};

use super::elsewhere::parts::{self, misread};
use crate::request::{BoxOrder, Detailer, Request, SourceMask, WIDEST_BLUR};

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
const ORDER: Names = numbered!("method to decide top k masks");
/// As an older version of the extension named the most boxes.
const LARGEST: Names = numbered!("mask only top k largest");
const KNOWN: [Names; 14] = [
    MODEL,
    PROMPT,
    NEGATIVE,
    CONFIDENCE,
    MOST,
    GROW,
    BLUR,
    STRENGTH,
    ONLY_MASKED,
    PADDING,
    OWN_STEPS,
    STEPS,
    ORDER,
    LARGEST,
];
/// What the extension calls the order of those that the detector is surest of.
const SUREST: &str = "Confidence";
/// Detectors that are no networks of the kind that Sluice reads.
const OTHER_NETWORKS: [&str; 2] = ["mediapipe", "-world"];
/// What the extension lets stand for the prompt of the image.
const PROMPT_OF_IMAGE: &str = "[PROMPT]";
/// What the extension lets stand between the prompts of boxes, and for boxes that are left out.
const PARTS: [&str; 2] = ["[SEP]", "[SKIP]"];
/// Beginnings of names that need not be taken over: what they say follows from the others.
const FACTS: [&str; 3] = ["ADetailer version", "ADetailer tab enable", "ADetailer use "];
/// Values with which a setting does nothing, so that one which is not known here need not be taken over.
const NEUTRAL: [&str; 6] = ["", "None", "False", "0", "0.0", "1.0"];

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
            // The extension counts pixels of both sides together.
            (GROW[number], (2 * grow).to_string()),
            (BLUR[number], blur.to_string()),
            (STRENGTH[number], strength.to_string()),
            (ONLY_MASKED[number], "True".to_owned()),
            (PADDING[number], padding.to_string()),
        ]);
        if detailer.order == BoxOrder::Surest {
            pairs.push((ORDER[number], SUREST.to_owned()));
        }
        if let Some(steps) = steps {
            pairs.extend([(OWN_STEPS[number], "True".to_owned()), (STEPS[number], steps.to_string())]);
        }
    }
    pairs
}

/// Adds the detailers that other programs ran. Returns the names of what is not taken over.
pub(super) fn restore(
    request: &mut Request,
    notes: &mut Vec<String>,
    pairs: &[(String, String)],
) -> Vec<String> {
    for number in 0..Detailer::MOST {
        let value = |names: Names| {
            let found = pairs.iter().find(|(name, _)| name == names[number]);
            found.map(|(_, value)| value.as_str())
        };
        let Some(model) = value(MODEL).filter(|model| *model != "None") else { continue };
        if OTHER_NETWORKS.iter().any(|part| model.contains(part)) {
            notes.push(format!("The detailer “{model}” is not restored; choose its detector again."));
            continue;
        }
        let usual = Detailer::new(parts::file(model));
        let prompts = [(PROMPT, &request.prompt), (NEGATIVE, &request.negative_prompt)];
        let [prompt, negative_prompt] = prompts.map(|(names, of_image)| match value(names) {
            Some(text) if PARTS.iter().any(|part| text.contains(part)) => {
                notes.push(misread(names[number], text));
                String::new()
            }
            text => text.unwrap_or_default().replace(PROMPT_OF_IMAGE, of_image),
        });
        let most = value(MOST).or(value(LARGEST)).and_then(|most| most.parse::<u32>().ok());
        // The extension counts pixels of both sides together, and below 0 it shrinks what is found.
        let both = 0..=2 * Detailer::WIDEST_GROWTH;
        let grow = within(notes, (GROW[number], value(GROW)), both, 2 * usual.grow) / 2;
        let has_steps = value(OWN_STEPS) == Some("True");
        let detailer = Detailer {
            confidence: within(notes, (CONFIDENCE[number], value(CONFIDENCE)), 0.01..=0.99, usual.confidence),
            // Without a number, or with 0, as many as are found.
            most: most.filter(|most| *most > 0).unwrap_or(Detailer::MOST_BOXES).min(Detailer::MOST_BOXES),
            order: if value(ORDER) == Some(SUREST) { BoxOrder::Surest } else { usual.order },
            grow,
            blur: within(notes, (BLUR[number], value(BLUR)), 0..=WIDEST_BLUR, usual.blur),
            padding: within(
                notes,
                (PADDING[number], value(PADDING)),
                0..=SourceMask::WIDEST_PADDING,
                usual.padding,
            ),
            strength: within(notes, (STRENGTH[number], value(STRENGTH)), 0.01..=1.0, usual.strength),
            steps: has_steps
                .then(|| value(STEPS)?.parse::<u32>().ok())
                .flatten()
                .filter(|steps| (1..=1000).contains(steps)),
            prompt,
            negative_prompt,
            ..usual
        };
        if value(ONLY_MASKED) == Some("False") {
            notes.push(misread(ONLY_MASKED[number], "False"));
        }
        request.detailers.push(detailer);
    }
    let others = pairs.iter().filter(|(name, value)| {
        name.starts_with(PREFIX)
            && !KNOWN.iter().any(|names| names.contains(&name.as_str()))
            && !FACTS.iter().any(|fact| name.starts_with(fact))
            && !NEUTRAL.contains(&value.as_str())
    });
    others.map(|(name, _)| name.clone()).collect()
}

/// The number in a text. One that is not valid here is the usual one, and a note says so.
fn within<T: FromStr + PartialOrd>(
    notes: &mut Vec<String>,
    (name, text): (&str, Option<&str>),
    range: RangeInclusive<T>,
    usual: T,
) -> T {
    let Some(text) = text else { return usual };
    match text.parse() {
        Ok(number) if range.contains(&number) => number,
        _ => {
            notes.push(misread(name, text));
            usual
        }
    }
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
        let restored = restored(&text.join("\n"));
        let by_name = |detailer: &Detailer| {
            let stem = detailer.model.file_stem().unwrap();
            Detailer { model: stem.into(), ..detailer.clone() }
        };
        let expected: Vec<Detailer> = request.detailers.iter().map(by_name).collect();
        assert_eq!((restored.0, restored.1.len(), restored.2.len()), (expected, 0, 0));
    }

    /// The detailers of pairs that stand in lines, the notes, and what is left.
    fn restored(text: &str) -> (Vec<Detailer>, Vec<String>, Vec<String>) {
        let pairs: Vec<(String, String)> = text
            .lines()
            .filter_map(|pair| pair.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let prompt = "a fox".to_owned();
        let (mut request, mut notes) = (Request { prompt, ..Request::default() }, Vec::new());
        let left = restore(&mut request, &mut notes, &pairs);
        (request.detailers, notes, left)
    }

    #[test]
    fn what_the_extension_writes_is_restored() {
        let (detailers, notes, left) = restored(
            "ADetailer model: face_yolov8n.pt\nADetailer prompt: [PROMPT], smiling\nADetailer confidence: 0.35\n\
             ADetailer dilate erode: 4\nADetailer mask blur: 6\nADetailer denoising strength: 0.3\n\
             ADetailer inpaint only masked: True\nADetailer inpaint padding: 48\n\
             ADetailer use separate steps: True\nADetailer steps: 18\nADetailer model 2nd: hand_yolov8n.pt\n\
             ADetailer method to decide top k masks 2nd: Confidence\nADetailer mask only top k 2nd: 2\n\
             ADetailer model 3rd: None\nADetailer version: 24.11.1",
        );
        let face = Detailer {
            prompt: "a fox, smiling".to_owned(),
            confidence: 0.35,
            grow: 2,
            blur: 6,
            strength: 0.3,
            padding: 48,
            steps: Some(18),
            most: Detailer::MOST_BOXES,
            ..Detailer::new("face_yolov8n")
        };
        let hand = Detailer { order: BoxOrder::Surest, most: 2, ..Detailer::new("hand_yolov8n") };
        assert_eq!((detailers, notes, left), (vec![face, hand], Vec::new(), Vec::new()));
    }

    #[test]
    fn what_detailers_cannot_do_here_is_said() {
        let (detailers, notes, left) = restored(
            "ADetailer model: mediapipe_face_full\nADetailer confidence: 0.3\n\
             ADetailer model 2nd: person_yolov8n-seg.pt\nADetailer prompt 2nd: one [SEP] two\n\
             ADetailer use separate sampler 2nd: True\nADetailer sampler 2nd: Euler a\n\
             ADetailer restore face 2nd: False\nADetailer mask merge invert 2nd: Merge",
        );
        assert_eq!(detailers.len(), 1);
        assert_eq!(detailers[0].model, std::path::PathBuf::from("person_yolov8n-seg"));
        assert_eq!(
            notes,
            [
                "The detailer “mediapipe_face_full” is not restored; choose its detector again.",
                "ADetailer prompt 2nd “one [SEP] two” is not valid here; the default is used.",
            ]
        );
        assert_eq!(left, ["ADetailer sampler 2nd", "ADetailer mask merge invert 2nd"]);
    }
}
