//! What a model is and what a request asks of it, in the calculator's terms.

use candle_core::DType;

use super::{
    PipelineError,
    adapted::{most_rows, with_terms},
};
use crate::{
    checkpoint::{Component, Role},
    memory::{BlockFootprint, ComponentFootprint, ComponentWork, Footprint, Stage, Work, Workload},
    models::{DenoiserShape, Model, Prompt},
    request::{ComputeDtype, Request},
    residency::BlockLayout,
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
    Footprint { model: name.to_owned(), components: model.components().map(held).collect() }
}

fn component_footprint(component: &Component, dtype: DType) -> ComponentFootprint {
    let blocks = component.blocks.iter().map(|block| {
        let layout = BlockLayout::new(block, dtype);
        let matrices = || layout.tensors.iter().filter(|place| place.shape.len() >= 2);
        BlockFootprint {
            name: block.name.clone(),
            bytes: layout.bytes(),
            largest_tensor: layout.largest_leaf(),
            parameters: block.parameters(),
            matrix_parameters: matrices().map(|place| place.elements() as u64).sum(),
            matrix_bytes: matrices().map(|place| place.bytes()).sum(),
        }
    });
    ComponentFootprint {
        role: component.role,
        architecture: component.architecture.to_owned(),
        blocks: blocks.collect(),
    }
}

/// A prompt for each guidance branch, in tokens.
pub fn prompts(model: &Model, request: &Request) -> Result<Vec<Prompt>, PipelineError> {
    let mut prompts = vec![&request.prompt];
    if model.denoiser.uses_negative(request.guidance) {
        prompts.push(&request.negative_prompt);
    }
    let longest = request.max_sequence_length as usize;
    prompts.into_iter().map(|prompt| Ok(model.tokenize(prompt, longest)?)).collect()
}

/// Bytes of lists and small tensors that no formula counts.
const LISTS: u64 = 128 << 10;

/// What drawing `request` asks of `model`.
pub fn workload(model: &Model, request: &Request, prompts: &[Prompt]) -> Workload {
    let value_bytes = |role| dtype_of(role, request.dtype).size_in_bytes();
    let tokens: Vec<usize> =
        prompts.iter().map(|prompt| model.denoiser.prompt_tokens(&prompt.lengths())).collect();
    let latents = model.denoiser.latents_shape(request.width, request.height);
    let steps = request.steps as usize;
    let shape = DenoiserShape {
        latents,
        batch: request.batch as usize,
        prompts: [tokens[0], tokens.get(1).copied().unwrap_or(0)],
        branches: tokens.len(),
        sigmas: request.sampler.levels(steps),
        calls: request.sampler.calls(steps),
        value_bytes: value_bytes(Role::Denoiser),
    };
    let with_lists = |mut work: Work| {
        work.carried += LISTS;
        work
    };
    let held = request.sampler.held() * shape.batch * latents.iter().product::<usize>() * size_of::<f32>();
    let with_held = |mut work: Work| {
        work.carried += held as u64;
        work
    };
    let one = |stage, work| ComponentWork { stage, ways: vec![with_lists(work)] };
    let text = model.text.iter().enumerate().map(|(index, part)| {
        let lengths: Vec<usize> = prompts.iter().map(|prompt| prompt.ids[index].len()).collect();
        let work = part.encoder.work(&lengths, value_bytes(Role::TextEncoder));
        let longest = lengths.into_iter().max().unwrap_or(0);
        one(Stage::Encode, with_terms(work, &part.component, longest))
    });
    let rows = most_rows(&shape, prompts.len());
    let denoise = with_terms(model.denoiser.work(&shape), &model.denoiser_component, rows);
    let side = [latents[1], latents[2]];
    let decode = model.autoencoder.decode_work(request.batch as usize, side, value_bytes(Role::Autoencoder));
    let decode = ComponentWork { stage: Stage::Decode, ways: decode.into_iter().map(with_lists).collect() };
    Workload {
        pictures: request.batch,
        steps: request.steps,
        components: text.chain([one(Stage::Denoise, with_held(denoise)), decode]).collect(),
    }
}
