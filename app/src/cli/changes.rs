//! What `upscale`, `interpolate`, `detail` and `map` have in common: files that become others beside them or in a folder.

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use sluice_engine::{
    memory::Forecast,
    output::{Codec, InputFile},
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

/// Lists the files of a folder that can be changed, by their names.
pub(super) type Finds = fn(&Path) -> io::Result<Vec<PathBuf>>;

/// Makes the request that changes a file, and says what its header says.
pub(super) type Asks<'a> = dyn Fn(&Path) -> Result<(Request, GivenMedia), SourceError> + 'a;

/// How files are changed.
pub(super) struct Changes<'a> {
    /// The files and folders that are given.
    pub inputs: &'a [PathBuf],
    /// Where results go, if that is said.
    pub output: Option<&'a Path>,
    /// The files in a folder that are changed.
    pub found: Finds,
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

/// The files to change, and what to say about them.
#[derive(Default)]
pub(super) struct Tasks {
    pub all: Vec<Task>,
    /// What is left out and why, and what is lost.
    pub notes: Vec<String>,
    /// The request for one whose result is there.
    done: Option<Request>,
    /// The results of these and of those that are there already.
    results: HashSet<PathBuf>,
}

/// The files of a folder that can be read, each with what was read. Why the others are left out is noted.
pub(super) fn readable<T>(
    folder: &Path,
    (found, [what, advice]): (Finds, [&str; 2]),
    read: impl Fn(&Path) -> Result<T, SourceError>,
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<(PathBuf, T)>> {
    let files = found(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    for file in files {
        match read(&file) {
            Ok(read) => all.push((file, read)),
            Err(error) => left_out.push(error),
        }
    }
    if all.is_empty() {
        let why = left_out.first().map(|error| format!(" that can be read: {error}")).unwrap_or_default();
        return Err(refuse(format!("{} contains no {what}{why}", folder.display()), advice.to_owned()));
    }
    notes.extend(left_out.iter().map(|error| format!("left out: {error}")));
    Ok(all)
}

impl Changes<'_> {
    /// Changes all files with a model of a family, or predicts what that takes.
    pub fn run(&self, tool: &ToolArgs, codec: Codec, family: &str) -> anyhow::Result<Outcome> {
        let tasks = self.tasks(tool.plan)?;
        self.carry_out(&tasks, (tool, &tool.engine()?), codec, family)
    }

    /// The same with an engine that runs already.
    pub fn run_on(&self, engine: &Engine, tool: &ToolArgs, family: &str) -> anyhow::Result<Outcome> {
        self.carry_out(&self.tasks(tool.plan)?, (tool, engine), Codec::default(), family)
    }

    fn carry_out(
        &self,
        Tasks { all: tasks, notes, done, .. }: &Tasks,
        (tool, engine): (&ToolArgs, &Engine),
        codec: Codec,
        family: &str,
    ) -> anyhow::Result<Outcome> {
        tool.note(notes);
        if tool.plan {
            let requests = tasks.iter().map(|task| (task.request.clone(), (self.sizes)(task)));
            return tool.predict(engine, requests);
        }
        if tasks.is_empty() {
            // A model that cannot be used is said even then.
            let checked =
                done.as_ref().map(|request| engine.plan(tool.query(0, request.clone()))).transpose()?;
            return Ok(if matches!(checked, Some(None)) { Outcome::Cancelled } else { Outcome::Done });
        }
        let mut listener = tool.listener(tasks.iter().map(|task| task.input.as_path()));
        let Some((place, forecast)) = first_forecast(tool, engine, tasks)? else {
            return Ok(Outcome::Cancelled);
        };
        if tool.speaks() && self.introduce(tool, engine, tasks, (place, &forecast))?.is_none() {
            return Ok(Outcome::Cancelled);
        }
        let job = |(number, task): (u64, &Task)| Job {
            codec,
            ..tool.job(JobId(number), task.request.clone(), task.output.clone())
        };
        let jobs: Vec<Job> = (1..).zip(tasks).map(job).collect();
        tool.follow(engine, &jobs, (forecast, family), &mut listener)
    }

    /// What to change, and what to say about what is left out. A file that is given by its name has to be readable. With `again`
    /// there are those whose results are there, too.
    pub fn tasks(&self, again: bool) -> anyhow::Result<Tasks> {
        let is_single = self.inputs.len() == 1 && !self.inputs[0].is_dir();
        let mut tasks = Tasks::default();
        for input in self.inputs {
            if input.is_dir() {
                let listed = (self.found, self.lacking);
                let files = readable(input, listed, self.request, &mut tasks.notes)?;
                let results = self.results_of(input);
                for (file, asked) in files {
                    self.add(&file, asked, &results, (false, again), &mut tasks);
                }
            } else {
                let asked = (self.request)(input)
                    .map_err(|error| refuse(error.to_string(), error.advice().to_owned()))?;
                let results = self.output.or_else(|| input.parent()).map(Path::to_owned);
                self.add(input, asked, &results.unwrap_or_default(), (is_single, again), &mut tasks);
            }
        }
        Ok(tasks)
    }

    /// Where the results of a folder go.
    fn results_of(&self, folder: &Path) -> PathBuf {
        let own = || {
            let name = folder.canonicalize().ok().and_then(|path| path.file_name().map(PathBuf::from));
            pictures_folder().unwrap_or_else(|| PathBuf::from(".")).join(name.unwrap_or_default())
        };
        self.output.map_or_else(own, Path::to_owned)
    }

    /// Adds a file, unless its result is there or that does not matter. A single result may be named by `--output`.
    fn add(
        &self,
        input: &Path,
        (request, given): (Request, GivenMedia),
        results: &Path,
        (is_single, again): (bool, bool),
        tasks: &mut Tasks,
    ) {
        let is_named = is_single && self.output.is_some() && !results.is_dir();
        let output = match is_named {
            true => results.to_owned(),
            false => self.free(input, results, given.clip.is_some(), &tasks.results),
        };
        tasks.results.insert(output.clone());
        if !is_named && !again && output.exists() {
            tasks.notes.push(format!(
                "{} left out: {} is there; name another place with --output to make it again",
                input.display(),
                output.display()
            ));
            tasks.done.get_or_insert(request);
            return;
        }
        if given.clip.as_ref().is_some_and(|clip| clip.has_sound)
            && !matches!(given.sound(input), Ok(Some(_)))
        {
            tasks.notes.push(format!(
                "the sound of {} cannot be copied: it is neither AAC nor MP3",
                input.display()
            ));
        }
        tasks.all.push(Task { input: input.to_owned(), given, request, output });
    }

    /// A result that is that of no other file: files may differ only in their extension or their folder, and what is there may
    /// have been made of another one.
    fn free(&self, input: &Path, results: &Path, is_clip: bool, taken: &HashSet<PathBuf>) -> PathBuf {
        let named = |name: &str| results.join((self.name)(Path::new(name), is_clip));
        let whole = input.file_name().unwrap_or_default().to_string_lossy();
        let mut result = named(&whole);
        let mut count = 1;
        let input = InputFile::new(input);
        while taken.contains(&result) || (result.exists() && !input.made(&result)) {
            result = match count {
                1 => named(&format!("{whole}.")),
                count => named(&format!("{whole}-{count}.")),
            };
            count += 1;
        }
        result
    }

    /// Says what will be done and what it takes; `None` after Ctrl-C.
    fn introduce(
        &self,
        tool: &ToolArgs,
        engine: &Engine,
        tasks: &[Task],
        (place, first): (usize, &Forecast),
    ) -> anyhow::Result<Option<()>> {
        let (mut seconds, mut bytes) = (Some(0.0), 0);
        for (number, task) in (0..).zip(tasks) {
            let forecast = match number {
                number if number == place => first.clone(),
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

/// The forecast of the first file that has one, and its place; `None` after Ctrl-C.
fn first_forecast(
    tool: &ToolArgs,
    engine: &Engine,
    tasks: &[Task],
) -> anyhow::Result<Option<(usize, Forecast)>> {
    let mut refused = None;
    for (place, task) in tasks.iter().enumerate().take(FORECASTS) {
        match engine.plan(tool.query(0, task.request.clone())) {
            Ok(planned) => return Ok(planned.map(|(forecast, _)| (place, forecast))),
            // If others can be changed, its job will say why.
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    refused.map_or(Ok(None), Err)
}
