//! The interface of AUTOMATIC1111's web UI, `/sdapi/v1`.

mod extras;
mod fields;
mod generate;
mod lists;
mod order;
mod progress;
mod scripts;

use axum::{
    Json, Router,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;

use super::{Refusal, own::Counter, refusal::Interface};

/// A refusal in this interface's form.
pub type Refused = super::refusal::Refused<A1111>;

/// The interface of this room.
#[derive(Debug)]
pub struct A1111;

impl Interface for A1111 {
    fn refused(refusal: Refusal) -> Response {
        let kind = if refusal.fitting.is_some() { "OutOfMemoryError" } else { "Refused" };
        let mut json = json!({
            "error": kind,
            "detail": refusal.in_words(),
            "body": "",
            "errors": refusal.failure.message,
        });
        if let Some(fitting) = &refusal.fitting {
            json["fits"] = json!(fitting);
        }
        (refusal.status, Json(json)).into_response()
    }
}

/// The addresses of this interface.
pub fn routes() -> Router<Counter> {
    let api = Router::new()
        .route("/txt2img", post(generate::text_to_image))
        .route("/img2img", post(generate::image_to_image))
        .route("/extra-single-image", post(extras::enlarge))
        .route("/extra-batch-images", post(extras::enlarge_all))
        .route("/png-info", post(extras::settings_of))
        .route("/progress", get(progress::progress))
        .route("/interrupt", post(progress::interrupt))
        .route("/skip", post(progress::skip))
        .route("/memory", get(progress::memory))
        .route("/unload-checkpoint", post(progress::unload))
        .route("/reload-checkpoint", post(lists::nothing_to_do))
        .route("/options", get(lists::options).post(lists::choose))
        .route("/cmd-flags", get(lists::empty))
        .route("/samplers", get(lists::samplers))
        .route("/schedulers", get(lists::schedulers))
        .route("/upscalers", get(lists::upscalers))
        .route("/latent-upscale-modes", get(lists::latent_modes))
        .route("/sd-models", get(lists::models))
        .route("/sd-vae", get(lists::none))
        .route("/loras", get(lists::loras))
        .route("/hypernetworks", get(lists::none))
        .route("/face-restorers", get(lists::none))
        .route("/realesrgan-models", get(lists::none))
        .route("/prompt-styles", get(lists::styles))
        .route("/embeddings", get(lists::embeddings))
        .route("/scripts", get(lists::scripts))
        .route("/script-info", get(lists::none))
        .route("/refresh-checkpoints", post(lists::look_again))
        .route("/refresh-loras", post(lists::look_again))
        .route("/refresh-vae", post(lists::look_again));
    Router::new()
        .nest("/sdapi/v1", api)
        .route("/controlnet/model_list", get(lists::control_nets))
        .route("/controlnet/module_list", get(lists::preprocessors))
        .route("/adetailer/v1/ad_model", get(lists::detectors))
}
