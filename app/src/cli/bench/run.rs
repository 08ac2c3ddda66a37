//! `sluice bench run`: a workload under several budgets and ways of placing weights.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde_json::{Value, json};
use sluice_engine::{
    memory::Outcome as Measured,
    request::{ModelSource, Request},
    session::{Command, Event, Failure, Job, JobId, Picture, Reports},
    telemetry::{Telemetry, read_jsonl},
};

use super::{
    link,
    report::{Row, Run, Table},
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
    size, stdout, units,
};

const EXAMPLES: &str = "\
Examples:
  sluice bench run --model /tmp/z-image --width 688 --height 1024 --steps 12 --batch 4 --dtype bf16 \\
      --budgets 8,12,16 --ways resident,streamed,synchronous,prefix --json z-image.json
  sluice bench run --model /tmp/tiny --card rtx-3060 --budgets 0.05 --check
      Streams over the link of a simulated card and compares the latents of every step.";

/// Measure a workload under several budgets and ways of placing weights.
///
/// The same pictures are drawn again and again with one engine. Printed are times, memory and what was moved, beside
/// what had been foretold and beside the floor: the larger of all computing and of all streamed bytes over the link.
/// What past runs took is not known to the engine here, and what these take is forgotten. The exit code is 1 if nothing
/// could be drawn, or latents that are compared differ.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A model's folder or file.
    #[arg(short, long, value_name = "PATH", default_value = "starter")]
    model: ModelSource,
    #[command(flatten)]
    folders: ModelFolderArgs,
    /// Amounts of VRAM that may be taken, such as 8,12,16; what the device has if absent.
    #[arg(long, value_name = "GB", value_delimiter = ',', value_parser = size::gigabytes)]
    budgets: Vec<u64>,
    /// How weights are placed: resident (all of them, whatever the budgets), streamed, auto, synchronous (no copy
    /// while something computes) or prefix (the first blocks stay).
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "resident,streamed", value_parser = named(&Way::ALL, Way::name))]
    ways: Vec<Way>,
    /// How often each is run; the last run counts, and its forecast knows those before it.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: u32,
    /// Compares the latents of every step, which have to be the same to the last bit however weights are placed.
    #[arg(long)]
    check: bool,
    /// What the pictures show. The weights may be random, and its tokens are as good as any.
    #[arg(short, long, value_name = "TEXT", default_value = "a lighthouse on a cliff above the sea at dusk")]
    prompt: String,
    #[command(flatten)]
    request: RequestArgs,
    /// Picks the noise.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Threads that compute; all of the machine's if absent.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// A file for all figures as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Shows no progress.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let scratch = tempfile::tempdir().context("there is no temporary folder")?;
    let threads = args.threads.map(usize::from);
    let base = args.memory.preferences();
    let dtype = args.request.dtype().unwrap_or(link::USUAL_DTYPE);
    let measured = link::device_ceilings(&base, args.threads, dtype)?;
    if !args.quiet {
        link::lines(&measured).iter().for_each(|line| stderr_line(line));
    }
    let data = scratch.path().join("data");
    let engine = Engine::start_apart(threads, &args.folders, &args.request.lora_folders, data)?;
    let Some(summary) = engine.load(args.model.clone())? else { return Ok(Outcome::Cancelled) };
    let request = Request {
        model: args.model.clone(),
        prompt: args.prompt.clone(),
        seed: args.seed,
        dtype: Some(dtype),
        ..args.request.request(&summary.defaults)
    };
    let asked = in_words(&request, 1);
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
    let nothing_was_drawn = rows.iter().all(|row| row.run.is_err());
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
    let failed = nothing_was_drawn || table.exact() == Some(false);
    Ok(if failed { Outcome::Failed } else { Outcome::Done })
}

fn write_json(file: &Path, content: &Value) -> anyhow::Result<()> {
    fs::write(file, format!("{content:#}\n")).with_context(|| format!("{} cannot be written", file.display()))
}

impl Args {
    /// What is run, in its order.
    fn cases(&self) -> Vec<(Way, Option<u64>)> {
        let mut cases = Vec::new();
        for way in Way::ALL.into_iter().filter(|way| self.ways.contains(way)) {
            if way.has_no_budget() || self.budgets.is_empty() {
                cases.push((way, None));
            } else {
                cases.extend(self.budgets.iter().map(|&budget| (way, Some(budget))));
            }
        }
        cases
    }
}

/// One engine that runs case after case.
struct Bench<'a> {
    args: &'a Args,
    engine: Engine,
    request: &'a Request,
    scratch: &'a Path,
    next: u64,
}

impl Bench<'_> {
    /// The last run of a case, or why there is none; nothing if Ctrl-C was pressed.
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

/// What the engine said about a run.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub stages: Vec<(sluice_engine::session::Stage, f64)>,
    /// Why it went on under other plans.
    pub replanned: Vec<String>,
    pub outcome: Option<Measured>,
    pub seconds: f64,
    pub pictures: Vec<Picture>,
}

enum End {
    Drawn(Box<Ended>),
    Failed(Failure),
    Cancelled,
}

/// FNV-1a over bytes: equal for equal ones, whatever the machine.
pub(super) fn digest<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let hash = parts.flatten().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// That of the latents after each step in a safetensors file of a run.
fn latents_digest(file: &Path) -> anyhow::Result<String> {
    let damaged = || format!("{} is not what a run writes", file.display());
    let bytes = fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let (length, rest) = bytes.split_first_chunk().with_context(damaged)?;
    let header = rest.get(..u64::from_le_bytes(*length) as usize).with_context(damaged)?;
    let described: serde_json::Map<String, Value> = serde_json::from_slice(header)?;
    let values = &rest[header.len()..];
    let mut latents = Vec::new();
    for (name, row) in &described {
        if !(name.starts_with("step.") && name.ends_with(".latents")) {
            continue;
        }
        let place = |index: usize| row["data_offsets"][index].as_u64().map(|offset| offset as usize);
        let range = place(0).with_context(damaged)?..place(1).with_context(damaged)?;
        latents.push((name, values.get(range).with_context(damaged)?));
    }
    anyhow::ensure!(!latents.is_empty(), damaged());
    latents.sort_unstable();
    Ok(digest(latents.into_iter().map(|(_, values)| values)))
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
    fn budgets_hold_for_all_ways_but_one() {
        let args = ["example", "--budgets", "8,0.5", "--ways", "prefix,resident"];
        let cases = Example::try_parse_from(args).unwrap().args.cases();
        let prefix = |budget| (Way::Prefix, Some(budget));
        assert_eq!(cases, [(Way::Resident, None), prefix(8 << 30), prefix(1 << 29)]);
        let cases = Example::try_parse_from(["example"]).unwrap().args.cases();
        assert_eq!(cases, [(Way::Resident, None), (Way::Streamed, None)]);
    }

    #[test]
    fn latents_are_told_apart_by_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump.safetensors");
        let write = |name: &str, first: u8| {
            let header = json!({
                name: { "dtype": "U8", "shape": [2], "data_offsets": [0, 2] },
                "output": { "dtype": "U8", "shape": [1], "data_offsets": [2, 3] },
            });
            let header = header.to_string().into_bytes();
            let values = [first, 2, first];
            fs::write(&path, [&(header.len() as u64).to_le_bytes()[..], &header, &values].concat()).unwrap();
            latents_digest(&path)
        };
        let one = write("step.0.latents", 1).unwrap();
        assert_eq!(one, write("step.0.latents", 1).unwrap());
        assert_ne!(one, write("step.0.latents", 3).unwrap());
        assert_eq!(one, digest([[1, 2].as_slice()].into_iter()));
        assert!(write("latents.start", 1).is_err());
        fs::write(&path, [9; 9]).unwrap();
        assert!(latents_digest(&path).is_err());
    }
}
