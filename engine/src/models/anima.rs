//! Anima (CircleStone Labs and Comfy Org 2026): Cosmos Predict 2's transformer with Qwen3, whose states a conditioner turns into a
//! prompt for it, and Qwen-Image's autoencoder.

use super::{
    AdapterMark, Family, Model, ModelDefaults, Opened, TextPart,
    cosmos::{CosmosTransformer, is_transformer},
    family::part,
    scheduler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part, Role},
    request::ComputeDtype,
    sampling::{FlowShift, Training},
    text::{AnimaConditioner, Qwen3Chat, Qwen3Plain},
    vae::{Autoencoder, WanAutoencoder},
};

/// The family.
pub struct Anima;

impl Family for Anima {
    fn id(&self) -> &'static str {
        "anima"
    }

    fn name(&self) -> &'static str {
        "Anima"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        let transformer = checkpoint.candidates(Role::Denoiser).find(|part| is_transformer(part));
        transformer.is_some_and(|transformer| conditioner(checkpoint, transformer).is_some())
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Anima", AdapterMark::Name("llm_adapter")),
            ("Anima", AdapterMark::Name("text_conditioner")),
            ("Anima", AdapterMark::Name("blocks_0_adaln_modulation")),
            ("Anima", AdapterMark::Name("blocks_0_self_attn_q_proj")),
            ("Anima", AdapterMark::Name("blocks_0_cross_attn_q_proj")),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("blocks.0.adaln_modulation_cross_attn.1.weight", "cosmos")]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taew2_1", "lighttaew2_1"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no Anima transformer was found", is_transformer)?;
        let (transformer, component) = CosmosTransformer::open(denoiser)?;
        let (width, channels) = (transformer.config().text_embed_dim, transformer.config().out_channels);
        let own = conditioner(checkpoint, denoiser);
        let own = own.filter(|part| AnimaConditioner::width_of(&part.tensors) == Some(width));
        let expected = format!("no text conditioner of Anima of width {width} was found");
        let own = own.ok_or_else(|| checkpoint.missing(Role::TextEncoder, &expected))?;
        let (conditioner, its_component) = AnimaConditioner::open(checkpoint, &own)?;
        let (width, least_tokens) =
            (conditioner.config().source_dim, conditioner.config().min_sequence_length);
        let expected = format!("no Qwen3 encoder of width {width} was found");
        let text = part(checkpoint, Role::TextEncoder, &expected, |part| {
            Qwen3Chat::width_of(&part.tensors) == Some(width)
        })?;
        let expected = format!("no autoencoder of Qwen-Image or Wan with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            WanAutoencoder::channels_of(&part.tensors) == Some(channels)
        })?;
        let autoencoder = WanAutoencoder::open(vae)?;
        let transformer = transformer.reading(autoencoder.0.scale(), least_tokens);
        let opened = Opened {
            text: vec![
                TextPart::new(Qwen3Plain::open(checkpoint, text)?),
                TextPart::new((conditioner, its_component)),
            ],
            denoiser: (Box::new(transformer), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, FlowShift::fixed(3.0))?),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps: 30,
                guidance: 4.0,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&Anima, checkpoint, opened))
    }
}

/// The text conditioner: in the transformer's file, or a part of its own.
fn conditioner(checkpoint: &Checkpoint, transformer: &Part) -> Option<Part> {
    let is_one = |part: &&Part| AnimaConditioner::width_of(&part.tensors).is_some();
    let apart = || checkpoint.candidates(Role::TextEncoder).find(is_one).cloned();
    AnimaConditioner::inside(transformer).or_else(apart)
}
