//! Wan2GP writes its settings into the comment of a clip.

use serde_json::Value;

use super::{Draft, model_name, number, set, small, whole};
use crate::output::settings::{Origin, RestoredSettings};

/// Whether JSON has the fields that only this program uses together.
pub(super) fn is_settings(json: &Value) -> bool {
    let has = |name: &str| json.get(name).is_some();
    json.get("prompt").is_some_and(Value::is_string)
        && (has("video_length") || has("num_inference_steps"))
        && (has("resolution") || has("model_type") || has("model_filename") || has("type"))
}

pub(super) fn read(json: &Value) -> RestoredSettings {
    let mut draft = Draft::new();
    let request = &mut draft.request;
    let field = |name: &str| json.get(name).unwrap_or(&Value::Null);
    let text = |name: &str| field(name).as_str().unwrap_or_default().to_owned();
    request.prompt = text("prompt");
    request.negative_prompt = text("negative_prompt");
    if let Some((width, height)) = field("resolution").as_str().and_then(|size| size.split_once('x'))
        && let (Ok(width), Ok(height)) = (width.trim().parse(), height.trim().parse())
    {
        (request.width, request.height) = (width, height);
    }
    set(&mut request.frames, small(field("video_length")));
    set(&mut request.frame_rate, number(field("force_fps")).filter(|rate| *rate >= 1.0));
    set(&mut request.steps, small(field("num_inference_steps")));
    set(&mut request.guidance, number(field("guidance_scale")));
    set(&mut request.seed, whole(field("seed")));
    request.shift = number(field("flow_shift")).filter(|shift| *shift > 0.0);
    if let Some(solver) = field("sample_solver").as_str().filter(|solver| !solver.is_empty()) {
        let name = if solver == "unipc" { "uni_pc" } else { solver };
        draft.sampler(name);
    }
    let model = ["model_filename", "model_type"].map(text).into_iter().find(|name| !name.is_empty());
    draft.model_name = model.map(|name| model_name(&name)).unwrap_or_default();
    if field("image_start").is_string()
        || field("image_start").as_array().is_some_and(|list| !list.is_empty())
    {
        draft.notes.push("This clip was made from a start image, which is not restored.".to_owned());
    }
    let multipliers = text("loras_multipliers");
    let mut multipliers = multipliers.split_whitespace();
    for lora in field("activated_loras").as_array().into_iter().flatten() {
        let multiplier = multipliers.next();
        if multiplier.is_some_and(|multiplier| multiplier.parse::<f32>().is_err()) {
            draft.notes.push("A LoRA's weight changed from step to step; that is not restored.".to_owned());
        }
        draft.lora(lora.as_str().unwrap_or_default(), multiplier.and_then(|text| text.parse().ok()));
    }
    draft.finish(Origin::Wan2Gp)
}
