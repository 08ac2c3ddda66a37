//! What `upscale`, `interpolate` and `detail` have in common: files that become others beside them or in a folder.

use std::path::{Path, PathBuf};

use anyhow::Context;
use sluice_engine::{
    memory::Forecast,
    output::Codec,
    request::Request,
    session::{Job, JobId},
    source::{GivenMedia, SourceError},
    units,
};

use super::{
    engine::Engine,
    exit::{Outcome, refuse, stderr_line},
    tool_args::ToolArgs,
};
use crate::folders::pictures_folder;

/// The most inputs that are forecast before they are changed.
const FORECASTS: usize = 24;

/// Makes the request that changes a file, and says what its header says.
pub(super) type Asks<'a> = dyn Fn(&Path) -> Result<(Request, GivenMedia), SourceError> + 'a;

/// How files are changed.
pub(super) struct Changes<'a> {
    /// The files and folders that are given.
    pub inputs: &'a [PathBuf],
    /// Where results go, if that is said.
    pub output: Option<&'a Path>,
    /// The files in a folder that are changed.
    pub found: fn(&Path) -> std::io::Result<Vec<PathBuf>>,
    /// What a folder without such files lacks, and what to give instead.
    pub lacking: [&'a str; 2],
    /// The request that changes a file, and what its header says.
    pub request: &'a Asks<'a>,
    /// The name of the result; the second argument says whether it is a clip.
    pub name: &'a dyn Fn(&Path, bool) -> String,
    /// What becomes of a file, for people.
    pub sizes: fn(&Task) -> String,
}

/// A file to change, and where the result goes.
pub(super) struct Task {
    pub input: PathBuf,
    pub given: GivenMedia,
    pub request: Request,
    pub output: PathBuf,
}

impl Changes<'_> {
    /// Changes all files with a model of a family, or predicts what that takes.
    pub fn run(&self, tool: &ToolArgs, codec: Codec, family: &str) -> anyhow::Result<Outcome> {
        let found = self.tasks()?;
        self.carry_out(found, (tool, &tool.engine()?), codec, family)
    }

    /// The same with an engine that runs already.
    pub fn run_on(&self, engine: &Engine, tool: &ToolArgs, family: &str) -> anyhow::Result<Outcome> {
        self.carry_out(self.tasks()?, (tool, engine), Codec::default(), family)
    }

    fn carry_out(
        &self,
        (tasks, notes): (Vec<Task>, Vec<String>),
        (tool, engine): (&ToolArgs, &Engine),
        codec: Codec,
        family: &str,
    ) -> anyhow::Result<Outcome> {
        if tool.plan {
            let requests = tasks.iter().map(|task| (task.request.clone(), (self.sizes)(task)));
            return tool.predict(engine, requests);
        }
        if tool.speaks() {
            notes.iter().for_each(|note| stderr_line(note));
        }
        let Some(first) = tasks.first() else { return Ok(Outcome::Done) };
        let mut listener = tool.listener(tasks.iter().map(|task| task.input.as_path()));
        let query = tool.query(0, first.request.clone());
        let Some((forecast, _)) = engine.plan(query)? else { return Ok(Outcome::Cancelled) };
        if tool.speaks() && self.introduce(tool, engine, &tasks, &forecast)?.is_none() {
            return Ok(Outcome::Cancelled);
        }
        let job = |(number, task): (u64, &Task)| Job {
            codec,
            ..tool.job(JobId(number), task.request.clone(), task.output.clone())
        };
        let jobs: Vec<Job> = (1..).zip(&tasks).map(job).collect();
        tool.follow(engine, &jobs, (forecast, family), &mut listener)
    }

    /// What to change, and what to say about what is left out.
    fn tasks(&self) -> anyhow::Result<(Vec<Task>, Vec<String>)> {
        let is_single = self.inputs.len() == 1 && !self.inputs[0].is_dir();
        let (mut tasks, mut notes): (Vec<Task>, Vec<String>) = (Vec::new(), Vec::new());
        for input in self.inputs {
            if !input.is_dir() {
                let results = self.output.or_else(|| input.parent()).map(Path::to_owned);
                self.add(input, &results.unwrap_or_default(), is_single, &mut tasks, &mut notes)?;
                continue;
            }
            let found = (self.found)(input).with_context(|| format!("{} cannot be read", input.display()))?;
            if found.is_empty() {
                let [what, advice] = self.lacking;
                return Err(refuse(format!("{} contains no {what}", input.display()), advice.to_owned()));
            }
            let name = input.canonicalize().ok().and_then(|path| path.file_name().map(PathBuf::from));
            let own =
                || pictures_folder().unwrap_or_else(|| PathBuf::from(".")).join(name.unwrap_or_default());
            let results = self.output.map_or_else(own, Path::to_owned);
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
        let (request, given) =
            (self.request)(input).map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
        let is_clip = given.clip.is_some();
        let is_named = is_single && self.output.is_some() && !results.is_dir();
        let mut output = match is_named {
            true => results.to_owned(),
            false => results.join((self.name)(input, is_clip)),
        };
        if tasks.iter().any(|task| task.output == output) {
            // Two files that differ only in their extension or their folder.
            let whole = input.file_name().unwrap_or_default().to_string_lossy();
            output = results.join((self.name)(Path::new(&format!("{whole}.")), is_clip));
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
    fn introduce(
        &self,
        tool: &ToolArgs,
        engine: &Engine,
        tasks: &[Task],
        first: &Forecast,
    ) -> anyhow::Result<Option<()>> {
        let (mut seconds, mut bytes) = (Some(0.0), 0);
        for (number, task) in (0..).zip(tasks) {
            let forecast = match number {
                0 => first.clone(),
                number if number >= FORECASTS => {
                    seconds = None;
                    break;
                }
                number => match engine.plan(tool.query(number as u64, task.request.clone())) {
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
            [task] => (self.sizes)(task),
            tasks => units::counted(tasks.len(), "file"),
        };
        let time = seconds.map(|seconds| format!(", about {}", units::seconds(seconds))).unwrap_or_default();
        let memory = units::memory_needed(bytes);
        stderr_line(&format!("{}: {what}, up to {memory} of memory{time}", first.model));
        Ok(Some(()))
    }
}
