//! FLUX.2 (Black Forest Labs 2025): FLUX.1's two kinds of blocks without biases, and with one modulation for all blocks of a
//! kind. Its prompt embeddings are states of three layers of a language model.
//!
//! Positions have four axes: image, row, column, and the token's place in the text.

mod config;
mod stored_names;

use std::path::Path;

pub use self::config::Flux2Config;
use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults, Opened,
    PrepareInput, Prepared, TextPart,
    family::part,
    joint::{
        DOUBLE_MODULATION, HEAD_MODULATORS, Modulators, SIDES, each_side, embedded_prompts, head, modulated,
        streams,
    },
    modulated::{frequencies, normed, within_range},
    patches::{Channels, angles, patchify, references, unpatchify, with_references},
    scheduler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, TensorTable},
    nn::{D, Device, Result, Rope, Tensor, bail, gated_add, silu, silu_mul},
    request::{Canvas, ComputeDtype, ReferenceSizes, References, Request},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, OwnLevels, Training},
    text::{Encoded, MistralChat, Qwen3Chat},
    vae::{Autoencoder, Flux2Autoencoder},
};

/// The most reference images, and the pixels of a square that they have at most.
const MOST_REFERENCES: usize = 8;
const REFERENCE_SIDE: u32 = 1024;
/// The distance of two reference images on the axis of images.
const APART: usize = 10;
/// The autoencoder's latents are patches already.
const PATCH: usize = 1;
/// Layers of the language model whose states the prompt embeddings are.
const TEXT_LAYERS: usize = 3;
/// Modulations in a single block: shift, scale, gate.
const SINGLE_MODULATION: usize = 3;
/// The feed-forward layers of the image and of the text.
const MLPS: [&str; 2] = ["ff", "ff_context"];
const EMBEDDER: &str = "time_guidance_embed";
/// The modulation layers, in the order of their blocks.
const MODULATORS: [(&str, Modulators); 4] = [
    ("modulation.image", &[&[("double_stream_modulation_img.linear", DOUBLE_MODULATION)]]),
    ("modulation.text", &[&[("double_stream_modulation_txt.linear", DOUBLE_MODULATION)]]),
    ("modulation.single", &[&[("single_stream_modulation.linear", SINGLE_MODULATION)]]),
    ("modulation.head", HEAD_MODULATORS),
];
/// Index of the block with the image embedder. All blocks before it are needed once per run.
const EMBEDDERS: usize = 1 + MODULATORS.len();

/// The family.
pub struct Flux2;

impl Family for Flux2 {
    fn id(&self) -> &'static str {
        "flux2"
    }

    fn name(&self) -> &'static str {
        "FLUX.2"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("FLUX.2", AdapterMark::Name("attn_to_qkv_mlp_proj")),
            ("FLUX.2", AdapterMark::Name("ff_linear_in")),
            ("FLUX.2", AdapterMark::Name("double_stream_modulation")),
            ("FLUX.2", AdapterMark::Name("single_stream_modulation")),
        ]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no FLUX.2 transformer was found", is_transformer)?;
        let config = denoiser.config(Flux2Config::from_shapes)?;
        let is_dev = config.guidance_embeds;
        let is_distilled = is_dev || is_distilled(checkpoint, &denoiser.path);
        let (width, channels) = (config.joint_attention_dim / TEXT_LAYERS, config.in_channels);
        let (transformer, component) = Flux2Transformer::open(denoiser)?;
        let text = text_encoder(checkpoint, width, is_dev)?;
        let expected = format!("no autoencoder of FLUX.2 with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            Flux2Autoencoder::channels_of(&part.tensors) == Some(channels)
        })?;
        let (autoencoder, autoencoder_component) = Flux2Autoencoder::open(vae)?;
        let published =
            FlowShift { use_dynamic_shifting: true, own: OwnLevels::Empirical, ..FlowShift::fixed(3.0) };
        let (steps, guidance) = if is_distilled && !is_dev { (4, 1.0) } else { (50, 4.0) };
        let opened = Opened {
            text: vec![text],
            denoiser: (
                Box::new(Flux2Transformer { scale: autoencoder.scale(), is_distilled, ..transformer }),
                component,
            ),
            autoencoder: (Box::new(autoencoder), autoencoder_component),
            training: Training::Flow(scheduler::flow_shift(checkpoint, published)?),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps,
                guidance,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&Flux2, checkpoint, opened))
    }
}

/// Qwen3, or for dev Mistral.
fn text_encoder(
    checkpoint: &Checkpoint,
    width: usize,
    is_dev: bool,
) -> std::result::Result<TextPart, CheckpointError> {
    let (name, width_of): (_, fn(&TensorTable) -> Option<usize>) =
        if is_dev { ("Mistral", MistralChat::width_of) } else { ("Qwen3", Qwen3Chat::width_of) };
    let expected = format!("no {name} encoder of width {width} was found");
    let found =
        part(checkpoint, Role::TextEncoder, &expected, |part| width_of(&part.tensors) == Some(width))?;
    if is_dev {
        return Ok(TextPart::new(MistralChat::open(checkpoint, found)?));
    }
    let (encoder, component) = Qwen3Chat::open(checkpoint, found)?;
    Ok(TextPart::new((encoder.padded()?, component)))
}

/// Only FLUX.2 modulates all double blocks by one layer for each stream.
fn is_transformer(part: &Part) -> bool {
    ["lin", "linear"]
        .iter()
        .any(|layer| part.tensors.contains_key(&format!("double_stream_modulation_img.{layer}.weight")))
}

/// Whether guidance is distilled into the model. Weights do not show it: a diffusers folder says so, and files of base
/// models are published with `base` in their names.
fn is_distilled(checkpoint: &Checkpoint, denoiser: &Path) -> bool {
    match &checkpoint.index {
        Some(index) => index.get("is_distilled").and_then(serde_json::Value::as_bool).unwrap_or(false),
        None => {
            let name = denoiser.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            !name.contains("base")
        }
    }
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct Flux2Transformer {
    config: Flux2Config,
    /// Pixels per latent, along one side.
    scale: usize,
    /// Whether guidance is distilled into it.
    is_distilled: bool,
}

impl Flux2Transformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: Flux2Config, scale: usize) -> Self {
        Self { config, scale, is_distilled: true }
    }

    /// The transformer in a part of a checkpoint, and the location of its weights.
    ///
    /// # Errors
    /// When the configuration is wrong or not supported, a tensor is missing, or a tensor has the wrong shape.
    pub fn open(part: &Part) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(Flux2Config::from_shapes)?;
        config.check(part)?;
        // Converted files call the weights of norms as most programs do.
        let is_weight = part.tensors.contains_key("double_blocks.0.img_attn.norm.query_norm.weight");
        let original = |name: &str| config.original_name(name, if is_weight { "weight" } else { "scale" });
        let diffusers = |name: &str| config.diffusers_name(name);
        let is_original = part.tensors.contains_key("img_in.weight");
        let component = Component::bind(
            Role::Denoiser,
            "FLUX.2 transformer",
            &config.blueprint(),
            &part.tensors,
            |name| if is_original { original(name) } else { diffusers(name) },
            &part.path,
        )?
        .also_named(original)
        .also_named(diffusers);
        Ok((Self::new(config, 16), component))
    }

    /// Embeds the noise levels and the guidance scale, and the prompts as the network's tokens.
    fn embed(
        &self,
        w: &Weights,
        input: &PrepareInput<'_>,
        blocks: Blocks<'_>,
    ) -> Result<(Tensor, Vec<Tensor>)> {
        // The pipeline divides by the scheduler's 1000, by which the network multiplies again; the rounding
        // must match.
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0).collect();
        let embedded = |name: &str, values: &[f32]| {
            let layer =
                |number: usize, x: &Tensor| w.linear(&format!("{EMBEDDER}.{name}.linear_{number}"), x);
            let values = frequencies(values, &blocks.device())?.to_dtype(blocks.dtype())?;
            layer(2, &silu(&layer(1, &values)?)?)
        };
        let mut times = embedded("timestep_embedder", &times)?;
        if self.config.guidance_embeds {
            times = times.broadcast_add(&embedded("guidance_embedder", &[input.guidance * 1000.0])?)?;
        }
        let own = embedded_prompts(input.branches, |all| w.linear("context_embedder", all))?;
        Ok((times.unsqueeze(1)?, own))
    }

    /// Both streams after joint attention and feed-forward layers.
    fn double_block(
        &self,
        w: &Weights,
        streams: [&Tensor; 2],
        modulations: [&Tensor; 2],
        pe: &Rope,
    ) -> Result<[Tensor; 2]> {
        let modulations = each_side(|side| modulations[side].chunk(DOUBLE_MODULATION, D::Minus1))?;
        let parts = [&modulations[0][..], &modulations[1][..]];
        let attended = self.config.heads().joint(w, streams, parts, Some(pe), 2)?;
        each_side(|side| {
            let (mlp, modulation) = (MLPS[side], &modulations[side]);
            let x = gated_add(streams[side], &modulation[2], &attended[side])?;
            let h = fed_forward(w, mlp, &normed(&x, &modulation[3..])?)?;
            within_range(gated_add(&x, &modulation[5], &w.linear(&format!("{mlp}.linear_out"), &h)?)?)
        })
    }

    fn single_block(&self, w: &Weights, x: &Tensor, modulation: &Tensor, pe: &Rope) -> Result<Tensor> {
        let modulation = modulation.chunk(SINGLE_MODULATION, D::Minus1)?;
        let h = normed(x, &modulation[..2])?;
        let mlp = fed_forward(w, "attn", &h)?;
        let heads = self.config.heads();
        let attended = heads.attend(heads.qkv(w, h, &SIDES[0])?, Some(pe))?;
        let h = Tensor::cat(&[&attended, &mlp], D::Minus1)?;
        drop((attended, mlp));
        within_range(gated_add(x, &modulation[2], &w.linear("attn.to_out", &h)?)?)
    }

    /// Rotary embeddings of `text` tokens, of the image and of the reference images, whose grids are in this order.
    fn pe(&self, text: usize, grids: &[[usize; 2]], device: &Device) -> Result<Rope> {
        let text = (0..text).map(|place| [0, 0, 0, place]);
        let tokens = grids.iter().enumerate().flat_map(|(image, &[rows, columns])| {
            (0..rows).flat_map(move |row| (0..columns).map(move |column| [APART * image, row, column, 0]))
        });
        let places: Vec<[usize; 4]> = text.chain(tokens).collect();
        let theta = self.config.rope_theta;
        let angle = |place, exponent| place as f64 / theta.powf(exponent);
        let angles = angles(&places, &self.config.axes_dims_rope, angle);
        Rope::from_exact_angles(&angles, places.len(), self.config.attention_head_dim / 2, device)
    }
}

/// The middle of a SwiGLU feed-forward layer.
fn fed_forward(w: &Weights, name: &str, x: &Tensor) -> Result<Tensor> {
    let (gate, up) = (w.linear(&format!("{name}.gate"), x)?, w.linear(&format!("{name}.up"), x)?);
    silu_mul(&gate, &up)
}

impl Denoiser for Flux2Transformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * PATCH) as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.in_channels, height, width)
    }

    fn references(&self) -> Option<References> {
        let sizes = ReferenceSizes::Own { side: REFERENCE_SIDE, multiple: self.size_multiple() };
        Some(References { most: MOST_REFERENCES, edits: true, sizes })
    }

    /// Distilled models ignore the guidance scale, or have it as an input. They can still be guided by a negative prompt.
    fn guidance_weight(&self, request: &Request) -> f64 {
        if self.is_distilled { request.guiding.true_cfg.into() } else { request.guidance.into() }
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
        let modulators = |block: usize| MODULATORS[block - 1].1;
        let prepared =
            modulated(blocks, input.sigmas, EMBEDDERS, modulators, |w| self.embed(w, input, blocks))?;
        let references = references(input.references, PATCH, Channels::First, blocks.dtype())?;
        Ok(Prepared { references, ..prepared })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let (_, _, height, width) = input.latents.dims4()?;
        let grid = [height / PATCH, width / PATCH];
        let references = prepared.references.iter().map(|reference| reference.grid);
        let grids: Vec<[usize; 2]> = std::iter::once(grid).chain(references).collect();
        let tokens = |branch: &Conditioning| branch.prompt.dim(1);
        let rotations =
            prepared.branches.iter().map(|branch| self.pe(tokens(branch)?, &grids, &blocks.device()));
        let rotations: Vec<Rope> = rotations.collect::<Result<_>>()?;
        let [image, text, single_modulation, head_modulation] = prepared.modulation(input.sigma)? else {
            let refuse = || -> Result<_> { bail!("a kind of blocks has no modulation") };
            return Ok(refuse()?);
        };

        let double = EMBEDDERS + 1;
        let single = double + self.config.num_layers;
        let last = single + self.config.num_single_layers;
        let mut apart: Vec<[Tensor; 2]> = Vec::new();
        let mut joint: Vec<Tensor> = Vec::new();
        blocks.walk(EMBEDDERS..last + 1, |index, w| {
            if index < double {
                let latents = input.latents.to_dtype(blocks.dtype())?;
                let patches = patchify(&latents, PATCH, Channels::First)?;
                let img = w.linear("x_embedder", &with_references(patches, &prepared.references)?)?;
                apart = streams(&img, &prepared.branches)?;
                return Ok(());
            }
            if index == single {
                let joined = apart.drain(..).map(|[img, txt]| Tensor::cat(&[txt, img], 1));
                joint = joined.collect::<Result<_>>()?;
            }
            if index < single {
                return w.branches(&mut apart, |w, branch, [img, txt]| {
                    let pe = &rotations[branch];
                    [*img, *txt] = self.double_block(w, [&*img, &*txt], [image, text], pe)?;
                    Ok(())
                });
            }
            w.branches(&mut joint, |w, branch, x| {
                *x = if index == last {
                    let text = tokens(&prepared.branches[branch])?;
                    head(w, &x.narrow(1, text, grid[0] * grid[1])?, head_modulation)?
                } else {
                    self.single_block(w, x, single_modulation, &rotations[branch])?
                };
                Ok(())
            })
        })?;
        let latents = |x| unpatchify(x, grid, PATCH, Channels::First);
        Ok(joint.iter().map(latents).collect::<Result<_>>()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}
