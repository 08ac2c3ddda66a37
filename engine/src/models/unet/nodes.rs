//! The network as a list of nodes, each of which is a block of weights.

use super::UnetConfig;
use crate::checkpoint::BlockSpec;

/// One node of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Prefix of the names of its tensors.
    pub name: String,
    /// What it computes.
    pub kind: Kind,
    /// Whether its output is kept for the way up.
    pub is_kept: bool,
    /// Whether it ends the middle.
    pub is_middle: bool,
    /// The number of the features of T2I-Adapters that are added to its output: one for each level, and one for the
    /// middle.
    pub feature: Option<usize>,
}

/// What a node computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Latents to hidden channels.
    Input {
        /// Input channels.
        inputs: usize,
        /// Output channels.
        outputs: usize,
    },
    /// A residual block.
    Resnet {
        /// Its index among the residual blocks.
        number: usize,
        /// Input channels, without those that were kept.
        inputs: usize,
        /// Channels kept on the way down that it also reads; 0 on the way down.
        kept: usize,
        /// Output channels.
        outputs: usize,
    },
    /// One block of a spatial transformer.
    Transformer {
        /// Its index among all transformer blocks.
        number: usize,
        /// Number of channels.
        width: usize,
        /// Number of attention heads.
        heads: usize,
        /// Whether it is the first of a spatial transformer, which converts pixels to tokens.
        is_first: bool,
        /// Whether it is the last, which converts tokens back to pixels.
        is_last: bool,
    },
    /// Halves height and width.
    Down {
        /// Number of channels.
        width: usize,
    },
    /// Doubles height and width.
    Up {
        /// Number of channels.
        width: usize,
    },
    /// In a ControlNet, what is added to an output of the network that it steers.
    Tap {
        /// Number of channels.
        width: usize,
    },
    /// Hidden channels to latents.
    Output {
        /// Input channels.
        inputs: usize,
        /// Output channels.
        outputs: usize,
    },
}

/// Hidden width of a transformer block's feed-forward layers, as a multiple of the stream's width.
pub const MLP_RATIO: usize = 4;

/// Counters while the nodes are listed.
#[derive(Default)]
struct Row {
    nodes: Vec<Node>,
    resnets: usize,
    transformers: usize,
    /// Input channels of the next node.
    width: usize,
    /// Channels of each output kept for the way up.
    kept: Vec<usize>,
}

impl Row {
    fn push(&mut self, name: String, kind: Kind) {
        self.nodes.push(Node { name, kind, is_kept: false, is_middle: false, feature: None });
    }

    /// Keeps the output of the last node.
    fn keep(&mut self) {
        if let Some(last) = self.nodes.last_mut() {
            last.is_kept = true;
            self.kept.push(self.width);
        }
    }

    /// Adds features to the output of the last node.
    fn feature(&mut self, number: usize) {
        if let Some(last) = self.nodes.last_mut() {
            last.feature = Some(number);
        }
    }

    /// Adds a tap of the last node's output.
    fn tap(&mut self) {
        let name = format!("controlnet_down_blocks.{}", self.kept.len());
        self.kept.push(self.width);
        self.push(name, Kind::Tap { width: self.width });
    }

    /// Begins with the latents; returns the width of the first hidden channels.
    fn input(&mut self, config: &UnetConfig) -> usize {
        let first = config.levels.first().map_or(0, |level| level.width);
        self.push("conv_in".to_owned(), Kind::Input { inputs: config.in_channels, outputs: first });
        self.width = first;
        first
    }

    /// Adds the way down, and does `keep` after each output that the way up needs.
    fn down(&mut self, config: &UnetConfig, keep: fn(&mut Self)) {
        keep(self);
        let last = config.levels.len().saturating_sub(1);
        for (index, level) in config.levels.iter().enumerate() {
            let block = format!("down_blocks.{index}");
            // Levels without attention get features after their size is halved.
            let is_early = index == last || level.down.iter().any(|depth| *depth > 0);
            for (layer, &depth) in level.down.iter().enumerate() {
                self.resnet(format!("{block}.resnets.{layer}"), level.width, 0);
                self.attention(&format!("{block}.attentions.{layer}"), level.heads, depth);
                if is_early && layer + 1 == level.down.len() {
                    self.feature(index);
                }
                keep(self);
            }
            if index < last {
                self.push(format!("{block}.downsamplers.0"), Kind::Down { width: level.width });
                if !is_early {
                    self.feature(index);
                }
                keep(self);
            }
        }
    }

    /// Adds the middle.
    fn middle(&mut self, config: &UnetConfig) {
        let (Some(depth), Some(level)) = (config.middle, config.levels.last()) else { return };
        self.resnet("mid_block.resnets.0".to_owned(), level.width, 0);
        self.attention("mid_block.attentions.0", level.heads, depth);
        self.resnet("mid_block.resnets.1".to_owned(), level.width, 0);
        self.feature(config.levels.len());
        if let Some(last) = self.nodes.last_mut() {
            last.is_middle = true;
        }
    }

    fn resnet(&mut self, name: String, outputs: usize, kept: usize) {
        let kind = Kind::Resnet { number: self.resnets, inputs: self.width, kept, outputs };
        self.push(name, kind);
        self.resnets += 1;
        self.width = outputs;
    }

    fn attention(&mut self, name: &str, heads: usize, depth: usize) {
        for index in 0..depth {
            let kind = Kind::Transformer {
                number: self.transformers,
                width: self.width,
                heads,
                is_first: index == 0,
                is_last: index + 1 == depth,
            };
            self.push(format!("{name}.transformer_blocks.{index}"), kind);
            self.transformers += 1;
        }
    }
}

/// The nodes of a network, in the order in which they run.
pub fn nodes(config: &UnetConfig) -> Vec<Node> {
    let mut row = Row::default();
    let first = row.input(config);
    let last = config.levels.len().saturating_sub(1);
    row.down(config, Row::keep);
    row.middle(config);
    for (index, level) in config.levels.iter().rev().enumerate() {
        let block = format!("up_blocks.{index}");
        for (layer, &depth) in level.up.iter().enumerate() {
            let kept = row.kept.pop().unwrap_or(0);
            row.resnet(format!("{block}.resnets.{layer}"), level.width, kept);
            row.attention(&format!("{block}.attentions.{layer}"), level.heads, depth);
        }
        if index < last {
            row.push(format!("{block}.upsamplers.0"), Kind::Up { width: level.width });
        }
    }
    row.push("head".to_owned(), Kind::Output { inputs: first, outputs: config.out_channels });
    row.nodes
}

/// The nodes of a ControlNet for a network: its way down and its middle, with taps where their outputs are kept.
pub fn way_down(config: &UnetConfig) -> Vec<Node> {
    let mut row = Row::default();
    row.input(config);
    row.down(config, Row::tap);
    row.middle(config);
    row.push("controlnet_mid_block".to_owned(), Kind::Tap { width: row.width });
    row.nodes
}
/// The prefix of a transformer block's tensors, and the prefix inside the block. The blocks in the middle of
/// a spatial transformer have the same names inside.
pub fn transformer_names(node: &Node, is_middle: bool) -> (String, String) {
    let (attention, index) = node.name.split_once(".transformer_blocks.").unwrap_or((&node.name, ""));
    if is_middle {
        (format!("{}.", node.name), String::new())
    } else {
        (format!("{attention}."), format!("transformer_blocks.{index}."))
    }
}

/// The blocks. Those that depend only on prompt and timestep come first and are needed once per run: the
/// embedders with each residual block's projection of the timestep, then each transformer block's projections
/// of the prompt. One block for each of `nodes` follows.
pub fn blueprint(config: &UnetConfig, nodes: &[Node]) -> Vec<BlockSpec> {
    let (first, time) = (config.levels.first().map_or(0, |level| level.width), config.time_width());
    let mut embedders = BlockSpec::stem("embedders").linear("time_embedding.linear_1", time, first).linear(
        "time_embedding.linear_2",
        time,
        time,
    );
    if let Some(addition) = config.addition {
        embedders = embedders.linear("add_embedding.linear_1", time, addition.inputs).linear(
            "add_embedding.linear_2",
            time,
            time,
        );
    }
    for node in nodes {
        if let Kind::Resnet { outputs, .. } = node.kind {
            embedders = embedders.linear(&format!("{}.time_emb_proj", node.name), outputs, time);
        }
    }
    let mut blocks = vec![embedders];
    blocks.extend(nodes.iter().filter_map(|node| match node.kind {
        Kind::Transformer { width, .. } => {
            let spec = BlockSpec {
                prefix: format!("{}.attn2.", node.name),
                ..BlockSpec::new(format!("{}.prompt", node.name))
            };
            let prompt = config.cross_attention_dim;
            Some(spec.matrix("to_k", width, prompt).matrix("to_v", width, prompt))
        }
        _ => None,
    }));
    blocks.extend(nodes.iter().map(spec));
    blocks
}

fn spec(node: &Node) -> BlockSpec {
    let spec = BlockSpec::new(&node.name);
    match node.kind {
        Kind::Input { inputs, outputs } => BlockSpec::stem(&node.name).conv("conv_in", outputs, inputs, 3),
        Kind::Resnet { inputs, kept, outputs, .. } => {
            let inputs = inputs + kept;
            let spec = spec
                .norm("norm1", inputs)
                .conv("conv1", outputs, inputs, 3)
                .norm("norm2", outputs)
                .conv("conv2", outputs, outputs, 3);
            if inputs == outputs { spec } else { spec.conv("conv_shortcut", outputs, inputs, 1) }
        }
        Kind::Transformer { width, is_first, is_last, .. } => {
            let (prefix, inner) = transformer_names(node, !is_first && !is_last);
            let mut spec = BlockSpec { prefix, ..spec };
            if is_first {
                spec = spec.norm("norm", width).linear("proj_in", width, width);
            }
            let name = |layer: &str| format!("{inner}{layer}");
            spec = spec.norm(&name("norm1"), width);
            for layer in ["attn1.to_q", "attn1.to_k", "attn1.to_v"] {
                spec = spec.matrix(&name(layer), width, width);
            }
            spec = spec
                .linear(&name("attn1.to_out.0"), width, width)
                .norm(&name("norm2"), width)
                .matrix(&name("attn2.to_q"), width, width)
                .linear(&name("attn2.to_out.0"), width, width)
                .norm(&name("norm3"), width)
                .linear(&name("ff.net.0.proj"), 2 * MLP_RATIO * width, width)
                .linear(&name("ff.net.2"), width, MLP_RATIO * width);
            if is_last { spec.linear("proj_out", width, width) } else { spec }
        }
        Kind::Down { width } | Kind::Up { width } => spec.conv("conv", width, width, 3),
        Kind::Tap { width } => BlockSpec::stem(&node.name).conv(&node.name, width, width, 1),
        Kind::Output { inputs, outputs } => {
            BlockSpec::stem(&node.name).norm("conv_norm_out", inputs).conv("conv_out", outputs, inputs, 3)
        }
    }
}
