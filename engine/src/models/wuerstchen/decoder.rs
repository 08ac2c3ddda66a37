//! The decoder: ConvNeXt blocks, modulation by the timestep and attention, level by level down and up. Levels read the
//! prior's latents, scaled to their resolution.

use serde::Deserialize;

use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    models::{
        Conditioning, Denoiser, DenoiserInput, LatentShape, PrepareInput, Prepared,
        cascade::{
            Layer, Sides,
            layers::{self, Branch, EPS, GroupShape},
        },
        denoiser::negative_first,
    },
    nn::{DType, Result, Tensor, bail, layer_norm, sigmoid_mul},
    request::{Canvas, Request},
    residency::{Blocks, RunError, Weights},
    sampling::{Cosine, variance_preserving},
    text::Encoded,
};

/// What the prediction is divided by is at least this, and at most 1 without it.
const SMALLEST: f64 = 1e-3;
/// Index of the block that embeds the latents.
const INPUT: usize = 1;
/// The name of what maps the prior's latents.
const SEEN: &str = "effnet_mappers";

/// The shape of the decoder, as in its `config.json`. The default is the published one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct DecoderConfig {
    /// Channels of the latents.
    pub c_in: usize,
    /// Channels of the prediction.
    pub c_out: usize,
    /// Width of the embedding of the timestep.
    pub c_r: usize,
    /// Latents per token, in each direction.
    pub patch_size: usize,
    /// Width of the tokens of the prompt, and of the mapped latents of the prior.
    pub c_cond: usize,
    /// Channels of each level.
    pub c_hidden: Vec<usize>,
    /// Attention heads of each level; any number where none attends.
    pub nhead: Vec<i64>,
    /// Groups of layers of each level.
    pub blocks: Vec<usize>,
    /// The layers of a group in each level: C for a ConvNeXt block, T for the timestep, A for attention.
    pub level_config: Vec<String>,
    /// Whether each level reads the latents of the prior.
    pub inject_effnet: Vec<bool>,
    /// Channels of the latents of the prior.
    pub effnet_embd: usize,
    /// Width of the hidden states of the text encoder.
    pub clip_embd: usize,
    /// Side of the kernels.
    pub kernel_size: usize,
}

impl Default for DecoderConfig {
    fn default() -> Self {
        Self {
            c_in: 4,
            c_out: 4,
            c_r: 64,
            patch_size: 2,
            c_cond: 1024,
            c_hidden: vec![320, 640, 1280, 1280],
            nhead: vec![-1, 10, 20, 20],
            blocks: vec![4, 4, 14, 4],
            level_config: ["CT", "CTA", "CTA", "CTA"].map(str::to_owned).to_vec(),
            inject_effnet: vec![false, true, true, true],
            effnet_embd: 16,
            clip_embd: 1024,
            kernel_size: 3,
        }
    }
}

/// What a block of weights computes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    /// Maps the prior's latents for the layers of a level.
    See(String),
    /// A group of layers.
    Group {
        /// The layers and their names.
        layers: Vec<(Layer, String)>,
        level: usize,
        /// Whether the first layer also reads what the level made on the way down.
        reads_kept: bool,
    },
    /// To the next lower level, after the level made what is kept.
    Down,
    /// To the next higher level.
    Up,
    /// Tokens to the prediction.
    Output,
}

impl DecoderConfig {
    /// Infers the shape from the tensors, for files without a configuration. Patches, heads and layers are those of the
    /// published network.
    fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape());
        let usual = Self::default();
        let patch = usual.patch_size * usual.patch_size;
        let &[c_cond, clip_embd] = shape("clip_mapper.weight")? else { return None };
        Some(Self {
            c_in: shape("embedding.1.weight")?.get(1)? / patch,
            c_out: shape("clf.1.weight")?.first()? / patch / 2,
            c_r: *shape("down_blocks.0.1.mapper.weight")?.get(1)?,
            c_cond,
            clip_embd,
            effnet_embd: *shape(&format!("{SEEN}.1.weight"))?.get(1)?,
            ..usual
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        let levels = self.c_hidden.len();
        let lists = [
            ("nhead", self.nhead.len()),
            ("blocks", self.blocks.len()),
            ("level_config", self.level_config.len()),
            ("inject_effnet", self.inject_effnet.len()),
        ];
        if let Some((field, count)) = lists.into_iter().find(|(_, count)| *count != levels || levels == 0) {
            return part.refuse(field, count, format!("it must have one entry for each of {levels} levels"));
        }
        if let Some(unknown) =
            self.level_config.iter().find(|level| level.chars().any(|c| layer(c).is_none()))
        {
            return part.refuse("level_config", unknown, "a layer is C, T or A");
        }
        for (level, width) in self.c_hidden.iter().enumerate() {
            let heads = self.nhead[level];
            let fits = usize::try_from(heads).is_ok_and(|heads| heads > 0 && width.is_multiple_of(heads));
            if self.level_config[level].contains('A') && !fits {
                let reason = "the channels must be a multiple of the number of heads";
                return part.refuse("nhead", heads, reason);
            }
        }
        if self.c_r < 4 {
            return part.refuse("c_r", self.c_r, "it must be at least 4");
        }
        if self.patch_size == 0 || self.kernel_size.is_multiple_of(2) {
            let reason = "patches have at least one latent, kernels an odd number of rows";
            return part.refuse("patch_size", self.patch_size, reason);
        }
        Ok(())
    }

    /// Latents of which width and height must be multiples.
    pub fn latent_multiple(&self) -> usize {
        self.patch_size << (self.c_hidden.len() - 1)
    }

    /// The nodes with the names of their blocks, in the order in which a prediction goes through them.
    fn nodes(&self) -> Vec<(String, Node)> {
        let levels = self.c_hidden.len();
        let mut nodes = Vec::new();
        let ways = (0..levels).map(|level| ("down", level, level));
        let ways = ways.chain((0..levels).map(|number| ("up", number, levels - 1 - number)));
        for (way, number, level) in ways {
            let is_down = way == "down";
            let mut place = 0;
            if is_down && level > 0 {
                nodes.push((format!("down_blocks.{number}.0"), Node::Down));
                place = 1;
            }
            if self.inject_effnet[level] {
                let mapper = if is_down { number } else { levels + number }.to_string();
                nodes.push((format!("{SEEN}.{mapper}"), Node::See(mapper)));
            }
            for group in 0..self.blocks[level] {
                let own = self.level_config[level].chars().filter_map(layer);
                let layers: Vec<(Layer, String)> =
                    own.enumerate().map(|(after, layer)| (layer, (place + after).to_string())).collect();
                let name = format!("{way}_blocks.{number}.{place}");
                place += layers.len();
                let reads_kept = !is_down && number > 0 && group == 0;
                nodes.push((name, Node::Group { layers, level, reads_kept }));
            }
            if !is_down && level > 0 {
                nodes.push((format!("up_blocks.{number}.{place}"), Node::Up));
            }
        }
        nodes.push(("clf".to_owned(), Node::Output));
        nodes
    }

    /// The blocks. The first is needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (widths, patch) = (&self.c_hidden, self.patch_size * self.patch_size);
        let mut blocks = vec![
            BlockSpec::stem("prompt").linear("clip_mapper", self.c_cond, self.clip_embd),
            BlockSpec::stem("input").conv("embedding.1", widths[0], self.c_in * patch, 1),
        ];
        let mut level = 0;
        for (name, node) in self.nodes() {
            let around = name.rsplit_once('.').map_or(String::new(), |(around, _)| format!("{around}."));
            let within = |name: &str| BlockSpec { prefix: around.clone(), ..BlockSpec::new(name) };
            blocks.push(match node {
                Node::See(mapper) => within(&name).conv(&mapper, self.c_cond, self.effnet_embd, 1),
                Node::Group { layers, level: own, reads_kept } => {
                    level = own;
                    let seen = if self.inject_effnet[level] { self.c_cond } else { 0 };
                    let kept = if reads_kept { widths[level] } else { 0 };
                    let shape = GroupShape {
                        width: widths[level],
                        dim: self.c_cond,
                        time: self.c_r,
                        kernel: self.kernel_size,
                        beside: [kept + seen, seen],
                        conditions: &[],
                    };
                    shape.spec(within(&name), &layers)
                }
                Node::Down => BlockSpec::new(&name).conv("1", widths[level + 1], widths[level], 2),
                Node::Up => BlockSpec::new(&name)
                    .tensor("1.weight", &[widths[level], widths[level - 1], 2, 2])
                    .tensor("1.bias", &[widths[level - 1]]),
                Node::Output => BlockSpec::new(&name).conv("1", 2 * self.c_out * patch, widths[0], 1),
            });
        }
        blocks
    }
}

/// The layer that a letter stands for.
fn layer(letter: char) -> Option<Layer> {
    match letter {
        'C' => Some(Layer::Residual),
        'T' => Some(Layer::Timestep),
        'A' => Some(Layer::Attention),
        _ => None,
    }
}

/// Finds every tensor of the decoder.
///
/// # Errors
/// When its configuration is wrong, or a tensor is missing.
pub fn open(part: &Part) -> std::result::Result<(DecoderConfig, Component), CheckpointError> {
    let config = part.config(DecoderConfig::from_shapes)?;
    config.check(part)?;
    let component = Component::bind(
        Role::Denoiser,
        "Wuerstchen decoder",
        &config.blueprint(),
        &part.tensors,
        |name| StoredName::whole(name),
        &part.path,
    )?;
    Ok((config, component))
}

/// The decoder's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct WuerstchenDecoder {
    config: DecoderConfig,
    nodes: Vec<Node>,
    cosine: Cosine,
    sides: Sides,
    /// What the prior's latents are multiplied by, and what is then taken from them.
    spread: [f64; 2],
}

/// A guidance branch, and the prior's latents as the layers of its level read them.
struct Seeing {
    branch: Branch,
    seen: Option<Tensor>,
}

impl WuerstchenDecoder {
    /// A decoder with this shape.
    pub fn new(config: DecoderConfig, cosine: Cosine, sides: Sides, spread: [f64; 2]) -> Self {
        let nodes = config.nodes().into_iter().map(|(_, node)| node).collect();
        Self { config, nodes, cosine, sides, spread }
    }

    fn node(
        &self,
        w: &Weights,
        node: &Node,
        state: &mut Seeing,
        (prior, time, prompt): (&Tensor, &Tensor, &Tensor),
    ) -> Result<()> {
        let Seeing { branch, seen } = state;
        match node {
            Node::See(mapper) => {
                let scaled = layers::resized(prior, [branch.height, branch.width], layers::cubically)?;
                *seen = Some(w.patches(mapper, &scaled.to_dtype(branch.x.dtype())?)?);
            }
            Node::Group { layers: group, level, reads_kept } => {
                for (number, (layer, name)) in group.iter().enumerate() {
                    branch.x = match layer {
                        Layer::Residual => {
                            let kept = branch.kept.get(*level).filter(|_| *reads_kept && number == 0);
                            let beside: Vec<&Tensor> = kept.into_iter().chain(seen.as_ref()).collect();
                            layers::residual(w, name, branch, &beside, self.config.kernel_size)?
                        }
                        Layer::Timestep => layers::modulated(w, name, &branch.x, time, &[])?,
                        Layer::Attention => {
                            let heads = self.config.nhead[*level] as usize;
                            layers::attend(w, name, &branch.x, prompt, heads, true)?
                        }
                    };
                }
            }
            Node::Down => {
                branch.kept.push(branch.x.clone());
                *seen = None;
                layers::halved(w, "1", branch)?;
            }
            Node::Up => {
                *seen = None;
                layers::doubled(w, "1", branch)?;
            }
            Node::Output => {
                *seen = None;
                branch.kept.clear();
                branch.x = w.patches("1", &layer_norm(&branch.x, None, EPS)?)?;
                branch.x = layers::latents(branch, self.config.patch_size)?;
            }
        }
        Ok(())
    }
}

/// The noise, from the noisy latents and the network's two values for each.
fn noise(latents: &Tensor, both: &Tensor) -> Result<Tensor> {
    let halves = both.to_dtype(DType::F32)?.chunk(2, 1)?;
    let (mean, share) = (halves[0].contiguous()?, halves[1].contiguous()?);
    let ones = Tensor::ones(share.dims().to_vec(), DType::F32, &share.device())?;
    let share = sigmoid_mul(&share, &ones)?.affine(1.0 - 2.0 * SMALLEST, SMALLEST)?;
    (latents.to_dtype(DType::F32)? - mean)? / share
}

impl Denoiser for WuerstchenDecoder {
    fn size_multiple(&self) -> u32 {
        self.sides.size_multiple()
    }

    fn takes_images(&self) -> bool {
        false
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = [canvas.height, canvas.width].map(|side| self.sides.of(side)[1]);
        LatentShape::image(self.config.c_out, height, width)
    }

    /// The decoder is not guided: the prior has followed the prompt already.
    fn guidance_weight(&self, _: &Request) -> f64 {
        1.0
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match encoded.into_iter().next() {
            Some(Encoded { states, .. }) => Ok(Conditioning::new(states)),
            None => bail!("the prompt was not encoded"),
        }
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let mut branches = input.branches.to_vec();
        blocks.walk(0..INPUT, |_, w| {
            w.branches(&mut branches, |w, _, branch| {
                let prompt = layer_norm(&w.linear("clip_mapper", &branch.prompt)?, None, EPS)?;
                *branch = Conditioning::new(prompt);
                Ok(())
            })
        })?;
        let modulations = layers::times(blocks, input.sigmas, self.cosine, self.config.c_r, 0)?;
        Ok(Prepared { branches, modulations, ..Prepared::default() })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let [time] = prepared.modulation(input.sigma)? else {
            return Err(RunError::from(crate::nn::Error::Msg("a timestep has one embedding".to_owned())));
        };
        let Some(prior) = input.beside else {
            let reason = "the latents of the stage before are missing".to_owned();
            return Err(RunError::from(crate::nn::Error::Msg(reason)));
        };
        let prior = prior.to_dtype(DType::F32)?.affine(self.spread[0], -self.spread[1])?;
        let latents = (input.latents * variance_preserving(input.sigma))?;
        let last = INPUT + self.nodes.len();
        let mut branches: Vec<Seeing> = Vec::new();
        blocks.walk(INPUT..last + 1, |index, w| {
            let Some(node) = index.checked_sub(INPUT + 1).map(|node| &self.nodes[node]) else {
                let scaled = latents.to_dtype(blocks.dtype())?;
                let (patches, [height, width]) = layers::patches(&scaled, self.config.patch_size)?;
                let x = layer_norm(&w.patches("embedding.1", &patches)?, None, EPS)?;
                let branch = || Branch { x: x.clone(), height, width, kept: Vec::new() };
                branches.extend(prepared.branches.iter().map(|_| Seeing { branch: branch(), seen: None }));
                return Ok(());
            };
            w.branches(&mut branches, |w, place, state| {
                self.node(w, node, state, (&prior, time, &prepared.branches[place].prompt))
            })
        })?;
        let noises = branches.iter().map(|state| noise(&latents, &state.branch.x));
        Ok(noises.collect::<Result<_>>()?)
    }

    /// The network predicts the noise.
    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }

    fn recorded(&self, outputs: &[Tensor]) -> Result<Vec<(String, Tensor)>> {
        Ok(vec![("unet.0.out.0".to_owned(), negative_first(outputs)?)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers within a level count on after what changes the resolution.
    #[test]
    fn layers_are_numbered_as_in_the_published_file() {
        let config = DecoderConfig::default();
        let nodes = config.nodes();
        let named = |name: &str| nodes.iter().find(|(own, _)| own == name).map(|(_, node)| node);
        let Some(Node::Group { layers, level, reads_kept }) = named("up_blocks.1.0") else {
            panic!("the first group on the way up is missing")
        };
        assert_eq!((*level, *reads_kept, layers.len()), (2, true, 3));
        assert_eq!(named("down_blocks.1.0"), Some(&Node::Down));
        assert_eq!(named("up_blocks.0.12"), Some(&Node::Up));
        assert_eq!(named("effnet_mappers.4"), Some(&Node::See("4".to_owned())));
        assert_eq!(named("effnet_mappers.7"), None);
        assert_eq!(config.blueprint().len(), INPUT + 1 + nodes.len());
    }
}
