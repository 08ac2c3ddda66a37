//! A pass through Z-Image's blocks, all guidance branches together.

use super::{ZImageTransformer, padded};
use crate::{
    models::{
        Conditioning, DenoiserInput, Prepared,
        control_nets::{Residuals, Steered},
        patches::{Channels, unpatchify},
    },
    nn::{DType, Device, Result, Rope, Tensor, bail},
    residency::{Blocks, Weights},
};

/// For each guidance branch, the rotary embeddings of image tokens, and of those with the caption's after them.
pub fn rotations(
    network: &ZImageTransformer,
    branches: &[Conditioning],
    grid: [usize; 2],
    device: &Device,
) -> Result<Vec<[Rope; 2]>> {
    let rotation = |branch: &Conditioning| {
        let caption = branch.prompt.dim(1)?;
        let image = network.image_rope(caption + 1, grid, device)?;
        let joint = image.concat(&network.caption_rope(caption, device)?)?;
        Ok([image, joint])
    };
    branches.iter().map(rotation).collect()
}

/// Image tokens with those of a caption after them, for a whole batch.
pub fn with_caption(image: &Tensor, branch: &Conditioning) -> Result<Tensor> {
    let (_, tokens, dim) = branch.prompt.dims3()?;
    Tensor::cat(&[image, &branch.prompt.broadcast_as((image.dim(0)?, tokens, dim))?], 1)
}

/// A pass of the network for a prediction.
pub struct Pass<'a> {
    network: &'a ZImageTransformer,
    input: &'a DenoiserInput<'a>,
    prepared: &'a Prepared,
    dtype: DType,
    grid: [usize; 2],
    rotations: Vec<[Rope; 2]>,
    modulation: &'a [Tensor],
    /// The embedded padding, if there is any and a ControlNet may need it.
    padding: Option<Tensor>,
    /// For each branch, the image tokens, and from the first layer on those with the caption's.
    streams: Vec<Tensor>,
}

impl<'a> Pass<'a> {
    pub fn new(
        network: &'a ZImageTransformer,
        blocks: Blocks<'_>,
        input: &'a DenoiserInput<'a>,
        prepared: &'a Prepared,
    ) -> Result<Self> {
        let (_, _, height, width) = input.latents.dims4()?;
        let grid = [height / network.config.patch(), width / network.config.patch()];
        Ok(Self {
            network,
            input,
            prepared,
            dtype: blocks.dtype(),
            grid,
            rotations: rotations(network, &prepared.branches, grid, &blocks.device())?,
            modulation: prepared.modulation(input.sigma)?,
            padding: None,
            streams: Vec::new(),
        })
    }

    /// The output of each branch, in the shape of the latents.
    pub fn into_latents(self) -> Result<Vec<Tensor>> {
        let latents = |x| unpatchify(x, self.grid, self.network.config.patch(), Channels::Last);
        self.streams.iter().map(latents).collect()
    }
}

impl Steered for Pass<'_> {
    fn block(&mut self, w: &Weights, index: usize, residuals: &Residuals<'_>) -> Result<()> {
        let config = &self.network.config;
        let tokens = self.grid[0] * self.grid[1];
        let Some(number) = (index - self.network.modulation_block()).checked_sub(2) else {
            let image = self.network.embed_image(w, &self.input.latents.to_dtype(self.dtype)?)?;
            let missing = padded(tokens) - tokens;
            if missing > 0 && !self.prepared.steering.is_empty() {
                self.padding = Some(image.narrow(1, tokens, missing)?.narrow(0, 0, 1)?.contiguous()?);
            }
            self.streams = vec![image; self.prepared.branches.len()];
            return Ok(());
        };
        let Self { network, prepared, rotations, modulation, .. } = self;
        let (modulation, layer) = (&modulation[number], number.checked_sub(config.n_refiner_layers));
        w.branches(&mut self.streams, |w, branch, x| {
            let [image, joint] = &rotations[branch];
            if layer == Some(0) {
                *x = with_caption(x, &prepared.branches[branch])?;
            }
            match layer {
                None => {
                    *x = network.block(w, x, image, Some(modulation))?;
                    *x = residuals.added(x, 0, number, branch)?;
                }
                Some(layer) if layer == config.n_layers => {
                    *x = network.final_layer(w, &x.narrow(1, 0, tokens)?, modulation)?;
                }
                Some(layer) => {
                    *x = network.block(w, x, joint, Some(modulation))?;
                    *x = residuals.added(x, 0, layer, branch)?;
                }
            }
            Ok(())
        })
    }

    fn embedded(&self, branch: usize) -> Result<Tensor> {
        match self.streams.get(branch) {
            Some(image) => Ok(image.clone()),
            None => bail!("there are no tokens of an image yet"),
        }
    }

    fn padding(&self) -> Option<&Tensor> {
        self.padding.as_ref()
    }
}
