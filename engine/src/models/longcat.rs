//! LongCat-Image (Meituan LongCat Team 2025, arXiv:2512.07584) and LongCat-Image-Edit: FLUX.1's blocks, which only the noise
//! level modulates, and Qwen2.5-VL, which reads quotations letter by letter.
//!
//! The text has places along the diagonal of rows and columns, and images begin where it ends. The model that edits sees the
//! reference beside the image, and through the vision tower of its text encoder.

use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults, Opened,
    PrepareInput, Prepared, TextPart,
    adapter_marks::Reach,
    family::{autoencoder_part, is_named, part},
    flux::{self, FluxConfig, FluxTransformer, LATENT_SCALING},
    joint::{conditioning_spec, diffusers_name, embedded_prompts, embedded_times, modulated},
    patches::{Channels, references},
    scheduler,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Result, Tensor, bail},
    request::{Canvas, ComputeDtype, ReferenceSizes, References},
    residency::{Blocks, RunError},
    sampling::{FlowShift, KeptNorms, Training},
    text::{Encoded, LongCatPrompts, Qwen25Vl, QwenVision, Shown},
    vae::{Autoencoder, AutoencoderKl},
};

/// Side of the square patches of latents.
const PATCH: usize = 2;
/// Side of a square with the pixels of the reference, and what its sides are a multiple of.
const REFERENCE_SIZE: (u32, u32) = (1024, 16);
/// The embedder of the noise level here and in diffusers.
const TIMES: [&str; 2] = ["time_text_embed.", "time_embed."];

/// FLUX.1's lists of blocks, and how many LongCat-Image has: half as many.
const BLOCKS: &[(&str, usize)] = &[
    ("double_blocks_", 10),
    ("single_blocks_", 20),
    ("single_transformer_blocks_", 20),
    ("transformer_transformer_blocks_", 10),
    ("unet_transformer_blocks_", 10),
];
/// What changes only some of them may be for either.
pub const LIKE_FLUX: (&str, AdapterMark) =
    ("FLUX.1 or LongCat-Image", AdapterMark::Blocks(BLOCKS, Reach::Some));

/// The family.
pub struct LongCat;

impl Family for LongCat {
    fn id(&self) -> &'static str {
        "longcat"
    }

    fn name(&self) -> &'static str {
        "LongCat-Image"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[("LongCat-Image", AdapterMark::Blocks(BLOCKS, Reach::All)), LIKE_FLUX]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taef1"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser =
            part(checkpoint, Role::Denoiser, "no LongCat-Image transformer was found", is_transformer)?;
        let edits = edits(checkpoint, denoiser);
        let config = denoiser.config(from_shapes)?;
        config.check(denoiser)?;
        let has = |name: &str| denoiser.tensors.contains_key(name);
        let (is_original, is_weight) =
            (has("img_in.weight"), has("double_blocks.0.img_attn.norm.query_norm.weight"));
        let original = |name: &str| original_name(name, is_weight);
        let component = Component::bind(
            Role::Denoiser,
            "LongCat-Image transformer",
            &blueprint(&config),
            &denoiser.tensors,
            |name| if is_original { original(name) } else { hub_name(name) },
            &denoiser.path,
        )?
        .also_named(original)
        .also_named(hub_name);

        let width = config.joint_attention_dim;
        let expected = format!("no Qwen2.5-VL encoder of width {width} was found");
        let text = part(checkpoint, Role::TextEncoder, &expected, |part| {
            Qwen25Vl::width_of(&part.tensors) == Some(width)
        })?;
        let vae = autoencoder_part(checkpoint, config.latent_channels())?;
        let autoencoder = AutoencoderKl::open(vae, LATENT_SCALING)?;
        let shift = FlowShift { use_dynamic_shifting: true, ..FlowShift::fixed(3.0) };
        let (steps, guidance) = match (edits, is_named(&denoiser.path, "turbo", "longcat")) {
            (_, true) => (8, 1.0),
            (true, _) => (50, 4.5),
            (false, _) => (50, 4.0),
        };
        let transformer = LongCatTransformer::new(config, autoencoder.0.scale());
        let opened = Opened {
            text: vec![TextPart::new(LongCatPrompts::open(checkpoint, text, edits)?)],
            denoiser: (Box::new(LongCatTransformer { edits, ..transformer }), component),
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
        let model = Model::new(&LongCat, checkpoint, opened);
        if !edits {
            return Ok(model);
        }
        let expected = format!("no vision tower of Qwen2.5-VL of width {width} was found");
        let tower = part(checkpoint, Role::TextEncoder, &expected, |part| {
            QwenVision::width_of(&part.tensors) == Some(width)
        })?;
        Ok(model.with_vision_tower(QwenVision::open(tower, Shown::Half)?))
    }
}

/// LongCat-Image has FLUX.1's single blocks without the embedder of a pooled prompt or an approximator. In other models of this
/// kind, the feed-forward layers of the single blocks have gates.
fn is_transformer(part: &Part) -> bool {
    let has = |name: &str| part.tensors.contains_key(name);
    let is_plain = || {
        let joined = part.tensors.get("single_blocks.0.linear1.weight").map(|tensor| tensor.shape());
        joined.is_some_and(|shape| matches!(shape, &[rows, dim] if rows == 7 * dim))
    };
    let is_original = || {
        has("txt_in.weight")
            && has("single_blocks.0.modulation.lin.weight")
            && !has("vector_in.in_layer.weight")
            && !has("distilled_guidance_layer.in_proj.weight")
    };
    let is_from_hub = || {
        has("time_embed.timestep_embedder.linear_1.weight")
            && has("single_transformer_blocks.0.proj_mlp.weight")
    };
    is_from_hub() || (is_original() && is_plain())
}

/// Whether the model is LongCat-Image-Edit, whose transformer has the same shape: as its folder or its file says.
fn edits(checkpoint: &Checkpoint, denoiser: &Part) -> bool {
    let class = checkpoint.index.as_ref().and_then(|index| index.get("_class_name")?.as_str());
    let is_named = || {
        let name = denoiser.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.contains("edit")
    };
    class.map_or_else(is_named, |class| class.starts_with("LongCatImageEdit"))
}

/// Infers the shape from the tensors, for files without a configuration.
fn from_shapes(tensors: &TensorTable) -> Option<FluxConfig> {
    FluxConfig::trunk_from_shapes(tensors)
}

/// The blocks of a transformer with this shape. Those that depend only on prompt and noise level come first and are needed once
/// per run.
pub fn blueprint(config: &FluxConfig) -> Vec<BlockSpec> {
    let dim = config.heads().dim();
    let conditioning = conditioning_spec(dim).linear("context_embedder", dim, config.joint_attention_dim);
    config.blueprint_after(conditioning)
}

/// The name of a tensor in diffusers' files.
pub fn hub_name(name: &str) -> StoredName {
    let [own, theirs] = TIMES;
    diffusers_name(&name.replacen(own, theirs, 1))
}

/// The name of a tensor in ComfyUI's files, where weights of norms may be called `weight` or `scale`.
fn original_name(name: &str, is_weight: bool) -> StoredName {
    let stored = flux::original_name(name);
    match stored.name.strip_suffix("_norm.scale").filter(|_| is_weight) {
        Some(norm) => StoredName::whole(format!("{norm}_norm.weight")),
        None => stored,
    }
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct LongCatTransformer {
    config: FluxConfig,
    /// Everything after the conditioning.
    flux: FluxTransformer,
    /// Whether it is made to change images.
    edits: bool,
}

impl LongCatTransformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: FluxConfig, scale: usize) -> Self {
        let flux = FluxTransformer::new(config.clone(), scale).with_text_placed();
        Self { config, flux, edits: false }
    }
}

impl Denoiser for LongCatTransformer {
    fn size_multiple(&self) -> u32 {
        self.flux.size_multiple()
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        self.flux.latents(canvas)
    }

    fn references(&self) -> Option<References> {
        let (side, multiple) = REFERENCE_SIZE;
        let sizes = ReferenceSizes::Area { side, multiple, up: true };
        self.edits.then_some(References { most: 1, edits: true, sizes })
    }

    /// Only the pipeline of the model that generates keeps them.
    fn guidance_keeps_norms(&self) -> Option<KeptNorms> {
        (!self.edits).then_some(KeptNorms { side: PATCH, at_most: true })
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match encoded.into_iter().next() {
            Some(Encoded { states, .. }) => Ok(Conditioning::new(states)),
            None => bail!("the prompt was not encoded"),
        }
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        // The pipeline divides by the scheduler's 1000, by which the network multiplies again; the rounding
        // must match.
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0).collect();
        let modulators = |block| self.config.modulators(block);
        let prepared = modulated(blocks, input.sigmas, self.config.embedders(), modulators, |w| {
            let prompts = embedded_prompts(input.branches, |all| w.linear("context_embedder", all))?;
            Ok((embedded_times(w, &times, blocks)?.unsqueeze(1)?, prompts))
        })?;
        let references = references(input.references, PATCH, Channels::First, blocks.dtype())?;
        Ok(Prepared { references, ..prepared })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        self.flux.predict(blocks, input, prepared)
    }

    fn velocity(&self, input: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        self.flux.velocity(input, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_those_of_files() {
        let time = "time_text_embed.timestep_embedder.linear_1.weight";
        assert_eq!(hub_name(time), StoredName::whole("time_embed.timestep_embedder.linear_1.weight"));
        assert_eq!(original_name(time, true), StoredName::whole("time_in.in_layer.weight"));
        let norm = "single_transformer_blocks.1.attn.norm_q.weight";
        assert_eq!(original_name(norm, false), StoredName::whole("single_blocks.1.norm.query_norm.scale"));
        assert_eq!(original_name(norm, true), StoredName::whole("single_blocks.1.norm.query_norm.weight"));
        assert_eq!(hub_name("norm_out.shift.bias"), StoredName::part("norm_out.linear.bias", 1..2, 2));
    }
}
