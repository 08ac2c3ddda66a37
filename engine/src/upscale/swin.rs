//! Blocks of a Swin transformer (Liu et al. 2021, arXiv:2103.14030) between convolutions, as SwinIR and HAT have them.

use std::path::Path;

use super::{
    open::refused,
    shell::{EPS, Shell},
    windows::{self, Windows},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, TensorTable},
    nn::{Result as TensorResult, Tensor, add, gelu},
    residency::Weights,
};

/// The prefix of the attention of a block.
pub(super) const ATTENTION: &str = "attn.";
/// What is added to the scores of two places, by their distance and the head.
pub(super) const TABLE: &str = "relative_position_bias_table";

/// Its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Swin {
    /// What is around its blocks.
    pub shell: Shell,
    /// For each group, its blocks and their heads.
    pub groups: Vec<[usize; 2]>,
    /// Rows, and columns, of a window.
    pub side: usize,
    /// Inner values of a feed-forward.
    inner: usize,
    /// Whether queries, keys and values have biases.
    has_bias: bool,
}

/// The places that those of a window see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sees {
    /// Those of the window.
    Own,
    /// Those of the window, and windows are shifted by half their size.
    Shifted,
    /// Those of the window, and so many rows and columns on each side of it.
    Around(usize),
}

impl Sees {
    /// What a block of a group sees: every other one has shifted windows.
    pub fn of_block(block: usize) -> Self {
        if block.is_multiple_of(2) { Self::Own } else { Self::Shifted }
    }
}

impl Swin {
    /// Its shape, from those of the tensors; `first` is the name of the first convolution.
    pub fn found(path: &Path, tensors: &TensorTable, first: &'static str) -> Result<Self, CheckpointError> {
        let shape = |name: &str| tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
        let missing = |what: &str| refused(path, format!("{what} is missing"));
        if tensors.contains_key("absolute_pos_embed") {
            return Err(refused(path, "it knows the places of images of one size only"));
        }
        let shell = Shell::found(path, tensors, [first, "patch_embed.norm"])?;
        let width = shell.width;
        let block = |group: usize, block: usize| format!("layers.{group}.residual_group.blocks.{block}");
        let table = |group: usize| shape(&format!("{}.{ATTENTION}{TABLE}", block(group, 0)));
        let has = |group: usize, number: usize| {
            tensors.contains_key(&format!("{}.norm1.weight", block(group, number)))
        };
        let mut groups = Vec::new();
        for group in (0..).take_while(|group| has(*group, 0)) {
            let blocks = (0..).take_while(|block| has(group, *block)).count();
            let &[_, heads] = table(group) else { return Err(missing("the attention of a group")) };
            if heads == 0 || !width.is_multiple_of(heads) {
                return Err(refused(path, format!("{heads} heads do not fit a width of {width}")));
            }
            groups.push([blocks, heads]);
        }
        let (&[distances, _], &[inner, _]) = (table(0), shape(&format!("{}.mlp.fc1.weight", block(0, 0))))
        else {
            return Err(missing("a feed-forward"));
        };
        let lines = distances.isqrt();
        if lines * lines != distances || lines.is_multiple_of(2) {
            return Err(refused(path, format!("windows with {distances} distances are not square")));
        }
        let has_bias = tensors.contains_key(&format!("{}.{ATTENTION}qkv.bias", block(0, 0)));
        Ok(Self { shell, groups, side: lines.div_ceil(2), inner, has_bias })
    }

    /// Adds the tensors of attention, under the prefix `at`, and of the feed-forward after it.
    pub fn described(&self, spec: BlockSpec, at: &str, heads: usize, sees: Sees) -> BlockSpec {
        let Self { shell: Shell { width, .. }, side, inner, has_bias, .. } = *self;
        let around = if let Sees::Around(around) = sees { around } else { 0 };
        let lines = 2 * (side + around) - 1;
        let mut spec = spec
            .norm("norm1", width)
            .tensor(format!("{at}{TABLE}"), &[lines * lines, heads])
            .matrix(&format!("{at}qkv"), 3 * width, width);
        if has_bias {
            spec = spec.tensor(format!("{at}qkv.bias"), &[3 * width]);
        }
        spec.linear(&format!("{at}proj"), width, width)
            .norm("norm2", width)
            .linear("mlp.fc1", inner, width)
            .linear("mlp.fc2", width, inner)
    }

    /// A block of `x` `[1, height, width, channels]`: attention under the prefix `at`, and a feed-forward.
    pub fn passed(
        &self,
        w: &Weights<'_>,
        at: &str,
        mut x: Tensor,
        (heads, sees): (usize, Sees),
    ) -> TensorResult<Tensor> {
        let seen = self.attended(w, at, w.layer_norm("norm1", &x, EPS)?, (heads, sees))?;
        x = add(&x, &seen)?;
        drop(seen);
        fed_forward(w, x)
    }

    /// Attention within windows of normed values `[1, height, width, channels]`.
    pub fn attended(
        &self,
        w: &Weights<'_>,
        at: &str,
        normed: Tensor,
        (heads, sees): (usize, Sees),
    ) -> TensorResult<Tensor> {
        let side = self.side;
        let table = w.get(&format!("{at}{TABLE}"))?;
        let (shift, around, bias) = match sees {
            Sees::Own | Sees::Shifted => {
                let shift = if sees == Sees::Shifted { side / 2 } else { 0 };
                (shift, 0, windows::biases(&table, [side; 2])?)
            }
            Sees::Around(around) => (0, around, windows::biases_around(&table, side, around)?),
        };
        let windows = Windows {
            sides: [side; 2],
            shift: [shift; 2],
            fills: side,
            heads: [0, heads],
            of: heads,
            around,
        };
        let qkv = w.linear(&format!("{at}qkv"), &normed)?;
        drop(normed);
        let seen = windows::attended(&windows, qkv, &bias)?;
        w.linear(&format!("{at}proj"), &seen)
    }
}

/// `x` `[1, height, width, channels]` and its feed-forward.
pub(super) fn fed_forward(w: &Weights<'_>, x: Tensor) -> TensorResult<Tensor> {
    let mut inner = w.layer_norm("norm2", &x, EPS)?;
    inner = w.linear("mlp.fc1", &inner)?;
    inner = gelu(&inner)?;
    inner = w.linear("mlp.fc2", &inner)?;
    add(&x, &inner)
}
