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
        Some(self.jobs.add_again(job))
    }
}
