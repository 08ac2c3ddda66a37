//! Reads a model's noise levels from the scheduler's configuration of a diffusers folder.

use serde::de::DeserializeOwned;

use crate::{
    checkpoint::{Checkpoint, CheckpointError},
    sampling::{Cosine, Discrete, DiscreteConfig, FlowShift},
};

fn configured<T: DeserializeOwned>(checkpoint: &Checkpoint) -> Result<Option<T>, CheckpointError> {
    let Some(config) = &checkpoint.scheduler else { return Ok(None) };
    serde_json::from_value(config.clone()).map(Some).map_err(|error| CheckpointError::Json {
        path: checkpoint.scheduler_path(),
        reason: error.to_string(),
    })
}

/// The shift of a flow model's noise levels; `otherwise` if it is not configured.
///
/// # Errors
/// When the shift is not a positive number.
pub fn flow_shift(checkpoint: &Checkpoint, otherwise: FlowShift) -> Result<FlowShift, CheckpointError> {
    let Some(shift) = configured(checkpoint)? else { return Ok(otherwise) };
    let shift = FlowShift { last: otherwise.last, own: otherwise.own, ..shift };
    if shift.shift.is_finite() && shift.shift > 0.0 {
        return Ok(shift);
    }
    let reason = "a shift is a positive number".to_owned();
    let (path, value) = (checkpoint.scheduler_path(), shift.shift.to_string());
    Err(CheckpointError::Config { path, field: "shift", value, reason })
}

/// The table of a model's noise levels; `otherwise` if it is not configured.
///
/// # Errors
/// When the configuration describes no table.
pub fn discrete(checkpoint: &Checkpoint, otherwise: Discrete) -> Result<Discrete, CheckpointError> {
    let Some(config) = configured::<DiscreteConfig>(checkpoint)? else { return Ok(otherwise) };
    let wrong = |field, value: String, reason: &str| {
        let (path, reason) = (checkpoint.scheduler_path(), reason.to_owned());
        Err(CheckpointError::Config { path, field, value, reason })
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

/// The cosine of a model's noise levels, with the published constants where none are configured.
///
/// # Errors
/// When the constants give no levels.
pub fn cosine(checkpoint: &Checkpoint) -> Result<Cosine, CheckpointError> {
    let cosine: Cosine = configured(checkpoint)?.unwrap_or_default();
    for (field, value) in [("scaler", cosine.scaler), ("s", cosine.s)] {
        if !(value.is_finite() && value > 0.0) {
            let (path, reason) = (checkpoint.scheduler_path(), "it must be a positive number".to_owned());
            return Err(CheckpointError::Config { path, field, value: value.to_string(), reason });
        }
    }
    Ok(cosine)
}
