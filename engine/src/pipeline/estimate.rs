//! What a model is and what a request asks of it, in the calculator's terms.

use std::collections::BTreeMap;

use candle_core::DType;

use super::{
    PipelineError,
    adapted::{most_rows, with_terms},
    run,
};
use crate::{
    checkpoint::{Block, Component, Errors, Role, StoredTensor},
    memory::{BlockFootprint, ComponentFootprint, ComponentWork, Footprint, Held, Stage, Work, Workload},
    models::{DenoiserShape, Model, Prompt},
    nn::{Computes, Costs},
    precision::Storage,
    request::{ComputeDtype, Request},
    residency::BlockLayout,
    sampling::StepCache,
    text::{self, Tokens},
};

/// The dtype of a component in a computation. The autoencoder is computed in f32 where the rest is in f16, whose range
/// it exceeds.
pub fn dtype_of(role: Role, dtype: ComputeDtype) -> DType {
    match dtype {
        ComputeDtype::F32 => DType::F32,
        ComputeDtype::Bf16 => DType::BF16,
        ComputeDtype::F16 if role == Role::Autoencoder => DType::F32,
        ComputeDtype::F16 => DType::F16,
    }
}

/// The blocks of a model as they are held for a computation in `dtype`.
pub fn footprint(model: &Model, name: &str, dtype: ComputeDtype) -> Footprint {
    let held = |component: &Component| component_footprint(component, dtype_of(component.role, dtype));
    Footprint { model: name.to_owned(), dtype, components: model.components().map(held).collect() }
}

fn component_footprint(component: &Component, dtype: DType) -> ComponentFootprint {
    let held = |block: &Block| {
        let layout = BlockLayout::new(block, dtype);
        Held { bytes: layout.bytes(), largest_tensor: layout.largest_leaf(), encoded: block.encoded() }
    };
    let plain = |block: &Block| {
        let Held { bytes, largest_tensor, encoded } = held(block);
        BlockFootprint {
            name: block.name.clone(),
            bytes,
            largest_tensor,
            file_bytes: block.stored_bytes(),
            parameters: block.parameters(),
            encoded,
            smaller: BTreeMap::new(),
        }
    };
    let mut blocks: Vec<BlockFootprint> = component.blocks.iter().map(plain).collect();
    for storage in Storage::smaller().filter(|_| component.role != Role::Autoencoder) {
        let smaller = component.clone().given_as(storage);
        for (footprint, block) in blocks.iter_mut().zip(&smaller.blocks) {
            let held = held(block);
            if !held.encoded.is_empty() {
                footprint.smaller.insert(storage, held);
            }
        }
    }
    ComponentFootprint {
        role: component.role,
        architecture: component.architecture.to_owned(),
        blocks,
        errors: Errors::new(),
    }
}

/// Predictions that need both branches, and those that do not.
fn calls(model: &Model, request: &Request) -> [usize; 2] {
    let sigmas = run::sigmas(model, request);
    let guide = run::guide(model, request, &sigmas);
    let called = run::called(model, request, &sigmas);
    let guided = called.iter().filter(|&&sigma| guide.is_guided(sigma)).count();
    [guided, called.len() - guided]
}

/// A prompt for each guidance branch, in tokens.
pub fn prompts(model: &Model, request: &Request) -> Result<Vec<Prompt>, PipelineError> {
    let mut prompts = vec![request.prompt.as_str()];
    if calls(model, request)[0] > 0 {
        prompts.push(&request.negative_prompt);
    }
    Ok(model.tokenize(&prompts, request.max_sequence_length as usize, request.clip_skip)?)
}

/// Which pictures a run encodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encodes {
    /// The request's picture.
    pub picture: bool,
    /// The request's picture without what is drawn anew.
    pub masked_picture: bool,
}

impl Encodes {
    /// How many.
    pub fn count(self) -> usize {
        usize::from(self.picture) + usize::from(self.masked_picture)
    }
}

/// Which pictures drawing `request` takes. A network that sees the masked picture beside the latents needs the whole
/// one only to start from.
pub fn encodes(model: &Model, request: &Request) -> Encodes {
    let Some(source) = &request.source else { return Encodes { picture: false, masked_picture: false } };
    let fills_in = source.mask.is_some() && model.denoiser.channels_beside() > 0;
    Encodes { picture: !fills_in || source.strength < 1.0, masked_picture: fills_in }
}

/// Bytes of lists and small tensors that no formula counts.
pub const LISTS: u64 = 128 << 10;

/// What drawing `request` in `dtype` asks of `model` on what `computes`.
pub fn workload(
    model: &Model,
    request: &Request,
    dtype: ComputeDtype,
    prompts: &[Prompt],
    computes: Computes,
) -> Workload {
    let costs = |component: &Component| {
        let dtype = dtype_of(component.role, dtype);
        let has_halves = |block| BlockLayout::new(block, dtype).has_halves();
        let widens = dtype == DType::F32 && component.blocks.iter().any(has_halves);
        Costs { value_bytes: dtype.size_in_bytes(), computes, widens }
    };
    let tokens: Vec<usize> =
        prompts.iter().map(|prompt| model.denoiser.prompt_tokens(&prompt.lengths())).collect();
    let latents = model.denoiser.latents_shape(request.width, request.height);
    let steps = model.steps(request);
    let shape = DenoiserShape {
        latents,
        batch: request.batch as usize,
        prompts: [tokens[0], tokens.get(1).copied().unwrap_or(0)],
        branches: tokens.len(),
        sigmas: request.sampler.levels(steps),
        calls: request.sampler.calls(steps),
        costs: costs(&model.denoiser_component),
    };
    let with_lists = |mut work: Work| {
        work.carried += LISTS;
        work
    };
    let masked = request.source.as_ref().is_some_and(|source| source.mask.is_some());
    // The picture, its noise and the latents with what stays put back; or what is beside the latents.
    let kept = match model.denoiser.channels_beside() {
        _ if !masked => 0,
        0 => 3 * latents.iter().product::<usize>() + latents[1] * latents[2],
        channels => channels * latents[1] * latents[2],
    };
    let own = request.sampler.held() + StepCache::held(request.step_cache);
    let held = shape.batch * (own * latents.iter().product::<usize>() + kept) * size_of::<f32>();
    let with_held = |mut work: Work| {
        work.carried += held as u64;
        work
    };
    let one = |stage, work| ComponentWork { stage, also: None, ways: vec![with_lists(work)] };
    let encode = model.text.iter().enumerate().map(|(index, part)| {
        let tokens: Vec<&Tokens> = prompts.iter().map(|prompt| &prompt.parts[index]).collect();
        let (encoder, costs) = (part.encoder.as_ref(), costs(&part.component));
        let work = text::work(encoder, &tokens, prompts[0].clip_skip, costs);
        let sequences = tokens.iter().flat_map(|tokens| &tokens.sequences);
        let longest = sequences.map(|sequence| sequence.ids.len()).max().unwrap_or(0);
        one(Stage::Encode, with_widened(with_terms(work, &part.component, longest), &part.component, costs))
    });
    let rows = most_rows(&shape, prompts.len());
    let denoise = denoiser_work(model, &shape, calls(model, request));
    let denoise = with_terms(denoise, &model.denoiser_component, rows);
    let denoise = with_widened(denoise, &model.denoiser_component, shape.costs);
    let side = [latents[1], latents[2]];
    let encoded = encodes(model, request).count();
    let ways =
        model.autoencoder.work(encoded, request.batch as usize, side, costs(&model.autoencoder_component));
    let decode = ComponentWork {
        stage: Stage::Decode,
        also: (encoded > 0).then_some(Stage::Encode),
        ways: ways.into_iter().map(with_lists).collect(),
    };
    Workload {
        pictures: request.batch,
        steps: steps as u32,
        components: encode.chain([one(Stage::Denoise, with_held(denoise)), decode]).collect(),
    }
}

/// What matrices in packed bytes take: a card widens a whole one before its product.
fn with_widened(mut work: Work, component: &Component, costs: Costs) -> Work {
    for (work, block) in work.blocks.iter_mut().zip(&component.blocks) {
        let packed = block
            .tensors
            .iter()
            .map(|(_, tensor)| tensor)
            .filter(|tensor| tensor.encoding().is_some_and(|encoding| !encoding.format.is_wide()));
        let largest = packed.map(StoredTensor::elements).max().unwrap_or(0);
        work.activations += costs.unpacked(largest as usize);
    }
    work
}

/// What the denoiser has to do where some predictions need the prompt's branch alone: memory as for those that need
/// both, and the mean of their operations.
fn denoiser_work(model: &Model, shape: &DenoiserShape, [guided, unguided]: [usize; 2]) -> Work {
    let mut work = model.denoiser.work(shape);
    if guided > 0 && unguided > 0 {
        let alone = model.denoiser.work(&DenoiserShape { branches: 1, ..*shape });
        let share = unguided as f64 / (guided + unguided) as f64;
        for (block, alone) in work.blocks.iter_mut().zip(&alone.blocks) {
            // What depends on the prompts alone is done once, for both.
            if block.passes as usize == shape.calls {
                block.operations += (alone.operations - block.operations) * share;
            }
        }
    }
    work
}
