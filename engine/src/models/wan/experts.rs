//! The two transformers of Wan 2.2 14B: in a folder as `transformer` and `transformer_2`, elsewhere as two files.

use super::{WanConfig, is_transformer};
use crate::checkpoint::{Checkpoint, CheckpointError, Layout, NoiseHalf, Part, Role};

/// The timesteps below which the transformer for low noise takes over, unless a configuration says otherwise: in models
/// that start from text, and in those that start from an image.
const BOUNDARIES: [f64; 2] = [0.875, 0.9];

/// The transformers of a model, in the order in which they run.
#[derive(Debug)]
pub(super) struct Experts {
    pub first: Part,
    pub second: Option<Part>,
    /// See [`WanTransformer::boundary`](super::WanTransformer::boundary).
    pub boundary: Option<f32>,
}

impl Experts {
    /// Finds the second transformer, if the chosen one is one of two.
    ///
    /// # Errors
    /// When the other file cannot be read, or is not there.
    pub fn find(checkpoint: &Checkpoint, chosen: &Part) -> Result<Self, CheckpointError> {
        let index = checkpoint.index.as_ref();
        let ratio = index.and_then(|index| index.get("boundary_ratio")?.as_f64());
        let starts_from_image = usize::from(
            WanConfig::from_shapes(&chosen.tensors).is_some_and(|config| config.channels_beside() > 0),
        );
        let boundary = Some((ratio.unwrap_or(BOUNDARIES[starts_from_image]) * 1000.0) as f32);
        if checkpoint.layout == Layout::Diffusers {
            let second = checkpoint.candidates(Role::Denoiser).filter(|part| is_transformer(part)).nth(1);
            return Ok(Self { first: chosen.clone(), second: second.cloned(), boundary });
        }
        let Some(NoiseHalf { is_low, other }) = NoiseHalf::of(&chosen.path) else {
            return Ok(Self { first: chosen.clone(), second: None, boundary: None });
        };
        let other = if other.is_file() {
            Checkpoint::of_file(&other)?.parts.into_iter().find(is_transformer)
        } else {
            None
        };
        let Some(other) = other else {
            let noise = if is_low { "high" } else { "low" };
            let expected = format!("its second file, for {noise} noise, was not found next to it");
            return Err(checkpoint.missing(Role::Denoiser, &expected));
        };
        let chosen = chosen.clone();
        let [first, second] = if is_low { [other, chosen] } else { [chosen, other] };
        Ok(Self { first, second: Some(second), boundary })
    }
}
