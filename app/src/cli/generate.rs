//! `sluice generate`: draws pictures.

use std::path::{Path, PathBuf};

use sluice_engine::{
    output::Output,
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
    request_args::{RequestArgs, in_words},
    source_args::SourceArgs,
    stdout,
};
use crate::{folders::pictures_folder, seed::random_seed};

const EXAMPLES: &str = "\
Examples:
  sluice generate --prompt \"a red circle above a blue square\"
  sluice generate --prompt \"a green star\" --seed 7 --batch 4 --output star.png
      Writes star.png, star-2.png, star-3.png and star-4.png.
  sluice generate --model ~/models/z-image --prompt \"a fox\" --width 768 --height 512 --steps 20
  sluice generate --prompt \"a fox\" --card rtx-3060 --offload layer_streaming --vram-budget 6
      Draws as a card with 12 GB would of which 6 GB may be taken.
  sluice generate --image photo.jpg --strength 0.5 --prompt \"an oil painting of a harbour\"
  sluice generate --image room.png --mask window.png --prompt \"a round window\"
      Draws what is light in window.png anew, and leaves every other pixel as it is.
  sluice generate --model ~/models/flux --prompt \"a fox <lora:ink:0.8>\" --lora ~/loras/film.safetensors:0.5
      Draws with two LoRAs, one of them found by name beside the model.
  sluice generate --prompt \"a hill\" --json | jq -c 'select(.event == \"step\")'";

/// Draw pictures.
///
/// What is not said is as the model likes it. The files' names go to the standard output, progress goes to the
/// standard error. Ctrl-C cancels; pressed twice, it ends the program at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_override_self = true)]
pub(super) struct Args {
    /// What the picture shows. Given several times, the prompts are drawn one after the other.
    #[arg(short, long = "prompt", value_name = "TEXT", required = true)]
    prompts: Vec<String>,
    /// What it must not show; used when the guidance is above zero.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    negative: String,
    /// A model's folder or file, or `starter` for the small one that comes with the program.
    #[arg(short, long, value_name = "PATH", default_value = "starter")]
    model: ModelSource,
    #[command(flatten)]
    folders: ModelFolderArgs,
    /// Where the picture goes, a name that ends in .png; an existing file is replaced. A new file in the folder
    /// Sluice among your pictures if absent.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    request: RequestArgs,
    /// Picks the noise; the same seed and settings give the same picture. Random if absent.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Spacing of the noise levels.
    #[arg(long, value_name = "NAME", default_value = Schedule::default().name(), value_parser = named(&Schedule::ALL, Schedule::name))]
    schedule: Schedule,
    /// Threads that compute; all of the machine's if absent.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// A safetensors file whose tensor `latents` takes the place of the seed's noise; its `noise.picture` and
    /// `noise.masked_picture`, if there, are the noise of encoded pictures.
    #[arg(long, value_name = "FILE")]
    initial_latents: Option<PathBuf>,
    /// A safetensors file to write the tensors of every stage to.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    /// A file for what the run says about itself, one line of JSON each.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    telemetry: Option<PathBuf>,
    /// A file for the run as a timeline; Perfetto and Chrome open it.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    trace: Option<PathBuf>,
    /// Lists after each step and stage how every block came to the card and how long it was waited for.
    #[arg(long, help_heading = "Reports")]
    offload_log: bool,
    /// Writes the engine's events to the standard output, one line of JSON each, and nothing else.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten, next_help_heading = "Picture to draw over")]
    source: SourceArgs,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

pub(super) fn run(args: Args) -> anyhow::Result<Outcome> {
    let engine = Engine::start(args.threads.map(usize::from), &args.folders, &args.request.lora_folders)?;
    let Some(summary) = engine.load(args.model.clone())? else { return Ok(Outcome::Cancelled) };
    let request = args.request(&summary);
    let mut listener = Listener::new(&args.prompts, args.json, args.quiet, args.offload_log);
    if !args.quiet && !args.json {
        stderr_line(&introduction(&summary, &request));
        if request.clip_skip > 1 && !summary.reads_clip_skip {
            stderr_line(&format!(
                "Clip skip has no effect: {} does not take layers of CLIP.",
                summary.family_name
            ));
        }
    }
    listener.hear(&Event::ModelLoaded(Box::new(summary)))?;
    let jobs = args.jobs(&request);
    let ids = jobs.iter().map(|job| job.id).collect();
    for job in jobs {
        engine.send(Command::Generate(Box::new(job)))?;
    }
    follow(&engine, ids, &mut listener)
}

/// Listens until every job has ended. A job that fails does not keep the next from being drawn.
fn follow(engine: &Engine, mut open: Vec<JobId>, listener: &mut Listener) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Done;
    let mut not_saved = Vec::new();
    while !open.is_empty() {
        let event = match engine.next()? {
            Heard::Event(event) => event,
            Heard::Interrupt => {
                // Those that wait go first, so that none of them begins.
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
    Ok(outcome)
}

impl Args {
    fn request(&self, summary: &ModelSummary) -> Request {
        Request {
            model: self.model.clone(),
            negative_prompt: self.negative.clone(),
            seed: self.seed.unwrap_or_else(random_seed),
            schedule: self.schedule,
            source: self.source.source(),
            ..self.request.request(&summary.defaults)
        }
    }

    /// A job for each prompt. Where there are several, the names of their files are numbered.
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
    let over = request
        .source
        .as_ref()
        .map(|source| format!(", over {} with strength {}", source.path.display(), source.strength));
    let over = over.unwrap_or_default();
    format!("{}: {}, seed {}{over}", summary.name, in_words(request, 1), request.seed)
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
