//! `sluice probe`: shows the hardware, and the GPUs that can be simulated.

use anyhow::Context;
use serde_json::json;
use sluice_engine::{
    hardware::{CardProfile, GpuSample, HardwareSample, cards},
    units,
};

use super::{
    engine::Engine,
    engine_args::EngineArgs,
    exit::Outcome,
    stdout,
    table::{Align, table},
};

/// Show the hardware of this machine and the GPUs that can be simulated.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print the result as JSON, with the sources of the figures for each GPU.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let Some(sample) = Engine::start_for_hardware(&args.engine)?.hardware()? else {
        return Ok(Outcome::Cancelled);
    };
    if args.json {
        let all = json!({ "hardware": sample, "cards": cards() });
        stdout::line(&serde_json::to_string_pretty(&all).context("the machine cannot be written as JSON")?)?;
    } else {
        stdout::line(&describe(&sample, cards()))?;
    }
    Ok(Outcome::Done)
}

fn describe(sample: &HardwareSample, cards: &[CardProfile]) -> String {
    let mut lines = machine(sample);
    lines.push(String::new());
    lines.push("GPUs that you can simulate with --card".to_owned());
    lines.extend(card_table(cards).into_iter().map(|line| format!("  {line}")));
    lines.join("\n")
}

fn machine(sample: &HardwareSample) -> Vec<String> {
    let HardwareSample { cpu, threads, ram_total, ram_available, ram_limit, gpus, gpu_note, .. } = sample;
    let cpu = if cpu.is_empty() { "unknown" } else { cpu };
    let (total, available) = (units::memory(*ram_total), units::memory(*ram_available));
    let mut lines =
        vec![format!("CPU   {cpu}, {threads} threads"), format!("RAM   {total}, {available} available")];
    lines.extend(
        ram_limit
            .iter()
            .map(|limit| format!("      limited to {} by {}", units::memory(limit.bytes), limit.kind.name())),
    );
    lines.extend(gpus.iter().enumerate().map(|(number, GpuSample { name, vram_total, vram_used, .. })| {
        let (total, used) = (units::memory(*vram_total), units::memory(*vram_used));
        let label = if gpus.len() > 1 { format!("GPU {number}") } else { "GPU".to_owned() };
        format!("{label:5} {name}: {total} of VRAM, {used} in use")
    }));
    lines.extend(gpu_note.iter().map(|note| format!("GPU   {note}")));
    lines
}

fn card_table(cards: &[CardProfile]) -> Vec<String> {
    let row = |card: &CardProfile| {
        [
            card.id.clone(),
            card.name.clone(),
            units::memory(card.vram),
            format!("{:.1} GB/s", card.link_bytes_per_second / 1e9),
            format!("{:.0} GB/s", card.memory_bytes_per_second / 1e9),
            format!("{:.0} TFLOPS", card.operations_per_second / 1e12),
        ]
    };
    let rows: Vec<_> = cards.iter().map(row).collect();
    let columns = [
        ("name", Align::Left),
        ("GPU", Align::Left),
        ("VRAM", Align::Right),
        ("link", Align::Right),
        ("memory", Align::Right),
        ("16-bit speed", Align::Right),
    ];
    table(columns, &rows)
}
