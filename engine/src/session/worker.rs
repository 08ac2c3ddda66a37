//! The thread that computes.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use crossbeam_channel::{Receiver, Sender};

use super::{
    actor::Emitter,
    command::{Job, JobId},
    event::{Event, Failure, Picture},
};
use crate::{
    hardware::available_memory,
    models,
    output::{Date, Image, OutputError, Settings},
    pipeline::{self, LoadedModel, ModelSummary, Observer, PipelineError, RunOptions, Stage},
    request::{ComputeDtype, ModelSource},
    residency::{CancelToken, RunError},
};

/// Something to do.
pub enum Work {
    /// Draw.
    Draw(Box<Job>, CancelToken),
    /// Give back all weights.
    Unload,
}

/// A model that stays for the next job.
struct Current {
    source: ModelSource,
    summary: ModelSummary,
    loaded: LoadedModel,
}

/// Works until nobody can assign any more; says on `done` when a picture is through.
pub fn run(assigned: &Receiver<Work>, done: &Sender<()>, emitter: &Emitter) {
    let mut current: Option<Current> = None;
    for work in assigned {
        match work {
            Work::Unload => {
                current = None;
                emitter.emit(Event::Unloaded);
            }
            Work::Draw(job, cancel) => {
                let id = job.id;
                emitter.emit(Event::Started { job: id });
                // A panic is a mistake of ours. It must cost this job alone, and what it may have left half
                // done is the model, which goes.
                let result = catch_unwind(AssertUnwindSafe(|| draw(&job, cancel, &mut current, emitter)));
                emitter.emit(result.unwrap_or_else(|_| {
                    current = None;
                    let failure = Failure {
                        message: "the engine stumbled over a mistake of its own".to_owned(),
                        advice: Some("Please report this with the model and the settings.".to_owned()),
                    };
                    Event::Failed { job: Some(id), failure }
                }));
                if done.send(()).is_err() {
                    return;
                }
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl JobError {
    fn advice(&self) -> Option<String> {
        match self {
            Self::Pipeline(error) => error.advice(),
            Self::Output(error) => error.advice().map(str::to_owned),
        }
    }
}

fn draw(job: &Job, cancel: CancelToken, current: &mut Option<Current>, emitter: &Emitter) -> Event {
    let started = Instant::now();
    match pictures(job, cancel, current, emitter) {
        Ok(pictures) => {
            Event::Finished { job: job.id, pictures, seconds: started.elapsed().as_secs_f64() }
        }
        Err(JobError::Pipeline(PipelineError::Run(RunError::Cancelled))) => Event::Cancelled { job: job.id },
        Err(error) => {
            let failure = Failure { message: error.to_string(), advice: error.advice() };
            Event::Failed { job: Some(job.id), failure }
        }
    }
}

fn pictures(
    job: &Job,
    cancel: CancelToken,
    current: &mut Option<Current>,
    emitter: &Emitter,
) -> Result<Vec<Picture>, JobError> {
    if let Some(output) = &job.output {
        output.prepare()?;
    }
    let request = &job.request;
    let model = load(current, &request.model, request.dtype)?;
    let options = RunOptions {
        initial_latents: job.initial_latents.as_ref(),
        dump: job.dump.as_ref(),
        cancel,
    };
    let mut observer = Reporter { job: job.id, previews: job.previews, emitter, started: None };
    let rendered = model.loaded.render(request, &options, &mut observer)?;
    let today = Date::today();
    let save = |(index, image): (usize, Image)| {
        let settings = Settings::new(request, &model.summary.name, &model.summary.family, index as u32);
        let output = job.output.as_ref();
        let path = output.map(|output| output.save(index as u32, &image, &settings, today)).transpose()?;
        Ok(Picture { image, seed: settings.seed, path })
    };
    rendered.images.into_iter().enumerate().map(save).collect()
}

/// The model of this source in this precision: the current one, or a newly opened one in its place.
fn load<'c>(
    current: &'c mut Option<Current>,
    source: &ModelSource,
    dtype: ComputeDtype,
) -> Result<&'c mut Current, JobError> {
    let kept = current.take().filter(|kept| kept.source == *source && kept.loaded.dtype() == dtype);
    let model = match kept {
        Some(kept) => kept,
        None => open(source, dtype).map_err(PipelineError::from)?,
    };
    Ok(current.insert(model))
}

fn open(source: &ModelSource, dtype: ComputeDtype) -> Result<Current, crate::checkpoint::CheckpointError> {
    let model = models::open(&source.resolve()?)?;
    let summary = pipeline::summarise(&model, source)?;
    let loaded = LoadedModel::new(model, dtype, available_memory());
    Ok(Current { source: source.clone(), summary, loaded })
}

/// Turns what a run says into events.
struct Reporter<'a> {
    job: JobId,
    previews: bool,
    emitter: &'a Emitter,
    started: Option<Instant>,
}

impl Observer for Reporter<'_> {
    fn stage_started(&mut self, stage: Stage) {
        if stage == Stage::Denoise {
            self.started = Some(Instant::now());
        }
        self.emitter.emit(Event::StageStarted { job: self.job, stage });
    }

    fn stage_finished(&mut self, stage: Stage, seconds: f64) {
        self.emitter.emit(Event::StageFinished { job: self.job, stage, seconds });
    }

    fn step(&mut self, step: u32, steps: u32, seconds: f64) {
        let elapsed = self.started.map_or(0.0, |started| started.elapsed().as_secs_f64());
        let seconds_left = elapsed / f64::from(step) * f64::from(steps - step);
        self.emitter.emit(Event::Step { job: self.job, step, steps, seconds, seconds_left });
    }

    fn preview(&mut self, step: u32, images: Vec<Image>) {
        self.emitter.offer(Event::Preview { job: self.job, step, images });
    }

    fn wants_previews(&self) -> bool {
        self.previews
    }
}
