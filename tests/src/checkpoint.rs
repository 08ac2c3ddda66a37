//! Tiny checkpoints, made from the fixtures in all common layouts.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Device, Tensor};
use serde::Deserialize;
use sluice_engine::request::{
    ComputeDtype, Control, ControlMode, ControlNet, Fit, GuidanceOptions, ImagePrompt, Keyframe, ModelSource,
    Redux, Refiner, Request, Sampler, SourceClip, SourceImage, SourceMask,
};

use crate::{
    control_nets::{self, NetShape},
    hash_weights, image_prompts,
    original_names::{self, Tensors, prefixed},
};

/// The folder that the reference scripts write.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// How the files of a checkpoint are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One folder per component, with one weight file each.
    Diffusers,
    /// The same with the file names of the fp16 variant, whatever is in them.
    Variant,
    /// One folder per component, with three shards and an index each.
    Sharded,
    /// One file per component with the original names.
    Split,
    /// Like `Split`, with ComfyUI's prefix in the denoiser's names.
    SplitPrefixed,
    /// All components in one file, with the prefixes of ComfyUI's checkpoints.
    Single,
}

/// How weights are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// Unchanged.
    F32,
    /// In another dtype.
    As(DType),
    /// Rounded to another dtype, but stored as F32.
    RoundedTo(DType),
}

impl Stored {
    fn convert(self, tensor: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::F32 => Ok(tensor.clone()),
            Self::As(dtype) => tensor.to_dtype(dtype),
            Self::RoundedTo(dtype) => tensor.to_dtype(dtype)?.to_dtype(DType::F32),
        }
    }
}

/// A row of a manifest: dtype, shape and, unless it is 1, scale.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Row {
    Plain(String, Vec<usize>),
    Scaled(String, Vec<usize>, f32),
}

#[derive(Debug, Clone, Deserialize)]
struct Entry {
    seed: String,
    tensors: BTreeMap<String, Row>,
}

impl Entry {
    fn tensors(&self) -> Result<Tensors> {
        let mut tensors = Tensors::new();
        for (name, row) in &self.tensors {
            let (dtype, shape, scale) = match row {
                Row::Plain(dtype, shape) => (dtype, shape, 1.0),
                Row::Scaled(dtype, shape, scale) => (dtype, shape, *scale),
            };
            if dtype == "I64" {
                // The count of a batch norm, which changes nothing.
                let count = Tensor::zeros(shape.as_slice(), DType::I64, &Device::Cpu)?;
                tensors.insert(name.clone(), count);
                continue;
            }
            ensure!(dtype == "F32", "{name} is {dtype}");
            let values = hash_weights::weight(&format!("{}.{name}", self.seed), shape, scale);
            tensors.insert(name.clone(), Tensor::from_vec(values, shape.as_slice(), &Device::Cpu)?);
        }
        Ok(tensors)
    }
}

/// The tensors of every weight file in the `manifest.json` of `folder`, by the file's path.
pub fn manifest_tensors(folder: &Path) -> Result<BTreeMap<String, Tensors>> {
    let manifest: BTreeMap<String, Entry> = read_json(&folder.join("manifest.json"))?;
    manifest.iter().map(|(path, entry)| Ok((path.clone(), entry.tensors()?))).collect()
}

/// A tiny checkpoint among the fixtures.
#[derive(Debug, Clone)]
pub struct Fixture {
    family: PathBuf,
    case: PathBuf,
}

impl Fixture {
    /// A case of a family, such as `default` of `z_image`.
    pub fn new(family: &str, case: &str) -> Self {
        let family = fixtures().join(family);
        Self { case: family.join(case), family }
    }

    /// All of its runs.
    pub fn runs(&self) -> Result<Vec<Run>> {
        let mut runs = Vec::new();
        for entry in fs::read_dir(&self.case)? {
            let folder = entry?.path();
            if folder.join("request.json").is_file() {
                runs.push(Run::open(&folder)?);
            }
        }
        ensure!(!runs.is_empty(), "{} has no runs", self.case.display());
        runs.sort_by(|a, b| a.folder.cmp(&b.folder));
        Ok(runs)
    }

    /// The run of this name.
    pub fn run(&self, name: &str) -> Result<Run> {
        Run::open(&self.case.join(name))
    }

    /// Writes the checkpoint to `folder` and returns it.
    pub fn write(&self, folder: &Path, layout: Layout, stored: Stored) -> Result<PathBuf> {
        let checkpoint = self.case.join("checkpoint");
        let mut components = BTreeMap::new();
        for (path, tensors) in manifest_tensors(&checkpoint)? {
            let tensors: candle_core::Result<Tensors> =
                tensors.iter().map(|(name, tensor)| Ok((name.clone(), stored.convert(tensor)?))).collect();
            components.insert(path, tensors?);
        }
        for entry in fs::read_dir(&self.family)? {
            let tokenizer = entry?.path();
            let name = tokenizer.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.contains("tokenizer") {
                copy_tree(&tokenizer, &folder.join(name))?;
            }
        }
        if let Some((_, other)) = SHARED_TOKENIZERS.iter().find(|(own, _)| self.family.ends_with(own)) {
            copy_tree(&self.family.with_file_name(other).join(TOKENIZER), &folder.join(TOKENIZER))?;
        }
        match layout {
            Layout::Diffusers | Layout::Variant | Layout::Sharded => {
                copy_tree(&checkpoint, folder)?;
                fs::remove_file(folder.join("manifest.json"))?;
                for (path, tensors) in components {
                    let path = folder.join(path);
                    match layout {
                        Layout::Sharded => save_shards(&tensors, &path),
                        Layout::Variant => save(&tensors, &path.with_extension("fp16.safetensors")),
                        _ => save(&tensors, &path),
                    }?;
                }
            }
            Layout::Split | Layout::SplitPrefixed => {
                let (kind, components) = (Kind::of(&components), with_conditioner(components));
                for (path, tensors) in components {
                    kind.save_split(&path, tensors, layout, folder)?;
                }
            }
            Layout::Single => {
                let (kind, mut all) = (Kind::of(&components), Tensors::new());
                for (path, tensors) in with_conditioner(components) {
                    let (_, prefix, tensors) = kind.original(&path, tensors)?;
                    all.append(&mut prefixed(prefix, tensors));
                }
                let file = folder.join(SINGLE);
                save(&all, &file)?;
                return Ok(file);
            }
        }
        Ok(folder.to_owned())
    }

    /// How many frames at most a causal decoder takes through one block; `None` if the decoder is not causal. Some models
    /// of images decode one frame with Wan's.
    pub fn decoder_passes(&self, request: &Request) -> Option<u64> {
        match request.frames {
            1 => ["qwen_image", "qwen_image_21", "anima", "krea2"]
                .iter()
                .any(|family| self.family.ends_with(family))
                .then_some(1),
            _ => Some(4),
        }
    }

    /// [`Fixture::write`] as a diffusers folder with unchanged weights.
    pub fn write_diffusers(&self, folder: &Path) -> Result<PathBuf> {
        self.write(folder, Layout::Diffusers, Stored::F32)
    }
}

/// One call of a pipeline, and where its result is.
#[derive(Debug, Clone)]
pub struct Run {
    folder: PathBuf,
    request: RunRequest,
}

#[derive(Debug, Clone, Deserialize)]
struct RunRequest {
    prompt: String,
    negative: String,
    steps: u32,
    guidance: f32,
    height: u32,
    width: u32,
    batch: u32,
    max_tokens: u32,
    sampler: Sampler,
    latents: HashNoise,
    true_cfg: Option<f32>,
    /// Frames of a clip.
    frames: Option<u32>,
    source: Option<RunSource>,
    references: Option<RunReferences>,
    /// The case of the refiner that takes the last steps.
    refiner: Option<String>,
    refiner_switch: Option<f64>,
    /// The case of the Redux model through which references are read.
    redux: Option<String>,
    /// How strongly each counts.
    #[serde(default)]
    strengths: Vec<f32>,
    /// What steers it.
    #[serde(default)]
    control_nets: Vec<RunControlNet>,
    /// What it reads images through.
    #[serde(default)]
    image_prompts: Vec<RunImagePrompt>,
}

/// An IP-Adapter of a run.
#[derive(Debug, Clone, Deserialize)]
struct RunImagePrompt {
    /// "plain" or "plus".
    kind: String,
    /// Images of other runs, from the folder of this one.
    images: Vec<PathBuf>,
    weight: f32,
    start: f64,
    end: f64,
}

/// A ControlNet of a run; those of a case are beside its steered runs.
#[derive(Debug, Clone, Deserialize)]
struct RunControlNet {
    name: String,
    weight: f32,
    start: f64,
    end: f64,
    mode: Option<ControlMode>,
    /// That of a ControlNet for a transformer.
    shape: Option<NetShape>,
}

/// The input image of a run.
#[derive(Debug, Clone, Deserialize)]
struct RunSource {
    strength: f64,
    /// Size of the mask; no mask if absent.
    mask: Option<[u32; 2]>,
    /// Size of the first image of a clip.
    first: Option<[u32; 2]>,
    /// Size of the last image of a clip.
    last: Option<[u32; 2]>,
    /// Frames and sizes of images between them.
    #[serde(default)]
    keyframes: Vec<[u32; 3]>,
    /// Size of an input clip.
    clip: Option<[u32; 2]>,
    /// What controls a clip.
    #[serde(flatten)]
    control: Option<RunControl>,
    noise: HashNoise,
}

/// The reference images of a run that edits.
#[derive(Debug, Clone, Deserialize)]
struct RunReferences {
    /// Their sizes.
    pictures: Vec<[u32; 2]>,
    side: u32,
}

/// What controls a run.
#[derive(Debug, Clone, Deserialize)]
struct RunControl {
    /// Size of the controlling clip.
    control: Option<[u32; 2]>,
    masked: bool,
    /// Sizes of the images of what appears.
    references: Vec<[u32; 2]>,
    scale: f32,
}

#[derive(Debug, Clone, Deserialize)]
struct HashNoise {
    name: String,
    shape: Vec<usize>,
}

impl HashNoise {
    fn tensor(&self) -> Result<Tensor> {
        let values = hash_weights::noise(&self.name, self.shape.iter().product());
        Ok(Tensor::from_vec(values, self.shape.as_slice(), &Device::Cpu)?)
    }
}

impl Run {
    /// The run in a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        Ok(Self { folder: folder.to_owned(), request: read_json(&folder.join("request.json"))? })
    }

    /// Case and run, such as `salted/wide`.
    pub fn name(&self) -> String {
        let names: Vec<_> = self.folder.iter().rev().take(2).map(|part| part.to_string_lossy()).collect();
        names.into_iter().rev().collect::<Vec<_>>().join("/")
    }

    /// The request, for the model at `model`.
    pub fn request(&self, model: &Path) -> Request {
        let own = &self.request;
        Request {
            model: ModelSource::Path(model.to_owned()),
            prompt: own.prompt.clone(),
            negative_prompt: own.negative.clone(),
            width: own.width,
            height: own.height,
            frames: own.frames.unwrap_or(1),
            steps: own.steps,
            guidance: own.guidance,
            batch: own.batch,
            sampler: own.sampler,
            max_sequence_length: own.max_tokens,
            dtype: Some(ComputeDtype::F32),
            guiding: GuidanceOptions { true_cfg: own.true_cfg.unwrap_or(1.0), ..GuidanceOptions::default() },
            source: own.source.as_ref().and_then(|source| self.source(source)),
            last_image: own
                .source
                .as_ref()
                .and_then(|source| source.last.map(|_| self.folder.join("last.png"))),
            keyframes: own.source.as_ref().map(|source| self.keyframes(source)).unwrap_or_default(),
            clip: own.source.as_ref().and_then(|source| self.clip(source)),
            references: self.references(),
            reference_side: own.references.as_ref().map(|references| references.side),
            control: own.source.as_ref().and_then(|source| self.control(source.control.as_ref()?)),
            control_nets: self.control_nets(model),
            image_prompts: self.image_prompts(model),
            refiner: own.refiner_switch.map(|switch| Refiner { path: model.join(REFINER), switch }),
            redux: own
                .redux
                .as_ref()
                .map(|case| Redux { path: model.join(REDUX).join(case), strengths: own.strengths.clone() }),
            ..Request::default()
        }
    }

    /// Writes the checkpoints of the run's refiner, Redux model, IP-Adapters and ControlNets, if it has any, to where its request has
    /// them.
    pub fn write_beside(&self, model: &Path) -> Result<()> {
        if let Some(case) = &self.request.refiner {
            let folder = model.join(REFINER);
            fs::create_dir(&folder)?;
            Fixture::new("sdxl", case).write_diffusers(&folder)?;
        }
        for net in &self.request.control_nets {
            let folder = model.join(CONTROL_NETS).join(&net.name);
            fs::create_dir_all(&folder)?;
            if let Some(shape) = &net.shape {
                let checkpoint = manifest_tensors(&self.folder.join("../../checkpoint"))?;
                let mut steered = Tensors::new();
                checkpoint
                    .into_iter()
                    .filter(|(file, _)| file.starts_with("transformer/"))
                    .for_each(|(_, mut tensors)| steered.append(&mut tensors));
                let tensors = control_nets::tensors(&net.name, shape, &steered)?;
                save(&tensors, &folder.join("diffusion_pytorch_model.safetensors"))?;
                continue;
            }
            for (file, tensors) in manifest_tensors(&self.folder.join("../control_nets").join(&net.name))? {
                save(&tensors, &folder.join(file))?;
            }
        }
        if !self.request.image_prompts.is_empty() {
            let files = manifest_tensors(&self.folder.join("../../checkpoint"))?;
            let unet = files.into_iter().find(|(file, _)| file.starts_with("unet/"));
            let unet = unet.context("the checkpoint has no UNet")?.1;
            let kinds: Vec<&str> =
                self.request.image_prompts.iter().map(|prompt| prompt.kind.as_str()).collect();
            image_prompts::write(&kinds, &unet, &model.join(IP_ADAPTERS))?;
        }
        if let Some(case) = &self.request.redux {
            let folder = model.join(REDUX).join(case);
            fs::create_dir_all(&folder)?;
            Fixture::new("redux", case).write_diffusers(&folder)?;
        }
        Ok(())
    }

    /// The reference resizes images this way and pastes nothing back.
    fn source(&self, source: &RunSource) -> Option<SourceImage> {
        let has_none = !source.keyframes.is_empty() && source.first.is_none();
        if source.clip.is_some() || source.control.is_some() || has_none {
            return None;
        }
        let mask = || SourceMask {
            path: self.folder.join("mask.png"),
            blur: 0,
            keeps_the_rest: false,
            only_masked: None,
        };
        Some(SourceImage {
            path: self.folder.join("picture.png"),
            strength: source.strength,
            fit: Fit::Stretch,
            mask: source.mask.map(|_| mask()),
            ..SourceImage::default()
        })
    }

    fn control_nets(&self, model: &Path) -> Vec<ControlNet> {
        let each = self.request.control_nets.iter().enumerate().map(|(number, net)| ControlNet {
            model: model.join(CONTROL_NETS).join(&net.name),
            image: self.folder.join(format!("control-{number}.png")),
            mode: net.mode,
            weight: net.weight,
            start: net.start,
            end: net.end,
            fit: Fit::Stretch,
            ..ControlNet::default()
        });
        each.collect()
    }

    fn image_prompts(&self, model: &Path) -> Vec<ImagePrompt> {
        let each = self.request.image_prompts.iter().map(|prompt| ImagePrompt {
            adapter: model.join(IP_ADAPTERS).join(format!("{}.safetensors", prompt.kind)),
            images: prompt.images.iter().map(|image| self.folder.join(image)).collect(),
            weight: prompt.weight,
            start: prompt.start,
            end: prompt.end,
        });
        each.collect()
    }

    fn references(&self) -> Vec<PathBuf> {
        let control = self.request.source.as_ref().and_then(|source| source.control.as_ref());
        let own = self.request.references.as_ref().map(|references| &references.pictures);
        let count = own.or(control.map(|control| &control.references)).map_or(0, Vec::len);
        (0..count).map(|number| self.folder.join(format!("reference-{number}.png"))).collect()
    }

    fn control(&self, control: &RunControl) -> Option<Control> {
        Some(Control {
            video: control.control.map(|_| self.folder.join("control")),
            mask: control.masked.then(|| self.folder.join("control_mask")),
            strength: control.scale,
            ..Control::default()
        })
    }

    fn keyframes(&self, source: &RunSource) -> Vec<Keyframe> {
        let path = |frame: u32| self.folder.join(format!("keyframe-{frame}.png"));
        source.keyframes.iter().map(|&[frame, ..]| Keyframe { frame, path: path(frame) }).collect()
    }

    fn clip(&self, source: &RunSource) -> Option<SourceClip> {
        source.clip.map(|_| SourceClip {
            path: self.folder.join("clip"),
            strength: source.strength,
            ..SourceClip::default()
        })
    }

    /// The initial noise of the reference, under the names that a job reads. The reference takes one sample
    /// of an image for the whole batch.
    pub fn latents(&self) -> Result<Tensors> {
        let latents = self.request.latents.tensor()?;
        let mut tensors = Tensors::from([("latents".to_owned(), latents.clone())]);
        if let Some(source) = &self.request.source {
            let masked = HashNoise { name: format!("{}.masked", source.noise.name), ..source.noise.clone() };
            for (name, noise) in [("noise.picture", &source.noise), ("noise.masked_picture", &masked)] {
                let noise = noise.tensor()?;
                let dims = [&latents.dims()[..1], &noise.dims()[1..]].concat();
                let noise = noise.broadcast_as(dims)?.contiguous()?;
                tensors.insert(name.to_owned(), noise);
            }
        }
        Ok(tensors)
    }

    /// The reference's results. The pixels of an image, `output`, are not in the file where they follow from what
    /// the autoencoder decoded.
    pub fn golden(&self) -> Result<Tensors> {
        let mut golden = load(&self.folder.join("golden.safetensors"))?;
        if let Some(decoded) = golden.get("vae.decode.out")
            && !golden.contains_key("output")
            && decoded.dims().len() == IMAGE_DIMS
        {
            let pixels = decoded.affine(0.5, 0.5)?.clamp(0f32, 1f32)?;
            golden.insert("output".to_owned(), pixels);
        }
        Ok(golden)
    }
}

/// Those of `[batch, channels, height, width]`; clips have one more.
const IMAGE_DIMS: usize = 4;
/// Families whose tokenizer is that of another.
const SHARED_TOKENIZERS: [(&str, &str); 1] = [("qwen_image_21", "krea2")];
const TOKENIZER: &str = "tokenizer";
/// Where a run's ControlNets are in the folder of its model.
const CONTROL_NETS: &str = "control_nets";
/// Where a run's IP-Adapters are in the folder of its model.
const IP_ADAPTERS: &str = "ip_adapters";
/// Where a run's Redux model is in the folder of its model.
const REDUX: &str = "redux";
/// Where a run's refiner is in the folder of its model.
const REFINER: &str = "refiner";
/// The file that holds all components.
const SINGLE: &str = "tiny.safetensors";

/// Anima's conditioner is in the file of its transformer.
fn with_conditioner(mut components: BTreeMap<String, Tensors>) -> BTreeMap<String, Tensors> {
    let of = |folder: &str, path: &String| path.starts_with(&format!("{folder}/"));
    let conditioner = components.keys().find(|path| of("text_conditioner", path)).cloned();
    if let Some(conditioner) = conditioner.and_then(|path| components.remove(&path))
        && let Some((_, transformer)) = components.iter_mut().find(|(path, _)| of("transformer", path))
    {
        transformer.append(&mut prefixed("llm_adapter.", conditioner));
    }
    components
}

/// The names of a model's files depend on its other files.
#[derive(Clone, Copy)]
struct Kind {
    has_unet: bool,
    has_first_encoder: bool,
    has_two_encoders: bool,
    /// The text encoder has the names of FLUX.2 dev's, but is read whole.
    has_ministral: bool,
}

impl Kind {
    fn of(components: &BTreeMap<String, Tensors>) -> Self {
        let has = |folder: &str| components.keys().any(|path| path.starts_with(folder));
        Self {
            has_unet: has("unet/"),
            has_first_encoder: has("text_encoder/"),
            has_two_encoders: has("text_encoder_2/"),
            has_ministral: components
                .values()
                .any(|tensors| tensors.contains_key("layers.0.adaLN_sa_ln.weight")),
        }
    }

    /// The file of a component in the split layout, its prefix in a single file, and its tensors under their
    /// original names.
    fn original(self, path: &str, tensors: Tensors) -> Result<(&'static str, &'static str, Tensors)> {
        const DENOISER: &str = "model.diffusion_model.";
        let has = |name: &str| tensors.contains_key(name);
        Ok(match path.split('/').next() {
            Some("unet") => ("diffusion_models/tiny_unet", DENOISER, original_names::unet(&tensors)),
            Some("transformer") if has("patch_embed.proj.weight") => {
                ("diffusion_models/tiny_anima", "net.", original_names::cosmos(&tensors))
            }
            Some("transformer") if has("txt_in.text_norm.weight") => {
                ("diffusion_models/tiny_qwen_image_2.1", DENOISER, original_names::qwen_image_21(&tensors)?)
            }
            Some("transformer") if has("caption_projection.0.linear.weight") => {
                ("diffusion_models/tiny_hidream", DENOISER, tensors)
            }
            Some("text_encoder_4") => {
                ("text_encoders/llama_3.1_8b_instruct", "text_encoders.llama.transformer.", tensors)
            }
            Some("text_encoder") if has("model.visual.merger.linear_fc2.weight") => {
                ("text_encoders/qwen3vl_8b", "text_encoders.qwen3vl_8b.transformer.", tensors)
            }
            Some("transformer") if has("text_fusion.projector.weight") => {
                ("diffusion_models/tiny_krea2", DENOISER, original_names::krea2(&tensors)?)
            }
            Some("text_encoder") if has("language_model.layers.0.self_attn.q_norm.weight") => {
                let tensors = prefixed("model.", tensors);
                ("text_encoders/qwen3vl_4b", "text_encoders.qwen3vl_4b.transformer.", tensors)
            }
            Some("transformer") if has("distilled_guidance_layer.in_proj.weight") => {
                ("diffusion_models/tiny_chroma", DENOISER, original_names::chroma(&tensors)?)
            }
            Some("transformer") if has("time_embed.timestep_embedder.linear_1.weight") => {
                ("diffusion_models/tiny_longcat", DENOISER, original_names::longcat(&tensors)?)
            }
            Some("transformer") if has("single_transformer_blocks.0.proj_mlp.weight") => {
                ("diffusion_models/tiny_flux", DENOISER, original_names::flux(&tensors)?)
            }
            Some("transformer") if has("pos_embed.pos_embed") => {
                ("diffusion_models/tiny_sd3", DENOISER, original_names::sd3(&tensors)?)
            }
            Some("transformer") if has("condition_embedder.time_proj.weight") => {
                ("diffusion_models/tiny_wan", DENOISER, original_names::wan(&tensors))
            }
            Some("transformer") if has("time_embed.linear.weight") => {
                ("diffusion_models/tiny_ltx", DENOISER, original_names::ltx(&tensors))
            }
            Some("vae") if has("decoder.conv_in.conv.weight") => {
                ("vae/tiny_ltx", "vae.", original_names::ltx_autoencoder(&tensors))
            }
            Some("text_encoder") if has("shared.weight") => {
                ("text_encoders/umt5_xxl", "text_encoders.umt5xxl.transformer.", tensors)
            }
            Some("vae") if has("decoder.norm_out.gamma") && tensors["decoder.conv_in.weight"].rank() == 4 => {
                ("vae/qwen_image_2.1_vae", "vae.", original_names::flat_autoencoder(&tensors)?)
            }
            Some("vae") if has("decoder.norm_out.gamma") => {
                ("vae/wan_2.1_vae", "vae.", original_names::causal_autoencoder(&tensors))
            }
            Some("transformer") if has("txt_norm.weight") => {
                ("diffusion_models/tiny_qwen_image", DENOISER, tensors)
            }
            Some("transformer") if has("txt_norm.0.weight") => {
                ("diffusion_models/lens_tiny", DENOISER, tensors)
            }
            Some("text_encoder") if has("model.layers.0.self_attn.sinks") => {
                ("text_encoders/gpt_oss_20b", "text_encoders.gpt_oss_20b.transformer.", tensors)
            }
            Some("text_encoder") if has("model.layers.0.self_attn.q_norm.weight") => {
                ("text_encoders/tiny_qwen3", "text_encoders.qwen3_4b.transformer.", tensors)
            }
            Some("text_encoder") if self.has_ministral => {
                let tensors = original_names::ministral(tensors);
                ("text_encoders/ministral_3_3b", "text_encoders.ministral3_3b.transformer.", tensors)
            }
            Some("text_encoder") if has("language_model.model.norm.weight") => {
                let tensors = original_names::mistral(tensors);
                ("text_encoders/tiny_mistral3", "text_encoders.mistral3_24b.transformer.", tensors)
            }
            Some("text_encoder") if has("lm_head.weight") => {
                ("text_encoders/qwen_2.5_vl_7b", "text_encoders.qwen25_7b.transformer.", tensors)
            }
            Some("transformer") if has("layers.0.adaLN_sa_ln.weight") => {
                ("diffusion_models/tiny_ernie_image", DENOISER, tensors)
            }
            Some("transformer") if has("double_stream_modulation_img.linear.weight") => {
                ("diffusion_models/tiny_flux2", DENOISER, original_names::flux2(&tensors)?)
            }
            Some("vae") if has("bn.running_mean") => {
                ("vae/flux2-vae", "vae.", original_names::flux2_autoencoder(&tensors)?)
            }
            Some("transformer") => {
                ("diffusion_models/tiny_z_image", DENOISER, original_names::z_image(&tensors)?)
            }
            // Stable Diffusion XL's second encoder is published this way.
            Some("text_encoder_2") if self.has_unet => {
                let tensors = original_names::open_clip(&tensors)?;
                let prefix = match self.has_first_encoder {
                    true => "conditioner.embedders.1.model.",
                    false => "conditioner.embedders.0.model.",
                };
                ("text_encoders/clip_g", prefix, tensors)
            }
            Some("text_encoder") if self.has_unet && self.has_two_encoders => {
                ("text_encoders/clip_l", "conditioner.embedders.0.transformer.", tensors)
            }
            Some("text_encoder") if self.has_unet => {
                ("text_encoders/clip_l", "cond_stage_model.transformer.", tensors)
            }
            Some("text_encoder") if has("text_model.final_layer_norm.weight") => {
                ("text_encoders/clip_l", "text_encoders.clip_l.transformer.", tensors)
            }
            Some(_) if has("text_model.final_layer_norm.weight") => {
                ("text_encoders/clip_g", "text_encoders.clip_g.transformer.", tensors)
            }
            Some("text_encoder") => {
                let tensors = prefixed("model.", tensors);
                ("text_encoders/tiny_qwen3", "text_encoders.qwen3_4b.transformer.", tensors)
            }
            Some("text_encoder_2" | "text_encoder_3") => {
                ("text_encoders/t5xxl", "text_encoders.t5xxl.transformer.", tensors)
            }
            Some("vae") if self.has_unet => {
                ("vae/ae", "first_stage_model.", original_names::autoencoder(&tensors)?)
            }
            Some("vae") => ("vae/ae", "vae.", original_names::autoencoder(&tensors)?),
            _ => anyhow::bail!("{path} has no place among split files"),
        })
    }

    fn save_split(self, path: &str, tensors: Tensors, layout: Layout, folder: &Path) -> Result<()> {
        let (file, prefix, tensors) = self.original(path, tensors)?;
        let is_denoiser = path.starts_with("transformer/") || path.starts_with("unet/");
        let is_prefixed = layout == Layout::SplitPrefixed && is_denoiser;
        let tensors = if is_prefixed { prefixed(prefix, tensors) } else { tensors };
        save(&tensors, &folder.join(format!("{file}.safetensors")))
    }
}

fn save_shards(tensors: &Tensors, path: &Path) -> Result<()> {
    const SHARDS: usize = 3;
    let stem = path.file_stem().context("a weight file has a name")?.to_string_lossy().into_owned();
    let mut shards = vec![Tensors::new(); SHARDS];
    let mut weight_map = BTreeMap::new();
    for (index, (name, tensor)) in tensors.iter().enumerate() {
        // Neighbours go to different files, so that blocks span files.
        let shard = index % SHARDS;
        weight_map.insert(name.clone(), shard_name(&stem, shard, SHARDS));
        shards[shard].insert(name.clone(), tensor.clone());
    }
    for (index, shard) in shards.iter().enumerate() {
        save(shard, &path.with_file_name(shard_name(&stem, index, SHARDS)))?;
    }
    let index = serde_json::json!({ "metadata": {}, "weight_map": weight_map });
    fs::write(path.with_file_name(format!("{stem}.safetensors.index.json")), serde_json::to_vec(&index)?)?;
    Ok(())
}

fn shard_name(stem: &str, index: usize, count: usize) -> String {
    format!("{stem}-{:05}-of-{count:05}.safetensors", index + 1)
}

/// Writes a safetensors file and creates its folders.
pub fn save(tensors: &Tensors, path: &Path) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
    let tensors: HashMap<String, Tensor> = tensors.clone().into_iter().collect();
    candle_core::safetensors::save(&tensors, path).with_context(|| path.display().to_string())
}

/// Adds an entry to the metadata in the header of a safetensors file.
pub fn add_note(path: &Path, name: &str, text: &str) -> Result<()> {
    let bytes = fs::read(path)?;
    let (length, rest) = bytes.split_first_chunk().context("a safetensors file begins with a length")?;
    let (header, values) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let mut header: serde_json::Value = serde_json::from_slice(header)?;
    header["__metadata__"][name] = text.into();
    let header = serde_json::to_vec(&header)?;
    fs::write(path, [&(header.len() as u64).to_le_bytes()[..], &header, values].concat())?;
    Ok(())
}

/// Reads a safetensors file.
pub fn load(path: &Path) -> Result<Tensors> {
    let tensors = candle_core::safetensors::load(path, &Device::Cpu);
    Ok(tensors.with_context(|| path.display().to_string())?.into_iter().collect())
}

/// Reads a JSON file.
pub fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// Changes one value of a JSON file.
pub fn set_json(path: &Path, key: &str, value: serde_json::Value) -> Result<()> {
    let mut content: serde_json::Value = read_json(path)?;
    let object = content.as_object_mut().with_context(|| format!("{} is no object", path.display()))?;
    object.insert(key.to_owned(), value);
    fs::write(path, serde_json::to_vec_pretty(&content)?)?;
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
