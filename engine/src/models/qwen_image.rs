//! Qwen-Image (Wu et al. 2025, arXiv:2508.02324) and Qwen-Image-Edit: a transformer with two streams of tokens, in blocks like
//! FLUX.1's double blocks. Its autoencoder is that of Wan, for one frame.
//!
//! Only the noise level modulates them. Image positions are relative to the image's centre; the text
//! continues along the diagonal. The models that edit see the references beside the image, and through the vision tower of
//! their text encoder.

mod control_net;
mod pass;

use std::sync::Arc;

use serde::Deserialize;

pub use self::control_net::is_control_net;
use self::pass::Pass;
use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults, Opened,
    PrepareInput, Prepared, SteeredBy, TextPart,
    control_nets::ControlNets,
    family::part,
    joint::{
        DOUBLE_MODULATION, HEAD_MODULATORS, Heads, Modulators, conditioning_spec, diffusers_name,
        embedded_prompts, embedded_times, modulated,
    },
    patches::{Channels, references, wrong_axes},
    scheduler,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, TensorTable},
    nn::{Result, Tensor, bail},
    request::{Canvas, ComputeDtype, ReferenceSizes, References},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, KeptNorms, Training},
    text::{Encoded, Qwen25Vl, QwenVision, Shown, Told},
    vae::{Autoencoder, WanAutoencoder},
};

/// Side of the square patches of latents.
const PATCH: usize = 2;
/// Added to the mean square of the prompt embeddings.
const EPS: f64 = 1e-6;
/// The feed-forward layers of the image and of the text.
const MLPS: [&str; 2] = ["img_mlp", "txt_mlp"];
/// In ComfyUI's files of models for which [`QwenImageConfig::zero_cond_t`] is true.
const ZERO_MARK: &str = "__index_timestep_zero__";
/// Side of a square with the pixels of references, and what their sides are a multiple of.
const REFERENCE_SIZE: (u32, u32) = (1024, 32);
/// Side of a square with the pixels of what the text encoder sees of each of several references.
const SEEN_SIDE: u32 = 384;
const BLOCK_MODULATORS: Modulators =
    &[&[("img_mod.1", DOUBLE_MODULATION)], &[("txt_mod.1", DOUBLE_MODULATION)]];

/// The family.
pub struct QwenImage;

impl Family for QwenImage {
    fn id(&self) -> &'static str {
        "qwen_image"
    }

    fn name(&self) -> &'static str {
        "Qwen-Image"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Qwen-Image", AdapterMark::Name("transformer_blocks_0_txt_mlp")),
            ("Qwen-Image", AdapterMark::Name("transformer_blocks_0_img_mlp")),
            ("Qwen-Image", AdapterMark::Name("transformer_blocks_0_img_mod")),
        ]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taew2_1", "lighttaew2_1"]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("transformer_blocks.0.img_mod.1.weight", "qwen_image")]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser =
            part(checkpoint, Role::Denoiser, "no Qwen-Image transformer was found", is_transformer)?;
        let task = Task::of(checkpoint, denoiser);
        let config = denoiser.config(QwenImageConfig::from_shapes)?;
        let (width, channels) = (config.joint_attention_dim, config.latent_channels());
        let expected = format!("no Qwen2.5-VL encoder of width {width} was found");
        let text = part(checkpoint, Role::TextEncoder, &expected, |part| {
            Qwen25Vl::width_of(&part.tensors) == Some(width)
        })?;
        let expected = format!("no autoencoder of Qwen-Image or Wan with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            WanAutoencoder::channels_of(&part.tensors) == Some(channels)
        })?;
        let autoencoder = WanAutoencoder::open(vae)?;
        let (transformer, component) = QwenImageTransformer::open(denoiser, autoencoder.0.scale())?;
        let transformer = QwenImageTransformer { references: task.references(), ..transformer };
        let published = FlowShift {
            use_dynamic_shifting: true,
            max_shift: 0.9,
            max_image_seq_len: 8192,
            shift_terminal: Some(0.02),
            ..FlowShift::default()
        };
        let pixels = if task == Task::Generate { 1328 } else { 1024 };
        let opened = Opened {
            text: vec![TextPart::new(Qwen25Vl::open(checkpoint, text, task.told())?)],
            denoiser: (Box::new(transformer), component),
            autoencoder: (Box::new(autoencoder.0.sampled()), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, published)?),
            defaults: ModelDefaults {
                width: pixels,
                height: pixels,
                steps: if task == Task::EditSeveral { 40 } else { 50 },
                guidance: 4.0,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        let model = Model::new(&QwenImage, checkpoint, opened);
        let Some(shown) = task.shown() else { return Ok(model) };
        let expected = format!("no vision tower of Qwen2.5-VL of width {width} was found");
        let tower = part(checkpoint, Role::TextEncoder, &expected, |part| {
            QwenVision::width_of(&part.tensors) == Some(width)
        })?;
        Ok(model.with_vision_tower(QwenVision::open(tower, shown)?))
    }
}

/// What a model of the family is made for. Its transformer does not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Qwen-Image.
    Generate,
    /// The first Qwen-Image-Edit.
    Edit,
    /// Qwen-Image-Edit 2509 and 2511.
    EditSeveral,
}

impl Task {
    /// As the folder of the model says, or else the name of its file.
    fn of(checkpoint: &Checkpoint, denoiser: &Part) -> Self {
        let class = checkpoint.index.as_ref().and_then(|index| index.get("_class_name")?.as_str());
        if let Some(class) = class {
            return match class {
                _ if class.starts_with("QwenImageEditPlus") => Self::EditSeveral,
                _ if class.starts_with("QwenImageEdit") => Self::Edit,
                _ => Self::Generate,
            };
        }
        let name = denoiser.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let has = |mark: &str| name.contains(mark);
        match (has("edit"), has("2509") || has("2511") || has("plus")) {
            _ if denoiser.tensors.contains_key(ZERO_MARK) => Self::EditSeveral,
            (true, true) => Self::EditSeveral,
            (true, false) => Self::Edit,
            (false, _) => Self::Generate,
        }
    }

    fn told(self) -> Told {
        match self {
            Self::Generate => Told::Describe,
            Self::Edit => Told::Edit,
            Self::EditSeveral => Told::EditSeveral,
        }
    }

    /// The size in which the text encoder sees references.
    fn shown(self) -> Option<Shown> {
        match self {
            Self::Generate => None,
            Self::Edit => Some(Shown::Whole),
            Self::EditSeveral => Some(Shown::Area(SEEN_SIDE)),
        }
    }

    fn references(self) -> Option<References> {
        let most = match self {
            Self::Generate => return None,
            Self::Edit => 1,
            Self::EditSeveral => 3,
        };
        let (side, multiple) = REFERENCE_SIZE;
        Some(References { most, edits: true, sizes: ReferenceSizes::Area { side, multiple, up: false } })
    }
}

/// Only Qwen-Image's blocks are modulated by `img_mod` and read a normalized prompt.
fn is_transformer(part: &Part) -> bool {
    let has = |name: &str| part.tensors.contains_key(name);
    has("txt_norm.weight") && has("transformer_blocks.0.img_mod.1.weight")
}

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct QwenImageConfig {
    /// Number of values in a patch of latents.
    pub in_channels: usize,
    /// Number of blocks.
    pub num_layers: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of the prompt embeddings.
    pub joint_attention_dim: usize,
    /// Widths of the parts of a head that are rotated by image, row and column.
    pub axes_dims_rope: Vec<usize>,
    /// Whether the kind of image is an input of the network, as in the model for layers.
    pub use_additional_t_cond: bool,
    /// Whether positions include layers.
    pub use_layer3d_rope: bool,
    /// Whether reference images are modulated as free of noise, as in Qwen-Image-Edit from 2511 on.
    pub zero_cond_t: bool,
}

impl Default for QwenImageConfig {
    fn default() -> Self {
        Self {
            in_channels: 64,
            num_layers: 60,
            attention_head_dim: 128,
            num_attention_heads: 24,
            joint_attention_dim: 3584,
            axes_dims_rope: vec![16, 56, 56],
            use_additional_t_cond: false,
            use_layer3d_rope: false,
            zero_cond_t: false,
        }
    }
}

impl QwenImageConfig {
    /// Infers the shape from the tensors, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape());
        let &[dim, in_channels] = shape("img_in.weight")? else { return None };
        let head = *shape("transformer_blocks.0.attn.norm_q.weight")?.first()?;
        Some(Self {
            in_channels,
            num_layers: tensors.keys().filter(|name| name.ends_with(".img_mod.1.weight")).count(),
            attention_head_dim: head,
            num_attention_heads: dim.checked_div(head)?,
            joint_attention_dim: *shape("txt_norm.weight")?.first()?,
            axes_dims_rope: vec![head / 8, head / 16 * 7, head / 16 * 7],
            use_additional_t_cond: shape("time_text_embed.addition_t_embedding.weight").is_some(),
            use_layer3d_rope: false,
            zero_cond_t: tensors.contains_key(ZERO_MARK),
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        if self.in_channels == 0 || !self.in_channels.is_multiple_of(PATCH * PATCH) {
            let reason = "it must be a multiple of 4, for patches of 2×2 latents";
            return part.refuse("in_channels", self.in_channels, reason);
        }
        if self.num_attention_heads == 0 {
            return part.refuse("num_attention_heads", 0, "it must be at least 1");
        }
        if let Some(reason) = wrong_axes(&self.axes_dims_rope, 3, self.attention_head_dim) {
            return part.refuse("axes_dims_rope", format!("{:?}", self.axes_dims_rope), reason);
        }
        if self.use_additional_t_cond || self.use_layer3d_rope {
            let task = "that generates images in layers";
            return Err(CheckpointError::OtherTask { path: part.path.clone(), task });
        }
        Ok(())
    }

    fn heads(&self) -> Heads {
        Heads { count: self.num_attention_heads, width: self.attention_head_dim, are_normed: true }
    }

    fn latent_channels(&self) -> usize {
        self.in_channels / (PATCH * PATCH)
    }

    /// Index of the block with the image embedder. All blocks before it are needed once per run.
    fn embedders(&self) -> usize {
        2 + self.num_layers
    }

    /// The modulation layers of a block before [`embedders`](Self::embedders).
    fn modulators(&self, block: usize) -> Modulators {
        if block <= self.num_layers { BLOCK_MODULATORS } else { HEAD_MODULATORS }
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run;
    /// they are a third of the weights.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (heads, prompt) = (self.heads(), self.joint_attention_dim);
        let dim = heads.dim();
        let block = |index: usize| format!("transformer_blocks.{index}");
        let mut blocks = vec![conditioning_spec(dim).scale("txt_norm", prompt).linear("txt_in", dim, prompt)];
        blocks.extend((0..self.num_layers).map(|index| {
            heads.modulation_spec(&format!("{}.", block(index)), "modulation", BLOCK_MODULATORS)
        }));
        blocks.push(heads.modulation_spec("", "head.modulation", HEAD_MODULATORS));
        blocks.push(BlockSpec::stem("embedders").linear("img_in", dim, self.in_channels));
        blocks.extend(
            (0..self.num_layers).map(|index| heads.joint_spec(BlockSpec::new(block(index)), MLPS, 2)),
        );
        blocks.push(BlockSpec::stem("head").linear("proj_out", self.in_channels, dim));
        blocks
    }
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct QwenImageTransformer {
    config: QwenImageConfig,
    /// Pixels per latent, along one side.
    scale: usize,
    references: Option<References>,
    /// What steers it.
    nets: ControlNets,
}

impl QwenImageTransformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: QwenImageConfig, scale: usize) -> Self {
        Self { config, scale, references: None, nets: ControlNets::default() }
    }

    /// The transformer in a part of a checkpoint, and the location of its weights. Its files use the names of
    /// diffusers, including ComfyUI's files.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing, or a tensor has the wrong shape.
    pub fn open(part: &Part, scale: usize) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(QwenImageConfig::from_shapes)?;
        config.check(part)?;
        let component = Component::bind(
            Role::Denoiser,
            "Qwen-Image transformer",
            &config.blueprint(),
            &part.tensors,
            diffusers_name,
            &part.path,
        )?;
        Ok((Self::new(config, scale), component))
    }

    /// Embeds the noise levels, and the prompts as the network's tokens.
    fn embed(
        &self,
        w: &Weights,
        input: &PrepareInput<'_>,
        sigmas: &[f32],
        blocks: Blocks<'_>,
    ) -> Result<(Tensor, Vec<Tensor>)> {
        // The pipeline divides by the scheduler's 1000, by which the network multiplies again; the rounding
        // must match.
        let times: Vec<f32> = sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0).collect();
        let own =
            embedded_prompts(input.branches, |all| w.linear("txt_in", &w.rms_norm("txt_norm", all, EPS)?))?;
        Ok((embedded_times(w, &times, blocks)?.unsqueeze(1)?, own))
    }
}

impl Denoiser for QwenImageTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * PATCH) as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.latent_channels(), height, width)
    }

    fn references(&self) -> Option<References> {
        self.references.clone()
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

    fn guidance_keeps_norms(&self) -> Option<KeptNorms> {
        Some(KeptNorms { side: PATCH, at_most: false })
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
        let modulators = |block| self.config.modulators(block);
        let mut sigmas = input.sigmas.to_vec();
        if self.config.zero_cond_t && !input.references.is_empty() && !sigmas.contains(&0.0) {
            sigmas.push(0.0);
        }
        self.nets.prepare(blocks, input, |blocks| {
            let embed = |w: &Weights| self.embed(w, input, &sigmas, blocks);
            let prepared = modulated(blocks, &sigmas, self.config.embedders(), modulators, embed)?;
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
        let own = self.config.embedders()..self.config.embedders() + 1 + self.config.num_layers + 1;
        self.nets.walk(blocks, input, prepared, (own, 1), &mut pass)?;
        Ok(pass.into_latents()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}
