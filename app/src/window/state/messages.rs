//! What the person should read.

use sluice_engine::session::Failure;

use super::draft::Draft;

/// Something that went wrong and was not dismissed yet.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureCard {
    /// In a few words.
    pub title: String,
    /// What happened and what to do.
    pub failure: Failure,
}

/// Something good to know, with a way back.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// What was done.
    pub text: String,
    /// What did not go as one would expect.
    pub details: Vec<String>,
    /// The settings before it.
    pub undo: Option<Box<Draft>>,
}

/// Failures and the notice.
#[derive(Debug, Default)]
pub struct Messages {
    /// What went wrong, the newest last.
    pub failures: Vec<FailureCard>,
    /// What was done.
    pub notice: Option<Notice>,
}

impl Messages {
    /// Adds a failure.
    pub fn fail(&mut self, title: &str, failure: Failure) {
        self.failures.push(FailureCard { title: title.to_owned(), failure });
    }
}
