//! How far away what an image shows is: Depth Anything V2 (Yang et al. 2024, arXiv:2406.09414), a DINOv2 vision transformer
//! (Oquab et al. 2023, arXiv:2304.07193) with a DPT head (Ranftl et al. 2021, arXiv:2103.13413).

use std::path::Path;

use candle_core::Tensor as Values;

use super::{
    depth_names::{Naming, vision},
    estimator::{COLOURS, Drawn, MapEstimator, normalized_planes, refused, with_short_side},
    own,
    places::shares,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, MapKind, Role, TensorTable},
    nn::{
        Conv2d, Error, Mask, Result as TensorResult, Tensor, attention, bail, gated_add, gelu, linear,
        resize_bilinear,
    },
    residency::{Blocks, RunError, Weights},
};

/// Pixels along each side of a patch.
const PATCH: usize = 14;
/// The shorter side of what the network sees.
const SHORT: u32 = 518;
/// Width of an attention head.
const HEAD: usize = 64;
/// Added to the variance in every norm.
const EPS: f64 = 1e-6;
/// States of the vision transformer that the head reads.
const STATES: usize = 4;

/// Its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthAnything {
    /// Width of the vision transformer.
    width: usize,
    /// Its layers.
    layers: usize,
    /// Side of the grid of patches that it was trained with.
    side: usize,
    /// Channels of each state in the head.
    channels: [usize; STATES],
    /// Channels where the states are joined.
    joined: usize,
    /// Channels before the last convolution.
    last: usize,
}

/// Why a file cannot be used.
fn unfit(path: &Path, reason: impl Into<String>) -> CheckpointError {
    refused(path, MapKind::Depth, reason)
}

/// Whether a checkpoint is Depth Anything.
pub(super) fn is_depth_anything(checkpoint: &Checkpoint) -> bool {
    own(checkpoint).is_some_and(|tensors| Naming::of(tensors).is_some())
}

/// Opens the network in a checkpoint, see [`super::open_estimator`].
pub(super) fn open_depth_anything(
    checkpoint: &Checkpoint,
) -> Result<(DepthAnything, Component), CheckpointError> {
    let path = &checkpoint.path;
    let found = own(checkpoint).and_then(|tensors| Some((tensors, Naming::of(tensors)?)));
    let (tensors, naming) = found.ok_or_else(|| unfit(path, "it is no Depth Anything network"))?;
    let network = DepthAnything::found(path, tensors, naming)?;
    let mut specs = vision(network.layers, network.width, network.side, PATCH);
    specs.push(network.head_spec());
    let component = Component::bind(
        Role::Preprocessor,
        DepthAnything::ARCHITECTURE,
        &specs,
        tensors,
        |name| naming.stored(name),
        path,
    )?;
    Ok((network, component))
}

impl DepthAnything {
    const ARCHITECTURE: &str = "Depth Anything V2";

    /// Its shape, from those of its tensors.
    fn found(path: &Path, tensors: &TensorTable, naming: Naming) -> Result<Self, CheckpointError> {
        let shape = |name: &str| tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
        let whole = |name: &str| shape(&naming.stored(&format!("backbone.{name}")).name);
        let head = |name: &str| shape(&naming.of_head(name));
        let (&[_, _, width], &[_, places, _]) = (whole("cls_token"), whole("pos_embed")) else {
            return Err(unfit(path, "the embeddings of its vision transformer are missing"));
        };
        let side = places.saturating_sub(1).isqrt();
        if width == 0 || !width.is_multiple_of(HEAD) || side == 0 || side * side + 1 != places {
            return Err(unfit(path, format!("{width} channels and {places} places are those of no DINOv2")));
        }
        let is_there = |layer: &usize| tensors.contains_key(&format!("{}norm1.weight", naming.layer(*layer)));
        let layers = (0..).take_while(is_there).count();
        if layers < STATES {
            return Err(unfit(path, format!("its vision transformer has {layers} layers")));
        }
        if tensors.keys().any(|name| name.starts_with(&naming.layer(0)) && name.contains("mlp.w")) {
            return Err(unfit(path, "it is the giant one, whose layers are of another kind"));
        }
        let mut channels = [0; STATES];
        for (number, channels) in channels.iter_mut().enumerate() {
            let &[outputs, ..] = head(&format!("projects.{number}.weight")) else {
                return Err(unfit(path, format!("projection {} of its head is missing", number + 1)));
            };
            *channels = outputs;
        }
        let (&[joined, ..], &[last, ..]) =
            (head("scratch.layer1_rn.weight"), head("scratch.output_conv2.0.weight"))
        else {
            return Err(unfit(path, "a convolution of its head is missing"));
        };
        Ok(Self { width, layers, side, channels, joined, last })
    }

    fn head_spec(&self) -> BlockSpec {
        let Self { width, channels, joined, last, .. } = *self;
        let mut spec = BlockSpec::stem("head").norm("backbone.norm", width);
        for (number, channels) in channels.into_iter().enumerate() {
            spec = spec.conv(&format!("projects.{number}"), channels, width, 1);
            let resize = format!("resize_layers.{number}");
            spec = match number {
                0 => spec.conv(&resize, channels, channels, 4),
                1 => spec.conv(&resize, channels, channels, 2),
                2 => spec,
                _ => spec.conv(&resize, channels, channels, 3),
            };
            spec = spec.tensor(format!("scratch.layer{}_rn.weight", number + 1), &[joined, channels, 3, 3]);
        }
        for number in 1..=STATES {
            let fusion = format!("scratch.refinenet{number}");
            // Nothing comes to the last state from below, so the first unit of its fusion has nothing to do.
            for unit in if number == STATES { 2..3 } else { 1..3 } {
                for conv in 1..3 {
                    spec = spec.conv(&format!("{fusion}.resConfUnit{unit}.conv{conv}"), joined, joined, 3);
                }
            }
            spec = spec.conv(&format!("{fusion}.out_conv"), joined, joined, 1);
        }
        spec.conv("scratch.output_conv1", joined / 2, joined, 3)
            .conv("scratch.output_conv2.0", last, joined / 2, 3)
            .conv("scratch.output_conv2.2", 1, last, 1)
    }

    /// How near each pixel of a normalized image `[1, 3, height, width]` is, `[1, 1, height, width]` in f32: the inverse of
    /// its distance, in no unit. Height and width are multiples of 14.
    fn nearness(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let (_, _, height, width) = image.dims4()?;
        let grid = [height / PATCH, width / PATCH];
        let read = self.read_layers();
        let mut states = Vec::with_capacity(STATES);
        let mut x = None;
        blocks.walk(0..self.layers + 2, |number, w| {
            x = Some(match x.take() {
                None => self.tokens(w, image, grid)?,
                Some(x) if number <= self.layers => {
                    let x = self.layer(w, &x)?;
                    if read.contains(&(number - 1)) {
                        states.push(x.clone());
                    }
                    x
                }
                Some(x) => {
                    drop(x);
                    self.head(w, std::mem::take(&mut states), grid)?
                }
            });
            Ok(())
        })?;
        x.ok_or_else(|| Error::msg("a walk had no blocks").into())
    }

    /// The layers whose states the head reads.
    fn read_layers(&self) -> [usize; STATES] {
        match self.layers {
            24 => [4, 11, 17, 23],
            layers => std::array::from_fn(|number| layers * (number + 1) / STATES - 1),
        }
    }

    /// The tokens of an image: the class, then its patches.
    fn tokens(&self, w: &Weights<'_>, image: &Tensor, grid: [usize; 2]) -> TensorResult<Tensor> {
        let [rows, columns] = grid;
        let split = image.reshape((1, COLOURS, rows, PATCH, columns, PATCH))?;
        let patches =
            split.permute([0, 2, 4, 1, 3, 5])?.reshape((1, rows * columns, COLOURS * PATCH * PATCH))?;
        let patches = w.patches("patch_embed.proj", &patches)?;
        let tokens = Tensor::cat(&[w.get("cls_token")?, patches], 1)?;
        let trained = w.get("pos_embed")?;
        if grid == [self.side; 2] {
            return tokens + trained;
        }
        // Each place of the grid as a sum over the places of the grid that was trained.
        let count = self.side * self.side;
        let shares = Tensor::from_fn(|| shares(self.side, grid), (rows * columns, count), &image.device())?;
        let of_patches = trained.narrow(1, 1, count)?.reshape((count, self.width))?;
        let resampled = linear(&shares, &of_patches.transpose(0, 1)?.contiguous()?, None)?.unsqueeze(0)?;
        drop(shares);
        tokens + Tensor::cat(&[trained.narrow(1, 0, 1)?, resampled], 1)?
    }

    /// A layer of the vision transformer.
    fn layer(&self, w: &Weights<'_>, x: &Tensor) -> TensorResult<Tensor> {
        let (batch, tokens, _) = x.dims3()?;
        let h = w.layer_norm("norm1", x, EPS)?;
        let heads = |name: &str| w.linear(name, &h)?.reshape((batch, tokens, self.width / HEAD, HEAD));
        let (q, k, v) = (heads("attn.q")?, heads("attn.k")?, heads("attn.v")?);
        let attended = attention(&q, &k, &v, Mask::None)?;
        drop((h, q, k, v));
        let scale = |name: &str| w.get(name)?.reshape((1, 1, self.width));
        let x = gated_add(x, &scale("ls1.gamma")?, &w.linear("attn.proj", &attended.flatten_from(2)?)?)?;
        drop(attended);
        let inner = gelu(&w.linear("mlp.fc1", &w.layer_norm("norm2", &x, EPS)?)?)?;
        gated_add(&x, &scale("ls2.gamma")?, &w.linear("mlp.fc2", &inner)?)
    }

    /// The head.
    fn head(
        &self,
        w: &Weights<'_>,
        states: Vec<Tensor>,
        [rows, columns]: [usize; 2],
    ) -> TensorResult<Tensor> {
        let mut features = Vec::with_capacity(STATES);
        for (number, (state, channels)) in states.into_iter().zip(self.channels).enumerate() {
            let normed = w.layer_norm("backbone.norm", &state, EPS)?;
            drop(state);
            let state = normed.narrow(1, 1, rows * columns)?.transpose(1, 2)?.contiguous()?;
            drop(normed);
            let state = state.reshape((1, self.width, rows, columns))?;
            let x = w.conv2d(&format!("projects.{number}"), &state, Conv2d::POINTWISE)?;
            let resize = format!("resize_layers.{number}");
            let x = match number {
                0 => enlarged(w, &resize, &x, channels, 4)?,
                1 => enlarged(w, &resize, &x, channels, 2)?,
                2 => x,
                _ => w.conv2d(&resize, &x, Conv2d::HALVE_3X3)?,
            };
            features.push(w.conv2d(&format!("scratch.layer{}_rn", number + 1), &x, Conv2d::SAME_3X3)?);
        }
        let mut path: Option<Tensor> = None;
        while let Some(feature) = features.pop() {
            let fusion = format!("scratch.refinenet{}", features.len() + 1);
            let x = match path.take() {
                Some(path) => (path + unit(w, &format!("{fusion}.resConfUnit1"), &feature)?)?,
                None => feature,
            };
            let x = unit(w, &format!("{fusion}.resConfUnit2"), &x)?;
            let (_, _, height, width) = x.dims4()?;
            let size = match features.last() {
                Some(next) => [next.dim(2)?, next.dim(3)?],
                None => [2 * height, 2 * width],
            };
            let x = resize_bilinear(&x, size)?;
            path = Some(w.conv2d(&format!("{fusion}.out_conv"), &x, Conv2d::POINTWISE)?);
        }
        let Some(path) = path else { bail!("the head has no states") };
        let x = w.conv2d("scratch.output_conv1", &path, Conv2d::SAME_3X3)?;
        drop(path);
        let x = resize_bilinear(&x, [rows * PATCH, columns * PATCH])?;
        let x = w.conv2d("scratch.output_conv2.0", &x, Conv2d::SAME_3X3)?.relu()?;
        w.conv2d("scratch.output_conv2.2", &x, Conv2d::POINTWISE)?.relu()
    }
}

impl MapEstimator for DepthAnything {
    fn kind(&self) -> MapKind {
        MapKind::Depth
    }

    fn size(&self) -> &'static str {
        match self.width {
            384 => "small",
            768 => "base",
            1024 => "large",
            _ => "of another size",
        }
    }

    fn scaled(&self, size: [u32; 2]) -> [u32; 2] {
        with_short_side(size, SHORT, PATCH as u32)
    }

    fn values(&self, _: [u32; 2], pixels: &[u8]) -> Vec<f32> {
        normalized_planes(pixels)
    }

    fn estimate(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Vec<Tensor>, RunError> {
        Ok(vec![self.nearness(blocks, image)?])
    }

    fn drawn(&self, _: [u32; 2], said: &[Values]) -> TensorResult<Option<Drawn>> {
        let [nearness] = said else { bail!("depths are one tensor, not {}", said.len()) };
        let (_, _, height, width) = nearness.dims4()?;
        let shades = shades(&nearness.flatten_all()?.to_vec1::<f32>()?);
        let size = [height as u32, width as u32];
        Ok(shades.map(|shades| Drawn::of_shades(shades.into_iter(), size)))
    }
}

/// From the smallest value, black, to the largest, white; `None` if a value is not finite.
fn shades(nearness: &[f32]) -> Option<Vec<u8>> {
    let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
    for value in nearness {
        if !value.is_finite() {
            return None;
        }
        (least, most) = (least.min(*value), most.max(*value));
    }
    // Where everything is equally far, nothing is near.
    let range = if most > least { most - least } else { 1.0 };
    Some(nearness.iter().map(|value| (255.0 * (value - least) / range).round() as u8).collect())
}

/// A unit of two convolutions around which the values also go.
fn unit(w: &Weights<'_>, name: &str, x: &Tensor) -> TensorResult<Tensor> {
    let inner = w.conv2d(&format!("{name}.conv1"), &x.relu()?, Conv2d::SAME_3X3)?.relu()?;
    w.conv2d(&format!("{name}.conv2"), &inner, Conv2d::SAME_3X3)? + x
}

/// A transposed convolution whose stride is the side of its kernel: each pixel becomes a square of pixels.
fn enlarged(w: &Weights<'_>, name: &str, x: &Tensor, channels: usize, side: usize) -> TensorResult<Tensor> {
    let (_, inputs, height, width) = x.dims4()?;
    let pixels = x.permute([0, 2, 3, 1])?.contiguous()?.reshape((1, height * width, inputs))?;
    let kernel = w.get(&format!("{name}.weight"))?.reshape((inputs, channels * side * side))?;
    let squares = linear(&pixels, &kernel.transpose(0, 1)?.contiguous()?, None)?;
    drop(pixels);
    let squares = squares.reshape((height, width, channels, side, side))?;
    let whole = squares.permute([2, 0, 3, 1, 4])?.contiguous()?;
    let whole = whole.reshape((1, channels, height * side, width * side))?;
    whole.broadcast_add(&w.get(&format!("{name}.bias"))?.reshape((1, channels, 1, 1))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_white_and_far_is_black() {
        assert_eq!(shades(&[2.0, 4.0, 3.0]), Some(vec![0, 255, 128]));
        assert_eq!(shades(&[7.0, 7.0]), Some(vec![0, 0]));
        assert_eq!(shades(&[1.0, f32::NAN]), None);
    }

    #[test]
    fn the_shorter_side_is_the_trained_one_and_the_longer_one_whole_patches() {
        let network = DepthAnything {
            width: 384,
            layers: 12,
            side: 37,
            channels: [48, 96, 192, 384],
            joined: 64,
            last: 32,
        };
        for (size, sees) in [
            ([512, 512], [518, 518]),
            ([768, 1024], [518, 686]),
            ([1920, 1080], [924, 518]),
            ([1, 4000], [518, 1554]),
        ] {
            assert_eq!(network.sees(size), sees, "{size:?}");
        }
        assert_eq!(network.read_layers(), [2, 5, 8, 11]);
        assert_eq!(DepthAnything { layers: 24, ..network }.read_layers(), [4, 11, 17, 23]);
    }
}
