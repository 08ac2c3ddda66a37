//! A pass through Qwen-Image's blocks, all guidance branches together.

use super::{MLPS, PATCH, QwenImageTransformer};
use crate::{
    models::{
        Conditioning, DenoiserInput, Prepared,
        control_nets::{Residuals, Stack, Steered},
        joint::{head, streams},
        patches::{Channels, centred_rope, patchify, unpatchify, with_references},
    },
    nn::{DType, Device, Result, Rope, Tensor, bail},
    residency::{Blocks, Weights},
};

/// A pass through the blocks.
pub struct Trunk<'a> {
    network: &'a QwenImageTransformer,
    branches: &'a [Conditioning],
    modulation: &'a [Tensor],
    /// That of references, where they are modulated as images without noise.
    without_noise: Option<&'a [Tensor]>,
    rotations: Vec<Rope>,
    /// Tokens of the latents, before those of references.
    own: usize,
    references: usize,
    both: Vec<[Tensor; 2]>,
}

impl<'a> Trunk<'a> {
    /// A pass at a noise level through latents of this height and width.
    pub fn new(
        network: &'a QwenImageTransformer,
        prepared: &'a Prepared,
        sigma: f32,
        [height, width]: [usize; 2],
        device: &Device,
    ) -> Result<Self> {
        let grid = [height / PATCH, width / PATCH];
        let seen = prepared.references.iter().map(|reference| reference.grid);
        let grids: Vec<[usize; 2]> = std::iter::once(grid).chain(seen).collect();
        let widths = &network.config.axes_dims_rope;
        let rotation = |branch: &Conditioning| centred_rope(branch.prompt.dim(1)?, &grids, widths, device);
        let references = grids.iter().skip(1).map(|[rows, columns]| rows * columns).sum();
        let without_noise = match network.config.zero_cond_t && references > 0 {
            true => Some(prepared.modulation(0.0)?),
            false => None,
        };
        Ok(Self {
            network,
            branches: &prepared.branches,
            modulation: prepared.modulation(sigma)?,
            without_noise,
            rotations: prepared.branches.iter().map(rotation).collect::<Result<_>>()?,
            own: grid[0] * grid[1],
            references,
            both: Vec::new(),
        })
    }

    /// Passes a block, or after the last one the head.
    fn pass(&mut self, w: &Weights, block: usize, residuals: &Residuals<'_>) -> Result<()> {
        let Self { network, modulation, without_noise, rotations, own, references, .. } = self;
        let (config, number) = (&network.config, 2 * block);
        let (modulation, without_noise) = (&modulation[number..], *without_noise);
        w.branches(&mut self.both, |w, branch, [img, txt]| {
            if block == config.num_layers {
                *img = head(w, &img.narrow(1, 0, *own)?, &modulation[0])?;
                return Ok(());
            }
            let of_image = match without_noise {
                Some(clean) => vec![(*own, modulation[0].clone()), (*references, clean[number].clone())],
                None => vec![(img.dim(1)?, modulation[0].clone())],
            };
            let spans = [of_image, vec![(txt.dim(1)?, modulation[1].clone())]];
            let pe = &rotations[branch];
            [*img, *txt] = config.heads().double_block_in(w, [&*img, &*txt], spans, MLPS, pe)?;
            *img = residuals.added(img, 0, block, branch)?;
            Ok(())
        })
    }
}

impl Stack for Trunk<'_> {
    fn begin(&mut self, image: Tensor) -> Result<()> {
        self.both = streams(&image, self.branches)?;
        Ok(())
    }

    fn block(&mut self, w: &Weights, number: usize, _: &dyn Steered) -> Result<()> {
        self.pass(w, number, &Residuals::default())
    }

    fn tapped(&self, branch: usize) -> Result<Tensor> {
        match self.both.get(branch) {
            Some([img, _]) => img.narrow(1, 0, self.own),
            None => bail!("there are no tokens of an image yet"),
        }
    }
}

/// A pass of the network for a prediction.
pub struct Pass<'a> {
    trunk: Trunk<'a>,
    input: &'a DenoiserInput<'a>,
    prepared: &'a Prepared,
    dtype: DType,
}

impl<'a> Pass<'a> {
    pub fn new(
        network: &'a QwenImageTransformer,
        blocks: Blocks<'_>,
        input: &'a DenoiserInput<'a>,
        prepared: &'a Prepared,
    ) -> Result<Self> {
        let (_, _, height, width) = input.latents.dims4()?;
        let trunk = Trunk::new(network, prepared, input.sigma, [height, width], &blocks.device())?;
        Ok(Self { trunk, input, prepared, dtype: blocks.dtype() })
    }

    /// The output of each branch, in the shape of the latents.
    pub fn into_latents(self) -> Result<Vec<Tensor>> {
        let (_, _, height, width) = self.input.latents.dims4()?;
        let grid = [height / PATCH, width / PATCH];
        let latents = |[img, _]: &[Tensor; 2]| unpatchify(img, grid, PATCH, Channels::First);
        self.trunk.both.iter().map(latents).collect()
    }
}

impl Steered for Pass<'_> {
    fn block(&mut self, w: &Weights, index: usize, residuals: &Residuals<'_>) -> Result<()> {
        let Some(number) = (index - self.trunk.network.config.embedders()).checked_sub(1) else {
            let patches = patchify(&self.input.latents.to_dtype(self.dtype)?, PATCH, Channels::First)?;
            let image = w.linear("img_in", &with_references(patches, &self.prepared.references)?)?;
            return self.trunk.begin(image);
        };
        self.trunk.pass(w, number, residuals)
    }

    fn embedded(&self, branch: usize) -> Result<Tensor> {
        self.trunk.tapped(branch)
    }
}
