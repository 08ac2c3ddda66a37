//! Fast previews of latents: each latent becomes one pixel by a linear map.

use candle_core::{D, DType, Device, Tensor};

use super::{PipelineError, image_work::decode_work};
use crate::{
    models::LatentShape,
    nn::{Computes, Trace},
    residency::{Blocks, Executor, RunError, TracedBlocks, WeightStore},
    sampling::randn,
    vae::Autoencoder,
};

/// Number of patches that the map is fitted to.
const PATCHES: usize = 64;
/// Sides of the images in which the patches are decoded, in patches; tried in this order.
const SIDES: [usize; 4] = [8, 4, 2, 1];
/// Side of a patch of constant latents: large enough to decode to an area rather than noise.
const PATCH: usize = 2;
/// Regularization of the fit.
const RIDGE: f64 = 1e-2;
const SEED: u64 = 1;

/// A linear map from latents to colours.
///
/// For well-known autoencoders, published weights exist that somebody fitted once. Here the map is fitted to
/// the model's own autoencoder: it decodes patches of random latents, and the map is the least-squares fit
/// from the latents to the decoded colours.
#[derive(Debug, Clone)]
pub struct Preview {
    /// `[channels + 1, 3]`; the last row is the constant term.
    map: Tensor,
}

impl Preview {
    /// The side, in patches, of the largest image that can be decoded with at most `free` bytes of
    /// activations.
    pub fn side(
        vae: &dyn Autoencoder,
        store: &WeightStore,
        free: u64,
        computes: Computes,
    ) -> Result<Option<usize>, PipelineError> {
        for side in SIDES {
            let trace = Trace::new(computes);
            let shape = LatentShape::image(vae.latent_channels(), side * PATCH, side * PATCH);
            let blocks = TracedBlocks::new(&trace, store.component(), store.dtype());
            let work = decode_work(vae, &blocks, 1, shape, None, &trace)?;
            if work.peak_activations() <= free {
                return Ok(Some(side));
            }
        }
        Ok(None)
    }

    /// Fits the map with images of this [`side`](Self::side).
    pub fn fit(
        vae: &dyn Autoencoder,
        store: &WeightStore,
        executor: &Executor,
        side: usize,
    ) -> Result<Self, RunError> {
        let channels = vae.latent_channels();
        let noise = randn(SEED, channels * PATCHES);
        let (mut patches, mut colours) = (Vec::new(), Vec::new());
        for noise in noise.chunks(channels * side * side) {
            let latents = Tensor::from_slice(noise, (1, channels, side, side), &Device::Cpu)?
                .upsample_nearest2d(side * PATCH, side * PATCH)?;
            let latents_there =
                vae.unscale(&latents.clone().into())?.computed()?.to_device(store.device())?;
            let decoded = vae.decode(Blocks::stored(executor, store), &latents_there.into(), None)?;
            let decoded = decoded.into_computed()?.to_device(&Device::Cpu)?.to_dtype(DType::F32)?;
            colours.push(rows(&decoded.avg_pool2d(vae.scale())?)?);
            patches.push(rows(&latents)?);
        }
        let x = with_constant(&Tensor::cat(&patches, 0)?)?;
        let y = ((Tensor::cat(&colours, 0)? / 2.0)? + 0.5)?;
        let gram = x.t()?.matmul(&x)?.to_dtype(DType::F64)?.to_vec2::<f64>()?;
        let moments = x.t()?.matmul(&y)?.to_dtype(DType::F64)?.to_vec2::<f64>()?;
        let solution = solve(gram, moments);
        let flat: Vec<f32> = solution.iter().flatten().map(|&value| value as f32).collect();
        Ok(Self { map: Tensor::from_vec(flat, (channels + 1, 3), &Device::Cpu)? })
    }

    /// Converts latents `[batch, channels, height, width]` to images `[batch, 3, height, width]` in 0…1.
    pub fn picture(&self, latents: &Tensor) -> candle_core::Result<Tensor> {
        let (batch, _, height, width) = latents.dims4()?;
        let colours = with_constant(&rows(&latents.to_dtype(DType::F32)?)?)?.matmul(&self.map)?;
        colours.reshape((batch, height, width, 3))?.permute((0, 3, 1, 2))?.clamp(0f32, 1f32)
    }
}

/// `[batch, channels, height, width]` to `[batch · height · width, channels]`.
fn rows(x: &Tensor) -> candle_core::Result<Tensor> {
    let channels = x.dim(1)?;
    x.permute((0, 2, 3, 1))?.contiguous()?.reshape(((), channels))
}

fn with_constant(x: &Tensor) -> candle_core::Result<Tensor> {
    Tensor::cat(&[x, &Tensor::ones((x.dim(0)?, 1), DType::F32, x.device())?], D::Minus1)
}

/// Solves `(a + ridge) · x = b` by elimination; `a` is symmetric and positive definite.
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
