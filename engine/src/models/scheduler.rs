//! Reads a model's noise levels from the scheduler's configuration of a diffusers folder.

use std::path::PathBuf;

use crate::{
    checkpoint::{Checkpoint, CheckpointError, Layout, read_json},
    sampling::{Discrete, DiscreteConfig, FlowShift},
};

/// Where the folder has it; nothing in other layouts.
pub(super) fn scheduler_file(checkpoint: &Checkpoint) -> Option<PathBuf> {
    let path = checkpoint.root.join("scheduler").join("scheduler_config.json");
    (checkpoint.layout == Layout::Diffusers && path.is_file()).then_some(path)
}

/// The shift of a flow model's noise levels; `otherwise` if it is not configured.
///
/// # Errors
/// When the file cannot be read or the shift is not a positive number.
pub fn flow_shift(checkpoint: &Checkpoint, otherwise: FlowShift) -> Result<FlowShift, CheckpointError> {
    let Some(path) = scheduler_file(checkpoint) else { return Ok(otherwise) };
    let shift = FlowShift { last: otherwise.last, ..read_json(&path)? };
    if shift.shift.is_finite() && shift.shift > 0.0 {
        return Ok(shift);
    }
    let reason = "a shift is a positive number".to_owned();
    Err(CheckpointError::Config { path, field: "shift", value: shift.shift.to_string(), reason })
}

/// The table of a model's noise levels; `otherwise` if it is not configured.
///
/// # Errors
/// When the file cannot be read or describes no table.
pub fn discrete(checkpoint: &Checkpoint, otherwise: Discrete) -> Result<Discrete, CheckpointError> {
    let Some(path) = scheduler_file(checkpoint) else { return Ok(otherwise) };
    let config: DiscreteConfig = read_json(&path)?;
    let wrong = |field, value: String, reason: &str| {
        Err(CheckpointError::Config { path: path.clone(), field, value, reason: reason.to_owned() })
    };
    if !(2..=100_000).contains(&config.num_train_timesteps) {
        let value = config.num_train_timesteps.to_string();
        return wrong("num_train_timesteps", value, "a table has 2 to 100000 noise levels");
    }
    let ends = [("beta_start", config.beta_start), ("beta_end", config.beta_end)];
    if let Some((field, beta)) = ends.into_iter().find(|(_, beta)| !(*beta > 0.0 && *beta < 1.0)) {
        return wrong(field, beta.to_string(), "a variance lies between 0 and 1");
    }
    if config.steps_offset >= config.num_train_timesteps {
        return wrong("steps_offset", config.steps_offset.to_string(), "it lies beyond the table");
    }
    let original = config.original_inference_steps;
    if original == 0 || original > config.num_train_timesteps {
        let reason = "a distillation has at least one step and no more than the table has levels";
        return wrong("original_inference_steps", original.to_string(), reason);
    }
    Ok(Discrete::new(&config).with_aligned(otherwise.aligned()))
}
