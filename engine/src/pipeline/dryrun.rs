//! Tries what a request would take: every kind of block once, at the real shape, with weights of zero.

use std::sync::Arc;

use candle_core::{DType, Tensor};

use super::{LoadedModel, PipelineError, run::prepare_input};
use crate::{
    hardware::MemoryAccount,
    memory::Work,
    models::{DenoiserInput, Prompt},
    request::Request,
    residency::{CpuMemory, Executor, WeightStore},
    text::{self, Tokens},
    vae::Tiling,
};

/// What was measured, as factors of what the formulas say.
#[derive(Debug, Clone)]
pub struct Tried {
    /// Activations of each component, in the order of the model's components.
    pub activations: Vec<f64>,
    /// Floating-point operations a second in the denoiser's blocks.
    pub operations_per_second: f64,
}

/// Runs the encoders, one prediction and one tile, with a block of each kind, and reads the peaks back. No weight is
/// read; memory is taken for one block of weights at a time.
pub fn try_out(
    loaded: &LoadedModel,
    request: &Request,
    prompts: &[Prompt],
    sigmas: &[f32],
    works: &[&Work],
) -> Result<Tried, PipelineError> {
    let model = &loaded.model;
    let blank = |index: usize| {
        let store = &loaded.stores[index];
        // A card's own count has weights in it, so they have to be in the books as well.
        match store.memory().pool() {
            Some(_) => {
                let (memory, account) = (Arc::clone(store.memory()), Arc::clone(&loaded.account));
                WeightStore::blank(store.component().clone(), store.dtype(), memory, account)
            }
            None => {
                let memory = Arc::new(CpuMemory);
                WeightStore::blank(store.component().clone(), store.dtype(), memory, MemoryAccount::new())
            }
        }
    };
    let peak =
        |work: &Work| loaded.account.take_peaks().activations as f64 / work.peak_activations().max(1) as f64;
    let once = Executor::default();
    let kinds = once.of_each_kind();

    let mut activations = Vec::new();
    let mut encoded = vec![Vec::new(); prompts.len()];
    for (index, part) in model.text.iter().enumerate() {
        let tokens: Vec<&Tokens> = prompts.iter().map(|prompt| &prompt.parts[index]).collect();
        loaded.account.take_peaks();
        let (encoder, store) = (part.encoder.as_ref(), blank(index));
        let fresh = text::encode(encoder, &kinds, &store, &tokens, prompts[0].clip_skip)?;
        encoded.iter_mut().zip(fresh).for_each(|(all, fresh)| all.push(fresh));
        activations.push(peak(works[index]));
    }

    let (number, denoiser) = (model.denoiser_index(), blank(model.denoiser_index()));
    let branches: Vec<_> =
        encoded.into_iter().map(|encoded| model.denoiser.conditioning(encoded)).collect::<Result<_, _>>()?;
    loaded.account.take_peaks();
    let given = prepare_input(model, request, &branches, sigmas);
    let prepared = model.denoiser.prepare(&kinds, &denoiser, &given)?;
    denoiser.take_measured();
    let [channels, height, width] = model.denoiser.latents_shape(request.width, request.height);
    let shape = [request.batch as usize, channels, height, width];
    let device = denoiser.device();
    let latents = Tensor::zeros(&shape, DType::F32, device)?;
    let channels = model.denoiser.channels_beside();
    let beside = Tensor::zeros((shape[0], channels, height, width), DType::F32, device)?;
    let beside = (channels > 0).then_some(&beside);
    let input = DenoiserInput { latents: &latents, sigma: sigmas[0], beside };
    let outputs = model.denoiser.predict(&kinds, &denoiser, &input, &prepared)?;
    activations.push(peak(works[number]));
    let tried = denoiser.take_measured().into_iter().zip(&works[number].blocks);
    let (operations, seconds) = tried.fold((0.0, 0.0), |(operations, seconds), (block, work)| {
        (operations + work.operations * f64::from(block.passes), seconds + block.compute.as_secs_f64())
    });
    drop((prepared, outputs, branches));

    let number = model.autoencoder_index();
    let store = blank(number);
    let latents = latents.narrow(0, 0, 1)?.to_dtype(store.dtype())?;
    let tile = works[number].tile.map(|tile| tile as usize);
    let size = |side: usize| tile.map_or(side, |tile| side.min(tile));
    let corner = latents.narrow(2, 0, size(height))?.narrow(3, 0, size(width))?.contiguous()?;
    loaded.account.take_peaks();
    model.autoencoder.decode(&once, &store, &corner, None::<Tiling>)?;
    // What the stage holds beside the tile is counted, not tried.
    let tried = loaded.account.take_peaks().activations as f64;
    let counted = works[number].peak_activations().max(1) as f64;
    let alone = counted - works[number].carried as f64;
    activations.push((counted - alone + tried) / counted);

    Ok(Tried { activations, operations_per_second: if seconds > 0.0 { operations / seconds } else { 0.0 } })
}
