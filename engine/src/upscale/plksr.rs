//! RealPLKSR, Partial Large Kernel CNNs for super-resolution (Lee et al. 2024, arXiv:2404.11848) as neosr trains them: some
//! channels are convolved with a large kernel, and all with small ones.

use std::path::Path;

use super::{
    Upscaler,
    open::{COLOURS, Found, colours, refused},
    pixels::{add_repeated, shuffle},
    resampling,
    upscaler::EVERYTHING,
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, TensorTable},
    nn::{
        Conv2d, DType, Error, Result as TensorResult, Tensor, Untraced, add, layer_norm, sigmoid_mul,
        untraced,
    },
    residency::{Blocks, RunError, Weights},
};

/// Groups of channels that are normed together; files do not say how many.
const GROUPS: usize = 4;
/// Added to the variance of groups, and of the channels of a place.
const GROUP_EPS: f64 = 1e-5;
const EPS: f64 = 1e-6;

/// Its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RealPlksr {
    /// Channels.
    width: usize,
    /// Those that the large kernel convolves.
    part: usize,
    /// Rows, and columns, of the large kernel.
    side: usize,
    blocks: usize,
    /// Whether each place is normed, and not groups of channels.
    norms_places: bool,
    /// Whether values weigh themselves.
    weighs: bool,
    /// Whether new pixels are looked up at places that the network chooses.
    resamples: bool,
    factor: usize,
}

impl RealPlksr {
    pub(super) const ARCHITECTURE: &str = "RealPLKSR";

    /// Whether a file has one.
    pub(super) fn is_in(tensors: &TensorTable) -> bool {
        [
            "feats.0.weight",
            "feats.1.channel_mixer.0.weight",
            "feats.1.lk.conv.weight",
            "feats.1.refine.weight",
        ]
        .iter()
        .all(|name| tensors.contains_key(*name))
    }

    /// Its shape, from those of its tensors.
    pub(super) fn found(path: &Path, tensors: &TensorTable) -> Result<Found, CheckpointError> {
        let shape = |name: &str| tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
        let blocks = (0..)
            .take_while(|block| !shape(&format!("feats.{}.refine.weight", block + 1)).is_empty())
            .count();
        // A layer that only counts in training is before the last one.
        let last = format!("feats.{}.weight", blocks + 2);
        let (&[width, inputs, ..], &[part, _, side, _], &[outputs, ..]) =
            (shape("feats.0.weight"), shape("feats.1.lk.conv.weight"), shape(&last))
        else {
            return Err(refused(path, "its first or its last convolution is missing"));
        };
        let factor = colours(path, inputs, outputs)?;
        let has = |name: &str| tensors.contains_key(name);
        let norms_places = has("feats.1.layer_norm.weight");
        if part > width || side.is_multiple_of(2) || !norms_places && !width.is_multiple_of(GROUPS) {
            return Err(refused(
                path,
                format!("{part} of {width} channels and a kernel of {side} do not fit"),
            ));
        }
        let network = Self {
            width,
            part,
            side,
            blocks,
            norms_places,
            weighs: has("feats.1.attn.f.0.weight"),
            resamples: has("to_img.offset.weight"),
            factor,
        };
        Ok(Found { specs: network.blueprint(), network: Box::new(network), names: None })
    }

    fn blueprint(self) -> Vec<BlockSpec> {
        let Self { width, part, side, blocks, factor, .. } = self;
        let outputs = COLOURS * factor * factor;
        let mut specs = vec![BlockSpec::stem("feats.0").conv("feats.0", width, COLOURS, 3)];
        for number in 1..=blocks {
            let mut spec = BlockSpec::new(format!("feats.{number}"));
            spec = if self.norms_places { spec.norm("layer_norm", width) } else { spec.norm("norm", width) };
            spec = spec
                .conv("channel_mixer.0", 2 * width, width, 3)
                .conv("channel_mixer.2", width, 2 * width, 3)
                .conv("lk.conv", part, part, side);
            if self.weighs {
                spec = spec.conv("attn.f.0", width, width, 3);
            }
            specs.push(spec.conv("refine", width, width, 1));
        }
        let last = BlockSpec::stem("to_img").conv(&format!("feats.{}", blocks + 2), outputs, width, 3);
        specs.push(if self.resamples { resampling::described(last, "to_img", factor) } else { last });
        specs
    }

    /// A block.
    fn passed(&self, w: &Weights<'_>, x: &Tensor) -> TensorResult<Tensor> {
        let Self { width, part, side, .. } = *self;
        let mut inner = if self.norms_places { normed(w, x)? } else { x.clone() };
        inner = mish(&w.conv2d("channel_mixer.0", &inner, Conv2d::SAME_3X3_IN_TILES)?)?;
        inner = w.conv2d("channel_mixer.2", &inner, Conv2d::SAME_3X3_IN_TILES)?;
        let around = Conv2d { padding: side / 2, ..Conv2d::SAME_3X3_IN_TILES };
        let far = w.conv2d("lk.conv", &inner.narrow(1, 0, part)?.contiguous()?, around)?;
        inner = match width - part {
            0 => far,
            rest => Tensor::cat(&[far, inner.narrow(1, part, rest)?.contiguous()?], 1)?,
        };
        if self.weighs {
            let gate = w.conv2d("attn.f.0", &inner, Conv2d::SAME_3X3_IN_TILES)?;
            inner = sigmoid_mul(&gate, &inner)?;
        }
        inner = w.conv2d("refine", &inner, Conv2d::POINTWISE)?;
        if !self.norms_places {
            inner = w.group_norm("norm", &inner, GROUPS, GROUP_EPS)?;
        }
        add(&inner, x)
    }
}

/// The channels of each place of `x` `[1, channels, height, width]`, normed.
fn normed(w: &Weights<'_>, x: &Tensor) -> TensorResult<Tensor> {
    let parameters = (w.get("layer_norm.weight")?, w.get("layer_norm.bias")?);
    let places = x.permute([0, 2, 3, 1])?.contiguous()?;
    layer_norm(&places, Some((&parameters.0, &parameters.1)), EPS)?.permute([0, 3, 1, 2])?.contiguous()
}

/// Mish (Misra 2019, arXiv:1908.08681): `x · tanh(ln(1 + eˣ))`.
fn mish(x: &Tensor) -> TensorResult<Tensor> {
    let (count, wide) = (x.elem_count(), x.to_dtype(DType::F32)?);
    let takes = |_| Untraced { values: 3 * count, operations: 20.0 * count as f64 };
    // With e = eˣ, the factor is (e² + 2e) / (e² + 2e + 2); above 20 it is 1.
    let made = untraced([&wide], x.dims(), takes, |[x]| {
        let e = x.clamp(f32::MIN, 20f32)?.exp()?;
        let square = (e.sqr()? + (e * 2.0)?)?;
        x * (&square / (&square + 2.0)?)?
    })?;
    made.to_dtype(x.dtype())
}

impl Upscaler for RealPlksr {
    fn architecture(&self) -> &'static str {
        Self::ARCHITECTURE
    }

    fn factor(&self) -> usize {
        self.factor
    }

    fn reach(&self) -> usize {
        if self.norms_places { 2 + self.blocks * (3 + self.side / 2) } else { EVERYTHING }
    }

    fn upscale(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let (mut x, mut made) = (image.clone(), None);
        blocks.walk(0..self.blocks + 2, |number, w| {
            x = match number {
                0 => w.conv2d("feats.0", &x, Conv2d::SAME_3X3_IN_TILES)?,
                number if number <= self.blocks => self.passed(w, &x)?,
                _ => {
                    let last = format!("feats.{}", self.blocks + 2);
                    let whole = w.conv2d(&last, &x, Conv2d::SAME_3X3_IN_TILES)?;
                    let whole = add_repeated(&whole, image, self.factor)?;
                    made = Some(match self.resamples {
                        true => resampling::resampled(w, "to_img", &whole, self.factor)?,
                        false => shuffle(&whole, self.factor)?,
                    });
                    return Ok(());
                }
            };
            Ok(())
        })?;
        Ok(made.ok_or_else(|| Error::msg("a walk had no blocks"))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Device;

    #[test]
    fn mish_is_that_of_its_definition() {
        let values = [-30.0_f32, -2.0, -0.5, 0.0, 0.5, 2.0, 19.0, 40.0];
        let x = Tensor::from_vec(values.to_vec(), values.len(), &Device::processor()).unwrap();
        let found = mish(&x).unwrap().into_computed().unwrap().to_vec1::<f32>().unwrap();
        for (x, found) in values.into_iter().zip(found) {
            let expected = f64::from(x) * f64::from(x).exp().ln_1p().tanh();
            assert!((f64::from(found) - expected).abs() <= 1e-6 * expected.abs().max(1e-6), "{x}: {found}");
        }
    }
}
