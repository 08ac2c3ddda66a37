//! Rotary position embedding (Su et al. 2021).

use candle_core::{DType, Device, Result, Tensor, bail};
use pulp::Simd;

use super::{
    cpu::{by_processor, contiguous, values},
    held::BLOCK,
    pointwise::{Pointwise, pointwise},
};
use crate::cuda::{self, Rotation};

/// Cosines and sines of the rotation angles, f32 `[tokens, head_dim / 2]` each, or `[tokens, head_dim]` where the two values of
/// a pair are rotated by angles of their own.
#[derive(Debug, Clone)]
pub struct Rope {
    /// Cosine of each angle.
    pub cos: Tensor,
    /// Sine of each angle.
    pub sin: Tensor,
}

impl Rope {
    /// Builds from angles in row-major order, `tokens` rows of `pairs` columns. Sines and cosines are
    /// computed from angles rounded to f32, as in the reference.
    pub fn from_angles(angles: &[f32], tokens: usize, pairs: usize, device: &Device) -> Result<Self> {
        let cos: Vec<f32> = angles.iter().map(|angle| angle.cos()).collect();
        let sin: Vec<f32> = angles.iter().map(|angle| angle.sin()).collect();
        Ok(Self {
            cos: Tensor::from_vec(cos, (tokens, pairs), device)?,
            sin: Tensor::from_vec(sin, (tokens, pairs), device)?,
        })
    }

    /// Builds from f64 angles and rounds only the sines and cosines, as FLUX.1 does.
    pub fn from_exact_angles(angles: &[f64], tokens: usize, pairs: usize, device: &Device) -> Result<Self> {
        let cos: Vec<f32> = angles.iter().map(|angle| angle.cos() as f32).collect();
        let sin: Vec<f32> = angles.iter().map(|angle| angle.sin() as f32).collect();
        Ok(Self {
            cos: Tensor::from_vec(cos, (tokens, pairs), device)?,
            sin: Tensor::from_vec(sin, (tokens, pairs), device)?,
        })
    }

    /// Appends the rotations of `other` along the tokens.
    pub fn concat(&self, other: &Self) -> Result<Self> {
        Ok(Self {
            cos: Tensor::cat(&[&self.cos, &other.cos], 0)?,
            sin: Tensor::cat(&[&self.sin, &other.sin], 0)?,
        })
    }
}

/// Rotates neighbouring pairs `(x₀, x₁), (x₂, x₃), …` of `x` `[batch, tokens, heads, head_dim]`, in f32.
pub fn rope_interleaved(x: &Tensor, rope: &Rope) -> Result<Tensor> {
    check(x, rope, &[x.dim(3)? / 2])?;
    if !by_processor(x) || x.dim(3)? > BLOCK {
        let work = || cuda::rope(Rotation::Interleaved, x, &rope.cos, &rope.sin);
        return cuda::or_plain(x, work, || plain_interleaved(x, rope));
    }
    rotated(x, rope, Interleaved)
}

/// Rotates `(x₀, x_{d/2}), (x₁, x_{d/2+1}), …` of `x` `[batch, tokens, heads, head_dim]`, the layout of
/// language models. Like them, computes in the dtype of `x`. The first half of `head_dim` angles is that of the first values of
/// the pairs.
pub fn rope_half(x: &Tensor, rope: &Rope) -> Result<Tensor> {
    let width = x.dim(3)?;
    check(x, rope, &[width / 2, width])?;
    if !by_processor(x) || x.dtype() != DType::F32 || width > BLOCK {
        let work = || cuda::rope(Rotation::Half, x, &rope.cos, &rope.sin);
        return cuda::or_plain(x, work, || plain_half(x, rope));
    }
    rotated(x, rope, Half)
}

/// Checks that there are as many angles for a token as one of these numbers.
fn check(x: &Tensor, rope: &Rope, numbers: &[usize]) -> Result<()> {
    let (_, tokens, _, width) = x.dims4()?;
    let fits = numbers.iter().any(|number| rope.cos.dims() == [tokens, *number]);
    if !fits || rope.sin.dims() != rope.cos.dims() || width % 2 != 0 {
        bail!("angles of shape {:?} do not fit heads of shape {:?}", rope.cos.dims(), x.dims());
    }
    Ok(())
}

/// How the pairs of a head lie.
trait Pairs: Sync {
    /// Rotates a head, with the cosines and sines of its token. It must be inlined.
    fn rotate(&self, x: &[f32], out: &mut [f32], cos: &[f32], sin: &[f32]);
}

struct Interleaved;

impl Pairs for Interleaved {
    #[inline(always)]
    fn rotate(&self, x: &[f32], out: &mut [f32], cos: &[f32], sin: &[f32]) {
        let pairs = out.as_chunks_mut::<2>().0.iter_mut().zip(x.as_chunks::<2>().0);
        for ((out, [a, b]), (cos, sin)) in pairs.zip(cos.iter().zip(sin)) {
            *out = [a * cos - b * sin, a * sin + b * cos];
        }
    }
}

struct Half;

impl Pairs for Half {
    #[inline(always)]
    fn rotate(&self, x: &[f32], out: &mut [f32], cos: &[f32], sin: &[f32]) {
        let (a, b) = x.split_at(x.len() / 2);
        let (first, second) = out.split_at_mut(x.len() / 2);
        let apart = cos.len() - a.len();
        let angles = cos.iter().zip(sin).zip(cos[apart..].iter().zip(&sin[apart..]));
        for (((first, second), (a, b)), ((cos, sin), (own_cos, own_sin))) in
            first.iter_mut().zip(second).zip(a.iter().zip(b)).zip(angles)
        {
            *first = a * cos - b * sin;
            *second = b * own_cos + a * own_sin;
        }
    }
}

fn rotated(x: &Tensor, rope: &Rope, pairs: impl Pairs) -> Result<Tensor> {
    let (_, tokens, heads, width) = x.dims4()?;
    let (cos, sin) = (contiguous(&rope.cos)?, contiguous(&rope.sin)?);
    let held = (cos.storage_and_layout(), sin.storage_and_layout());
    let (cos, sin) = (values(&held.0)?, values(&held.1)?);
    let heads_of = Heads { width, heads, tokens, count: rope.cos.dim(1)?, cos, sin, pairs };
    // Rows are blocks of whole heads.
    let row = if BLOCK.is_multiple_of(width.max(1)) { heads * width } else { width };
    pointwise([x], row.max(1), heads_of)
}

/// The rotation of heads.
struct Heads<'a, P> {
    width: usize,
    heads: usize,
    tokens: usize,
    /// Angles of a token.
    count: usize,
    cos: &'a [f32],
    sin: &'a [f32],
    pairs: P,
}

impl<P: Pairs> Pointwise<1> for Heads<'_, P> {
    #[inline(always)]
    fn compute<S: Simd>(&self, _: S, place: usize, [x]: [&[f32]; 1], out: &mut [f32]) {
        let token = place / (self.heads * self.width) % self.tokens;
        let [cos, sin] = [self.cos, self.sin].map(|angles| &angles[token * self.count..][..self.count]);
        for (out, x) in out.chunks_exact_mut(self.width).zip(x.chunks_exact(self.width)) {
            self.pairs.rotate(x, out, cos, sin);
        }
    }
}

fn plain_interleaved(x: &Tensor, rope: &Rope) -> Result<Tensor> {
    let (batch, tokens, heads, width) = x.dims4()?;
    let rotated = {
        let pairs = x.to_dtype(DType::F32)?.reshape((batch, tokens, heads, width / 2, 2))?;
        let (a, b) = (pairs.narrow(4, 0, 1)?.squeeze(4)?, pairs.narrow(4, 1, 1)?.squeeze(4)?);
        let (cos, sin) = (rope.cos.unsqueeze(1)?, rope.sin.unsqueeze(1)?);
        let first = (a.broadcast_mul(&cos)? - b.broadcast_mul(&sin)?)?;
        [first, (a.broadcast_mul(&sin)? + b.broadcast_mul(&cos)?)?]
    };
    let joined = Tensor::stack(&rotated, 4)?.reshape((batch, tokens, heads, width))?;
    drop(rotated);
    joined.to_dtype(x.dtype())
}

fn plain_half(x: &Tensor, rope: &Rope) -> Result<Tensor> {
    let width = x.dim(3)?;
    let (a, b) = (x.narrow(3, 0, width / 2)?, x.narrow(3, width / 2, width / 2)?);
    let cos = rope.cos.to_dtype(x.dtype())?.unsqueeze(1)?;
    let sin = rope.sin.to_dtype(x.dtype())?.unsqueeze(1)?;
    let apart = cos.dim(2)? - width / 2;
    let own = |angles: &Tensor, first: usize| angles.narrow(2, first, width / 2);
    let first = (a.broadcast_mul(&own(&cos, 0)?)? - b.broadcast_mul(&own(&sin, 0)?)?)?;
    let second = (b.broadcast_mul(&own(&cos, apart)?)? + a.broadcast_mul(&own(&sin, apart)?)?)?;
    Tensor::cat(&[first, second], 3)
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;

    fn rope(tokens: usize, pairs: usize) -> Rope {
        let angles: Vec<f32> = (0..tokens * pairs).map(|index| index as f32 * 0.37).collect();
        Rope::from_angles(&angles, tokens, pairs, &Device::Cpu).unwrap()
    }

    #[test]
    fn rotations_are_the_plain_compositions() {
        for (batch, tokens, heads, width) in
            [(1, 1, 1, 2), (2, 5, 3, 6), (1, 33, 4, 128), (2, 7, 1, 10), (2, 3, 20, 128)]
        {
            let (x, rope) = (random(&[batch, tokens, heads, width], 1), rope(tokens, width / 2));
            let want = plain_interleaved(&x, &rope).unwrap();
            assert_close(&rope_interleaved(&x, &rope).unwrap(), &want, 1e-6);
            assert_close(&rope_half(&x, &rope).unwrap(), &plain_half(&x, &rope).unwrap(), 1e-6);
        }
    }

    #[test]
    fn rotations_take_views_and_half_width_floats() {
        let (x, rope) = (random(&[2, 6, 5, 24], 1), rope(5, 4));
        let x = x.transpose(1, 2).unwrap().narrow(3, 8, 8).unwrap();
        let want = plain_interleaved(&x, &rope).unwrap();
        assert_close(&rope_interleaved(&x, &rope).unwrap(), &want, 1e-6);
        assert_close(&rope_half(&x, &rope).unwrap(), &plain_half(&x, &rope).unwrap(), 1e-6);
        let x = x.to_dtype(DType::BF16).unwrap();
        let want = plain_interleaved(&x, &rope).unwrap();
        assert_close(&rope_interleaved(&x, &rope).unwrap(), &want, 0.0);
        assert_close(&rope_half(&x, &rope).unwrap(), &plain_half(&x, &rope).unwrap(), 0.0);
    }

    #[test]
    fn the_values_of_a_pair_may_have_angles_of_their_own() {
        let (x, own) = (random(&[2, 5, 3, 8], 1), rope(5, 8));
        let rotated = rope_half(&x, &own).unwrap();
        assert_close(&rotated, &plain_half(&x, &own).unwrap(), 1e-6);
        for (first, values) in [(0, 0..4), (4, 4..8)] {
            let part = |angles: &Tensor| angles.narrow(1, first, 4).unwrap();
            let same = rope_half(&x, &Rope { cos: part(&own.cos), sin: part(&own.sin) }).unwrap();
            let half = |x: &Tensor| x.narrow(3, values.start, 4).unwrap();
            assert_close(&half(&rotated), &half(&same), 0.0);
        }
        let x = x.to_dtype(DType::BF16).unwrap();
        assert_close(&rope_half(&x, &own).unwrap(), &plain_half(&x, &own).unwrap(), 0.0);
        assert!(rope_interleaved(&x, &own).is_err());
    }

    #[test]
    fn rotations_refuse_angles_of_other_tokens() {
        let x = random(&[1, 4, 1, 6], 1);
        assert!(rope_interleaved(&x, &rope(3, 3)).is_err());
        assert!(rope_half(&x, &rope(4, 2)).is_err());
    }

    #[test]
    fn rotations_are_the_same_on_any_number_of_threads() {
        let (x, rope) = (random(&[2, 50, 3, 8], 1), rope(50, 4));
        assert_independent_of_threads(|| rope_interleaved(&x, &rope).unwrap());
    }
}
