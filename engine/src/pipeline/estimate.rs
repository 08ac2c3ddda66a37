//! What a model is and what a request asks of it, in the calculator's terms.

use candle_core::DType;

use super::PipelineError;
use crate::{
    checkpoint::Component,
    memory::{BlockFootprint, ComponentFootprint, ComponentWork, Footprint, Stage, Work, Workload},
    models::{DenoiserShape, Model},
    request::{ComputeDtype, Request},
    residency::BlockLayout,
};

/// The dtypes of a model's components in their order: text encoder, denoiser, autoencoder. The autoencoder is
/// computed in f32 where the rest is in f16, whose range it exceeds.
pub fn dtypes(dtype: ComputeDtype) -> [DType; 3] {
    let compute = match dtype {
        ComputeDtype::F32 => DType::F32,
        ComputeDtype::Bf16 => DType::BF16,
        ComputeDtype::F16 => DType::F16,
    };
    [compute, compute, if compute == DType::F16 { DType::F32 } else { compute }]
}

/// The blocks of a model as they are held for a computation in `dtype`.
pub fn footprint(model: &Model, name: &str, dtype: ComputeDtype) -> Footprint {
    let components = model.components().zip(dtypes(dtype));
    Footprint {
        model: name.to_owned(),
        components: components.map(|(component, dtype)| component_footprint(component, dtype)).collect(),
    }
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
pub fn prompts(model: &Model, request: &Request) -> Result<Vec<Vec<u32>>, PipelineError> {
    let mut prompts = vec![&request.prompt];
    if model.denoiser.uses_negative(request.guidance) {
        prompts.push(&request.negative_prompt);
    }
    let longest = request.max_sequence_length as usize;
    prompts.into_iter().map(|prompt| Ok(model.text.tokenizer.encode_chat(prompt, longest)?)).collect()
}

/// Bytes of lists and small tensors that no formula counts.
const LISTS: u64 = 128 << 10;

/// What drawing `request` asks of `model`.
pub fn workload(model: &Model, request: &Request, prompts: &[Vec<u32>]) -> Workload {
    let [text, denoiser, autoencoder] = dtypes(request.dtype).map(|dtype| dtype.size_in_bytes());
    let lengths: Vec<usize> = prompts.iter().map(Vec::len).collect();
    let latents = model.denoiser.latents_shape(request.width, request.height);
    let steps = request.steps as usize;
    let shape = DenoiserShape {
        latents,
        batch: request.batch as usize,
        prompts: [lengths[0], lengths.get(1).copied().unwrap_or(0)],
        branches: lengths.len(),
        sigmas: steps,
        calls: request.sampler.calls(steps),
        value_bytes: denoiser,
    };
    let with_lists = |mut work: Work| {
        work.carried += LISTS;
        work
    };
    let one = |stage, work| ComponentWork { stage, ways: vec![with_lists(work)] };
    Workload {
        pictures: request.batch,
        steps: request.steps,
        components: vec![
            one(Stage::Encode, model.text.encoder.work(&lengths, text)),
            one(Stage::Denoise, model.denoiser.work(&shape)),
            ComponentWork {
                stage: Stage::Decode,
                ways: model
                    .autoencoder
                    .decode_work(request.batch as usize, [latents[1], latents[2]], autoencoder)
                    .into_iter()
                    .map(with_lists)
                    .collect(),
            },
        ],
    }
}
