//! Answers to questions about memory. Reads headers, and of weights no more than a sample, once a model.

use std::path::PathBuf;

use super::{
    command::{PlanQuery, PlanSubject},
    event::Failure,
    measured::MeasuredErrors,
    outcomes::Outcomes,
};
use crate::{
    hardware::{MemoryAccount, Probe},
    memory::{self, DeviceChoice, Footprint, Forecast, RequestShape, Workload, known_model, known_models},
    models,
    pipeline::{self, Pace, PipelineError, Reading, Target},
    request::Request,
};

/// What a request would take, and what is read of its prompts; `folders` are where a person keeps models.
pub fn answer(
    query: &PlanQuery,
    probe: &mut Probe,
    account: &MemoryAccount,
    outcomes: &Outcomes,
    errors: &mut MeasuredErrors,
    folders: &[PathBuf],
) -> Result<(Forecast, Vec<Vec<Reading>>), Failure> {
    forecast(query, probe, account, outcomes, errors, folders)
        .map_err(|error| Failure { message: error.to_string(), advice: error.advice() })
}

fn forecast(
    query: &PlanQuery,
    probe: &mut Probe,
    account: &MemoryAccount,
    outcomes: &Outcomes,
    errors: &mut MeasuredErrors,
    folders: &[PathBuf],
) -> Result<(Forecast, Vec<Vec<Reading>>), PipelineError> {
    let held = account.holdings();
    let held = held.weights + held.activations + held.host;
    let target = Target::choose(&query.memory, &probe.sample(), held, Pace::Card)?;
    let (footprint, workload, readings) = match &query.subject {
        PlanSubject::Model => of_model(&query.request, errors, folders)?,
        PlanSubject::Known(id) => of_known(id, query)?,
    };
    let correction = memory::correct(&outcomes.all(), &footprint.model, &target.machine);
    let workload = workload.scaled(correction.activation_factor);
    // A simulated card ran at the processor's speed, and its own is asked for.
    let machine = match target.choice {
        DeviceChoice::Simulated(_) => target.machine,
        DeviceChoice::Auto => correction.machine,
    };
    let forecast = memory::forecast(&footprint, &workload, &machine, &query.memory, correction.accuracy);
    Ok((forecast, readings))
}

type Subject = (Footprint, Workload, Vec<Vec<Reading>>);

fn of_model(
    request: &Request,
    errors: &mut MeasuredErrors,
    folders: &[PathBuf],
) -> Result<Subject, PipelineError> {
    let model = models::open(&request.model.resolve()?, folders)?;
    model.validate(request)?;
    let prompts = pipeline::prompts(&model, request)?;
    let workload = pipeline::workload(&model, request, &prompts);
    let summary = pipeline::summarise(&model, &request.model)?;
    let mut footprint = pipeline::footprint(&model, &summary.name, request.dtype);
    for (part, component) in footprint.components.iter_mut().zip(model.components()) {
        part.errors = errors.of(component);
    }
    Ok((footprint, workload, pipeline::readings(&model, &prompts)))
}

/// A well-known model, in the 16 bits that it is published in.
fn of_known(id: &str, query: &PlanQuery) -> Result<Subject, PipelineError> {
    const BYTES: u64 = 2;
    let model = known_model(id).ok_or_else(|| PipelineError::UnknownModel {
        id: id.to_owned(),
        known: known_models().iter().map(|model| model.id.clone()).collect(),
    })?;
    let request = &query.request;
    let shape = RequestShape {
        width: request.width,
        height: request.height,
        frames: query.frames,
        pictures: request.batch,
        steps: request.steps,
        calls_per_step: request.sampler.calls(2) as u32 - 1,
        branches: model.branches(request.guidance),
        prompt_tokens: request.max_sequence_length,
    };
    Ok((model.footprint(BYTES), model.workload(&shape, BYTES), Vec::new()))
}
