//! Helpers of autoencoders that work on lists of frames.

use crate::nn::{Result, Tensor, bail};

/// Frames `[1, channels, height, width]`, in order.
pub(super) type Frames = Vec<Tensor>;

/// Applies `work` to each frame, which is freed before the next one.
pub(super) fn each(frames: Frames, work: impl FnMut(Tensor) -> Result<Tensor>) -> Result<Frames> {
    frames.into_iter().map(work).collect()
}

/// Stacks frames along time. Of traced ones there may be fewer than `count`.
pub(super) fn stacked(mut frames: Frames, count: usize) -> Result<Tensor> {
    let Some(last) = frames.last().cloned() else { bail!("a clip without frames") };
    frames.resize(count, last);
    Tensor::stack(&frames, 2)
}

/// A clip of one frame, from an image; clips stay as they are.
pub(super) fn as_clip(x: &Tensor) -> Result<Tensor> {
    if x.rank() == 4 { x.unsqueeze(2) } else { Ok(x.clone()) }
}

/// A value for each channel, shaped for latents of this rank.
pub(super) fn per_channel(values: impl IntoIterator<Item = f32>, latents: &Tensor) -> Result<Tensor> {
    let values: Vec<f32> = values.into_iter().collect();
    let mut shape = vec![1; latents.rank()];
    shape[1] = values.len();
    Tensor::from_vec(values, shape, &latents.device())?.to_dtype(latents.dtype())
}
