//! Modulation of tokens of which the first may have no noise: those of frames that are given.

use std::ops::Range;

use super::Prepared;
use crate::nn::{Result, Tensor};

/// What the noise levels of tokens add to a block's tables.
#[derive(Debug, Clone, Copy)]
pub struct TokenLevels<'a> {
    /// For the tokens with noise.
    noisy: &'a [Tensor],
    /// The number of the tokens before them, and the same for those.
    clean: Option<(usize, &'a [Tensor])>,
}

/// Modulations of tokens.
pub struct Modulated {
    noisy: Vec<Tensor>,
    clean: Option<(usize, Vec<Tensor>)>,
}

/// Noise levels to prepare: those of the predictions, and that of frames without noise if some are `clean`.
pub fn levels_of(sigmas: &[f32], clean: usize) -> Vec<f32> {
    sigmas.iter().copied().chain((clean > 0).then_some(0.0)).collect()
}

impl<'a> TokenLevels<'a> {
    /// Tokens at noise level `sigma`, except for the first `clean` ones.
    ///
    /// # Errors
    /// When a level was not prepared.
    pub fn new(prepared: &'a Prepared, sigma: f32, clean: usize) -> Result<Self> {
        let clean = match clean {
            0 => None,
            count => Some((count, prepared.modulation(0.0)?)),
        };
        Ok(Self { noisy: prepared.modulation(sigma)?, clean })
    }

    /// The modulations that `of` computes from the tensor with this index of each level.
    pub fn modulated(&self, index: usize, of: impl Fn(&Tensor) -> Result<Vec<Tensor>>) -> Result<Modulated> {
        let clean = match self.clean {
            Some((count, tensors)) => Some((count, of(&tensors[index])?)),
            None => None,
        };
        Ok(Modulated { noisy: of(&self.noisy[index])?, clean })
    }
}

impl Modulated {
    /// Ranges of tokens, at most `most` each, with their modulations.
    pub fn ranges(&self, tokens: usize, most: usize) -> Vec<(Range<usize>, &[Tensor])> {
        let split = self.clean.as_ref().map_or(0, |(count, _)| *count);
        let cut = |all: Range<usize>| {
            let end = all.end;
            all.step_by(most).map(move |start| start..(start + most).min(end))
        };
        let clean = self.clean.iter().flat_map(|(_, own)| cut(0..split).map(|range| (range, own.as_slice())));
        clean.chain(cut(split..tokens).map(|range| (range, self.noisy.as_slice()))).collect()
    }

    /// `work` on the tokens of some tensors `[batch, tokens, width]`, with their modulation.
    pub fn apply<const N: usize>(
        &self,
        tensors: [&Tensor; N],
        work: impl Fn([&Tensor; N], &[Tensor]) -> Result<Tensor>,
    ) -> Result<Tensor> {
        if self.clean.is_none() {
            return work(tensors, &self.noisy);
        }
        let tokens = tensors[0].dim(1)?;
        let part = |(range, own): (Range<usize>, &[Tensor])| {
            let parts = tensors.iter().map(|tensor| tensor.narrow(1, range.start, range.len())?.contiguous());
            let parts = parts.collect::<Result<Vec<_>>>()?;
            work(std::array::from_fn(|index| &parts[index]), own)
        };
        let parts = self.ranges(tokens, tokens).into_iter().map(part).collect::<Result<Vec<_>>>()?;
        Tensor::cat(&parts, 1)
    }
}
