//! SwarmUI writes its parameters beside a clip, or as JSON into an image.

use serde_json::Value;

use super::{Draft, model_name, number, set, small, whole};
use crate::output::settings::{Origin, RestoredSettings};

pub(super) fn read(parameters: &Value) -> Option<RestoredSettings> {
    parameters.as_object()?;
    let mut draft = Draft::new();
    let request = &mut draft.request;
    let field = |name: &str| parameters.get(name).unwrap_or(&Value::Null);
    // Parameters of a clip that was made from text have names of their own.
    let either =
        |names: [&str; 2]| names.into_iter().find_map(|name| parameters.get(name)).unwrap_or(&Value::Null);
    let text = |name: &str| field(name).as_str().unwrap_or_default().to_owned();
    request.prompt = text("prompt");
    request.negative_prompt = text("negativeprompt");
    set(&mut request.width, small(field("width")));
    set(&mut request.height, small(field("height")));
    set(&mut request.frames, small(either(["text2videoframes", "videoframes"])));
    let rate = number(either(["text2videofps", "videofps"])).filter(|rate| *rate >= 1.0);
    set(&mut request.frame_rate, rate);
    set(&mut request.steps, small(field("steps")));
    set(&mut request.guidance, number(field("cfgscale")));
    set(&mut request.seed, whole(field("seed")));
    draft.model_name = model_name(&text("model"));
    if let Some(name) = field("sampler").as_str() {
        draft.sampler(name);
    }
    if let Some(name) = field("scheduler").as_str() {
        draft.schedule(name);
    }
    let list = |name: &str| match field(name) {
        Value::Array(list) => list.clone(),
        Value::String(text) => text.split(',').map(|part| Value::String(part.trim().to_owned())).collect(),
        _ => Vec::new(),
    };
    let weights = list("loraweights");
    for (place, name) in list("loras").iter().enumerate() {
        let weight = weights.get(place).and_then(signed);
        draft.lora(name.as_str().unwrap_or_default(), weight);
    }
    if !matches!(field("initimage"), Value::Null) {
        draft.notes.push("It was made from an input image, which is not included.".to_owned());
    }
    if !matches!(field("refinermethod"), Value::Null) {
        draft.notes.push("A refiner or an upscaler took part; that is not restored.".to_owned());
    }
    if let Some(model) = field("videomodel").as_str() {
        let model = model_name(model);
        draft.notes.push(format!(
            "This clip was made from an image with the model “{model}”; the image's settings are restored."
        ));
    }
    Some(draft.finish(Origin::SwarmUi))
}

/// A number, also if it is written as text.
fn signed(value: &Value) -> Option<f32> {
    match value {
        Value::Number(number) => number.as_f64().map(|number| number as f32),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}
