//! A quick look at latents: each becomes one pixel by a linear map.

use candle_core::{D, DType, Device, Tensor};

use crate::{
    residency::{Executor, RunError, WeightStore},
    sampling::randn,
    vae::AutoencoderKl,
};

/// Side of the latents that the map is fitted to.
const SIDE: usize = 16;
/// Latents of one value, in each direction: what is decoded has to look like an area, not like noise.
const PATCH: usize = 2;
/// Keeps the fit from following noise.
const RIDGE: f64 = 1e-2;
const SEED: u64 = 1;

/// A linear map from latents to colours.
///
/// The weights that are usual for well-known autoencoders were fitted once, by hand, for each of them. Here
/// the map is fitted to the model's own autoencoder: it decodes one small patchwork of random latents, and
/// the colours come from the least squares between the patches and what was decoded.
#[derive(Debug, Clone)]
pub struct Preview {
    /// `[channels + 1, 3]`, the last row is the constant part.
    map: Tensor,
}

impl Preview {
    /// Fits the map.
    pub fn fit(vae: &AutoencoderKl, store: &WeightStore, executor: &Executor) -> Result<Self, RunError> {
        let channels = vae.config().latent_channels;
        let latents = patchwork(channels)?;
        let decoded =
            vae.decode(executor, store, &vae.unscale(&latents)?.to_device(store.device())?, None)?;
        let decoded = decoded.to_device(&Device::Cpu)?.to_dtype(DType::F32)?;
        let colours = decoded.avg_pool2d(vae.scale())?;
        let x = with_constant(&rows(&latents)?)?;
        let y = rows(&((colours / 2.0)? + 0.5)?)?;
        let gram = x.t()?.matmul(&x)?.to_dtype(DType::F64)?.to_vec2::<f64>()?;
        let moments = x.t()?.matmul(&y)?.to_dtype(DType::F64)?.to_vec2::<f64>()?;
        let solution = solve(gram, moments);
        let flat: Vec<f32> = solution.iter().flatten().map(|&value| value as f32).collect();
        Ok(Self { map: Tensor::from_vec(flat, (channels + 1, 3), &Device::Cpu)? })
    }

    /// Latents `[batch, channels, height, width]` to pictures `[batch, 3, height, width]` in 0…1.
    pub fn picture(&self, latents: &Tensor) -> candle_core::Result<Tensor> {
        let (batch, _, height, width) = latents.dims4()?;
        let colours = with_constant(&rows(&latents.to_dtype(DType::F32)?)?)?.matmul(&self.map)?;
        colours.reshape((batch, height, width, 3))?.permute((0, 3, 1, 2))?.clamp(0f32, 1f32)
    }
}

fn patchwork(channels: usize) -> candle_core::Result<Tensor> {
    let patches = SIDE / PATCH;
    let noise = randn(SEED, channels * patches * patches);
    Tensor::from_vec(noise, (1, channels, patches, patches), &Device::Cpu)?.upsample_nearest2d(SIDE, SIDE)
}

/// `[batch, channels, height, width]` to `[batch · height · width, channels]`.
fn rows(x: &Tensor) -> candle_core::Result<Tensor> {
    let channels = x.dim(1)?;
    x.permute((0, 2, 3, 1))?.contiguous()?.reshape(((), channels))
}

fn with_constant(x: &Tensor) -> candle_core::Result<Tensor> {
    Tensor::cat(&[x, &Tensor::ones((x.dim(0)?, 1), DType::F32, x.device())?], D::Minus1)
}

/// Solves `(a + ridge) · x = b` by elimination; `a` is symmetric and positive.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = a.len();
    for (index, row) in a.iter_mut().enumerate() {
        row[index] += RIDGE * size as f64;
    }
    for pivot in 0..size {
        let (pivot_row, pivot_right) = (a[pivot].clone(), b[pivot].clone());
        for row in 0..size {
            if row == pivot {
                continue;
            }
            let factor = a[row][pivot] / pivot_row[pivot];
            a[row].iter_mut().zip(&pivot_row).for_each(|(value, above)| *value -= factor * above);
            b[row].iter_mut().zip(&pivot_right).for_each(|(value, above)| *value -= factor * above);
        }
    }
    b.iter().zip(&a).enumerate().map(|(row, (b, a))| b.iter().map(|value| value / a[row]).collect()).collect()
}
