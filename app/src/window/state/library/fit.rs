//! How models fit this machine, or the one that is simulated: questions to the engine and its answers.

use std::collections::{HashMap, HashSet};

use sluice_engine::{
    memory::{Forecast, MemoryPreferences, PlanError},
    request::Request,
    session::{Failure, PlanQuery, PlanSubject},
};

use super::EntryId;
use crate::{
    downloads::catalogue::catalogue,
    language::{said, tr, units},
    window::{sentences::sentence, state::Answer},
};

/// Queries about the next image have smaller numbers.
const FIRST: u64 = 1 << 48;
/// An image that takes longer than this, in seconds, is slow, and so is a clip.
const SLOW: f64 = 300.0;
const SLOW_CLIP: f64 = 1800.0;
/// What takes longer than this is of no use.
const USELESS: f64 = 3600.0;
const USELESS_CLIP: f64 = 21_600.0;

/// How a model fits.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// It runs.
    Runs {
        /// How.
        way: Way,
        /// Seconds of an image or a clip, loading included.
        seconds: f64,
        /// Whether no run on this device has confirmed the time.
        is_guess: bool,
        /// What will be done.
        sentence: String,
    },
    /// Not even the smallest placement fits.
    TooBig {
        /// Bytes that are needed.
        needed: u64,
        /// Whether RAM is short, and not the device.
        of_ram: bool,
        /// What would make it fit.
        sentence: String,
    },
    /// It cannot be opened, or generates nothing with its defaults.
    Cannot(Failure),
}

/// How a model runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// All weights that are needed at a time stay where they are computed with.
    Well,
    /// Weights are streamed.
    Streamed,
    /// It takes long.
    Slowly,
    /// It takes too long to be of use.
    VerySlowly,
}

impl Fit {
    fn of(answer: Answer, is_clip: bool) -> Self {
        let forecast = match answer {
            Answer::Forecast(forecast) => *forecast,
            Answer::Failure(failure) => return Self::Cannot(failure),
        };
        let Forecast { plan, sentence, accuracy, .. } = forecast;
        match plan {
            Ok(plan) => {
                let seconds = plan.seconds;
                let [slow, useless] = if is_clip { [SLOW_CLIP, USELESS_CLIP] } else { [SLOW, USELESS] };
                let way = match plan.streamed() {
                    _ if seconds > useless => Way::VerySlowly,
                    _ if seconds > slow => Way::Slowly,
                    Some(_) => Way::Streamed,
                    None => Way::Well,
                };
                let is_guess = accuracy.is_none_or(|accuracy| accuracy.time.is_none());
                Self::Runs { way, seconds, is_guess, sentence }
            }
            Err(PlanError::Device { needed, .. }) => Self::TooBig { needed, of_ram: false, sentence },
            Err(PlanError::Host { needed, .. }) => Self::TooBig { needed, of_ram: true, sentence },
        }
    }

    /// In a few words: `Runs well · about 24 s`.
    pub fn words(&self) -> String {
        self.words_with(&match self {
            Self::Runs { seconds, .. } => units::seconds(*seconds),
            Self::TooBig { needed, .. } => units::memory_needed(*needed),
            Self::Cannot(_) => String::new(),
        })
    }

    /// The words without a time or memory, in which a search would find numbers of names.
    pub fn words_without_figures(&self) -> String {
        self.words_with("")
    }

    fn words_with(&self, figure: &str) -> String {
        match self {
            Self::Runs { way, is_guess, .. } => match (way, is_guess) {
                (Way::Well, false) => tr!("state-fit-well", time = figure),
                (Way::Well, true) => tr!("state-fit-well-about", time = figure),
                (Way::Streamed, false) => tr!("state-fit-streamed", time = figure),
                (Way::Streamed, true) => tr!("state-fit-streamed-about", time = figure),
                (Way::Slowly, false) => tr!("state-fit-slowly", time = figure),
                (Way::Slowly, true) => tr!("state-fit-slowly-about", time = figure),
                (Way::VerySlowly, false) => tr!("state-fit-very-slowly", time = figure),
                (Way::VerySlowly, true) => tr!("state-fit-very-slowly-about", time = figure),
            },
            Self::TooBig { of_ram: true, .. } => tr!("state-fit-too-big-ram", needed = figure),
            Self::TooBig { of_ram: false, .. } => tr!("state-fit-too-big", needed = figure),
            Self::Cannot(_) => tr!("state-fit-cannot"),
        }
    }

    /// What will be done, or what to do.
    pub fn sentence(&self) -> String {
        match self {
            Self::Runs { sentence, .. } | Self::TooBig { sentence, .. } => said(sentence),
            Self::Cannot(Failure { message, advice }) => match advice {
                Some(advice) => format!("{} {}", sentence(message), said(advice)),
                None => sentence(message),
            },
        }
    }
}

/// The fits that are known, and the question that is open.
#[derive(Debug, Default)]
pub struct Fits {
    fits: HashMap<EntryId, Fit>,
    /// Shown until there is a new answer.
    old: HashSet<EntryId>,
    asked: Option<(u64, EntryId, bool)>,
    /// What they are for.
    preferences: MemoryPreferences,
    device: Option<String>,
    last: u64,
    version: u64,
}

impl Fits {
    /// How a model fits, if that is known.
    pub fn of(&self, id: &EntryId) -> Option<&Fit> {
        self.fits.get(id)
    }

    /// What the last answer was for, such as `RTX 3060` or `CPU`.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Rises with every answer, for caches.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether a model has to be asked about.
    pub fn lacks(&self, id: &EntryId) -> bool {
        !self.fits.contains_key(id) || self.old.contains(id)
    }

    /// Whether there is an open question.
    pub fn is_asking(&self) -> bool {
        self.asked.is_some()
    }

    /// Forgets the answers if they were for other preferences.
    pub fn follow(&mut self, preferences: &MemoryPreferences) {
        if self.preferences != *preferences {
            self.preferences = preferences.clone();
            self.forget();
        }
    }

    /// Forgets all answers, and the question that is open.
    pub fn forget(&mut self) {
        self.fits.clear();
        self.old.clear();
        self.asked = None;
        self.device = None;
        self.version += 1;
    }

    /// Asks about all models anew, because files or measurements have changed.
    pub fn renew(&mut self) {
        self.old.extend(self.fits.keys().cloned());
    }

    /// The question about a model.
    pub fn ask(&mut self, id: EntryId, request: Request) -> PlanQuery {
        self.last += 1;
        let query = FIRST + self.last;
        let subject = match &id {
            EntryId::Known(known) => PlanSubject::Known(known.clone()),
            EntryId::Version(known, format) => {
                let listed = catalogue().find(known);
                let subject = listed.and_then(|listed| listed.subject(listed.version(format)?));
                subject.unwrap_or_else(|| PlanSubject::Known(known.clone()))
            }
            EntryId::Source(_) => PlanSubject::Model,
        };
        self.asked = Some((query, id, request.frames > 1));
        PlanQuery { id: query, subject, request, memory: self.preferences.clone() }
    }

    /// Says what is known without the engine.
    pub fn set(&mut self, id: EntryId, failure: Failure) {
        self.old.remove(&id);
        self.fits.insert(id, Fit::Cannot(failure));
        self.version += 1;
    }

    /// Stores an answer. Returns it if it is to another question.
    pub fn take(&mut self, query: u64, answer: Answer) -> Option<Answer> {
        if query < FIRST {
            return Some(answer);
        }
        if let Some((_, id, is_clip)) = self.asked.take_if(|(asked, ..)| *asked == query) {
            if let Answer::Forecast(forecast) = &answer {
                self.device = Some(forecast.machine.device.clone());
            }
            self.old.remove(&id);
            self.fits.insert(id, Fit::of(answer, is_clip));
            self.version += 1;
        }
        None
    }
}
