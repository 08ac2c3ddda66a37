//! The language model of Qwen3-VL (Bai et al. 2025, arXiv:2511.21631) as a text encoder, which may see images. The states of
//! some of its layers are taken.

use super::{
    Encoded, Extent, Given, Qwen2Tokenizer, Seen, Sequence, TextEncoder, Tokens,
    language_model::{LanguageModel, LanguageModelConfig, Layers, Taken},
    qwen2_5_vl::{AFTER, IMAGE, Told, language_config, prefix},
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::Tensor,
    residency::{Blocks, RunError},
};

/// Base of the rotary frequencies, which shapes do not show.
pub(super) const THETA: f64 = 5e6;
/// Prefix of the tensors of the vision tower, which no prompt needs.
const VISION: &str = "visual.";
/// What `model_type` begins with in its configurations.
const KIND: &str = "qwen3_vl";
/// What the name of a file of a language model without its vision tower contains.
const MARK: &str = "vl";
/// Tokens after the prompt, as diffusers counts them.
const AFTER_TOKENS: usize = 5;
/// What is read in place of an empty prompt, where the model comprehends prompts.
const NOTHING: &str = " ";

/// A Qwen3-VL model that describes images, or comprehends prompts.
#[derive(Debug)]
pub struct Qwen3Vl {
    tokenizer: Qwen2Tokenizer,
    model: LanguageModel,
    told: Told,
    /// See [`Told::left_out`].
    left_out: usize,
    /// Numbers of layers, ascending, after each of which the states are taken.
    layers: Vec<usize>,
}

/// The layers of a model whose states are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenLayers {
    /// These, by their numbers from 1, ascending and without the last; their states are side by side.
    Some(Vec<usize>),
    /// The last, before the final norm.
    Last,
}

impl Qwen3Vl {
    /// Width of the language model in a part, if there is one. Without its vision tower only its configuration or the name
    /// of the file distinguishes it from Qwen3.
    pub fn width_of(part: &Part) -> Option<usize> {
        let kind = part.config.as_ref().and_then(|config| config.get("model_type")?.as_str());
        let name = part.path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_it = kind.map_or_else(|| name.contains(MARK), |kind| kind.starts_with(KIND));
        let without_tower = || plain_width(&part.tensors, "").filter(|_| is_it);
        Self::seeing_width_of(&part.tensors).or_else(without_tower)
    }

    /// The same for a model with its vision tower.
    pub fn seeing_width_of(tensors: &TensorTable) -> Option<usize> {
        let prefix = prefix(tensors);
        let is_seeing = !prefix.is_empty() || sees(tensors);
        plain_width(tensors, prefix).filter(|_| is_seeing)
    }

    /// Finds every tensor of the language model in `part`, and its tokenizer.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, there is no tokenizer, or the model
    /// does not have these layers.
    pub fn open(
        checkpoint: &Checkpoint,
        part: &Part,
        told: Told,
        taken: TakenLayers,
    ) -> Result<(Self, Component), CheckpointError> {
        let prefix = prefix(&part.tensors);
        let from_shapes = |tensors: &TensorTable| {
            let config = LanguageModelConfig::from_shapes_below(tensors, prefix)?;
            Some(LanguageModelConfig { rope_theta: THETA, ..config })
        };
        let own = Part { config: language_config(part), ..part.clone() };
        let config = own.config(from_shapes)?;
        config.check(&own)?;
        let layers = match taken {
            TakenLayers::Some(layers) => Self::checked(part, &config, layers)?,
            TakenLayers::Last => vec![config.num_hidden_layers],
        };
        let component = Component::bind(
            Role::TextEncoder,
            "Qwen3-VL",
            &config.blueprint(Layers::Qwen3),
            &part.tensors,
            |name| StoredName::whole(format!("{prefix}{name}")),
            &part.path,
        )?;
        let tokenizer = Qwen2Tokenizer::find(checkpoint, part, config.vocab_size)?;
        let left_out = told.left_out(&tokenizer)?;
        let model = LanguageModel::new(config, Layers::Qwen3);
        Ok((Self { tokenizer, model, told, left_out, layers }, component))
    }

    fn checked(
        part: &Part,
        config: &LanguageModelConfig,
        layers: Vec<usize>,
    ) -> Result<Vec<usize>, CheckpointError> {
        let is_ascending = layers.is_sorted_by(|one, other| one < other);
        let is_inside = |layer: &usize| (1..config.num_hidden_layers).contains(layer);
        if layers.is_empty() || !is_ascending || !layers.iter().all(is_inside) {
            let reason = format!("it must be ascending numbers from 1 to {}", config.num_hidden_layers - 1);
            return part.refuse("text_encoder_select_layers", format!("{layers:?}"), reason);
        }
        Ok(layers)
    }

    /// The states of a prompt without those of the first tokens and of images.
    fn without_images(&self, ids: &[u32], states: Tensor) -> Result<Encoded, RunError> {
        let Some(image) = self.tokenizer.inner().token_to_id(IMAGE).filter(|image| ids.contains(image))
        else {
            return Encoded::without_first(states, self.left_out);
        };
        let (mut parts, mut images) = (Vec::new(), Vec::new());
        let (mut first, mut kept) = (0, 0);
        for run in ids.chunk_by(|one, other| (*one == image) == (*other == image)) {
            if run[0] == image {
                images.push(kept);
            } else {
                let left_out = self.left_out.saturating_sub(first).min(run.len());
                let own = run.len() - left_out;
                parts.push(states.narrow(0, first + left_out, own)?);
                kept += own;
            }
            first += run.len();
        }
        Ok(Encoded { images, ..Encoded::new(Tensor::cat(&parts, 0)?) })
    }
}

/// Whether there is a vision tower.
pub(super) fn sees(tensors: &TensorTable) -> bool {
    tensors.keys().any(|name| name.starts_with(VISION))
}

/// Width of a language model with norms of queries and keys.
fn plain_width(tensors: &TensorTable, prefix: &str) -> Option<usize> {
    let embedding = tensors.get(&format!("{prefix}embed_tokens.weight"))?;
    let is_qwen3 = tensors.contains_key(&format!("{prefix}layers.0.self_attn.q_norm.weight"));
    embedding.shape().get(1).copied().filter(|_| is_qwen3)
}

impl TextEncoder for Qwen3Vl {
    fn width(&self) -> usize {
        self.layers.len() * self.model.width()
    }

    /// Nothing in the prompt is syntax. The tokens before the prompt do not count towards `longest`, those after it do, and
    /// are never cut.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError> {
        self.tokenize_seeing(prompt, longest, &[])
    }

    /// Images and what stands around them do not count towards `longest`, and are never cut.
    fn tokenize_seeing(
        &self,
        prompt: &str,
        longest: usize,
        grids: &[[usize; 2]],
    ) -> Result<Tokens, CheckpointError> {
        let before = format!("{}{}", self.told.before(), self.told.images(grids));
        let uncounted = if grids.is_empty() { self.left_out } else { self.tokenizer.encode(&before)?.len() };
        // What a person writes is no image.
        let prompt = prompt.replace(IMAGE, "");
        let is_empty = prompt.is_empty() && self.told == Told::Comprehend;
        let prompt = if is_empty { NOTHING } else { &prompt };
        let mut ids = self.tokenizer.encode(&format!("{before}{prompt}"))?;
        let room = longest.saturating_sub(AFTER_TOKENS);
        let extent = Extent::whole(ids.len().saturating_sub(uncounted), room);
        ids.truncate(room.saturating_add(uncounted));
        ids.extend(self.tokenizer.encode(AFTER)?);
        Ok(Tokens::single(Sequence::plain(ids), extent))
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        Given { images, .. }: Given<'_>,
    ) -> Result<Vec<Encoded>, RunError> {
        let seen = Seen::of(&self.tokenizer, images);
        let states = self.model.states_seeing(blocks, sequences, Taken::After(&self.layers), seen)?;
        let without_images = |(ids, states): (&&[u32], Tensor)| self.without_images(ids, states);
        sequences.iter().zip(states).map(without_images).collect()
    }
}
