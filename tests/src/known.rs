//! Forecasts of well-known models.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use sluice_engine::{
    memory::{Footprint, Workload},
    models::{KnownAs, KnownModel, Model, known_model},
    nn::{Computes, Trace},
    pipeline::{Resolved, footprint, workload},
    request::{ComputeDtype, Request},
};

/// The well-known model of this identifier, opened by its family.
///
/// # Errors
/// If no family has it.
pub fn opened(id: &str) -> Result<(&'static KnownModel, Arc<Model>)> {
    let known = known_model(id).with_context(|| format!("{id} is not known"))?;
    match known.open()? {
        KnownAs::Model(model) => Ok((known, model)),
        KnownAs::Unsupported(_) => bail!("no family has {id}"),
    }
}

/// One image of the usual size with the usual settings.
///
/// # Errors
/// If no family has the model.
pub fn request(id: &str) -> Result<Request> {
    let defaults = opened(id)?.1.defaults;
    Ok(Request {
        prompt: "a lighthouse on a cliff at dusk".to_owned(),
        width: defaults.width,
        height: defaults.height,
        steps: defaults.steps,
        guidance: defaults.guidance,
        ..Request::default()
    })
}

/// What a well-known model is, and what a request asks of it, in bf16.
///
/// # Errors
/// If no family has the model, or it refuses the request.
pub fn sizes(id: &str, request: &Request) -> Result<(Footprint, Workload)> {
    let (known, model) = opened(id)?;
    let resolved = Resolved::new(&model, request, ComputeDtype::Bf16)?;
    let workload = workload(&model, &resolved, &Trace::new(Computes::Processor))?;
    Ok((footprint(&model, &known.name, ComputeDtype::Bf16), workload))
}
