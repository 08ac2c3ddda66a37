//! Answers to questions about memory. Reads headers, never weights.

use std::path::PathBuf;

use super::{
    command::{PlanQuery, PlanSubject},
    event::Failure,
    outcomes::Outcomes,
};
use crate::{
    adapters::AdapterReport,
    hardware::{MemoryAccount, Probe},
    memory::{self, DeviceChoice, Footprint, Forecast, RequestShape, Workload, known_model, known_models},
    models,
    pipeline::{self, Pace, PipelineError, Target},
    request::Request,
};

/// What a request would take, and what became of its adapters.
pub fn answer(
    query: &PlanQuery,
    folders: &[PathBuf],
    probe: &mut Probe,
    account: &MemoryAccount,
    outcomes: &Outcomes,
) -> Result<(Forecast, Vec<AdapterReport>), Failure> {
    forecast(query, folders, probe, account, outcomes)
        .map_err(|error| Failure { message: error.to_string(), advice: error.advice() })
}

fn forecast(
    query: &PlanQuery,
    folders: &[PathBuf],
    probe: &mut Probe,
    account: &MemoryAccount,
    outcomes: &Outcomes,
) -> Result<(Forecast, Vec<AdapterReport>), PipelineError> {
    let held = account.holdings();
    let held = held.weights + held.activations + held.host;
    let target = Target::choose(&query.memory, &probe.sample(), held, Pace::Card)?;
    let ((footprint, workload), reports) = match &query.subject {
        PlanSubject::Model => of_model(&query.request, folders)?,
        PlanSubject::Known(id) => (of_known(id, query)?, Vec::new()),
    };
    let correction = memory::correct(&outcomes.all(), &footprint.model, &target.machine);
    let workload = workload.scaled(correction.activation_factor);
    // A simulated card ran at the processor's speed, and its own is asked for.
    let machine = match target.choice {
        DeviceChoice::Simulated(_) => target.machine,
        DeviceChoice::Auto => correction.machine,
    };
    let forecast = memory::forecast(&footprint, &workload, &machine, &query.memory, correction.accuracy);
    Ok((forecast, reports))
}

type Sizes = (Footprint, Workload);

fn of_model(request: &Request, folders: &[PathBuf]) -> Result<(Sizes, Vec<AdapterReport>), PipelineError> {
    let mut model = models::open(&request.model.resolve()?)?;
    request.validate(model.denoiser.size_multiple(), model.denoiser.longest_side())?;
    let request = &pipeline::with_named_adapters(request, folders)?;
    let reports = pipeline::adapt_model(&mut model, &request.adapters)?;
    let prompts = pipeline::prompts(&model, request)?;
    let workload = pipeline::workload(&model, request, &prompts);
    let summary = pipeline::summarise(&model, &request.model)?;
    Ok(((pipeline::footprint(&model, &summary.name, request.dtype), workload), reports))
}

/// A well-known model, in the 16 bits that it is published in.
fn of_known(id: &str, query: &PlanQuery) -> Result<Sizes, PipelineError> {
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
    Ok((model.footprint(BYTES), model.workload(&shape, BYTES)))
}
