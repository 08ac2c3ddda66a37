//! Windows of a clip's latent frames.

use std::ops::Range;

use candle_core::{Result, Tensor};

use super::{Denoiser, LatentShape};
use crate::request::{Request, Windows};

/// The axis of frames in latents of clips.
const FRAMES: usize = 2;

/// The windows in which a clip is denoised: latent frames, in order, each with the one before it in common as the request
/// says, or more at the end. One window if the request has none, or the clip is no longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameWindows(Vec<Range<usize>>);

/// What is predicted of a window.
#[derive(Debug)]
pub struct Window {
    /// Its first latent frame.
    pub start: usize,
    /// Its latents.
    pub latents: Tensor,
    /// Its part of what the network reads beside them.
    pub beside: Option<Tensor>,
}

impl FrameWindows {
    /// The windows of a request for a network.
    pub fn new(request: &Request, denoiser: &dyn Denoiser) -> Self {
        let latents = denoiser.latents(request.canvas());
        let multiple = denoiser.frame_multiple();
        let (length, overlap) = match request.windows {
            Some(Windows { frames, overlap }) => {
                ((frames.saturating_sub(1) / multiple + 1) as usize, overlap.div_ceil(multiple) as usize)
            }
            None => (latents.frames, 0),
        };
        Self::of(latents.frames, length, overlap.min(length - 1))
    }

    fn of(all: usize, length: usize, overlap: usize) -> Self {
        let length = length.min(all);
        let last = all - length;
        let starts = (0..last).step_by(length.saturating_sub(overlap).max(1)).chain([last]);
        Self(starts.map(|start| start..start + length).collect())
    }

    /// Number of windows.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The shape of a window's latents, from that of the clip's.
    pub fn shape(&self, clip: LatentShape) -> LatentShape {
        LatentShape { frames: self.0[0].len(), ..clip }
    }

    /// Blends what `predict` returns for the windows of a clip's latents, and of what a network reads beside them. A single
    /// window is what `predict` returns.
    ///
    /// # Errors
    /// Those of `predict`.
    pub fn predicted<E: From<candle_core::Error>>(
        &self,
        latents: &Tensor,
        beside: Option<&Tensor>,
        predict: impl FnOnce(&[Window]) -> std::result::Result<Vec<Tensor>, E>,
    ) -> std::result::Result<Tensor, E> {
        let cut = |window: &Range<usize>| -> Result<Window> {
            let of = |tensor: &Tensor| match self.count() {
                1 => Ok(tensor.clone()),
                _ => tensor.narrow(FRAMES, window.start, window.len())?.contiguous(),
            };
            Ok(Window { start: window.start, latents: of(latents)?, beside: beside.map(of).transpose()? })
        };
        let mut predicted = predict(&self.0.iter().map(cut).collect::<Result<Vec<_>>>()?)?;
        if self.count() == 1
            && let Some(whole) = predicted.pop()
        {
            return Ok(whole);
        }
        let mut sum: Option<Tensor> = None;
        for (window, predicted) in self.0.iter().zip(predicted) {
            let weighted = predicted.broadcast_mul(&self.shares(window, &predicted)?)?;
            let after = latents.dim(FRAMES)? - window.end;
            let padded = weighted.pad_with_zeros(FRAMES, window.start, after)?;
            sum = Some(match sum {
                Some(sum) => (sum + padded)?,
                None => padded,
            });
        }
        sum.ok_or_else(|| candle_core::Error::Msg("a clip has at least one window".to_owned()).into())
    }

    /// How much each frame of a window counts, `[1, 1, frames, 1, 1]`: less towards the ends, and 1 in all for each
    /// frame of the clip.
    fn shares(&self, window: &Range<usize>, like: &Tensor) -> Result<Tensor> {
        let weight = |window: &Range<usize>, frame: usize| {
            if window.contains(&frame) { (frame + 1 - window.start).min(window.end - frame) } else { 0 }
        };
        let share = |frame: usize| {
            let all: usize = self.0.iter().map(|other| weight(other, frame)).sum();
            weight(window, frame) as f32 / all as f32
        };
        let shares: Vec<f32> = window.clone().map(share).collect();
        Tensor::from_vec(shares, (1, 1, window.len(), 1, 1), like.device())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn windows_cover_a_clip() {
        for (all, length, overlap, starts) in [
            (21, 21, 4, &[0][..]),
            (21, 40, 4, &[0]),
            (61, 21, 4, &[0, 17, 34, 40]),
            (10, 5, 0, &[0, 5]),
            (7, 3, 2, &[0, 1, 2, 3, 4]),
            (1, 1, 0, &[0]),
        ] {
            let windows: Vec<_> = starts.iter().map(|start| *start..start + length.min(all)).collect();
            assert_eq!(FrameWindows::of(all, length, overlap).0, windows, "{all} {length} {overlap}");
        }
    }

    proptest! {
        /// Predictions that are the same in all windows are not changed by blending, and every frame is predicted.
        #[test]
        fn blending_keeps_what_windows_agree_on(all in 1_usize..40, length in 1_usize..20, overlap in 0_usize..19) {
            let windows = FrameWindows::of(all, length, overlap.min(length - 1));
            let clip = Tensor::arange(0_f32, (2 * all) as f32, &Device::Cpu).unwrap();
            let clip = clip.reshape((1, 2, all, 1, 1)).unwrap();
            let mut seen = vec![false; all];
            let same = windows.predicted::<candle_core::Error>(&clip, None, |windows| {
                for Window { start, latents, beside } in windows {
                    assert!(beside.is_none());
                    (*start..start + latents.dims()[FRAMES]).for_each(|frame| seen[frame] = true);
                }
                Ok(windows.iter().map(|window| window.latents.clone()).collect())
            });
            prop_assert!(seen.iter().all(|seen| *seen));
            let farthest = (same.unwrap() - &clip).unwrap().abs().unwrap().max_all().unwrap();
            let farthest = farthest.to_dtype(DType::F64).unwrap().to_scalar::<f64>().unwrap();
            prop_assert!(farthest <= 1e-6 * (2 * all) as f64, "{}", farthest);
        }
    }
}
