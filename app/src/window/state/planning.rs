//! Predictions for a request: queries to the engine and its answers. No drawing and no I/O.

use sluice_engine::{
    memory::{Forecast, MemoryPreferences, Plan, PlanError},
    request::Request,
    session::{Failure, PlanQuery, PlanSubject, Readings},
};

use super::Estimate;
use crate::{language::said, window::sentences::sentence};

/// How long settings must stay unchanged before a query, in seconds.
pub const REST: f64 = 0.15;

/// The engine's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The prediction.
    Forecast(Box<Forecast>),
    /// Why there is none.
    Failure(Failure),
}

impl Answer {
    /// The plan, or in words why there is none.
    pub(super) fn plan(&self) -> Result<&Plan, String> {
        match self {
            Self::Failure(Failure { message, advice }) => {
                let words = [Some(message), advice.as_ref()].into_iter().flatten();
                Err(words.map(|words| sentence(words)).collect::<Vec<_>>().join(" "))
            }
            Self::Forecast(forecast) => forecast.plan.as_ref().map_err(|_| said(&forecast.sentence)),
        }
    }

    /// What that takes, or in words why it cannot be done.
    pub(super) fn estimate(&self) -> Result<Estimate, String> {
        let seconds_here = match self {
            Self::Forecast(forecast) => forecast.seconds_here,
            Self::Failure(_) => None,
        };
        let estimate =
            |plan: &Plan| Estimate { seconds: plan.seconds, seconds_here, bytes: plan.peak_device() };
        self.plan().map(estimate)
    }
}

/// What to do about the current settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// Send this query.
    Now(Box<PlanQuery>),
    /// Check again after this many seconds.
    Later(f64),
    /// Nothing to do.
    Nothing,
}

/// The prediction for the next image.
#[derive(Debug, Default)]
pub struct Planning {
    answer: Option<Answer>,
    /// How many images the request has that the answer is about.
    images: u32,
    readings: Readings,
    asked: Option<Question>,
    changing: Option<(Question, f64)>,
    /// The query that is outstanding, and how many images its request has.
    waiting: Option<(u64, u32)>,
    last_id: u64,
}

/// Everything an answer depends on.
#[derive(Debug, Clone, PartialEq)]
struct Question {
    request: Request,
    memory: MemoryPreferences,
}

impl Question {
    fn new(request: &Request, memory: &MemoryPreferences) -> Self {
        Self { request: request.clone(), memory: memory.clone() }
    }

    /// Whether the answer would be the same as for this request. Memory does not depend on the seed.
    fn is_about(&mut self, request: &Request, memory: &MemoryPreferences) -> bool {
        self.request.seed = request.seed;
        self.request == *request && self.memory == *memory
    }
}

impl Planning {
    /// One whose queries have numbers after this one.
    pub fn numbered_after(number: u64) -> Self {
        Self { last_id: number, ..Self::default() }
    }

    /// The last answer, even if the settings have changed since.
    pub fn answer(&self) -> Option<&Answer> {
        self.answer.as_ref()
    }

    /// The last answer, if it is a prediction.
    pub fn forecast(&self) -> Option<&Forecast> {
        match &self.answer {
            Some(Answer::Forecast(forecast)) => Some(forecast),
            _ => None,
        }
    }

    /// How many images the predicted run makes.
    pub fn images(&self) -> f64 {
        f64::from(self.images.max(1))
    }

    /// The plan, if there is one.
    pub fn plan(&self) -> Option<&Plan> {
        self.forecast().and_then(|forecast| forecast.plan.as_ref().ok())
    }

    /// What each text encoder reads of the prompts; empty while it is unknown.
    pub fn readings(&self) -> &Readings {
        &self.readings
    }

    /// Whether the engine has said that the request cannot be run, and nothing has changed since.
    pub fn is_refused(&self) -> bool {
        matches!(self.answer, Some(Answer::Failure(_))) && !self.is_asking()
    }

    /// The forecast for a request that failed, and why it does not fit, if that is what the failure says.
    pub(super) fn lack_of_room(
        &self,
        request: &Request,
        memory: &MemoryPreferences,
        failure: &Failure,
    ) -> Option<(&Forecast, &PlanError)> {
        let forecast = self.forecast().filter(|_| self.waiting.is_none())?;
        let error = forecast.plan.as_ref().err()?;
        let is_about = self.asked.clone()?.is_about(request, memory);
        // What is free has changed since.
        let words = |said: &str| said.replace(|char: char| char.is_ascii_digit() || char == '.', "");
        (is_about && words(&failure.message) == words(&error.to_string())).then_some((forecast, error))
    }

    /// Why it cannot be run.
    pub fn refusal(&self) -> Option<String> {
        self.answer.as_ref().filter(|_| self.is_refused())?.plan().err()
    }

    /// Whether a query is outstanding or about to be sent.
    pub fn is_asking(&self) -> bool {
        self.waiting.is_some() || self.changing.is_some()
    }

    /// Checks the current request; `None` if it is invalid. `now` is the window's clock in seconds. Waits
    /// until settings stop changing, and sends only one query at a time.
    pub fn look(&mut self, request: Option<&Request>, memory: &MemoryPreferences, now: f64) -> Ask {
        let Some(request) = request else {
            (self.changing, self.asked) = (None, None);
            return Ask::Nothing;
        };
        if self.asked.as_mut().is_some_and(|asked| asked.is_about(request, memory)) {
            self.changing = None;
            return Ask::Nothing;
        }
        let known = self.changing.as_mut().and_then(|(changing, since)| {
            let is_known = changing.is_about(request, memory);
            is_known.then_some(*since)
        });
        let since = known.unwrap_or_else(|| {
            // The first query need not wait: nobody is dragging a slider.
            let since = if self.asked.is_none() { now - REST } else { now };
            self.changing = Some((Question::new(request, memory), since));
            since
        });
        // The clock has the precision of a frame; ignore the rounding.
        let rest = REST - (now - since);
        if rest > 1e-6 {
            return Ask::Later(rest);
        }
        if self.waiting.is_some() {
            return Ask::Nothing;
        }
        self.asked = self.changing.take().map(|(question, _)| question);
        self.last_id += 1;
        self.waiting = Some((self.last_id, request.batch));
        Ask::Now(Box::new(PlanQuery {
            id: self.last_id,
            subject: PlanSubject::Model,
            request: request.clone(),
            memory: memory.clone(),
        }))
    }

    /// Stores an answer and the readings of the prompts; ignores answers to older queries.
    pub fn take(&mut self, id: u64, answer: Answer, readings: Readings) {
        if let Some((_, images)) = self.waiting.take_if(|(waiting, _)| *waiting == id) {
            self.images = images;
            self.answer = Some(answer);
            self.readings = readings;
        }
    }

    /// Repeats the query, because its answer may differ: after a run, measurements correct the predictions.
    pub fn ask_again(&mut self) {
        self.asked = None;
    }

    /// Discards the answer, because it was for another model.
    pub fn forget(&mut self) {
        self.answer = None;
        self.readings = Readings::default();
        self.asked = None;
        self.waiting = None;
    }
}

/// A forecast of a run for which there is too little RAM.
#[cfg(test)]
pub(super) fn no_plan(model: &str) -> Forecast {
    use sluice_engine::{
        memory::{AttentionBytes, Link, Machine},
        request::ComputeDtype,
    };

    let link = Link { bytes_per_second: 1.0, latency: 0.0 };
    Forecast {
        model: model.to_owned(),
        dtype: ComputeDtype::F32,
        machine: Machine {
            device: "CPU".to_owned(),
            unified: true,
            device_total: 1,
            device_budget: 1,
            host_budget: 1,
            link,
            disk: link,
            disk_is_measured: false,
            operations_per_second: 1.0,
            block_latency: 0.0,
            own_speeds: std::collections::BTreeMap::new(),
        },
        plan: Err(PlanError::Host { needed: 2, budget: 1 }),
        sentence: String::new(),
        least_device: None,
        choices: Vec::new(),
        alternatives: Vec::new(),
        attention: AttentionBytes::default(),
        accuracy: None,
        seconds_here: None,
        fitting_size: None,
        fitting_frames: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> Answer {
        Answer::Failure(Failure { message: "no".to_owned(), advice: None })
    }

    fn sent(ask: Ask) -> PlanQuery {
        match ask {
            Ask::Now(query) => *query,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_question_is_asked_at_once_and_only_once() {
        let mut planning = Planning::default();
        let request = Request::default();
        let query = sent(planning.look(Some(&request), &MemoryPreferences::default(), 0.0));
        assert_eq!((query.id, &query.request), (1, &request));
        assert_eq!(planning.look(Some(&request), &MemoryPreferences::default(), 0.01), Ask::Nothing);
        assert!(planning.is_asking());
        planning.take(1, failure(), Readings::default());
        assert!(!planning.is_asking());
        assert_eq!(planning.look(Some(&request), &MemoryPreferences::default(), 9.0), Ask::Nothing);
        assert_eq!(planning.answer(), Some(&failure()));
    }

    #[test]
    fn settings_that_move_are_asked_about_when_they_rest() {
        let mut planning = Planning::default();
        let mut request = Request::default();
        sent(planning.look(Some(&request), &MemoryPreferences::default(), 0.0));
        planning.take(1, failure(), Readings::default());
        for (steps, now) in [(13, 1.0), (14, 1.1), (15, 1.2)] {
            request.steps = steps;
            assert_eq!(planning.look(Some(&request), &MemoryPreferences::default(), now), Ask::Later(REST));
        }
        assert!(matches!(planning.look(Some(&request), &MemoryPreferences::default(), 1.3), Ask::Later(_)));
        assert_eq!(
            sent(planning.look(Some(&request), &MemoryPreferences::default(), 1.35)).request.steps,
            15
        );
    }

    #[test]
    fn one_question_is_outstanding_at_a_time() {
        let mut planning = Planning::default();
        let mut request = Request::default();
        sent(planning.look(Some(&request), &MemoryPreferences::default(), 0.0));
        request.width = 256;
        assert_eq!(planning.look(Some(&request), &MemoryPreferences::default(), 1.0), Ask::Later(REST));
        assert_eq!(planning.look(Some(&request), &MemoryPreferences::default(), 2.0), Ask::Nothing);
        planning.take(7, failure(), Readings::default());
        assert_eq!(planning.answer(), None, "nobody asked number 7");
        planning.take(1, failure(), Readings::default());
        assert_eq!(sent(planning.look(Some(&request), &MemoryPreferences::default(), 2.1)).id, 2);
    }

    #[test]
    fn what_decides_about_memory_and_prompts_is_asked_about_and_the_rest_is_not() {
        let first = Request { prompt: "a boat".to_owned(), ..Request::default() };
        let asks = |change: &dyn Fn(&mut Request, &mut MemoryPreferences)| {
            let mut planning = Planning::default();
            sent(planning.look(Some(&first), &MemoryPreferences::default(), 0.0));
            planning.take(1, failure(), Readings::default());
            let mut request = first.clone();
            let mut memory = MemoryPreferences::default();
            change(&mut request, &mut memory);
            planning.look(Some(&request), &memory, 1.0) != Ask::Nothing
        };
        assert!(asks(&|request, _| request.height = 512));
        assert!(asks(&|request, _| request.batch = 4));
        assert!(asks(&|request, _| request.guidance = 0.0));
        assert!(asks(&|request, _| request.prompt = "a red boat".to_owned()), "its tokens are counted");
        assert!(asks(&|_, memory| memory.vram_budget = Some(1 << 30)));
        assert!(!asks(&|request, _| request.seed = 99));
    }

    #[test]
    fn an_answer_is_about_as_many_images_as_its_query() {
        let mut planning = Planning::default();
        let request = Request { batch: 4, ..Request::default() };
        let query = sent(planning.look(Some(&request), &MemoryPreferences::default(), 0.0));
        planning.ask_again();
        planning.take(query.id, failure(), Readings::default());
        assert_eq!(planning.images(), 4.0);
    }

    #[test]
    fn a_request_that_makes_no_sense_is_not_asked_about_until_it_does() {
        let mut planning = Planning::default();
        let request = Request::default();
        sent(planning.look(Some(&request), &MemoryPreferences::default(), 0.0));
        planning.take(1, failure(), Readings::default());
        assert_eq!(planning.look(None, &MemoryPreferences::default(), 1.0), Ask::Nothing);
        assert_eq!(sent(planning.look(Some(&request), &MemoryPreferences::default(), 2.0)).id, 2);
    }
}
