//! InvokeAI has had three formats: a command line under `Dream`, JSON under `sd-metadata`, and other JSON under
//! `invokeai_metadata`.

use serde_json::Value;

use super::{Draft, fraction, invoke_layers, model_name, number, says, set, small, whole};
use crate::{
    output::settings::{Origin, RestoredSettings},
    request::{Enlarger, Hires},
};

/// Settings that are not possible here.
const OTHERS: [&str; 7] = [
    "seamless_x",
    "seamless_y",
    "refiner_cfg_scale",
    "refiner_steps",
    "refiner_scheduler",
    "refiner_positive_aesthetic_score",
    "refiner_negative_aesthetic_score",
];

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
    let images = ["init_image", "initial_image", "strength"].iter().any(|name| says(field(name)));
    if images && !text("generation_mode").ends_with("txt2img") {
        draft.notes.push("It was made from an input image, which is not included.".to_owned());
    }
    invoke_layers::read(json, &mut draft);
    draft.refiner(&named(field("refiner_model")), fraction(field("refiner_start")));
    second_pass(json, &mut draft);
    let others = OTHERS.into_iter().filter(|name| says(field(name)));
    draft.leave_out(&others.collect::<Vec<_>>());
    Some(draft.finish(Origin::InvokeAi))
}

/// The high-resolution fix of its third version, which says the size of the result.
fn second_pass(json: &Value, draft: &mut Draft) {
    let field = |name: &str| json.get(name).unwrap_or(&Value::Null);
    if !says(field("hrf_enabled")) {
        return;
    }
    let base = field("model").get("base").or_else(|| field("model").get("base_model"));
    let trained = if base.and_then(Value::as_str) == Some("sdxl") { 1024.0 } else { 512.0 };
    let (width, height) = (draft.request.width, draft.request.height);
    if width == 0 || height == 0 {
        return draft.leave_out(&["hrf_enabled"]);
    }
    let [first_width, first_height] = first_size([width, height], trained);
    let scale = (width as f32 / first_width as f32).max(height as f32 / first_height as f32);
    let enlarger = match field("hrf_method").as_str() {
        Some("bilinear") => Enlarger::Latent,
        // It has one upscaler for this.
        _ => draft.enlarger("RealESRGAN_x2plus"),
    };
    let strength = fraction(field("hrf_strength")).unwrap_or_else(|| Hires::default().strength);
    if draft.hires(Hires { scale, strength, steps: None, enlarger }) {
        (draft.request.width, draft.request.height) = (first_width, first_height);
    }
}

/// The size of the first pass: about the square of what the model was trained for, at least half of it on each side, and at most
/// that of the result.
fn first_size(size: [u32; 2], trained: f32) -> [u32; 2] {
    let [width, height] = size.map(|side| side as f32);
    let (aspect, least) = (width / height, (trained * 0.5).floor());
    let (first_width, first_height) = match aspect > 1.0 {
        true => {
            let height = least.max((trained * trained / aspect).sqrt());
            (height * aspect, height)
        }
        false => {
            let width = least.max((trained * trained * aspect).sqrt());
            (width, width / aspect)
        }
    };
    let side = |first: f32, whole: f32| (((first.min(whole).floor() / 8.0).round() * 8.0) as u32).max(8);
    [side(first_width, width), side(first_height, height)]
}

/// The name of a model, which is text or has one.
pub(super) fn named(model: &Value) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pass_has_the_size_that_the_model_was_trained_for() {
        assert_eq!(first_size([1024, 1024], 512.0), [512, 512]);
        assert_eq!(first_size([1536, 1024], 512.0), [624, 416]);
        assert_eq!(first_size([1024, 2048], 1024.0), [728, 1448]);
        assert_eq!(first_size([512, 384], 512.0), [512, 384]);
    }
}
