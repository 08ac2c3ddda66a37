//! `sluice depth`: makes depth maps of images.

use std::path::{Path, PathBuf};

use anyhow::Context;
use sluice_engine::{
    output::Output,
    request::{ModelSource, PromptFolders, Request},
    session::{Event, Job, JobId, PlanQuery, PlanSubject, Reports},
    source::size_of,
    units,
};

use super::{
    engine::Engine,
    exit::{Outcome, refuse, stderr_line},
    forecast,
    generate::follow,
    listener::Listener,
    memory_args::MemoryArgs,
    model_folders::ModelFolderArgs,
    stdout,
    unsaved::ModelNames,
};

const EXAMPLES: &str = "\
Examples:
  sluice depth photo.jpg --model depth_anything_v2_vits_fp16.safetensors
      Writes photo-depth.png beside it: white is near, black is far.
  sluice depth a.png b.png --model ~/models/Depth-Anything-V2-Small-hf --output maps/
  sluice depth photo.jpg --model depth_anything_v2_vitl.safetensors --plan
      Predicts memory and time, and makes nothing.";

/// Make depth maps of images.
///
/// White is what is nearest, black what is farthest. The names of the results are written to the standard output, progress
/// to the standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// PNG, JPEG or WebP images.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// A .safetensors file of Depth Anything V2, or its folder as transformers saves it.
    #[arg(short, long, value_name = "PATH")]
    model: PathBuf,
    /// The file to write for one image, which is replaced if it exists, or the folder of the results. Without it, a result is
    /// written beside its image.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Predict memory and time, and make nothing.
    #[arg(long)]
    plan: bool,
    /// Number of CPU threads; all by default.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write telemetry of the run to this file, as lines of JSON.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    telemetry: Option<PathBuf>,
    /// Write only the engine's events to the standard output, as lines of JSON; with --plan the forecasts.
    #[arg(long)]
    json: bool,
    /// Do not show progress.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    folders: ModelFolderArgs,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut sizes = Vec::with_capacity(args.inputs.len());
    for input in &args.inputs {
        let size = size_of(input).map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
        sizes.push(size);
    }
    let engine = Engine::start(args.threads.map(usize::from), &args.folders, PromptFolders::default())?;
    if args.plan {
        return args.predict(&engine, &sizes);
    }
    let (Some(first), Some(size)) = (args.inputs.first(), sizes.first()) else { return Ok(Outcome::Done) };
    let count = args.inputs.len();
    let title = |(number, input): (usize, &PathBuf)| format!("{number} of {count}: {}", input.display());
    let titles = if count > 1 { (1..).zip(&args.inputs).map(title).collect() } else { Vec::new() };
    let mut listener = Listener::new(titles, args.json, args.quiet, false);
    let Some((forecast, _)) = engine.plan(args.query(0, first))? else { return Ok(Outcome::Cancelled) };
    if let (Ok(plan), false) = (&forecast.plan, args.quiet || args.json) {
        let [width, height] = size;
        let (memory, time) = (units::memory_needed(plan.peak_device()), units::seconds(plan.seconds));
        stderr_line(&format!(
            "{}: depth map of {width}×{height}, up to {memory} of memory, about {time}",
            forecast.model
        ));
    }
    let names = ModelNames { model: forecast.model.clone(), family: "depth".to_owned() };
    listener.hear(&Event::Planned { id: 0, forecast: Box::new(forecast), readings: Vec::new() })?;
    let jobs: Vec<Job> =
        (1..).zip(&args.inputs).map(|(number, input)| args.job(JobId(number), input)).collect();
    follow(&engine, &jobs, Vec::new(), &names, &mut listener)
}

impl Args {
    fn request(&self, input: &Path) -> Request {
        let model = ModelSource::Path(self.model.clone());
        Request { model, depth_of: Some(input.to_owned()), ..Request::default() }
    }

    fn query(&self, id: u64, input: &Path) -> PlanQuery {
        let (request, memory) = (self.request(input), self.memory.preferences());
        PlanQuery { id, subject: PlanSubject::Model, request, memory }
    }

    fn job(&self, id: JobId, input: &Path) -> Job {
        Job {
            output: Some(Output::File(self.result(input))),
            memory: self.memory.preferences(),
            reports: Reports { telemetry: self.telemetry.clone(), trace: None },
            ..Job::new(id, self.request(input))
        }
    }

    /// The file of a result: `photo-depth.png` of `photo.jpg`.
    fn result(&self, input: &Path) -> PathBuf {
        let name = format!("{}-depth.png", input.file_stem().unwrap_or_default().to_string_lossy());
        match &self.output {
            Some(output) if self.inputs.len() > 1 || output.is_dir() => output.join(name),
            Some(output) => output.clone(),
            None => input.with_file_name(name),
        }
    }

    /// Prints the forecast for each image.
    fn predict(&self, engine: &Engine, sizes: &[[u32; 2]]) -> anyhow::Result<Outcome> {
        for ((number, input), [width, height]) in (0..).zip(&self.inputs).zip(sizes) {
            let Some((forecast, _)) = engine.plan(self.query(number, input))? else {
                return Ok(Outcome::Cancelled);
            };
            if self.json {
                let json = serde_json::to_string_pretty(&forecast);
                stdout::line(&json.context("the forecast cannot be written as JSON")?)?;
                continue;
            }
            stdout::line(&format!("{}: depth map of {width}×{height}, computed in f32", forecast.model))?;
            stdout::line(&forecast::describe(&forecast))?;
        }
        Ok(Outcome::Done)
    }
}
