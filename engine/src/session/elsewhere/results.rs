//! Jobs and their results as an engine elsewhere sees them, and as the caller does.

use std::{collections::HashMap, path::Path};

use super::TravelError;
use crate::{
    output::{Date, OutputError, Settings},
    session::{
        command::{Job, JobId, Reports},
        event::{Event, Failure, Picture},
        inference::makes_clip,
    },
};

/// The settings of images that are on their way.
#[derive(Default)]
pub struct Results {
    settings: HashMap<JobId, Vec<Settings>>,
}

/// The job for the engine, which writes nothing on this computer.
pub fn outward(job: &Job) -> Result<Job, Failure> {
    let reports = [&job.dump, &job.reports.telemetry, &job.reports.trace];
    if let Some(path) = reports.into_iter().flatten().next() {
        return Err(TravelError::Report { path: path.clone() }.into());
    }
    if let Some(output) = &job.output {
        output.prepare(makes_clip(&job.request), job.codec).map_err(|error| failure(&error))?;
    }
    let journal = job.journal.as_deref().and_then(Path::file_name).map(Into::into);
    Ok(Job { output: None, reports: Reports::default(), journal, ..job.clone() })
}

impl Results {
    /// Keeps the settings of images until these arrive.
    pub fn expect(&mut self, job: JobId, settings: Vec<Settings>) {
        self.settings.insert(job, settings);
    }

    /// Forgets what was expected of a job.
    pub fn forget(&mut self, job: JobId) {
        self.settings.remove(&job);
    }

    /// Writes the images of a job as an engine of this computer does. Calls `emit` with what went wrong.
    pub fn save(&mut self, job: &Job, pictures: &mut [Picture], emit: impl Fn(Event)) {
        let settings = self.settings.remove(&job.id).unwrap_or_default();
        let Some(output) = &job.output else { return };
        let today = Date::today();
        for ((index, picture), settings) in (0..).zip(pictures).zip(&settings) {
            let saved = output.save(index, &picture.media, settings, job.encoding(), today);
            picture.path = saved.map_or_else(
                |error| {
                    emit(Event::NotSaved { job: job.id, failure: failure(&error) });
                    error.kept_at().map(Path::to_owned)
                },
                Some,
            );
        }
    }

    /// Whether images can be written as they are: an engine elsewhere is not trusted with that.
    pub fn are_whole(&self, job: &Job, pictures: &[Picture]) -> bool {
        let described = self.settings.get(&job.id).map_or(0, Vec::len);
        (job.output.is_none() || described == pictures.len())
            && pictures.iter().all(|picture| picture.media.is_whole())
    }
}

fn failure(error: &OutputError) -> Failure {
    Failure { message: error.to_string(), advice: error.advice().map(str::to_owned) }
}
