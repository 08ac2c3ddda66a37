//! What a model is made of, in bytes: the first input of the calculator.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{MemoryPreferences, PublishedBlocks};
use crate::{
    checkpoint::{Errors, Role},
    precision::{Format, Storage},
    request::ComputeDtype,
};

/// Bytes of weights by the dtype that they are held in: f32, f16, bf16, and packed.
pub type BytesByDtype = [u64; 4];

/// The most of each.
pub(super) fn most_of_each(one: BytesByDtype, other: BytesByDtype) -> BytesByDtype {
    std::array::from_fn(|dtype| one[dtype].max(other[dtype]))
}

/// The blocks of a model and what they take. Measured from headers or computed from configurations, never
/// guessed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Footprint {
    /// What to call the model.
    pub model: String,
    /// What it is computed in.
    pub dtype: ComputeDtype,
    /// Its parts, in the order in which a run uses them.
    pub parts: Vec<PartFootprint>,
}

/// The blocks of one part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartFootprint {
    /// What it is called in the model, such as `text_encoder_2`; no two parts of a model have the same name.
    pub name: String,
    /// What it does.
    pub role: Role,
    /// The architecture in words.
    pub architecture: String,
    /// In the order in which they run.
    pub blocks: Vec<BlockFootprint>,
    /// The blocks that other programs move.
    #[serde(default)]
    pub published: PublishedBlocks,
    /// What its weights lose in storages that it was measured for.
    #[serde(default)]
    pub errors: Errors,
}

/// One unit of weights that moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockFootprint {
    /// Its name.
    pub name: String,
    /// Bytes as they are held on the device, in a slot and in the host's copy.
    pub bytes: u64,
    /// The same by dtype. A slot has room for the most of each among its blocks.
    pub by_dtype: BytesByDtype,
    /// Bytes of its largest tensor.
    pub largest_tensor: u64,
    /// Bytes that are read from its files.
    pub file_bytes: u64,
    /// Number of weights.
    pub parameters: u64,
    /// Those of `parameters` that are encoded when they are read, in the format that they get; none where it is held
    /// as it is stored.
    pub encoded: BTreeMap<Format, u64>,
    /// What it would take with its matrices in storages that make it smaller.
    #[serde(default)]
    pub smaller: BTreeMap<Storage, Held>,
}

/// What a block takes as it is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Bytes.
    pub bytes: u64,
    /// The same by dtype.
    pub by_dtype: BytesByDtype,
    /// Bytes of its largest tensor.
    pub largest_tensor: u64,
    /// Weights that are encoded, in the format that they get.
    pub encoded: BTreeMap<Format, u64>,
}

impl Footprint {
    /// The same model with its matrices held in the chosen storages.
    pub fn held_as(&self, preferences: &MemoryPreferences) -> Self {
        let parts = self.parts.iter().map(|part| part.held_as(preferences.precision(part.role)));
        Self { model: self.model.clone(), dtype: self.dtype, parts: parts.collect() }
    }

    /// `S_total`: bytes of all parts.
    pub fn total(&self) -> u64 {
        self.parts.iter().map(PartFootprint::bytes).sum()
    }

    /// `S_max`: bytes of the largest part.
    pub fn largest_part(&self) -> u64 {
        self.parts.iter().map(PartFootprint::bytes).max().unwrap_or(0)
    }

    /// `S_block`: bytes of the largest block.
    pub fn largest_block(&self) -> u64 {
        self.parts.iter().map(PartFootprint::largest_block).max().unwrap_or(0)
    }

    /// Bytes of the largest group of so many blocks as the networks' authors have them.
    pub fn largest_group(&self, blocks: usize) -> u64 {
        let of_part = |part: &PartFootprint| match part.published.largest_group(blocks) {
            Some(share) => (share * part.bytes() as f64).ceil() as u64,
            None => part.largest_block().saturating_mul(blocks as u64).min(part.bytes()),
        };
        self.parts.iter().map(of_part).max().unwrap_or(0)
    }

    /// `S_leaf`: bytes of the largest tensor.
    pub fn largest_tensor(&self) -> u64 {
        let blocks = self.parts.iter().flat_map(|part| &part.blocks);
        blocks.map(|block| block.largest_tensor).max().unwrap_or(0)
    }
}

/// Names for the parts of a model that has no names of its own for them: `text_encoder`, `text_encoder_2`, `denoiser`.
pub fn part_names(roles: impl Iterator<Item = Role>) -> Vec<String> {
    let mut counts: BTreeMap<Role, usize> = BTreeMap::new();
    let name = |role: Role| {
        let count = counts.entry(role).or_default();
        *count += 1;
        if *count == 1 { role.id().to_owned() } else { format!("{}_{count}", role.id()) }
    };
    roles.map(name).collect()
}

impl BlockFootprint {
    fn held_as(&self, storage: Storage) -> Self {
        match self.smaller.get(&storage) {
            Some(Held { bytes, by_dtype, largest_tensor, encoded }) => Self {
                bytes: *bytes,
                by_dtype: *by_dtype,
                largest_tensor: *largest_tensor,
                encoded: encoded.clone(),
                ..self.clone()
            },
            None => self.clone(),
        }
    }
}

impl PartFootprint {
    fn held_as(&self, storage: Storage) -> Self {
        let blocks = self.blocks.iter().map(|block| block.held_as(storage));
        Self { blocks: blocks.collect(), ..self.clone() }
    }

    /// What it is, whatever it is called and whatever model it is a part of: the same for files with the same blocks.
    pub fn identity(&self) -> String {
        let mut hash = crc32fast::Hasher::new();
        let mut add = |words: String| hash.update(words.as_bytes());
        add(format!("{} {}\n", self.role.id(), self.architecture));
        for BlockFootprint { name, parameters, file_bytes, .. } in &self.blocks {
            add(format!("{name} {parameters} {file_bytes}\n"));
        }
        format!("{:08x}", hash.finalize())
    }

    /// Bytes of all blocks.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.bytes).sum()
    }

    /// Bytes of the largest block.
    pub fn largest_block(&self) -> u64 {
        self.blocks.iter().map(|block| block.bytes).max().unwrap_or(0)
    }
}
