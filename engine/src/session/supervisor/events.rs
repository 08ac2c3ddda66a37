//! Events on their way from the worker.

use super::{SAME_VERSION, Supervisor};
use crate::{
    output::Media,
    session::{Event, Failure, JobId, Picture},
};

impl Supervisor {
    /// Forwards an event, unless an earlier worker already sent it.
    pub(super) fn hear(&mut self, mut event: Event) {
        if let Some(elsewhere) = &mut self.elsewhere {
            elsewhere.sent.homeward(&mut event);
            match event {
                Event::Described { job, settings } if self.jobs.entry(job).is_some() => {
                    return elsewhere.results.expect(job, settings);
                }
                Event::Described { .. } => return,
                Event::Preview { ref media, .. } if !media.iter().all(Media::is_whole) => return,
                _ => {}
            }
        }
        if let Event::Finished { job, pictures, .. } = &mut event {
            let job = *job;
            if let Err(failure) = self.save(job, pictures) {
                event = Event::Failed { job: Some(job), failure };
            }
        }
        let is_known = match &event {
            Event::Queued { job, .. } => {
                let entry = self.jobs.entry(*job);
                entry.is_some_and(|entry| std::mem::replace(&mut entry.is_announced, true))
            }
            Event::Started { job } => {
                let entry = self.jobs.entry(*job);
                entry.is_some_and(|entry| std::mem::replace(&mut entry.is_started, true))
            }
            Event::Step { job, step, .. } => {
                if let Some(entry) = self.jobs.entry(*job).filter(|entry| *step > entry.step) {
                    (entry.step, entry.deaths) = (*step, 0);
                    self.deaths = 0;
                }
                false
            }
            Event::Finished { job, .. } | Event::Failed { job: Some(job), .. } => {
                let job = *job;
                let ended = self.jobs.entry(job).map(|entry| entry.job.clone());
                self.jobs.end(job);
                self.left(job);
                self.forget(ended.as_slice());
                self.deaths = 0;
                false
            }
            Event::Cancelled { job } => {
                // A worker that ends, with the session or because its input is broken, cancels what runs. Nobody has asked
                // for that, so the job is kept for the next session or worker.
                let job = *job;
                let is_wanted = self.jobs.entry(job).is_none_or(|entry| entry.is_cancelled);
                if is_wanted {
                    let gone = self.jobs.cancel(job);
                    self.left(job);
                    self.forget(&gone);
                }
                !is_wanted && self.closing.is_none()
            }
            Event::ModelLoaded(summary) => {
                self.asked.loads.retain(|asked| asked.model != summary.source);
                false
            }
            Event::NotLoaded { model, .. } => {
                self.asked.loads.retain(|asked| asked.model != *model);
                false
            }
            Event::Listed { .. } => {
                self.asked.list = false;
                false
            }
            Event::Planned { id, .. } | Event::NotPlanned { id, .. } => {
                self.asked.plans.retain(|(asked, _)| asked != id);
                false
            }
            Event::Hardware(_) | Event::Preview { .. } | Event::Telemetry { .. } => {
                self.emitter.offer(event);
                return;
            }
            // Closing the pipe says the same.
            Event::ShutDown => true,
            _ => false,
        };
        if !is_known {
            self.emitter.emit(event);
        }
    }

    /// Writes the images of a job of an engine elsewhere.
    fn save(&mut self, job: JobId, pictures: &mut [Picture]) -> Result<(), Failure> {
        let (Some(elsewhere), Some(entry)) = (&mut self.elsewhere, self.jobs.entry(job)) else {
            return Ok(());
        };
        if !elsewhere.results.are_whole(&entry.job, pictures) {
            let message = "the engine sent images that are not complete".to_owned();
            return Err(Failure { message, advice: Some(SAME_VERSION.to_owned()) });
        }
        elsewhere.results.save(&entry.job, pictures, |event| self.emitter.emit(event));
        Ok(())
    }
}
