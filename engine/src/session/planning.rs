//! Answers to questions about memory. Reads headers, and of weights no more than a sample, once a model.

use std::sync::Arc;

use super::{
    command::{PlanQuery, PlanSubject},
    event::Failure,
    fitting,
    options::Library,
    outcomes::Outcomes,
    sizes::{KnownSizes, Sizes},
};
use crate::{
    adapters::AdapterReport,
    hardware::{MemoryAccount, Probe},
    memory::{self, DeviceChoice, Forecast, PlanError, RunIdentity},
    models::{KnownModel, Model, known_model, known_models},
    nn::Computes,
    pipeline::{self, Pace, PipelineError, Readings, Target},
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
    /// Models and adapters.
    pub library: &'a Library,
    /// What earlier questions came to.
    pub sizes: &'a mut KnownSizes,
    /// Number of CPU threads that a run computes with.
    pub compute_threads: usize,
}

/// What a request would take.
pub struct Answer {
    /// The plan, and what it was chosen from.
    pub forecast: Forecast,
    /// What is read of the prompts.
    pub readings: Readings,
    /// What became of the adapters.
    pub reports: Vec<AdapterReport>,
}

/// Says what a request would take.
pub fn answer(query: &PlanQuery, knowledge: Knowledge<'_>) -> Result<Answer, Failure> {
    forecast(query, knowledge).map_err(|error| Failure { message: error.to_string(), advice: error.advice() })
}

fn forecast(query: &PlanQuery, knowledge: Knowledge<'_>) -> Result<Answer, PipelineError> {
    let Knowledge { probe, account, outcomes, library, sizes: known, compute_threads } = knowledge;
    let held = account.holdings();
    let held = held.weights + held.activations + held.host;
    let sample = probe.sample();
    let choose = |pace| {
        Ok::<_, PipelineError>(
            Target::choose(&query.memory, &sample, held, pace)?.with_threads(compute_threads),
        )
    };
    let target = choose(Pace::Card)?;
    let (model, name) = subject_of(query, library)?;
    // A model that is here runs on the processor where the card is simulated.
    let computes = if name.is_some() { target.computes_if_there() } else { target.computes() };
    let mut of_request = |request: &Request, computes| {
        of_model((&model, name), request, query, &target, computes, library, known)
    };
    let Subject { sizes, readings, run } = of_request(&query.request, computes)?;
    let Sizes { footprint, workload, reports, .. } = &*sizes;
    let there = target.clone().computing_in(footprint.dtype);
    // A run may use weights in 8 bits where that is allowed, and is then recorded with them.
    let used = memory::with_allowed_precision(footprint, workload, &there.machine, &query.memory);
    let run = run.map(|run| RunIdentity { precisions: used.precisions(), ..run });
    let correction = there.correct(&outcomes.all(), run.as_ref(), footprint);
    let workload = workload.clone().scaled(correction.activation_factor);
    // A simulated card ran at the processor's speed, and its own is asked for.
    let (machine, timed) = match there.choice {
        DeviceChoice::Simulated(_) => {
            let sizes = of_request(&query.request, there.computes_if_there())?.sizes;
            (there.machine.clone(), workload.clone().with_operations_of(&sizes.workload))
        }
        DeviceChoice::Auto | DeviceChoice::Processor | DeviceChoice::Gpu(_) => {
            (correction.machine, workload.clone())
        }
    };
    let mut forecast = memory::forecast(footprint, &timed, &machine, &query.memory, correction.accuracy);
    if matches!(there.choice, DeviceChoice::Simulated(_)) && run.is_some() && forecast.plan.is_ok() {
        let here = choose(Pace::Here)?.computing_in(footprint.dtype);
        let machine = here.correct(&outcomes.all(), run.as_ref(), footprint).machine;
        forecast.seconds_here =
            memory::plan(footprint, &workload, &machine, &used).ok().map(|plan| plan.seconds);
    }
    if let Err(PlanError::Device { .. }) = forecast.plan {
        let mut fits = |request: &Request| {
            of_request(request, computes).is_ok_and(|Subject { sizes, .. }| {
                let workload = sizes.workload.clone().scaled(correction.activation_factor);
                let footprint = &sizes.footprint;
                let used = memory::with_allowed_precision(footprint, &workload, &machine, &query.memory);
                memory::plan(footprint, &workload, &machine, &used).is_ok()
            })
        };
        let request = &query.request;
        forecast.fitting_size = fitting::size(request, model.size_multiple(), &mut fits);
        forecast.fitting_frames =
            model.frame_multiple().and_then(|multiple| fitting::frames(request, multiple, &mut fits));
    }
    Ok(Answer { forecast, readings, reports: reports.clone() })
}

/// The model that is asked about, with its name if it is a well-known one.
fn subject_of(
    query: &PlanQuery,
    library: &Library,
) -> Result<(Arc<Model>, Option<&'static str>), PipelineError> {
    let (known, model) = match &query.subject {
        PlanSubject::Model => return Ok((library.models.of(&query.request)?, None)),
        PlanSubject::Known(id) => {
            let known = well_known(id)?;
            (known, known.open()?)
        }
        PlanSubject::KnownAs(id, stored) => {
            let known = well_known(id)?;
            (known, Arc::new(known.open_as(stored)?))
        }
    };
    Ok((library.models.completed(model, &query.request)?, Some(&known.name)))
}

fn well_known(id: &str) -> Result<&'static KnownModel, PipelineError> {
    known_model(id).ok_or_else(|| PipelineError::UnknownModel {
        id: id.to_owned(),
        known: known_models().iter().map(|model| model.id.clone()).collect(),
    })
}

struct Subject {
    sizes: Arc<Sizes>,
    readings: Readings,
    /// For comparison with past runs; absent for a model that is not here.
    run: Option<RunIdentity>,
}

/// A model on this machine, or a well-known one that would compute on the device that is asked about.
fn of_model(
    (model, name): (&Arc<Model>, Option<&str>),
    request: &Request,
    query: &PlanQuery,
    target: &Target,
    computes: Computes,
    library: &Library,
    sizes: &mut KnownSizes,
) -> Result<Subject, PipelineError> {
    let request = &pipeline::spelled_out(request, &library.prompt_folders)?;
    let resolved = pipeline::resolve(model, request, target)?.with_tile(query.memory.tile);
    let sizes = sizes.of(model, name, &resolved, computes)?;
    let run = || pipeline::run_identity(sizes.identity.clone(), &resolved, &query.memory);
    let run = name.is_none().then(run);
    Ok(Subject { sizes, readings: pipeline::readings(model, &resolved), run })
}
