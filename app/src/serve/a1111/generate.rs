//! `/txt2img` and `/img2img`.

use axum::{Json, extract::State};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};
use sluice_engine::{
    output::read_settings,
    request::{Request, Schedule},
};

use super::{Refused, order::Asked};
use crate::serve::{
    Refusal,
    desk::{Keeping, Prepared, Running, blocking, read},
    hub::{Made, Phase},
    own::{Body, Counter},
};

/// Text to image.
pub async fn text_to_image(
    State(counter): State<Counter>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<Value>, Refused> {
    let asked = Asked::text(body.clone())?;
    Ok(Json(answer(&counter, asked, body).await?))
}

/// Image to image, and inpainting.
pub async fn image_to_image(
    State(counter): State<Counter>,
    Body(mut body): Body<Map<String, Value>>,
) -> Result<Json<Value>, Refused> {
    let asked = Asked::image(body.clone())?;
    if body.get("include_init_images") != Some(&Value::Bool(true)) {
        for picture in ["init_images", "mask"] {
            body.insert(picture.to_owned(), Value::Null);
        }
    }
    Ok(Json(answer(&counter, asked, body).await?))
}

/// Runs all rounds. If the client goes away meanwhile, this ends, and with it the tickets.
async fn answer(counter: &Counter, asked: Asked, parameters: Map<String, Value>) -> Result<Value, Refusal> {
    let Asked { order, rounds, sends, keeps, format, stays, warnings } = asked;
    if let Some(model) = order.model.as_ref().filter(|_| stays) {
        counter.desk.choose(model)?;
    }
    let prepared = counter.desk.prepare(order).await?;
    let keeping = if keeps { Keeping::Kept(format) } else { Keeping::Sent(format) };
    let mut jobs = vec![counter.desk.start(prepared.clone(), keeping).await?];
    for round in 1..rounds {
        let request = next_round(&prepared.request, round);
        jobs.push(counter.desk.queue(Prepared { request, ..prepared.clone() }, keeping)?);
    }
    let (all, interrupted) = all_of(counter, &mut jobs).await?;
    let mut images = Vec::new();
    for made in all.iter().filter(|_| sends) {
        images.push(BASE64_STANDARD.encode(read(&made.path).await?));
    }
    let texts = texts_of(&all).await?;
    let info = info(counter, &prepared, &all, &texts, &warnings, interrupted);
    Ok(json!({ "images": images, "parameters": parameters, "info": info.to_string() }))
}

/// The request of a further round: seeds go on where those of the one before end.
fn next_round(request: &Request, round: u32) -> Request {
    let further = u64::from(round) * u64::from(request.batch);
    let variation = request.variation.map(|variation| sluice_engine::request::Variation {
        seed: variation.seed.wrapping_add(further),
        ..variation
    });
    match variation {
        Some(_) => Request { variation, ..request.clone() },
        None => Request { seed: request.seed.wrapping_add(further), ..request.clone() },
    }
}

/// What all jobs make, and whether somebody interrupted them. What is done then is kept, as in A1111.
async fn all_of(counter: &Counter, jobs: &mut [Running]) -> Result<(Vec<Made>, bool), Refusal> {
    let mut all = Vec::new();
    for running in jobs.iter_mut() {
        match running.ticket.end().await {
            Phase::Done { made, .. } => all.extend(made),
            Phase::Failed(failure) => return Err(Refusal::invalid(failure)),
            Phase::Cancelled if counter.was_skipped(running.ticket.id) => {}
            Phase::Cancelled | Phase::Queued | Phase::Running => return Ok((all, true)),
        }
    }
    Ok((all, false))
}

/// The settings of each image, in A1111's format.
async fn texts_of(all: &[Made]) -> Result<Vec<String>, Refusal> {
    let paths: Vec<_> = all.iter().map(|made| made.path.clone()).collect();
    blocking(move || {
        let text = |path: &std::path::PathBuf| {
            read_settings(path).map(|restored| restored.settings.parameters()).unwrap_or_default()
        };
        paths.iter().map(text).collect()
    })
    .await
}

fn info(
    counter: &Counter,
    prepared: &Prepared,
    all: &[Made],
    texts: &[String],
    warnings: &[String],
    interrupted: bool,
) -> Value {
    let request = &prepared.request;
    let seeds: Vec<u64> = all.iter().map(|made| made.seed).collect();
    let repeated = |text: &str| vec![text.to_owned(); all.len()];
    let (width, height) =
        all.first().map_or((request.width, request.height), |made| (made.width, made.height));
    let subseed = request.variation.map_or(request.seed, |variation| variation.seed);
    let schedule = match request.schedule {
        Schedule::Model => "Automatic",
        other => other.title(),
    };
    json!({
        "prompt": request.prompt,
        "all_prompts": repeated(&request.prompt),
        "negative_prompt": request.negative_prompt,
        "all_negative_prompts": repeated(&request.negative_prompt),
        "seed": request.seed,
        "all_seeds": seeds,
        "subseed": subseed,
        "all_subseeds": seeds,
        "subseed_strength": request.variation.map_or(0.0, |variation| variation.strength),
        "width": width,
        "height": height,
        "sampler_name": request.sampler.title(),
        "scheduler": schedule,
        "cfg_scale": request.guidance,
        "steps": request.steps,
        "batch_size": request.batch,
        "restore_faces": false,
        "face_restoration_model": null,
        "sd_model_name": counter.desk.name_of(&request.model),
        "sd_model_hash": null,
        "sd_vae_name": null,
        "sd_vae_hash": null,
        "seed_resize_from_w": -1,
        "seed_resize_from_h": -1,
        "denoising_strength": request.strength().or(request.hires.as_ref().map(|hires| hires.strength)),
        "extra_generation_params": {},
        "index_of_first_image": 0,
        "infotexts": texts,
        "styles": request.styles.iter().map(|style| &style.name).collect::<Vec<_>>(),
        "job_timestamp": "",
        "clip_skip": request.clip_skip.max(1),
        "is_using_inpainting_conditioning": false,
        "version": concat!("Sluice ", env!("CARGO_PKG_VERSION")),
        "interrupted": interrupted,
        "warnings": warnings,
    })
}

#[cfg(test)]
mod tests {
    use sluice_engine::request::Variation;

    use super::*;

    #[test]
    fn seeds_go_on_in_further_rounds() {
        let plain = Request { seed: 5, batch: 2, ..Request::default() };
        assert_eq!(next_round(&plain, 2).seed, 9);
        let varied = Request { variation: Some(Variation { seed: 30, strength: 0.5 }), ..plain };
        let next = next_round(&varied, 1);
        assert_eq!((next.seed, next.variation.unwrap().seed), (5, 32));
    }
}
