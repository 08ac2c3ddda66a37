//! What there is: models, samplers, LoRAs, upscalers, and the one option that counts here.

use axum::{Json, extract::State};
use serde_json::{Map, Value, json};
use sluice_engine::request::{ModelSource, Preprocessor, Sampler, Schedule, Style};

use super::{Refused, fields::Fields};
use crate::{
    orders::Shelved,
    serve::own::{Body, Counter},
};

/// The options that are not the model's name, with their only value.
const FIXED: [&str; 3] = ["samples_save", "samples_format", "sd_vae"];

pub async fn options(State(counter): State<Counter>) -> Json<Value> {
    Json(json!({
        "sd_model_checkpoint": title_of(&counter, &counter.desk.model()),
        "sd_checkpoint_hash": "",
        "sd_vae": "Automatic",
        "samples_save": false,
        "samples_format": "png",
        "CLIP_stop_at_last_layers": 1,
    }))
}

/// Chooses the model. What else is asked for is answered in words.
pub async fn choose(
    State(counter): State<Counter>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<Value>, Refused> {
    let mut fields = Fields::of(body);
    if let Some(model) = fields.text("sd_model_checkpoint")? {
        counter.desk.choose(&model)?;
    }
    fields.ignore(&["sd_checkpoint_hash"]);
    // Clients send back all that they were given.
    fields.ignore(&FIXED);
    fields.warn(&["CLIP_stop_at_last_layers"], &["1"]);
    let warnings = fields.finish();
    Ok(Json(match warnings.is_empty() {
        true => Value::Null,
        false => json!({ "warnings": warnings }),
    }))
}

/// A title as A1111 has it; there is no hash.
fn title_of(counter: &Counter, model: &ModelSource) -> String {
    counter.desk.name_of(model)
}

pub async fn models(State(counter): State<Counter>) -> Json<Value> {
    let shelf = counter.desk.shelf();
    let models = shelf.models.iter().map(|model| {
        json!({
            "title": model.name,
            "model_name": model.name,
            "hash": null,
            "sha256": null,
            "filename": model.file_name(),
            "config": null,
        })
    });
    Json(models.collect())
}

pub async fn samplers() -> Json<Value> {
    let samplers = Sampler::ALL.into_iter();
    let one =
        |sampler: Sampler| json!({ "name": sampler.title(), "aliases": [sampler.name()], "options": {} });
    Json(samplers.map(one).collect())
}

pub async fn schedulers() -> Json<Value> {
    let one = |schedule: Schedule| {
        let label = if schedule == Schedule::Model { "Automatic" } else { schedule.title() };
        let name = if schedule == Schedule::Model { "automatic" } else { schedule.name() };
        json!({
            "name": name, "label": label, "aliases": null, "default_rho": -1, "need_inner_model": false
        })
    };
    Json(Schedule::ALL.into_iter().map(one).collect())
}

pub async fn upscalers(State(counter): State<Counter>) -> Json<Value> {
    let shelf = counter.desk.shelf();
    let one = |upscaler: &Shelved| {
        json!({
            "name": upscaler.name, "model_name": upscaler.what, "model_path": upscaler.file_name(),
            "model_url": null, "scale": 4
        })
    };
    Json(shelf.upscalers.iter().map(one).collect())
}

pub async fn latent_modes() -> Json<Value> {
    Json(json!([{ "name": "Latent" }]))
}

pub async fn loras(State(counter): State<Counter>) -> Json<Value> {
    let shelf = counter.desk.shelf();
    let one = |lora: &Shelved| json!({ "name": lora.name, "alias": lora.name, "path": lora.file_name(), "metadata": {} });
    Json(shelf.adapters.iter().map(one).collect())
}

pub async fn control_nets(State(counter): State<Counter>) -> Json<Value> {
    let names: Vec<String> = counter.desk.shelf().control_nets.iter().map(|net| net.name.clone()).collect();
    Json(json!({ "model_list": names }))
}

/// With the names that clients send.
pub async fn detectors(State(counter): State<Counter>) -> Json<Value> {
    let shelf = counter.desk.shelf();
    let names: Vec<String> = shelf.detectors.iter().map(|detector| format!("{}.pt", detector.name)).collect();
    Json(json!({ "ad_model": names }))
}

pub async fn preprocessors() -> Json<Value> {
    Json(json!({ "module_list": Preprocessor::ALL.map(Preprocessor::name) }))
}

pub async fn styles(State(counter): State<Counter>) -> Result<Json<Value>, Refused> {
    let styles = counter.desk.styles().await?;
    let one = |style: &Style| json!({ "name": style.name, "prompt": style.prompt, "negative_prompt": style.negative_prompt });
    Ok(Json(styles.iter().map(one).collect()))
}

/// The extensions for ControlNets and for details are built in.
pub async fn scripts() -> Json<Value> {
    let built_in = ["controlnet", "adetailer"];
    Json(json!({ "txt2img": built_in, "img2img": built_in }))
}

pub async fn embeddings() -> Json<Value> {
    Json(json!({ "loaded": {}, "skipped": {} }))
}

pub async fn none() -> Json<Value> {
    Json(json!([]))
}

pub async fn empty() -> Json<Value> {
    Json(json!({}))
}

pub async fn nothing_to_do() -> Json<Value> {
    Json(Value::Null)
}

pub async fn look_again(State(counter): State<Counter>) -> Result<Json<Value>, Refused> {
    counter.desk.look_again().await?;
    Ok(Json(Value::Null))
}
