//! How long the queue takes.

use sluice_engine::{
    memory::{DeviceChoice, Forecast, StageKind, StagePlan},
    request::{ModelSource, Request},
};

use super::{
    State,
    jobs::{Jobs, Progress, QueuedJob},
};
use crate::groups::seconds_of_another;

/// What a job takes, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// After a job with another model.
    pub first: f64,
    /// After one with the same model.
    pub next: f64,
    /// What of both follows the steps.
    pub after: f64,
    /// Whether that was measured, and not predicted.
    pub is_measured: bool,
}

impl Expected {
    /// What a forecast says of its own request, in seconds of this computer.
    pub fn of(forecast: &Forecast, device: &DeviceChoice, steps: u32) -> Option<Self> {
        let (plan, pace) = (forecast.plan.as_ref().ok()?, pace_here(forecast, device)?);
        let is_denoising = |stage: &StagePlan| stage.stage.kind == StageKind::Denoise;
        let passes = (plan.stages.iter().position(is_denoising), plan.stages.iter().rposition(is_denoising));
        let seconds = |stages: &[StagePlan]| stages.iter().map(|stage| stage.seconds).sum::<f64>();
        let (passes, after) = match passes {
            (Some(first), Some(last)) => {
                (seconds(&plan.stages[first + 1..=last]), seconds(&plan.stages[last + 1..]))
            }
            _ => (0.0, 0.0),
        };
        let next = (plan.seconds_per_step * f64::from(steps) + passes + after).min(plan.seconds);
        Some(Self { after: pace * after, ..Self::predicted(pace * plan.seconds, pace * next) })
    }

    /// What is predicted after a job with another model, and after one with the same.
    pub fn predicted(first: f64, next: f64) -> Self {
        Self { first, next, after: 0.0, is_measured: false }
    }
}

/// How many times as long as its plan a run takes here, where the CPU computes in the place of a simulated card; `None` if that
/// is not known.
pub(super) fn pace_here(forecast: &Forecast, device: &DeviceChoice) -> Option<f64> {
    match device {
        DeviceChoice::Auto | DeviceChoice::Processor | DeviceChoice::Gpu(_) => Some(1.0),
        DeviceChoice::Simulated(_) => {
            let (plan, here) = (forecast.plan.as_ref().ok()?, forecast.seconds_here?);
            (plan.seconds > 0.0).then(|| here / plan.seconds)
        }
    }
}

impl QueuedJob {
    /// What is left of it when it stops: it goes on from its last step.
    pub(super) fn rest(&self) -> Option<Expected> {
        let progress = self.progress.as_ref();
        let Some((steps, since)) = progress.and_then(|progress| progress.left) else { return self.expected };
        let next = progress.and_then(|progress| progress.seconds_left(since)).unwrap_or(steps);
        let loading = self.expected.map_or(0.0, |expected| expected.first - expected.next);
        Some(Expected { first: next + loading, next, after: next - steps, is_measured: true })
    }
}

/// Whether a request makes an image or a clip of its prompt.
fn generates(request: &Request) -> bool {
    request.changes_file().is_none()
        && request.map_of.is_none()
        && request.mask_of.is_none()
        && request.detail_of.is_none()
        && !request.writes()
}

impl Jobs {
    /// Keeps what the job takes that was added last.
    pub(super) fn expect(&mut self, expected: Option<Expected>) {
        let newest = self.newest();
        if let Some(job) = self.queue.iter_mut().rfind(|job| job.id == newest) {
            job.expected = expected;
        }
    }

    /// Keeps how long the steps of a job took, for those that wait.
    pub(super) fn learn_pace(&mut self, job: &QueuedJob) {
        let pace = job.progress.as_ref().and_then(Progress::pace);
        if let Some(pace) = pace.filter(|_| generates(job.request())) {
            self.pace = Some((job.request().model.clone(), pace));
        }
    }

    /// How many times as long as expected jobs take with the models of what runs, and of what ran last.
    fn paces(&self) -> Vec<(&ModelSource, f64)> {
        let running = self.queue.iter().filter_map(|job| {
            let pace = job.progress.as_ref()?.pace()?;
            generates(job.request()).then_some((&job.request().model, pace))
        });
        running.chain(self.pace.as_ref().map(|(model, pace)| (model, *pace))).collect()
    }
}

/// How many times as long as expected a job takes.
fn pace_of(job: &QueuedJob, paces: &[(&ModelSource, f64)]) -> f64 {
    let request = job.request();
    if !generates(request) || job.expected.is_some_and(|expected| expected.is_measured) {
        return 1.0;
    }
    paces.iter().find(|(model, _)| **model == request.model).map_or(1.0, |(_, pace)| *pace)
}

impl State {
    /// What the next image takes, if the forecast beside Generate is about it.
    pub(super) fn expected(&self) -> Option<Expected> {
        let forecast = self.planning.forecast().filter(|_| !self.planning.is_asking())?;
        Expected::of(forecast, &self.settings.memory.preferences.device, self.draft().request.steps)
    }

    /// Whether a card is only simulated.
    pub fn simulates(&self) -> bool {
        matches!(self.settings.memory.preferences.device, DeviceChoice::Simulated(_))
    }

    /// The pace of this computer by the forecast for the panel's settings.
    pub(super) fn pace_here(&self) -> Option<f64> {
        pace_here(self.planning.forecast()?, &self.settings.memory.preferences.device)
    }

    /// About how many seconds the queue takes: what is left of the running job, if one runs, and the others as was predicted when
    /// they were queued or, without that, by the forecast for the panel's settings, both by the pace of what runs or ran last.
    /// Nothing is known about other models without either.
    pub fn seconds_of_queue(&self, now: f64) -> Option<f64> {
        let running = self.jobs.running();
        // Nothing runs while the queue is paused.
        let mut seconds = running.map_or(Some(0.0), |(_, progress)| progress.seconds_left(now))?;
        let running = running.map(|(job, _)| job);
        let (base, mut model) = (self.draft().to_send(), running.map(|job| &job.request().model));
        let paces = self.jobs.paces();
        let is_running = |job: &&QueuedJob| running.is_some_and(|running| running.id == job.id);
        for job in self.jobs.queue.iter().filter(|job| !is_running(job) && !job.cancelling) {
            let is_next = model.replace(&job.request().model) == Some(&job.request().model);
            let predicted = match job.expected {
                Some(expected) if is_next => expected.next,
                Some(expected) => expected.first,
                None => self.seconds_by_panel(job, &base)?,
            };
            seconds += pace_of(job, &paces) * predicted;
        }
        Some(seconds / self.lanes.serving() as f64)
    }

    fn seconds_by_panel(&self, job: &QueuedJob, base: &Request) -> Option<f64> {
        let request = job.request();
        if request.model != base.model || !generates(request) {
            return None;
        }
        let pixels = |request: &Request| {
            let frames = f64::from(request.frames.max(1)) * f64::from(request.batch.max(1));
            f64::from(request.width) * f64::from(request.height) * frames
        };
        let there = seconds_of_another(self.planning.plan()?, request.steps, pixels(request) / pixels(base));
        Some(self.pace_here()? * there)
    }
}
