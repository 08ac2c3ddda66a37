//! InvokeAI has had three formats: a command line under `Dream`, JSON under `sd-metadata`, and other JSON under
//! `invokeai_metadata`.

use serde_json::Value;

use super::{Draft, model_name, number, set, small, whole};
use crate::output::settings::{Origin, RestoredSettings};

/// The third format.
pub(super) fn read_metadata(json: &Value) -> Option<RestoredSettings> {
    json.as_object()?;
    let mut draft = Draft::new();
    let field = |name: &str| json.get(name).unwrap_or(&Value::Null);
    let text = |name: &str| field(name).as_str().unwrap_or_default().to_owned();
    let request = &mut draft.request;
    request.prompt = text("positive_prompt");
    request.negative_prompt = text("negative_prompt");
    set(&mut request.width, small(field("width")));
    set(&mut request.height, small(field("height")));
    set(&mut request.steps, small(field("steps")));
    // Models that take guidance as an input have it under its own name.
    set(&mut request.guidance, number(field("guidance")).or_else(|| number(field("cfg_scale"))));
    set(&mut request.seed, whole(field("seed")));
    set(&mut request.guiding.rescale, number(field("cfg_rescale_multiplier")));
    draft.model_name = named(field("model"));
    if let Some(name) = field("scheduler").as_str() {
        draft.sampler(name);
    }
    if let Some(skip) = small(field("clip_skip")).filter(|skip| *skip > 0) {
        // Counted from none skipped.
        draft.clip_skip(skip + 1);
    }
    for lora in field("loras").as_array().into_iter().flatten() {
        let model = lora.get("model").or_else(|| lora.get("lora")).unwrap_or(&Value::Null);
        let weight = lora.get("weight").and_then(Value::as_f64).map(|weight| weight as f32);
        draft.lora(&named(model), weight);
    }
    let has = |name: &str| match field(name) {
        Value::Array(list) => !list.is_empty(),
        Value::Null => false,
        _ => true,
    };
    let images = ["init_image", "initial_image", "strength"].iter().any(|name| has(name));
    if images && !text("generation_mode").ends_with("txt2img") {
        draft.notes.push("It was made from an input image, which is not included.".to_owned());
    }
    for (name, what) in [
        ("controlnets", "ControlNets"),
        ("ipAdapters", "IP-Adapters"),
        ("t2iAdapters", "T2I-Adapters"),
        ("refiner_model", "A refiner"),
    ] {
        if has(name) {
            draft.notes.push(format!("{what} took part; that is not restored."));
        }
    }
    Some(draft.finish(Origin::InvokeAi))
}

/// The name of a model, which is text or has one.
fn named(model: &Value) -> String {
    let name = [model.get("name"), model.get("model_name"), Some(model)];
    name.into_iter().flatten().find_map(Value::as_str).map(model_name).unwrap_or_default()
}

/// The second format.
pub(super) fn read_sd_metadata(json: &Value) -> Option<RestoredSettings> {
    let image = json.get("image")?;
    let mut draft = Draft::new();
    let field = |name: &str| image.get(name).unwrap_or(&Value::Null);
    let prompt = match field("prompt") {
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("prompt")?.as_str());
            texts.collect::<Vec<_>>().join(", ")
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    draft.prompts(&prompt);
    let request = &mut draft.request;
    set(&mut request.width, small(field("width")));
    set(&mut request.height, small(field("height")));
    set(&mut request.steps, small(field("steps")));
    set(&mut request.guidance, number(field("cfg_scale")));
    set(&mut request.seed, whole(field("seed")));
    draft.model_name = json.get("model_weights").map(named).unwrap_or_default();
    if let Some(name) = field("sampler").as_str() {
        draft.sampler(name);
    }
    if field("type").as_str() == Some("img2img") {
        draft.notes.push("It was made from an input image, which is not included.".to_owned());
    }
    Some(draft.finish(Origin::InvokeAi))
}

/// The first format: `"a boat [fog]" -s50 -S42 -W512 -H512 -C7.5 -Ak_lms`.
pub(super) fn read_dream(line: &str) -> Option<RestoredSettings> {
    let rest = line.trim().strip_prefix("dream>").unwrap_or(line).trim();
    let (prompt, options) = match rest.strip_prefix('"') {
        Some(quoted) => quoted.rsplit_once('"')?,
        None => rest.split_once(" -")?,
    };
    let mut draft = Draft::new();
    draft.prompts(&prompt.replace("\\\"", "\""));
    let mut words = options.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let word = word.strip_prefix('-').unwrap_or(word);
        let Some(letter) = word.chars().next() else { continue };
        let mut value = &word[letter.len_utf8()..];
        if value.is_empty() && words.peek().is_some_and(|next| !next.starts_with('-')) {
            value = words.next().unwrap_or_default();
        }
        let json = Value::String(value.to_owned());
        let request = &mut draft.request;
        match letter {
            's' => set(&mut request.steps, small(&json)),
            'S' => set(&mut request.seed, whole(&json)),
            'W' => set(&mut request.width, small(&json)),
            'H' => set(&mut request.height, small(&json)),
            'C' => set(&mut request.guidance, number(&json)),
            'A' => draft.sampler(value),
            'I' => draft.notes.push("It was made from an input image, which is not included.".to_owned()),
            _ => {}
        }
    }
    Some(draft.finish(Origin::InvokeAi))
}
