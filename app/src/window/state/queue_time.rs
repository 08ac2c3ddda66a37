//! How long the queue takes.

use sluice_engine::{
    memory::{DeviceChoice, Forecast},
    request::Request,
};

use super::{
    State,
    jobs::{Jobs, QueuedJob},
};
use crate::groups::seconds_of_another;

/// What a job takes, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// After a job with another model.
    pub first: f64,
    /// After one with the same model.
    pub next: f64,
}

impl Expected {
    /// What a forecast says of its own request, in seconds of this computer.
    pub fn of(forecast: &Forecast, device: &DeviceChoice, steps: u32) -> Option<Self> {
        let (plan, pace) = (forecast.plan.as_ref().ok()?, pace_here(forecast, device)?);
        let next = seconds_of_another(plan, steps, 1.0).min(plan.seconds);
        Some(Self { first: pace * plan.seconds, next: pace * next })
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
        let left = self.progress.as_ref().and_then(|progress| progress.left);
        match (left, self.expected) {
            (Some((left, _)), Some(Expected { first, next })) => {
                Some(Expected { first: left + (first - next), next: left })
            }
            (Some((left, _)), None) => Some(Expected { first: left, next: left }),
            (None, expected) => expected,
        }
    }
}

impl Jobs {
    /// Keeps what the job takes that was added last.
    pub(super) fn expect(&mut self, expected: Option<Expected>) {
        let newest = self.newest();
        if let Some(job) = self.queue.iter_mut().rfind(|job| job.id == newest) {
            job.expected = expected;
        }
    }
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

    /// About how many seconds the queue takes: what is left of the running job, if one runs, and the others as was predicted when they were
    /// queued or, without that, by the forecast for the panel's settings. Nothing is known about other models without either.
    pub fn seconds_of_queue(&self, now: f64) -> Option<f64> {
        let running = self.jobs.running();
        // Nothing runs while the queue is paused.
        let mut seconds = running.map_or(Some(0.0), |(_, progress)| progress.seconds_left(now))?;
        let running = running.map(|(job, _)| job);
        let (base, mut model) = (self.draft().to_send(), running.map(|job| &job.request().model));
        let is_running = |job: &&QueuedJob| running.is_some_and(|running| running.id == job.id);
        for job in self.jobs.queue.iter().filter(|job| !is_running(job) && !job.cancelling) {
            let is_next = model.replace(&job.request().model) == Some(&job.request().model);
            seconds += match job.expected {
                Some(expected) if is_next => expected.next,
                Some(expected) => expected.first,
                None => self.seconds_by_panel(job, &base)?,
            };
        }
        Some(seconds / self.lanes.serving() as f64)
    }

    fn seconds_by_panel(&self, job: &QueuedJob, base: &Request) -> Option<f64> {
        let request = job.request();
        let generates = request.changes_file().is_none()
            && request.map_of.is_none()
            && request.mask_of.is_none()
            && request.detail_of.is_none()
            && !request.writes();
        if request.model != base.model || !generates {
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
