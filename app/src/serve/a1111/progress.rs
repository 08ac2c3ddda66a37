//! What runs, and how to stop it.

use axum::{
    Json,
    extract::{Query, State},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use image::{ImageFormat, RgbImage};
use serde::Deserialize;
use serde_json::{Value, json};
use sluice_engine::output::{Image, Media};

use super::Refused;
use crate::serve::{Refusal, desk::blocking, own::Counter};

/// What a client does not want.
#[derive(Debug, Deserialize)]
pub struct Without {
    #[serde(default)]
    skip_current_image: bool,
}

pub async fn progress(
    State(counter): State<Counter>,
    Query(without): Query<Without>,
) -> Result<Json<Value>, Refused> {
    let Some((id, state, waiting)) = counter.desk.hub.running() else {
        return Ok(Json(json!({
            "progress": 0.0,
            "eta_relative": 0.0,
            "state": described("", 0, [0, 0]),
            "current_image": null,
            "textinfo": null,
        })));
    };
    let done = f64::from(state.step) / f64::from(state.steps.max(1));
    let preview = state.preview.filter(|_| !without.skip_current_image);
    let image = match preview {
        Some((_, media)) => blocking(move || png_of(&media)).await?,
        None => None,
    };
    let stage = state.stage.map(|stage| stage.name().to_owned());
    Ok(Json(json!({
        // 0 would mean that nothing runs.
        "progress": done.clamp(0.001, 0.99),
        "eta_relative": state.seconds_left.unwrap_or_default(),
        "state": described(&format!("job {}", id.0), waiting + 1, [state.step, state.steps]),
        "current_image": image,
        "textinfo": stage,
    })))
}

fn described(job: &str, count: usize, [step, steps]: [u32; 2]) -> Value {
    json!({
        "skipped": false,
        "interrupted": false,
        "stopping_generation": false,
        "job": job,
        "job_count": count,
        "job_timestamp": "0",
        "job_no": 0,
        "sampling_step": step,
        "sampling_steps": steps,
    })
}

/// The first frame of a preview, as a small file in base64.
fn png_of(media: &Media) -> Option<String> {
    let Image { width, height, pixels, .. } = media.first()?.clone();
    let mut bytes = std::io::Cursor::new(Vec::new());
    RgbImage::from_raw(width, height, pixels)?.write_to(&mut bytes, ImageFormat::Png).ok()?;
    Some(BASE64_STANDARD.encode(bytes.into_inner()))
}

/// Ends what runs, with the further rounds of its request.
pub async fn interrupt(State(counter): State<Counter>) -> Json<Value> {
    if let Some((id, ..)) = counter.desk.hub.running() {
        counter.desk.hub.cancel(id);
    }
    Json(json!({}))
}

/// Ends what runs; further rounds go on.
pub async fn skip(State(counter): State<Counter>) -> Json<Value> {
    if let Some((id, ..)) = counter.desk.hub.running() {
        counter.skip(id);
    }
    Json(json!({}))
}

pub async fn unload(State(counter): State<Counter>) -> Result<Json<Value>, Refused> {
    counter.desk.hub.unload()?;
    Ok(Json(Value::Null))
}

pub async fn memory(State(counter): State<Counter>) -> Result<Json<Value>, Refused> {
    let sample = counter.desk.hub.hardware();
    let sample = sample.ok_or_else(|| Refusal::missing("the machine was not measured yet", "Ask again."))?;
    let used = sample.ram_total.saturating_sub(sample.ram_available);
    let cuda = match sample.gpus.first() {
        Some(gpu) => json!({ "system": {
            "free": gpu.vram_total.saturating_sub(gpu.vram_used), "used": gpu.vram_used, "total": gpu.vram_total
        }}),
        None => json!({ "error": "there is no NVIDIA GPU" }),
    };
    Ok(Json(json!({
        "ram": { "free": sample.ram_available, "used": used, "total": sample.ram_total },
        "cuda": cuda,
    })))
}
