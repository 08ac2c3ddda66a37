//! A plan in one plain sentence.

use super::{
    Alternative, Bound, ComponentPlan, Footprint, Machine, OffloadMode, Placement, Plan, PlanError,
    Residence, Stage,
};
use crate::checkpoint::Role;

/// What is done, why, and what it takes; or by how much it does not fit, and what would make it fit.
///
/// `least` is the smallest budget of the device with which it would do. Gigabytes are 2³⁰ bytes, as owners of
/// graphics cards count.
pub fn sentence(
    footprint: &Footprint,
    machine: &Machine,
    plan: &Result<Plan, PlanError>,
    least: Option<u64>,
) -> String {
    match plan {
        Ok(plan) => fitting(footprint, machine, plan),
        Err(error) => refused(machine, error, least),
    }
}

/// What a row that is not in force would give.
pub(super) fn offer(row: &Alternative) -> String {
    let error =
        row.error.map_or_else(String::new, |error| format!(", with weights that are {} off", percent(error)));
    format!(
        "{} would take {} and {} a step{error}.",
        row.name,
        size_up(row.device),
        seconds(row.seconds_per_step)
    )
}

/// `2.3 %`.
fn percent(part: f64) -> String {
    if part < 0.01 { format!("{:.2} %", part * 100.0) } else { format!("{:.1} %", part * 100.0) }
}

fn fitting(footprint: &Footprint, machine: &Machine, plan: &Plan) -> String {
    let place = place(machine);
    let streamed = plan
        .components
        .iter()
        .zip(&footprint.components)
        .find(|(component, _)| component.stage == Stage::Denoise && passes_through(component));
    let mut away: Vec<&str> = Vec::new();
    for component in plan.components.iter().filter(|component| component.residence != Residence::Resident) {
        let name = role_name(component.role);
        if !away.contains(&name) {
            away.push(name);
        }
    }
    let why = reason(plan, Stage::Decode, footprint.total());
    let mut what = if let Some((component, parts)) = streamed {
        let used = component.blocks.len();
        let stay = component.blocks.iter().filter(|block| block.placement == Placement::Resident).count();
        let why = reason(plan, component.stage, parts.bytes());
        let role = role_name(component.role);
        let others = others(plan, component);
        if stay == 0 {
            format!("All {used} blocks of the {role} {others}, {why}")
        } else {
            let verb = if stay == 1 { "stays" } else { "stay" };
            format!("{stay} of {used} blocks of the {role} {verb} {place} and the others {others}, {why}")
        }
    } else if away.is_empty() {
        format!("Everything stays {place}, as all {} fit", size(footprint.total()))
    } else if plan.components.iter().all(|component| component.residence != Residence::Resident) {
        format!("Each part is {place} only while it is used, {why}")
    } else {
        let (names, verb) = (away.join(" and the "), if away.len() == 1 { "is" } else { "are" });
        format!("The {names} {verb} {place} only during use, {why}")
    };
    if let Some(tile) = plan.components.iter().find_map(|component| component.tile) {
        what += &format!(", and the picture is decoded in tiles of {tile} latents");
    }
    format!(
        "{what}; {}, {}.",
        part_of(plan.peak_device(), machine.device_total.max(plan.device_budget)),
        duration(plan),
    )
}

/// Why these bytes do not stay.
fn reason(plan: &Plan, stage: Stage, bytes: u64) -> String {
    let activations = plan.stage(stage).map_or(0, |stage| stage.activations);
    let total = size(bytes);
    if bytes.saturating_add(activations) > plan.device_budget {
        format!("as all {total} at once do not fit")
    } else if plan.mode == OffloadMode::Auto {
        format!("as all {total} at once would leave little memory free")
    } else {
        format!("as the mode {} has it", plan.mode.name())
    }
}

/// What blocks do that do not stay.
fn others(plan: &Plan, component: &ComponentPlan) -> &'static str {
    if component.blocks.iter().any(|block| block.placement == Placement::Leaves) {
        return "come tensor by tensor";
    }
    match plan.stage(component.stage).map_or(Bound::Compute, |stage| stage.bound) {
        Bound::Compute => "stream behind the computation",
        Bound::Link => "stream as fast as the link to the card allows",
        Bound::Disk => "stream as fast as the disk allows",
    }
}

fn passes_through(component: &ComponentPlan) -> bool {
    component.slots > 0 || component.blocks.iter().any(|block| block.placement == Placement::Leaves)
}

fn refused(machine: &Machine, error: &PlanError, least: Option<u64>) -> String {
    match error {
        PlanError::Device { what, stage, needed, budget, .. } => {
            let short = size_up(needed.saturating_sub(*budget));
            let fitting = match least {
                Some(least) => format!(
                    "it would fit with {}, with a smaller picture, or perhaps with another mode",
                    size_up(least)
                ),
                None => "a smaller picture or another mode may fit".to_owned(),
            };
            format!(
                "This does not fit {}: {what} takes {} in the {stage} stage, {short} more \
                 than the {} that may be taken; {fitting}.",
                device(machine),
                size_up(*needed),
                size(*budget),
            )
        }
        PlanError::Host { needed, budget } => format!(
            "There is too little RAM: weights pass through {} of it and {} may be taken; allow {} more.",
            size_up(*needed),
            size(*budget),
            size_up(needed.saturating_sub(*budget)),
        ),
    }
}

fn duration(plan: &Plan) -> String {
    if plan.seconds_per_step > 0.0 {
        format!("{} a step", seconds(plan.seconds_per_step))
    } else {
        seconds(plan.seconds)
    }
}

fn seconds(seconds: f64) -> String {
    if seconds < 0.1 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

fn place(machine: &Machine) -> &'static str {
    if machine.unified { "in memory" } else { "on the card" }
}

fn device(machine: &Machine) -> &'static str {
    if machine.unified { "memory" } else { "the card" }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::TextEncoder => "text encoder",
        Role::Denoiser => "denoiser",
        Role::Autoencoder => "autoencoder",
    }
}

const KILO: f64 = 1024.0;

/// Bytes in words: `7.4 GB`, or `12.3 MB` where gigabytes would say nothing. Units are powers of 1024, as owners of
/// graphics cards count.
pub fn size(bytes: u64) -> String {
    in_unit(bytes, |value| value)
}

/// The same rounded up, for what is needed.
pub fn size_up(bytes: u64) -> String {
    in_unit(bytes, |value| (value * 10.0).ceil() / 10.0)
}

fn in_unit(bytes: u64, round: fn(f64) -> f64) -> String {
    let megabytes = bytes as f64 / (KILO * KILO);
    if megabytes < 0.1 * KILO {
        format!("{:.1} MB", round(megabytes))
    } else {
        format!("{:.1} GB", round(megabytes / KILO))
    }
}

/// `7.4 of 12.0 GB`.
fn part_of(part: u64, whole: u64) -> String {
    let (part, whole) = (size(part), size(whole));
    match (part.split_once(' '), whole.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} of {whole}"),
        _ => format!("{part} of {whole}"),
    }
}
