//! The vision tower of Qwen2.5-VL (Bai et al. 2025, arXiv:2502.13923): a transformer over patches of images, most of
//! whose layers attend within windows. Four neighbouring patches become one token of the language model.

use serde::Deserialize;

use super::{
    CLIP_SPREAD, VisionPatches, VisionTower,
    qwen3_vision::attend_in,
    vision_tower::{
        CHANNELS, Order, PREFIX, SeenSize, embedded, embedder, in_tokens, is_split, kernel, rope, whole_or,
    },
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Result, Rope, Tensor, gelu, rope_half, silu_mul},
    request::of_area,
    residency::{Blocks, RunError, Weights},
};

/// Added to the mean square in every norm.
const EPS: f64 = 1e-6;
/// The least and the most pixels of an image, as published.
const PIXELS: [u64; 2] = [56 * 56, 28 * 28 * 16_384];
/// Sides of images that are made smaller before they are read are multiples of this.
const SCALED_MULTIPLE: u32 = 32;

/// The shape of a vision tower, as in `vision_config`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct QwenVisionConfig {
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
    /// Pixels along each side of a window.
    pub window_size: usize,
    /// Width of the tokens.
    pub out_hidden_size: usize,
    /// The layers that attend to whole images.
    pub fullatt_block_indexes: Vec<usize>,
    /// Whether the layer that embeds patches is two tensors. The file shows it.
    #[serde(skip)]
    pub is_split: bool,
}

impl Default for QwenVisionConfig {
    fn default() -> Self {
        Self {
            depth: 32,
            hidden_size: 1280,
            intermediate_size: 3420,
            num_heads: 16,
            patch_size: 14,
            temporal_patch_size: 2,
            spatial_merge_size: 2,
            window_size: 112,
            out_hidden_size: 3584,
            fullatt_block_indexes: vec![7, 15, 23, 31],
            is_split: false,
        }
    }
}

impl QwenVisionConfig {
    /// Infers the shape from the tensors, for files without a configuration. What shapes do not show is as published: heads
    /// of 80, windows of 112 pixels, and every eighth layer attends to whole images.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        const HEAD: usize = 80;
        const WHOLE: usize = 8;
        let shape =
            |name: &str| tensors.get(&format!("{PREFIX}{name}")).map(|tensor| tensor.shape().to_vec());
        let [width, frames, side] = kernel(tensors, PREFIX)?;
        let merged = *shape("merger.mlp.0.weight")?.first()?;
        let depth =
            (0..).take_while(|layer| shape(&format!("blocks.{layer}.norm1.weight")).is_some()).count();
        Some(Self {
            depth,
            hidden_size: width,
            intermediate_size: *shape("blocks.0.mlp.gate_proj.weight")?.first()?,
            num_heads: (width / HEAD).max(1),
            patch_size: side,
            temporal_patch_size: frames,
            spatial_merge_size: (merged / width.max(1)).isqrt(),
            out_hidden_size: *shape("merger.mlp.2.weight")?.first()?,
            fullatt_block_indexes: (0..depth).filter(|layer| layer % WHOLE == WHOLE - 1).collect(),
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
        if self.window() == 0 {
            return part.refuse("window_size", self.window_size, "a window must have at least one token");
        }
        Ok(())
    }

    fn patches(&self) -> VisionPatches {
        let Self { patch_size, temporal_patch_size, spatial_merge_size, .. } = *self;
        let window = self.window();
        VisionPatches { side: patch_size, frames: temporal_patch_size, merge: spatial_merge_size, window }
    }

    /// Pixels along each side of a token.
    fn side(&self) -> usize {
        self.patch_size * self.spatial_merge_size
    }

    /// Tokens along each side of a window.
    fn window(&self) -> usize {
        self.window_size / self.side()
    }

    /// Width of a head.
    fn head(&self) -> usize {
        self.hidden_size / self.num_heads
    }

    /// The blocks: embedder of patches, layers, merger.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (width, inner) = (self.hidden_size, self.intermediate_size);
        let layer = |index: usize| {
            BlockSpec::new(format!("blocks.{index}"))
                .scale("norm1", width)
                .linear("attn.q", width, width)
                .linear("attn.k", width, width)
                .linear("attn.v", width, width)
                .linear("attn.proj", width, width)
                .scale("norm2", width)
                .linear("mlp.gate_proj", inner, width)
                .linear("mlp.up_proj", inner, width)
                .linear("mlp.down_proj", width, inner)
        };
        let merged = width * self.spatial_merge_size.pow(2);
        let stem = BlockSpec::stem("patch_embed");
        let mut blocks = vec![embedder(stem, width, self.patches(), self.is_split)];
        blocks.extend((0..self.depth).map(layer));
        blocks.push(
            BlockSpec::stem("merger")
                .scale("merger.ln_q", width)
                .linear("merger.mlp.0", merged, merged)
                .linear("merger.mlp.2", self.out_hidden_size, merged),
        );
        blocks
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

/// The size to which an image is scaled before the tower reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// With about the pixels of a square of this side.
    Area(u32),
    /// That in which the autoencoder reads it.
    Whole,
    /// That in which the autoencoder reads it, and then half of it.
    Half,
}

/// A vision tower. The weights come from a store.
#[derive(Debug, Clone)]
pub struct QwenVision {
    config: QwenVisionConfig,
    shown: Shown,
}

impl QwenVision {
    /// Finds every tensor of the tower in `part`. Images are scaled as `shown` says before it reads them.
    ///
    /// # Errors
    /// When the configuration is wrong, or a tensor is missing or has the wrong shape.
    pub fn open(part: &Part, shown: Shown) -> std::result::Result<(Self, Component), CheckpointError> {
        let own = part.config.as_ref().and_then(|config| config.get("vision_config")).cloned();
        let own = Part { config: own, ..part.clone() };
        let config = own.config(QwenVisionConfig::from_shapes)?;
        let config = QwenVisionConfig { is_split: is_split(&part.tensors, PREFIX), ..config };
        config.check(&own)?;
        let component = Component::bind(
            Role::TextEncoder,
            "Qwen2.5-VL vision",
            &config.blueprint(),
            &part.tensors,
            |name| whole_or(part, name, QwenVisionConfig::stored_name),
            &part.path,
        )?;
        Ok((Self { config, shown }, component))
    }

    /// Width of the tokens of the tower in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        tensors.get(&format!("{PREFIX}merger.mlp.2.weight"))?.shape().first().copied()
    }

    fn layer(&self, w: &Weights, x: &Tensor, rope: &Rope, spans: &[usize]) -> Result<Tensor> {
        let (batch, tokens, _) = x.dims3()?;
        let h = w.rms_norm("norm1", x, EPS)?;
        let heads = |name: &str| w.linear(name, &h)?.reshape((batch, tokens, self.config.num_heads, ()));
        let (q, k, v) = (heads("attn.q")?, heads("attn.k")?, heads("attn.v")?);
        let (q, k) = (rope_half(&q, rope)?, rope_half(&k, rope)?);
        drop(h);
        let attended = attend_in(spans, [&q, &k, &v])?;
        drop((q, k, v));
        let x = (x + w.linear("attn.proj", &attended.flatten_from(2)?)?)?;
        drop(attended);

        let h = w.rms_norm("norm2", &x, EPS)?;
        let (gate, up) = (w.linear("mlp.gate_proj", &h)?, w.linear("mlp.up_proj", &h)?);
        let h = silu_mul(&gate, &up)?;
        drop((gate, up));
        x + w.linear("mlp.down_proj", &h)?
    }

    /// Tokens of the language model, `[1, tokens, width]`.
    fn merge(&self, w: &Weights, x: &Tensor) -> Result<Tensor> {
        let (batch, patches, width) = x.dims3()?;
        let merged = self.config.spatial_merge_size.pow(2);
        let h = w.rms_norm("merger.ln_q", x, EPS)?.reshape((batch, patches / merged, merged * width))?;
        w.linear("merger.mlp.2", &gelu(&w.linear("merger.mlp.0", &h)?)?)
    }
}

impl VisionTower for QwenVision {
    fn size(&self, own: [u32; 2], encoded: [u32; 2]) -> SeenSize {
        let ratio = f64::from(own[0].max(1)) / f64::from(own[1].max(1));
        let scaled = match self.shown {
            Shown::Area(side) => of_area(side, ratio, SCALED_MULTIPLE),
            Shown::Whole => encoded,
            Shown::Half => encoded.map(|length| (length / 2).max(1)),
        };
        let before = (self.shown == Shown::Half).then_some(encoded);
        let side = self.config.side();
        let read = in_tokens(scaled, side as u32, PIXELS);
        SeenSize { before, scaled, read, grid: [read[1] as usize / side, read[0] as usize / side] }
    }

    fn least_pixels(&self) -> u64 {
        PIXELS[0]
    }

    fn patches(&self) -> VisionPatches {
        self.config.patches()
    }

    fn spread(&self) -> [[f32; CHANNELS]; 2] {
        CLIP_SPREAD
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        patches: Tensor,
        grids: &[[usize; 2]],
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let orders: Vec<Order> = grids.iter().map(|grid| self.patches().order(*grid)).collect();
        let places: Vec<[usize; 2]> = orders.iter().flat_map(|order| order.places.iter().copied()).collect();
        let rope = rope(&places, self.config.head(), &blocks.device())?;
        let windows: Vec<usize> = orders.iter().flat_map(|order| order.windows.iter().copied()).collect();
        let wholes: Vec<usize> = orders.iter().map(|order| order.places.len()).collect();
        let last = self.config.depth + 1;
        let mut x = patches;
        blocks.walk(0..last + 1, |index, w| {
            x = if index == 0 {
                embedded(w, &x, self.patches())?
            } else if index < last {
                let is_whole = self.config.fullatt_block_indexes.contains(&(index - 1));
                self.layer(w, &x, &rope, if is_whole { &wholes } else { &windows })?
            } else {
                self.merge(w, &x)?
            };
            Ok(())
        })?;
        let mut first = 0;
        let images = orders.iter().zip(grids).map(|(order, [rows, columns])| {
            let start = first;
            first += order.tokens.len();
            in_rows(&x, start, &order.tokens)?.reshape((*rows, *columns, ()))
        });
        Ok(images.collect::<Result<_>>()?)
    }
}

/// The tokens of an image row by row, from those of all images `[1, tokens, width]` in the tower's order, of which the
/// image's first is `start`.
fn in_rows(x: &Tensor, start: usize, tokens: &[usize]) -> Result<Tensor> {
    let runs = tokens.chunk_by(|one, next| one + 1 == *next);
    let parts = runs.map(|run| x.narrow(1, start + run[0], run.len()));
    Tensor::cat(&parts.collect::<Result<Vec<_>>>()?, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tower(shown: Shown) -> QwenVision {
        QwenVision { config: QwenVisionConfig::default(), shown }
    }

    #[test]
    fn images_are_read_in_whole_tokens() {
        let small = tower(Shown::Area(384));
        for (own, scaled, grid) in [
            ([1024, 1024], [384, 384], [14, 14]),
            ([1920, 1080], [512, 288], [10, 18]),
            ([100, 1000], [128, 1216], [43, 5]),
        ] {
            let size = small.size(own, [0, 0]);
            assert_eq!((size.scaled, size.grid), (scaled, grid), "{own:?}");
            assert_eq!(size.read, [grid[1] as u32 * 28, grid[0] as u32 * 28]);
        }
        assert_eq!(tower(Shown::Whole).size([5, 5], [1024, 1024]).grid, [37, 37]);
        let half = tower(Shown::Half).size([5, 5], [1184, 896]);
        assert_eq!((half.before, half.scaled, half.grid), (Some([1184, 896]), [592, 448], [16, 21]));
        assert_eq!(in_tokens([20, 30], 28, PIXELS), [56, 84]);
    }
}
