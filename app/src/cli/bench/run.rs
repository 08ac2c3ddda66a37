//! `sluice bench run`: runs a workload with several budgets and placements of weights.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde_json::{Value, json};
use sluice_engine::{
    request::{ModelSource, Request},
    session::{Command, Event, Failure, Job, JobId, Reports},
    telemetry::{Telemetry, read_jsonl},
    units,
};

use super::{
    digest::latents_digest,
    link,
    measurement::{Ended, Run},
    report::{Row, Table},
    way::Way,
};
use crate::cli::{
    engine::{Engine, Heard},
    exit::{Outcome, complain, stderr_line},
    memory_args::MemoryArgs,
    model_folders::ModelFolderArgs,
    names::named,
    progress::Progress,
    request_args::{RequestArgs, in_words},
    size, stdout,
};

const EXAMPLES: &str = "\
Examples:
  sluice bench run --model /tmp/z-image --width 688 --height 1024 --steps 12 --batch-size 4 --dtype bf16 \\
      --budgets 8,12,16 --placements resident,streamed,synchronous,prefix --json z-image.json
  sluice bench run --model /tmp/tiny --card rtx-3060 --budgets 0.05 --check
      Streams over the link of a simulated card and compares the latents of every step.";

/// Measure a workload with several memory budgets and placements of weights.
///
/// Generates the same images again and again, and prints times, memory and moved bytes next to the predictions. The lower
/// bound of a step is its computing time or the time that the link needs for the streamed bytes, whichever is longer.
/// Measurements of earlier runs are not used, and none are saved. The exit code is 1 if no run succeeds, or if compared
/// latents differ.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The folder or file of a model, or `starter` or `starter-clip` for the built-in ones.
    #[arg(short, long, value_name = "PATH", default_value = "starter")]
    model: ModelSource,
    #[command(flatten)]
    folders: ModelFolderArgs,
    /// VRAM budgets, such as 8,12,16; all of the VRAM by default.
    #[arg(long, value_name = "GB", value_delimiter = ',', value_parser = size::gigabytes)]
    budgets: Vec<u64>,
    /// Placements of weights: resident (all weights on the device, whatever the budget), streamed, auto, synchronous
    /// (streamed, but not during computation) or prefix (streamed, but the first blocks stay).
    #[arg(long, alias = "ways", value_name = "NAMES", value_delimiter = ',', default_value = "resident,streamed", value_parser = named(&Way::ALL, Way::name))]
    placements: Vec<Way>,
    /// How often to run each case. The last run counts, and its prediction uses the measurements of those before it.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: u32,
    /// Compare the latents of every step: they must be bit-identical for all placements.
    #[arg(long)]
    check: bool,
    /// The prompt of the images.
    #[arg(short, long, value_name = "TEXT", default_value = "a lighthouse on a cliff above the sea at dusk")]
    prompt: String,
    /// Seed of the noise.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Number of CPU threads; all by default.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write all results to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Do not show progress.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let scratch = tempfile::tempdir().context("a temporary folder cannot be created")?;
    let threads = args.threads.map(usize::from);
    let base = args.memory.preferences();
    let dtype = args.request.dtype().unwrap_or(link::USUAL_DTYPE);
    let measured = link::device_ceilings(&base, args.threads, dtype)?;
    if !args.quiet {
        link::lines(&measured).iter().for_each(|line| stderr_line(line));
    }
    let data = scratch.path().join("data");
    let engine = Engine::start_apart(threads, &args.folders, args.request.folders(), data)?;
    let Some(summary) = engine.load(args.model.clone())? else { return Ok(Outcome::Cancelled) };
    let request = Request {
        model: args.model.clone(),
        prompt: args.prompt.clone(),
        seed: args.seed,
        dtype: Some(dtype),
        ..args.request.request(&summary.defaults)?
    };
    let asked = in_words(&request);
    stdout::line(&format!("{}: {asked}, {}", summary.name, dtype.name()))?;
    let mut bench = Bench { args, engine, request: &request, scratch: scratch.path(), next: 0 };
    let mut rows = Vec::new();
    for (way, budget) in args.cases() {
        if !args.quiet {
            let within =
                budget.map_or_else(String::new, |budget| format!(" within {}", units::memory(budget)));
            stderr_line(&format!("{}{within}", way.name()));
        }
        match bench.case(way, budget)? {
            Some(run) => rows.push(Row { way, budget, run }),
            None => return Ok(Outcome::Cancelled),
        }
    }
    let nothing_succeeded = rows.iter().all(|row| row.run.is_err());
    let table = Table::new(rows, &measured);
    for line in table.lines() {
        stdout::line(&line)?;
    }
    if let Some(file) = &args.json {
        let model = json!({ "name": summary.name, "family": summary.family });
        let all = json!({
            "model": model, "request": request, "ceilings": measured, "rows": table.json(),
            "exact": table.exact(),
        });
        write_json(file, &all)?;
    }
    let failed = nothing_succeeded || table.exact() == Some(false);
    Ok(if failed { Outcome::Failed } else { Outcome::Done })
}

fn write_json(file: &Path, content: &Value) -> anyhow::Result<()> {
    fs::write(file, format!("{content:#}\n")).with_context(|| format!("{} cannot be written", file.display()))
}

impl Args {
    /// The cases to run, in order.
    fn cases(&self) -> Vec<(Way, Option<u64>)> {
        let mut cases = Vec::new();
        for way in Way::ALL.into_iter().filter(|way| self.placements.contains(way)) {
            if way.has_no_budget() || self.budgets.is_empty() {
                cases.push((way, None));
            } else {
                cases.extend(self.budgets.iter().map(|&budget| (way, Some(budget))));
            }
        }
        cases
    }
}

/// An engine that runs case after case.
struct Bench<'a> {
    args: &'a Args,
    engine: Engine,
    request: &'a Request,
    scratch: &'a Path,
    next: u64,
}

impl Bench<'_> {
    /// The last run of a case, or why it failed; `None` after Ctrl-C.
    fn case(&mut self, way: Way, budget: Option<u64>) -> anyhow::Result<Option<Result<Run, String>>> {
        let mut last = None;
        for _ in 0..self.args.repeats {
            match self.once(way, budget)? {
                Some(Ok(run)) => last = Some(Ok(run)),
                other => return Ok(other),
            }
        }
        Ok(last)
    }

    fn once(&mut self, way: Way, budget: Option<u64>) -> anyhow::Result<Option<Result<Run, String>>> {
        self.next += 1;
        let id = JobId(self.next);
        let [telemetry, dump] = ["telemetry.jsonl", "dump.safetensors"].map(|name| self.scratch.join(name));
        self.engine.send(Command::Generate(Box::new(Job {
            memory: way.preferences(&self.args.memory.preferences(), budget),
            dump: self.args.check.then(|| dump.clone()),
            reports: Reports { telemetry: Some(telemetry.clone()), ..Reports::default() },
            ..Job::new(id, self.request.clone())
        })))?;
        match self.follow(id)? {
            End::Drawn(ended) => {
                let Telemetry { events, .. } = read_jsonl(&telemetry)?;
                let latents = if self.args.check { Some(latents_digest(&dump)?) } else { None };
                Ok(Some(Ok(Run::new(*ended, &events, latents))))
            }
            End::Failed(failure) => Ok(Some(Err(failure.message))),
            End::Cancelled => Ok(None),
        }
    }

    fn follow(&self, id: JobId) -> anyhow::Result<End> {
        let mut progress = Progress::new(self.args.quiet);
        let mut ended = Ended::default();
        loop {
            let event = match self.engine.next()? {
                Heard::Event(event) => event,
                Heard::Interrupt => {
                    self.engine.send(Command::Cancel { job: id })?;
                    continue;
                }
            };
            progress.show(&event);
            match event {
                Event::StageFinished { stage, seconds, .. } => ended.stages.push((stage, seconds)),
                Event::Replanned { reason, .. } => ended.replanned.push(reason),
                Event::Outcome { outcome, .. } => ended.outcome = Some(*outcome),
                Event::NotSaved { failure, .. } => complain(&failure),
                Event::Finished { pictures, seconds, .. } => {
                    ended.seconds = seconds;
                    ended.pictures = pictures;
                    return Ok(End::Drawn(Box::new(ended)));
                }
                Event::Cancelled { .. } => return Ok(End::Cancelled),
                Event::Failed { failure, .. } => return Ok(End::Failed(failure)),
                _ => {}
            }
        }
    }
}

enum End {
    Drawn(Box<Ended>),
    Failed(Failure),
    Cancelled,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Example {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn budgets_apply_to_all_placements_but_one() {
        let args = ["example", "--budgets", "8,0.5", "--placements", "prefix,resident"];
        let cases = Example::try_parse_from(args).unwrap().args.cases();
        let prefix = |budget| (Way::Prefix, Some(budget));
        assert_eq!(cases, [(Way::Resident, None), prefix(8 << 30), prefix(1 << 29)]);
        let cases = Example::try_parse_from(["example"]).unwrap().args.cases();
        assert_eq!(cases, [(Way::Resident, None), (Way::Streamed, None)]);
    }
}
