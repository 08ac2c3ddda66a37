//! The layers of LTX-Video's autoencoder, over lists of frames.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, VecDeque},
};

use super::config::{Halving, UpLevel};
use crate::{
    nn::{Conv2d, Result, Tensor, add, channel_norm, silu},
    residency::Weights,
    vae::frames::Frames,
};

/// Frames that a kernel over time spans.
const SPAN: usize = 3;

/// The frames of a clip `[1, channels, frames, height, width]`.
pub fn frames_of(clip: &Tensor) -> Result<Frames> {
    (0..clip.dim(2)?).map(|index| clip.narrow(2, index, 1)?.squeeze(2)?.contiguous()).collect()
}

/// The frame's channels normalized by their mean square, modulated by shift and scale if there are any, and SiLU.
pub fn normed(x: &Tensor, modulation: Option<&[Tensor; 2]>) -> Result<Tensor> {
    let ones = Tensor::ones(x.dim(1)?, x.dtype(), &x.device())?;
    let Some([shift, scale]) = modulation else { return channel_norm(x, &ones, true) };
    let channels = x.dim(1)?;
    let scale = scale.affine(1.0, 1.0)?.reshape(channels)?;
    let h = channel_norm(x, &scale, false)?;
    silu(&h.broadcast_add(&shift.reshape((1, channels, 1, 1))?)?)
}

/// Layer norm over the channels of each pixel.
pub fn layer_normed(w: &Weights, name: &str, x: &Tensor, eps: f64) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    let pixels = x.flatten_from(2)?.transpose(1, 2)?.contiguous()?;
    let normed = w.layer_norm(name, &pixels, eps)?;
    normed.transpose(1, 2)?.contiguous()?.reshape((batch, channels, height, width))
}

/// How convolutions reach over time.
#[derive(Debug)]
pub enum Time {
    /// They see the frame before and the frame after. The first and the last frame are repeated.
    Around,
    /// They see the two frames before, also of earlier calls. The first frame of all is repeated.
    Past(Past),
}

/// The last two frames that each convolution has seen, by block and name.
#[derive(Debug, Default)]
pub struct Past {
    block: Cell<usize>,
    seen: RefCell<HashMap<(usize, String), Frames>>,
}

impl Time {
    /// At the start of a clip.
    pub fn new(is_causal: bool) -> Self {
        if is_causal { Self::Past(Past::default()) } else { Self::Around }
    }

    /// Tells that the convolutions of a block follow. Their names are only unique within it.
    pub fn enter(&self, block: usize) {
        if let Self::Past(past) = self {
            past.block.set(block);
        }
    }

    /// Whether a convolution has not seen any frames yet.
    fn begins(&self, name: &str) -> bool {
        let Self::Past(past) = self else { return true };
        !past.seen.borrow().contains_key(&(past.block.get(), name.to_owned()))
    }

    /// The frames with those around them that a convolution sees.
    fn padded(&self, name: &str, frames: Frames) -> Frames {
        let (Some(first), Some(last)) = (frames.first().cloned(), frames.last().cloned()) else {
            return frames;
        };
        let Self::Past(past) = self else { return [vec![first], frames, vec![last]].concat() };
        let (key, mut seen) = ((past.block.get(), name.to_owned()), past.seen.borrow_mut());
        let before = seen.remove(&key).unwrap_or_else(|| vec![first; SPAN - 1]);
        let padded = [before, frames].concat();
        seen.insert(key, padded[padded.len() + 1 - SPAN..].to_vec());
        padded
    }
}

/// A convolution over time and space.
pub fn convolve(w: &Weights, name: &str, frames: Frames, time: &Time) -> Result<Frames> {
    let name = format!("{name}.conv");
    let mut padded: VecDeque<Tensor> = time.padded(&name, frames).into();
    let mut convolved = Vec::with_capacity(padded.len());
    while padded.len() >= SPAN {
        let seen: Vec<&Tensor> = padded.iter().take(SPAN).collect();
        convolved.push(w.conv3d(&name, &seen, Conv2d::SAME_3X3)?);
        padded.pop_front();
    }
    Ok(convolved)
}

/// Makes frames fewer or smaller.
pub fn halved(w: &Weights, halving: Halving, frames: Frames, time: &Time) -> Result<Frames> {
    match halving {
        Halving::Strided => strided(w, frames, time),
        Halving::Folded { frames: together, side } => folded(w, together, side, frames, time),
    }
}

/// Halves the number of frames, their height and their width by leaving out values. All but the first frame come in
/// pairs.
fn strided(w: &Weights, frames: Frames, time: &Time) -> Result<Frames> {
    let name = "downsamplers.0.conv";
    let begins = time.begins(name);
    let padded = time.padded(name, frames);
    let windows = padded.windows(SPAN).skip(usize::from(!begins)).step_by(2);
    let convolved = windows.map(|window| {
        let seen: Vec<&Tensor> = window.iter().collect();
        w.conv3d(name, &seen, Conv2d::HALVE_3X3)
    });
    convolved.collect()
}

/// Makes neighbouring values channels of one value: `together` frames and `side` by `side` pixels. The shortcut around
/// the convolution averages as many channels as become one.
fn folded(w: &Weights, together: usize, side: usize, mut x: Frames, time: &Time) -> Result<Frames> {
    let name = "downsamplers.0.conv";
    if let Some(first) = x.first().cloned().filter(|_| time.begins(&format!("{name}.conv"))) {
        x.splice(0..0, std::iter::repeat_n(first, together - 1));
    }
    let fold = |frames: &[Tensor]| -> Result<Tensor> {
        let parts = frames.iter().map(|frame| fold_pixels(frame, side)).collect::<Result<Vec<_>>>()?;
        let all = Tensor::stack(&parts, 1)?;
        let (channels, rows, columns) = (frames.len() * all.dim(0)? * side * side, all.dim(3)?, all.dim(4)?);
        all.reshape((1, channels, rows, columns))
    };
    let shortcut = x.chunks(together).map(fold).collect::<Result<Vec<_>>>()?;
    let convolved = convolve(w, name, x, time)?;
    let both = convolved.chunks(together).zip(shortcut).map(|(convolved, direct)| {
        let folded = fold(convolved)?;
        add(&folded, &averaged(&direct, folded.dim(1)?)?)
    });
    both.collect()
}

/// Squares of pixels as channels: `[1, channels, height, width]` to `[channels, side², height / side, width / side]`.
fn fold_pixels(frame: &Tensor, side: usize) -> Result<Tensor> {
    let (_, channels, height, width) = frame.dims4()?;
    let [rows, columns] = [height / side, width / side];
    let split = frame.reshape((channels, rows, side, columns, side))?;
    split.permute([0, 2, 4, 1, 3])?.reshape((channels, side * side, rows, columns))
}

/// The means of neighbouring channels, of which `channels` are left.
fn averaged(x: &Tensor, channels: usize) -> Result<Tensor> {
    let (_, all, height, width) = x.dims4()?;
    let each = all / channels;
    let groups = x.reshape((channels, each, height, width))?;
    let mut sum = groups.narrow(1, 0, 1)?.contiguous()?;
    for index in 1..each {
        sum = (sum + groups.narrow(1, index, 1)?)?;
    }
    sum.affine(1.0 / each as f64, 0.0)?.reshape((1, channels, height, width))
}

/// Doubles the number of frames, their height and their width; the first frame stays alone.
pub fn doubled(w: &Weights, level: &UpLevel, x: Frames, time: &Time) -> Result<Frames> {
    let shortcut = if level.has_shortcut { x.clone() } else { Vec::new() };
    let convolved = convolve(w, "upsamplers.0.conv", x, time)?;
    let mut shortcut = shortcut.into_iter();
    let mut doubled = Vec::with_capacity(2 * convolved.len());
    for frame in convolved {
        let direct = shortcut.next().map(|frame| unfold(&frame)).transpose()?;
        for (number, frame) in unfold(&frame)?.into_iter().enumerate() {
            let Some(direct) = &direct else {
                doubled.push(frame);
                continue;
            };
            let direct = &direct[number];
            let repeats = frame.dim(1)? / direct.dim(1)?;
            doubled.push(add(&frame, &Tensor::cat(&vec![direct.clone(); repeats], 1)?)?);
        }
    }
    doubled.remove(0);
    Ok(doubled)
}

/// Two frames of twice the height and width from the channels of one.
fn unfold(frame: &Tensor) -> Result<Frames> {
    let (_, values, height, width) = frame.dims4()?;
    let channels = values / 8;
    let split = frame.reshape((channels, 2, 4, height * width))?;
    let half = |number: usize| {
        let half = split.narrow(1, number, 1)?.contiguous()?.reshape((channels, 2, 2, height, width))?;
        half.permute([0, 3, 1, 4, 2])?.reshape((1, channels, 2 * height, 2 * width))
    };
    Ok(vec![half(0)?, half(1)?])
}
