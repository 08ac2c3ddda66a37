//! Answers to questions about memory. Reads headers, and of weights no more than a sample, once a model.

use super::{
    command::{PlanQuery, PlanSubject},
    event::Failure,
    options::Folders,
    outcomes::Outcomes,
    precisions::MeasuredErrors,
};
use crate::{
    adapters::AdapterReport,
    checkpoint::Errors,
    hardware::{MemoryAccount, Probe},
    memory::{self, DeviceChoice, Footprint, Forecast, RequestShape, Workload, known_model, known_models},
    models,
    nn::Trace,
    pipeline::{self, Pace, PipelineError, Reading, Target},
    request::Request,
};

/// What answers are made of.
pub struct Knowledge<'a> {
    /// Says what the machine has.
    pub probe: &'a mut Probe,
    /// What the engine holds.
    pub account: &'a MemoryAccount,
    /// Past runs.
    pub outcomes: &'a Outcomes,
    /// What weights lose in fewer bits.
    pub errors: &'a mut MeasuredErrors,
    /// Where a person keeps models and adapters.
    pub folders: &'a Folders,
}

/// What a request would take.
pub struct Answer {
    /// The plan, and what it was chosen from.
    pub forecast: Forecast,
    /// What is read of the prompts.
    pub readings: Vec<Vec<Reading>>,
    /// What became of the adapters.
    pub reports: Vec<AdapterReport>,
}

/// Says what a request would take.
pub fn answer(query: &PlanQuery, knowledge: Knowledge<'_>) -> Result<Answer, Failure> {
    forecast(query, knowledge).map_err(|error| Failure { message: error.to_string(), advice: error.advice() })
}

fn forecast(query: &PlanQuery, knowledge: Knowledge<'_>) -> Result<Answer, PipelineError> {
    let Knowledge { probe, account, outcomes, errors, folders } = knowledge;
    let held = account.holdings();
    let held = held.weights + held.activations + held.host;
    let target = Target::choose(&query.memory, &probe.sample(), held, Pace::Card)?;
    let Subject { footprint, workload, readings, reports } = match &query.subject {
        PlanSubject::Model => of_model(&query.request, &target, errors, folders)?,
        PlanSubject::Known(id) => of_known(id, query)?,
    };
    let target = target.computing_in(footprint.dtype);
    let correction = memory::correct(&outcomes.all(), &footprint, &target.machine);
    let workload = workload.scaled(correction.activation_factor);
    // A simulated card ran at the processor's speed, and its own is asked for.
    let machine = match target.choice {
        DeviceChoice::Simulated(_) => target.machine,
        DeviceChoice::Auto | DeviceChoice::Processor => correction.machine,
    };
    let forecast = memory::forecast(&footprint, &workload, &machine, &query.memory, correction.accuracy);
    Ok(Answer { forecast, readings, reports })
}

struct Subject {
    footprint: Footprint,
    workload: Workload,
    readings: Vec<Vec<Reading>>,
    reports: Vec<AdapterReport>,
}

fn of_model(
    request: &Request,
    target: &Target,
    errors: &mut MeasuredErrors,
    folders: &Folders,
) -> Result<Subject, PipelineError> {
    let mut model = models::open(&request.model.resolve()?, &folders.models)?;
    model.validate(request)?;
    let errors: Vec<Errors> = model.components().map(|component| errors.of(component)).collect();
    let request = &pipeline::with_named_adapters(request, &folders.adapters)?;
    let reports = pipeline::adapt_model(&mut model, &request.adapters)?;
    let prompts = pipeline::prompts(&model, request)?;
    let dtype = target.dtype(&model, request.dtype);
    let workload = pipeline::workload(&model, request, dtype, &prompts, &Trace::new(target.computes()))?;
    let summary = pipeline::summarise(&model, &request.model)?;
    let mut footprint = pipeline::footprint(&model, &summary.name, dtype);
    for (part, errors) in footprint.parts.iter_mut().zip(errors) {
        part.errors = errors;
    }
    let readings = pipeline::readings(&model, &prompts);
    Ok(Subject { footprint, workload, readings, reports })
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
    Ok(Subject {
        footprint: model.footprint(BYTES),
        workload: model.workload(&shape, BYTES),
        readings: Vec::new(),
        reports: Vec::new(),
    })
}
