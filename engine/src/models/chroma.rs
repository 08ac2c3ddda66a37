//! Chroma (lodestones 2025): FLUX.1 without CLIP and guidance, and with one small network that computes the modulation of
//! all blocks.
//!
//! That network, the approximator, sees the noise level and the number of each modulation vector.

use serde::Deserialize;

use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults,
    Modulation, Opened, PrepareInput, Prepared, TextPart,
    family::{autoencoder_part, part, t5_part},
    flux::{self, FluxConfig, FluxTransformer, LATENT_SCALING},
    joint::{DOUBLE_MODULATION, diffusers_name},
    scheduler,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{D, Result, Tensor, Waves, bail, silu, waves},
    request::{Canvas, ComputeDtype, Request},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, Training},
    text::{Encoded, T5Encoder},
    vae::{Autoencoder, AutoencoderKl},
};

/// Modulations in a single block: shift, scale, gate.
const SINGLE_MODULATION: usize = 3;
/// Modulations of the head: shift and scale.
const HEAD_MODULATION: usize = 2;
/// Added to the mean square in the approximator's norms.
const EPS: f64 = 1e-6;
/// The prefix of the approximator's layers.
const APPROXIMATOR: &str = "distilled_guidance_layer";
/// Prompts are truncated to this many tokens.
const LONGEST_PROMPT: usize = 512;

/// The family.
pub struct Chroma;

impl Family for Chroma {
    fn id(&self) -> &'static str {
        "chroma"
    }

    fn name(&self) -> &'static str {
        "Chroma"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[("Chroma", AdapterMark::Name(APPROXIMATOR))]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taef1"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no Chroma transformer was found", is_transformer)?;
        let config = denoiser.config(ChromaConfig::from_shapes)?;
        config.check(denoiser)?;
        let is_original = denoiser.tensors.contains_key("img_in.weight");
        let component = Component::bind(
            Role::Denoiser,
            "Chroma transformer",
            &config.blueprint(),
            &denoiser.tensors,
            if is_original { original_name } else { diffusers_name },
            &denoiser.path,
        )?
        .also_named(original_name)
        .also_named(diffusers_name);

        let t5 = t5_part(checkpoint, config.flux.joint_attention_dim)?;
        let vae = autoencoder_part(checkpoint, config.flux.latent_channels())?;
        let autoencoder = AutoencoderKl::open(vae, LATENT_SCALING)?;
        let (encoder, t5) = T5Encoder::open(checkpoint, t5, "tokenizer", LONGEST_PROMPT)?;
        let shift = FlowShift { use_dynamic_shifting: true, ..FlowShift::fixed(1.0) };
        let opened = Opened {
            text: vec![TextPart::new((encoder.with_one_padding(), t5))],
            denoiser: (Box::new(ChromaTransformer::new(config, autoencoder.0.scale())), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, shift)?),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps: 40,
                guidance: 3.0,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&Chroma, checkpoint, opened))
    }
}

/// Only Chroma has an approximator in front of FLUX.1's blocks. Chroma Radiance, which generates pixels, embeds them by a
/// convolution.
fn is_transformer(part: &Part) -> bool {
    let shape = |name: &str| part.tensors.get(name).map(|tensor| tensor.shape().len());
    let has_embedder = ["x_embedder.weight", "img_in.weight"].iter().any(|name| shape(name) == Some(2));
    has_embedder && part.tensors.contains_key(&format!("{APPROXIMATOR}.in_proj.weight"))
}

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct ChromaConfig {
    /// What it shares with FLUX.1.
    #[serde(flatten)]
    pub flux: FluxConfig,
    /// Number of values that the approximator reads.
    pub approximator_num_channels: usize,
    /// Width of the approximator.
    pub approximator_hidden_dim: usize,
    /// Number of its layers.
    pub approximator_layers: usize,
}

impl Default for ChromaConfig {
    fn default() -> Self {
        Self {
            flux: FluxConfig::default(),
            approximator_num_channels: 64,
            approximator_hidden_dim: 5120,
            approximator_layers: 5,
        }
    }
}

impl ChromaConfig {
    /// Infers the shape from tensors with their original names, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape().to_vec());
        let count = |suffix: &str| tensors.keys().filter(|name| name.ends_with(suffix)).count();
        let &[hidden, channels] = &shape(&format!("{APPROXIMATOR}.in_proj.weight"))?[..] else { return None };
        Some(Self {
            flux: FluxConfig::trunk_from_shapes(tensors)?,
            approximator_num_channels: channels,
            approximator_hidden_dim: hidden,
            approximator_layers: count(".in_layer.weight"),
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let channels = self.approximator_num_channels;
        if channels == 0 || !channels.is_multiple_of(8) {
            return part.refuse("approximator_num_channels", channels, "it must be a multiple of 8");
        }
        self.flux.check(part)
    }

    /// Number of modulation vectors: those of the single blocks, of the image and of the text in the double blocks, and of
    /// the head.
    fn vectors(&self) -> usize {
        SINGLE_MODULATION * self.flux.num_single_layers
            + 2 * DOUBLE_MODULATION * self.flux.num_layers
            + HEAD_MODULATION
    }

    /// Index of the block with the image embedder. All blocks before it are needed once per run.
    fn embedders(&self) -> usize {
        self.approximator_layers + 3
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, hidden) = (self.flux.heads().dim(), self.approximator_hidden_dim);
        let name = |layer: &str| format!("{APPROXIMATOR}.{layer}");
        let mut blocks = vec![
            BlockSpec::stem("prompt").linear("context_embedder", dim, self.flux.joint_attention_dim),
            BlockSpec::stem("approximator.in").linear(
                &name("in_proj"),
                hidden,
                self.approximator_num_channels,
            ),
        ];
        blocks.extend((0..self.approximator_layers).map(|layer| {
            BlockSpec::stem(format!("approximator.{layer}"))
                .scale(&name(&format!("norms.{layer}")), hidden)
                .linear(&name(&format!("layers.{layer}.linear_1")), hidden, hidden)
                .linear(&name(&format!("layers.{layer}.linear_2")), hidden, hidden)
        }));
        blocks.push(BlockSpec::stem("approximator.out").linear(&name("out_proj"), dim, hidden));
        blocks.extend(self.flux.trunk());
        blocks
    }
}

/// The name of a tensor in the author's files, which ComfyUI also uses.
fn original_name(name: &str) -> StoredName {
    let Some(own) = name.strip_prefix(APPROXIMATOR) else { return flux::original_name(name) };
    let own = own.replace(".linear_1.", ".in_layer.").replace(".linear_2.", ".out_layer.");
    let is_norm = own.starts_with(".norms.");
    StoredName::whole(format!(
        "{APPROXIMATOR}{}",
        if is_norm { own.replace(".weight", ".scale") } else { own }
    ))
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct ChromaTransformer {
    config: ChromaConfig,
    /// Everything after the conditioning.
    flux: FluxTransformer,
}

impl ChromaTransformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: ChromaConfig, scale: usize) -> Self {
        let flux = FluxTransformer::new(config.flux.clone(), scale).with_trunk_at(config.embedders());
        Self { config, flux }
    }

    /// What the approximator sees of a timestep: `[vectors, channels]`. A quarter of the values embeds the timestep, a
    /// quarter a guidance of 0, and the rest the number of the vector.
    fn seen(&self, time: f32, blocks: Blocks<'_>) -> Result<Tensor> {
        let (quarter, vectors) = (self.config.approximator_num_channels / 4, self.config.vectors());
        let embedded = |numbers: &[f32], width: usize| {
            let form = Waves { width, spaced: (width / 2) as f64, cosines_first: true };
            waves(numbers, form, &blocks.device())
        };
        let level = Tensor::cat(&[embedded(&[time], quarter)?, embedded(&[0.0], quarter)?], 1)?;
        let level = level.broadcast_as((vectors, 2 * quarter))?.contiguous()?;
        let numbers: Vec<f32> = (0..vectors).map(|number| number as f32 * 1000.0).collect();
        Tensor::cat(&[level, embedded(&numbers, 2 * quarter)?], 1)?.to_dtype(blocks.dtype())
    }

    /// A layer of the approximator.
    fn layer(&self, w: &Weights, layer: usize, x: &Tensor) -> Result<Tensor> {
        let name = |part: &str| format!("{APPROXIMATOR}.layers.{layer}.{part}");
        let h = w.rms_norm(&format!("{APPROXIMATOR}.norms.{layer}"), x, EPS)?;
        x + w.linear(&name("linear_2"), &silu(&w.linear(&name("linear_1"), &h)?)?)?
    }

    /// The modulation of each block in order, from the vectors of all.
    fn in_order(&self, vectors: &Tensor) -> Result<Vec<Tensor>> {
        let FluxConfig { num_layers, num_single_layers, .. } = self.config.flux;
        let some = |first: usize, count: usize| {
            vectors.narrow(0, first, count)?.reshape((1, 1, count * vectors.dim(D::Minus1)?))
        };
        let image = SINGLE_MODULATION * num_single_layers;
        let text = image + DOUBLE_MODULATION * num_layers;
        let double = (0..num_layers).flat_map(|layer| {
            [image, text].map(|first| some(first + DOUBLE_MODULATION * layer, DOUBLE_MODULATION))
        });
        let single = (0..num_single_layers).map(|layer| some(SINGLE_MODULATION * layer, SINGLE_MODULATION));
        let head = some(text + DOUBLE_MODULATION * num_layers, HEAD_MODULATION);
        double.chain(single).chain([head]).collect()
    }
}

impl Denoiser for ChromaTransformer {
    fn size_multiple(&self) -> u32 {
        self.flux.size_multiple()
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        self.flux.latents(canvas)
    }

    fn guidance_weight(&self, request: &Request) -> f64 {
        request.guidance.into()
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
        let mut prompts: Vec<Tensor> = input.branches.iter().map(|branch| branch.prompt.clone()).collect();
        // The pipeline divides by the scheduler's 1000, by which the network multiplies again; the rounding
        // must match.
        let times = input.sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0);
        let mut levels: Vec<Tensor> = times.map(|time| self.seen(time, blocks)).collect::<Result<_>>()?;
        let last = self.config.embedders() - 1;
        blocks.walk(0..last + 1, |index, w| match index {
            0 => w.branches(&mut prompts, |w, _, prompt| {
                *prompt = w.linear("context_embedder", &prompt.unsqueeze(0)?)?;
                Ok(())
            }),
            _ => w.branches(&mut levels, |w, _, x| {
                *x = match index {
                    1 => w.linear(&format!("{APPROXIMATOR}.in_proj"), x)?,
                    _ if index == last => w.linear(&format!("{APPROXIMATOR}.out_proj"), x)?,
                    layer => self.layer(w, layer - 2, x)?,
                };
                Ok(())
            }),
        })?;
        let modulation = |(sigma, vectors): (&f32, &Tensor)| {
            Ok(Modulation { sigma: *sigma, tensors: self.in_order(vectors)? })
        };
        Ok(Prepared {
            branches: prompts.into_iter().map(Conditioning::new).collect(),
            modulations: input.sigmas.iter().zip(&levels).map(modulation).collect::<Result<_>>()?,
            ..Prepared::default()
        })
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
    fn names_become_the_authors_own() {
        for (ours, theirs) in [
            (
                "distilled_guidance_layer.layers.3.linear_1.weight",
                "distilled_guidance_layer.layers.3.in_layer.weight",
            ),
            ("distilled_guidance_layer.norms.0.weight", "distilled_guidance_layer.norms.0.scale"),
            ("distilled_guidance_layer.in_proj.bias", "distilled_guidance_layer.in_proj.bias"),
            ("x_embedder.bias", "img_in.bias"),
        ] {
            assert_eq!(original_name(ours), StoredName::whole(theirs), "{ours}");
        }
    }

    /// Chroma1-HD has 344 modulation vectors.
    #[test]
    fn every_block_has_its_modulation() {
        assert_eq!(ChromaConfig::default().vectors(), 344);
    }
}
