//! What the commands have in common that make something of files of images: `upscale`, `map` and `mask`; and
//! `enhance` and `describe`, which make text.

use std::path::{Path, PathBuf};

use anyhow::Context;
use sluice_engine::{
    memory::Forecast,
    output::Output,
    request::{PromptFolders, Request},
    session::{Event, Job, JobId, PlanQuery, PlanSubject, Readings, Reports},
};

use super::{
    engine::Engine,
    exit::{Outcome, stderr_line},
    forecast,
    generate::follow,
    listener::Listener,
    memory_args::MemoryArgs,
    model_folders::ModelFolderArgs,
    stdout,
    unsaved::ModelNames,
};

/// How such a command computes, and what it says.
#[derive(Debug, clap::Args)]
pub(super) struct ToolArgs {
    /// Predict memory and time, and make nothing.
    #[arg(long)]
    pub plan: bool,
    /// Number of CPU threads; all by default.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write telemetry of the run to this file, as lines of JSON.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    telemetry: Option<PathBuf>,
    /// Write only the engine's events to the standard output, as lines of JSON; with --plan the forecasts.
    #[arg(long)]
    json: bool,
    /// Do not show progress. What is left out is still said.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    folders: ModelFolderArgs,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

impl ToolArgs {
    pub fn engine(&self) -> anyhow::Result<Engine> {
        self.engine_with(PromptFolders::default())
    }

    /// An engine that looks up names in prompts in these folders, too.
    pub fn engine_with(&self, folders: PromptFolders) -> anyhow::Result<Engine> {
        Engine::start(self.threads.map(usize::from), &self.folders, folders)
    }

    /// Whether the standard output is for events.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Shows the progress of one job, unless something else shows it.
    pub fn listener_beside(&self, other: bool) -> Listener {
        Listener::new(Vec::new(), self.json, self.quiet || other, false)
    }

    /// Whether somebody reads what is said before a run.
    pub fn speaks(&self) -> bool {
        !self.quiet && !self.json
    }

    /// Says these before a run, also to those who want no progress: they are about what is not done.
    pub fn note(&self, notes: &[String]) {
        notes.iter().for_each(|note| stderr_line(note));
    }

    pub fn query(&self, id: u64, request: Request) -> PlanQuery {
        PlanQuery { id, subject: PlanSubject::Model, request, memory: self.memory.preferences() }
    }

    pub fn job(&self, id: JobId, request: Request, output: PathBuf) -> Job {
        Job {
            output: Some(Output::File(output)),
            memory: self.memory.preferences(),
            reports: Reports { telemetry: self.telemetry.clone(), trace: None },
            ..Job::new(id, request)
        }
    }

    /// Shows the progress of several inputs with their names, of one without.
    pub fn listener<'a>(&self, inputs: impl ExactSizeIterator<Item = &'a Path>) -> Listener {
        let count = inputs.len();
        let title = |(number, input): (usize, &Path)| format!("{number} of {count}: {}", input.display());
        let titles = if count > 1 { (1..).zip(inputs).map(title).collect() } else { Vec::new() };
        Listener::new(titles, self.json, self.quiet, false)
    }

    /// Runs the jobs, whose first was forecast, with a model of a family.
    pub fn follow(
        &self,
        engine: &Engine,
        jobs: &[Job],
        (first, family): (Forecast, &str),
        listener: &mut Listener,
    ) -> anyhow::Result<Outcome> {
        let names = ModelNames { model: first.model.clone(), family: family.to_owned() };
        listener.hear(&Event::Planned { id: 0, forecast: Box::new(first), readings: Readings::default() })?;
        follow(engine, jobs, Vec::new(), &names, listener)
    }

    /// Prints the forecasts of requests, each with what it is about.
    pub fn predict(
        &self,
        engine: &Engine,
        requests: impl Iterator<Item = (Request, String)>,
    ) -> anyhow::Result<Outcome> {
        for (number, (request, what)) in (0..).zip(requests) {
            let Some((forecast, _)) = engine.plan(self.query(number, request))? else {
                return Ok(Outcome::Cancelled);
            };
            if self.json {
                let json = serde_json::to_string_pretty(&forecast);
                stdout::line(&json.context("the forecast cannot be written as JSON")?)?;
                continue;
            }
            let dtype = forecast.dtype.name();
            stdout::line(&format!("{}: {what}, computed in {dtype}", forecast.model))?;
            stdout::line(&forecast::describe(&forecast))?;
        }
        Ok(Outcome::Done)
    }
}
