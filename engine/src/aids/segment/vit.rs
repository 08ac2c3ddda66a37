//! Segment Anything's own image encoder: a vision transformer with windows (Li et al. 2022, arXiv:2203.16527).

use std::path::Path;

use super::{GRID, SIDE, neck, refused};
use crate::{
    aids::estimator::COLOURS,
    checkpoint::{BlockSpec, CheckpointError},
    nn::{Error, Result as TensorResult, Tensor, add, attention_with_grid_bias, gelu, linear},
    residency::{Blocks, RunError, Weights},
};

/// Pixels along each side of a patch.
const PATCH: usize = SIDE / GRID;
/// Patches along each side of a window.
const WINDOW: usize = 14;
/// Added to the variance in its norms.
const EPS: f64 = 1e-6;

/// Its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Vit {
    /// Its width.
    pub width: usize,
    /// Attention heads.
    heads: usize,
    /// For each layer, whether each patch attends to all others, and not only to those of its window.
    sees_all: Vec<bool>,
}

impl Vit {
    /// The one with tensors of these shapes, by the authors' names.
    pub fn found<'a>(path: &Path, shape: impl Fn(&str) -> &'a [usize]) -> Result<Self, CheckpointError> {
        let &[_, rows, columns, width] = shape("image_encoder.pos_embed") else {
            return Err(refused(path, "the places of its image encoder are missing"));
        };
        if [rows, columns] != [GRID; 2] {
            return Err(refused(path, format!("it sees {rows}×{columns} patches instead of {GRID}×{GRID}")));
        }
        let relative = |layer: usize| shape(&format!("image_encoder.blocks.{layer}.attn.rel_pos_h"));
        let (mut sees_all, mut heads) = (Vec::new(), 0);
        while let &[reach, head] = relative(sees_all.len()) {
            if head == 0 || !width.is_multiple_of(head) {
                return Err(refused(path, format!("heads of {head} values do not fit a width of {width}")));
            }
            heads = width / head;
            sees_all.push(match reach.div_ceil(2) {
                GRID => true,
                WINDOW => false,
                other => return Err(refused(path, format!("its windows have {other} patches a side"))),
            });
        }
        if sees_all.is_empty() {
            return Err(refused(path, "its image encoder has no layers"));
        }
        Ok(Self { width, heads, sees_all })
    }

    /// What people call its size.
    pub fn size(&self) -> &'static str {
        match self.width {
            768 => "ViT-B",
            1024 => "ViT-L",
            1280 => "ViT-H",
            _ => "ViT of another size",
        }
    }

    /// The number of its blocks: one for the patches, one for each layer, and one for the neck.
    pub fn blocks(&self) -> usize {
        self.sees_all.len() + 2
    }

    /// A block for each of them.
    pub fn specs(&self) -> Vec<BlockSpec> {
        let part = |name: &str| BlockSpec {
            prefix: "image_encoder.".to_owned(),
            ..BlockSpec::stem(format!("image_encoder.{name}"))
        };
        let mut specs = vec![part("patches").tensor("pos_embed", &[1, GRID, GRID, self.width]).conv(
            "patch_embed.proj",
            self.width,
            COLOURS,
            PATCH,
        )];
        specs.extend(self.sees_all.iter().enumerate().map(|(layer, sees_all)| self.spec(layer, *sees_all)));
        specs.push(neck::spec(part("neck"), self.width));
        specs
    }

    fn spec(&self, layer: usize, sees_all: bool) -> BlockSpec {
        let Self { width, heads, .. } = *self;
        let distances = [2 * side(sees_all) - 1, width / heads];
        BlockSpec::new(format!("image_encoder.blocks.{layer}"))
            .norm("norm1", width)
            .linear("attn.qkv", 3 * width, width)
            .tensor("attn.rel_pos_h", &distances)
            .tensor("attn.rel_pos_w", &distances)
            .linear("attn.proj", width, width)
            .norm("norm2", width)
            .linear("mlp.lin1", 4 * width, width)
            .linear("mlp.lin2", width, 4 * width)
    }

    /// The embedding `[1, 256, 64, 64]` of a normalized image `[1, 3, 1024, 1024]`.
    pub fn embed(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let mut x = None;
        blocks.walk(0..self.blocks(), |number, w| {
            x = Some(match x.take() {
                None => patches(w, image)?,
                Some(x) => match self.sees_all.get(number - 1) {
                    Some(sees_all) => self.layer(w, *sees_all, x)?,
                    None => neck::embedding(w, &x)?,
                },
            });
            Ok(())
        })?;
        x.ok_or_else(|| Error::msg("a walk had no blocks").into())
    }

    fn layer(&self, w: &Weights<'_>, sees_all: bool, x: Tensor) -> TensorResult<Tensor> {
        let normed = w.layer_norm("norm1", &x, EPS)?;
        let seen = if sees_all { self.attention(w, normed)? } else { self.within_windows(w, normed)? };
        let sum = add(&x, &seen)?;
        drop((x, seen));
        let wide = w.linear("mlp.lin1", &w.layer_norm("norm2", &sum, EPS)?)?;
        let active = gelu(&wide)?;
        drop(wide);
        add(&sum, &w.linear("mlp.lin2", &active)?)
    }

    /// Attention within windows, the last of which are filled up with zeros.
    fn within_windows(&self, w: &Weights<'_>, x: Tensor) -> TensorResult<Tensor> {
        let whole = GRID.next_multiple_of(WINDOW);
        let (more, count) = (whole - GRID, whole / WINDOW);
        let padded = x.pad_with_zeros(1, 0, more)?.pad_with_zeros(2, 0, more)?;
        drop(x);
        let cut = padded
            .reshape((count, WINDOW, count, WINDOW, self.width))?
            .permute([0, 2, 1, 3, 4])?
            .contiguous()?
            .reshape((count * count, WINDOW, WINDOW, self.width))?;
        drop(padded);
        let seen = self.attention(w, cut)?;
        let joined = seen
            .reshape((count, count, WINDOW, WINDOW, self.width))?
            .permute([0, 2, 1, 3, 4])?
            .contiguous()?
            .reshape((1, whole, whole, self.width))?;
        drop(seen);
        joined.narrow(1, 0, GRID)?.narrow(2, 0, GRID)?.contiguous()
    }

    /// Attention of the places of squares `[count, side, side, width]`.
    fn attention(&self, w: &Weights<'_>, x: Tensor) -> TensorResult<Tensor> {
        let heads = self.heads;
        let (count, side, _, width) = x.dims4()?;
        let all = w.linear("attn.qkv", &x)?.reshape((count, side * side, 3 * heads, width / heads))?;
        drop(x);
        let part = |number: usize| all.narrow(2, number * heads, heads);
        let (q, k, v) = (part(0)?, part(1)?, part(2)?);
        let [rows, columns] = biases(w, &q, side)?;
        let seen = attention_with_grid_bias(&q, &k, &v, &rows, &columns)?;
        drop((q, k, v, all, rows, columns));
        w.linear("attn.proj", &seen.reshape((count, side, side, width))?)
    }
}

/// Places along each side of what a patch attends to.
fn side(sees_all: bool) -> usize {
    if sees_all { GRID } else { WINDOW }
}

/// What queries `[count, side · side, heads, head]` add to the scores of each row and of each column of keys, `[count, side ·
/// side, heads, side]` each: their product with a vector that belongs to the distance.
fn biases(w: &Weights<'_>, q: &Tensor, side: usize) -> TensorResult<[Tensor; 2]> {
    let (count, places, heads, head) = q.dims4()?;
    let squares = q.contiguous()?.reshape((count, side, side, heads, head))?;
    let along = |axis: usize, name: &str| {
        let table = w.get(&format!("attn.rel_pos_{name}"))?;
        // Turned around, so that the distances of a query from the first key to the last one follow each other.
        let turned = table.index_select(&(0..2 * side as u32 - 1).rev().collect::<Vec<_>>())?;
        let of_all = linear(&squares, &turned, None)?;
        let of_place = |place: usize| of_all.narrow(axis, place, 1)?.narrow(4, side - 1 - place, side);
        let parts = (0..side).map(of_place).collect::<TensorResult<Vec<_>>>()?;
        let joined = Tensor::cat(&parts, axis)?;
        drop((parts, of_all));
        joined.reshape((count, places, heads, side))
    };
    Ok([along(1, "h")?, along(2, "w")?])
}

/// The patches of an image, with what is added for their places: `[1, 64, 64, width]`.
fn patches(w: &Weights<'_>, image: &Tensor) -> TensorResult<Tensor> {
    let split = image.reshape((COLOURS, GRID, PATCH, GRID, PATCH))?.permute([1, 3, 0, 2, 4])?;
    let values = split.reshape((1, GRID * GRID, COLOURS * PATCH * PATCH))?;
    let x = w.patches("patch_embed.proj", &values)?.reshape((1, GRID, GRID, ()))?;
    drop(values);
    add(&x, &w.get("pos_embed")?)
}
