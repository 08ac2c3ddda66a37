//! Messages for the user.

use sluice_engine::session::Failure;

use super::draft::Draft;

/// A failure that was not dismissed yet.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureCard {
    /// Short title.
    pub title: String,
    /// What happened and what to do.
    pub failure: Failure,
}

/// A notice, with an optional undo.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// What was done.
    pub text: String,
    /// Unexpected details.
    pub details: Vec<String>,
    /// The settings before the change.
    pub undo: Option<Box<Draft>>,
}

/// Failures and the notice.
#[derive(Debug, Default)]
pub struct Messages {
    /// The failures, newest last.
    pub failures: Vec<FailureCard>,
    /// The notice.
    pub notice: Option<Notice>,
}

impl Messages {
    /// Adds a failure.
    pub fn fail(&mut self, title: &str, failure: Failure) {
        self.failures.push(FailureCard { title: title.to_owned(), failure });
    }
}
