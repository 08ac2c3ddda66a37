//! The runs of the reference: what was asked for, and what came of it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use candle_core::{Device, Tensor};
use serde::Deserialize;
use sluice_engine::request::{
    ComputeDtype, Control, ControlMode, ControlNet, Fit, GuidanceOptions, ImagePrompt, Keyframe, ModelSource,
    Redux, Refiner, Request, Sampler, SourceClip, SourceImage, SourceMask,
};

use super::{Fixture, load, manifest_tensors, read_json, save};
use crate::{
    control_nets::{self, NetShape},
    hash_weights, image_prompts,
    original_names::Tensors,
};

/// Those of `[batch, channels, height, width]`; clips have one more.
const IMAGE_DIMS: usize = 4;
/// Where a run's ControlNets are in the folder of its model.
const CONTROL_NETS: &str = "control_nets";
/// Where a run's IP-Adapters are in the folder of its model.
const IP_ADAPTERS: &str = "ip_adapters";
/// Where a run's Redux model is in the folder of its model.
const REDUX: &str = "redux";
/// Where a run's refiner is in the folder of its model.
const REFINER: &str = "refiner";

/// One call of a pipeline, and where its result is.
#[derive(Debug, Clone)]
pub struct Run {
    pub(super) folder: PathBuf,
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
    /// What its file says that it follows, as a number.
    control_type: Option<u8>,
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
                let mut tensors = control_nets::tensors(&net.name, shape, &steered)?;
                if let Some(number) = net.control_type {
                    let said = Tensor::new(&[i64::from(number)], &Device::Cpu)?;
                    tensors.insert("control_type".to_owned(), said);
                }
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
