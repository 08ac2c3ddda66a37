//! Krea 2 (Krea 2026): one stream of text and image tokens, in blocks that share their modulation by the noise level up to a
//! table of their own. Its prompt are the states of several layers of Qwen3-VL. Its autoencoder is that of Qwen-Image.

mod config;
mod transformer;

use super::{AdapterMark, Family, Model, ModelDefaults, Opened, TextPart, family::part, scheduler};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role},
    request::ComputeDtype,
    sampling::{FlowShift, Training},
    text::{Qwen3Vl, TakenLayers, Told},
    vae::{Autoencoder, WanAutoencoder},
};
pub use config::Krea2Config;
pub use transformer::Krea2Transformer;

/// The shift exponent of the distilled model, for every size.
const DISTILLED_SHIFT: f64 = 1.15;
/// What the name of a file of the distilled model contains.
const DISTILLED: &str = "turbo";

/// The family.
pub struct Krea2;

impl Family for Krea2 {
    fn id(&self) -> &'static str {
        "krea2"
    }

    fn name(&self) -> &'static str {
        "Krea 2"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Krea 2", AdapterMark::Name("txtfusion")),
            ("Krea 2", AdapterMark::Name("text_fusion")),
            ("Krea 2", AdapterMark::Name("blocks_0_attn_wq")),
            ("Krea 2", AdapterMark::Name("attn_to_gate")),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("txtfusion.projector.weight", "krea2")]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taew2_1", "lighttaew2_1"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no Krea 2 transformer was found", is_transformer)?;
        let config = denoiser.config(Krea2Config::from_shapes)?;
        config.check(denoiser)?;
        let component = Component::bind(
            Role::Denoiser,
            "Krea 2 transformer",
            &config.blueprint_as_stored(&denoiser.tensors),
            &denoiser.tensors,
            config::original_name,
            &denoiser.path,
        )?;
        let (width, channels) = (config.text_hidden_dim, config.latent_channels());
        let expected = format!("no Qwen3-VL encoder of width {width} was found");
        let text =
            part(checkpoint, Role::TextEncoder, &expected, |part| Qwen3Vl::width_of(part) == Some(width))?;
        let layers = taken_layers(checkpoint, denoiser, config.num_text_layers)?;
        let expected = format!("no autoencoder of Qwen-Image or Wan with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            WanAutoencoder::channels_of(&part.tensors) == Some(channels)
        })?;
        let autoencoder = WanAutoencoder::open(vae)?;
        let is_distilled = is_distilled(checkpoint, denoiser);
        let published =
            FlowShift { use_dynamic_shifting: true, max_image_seq_len: 6400, ..FlowShift::fixed(1.0) };
        let shift = scheduler::flow_shift(checkpoint, published)?;
        let shift = match is_distilled {
            true => FlowShift { base_shift: DISTILLED_SHIFT, max_shift: DISTILLED_SHIFT, ..shift },
            false => shift,
        };
        let opened = Opened {
            text: vec![TextPart::new(Qwen3Vl::open(
                checkpoint,
                text,
                Told::Describe,
                TakenLayers::Some(layers),
            )?)],
            denoiser: (Box::new(Krea2Transformer::new(config, autoencoder.0.scale())), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(shift),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps: if is_distilled { 8 } else { 28 },
                guidance: if is_distilled { 0.0 } else { 4.5 },
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&Krea2, checkpoint, opened))
    }
}

/// Only this transformer fuses the states of several layers.
fn is_transformer(part: &Part) -> bool {
    let names = ["text_fusion.projector.weight", "txtfusion.projector.weight"];
    names.iter().any(|name| part.tensors.contains_key(*name))
}

/// Whether the model generates in few steps: as its index says, or else the name of its file.
fn is_distilled(checkpoint: &Checkpoint, denoiser: &Part) -> bool {
    let said = checkpoint.index.as_ref().and_then(|index| index.get("is_distilled")?.as_bool());
    said.unwrap_or_else(|| {
        let name = denoiser.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.contains(DISTILLED)
    })
}

/// The numbers of layers whose states the transformer fuses: as its index says, or else every third from the second on.
fn taken_layers(
    checkpoint: &Checkpoint,
    denoiser: &Part,
    count: usize,
) -> Result<Vec<usize>, CheckpointError> {
    let said =
        checkpoint.index.as_ref().and_then(|index| index.get("text_encoder_select_layers")?.as_array());
    let Some(said) = said else { return Ok((0..count).map(|number| 2 + 3 * number).collect()) };
    let layers: Vec<usize> = said.iter().filter_map(|layer| Some(layer.as_u64()? as usize)).collect();
    if layers.len() != said.len() || layers.len() != count {
        let reason = format!("it must be the numbers of {count} layers");
        return denoiser.refuse("text_encoder_select_layers", format!("{said:?}"), reason);
    }
    Ok(layers)
}
