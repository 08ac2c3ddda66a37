//! `sluice generate`: draws pictures.

use std::path::PathBuf;

use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;
use sluice_engine::{
    output::Output,
    request::{ComputeDtype, ModelSource, Request, Sampler, Schedule},
    session::{Command, Event, Job, JobId, ModelSummary, Picture},
};

use super::{
    engine::{Engine, Heard},
    exit::{self, EngineFailure, Outcome, stderr_line},
    progress::Progress,
    stdout,
};
use crate::window::{draft::random_seed, pictures_folder};

const EXAMPLES: &str = "\
Examples:
  sluice generate --prompt \"a red circle above a blue square\"
  sluice generate --prompt \"a green star\" --seed 7 --batch 4 --output star.png
      Writes star.png, star-2.png, star-3.png and star-4.png.
  sluice generate --model ~/models/z-image --prompt \"a fox\" --width 768 --height 512 --steps 20
  sluice generate --prompt \"a hill\" --json | jq -c 'select(.event == \"step\")'";

/// Draw pictures.
///
/// What is not said is as the model likes it. The files' names go to the standard output, progress goes to the
/// standard error. Ctrl-C cancels; pressed twice, it ends the program at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_override_self = true)]
pub(super) struct Args {
    /// What the picture shows.
    #[arg(short, long, value_name = "TEXT")]
    prompt: String,
    /// What it must not show; used when the guidance is above zero.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    negative: String,
    /// A model's folder or file, or `starter` for the small one that comes with the program.
    #[arg(short, long, value_name = "PATH", default_value = "starter")]
    model: ModelSource,
    /// Where the picture goes, a name that ends in .png; an existing file is replaced. A new file in the folder
    /// Sluice among your pictures if absent.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Width in pixels.
    #[arg(long, value_name = "PIXELS")]
    width: Option<u32>,
    /// Height in pixels.
    #[arg(long, value_name = "PIXELS")]
    height: Option<u32>,
    /// Denoising steps.
    #[arg(long, value_name = "COUNT")]
    steps: Option<u32>,
    /// How strongly the prompt is followed.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    guidance: Option<f32>,
    /// Picks the noise; the same seed and settings give the same picture. Random if absent.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Pictures to draw; each further one has the next seed.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    batch: u32,
    /// Method that walks from noise to picture.
    #[arg(long, value_name = "NAME", default_value = Sampler::default().name(), value_parser = named(&Sampler::ALL, Sampler::name))]
    sampler: Sampler,
    /// Spacing of the noise levels.
    #[arg(long, value_name = "NAME", default_value = Schedule::default().name(), value_parser = named(&Schedule::ALL, Schedule::name))]
    schedule: Schedule,
    /// Precision of the computation.
    #[arg(long, value_name = "NAME", default_value = ComputeDtype::default().name(), value_parser = named(&ComputeDtype::ALL, ComputeDtype::name))]
    dtype: ComputeDtype,
    /// Longest prompt in tokens; longer ones are cut.
    #[arg(long, value_name = "TOKENS", default_value_t = Request::default().max_sequence_length)]
    max_sequence_length: u32,
    /// Threads that compute; all of the machine's if absent.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// A safetensors file whose tensor `latents` takes the place of the seed's noise.
    #[arg(long, value_name = "FILE")]
    initial_latents: Option<PathBuf>,
    /// A safetensors file to write the tensors of every stage to.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    /// Writes the engine's events to the standard output, one line of JSON each, and nothing else.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: Args) -> anyhow::Result<Outcome> {
    let engine = Engine::start(args.threads.map(usize::from))?;
    let Some(summary) = engine.load(args.model.clone())? else { return Ok(Outcome::Cancelled) };
    let mut listener = Listener { json: args.json, progress: Progress::new(args.quiet || args.json) };
    let request = args.request(&summary);
    if !args.quiet && !args.json {
        stderr_line(&introduction(&summary, &request));
    }
    listener.hear(&Event::ModelLoaded(Box::new(summary)))?;

    let id = JobId(1);
    let output = match args.output {
        Some(file) => Output::File(file),
        None => Output::Folder(pictures_folder().unwrap_or_else(|| PathBuf::from("."))),
    };
    engine.send(Command::Generate(Box::new(Job {
        output: Some(output),
        initial_latents: args.initial_latents,
        dump: args.dump,
        ..Job::new(id, request)
    })))?;
    let mut not_saved = Vec::new();
    loop {
        let event = match engine.next()? {
            Heard::Event(event) => event,
            Heard::Interrupt => {
                engine.send(Command::Cancel { job: id })?;
                continue;
            }
        };
        listener.hear(&event)?;
        match event {
            Event::Finished { job, pictures, .. } if job == id => {
                for path in pictures.iter().filter_map(|picture| picture.path.as_deref()) {
                    if !args.json {
                        stdout::line(&path.display().to_string())?;
                    }
                }
                not_saved.iter().for_each(exit::complain);
                return Ok(if not_saved.is_empty() { Outcome::Done } else { Outcome::Failed });
            }
            Event::NotSaved { job, failure } if job == id => not_saved.push(failure),
            Event::Cancelled { job } if job == id => return Ok(Outcome::Cancelled),
            Event::Failed { job, failure } if job.is_none_or(|job| job == id) => {
                return Err(EngineFailure(failure).into());
            }
            _ => {}
        }
    }
}

impl Args {
    fn request(&self, summary: &ModelSummary) -> Request {
        let defaults = &summary.defaults;
        Request {
            model: self.model.clone(),
            prompt: self.prompt.clone(),
            negative_prompt: self.negative.clone(),
            width: self.width.unwrap_or(defaults.width),
            height: self.height.unwrap_or(defaults.height),
            steps: self.steps.unwrap_or(defaults.steps),
            guidance: self.guidance.unwrap_or(defaults.guidance),
            seed: self.seed.unwrap_or_else(random_seed),
            batch: self.batch,
            sampler: self.sampler,
            schedule: self.schedule,
            dtype: self.dtype,
            max_sequence_length: self.max_sequence_length,
        }
    }
}

/// Passes events on to whoever wants them.
struct Listener {
    json: bool,
    progress: Progress,
}

impl Listener {
    fn hear(&mut self, event: &Event) -> anyhow::Result<()> {
        self.progress.show(event);
        if self.json { stdout::line(&json_line(event)?) } else { Ok(()) }
    }
}

/// An event without its pixels, which would be megabytes of numbers.
fn json_line(event: &Event) -> anyhow::Result<String> {
    let Event::Finished { job, pictures, seconds } = event else {
        return serde_json::to_string(event).context("an event cannot be written as JSON");
    };
    let pictures = pictures.iter().map(|Picture { image, seed, path }| {
        let image = json!({ "width": image.width, "height": image.height });
        json!({ "image": image, "seed": seed, "path": path })
    });
    let pictures: Vec<_> = pictures.collect();
    Ok(json!({ "event": "finished", "job": job, "pictures": pictures, "seconds": seconds }).to_string())
}

fn introduction(summary: &ModelSummary, request: &Request) -> String {
    let Request { width, height, steps, guidance, seed, batch, .. } = request;
    let pictures = if *batch == 1 { "a picture".to_owned() } else { format!("{batch} pictures") };
    let name = &summary.name;
    format!("{name}: {pictures} of {width}×{height}, {steps} steps, guidance {guidance}, seed {seed}")
}

/// A choice among names.
fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name(value))).try_map(move |text| {
        all.iter().copied().find(|&value| name(value) == text).ok_or("this name is unknown")
    })
}
