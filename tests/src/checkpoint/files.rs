//! Reads and writes files of tensors and of JSON.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
};

use anyhow::{Context, Result};
use candle_core::{Device, Tensor};
use serde::Deserialize;

use crate::original_names::Tensors;

pub(super) fn save_shards(tensors: &Tensors, path: &Path) -> Result<()> {
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

pub(super) fn copy_tree(from: &Path, to: &Path) -> Result<()> {
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
