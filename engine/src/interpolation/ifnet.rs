//! RIFE 4, Real-Time Intermediate Flow Estimation (Huang et al. 2022, arXiv:2011.06294): from coarse to fine, blocks guess
//! where each pixel of the frame between comes from in the frame before and in the one after, and which of the two to trust.

use std::ops::Range;

use super::shape::{FLOW, Head, LAYERS, Middle, Shape};
use crate::{
    nn::{
        Conv2d, DType, Result as TensorResult, Tensor, add, conv2d, doubled, leaky_relu, prelu,
        resize_between_edges, sigmoid_mul, warp,
    },
    residency::{Blocks, RunError, Weights},
    upscale::{Tiles, shuffle},
};

/// What negative values are multiplied by.
const SLOPE: f32 = 0.2;
/// Pixels that a block of the first versions may move both frames by before everything is looked at half as large.
const FAR: f32 = 32.0;
/// A frame can depend on all pixels.
const REACH: usize = usize::MAX / 2;
/// Sides of tiles that a plan may choose, from large to small. In smaller ones, nothing moves far enough.
pub const SIDES: [usize; 3] = [1024, 512, 256];

/// A network. It holds its shape but no weights; they come from the store, block by block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ifnet {
    shape: Shape,
}

/// What does not change from block to block.
struct Given {
    images: [Tensor; 2],
    /// What the head sees of each.
    seen: Option<[Tensor; 2]>,
    time: f32,
}

/// What a block has come to, in the size of the frames.
struct Guess {
    /// `[1, 4, height, width]` in f32.
    flow: Tensor,
    mask: Tensor,
    passed: Option<Tensor>,
    /// Both frames as they flow.
    warped: [Tensor; 2],
}

impl Ifnet {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape }
    }

    /// The version, or one of several with the same shape.
    pub fn version(&self) -> &'static str {
        self.shape.version()
    }

    /// How frames are cut, with tiles of this side or whole. Tiles see some of what is around them, and fade into each other.
    pub fn tiles(&self, side: Option<usize>) -> Tiles {
        Tiles::new(side, REACH, self.shape.multiple())
    }

    /// The frame at a `time` in 0…1 between two: `pair` is `[2, 3, height, width]` in 0…1, the result `[1, 3, height, width]`,
    /// about in 0…1.
    ///
    /// # Errors
    /// When weights cannot be read, memory runs out, or the run is cancelled.
    pub fn between(&self, blocks: Blocks<'_>, pair: &Tensor, time: f32) -> Result<Tensor, RunError> {
        let image = |number: usize| pair.narrow(0, number, 1);
        let mut given = Given { images: [image(0)?, image(1)?], seen: None, time };
        let heads = usize::from(self.shape.head.is_some());
        let all = 0..heads + self.shape.widths.len();
        let scales = self.shape.scales();
        let guess = if self.shape.middle == Middle::Residual {
            self.walk(blocks, all, &mut given, None, scales)?
        } else {
            let (first, last) = (0..heads + 2, heads + 2..all.end);
            let guess = self.walk(blocks, first.clone(), &mut given, None, scales)?;
            let Some((guess, moves)) = guess else { return Ok(given.images[0].clone()) };
            let is_far = is_far(&moves)?;
            drop(moves);
            if is_far {
                drop(guess);
                let coarser: Vec<usize> = scales.iter().map(|scale| 2 * scale).collect();
                let guess = self.walk(blocks, first, &mut given, None, &coarser)?;
                self.walk(blocks, last, &mut given, guess.map(|(guess, _)| guess), &coarser)?
            } else {
                self.walk(blocks, last, &mut given, Some(guess), scales)?
            }
        };
        let finished = |(guess, _): (Guess, Tensor)| (guess.mask, guess.warped);
        // There are at least four blocks.
        let Some((mask, [before, after])) = guess.map(finished) else { return Ok(given.images[0].clone()) };
        drop(given);
        let ones = Tensor::ones(mask.dims(), mask.dtype(), &mask.device())?;
        let share = sigmoid_mul(&mask, &ones)?;
        drop((mask, ones));
        let before = before.broadcast_mul(&share)?;
        Ok(add(&before, &after.broadcast_mul(&share.affine(-1.0, 1.0)?)?)?)
    }

    /// Goes through some blocks, the head among them; returns what the last one has come to, and how it changed the flow.
    fn walk(
        &self,
        blocks: Blocks<'_>,
        range: Range<usize>,
        given: &mut Given,
        before: Option<Guess>,
        scales: &[usize],
    ) -> Result<Option<(Guess, Tensor)>, RunError> {
        let heads = usize::from(self.shape.head.is_some());
        let mut before = before;
        let mut last = None;
        blocks.walk(range, |number, w| {
            match (number.checked_sub(heads), self.shape.head) {
                (None, Some(head)) => {
                    let [one, other] = &given.images;
                    given.seen = Some([see(w, head, one)?, see(w, head, other)?]);
                }
                (Some(block), _) => {
                    let known = last.take().map(|(guess, _)| guess).or_else(|| before.take());
                    last = Some(self.guess(w, given, known, (block, scales[block]))?);
                }
                (None, None) => {}
            }
            Ok(())
        })?;
        Ok(last)
    }

    /// What a block makes of what the ones before it have come to, in images that are `scale` times smaller, and how it changed
    /// the flow.
    fn guess(
        &self,
        w: &Weights<'_>,
        given: &mut Given,
        before: Option<Guess>,
        (block, scale): (usize, usize),
    ) -> TensorResult<(Guess, Tensor)> {
        let x = self.looked_at(given, before.as_ref(), scale)?;
        let before = before.map(|guess| (guess.flow, guess.mask));
        if block + 1 == self.shape.widths.len() {
            given.seen = None;
        }
        let said = self.block(w, x)?;
        // The first versions leave the last doubling to the resizing.
        let grown = if self.shape.middle == Middle::Prelu { 2 * scale } else { scale };
        let moves = larger(&said.narrow(1, 0, FLOW)?.to_dtype(DType::F32)?, grown)?;
        let moves = if grown == 1 { moves } else { moves.affine(grown as f64, 0.0)? };
        let mask = larger(&said.narrow(1, FLOW, 1)?, grown)?;
        let passed = match self.shape.passed() {
            0 => None,
            channels => Some(larger(&said.narrow(1, FLOW + 1, channels)?, grown)?),
        };
        drop(said);
        let (flow, mask) = match before {
            // Without a head, each block changes the mask; with one, each makes its own.
            Some((flow, old)) => {
                let mask = if self.shape.head.is_none() { add(&old, &mask)? } else { mask };
                (add(&flow, &moves)?, mask)
            }
            None => (moves.clone(), mask),
        };
        let warped = flowing(&given.images, &flow)?;
        Ok((Guess { flow, mask, passed, warped }, moves))
    }

    /// What a block reads.
    fn looked_at(&self, given: &Given, before: Option<&Guess>, scale: usize) -> TensorResult<Tensor> {
        let dtype = given.images[0].dtype();
        let mut parts = Vec::new();
        let images = before.map_or(&given.images, |before| &before.warped);
        for image in images {
            parts.push(smaller(image, scale)?);
        }
        if let Some(seen) = &given.seen {
            for (number, seen) in seen.iter().enumerate() {
                parts.push(match before {
                    Some(before) => smaller(&warp(seen, &half(&before.flow, number)?)?, scale)?,
                    None => smaller(seen, scale)?,
                });
            }
        }
        let (_, _, height, width) = parts[0].dims4()?;
        let ones = Tensor::ones((1, 1, height, width), dtype, &parts[0].device())?;
        parts.push(ones.affine(f64::from(given.time), 0.0)?);
        if let Some(Guess { flow, mask, passed, .. }) = before {
            parts.push(smaller(mask, scale)?);
            if let Some(passed) = passed {
                parts.push(smaller(passed, scale)?);
            }
            let flow = smaller(flow, scale)?;
            let flow = if scale == 1 { flow } else { flow.affine(1.0 / scale as f64, 0.0)? };
            parts.push(flow.to_dtype(dtype)?);
        }
        Tensor::cat(&parts, 1)
    }

    /// The convolutions of a block.
    fn block(&self, w: &Weights<'_>, mut x: Tensor) -> TensorResult<Tensor> {
        let is_prelu = self.shape.middle == Middle::Prelu;
        let activated = |x: &Tensor, slopes: &str| match is_prelu {
            true => prelu(x, &w.get(&format!("{slopes}.weight"))?),
            false => leaky_relu(x, SLOPE),
        };
        x = activated(&w.conv2d("conv0.0.0", &x, Conv2d::HALVE_3X3)?, "conv0.0.1")?;
        x = activated(&w.conv2d("conv0.1.0", &x, Conv2d::HALVE_3X3)?, "conv0.1.1")?;
        let around = is_prelu.then(|| x.clone());
        for layer in 0..LAYERS {
            let name = format!("convblock.{layer}");
            x = if is_prelu {
                let made = w.conv2d(&format!("{name}.0"), &x, Conv2d::SAME_3X3)?;
                prelu(&made, &w.get(&format!("{name}.1.weight"))?)?
            } else {
                leaky_relu(&add(&scaled(w, &name, &x)?, &x)?, SLOPE)?
            };
        }
        if let Some(around) = around {
            x = add(&x, &around)?;
            return doubled(&x, &w.get("lastconv.weight")?, &w.get("lastconv.bias")?);
        }
        shuffle(&doubled(&x, &w.get("lastconv.0.weight")?, &w.get("lastconv.0.bias")?)?, 2)
    }
}

/// What the head sees of a frame, in its size.
fn see(w: &Weights<'_>, head: Head, image: &Tensor) -> TensorResult<Tensor> {
    let Some((last, layers)) = head.layers().split_last() else { return Ok(image.clone()) };
    let mut x = image.clone();
    for (number, name) in layers.iter().enumerate() {
        let conv = if number == 0 { Conv2d::HALVE_3X3 } else { Conv2d::SAME_3X3 };
        x = w.conv2d(name, &x, conv)?;
        if head.is_activated() {
            x = leaky_relu(&x, SLOPE)?;
        }
    }
    doubled(&x, &w.get(&format!("{last}.weight"))?, &w.get(&format!("{last}.bias"))?)
}

/// A convolution whose channels are scaled: its kernel is, which is smaller than what it makes.
fn scaled(w: &Weights<'_>, name: &str, x: &Tensor) -> TensorResult<Tensor> {
    let scale = w.get(&format!("{name}.beta"))?;
    let channels = scale.elem_count();
    let kernel =
        w.get(&format!("{name}.conv.weight"))?.broadcast_mul(&scale.reshape((channels, 1, 1, 1))?)?;
    let bias = (w.get(&format!("{name}.conv.bias"))? * scale.reshape(channels)?)?;
    conv2d(x, &kernel, Some(&bias), Conv2d::SAME_3X3)
}

/// The part of a flow that leads to the frame before, 0, or to the one after, 1.
fn half(flow: &Tensor, number: usize) -> TensorResult<Tensor> {
    flow.narrow(1, FLOW / 2 * number, FLOW / 2)
}

fn flowing(images: &[Tensor; 2], flow: &Tensor) -> TensorResult<[Tensor; 2]> {
    Ok([warp(&images[0], &half(flow, 0)?)?, warp(&images[1], &half(flow, 1)?)?])
}

fn smaller(x: &Tensor, scale: usize) -> TensorResult<Tensor> {
    let (_, _, height, width) = x.dims4()?;
    resize_between_edges(x, [height / scale, width / scale])
}

fn larger(x: &Tensor, scale: usize) -> TensorResult<Tensor> {
    let (_, _, height, width) = x.dims4()?;
    resize_between_edges(x, [height * scale, width * scale])
}

/// Whether a change of the flow moves some pixel of each frame far. A traced one does not.
fn is_far(moves: &Tensor) -> TensorResult<bool> {
    let Ok(moves) = moves.computed() else { return Ok(false) };
    let farthest = |first: usize| -> TensorResult<f32> {
        moves.narrow(1, first, FLOW / 2)?.abs()?.flatten_all()?.max(0)?.to_scalar()
    };
    Ok(farthest(0)? > FAR && farthest(FLOW / 2)? > FAR)
}
