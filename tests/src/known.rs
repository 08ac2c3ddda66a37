//! Forecasts of well-known models.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use sluice_engine::{
    memory::{Footprint, Workload},
    models::{KnownDefaults, KnownModel, Model, known_model},
    nn::{Balance, Computes, Kernels, Trace},
    pipeline::{Resolved, footprint, workload},
    request::{ComputeDtype, Request},
};

/// The well-known model of this identifier, opened by its family.
///
/// # Errors
/// If no model has this identifier.
pub fn opened(id: &str) -> Result<(&'static KnownModel, Arc<Model>)> {
    let known = find(id)?;
    Ok((known, known.open()?))
}

/// One image or clip of the usual size with the usual settings.
///
/// # Errors
/// If no model has this identifier.
pub fn request(id: &str) -> Result<Request> {
    let KnownDefaults { width, height, frames, steps, guidance, .. } = find(id)?.defaults()?;
    Ok(Request {
        prompt: "a lighthouse on a cliff at dusk".to_owned(),
        width,
        height,
        frames,
        steps,
        guidance,
        ..Request::default()
    })
}

/// What a well-known model is, and what a request asks of it on a GPU without kernels, in bf16.
///
/// # Errors
/// If no model has this identifier, or its family refuses the request.
pub fn sizes(id: &str, request: &Request) -> Result<(Footprint, Workload)> {
    sizes_on(id, request, Computes::Card(Kernels::NONE, Balance::USUAL))
}

/// The same for another device.
///
/// # Errors
/// The same.
pub fn sizes_on(id: &str, request: &Request, computes: Computes) -> Result<(Footprint, Workload)> {
    let (known, model) = opened(id)?;
    let resolved = Resolved::new(&model, request, ComputeDtype::Bf16)?;
    let workload = workload(&model, &resolved, &Trace::new(computes))?;
    Ok((footprint(&model, &known.name, ComputeDtype::Bf16), workload))
}

fn find(id: &str) -> Result<&'static KnownModel> {
    known_model(id).with_context(|| format!("{id} is not known"))
}
