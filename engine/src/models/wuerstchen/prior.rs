//! The prior: ConvNeXt blocks, modulation by the timestep and attention, all at one resolution.

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
    nn::{DType, Result, Tensor, bail, layer_norm},
    request::Canvas,
    residency::{Blocks, RunError, Weights},
    sampling::{Cosine, variance_preserving},
    text::Encoded,
};

/// The slope of the activation between the layers of the prompt where values are negative.
const SLOPE: f64 = 0.2;
/// Added to what the prediction is divided by.
const SMALLEST: f64 = 1e-5;
/// Side of the kernels.
const KERNEL: usize = 3;
/// The layers of a group.
const GROUP: [Layer; 3] = [Layer::Residual, Layer::Timestep, Layer::Attention];
/// Index of the block that embeds the latents, and of the first group.
const INPUT: usize = 1;
const FIRST: usize = 2;

/// The shape of the prior, as in its `config.json`. The default is the published one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct PriorConfig {
    /// Channels of the latents.
    pub c_in: usize,
    /// Channels of the network.
    pub c: usize,
    /// Width of the hidden states of the text encoder.
    pub c_cond: usize,
    /// Width of the embedding of the timestep.
    pub c_r: usize,
    /// Groups of layers.
    pub depth: usize,
    /// Attention heads.
    pub nhead: usize,
}

impl Default for PriorConfig {
    fn default() -> Self {
        Self { c_in: 16, c: 1536, c_cond: 1280, c_r: 64, depth: 32, nhead: 24 }
    }
}

impl PriorConfig {
    /// Infers the shape from the tensors, for files without a configuration. Heads are 64 wide as in the published network.
    fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape());
        let &[c, c_cond] = shape("cond_mapper.0.weight")? else { return None };
        Some(Self {
            c_in: *shape("projection.weight")?.get(1)?,
            c,
            c_cond,
            c_r: *shape("blocks.1.mapper.weight")?.get(1)?,
            depth: tensors.keys().filter(|name| name.ends_with(".depthwise.weight")).count(),
            nhead: (c / 64).max(1),
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        if self.nhead == 0 || !self.c.is_multiple_of(self.nhead) {
            let reason = "the channels must be a multiple of the number of heads";
            return part.refuse("nhead", self.nhead, reason);
        }
        if self.c_r < 4 {
            return part.refuse("c_r", self.c_r, "it must be at least 4");
        }
        Ok(())
    }

    /// The blocks. The first is needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let shape = GroupShape {
            width: self.c,
            dim: self.c,
            time: self.c_r,
            kernel: KERNEL,
            beside: [0, 0],
            conditions: &[],
        };
        let group = |index: usize| {
            let spec =
                BlockSpec { prefix: "blocks.".to_owned(), ..BlockSpec::new(format!("blocks.{index}")) };
            shape.spec(spec, &named(index))
        };
        let prompt = BlockSpec::stem("prompt").linear("cond_mapper.0", self.c, self.c_cond).linear(
            "cond_mapper.2",
            self.c,
            self.c,
        );
        let mut blocks = vec![prompt, BlockSpec::stem("input").conv("projection", self.c, self.c_in, 1)];
        blocks.extend((0..self.depth).map(group));
        blocks.push(BlockSpec::new("out").conv("1", 2 * self.c_in, self.c, 1));
        blocks
    }
}

/// The layers of a group with their names.
fn named(group: usize) -> Vec<(Layer, String)> {
    let named = |(place, layer): (usize, Layer)| (layer, (group * GROUP.len() + place).to_string());
    GROUP.into_iter().enumerate().map(named).collect()
}

/// Finds every tensor of the prior.
///
/// # Errors
/// When its configuration is wrong, or a tensor is missing.
pub fn open(part: &Part) -> std::result::Result<(PriorConfig, Component), CheckpointError> {
    let config = part.config(PriorConfig::from_shapes)?;
    config.check(part)?;
    let component = Component::bind(
        Role::Denoiser,
        "Wuerstchen prior",
        &config.blueprint(),
        &part.tensors,
        |name| StoredName::whole(name),
        &part.path,
    )?;
    Ok((config, component))
}

/// The prior's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct WuerstchenPrior {
    config: PriorConfig,
    cosine: Cosine,
    sides: Sides,
}

impl WuerstchenPrior {
    /// A prior with this shape.
    pub fn new(config: PriorConfig, cosine: Cosine, sides: Sides) -> Self {
        Self { config, cosine, sides }
    }

    fn group(
        &self,
        w: &Weights,
        group: usize,
        branch: &mut Branch,
        (time, prompt): (&Tensor, &Tensor),
    ) -> Result<()> {
        for (layer, name) in named(group) {
            branch.x = match layer {
                Layer::Residual => layers::residual(w, &name, branch, &[], KERNEL)?,
                Layer::Timestep => layers::modulated(w, &name, &branch.x, time, &[])?,
                Layer::Attention => layers::attend(w, &name, &branch.x, prompt, self.config.nhead, true)?,
            };
        }
        Ok(())
    }
}

/// The noise, from the noisy latents and the network's two values for each.
fn noise(latents: &Tensor, both: &Tensor) -> Result<Tensor> {
    let halves = both.to_dtype(DType::F32)?.chunk(2, 1)?;
    let (mean, share) = (halves[0].contiguous()?, halves[1].contiguous()?);
    let rest = share.affine(-1.0, 1.0)?;
    let distance = (rest.relu()? + rest.neg()?.relu()?)?.affine(1.0, SMALLEST)?;
    (latents.to_dtype(DType::F32)? - mean)? / distance
}

impl Denoiser for WuerstchenPrior {
    fn size_multiple(&self) -> u32 {
        self.sides.size_multiple()
    }

    fn takes_images(&self) -> bool {
        false
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = [canvas.height, canvas.width].map(|side| self.sides.of(side)[0]);
        LatentShape::image(self.config.c_in, height, width)
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
                let h = w.linear("cond_mapper.0", &branch.prompt)?;
                let h = (h.relu()? - (h.neg()?.relu()? * SLOPE)?)?;
                *branch = Conditioning::new(w.linear("cond_mapper.2", &h)?);
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
        let latents = (input.latents * variance_preserving(input.sigma))?;
        let last = FIRST + self.config.depth;
        let mut branches: Vec<Branch> = Vec::new();
        blocks.walk(INPUT..last + 1, |index, w| {
            if index == INPUT {
                let (patches, [height, width]) = layers::patches(&latents.to_dtype(blocks.dtype())?, 1)?;
                let x = w.patches("projection", &patches)?;
                let branch = || Branch { x: x.clone(), height, width, kept: Vec::new() };
                branches.extend(prepared.branches.iter().map(|_| branch()));
                return Ok(());
            }
            w.branches(&mut branches, |w, place, branch| {
                if index < last {
                    self.group(w, index - FIRST, branch, (time, &prepared.branches[place].prompt))?;
                    return Ok(());
                }
                branch.x = w.patches("1", &layer_norm(&branch.x, None, EPS)?)?;
                branch.x = noise(&latents, &layers::latents(branch, 1)?)?;
                Ok(())
            })
        })?;
        Ok(branches.into_iter().map(|branch| branch.x).collect())
    }

    /// The network predicts the noise.
    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }

    fn recorded(&self, outputs: &[Tensor]) -> Result<Vec<(String, Tensor)>> {
        Ok(vec![("unet.0.out.0".to_owned(), negative_first(outputs)?)])
    }
}
