//! Stable Diffusion 3 and 3.5 (Esser et al. 2024, arXiv:2403.03206): a transformer with two streams of
//! tokens.
//!
//! Image and text tokens have separate weights and interact in attention. In the first blocks of 3.5 medium,
//! the image also attends to itself alone. Position embeddings from the middle of a table are added to the
//! image tokens.

mod config;
mod control_net;
mod original_names;
mod pass;

use std::sync::Arc;

pub use self::{
    config::{Sd3Config, Streams},
    control_net::is_control_net,
};
use self::{original_names::original_name, pass::Pass};
use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults, Opened,
    PrepareInput, Prepared, SteeredBy, TextPart,
    control_nets::ControlNets,
    denoiser::negative_first,
    family::{autoencoder_part, clip_parts, part, t5_part},
    joint::{Attention, diffusers_name, prepare},
    patches::{Channels, patchify},
    scheduler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role},
    nn::{Result, Tensor, bail, linear},
    request::{Canvas, ComputeDtype},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, LastLevel, Training},
    text::{Clip, ClipEncoder, ClipUse, Encoded, T5, T5Encoder},
    vae::{Autoencoder, AutoencoderKl, LatentScaling},
};

/// The table of position embeddings.
const PLACES: &str = "pos_embed.pos_embed";
/// The kernel that converts patches to tokens.
const KERNEL: &str = "pos_embed.proj";
/// Maximum number of T5 tokens. Without T5, as many zeros take their place, as in diffusers.
const T5_TOKENS: usize = 256;
/// The image's attention to itself alone.
const ALONE: Attention = Attention {
    qkv: ["attn2.to_q", "attn2.to_k", "attn2.to_v"],
    norms: ["attn2.norm_q", "attn2.norm_k"],
    out: "attn2.to_out.0",
};
/// Position of the self-attention's shift, scale and gate among the image's modulations: after those of joint
/// attention and feed-forward.
const ALONE_MODULATION: usize = 6;

/// The family.
pub struct Sd3;

/// How latents are scaled in Stable Diffusion 3.
pub const LATENT_SCALING: LatentScaling = LatentScaling { factor: 1.5305, shift: Some(0.0609) };

impl Family for Sd3 {
    fn id(&self) -> &'static str {
        "sd3"
    }

    fn name(&self) -> &'static str {
        "Stable Diffusion 3"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Stable Diffusion 3", AdapterMark::Name("joint_blocks")),
            ("Stable Diffusion 3", AdapterMark::Name("transformer_blocks_0_attn_add_k_proj")),
            ("Stable Diffusion 3", AdapterMark::Name("transformer_blocks_0_ff_context")),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("joint_blocks.0.context_block.attn.qkv.weight", "sd3")]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taesd3"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let expected = "no Stable Diffusion 3 transformer was found";
        let denoiser = part(checkpoint, Role::Denoiser, expected, is_transformer)?;
        let config = denoiser.config(Sd3Config::from_shapes)?;
        config.check(denoiser)?;
        let is_original = denoiser.tensors.contains_key("x_embedder.proj.weight");
        let component = Component::bind(
            Role::Denoiser,
            "Stable Diffusion 3 transformer",
            &config.blueprint(),
            &denoiser.tensors,
            if is_original { original_name } else { diffusers_name },
            &denoiser.path,
        )?
        .also_named(original_name)
        .also_named(diffusers_name);

        let places = |part: &Part| Clip::places(&part.tensors).unwrap_or_default();
        let [clip_l, clip_g] = clip_parts(checkpoint, config.pooled_projection_dim, places)?;
        check_widths([clip_l, clip_g], denoiser, &config)?;
        // ComfyUI's file of CLIP-L lacks the projection. In this family it makes no difference.
        let is_projected = clip_l.tensors.contains_key("text_projection.weight");
        let small = ClipUse { is_projected, ..ClipUse::PENULTIMATE };
        let mut text = vec![
            TextPart::new(ClipEncoder::open(checkpoint, clip_l, "tokenizer", small)?),
            TextPart::new(ClipEncoder::open(checkpoint, clip_g, "tokenizer_2", ClipUse::PENULTIMATE)?),
        ];
        if checkpoint.candidates(Role::TextEncoder).any(|part| T5::width(&part.tensors).is_some()) {
            let t5 = t5_part(checkpoint, config.joint_attention_dim)?;
            text.push(TextPart::new(T5Encoder::open(checkpoint, t5, "tokenizer_3", T5_TOKENS)?));
        }
        let vae = autoencoder_part(checkpoint, config.in_channels)?;
        let autoencoder = AutoencoderKl::open(vae, LATENT_SCALING)?;

        let side = (config.sample_size / config.patch_size).clamp(1, config.pos_embed_max_size);
        let pixels = (side * config.patch_size * autoencoder.0.scale()) as u32;
        // As in the model cards: 3.5 medium, 3.5 large, and 3.
        let (steps, guidance) = match (config.dual_attention_layers.is_empty(), config.qk_norm.is_some()) {
            (false, _) => (40, 4.5),
            (true, true) => (28, 3.5),
            (true, false) => (28, 7.0),
        };
        let shift = FlowShift { last: LastLevel::Lowest, ..FlowShift::fixed(3.0) };
        let opened = Opened {
            text,
            denoiser: (Box::new(Sd3Transformer::new(config, autoencoder.0.scale())), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, shift)?),
            defaults: ModelDefaults {
                width: pixels,
                height: pixels,
                steps,
                guidance,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&Sd3, checkpoint, opened))
    }
}

/// Only Stable Diffusion 3 adds positions from a table to the tokens of two streams.
fn is_transformer(part: &Part) -> bool {
    let has = |names: [&str; 3]| names.iter().all(|name| part.tensors.contains_key(*name));
    has([
        PLACES,
        "time_text_embed.text_embedder.linear_1.weight",
        "transformer_blocks.0.attn.add_q_proj.weight",
    ]) || has(["pos_embed", "y_embedder.mlp.0.weight", "joint_blocks.0.context_block.attn.qkv.weight"])
}

/// Checks that the tokens of T5 are at least as wide as those of both CLIPs together.
fn check_widths(
    clips: [&Part; 2],
    denoiser: &Part,
    config: &Sd3Config,
) -> std::result::Result<(), CheckpointError> {
    let width: usize = clips.iter().filter_map(|part| Clip::width(&part.tensors)).sum();
    if width <= config.joint_attention_dim {
        return Ok(());
    }
    let reason = format!("both CLIP text encoders together have a width of {width}");
    denoiser.refuse("joint_attention_dim", config.joint_attention_dim, reason)
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct Sd3Transformer {
    config: Sd3Config,
    /// Pixels per latent, along one side.
    scale: usize,
    /// What steers it.
    nets: ControlNets,
}

impl Denoiser for Sd3Transformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * self.config.patch_size) as u32
    }

    fn longest_side(&self) -> u32 {
        self.config.pos_embed_max_size as u32 * self.size_multiple()
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.in_channels, height, width)
    }

    fn control_nets(&self) -> Option<Vec<SteeredBy>> {
        Some(self.nets.about())
    }

    fn controlled_by(
        &self,
        nets: &[&Part],
    ) -> std::result::Result<(Arc<dyn Denoiser>, Vec<Component>), CheckpointError> {
        let (nets, components) = ControlNets::open(nets, |part| control_net::open(part, self))?;
        Ok((Arc::new(Self { nets, ..self.clone() }), components))
    }

    /// Concatenates the outputs of both CLIPs along the width, padded with zeros to the width of T5. The
    /// tokens of T5 follow.
    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        let mut encoded = encoded.into_iter();
        let (Some(clip_l), Some(clip_g)) = (encoded.next(), encoded.next()) else {
            bail!("a prompt was not encoded by both CLIP text encoders")
        };
        let width = self.config.joint_attention_dim;
        let clip = Tensor::cat(&[&clip_l.states, &clip_g.states], 1)?;
        let clip = clip.pad_with_zeros(1, 0, width.saturating_sub(clip.dim(1)?))?;
        let t5 = match encoded.next() {
            Some(t5) => t5.states,
            None => Tensor::zeros((T5_TOKENS, width), clip.dtype(), &clip.device())?,
        };
        let pooled: Vec<Tensor> = clip_l.pooled.into_iter().chain(clip_g.pooled).collect();
        let pooled = Some(Tensor::cat(&pooled, 0)?);
        Ok(Conditioning { pooled, ..Conditioning::new(Tensor::cat(&[clip, t5], 0)?) })
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let rows = self.rows(input.latents.height, input.latents.width);
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0).collect();
        let modulators = |block| self.config.modulators(block);
        self.nets.prepare(blocks, input, |blocks| {
            let mut prepared = prepare(blocks, input, &times, None, self.config.embedders(), modulators)?;
            // The position embeddings, in the block after the modulations, are the same for all noise levels.
            let places = blocks.rows(self.config.places(), PLACES, &rows)?.unsqueeze(0)?;
            prepared.modulations.iter_mut().for_each(|modulation| modulation.tensors.push(places.clone()));
            Ok(prepared)
        })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut pass = Pass::new(self, blocks, input, prepared)?;
        let first = self.config.embedders();
        self.nets.walk(blocks, input, prepared, (first..first + 2 + self.config.num_layers, 1), &mut pass)?;
        Ok(pass.into_latents()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }

    fn recorded(&self, outputs: &[Tensor]) -> Result<Vec<(String, Tensor)>> {
        Ok(vec![("transformer.0.out.0".to_owned(), negative_first(outputs)?)])
    }
}

impl Sd3Transformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: Sd3Config, scale: usize) -> Self {
        Self { config, scale, nets: ControlNets::default() }
    }

    /// Indices of the latent patches in the table of position embeddings, whose middle is used.
    fn rows(&self, height: usize, width: usize) -> Vec<u32> {
        let (patch, side) = (self.config.patch_size, self.config.pos_embed_max_size);
        let [rows, columns] = [height / patch, width / patch];
        let [top, left] = [side.saturating_sub(rows) / 2, side.saturating_sub(columns) / 2];
        let row = |row: usize| (left..left + columns).map(move |column| (row * side + column) as u32);
        (top..top + rows).flat_map(row).collect()
    }

    /// Converts latents to image tokens, by the convolution `kernel`.
    fn embed(&self, w: &Weights, kernel: &str, latents: &Tensor) -> Result<Tensor> {
        let patches = patchify(latents, self.config.patch_size, Channels::First)?;
        let weights = w.get(&format!("{kernel}.weight"))?.flatten_from(1)?;
        linear(&patches, &weights, Some(&w.get(&format!("{kernel}.bias"))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_in_the_middle_of_the_table() {
        let config = Sd3Config { pos_embed_max_size: 7, ..Sd3Config::default() };
        let transformer = Sd3Transformer::new(config, 8);
        assert_eq!(transformer.rows(4, 6), [16, 17, 18, 23, 24, 25]);
        assert_eq!(transformer.longest_side(), 112);
    }
}
