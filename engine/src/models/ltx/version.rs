//! The versions of LTX-Video: how each is run.

use serde::Deserialize;

use super::{super::family::is_named, LtxConfig};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part},
    sampling::{FlowShift, OwnLevels},
};

/// The pipeline in diffusers of the versions from 0.9.7 on.
const CONDITIONED: &str = "LTXConditionPipeline";
/// The noise levels that distilled models were trained for.
const DISTILLED: [f32; 8] = [1.0, 0.9937, 0.9875, 0.9812, 0.975, 0.9094, 0.725, 0.4219];

/// What the authors' files say in their header, as JSON under `config`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Notes {
    /// The noise levels that a distilled model was trained for.
    allowed_inference_steps: Option<Vec<f32>>,
    transformer: TransformerNotes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TransformerNotes {
    num_attention_heads: Option<usize>,
    attention_head_dim: Option<usize>,
    norm_eps: Option<f64>,
    /// Whether latent frames are placed at the last frame that they stand for.
    causal_temporal_positioning: Option<bool>,
}

impl Notes {
    /// The notes in a file. Notes that cannot be understood are ignored: other programs write under this name, too.
    ///
    /// # Errors
    /// When the file is no longer readable.
    pub fn of(part: &Part) -> Result<Self, CheckpointError> {
        let Some(text) = part.note("config")? else { return Ok(Self::default()) };
        Ok(serde_json::from_str(&text).unwrap_or_else(|error| {
            tracing::warn!(%error, path = %part.path.display(), "the notes in a header are ignored");
            Self::default()
        }))
    }

    /// A shape with what the notes say about it and the tensors do not.
    pub fn completed(&self, config: LtxConfig) -> LtxConfig {
        let TransformerNotes { num_attention_heads, attention_head_dim, norm_eps, .. } = self.transformer;
        LtxConfig {
            num_attention_heads: num_attention_heads.unwrap_or(config.num_attention_heads),
            attention_head_dim: attention_head_dim.unwrap_or(config.attention_head_dim),
            norm_eps: norm_eps.unwrap_or(config.norm_eps),
            ..config
        }
    }
}

/// How a version is run.
#[derive(Debug, PartialEq)]
pub struct Version {
    /// Whether as in [`CONDITIONED`].
    pub is_conditioned: bool,
    /// The noise levels that it was distilled for.
    distilled: Option<Vec<f32>>,
}

impl Version {
    /// The version of a model. A folder has the name of its pipeline in its index; of files the notes tell, or else their
    /// autoencoder.
    pub fn of(checkpoint: &Checkpoint, denoiser: &Part, notes: &Notes, is_from_095: bool) -> Self {
        let is_conditioned = match &checkpoint.kind {
            Some(kind) => kind == CONDITIONED,
            None => notes.transformer.causal_temporal_positioning.unwrap_or(is_from_095),
        };
        let listed = notes.allowed_inference_steps.clone().filter(|levels| !levels.is_empty());
        let named = || is_named(&denoiser.path, "distilled", "-dev").then(|| DISTILLED.to_vec());
        Self { is_conditioned, distilled: listed.or_else(named) }
    }

    /// The noise levels of its own schedule.
    pub fn shift(&self) -> FlowShift {
        let own = match &self.distilled {
            Some(levels) => OwnLevels::Listed(levels.clone()),
            None if self.is_conditioned => OwnLevels::LinearQuadratic,
            None => OwnLevels::Even,
        };
        if self.is_conditioned {
            return FlowShift { own, ..FlowShift::fixed(1.0) };
        }
        FlowShift {
            own,
            use_dynamic_shifting: true,
            base_shift: 0.95,
            max_shift: 2.05,
            base_image_seq_len: 1024,
            shift_terminal: Some(0.1),
            ..FlowShift::default()
        }
    }

    /// Maximum number of tokens of a prompt.
    pub fn prompt_tokens(&self) -> usize {
        if self.is_conditioned { 256 } else { 128 }
    }

    /// Steps to start with.
    pub fn steps(&self) -> u32 {
        match &self.distilled {
            Some(levels) => levels.len() as u32,
            None if self.is_conditioned => 30,
            None => 50,
        }
    }

    /// Guidance to start with.
    pub fn guidance(&self) -> f32 {
        if self.distilled.is_some() { 1.0 } else { 3.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_complete_a_shape() {
        let text = r#"{ "allowed_inference_steps": [1.0, 0.5], "vae": {}, "transformer": { "attention_head_dim": 128,
            "qk_norm": "rms_norm", "causal_temporal_positioning": true } }"#;
        let notes: Notes = serde_json::from_str(text).unwrap();
        assert_eq!(notes.completed(LtxConfig::default()).attention_head_dim, 128);
        assert_eq!(notes.allowed_inference_steps, Some(vec![1.0, 0.5]));
        assert_eq!(notes.transformer.causal_temporal_positioning, Some(true));
    }
}
