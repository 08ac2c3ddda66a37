//! Reordering in the autoencoder of Wan 2.2 5B: patches of pixels as channels, and shortcuts that change the resolution.

use crate::nn::{Result, Tensor, bail};

/// Patches of pixels as channels: `[1, channels, height, width]` to
/// `[1, channels · side · side, height / side, width / side]`. Columns of a patch come before its rows.
pub fn split(x: &Tensor, side: usize) -> Result<Tensor> {
    if side == 1 {
        return Ok(x.clone());
    }
    let (batch, channels, height, width) = x.dims4()?;
    let patches = x.reshape((batch, channels, height / side, side, width / side, side))?;
    let patches = patches.permute([0, 1, 5, 3, 2, 4])?;
    patches.reshape((batch, channels * side * side, height / side, width / side))
}

/// The opposite of [`split`].
pub fn joined(x: &Tensor, side: usize) -> Result<Tensor> {
    if side == 1 {
        return Ok(x.clone());
    }
    let (batch, channels, height, width) = x.dims4()?;
    let colours = channels / (side * side);
    let pixels = x.reshape((batch, colours, side, side, height, width))?.permute([0, 1, 4, 3, 5, 2])?;
    pixels.reshape((batch, colours, height * side, width * side))
}

/// Frames of `outputs` channels at a lower resolution: each channel is the mean of some channels of `times` frames and
/// `side` by `side` pixels. Zeros before the first frame complete the first group.
pub fn averaged(x: &[Tensor], outputs: usize, times: usize, side: usize) -> Result<Vec<Tensor>> {
    let Some(first) = x.first() else { return Ok(Vec::new()) };
    let (batch, channels, height, width) = first.dims4()?;
    let together = channels * times * side * side / outputs.max(1);
    let mut frames = vec![first.zeros_like()?; (times - x.len() % times) % times];
    frames.extend(x.iter().cloned());
    let mean = |group: &[Tensor]| {
        let group = Tensor::stack(group, 2)?;
        // Channels, frames, rows and columns of a patch, and the patches.
        let patches = group.reshape(&[batch, channels * times, height / side, side, width / side, side])?;
        let patches = patches.permute([0, 1, 3, 5, 2, 4])?;
        let values = patches.reshape((batch, outputs, together, height / side, width / side))?;
        let mut sum = values.narrow(2, 0, 1)?;
        for index in 1..together {
            sum = (sum + values.narrow(2, index, 1)?)?;
        }
        (sum * (1.0 / together as f64))?.squeeze(2)
    };
    frames.chunks(times).map(mean).collect()
}

/// Frames of `outputs` channels at double resolution, `times` of each: every value is repeated as often as fills them.
pub fn repeated(x: &[Tensor], outputs: usize, times: usize) -> Result<Vec<Tensor>> {
    const SIDE: usize = 2;
    let mut frames = Vec::with_capacity(x.len() * times);
    for frame in x {
        let (batch, channels, height, width) = frame.dims4()?;
        let copies = outputs * times * SIDE * SIDE / channels.max(1);
        if batch != 1 {
            bail!("frames of one clip at a time are decoded, not {batch}");
        }
        let all = frame.unsqueeze(2)?.broadcast_as((1, channels, copies, height, width))?.contiguous()?;
        let all = all.reshape(&[outputs, times, SIDE, SIDE, height, width])?;
        for time in 0..times {
            let one = all.narrow(1, time, 1)?.squeeze(1)?.permute([0, 3, 1, 4, 2])?;
            frames.push(one.reshape((1, outputs, SIDE * height, SIDE * width))?);
        }
    }
    Ok(frames)
}
