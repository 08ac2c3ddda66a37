//! A pass through the blocks of Stable Diffusion 3, all guidance branches together.

use super::{ALONE, ALONE_MODULATION, KERNEL, Sd3Transformer, Streams};
use crate::{
    models::{
        Conditioning, DenoiserInput, Prepared,
        control_nets::{Residuals, Stack, Steered},
        joint::{MLPS, SIDES, fed_forward, head, streams},
        modulated::normed,
        patches::{Channels, unpatchify},
    },
    nn::{D, DType, Result, Tensor, bail, gated_add},
    residency::{Blocks, Weights},
};

/// A pass through the blocks.
pub struct Trunk<'a> {
    network: &'a Sd3Transformer,
    branches: &'a [Conditioning],
    modulation: &'a [Tensor],
    /// For each branch, the streams that go on: the image, and the text if it is still needed.
    streams: Vec<Vec<Tensor>>,
}

impl<'a> Trunk<'a> {
    /// A pass at a noise level.
    pub fn new(network: &'a Sd3Transformer, prepared: &'a Prepared, sigma: f32) -> Result<Self> {
        let modulation = prepared.modulation(sigma)?;
        Ok(Self { network, branches: &prepared.branches, modulation, streams: Vec::new() })
    }

    /// Passes a block, or after the last one the head.
    fn pass(&mut self, w: &Weights, block: usize, residuals: &Residuals<'_>) -> Result<()> {
        let Self { network, modulation, .. } = self;
        let config = &network.config;
        let first = if config.streams == Streams::Image { block } else { 2 * block };
        w.branches(&mut self.streams, |w, number, streams| {
            let own = |side: usize| modulation[first + side].narrow(0, number, 1);
            if block == config.num_layers {
                *streams = vec![head(w, &streams[0], &own(0)?)?];
                return Ok(());
            }
            *streams = match config.streams {
                Streams::Image => vec![network.block_alone(w, &streams[0], &own(0)?)?],
                Streams::Both | Streams::BothToTheEnd => {
                    network.block(w, block, streams, [own(0)?, own(1)?])?
                }
            };
            streams[0] = residuals.added(&streams[0], 0, block, number)?;
            Ok(())
        })
    }
}

impl Stack for Trunk<'_> {
    fn begin(&mut self, image: Tensor) -> Result<()> {
        self.streams = match self.network.config.streams {
            Streams::Image => vec![vec![image]; self.branches.len()],
            Streams::Both | Streams::BothToTheEnd => {
                streams(&image, self.branches)?.into_iter().map(Vec::from).collect()
            }
        };
        Ok(())
    }

    fn block(&mut self, w: &Weights, number: usize, _: &dyn Steered) -> Result<()> {
        self.pass(w, number, &Residuals::default())
    }

    fn tapped(&self, branch: usize) -> Result<Tensor> {
        match self.streams.get(branch).and_then(|streams| streams.first()) {
            Some(image) => Ok(image.clone()),
            None => bail!("there are no tokens of an image yet"),
        }
    }
}

/// A pass of the network for a prediction.
pub struct Pass<'a> {
    trunk: Trunk<'a>,
    input: &'a DenoiserInput<'a>,
    dtype: DType,
}

impl<'a> Pass<'a> {
    pub fn new(
        network: &'a Sd3Transformer,
        blocks: Blocks<'_>,
        input: &'a DenoiserInput<'a>,
        prepared: &'a Prepared,
    ) -> Result<Self> {
        Ok(Self { trunk: Trunk::new(network, prepared, input.sigma)?, input, dtype: blocks.dtype() })
    }

    /// The output of each branch, in the shape of the latents.
    pub fn into_latents(self) -> Result<Vec<Tensor>> {
        let patch = self.trunk.network.config.patch_size;
        let (_, _, height, width) = self.input.latents.dims4()?;
        let grid = [height / patch, width / patch];
        let latents = |x: &Vec<Tensor>| unpatchify(&x[0], grid, patch, Channels::Last);
        self.trunk.streams.iter().map(latents).collect()
    }
}

impl Steered for Pass<'_> {
    fn block(&mut self, w: &Weights, index: usize, residuals: &Residuals<'_>) -> Result<()> {
        let Trunk { network, modulation, .. } = &self.trunk;
        let Some(number) = (index - network.config.embedders()).checked_sub(1) else {
            let tokens = network.embed(w, KERNEL, &self.input.latents.to_dtype(self.dtype)?)?;
            let Some(places) = modulation.last() else { bail!("the places of an image are missing") };
            let image = tokens.broadcast_add(places)?;
            return self.trunk.begin(image);
        };
        self.trunk.pass(w, number, residuals)
    }

    fn embedded(&self, branch: usize) -> Result<Tensor> {
        self.trunk.tapped(branch)
    }
}

impl Sd3Transformer {
    /// The image after a block without text.
    fn block_alone(&self, w: &Weights, x: &Tensor, modulation: &Tensor) -> Result<Tensor> {
        let modulation = modulation.chunk(ALONE_MODULATION, D::Minus1)?;
        let attended = self.config.heads().alone(w, normed(x, &modulation)?, &SIDES[0])?;
        let x = gated_add(x, &modulation[2], &attended)?;
        drop(attended);
        fed_forward(w, MLPS[0], &x, &modulation[3..])
    }

    /// The streams that continue after a block: image and text, or only the image after the last block.
    fn block(
        &self,
        w: &Weights,
        block: usize,
        streams: &[Tensor],
        modulations: [Tensor; 2],
    ) -> Result<Vec<Tensor>> {
        let (heads, outputs) = (self.config.heads(), self.config.outputs(block));
        let modulators = self.config.modulators(block + 1);
        let parts = |side: usize| {
            let parts: usize = modulators[side].iter().map(|(_, parts)| parts).sum();
            modulations[side].chunk(parts, D::Minus1)
        };
        let modulations = [parts(0)?, parts(1)?];
        let both = [&modulations[0][..], &modulations[1][..]];
        let attended = heads.joint(w, [&streams[0], &streams[1]], both, None, outputs)?;
        let mut after = Vec::new();
        for (side, attended) in attended.into_iter().enumerate() {
            let modulation = both[side];
            let mut x = gated_add(&streams[side], &modulation[2], &attended)?;
            drop(attended);
            if side == 0 && self.config.is_dual(block) {
                let own = &modulation[ALONE_MODULATION..];
                let attended = heads.alone(w, normed(&streams[0], own)?, &ALONE)?;
                x = gated_add(&x, &own[2], &attended)?;
            }
            after.push(fed_forward(w, MLPS[side], &x, &modulation[3..])?);
        }
        Ok(after)
    }
}
