//! A better prompt, or what images show, as a language model writes it: what it is made of, the forecast, and the job. No
//! drawing and no I/O.

use std::path::{Path, PathBuf};

use sluice_engine::{
    models::Item,
    request::{Describe, Enhanced, ModelSource, Request, Writing},
    session::{Command, Job, JobId, Readings},
};

use super::{Answer, Ask, Draft, Each, Estimate, Planning, State, file_name};
use crate::{
    enhancing::{
        Instruction, describers, descriptions, for_family, instruction_for, language_models, model_name,
        usual_describer, usual_model,
    },
    language::tr,
};

/// The number before the first query about writing, between those of other queries.
pub(super) const FIRST: u64 = 1 << 46;

/// What the own instructions for descriptions are kept under begins with.
const DESCRIBED: &str = "description.";
/// Between a prompt and a description that is appended to it.
const BETWEEN: &str = ", ";

/// A prompt that is being made better, or images that are being described.
#[derive(Debug)]
pub struct Enhancing {
    /// The images that are described; none where the prompt is made better.
    pub images: Vec<PathBuf>,
    /// Where their texts go, if they are described one by one and not together.
    pub each: Option<Each>,
    /// What was written, so far or whole.
    pub text: String,
    /// Whether it is whole.
    pub is_whole: bool,
    /// The job that writes, while it waits or runs.
    job: Option<JobId>,
    /// The request of the text.
    written_by: Option<Request>,
    planning: Planning,
}

impl Enhancing {
    pub(super) fn new(images: Vec<PathBuf>) -> Self {
        Self {
            images,
            each: None,
            text: String::new(),
            is_whole: false,
            job: None,
            written_by: None,
            planning: Planning::numbered_after(FIRST),
        }
    }

    /// Whether images are described.
    pub fn describes(&self) -> bool {
        !self.images.is_empty()
    }

    /// Whether its job waits or runs.
    pub fn is_writing(&self) -> bool {
        self.job.is_some()
    }

    /// Takes the engine's answer to a query.
    pub(super) fn take(&mut self, id: u64, answer: Answer) {
        self.planning.take(id, answer, Readings::default());
    }

    /// What writing takes at most, or why it cannot be done; `None` while the engine is asked.
    pub fn estimate(&self) -> Option<Result<Estimate, String>> {
        if self.planning.is_asking() {
            return None;
        }
        Some(self.planning.answer()?.estimate())
    }
}

impl State {
    /// Whether images are to be described, and not the prompt to be made better.
    fn describes(&self) -> bool {
        self.enhancing.as_ref().is_some_and(Enhancing::describes)
    }

    /// The language models in the library that can do what is to be done.
    pub fn language_models(&self) -> Vec<&Item> {
        let all = self.library.inventory.items.iter();
        if self.describes() { describers(all).collect() } else { language_models(all).collect() }
    }

    /// The one that writes: the chosen one, or the usual one of the library.
    pub fn language_model(&self) -> Option<&Path> {
        let (all, settings) = (self.library.inventory.items.iter(), &self.settings);
        let (chosen, usual) = match self.describes() {
            true => (&settings.describer, usual_describer(all)),
            false => (&settings.language_model, usual_model(all)),
        };
        chosen.as_deref().or_else(|| usual.map(|item| item.path.as_path()))
    }

    /// The instruction for the chosen model, or for the chosen kind of description, as it comes with Sluice.
    pub fn usual_instruction(&self) -> Option<&'static Instruction> {
        let family = self.summary().map_or("", |summary| summary.family.as_str());
        if !self.describes() {
            return instruction_for(family);
        }
        let chosen = self.settings.description.as_ref();
        let chosen = descriptions().iter().find(|known| Some(&known.id) == chosen);
        chosen.or_else(|| for_family(descriptions(), family))
    }

    /// What the user's own words in place of an instruction are kept under.
    fn instruction_key(&self, usual: &Instruction) -> String {
        if self.describes() { format!("{DESCRIBED}{}", usual.id) } else { usual.id.clone() }
    }

    /// What the language model is told: the user's own words for such models, or else the usual ones.
    pub fn instruction(&self) -> &str {
        let Some(usual) = self.usual_instruction() else { return "" };
        let own = self.settings.instructions.get(&self.instruction_key(usual));
        own.map_or(usual.text.as_str(), String::as_str)
    }

    /// Keeps the user's own instruction for such models as the chosen one, or for this kind of description; none for the usual
    /// one.
    pub fn instruct(&mut self, own: Option<String>) {
        let Some(usual) = self.usual_instruction() else { return };
        let key = self.instruction_key(usual);
        match own.filter(|own| *own != usual.text) {
            Some(own) => self.settings.instructions.insert(key, own),
            None => self.settings.instructions.remove(&key),
        };
    }

    /// Chooses the kind of descriptions.
    pub fn describe_as(&mut self, kind: String) {
        self.settings.description = Some(kind);
    }

    /// Shows how the prompt can be made better. Ends a description that is being written.
    pub fn ask_enhance(&mut self) -> Option<Command> {
        let command = if self.describes() { self.close_enhance() } else { None };
        self.enhancing.get_or_insert_with(|| Enhancing::new(Vec::new()));
        command
    }

    /// Shows how images can be described, together. Ends what is being written, unless it is of these images.
    pub fn ask_describe(&mut self, images: Vec<PathBuf>) -> Option<Command> {
        let is_asked = |known: &Enhancing| known.images == images && known.each.is_none();
        if images.is_empty() || self.enhancing.as_ref().is_some_and(is_asked) {
            return None;
        }
        let command = self.close_enhance();
        self.enhancing = Some(Enhancing::new(images));
        command
    }

    /// Hides it, and ends what is being written.
    pub fn close_enhance(&mut self) -> Option<Command> {
        let command = self.stop_writing();
        self.enhancing = None;
        command
    }

    /// Ends what is being written. What was written so far stays.
    pub fn stop_writing(&mut self) -> Option<Command> {
        let job = self.enhancing.as_mut()?.job.take()?;
        self.jobs.cancel(job)
    }

    /// What is asked of the language model; of images that are described one by one, that for the first.
    pub(super) fn request_to_enhance(&self, seed: u64) -> Option<Request> {
        let writing = Writing { instruction: self.instruction().to_owned(), ..Writing::default() };
        let model = ModelSource::Path(self.language_model()?.to_owned());
        let request = Request { model, seed, ..Request::default() };
        if let Some(known) = self.enhancing.as_ref().filter(|known| known.describes()) {
            let images = match &known.each {
                Some(each) => vec![each.texts.as_ref()?.first()?.0.clone()],
                None => known.images.clone(),
            };
            let describe = Describe { images, writing, ..Describe::default() };
            describe.validate().ok()?;
            return Some(Request { describe: Some(describe), ..request });
        }
        let prompt = self.draft().request.prompt.clone();
        writing.validate(&prompt).ok()?;
        Some(Request { prompt, enhance: Some(writing), ..request })
    }

    /// The next query about what writing takes, if any.
    pub fn ask_about_enhancing(&mut self, now: f64) -> Ask {
        let request = self.request_to_enhance(0).filter(|_| !self.engine.ended);
        let Some(enhancing) = &mut self.enhancing else { return Ask::Nothing };
        enhancing.planning.look(request.as_ref(), &self.settings.memory.preferences, now)
    }

    /// Whether a language model can write now.
    pub fn can_enhance(&self) -> bool {
        let is_writing = self.enhancing.as_ref().is_some_and(Enhancing::is_writing);
        let is_refused =
            self.enhancing.as_ref().and_then(Enhancing::estimate).is_some_and(|estimate| estimate.is_err());
        !self.engine.ended && !is_writing && !is_refused && self.request_to_enhance(0).is_some()
    }

    /// Queues a job that writes a better prompt.
    pub fn enhance(&mut self, seed: u64) -> Option<Command> {
        if !self.can_enhance() {
            return None;
        }
        // What was written is made again from the prompt that it was made of, unless that was changed.
        let request = self.request_to_enhance(seed)?;
        let enhancing = self.enhancing.as_mut()?;
        let memory = self.settings.memory.preferences.clone();
        let command = self.jobs.add(Job { memory, ..Job::new(JobId(0), request.clone()) });
        (enhancing.job, enhancing.written_by) = (Some(self.jobs.newest()), Some(request));
        (enhancing.text, enhancing.is_whole) = (String::new(), false);
        Some(command)
    }

    /// A part of the text, or all of it, was written.
    pub(super) fn take_text(&mut self, job: JobId, text: String, is_whole: bool) {
        if is_whole {
            self.texts.take(job, &text);
        }
        if let Some(enhancing) = self.enhancing.as_mut().filter(|enhancing| enhancing.job == Some(job)) {
            (enhancing.text, enhancing.is_whole) = (text, is_whole);
        }
    }

    /// A job has ended; it may be the one that writes.
    pub(super) fn ended_writing(&mut self, job: JobId) {
        if let Some(enhancing) = &mut self.enhancing {
            enhancing.job.take_if(|own| *own == job);
        }
    }

    /// Uses what was written as the prompt, or appends it, which can be undone.
    pub fn keep_enhanced(&mut self, is_appended: bool) {
        let Some(Enhancing { text, is_whole: true, written_by: Some(request), .. }) = self.enhancing.take()
        else {
            return;
        };
        let Request { model, prompt, seed, enhance, describe, .. } = request;
        let model = match &model {
            ModelSource::Path(path) => model_name(path),
            built_in => built_in.to_string(),
        };
        let images =
            describe.iter().flat_map(|describe| &describe.images).map(|path| file_name(path)).collect();
        let notice = if describe.is_some() { tr!("enhance-described") } else { tr!("enhance-kept") };
        let writing = enhance.or(describe.map(|describe| describe.writing));
        let instruction = writing.map(|writing| writing.instruction).unwrap_or_default();
        let mut draft: Draft = self.settings.draft.clone();
        let before = draft.request.prompt.trim_end().trim_end_matches(',');
        let (prompt, result) = match is_appended && !before.is_empty() {
            true => (draft.request.prompt.clone(), [before, BETWEEN, &text].concat()),
            false => (prompt, text),
        };
        draft.request.prompt.clone_from(&result);
        draft.request.enhanced = Some(Enhanced { prompt, images, instruction, model, seed, result });
        // The model stays, so that nothing is loaded.
        self.restore(draft, notice, Vec::new());
    }

    /// A language model was chosen for what is shown.
    pub fn choose_language_model(&mut self, path: PathBuf) {
        match self.describes() {
            true => self.settings.describer = Some(path),
            false => self.settings.language_model = Some(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::session::Event;

    use sluice_engine::session::Failure;

    use super::*;

    fn ready() -> State {
        let mut state = State::default();
        state.settings.draft.request.prompt = "a fox".to_owned();
        state.choose_language_model("/models/Qwen3-0.6B-Q8_0.gguf".into());
        state.ask_enhance();
        state
    }

    fn job(command: Option<Command>) -> Job {
        let Some(Command::Generate(job)) = command else { panic!("no job: {command:?}") };
        *job
    }

    fn says(state: &mut State, job: &Job, text: &str, is_whole: bool) {
        state.apply(Event::Text { job: job.id, text: text.to_owned(), is_whole }, 0.0);
    }

    #[test]
    fn a_prompt_is_written_kept_and_undone() {
        let mut state = ready();
        let queued = job(state.enhance(7));
        assert_eq!(
            (queued.request.prompt.as_str(), queued.request.seed, &queued.output),
            ("a fox", 7, &None)
        );
        assert_eq!(queued.request.enhance.as_ref().unwrap().instruction, state.instruction());
        assert!(state.enhance(8).is_none(), "it writes already");
        says(&mut state, &queued, "a red", false);
        let text = |state: &State| state.enhancing.as_ref().map(|enhancing| enhancing.text.clone());
        assert_eq!(text(&state).as_deref(), Some("a red"));
        state.keep_enhanced(false);
        assert_eq!(state.draft().request.prompt, "a fox", "half a text is not kept");

        let mut state = ready();
        let queued = job(state.enhance(7));
        says(&mut state, &queued, "a red fox in the snow", true);
        state.apply(Event::Finished { job: queued.id, pictures: Vec::new(), seconds: 1.0 }, 0.0);
        assert!(state.jobs.is_empty() && state.images.recents.iter().next().is_none());
        assert!(!state.enhancing.as_ref().unwrap().is_writing());
        state.keep_enhanced(false);
        let request = &state.draft().request;
        assert_eq!(request.prompt, "a red fox in the snow");
        let enhanced = request.enhanced.clone().unwrap();
        assert_eq!((enhanced.prompt.as_str(), enhanced.seed), ("a fox", 7));
        assert_eq!(
            (enhanced.model.as_str(), enhanced.result.as_str()),
            ("Qwen3-0.6B-Q8_0.gguf", "a red fox in the snow")
        );
        assert!(state.draft().to_send().enhanced.is_some());
        let undo = state.messages.notice.take().and_then(|notice| notice.undo).unwrap();
        assert!(state.undo(undo).is_empty());
        assert_eq!(
            (state.draft().request.prompt.as_str(), &state.draft().request.enhanced),
            ("a fox", &None)
        );
    }

    #[test]
    fn a_prompt_that_was_changed_afterwards_is_no_longer_the_written_one() {
        let mut state = ready();
        let queued = job(state.enhance(7));
        says(&mut state, &queued, "a red fox", true);
        state.keep_enhanced(false);
        state.settings.draft.request.prompt.push_str(", blue sky");
        assert!(state.draft().to_send().enhanced.is_none());
    }

    #[test]
    fn nothing_is_written_of_nothing_or_without_a_model() {
        let mut state = ready();
        state.settings.draft.request.prompt = "  ".to_owned();
        assert!(state.enhance(1).is_none());
        let mut state = ready();
        state.settings.language_model = None;
        assert!(state.enhance(1).is_none());
        let Some(Command::Cancel { job: cancelled }) = ({
            let mut state = ready();
            let queued = job(state.enhance(1));
            let command = state.close_enhance();
            assert!(state.enhancing.is_none());
            says(&mut state, &queued, "late", true);
            command
        }) else {
            panic!("it goes on writing")
        };
        assert_eq!(cancelled, JobId(1));
    }

    #[test]
    fn own_instructions_are_kept_for_their_kind_of_prompt() {
        let mut state = ready();
        let usual = state.instruction().to_owned();
        state.instruct(Some("Write a poem.".to_owned()));
        assert_eq!(state.instruction(), "Write a poem.");
        assert_eq!(job(state.enhance(1)).request.enhance.unwrap().instruction, "Write a poem.");
        state.instruct(Some(usual.clone()));
        assert!(state.settings.instructions.is_empty(), "the usual words are none of the user's own");
        state.instruct(None);
        assert_eq!(state.instruction(), usual);
    }

    #[test]
    fn what_writing_takes_is_asked_while_it_is_shown() {
        let mut state = State::default();
        assert_eq!(state.ask_about_enhancing(0.0), Ask::Nothing);
        let mut state = ready();
        let Ask::Now(query) = state.ask_about_enhancing(0.0) else { panic!("nothing is asked") };
        assert!(query.id > FIRST && query.request.enhance.is_some());
        assert_eq!(state.enhancing.as_ref().unwrap().estimate(), None);
        let failure = Failure { message: "it is no model".to_owned(), advice: None };
        state.apply(Event::NotPlanned { id: query.id, failure }, 0.0);
        assert_eq!(state.enhancing.as_ref().unwrap().estimate(), Some(Err("It is no model.".to_owned())));
        assert!(state.enhance(1).is_none());
    }

    fn describing() -> State {
        let mut state = State::default();
        state.settings.draft.request.prompt = "a fox, ".to_owned();
        state.ask_describe(vec!["/photos/den.jpg".into()]);
        state.choose_language_model("/models/Qwen2.5-VL-3B-Instruct".into());
        state
    }

    #[test]
    fn images_are_described_and_the_words_used_or_appended() {
        for (is_appended, prompt, before) in
            [(false, "a den in the snow", ""), (true, "a fox, a den in the snow", "a fox, ")]
        {
            let mut state = describing();
            let queued = job(state.enhance(7));
            let request = &queued.request;
            let describe = request.describe.as_ref().unwrap();
            assert_eq!((describe.images.as_slice(), request.seed), (&["/photos/den.jpg".into()][..], 7));
            assert_eq!(describe.writing.instruction, state.instruction());
            assert_eq!(request.model, ModelSource::Path("/models/Qwen2.5-VL-3B-Instruct".into()));
            says(&mut state, &queued, "a den in the snow", true);
            state.apply(Event::Finished { job: queued.id, pictures: Vec::new(), seconds: 1.0 }, 0.0);
            assert!(state.jobs.is_empty() && state.images.recents.iter().next().is_none());
            state.keep_enhanced(is_appended);
            let request = &state.draft().request;
            assert_eq!(request.prompt, prompt);
            let enhanced = request.enhanced.clone().unwrap();
            assert_eq!((enhanced.prompt.as_str(), enhanced.images), (before, vec!["den.jpg".to_owned()]));
            assert!(state.draft().to_send().enhanced.is_some());
        }
    }

    #[test]
    fn a_describer_and_its_instructions_are_kept_apart_from_those_for_prompts() {
        let mut state = describing();
        assert_eq!(state.settings.language_model, None);
        state.describe_as("tags".to_owned());
        let usual = state.instruction().to_owned();
        assert!(usual.contains("tags"));
        state.instruct(Some("Name the colours.".to_owned()));
        assert_eq!(state.instruction(), "Name the colours.");
        state.ask_enhance();
        assert_ne!(state.instruction(), "Name the colours.");
        assert_eq!(state.language_model(), None);
        state.ask_describe(vec!["/photos/other.jpg".into()]);
        assert_eq!(state.instruction(), "Name the colours.");
        state.instruct(None);
        assert_eq!(state.instruction(), usual);
    }

    #[test]
    fn what_is_written_ends_when_something_else_is_asked_for() {
        let mut state = describing();
        let queued = job(state.enhance(1));
        assert!(state.ask_describe(vec!["/photos/den.jpg".into()]).is_none(), "these images are described");
        assert!(matches!(state.ask_enhance(), Some(Command::Cancel { job }) if job == queued.id));
        assert!(!state.enhancing.as_ref().unwrap().describes());
        assert!(state.ask_enhance().is_none());
        assert!(state.ask_describe(Vec::new()).is_none() && state.enhancing.is_some());
    }
}
