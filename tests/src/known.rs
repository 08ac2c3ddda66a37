//! Forecasts of well-known models.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use sluice_engine::{
    memory::Attention,
    memory::{Footprint, KnownDefaults, RequestShape, Workload},
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
    let known = find(id)?;
    match known.open()? {
        KnownAs::Model(model) => Ok((known, model)),
        KnownAs::Unsupported(_) => bail!("no family has {id}"),
    }
}

/// One image or clip of the usual size with the usual settings.
///
/// # Errors
/// If no model has this identifier.
pub fn request(id: &str) -> Result<Request> {
    let KnownDefaults { width, height, frames, steps, guidance } = find(id)?.defaults()?;
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

/// What a well-known model is, and what a request asks of it on a GPU, in bf16.
///
/// # Errors
/// If no model has this identifier, or its family refuses the request.
pub fn sizes(id: &str, request: &Request) -> Result<(Footprint, Workload)> {
    const BYTES: u64 = 2;
    let known = find(id)?;
    match known.open()? {
        KnownAs::Model(model) => {
            let resolved = Resolved::new(&model, request, ComputeDtype::Bf16)?;
            let workload = workload(&model, &resolved, &Trace::new(Computes::Card(Attention::Math)))?;
            Ok((footprint(&model, &known.name, ComputeDtype::Bf16), workload))
        }
        KnownAs::Unsupported(model) => {
            let Request { width, height, frames, steps, .. } = *request;
            let shape = RequestShape { width, height, frames, steps, ..model.request() };
            Ok((model.footprint(BYTES), model.workload(&shape, BYTES)))
        }
    }
}

fn find(id: &str) -> Result<&'static KnownModel> {
    known_model(id).with_context(|| format!("{id} is not known"))
}
