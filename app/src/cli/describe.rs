//! `sluice describe`: a language model says what images show.

use std::{
    collections::HashSet,
    io::{IsTerminal as _, stdout},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde_json::json;
use sluice_engine::{
    request::{Describe, ModelSource, Request, SEEN, Writing},
    session::{Job, JobId},
    source::size_of,
    units,
};

use super::{
    changes::readable,
    engine::Engine,
    enhance::{WritingArgs, grow, instruction_named, written},
    exit::{Outcome, refuse, stderr_line},
    stdout as out,
    tool_args::ToolArgs,
};
use crate::{
    enhancing::{descriptions, save_text, text_of, usual_describer},
    input_folder::images_named_in,
    seed::random_seed,
};

const EXAMPLES: &str = "\
Examples:
  sluice describe photo.jpg --model ~/models/Qwen2.5-VL-3B-Instruct
      Writes a prompt for an image like this one.
  sluice describe photo.jpg --model qwen_2.5_vl_7b.safetensors --instruction tags --seed 7
      The same tags for the same seed.
  sluice describe photos/ --instruction \"Describe the clothes in one sentence.\" --save
      Writes photos/NAME.txt beside each image, as trainers of LoRAs read them; what is there already is left out.
  sluice describe a.png b.png --together --instruction \"What is different?\"
  sluice describe photo.jpg --plan
      Predicts memory and time, and writes nothing.";

/// Describe images with a language model on this computer.
///
/// The language model is Qwen2.5-VL or Qwen3-VL Instruct: a folder as transformers saves it, a .safetensors file with the vision
/// tower inside, or a GGUF file with its mmproj file in the same folder. The words are written to the standard output, on a
/// terminal as they come; everything else to the standard error. Of several images, each has a line with its name, a tab and
/// the words.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// PNG, JPEG or WebP images, and folders of them.
    #[arg(value_name = "IMAGE", required = true)]
    inputs: Vec<PathBuf>,
    /// The language model. Without it, one in the model folders that sees images is used.
    #[arg(short, long, visible_alias = "language-model", value_name = "PATH")]
    model: Option<PathBuf>,
    /// What the language model is told: `prompt`, `tags`, `short` or `motion`, a text, or the name of a file with it.
    #[arg(short, long, value_name = "NAME_OR_TEXT", conflicts_with = "made_for")]
    instruction: Option<String>,
    /// The model that the words are for: its path, or its family such as `sdxl`. They are in the style that it reads best.
    #[arg(long = "for", value_name = "MODEL")]
    made_for: Option<String>,
    /// The same seed gives the same words. Random by default.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// How freely words are chosen: 0 always takes the likeliest, 2 is wild.
    #[arg(long, value_name = "NUMBER", default_value_t = Writing::default().temperature)]
    temperature: f32,
    /// Words are chosen among the likeliest that together have this probability.
    #[arg(long, value_name = "NUMBER", default_value_t = Writing::default().top_p)]
    top_p: f32,
    /// The most tokens of a description.
    #[arg(long, value_name = "COUNT", default_value_t = Writing::default().longest)]
    max_tokens: u32,
    /// Larger images are made smaller until they have so many pixels. More pixels show more, and take more memory and time.
    #[arg(long, value_name = "COUNT", default_value_t = SEEN)]
    pixels: u32,
    /// Describe all images together, in one text.
    #[arg(long, conflicts_with_all = ["save", "output"])]
    together: bool,
    /// Write the words of NAME.png to NAME.txt beside it. Files that are there already are left as they are.
    #[arg(long)]
    save: bool,
    /// Write the words of NAME.png to NAME.txt in this folder instead.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    tool: ToolArgs,
}

/// Images that are described in one text, and where it goes.
struct Task {
    images: Vec<PathBuf>,
    text: Option<PathBuf>,
}

/// What is described, and what to say about the rest.
#[derive(Default)]
struct Tasks {
    all: Vec<Task>,
    /// One whose text is there.
    done: Option<Task>,
    notes: Vec<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let Tasks { all: tasks, done, notes } = args.tasks()?;
    let engine = args.tool.engine()?;
    let Some(writing) = args.writing(&engine)? else { return Ok(Outcome::Cancelled) };
    let Some(model) = args.model(&engine)? else { return Ok(Outcome::Cancelled) };
    let seed = args.seed.unwrap_or_else(random_seed);
    let request = |task: &Task| Request {
        model: model.clone(),
        seed,
        describe: Some(Describe {
            images: task.images.clone(),
            pixels: args.pixels,
            writing: writing.clone(),
        }),
        ..Request::default()
    };
    let what = format!("a description of up to {} tokens", args.max_tokens);
    args.tool.note(&notes);
    if args.tool.plan {
        let requests = tasks.iter().map(|task| (request(task), format!("{}: {what}", named(task))));
        return args.tool.predict(&engine, requests);
    }
    // A model that cannot be used is said even if there is nothing to do.
    let Some(first) = tasks.first().or(done.as_ref()) else { return Ok(Outcome::Done) };
    let Some((forecast, _)) = engine.plan(args.tool.query(0, request(first)))? else {
        return Ok(Outcome::Cancelled);
    };
    if tasks.is_empty() {
        return Ok(Outcome::Done);
    }
    if let (Ok(plan), true) = (&forecast.plan, args.tool.speaks()) {
        let (memory, time) = (units::memory_needed(plan.peak_device()), units::seconds(plan.seconds));
        let each = if tasks.len() > 1 { " each" } else { "" };
        stderr_line(&format!(
            "{}: {what}, seed {seed}, up to {memory} of memory, at most about {time}{each}",
            forecast.model
        ));
    }
    args.follow(&engine, &tasks, &request)
}

impl Args {
    /// What to describe, and what to say about what is left out. A forecast is about all.
    fn tasks(&self) -> anyhow::Result<Tasks> {
        let mut tasks = Tasks::default();
        let images = self.images(&mut tasks.notes)?;
        if self.together {
            tasks.all.push(Task { images, text: None });
            return Ok(tasks);
        }
        let mut texts = HashSet::new();
        for image in images {
            let text = self.text_of(&image, &texts);
            texts.extend(text.clone());
            match &text {
                Some(there) if there.exists() && !self.tool.plan => {
                    tasks.notes.push(format!(
                        "{} left out: {} is there; name another folder with --output for another text",
                        image.display(),
                        there.display()
                    ));
                    tasks.done.get_or_insert(Task { images: vec![image], text });
                }
                _ => tasks.all.push(Task { images: vec![image], text }),
            }
        }
        Ok(tasks)
    }

    /// The images that are given, and those of the folders that are given. One that is given by its name has to be readable.
    fn images(&self, notes: &mut Vec<String>) -> anyhow::Result<Vec<PathBuf>> {
        let mut images = Vec::new();
        for input in &self.inputs {
            if input.is_dir() {
                let lacking = ["images", "Give a folder with PNG, JPEG or WebP images."];
                let found = readable(input, (images_named_in, lacking), size_of, notes)?;
                images.extend(found.into_iter().map(|(image, _)| image));
            } else {
                size_of(input).map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
                images.push(input.clone());
            }
        }
        Ok(images)
    }

    /// The file for the words of an image, if they are saved.
    fn text_of(&self, image: &Path, taken: &HashSet<PathBuf>) -> Option<PathBuf> {
        let folder = match &self.output {
            Some(folder) => folder.clone(),
            None if self.save => image.parent().map(Path::to_owned).unwrap_or_default(),
            None => return None,
        };
        Some(text_of(image, &folder, |file| taken.contains(file)))
    }

    /// How the words are written; `None` after Ctrl-C.
    fn writing(&self, engine: &Engine) -> anyhow::Result<Option<Writing>> {
        let all = descriptions();
        let usual = match (&self.made_for, self.instruction.as_deref()) {
            (Some(family), _) => match instruction_named(engine, all, family)? {
                Some(usual) => usual,
                None => return Ok(None),
            },
            (None, name) => all
                .iter()
                .find(|known| Some(known.id.as_str()) == name)
                .or(all.first())
                .context("no instructions for descriptions came with Sluice")?,
        };
        let is_name = |text: &&String| all.iter().any(|known| known.id == **text);
        let own = WritingArgs {
            language_model: None,
            instruction: self.instruction.clone().filter(|text| !is_name(&text)),
            temperature: self.temperature,
            top_p: self.top_p,
            max_tokens: self.max_tokens,
        };
        own.enhance(usual).map(Some)
    }

    /// The language model: the one that was given, or one in the model folders; `None` after Ctrl-C.
    fn model(&self, engine: &Engine) -> anyhow::Result<Option<ModelSource>> {
        if let Some(path) = &self.model {
            return Ok(Some(ModelSource::Path(path.clone())));
        }
        let Some(inventory) = engine.list()? else { return Ok(None) };
        let found = usual_describer(inventory.items.iter()).map(|item| item.path.clone());
        let none = || {
            refuse(
                "no language model that sees images was found in the model folders".to_owned(),
                "Give the folder or the file of Qwen2.5-VL or Qwen3-VL Instruct with --model, or its folder with --model-folder."
                    .to_owned(),
            )
        };
        Ok(Some(ModelSource::Path(found.ok_or_else(none)?)))
    }

    /// Writes the descriptions, one after the other. One that fails does not end the others.
    fn follow(
        &self,
        engine: &Engine,
        tasks: &[Task],
        request: &dyn Fn(&Task) -> Request,
    ) -> anyhow::Result<Outcome> {
        let is_alone = tasks.len() == 1;
        let grows = !self.tool.is_json() && stdout().is_terminal();
        let mut failed = false;
        for (number, task) in (1..).zip(tasks) {
            if !is_alone && self.tool.speaks() {
                stderr_line(&format!("{number} of {}: {}", tasks.len(), named(task)));
            }
            // A spinner and a text that grows would write over each other.
            let mut listener = self.tool.listener_beside(grows);
            let job = Job { output: None, ..self.tool.job(JobId(number), request(task), PathBuf::new()) };
            let mut shown = String::new();
            let result = written(engine, job, &mut listener, |text, is_whole| {
                if grows { grow(&mut shown, text, is_whole) } else { Ok(()) }
            })?;
            match result {
                Ok(text) => self.tell(number, task, &text, (is_alone, grows))?,
                Err(outcome) => {
                    if grows && !shown.is_empty() {
                        out::line("")?;
                    }
                    match outcome {
                        Outcome::Failed => failed = true,
                        other => return Ok(other),
                    }
                }
            }
        }
        Ok(if failed { Outcome::Failed } else { Outcome::Done })
    }

    /// Says what was written, and saves it.
    fn tell(
        &self,
        number: u64,
        task: &Task,
        text: &str,
        (is_alone, is_shown): (bool, bool),
    ) -> anyhow::Result<()> {
        if let Some(file) = &task.text {
            save_text(file, text).with_context(|| format!("{} cannot be written", file.display()))?;
        }
        if self.tool.is_json() {
            let line = json!({
                "event": "description", "job": number, "images": task.images, "text": text, "file": task.text,
            });
            return out::line(&line.to_string());
        }
        match (is_shown, is_alone) {
            (true, _) => Ok(()),
            (false, true) => out::line(text),
            (false, false) => out::line(&format!("{}\t{text}", named(task))),
        }
    }
}

/// The names of the images of a task.
fn named(task: &Task) -> String {
    task.images.iter().map(|image| image.display().to_string()).collect::<Vec<_>>().join(", ")
}
