//! One run: the stages of a request.

mod boxes;
mod canvas;
mod clip;
mod control;
mod control_nets;
mod decode;
mod denoise;
mod detailer;
mod encode;
mod hires;
mod image_prompts;
mod interpolate;
mod learn;
mod maps;
mod noise;
mod preview;
mod references;
mod segment;
mod source;
mod turn;
mod upscale;
mod write;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    ops::Range,
    path::PathBuf,
    time::Instant,
};

use candle_core::Tensor;

use super::{ActivePlan, Journal, LoadedModel, PipelineError, Resolved, Target, dump::Dump};
use crate::{
    checkpoint::FilePart,
    hardware::{OutOfMemory, give_back_freed, unmetered},
    memory::{MemoryPreferences, Stage, StagePlan},
    models::{Conditioning, EncodedMap, Start, Task},
    nn,
    output::{Image, Media},
    request::Request,
    residency::{CancelToken, Executor, ReadAhead, RunError, WeightStore},
    sampling::NoiseStream,
    source::{GivenClip, LoadedSource, read},
    telemetry::{Recorder, TelemetryEvent},
    units,
};
use boxes::{Place, Progress, Repeat};
use noise::{ImageNoise, Noise};
use source::Original;

/// Tolerance for differences between a driver's counts, in bytes.
const SLACK: u64 = 64 << 20;
/// Bytes that are read ahead by a thread of their own.
const WORTH_A_THREAD: u64 = 64 << 20;

/// Receives the progress of a run.
pub trait Observer {
    /// A stage starts.
    fn stage_started(&mut self, stage: &Stage);

    /// A stage is done.
    fn stage_finished(&mut self, stage: &Stage, seconds: f64);

    /// The run resumes after this step. The steps up to it are not reported.
    fn resumed(&mut self, step: u32);

    /// A step, counted from 1, is done.
    fn step(&mut self, step: u32, steps: u32, seconds: f64);

    /// Previews after a step, only called if [`wants_previews`](Self::wants_previews) is true.
    fn preview(&mut self, step: u32, media: Vec<Media>);

    /// Whether to make previews.
    fn wants_previews(&self) -> bool;

    /// The text that is being written, so far or whole.
    fn text(&mut self, text: &str, is_whole: bool);

    /// A detailer, counted from 0, has found so many boxes in all images together.
    fn found(&mut self, detailer: usize, boxes: usize);

    /// The run continues under another plan. `reason` is shown to the user.
    fn replanned(&mut self, reason: &str);

    /// The run ends without its images: it failed, or was cancelled.
    fn stopped(&mut self, plan: &ActivePlan);
}

/// The images of a run.
pub struct Rendered {
    /// One per seed of the batch.
    pub media: Vec<Media>,
    /// The plan, with measurements.
    pub plan: ActivePlan,
}

/// Options of a run besides the request.
pub struct RunOptions<'a> {
    /// A safetensors file with `latents` to use instead of the noise, and optionally `noise.picture` and
    /// `noise.masked_picture` for the samples of encoded images.
    pub initial_latents: Option<&'a PathBuf>,
    /// Path of the dump with the tensors of every stage.
    pub dump: Option<&'a PathBuf>,
    /// Cancels the run.
    pub cancel: CancelToken,
    /// How memory is used.
    pub memory: &'a MemoryPreferences,
    /// The resources of the machine that the run may use.
    pub target: &'a Target,
    /// Factor for predicted activations, from past runs.
    pub activation_factor: f64,
    /// Records telemetry.
    pub recorder: Recorder,
    /// Results of an interrupted run, and where new results are saved.
    pub journal: RefCell<Journal>,
}

impl LoadedModel {
    /// Generates the images of a request under the best plan for it.
    pub fn render(
        &self,
        resolved: &Resolved,
        options: &RunOptions<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Rendered, PipelineError> {
        let (source, given) = unmetered(|| open_inputs(resolved))?;
        let references = unmetered(|| references::open(&self.model, resolved))?;
        let mut dump = Dump::new(options.dump.map(PathBuf::as_path))?;
        let plan = RefCell::new(ActivePlan::new(self, resolved, options)?);
        let observer: RefCell<&mut dyn Observer> = RefCell::new(&mut *observer);
        let progress = Progress::new(resolved.steps());
        let run = Run {
            loaded: self,
            resolved,
            request: &resolved.request,
            options,
            source,
            given: RefCell::new(given),
            image: RefCell::default(),
            references,
            reference_latents: RefCell::default(),
            maps: RefCell::default(),
            map_latents: RefCell::default(),
            image_tokens: RefCell::default(),
            streams: RefCell::new(unmetered(|| noise::seeds(&resolved.request))),
            plan: &plan,
            observer: &observer,
            is_new_stage: Cell::new(true),
            progress: &progress,
            repeat: Cell::default(),
            place: RefCell::default(),
        };
        let media = nn::with_attention(options.memory.attention, || run.whole(&mut dump));
        plan.borrow_mut().observe_reads(&self.stores);
        if media.is_err() {
            observer.borrow_mut().stopped(&plan.borrow());
        }
        drop(run);
        let plan = plan.into_inner();
        self.account.set_budget(None);
        self.end(&plan.plan);
        self.account.give_back();
        let media = media?;
        dump.write()?;
        Ok(Rendered { media, plan })
    }
}

/// Reads the input images or the input clip.
fn open_inputs(resolved: &Resolved) -> Result<(Option<LoadedSource>, Option<GivenClip>), PipelineError> {
    let request = &resolved.request;
    if let Some(clip) = resolved.clip() {
        return Ok((None, Some(GivenClip::open(request, [clip.count, clip.given], clip.later > 0)?)));
    }
    let (Some(source), Some(latents)) = (&request.source, resolved.latents(0)) else {
        return Ok((None, None));
    };
    let size = (request.width, request.height);
    Ok((Some(LoadedSource::open(source, size, [latents.height, latents.width])?), None))
}

/// A run in progress.
struct Run<'a> {
    loaded: &'a LoadedModel,
    resolved: &'a Resolved,
    request: &'a Request,
    options: &'a RunOptions<'a>,
    source: Option<LoadedSource>,
    given: RefCell<Option<GivenClip>>,
    /// The embeddings of input images, in RAM.
    image: RefCell<Option<Tensor>>,
    /// The reference images that the network reads in their own sizes.
    references: Vec<Image>,
    /// Their latents `[1, channels, height, width]`, f32, in RAM.
    reference_latents: RefCell<Vec<Tensor>>,
    /// The maps that networks made, by the numbers of the ControlNets that follow them.
    maps: RefCell<BTreeMap<usize, Image>>,
    /// The maps that ControlNets read as latents, f32, in RAM.
    map_latents: RefCell<Vec<(EncodedMap, Tensor)>>,
    /// For each IP-Adapter, the tokens of its images for each guidance branch, in RAM.
    image_tokens: RefCell<Vec<Vec<Tensor>>>,
    /// Noise generators of the images in the batch.
    streams: RefCell<Vec<NoiseStream>>,
    plan: &'a RefCell<ActivePlan>,
    observer: &'a RefCell<&'a mut dyn Observer>,
    /// Whether no part has been used since the last stage's peaks were recorded.
    is_new_stage: Cell<bool>,
    /// The steps of all stages.
    progress: &'a Progress,
    /// Which of several boxes is denoised.
    repeat: Cell<Repeat>,
    /// Where what is denoised goes, if it is only a part of an image.
    place: RefCell<Option<Place>>,
}

/// Results of stages that later ones use.
struct Made {
    /// The initial noise.
    noise: Option<Tensor>,
    /// What is kept of the input image.
    original: Original,
    /// For each denoiser, by the index of its part: a conditioning per guidance branch.
    conditionings: BTreeMap<usize, Vec<Conditioning>>,
    /// Latents of the last denoising stage.
    latents: Option<Tensor>,
    /// Latents of stages that later ones read, by the indices of the stages.
    seen: BTreeMap<usize, Tensor>,
    media: Vec<Media>,
}

/// A stage in progress.
struct Begun {
    stage: Stage,
    at: Instant,
}

impl Run<'_> {
    fn whole(&self, dump: &mut Dump) -> Result<Vec<Media>, PipelineError> {
        let (account, target) = (&self.loaded.account, self.options.target);
        self.mark();
        self.loaded.follow(&self.plan.borrow().plan, 0);
        if let Some((stage, part)) = self.first_use() {
            self.enter(stage, part);
        }
        let _until_the_end = unmetered(|| self.read_ahead());
        account.set_budget(target.enforced.then_some(target.machine.device_budget));
        account.take_peaks();
        let (noise, mut images) = self.first_noise(dump)?;
        let mut made = Made {
            noise,
            original: Original::default(),
            conditionings: BTreeMap::new(),
            latents: None,
            seen: BTreeMap::new(),
            media: Vec::new(),
        };
        if let Some(path) = &self.request.detail_of {
            made.media.push(Media::Image(unmetered(|| read(path))?));
        }
        let stages = &self.resolved.stages;
        let mut number = 0;
        while let Some(task) = stages.get(number) {
            match task {
                Task::EncodeImage { autoencoder, vision, .. } => {
                    let noise = std::mem::take(&mut images);
                    made.original = self.stage(number, || {
                        let original = self.encode_source(number, autoencoder, &noise, dump)?;
                        self.encode_references(number, autoencoder, dump)?;
                        self.encode_maps(number, autoencoder, dump)?;
                        if let Some(encoder) = vision {
                            self.embed_images(number, encoder, dump)?;
                        }
                        Ok(original)
                    })?;
                }
                Task::PromptImages { prompters } => {
                    self.stage(number, || self.prompt_images(number, prompters, dump))?;
                }
                Task::EncodePrompt { encoders, denoisers, vision } => {
                    let encoders = (encoders.as_slice(), vision.as_ref());
                    made.conditionings =
                        self.stage(number, || self.encode(number, encoders, denoisers, dump))?;
                    self.fit_preview()?;
                }
                Task::Denoise(denoise) => {
                    if denoise.start == Start::Enlarged {
                        self.enlarge_latents(denoise, &mut made)?;
                    }
                    let walk = self.walk(number);
                    self.denoise(walk.clone(), &mut made, dump)?;
                    number = walk.end - 1;
                }
                Task::Enlarge { upscaler, sizes } => {
                    let media = std::mem::take(&mut made.media);
                    made.media =
                        self.stage(number, || self.enlarge_images(number, upscaler, sizes[1], media))?;
                }
                Task::EncodeEnlarged { autoencoder } => {
                    let media = std::mem::take(&mut made.media);
                    if let Some(shape) = self.resolved.next_latents(number) {
                        let again = || self.encode_enlarged(number, autoencoder, (shape, media), dump);
                        let (original, noise) = self.stage(number, again)?;
                        (made.original, made.noise) = (original, Some(noise));
                    }
                }
                Task::Upscale { upscaler } => {
                    made.media = self.stage(number, || self.upscale(number, upscaler))?;
                }
                Task::Interpolate { interpolator, how } => {
                    let media = std::mem::take(&mut made.media);
                    made.media = self.stage(number, || match &self.request.interpolate {
                        Some(wanted) => self.interpolate(number, interpolator, wanted),
                        None => self.smooth(number, interpolator, *how, media),
                    })?;
                }
                Task::MakeMaps { estimator, .. } => {
                    made.media = self.stage(number, || self.make_maps(number, estimator))?;
                }
                Task::Segment { segmenter } => {
                    made.media = self.stage(number, || self.mask(number, segmenter))?;
                }
                Task::Detect { detector, detailer } => {
                    number = self.detail(number, detector, *detailer, &mut made.media)? - 1;
                }
                Task::Write { writer, vision } => {
                    self.stage(number, || self.write(number, writer, vision.as_ref(), dump))?;
                }
                Task::Decode { autoencoder } => {
                    let latents = made.latents.take();
                    made.media = self.stage(number, || match &latents {
                        Some(latents) => self.decode(number, autoencoder, latents, dump),
                        None => Ok(Vec::new()),
                    })?;
                }
            }
            number += 1;
        }
        Ok(made.media)
    }

    /// The noise that a run starts from, if it denoises, and that for the samples of images.
    fn first_noise(&self, dump: &mut Dump) -> Result<(Option<Tensor>, ImageNoise), PipelineError> {
        if !self.resolved.generates() {
            return Ok((None, ImageNoise::default()));
        }
        let Noise { latents, images } = self.noise()?;
        let later = self.resolved.clip().map_or(0, |clip| clip.later);
        dump.add("latents.init", &latents.narrow(2, later, latents.dim(2)? - later)?)?;
        Ok((Some(latents), images))
    }

    /// Starts to read what the stages need, in their order, so that a stage finds in the system's file cache what was read
    /// while earlier ones computed. `None` if it is little.
    fn read_ahead(&self) -> Option<ReadAhead> {
        let plan = self.plan.borrow();
        let stages = self.resolved.stages.iter().enumerate();
        let loading = stages.filter(|(_, task)| self.first_part(task).is_some());
        let parts = loading.flat_map(|(stage, _)| plan.parts_used(stage));
        let files: Vec<_> =
            parts.flat_map(|(part, blocks)| self.loaded.stores[part].to_read(blocks)).collect();
        let bytes: u64 = files.iter().map(FilePart::length).sum();
        if bytes < WORTH_A_THREAD {
            return None;
        }
        let room = plan.room_ahead();
        ReadAhead::start(move || (files, room))
            .inspect_err(|error| tracing::warn!(%error, "weights are not read ahead"))
            .ok()
    }

    /// The first stage that loads weights, and the part that it uses first.
    fn first_use(&self) -> Option<(usize, usize)> {
        let stages = self.resolved.stages.iter().enumerate();
        stages.filter_map(|(number, task)| Some((number, self.first_part(task)?))).next()
    }

    fn first_part(&self, task: &Task) -> Option<usize> {
        match task {
            Task::EncodeImage { autoencoder, .. }
            | Task::EncodeEnlarged { autoencoder }
            | Task::Decode { autoencoder } => Some(autoencoder.part),
            Task::EncodePrompt { encoders, denoisers, vision } => {
                let all_known =
                    self.resolved.prompts.iter().all(|prompt| self.loaded.knows(prompt, denoisers));
                let first = vision.as_ref().map(|vision| vision.part);
                let first = first.or_else(|| encoders.first().map(|encoder| encoder.part));
                first.filter(|_| !all_known)
            }
            Task::PromptImages { prompters } => self.first_prompter(prompters),
            Task::Denoise(denoise) => Some(denoise.denoiser.part),
            Task::Enlarge { upscaler, .. } | Task::Upscale { upscaler } => Some(upscaler.part),
            Task::Interpolate { interpolator, .. } => Some(interpolator.part),
            Task::MakeMaps { estimator, .. } => Some(estimator.part),
            Task::Segment { segmenter } => Some(segmenter.part),
            Task::Detect { detector, .. } => Some(detector.part),
            Task::Write { writer, vision } => Some(vision.as_ref().map_or(writer.part, |vision| vision.part)),
        }
    }

    /// The range of stages, from `first` on, that share one sampling loop.
    fn walk(&self, first: usize) -> Range<usize> {
        let goes_on = |task: &Task| task.denoise().is_some_and(|denoise| denoise.start == Start::SameWalk);
        let more = self.resolved.stages[first + 1..].iter().take_while(|task| goes_on(task)).count();
        first..first + 1 + more
    }

    fn mark(&self) {
        let recorder = &self.options.recorder;
        let mark = unmetered(|| self.plan.borrow().mark(recorder.now()));
        recorder.record(TelemetryEvent::Plan(mark));
    }

    /// Runs the work of the stage with this index.
    fn stage<T>(
        &self,
        number: usize,
        work: impl FnOnce() -> Result<T, PipelineError>,
    ) -> Result<T, PipelineError> {
        let begun = self.begin(number)?;
        let watched = self.watch(number);
        let result = work()?;
        if let Some(watched) = watched {
            self.learn(&begun, watched);
        }
        self.finish(&begun);
        Ok(result)
    }

    fn begin(&self, number: usize) -> Result<Begun, PipelineError> {
        let recorder = &self.options.recorder;
        self.make_fit(number)?;
        let stage = self.plan.borrow().plan.stages[number].stage.clone();
        self.observer.borrow_mut().stage_started(&stage);
        recorder.record(TelemetryEvent::StageStarted { at: recorder.now(), stage: stage.clone() });
        Ok(Begun { stage, at: Instant::now() })
    }

    fn finish(&self, Begun { stage, at }: &Begun) {
        let recorder = &self.options.recorder;
        let spilled = self.loaded.account.spilled();
        if spilled > SLACK {
            self.tell(&format!(
                "The driver moved {} of the GPU's memory to RAM, which slows down every step. Set \u{201c}CUDA - \
                 Sysmem Fallback Policy\u{201d} to \u{201c}Prefer No Sysmem Fallback\u{201d} in the NVIDIA Control Panel, or \
                 allow less VRAM",
                units::memory_needed(spilled)
            ));
        }
        recorder.record(TelemetryEvent::StageFinished { at: recorder.now(), stage: stage.clone() });
        self.note_peaks(stage.number);
        give_back_freed();
        self.observer.borrow_mut().stage_finished(stage, at.elapsed().as_secs_f64());
    }

    /// Records peak memory for this stage: since the last call, or since a part was first used after it.
    fn note_peaks(&self, stage: usize) {
        self.plan.borrow_mut().peaks.push((stage, self.loaded.account.take_peaks()));
        self.is_new_stage.set(true);
    }

    /// Replans a stage if other programs now use GPU memory that the plan counted on.
    fn make_fit(&self, stage: usize) -> Result<(), PipelineError> {
        let Some(available) = self.loaded.account.available() else { return Ok(()) };
        let budget = available.saturating_sub(self.options.memory.min_free_vram);
        loop {
            let needed = self.plan.borrow().plan.stages.get(stage).map_or(0, StagePlan::needed);
            if needed <= budget {
                return Ok(());
            }
            let short = OutOfMemory { needed, budget };
            let reason = unmetered(|| self.plan.borrow_mut().step_down(stage, short))?;
            self.loaded.follow(&self.plan.borrow().plan, stage);
            self.tell(&reason);
        }
    }

    /// Repeats `work` under plans that need less memory, until it does not run out of memory.
    fn within_memory<T>(
        &self,
        stage: usize,
        mut work: impl FnMut() -> Result<T, RunError>,
    ) -> Result<T, PipelineError> {
        loop {
            match work().map_err(|error| error.told_apart(&self.loaded.account)) {
                Err(RunError::OutOfMemory(error)) => {
                    let reason = unmetered(|| self.plan.borrow_mut().step_down(stage, error))?;
                    self.loaded.step_down(&self.plan.borrow().plan, stage);
                    self.loaded.account.settle();
                    self.loaded.account.take_refusal();
                    self.tell(&reason);
                }
                other => return Ok(other?),
            }
        }
    }

    /// Reports that the run continues under another plan.
    fn tell(&self, reason: &str) {
        let recorder = &self.options.recorder;
        recorder.record(TelemetryEvent::Note { at: recorder.now(), text: reason.to_owned() });
        self.mark();
        self.observer.borrow_mut().replanned(reason);
    }

    /// Makes room for a part in a stage; returns its store and executor.
    fn enter(&self, stage: usize, part: usize) -> (&WeightStore, Executor) {
        let number = {
            let plan = &self.plan.borrow().plan;
            self.loaded.enter(plan, stage, part);
            plan.use_number(stage, part).unwrap_or_default()
        };
        self.loaded.account.settle();
        if self.is_new_stage.take() {
            // Peaks until now belong to the previous stage.
            self.loaded.account.take_peaks();
        }
        let executor = Executor::new(self.options.cancel.clone(), self.options.recorder.clone());
        (&self.loaded.stores[part], executor.of_component(number as u8))
    }
}
