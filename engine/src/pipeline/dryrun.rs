//! Tries what a request would take: every kind of block once, at the real shape, with weights of zero.

use candle_core::{DType, Device, Tensor};

use super::{
    LoadedModel, PipelineError,
    loaded::{AUTOENCODER, DENOISER, TEXT},
};
use crate::{
    hardware::MemoryAccount,
    memory::Work,
    models::{Conditioning, DenoiserInput},
    request::Request,
    residency::{Executor, WeightStore},
    vae::Tiling,
};

/// What was measured, as factors of what the formulas say.
#[derive(Debug, Clone, Copy)]
pub struct Tried {
    /// Activations of each component, in the order of the model's components.
    pub activations: [f64; 3],
    /// Floating-point operations a second in the denoiser's blocks.
    pub operations_per_second: f64,
}

/// Runs the encoder, one prediction and one tile, with a block of each kind, and reads the peaks back. No weight is
/// read; memory is taken for one block of weights at a time.
pub fn try_out(
    loaded: &LoadedModel,
    request: &Request,
    prompts: &[Vec<u32>],
    sigmas: &[f32],
    works: [&Work; 3],
) -> Result<Tried, PipelineError> {
    let model = &loaded.model;
    let blank = |index: usize| {
        let (component, dtype) = (loaded.stores[index].component().clone(), loaded.stores[index].dtype());
        WeightStore::blank(component, dtype, MemoryAccount::new())
    };
    let peak =
        |work: &Work| loaded.account.take_peaks().activations as f64 / work.peak_activations().max(1) as f64;
    let once = Executor::default();
    let (kinds, text, denoiser) = (once.of_each_kind(), blank(TEXT), blank(DENOISER));

    loaded.account.take_peaks();
    let prompts = model.text.encoder.penultimate(&kinds, &text, prompts)?;
    let text_factor = peak(works[TEXT]);

    let branches: Vec<_> = prompts.into_iter().map(|prompt| Conditioning { prompt }).collect();
    let prepared = model.denoiser.prepare(&kinds, &denoiser, &branches, sigmas)?;
    denoiser.take_measured();
    let [channels, height, width] = model.denoiser.latents_shape(request.width, request.height);
    let shape = [request.batch as usize, channels, height, width];
    let latents = Tensor::zeros(&shape, DType::F32, &Device::Cpu)?;
    let input = DenoiserInput { latents: &latents, sigma: sigmas[0] };
    let outputs = model.denoiser.predict(&kinds, &denoiser, &input, &prepared)?;
    let denoiser_factor = peak(works[DENOISER]);
    let tried = denoiser.take_measured().into_iter().zip(&works[DENOISER].blocks);
    let (operations, seconds) = tried.fold((0.0, 0.0), |(operations, seconds), (block, work)| {
        (operations + work.operations * f64::from(block.passes), seconds + block.compute.as_secs_f64())
    });
    drop((prepared, outputs, branches));

    let store = blank(AUTOENCODER);
    let latents = latents.narrow(0, 0, 1)?.to_dtype(store.dtype())?;
    let tile = works[AUTOENCODER].tile.map(|tile| tile as usize);
    let size = |side: usize| tile.map_or(side, |tile| side.min(tile));
    let corner = latents.narrow(2, 0, size(height))?.narrow(3, 0, size(width))?.contiguous()?;
    loaded.account.take_peaks();
    model.autoencoder.decode(&once, &store, &corner, None::<Tiling>)?;
    // What the stage holds beside the tile is counted, not tried.
    let tried = loaded.account.take_peaks().activations as f64;
    let counted = works[AUTOENCODER].peak_activations().max(1) as f64;
    let alone = counted - works[AUTOENCODER].carried as f64;
    let autoencoder_factor = (counted - alone + tried) / counted;

    Ok(Tried {
        activations: [text_factor, denoiser_factor, autoencoder_factor],
        operations_per_second: if seconds > 0.0 { operations / seconds } else { 0.0 },
    })
}
