//! Unfinished jobs.

use std::collections::{HashSet, VecDeque};

use sluice_engine::{
    output::Media,
    request::{Interpolate, ModelSource, Request},
    session::{Command, Job, JobId, StageKind},
};

use super::{editing::Edited, groups::Groups, queue_time::Expected};
use crate::language::{self, tr};

/// The progress of the running job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// The current stage.
    pub stage: Option<StageKind>,
    /// Steps done.
    pub step: u32,
    /// Total steps; 0 before the first.
    pub steps: u32,
    /// Frames of the clip in a file that are enlarged or made; 0 for images.
    pub frames: u32,
    /// Whether the stage is between two passes of steps, where nothing is counted.
    pub is_between: bool,
    /// Duration of the last step.
    pub step_seconds: f64,
    /// The estimated remaining time of all steps, and when it was made.
    pub left: Option<(f64, f64)>,
    /// When the first step began.
    pub begun: Option<f64>,
    /// What all steps take by those that are done.
    pub measured: Option<f64>,
    /// What the job was expected to take.
    pub expected: Option<Expected>,
    /// Live previews.
    pub preview: Vec<Media>,
    /// Rises with every preview.
    pub preview_version: u64,
}

impl Progress {
    fn of(request: &Request, expected: Option<Expected>) -> Self {
        let frames = match &request.interpolate {
            Some(Interpolate { how, .. }) => {
                let factor = how.factor.max(1);
                (request.frames / factor).saturating_sub(1) * (factor - 1)
            }
            None if request.upscale.is_some() && request.frames > 1 => request.frames,
            None => 0,
        };
        Self { frames, expected, ..Self::default() }
    }

    /// Of a clip in a file, whose steps are the tiles of all frames: the frame that is done or in hand, and how many there are.
    pub fn frame(&self) -> Option<(u32, u32)> {
        let tiles = self.steps.checked_div(self.frames).filter(|tiles| *tiles > 0)?;
        Some((self.step.div_ceil(tiles).min(self.frames), self.frames))
    }

    /// A stage starts.
    pub fn start(&mut self, stage: StageKind, now: f64) {
        // What is done between two passes is no step.
        if let Some((_, since)) = self.left.as_mut().filter(|_| self.is_between) {
            *since = now;
        }
        if stage == StageKind::Denoise {
            self.begun.get_or_insert(now);
        }
        // Frames of a generated clip come after its steps; those of a clip in a file are steps themselves.
        let is_after = stage == StageKind::Interpolate && self.steps > 0;
        self.is_between = is_after || stage != StageKind::Denoise && (1..self.steps).contains(&self.step);
        self.stage = Some(stage);
    }

    /// The finished fraction, 0…1. Encoding and decoding have no steps and count as one each. Nothing else comes with
    /// enlarging.
    pub fn fraction(&self) -> f32 {
        let done = match self.stage {
            None => 0.0,
            Some(_) if self.is_between => 1.0 + self.step as f32,
            // Those of the maps of a clip.
            Some(StageKind::Preprocess) if self.steps > 0 => return self.step as f32 / self.steps as f32,
            Some(StageKind::Preprocess | StageKind::Detect) => 0.1,
            Some(StageKind::EncodeImage) => 0.15,
            Some(StageKind::EncodePrompt | StageKind::Write) => 0.3,
            Some(StageKind::Denoise) => 1.0 + self.step as f32,
            Some(StageKind::Decode) => 1.3 + self.steps as f32,
            Some(StageKind::Upscale | StageKind::Interpolate) => {
                return self.step as f32 / self.steps.max(1) as f32;
            }
        };
        done / (2.0 + self.steps.max(1) as f32)
    }

    /// A step is done.
    pub fn step_done(&mut self, (step, steps): (u32, u32), (seconds, seconds_left): (f64, f64), now: f64) {
        (self.step, self.steps, self.step_seconds) = (step, steps, seconds);
        self.left = Some((seconds_left, now));
        self.measured = self.begun.map(|begun| (now - begun).max(0.0) + seconds_left);
    }

    /// How many times as long as expected its steps take.
    pub fn pace(&self) -> Option<f64> {
        let predicted = self.expected.filter(|expected| !expected.is_measured);
        let expected = predicted.map(|expected| expected.next - expected.after)?;
        self.measured.filter(|_| expected > 0.0).map(|measured| measured / expected)
    }

    /// Remaining seconds at a given time, with what follows the steps.
    pub fn seconds_left(&self, now: f64) -> Option<f64> {
        let (steps, since) = self.left?;
        let passed = if self.is_between { 0.0 } else { now - since };
        let after = self.expected.map_or(0.0, |expected| expected.after) * self.pace().unwrap_or(1.0);
        Some((steps + after - passed).max(0.0))
    }

    /// The remaining time in words. It is almost done only after all steps, if it is known what follows them.
    pub fn words_left(&self, now: f64) -> Option<String> {
        let seconds = self.seconds_left(now)?;
        let is_last = self.step == self.steps && !self.is_between && self.expected.is_some();
        (seconds >= 1.0 || is_last).then(|| language::time_left(seconds))
    }
}

/// An unfinished job.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedJob {
    /// Its id.
    pub id: JobId,
    /// What was sent to the engine.
    pub job: Job,
    /// Its progress; `None` while it waits.
    pub progress: Option<Progress>,
    /// Whether the engine was asked to cancel it.
    pub cancelling: bool,
    /// The place of the engine that has it, if there are several.
    pub lane: Option<usize>,
    /// What it takes, as far as that was known when it was queued.
    pub expected: Option<Expected>,
}

impl QueuedJob {
    /// Its request.
    pub fn request(&self) -> &Request {
        &self.job.request
    }
}

/// The queue, and unfinished jobs of the previous session.
#[derive(Debug, Default)]
pub struct Jobs {
    /// In the order in which they run.
    pub queue: VecDeque<QueuedJob>,
    /// Jobs that were unfinished when Sluice was closed.
    pub unfinished: Vec<Job>,
    /// Whether no further job is started.
    pub paused: bool,
    /// Whether the last job is generated again and again, with other seeds, until somebody stops it.
    pub repeats: bool,
    /// The job that is generated again as soon as the queue is done.
    again: Option<Job>,
    /// Jobs whose images are composed into one.
    pub groups: Groups,
    /// The engine that is shown, if there are several.
    pub(super) shown_lane: Option<usize>,
    /// How many times as long as expected the steps of the last job took, and its model.
    pub(super) pace: Option<(ModelSource, f64)>,
    /// The jobs that a pause has stopped and that go on after it, in order; those that are in the queue again come first.
    stopped: Vec<Stopped>,
    /// The job that leaves the queue because its settings are changed.
    pub(super) withdrawn: Option<JobId>,
    /// What it was, and where, until it is queued again.
    pub(super) edited: Option<Edited>,
    following: Vec<Command>,
    last: u64,
}

/// A job that a pause has stopped.
#[derive(Debug)]
struct Stopped {
    id: JobId,
    /// Whether it has left its engine, and waits.
    waits: bool,
}

impl Jobs {
    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The running job; of several engines, that of the one that is shown before others.
    pub fn running(&self) -> Option<(&QueuedJob, &Progress)> {
        let running =
            || self.queue.iter().filter_map(|job| job.progress.as_ref().map(|progress| (job, progress)));
        let shown = self.shown_lane.and_then(|lane| running().find(|(job, _)| job.lane == Some(lane)));
        shown.or_else(|| running().next())
    }

    /// The job that is at work, with its finished fraction, 0…1; of a group, that of all its jobs. Between two jobs of a group
    /// it is the next one.
    pub fn at_work(&self) -> Option<(&QueuedJob, f32)> {
        let running = self.running().map(|(job, _)| job);
        let job = running.or_else(|| self.queue.front().filter(|job| self.is_amid_group(job)))?;
        let own = |job: &QueuedJob| {
            job.progress.as_ref().map_or(0.0, |progress| progress.fraction().clamp(0.0, 1.0))
        };
        let Some(group) = self.groups.of(job.id) else { return Some((job, own(job))) };
        let [ended, all] = group.progress();
        let running: f32 = self.queue.iter().filter(|job| group.holds(job.id)).map(own).sum();
        Some((job, (ended as f32 + running) / all.max(1) as f32))
    }

    /// Whether a waiting job is about to begin, and others of its group have ended.
    fn is_amid_group(&self, job: &QueuedJob) -> bool {
        let has_begun = || self.groups.of(job.id).is_some_and(|group| group.progress()[0] > 0);
        !self.paused && !job.cancelling && has_begun()
    }

    /// After which step the running job of an engine goes on, if one was done.
    pub(super) fn goes_on(&self, lane: Option<usize>) -> Option<String> {
        let job = self.queue.iter().find(|job| job.lane == lane && job.progress.is_some())?;
        let step = job.progress.as_ref().map_or(0, |progress| progress.step);
        // Tiles of what is changed are no steps.
        let is_kept = step > 0 && !job.cancelling && job.request().changes_file().is_none();
        is_kept.then(|| match job.request().frames {
            1 => tr!("state-image-goes-on", step = step),
            _ => tr!("state-clip-goes-on", step = step),
        })
    }

    /// Whether a job is at an engine that is not shown, and which.
    pub(super) fn aside(&self, id: JobId) -> Option<usize> {
        let lane = self.queue.iter().find(|job| job.id == id)?.lane?;
        (Some(lane) != self.shown_lane).then_some(lane)
    }

    /// Adds a job to the queue and assigns its id.
    pub fn add(&mut self, job: Job) -> Command {
        self.last += 1;
        let id = JobId(self.last);
        let job = Job { id, ..job };
        self.queue.push_back(QueuedJob {
            id,
            job: job.clone(),
            progress: None,
            cancelling: false,
            lane: None,
            expected: None,
        });
        Command::Generate(Box::new(job))
    }

    /// The id of the job that was added last.
    pub fn newest(&self) -> JobId {
        JobId(self.last)
    }

    /// Queues a cancelled job again, in its group.
    pub fn add_again(&mut self, job: Job) -> Command {
        let before = job.id;
        let command = self.add(job);
        self.groups.resumed(before, JobId(self.last));
        command
    }

    /// Cancels the jobs of a group, which is that of this job. Waiting ones are cancelled first.
    pub fn cancel_group(&mut self, job: JobId) -> Vec<Command> {
        let Some(group) = self.groups.of(job) else { return Vec::new() };
        let ids: HashSet<_> = group.jobs().collect();
        self.cancel_those(|id| ids.contains(&id))
    }

    fn cancel_those(&mut self, are: impl Fn(JobId) -> bool) -> Vec<Command> {
        // What a pause is stopping does not wait for its end.
        self.stopped.retain(|stopped| stopped.waits || !are(stopped.id));
        let those = self.queue.iter_mut().rev().filter(|job| are(job.id) && !job.cancelling);
        those
            .map(|job| {
                job.cancelling = true;
                Command::Cancel { job: job.id }
            })
            .collect()
    }

    /// Queues the unfinished jobs of the previous session again.
    pub fn resume_unfinished(&mut self) -> Vec<Command> {
        let jobs = std::mem::take(&mut self.unfinished);
        let again = |job: Job| {
            let group = job.group.clone();
            let command = self.add(job);
            if let Some(place) = group {
                self.groups.rejoin(place, JobId(self.last));
            }
            command
        };
        jobs.into_iter().map(again).collect()
    }

    /// Drops the unfinished jobs of the previous session. Grids are composed of what was drawn.
    pub fn discard_unfinished(&mut self) -> Command {
        self.unfinished.clear();
        self.groups.discard_earlier();
        Command::Forget
    }

    /// Requests the cancellation of a job, once.
    pub fn cancel(&mut self, id: JobId) -> Option<Command> {
        let job = self.queue.iter_mut().find(|job| job.id == id && !job.cancelling)?;
        job.cancelling = true;
        Some(Command::Cancel { job: id })
    }

    /// Cancels the running job, or the first one if none is running yet.
    pub fn cancel_running(&mut self) -> Option<Command> {
        let id = self.running().map(|(job, _)| job.id).or_else(|| self.queue.front().map(|job| job.id))?;
        self.cancel(id)
    }

    /// Cancels all jobs, waiting ones first, so that none of them starts.
    pub fn cancel_all(&mut self) -> Vec<Command> {
        self.cancel_those(|_| true)
    }

    /// Queues the same again.
    pub fn duplicate(&mut self, id: JobId, seed: Option<u64>) -> Option<Command> {
        let mut job = self.queue.iter().find(|job| job.id == id)?.job.clone();
        job.request.seed = seed.unwrap_or(job.request.seed);
        (job.journal, job.group) = (None, None);
        Some(self.add(job))
    }

    /// Starts no further job, and stops the running one, which goes on from its last finished step when the queue does. All
    /// weights are freed.
    pub fn pause(&mut self) -> Vec<Command> {
        self.paused = true;
        let mut commands = vec![Command::Pause { paused: true }];
        let running = self.queue.iter().filter(|job| job.progress.is_some()).map(|job| job.id);
        for id in running.collect::<Vec<_>>() {
            if let Some(command) = self.cancel(id) {
                commands.push(command);
                self.stopped.push(Stopped { id, waits: false });
            }
        }
        commands.push(Command::Unload);
        commands
    }

    /// Goes on after a pause.
    pub fn resume(&mut self) -> Vec<Command> {
        self.paused = false;
        self.stopped.retain(|stopped| !stopped.waits);
        vec![Command::Pause { paused: false }]
    }

    /// Whether somebody wanted a cancelled job to end, and not only to stop for a pause or for a change of its settings. A
    /// job that was stopped by a pause goes back to the front of the queue.
    pub(super) fn is_cancelled(&mut self, job: &QueuedJob) -> bool {
        if self.withdrawn.take_if(|id| *id == job.id).is_some() {
            self.groups.ended(job.id);
            return false;
        }
        let Some(place) = self.stopped.iter().position(|stopped| stopped.id == job.id && !stopped.waits)
        else {
            self.stop_repeating();
            self.groups.ended(job.id);
            return true;
        };
        self.stopped[place].waits = true;
        let expected = job.rest();
        self.queue.push_back(QueuedJob {
            progress: None,
            cancelling: false,
            lane: None,
            expected,
            ..job.clone()
        });
        // Those that were stopped keep their order.
        let earlier = |id: JobId| self.stopped[..place].iter().any(|stopped| stopped.id == id);
        let waits = |known: &&QueuedJob| known.progress.is_none() && known.id != job.id && !earlier(known.id);
        let before = self.queue.iter().find(waits).map(|first| first.id);
        let first = before.map(|before| self.reorder(job.id, Some(before))).unwrap_or_default();
        self.following.extend(std::iter::once(Command::Generate(Box::new(job.job.clone()))).chain(first));
        false
    }

    /// A job waits again, in front of all others, because its engine is gone.
    pub(super) fn returned(&mut self, id: JobId) {
        let Some(mut job) = self.end(id) else { return };
        (job.progress, job.lane) = (None, None);
        let first = self.queue.iter().position(|job| job.progress.is_none()).unwrap_or(self.queue.len());
        self.queue.insert(first, job);
    }

    /// Sends commands with those that follow from what the engine has said.
    pub(super) fn follow_with(&mut self, commands: impl IntoIterator<Item = Command>) {
        self.following.extend(commands);
    }

    /// Remembers a job that has ended well, if it is to be repeated. Grids and files that are changed are not.
    pub(super) fn ended_well(&mut self, job: &QueuedJob) {
        let generates = job.request().changes_file().is_none() && !job.request().writes();
        let can = job.job.group.is_none() && job.job.output.is_none() && generates;
        if self.repeats && can && self.queue.is_empty() {
            self.again = Some(job.job.clone());
        }
    }

    /// Repeats nothing any more.
    pub fn stop_repeating(&mut self) {
        (self.repeats, self.again) = (false, None);
    }

    /// Queues the job that is repeated, once the queue is done.
    pub fn repeat(&mut self, new_seed: impl FnOnce() -> u64) -> Option<Command> {
        let mut job = self.again.take_if(|_| self.repeats && self.queue.is_empty())?;
        job.request.seed = new_seed();
        job.journal = None;
        Some(self.add(job))
    }

    /// Commands that follow from what the engine has said.
    pub fn take_following(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.following)
    }

    /// Marks a job as started; returns `false` if it is not in the queue.
    pub(super) fn start(&mut self, id: JobId) -> bool {
        let job = self.queue.iter_mut().find(|job| job.id == id);
        job.map(|job| job.progress = Some(Progress::of(job.request(), job.expected))).is_some()
    }

    /// Changes the progress of a running job.
    pub(super) fn update(&mut self, id: JobId, change: impl FnOnce(&mut Progress)) {
        let job = self.queue.iter_mut().find(|job| job.id == id);
        if let Some(progress) = job.and_then(|job| job.progress.as_mut()) {
            change(progress);
        }
    }

    /// Removes a job from the queue.
    pub(super) fn end(&mut self, id: JobId) -> Option<QueuedJob> {
        // Jobs end at the front, and all of a queue are cancelled from its end on.
        if let Some(job) = self.queue.pop_back_if(|job| job.id == id) {
            return Some(job);
        }
        let index = self.queue.iter().position(|job| job.id == id)?;
        self.queue.remove(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_a_clip_are_done_frame_by_frame() {
        let mut progress = Progress::default();
        progress.start(StageKind::Preprocess, 0.0);
        assert!(progress.fraction() < 0.1);
        progress.step_done((20, 80), (0.1, 6.0), 2.0);
        assert!((progress.fraction() - 0.25).abs() < 1e-6);
    }

    #[test]
    fn a_job_that_waits_alone_is_not_at_work() {
        let mut jobs = Jobs::default();
        jobs.add(Job::new(JobId(0), Request::default()));
        assert!(jobs.at_work().is_none());
        assert!(jobs.start(JobId(1)));
        assert_eq!(jobs.at_work().map(|(job, _)| job.id), Some(JobId(1)));
    }
}
