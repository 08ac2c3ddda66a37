//! What is where in an image: SegFormer (Xie et al. 2021, arXiv:2105.15203), trained on ADE20K, as transformers saves it. Its
//! shape comes from its tensors: that of a configuration is not needed.

use std::path::Path;

use candle_core::Tensor as Values;

use super::{
    ade,
    estimator::{COLOURS, Drawn, MapEstimator, normalized_planes, refused, with_short_side},
    own,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, MapKind, Role, StoredName, TensorTable},
    nn::{
        Conv2d, Error, Mask, Result as TensorResult, Tensor, add, attention, bail, conv2d, depthwise, gelu,
        linear, resize_between_edges,
    },
    residency::{Blocks, RunError, Weights},
};

/// The shorter side of what the network sees, and what the other is a multiple of: the strides of all stages together.
const SHORT: u32 = 512;
const STEP: u32 = 32;
/// Stages, each of which sees half of what the one before it saw, and the first a quarter of the image.
const STAGES: usize = 4;
const QUARTER: usize = 4;
/// Pixels along each side of the kernels of the first stage and of the others.
const KERNELS: [usize; STAGES] = [7, 3, 3, 3];
/// Added to the variance in every norm, also in that over a batch.
const EPS: f64 = 1e-5;
/// What the names of the layers begin with, and those of what comes after them.
const ENCODER: &str = "segformer.encoder";
const HEAD: &str = "decode_head";

/// One stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stage {
    width: usize,
    layers: usize,
    /// Keys and values are those of squares with this side.
    reduction: usize,
    /// Channels within a layer.
    inner: usize,
}

/// The network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segformer {
    stages: [Stage; STAGES],
    /// Channels where the stages are joined.
    joined: usize,
}

/// A block of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// What a stage begins with.
    Embeddings(usize),
    /// A layer of a stage.
    Layer(usize, usize),
    Head,
}

/// Tokens `[1, rows · columns, channels]` and their rows and columns.
struct Tokens {
    x: Tensor,
    grid: [usize; 2],
}

fn unfit(path: &Path, reason: impl Into<String>) -> CheckpointError {
    refused(path, MapKind::Segments, reason)
}

fn embeddings(stage: usize) -> String {
    format!("{ENCODER}.patch_embeddings.{stage}")
}

/// The norm after a stage.
fn norm_of(stage: usize) -> String {
    format!("{ENCODER}.layer_norm.{stage}")
}

fn layer(stage: usize, number: usize) -> String {
    format!("{ENCODER}.block.{stage}.{number}")
}

/// Whether a checkpoint is SegFormer with a head that tells segments.
pub(super) fn is_segformer(checkpoint: &Checkpoint) -> bool {
    let names = [format!("{}.proj.weight", embeddings(0)), format!("{HEAD}.linear_fuse.weight")];
    own(checkpoint).is_some_and(|tensors| names.iter().all(|name| tensors.contains_key(name)))
}

/// Opens the network in a checkpoint, see [`super::open_estimator`].
pub(super) fn open_segformer(checkpoint: &Checkpoint) -> Result<(Segformer, Component), CheckpointError> {
    let path = &checkpoint.path;
    let tensors = own(checkpoint).filter(|_| is_segformer(checkpoint));
    let tensors = tensors.ok_or_else(|| unfit(path, "it is no SegFormer network that tells segments"))?;
    let network = Segformer::found(path, tensors)?;
    let specs: Vec<BlockSpec> = network.parts().into_iter().map(|part| network.spec(part)).collect();
    let name = |name: &str| StoredName::whole(name);
    let component = Component::bind(Role::Preprocessor, "SegFormer", &specs, tensors, name, path)?;
    Ok((network, component))
}

impl Segformer {
    /// Its shape, from those of its tensors.
    fn found(path: &Path, tensors: &TensorTable) -> Result<Self, CheckpointError> {
        let shape = |name: String| tensors.get(&name).map_or(&[][..], |tensor| tensor.shape());
        let stage = |stage: usize| {
            let first = layer(stage, 0);
            let (&[width, ..], &[inner, _]) = (
                shape(format!("{}.proj.weight", embeddings(stage))),
                shape(format!("{first}.mlp.dense1.weight")),
            ) else {
                return Err(unfit(path, format!("stage {} is missing", stage + 1)));
            };
            let is_there =
                |number: &usize| !shape(format!("{}.layer_norm_1.weight", layer(stage, *number))).is_empty();
            let reduction = match shape(format!("{first}.attention.self.sr.weight")) {
                &[_, _, side, _] => side,
                _ => 1,
            };
            Ok(Stage { width, layers: (0..).take_while(is_there).count(), reduction, inner })
        };
        let stages = [stage(0)?, stage(1)?, stage(2)?, stage(3)?];
        let fits = |(number, stage): (usize, &Stage)| {
            let sees = (STEP as usize / QUARTER) >> number;
            stage.reduction > 0
                && sees.is_multiple_of(stage.reduction)
                && stages[0].width > 0
                && stage.width.is_multiple_of(stages[0].width)
        };
        if !stages.iter().enumerate().all(fits) {
            return Err(unfit(path, "its stages are not those of SegFormer B0 to B5"));
        }
        let (&[joined, ..], &[classes, ..]) =
            (shape(format!("{HEAD}.linear_fuse.weight")), shape(format!("{HEAD}.classifier.weight")))
        else {
            return Err(unfit(path, "its classifier is missing"));
        };
        if classes != ade::CLASSES {
            let reason = format!("it tells {classes} classes apart and not the {} of ADE20K", ade::CLASSES);
            return Err(unfit(path, reason));
        }
        Ok(Self { stages, joined })
    }

    /// Its blocks in their order.
    fn parts(&self) -> Vec<Part> {
        let of_stage = |(number, stage): (usize, &Stage)| {
            let layers = (0..stage.layers).map(move |layer| Part::Layer(number, layer));
            std::iter::once(Part::Embeddings(number)).chain(layers)
        };
        self.stages.iter().enumerate().flat_map(of_stage).chain([Part::Head]).collect()
    }

    fn spec(&self, part: Part) -> BlockSpec {
        match part {
            Part::Embeddings(number) => {
                let name = embeddings(number);
                let width = self.stages[number].width;
                let mut spec = BlockSpec::stem(format!("embeddings.{number}"));
                let mut inputs = COLOURS;
                if let Some(before) = number.checked_sub(1) {
                    inputs = self.stages[before].width;
                    spec = spec.norm(&norm_of(before), inputs);
                }
                spec.conv(&format!("{name}.proj"), width, inputs, KERNELS[number])
                    .norm(&format!("{name}.layer_norm"), width)
            }
            Part::Layer(number, of_stage) => {
                let Stage { width, reduction, inner, .. } = self.stages[number];
                let mut spec = BlockSpec::new(layer(number, of_stage))
                    .norm("layer_norm_1", width)
                    .linear("attention.self.query", width, width)
                    .linear("attention.self.key", width, width)
                    .linear("attention.self.value", width, width);
                if reduction > 1 {
                    spec = spec
                        .conv("attention.self.sr", width, width, reduction)
                        .norm("attention.self.layer_norm", width);
                }
                spec.linear("attention.output.dense", width, width)
                    .norm("layer_norm_2", width)
                    .linear("mlp.dense1", inner, width)
                    .conv("mlp.dwconv.dwconv", inner, 1, 3)
                    .linear("mlp.dense2", width, inner)
            }
            Part::Head => {
                let joined = self.joined;
                let mut spec =
                    BlockSpec::stem("head").norm(&norm_of(STAGES - 1), self.stages[STAGES - 1].width);
                for (number, stage) in self.stages.iter().enumerate() {
                    spec = spec.linear(&format!("{HEAD}.linear_c.{number}.proj"), joined, stage.width);
                }
                spec.tensor(format!("{HEAD}.linear_fuse.weight"), &[joined, STAGES * joined, 1, 1])
                    .batch_norm(&format!("{HEAD}.batch_norm"), joined)
                    .conv(&format!("{HEAD}.classifier"), ade::CLASSES, joined, 1)
            }
        }
    }

    /// How sure the network is of each class at each fourth row and column of a normalized image `[1, 3, height, width]`,
    /// before softmax: `[1, 150, height / 4, width / 4]` in f32. Height and width are multiples of 32.
    fn classes(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let parts = self.parts();
        let lost = || Error::msg("a layer of SegFormer ran before one that it reads");
        let mut seen: Vec<Tokens> = Vec::with_capacity(STAGES);
        let mut now: Option<Tokens> = None;
        let mut classes = None;
        blocks.walk(0..parts.len(), |number, w| {
            match (parts[number], now.take()) {
                (Part::Embeddings(0), _) => now = Some(first_tokens(w, image)?),
                (Part::Embeddings(stage), Some(before)) => {
                    let normed = before.normed(w, stage - 1)?;
                    now = Some(normed.halved(w, &embeddings(stage))?);
                    seen.push(normed);
                }
                (Part::Layer(stage, _), Some(before)) => {
                    now = Some(self.layer(w, self.stages[stage], before)?);
                }
                (Part::Head, Some(before)) => {
                    seen.push(before.normed(w, STAGES - 1)?);
                    classes = Some(self.head(w, std::mem::take(&mut seen))?);
                }
                (_, None) => return Err(lost()),
            }
            Ok(())
        })?;
        classes.ok_or_else(|| lost().into())
    }

    fn layer(&self, w: &Weights<'_>, stage: Stage, Tokens { x, grid }: Tokens) -> TensorResult<Tokens> {
        let [rows, columns] = grid;
        // Heads are as wide as the first stage, which has one.
        let (width, head) = (stage.width, self.stages[0].width);
        let heads = |name: &str, x: &Tensor| {
            let count = x.dim(1)?;
            w.linear(name, x)?.reshape((1, count, width / head, head))
        };
        let normed = w.layer_norm("layer_norm_1", &x, EPS)?;
        let q = heads("attention.self.query", &normed)?;
        let seen = match stage.reduction {
            1 => normed,
            side => {
                let (down, across) = (rows / side, columns / side);
                let squares = normed.reshape((1, down, side, across, side, width))?;
                drop(normed);
                let squares = squares.permute([0, 1, 3, 5, 2, 4])?.contiguous()?;
                let squares = squares.reshape((1, down * across, width * side * side))?;
                w.layer_norm("attention.self.layer_norm", &w.patches("attention.self.sr", &squares)?, EPS)?
            }
        };
        let (k, v) = (heads("attention.self.key", &seen)?, heads("attention.self.value", &seen)?);
        drop(seen);
        let attended = attention(&q, &k, &v, Mask::None)?.flatten_from(2)?;
        drop((q, k, v));
        let mut x = add(&w.linear("attention.output.dense", &attended)?, &x)?;
        drop(attended);
        let normed = w.layer_norm("layer_norm_2", &x, EPS)?;
        let mut inner = w.linear("mlp.dense1", &normed)?.reshape((1, rows, columns, stage.inner))?;
        drop(normed);
        let [kernel, bias] = ["weight", "bias"].map(|end| w.get(&format!("mlp.dwconv.dwconv.{end}")));
        inner = depthwise(&inner, &kernel?, &bias?, 1)?;
        inner = gelu(&inner)?.reshape((1, rows * columns, stage.inner))?;
        x = add(&w.linear("mlp.dense2", &inner)?, &x)?;
        Ok(Tokens { x, grid })
    }

    /// What is seen in the tokens of all stages. The stages are joined before they are resized, which is the same and takes
    /// less.
    fn head(&self, w: &Weights<'_>, seen: Vec<Tokens>) -> TensorResult<Tensor> {
        let (fuse, norm) = (format!("{HEAD}.linear_fuse"), format!("{HEAD}.batch_norm"));
        let (kernel, bias) = w.with_batch_norm(&fuse, &norm, EPS)?;
        let joined = self.joined;
        let kernel = kernel.reshape((joined, STAGES * joined))?;
        let Some(size) = seen.first().map(|first| first.grid) else { bail!("there are no stages") };
        let mut sum: Option<Tensor> = None;
        for (number, Tokens { x, grid }) in seen.into_iter().enumerate() {
            let own = w.linear(&format!("{HEAD}.linear_c.{number}.proj"), &x)?;
            drop(x);
            // The last stage is the first one there.
            let part = kernel.narrow(1, (STAGES - 1 - number) * joined, joined)?.contiguous()?;
            let own = linear(&own, &part, Some(&bias).filter(|_| number == 0))?;
            let own = resize_between_edges(&planes_of(&Tokens { x: own, grid })?, size)?;
            sum = Some(match sum.take() {
                None => own,
                Some(before) => add(&before, &own)?,
            });
        }
        let Some(sum) = sum else { bail!("there are no stages") };
        w.conv2d(&format!("{HEAD}.classifier"), &sum.relu()?, Conv2d::POINTWISE)
    }
}

/// The tokens of an image: a convolution with a stride of four, written as one of blocks of four by four pixels.
fn first_tokens(w: &Weights<'_>, image: &Tensor) -> TensorResult<Tokens> {
    let (_, _, height, width) = image.dims4()?;
    let grid = [height / QUARTER, width / QUARTER];
    let channels = COLOURS * QUARTER * QUARTER;
    // The pixels of a block are channels.
    let blocks = image.reshape((1, COLOURS, grid[0], QUARTER, grid[1], QUARTER))?;
    let blocks =
        blocks.permute([0, 1, 3, 5, 2, 4])?.contiguous()?.reshape((1, channels, grid[0], grid[1]))?;
    // Seven pixels begin with the second one of the block before; with zeros around them they are three blocks.
    let name = format!("{}.proj", embeddings(0));
    let kernel = w.get(&format!("{name}.weight"))?;
    let outputs = kernel.dim(0)?;
    let kernel = kernel.pad_with_zeros(2, 1, QUARTER)?.pad_with_zeros(3, 1, QUARTER)?;
    let kernel = kernel.reshape((outputs, COLOURS, 3, QUARTER, 3, QUARTER))?;
    let kernel = kernel.permute([0, 1, 3, 5, 2, 4])?.contiguous()?.reshape((outputs, channels, 3, 3))?;
    let x = conv2d(&blocks, &kernel, Some(&w.get(&format!("{name}.bias"))?), Conv2d::SAME_3X3)?;
    drop(blocks);
    tokens_of(w, &embeddings(0), &x, grid)
}

/// Planes `[1, channels, rows, columns]` as tokens, after the norm of the embeddings.
fn tokens_of(w: &Weights<'_>, name: &str, x: &Tensor, grid: [usize; 2]) -> TensorResult<Tokens> {
    let x = x.flatten_from(2)?.transpose(1, 2)?.contiguous()?;
    Ok(Tokens { x: w.layer_norm(&format!("{name}.layer_norm"), &x, EPS)?, grid })
}

/// Tokens as planes `[1, channels, rows, columns]`.
fn planes_of(Tokens { x, grid }: &Tokens) -> TensorResult<Tensor> {
    let (_, _, channels) = x.dims3()?;
    x.transpose(1, 2)?.contiguous()?.reshape((1, channels, grid[0], grid[1]))
}

impl Tokens {
    /// After the norm that ends a stage.
    fn normed(self, w: &Weights<'_>, stage: usize) -> TensorResult<Self> {
        Ok(Self { x: w.layer_norm(&norm_of(stage), &self.x, EPS)?, grid: self.grid })
    }

    /// The tokens that the next stage begins with.
    fn halved(&self, w: &Weights<'_>, name: &str) -> TensorResult<Self> {
        let x = w.conv2d(&format!("{name}.proj"), &planes_of(self)?, Conv2d::HALVE_3X3)?;
        tokens_of(w, name, &x, self.grid.map(|side| side / 2))
    }
}

impl MapEstimator for Segformer {
    fn kind(&self) -> MapKind {
        MapKind::Segments
    }

    fn size(&self) -> &'static str {
        match (self.stages[0].width, self.stages.map(|stage| stage.layers)) {
            (32, [2, 2, 2, 2]) => "B0",
            (64, [2, 2, 2, 2]) => "B1",
            (64, [3, 4, 6, 3]) => "B2",
            (64, [3, 4, 18, 3]) => "B3",
            (64, [3, 8, 27, 3]) => "B4",
            (64, [3, 6, 40, 3]) => "B5",
            _ => "of another size",
        }
    }

    fn scaled(&self, size: [u32; 2]) -> [u32; 2] {
        with_short_side(size, SHORT, STEP)
    }

    fn values(&self, _: [u32; 2], pixels: &[u8]) -> Vec<f32> {
        normalized_planes(pixels)
    }

    fn estimate(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Vec<Tensor>, RunError> {
        Ok(vec![self.classes(blocks, image)?])
    }

    fn drawn(&self, size: [u32; 2], said: &[Values]) -> TensorResult<Option<Drawn>> {
        let [classes] = said else { bail!("classes are one tensor, not {}", said.len()) };
        let (_, count, rows, columns) = classes.dims4()?;
        // The classes of a place, one after the other.
        let by_place: Vec<f32> = classes.permute((0, 2, 3, 1))?.flatten_all()?.to_vec1()?;
        if by_place.iter().any(|value| !value.is_finite()) {
            return Ok(None);
        }
        let surest = surest([count, rows, columns], &by_place, size.map(|side| side as usize));
        let pixels = surest.into_iter().flat_map(|class| ade::COLOURS[class % ade::CLASSES]).collect();
        Ok(Some(Drawn { pixels, size }))
    }
}

/// The surest class of each pixel of this height and width, between the places of which the classes are known, as PyTorch's
/// bilinear interpolation has it.
fn surest([count, rows, columns]: [usize; 3], by_place: &[f32], [height, width]: [usize; 2]) -> Vec<usize> {
    let between = |pixel: usize, from: usize, length: usize| {
        let place = ((pixel as f32 + 0.5) * from as f32 / length as f32 - 0.5).max(0.0);
        let first = (place as usize).min(from - 1);
        (first, (first + 1).min(from - 1), place - first as f32)
    };
    let mut found = Vec::with_capacity(height * width);
    let mut row = vec![0.0; columns * count];
    for y in 0..height {
        let (above, below, down) = between(y, rows, height);
        let line = |row: usize| &by_place[row * columns * count..(row + 1) * columns * count];
        for (mixed, (above, below)) in row.iter_mut().zip(line(above).iter().zip(line(below))) {
            *mixed = above * (1.0 - down) + below * down;
        }
        for x in 0..width {
            let (left, right, across) = between(x, columns, width);
            let places = |column: usize| &row[column * count..(column + 1) * count];
            let mut most = (0, f32::NEG_INFINITY);
            for (class, (left, right)) in places(left).iter().zip(places(right)).enumerate() {
                let sure = left * (1.0 - across) + right * across;
                if sure > most.1 {
                    most = (class, sure);
                }
            }
            found.push(most.0);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surest_class_between_places_wins() {
        // Two columns of two classes, of which the second is twice as sure of its own one.
        let found = surest([2, 1, 2], &[1.0, 0.0, 0.0, 2.0], [2, 8]);
        assert_eq!(found, [[0, 0, 0, 1, 1, 1, 1, 1]; 2].concat());
    }

    #[test]
    fn parts_are_walked_stage_by_stage() {
        let stage = |width, layers, reduction| Stage { width, layers, reduction, inner: 4 * width };
        let stages = [stage(32, 2, 8), stage(64, 2, 4), stage(160, 2, 2), stage(256, 2, 1)];
        let network = Segformer { stages, joined: 256 };
        assert_eq!((network.size(), network.parts().len()), ("B0", 13));
        assert_eq!(network.parts()[3..5], [Part::Embeddings(1), Part::Layer(1, 0)]);
        let parameters: usize = network
            .parts()
            .into_iter()
            .flat_map(|part| network.spec(part).tensors)
            .filter(|(name, _)| !name.contains("running"))
            .map(|(_, shape)| shape.iter().product::<usize>())
            .sum();
        assert_eq!(parameters, 3_752_694);
    }
}
