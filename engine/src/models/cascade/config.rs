//! The shape of a network of Stable Cascade.

use std::ops::Range;

use serde::Deserialize;

use super::layers::GroupShape;
use crate::checkpoint::{BlockSpec, CheckpointError, Part, TensorTable};

/// Hidden width of a residual block, as a multiple of its channels.
pub const RATIO: usize = 4;
/// Index of the block that embeds the latents. The one before it is needed once per run.
pub const INPUT: usize = 1;

/// A layer of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Layer {
    /// A ConvNeXt block.
    #[serde(rename = "SDCascadeResBlock")]
    Residual,
    /// Modulation by the timestep.
    #[serde(rename = "SDCascadeTimestepBlock")]
    Timestep,
    /// Attention to the prompt, and to the image itself.
    #[serde(rename = "SDCascadeAttnBlock")]
    Attention,
}

/// One choice for all levels, or one for each.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum SelfAttention {
    /// For all.
    All(bool),
    /// For each level.
    Each(Vec<bool>),
}

/// The shape of the network, as in its `config.json`. The default is the published prior.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct CascadeConfig {
    /// Channels of the latents.
    pub in_channels: usize,
    /// Channels of the prediction.
    pub out_channels: usize,
    /// Width of the embedding of the timestep, and of each condition beside it.
    pub timestep_ratio_embedding_dim: usize,
    /// Latents per token, in each direction.
    pub patch_size: usize,
    /// Width of the tokens of the prompt.
    pub conditioning_dim: usize,
    /// Channels of each level.
    pub block_out_channels: Vec<usize>,
    /// Attention heads of each level; any number where none attends.
    pub num_attention_heads: Vec<i64>,
    /// Groups of layers of each level on the way down.
    pub down_num_layers_per_block: Vec<usize>,
    /// The same on the way up, from the lowest level.
    pub up_num_layers_per_block: Vec<usize>,
    /// How often a level runs on the way down.
    pub down_blocks_repeat_mappers: Vec<usize>,
    /// The same on the way up, from the lowest level.
    pub up_blocks_repeat_mappers: Vec<usize>,
    /// The layers of a group in each level.
    pub block_types_per_layer: Vec<Vec<Layer>>,
    /// Width of the hidden states of the text encoder, if the network reads them.
    pub clip_text_in_channels: Option<usize>,
    /// Width of the pooled output of the text encoder.
    pub clip_text_pooled_in_channels: usize,
    /// Width of the embeddings of images, if the network reads them.
    pub clip_image_in_channels: Option<usize>,
    /// Tokens that become of a pooled output.
    pub clip_seq: usize,
    /// Channels of the latents of the stage before, if the network reads them.
    pub effnet_in_channels: Option<usize>,
    /// Channels of pixels, if the network reads them.
    pub pixel_mapper_in_channels: Option<usize>,
    /// Side of the kernels.
    pub kernel_size: usize,
    /// Whether attention is also to the image itself.
    pub self_attn: SelfAttention,
    /// The conditions beside the timestep, all of which are 0.
    pub timestep_conditioning_type: Vec<String>,
    /// Whether the resolution changes from level to level, in networks that otherwise only change the channels.
    pub switch_level: Option<Vec<bool>>,
}

impl Default for CascadeConfig {
    fn default() -> Self {
        Self {
            in_channels: 16,
            out_channels: 16,
            timestep_ratio_embedding_dim: 64,
            patch_size: 1,
            conditioning_dim: 2048,
            block_out_channels: vec![2048; 2],
            num_attention_heads: vec![32; 2],
            down_num_layers_per_block: vec![8, 24],
            up_num_layers_per_block: vec![24, 8],
            down_blocks_repeat_mappers: vec![1; 2],
            up_blocks_repeat_mappers: vec![1; 2],
            block_types_per_layer: vec![vec![Layer::Residual, Layer::Timestep, Layer::Attention]; 2],
            clip_text_in_channels: None,
            clip_text_pooled_in_channels: 1280,
            clip_image_in_channels: None,
            clip_seq: 4,
            effnet_in_channels: None,
            pixel_mapper_in_channels: None,
            kernel_size: 3,
            self_attn: SelfAttention::All(true),
            timestep_conditioning_type: vec!["sca".to_owned(), "crp".to_owned()],
            switch_level: None,
        }
    }
}

/// What a block of weights computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A group of layers.
    Group {
        /// The layers and the prefixes of their names in the block.
        layers: Vec<(Layer, String)>,
        /// The level.
        level: usize,
        /// Whether the first layer also reads what the level made on the way down.
        reads_kept: bool,
    },
    /// Maps the channels between two runs of a level.
    Again,
    /// To the next lower level, after the level made what is kept.
    Down,
    /// To the next higher level.
    Up,
    /// Tokens to the prediction.
    Output,
}

impl CascadeConfig {
    /// Infers the shape from tensors, for files without a configuration. Heads are 64 wide in all published networks, of
    /// which those that read pixels have patches of 2 by 2 latents.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape().to_vec());
        let outputs = |name: &str| shape(name)?.first().copied();
        let inputs = |name: &str| shape(name)?.get(1).copied();
        let count = |start: &str, end: &str| {
            tensors.keys().filter(|name| name.starts_with(start) && name.ends_with(end)).count()
        };
        let widths: Vec<usize> =
            (0..).map_while(|level| outputs(&format!("down_blocks.{level}.0.depthwise.weight"))).collect();
        let last = widths.len().checked_sub(1)?;
        let counts = |way: &str| -> Vec<usize> {
            widths
                .iter()
                .enumerate()
                .map(|(at, _)| count(&format!("{way}.{at}."), ".depthwise.weight"))
                .collect()
        };
        let repeats = |way: &str| -> Vec<usize> {
            widths.iter().enumerate().map(|(at, _)| 1 + count(&format!("{way}.{at}."), ".weight")).collect()
        };
        let attends = |level: usize| count(&format!("down_blocks.{level}."), ".kv_mapper.1.weight") > 0;
        let layers = |level: usize| {
            let all = [Layer::Residual, Layer::Timestep, Layer::Attention];
            all[..if attends(level) { 3 } else { 2 }].to_vec()
        };
        let effnet_in_channels = inputs("effnet_mapper.0.weight");
        let patch_size = if effnet_in_channels.is_some() { 2 } else { 1 };
        let first = (0..=1).find_map(|layer| inputs(&format!("down_blocks.0.{layer}.mapper.weight")))?;
        let conditions = ["sca", "crp"].into_iter().filter(|name| {
            (0..=1).any(|layer| tensors.contains_key(&format!("down_blocks.0.{layer}.mapper_{name}.weight")))
        });
        let pooled = ["clip_txt_pooled_mapper.weight", "clip_mapper.weight"];
        let pooled = pooled.into_iter().find_map(shape)?;
        let attending = (0..=last).find(|level| attends(*level));
        let conditioning_dim =
            attending.and_then(|level| inputs(&format!("down_blocks.{level}.2.kv_mapper.1.weight")))?;
        let switched = tensors.contains_key("down_downscalers.1.1.blocks.0.weight");
        Some(Self {
            in_channels: inputs("embedding.1.weight")? / (patch_size * patch_size),
            out_channels: outputs("clf.1.weight")? / (patch_size * patch_size),
            timestep_ratio_embedding_dim: first,
            patch_size,
            conditioning_dim,
            num_attention_heads: widths.iter().map(|width| (width / 64).max(1) as i64).collect(),
            down_num_layers_per_block: counts("down_blocks"),
            up_num_layers_per_block: counts("up_blocks"),
            down_blocks_repeat_mappers: repeats("down_repeat_mappers"),
            up_blocks_repeat_mappers: repeats("up_repeat_mappers"),
            block_types_per_layer: (0..=last).map(layers).collect(),
            clip_text_in_channels: inputs("clip_txt_mapper.weight"),
            clip_text_pooled_in_channels: *pooled.get(1)?,
            clip_image_in_channels: inputs("clip_img_mapper.weight"),
            clip_seq: pooled.first()?.checked_div(conditioning_dim)?,
            effnet_in_channels,
            pixel_mapper_in_channels: inputs("pixels_mapper.0.weight"),
            kernel_size: *shape("down_blocks.0.0.depthwise.weight")?.get(2)?,
            self_attn: SelfAttention::All(true),
            timestep_conditioning_type: conditions.map(str::to_owned).collect(),
            switch_level: switched.then(|| vec![false; last]),
            block_out_channels: widths,
        })
    }

    /// Rejects values that no network can have.
    ///
    /// # Errors
    /// When a list has not one entry per level, or a size divides by none.
    pub fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        let levels = self.block_out_channels.len();
        let lists = [
            ("num_attention_heads", self.num_attention_heads.len()),
            ("down_num_layers_per_block", self.down_num_layers_per_block.len()),
            ("up_num_layers_per_block", self.up_num_layers_per_block.len()),
            ("down_blocks_repeat_mappers", self.down_blocks_repeat_mappers.len()),
            ("up_blocks_repeat_mappers", self.up_blocks_repeat_mappers.len()),
            ("block_types_per_layer", self.block_types_per_layer.len()),
        ];
        if let Some((field, count)) = lists.into_iter().find(|(_, count)| *count != levels || levels == 0) {
            return part.refuse(field, count, format!("it must have one entry for each of {levels} levels"));
        }
        if let SelfAttention::Each(each) = &self.self_attn
            && each.len() != levels
        {
            return part.refuse("self_attn", each.len(), "it must have one entry for each level");
        }
        for (level, width) in self.block_out_channels.iter().enumerate() {
            let heads = self.num_attention_heads[level];
            let attends = self.block_types_per_layer[level].contains(&Layer::Attention);
            let fits = usize::try_from(heads).is_ok_and(|heads| heads > 0 && width.is_multiple_of(heads));
            if attends && !fits {
                let reason = "the channels must be a multiple of the number of heads";
                return part.refuse("num_attention_heads", heads, reason);
            }
        }
        let half = self.timestep_ratio_embedding_dim / 2;
        if half < 2 {
            let reason = "it must be at least 4";
            return part.refuse("timestep_ratio_embedding_dim", self.timestep_ratio_embedding_dim, reason);
        }
        if self.patch_size == 0 || self.kernel_size.is_multiple_of(2) {
            let reason = "patches have at least one latent, kernels an odd number of rows";
            return part.refuse("patch_size", self.patch_size, reason);
        }
        let none = |repeats: &&usize| **repeats == 0;
        let repeats = self.down_blocks_repeat_mappers.iter().chain(&self.up_blocks_repeat_mappers);
        if repeats.clone().any(|repeats| none(&repeats)) {
            return part.refuse("down_blocks_repeat_mappers", 0, "a level runs at least once");
        }
        match &self.switch_level {
            Some(switches) if switches.len() + 1 != levels || switches.contains(&true) => {
                let reason = "networks that halve the resolution by interpolation are not supported";
                part.refuse("switch_level", format!("{switches:?}"), reason)
            }
            _ => Ok(()),
        }
    }

    /// Latents of which width and height must be multiples.
    pub fn latent_multiple(&self) -> usize {
        let halvings = if self.switch_level.is_none() { self.block_out_channels.len() - 1 } else { 0 };
        self.patch_size << halvings
    }

    /// Whether attention in a level is also to the image itself.
    pub fn attends_to_itself(&self, level: usize) -> bool {
        match &self.self_attn {
            SelfAttention::All(all) => *all,
            SelfAttention::Each(each) => each[level],
        }
    }

    /// The nodes with their names, in the order of their blocks, and the indices of the blocks in the order in which a
    /// prediction goes through them, as parts of consecutive ones.
    pub fn nodes(&self) -> (Vec<(String, Node)>, Vec<Range<usize>>) {
        let last = self.block_out_channels.len() - 1;
        let (mut nodes, mut visits) = (Vec::new(), vec![INPUT]);
        for level in 0..=last {
            if level > 0 {
                visits.push(INPUT + 1 + nodes.len());
                nodes.push((format!("down_downscalers.{level}"), Node::Down));
            }
            let [groups, times] =
                [self.down_num_layers_per_block[level], self.down_blocks_repeat_mappers[level]];
            self.level(("down", level, level), groups, times, &mut nodes, &mut visits);
        }
        for (number, level) in (0..=last).rev().enumerate() {
            let [groups, times] =
                [self.up_num_layers_per_block[number], self.up_blocks_repeat_mappers[number]];
            self.level(("up", number, level), groups, times, &mut nodes, &mut visits);
            if level > 0 {
                visits.push(INPUT + 1 + nodes.len());
                nodes.push((format!("up_upscalers.{number}"), Node::Up));
            }
        }
        visits.push(INPUT + 1 + nodes.len());
        nodes.push(("clf".to_owned(), Node::Output));
        let mut parts: Vec<Range<usize>> = Vec::new();
        for visit in visits {
            match parts.last_mut() {
                Some(part) if part.end == visit => part.end += 1,
                _ => parts.push(visit..visit + 1),
            }
        }
        (nodes, parts)
    }

    fn level(
        &self,
        (way, number, level): (&str, usize, usize),
        groups: usize,
        times: usize,
        nodes: &mut Vec<(String, Node)>,
        visits: &mut Vec<usize>,
    ) {
        let first = INPUT + 1 + nodes.len();
        let kinds = &self.block_types_per_layer[level];
        for group in 0..groups {
            let named = |(place, layer): (usize, &Layer)| (*layer, (group * kinds.len() + place).to_string());
            let layers = kinds.iter().enumerate().map(named).collect();
            let is_lowest = level + 1 == self.block_out_channels.len();
            let reads_kept = way == "up" && group == 0 && !is_lowest;
            nodes.push((format!("{way}_blocks.{number}.{group}"), Node::Group { layers, level, reads_kept }));
        }
        for time in 0..times {
            visits.extend(first..first + groups);
            if time + 1 < times {
                visits.push(INPUT + 1 + nodes.len());
                nodes.push((format!("{way}_repeat_mappers.{number}.{time}"), Node::Again));
            }
        }
    }

    /// The blocks. The first is needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (widths, dim) = (&self.block_out_channels, self.conditioning_dim);
        let mut prompt = BlockSpec::stem("prompt").linear(
            "clip_txt_pooled_mapper",
            dim * self.clip_seq,
            self.clip_text_pooled_in_channels,
        );
        if let Some(width) = self.clip_text_in_channels {
            prompt = prompt.linear("clip_txt_mapper", dim, width);
        }
        if let Some(width) = self.clip_image_in_channels {
            prompt = prompt.linear("clip_img_mapper", dim * self.clip_seq, width);
        }
        let (first, patch) = (widths[0], self.patch_size * self.patch_size);
        let mut input = BlockSpec::stem("input").conv("embedding.1", first, self.in_channels * patch, 1);
        let mapped = [("effnet", self.effnet_in_channels), ("pixels", self.pixel_mapper_in_channels)];
        for (name, channels) in mapped {
            if let Some(channels) = channels {
                let hidden = RATIO * first;
                input = input.conv(&format!("{name}_mapper.0"), hidden, channels, 1).conv(
                    &format!("{name}_mapper.2"),
                    first,
                    hidden,
                    1,
                );
            }
        }
        let mut blocks = vec![prompt, input];
        let mut level = 0;
        for (name, node) in self.nodes().0 {
            blocks.push(match node {
                Node::Group { layers, level: own, reads_kept } => {
                    level = own;
                    self.group(&name, &layers, own, reads_kept)
                }
                Node::Again => {
                    let place = name.rsplit_once('.').map_or("", |(place, _)| place).to_owned();
                    let time = name[place.len()..].trim_start_matches('.').to_owned();
                    BlockSpec { prefix: format!("{place}."), ..BlockSpec::new(&name) }.conv(
                        &time,
                        widths[level],
                        widths[level],
                        1,
                    )
                }
                Node::Down | Node::Up => {
                    let is_down = node == Node::Down;
                    let to = if is_down { level + 1 } else { level - 1 };
                    let spec = BlockSpec::new(&name);
                    match (&self.switch_level, is_down) {
                        (Some(_), true) => spec.conv("1.blocks.0", widths[to], widths[level], 1),
                        (Some(_), false) => spec.conv("1.blocks.1", widths[to], widths[level], 1),
                        (None, true) => spec.conv("1", widths[to], widths[level], 2),
                        (None, false) => spec
                            .tensor("1.weight", &[widths[level], widths[to], 2, 2])
                            .tensor("1.bias", &[widths[to]]),
                    }
                }
                Node::Output => BlockSpec::new(&name).conv("1", self.out_channels * patch, first, 1),
            });
        }
        blocks
    }

    fn group(&self, name: &str, layers: &[(Layer, String)], level: usize, reads_kept: bool) -> BlockSpec {
        let (width, dim) = (self.block_out_channels[level], self.conditioning_dim);
        let place = name.rsplit_once('.').map_or(name, |(place, _)| place);
        let shape = GroupShape {
            width,
            dim,
            time: self.timestep_ratio_embedding_dim,
            kernel: self.kernel_size,
            beside: [if reads_kept { width } else { 0 }, 0],
            conditions: &self.timestep_conditioning_type,
        };
        shape.spec(BlockSpec { prefix: format!("{place}."), ..BlockSpec::new(name) }, layers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels that run several times come several times, with the map before each but the first.
    #[test]
    fn repeated_levels_are_parts_of_a_walk() {
        let config = CascadeConfig {
            block_out_channels: vec![8, 8],
            down_num_layers_per_block: vec![1, 2],
            up_num_layers_per_block: vec![2, 1],
            up_blocks_repeat_mappers: vec![3, 1],
            ..CascadeConfig::default()
        };
        let (nodes, parts) = config.nodes();
        assert_eq!(nodes[4].0, "up_blocks.0.0");
        assert_eq!(nodes[6].0, "up_repeat_mappers.0.0");
        assert_eq!(parts, [1..9, 6..8, 9..10, 6..8, 10..13]);
        assert_eq!(config.blueprint().len(), INPUT + 1 + nodes.len());
    }
}
