//! Conversion between latents and sequences of square patches.

use super::Reference;
use crate::nn::{DType, Device, Result, Rope, Tensor};

/// The order of the values of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channels {
    /// Channel by channel.
    First,
    /// All channels of one latent, then those of the next.
    Last,
}

/// `[batch, channels, height, width]` to `[batch, patches, channels · side · side]`.
pub fn patchify(latents: &Tensor, side: usize, channels: Channels) -> Result<Tensor> {
    let (batch, count, height, width) = latents.dims4()?;
    let [rows, columns] = [height / side, width / side];
    let order = match channels {
        Channels::First => [0, 2, 4, 1, 3, 5],
        Channels::Last => [0, 2, 4, 3, 5, 1],
    };
    let split = latents.reshape((batch, count, rows, side, columns, side))?;
    split.permute(order)?.reshape((batch, rows * columns, count * side * side))
}

/// `[batch, rows · columns, channels · side · side]` to `[batch, channels, height, width]`.
pub fn unpatchify(
    patches: &Tensor,
    [rows, columns]: [usize; 2],
    side: usize,
    channels: Channels,
) -> Result<Tensor> {
    let (batch, _, values) = patches.dims3()?;
    let count = values / (side * side);
    let (shape, order) = match channels {
        Channels::First => ([batch, rows, columns, count, side, side], [0, 3, 1, 4, 2, 5]),
        Channels::Last => ([batch, rows, columns, side, side, count], [0, 5, 1, 3, 2, 4]),
    };
    patches.reshape(&shape)?.permute(order)?.reshape((batch, count, rows * side, columns * side))
}

/// Reference images as a network reads them, in patches of this side, from their latents.
pub fn references(
    latents: &[Tensor],
    side: usize,
    channels: Channels,
    dtype: DType,
) -> Result<Vec<Reference>> {
    let reference = |latents: &Tensor| {
        let (_, _, height, width) = latents.dims4()?;
        let patches = patchify(&latents.to_dtype(dtype)?, side, channels)?;
        Ok(Reference { patches, grid: [height / side, width / side] })
    };
    latents.iter().map(reference).collect()
}

/// The patches of latents with those of reference images after them, `[batch, patches, values]`.
pub fn with_references(patches: Tensor, references: &[Reference]) -> Result<Tensor> {
    if references.is_empty() {
        return Ok(patches);
    }
    let batch = patches.dim(0)?;
    let mut all = vec![patches];
    for Reference { patches, .. } in references {
        let (_, tokens, values) = patches.dims3()?;
        all.push(patches.broadcast_as((batch, tokens, values))?.contiguous()?);
    }
    Tensor::cat(&all, 1)
}

/// The error message if `widths` cannot be the parts of a head of width `head` that this many axes rotate.
pub fn wrong_axes(widths: &[usize], axes: usize, head: usize) -> Option<String> {
    let sum: usize = widths.iter().sum();
    let odd = widths.iter().any(|width| !width.is_multiple_of(2));
    let is_wrong = widths.len() != axes || sum != head || odd;
    is_wrong.then(|| format!("it must be {axes} even numbers with the sum {head}"))
}

/// Angles of rotary embeddings at `places`: axis by axis, one angle per pair of values in the axis's part of
/// a head. `widths` are the widths of these parts. `angle` takes the position on the axis and an exponent,
/// from 0 for the first pair towards 1 for the last (Su et al. 2021, arXiv:2104.09864).
pub fn angles<P: Copy, T, const AXES: usize>(
    places: &[[P; AXES]],
    widths: &[usize],
    angle: impl Fn(P, f64) -> T,
) -> Vec<T> {
    let mut angles = Vec::with_capacity(places.len() * widths.iter().sum::<usize>() / 2);
    for place in places {
        for (&position, &width) in place.iter().zip(widths) {
            let exponent = |pair: usize| (2 * pair) as f64 / width as f64;
            angles.extend((0..width / 2).map(|pair| angle(position, exponent(pair))));
        }
    }
    angles
}

/// Base of the rotary frequencies of centred images.
const THETA: f64 = 10_000.0;

/// Rotary embeddings of `text` tokens and of images after them, for parts of a head of these widths: by image, row and column.
/// An image's centre is at the origin, on the plane of its number; the text continues from the far edge of the largest on all
/// axes.
pub fn centred_rope(text: usize, grids: &[[usize; 2]], widths: &[usize], device: &Device) -> Result<Rope> {
    let from_middle = |place: usize, side: usize| place as f32 - side.div_ceil(2) as f32;
    let first = grids.iter().flatten().map(|side| side / 2).max().unwrap_or(0);
    let text = (first..first + text).map(|place| [place as f32; 3]);
    let tokens = grids.iter().enumerate().flat_map(|(image, &[rows, columns])| {
        (0..rows).flat_map(move |row| {
            let column = move |column| from_middle(column, columns);
            (0..columns).map(move |place| [image as f32, from_middle(row, rows), column(place)])
        })
    });
    let places: Vec<[f32; 3]> = text.chain(tokens).collect();
    let angle = |place, exponent| place * THETA.powf(exponent).recip() as f32;
    let angles = angles(&places, widths, angle);
    Rope::from_angles(&angles, places.len(), widths.iter().sum::<usize>() / 2, device)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor as Values};

    use super::*;

    #[test]
    fn patches_of_latents_come_back_in_their_places() {
        let latents = Values::arange(0f32, 2.0 * 3.0 * 4.0 * 6.0, &Device::Cpu).unwrap();
        let latents = Tensor::from(latents.reshape((2, 3, 4, 6)).unwrap());
        let values = |x: &Tensor| x.computed().unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for (channels, start) in
            [(Channels::First, [0.0, 1.0, 6.0, 7.0]), (Channels::Last, [0.0, 24.0, 48.0, 1.0])]
        {
            let patches = patchify(&latents, 2, channels).unwrap();
            assert_eq!(patches.dims(), [2, 6, 12]);
            assert_eq!(values(&patches)[..4], start, "{channels:?}");
            let back = unpatchify(&patches, [2, 3], 2, channels).unwrap();
            assert_eq!(values(&back), values(&latents), "{channels:?}");
        }
    }
}
