//! What a model is, in the calculator's terms.

use std::collections::BTreeMap;

use super::resolve::Resolved;
use crate::{
    checkpoint::{Block, Component, Errors, Role},
    memory::{
        BlockFootprint, Footprint, Held, MemoryPreferences, PartFootprint, PublishedBlocks, RunIdentity,
        RunShape,
    },
    models::{Model, ModelPart},
    nn::DType,
    precision::Storage,
    request::{ComputeDtype, Request},
    residency::BlockLayout,
};

/// The dtype of a component in a computation. What looks at images is always computed in f32, and the autoencoder where the rest
/// is in f16, whose range it exceeds.
pub fn dtype_of(role: Role, dtype: ComputeDtype) -> DType {
    match dtype {
        ComputeDtype::F32 => DType::F32,
        _ if matches!(role, Role::Preprocessor | Role::Segmenter | Role::Detector) => DType::F32,
        ComputeDtype::Bf16 => DType::BF16,
        ComputeDtype::F16 if role == Role::Autoencoder => DType::F32,
        ComputeDtype::F16 => DType::F16,
    }
}

/// What a run is of, for comparison with later runs. `model` is [`Model::identity`] without adapters.
pub fn run_identity(model: String, resolved: &Resolved, preferences: &MemoryPreferences) -> RunIdentity {
    let Request { width, height, frames, batch, windows, .. } = resolved.request;
    let enlarged = resolved.enlarged_size();
    let branches = resolved.prompts.len() as u32;
    let detailers = resolved.boxes.len() as u32;
    let given = resolved.references.iter().chain(resolved.changed.iter().map(|given| &given.size));
    let references = given.map(|&[width, height]| u64::from(width) * u64::from(height)).sum();
    RunIdentity {
        model,
        dtype: resolved.dtype,
        precisions: preferences.precisions(),
        shape: RunShape { width, height, frames, batch, branches, windows, references, enlarged, detailers },
    }
}

/// The blocks of a model as they are held for a computation in `dtype`.
pub fn footprint(model: &Model, name: &str, dtype: ComputeDtype) -> Footprint {
    let held = |part: &ModelPart| {
        part_footprint(part.name.clone(), &part.component, dtype_of(part.component.role, dtype))
    };
    Footprint { model: name.to_owned(), dtype, parts: model.parts.iter().map(held).collect() }
}

fn part_footprint(name: String, component: &Component, dtype: DType) -> PartFootprint {
    let held = |block: &Block| {
        let layout = BlockLayout::new(block, dtype);
        Held {
            bytes: layout.bytes(),
            by_dtype: layout.bytes_by_dtype(),
            largest_tensor: layout.largest_leaf(),
            encoded: block.encoded(),
        }
    };
    let plain = |block: &Block| {
        let Held { bytes, by_dtype, largest_tensor, encoded } = held(block);
        BlockFootprint {
            name: block.name.clone(),
            bytes,
            by_dtype,
            largest_tensor,
            file_bytes: block.stored_bytes(),
            parameters: block.parameters(),
            encoded,
            smaller: BTreeMap::new(),
        }
    };
    let mut blocks: Vec<BlockFootprint> = component.blocks.iter().map(plain).collect();
    for storage in Storage::smaller().filter(|_| !component.role.stays_as_stored()) {
        let smaller = component.clone().given_as(storage);
        for (footprint, block) in blocks.iter_mut().zip(&smaller.blocks) {
            let held = held(block);
            if !held.encoded.is_empty() {
                footprint.smaller.insert(storage, held);
            }
        }
    }
    let tensors = |block: &Block| {
        let prefix = block.prefix.clone();
        let places = BlockLayout::new(block, dtype).tensors.into_iter();
        places.map(move |place| (format!("{prefix}{}", place.name), place.bytes()))
    };
    PartFootprint {
        name,
        role: component.role,
        architecture: component.architecture.to_owned(),
        blocks,
        published: PublishedBlocks::new(component.blocks.iter().flat_map(tensors)),
        errors: Errors::new(),
    }
}
