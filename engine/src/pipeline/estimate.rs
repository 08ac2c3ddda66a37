//! What a model is and what a request asks of it, in the calculator's terms.

use std::collections::BTreeMap;

use super::{PipelineError, run};
use crate::{
    checkpoint::{Block, Component, Errors, Role},
    memory::{
        BlockFootprint, BlockWork, Footprint, Held, PartFootprint, PartUse, StageKind, StageWork, Work,
        Workload, part_names,
    },
    models::{Conditioning, DenoiserInput, Model, Prepared, Prompt},
    nn::{self, Computes, DType, Tensor, Trace},
    precision::Storage,
    request::{ComputeDtype, Request},
    residency::{BlockLayout, TracedBlocks},
    sampling::StepCache,
    text::{self, Tokens},
    vae::{AutoencoderKl, Tiling},
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
    let names = part_names(model.components().map(|component| component.role));
    let held = |(component, name): (&Component, String)| {
        part_footprint(name, component, dtype_of(component.role, dtype))
    };
    Footprint { model: name.to_owned(), dtype, parts: model.components().zip(names).map(held).collect() }
}

fn part_footprint(name: String, component: &Component, dtype: DType) -> PartFootprint {
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
    PartFootprint {
        name,
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

/// Bytes of lists and small tensors that are not traced.
pub const LISTS: u64 = 128 << 10;

/// What drawing `request` in `dtype` asks of `model`: its own code, run on shapes in the books of `trace`.
///
/// # Errors
/// When the network cannot do what is asked of it.
pub fn workload(
    model: &Model,
    request: &Request,
    dtype: ComputeDtype,
    prompts: &[Prompt],
    trace: &Trace,
) -> Result<Workload, PipelineError> {
    let (encode, branches) = encode_work(model, dtype, prompts, trace)?;
    let denoise = denoise_work(model, request, dtype, branches, trace)?;
    let (decode, encode_image) = autoencoder_ways(model, request, dtype, trace)?;
    let one = |(part, work)| PartUse { part, ways: vec![work] };
    let all = |ways| PartUse { part: model.autoencoder_index(), ways };
    let stages = [
        (StageKind::EncodeImage, encode_image.into_iter().map(all).collect()),
        (StageKind::EncodePrompt, encode.into_iter().enumerate().map(one).collect()),
        (StageKind::Denoise, vec![one((model.denoiser_index(), denoise))]),
        (StageKind::Decode, vec![all(decode)]),
    ];
    let stages = stages.into_iter().filter(|(_, uses): &(_, Vec<PartUse>)| !uses.is_empty());
    Ok(Workload {
        pictures: request.batch,
        steps: model.steps(request) as u32,
        stages: stages.map(|(kind, uses)| StageWork::new(kind, uses)).collect(),
    })
}

/// What a component's blocks are when they are traced.
fn traced(trace: &Trace, component: &Component, dtype: ComputeDtype) -> TracedBlocks {
    TracedBlocks::new(trace, component, dtype_of(component.role, dtype))
}

/// The work of each text encoder, and what the denoiser is told.
fn encode_work(
    model: &Model,
    dtype: ComputeDtype,
    prompts: &[Prompt],
    trace: &Trace,
) -> Result<(Vec<Work>, Vec<Conditioning>), PipelineError> {
    let mut works = Vec::new();
    let mut encoded = vec![Vec::new(); prompts.len()];
    for (index, part) in model.text.iter().enumerate() {
        let tokens: Vec<&Tokens> = prompts.iter().map(|prompt| &prompt.parts[index]).collect();
        let blocks = traced(trace, &part.component, dtype);
        let fresh = text::encode(part.encoder.as_ref(), blocks.blocks(), &tokens, prompts[0].clip_skip)?;
        encoded.iter_mut().zip(fresh).for_each(|(all, fresh)| all.push(fresh));
        works.push(Work { tile: None, carried: LISTS, blocks: blocks.take() });
    }
    let branches = encoded.into_iter().map(|encoded| model.denoiser.conditioning(encoded));
    Ok((works, branches.collect::<nn::Result<_>>()?))
}

/// The denoiser's work: one prediction traced, as often as the request takes one.
fn denoise_work(
    model: &Model,
    request: &Request,
    dtype: ComputeDtype,
    branches: Vec<Conditioning>,
    trace: &Trace,
) -> Result<Work, PipelineError> {
    let steps = model.steps(request);
    let sigmas = run::sigmas(model, request);
    let levels = run::evaluated(model, request, &sigmas);
    let [channels, height, width] = model.denoiser.latents_shape(request.width, request.height);
    let batch = request.batch as usize;
    let blocks = traced(trace, &model.denoiser_component, dtype);
    let input = run::prepare_input(model, request, &branches, &levels);
    let prepared = model.denoiser.prepare(blocks.blocks(), &input)?;
    let once = blocks.take();

    let values = |channels: usize| trace.tensor(&[batch, channels, height, width], DType::F32);
    let latents = values(channels);
    let _noise = values(channels);
    let masked = request.source.as_ref().is_some_and(|source| source.mask.is_some());
    let beside = model.denoiser.channels_beside();
    let beside = (beside > 0 && masked).then(|| values(beside));
    let input = DenoiserInput { latents: &latents, sigma: levels[0], beside: beside.as_ref() };
    let between = trace.live();
    let predict = |prepared: &Prepared| -> Result<Vec<BlockWork>, PipelineError> {
        model.denoiser.predict(blocks.blocks(), &input, prepared)?;
        Ok(blocks.take())
    };
    let mut each = predict(&prepared)?;
    let [guided, unguided] = calls(model, request);
    if guided > 0 && unguided > 0 {
        let share = unguided as f64 / (guided + unguided) as f64;
        for (block, alone) in each.iter_mut().zip(predict(&prepared.prompt_alone())?) {
            block.operations += (alone.operations - block.operations) * share;
        }
    }
    let predictions = request.sampler.calls(steps) as u32;
    let joined = once.into_iter().zip(each).map(|(mut all, each)| {
        all.join(&BlockWork { passes: each.passes * predictions, ..each });
        BlockWork { activations: all.activations.saturating_sub(between), ..all }
    });
    let blocks = joined.collect();
    // What the sampler and the step cache keep, and what stays of an image: itself, its noise and the mask.
    let stays = if masked && beside.is_none() { 3 * channels + 1 } else { 0 };
    let kept = (request.sampler.held() + StepCache::held(request.step_cache)) * channels + stays;
    let kept = batch * kept * height * width * size_of::<f32>();
    Ok(Work { tile: None, carried: LISTS + between + kept as u64, blocks })
}

/// The ways of decoding the images of the batch, and of encoding those that the request starts from, if any: whole, then
/// in ever smaller tiles.
fn autoencoder_ways(
    model: &Model,
    request: &Request,
    dtype: ComputeDtype,
    trace: &Trace,
) -> Result<(Vec<Work>, Option<Vec<Work>>), PipelineError> {
    let [_, height, width] = model.denoiser.latents_shape(request.width, request.height);
    let encoded = encodes(model, request).count();
    let (autoencoder, component) = (&model.autoencoder, &model.autoencoder_component);
    let tiles = Tiling::SIDES.into_iter().filter(|&tile| tile < height.max(width)).map(Some);
    let (mut decode, mut encode) = (Vec::new(), Vec::new());
    for tile in std::iter::once(None).chain(tiles) {
        let tiling = tile.map(Tiling::with_tile);
        let blocks = traced(trace, component, dtype);
        let batch = request.batch as usize;
        let mut work = decode_work(autoencoder, &blocks, batch, [height, width], tiling, trace)?;
        work.carried += LISTS;
        decode.push(work);
        if encoded > 0 {
            let mut blocks = encode_image_work(autoencoder, &blocks, [height, width], tiling, trace)?;
            blocks.iter_mut().for_each(|block| block.passes *= encoded as u32);
            let tile = tiling.map(|tiling| tiling.tile as u32);
            encode.push(Work { tile, carried: LISTS, blocks });
        }
    }
    Ok((decode, (encoded > 0).then_some(encode)))
}

/// What decoding `batch` images takes, one after the other, from latents of `height` by `width`.
pub fn decode_work(
    autoencoder: &AutoencoderKl,
    blocks: &TracedBlocks,
    batch: usize,
    [height, width]: [usize; 2],
    tiling: Option<Tiling>,
    trace: &Trace,
) -> Result<Work, PipelineError> {
    let shape = [batch, autoencoder.config().latent_channels, height, width];
    let latents = trace.tensor(&shape, DType::F32);
    let scaled = autoencoder.unscale(&latents.to_dtype(blocks.blocks().dtype())?)?;
    let carried = trace.live();
    trace.take();
    let image = autoencoder.decode(blocks.blocks(), &scaled.narrow(0, 0, 1)?, tiling)?;
    if trace.computes() == Computes::Processor {
        let finished = finish(image)?;
        // The values of pixels, one after the other.
        finished.neg()?;
    }
    let each = blocks.take().into_iter().map(|block| BlockWork {
        passes: block.passes * batch as u32,
        activations: block.activations.saturating_sub(carried),
        ..block
    });
    let tile = tiling.map(|tiling| tiling.tile as u32);
    Ok(Work { tile, carried, blocks: each.collect() })
}

/// A decoded image in −1…1 as f32 in 0…1.
pub fn finish(image: Tensor) -> nn::Result<Tensor> {
    image.to_dtype(DType::F32)?.affine(0.5, 0.5)
}

/// What encoding an image takes whose latents are `height` by `width`.
fn encode_image_work(
    autoencoder: &AutoencoderKl,
    blocks: &TracedBlocks,
    [height, width]: [usize; 2],
    tiling: Option<Tiling>,
    trace: &Trace,
) -> Result<Vec<BlockWork>, PipelineError> {
    let (config, scale) = (autoencoder.config(), autoencoder.scale());
    let image = trace.tensor(&[1, config.in_channels, scale * height, scale * width], DType::F32);
    // The noise of the sample and of the run, and the sample.
    let _latents = trace.tensor(&[3, config.latent_channels, height, width], DType::F32);
    trace.take();
    autoencoder.encode(blocks.blocks(), &image, tiling)?;
    Ok(blocks.take())
}
