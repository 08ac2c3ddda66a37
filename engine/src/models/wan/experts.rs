//! The two transformers of Wan 2.2 14B: in a folder as `transformer` and `transformer_2`, elsewhere as two files.

use std::path::{Path, PathBuf};

use super::{WanConfig, is_transformer};
use crate::checkpoint::{Checkpoint, CheckpointError, Layout, Part, Role};

/// The timesteps below which the transformer for low noise takes over, unless a configuration says otherwise: in models
/// that start from text, and in those that start from an image.
const BOUNDARIES: [f64; 2] = [0.875, 0.9];
/// What file and folder names have for high and for low noise.
const NAMES: [[&str; 2]; 4] =
    [["high_noise", "low_noise"], ["HighNoise", "LowNoise"], ["highnoise", "lownoise"], ["HIGH", "LOW"]];

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
        let Some((other, is_low)) = twin(&chosen.path) else {
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

/// The path of the other file of a pair, and whether the given one is that for low noise; `None` if the name is not that
/// of a pair. The folder may have the same word in its name.
fn twin(path: &Path) -> Option<(PathBuf, bool)> {
    let name = path.file_name()?.to_str()?;
    for [high, low] in NAMES {
        for (own, other, is_low) in [(high, low, false), (low, high, true)] {
            if name.contains(own) {
                let beside = path.with_file_name(name.replace(own, other));
                let folder = path.parent()?.to_str()?;
                let elsewhere = PathBuf::from(folder.replace(own, other)).join(name.replace(own, other));
                return Some((if beside.is_file() { beside } else { elsewhere }, is_low));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_by_their_names() {
        for (own, other, is_low) in [
            (
                "m/wan2.2_t2v_high_noise_14B_fp8_scaled.safetensors",
                "m/wan2.2_t2v_low_noise_14B_fp8_scaled.safetensors",
                false,
            ),
            ("LowNoise/Wan2.2-LowNoise-Q4_K_M.gguf", "HighNoise/Wan2.2-HighNoise-Q4_K_M.gguf", true),
            ("m/Wan2_2-T2V-A14B_HIGH_bf16.safetensors", "m/Wan2_2-T2V-A14B_LOW_bf16.safetensors", false),
        ] {
            assert_eq!(twin(Path::new(own)), Some((PathBuf::from(other), is_low)));
        }
        assert_eq!(twin(Path::new("wan2.1_t2v_1.3B_fp16.safetensors")), None);
    }
}
