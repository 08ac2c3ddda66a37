//! `sluice enhance`: a language model makes a better prompt.

use std::{
    fs,
    io::{IsTerminal as _, stdout},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use sluice_engine::{
    memory::MemoryPreferences,
    models::FAMILIES,
    request::{Enhanced, ModelSource, Request, Writing},
    session::{Command, Event, Job, JobId},
    units,
};

use super::{
    engine::{Engine, Heard},
    exit::{self, Explained, Outcome, refuse, stderr_line},
    listener::Listener,
    stdout as out,
    tool_args::ToolArgs,
};
use crate::{
    enhancing::{Instruction, for_family, instruction_for, instructions, model_name, usual_model},
    seed::random_seed,
};

const NO_INSTRUCTIONS: &str = "no instructions for language models came with Sluice";

const EXAMPLES: &str = "\
Examples:
  sluice enhance \"a cat\"
      Writes a longer prompt with a language model from the model folders.
  sluice enhance \"a cat\" --language-model Qwen3-0.6B-Q8_0.gguf --for sdxl --seed 7
      The same words for the same seed, as tags for Stable Diffusion XL.
  sluice generate --model ~/models/z-image --prompt \"a cat\" --enhance
      Generates an image with what was written.
  sluice enhance \"a cat\" --plan
      Predicts memory and time, and writes nothing.";

/// Make a better prompt with a language model on this computer.
///
/// The language model is a file of Qwen3, of any size: GGUF, safetensors, or the text encoder of Z-Image. The prompt is written
/// to the standard output, on a terminal word by word; everything else to the standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The prompt.
    #[arg(value_name = "PROMPT")]
    prompt: String,
    #[command(flatten)]
    writing: WritingArgs,
    /// The model that the prompt is for: its path, its family such as `sdxl`, or a kind of prompt: `tags`, `sentences` or
    /// `motion`.
    #[arg(long = "for", value_name = "MODEL", default_value = "sentences")]
    made_for: String,
    /// The same seed gives the same words. Random by default.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    #[command(flatten)]
    tool: ToolArgs,
}

/// How a language model writes.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct WritingArgs {
    /// A .gguf or .safetensors file of Qwen3, or a folder with one. Without it, one in the model folders is used.
    #[arg(long, visible_alias = "model", value_name = "PATH")]
    pub language_model: Option<PathBuf>,
    /// What the language model is told, in place of what Sluice tells it: a text, or the name of a file with it.
    #[arg(long, value_name = "TEXT")]
    pub instruction: Option<String>,
    /// How freely words are chosen: 0 always takes the likeliest, 2 is wild.
    #[arg(long, value_name = "NUMBER", default_value_t = Writing::default().temperature)]
    pub temperature: f32,
    /// Words are chosen among the likeliest that together have this probability.
    #[arg(long, value_name = "NUMBER", default_value_t = Writing::default().top_p)]
    pub top_p: f32,
    /// The most tokens of the new prompt.
    #[arg(long, value_name = "COUNT", default_value_t = Writing::default().longest)]
    pub max_tokens: u32,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let engine = args.tool.engine()?;
    let Some(usual) = instruction_named(&engine, instructions(), &args.made_for)? else {
        return Ok(Outcome::Cancelled);
    };
    let Some(model) = args.writing.model(&engine)? else { return Ok(Outcome::Cancelled) };
    let request = Request {
        model,
        prompt: args.prompt.clone(),
        seed: args.seed.unwrap_or_else(random_seed),
        enhance: Some(args.writing.enhance(usual)?),
        ..Request::default()
    };
    let what = format!("a prompt of up to {} tokens", args.writing.max_tokens);
    if args.tool.plan {
        return args.tool.predict(&engine, std::iter::once((request, what)));
    }
    let Some((forecast, _)) = engine.plan(args.tool.query(0, request.clone()))? else {
        return Ok(Outcome::Cancelled);
    };
    if let (Ok(plan), true) = (&forecast.plan, args.tool.speaks()) {
        let (memory, time) = (units::memory_needed(plan.peak_device()), units::seconds(plan.seconds));
        let seed = request.seed;
        stderr_line(&format!(
            "{}: {what}, seed {seed}, up to {memory} of memory, at most about {time}",
            forecast.model
        ));
    }
    args.follow(&engine, request)
}

impl Args {
    /// Writes the prompt.
    fn follow(&self, engine: &Engine, request: Request) -> anyhow::Result<Outcome> {
        let grows = !self.tool.is_json() && stdout().is_terminal();
        // A spinner and a text that grows would write over each other.
        let mut listener = self.tool.listener_beside(grows);
        let job = Job { output: None, ..self.tool.job(JobId(1), request, PathBuf::new()) };
        let mut shown = String::new();
        let written = written(engine, job, &mut listener, |text, is_whole| {
            if grows {
                return grow(&mut shown, text, is_whole);
            }
            if is_whole && !self.tool.is_json() { out::line(text) } else { Ok(()) }
        })?;
        if grows && written.is_err() && !shown.is_empty() {
            out::line("")?;
        }
        Ok(written.map_or_else(|outcome| outcome, |_| Outcome::Done))
    }
}

/// The one of these with a name, or for what has it: a family, or a model at this path; `None` after Ctrl-C.
pub(super) fn instruction_named(
    engine: &Engine,
    all: &'static [Instruction],
    name: &str,
) -> anyhow::Result<Option<&'static Instruction>> {
    if let Some(kind) = all.iter().find(|instruction| instruction.id == name) {
        return Ok(Some(kind));
    }
    let family = FAMILIES
        .iter()
        .find(|family| family.id().eq_ignore_ascii_case(name) || family.name().eq_ignore_ascii_case(name));
    let family = match family {
        Some(family) => family.id().to_owned(),
        None if Path::new(name).exists() || matches!(name, "starter" | "starter-clip") => {
            let Ok(source) = name.parse::<ModelSource>();
            match engine.load(source)? {
                Some(summary) => summary.family,
                None => return Ok(None),
            }
        }
        None => {
            let ids = FAMILIES.iter().map(|family| family.id()).collect::<Vec<_>>().join(", ");
            let kinds = all.iter().map(|kind| kind.id.as_str()).collect::<Vec<_>>().join(", ");
            return Err(refuse(
                format!("{name} is no model here, no family and no kind of prompt"),
                format!("Give the path of a model, one of {ids}, or one of the kinds {kinds}."),
            ));
        }
    };
    Ok(Some(for_family(all, &family).context(NO_INSTRUCTIONS)?))
}

/// What a language model writes in a job, which `tell` is told as it grows; or why it wrote nothing.
pub(super) fn written(
    engine: &Engine,
    job: Job,
    listener: &mut Listener,
    mut tell: impl FnMut(&str, bool) -> anyhow::Result<()>,
) -> anyhow::Result<Result<String, Outcome>> {
    let id = job.id;
    engine.send(Command::Generate(Box::new(job)))?;
    let mut written = String::new();
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
            Event::Text { text, is_whole, .. } => {
                tell(&text, is_whole)?;
                written = text;
            }
            Event::Finished { .. } => return Ok(Ok(written)),
            Event::Cancelled { .. } => return Ok(Err(Outcome::Cancelled)),
            Event::Failed { job: Some(_), failure } => {
                exit::complain(&failure);
                return Ok(Err(Outcome::Failed));
            }
            Event::Failed { job: None, failure } => return Err(Explained(failure).into()),
            _ => {}
        }
    }
}

/// Prompts for a model of a family, as a language model writes them anew; or why it does not.
pub(super) fn enhanced(
    engine: &Engine,
    writing: &WritingArgs,
    family: &str,
    prompts: &[String],
    (seed, memory): (u64, &MemoryPreferences),
    listener: &mut Listener,
) -> anyhow::Result<Result<Vec<Enhanced>, Outcome>> {
    let Some(source) = writing.model(engine)? else { return Ok(Err(Outcome::Cancelled)) };
    let enhance = writing.enhance(instruction_for(family).context(NO_INSTRUCTIONS)?)?;
    let model = match &source {
        ModelSource::Path(path) => model_name(path),
        built_in => built_in.to_string(),
    };
    let mut all = Vec::new();
    for prompt in prompts {
        let request = Request {
            model: source.clone(),
            prompt: prompt.clone(),
            seed,
            enhance: Some(enhance.clone()),
            ..Request::default()
        };
        let job = Job { memory: memory.clone(), ..Job::new(JobId(0), request) };
        let result = match written(engine, job, listener, |_, _| Ok(()))? {
            Ok(result) => result,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let (prompt, instruction, model) = (prompt.clone(), enhance.instruction.clone(), model.clone());
        all.push(Enhanced { prompt, images: Vec::new(), instruction, model, seed, result });
    }
    Ok(Ok(all))
}

/// Shows what a text has gained.
pub(super) fn grow(shown: &mut String, text: &str, is_whole: bool) -> anyhow::Result<()> {
    match text.strip_prefix(shown.as_str()) {
        Some(more) => out::piece(more)?,
        // What was at its beginning is no part of it after all.
        None if is_whole => {
            out::line("")?;
            out::piece(text)?;
        }
        None => return Ok(()),
    }
    text.clone_into(shown);
    if is_whole { out::line("") } else { Ok(()) }
}

impl WritingArgs {
    /// The usual way of writing.
    pub fn usual(language_model: Option<PathBuf>) -> Self {
        let Writing { temperature, top_p, longest: max_tokens, .. } = Writing::default();
        Self { language_model, instruction: None, temperature, top_p, max_tokens }
    }

    /// The language model: the one that was given, or one in the model folders; `None` after Ctrl-C.
    pub fn model(&self, engine: &Engine) -> anyhow::Result<Option<ModelSource>> {
        if let Some(path) = &self.language_model {
            return Ok(Some(ModelSource::Path(path.clone())));
        }
        let Some(inventory) = engine.list()? else { return Ok(None) };
        let found = usual_model(inventory.items.iter()).map(|item| item.path.clone());
        let none = || {
            refuse(
                "no language model was found in the model folders".to_owned(),
                "Give a .gguf or .safetensors file of Qwen3 with --language-model, such as Qwen3-4B-Instruct-2507-Q4_K_M.gguf, \
                 or its folder with --model-folder."
                    .to_owned(),
            )
        };
        Ok(Some(ModelSource::Path(found.ok_or_else(none)?)))
    }

    /// How it writes, with what it is usually told.
    pub fn enhance(&self, usual: &Instruction) -> anyhow::Result<Writing> {
        let instruction = match self.instruction.as_deref() {
            None => usual.text.clone(),
            Some(file) if Path::new(file).is_file() => {
                fs::read_to_string(file).with_context(|| format!("{file} cannot be read"))?
            }
            Some(text) => text.to_owned(),
        };
        let (temperature, top_p, longest) = (self.temperature, self.top_p, self.max_tokens);
        Ok(Writing { instruction, temperature, top_p, longest, ..Writing::default() })
    }
}
