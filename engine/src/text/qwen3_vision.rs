//! The vision tower of Qwen3-VL (Bai et al. 2025, arXiv:2511.21631): a transformer over patches of images, with learned
//! places that are interpolated to the size of an image. Four neighbouring patches become one token of the language model,
//! after the last layer and, for DeepStack (Meng et al. 2024, arXiv:2406.04334), after some of those before.

use serde::Deserialize;

use super::{
    VisionPatches, VisionTower,
    vision_tower::{CHANNELS, PREFIX, SeenSize, embedded, embedder, is_split, kernel, rope, whole_or},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{D, DType, Mask, Result, Rope, Tensor, attention, gelu, gelu_tanh, rope_half},
    residency::{Blocks, RunError, Weights},
};

/// What the mergers of DeepStack are called in GGUF files, before the number of their layer.
const STACKED: &str = "deepstack.";
const PLACES: &str = "pos_embed.weight";
/// Added to the variance in every norm.
const EPS: f64 = 1e-6;
/// The least pixels of an image that is read alone, as published.
const LEAST_PIXELS: u64 = 256 * 256;

/// The shape of a vision tower, as in `vision_config`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Qwen3VisionConfig {
    /// Number of layers.
    pub depth: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width inside the feed-forward layers.
    pub intermediate_size: usize,
    /// Attention heads.
    pub num_heads: usize,
    /// Pixels along each side of a patch.
    pub patch_size: usize,
    /// Frames of a patch; an image is repeated.
    pub temporal_patch_size: usize,
    /// Patches along each side of a token.
    pub spatial_merge_size: usize,
    /// Width of the tokens.
    pub out_hidden_size: usize,
    /// Learned places, those of a square.
    pub num_position_embeddings: usize,
    /// The layers, from 0, after which patches also become tokens.
    pub deepstack_visual_indexes: Vec<usize>,
    /// Whether the layer that embeds patches is two tensors. The file shows it.
    #[serde(skip)]
    pub is_split: bool,
}

impl Default for Qwen3VisionConfig {
    fn default() -> Self {
        Self {
            depth: 27,
            hidden_size: 1152,
            intermediate_size: 4304,
            num_heads: 16,
            patch_size: 16,
            temporal_patch_size: 2,
            spatial_merge_size: 2,
            out_hidden_size: 4096,
            num_position_embeddings: 2304,
            deepstack_visual_indexes: vec![8, 16, 24],
            is_split: false,
        }
    }
}

impl Qwen3VisionConfig {
    /// Infers the shape from the tensors, for files without a configuration. What shapes do not show is as published: 16
    /// heads, and tokens after every eighth layer from the ninth, or after the sixth of a tower of 24.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape =
            |name: &str| tensors.get(&format!("{PREFIX}{name}")).map(|tensor| tensor.shape().to_vec());
        let [width, frames, side] = kernel(tensors, PREFIX)?;
        let merged = *shape("merger.linear_fc1.weight")?.first()?;
        let counted =
            |name: &dyn Fn(usize) -> String| (0..).take_while(|at| shape(&name(*at)).is_some()).count();
        let depth = counted(&|layer| format!("blocks.{layer}.norm1.weight"));
        let stacked = counted(&|number| format!("deepstack_merger_list.{number}.norm.weight"));
        let (first, every) = if depth < 27 { (5, 6) } else { (8, 8) };
        Some(Self {
            depth,
            hidden_size: width,
            intermediate_size: *shape("blocks.0.mlp.linear_fc1.weight")?.first()?,
            patch_size: side,
            temporal_patch_size: frames,
            spatial_merge_size: (merged / width.max(1)).isqrt(),
            out_hidden_size: *shape("merger.linear_fc2.weight")?.first()?,
            num_position_embeddings: *shape(PLACES)?.first()?,
            deepstack_visual_indexes: if stacked == 0 {
                (0..depth).filter(|layer| shape(&format!("{STACKED}{layer}.norm.weight")).is_some()).collect()
            } else {
                (0..stacked).map(|number| first + every * number).collect()
            },
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        if self.num_heads == 0 || !self.hidden_size.is_multiple_of(4 * self.num_heads) {
            let reason = "the width must be a multiple of four times the number of heads";
            return part.refuse("num_heads", self.num_heads, reason);
        }
        if self.depth == 0 {
            return part.refuse("depth", 0, "it must be at least 1");
        }
        if self.patch_size == 0 || self.spatial_merge_size == 0 || self.temporal_patch_size == 0 {
            return part.refuse("patch_size", self.patch_size, "patches must have pixels");
        }
        if self.places_along() == 0 || self.places_along().pow(2) != self.num_position_embeddings {
            let reason = "it must be the number of places in a square";
            return part.refuse("num_position_embeddings", self.num_position_embeddings, reason);
        }
        let stacked = &self.deepstack_visual_indexes;
        if !stacked.is_sorted_by(|one, other| one < other) || stacked.iter().any(|layer| *layer >= self.depth)
        {
            let reason = format!("it must be ascending numbers below {}", self.depth);
            return part.refuse("deepstack_visual_indexes", format!("{stacked:?}"), reason);
        }
        Ok(())
    }

    /// Learned places along each side of their square.
    fn places_along(&self) -> usize {
        self.num_position_embeddings.isqrt()
    }

    /// Width of the patches of a token, side by side.
    fn merged(&self) -> usize {
        self.hidden_size * self.spatial_merge_size.pow(2)
    }

    /// The blocks: embedder of patches, then the layers, some with a merger of their own, and the last merger.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (width, inner) = (self.hidden_size, self.intermediate_size);
        let layer = |index: usize| {
            BlockSpec::new(format!("blocks.{index}"))
                .norm("norm1", width)
                .linear("attn.q", width, width)
                .linear("attn.k", width, width)
                .linear("attn.v", width, width)
                .linear("attn.proj", width, width)
                .norm("norm2", width)
                .linear("mlp.linear_fc1", inner, width)
                .linear("mlp.linear_fc2", width, inner)
        };
        let merger = |name: String, normed: usize| {
            BlockSpec::new(name)
                .norm("norm", normed)
                .linear("linear_fc1", self.merged(), self.merged())
                .linear("linear_fc2", self.out_hidden_size, self.merged())
        };
        let stem = BlockSpec::stem("patch_embed").tensor("patch_embed.proj.bias", &[width]);
        let stem = embedder(stem, width, self.patches(), self.is_split);
        let mut blocks = vec![stem.tensor(PLACES, &[self.num_position_embeddings, width])];
        for index in 0..self.depth {
            blocks.push(layer(index));
            if let Some(number) = self.deepstack_visual_indexes.iter().position(|layer| *layer == index) {
                blocks.push(merger(format!("deepstack_merger_list.{number}"), self.merged()));
            }
        }
        blocks.push(merger("merger".to_owned(), width));
        blocks
    }

    fn patches(&self) -> VisionPatches {
        let Self { patch_size, temporal_patch_size, spatial_merge_size, .. } = *self;
        // One window holds any image.
        let window = usize::MAX;
        VisionPatches { side: patch_size, frames: temporal_patch_size, merge: spatial_merge_size, window }
    }

    /// The name of a tensor in GGUF files, where the mergers of DeepStack have the numbers of their layers.
    fn name_by_layer(&self, name: &str) -> StoredName {
        let numbered = name.strip_prefix("deepstack_merger_list.").and_then(|rest| rest.split_once('.'));
        let layer = numbered.and_then(|(number, rest)| {
            let layer = self.deepstack_visual_indexes.get(number.parse::<usize>().ok()?)?;
            Some(StoredName::whole(format!("{PREFIX}{STACKED}{layer}.{rest}")))
        });
        layer.unwrap_or_else(|| Self::stored_name(name))
    }

    /// The name of a tensor in files: queries, keys and values are one there.
    pub fn stored_name(name: &str) -> StoredName {
        for (part, own) in ["attn.q.", "attn.k.", "attn.v."].into_iter().enumerate() {
            if name.contains(own) {
                let joined = name.replace(own, "attn.qkv.");
                return StoredName::part(format!("{PREFIX}{joined}"), part..part + 1, 3);
            }
        }
        StoredName::whole(format!("{PREFIX}{name}"))
    }
}

/// A vision tower, which reads images in the size in which the autoencoder reads them. The weights come from a store.
#[derive(Debug, Clone)]
pub struct Qwen3Vision {
    config: Qwen3VisionConfig,
}

impl Qwen3Vision {
    /// Finds every tensor of the tower in `part`.
    ///
    /// # Errors
    /// When the configuration is wrong, or a tensor is missing or has the wrong shape.
    pub fn open(part: &Part) -> std::result::Result<(Self, Component), CheckpointError> {
        let own = part.config.as_ref().and_then(|config| config.get("vision_config")).cloned();
        let own = Part { config: own, ..part.clone() };
        let config = own.config(Qwen3VisionConfig::from_shapes)?;
        let config = Qwen3VisionConfig { is_split: is_split(&part.tensors, PREFIX), ..config };
        config.check(&own)?;
        let component = Component::bind(
            Role::TextEncoder,
            "Qwen3-VL vision",
            &config.blueprint(),
            &part.tensors,
            |name| whole_or(part, name, |name| config.name_by_layer(name)),
            &part.path,
        )?;
        Ok((Self { config }, component))
    }

    /// Width of the tokens of the tower in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        tensors.get(&format!("{PREFIX}merger.linear_fc2.weight"))?.shape().first().copied()
    }

    /// What is added to patches at these places of images with these rows and columns of patches, `[patches, width]`: the
    /// learned places, interpolated linearly so that the corners of an image have those of the square.
    fn places(&self, w: &Weights, images: &[(Vec<[usize; 2]>, [usize; 2])]) -> Result<Tensor> {
        let along = self.config.places_along();
        let table = w.get(PLACES)?;
        let taps = |place: usize, count: usize| {
            let at = place as f32 * (along - 1) as f32 / (count.max(2) - 1) as f32;
            let before = at.floor();
            let share = at - before;
            let before = before as usize;
            [(before, 1.0 - share), ((before + 1).min(along - 1), share)]
        };
        let mut sum: Option<Tensor> = None;
        for (down, across) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (mut rows, mut weights) = (Vec::new(), Vec::new());
            for (places, [high, wide]) in images {
                for &[row, column] in places {
                    let ((row, of_row), (column, of_column)) =
                        (taps(row, *high)[down], taps(column, *wide)[across]);
                    rows.push((row * along + column) as u32);
                    weights.push(of_row * of_column);
                }
            }
            let weights = Tensor::from_vec(weights, (rows.len(), 1), &table.device())?;
            let part = table.index_select(&rows)?.to_dtype(DType::F32)?.broadcast_mul(&weights)?;
            sum = Some(match sum {
                Some(sum) => (sum + part)?,
                None => part,
            });
        }
        match sum {
            Some(sum) => sum.to_dtype(table.dtype()),
            None => Ok(table),
        }
    }

    fn layer(&self, w: &Weights, x: &Tensor, rope: &Rope, spans: &[usize]) -> Result<Tensor> {
        let (batch, tokens, _) = x.dims3()?;
        let h = w.layer_norm("norm1", x, EPS)?;
        let heads = |name: &str| w.linear(name, &h)?.reshape((batch, tokens, self.config.num_heads, ()));
        let (q, k, v) = (heads("attn.q")?, heads("attn.k")?, heads("attn.v")?);
        let (q, k) = (rope_half(&q, rope)?, rope_half(&k, rope)?);
        drop(h);
        let attended = attend_in(spans, [&q, &k, &v])?;
        drop((q, k, v));
        let x = (x + w.linear("attn.proj", &attended.flatten_from(2)?)?)?;
        drop(attended);
        let h = w.linear("mlp.linear_fc1", &w.layer_norm("norm2", &x, EPS)?)?;
        let h = gelu_tanh(&h)?;
        x + w.linear("mlp.linear_fc2", &h)?
    }

    /// Tokens of the language model, `[1, tokens, width]`, normalized before or after patches are joined.
    fn merge(&self, w: &Weights, x: &Tensor, is_joined_first: bool) -> Result<Tensor> {
        let (batch, patches, _) = x.dims3()?;
        let joined = (batch, patches / self.config.spatial_merge_size.pow(2), self.config.merged());
        let h = match is_joined_first {
            true => w.layer_norm("norm", &x.reshape(joined)?, EPS)?,
            false => w.layer_norm("norm", x, EPS)?.reshape(joined)?,
        };
        w.linear("linear_fc2", &gelu(&w.linear("linear_fc1", &h)?)?)
    }
}

/// Attention `[batch, tokens, heads, width]` within spans of this many tokens.
pub(super) fn attend_in(spans: &[usize], [q, k, v]: [&Tensor; 3]) -> Result<Tensor> {
    let (mut first, mut attended) = (0, Vec::new());
    for &span in spans {
        let own = |x: &Tensor| x.narrow(1, first, span)?.contiguous();
        attended.push(attention(&own(q)?, &own(k)?, &own(v)?, Mask::None)?);
        first += span;
    }
    if attended.len() == 1 { Ok(attended.remove(0)) } else { Tensor::cat(&attended, 1) }
}

impl VisionTower for Qwen3Vision {
    fn size(&self, _: [u32; 2], encoded: [u32; 2]) -> SeenSize {
        let side = self.patches().token() as u32;
        let read = encoded.map(|length| (length / side).max(1) * side);
        SeenSize {
            before: None,
            scaled: encoded,
            read,
            grid: [read[1] / side, read[0] / side].map(|count| count as usize),
        }
    }

    fn least_pixels(&self) -> u64 {
        LEAST_PIXELS
    }

    fn patches(&self) -> VisionPatches {
        self.config.patches()
    }

    fn spread(&self) -> [[f32; CHANNELS]; 2] {
        [[0.5; CHANNELS]; 2]
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        patches: Tensor,
        grids: &[[usize; 2]],
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let form = self.patches();
        let in_patches = |[rows, columns]: [usize; 2]| [rows, columns].map(|count| count * form.merge);
        let images: Vec<_> = grids.iter().map(|grid| (form.order(*grid).places, in_patches(*grid))).collect();
        let places: Vec<[usize; 2]> = images.iter().flat_map(|(places, _)| places.iter().copied()).collect();
        let rope = rope(&places, self.config.hidden_size / self.config.num_heads, &blocks.device())?;
        let spans: Vec<usize> = images.iter().map(|(places, _)| places.len()).collect();
        let stacked = &self.config.deepstack_visual_indexes;
        let last = self.config.depth + stacked.len() + 1;
        let mut x = patches;
        let (mut layer, mut merged) = (0, Vec::new());
        blocks.walk(0..last + 1, |index, w| {
            if index == 0 {
                let places = self.places(w, &images)?.unsqueeze(0)?;
                x = (embedded(w, &x, self.patches())? + places)?;
            } else if index == last {
                merged.insert(0, self.merge(w, &x, false)?);
            } else if merged.len() < stacked.len() && layer == stacked[merged.len()] + 1 {
                merged.push(self.merge(w, &x, true)?);
            } else {
                x = self.layer(w, &x, &rope, &spans)?;
                layer += 1;
            }
            Ok(())
        })?;
        let all = Tensor::cat(&merged, D::Minus1)?;
        let mut first = 0;
        let images = grids.iter().map(|[rows, columns]| {
            let own = all.narrow(1, first, rows * columns)?;
            first += rows * columns;
            own.reshape((*rows, *columns, ()))
        });
        Ok(images.collect::<Result<_>>()?)
    }
}
