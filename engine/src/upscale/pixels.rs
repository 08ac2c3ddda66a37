//! Groups of channels as groups of pixels.

use crate::nn::{Result, Tensor};

/// The mean colours of DIV2K (Agustsson and Timofte 2017), with which many upscalers are trained.
pub const MEAN: [f32; 3] = [0.4488, 0.4371, 0.4040];

/// `[batch, channels · side², height, width]` to `[batch, channels, side · height, side · width]` (Shi et al. 2016,
/// arXiv:1609.05158).
pub fn shuffle(x: &Tensor, side: usize) -> Result<Tensor> {
    if side == 1 {
        return Ok(x.clone());
    }
    let (batch, channels, height, width) = x.dims4()?;
    let channels = channels / (side * side);
    let groups = x.reshape((batch, channels, side, side, height, width))?;
    groups.permute([0, 1, 4, 2, 5, 3])?.reshape((batch, channels, side * height, side * width))
}

/// The opposite of [`shuffle`]: `[batch, channels, side · height, side · width]` to
/// `[batch, channels · side², height, width]`.
pub fn unshuffle(x: &Tensor, side: usize) -> Result<Tensor> {
    if side == 1 {
        return Ok(x.clone());
    }
    let (batch, channels, height, width) = x.dims4()?;
    let (height, width) = (height / side, width / side);
    let groups = x.reshape((batch, channels, height, side, width, side))?;
    groups.permute([0, 1, 3, 5, 2, 4])?.reshape((batch, channels * side * side, height, width))
}

/// Adds to each group of `side²` channels of `x` the channel of `image` `[batch, channels, height, width]` that it
/// belongs to: after [`shuffle`], the image enlarged by repeating its pixels.
pub fn add_repeated(x: &Tensor, image: &Tensor, side: usize) -> Result<Tensor> {
    let (batch, channels, height, width) = image.dims4()?;
    let groups = x.reshape((batch, channels, side * side, height, width))?;
    let sum = groups.broadcast_add(&image.unsqueeze(2)?)?;
    sum.reshape((batch, channels * side * side, height, width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Device;

    #[test]
    fn unshuffling_undoes_shuffling() {
        let values: Vec<f32> = (0..2 * 12 * 3 * 5).map(|value| value as f32).collect();
        let x = Tensor::from_vec(values.clone(), (2, 12, 3, 5), &Device::processor()).unwrap();
        let shuffled = shuffle(&x, 2).unwrap();
        assert_eq!(shuffled.dims(), [2, 3, 6, 10]);
        // The four channels of a group are the pixels of a square, row by row.
        let first: Vec<f32> =
            shuffled.clone().into_computed().unwrap().flatten_all().unwrap().to_vec1().unwrap();
        assert_eq!([first[0], first[1], first[10], first[11]], [0.0, 15.0, 30.0, 45.0]);
        let back = unshuffle(&shuffled, 2).unwrap().into_computed().unwrap();
        assert_eq!(back.flatten_all().unwrap().to_vec1::<f32>().unwrap(), values);
    }
}
