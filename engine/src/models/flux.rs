//! FLUX.1 (Black Forest Labs 2024): a diffusion transformer with two kinds of blocks.
//!
//! In a double block, image and text tokens have separate weights and interact in attention. In a single
//! block they form one sequence, and attention and feed-forward run in parallel. The network of Fill also reads the latents of
//! a masked image and the mask's pixels.

mod config;
mod control_net;
mod original_names;
mod pass;

use std::sync::Arc;

use self::pass::Pass;
pub use self::{
    config::FluxConfig,
    control_net::{control_modes, is_control_net},
    original_names::original_name,
};
use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults, Opened,
    PrepareInput, Prepared, TextPart,
    control_nets::ControlNets,
    denoiser::SteeredBy,
    family::{autoencoder_part, clip_part, part, t5_part},
    joint::{diffusers_name, prepare},
    longcat,
    patches::{Channels, references},
    scheduler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role},
    nn::{Result, Tensor, bail},
    request::{Canvas, ComputeDtype, ControlMode, ReferenceSizes, References, Request},
    residency::{Blocks, RunError},
    sampling::{FlowShift, Training},
    text::{ClipEncoder, ClipUse, Encoded, T5Encoder},
    vae::{Autoencoder, AutoencoderKl, LatentScaling},
};

/// Side of the square patches of latents.
const PATCH: usize = 2;
/// Base of the rotary frequencies.
const THETA: f64 = 10_000.0;
/// Modulations in a single block: shift, scale, gate.
const SINGLE_MODULATION: usize = 3;

/// The widths and heights that Kontext was trained with.
const PREFERRED_SIZES: [[u32; 2]; 17] = [
    [672, 1568],
    [688, 1504],
    [720, 1456],
    [752, 1392],
    [800, 1328],
    [832, 1248],
    [880, 1184],
    [944, 1104],
    [1024, 1024],
    [1104, 944],
    [1184, 880],
    [1248, 832],
    [1328, 800],
    [1392, 752],
    [1456, 720],
    [1504, 688],
    [1568, 672],
];

/// The family.
pub struct Flux;

/// How latents are scaled in FLUX.1 and in models that use its autoencoder.
pub const LATENT_SCALING: LatentScaling = LatentScaling { factor: 0.3611, shift: Some(0.1159) };

impl Family for Flux {
    fn id(&self) -> &'static str {
        "flux"
    }

    fn name(&self) -> &'static str {
        "FLUX.1"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("FLUX.1", AdapterMark::Name("single_blocks")),
            ("FLUX.1", AdapterMark::Name("single_transformer_blocks")),
            ("FLUX.1", AdapterMark::Name("double_blocks")),
            longcat::LIKE_FLUX,
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("double_blocks.0.img_attn.proj.weight", "flux")]
    }

    fn takes_redux(&self) -> bool {
        true
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taef1"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no FLUX.1 transformer was found", is_transformer)?;
        let config = denoiser.config(FluxConfig::from_shapes)?;
        config.check(denoiser)?;
        let is_original = denoiser.tensors.contains_key("img_in.weight");
        let component = Component::bind(
            Role::Denoiser,
            "FLUX.1 transformer",
            &config.blueprint(),
            &denoiser.tensors,
            if is_original { original_name } else { diffusers_name },
            &denoiser.path,
        )?
        .also_named(original_name)
        .also_named(diffusers_name);

        let clip = clip_part(checkpoint, config.pooled_projection_dim)?;
        let t5 = t5_part(checkpoint, config.joint_attention_dim)?;
        let vae = autoencoder_part(checkpoint, config.latent_channels())?;
        let autoencoder = AutoencoderKl::open(vae, LATENT_SCALING)?;
        let scale = autoencoder.0.scale();
        config.check_beside(denoiser, scale)?;

        let (is_dev, edits) = (config.guidance_embeds, is_kontext(checkpoint, denoiser));
        let shift =
            FlowShift { use_dynamic_shifting: is_dev, ..FlowShift::fixed(if is_dev { 3.0 } else { 1.0 }) };
        let (steps, guidance) = match (is_dev, edits) {
            _ if config.channels_beside() > 0 => (50, 30.0),
            (true, true) => (28, 2.5),
            (true, false) => (28, 3.5),
            (false, _) => (4, 0.0),
        };
        let longest_prompt = if is_dev { 512 } else { 256 };
        let opened = Opened {
            text: vec![
                TextPart::new(ClipEncoder::open(checkpoint, clip, "tokenizer", ClipUse::SUMMARY)?),
                TextPart::new(T5Encoder::open(checkpoint, t5, "tokenizer_2", longest_prompt)?),
            ],
            denoiser: (Box::new(FluxTransformer { edits, ..FluxTransformer::new(config, scale) }), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, shift)?),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps,
                guidance,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&Flux, checkpoint, opened))
    }
}

/// Only FLUX.1 has separate modulations in every block and reads plain T5 and CLIP.
fn is_transformer(part: &Part) -> bool {
    let has = |names: [&str; 3]| names.iter().all(|name| part.tensors.contains_key(*name));
    has([
        "time_text_embed.text_embedder.linear_1.weight",
        "context_embedder.weight",
        "single_transformer_blocks.0.proj_mlp.weight",
    ]) || has(["vector_in.in_layer.weight", "txt_in.weight", "single_blocks.0.modulation.lin.weight"])
}

/// Whether the model is FLUX.1 Kontext, whose transformer has the same shape: as its folder or its file says.
fn is_kontext(checkpoint: &Checkpoint, denoiser: &Part) -> bool {
    let class = checkpoint.index.as_ref().and_then(|index| index.get("_class_name")?.as_str());
    let is_named = || {
        let name = denoiser.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.contains("kontext")
    };
    class.map_or_else(is_named, |class| class.starts_with("FluxKontext"))
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct FluxTransformer {
    config: FluxConfig,
    /// Pixels per latent, along one side.
    scale: usize,
    /// Whether it is made to change images.
    edits: bool,
    /// Index of the block with the image embedder.
    embedders: usize,
    /// Whether the text has places, and images are after it.
    is_text_placed: bool,
    /// What steers it.
    nets: ControlNets,
}

impl Denoiser for FluxTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * PATCH) as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.latent_channels(), height, width)
    }

    /// Only Kontext was trained with a reference; others may have learnt it from an adapter. Fill has no input for it.
    fn references(&self) -> Option<References> {
        let sizes = ReferenceSizes::Preferred(PREFERRED_SIZES.to_vec());
        (!self.fills_in()).then_some(References { most: 1, edits: self.edits, sizes })
    }

    fn control_modes(&self) -> &'static [ControlMode] {
        &control_net::MODES
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

    fn channels_beside(&self) -> usize {
        self.config.channels_beside()
    }

    fn fills_in(&self) -> bool {
        self.config.channels_beside() > 0
    }

    /// Guidance is distilled into dev; schnell has none. Both can still be guided by a negative prompt.
    fn guidance_weight(&self, request: &Request) -> f64 {
        request.guiding.true_cfg.into()
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match <[Encoded; 2]>::try_from(encoded) {
            Ok([clip, t5]) => Ok(Conditioning { pooled: clip.pooled, ..Conditioning::new(t5.states) }),
            Err(encoded) => bail!("got {} encodings of a prompt, expected two", encoded.len()),
        }
    }

    /// Images count one on top of the other, in tokens after those of the prompt, which counts as often as all of them
    /// together.
    fn with_images(&self, conditioning: Conditioning, images: &[(Tensor, f32)]) -> Result<Conditioning> {
        let all: f32 = images.iter().map(|(_, strength)| strength).sum();
        let mut sum: Option<Tensor> = None;
        for (image, strength) in images {
            let image = (image.to_dtype(conditioning.prompt.dtype())? * f64::from(*strength))?;
            sum = Some(match sum {
                Some(sum) => (sum + image)?,
                None => image,
            });
        }
        let Some(image) = sum else { return Ok(conditioning) };
        let prompt = Tensor::cat(&[(conditioning.prompt * f64::from(all))?, image], 0)?;
        let pooled = conditioning.pooled.map(|pooled| pooled * f64::from(all)).transpose()?;
        Ok(Conditioning { pooled, ..Conditioning::new(prompt) })
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        // The pipeline divides by the scheduler's 1000, by which the network multiplies again; the rounding
        // must match.
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0).collect();
        let guidance = self.config.guidance_embeds.then_some(input.guidance * 1000.0);
        let modulators = |block| self.config.modulators(block);
        self.nets.prepare(blocks, input, |blocks| {
            let prepared = prepare(blocks, input, &times, guidance, self.config.embedders(), modulators)?;
            let references = references(input.references, PATCH, Channels::First, blocks.dtype())?;
            Ok(Prepared { references, ..prepared })
        })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut pass = Pass::new(self, blocks, input, prepared)?;
        let own = self.embedders..self.embedders + 1 + self.config.blocks() + 1;
        self.nets.walk(blocks, input, prepared, (own, 1), &mut pass)?;
        Ok(pass.into_latents()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}

impl FluxTransformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: FluxConfig, scale: usize) -> Self {
        let embedders = config.embedders();
        Self { config, scale, edits: false, embedders, is_text_placed: false, nets: ControlNets::default() }
    }

    /// The same for a network of the same [trunk](FluxConfig::trunk), which begins at this block, with other conditioning
    /// before it.
    pub fn with_trunk_at(self, embedders: usize) -> Self {
        Self { embedders, ..self }
    }

    /// The same for a network that sees the text along the diagonal of rows and columns, and each image on a plane of its own
    /// from the place on where the text ends.
    pub fn with_text_placed(self) -> Self {
        Self { is_text_placed: true, ..self }
    }
}
