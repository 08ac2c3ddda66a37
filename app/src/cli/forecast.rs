//! Predictions as text: a sentence, and tables below it.

use sluice_engine::{
    checkpoint::Role,
    memory::{
        Accuracy, Alternative, Attention, AttentionBytes, BlockPlan, Bound, ErrorSpread, Forecast, Machine,
        Placement, Plan, Quality, StagePlan, Tier, UsePlan,
    },
    units,
};

use super::{
    progress::stage_name,
    table::{Align, table},
};

/// The full text of a prediction.
pub(super) fn describe(forecast: &Forecast) -> String {
    let Forecast { machine, plan, sentence, least_device, alternatives, accuracy, attention, .. } = forecast;
    let mut lines = vec![available(machine), String::new(), sentence.clone()];
    // The sentence says why there is no plan.
    if let Ok(plan) = plan {
        lines.push(String::new());
        lines.extend(stages(plan, machine));
        lines.push(String::new());
        lines.extend(placements(plan));
    }
    lines.push(String::new());
    lines.extend(strategies(alternatives, machine));
    lines.push(String::new());
    lines.push(least(*least_device, machine));
    lines.extend(attention_bytes(attention));
    lines.extend(plan.as_ref().ok().and_then(|plan| disk(plan, machine)));
    lines.extend(accuracy.as_ref().map(|accuracy| past(accuracy, machine)));
    lines.join("\n")
}

fn available(machine: &Machine) -> String {
    let Machine { device, unified, device_total, device_budget, host_budget, .. } = machine;
    let of_device = match device_total > device_budget {
        true => units::memory_of(*device_budget, *device_total),
        false => units::memory(*device_budget),
    };
    match unified {
        true => format!("{device}: up to {of_device} of memory"),
        false => {
            format!(
                "{device}: up to {of_device} of VRAM, and {} of RAM for weights",
                units::memory(*host_budget)
            )
        }
    }
}

/// What attention takes at its largest, and what it would take otherwise.
fn attention_bytes(attention: &AttentionBytes) -> Option<String> {
    let &AttentionBytes { on_gpu, fused, math, tiled } = attention;
    let of = |attention| match attention {
        Attention::Math => units::memory_needed(math),
        Attention::Tiled => units::memory_needed(tiled),
    };
    match on_gpu {
        None if fused == 0 => None,
        None => Some(format!("Attention takes up to {} at a time (fused)", units::memory_needed(fused))),
        Some(chosen) => {
            let others = Attention::ALL.iter().filter(|&&other| other != chosen);
            let others: Vec<_> =
                others.map(|&other| format!("{} with `{}`", of(other), other.name())).collect();
            Some(format!(
                "Attention takes up to {} at a time (`{}`), {}",
                of(chosen),
                chosen.name(),
                others.join(", ")
            ))
        }
    }
}

/// How fast the disk is taken to be, if the run reads enough for that to matter.
fn disk(plan: &Plan, machine: &Machine) -> Option<String> {
    let read: u64 = plan.stages.iter().map(|stage| stage.disk_bytes).sum();
    let rate = units::speed(machine.disk.bytes_per_second);
    let known = if machine.disk_is_measured { "as in past runs" } else { "assumed" };
    (read > 0).then(|| format!("Reads {} from disk at {rate} ({known})", units::memory(read)))
}

/// The name of the device's memory.
fn memory_name(machine: &Machine) -> &'static str {
    if machine.unified { "memory" } else { "VRAM" }
}

fn host(bytes: u64, machine: &Machine) -> String {
    if machine.unified { "–".to_owned() } else { units::memory(bytes) }
}

fn stages(plan: &Plan, machine: &Machine) -> Vec<String> {
    let row = |stage: &StagePlan| {
        [
            stage_name(&stage.stage),
            units::memory(stage.weights),
            units::memory(stage.activations),
            units::memory(stage.device()),
            host(stage.host, machine),
            units::seconds(stage.seconds),
            bound_name(stage.bound).to_owned(),
        ]
    };
    let mut rows: Vec<_> = plan.stages.iter().map(row).collect();
    rows.push([
        "run".to_owned(),
        String::new(),
        String::new(),
        units::memory(plan.peak_device()),
        host(plan.peak_host(), machine),
        units::seconds(plan.seconds),
        format!("{} per step", units::seconds(plan.seconds_per_step)),
    ]);
    let columns = [
        ("stage", Align::Left),
        ("weights", Align::Right),
        ("activations", Align::Right),
        (memory_name(machine), Align::Right),
        ("RAM", Align::Right),
        ("time", Align::Right),
        ("", Align::Left),
    ];
    table(columns, &rows)
}

fn bound_name(bound: Bound) -> &'static str {
    match bound {
        Bound::Compute => "limited by computation",
        Bound::Link => "limited by the link",
        Bound::Disk => "limited by the disk",
    }
}

fn placements(plan: &Plan) -> Vec<String> {
    let row = |(stage, part_use): (&StagePlan, &UsePlan)| {
        let part = &plan.parts[part_use.part];
        let name = part.name.replace('_', " ");
        let is_only_use = plan.uses().filter(|other| other.part == part_use.part).count() == 1;
        let name = if is_only_use { name } else { format!("{name}, {}", stage_name(&stage.stage)) };
        [name, part.residence.name().to_owned(), blocks(part_use, part.role)]
    };
    let uses = plan.stages.iter().flat_map(|stage| stage.uses.iter().map(move |part_use| (stage, part_use)));
    let rows: Vec<_> = uses.map(row).collect();
    table([("component", Align::Left), ("placement", Align::Left), ("blocks", Align::Left)], &rows)
}

/// How many blocks have each placement: `20 resident, 37 streamed from RAM through 2 slots of 340 MB`.
fn blocks(part_use: &UsePlan, role: Role) -> String {
    let UsePlan { blocks, slots, slot_bytes, tile, .. } = part_use;
    let count = |placement, home: Option<Tier>| {
        let alike =
            |block: &&BlockPlan| block.placement == placement && home.is_none_or(|home| block.home == home);
        blocks.iter().filter(alike).count()
    };
    // A block that the run does not use stays on disk, like one that is streamed from there.
    let on_disk = if *slots == 0 { "unused" } else { "on disk" };
    let parts = [
        (count(Placement::Resident, None), "resident"),
        (count(Placement::Streamed, Some(Tier::Host)), "streamed from RAM"),
        (count(Placement::Leaves, None), "loaded tensor by tensor"),
        (count(Placement::SharedLeaves, None), "loaded tensor by tensor for all guidance branches at once"),
        (count(Placement::Streamed, Some(Tier::Disk)), on_disk),
    ];
    let parts =
        parts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}"));
    let slots = match slots {
        0 => String::new(),
        slots => {
            let slots = units::counted(*slots as usize, "slot");
            format!(", through {slots} of {}", units::memory(*slot_bytes))
        }
    };
    let unit = match role {
        Role::Upscaler | Role::Interpolator => "pixels",
        _ => "latents",
    };
    let tiles = tile.map_or_else(String::new, |side| format!(", in tiles of up to {side}×{side} {unit}"));
    format!("{}{slots}{tiles}", parts.collect::<Vec<_>>().join(", "))
}

fn strategies(alternatives: &[Alternative], machine: &Machine) -> Vec<String> {
    let row = |alternative: &Alternative| {
        let mut marks = Vec::new();
        if alternative.recommended {
            marks.push("recommended");
        }
        if !alternative.available {
            marks.push("not available");
        }
        [
            alternative.name.clone(),
            units::memory(alternative.device),
            host(alternative.host, machine),
            units::seconds(alternative.seconds_per_step),
            units::seconds(alternative.seconds_per_image),
            quality(alternative),
            fit(alternative, machine),
            marks.join(", "),
        ]
    };
    let rows: Vec<_> = alternatives.iter().map(row).collect();
    let columns = [
        ("strategy", Align::Left),
        (memory_name(machine), Align::Right),
        ("RAM", Align::Right),
        ("step", Align::Right),
        ("image", Align::Right),
        ("quality", Align::Left),
        ("fits", Align::Left),
        ("", Align::Left),
    ];
    table(columns, &rows)
}

/// In a word or two, with the measured error of the weights if there is one.
fn quality(alternative: &Alternative) -> String {
    let name = match alternative.quality {
        Quality::Exact => "identical",
        Quality::Blended => "blended tiles",
        Quality::EightBit => "8-bit",
        Quality::FourBit => "4-bit",
    };
    alternative
        .error
        .map_or_else(|| name.to_owned(), |error| format!("{name}, error {}", units::percent(error)))
}

fn fit(alternative: &Alternative, machine: &Machine) -> String {
    let [device, host] = [alternative.device_short, alternative.host_short].map(units::memory_needed);
    match (alternative.device_short, alternative.host_short) {
        (0, 0) => "yes".to_owned(),
        (_, 0) if machine.unified => format!("needs {device} more"),
        (_, 0) => format!("needs {device} more VRAM"),
        (0, _) => format!("needs {host} more RAM"),
        _ => format!("needs {device} more VRAM, {host} more RAM"),
    }
}

fn least(bytes: Option<u64>, machine: &Machine) -> String {
    let memory = memory_name(machine);
    match bytes {
        Some(bytes) if machine.unified => {
            format!("Minimum {memory}: {}", units::memory_needed(bytes))
        }
        Some(bytes) => format!(
            "Minimum {memory}: {}, plus what the desktop and the driver use",
            units::memory_needed(bytes)
        ),
        None => format!("No amount of {memory} is enough for these settings."),
    }
}

fn past(accuracy: &Accuracy, machine: &Machine) -> String {
    let Accuracy { runs, memory, time } = accuracy;
    let one = *runs == 1;
    let runs = if one { "the only run".to_owned() } else { format!("{runs} runs") };
    let off = |ErrorSpread { median, worst }: ErrorSpread| match one {
        true => format!("by {}", units::percent(worst)),
        false => {
            format!("by {} in the median and {} at worst", units::percent(median), units::percent(worst))
        }
    };
    let time = time.map_or_else(String::new, |time| format!(", and {} for time", off(time)));
    let memory = format!("{} for {}", off(*memory), memory_name(machine));
    format!("In {runs} of this model so far, the prediction was off {memory}{time}.")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sluice_engine::{
        checkpoint::Role,
        memory::{Keep, Link, OffloadMode, PartPlan, PlanError, Residence, Stage, StageKind},
        request::ComputeDtype,
    };

    use super::*;

    const GB: u64 = 1 << 30;

    fn machine() -> Machine {
        Machine {
            device: "RTX 3060".to_owned(),
            unified: false,
            device_total: 12 * GB,
            device_budget: 23 * GB / 2,
            host_budget: 28 * GB,
            link: Link { bytes_per_second: 12e9, latency: 2e-5 },
            disk: Link { bytes_per_second: 3e9, latency: 1e-4 },
            disk_is_measured: false,
            operations_per_second: 25e12,
            block_latency: 1e-4,
            own_speeds: BTreeMap::new(),
        }
    }

    fn plan() -> Plan {
        let stage = |number, kind, part_use, bound| StagePlan {
            stage: Stage::new(number, kind),
            uses: vec![part_use],
            weights: 9 * GB,
            kept: 0,
            activations: GB / 2,
            host: 20 * GB,
            link_bytes: 0,
            disk_bytes: 0,
            seconds: 40.0,
            bound,
        };
        let block = |placement, home| BlockPlan { placement, home };
        let part = |name: &str, role, residence| PartPlan {
            name: name.to_owned(),
            role,
            residence,
            keep: Keep::Auto,
        };
        let denoiser = UsePlan {
            part: 0,
            blocks: vec![
                block(Placement::Resident, Tier::Host),
                block(Placement::Streamed, Tier::Host),
                block(Placement::Streamed, Tier::Host),
                block(Placement::Streamed, Tier::Disk),
            ],
            slots: 2,
            slot_bytes: 340 << 20,
            way: 0,
            tile: None,
        };
        let autoencoder = UsePlan {
            part: 1,
            blocks: vec![block(Placement::Streamed, Tier::Disk), block(Placement::Resident, Tier::Host)],
            slots: 0,
            slot_bytes: 0,
            way: 1,
            tile: Some(64),
        };
        Plan {
            mode: OffloadMode::Auto,
            device_budget: 23 * GB / 2,
            host_budget: 28 * GB,
            parts: vec![
                part("denoiser", Role::Denoiser, Residence::Streamed),
                part("autoencoder", Role::Autoencoder, Residence::Staged),
            ],
            stages: vec![
                stage(0, StageKind::Denoise, denoiser, Bound::Compute),
                stage(1, StageKind::Decode, autoencoder, Bound::Link),
            ],
            seconds_per_step: 2.05,
            seconds: 80.0,
        }
    }

    fn alternative(name: &str, device: u64, device_short: u64, available: bool) -> Alternative {
        Alternative {
            id: String::new(),
            name: name.to_owned(),
            device,
            host: 0,
            seconds_per_step: 1.0,
            seconds_per_image: 70.0,
            quality: Quality::Exact,
            error: None,
            device_short,
            host_short: 0,
            available,
            recommended: available,
            preferences: None,
        }
    }

    fn forecast() -> Forecast {
        Forecast {
            model: "Example".to_owned(),
            dtype: ComputeDtype::Bf16,
            machine: machine(),
            plan: Ok(plan()),
            sentence: "A sentence.".to_owned(),
            least_device: Some(2 * GB),
            choices: Vec::new(),
            alternatives: vec![
                alternative("Streaming", 9 * GB, 0, true),
                alternative("No offload", 32 * GB, 32 * GB - 23 * GB / 2, false),
            ],
            attention: AttentionBytes {
                on_gpu: Some(Attention::Math),
                fused: 0,
                math: 400 << 20,
                tiled: 40 << 20,
            },
            accuracy: Some(Accuracy {
                runs: 3,
                memory: ErrorSpread { median: 0.012, worst: 0.02 },
                time: Some(ErrorSpread { median: 0.04, worst: 0.09 }),
            }),
            seconds_here: None,
            fitting_size: None,
            fitting_frames: None,
        }
    }

    #[test]
    fn one_slot_is_no_plural_and_150_megabytes_are_no_tenth_of_a_gigabyte() {
        let mut part_use = plan().stages[0].uses[0].clone();
        (part_use.slots, part_use.slot_bytes) = (1, 150 << 20);
        let said = blocks(&part_use, Role::Denoiser);
        assert!(said.ends_with(", through 1 slot of 150 MB"), "{said}");
        part_use.tile = Some(512);
        let said = blocks(&part_use, Role::Interpolator);
        assert!(said.ends_with(", in tiles of up to 512×512 pixels"), "{said}");
    }

    #[test]
    fn a_forecast_is_a_sentence_and_three_tables() {
        let expected = "\
RTX 3060: up to 11.5 of 12.0 GB of VRAM, and 28.0 GB of RAM for weights

A sentence.

stage    weights  activations    VRAM      RAM        time
denoise   9.0 GB       512 MB  9.5 GB  20.0 GB        40 s  limited by computation
decode    9.0 GB       512 MB  9.5 GB  20.0 GB        40 s  limited by the link
run                            9.5 GB  20.0 GB  1 min 20 s  2.0 s per step

component    placement  blocks
denoiser     streamed   1 resident, 2 streamed from RAM, 1 on disk, through 2 slots of 340 MB
autoencoder  staged     1 resident, 1 unused, in tiles of up to 64×64 latents

strategy       VRAM   RAM   step       image  quality    fits
Streaming    9.0 GB  0 MB  1.0 s  1 min 10 s  identical  yes                      recommended
No offload  32.0 GB  0 MB  1.0 s  1 min 10 s  identical  needs 20.5 GB more VRAM  not available

Minimum VRAM: 2.0 GB, plus what the desktop and the driver use
Attention takes up to 400 MB at a time (`math`), 40 MB with `tiled`
In 3 runs of this model so far, the prediction was off by 1.2% in the median and 2.0% at worst for VRAM, and by 4.0% in the median and 9.0% at worst for time.";
        assert_eq!(describe(&forecast()), expected);
    }

    #[test]
    fn what_does_not_fit_has_only_the_table_of_strategies() {
        let error = PlanError::Device {
            what: "keeping everything on the device".to_owned(),
            device: "RTX 3060".to_owned(),
            stage: "denoise".to_owned(),
            needed: 32 * GB,
            budget: 8 * GB,
        };
        let text = describe(&Forecast { plan: Err(error), least_device: None, ..forecast() });
        assert!(text.contains("No amount of VRAM is enough for these settings."), "{text}");
        assert!(text.contains("A sentence.\n\nstrategy"), "{text}");
    }

    #[test]
    fn a_device_in_the_machines_own_memory_has_no_vram() {
        let machine = Machine { unified: true, device: "CPU".to_owned(), ..machine() };
        let text = describe(&Forecast { machine, ..forecast() });
        assert!(!text.contains("VRAM"), "{text}");
        assert!(text.contains("Minimum memory: 2.0 GB\n"), "{text}");
    }
}
