//! Segment Anything's own image encoder: a vision transformer with windows (Li et al. 2022, arXiv:2203.16527), that of
//! candle-transformers.

use std::path::Path;

use candle_nn::Module as _;
use candle_transformers::models::segment_anything::image_encoder::ImageEncoderViT;

use super::{CHANNELS, GRID, SIDE, refused};
use crate::{
    aids::taken::{Lent, block},
    checkpoint::{BlockSpec, CheckpointError},
    nn::{Computes, Result as TensorResult, Tensor, Untraced, untraced},
    residency::Weights,
};

/// Pixels along each side of a patch.
const PATCH: usize = SIDE / GRID;
/// Patches along each side of a window.
const WINDOW: usize = 14;

/// Its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Vit {
    /// Its width.
    pub width: usize,
    /// Attention heads.
    heads: usize,
    /// For each layer, whether each patch attends to all others, and not only to those of its window.
    sees_all: Vec<bool>,
    /// The names and shapes of its tensors.
    tensors: Vec<(String, Vec<usize>)>,
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
        let tensors = tensors(width, width / heads, &sees_all);
        Ok(Self { width, heads, sees_all, tensors })
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

    pub fn spec(&self) -> BlockSpec {
        block("image_encoder", &self.tensors)
    }

    /// The embedding `[1, 256, 64, 64]` of a normalized image `[1, 3, 1024, 1024]`.
    pub fn embed(&self, w: &Weights<'_>, image: &Tensor) -> TensorResult<Tensor> {
        let lent = Lent::of(w, &self.tensors)?;
        untraced(
            [image],
            &[1, CHANNELS, GRID, GRID],
            |computes| self.takes(computes),
            |[image]| {
                let weights = lent.builder(image.device())?.pp("image_encoder");
                let whole = self.sees_all.iter().enumerate().filter(|(_, sees_all)| **sees_all);
                let whole: Vec<usize> = whole.map(|(layer, _)| layer).collect();
                let (layers, heads) = (self.sees_all.len(), self.heads);
                let [qkv_bias, relative, absolute] = [true; 3];
                ImageEncoderViT::new(
                    SIDE, PATCH, 3, self.width, layers, heads, CHANNELS, qkv_bias, relative, absolute,
                    WINDOW, &whole, weights,
                )?
                .forward(image)
            },
        )
    }

    /// What candle-transformers' network holds at a time, read off its code: it materializes the scores of attention, and
    /// shadowed values live until a layer's end. A test compares the sum with what is measured.
    fn takes(&self, computes: Computes) -> Untraced {
        let (places, width) = (GRID * GRID, self.width);
        let side = GRID.next_multiple_of(WINDOW);
        let per_score = if computes.is_processor() { PER_SCORE_OF_PROCESSOR } else { PER_SCORE };
        let of_layer = |sees_all: bool| {
            let (tokens, seen) = if sees_all { (places, places) } else { (side * side, WINDOW * WINDOW) };
            let scores = self.heads * tokens * seen;
            let relative = 2 * seen.isqrt() * (self.heads * tokens + width / self.heads * seen.isqrt());
            // The scores before and after a function of them; on a GPU also what is added to them.
            let scores_held = if computes.is_processor() { 2 * scores } else { 3 * scores };
            // Beside them first what is added to them, later what they saw: by heads, by places, and before and after the bias
            // of its projection; all the time what the layer got, its norm, and queries, keys and values. In the feed-forward,
            // what is four times as wide before and after the activation.
            let beside = relative.max(4 * tokens * width);
            let attending = scores_held + beside + (2 * places + 3 * tokens) * width;
            let feeding = 14 * places * width;
            let operations =
                2 * (4 * tokens + 8 * places) * width * width + 4 * scores * (width / self.heads);
            (attending.max(feeding), operations as f64 + per_score * scores as f64)
        };
        let layers = self.sees_all.iter().map(|sees_all| of_layer(*sees_all));
        let start = Untraced { values: 0, operations: 2.0 * (places * width * 3 * PATCH * PATCH) as f64 };
        let mut all = layers.fold(start, |all, (values, operations)| Untraced {
            values: all.values.max(values),
            operations: all.operations + operations,
        });
        all.operations += 2.0 * (places * CHANNELS * (width + 9 * CHANNELS)) as f64;
        all
    }
}

/// Operations for each score besides the products on a GPU: what is added to it, and the softmax.
const PER_SCORE: f64 = 40.0;
/// The same on a CPU, where most of it is the system's time for memory that is allocated anew for each function. Measured: ViT-B
/// took 32 seconds of processor time on two threads of an AMD EPYC, of which the products were less than half.
const PER_SCORE_OF_PROCESSOR: f64 = 1000.0;

/// The names and shapes of its tensors.
fn tensors(width: usize, head: usize, sees_all: &[bool]) -> Vec<(String, Vec<usize>)> {
    let mut all = Vec::new();
    let mut add = |name: &str, shape: &[usize]| all.push((format!("image_encoder.{name}"), shape.to_vec()));
    add("pos_embed", &[1, GRID, GRID, width]);
    add("patch_embed.proj.weight", &[width, 3, PATCH, PATCH]);
    add("patch_embed.proj.bias", &[width]);
    for (layer, sees_all) in sees_all.iter().enumerate() {
        let reach = 2 * if *sees_all { GRID } else { WINDOW } - 1;
        for norm in ["norm1", "norm2"] {
            for end in ["weight", "bias"] {
                add(&format!("blocks.{layer}.{norm}.{end}"), &[width]);
            }
        }
        for (name, outputs, inputs) in [
            ("attn.qkv", 3 * width, width),
            ("attn.proj", width, width),
            ("mlp.lin1", 4 * width, width),
            ("mlp.lin2", width, 4 * width),
        ] {
            add(&format!("blocks.{layer}.{name}.weight"), &[outputs, inputs]);
            add(&format!("blocks.{layer}.{name}.bias"), &[outputs]);
        }
        for axis in ["h", "w"] {
            add(&format!("blocks.{layer}.attn.rel_pos_{axis}"), &[reach, head]);
        }
    }
    add("neck.0.weight", &[CHANNELS, width, 1, 1]);
    add("neck.2.weight", &[CHANNELS, CHANNELS, 3, 3]);
    for norm in ["neck.1", "neck.3"] {
        for end in ["weight", "bias"] {
            add(&format!("{norm}.{end}"), &[CHANNELS]);
        }
    }
    all
}
