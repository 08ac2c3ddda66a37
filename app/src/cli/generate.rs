//! `sluice generate`: generates images and clips.

use std::path::{Path, PathBuf};

use sluice_engine::{
    output::{Codec, Output},
    request::{ModelSource, Request, Schedule},
    session::{Command, Event, Job, JobId, ModelSummary, Reports},
};

use super::{
    engine::{Engine, Heard},
    exit::{self, Explained, Outcome, stderr_line},
    listener::Listener,
    memory_args::MemoryArgs,
    model_folders::ModelFolderArgs,
    names::named,
    part_args,
    request_args::{RequestArgs, in_words},
    source_args::SourceArgs,
    stdout,
    unsaved::{self, ModelNames},
};
use crate::{folders::pictures_folder, seed::random_seed};

const EXAMPLES: &str = "\
Examples:
  sluice generate --prompt \"a red circle above a blue square\"
  sluice generate --prompt \"a green star\" --seed 7 --batch-size 4 --output star.png
      Writes star.png, star-2.png, star-3.png and star-4.png.
  sluice generate --model ~/models/z-image --prompt \"a fox\" --width 768 --height 512 --steps 20
  sluice generate --prompt \"a fox\" --card rtx-3060 --offload layer_streaming --vram-budget 6
      Simulates a GPU with 12 GB, of which Sluice may use 6 GB.
  sluice generate --init-image photo.jpg --strength 0.5 --prompt \"an oil painting of a harbour\"
      Image to image: turns a photo into a painting.
  sluice generate --init-image room.png --mask window.png --prompt \"a round window\"
      Inpaints the white area of window.png and leaves every other pixel unchanged.
  sluice generate --model ~/models/flux1-kontext --image photo.jpg --prompt \"make it winter\"
      Edits a photo with a model made for it. The size of the result follows the photo.
  sluice generate --model ~/models/flux --prompt \"a fox <lora:ink:0.8>\" --lora ~/loras/film.safetensors:0.5
      Uses two LoRAs; the one in the prompt is found by its name in a folder next to the model.
  sluice generate --model ~/models/wan2.2 --prompt \"a boat at sea\" --frames 81 --fps 16 --output boat.mp4
      Generates a clip; boat.webp, boat.gif or a folder such as frames/ would work too.
  sluice generate --model ~/models/wan2.2-i2v --image boat.png --prompt \"the boat sails away\" --output away.mp4
      Image to video: the clip begins with the image. --last-image says how it ends.
  sluice generate --model ~/models/wan2.2 --video boat.mp4 --range 0..48 --strength 0.6 --prompt \"a paper boat\"
      Video to video: changes a part of a clip.
  sluice generate --model ~/models/wan2.2 --video boat.mp4 --extend --prompt \"the boat lands\" --output long.mp4
      Continues a clip from its last frames.
  sluice generate --prompt \"a hill\" --json | jq -c 'select(.event == \"step\")'
      Prints one line of JSON for each step.";

/// Generate images and clips.
///
/// If you leave out an option, the model's default applies. The names of the files are written to the standard output,
/// progress to the standard error. Ctrl-C cancels the run; pressing it twice ends the program at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_override_self = true)]
pub(super) struct Args {
    /// Describes the image. May be given several times, to generate one prompt after the other.
    #[arg(short, long = "prompt", value_name = "TEXT", required = true)]
    prompts: Vec<String>,
    /// What to avoid in the image. Only has an effect with guidance.
    #[arg(long, alias = "negative", value_name = "TEXT", default_value = "", hide_default_value = true)]
    negative_prompt: String,
    /// The folder or file of a model, or `starter` or `starter-clip` for the built-in ones.
    #[arg(short, long, value_name = "PATH", default_value = "starter")]
    model: ModelSource,
    #[command(flatten)]
    folders: ModelFolderArgs,
    /// The file to write; an existing file is replaced. Images are written as PNG. Clips are written as MP4, WebP, GIF
    /// or animated PNG, as the extension says, or as a folder of PNG images. Without it, the image or clip is saved
    /// under a new name in the folder Sluice of your pictures folder.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The video codec of a clip. All but h264 need the program ffmpeg.
    #[arg(long, value_name = "NAME", default_value = Codec::default().name(), value_parser = named(&Codec::ALL, Codec::name))]
    codec: Codec,
    /// The same seed and settings give the same image. Random by default.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// The noise schedule: how the noise levels of the steps are spaced. By default that of the model.
    #[arg(long, alias = "scheduler", value_name = "NAME", value_parser = named(&Schedule::ALL, Schedule::name))]
    schedule: Option<Schedule>,
    /// Number of CPU threads; all by default.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// A safetensors file whose tensor `latents` replaces the noise of the seed. Its tensors `noise.picture` and
    /// `noise.masked_picture`, if present, replace the noise for encoding the input image.
    #[arg(long, value_name = "FILE")]
    initial_latents: Option<PathBuf>,
    /// Write the tensors of every stage to this safetensors file.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    /// Write telemetry of the run to this file, as lines of JSON.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    telemetry: Option<PathBuf>,
    /// Write a timeline of the run to this file, for Perfetto or Chrome's trace viewer.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    trace: Option<PathBuf>,
    /// After each step and stage, list where each block was loaded from and how long the computation waited for it.
    #[arg(long, help_heading = "Reports")]
    offload_log: bool,
    /// Write only the engine's events to the standard output, as lines of JSON.
    #[arg(long)]
    json: bool,
    /// Do not show progress.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten, next_help_heading = "Image to image, inpainting, and clips from images or clips")]
    source: SourceArgs,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

pub(super) fn run(args: Args) -> anyhow::Result<Outcome> {
    let engine = Engine::start(args.threads.map(usize::from), &args.folders, args.request.folders())?;
    let Some(summary) = engine.load(args.model.clone())? else { return Ok(Outcome::Cancelled) };
    part_args::check(&args.memory.preferences(), &summary)?;
    let request = args.request(&summary)?;
    let mut listener = Listener::new(&args.prompts, args.json, args.quiet, args.offload_log);
    if !args.quiet && !args.json {
        stderr_line(&introduction(&summary, &request));
        if let Some((path, few)) = args.request.few_steps() {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            stderr_line(&format!("{name} is made for {}.", few.in_words()));
        }
        if request.clip_skip > 1 && !summary.reads_clip_skip {
            stderr_line(&format!(
                "--clip-skip has no effect: {} does not use hidden layers of CLIP.",
                summary.family_name
            ));
        }
    }
    let names = ModelNames { model: summary.name.clone(), family: summary.family.clone() };
    listener.hear(&Event::ModelLoaded(Box::new(summary)))?;
    let jobs = args.jobs(&request);
    follow(&engine, &jobs, &names, &mut listener)
}

/// The most jobs that wait in the engine. The others follow as these end.
const WAITING: usize = 8;

/// Sends the jobs and follows them until all have ended. When one fails, the others still run.
fn follow(
    engine: &Engine,
    jobs: &[Job],
    names: &ModelNames,
    listener: &mut Listener,
) -> anyhow::Result<Outcome> {
    let mut open: Vec<JobId> = Vec::new();
    let mut unsent = jobs.iter();
    let mut outcome = Outcome::Done;
    let mut not_saved = Vec::new();
    loop {
        let room = WAITING - open.len();
        for job in unsent.by_ref().take(room) {
            engine.send(Command::Generate(Box::new(job.clone())))?;
            open.push(job.id);
        }
        if open.is_empty() {
            return Ok(outcome);
        }
        let event = match engine.next()? {
            Heard::Event(event) => event,
            Heard::Interrupt => {
                unsent = [].iter();
                // Waiting jobs are cancelled first, so that none of them starts.
                for &job in open.iter().rev() {
                    engine.send(Command::Cancel { job })?;
                }
                continue;
            }
        };
        listener.hear(&event)?;
        match event {
            Event::Finished { job, pictures, .. } => {
                for path in pictures.iter().filter_map(|picture| picture.path.as_deref()) {
                    if !listener.json() {
                        stdout::line(&path.display().to_string())?;
                    }
                }
                not_saved.drain(..).for_each(|failure| exit::complain(&failure));
                if let Some(job) = jobs.iter().find(|other| other.id == job) {
                    unsaved::rescue(&pictures, job, names);
                }
                open.retain(|&other| other != job);
            }
            Event::NotSaved { failure, .. } => {
                not_saved.push(failure);
                outcome = outcome.max(Outcome::Failed);
            }
            Event::Cancelled { job } => {
                outcome = Outcome::Cancelled;
                open.retain(|&other| other != job);
            }
            Event::Failed { job: Some(job), failure } => {
                exit::complain(&failure);
                outcome = outcome.max(Outcome::Failed);
                open.retain(|&other| other != job);
            }
            Event::Failed { job: None, failure } => return Err(Explained(failure).into()),
            _ => {}
        }
    }
}

impl Args {
    fn request(&self, summary: &ModelSummary) -> anyhow::Result<Request> {
        let usual = self.request.request(&summary.defaults);
        let request = Request {
            model: self.model.clone(),
            negative_prompt: self.negative_prompt.clone(),
            seed: self.seed.unwrap_or_else(random_seed),
            schedule: self.schedule.unwrap_or(usual.schedule),
            ..usual
        };
        let takes = summary.references.as_ref();
        let request = self.source.given_to(request, takes)?;
        let request = match self.request.has_size() {
            true => request,
            false => SourceArgs::with_size_of_reference(request, takes, summary.size_multiple)?,
        };
        if self.request.has_frames() {
            return Ok(request);
        }
        self.source.with_frames_of_clip(request, summary)
    }

    /// A job for each prompt. With several prompts, the names of their files are numbered.
    fn jobs(&self, request: &Request) -> Vec<Job> {
        let one = self.prompts.len() == 1;
        let prompts = (1..).zip(&self.prompts);
        prompts
            .map(|(number, prompt)| {
                let name = |file: &PathBuf| if one { file.clone() } else { numbered(file, number) };
                let output = match &self.output {
                    Some(file) => Output::File(name(file)),
                    None => Output::Folder(pictures_folder().unwrap_or_else(|| PathBuf::from("."))),
                };
                let request = Request { prompt: prompt.clone(), ..request.clone() };
                Job {
                    output: Some(output),
                    codec: self.codec,
                    initial_latents: self.initial_latents.clone(),
                    dump: self.dump.as_ref().map(name),
                    memory: self.memory.preferences(),
                    reports: Reports {
                        telemetry: self.telemetry.as_ref().map(name),
                        trace: self.trace.as_ref().map(name),
                    },
                    ..Job::new(JobId(number), request)
                }
            })
            .collect()
    }
}

/// `a.png` as `a-3.png`.
fn numbered(file: &Path, number: u64) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = file.extension() {
        name.push(".");
        name.push(extension);
    }
    file.with_file_name(name)
}

fn introduction(summary: &ModelSummary, request: &Request) -> String {
    let inputs = inputs_in_words(request, summary.overlap.unwrap_or_default());
    format!("{}: {}, seed {}{inputs}", summary.name, in_words(request), request.seed)
}

/// What a request starts from: `, from boat.png to harbour.png`. An extension goes on from `overlap` frames.
fn inputs_in_words(request: &Request, overlap: u32) -> String {
    let strength = |strength: f64| format!(" with denoising strength {strength}");
    let strength = request.strength().map(strength).unwrap_or_default();
    let last = request.last_image.as_ref().map(|last| format!(" to {}", last.display())).unwrap_or_default();
    let references = request.references.iter().map(|path| path.display().to_string());
    if let Some(control) = &request.control {
        let names = control.video.iter().map(|path| path.display().to_string());
        let names: Vec<String> = names.chain(references).collect();
        return format!(", controlled by {}", names.join(", "));
    }
    let keyframes = request.keyframes.iter();
    let keyframes: String =
        keyframes.map(|key| format!(", {} at frame {}", key.path.display(), key.frame)).collect();
    let references: Vec<String> = references.collect();
    let references = match &references[..] {
        [] => String::new(),
        names => format!(", with references {}", names.join(", ")),
    };
    match (&request.source, &request.clip) {
        (Some(source), _) => {
            format!(", from {}{last}{keyframes}{strength}{references}", source.path.display())
        }
        (None, Some(clip)) if clip.extends => {
            format!(", from the last {overlap} frames of {}", clip.path.display())
        }
        (None, Some(clip)) => format!(", from {}{strength}", clip.path.display()),
        (None, None) => format!("{keyframes}{references}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_several_prompts_are_numbered_before_the_extension() {
        for (file, expected) in
            [("out/a.png", "out/a-3.png"), ("run.trace.json", "run.trace-3.json"), ("log", "log-3")]
        {
            assert_eq!(numbered(Path::new(file), 3), Path::new(expected));
        }
    }
}
