//! One of several engines, and what is known of it.

use std::{collections::VecDeque, time::Instant};

use crate::{
    hardware::HardwareSample,
    memory::{DeviceChoice, MemoryPreferences},
    request::ModelSource,
    session::{
        command::{Job, JobId},
        event::{Failure, Serving},
    },
};

use super::Lane;

/// An engine.
pub struct Tracked {
    pub lane: Lane,
    /// The job that it has.
    pub job: Option<Job>,
    /// Whether that job is to be cancelled.
    pub is_cancelling: bool,
    /// Its process, if it takes jobs now.
    pub serving: Option<Serving>,
    pub has_ended: bool,
    /// When its process ended or its connection broke, until it serves again.
    pub lost_at: Option<Instant>,
    /// The last that it said of its computer.
    pub hardware: Option<HardwareSample>,
    /// Models that it is asked for, one after the other.
    asked: VecDeque<ModelSource>,
    /// Models that it has.
    has: Vec<ModelSource>,
    /// Models that it does not have, and why.
    lacks: Vec<(ModelSource, Failure)>,
}

impl Tracked {
    pub fn new(lane: Lane) -> Self {
        Self {
            lane,
            job: None,
            is_cancelling: false,
            serving: None,
            has_ended: false,
            lost_at: None,
            hardware: None,
            asked: VecDeque::new(),
            has: Vec::new(),
            lacks: Vec::new(),
        }
    }

    /// Whether it could start a job at once.
    pub fn is_free(&self) -> bool {
        self.serving.is_some() && !self.has_ended && self.job.is_none() && self.asked.is_empty()
    }

    pub fn has(&self, model: &ModelSource) -> bool {
        self.has.contains(model)
    }

    /// Why it does not have a model.
    pub fn lacks(&self, model: &ModelSource) -> Option<&Failure> {
        self.lacks.iter().find(|(lacking, _)| lacking == model).map(|(_, failure)| failure)
    }

    pub fn may_ever_run(&self, model: &ModelSource) -> bool {
        !self.has_ended && self.lacks(model).is_none()
    }

    pub fn runs(&self, id: JobId) -> bool {
        self.job.as_ref().is_some_and(|job| job.id == id)
    }

    /// Notes that it is to be asked for a model. Returns whether that is its turn.
    pub fn ask(&mut self, model: &ModelSource) -> bool {
        self.has.retain(|known| known != model);
        self.lacks.retain(|(known, _)| known != model);
        if !self.asked.contains(model) {
            self.asked.push_back(model.clone());
            return self.asked.len() == 1;
        }
        false
    }

    pub fn is_asked(&self, model: &ModelSource) -> bool {
        self.asked.contains(model)
    }

    /// It has a model. Returns the next one that it is to be asked for.
    pub fn found(&mut self, model: &ModelSource) -> Option<ModelSource> {
        if self.asked.front() == Some(model) {
            self.asked.pop_front();
        }
        self.has.push(model.clone());
        self.asked.front().cloned()
    }

    /// It does not have a model. Returns the next one that it is to be asked for.
    pub fn missed(&mut self, model: &ModelSource, failure: &Failure) -> Option<ModelSource> {
        if self.asked.front() == Some(model) {
            self.asked.pop_front();
        }
        self.lacks.push((model.clone(), failure.clone()));
        self.asked.front().cloned()
    }

    /// It takes nothing any more.
    pub fn end(&mut self) {
        self.has_ended = true;
        (self.serving, self.lost_at) = (None, None);
        self.asked.clear();
    }

    /// The preferences for this engine: a number of a GPU is one of another engine's computer.
    pub fn preferences(&self, given: &MemoryPreferences) -> MemoryPreferences {
        let device = match &given.device {
            DeviceChoice::Gpu(_) if self.lane.has_own_device => DeviceChoice::Auto,
            device => device.clone(),
        };
        MemoryPreferences { device, ..given.clone() }
    }
}
