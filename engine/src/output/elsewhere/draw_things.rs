//! Draw Things writes JSON with short names into the user comment of XMP or Exif.

use serde_json::Value;

use super::{
    Draft, fraction, model_name, number,
    parts::{self, Part},
    says, set, signed, small, whole,
};
use crate::{
    output::settings::{Origin, RestoredSettings},
    request::{Enlarger, Hires},
};

/// Settings that are not possible here.
const OTHERS: [&str; 5] = ["faceRestoration", "sharpness", "teaCache", "cfgZeroStar", "zeroNegativePrompt"];

/// Whether JSON has the fields that only this program uses together.
pub(super) fn is_settings(json: &Value) -> bool {
    let has = |name: &str| json.get(name).is_some();
    json.get("c").is_some_and(Value::is_string) && has("model") && (has("size") || has("scale"))
}

pub(super) fn read(json: &Value) -> RestoredSettings {
    let mut draft = Draft::new();
    let field = |name: &str| json.get(name).unwrap_or(&Value::Null);
    let second = |name: &str| field("v2").get(name).unwrap_or(&Value::Null);
    let text = |name: &str| field(name).as_str().unwrap_or_default().to_owned();
    let request = &mut draft.request;
    request.prompt = text("c");
    request.negative_prompt = text("uc");
    let size = text("size");
    let size =
        size.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    if let Some((width, height)) = size {
        (request.width, request.height) = (width, height);
    }
    set(&mut request.steps, small(field("steps")));
    set(&mut request.guidance, number(field("scale")));
    set(&mut request.seed, whole(field("seed")));
    set(&mut request.frames, small(second("numFrames")).filter(|frames| *frames > 1));
    request.shift = number(field("shift")).or_else(|| number(second("shift"))).filter(|shift| *shift > 0.0);
    draft.model_name = without_suffix(&model_name(&text("model")));
    if let Some(name) = field("sampler").as_str() {
        draft.sampler(name);
    }
    if let Some(skip) = small(second("clipSkip")).filter(|skip| *skip > 1) {
        draft.clip_skip(skip);
    }
    let loras = [field("lora"), second("loras")].into_iter().find_map(Value::as_array);
    for lora in loras.into_iter().flatten() {
        let name = ["model", "file"].iter().find_map(|name| lora.get(*name)?.as_str());
        let weight = lora.get("weight").and_then(Value::as_f64).map(|weight| weight as f32);
        if let Some(name) = name {
            draft.lora(&without_suffix(name), weight);
        }
    }
    if number(field("strength")).is_some_and(|strength| strength < 1.0) {
        draft.notes.push("It was made from an input image, which is not included.".to_owned());
    }
    for control in second("controls").as_array().into_iter().flatten() {
        let value = |name: &str| control.get(name).unwrap_or(&Value::Null);
        let name = without_suffix(value("file").as_str().unwrap_or_default());
        let part = Part {
            name: &name,
            weight: signed(value("weight")),
            start: fraction(value("guidanceStart")),
            end: fraction(value("guidanceEnd")),
            ..Part::default()
        };
        parts::by_name(&mut draft.request, &mut draft.notes, &part);
        if let Some(mode) = value("controlImportance").as_str().filter(|mode| *mode != "balanced") {
            draft.leave_out(&[format!("{name} {mode}")]);
        }
    }
    let refiner = without_suffix(second("refinerModel").as_str().unwrap_or_default());
    draft.refiner(&refiner, fraction(second("refinerStart")));
    second_pass(field("v2"), &mut draft);
    if let Some(upscaler) = second("upscaler").as_str().filter(|upscaler| !upscaler.is_empty()) {
        draft.enlarged_by(&without_suffix(upscaler));
    }
    let others = OTHERS.into_iter().filter(|name| says(second(name)));
    draft.leave_out(&others.collect::<Vec<_>>());
    draft.finish(Origin::DrawThings)
}

/// Its fix for high resolutions, from a size of its own to that of the image.
fn second_pass(settings: &Value, draft: &mut Draft) {
    let field = |name: &str| settings.get(name).unwrap_or(&Value::Null);
    let side = |name: &str| small(field(name)).filter(|side| *side > 0);
    let first = side("hiresFixWidth").zip(side("hiresFixHeight"));
    let (true, Some((width, height))) = (says(field("hiresFix")), first) else { return };
    let whole = (draft.request.width, draft.request.height);
    let scale = (whole.0 as f32 / width as f32).max(whole.1 as f32 / height as f32);
    let strength = fraction(field("hiresFixStrength")).unwrap_or(0.7);
    if draft.hires(Hires { scale, strength, steps: None, enlarger: Enlarger::Latent }) {
        (draft.request.width, draft.request.height) = (width, height);
    }
}

/// Without the endings of its converted files.
fn without_suffix(name: &str) -> String {
    let name = name.strip_suffix(".ckpt").unwrap_or(name);
    ["_lora_f16", "_lora", "_f16", "_q8p", "_q6p", "_q5p"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name)
        .to_owned()
}

/// The user comment in XMP data, as an element or as an attribute.
pub(super) fn user_comment(xmp: &str) -> Option<String> {
    let at = xmp.find("exif:UserComment")?;
    let rest = &xmp[at..];
    let text = if let Some(value) = rest.strip_prefix("exif:UserComment=\"") {
        value.split('"').next()?
    } else {
        let inside = rest.split("</exif:UserComment>").next()?;
        let start = inside.find('{')?;
        let end = inside.rfind('}')?;
        inside.get(start..=end)?
    };
    let text = text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
    let text = text.replace("&apos;", "'").replace("&#39;", "'").replace("&#34;", "\"");
    Some(text.replace("&#xA;", "\n").replace("&#10;", "\n").replace("&amp;", "&"))
}
