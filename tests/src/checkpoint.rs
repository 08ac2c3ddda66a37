//! Tiny checkpoints, made from the fixtures in all common layouts.

mod files;
mod kind;
mod manifest;
mod run;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Result, ensure};
use candle_core::{DType, Tensor};
use sluice_engine::request::Request;

use crate::original_names::{Tensors, prefixed};
pub use files::{add_note, load, read_json, save, set_json};
use files::{copy_tree, save_shards};
use kind::{Kind, with_conditioner};
pub use manifest::manifest_tensors;
pub use run::Run;

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

/// Families whose tokenizer is that of another.
const SHARED_TOKENIZERS: [(&str, &str); 1] = [("qwen_image_21", "krea2")];
const TOKENIZER: &str = "tokenizer";
/// The file that holds all components.
const SINGLE: &str = "tiny.safetensors";
