//! `sluice generate`: generates images and clips.

use std::path::{Path, PathBuf};

use sluice_engine::{
    output::{Codec, Encoding},
    request::{
        Enhanced, ModelSource, Request, Schedule, Variation,
        grid::{Grid, GridLabels, GridSetting},
    },
    session::{Command, Event, Failure, Job, JobId, ModelSummary, PlanQuery, PlanSubject, Reports},
    units,
};

use super::{
    control_net_args::ControlNetArgs,
    engine::{Engine, Heard},
    enhance::{WritingArgs, enhanced},
    exit::{self, Explained, Outcome, refuse, stderr_line},
    grid_args::GridArgs,
    image_prompt_args::ImagePromptArgs,
    jobs::{Jobs, Plan},
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
use crate::{
    groups::{Group, seconds_of_another},
    input_folder::Subfolders,
    seed::random_seed,
};

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
  sluice generate --prompt \"a fox in the snow\" --x \"steps: 10-30 (+10)\" --y \"prompt: fox, wolf, bear\" --output grid.png
      Generates a grid of nine images, which are kept as grid-x1-y1.png and so on.
  sluice generate --init-image photos/ --strength 0.5 --prompt \"an oil painting\" --output paintings/
      Image to image for each image of a folder; what is in paintings/ already is left out.
  sluice generate --prompt \"a hill\" --json | jq -c 'select(.event == \"step\")'
      Prints one line of JSON for each step.";

/// Generate images and clips.
///
/// If you leave out an option, the model's default applies. The names of the files are written to the standard output,
/// progress to the standard error. Ctrl-C cancels the run; pressing it twice ends the program at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_override_self = true)]
pub(super) struct Args {
    /// Describes the image. May be given several times, to generate one prompt after the other; the names of the files are then
    /// numbered.
    #[arg(short, long = "prompt", value_name = "TEXT", required = true)]
    prompts: Vec<String>,
    /// What to avoid in the image. Only has an effect with guidance.
    #[arg(long, alias = "negative", value_name = "TEXT")]
    negative_prompt: Option<String>,
    /// The folder or file of a model, or `starter` or `starter-clip` for the built-in ones.
    #[arg(short, long, value_name = "PATH", default_value = "starter")]
    model: ModelSource,
    #[command(flatten)]
    folders: ModelFolderArgs,
    /// The file to write; an existing file is replaced. For a folder of input images, the folder of the results. Images are
    /// written as PNG, JPEG or WebP, as the extension says. Clips are written as MP4, WebP, GIF or animated PNG, as the
    /// extension says, or as a folder of PNG images. Without it, the image or clip is saved under a new name in the folder
    /// Sluice of your pictures folder.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The video codec of a clip. All but h264 need the program ffmpeg.
    #[arg(long, value_name = "NAME", default_value = Codec::default().name(), value_parser = named(&Codec::ALL, Codec::name))]
    codec: Codec,
    /// The quality of JPEG and WebP images, from 1 to 100.
    #[arg(long, value_name = "NUMBER", default_value_t = Encoding::USUAL_QUALITY, value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: u8,
    /// Let a language model write longer prompts first, see `sluice enhance`.
    #[arg(long)]
    enhance: bool,
    /// The language model that does: a .gguf or .safetensors file of Qwen3. Without it, one in the model folders is used.
    #[arg(long, value_name = "PATH", requires = "enhance")]
    language_model: Option<PathBuf>,
    /// The same seed and settings give the same image. Random by default.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Turn the noise of the seed towards that of this second one, for images that are like the first. Images of a batch have
    /// it and the next ones.
    #[arg(long, alias = "subseed", value_name = "NUMBER")]
    variation_seed: Option<u64>,
    /// How far: 0 is the seed, 1 the second one.
    #[arg(
        long,
        alias = "subseed-strength",
        value_name = "NUMBER",
        default_value_t = 0.2,
        requires = "variation_seed"
    )]
    variation_strength: f32,
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
    /// Do not show progress. What is left out is still said.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten, next_help_heading = "Grids")]
    grid: GridArgs,
    #[command(flatten, next_help_heading = "Image to image, inpainting, and clips from images or clips")]
    source: SourceArgs,
    #[command(flatten, next_help_heading = "ControlNets")]
    control_nets: ControlNetArgs,
    #[command(flatten, next_help_heading = "Image prompts")]
    image_prompts: ImagePromptArgs,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

pub(super) fn run(mut args: Args) -> anyhow::Result<Outcome> {
    // Its file is there until the run ends.
    let _edited_mask = args.source.edit_mask()?;
    let engine = Engine::start(args.threads.map(usize::from), &args.folders, args.request.folders())?;
    let Some(summary) = engine.load(args.model.clone())? else { return Ok(Outcome::Cancelled) };
    part_args::check(&args.memory.preferences(), &summary)?;
    let request = args.request(&summary)?;
    let grid =
        args.grid.grid().map_err(|error| refuse(error.to_string(), "Change --x, --y or --z.".to_owned()))?;
    let grid = match grid {
        Some(grid) if grid.varies(GridSetting::Style) => {
            Some(grid.with_styles(args.request.known_styles(&request)?))
        }
        other => other,
    };
    let enhanced = match args.enhanced(&engine, &summary.family, request.seed)? {
        Ok(enhanced) => enhanced,
        Err(outcome) => return Ok(outcome),
    };
    if args.enhance {
        args.prompts = enhanced.iter().map(|enhanced| enhanced.result.clone()).collect();
    }
    let Jobs { mut jobs, titles, groups, notes } = args.jobs(&request, grid.as_ref())?;
    for job in &mut jobs {
        job.request.enhanced = enhanced.iter().find(|known| known.result == job.request.prompt).cloned();
    }
    let mut listener = Listener::new(titles, args.json, args.quiet, args.offload_log);
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
    notes.iter().for_each(|note| stderr_line(note));
    if !args.quiet
        && !args.json
        && let Some(grid) = &grid
        && args.say_before_grid(&engine, &grid.labels(), &jobs)?.is_none()
    {
        return Ok(Outcome::Cancelled);
    }
    let names = ModelNames { model: summary.name.clone(), family: summary.family.clone() };
    listener.hear(&Event::ModelLoaded(Box::new(summary)))?;
    follow(&engine, &jobs, groups, &names, &mut listener)
}

/// The most different requests of a grid that are forecast before it runs.
const FORECASTS: usize = 24;
/// The most jobs that wait in the engine. The others follow as these end.
const WAITING: usize = 8;

/// Sends the jobs and follows them until all have ended. When one fails, the others still run.
pub(super) fn follow(
    engine: &Engine,
    jobs: &[Job],
    mut groups: Vec<Group>,
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
            // What a cancelled grid has.
            groups.iter().for_each(|group| compose(group, names, listener, &mut outcome));
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
        let ended = match &event {
            Event::Finished { job, .. } | Event::Cancelled { job } | Event::Failed { job: Some(job), .. } => {
                Some(*job)
            }
            _ => None,
        };
        match event {
            Event::Finished { job, pictures, .. } => {
                for group in &mut groups {
                    group.finished(job, &pictures);
                }
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
        if let Some(job) = ended
            && let Some(place) = groups.iter_mut().position(|group| group.ended(job))
        {
            compose(&groups.remove(place), names, listener, &mut outcome);
        }
    }
}

/// Composes the images of a group, and names the result.
fn compose(group: &Group, names: &ModelNames, listener: &Listener, outcome: &mut Outcome) {
    if !group.has_images() {
        return;
    }
    match group.write(&names.model, &names.family) {
        Ok(composed) if listener.json() => {
            let line = serde_json::json!({ "event": "composed", "path": composed.path });
            if stdout::line(&line.to_string()).is_err() {
                *outcome = Outcome::Failed;
            }
        }
        Ok(composed) => {
            if stdout::line(&composed.path.display().to_string()).is_err() {
                *outcome = Outcome::Failed;
            }
        }
        Err(error) => {
            let advice = error.advice().map(str::to_owned);
            exit::complain(&Failure { message: error.to_string(), advice });
            *outcome = Outcome::Failed;
        }
    }
}

impl Args {
    fn request(&self, summary: &ModelSummary) -> anyhow::Result<Request> {
        let usual = self.request.request(&summary.defaults)?;
        let request = Request {
            model: self.model.clone(),
            negative_prompt: self.negative_prompt.clone().unwrap_or_else(|| usual.negative_prompt.clone()),
            seed: self.seed.unwrap_or_else(random_seed),
            variation: self.variation_seed.map(|seed| Variation { seed, strength: self.variation_strength }),
            schedule: self.schedule.unwrap_or(usual.schedule),
            ..usual
        };
        let request = self.request.styled(request)?;
        let takes = summary.references.as_ref();
        let request = self.source.given_to(request, takes)?;
        let request = self.control_nets.given_to(request)?;
        let request = Request { image_prompts: self.image_prompts.prompts()?, ..request };
        let request = match self.request.has_size() {
            true => request,
            false => SourceArgs::with_size_of_inputs(request, takes, summary.size_multiple)?,
        };
        if self.request.has_frames() {
            return Ok(request);
        }
        self.source.with_frames_of_clip(request, summary)
    }

    /// The prompts as a language model writes them anew, if that is asked for; or why it does not.
    fn enhanced(
        &self,
        engine: &Engine,
        family: &str,
        seed: u64,
    ) -> anyhow::Result<Result<Vec<Enhanced>, Outcome>> {
        if !self.enhance {
            return Ok(Ok(Vec::new()));
        }
        let writing = WritingArgs::usual(self.language_model.clone());
        let memory = self.memory.preferences();
        let mut listener = Listener::new(Vec::new(), self.json, self.quiet, false);
        let all = enhanced(engine, &writing, family, &self.prompts, (seed, &memory), &mut listener)?;
        if !self.quiet && !self.json {
            all.iter().flatten().for_each(|enhanced| stderr_line(&enhanced.result));
        }
        Ok(all)
    }

    /// The jobs, and what is composed of them.
    fn jobs(&self, request: &Request, grid: Option<&Grid>) -> anyhow::Result<Jobs> {
        let job = |id, request, output, name: &dyn Fn(&Path) -> PathBuf| Job {
            output: Some(output),
            codec: self.codec,
            quality: self.quality,
            initial_latents: self.initial_latents.clone(),
            dump: self.dump.as_deref().map(name),
            memory: self.memory.preferences(),
            reports: Reports {
                telemetry: self.telemetry.as_deref().map(name),
                trace: self.trace.as_deref().map(name),
            },
            ..Job::new(id, request)
        };
        let plan = Plan {
            prompts: &self.prompts,
            grid,
            composes_batch: self.grid.batch_grid,
            output: self.output.as_deref(),
            encoding: Encoding { codec: self.codec, quality: self.quality },
            subfolders: if self.source.subfolders { Subfolders::Included } else { Subfolders::LeftOut },
            job: &job,
        };
        plan.jobs(request)
    }

    /// How many images a grid has and about how long they take; `None` after Ctrl-C.
    fn say_before_grid(
        &self,
        engine: &Engine,
        labels: &GridLabels,
        jobs: &[Job],
    ) -> anyhow::Result<Option<()>> {
        let mut known: Vec<(Request, f64)> = Vec::new();
        let mut seconds = Some(0.0);
        for job in jobs {
            // What does not change the time: one forecast is enough.
            let same = Request { seed: 0, variation: None, prompt: String::new(), ..job.request.clone() };
            let before = known.iter().find(|(request, _)| *request == same).map(|(_, seconds)| *seconds);
            let one = match before {
                Some(one) => Some(one),
                None if known.len() == FORECASTS => None,
                None => {
                    let query = PlanQuery {
                        id: known.len() as u64,
                        subject: PlanSubject::Model,
                        request: job.request.clone(),
                        memory: job.memory.clone(),
                    };
                    let planned = match engine.plan(query) {
                        Ok(Some((forecast, _))) => forecast.plan.ok(),
                        Ok(None) => return Ok(None),
                        // Its job will say why.
                        Err(_) => None,
                    };
                    planned.map(|plan| {
                        let is_first = known.iter().all(|(request, _)| request.model != same.model);
                        let again = seconds_of_another(&plan, same.steps, 1.0).min(plan.seconds);
                        known.push((same, again));
                        if is_first { plan.seconds } else { again }
                    })
                }
            };
            seconds = seconds.zip(one).map(|(all, one)| all + one);
        }
        let [columns, rows, tables] = labels.sides();
        let sides = if tables > 1 {
            format!("{columns} × {rows} × {tables}")
        } else {
            format!("{columns} × {rows}")
        };
        let time = seconds.map(|seconds| format!(", about {}", units::seconds(seconds))).unwrap_or_default();
        stderr_line(&format!("a grid of {sides} = {}{time}", units::counted(jobs.len(), "image")));
        Ok(Some(()))
    }
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
