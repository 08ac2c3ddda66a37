//! A plan in one plain sentence.

use super::{
    Bound, ComponentPlan, Footprint, Machine, OffloadMode, Placement, Plan, PlanError, Residence, Stage,
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
        format!("Everything stays {place}, as all {} GB fit", gigabytes(footprint.total()))
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
        "{what}; {} of {} GB, {}.",
        gigabytes(plan.peak_device()),
        gigabytes(machine.device_total.max(plan.device_budget)),
        duration(plan),
    )
}

/// Why these bytes do not stay.
fn reason(plan: &Plan, stage: Stage, bytes: u64) -> String {
    let activations = plan.stage(stage).map_or(0, |stage| stage.activations);
    let total = gigabytes(bytes);
    if bytes.saturating_add(activations) > plan.device_budget {
        format!("as all {total} GB at once do not fit")
    } else if plan.mode == OffloadMode::Auto {
        format!("as all {total} GB at once would leave little memory free")
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
            let short = gigabytes_up(needed.saturating_sub(*budget));
            let fitting = match least {
                Some(least) => format!(
                    "it would fit with {} GB, with a smaller picture, or perhaps with another mode",
                    gigabytes_up(least)
                ),
                None => "a smaller picture or another mode may fit".to_owned(),
            };
            format!(
                "This does not fit {}: {what} takes {} GB in the {stage} stage, {short} GB more \
                 than the {} GB that may be taken; {fitting}.",
                device(machine),
                gigabytes_up(*needed),
                gigabytes(*budget),
            )
        }
        PlanError::Host { needed, budget } => format!(
            "There is too little RAM: weights pass through {} GB of it and {} GB may be taken; allow {} GB \
             more.",
            gigabytes_up(*needed),
            gigabytes(*budget),
            gigabytes_up(needed.saturating_sub(*budget)),
        ),
    }
}

fn duration(plan: &Plan) -> String {
    if plan.seconds_per_step > 0.0 {
        format!("{} s a step", seconds(plan.seconds_per_step))
    } else {
        format!("{} s", seconds(plan.seconds))
    }
}

fn seconds(seconds: f64) -> String {
    if seconds < 0.1 { format!("{seconds:.2}") } else { format!("{seconds:.1}") }
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

fn gigabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / (1u64 << 30) as f64)
}

/// Rounded up, for what is needed.
fn gigabytes_up(bytes: u64) -> String {
    format!("{:.1}", (bytes as f64 / (1u64 << 30) as f64 * 10.0).ceil() / 10.0)
}
