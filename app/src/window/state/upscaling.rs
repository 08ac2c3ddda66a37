//! What is to be enlarged, gets more frames or is inpainted again: the question before it, the forecast, and the jobs. No drawing
//! and no I/O.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sluice_engine::{
    checkpoint::Role,
    memory::DeviceChoice,
    output::{NamedOutput, Output, StillFormat},
    request::{ModelSource, Request},
    session::{Command, Failure, Job, JobId, Readings},
    source::GivenMedia,
};

use super::{
    Answer, Ask, Expected, MadeBefore, Planning, State, file_name, made_before::Tally, queue_time::pace_here,
};
use crate::{interpolating, language::tr, upscaling};

/// The number before the first query about enlarging, above those of other queries about settings.
pub(super) const FIRST: u64 = 1 << 47;

/// The upscaler and the scale, which are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpscaleChoice {
    /// The upscaler.
    pub model: ModelSource,
    /// How many times as wide and as high the results are.
    pub scale: f32,
}

impl Default for UpscaleChoice {
    fn default() -> Self {
        Self { model: ModelSource::Upscaler, scale: 2.0 }
    }
}

impl UpscaleChoice {
    /// The same with the file that is tried, if one is.
    fn trying(&self, asked: Option<&Upscaling>) -> Self {
        let tried = asked.and_then(|asked| asked.tried_for(FileChange::Enlarge));
        let tried = tried.map(|path| ModelSource::Path(path.to_owned()));
        Self { model: tried.unwrap_or_else(|| self.model.clone()), scale: self.scale }
    }
}

/// What is to be done with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// Make images and clips larger.
    Enlarge,
    /// Put frames between those of clips.
    Interpolate,
    /// Inpaint faces and other details of images again.
    Detail,
}

/// A file whose header was read, or why it cannot be changed.
pub type Measured = (PathBuf, Result<GivenMedia, String>);

/// The question how to change files.
#[derive(Debug)]
pub struct Upscaling {
    /// What is to be done.
    pub change: FileChange,
    /// The files, in the order in which they were selected.
    pub inputs: Vec<PathBuf>,
    /// What their headers say; absent while they are read.
    pub measured: Option<Vec<Measured>>,
    /// The prompt and the negative prompt in each image that has some, whose details are inpainted again.
    pub prompts: BTreeMap<PathBuf, [String; 2]>,
    /// The folder of the results, if they do not go beside the files.
    pub results: Option<PathBuf>,
    /// Why the folder that was chosen last cannot be used.
    pub unusable: Option<Failure>,
    /// Whether files that are done are changed again.
    pub again: bool,
    /// The results that are there already.
    pub(super) made_before: MadeBefore,
    pub(super) tally: Tally,
    /// The detectors that find these details, unless the panel has detailers.
    pub detectors: Vec<PathBuf>,
    /// The seed of the details.
    pub(super) seed: u64,
    pub(super) planning: Planning,
    tried: Option<Tried>,
}

/// A file of a network that was just chosen. It is kept once the engine can use it.
#[derive(Debug)]
struct Tried {
    path: PathBuf,
    /// The query about it.
    query: Option<u64>,
}

/// What it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Seconds of everything, on a card that may be simulated.
    pub seconds: f64,
    /// The same here, where a simulated card has no speed of its own, if that is known.
    pub seconds_here: Option<f64>,
    /// Bytes at the peak.
    pub bytes: u64,
}

impl Estimate {
    /// Seconds on this computer, if they are known.
    pub(super) fn here(&self, device: &DeviceChoice) -> Option<f64> {
        match device {
            DeviceChoice::Simulated(_) => self.seconds_here,
            DeviceChoice::Auto | DeviceChoice::Processor | DeviceChoice::Gpu(_) => Some(self.seconds),
        }
    }
}

impl Upscaling {
    fn new(change: FileChange, inputs: Vec<PathBuf>) -> Self {
        Self {
            change,
            inputs,
            measured: None,
            prompts: BTreeMap::new(),
            results: None,
            unusable: None,
            again: false,
            made_before: MadeBefore::default(),
            tally: Tally::default(),
            detectors: Vec::new(),
            seed: 0,
            planning: Planning::numbered_after(FIRST),
            tried: None,
        }
    }

    /// Keeps what was chosen in another question how to do the same.
    pub fn keep_choices_of(&mut self, before: Self) {
        if before.change != self.change {
            return;
        }
        (self.detectors, self.seed) = (before.detectors, before.seed);
        self.tried = before.tried.map(|tried| Tried { query: None, ..tried });
        self.planning = before.planning;
        self.planning.forget();
    }

    /// The file that is tried for a change.
    pub(super) fn tried_for(&self, change: FileChange) -> Option<&Path> {
        self.tried.as_ref().filter(|_| self.change == change).map(|tried| tried.path.as_path())
    }

    /// The files that can be changed, with what their headers say.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &GivenMedia)> {
        let measured = self.measured.iter().flatten();
        measured.filter_map(|(path, given)| Some((path.as_path(), given.as_ref().ok()?)))
    }

    /// Those that cannot, with the reasons.
    pub fn refused(&self) -> impl Iterator<Item = &str> {
        self.measured.iter().flatten().filter_map(|(_, given)| given.as_ref().err().map(String::as_str))
    }

    /// The largest file decides about the memory. Where all are done, it says which network is meant.
    fn largest(&self) -> Option<(&Path, &GivenMedia)> {
        let (path, given) = self.measured.as_ref()?.get(self.tally.largest?)?;
        Some((path, given.as_ref().ok()?))
    }

    /// How much there is to do with the largest file.
    fn most_work(&self) -> f64 {
        self.largest().map_or(1.0, |(_, given)| self.work(given)).max(1.0)
    }

    /// What one file takes on this computer, if that is known.
    fn seconds_of(&self, given: &GivenMedia, device: &DeviceChoice) -> Option<f64> {
        let forecast = self.planning.forecast().filter(|_| !self.planning.is_asking())?;
        let (plan, pace) = (forecast.plan.as_ref().ok()?, pace_here(forecast, device)?);
        Some(pace * plan.seconds * self.work(given) / self.most_work())
    }

    /// How much there is to do with a file, compared to others: its pixels, but a detail is inpainted in the same size in all.
    pub(super) fn work(&self, given: &GivenMedia) -> f64 {
        match self.change {
            FileChange::Detail => 1.0,
            FileChange::Enlarge | FileChange::Interpolate => pixels(given),
        }
    }

    /// What all take, or why it cannot be done; `None` while the engine is asked.
    pub fn estimate(&self) -> Option<Result<Estimate, String>> {
        if self.planning.is_asking() || self.is_looking() {
            return None;
        }
        let here = self.planning.forecast().and_then(|forecast| forecast.seconds_here);
        Some(self.planning.answer()?.plan().map(|plan| {
            let times = self.tally.work / self.most_work();
            Estimate {
                seconds: plan.seconds * times,
                seconds_here: here.map(|seconds| seconds * times),
                bytes: plan.peak_device(),
            }
        }))
    }
}

/// Pixels of all frames.
fn pixels(given: &GivenMedia) -> f64 {
    let [width, height] = given.size.map(f64::from);
    width * height * f64::from(given.frames().0)
}

impl State {
    /// Asks how to enlarge files.
    pub fn ask_upscale(&mut self, inputs: Vec<PathBuf>) {
        self.ask_change(FileChange::Enlarge, inputs);
    }

    /// Asks how to change files.
    pub(super) fn ask_change(&mut self, change: FileChange, inputs: Vec<PathBuf>) {
        self.upscaling = (!inputs.is_empty()).then(|| Upscaling::new(change, inputs));
    }

    /// The headers of the files were read.
    pub fn take_measured(&mut self, measured: Vec<Measured>) {
        if let Some(upscaling) = &mut self.upscaling
            && measured.iter().map(|(path, _)| path).eq(&upscaling.inputs)
        {
            let change = upscaling.change;
            let is_right = |(path, given): Measured| {
                let given = given.and_then(|given| match (change, given.clip.is_some()) {
                    (FileChange::Interpolate, false) => {
                        Err(tr!("interpolate-no-clip", name = file_name(&path)))
                    }
                    (FileChange::Detail, true) => Err(tr!("detailers-ask-clip", name = file_name(&path))),
                    _ => Ok(given),
                });
                (path, given)
            };
            upscaling.measured = Some(measured.into_iter().map(is_right).collect());
            upscaling.recount();
        }
    }

    /// The upscalers that are known: the one that comes with Sluice, those in the library, and the chosen one.
    pub fn upscalers(&self) -> Vec<(ModelSource, String)> {
        let mut all = vec![(ModelSource::Upscaler, tr!("upscale-built-in"))];
        let found = self
            .library
            .inventory
            .items
            .iter()
            .filter(|item| item.content().is_some_and(|content| content.roles.contains(&Role::Upscaler)));
        all.extend(found.map(|item| (ModelSource::Path(item.path.clone()), item.name.clone())));
        let chosen = self.upscale_choice().model;
        if let ModelSource::Path(path) = &chosen
            && all.iter().all(|(model, _)| *model != chosen)
        {
            let name = file_name(path);
            all.push((chosen, name));
        }
        all
    }

    /// How files are enlarged: with the file that was just chosen, if one was.
    pub fn upscale_choice(&self) -> UpscaleChoice {
        self.settings.upscale.trying(self.upscaling.as_ref())
    }

    /// Keeps how files are enlarged, but for a file that is still being tried.
    pub fn choose_upscale(&mut self, choice: UpscaleChoice) {
        if choice.model == self.upscale_choice().model {
            self.settings.upscale.scale = choice.scale;
            return;
        }
        self.stop_trying();
        self.settings.upscale = choice;
    }

    /// Tries a file of a network for a change that is being asked about.
    pub fn try_file(&mut self, change: FileChange, path: PathBuf) {
        if let Some(asked) = self.upscaling.as_mut().filter(|asked| asked.change == change) {
            asked.tried = Some(Tried { path, query: None });
        }
    }

    /// Another network was chosen than the file that was tried.
    pub(super) fn stop_trying(&mut self) {
        if let Some(asked) = &mut self.upscaling {
            asked.tried = None;
        }
    }

    /// Takes the engine's answer to a query. A file that it can use is kept.
    pub(super) fn take_estimate(&mut self, id: u64, answer: Answer) {
        let Some(asked) = &mut self.upscaling else { return };
        let can_be_used = matches!(answer, Answer::Forecast(_));
        asked.planning.take(id, answer, Readings::default());
        asked.recount();
        let tried = asked.tried.take_if(|tried| can_be_used && tried.query == Some(id));
        let Some(Tried { path, .. }) = tried else { return };
        match asked.change {
            FileChange::Enlarge => self.settings.upscale.model = ModelSource::Path(path),
            FileChange::Interpolate => self.settings.interpolate.model = Some(path),
            FileChange::Detail => {}
        }
    }

    /// The request that changes the largest file.
    fn changed_largest(&self) -> Option<Request> {
        let asked = self.upscaling.as_ref()?;
        let (path, given) = asked.largest()?;
        self.changed(asked, path, given)
    }

    /// The next query about what it takes, if any.
    pub fn ask_about_upscaling(&mut self, now: f64) -> Ask {
        let is_looking = self.upscaling.as_ref().is_some_and(Upscaling::is_looking);
        let request = self.changed_largest().filter(|_| !self.engine.ended && !is_looking);
        let Some(upscaling) = &mut self.upscaling else { return Ask::Nothing };
        let ask = upscaling.planning.look(request.as_ref(), &self.settings.memory.preferences, now);
        if let (Ask::Now(query), Some(tried)) = (&ask, &mut upscaling.tried) {
            tried.query = Some(query.id);
        }
        ask
    }

    /// Whether the files can be changed, as far as is known.
    pub fn can_upscale(&self) -> bool {
        let Some(asked) = &self.upscaling else { return false };
        let has_files = asked.wanted().next().is_some() && self.changed_largest().is_some();
        !self.engine.ended && has_files && matches!(asked.estimate(), Some(Ok(_)))
    }

    /// Queues a job for each file that is wanted, whose result goes beside it or into a folder.
    pub fn upscale(&mut self) -> Vec<Command> {
        let Some(upscaling) = self.upscaling.take() else { return Vec::new() };
        let mut jobs = Vec::new();
        for (path, given) in upscaling.wanted() {
            let Some(request) = self.changed(&upscaling, path, given) else { continue };
            let output = Some(named(&self.result_of(&upscaling, path, given)));
            let memory = self.settings.memory.preferences.clone();
            let job = Job { output, memory, ..Job::new(JobId(0), request) };
            let seconds = upscaling.seconds_of(given, &self.settings.memory.preferences.device);
            jobs.push((job, seconds.map(|seconds| Expected::predicted(seconds, seconds))));
        }
        let commands = self.queue_files(jobs);
        self.follow_jobs();
        commands
    }

    /// The request that changes a file; `None` without a network for it.
    fn changed(&self, asked: &Upscaling, path: &Path, given: &GivenMedia) -> Option<Request> {
        match asked.change {
            FileChange::Detail => self.detailed(asked, path),
            FileChange::Enlarge => {
                let UpscaleChoice { model, scale } = self.settings.upscale.trying(Some(asked));
                Some(upscaling::request_of_given(path, given, &model, scale))
            }
            FileChange::Interpolate => {
                let choice = self.settings.interpolate.trying(Some(asked));
                let model = ModelSource::Path(choice.model.clone()?);
                Some(interpolating::request_of_given(path, given, &model, choice.how()))
            }
        }
    }
}

/// A result of this name, or of another one that is free.
fn named(result: &Path) -> Output {
    let folder = result.parent().map_or_else(PathBuf::new, Path::to_owned);
    let name = result.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // Braces would be fields of a template.
    let names = if name.contains(['{', '}']) { "{name}".to_owned() } else { name };
    Output::Named(NamedOutput { folder, format: StillFormat::Png, names })
}

#[cfg(test)]
mod tests {
    use sluice_engine::session::Event;

    use super::*;

    fn given(width: u32, height: u32) -> Result<GivenMedia, String> {
        Ok(GivenMedia { size: [width, height], clip: None })
    }

    fn measured(state: &mut State) {
        state.ask_upscale(["a.png", "b.png", "c.png"].map(PathBuf::from).into());
        let sizes = [given(64, 32), Err("no image".to_owned()), given(128, 64)];
        let inputs = state.upscaling.as_ref().unwrap().inputs.clone();
        state.take_measured(inputs.into_iter().zip(sizes).collect());
    }

    #[test]
    fn files_that_can_be_enlarged_become_jobs_beside_them() {
        let mut state = State::default();
        measured(&mut state);
        assert_eq!(state.upscaling.as_ref().unwrap().refused().collect::<Vec<_>>(), ["no image"]);
        state.settings.upscale.scale = 1.5;
        let commands = state.upscale();
        assert!(state.upscaling.is_none());
        let [Command::Generate(first), Command::Generate(second)] = &commands[..] else {
            panic!("{commands:?}")
        };
        assert_eq!((first.request.width, second.request.width), (96, 192));
        assert_eq!(first.request.upscale.as_ref().unwrap().path, Path::new("a.png"));
        let Some(Output::Named(output)) = &first.output else { panic!("{:?}", first.output) };
        assert_eq!((output.names.as_str(), output.format), ("a-1.5x", StillFormat::Png));
        assert_eq!(state.jobs.queue.len(), 2);
    }

    #[test]
    fn the_largest_file_is_asked_about_and_all_take_its_time_by_their_pixels() {
        let mut state = State::default();
        assert_eq!(state.ask_about_upscaling(0.0), Ask::Nothing);
        measured(&mut state);
        let Ask::Now(query) = state.ask_about_upscaling(0.0) else { panic!("nothing is asked") };
        assert!(query.id > FIRST);
        assert_eq!(query.request.upscale.as_ref().unwrap().path, Path::new("c.png"));
        assert_eq!(state.upscaling.as_ref().unwrap().estimate(), None);
        let failure = Failure { message: "it is too large".to_owned(), advice: Some("Cut it".to_owned()) };
        state.apply(Event::NotPlanned { id: query.id, failure }, 0.0);
        let estimate = state.upscaling.as_ref().unwrap().estimate();
        assert_eq!(estimate, Some(Err("It is too large. Cut it.".to_owned())));
    }

    #[test]
    fn a_file_that_the_engine_refuses_is_not_kept() {
        let refusal = Failure { message: "it is a LoRA".to_owned(), advice: None };
        let mut state = State::default();
        measured(&mut state);
        let file = ModelSource::Path("lora.safetensors".into());
        state.try_file(FileChange::Interpolate, "rife.safetensors".into());
        assert_eq!(state.upscale_choice(), UpscaleChoice::default(), "that is not asked about");
        state.try_file(FileChange::Enlarge, "lora.safetensors".into());
        assert_eq!(state.upscale_choice().model, file);
        assert!(state.upscalers().iter().any(|(model, _)| *model == file));
        state.choose_upscale(UpscaleChoice { model: file.clone(), scale: 3.0 });
        let Ask::Now(query) = state.ask_about_upscaling(1.0) else { panic!("nothing is asked") };
        assert_eq!(query.request.model, file);
        state.apply(Event::NotPlanned { id: query.id, failure: refusal }, 1.0);
        let estimate = state.upscaling.as_ref().unwrap().estimate();
        assert_eq!(estimate, Some(Err("It is a LoRA.".to_owned())));
        assert_eq!(state.settings.upscale, UpscaleChoice { scale: 3.0, ..UpscaleChoice::default() });
        state.upscaling = None;
        assert_eq!(state.upscale_choice().model, ModelSource::Upscaler);
    }

    #[test]
    fn another_folder_is_changed_as_chosen_before() {
        let mut state = State::default();
        let ask = |state: &mut State, change, detector: &str, seed| {
            state.ask_change(change, vec!["a.png".into()]);
            let asked = state.upscaling.as_mut().unwrap();
            (asked.detectors, asked.seed) = (vec![detector.into()], seed);
        };
        ask(&mut state, FileChange::Detail, "hand.safetensors", 5);
        state.try_file(FileChange::Detail, "tried.safetensors".into());
        for (change, is_kept) in [(FileChange::Detail, true), (FileChange::Enlarge, false)] {
            let before = state.upscaling.take().unwrap();
            ask(&mut state, change, "face.safetensors", 6);
            let asked = state.upscaling.as_mut().unwrap();
            asked.keep_choices_of(before);
            let kept = asked.seed == 5 && asked.detectors == [PathBuf::from("hand.safetensors")];
            assert_eq!((kept, asked.tried_for(change).is_some()), (is_kept, is_kept), "{change:?}");
        }
    }

    #[test]
    fn names_with_braces_are_no_templates() {
        for (path, expected) in [("a/{seed}.png", "{name}"), ("a/fox.png", "fox-2x")] {
            let result =
                Path::new(path).with_file_name(upscaling::name_of_result(Path::new(path), 2.0, false));
            let Output::Named(output) = named(&result) else { panic!("no name") };
            assert_eq!((output.folder.as_path(), output.names.as_str()), (Path::new("a"), expected));
        }
    }
}
