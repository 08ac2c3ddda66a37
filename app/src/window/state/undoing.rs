//! Replaces settings and deletes snippets, and takes that back.

use sluice_engine::session::{Command, ModelSummary};

use super::{Draft, State, Undo};
use crate::{
    language::tr,
    window::{settings::PromptKind, told::Told},
};

impl State {
    /// Takes settings that were changed.
    pub fn edit(&mut self, mut draft: Draft) {
        let makes_images = |summary: &ModelSummary| summary.frame_multiple.is_none() && !summary.fills_in;
        draft.settle(self.draft(), self.summary().is_some_and(makes_images));
        self.settings.draft = draft;
    }

    /// Replaces the settings and shows a notice with an undo. Loads the model if it is another one.
    pub fn restore(&mut self, draft: Draft, told: impl Into<Told>, details: Vec<String>) -> Option<Command> {
        let (before, load) = self.replace(draft);
        self.messages.tell(told, details, Some(Undo::Settings(Box::new(before))));
        load
    }

    /// Deletes a snippet, and offers to undo that.
    pub fn delete_snippet(&mut self, prompt: PromptKind, words: String) {
        self.settings.forget_snippet(prompt, &words);
        let told = Told::about(words.as_str(), |words| match prompt {
            PromptKind::Positive => tr!("state-snippet-deleted", words = words),
            PromptKind::Negative => tr!("state-negative-snippet-deleted", words = words),
        });
        let undo = Some(Undo::Snippet(prompt, words));
        self.messages.tell(told, Vec::new(), undo);
    }

    /// Restores the settings or the prompt from before a notice, keeps a snippet again, or queues cancelled jobs again.
    pub fn undo(&mut self, undo: Undo) -> Vec<Command> {
        match undo {
            Undo::Settings(before) => self.replace(*before).1.into_iter().collect(),
            Undo::Prompt(before) => {
                self.settings.draft.request.prompt = before;
                Vec::new()
            }
            Undo::Edited(before) => self.edit_no_longer(*before),
            Undo::Cancelled(cancelled) => {
                let mut jobs = Vec::with_capacity(cancelled.len());
                // The place of each is that among those that were cancelled after it.
                for (place, job) in cancelled.into_iter().rev() {
                    jobs.insert(place.min(jobs.len()), job);
                }
                self.images.follow = true;
                self.messages.resumed(&jobs);
                self.say_that_it_waits();
                jobs.into_iter().map(|job| self.jobs.add_again(job)).collect()
            }
            Undo::Snippet(prompt, words) => {
                self.settings.keep_snippet(prompt, words);
                Vec::new()
            }
            // They are in files.
            Undo::Preset(_) | Undo::Style(_) | Undo::Trash(_) => Vec::new(),
        }
    }

    /// Queues the job again that was cancelled last while it ran. The engine continues where it was.
    pub fn resume_cancelled(&mut self) -> Option<Command> {
        let job = self.messages.take_resumable()?;
        self.images.follow = true;
        self.say_that_it_waits();
        Some(self.jobs.add_again(job))
    }

    /// Says that what is queued again does not run, if the queue is paused; below a way back that is offered, which stays.
    fn say_that_it_waits(&mut self) {
        if !self.jobs.paused {
            return;
        }
        let (text, detail) = (tr!("state-queue-paused"), tr!("state-queue-paused-detail"));
        if !self.messages.add_line(&detail) {
            self.messages.say(text, vec![detail]);
        }
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        request::Request,
        session::{Event, Job, JobId},
    };

    use super::*;

    /// Two jobs, of which the first one runs.
    fn two_jobs() -> State {
        let mut state = State::default();
        for seed in 0..2 {
            state.jobs.add(Job::new(JobId(0), Request { seed, ..Request::default() }));
        }
        state.apply(Event::Started { job: JobId(1) }, 0.0);
        state
    }

    fn cancel_all(state: &mut State) {
        for command in state.jobs.cancel_all() {
            let Command::Cancel { job } = command else { panic!("{command:?}") };
            state.apply(Event::Cancelled { job }, 0.0);
        }
    }

    fn undo(state: &mut State) -> Vec<Command> {
        let undo = state.messages.notice.take().unwrap().undo.unwrap();
        state.undo(undo)
    }

    fn said(state: &State) -> Option<&str> {
        state.messages.notice.as_ref().map(|notice| notice.text.as_str())
    }

    #[test]
    fn a_queue_that_was_paused_stays_so_and_says_it_when_cancelled_jobs_are_resumed() {
        let mut state = two_jobs();
        state.jobs.pause();
        state.apply(Event::Cancelled { job: JobId(1) }, 0.0);
        state.jobs.take_following();
        cancel_all(&mut state);
        assert!(state.jobs.is_empty() && state.jobs.paused);
        let commands = undo(&mut state);
        assert!(matches!(commands.as_slice(), [Command::Generate(_), Command::Generate(_)]), "{commands:?}");
        assert_eq!((state.jobs.paused, said(&state)), (true, Some("The queue is paused")));
    }

    #[test]
    fn a_queue_that_was_not_paused_goes_on_without_a_word() {
        let mut state = two_jobs();
        cancel_all(&mut state);
        assert_eq!(undo(&mut state).len(), 2);
        assert_eq!((state.jobs.paused, said(&state)), (false, None));
    }

    #[test]
    fn one_job_that_is_resumed_says_that_it_waits_too() {
        let mut state = two_jobs();
        cancel_all(&mut state);
        state.jobs.pause();
        assert!(state.resume_cancelled().is_some());
        assert_eq!(said(&state), Some("The queue is paused"));
    }

    #[test]
    fn a_job_that_a_pause_is_stopping_is_cancelled_with_all_others() {
        let mut state = two_jobs();
        state.jobs.pause();
        cancel_all(&mut state);
        state.apply(Event::Cancelled { job: JobId(1) }, 0.0);
        assert!(state.jobs.is_empty());
        assert_eq!(state.jobs.take_following(), []);
        assert_eq!(undo(&mut state).len(), 2);
    }
}
