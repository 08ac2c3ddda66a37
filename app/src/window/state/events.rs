//! Applies the events of the engine.

use sluice_engine::{
    request::Request,
    session::{Event, Failure, JobId, Picture, Readings},
};

use super::{
    Answer, ModelStatus, QueuedJob, Shown, State, enhancing, file_name, folder_run, tool_costs, upscaling,
};
use crate::{
    language::{said, tr},
    window::{sentences::sentence, told::Told},
};

/// Whether a job makes a map, a mask or a text, which is no image of the session.
fn makes_no_image(request: &Request) -> bool {
    request.map_of.is_some() || request.mask_of.is_some() || request.writes()
}

impl State {
    /// Applies an event. `now` is the window's clock in seconds.
    pub fn apply(&mut self, event: Event, now: f64) {
        match event {
            Event::Hardware(sample) => self.engine.hardware = Some(sample),
            Event::Serving(serving) => self.engine.serving = Some(serving),
            Event::ShutDown => self.engine_gone(),
            // Of several, it is said which.
            Event::Restarting { .. } if self.lanes.shown().is_some() => {}
            Event::Restarting { failure } => self.restarting(tr!("state-engine-restarted"), None, failure),
            Event::Assigned { job, lane } => self.assigned(job, lane),
            Event::Returned { job } => {
                self.watches.ended(job);
                self.jobs.returned(job);
                self.leave_live();
            }
            Event::Lane { lane, change } => self.lane_changed(lane, change),
            Event::ModelLoaded(summary) => self.model_loaded(summary),
            Event::NotLoaded { model, failure } => self.model_not_loaded(&model, failure),
            Event::Listed { lane, folders, inventory } => {
                self.listed_elsewhere(lane, folders, *inventory, now);
            }
            // The window writes no images itself.
            Event::Unloaded | Event::Described { .. } => {}
            Event::Adapted { reports, .. } => self.adapters.reports = reports,
            Event::Planned { id, forecast, readings } => {
                self.planned(id, Answer::Forecast(forecast), readings);
            }
            Event::NotPlanned { id, failure } => {
                self.planned(id, Answer::Failure(failure), Readings::default())
            }
            Event::Telemetry { job, events } => self.watches.telemetry(job, self.jobs.aside(job), &events),
            Event::Replanned { job, reason } => self.watches.replan(job, reason),
            Event::Outcome { job, outcome } => {
                let is_image =
                    !self.jobs.queue.iter().any(|known| known.id == job && makes_no_image(known.request()));
                if is_image {
                    self.watches.measured(self.jobs.aside(job), outcome);
                }
                self.planning.ask_again();
                self.tool_costs.renew();
                self.library.fits.renew();
            }
            // Nobody waits for a text any more.
            Event::Unfinished { mut jobs } => {
                jobs.retain(|job| !job.request.writes());
                // What was being edited is known only here.
                jobs.extend(self.jobs.unfinished.drain(..).filter(|job| job.journal.is_none()));
                self.jobs.unfinished = jobs;
            }
            Event::Resumable { mut jobs } => {
                jobs.retain(|job| !job.request.writes());
                self.messages.resumable_from_before(jobs);
            }
            Event::Text { job, text, is_whole } => self.take_text(job, text, is_whole),
            Event::Queued { job, .. } => tracing::debug!(job = job.0, "queued"),
            Event::Started { job } => self.started(job),
            Event::StageStarted { job, stage } => {
                self.jobs.update(job, |progress| progress.start(stage.kind, now));
            }
            Event::StageFinished { job, stage, seconds } => {
                tracing::debug!(job = job.0, ?stage, seconds, "stage finished");
            }
            Event::Step { job, step, steps, seconds, seconds_left } => {
                self.jobs.update(job, |progress| {
                    progress.step_done((step, steps), (seconds, seconds_left), now);
                });
            }
            Event::Preview { job, media, .. } => self.jobs.update(job, |progress| {
                progress.preview = media;
                progress.preview_version += 1;
            }),
            Event::Found { job, detailer, boxes: 0 } => self.found_nothing(job, detailer),
            Event::Found { job, boxes, .. } => tracing::debug!(job = job.0, boxes, "found"),
            Event::NotSaved { failure, .. } => {
                self.messages.fail(&tr!("state-not-saved"), failure);
            }
            Event::Finished { job, pictures, seconds } => self.finished(job, pictures, seconds),
            Event::Cancelled { job } => {
                let place = self.jobs.queue.iter().rposition(|known| known.id == job);
                if let (Some(place), Some(job)) = (place, self.end(job))
                    && self.jobs.is_cancelled(&job)
                    && !job.request().writes()
                {
                    self.messages.cancelled(place, job);
                }
                self.say_described();
                self.leave_live();
            }
            Event::Failed { job, failure } => self.failed(job, failure),
        }
        self.jobs.groups.settle(&self.jobs.unfinished);
    }

    /// Handles the end of the engine, after its last event.
    pub fn engine_gone(&mut self) {
        if self.engine.ended {
            return;
        }
        self.engine.ended = true;
        if self.model.status == ModelStatus::Loading {
            self.not_opened();
        }
        self.jobs.queue.clear();
        self.end_vain_search();
        self.leave_live();
        let failure = Failure {
            message: tr!("state-engine-stopped-message"),
            advice: Some(tr!("state-engine-stopped-advice")),
        };
        self.messages.fail(&tr!("state-engine-stopped"), failure);
    }

    fn planned(&mut self, id: u64, answer: Answer, readings: Readings) {
        let Some(answer) = self.library.fits.take(id, answer) else { return };
        if id <= tool_costs::FIRST {
            return self.planning.take(id, answer, readings);
        }
        if id <= folder_run::FIRST {
            return self.tool_costs.take(id, answer);
        }
        if id <= enhancing::FIRST {
            return self.folder_run.take(id, answer);
        }
        if id <= upscaling::FIRST {
            if let Some(enhancing) = &mut self.enhancing {
                enhancing.take(id, answer);
            }
            return;
        }
        self.take_estimate(id, answer);
    }

    fn started(&mut self, job: JobId) {
        self.messages.works();
        self.watches.started(job);
        let is_image =
            self.jobs.queue.iter().all(|known| known.id != job || !makes_no_image(known.request()));
        if self.jobs.start(job) && self.images.follow && is_image {
            self.images.shown = Shown::Live;
        }
    }

    fn finished(&mut self, job: JobId, images: Vec<Picture>, seconds: f64) {
        self.jobs.groups.finished(job, &images);
        let Some(job) = self.end(job) else { return };
        self.jobs.groups.ended(job.id);
        self.jobs.ended_well(&job);
        self.jobs.learn_pace(&job);
        if job.request().writes() {
            self.say_described();
            return self.leave_live();
        }
        if let Some(map) = &job.request().map_of {
            self.input.files.take_map(map, &images);
            return self.leave_live();
        }
        if let Some(mask) = &job.request().mask_of {
            self.take_mask(mask, &images);
            return self.leave_live();
        }
        let ids = self.images.recents.add_finished(job.request(), images, seconds);
        if self.images.follow
            && let Some(&first) = ids.first()
        {
            self.images.shown = Shown::Recent(first);
        }
        self.leave_live();
    }

    /// The process of an engine, of several that at a place, has ended and is being restarted.
    pub(super) fn restarting(&mut self, text: String, lane: Option<usize>, failure: Failure) {
        let advice = failure.advice.map(|advice| said(&advice));
        let message = std::iter::once(sentence(&failure.message));
        let details = self.jobs.goes_on(lane).into_iter().chain(message).chain(advice).collect();
        self.messages.say(text, details);
    }

    /// Says that a detailer of a job found nothing; below a way back that is offered, which stays.
    fn found_nothing(&mut self, job: JobId, detailer: usize) {
        let job = self.jobs.queue.iter().find(|known| known.id == job);
        let detector = job.and_then(|job| job.request().detailers.get(detailer));
        let name = detector.map_or_else(|| (detailer + 1).to_string(), |detector| file_name(&detector.model));
        let told = Told::about(name, |name| tr!("detailers-found-nothing", name = name));
        self.messages.add_to_notice(told, vec![tr!("detailers-found-nothing-detail")]);
    }

    fn failed(&mut self, job: Option<JobId>, failure: Failure) {
        match job {
            Some(id) => {
                let job = self.end(id);
                self.jobs.stop_repeating();
                self.jobs.groups.ended(id);
                self.leave_live();
                self.say_described();
                self.messages.job_failed(job, failure);
            }
            None => self.messages.fail(&tr!("state-went-wrong"), failure),
        }
    }

    fn end(&mut self, id: JobId) -> Option<QueuedJob> {
        self.watches.ended(id);
        self.ended_writing(id);
        self.jobs.end(id)
    }

    /// Shows the newest image instead of the live preview when no job is running.
    fn leave_live(&mut self) {
        if self.images.shown == Shown::Live && self.jobs.running().is_none() {
            self.images.show_newest();
        }
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        checkpoint::MapKind,
        memory::Outcome,
        request::{Detailer, MapOf},
        session::{Command, Job},
    };

    use super::*;

    fn outcome() -> Box<Outcome> {
        Box::new(Outcome {
            model: "Example".to_owned(),
            run: None,
            device: "CPU".to_owned(),
            predicted_device: 7,
            measured_device: 8,
            predicted_activations: 0,
            measured_activations: 0,
            predicted_step_seconds: 0.1,
            measured_step_seconds: 0.2,
            measured_operations_per_second: 0.0,
            measured_link_bytes_per_second: 0.0,
            measured_disk_bytes_per_second: 0.0,
            stages: Vec::new(),
            speeds: Vec::new(),
        })
    }

    #[test]
    fn the_last_run_is_one_that_made_an_image() {
        let mut state = State::default();
        let map_of = Some(MapOf { kind: MapKind::Depth, image: "fox.png".into() });
        for (request, is_kept) in
            [(Request { map_of, ..Request::default() }, false), (Request::default(), true)]
        {
            state.jobs.add(Job::new(JobId(0), request));
            let job = state.jobs.newest();
            state.apply(Event::Outcome { job, outcome: outcome() }, 0.0);
            assert_eq!(state.watches.outcome.is_some(), is_kept);
        }
    }

    #[test]
    fn ten_thousand_jobs_are_cancelled_and_resumed_in_their_order() {
        let mut state = State::default();
        for seed in 0..10_000 {
            state.jobs.add(Job::new(JobId(0), Request { seed, ..Request::default() }));
        }
        let cancelled: Vec<_> = state.jobs.cancel_all();
        assert_eq!((cancelled.len(), state.jobs.cancel_all().len()), (10_000, 0));
        for command in cancelled {
            let Command::Cancel { job } = command else { panic!("{command:?}") };
            state.apply(Event::Cancelled { job }, 0.0);
        }
        assert!(state.jobs.queue.is_empty());
        let undo = state.messages.notice.take().unwrap().undo.unwrap();
        assert_eq!(state.undo(undo).len(), 10_000);
        let seeds: Vec<_> = state.jobs.queue.iter().map(|job| job.request().seed).collect();
        assert_eq!(seeds, (0..10_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_queue_in_another_order_is_resumed_in_that_order() {
        let mut state = State::default();
        for seed in 0..4 {
            state.jobs.add(Job::new(JobId(0), Request { seed, ..Request::default() }));
        }
        let newest = state.jobs.newest();
        state.jobs.run_next(newest);
        let order = |state: &State| state.jobs.queue.iter().map(|job| job.request().seed).collect::<Vec<_>>();
        let before = order(&state);
        assert_eq!(before, [3, 0, 1, 2]);
        for command in state.jobs.cancel_all() {
            let Command::Cancel { job } = command else { panic!("{command:?}") };
            state.apply(Event::Cancelled { job }, 0.0);
        }
        let undo = state.messages.notice.take().unwrap().undo.unwrap();
        state.undo(undo);
        assert_eq!(order(&state), before);
    }

    #[test]
    fn a_detailer_that_finds_nothing_says_so() {
        let mut state = State::default();
        let detailers = vec![Detailer::new("/models/face.safetensors")];
        state.jobs.add(Job::new(JobId(0), Request { detailers, ..Request::default() }));
        let job = state.jobs.newest();
        state.apply(Event::Found { job, detailer: 0, boxes: 2 }, 0.0);
        assert_eq!(state.messages.notice, None);
        state.apply(Event::Found { job, detailer: 0, boxes: 0 }, 0.0);
        let said = "The detector face.safetensors found nothing";
        assert_eq!(state.messages.notice.as_ref().unwrap().text, said);

        let draft = state.draft().clone();
        state.restore(draft, "Preset Night".to_owned(), Vec::new());
        for _ in 0..2 {
            state.apply(Event::Found { job, detailer: 0, boxes: 0 }, 0.0);
        }
        let notice = state.messages.notice.unwrap();
        assert_eq!((notice.text.as_str(), notice.details), ("Preset Night", vec![said.to_owned()]));
        assert!(notice.undo.is_some());
    }
}
