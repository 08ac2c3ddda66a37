//! Where soft edges are in an image: holistically-nested edge detection (Xie and Tu 2015, arXiv:1504.06375), in the form that
//! was trained for ControlNets (`ControlNetHED`).

use std::path::Path;

use candle_core::Tensor as Values;

use super::{
    estimator::{COLOURS, Drawn, MapEstimator, planes, refused, with_short_side},
    own,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, MapKind, Role, StoredName, TensorTable},
    nn::{
        Conv2d, Error, Result as TensorResult, Tensor, Untraced, add, bail, resize_between_edges, untraced,
    },
    residency::{Blocks, RunError, Weights},
};

/// The shorter side of what the network sees, and what the other is a multiple of, as in controlnet_aux.
const SHORT: u32 = 512;
const STEP: u32 = 64;
/// Each block sees half of what the one before it saw.
const BLOCKS: usize = 5;

/// Its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    /// Channels.
    width: usize,
    /// Convolutions, one after the other.
    convs: usize,
}

/// The network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hed([Block; BLOCKS]);

fn unfit(path: &Path, reason: impl Into<String>) -> CheckpointError {
    refused(path, MapKind::SoftEdge, reason)
}

/// Whether a checkpoint is HED.
pub(super) fn is_hed(checkpoint: &Checkpoint) -> bool {
    let has_all = |tensors: &TensorTable| {
        ["norm", "block1.convs.0.weight", "block5.projection.weight"]
            .iter()
            .all(|name| tensors.contains_key(*name))
    };
    own(checkpoint).is_some_and(has_all)
}

/// Opens the network in a checkpoint, see [`super::open_estimator`].
pub(super) fn open_hed(checkpoint: &Checkpoint) -> Result<(Hed, Component), CheckpointError> {
    let path = &checkpoint.path;
    let tensors = own(checkpoint).filter(|_| is_hed(checkpoint));
    let tensors = tensors.ok_or_else(|| unfit(path, "it is no HED network"))?;
    let shape = |name: &str| tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
    let block = |number: usize| {
        let kernel = |conv: usize| shape(&format!("block{}.convs.{conv}.weight", number + 1));
        let convs = (0..).take_while(|conv| !kernel(*conv).is_empty()).count();
        match kernel(0) {
            &[width, ..] => Ok(Block { width, convs }),
            _ => Err(unfit(path, format!("block {} is missing", number + 1))),
        }
    };
    let network = Hed([block(0)?, block(1)?, block(2)?, block(3)?, block(4)?]);
    let name = |name: &str| StoredName::whole(name);
    let component = Component::bind(Role::Preprocessor, "HED", &network.specs(), tensors, name, path)?;
    Ok((network, component))
}

impl Hed {
    fn specs(&self) -> Vec<BlockSpec> {
        let mut inputs = COLOURS;
        let mut specs = Vec::with_capacity(BLOCKS);
        for (number, Block { width, convs }) in self.0.iter().enumerate() {
            let name = format!("block{}", number + 1);
            let mut spec = BlockSpec::stem(name.clone());
            if number == 0 {
                spec = spec.tensor("norm", &[1, COLOURS, 1, 1]);
            }
            for conv in 0..*convs {
                spec = spec.conv(&format!("{name}.convs.{conv}"), *width, inputs, 3);
                inputs = *width;
            }
            specs.push(spec.conv(&format!("{name}.projection"), 1, *width, 1));
        }
        specs
    }

    /// How sure the blocks are of an edge at each pixel of an image `[1, 3, height, width]` in 0…255, before the sigmoid: the
    /// mean over the blocks, `[1, 1, height, width]`. Height and width are multiples of 16.
    fn edges(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let (_, _, height, width) = image.dims4()?;
        let mut last: Option<Tensor> = None;
        let mut sum: Option<Tensor> = None;
        blocks.walk(0..BLOCKS, |number, w| {
            let name = format!("block{}", number + 1);
            let mut x = match last.take() {
                None => image.broadcast_add(&w.get("norm")?.neg()?)?,
                Some(x) => greatest_of_four(&x)?,
            };
            for conv in 0..self.0[number].convs {
                x = w.conv2d(&format!("{name}.convs.{conv}"), &x, Conv2d::SAME_3X3)?.relu()?;
            }
            let own = projected(w, &name, &x, [height, width])?;
            last = (number + 1 < BLOCKS).then_some(x);
            sum = Some(match sum.take() {
                None => own,
                Some(before) => add(&before, &own)?,
            });
            Ok(())
        })?;
        let sum = sum.ok_or_else(|| Error::msg("a walk had no blocks"))?;
        Ok(sum.affine(1.0 / BLOCKS as f64, 0.0)?)
    }
}

/// What a block says of each pixel of the image.
fn projected(w: &Weights<'_>, name: &str, x: &Tensor, size: [usize; 2]) -> TensorResult<Tensor> {
    resize_between_edges(&w.conv2d(&format!("{name}.projection"), x, Conv2d::POINTWISE)?, size)
}

/// The greatest of each two by two values of `[1, channels, height, width]`.
fn greatest_of_four(x: &Tensor) -> TensorResult<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    let (rows, columns) = (height / 2, width / 2);
    let (half, quarter) = (batch * channels * rows * width, batch * channels * rows * columns);
    let takes = |_| Untraced { values: 3 * half, operations: (half + quarter) as f64 };
    untraced([x], &[batch, channels, rows, columns], takes, |[x]| {
        let pairs = x.reshape((batch * channels * rows, 2, width))?;
        let taller = pairs.narrow(1, 0, 1)?.contiguous()?.maximum(&pairs.narrow(1, 1, 1)?.contiguous()?)?;
        let pairs = taller.reshape((batch * channels * rows * columns, 2))?;
        let most = pairs.narrow(1, 0, 1)?.contiguous()?.maximum(&pairs.narrow(1, 1, 1)?.contiguous()?)?;
        most.reshape((batch, channels, rows, columns))
    })
}

impl MapEstimator for Hed {
    fn kind(&self) -> MapKind {
        MapKind::SoftEdge
    }

    fn size(&self) -> &'static str {
        match self.0[BLOCKS - 1].width {
            512 => "for ControlNets",
            _ => "of another size",
        }
    }

    fn scaled(&self, size: [u32; 2]) -> [u32; 2] {
        with_short_side(size, SHORT, STEP)
    }

    fn values(&self, _: [u32; 2], pixels: &[u8]) -> Vec<f32> {
        planes(pixels, |_, byte| f32::from(byte))
    }

    fn estimate(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Vec<Tensor>, RunError> {
        Ok(vec![self.edges(blocks, image)?])
    }

    fn drawn(&self, _: [u32; 2], said: &[Values]) -> TensorResult<Option<Drawn>> {
        let [edges] = said else { bail!("edges are one tensor, not {}", said.len()) };
        let (_, _, height, width) = edges.dims4()?;
        let shades = shades(&edges.flatten_all()?.to_vec1()?);
        let size = [height as u32, width as u32];
        Ok(shades.map(|shades| Drawn::of_shades(shades.into_iter(), size)))
    }
}

/// How sure the network is of an edge, from black to white; `None` if a value is not a number.
fn shades(edges: &[f32]) -> Option<Vec<u8>> {
    let shade = |edge: &f32| (255.0 / (1.0 + (-f64::from(*edge)).exp())) as u8;
    edges.iter().all(|edge| !edge.is_nan()).then(|| edges.iter().map(shade).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Device;

    #[test]
    fn sure_edges_are_white() {
        assert_eq!(shades(&[0.0, -40.0, 40.0, 1.0]), Some(vec![127, 0, 255, 186]));
        assert_eq!(shades(&[f32::NAN]), None);
    }

    #[test]
    fn of_four_values_the_greatest_stays() {
        let values: Vec<f32> =
            [1, 5, 2, 0, 3, 4, 9, -1, -8, -7, 0, 0, -6, -9, 0, 7].map(|x| x as f32).to_vec();
        let x = Tensor::from_vec(values, [1, 2, 2, 4].as_slice(), &Device::processor()).unwrap();
        let most = greatest_of_four(&x).unwrap().into_computed().unwrap().flatten_all().unwrap();
        assert_eq!(most.to_vec1::<f32>().unwrap(), [5.0, 9.0, -6.0, 7.0]);
    }
}
