//! Fooocus writes JSON into `parameters`, or A1111's text with a few names of its own.

use serde_json::Value;

use super::{Draft, fraction, model_name, number, says, set, signed, small, whole};
use crate::output::settings::{Origin, RestoredSettings};

/// Whether JSON has the fields that only this program uses together.
pub(super) fn is_settings(json: &Value) -> bool {
    let has = |name: &str| json.get(name).is_some();
    has("base_model") && (has("performance") || has("full_prompt") || has("metadata_scheme"))
}

pub(super) fn read(json: &Value) -> RestoredSettings {
    let mut draft = Draft::new();
    let field = |name: &str| json.get(name).unwrap_or(&Value::Null);
    let text = |name: &str| field(name).as_str().unwrap_or_default().to_owned();
    // The full prompts have what styles added; that is what the image was made with.
    draft.request.prompt = joined(field("full_prompt")).unwrap_or_else(|| text("prompt"));
    draft.request.negative_prompt =
        joined(field("full_negative_prompt")).unwrap_or_else(|| text("negative_prompt"));
    if let Some((width, height)) = size(&text("resolution")) {
        (draft.request.width, draft.request.height) = (width, height);
    }
    set(&mut draft.request.steps, small(field("steps")));
    set(&mut draft.request.guidance, number(field("guidance_scale")));
    set(&mut draft.request.seed, whole(field("seed")));
    draft.model_name = model_name(&text("base_model"));
    if let Some(name) = field("sampler").as_str() {
        draft.sampler(name);
    }
    if let Some(name) = field("scheduler").as_str() {
        draft.schedule(name);
    }
    if let Some(skip) = small(field("clip_skip")).filter(|skip| *skip > 1) {
        draft.clip_skip(skip);
    }
    let listed = field("loras").as_array().cloned().unwrap_or_default();
    for lora in &listed {
        if let Some(name) = lora.get(0).and_then(Value::as_str) {
            draft.lora(name, lora.get(1).and_then(signed));
        }
    }
    if listed.is_empty() {
        for number in 1..=32 {
            let named = text(&format!("lora_combined_{number}"));
            if let Some((name, weight)) = named.rsplit_once(" : ") {
                draft.lora(name, weight.trim().parse().ok());
            }
        }
    }
    draft.refiner(&text("refiner_model"), fraction(field("refiner_switch")));
    if number(field("sharpness")).is_some_and(|sharpness| sharpness > 0.0) {
        draft.notes.push("Fooocus's sharpness and ADM guidance are not available.".to_owned());
    }
    let others = ["freeu", "adaptive_cfg"].into_iter().filter(|name| says(field(name)));
    draft.leave_out(&others.collect::<Vec<_>>());
    draft.finish(Origin::Fooocus)
}

/// A list of prompts as one.
fn joined(prompts: &Value) -> Option<String> {
    let prompts: Vec<&str> = prompts.as_array()?.iter().filter_map(Value::as_str).collect();
    (!prompts.is_empty()).then(|| prompts.join(", "))
}

/// A size such as `(1152, 896)`.
fn size(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text.trim_matches(['(', ')', ' ']).split_once([',', '×', '*', 'x'])?;
    let number = |text: &str| text.trim_matches(['\'', ' ']).parse().ok();
    Some((number(width)?, number(height)?))
}
