//! `sluice batch`: many jobs from a file, on one machine or on many.

mod records;
mod shard;
pub mod tasks;

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use sluice_engine::{
    models::Remembered,
    output::{Codec, Output},
    request::{ModelSource, PromptFolders},
    session::{Command, Event, Failure, Job, JobId, ModelSummary},
    units,
};

use super::{
    engine::{Engine, Heard},
    exit::{self, Explained, Outcome, refuse, stderr_line},
    listener::Listener,
    memory_args::MemoryArgs,
    model_folders::ModelFolderArgs,
    names::named,
    stdout,
};
use crate::{
    folders::wildcard_folder,
    orders::{Inputs, OrderError, Shelf},
};
use records::Records;
use shard::Shard;
use tasks::{Task, TaskError};

const EXAMPLES: &str = "\
Examples:
  sluice batch jobs.jsonl --output results/
      Runs a job for each line, such as {\"prompt\": \"a fox\", \"seed\": 7}. What is in results/ already is left out.
  sluice batch jobs.jsonl --output results/ --shard 0/4
      Runs a quarter of the jobs; 1/4, 2/4 and 3/4 are the others, perhaps on other machines.
  sluice batch jobs.jsonl --output results/ --merge
      Writes results/index.jsonl, and says what is missing.
  {\"steps\": 20, \"matrix\": {\"prompt\": [\"a fox\", \"a wolf\"], \"seed\": {\"from\": 1, \"to\": 50}}}
      A line that is 100 jobs.";

/// The most jobs that wait in the engine. The others follow as these end.
const WAITING: usize = 4;

/// Run many jobs from a file, on one machine or on many.
///
/// Each line of the file is a job in JSON. Results are named after what was ordered, with a record beside them, so a job
/// that is done is never done again, and processes that share a folder need to know nothing of each other. A job that fails
/// does not stop the others; the next run tries it again.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A file with a JSON object per line. Names of pictures in it are paths from the current folder.
    #[arg(value_name = "FILE")]
    jobs: PathBuf,
    /// The folder of the results and their records.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Which part of the jobs to run: the first number is from 0 to one less than the second. By default that of the task of
    /// a Slurm array, or else everything.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Run nothing; write one index of all jobs that are done, and say which are missing.
    #[arg(long)]
    merge: bool,
    /// Run nothing; say how many jobs there are, and how many of them are done.
    #[arg(long, conflicts_with = "merge")]
    count: bool,
    /// The model of jobs that name none: a folder or file, or `starter` or `starter-clip`.
    #[arg(short, long, value_name = "PATH", default_value = "starter")]
    model: ModelSource,
    #[command(flatten)]
    folders: ModelFolderArgs,
    /// A folder to search for LoRAs that a prompt names as <lora:name:weight>. May be given several times.
    #[arg(long = "lora-folder", value_name = "FOLDER")]
    lora_folders: Vec<PathBuf>,
    /// A folder to search for the text files that a prompt names as __name__. May be given several times.
    #[arg(long = "wildcard-folder", value_name = "FOLDER")]
    wildcard_folders: Vec<PathBuf>,
    /// The video codec of clips. All but h264 need the program ffmpeg.
    #[arg(long, value_name = "NAME", default_value = Codec::default().name(), value_parser = named(&Codec::ALL, Codec::name))]
    codec: Codec,
    /// Number of CPU threads; all by default.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write only the engine's events to the standard output, as lines of JSON.
    #[arg(long)]
    json: bool,
    /// Do not show progress.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let base = env::current_dir().context("there is no current folder")?;
    let all = tasks::read(&args.jobs, &base)
        .map_err(|error: TaskError| refuse(error.to_string(), error.advice().to_owned()))?;
    let unwritable = |error: std::io::Error| {
        let folder = args.output.display();
        refuse(format!("{folder} cannot be written to: {error}"), "Choose another --output.".to_owned())
    };
    let records = Records::in_folder(&args.output).map_err(unwritable)?;
    if args.merge {
        let (index, missing) = records.merge(&all).map_err(unwritable)?;
        stdout::line(&index.display().to_string())?;
        return Ok(say_missing(&all, &missing));
    }
    let shard = args.shard()?;
    let mine: Vec<&Task> =
        all.iter().enumerate().filter(|(place, _)| shard.has(*place)).map(|(_, task)| task).collect();
    let left: Vec<&Task> = mine.iter().copied().filter(|task| records.done(task.hash).is_none()).collect();
    let counted = format!(
        "{}, {} of them done{}",
        units::counted(mine.len(), "job"),
        mine.len() - left.len(),
        if shard.count > 1 { format!("; part {} of {}", shard.index, shard.count) } else { String::new() }
    );
    if args.count {
        stdout::line(&counted)?;
        return Ok(Outcome::Done);
    }
    if !args.quiet && !args.json {
        stderr_line(&counted);
    }
    if left.is_empty() {
        return Ok(Outcome::Done);
    }
    Batch::start(args, base, records)?.run(&left)
}

/// Says on the standard error which jobs are missing.
fn say_missing(all: &[Task], missing: &[&Task]) -> Outcome {
    const NAMED: usize = 10;
    if missing.is_empty() {
        return Outcome::Done;
    }
    stderr_line(&format!("{} of {} are missing:", missing.len(), units::counted(all.len(), "job")));
    for task in missing.iter().take(NAMED) {
        stderr_line(&format!("  line {}: {}", task.line, task.order.prompt));
    }
    if missing.len() > NAMED {
        stderr_line(&format!("  and {} more", missing.len() - NAMED));
    }
    Outcome::Failed
}

impl Args {
    fn shard(&self) -> anyhow::Result<Shard> {
        if let Some(shard) = self.shard {
            return Ok(shard);
        }
        let shard = Shard::of_slurm(|name| env::var(name).ok());
        let shard = shard.map_err(|error| {
            refuse(error.to_string(), "See the page on batches in Sluice's documentation.".to_owned())
        })?;
        Ok(shard.unwrap_or(Shard::WHOLE))
    }
}

/// A batch that runs.
struct Batch<'a> {
    args: &'a Args,
    engine: Engine,
    shelf: Shelf,
    base: PathBuf,
    records: Records,
    /// The models of all jobs, or why one cannot be opened.
    summaries: HashMap<ModelSource, Result<ModelSummary, Failure>>,
    /// Jobs in the engine, with their pictures.
    open: HashMap<JobId, (usize, Inputs)>,
    outcome: Outcome,
}

impl<'a> Batch<'a> {
    fn start(args: &'a Args, base: PathBuf, records: Records) -> anyhow::Result<Self> {
        let wildcards = args.wildcard_folders.iter().cloned().chain(wildcard_folder());
        let prompts = PromptFolders { adapters: args.lora_folders.clone(), wildcards: wildcards.collect() };
        let engine = Engine::start(args.threads.map(usize::from), &args.folders, prompts)?;
        let folders: Vec<PathBuf> =
            args.folders.all().into_iter().chain(args.lora_folders.iter().cloned()).collect();
        let shelf = match args.folders.engines().is_here() {
            // After Ctrl-C, there is nothing to be named.
            false => Shelf::elsewhere(engine.list()?.unwrap_or_default()),
            true => Shelf::of(&folders, &mut Remembered::default()),
        };
        let shelf = shelf.with_paths();
        let (summaries, open) = (HashMap::new(), HashMap::new());
        Ok(Self { args, engine, shelf, base, records, summaries, open, outcome: Outcome::Done })
    }

    /// Reads the headers of each model once, before anything runs; `false` after Ctrl-C.
    fn open_models(&mut self, tasks: &[&Task]) -> anyhow::Result<bool> {
        for task in tasks {
            // What has no name on the shelf is said when its turn comes.
            let Ok(source) = task.order.source(&self.shelf, &self.args.model) else { continue };
            if self.summaries.contains_key(&source) {
                continue;
            }
            let opened = match self.engine.load(source.clone()) {
                Ok(Some(summary)) => Ok(summary),
                Ok(None) => return Ok(false),
                Err(error) => Err(error.downcast::<Explained>()?.0),
            };
            self.summaries.insert(source, opened);
        }
        Ok(true)
    }

    fn run(mut self, tasks: &[&Task]) -> anyhow::Result<Outcome> {
        if !self.open_models(tasks)? {
            return Ok(Outcome::Cancelled);
        }
        let title = |(number, task): (usize, &&Task)| {
            format!("job {number} of {}: {} (line {})", tasks.len(), task.order.prompt, task.line)
        };
        let titles = (1..).zip(tasks).map(title).collect();
        let mut listener = Listener::new(titles, self.args.json, self.args.quiet, false);
        let mut unsent = tasks.iter().enumerate();
        loop {
            while self.open.len() < WAITING
                && let Some((place, task)) = unsent.next()
            {
                // The other jobs may be fine.
                if let Err(error) = self.send(place, task) {
                    self.complain(task, &error);
                }
            }
            if self.open.is_empty() {
                return Ok(self.outcome);
            }
            match self.engine.next()? {
                Heard::Event(event) => self.hear(event, tasks, &mut listener)?,
                Heard::Interrupt => {
                    unsent = [].iter().enumerate();
                    for &job in self.open.keys() {
                        self.engine.send(Command::Cancel { job })?;
                    }
                }
            }
        }
    }

    /// Sends a job to the engine.
    fn send(&mut self, place: usize, task: &Task) -> anyhow::Result<()> {
        let explained = |error: OrderError| refuse(error.to_string(), error.advice());
        let source = task.order.source(&self.shelf, &self.args.model).map_err(explained)?;
        let summary = match self.summaries.get(&source) {
            Some(Ok(summary)) => summary,
            Some(Err(failure)) => return Err(Explained(failure.clone()).into()),
            None => anyhow::bail!("the model {source} was not opened"),
        };
        let mut inputs = Inputs::of_files_in(&self.base).map_err(explained)?;
        let request = task.order.request(summary, &self.shelf, &mut inputs).map_err(explained)?;
        let extension = if request.frames == 1 { "png" } else { self.args.codec.extension() };
        let id = JobId(place as u64 + 1);
        let job = Job {
            output: Some(Output::File(self.records.result(task.hash, extension))),
            codec: self.args.codec,
            memory: self.args.memory.preferences(),
            ..Job::new(id, request)
        };
        self.engine.send(Command::Generate(Box::new(job)))?;
        self.open.insert(id, (place, inputs));
        Ok(())
    }

    fn hear(&mut self, event: Event, tasks: &[&Task], listener: &mut Listener) -> anyhow::Result<()> {
        listener.hear(&event)?;
        match event {
            Event::Finished { job, pictures, seconds } => {
                let Some((place, _)) = self.open.remove(&job) else { return Ok(()) };
                let task = tasks[place];
                let is_saved = pictures.iter().all(|picture| {
                    // One that was saved elsewhere instead is not where the next run looks.
                    let folder = picture.path.as_deref().and_then(Path::parent);
                    folder.is_some_and(|folder| is_same(folder, &self.args.output))
                });
                if is_saved {
                    let recorded = self.records.add(task, &pictures, seconds);
                    recorded.with_context(|| format!("the record of job {} cannot be written", task.hash))?;
                    for path in pictures.iter().filter_map(|picture| picture.path.as_deref()) {
                        if !listener.json() {
                            stdout::line(&path.display().to_string())?;
                        }
                    }
                } else {
                    self.outcome = self.outcome.max(Outcome::Failed);
                }
            }
            Event::NotSaved { failure, .. } => {
                exit::complain(&failure);
                self.outcome = self.outcome.max(Outcome::Failed);
            }
            Event::Cancelled { job } => {
                self.open.remove(&job);
                self.outcome = Outcome::Cancelled;
            }
            Event::Failed { job: Some(job), failure } => {
                if let Some((place, _)) = self.open.remove(&job) {
                    self.complain(tasks[place], &Explained(failure).into());
                }
            }
            Event::Failed { job: None, failure } => return Err(Explained(failure).into()),
            _ => {}
        }
        Ok(())
    }

    /// Says which job failed, and why.
    fn complain(&mut self, task: &Task, error: &anyhow::Error) {
        stderr_line(&format!("line {} failed: {}", task.line, task.order.prompt));
        match error.downcast_ref() {
            Some(Explained(failure)) => exit::complain(failure),
            None => stderr_line(&format!("error: {error:#}")),
        }
        self.outcome = self.outcome.max(Outcome::Failed);
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}
