//! A plan in plain words.

use super::{
    Alternative, Bound, Footprint, Machine, MemoryPreferences, OffloadMode, Placement, Plan, PlanError,
    Residence, StageKind, StagePlan, UsePlan, Wish,
};
use crate::{checkpoint::Role, precision::Storage, units};

/// What the plan does, why, and what it takes. Where there is no plan: by how much the request does not fit, and what
/// would make it fit.
///
/// `least` is the smallest budget of the device with which the preferences can be followed.
pub fn sentence(
    footprint: &Footprint,
    machine: &Machine,
    plan: &Result<Plan, PlanError>,
    least: Option<u64>,
    preferences: &MemoryPreferences,
) -> String {
    match plan {
        Ok(plan) => fitting(footprint, machine, plan, preferences.wish),
        Err(error) => refused(machine, error, least, preferences.mode),
    }
}

/// What would make a request fit that was refused.
pub fn remedy(machine: &Machine, error: &PlanError, least: Option<u64>, mode: OffloadMode) -> String {
    let allow = match (error, least) {
        (PlanError::Host { needed, budget }, _) => {
            Some(format!("Allow {} more RAM", units::memory_needed(needed.saturating_sub(*budget))))
        }
        (PlanError::Device { .. }, Some(least)) if least <= machine.device_total => {
            let memory = if machine.unified { "memory" } else { "VRAM" };
            Some(format!("Allow at least {} of {memory}", units::memory_needed(least)))
        }
        (PlanError::Device { .. }, _) => None,
    };
    match (allow, mode) {
        (Some(allow), OffloadMode::Auto) => format!("{allow}, or use a smaller image or batch."),
        (Some(allow), _) => {
            format!("{allow}, use a smaller image or batch, or choose the automatic offload mode.")
        }
        (None, OffloadMode::Auto) => "Use a smaller image or batch.".to_owned(),
        (None, _) => "Use a smaller image or batch, or choose the automatic offload mode.".to_owned(),
    }
}

/// That weights are held in 8 bits, as the user allows.
pub(super) fn in_8_bits(preferences: &MemoryPreferences) -> String {
    let [denoiser, text] = preferences.precisions();
    let (storage, whose) = match denoiser {
        Storage::Stored => (text, "The text encoders' weights"),
        storage => (storage, "Weights"),
    };
    format!("{whose} are held in 8 bits ({}), which changes the image slightly.", storage.title())
}

/// What another row would give.
pub(super) fn offer(row: &Alternative) -> String {
    let error = row
        .error
        .map_or_else(String::new, |error| format!(", with a weight error of {}", units::percent(error)));
    format!(
        "{} would use {} and take {} per step{error}.",
        row.name,
        units::memory_needed(row.device),
        units::seconds(row.seconds_per_step)
    )
}

fn fitting(footprint: &Footprint, machine: &Machine, plan: &Plan, wish: Wish) -> String {
    let place = place(machine);
    let streamed = plan.streamed();
    let mut away: Vec<&str> = Vec::new();
    for part in plan.parts.iter().filter(|part| part.residence != Residence::Resident) {
        let name = role_name(part.role);
        if !away.contains(&name) {
            away.push(name);
        }
    }
    let decoding = plan.stages.iter().rfind(|stage| stage.stage.kind == StageKind::Decode);
    let why = reason(plan, wish, decoding, footprint.total());
    let mut what = if let Some((stage, part_use)) = streamed {
        let used = part_use.blocks.len();
        let stay = part_use.blocks.iter().filter(|block| block.placement == Placement::Resident).count();
        let part = &footprint.parts[part_use.part];
        let why = reason(plan, wish, Some(stage), part.bytes());
        let role = role_name(part.role);
        let others = others(stage, part_use);
        if stay == 0 {
            format!("All {used} {role} blocks {others}, {why}.")
        } else {
            let verb = if stay == 1 { "stays" } else { "stay" };
            format!("{stay} of {used} {role} blocks {verb} {place} and the rest {others}, {why}.")
        }
    } else if away.is_empty() {
        format!("The whole model ({}) fits and stays {place}.", units::memory(footprint.total()))
    } else if plan.parts.iter().all(|part| part.residence != Residence::Resident) {
        format!("Each part of the model is {place} only while it is used, {why}.")
    } else {
        let (names, verb) = (away.join(" and the "), if away.len() == 1 { "is" } else { "are" });
        format!("The {names} {verb} {place} only while in use, {why}.")
    };
    if let Some(tiles) = plan.uses().find_map(|part_use| tiles(plan, part_use)) {
        what += &format!(" The image is {tiles}.");
    }
    format!(
        "{what} Uses {}, {}.",
        units::memory_of(plan.peak_device(), machine.device_total.max(plan.device_budget)),
        duration(plan),
    )
}

/// What a part does in tiles, if it does.
fn tiles(plan: &Plan, part_use: &UsePlan) -> Option<String> {
    let tile = part_use.tile?;
    Some(match plan.parts[part_use.part].role {
        Role::Interpolator => format!("interpolated in tiles of up to {tile}×{tile} pixels"),
        Role::Upscaler => format!("enlarged in tiles of up to {tile}×{tile} pixels"),
        _ => format!("decoded in tiles of up to {tile}×{tile} latents"),
    })
}

/// Why these bytes do not stay.
fn reason(plan: &Plan, wish: Wish, stage: Option<&StagePlan>, bytes: u64) -> String {
    let activations = stage.map_or(0, |stage| stage.activations);
    let total = units::memory(bytes);
    if bytes.saturating_add(activations) > plan.device_budget {
        format!("because all {total} do not fit at once")
    } else if plan.mode == OffloadMode::Auto && wish == Wish::Memory {
        "because as little memory as possible is to be used".to_owned()
    } else if plan.mode == OffloadMode::Auto {
        format!("because keeping all {total} would leave little memory free")
    } else {
        format!("because the offload mode is {:?}", plan.mode.title())
    }
}

/// What the blocks do that do not stay.
fn others(stage: &StagePlan, part_use: &UsePlan) -> String {
    let by_tensor = part_use.blocks.iter().filter(|block| block.placement.is_by_tensor()).count();
    if by_tensor > 0 && part_use.slots > 0 {
        return format!("are streamed ({by_tensor} of them tensor by tensor)");
    }
    match stage.bound {
        _ if by_tensor > 0 => "are loaded tensor by tensor",
        Bound::Compute => "are streamed during computation",
        Bound::Link => "are streamed as fast as the link to the GPU allows",
        Bound::Disk => "are streamed as fast as the disk allows",
    }
    .to_owned()
}

fn refused(machine: &Machine, error: &PlanError, least: Option<u64>, mode: OffloadMode) -> String {
    let problem = match error {
        PlanError::Device { what, stage, needed, budget, .. } => format!(
            "Does not fit {}: {what} needs {} in the {stage} stage, {} more than the {} allowed.",
            device(machine),
            units::memory_needed(*needed),
            units::memory_needed(needed.saturating_sub(*budget)),
            units::memory(*budget),
        ),
        PlanError::Host { needed, budget } => format!(
            "Not enough RAM: loading the weights needs {}, and {} is allowed.",
            units::memory_needed(*needed),
            units::memory(*budget),
        ),
    };
    format!("{problem} {}", remedy(machine, error, least, mode))
}

fn duration(plan: &Plan) -> String {
    if plan.seconds_per_step > 0.0 {
        format!("{} per step", units::seconds(plan.seconds_per_step))
    } else {
        units::seconds(plan.seconds)
    }
}

fn place(machine: &Machine) -> &'static str {
    if machine.unified { "in memory" } else { "on the GPU" }
}

fn device(machine: &Machine) -> &'static str {
    if machine.unified { "into memory" } else { "on the GPU" }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::TextEncoder => "text encoder",
        Role::Denoiser => "denoiser",
        Role::Autoencoder => "autoencoder",
        Role::Upscaler => "upscaler",
        Role::Interpolator => "frame interpolator",
        Role::Preprocessor => "preprocessor",
        Role::Segmenter => "segmenter",
        Role::Detector => "detector",
        Role::LanguageModel => "language model",
    }
}
