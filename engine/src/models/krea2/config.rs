//! The shape of Krea 2's transformer, and the names of its tensors.

use serde::Deserialize;

use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, StoredName, TensorTable},
    models::patches::wrong_axes,
};

/// Side of the square patches of latents.
pub const PATCH: usize = 2;
/// A block's own part of the modulation.
pub const TABLE: &str = "scale_shift_table";
/// Modulations of a block: scale, shift and gate for attention and for feed-forward.
pub const MODULATIONS: usize = 6;
/// Modulations of the head: scale and shift.
pub const HEAD_MODULATIONS: usize = 2;

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Krea2Config {
    /// Number of values in a patch of latents.
    pub in_channels: usize,
    /// Number of blocks.
    pub num_layers: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Query heads.
    pub num_attention_heads: usize,
    /// Key and value heads.
    pub num_key_value_heads: usize,
    /// Width inside the feed-forward layers.
    pub intermediate_size: usize,
    /// Width of the sinusoidal embedding of the noise level.
    pub timestep_embed_dim: usize,
    /// Width of the text encoder's states.
    pub text_hidden_dim: usize,
    /// Number of layers of the text encoder whose states are fused.
    pub num_text_layers: usize,
    /// Query heads in the fusion.
    pub text_num_attention_heads: usize,
    /// Key and value heads in the fusion.
    pub text_num_key_value_heads: usize,
    /// Width inside the feed-forward layers of the fusion.
    pub text_intermediate_size: usize,
    /// Blocks in which the states of a token's layers attend to each other.
    pub num_layerwise_text_blocks: usize,
    /// Blocks in which tokens attend to each other.
    pub num_refiner_text_blocks: usize,
    /// Widths of the parts of a head that are rotated by image, row and column.
    pub axes_dims_rope: Vec<usize>,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// Added to the mean square in every norm.
    pub norm_eps: f64,
}

impl Default for Krea2Config {
    fn default() -> Self {
        Self {
            in_channels: 64,
            num_layers: 28,
            attention_head_dim: 128,
            num_attention_heads: 48,
            num_key_value_heads: 12,
            intermediate_size: 16_384,
            timestep_embed_dim: 256,
            text_hidden_dim: 2560,
            num_text_layers: 12,
            text_num_attention_heads: 20,
            text_num_key_value_heads: 20,
            text_intermediate_size: 6912,
            num_layerwise_text_blocks: 2,
            num_refiner_text_blocks: 2,
            axes_dims_rope: vec![32, 48, 48],
            rope_theta: 1000.0,
            norm_eps: 1e-5,
        }
    }
}

/// An attention with fewer heads of keys than of queries.
#[derive(Debug, Clone, Copy)]
pub struct Heads {
    /// Query heads.
    pub count: usize,
    /// Width of a head.
    pub width: usize,
    /// Key and value heads.
    pub shared: usize,
}

impl Heads {
    /// Width of the stream.
    pub fn dim(self) -> usize {
        self.count * self.width
    }
}

/// What a block before the image embedder does; all of them are needed once per run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preparation {
    /// Embeds the noise level.
    Levels,
    /// The layers' states of each token attend to each other, or the tokens do.
    Fusion,
    /// The states of the layers become one.
    Projector,
    /// Converts the states to the network's tokens.
    Tokens,
}

impl Krea2Config {
    /// Infers the shape from tensors with their original names, for files without a configuration. What the shapes do not
    /// show is as published.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape());
        let rows = |name: &str| shape(name)?.first().copied();
        let columns = |name: &str| shape(name)?.last().copied();
        let count = |start: &str| {
            let is_one = |name: &&String| name.starts_with(start) && name.ends_with(".attn.wq.weight");
            tensors.keys().filter(is_one).count()
        };
        let (dim, text) = (rows("first.weight")?, rows("txtmlp.0.scale")?);
        let head = rows("blocks.0.attn.qknorm.qnorm.scale")?;
        let text_head = rows("txtfusion.refiner_blocks.0.attn.qknorm.qnorm.scale")?;
        Some(Self {
            in_channels: columns("first.weight")?,
            num_layers: count("blocks."),
            attention_head_dim: head,
            num_attention_heads: dim.checked_div(head)?,
            num_key_value_heads: rows("blocks.0.attn.wk.weight")?.checked_div(head)?,
            intermediate_size: rows("blocks.0.mlp.gate.weight")?,
            timestep_embed_dim: columns("tmlp.0.weight")?,
            text_hidden_dim: text,
            num_text_layers: columns("txtfusion.projector.weight")?,
            text_num_attention_heads: text.checked_div(text_head)?,
            text_num_key_value_heads: rows("txtfusion.refiner_blocks.0.attn.wk.weight")?
                .checked_div(text_head)?,
            text_intermediate_size: rows("txtfusion.refiner_blocks.0.mlp.gate.weight")?,
            num_layerwise_text_blocks: count("txtfusion.layerwise_blocks."),
            num_refiner_text_blocks: count("txtfusion.refiner_blocks."),
            axes_dims_rope: vec![head / 4, head / 8 * 3, head / 8 * 3],
            ..Self::default()
        })
    }

    /// Rejects numbers that no model can have.
    pub(super) fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        if self.in_channels == 0 || !self.in_channels.is_multiple_of(PATCH * PATCH) {
            let reason = "it must be a multiple of 4, for patches of 2×2 latents";
            return part.refuse("in_channels", self.in_channels, reason);
        }
        if let Some(reason) = wrong_axes(&self.axes_dims_rope, 3, self.attention_head_dim) {
            return part.refuse("axes_dims_rope", format!("{:?}", self.axes_dims_rope), reason);
        }
        let heads = [
            ("num_key_value_heads", self.num_attention_heads, self.num_key_value_heads),
            ("text_num_key_value_heads", self.text_num_attention_heads, self.text_num_key_value_heads),
        ];
        for (field, count, shared) in heads {
            if count == 0 || shared == 0 || !count.is_multiple_of(shared) {
                let reason = format!("it must divide the {count} query heads evenly");
                return part.refuse(field, shared, reason);
            }
        }
        if !self.text_hidden_dim.is_multiple_of(self.text_num_attention_heads) {
            let reason = format!("the width {} must be a multiple of it", self.text_hidden_dim);
            return part.refuse("text_num_attention_heads", self.text_num_attention_heads, reason);
        }
        Ok(())
    }

    /// Channels of latents.
    pub fn latent_channels(&self) -> usize {
        self.in_channels / (PATCH * PATCH)
    }

    /// The attention of the blocks.
    pub fn heads(&self) -> Heads {
        let (count, shared) = (self.num_attention_heads, self.num_key_value_heads);
        Heads { count, width: self.attention_head_dim, shared }
    }

    /// The attention of the fusion.
    pub fn text_heads(&self) -> Heads {
        let (count, shared) = (self.text_num_attention_heads, self.text_num_key_value_heads);
        Heads { count, width: self.text_hidden_dim / count.max(1), shared }
    }

    /// What a block before [`embedders`](Self::embedders) does.
    pub fn preparation(&self, block: usize) -> Preparation {
        let projector = 1 + self.num_layerwise_text_blocks;
        match block {
            0 => Preparation::Levels,
            _ if block == projector => Preparation::Projector,
            _ if block + 1 == self.embedders() => Preparation::Tokens,
            _ => Preparation::Fusion,
        }
    }

    /// Index of the block with the image embedder.
    pub fn embedders(&self) -> usize {
        3 + self.num_layerwise_text_blocks + self.num_refiner_text_blocks
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, text) = (self.heads().dim(), self.text_hidden_dim);
        let block = |spec: BlockSpec, heads: Heads, inner: usize| {
            let dim = heads.dim();
            let keys = heads.shared * heads.width;
            spec.scale("norm1", dim)
                .scale("norm2", dim)
                .matrix("attn.to_q", dim, dim)
                .matrix("attn.to_k", keys, dim)
                .matrix("attn.to_v", keys, dim)
                .matrix("attn.to_gate", dim, dim)
                .scale("attn.norm_q", heads.width)
                .scale("attn.norm_k", heads.width)
                .matrix("attn.to_out.0", dim, dim)
                .matrix("ff.gate", inner, dim)
                .matrix("ff.up", inner, dim)
                .matrix("ff.down", dim, inner)
        };
        let fusion = |name: &'static str, count: usize| {
            let spec = move |index: usize| BlockSpec::new(format!("text_fusion.{name}.{index}"));
            (0..count).map(move |index| block(spec(index), self.text_heads(), self.text_intermediate_size))
        };
        let mut blocks = vec![
            BlockSpec::stem("conditioning")
                .linear("time_embed.linear_1", dim, self.timestep_embed_dim)
                .linear("time_embed.linear_2", dim, dim)
                .linear("time_mod_proj", MODULATIONS * dim, dim),
        ];
        blocks.extend(fusion("layerwise_blocks", self.num_layerwise_text_blocks));
        blocks.push(BlockSpec::stem("projector").matrix("text_fusion.projector", 1, self.num_text_layers));
        blocks.extend(fusion("refiner_blocks", self.num_refiner_text_blocks));
        blocks.push(
            BlockSpec::stem("prompt").scale("txt_in.norm", text).linear("txt_in.linear_1", dim, text).linear(
                "txt_in.linear_2",
                dim,
                dim,
            ),
        );
        blocks.push(BlockSpec::stem("embedders").linear("img_in", dim, self.in_channels));
        blocks.extend((0..self.num_layers).map(|index| {
            let spec = BlockSpec::new(format!("transformer_blocks.{index}"));
            block(spec.tensor(TABLE, &[MODULATIONS, dim]), self.heads(), self.intermediate_size)
        }));
        blocks.push(
            BlockSpec::new("final_layer").tensor(TABLE, &[HEAD_MODULATIONS, dim]).scale("norm", dim).linear(
                "linear",
                self.in_channels,
                dim,
            ),
        );
        blocks
    }

    /// The same with tables in the shape that they have in a file: rows may be joined there.
    pub(super) fn blueprint_as_stored(&self, tensors: &TensorTable) -> Vec<BlockSpec> {
        let mut blocks = self.blueprint();
        for block in &mut blocks {
            for (name, shape) in block.tensors.iter_mut().filter(|(name, _)| name == TABLE) {
                let original = original_name(&format!("{}{name}", block.prefix)).name;
                let stored = tensors.get(&original).map(|tensor| tensor.shape());
                let values: usize = shape.iter().product();
                if let Some(stored) = stored.filter(|stored| stored.iter().product::<usize>() == values) {
                    *shape = stored.to_vec();
                }
            }
        }
        blocks
    }
}

/// What the names of tensors begin with, and in the authors' files.
const STARTS: [(&str, &str); 12] = [
    ("img_in.", "first."),
    ("time_embed.linear_1.", "tmlp.0."),
    ("time_embed.linear_2.", "tmlp.2."),
    ("time_mod_proj.", "tproj.1."),
    ("txt_in.norm.weight", "txtmlp.0.scale"),
    ("txt_in.linear_1.", "txtmlp.1."),
    ("txt_in.linear_2.", "txtmlp.3."),
    ("text_fusion.", "txtfusion."),
    ("transformer_blocks.", "blocks."),
    ("final_layer.linear.", "last.linear."),
    ("final_layer.norm.weight", "last.norm.scale"),
    ("final_layer.scale_shift_table", "last.modulation.lin"),
];
/// What they contain, and in the authors' files.
const PARTS: [(&str, &str); 11] = [
    (".attn.to_q.", ".attn.wq."),
    (".attn.to_k.", ".attn.wk."),
    (".attn.to_v.", ".attn.wv."),
    (".attn.to_out.0.", ".attn.wo."),
    (".attn.to_gate.", ".attn.gate."),
    (".attn.norm_q.weight", ".attn.qknorm.qnorm.scale"),
    (".attn.norm_k.weight", ".attn.qknorm.knorm.scale"),
    (".ff.", ".mlp."),
    (".norm1.weight", ".prenorm.scale"),
    (".norm2.weight", ".postnorm.scale"),
    (".scale_shift_table", ".mod.lin"),
];

/// The name of a tensor in the authors' files, which ComfyUI also uses.
pub(super) fn original_name(name: &str) -> StoredName {
    let start = STARTS.iter().find_map(|(own, theirs)| Some(format!("{theirs}{}", name.strip_prefix(own)?)));
    let start = start.unwrap_or_else(|| name.to_owned());
    StoredName::whole(PARTS.iter().fold(start, |name, (own, theirs)| name.replace(own, theirs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_authors_own() {
        for (ours, theirs) in [
            ("transformer_blocks.3.attn.norm_q.weight", "blocks.3.attn.qknorm.qnorm.scale"),
            ("transformer_blocks.11.scale_shift_table", "blocks.11.mod.lin"),
            ("text_fusion.refiner_blocks.1.ff.up.weight", "txtfusion.refiner_blocks.1.mlp.up.weight"),
            ("txt_in.norm.weight", "txtmlp.0.scale"),
            ("final_layer.scale_shift_table", "last.modulation.lin"),
            ("final_layer.norm.weight", "last.norm.scale"),
        ] {
            assert_eq!(original_name(ours), StoredName::whole(theirs), "{ours}");
        }
    }

    #[test]
    fn blocks_do_what_they_have_weights_for() {
        let config = Krea2Config::default();
        let blocks = config.blueprint();
        for (index, block) in blocks[..config.embedders()].iter().enumerate() {
            let expected = match block.name.as_str() {
                "conditioning" => Preparation::Levels,
                "projector" => Preparation::Projector,
                "prompt" => Preparation::Tokens,
                _ => Preparation::Fusion,
            };
            assert_eq!(config.preparation(index), expected, "{}", block.name);
        }
        assert_eq!(blocks[config.embedders()].name, "embedders");
    }
}
