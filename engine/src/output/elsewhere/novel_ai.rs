//! NovelAI writes JSON into `Comment`, and all of its texts as one JSON into the alpha channel.

use serde_json::Value;

use super::{Draft, number, says, set, small, whole};
use crate::output::settings::{Origin, RestoredSettings};

/// Settings that are not possible here.
const OTHERS: [&str; 7] = [
    "sm",
    "sm_dyn",
    "dynamic_thresholding",
    "skip_cfg_above_sigma",
    "controlnet_model",
    "reference_strength_multiple",
    "director_reference_strengths",
];

/// Whether JSON has the fields that only this program uses together.
pub(super) fn is_settings(json: &Value) -> bool {
    let has = |name: &str| json.get(name).is_some();
    has("uc") && has("scale") && has("steps") && json.get("prompt").is_some_and(Value::is_string)
}

/// The settings; `source` is the text that names the model.
pub(super) fn read(json: &Value, source: &str) -> RestoredSettings {
    let mut draft = Draft::new();
    let field = |name: &str| json.get(name).unwrap_or(&Value::Null);
    let text = |name: &str| field(name).as_str().unwrap_or_default().to_owned();
    draft.request.prompt = caption(field("v4_prompt")).unwrap_or_else(|| text("prompt"));
    draft.request.negative_prompt = caption(field("v4_negative_prompt")).unwrap_or_else(|| text("uc"));
    let request = &mut draft.request;
    set(&mut request.width, small(field("width")));
    set(&mut request.height, small(field("height")));
    set(&mut request.steps, small(field("steps")));
    set(&mut request.guidance, number(field("scale")));
    set(&mut request.guiding.rescale, number(field("cfg_rescale")));
    set(&mut request.seed, whole(field("seed")));
    source.clone_into(&mut draft.model_name);
    if let Some(name) = field("sampler").as_str() {
        draft.sampler(name);
    }
    if let Some(name) = field("noise_schedule").as_str() {
        draft.schedule(name);
    }
    let prompts = format!("{} {}", draft.request.prompt, draft.request.negative_prompt);
    if prompts.contains(['{', '[']) || prompts.contains("::") {
        let note = "NovelAI's { }, [ ] and 1.2:: :: weigh words in its own way; they are kept as they are.";
        draft.notes.push(note.to_owned());
    }
    let characters = field("v4_prompt").pointer("/caption/char_captions").and_then(Value::as_array);
    if characters.is_some_and(|list| !list.is_empty()) {
        draft.notes.push("The prompts of characters are appended; their places are not restored.".to_owned());
    }
    if field("image").is_string()
        || field("request_type").as_str().is_some_and(|kind| kind != "PromptGenerateRequest")
    {
        draft.notes.push("It was made from an input image, which is not included.".to_owned());
    }
    let others = OTHERS.into_iter().filter(|name| says(field(name)));
    draft.leave_out(&others.collect::<Vec<_>>());
    draft.finish(Origin::NovelAi)
}

/// The prompt of version 4: the scene, then the characters.
fn caption(prompt: &Value) -> Option<String> {
    let caption = prompt.get("caption")?;
    let base = caption.get("base_caption")?.as_str()?;
    let characters = caption.get("char_captions").and_then(Value::as_array).into_iter().flatten();
    let characters = characters.filter_map(|one| one.get("char_caption")?.as_str());
    let parts = std::iter::once(base).chain(characters).map(str::trim).filter(|part| !part.is_empty());
    Some(parts.collect::<Vec<_>>().join(", "))
}
