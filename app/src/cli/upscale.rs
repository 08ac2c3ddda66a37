//! `sluice upscale`: enlarges images and clips.

use std::path::{Path, PathBuf};

use anyhow::Context;
use sluice_engine::{
    memory::Forecast,
    output::Codec,
    request::{ModelSource, Request, SCALES},
    session::{Job, JobId},
    source::GivenMedia,
    units,
};

use super::{
    engine::Engine,
    exit::{Outcome, refuse, stderr_line},
    names::named,
    tool_args::ToolArgs,
};
use crate::{
    folders::pictures_folder,
    upscaling::{inputs_in, name_of_result, request_of},
};

const EXAMPLES: &str = "\
Examples:
  sluice upscale photo.jpg --scale 2
      Writes photo-2x.png beside it, with the upscaler that comes with Sluice.
  sluice upscale photo.jpg --model ~/models/4x-UltraSharp.safetensors --scale 4 --output large.png
  sluice upscale photos/ boat.mp4 --scale 1.5 --output larger/
      Enlarges the images and clips of a folder, and a clip; what is in larger/ already is left out.
  sluice upscale photo.jpg --scale 4 --plan
      Predicts memory and time, and enlarges nothing.";

/// The most inputs that are forecast before they are enlarged.
const FORECASTS: usize = 24;

/// Enlarge images and clips.
///
/// The settings in an image or a clip are kept, and the upscaler is added to them. The names of the results are written to
/// the standard output, progress to the standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Images, MP4 and MOV clips, and folders of them.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// A .safetensors file of ESRGAN, Real-ESRGAN Compact or SPAN, or `upscaler` for the built-in one.
    #[arg(short, long, value_name = "PATH", default_value = "upscaler")]
    model: ModelSource,
    /// How many times as wide and as high the result is, from 1 to 4. If the model has another factor, its result is
    /// resized.
    #[arg(short, long, value_name = "NUMBER", default_value_t = 2.0)]
    scale: f32,
    /// The file to write for one image or clip; an existing file is replaced. For several, the folder of the results, in
    /// which existing files are left as they are. Without it, a result is written beside its input, and those of a folder to
    /// a folder of its name in the folder Sluice of your pictures folder.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// The video codec of clips. All but h264 need the program ffmpeg.
    #[arg(long, value_name = "NAME", default_value = Codec::default().name(), value_parser = named(&Codec::ALL, Codec::name))]
    codec: Codec,
    #[command(flatten)]
    tool: ToolArgs,
}

/// A file to enlarge, and where the result goes.
struct Task {
    input: PathBuf,
    given: GivenMedia,
    request: Request,
    output: PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if !SCALES.contains(&args.scale) {
        return Err(refuse(
            format!("the scale {} is not between {} and {}", args.scale, SCALES.start(), SCALES.end()),
            "Use --scale with a number from 1 to 4. To enlarge further, enlarge the result again.".to_owned(),
        ));
    }
    let (tasks, notes) = args.tasks()?;
    let engine = args.tool.engine()?;
    if args.tool.plan {
        let requests = tasks.iter().map(|task| (task.request.clone(), sizes(task)));
        return args.tool.predict(&engine, requests);
    }
    if args.tool.speaks() {
        notes.iter().for_each(|note| stderr_line(note));
    }
    let Some(first) = tasks.first() else { return Ok(Outcome::Done) };
    let mut listener = args.tool.listener(tasks.iter().map(|task| task.input.as_path()));
    let query = args.tool.query(0, first.request.clone());
    let Some((forecast, _)) = engine.plan(query)? else { return Ok(Outcome::Cancelled) };
    if args.tool.speaks() && args.introduce(&engine, &tasks, &forecast)?.is_none() {
        return Ok(Outcome::Cancelled);
    }
    let job = |(number, task): (u64, &Task)| Job {
        codec: args.codec,
        ..args.tool.job(JobId(number), task.request.clone(), task.output.clone())
    };
    let jobs: Vec<Job> = (1..).zip(&tasks).map(job).collect();
    args.tool.follow(&engine, &jobs, (forecast, "upscaler"), &mut listener)
}

impl Args {
    /// What to enlarge, and what to say about what is left out.
    fn tasks(&self) -> anyhow::Result<(Vec<Task>, Vec<String>)> {
        let is_single = self.inputs.len() == 1 && !self.inputs[0].is_dir();
        let (mut tasks, mut notes): (Vec<Task>, Vec<String>) = (Vec::new(), Vec::new());
        for input in &self.inputs {
            if !input.is_dir() {
                let results = self.output.clone().or_else(|| input.parent().map(Path::to_owned));
                self.add(input, &results.unwrap_or_default(), is_single, &mut tasks, &mut notes)?;
                continue;
            }
            let found = inputs_in(input).with_context(|| format!("{} cannot be read", input.display()))?;
            if found.is_empty() {
                return Err(refuse(
                    format!("{} contains no images and no clips", input.display()),
                    "Give a folder with PNG, JPEG or WebP images or MP4 clips.".to_owned(),
                ));
            }
            let name = input.canonicalize().ok().and_then(|path| path.file_name().map(PathBuf::from));
            let own =
                || pictures_folder().unwrap_or_else(|| PathBuf::from(".")).join(name.unwrap_or_default());
            let results = self.output.clone().unwrap_or_else(own);
            for file in found {
                self.add(&file, &results, false, &mut tasks, &mut notes)?;
            }
        }
        Ok((tasks, notes))
    }

    /// Adds a file, unless its result is there. A single result may be named by `--output`.
    fn add(
        &self,
        input: &Path,
        results: &Path,
        is_single: bool,
        tasks: &mut Vec<Task>,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<()> {
        let (request, given) = request_of(input, &self.model, self.scale)
            .map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
        let is_clip = given.clip.is_some();
        let is_named = is_single && self.output.is_some() && !results.is_dir();
        let mut output = match is_named {
            true => results.to_owned(),
            false => results.join(name_of_result(input, self.scale, is_clip)),
        };
        if tasks.iter().any(|task| task.output == output) {
            // Two files that differ only in their extension or their folder.
            let whole = input.file_name().unwrap_or_default().to_string_lossy();
            output = results.join(name_of_result(Path::new(&format!("{whole}.")), self.scale, is_clip));
        }
        if !is_named && output.exists() {
            notes.push(format!("{} left out: {} is there", input.display(), output.display()));
            return Ok(());
        }
        if given.clip.as_ref().is_some_and(|clip| clip.has_sound)
            && !matches!(given.sound(input), Ok(Some(_)))
        {
            notes.push(format!(
                "the sound of {} cannot be copied: it is neither AAC nor MP3",
                input.display()
            ));
        }
        tasks.push(Task { input: input.to_owned(), given, request, output });
        Ok(())
    }

    /// Says what will be done and what it takes; `None` after Ctrl-C.
    fn introduce(&self, engine: &Engine, tasks: &[Task], first: &Forecast) -> anyhow::Result<Option<()>> {
        let (mut seconds, mut bytes) = (Some(0.0), 0);
        for (number, task) in (0..).zip(tasks) {
            let forecast = match number {
                0 => first.clone(),
                number if number >= FORECASTS => {
                    seconds = None;
                    break;
                }
                number => match engine.plan(self.tool.query(number as u64, task.request.clone())) {
                    Ok(Some((forecast, _))) => forecast,
                    Ok(None) => return Ok(None),
                    // Its job will say why.
                    Err(_) => continue,
                },
            };
            if let Ok(plan) = &forecast.plan {
                seconds = seconds.map(|seconds| seconds + plan.seconds);
                bytes = plan.peak_device().max(bytes);
            }
        }
        let what = match tasks {
            [task] => sizes(task),
            tasks => units::counted(tasks.len(), "file"),
        };
        let time = seconds.map(|seconds| format!(", about {}", units::seconds(seconds))).unwrap_or_default();
        let memory = units::memory_needed(bytes);
        stderr_line(&format!("{}: {what}, up to {memory} of memory{time}", first.model));
        Ok(Some(()))
    }
}

/// What a file is enlarged from and to.
fn sizes(task: &Task) -> String {
    let ([from_width, from_height], Request { width, height, .. }) = (task.given.size, &task.request);
    let frames = task.given.clip.as_ref().map(|clip| units::counted(clip.frames as usize, "frame"));
    let frames = frames.map(|frames| format!("{frames} of ")).unwrap_or_default();
    format!("{frames}{from_width}×{from_height} to {width}×{height}")
}
