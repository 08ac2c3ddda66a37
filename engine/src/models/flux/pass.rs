//! A pass through FLUX.1's blocks, all guidance branches together.

use super::{FluxTransformer, PATCH, SINGLE_MODULATION, THETA};
use crate::{
    models::{
        Conditioning, DenoiserInput, Prepared,
        control_nets::{Residuals, Stack, Steered},
        joint::{MLPS, SIDES, head, streams},
        modulated::{normed, within_range},
        patches::{Channels, angles, patchify, unpatchify, with_references},
    },
    nn::{D, DType, Device, Result, Rope, Tensor, bail, gated_add, gelu_tanh},
    residency::{Blocks, Weights},
};

/// A pass through the double and the single blocks.
pub struct Trunk<'a> {
    network: &'a FluxTransformer,
    branches: &'a [Conditioning],
    modulation: &'a [Tensor],
    rotations: Vec<Rope>,
    /// Tokens of the latents, before those of references.
    own: usize,
    /// For each branch, both streams before the single blocks.
    apart: Vec<[Tensor; 2]>,
    /// The same as one sequence, the text first.
    joint: Vec<Tensor>,
}

impl<'a> Trunk<'a> {
    /// A pass at a noise level through latents of this height and width.
    pub fn new(
        network: &'a FluxTransformer,
        prepared: &'a Prepared,
        sigma: f32,
        [height, width]: [usize; 2],
        device: &Device,
    ) -> Result<Self> {
        let grid = [height / PATCH, width / PATCH];
        let references = prepared.references.iter().map(|reference| reference.grid);
        let grids: Vec<[usize; 2]> = std::iter::once(grid).chain(references).collect();
        let rotation = |branch: &Conditioning| network.pe(branch.prompt.dim(1)?, &grids, device);
        Ok(Self {
            network,
            branches: &prepared.branches,
            modulation: prepared.modulation(sigma)?,
            rotations: prepared.branches.iter().map(rotation).collect::<Result<_>>()?,
            own: grid[0] * grid[1],
            apart: Vec::new(),
            joint: Vec::new(),
        })
    }

    /// Passes a block, or after the last one the head.
    fn pass(&mut self, w: &Weights, number: usize, residuals: &Residuals<'_>) -> Result<()> {
        let config = &self.network.config;
        let (single, last) = (config.num_layers, config.blocks());
        if number == single {
            let joined = self.apart.drain(..).map(|[img, txt]| Tensor::cat(&[txt, img], 1));
            self.joint = joined.collect::<Result<_>>()?;
        }
        let Self { network, branches, modulation, rotations, own, .. } = self;
        // Without a pooled prompt, all branches are modulated alike.
        let modulation = |branch: usize, number: usize| {
            let all = &modulation[number];
            all.narrow(0, branch.min(all.dim(0)? - 1), 1)
        };
        if number < single {
            return w.branches(&mut self.apart, |w, branch, streams| {
                let [img, txt] = &*streams;
                let (pe, first) = (&rotations[branch], 2 * number);
                let modulations = [modulation(branch, first)?, modulation(branch, first + 1)?];
                *streams = config.heads().double_block(w, [img, txt], modulations, MLPS, pe)?;
                streams[0] = residuals.added(&streams[0], 0, number, branch)?;
                Ok(())
            });
        }
        w.branches(&mut self.joint, |w, branch, x| {
            let modulation = modulation(branch, single + number)?;
            let text = branches[branch].prompt.dim(1)?;
            if number == last {
                *x = head(w, &x.narrow(1, text, *own)?, &modulation)?;
                return Ok(());
            }
            *x = network.single_block(w, x, &modulation, &rotations[branch])?;
            *x = residuals.added(x, text, number, branch)?;
            Ok(())
        })
    }
}

impl Stack for Trunk<'_> {
    fn begin(&mut self, image: Tensor) -> Result<()> {
        self.apart = streams(&image, self.branches)?;
        Ok(())
    }

    fn block(&mut self, w: &Weights, number: usize, _: &dyn Steered) -> Result<()> {
        self.pass(w, number, &Residuals::default())
    }

    fn tapped(&self, branch: usize) -> Result<Tensor> {
        match (self.apart.get(branch), self.joint.get(branch)) {
            (Some([img, _]), _) => img.narrow(1, 0, self.own),
            (None, Some(x)) => x.narrow(1, self.branches[branch].prompt.dim(1)?, self.own),
            (None, None) => bail!("there are no tokens of an image yet"),
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
        network: &'a FluxTransformer,
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
        let latents = |x| unpatchify(x, [height / PATCH, width / PATCH], PATCH, Channels::First);
        self.trunk.joint.iter().map(latents).collect()
    }

    fn embed(&self, w: &Weights) -> Result<Tensor> {
        let mut latents = self.input.latents.to_dtype(self.dtype)?;
        if self.trunk.network.config.channels_beside() > 0 {
            let Some(beside) = self.input.beside else { bail!("the masked image and its mask are missing") };
            latents = Tensor::cat(&[&latents, &beside.to_dtype(self.dtype)?], 1)?;
        }
        let patches = patchify(&latents, PATCH, Channels::First)?;
        w.linear("x_embedder", &with_references(patches, &self.prepared.references)?)
    }
}

impl Steered for Pass<'_> {
    fn block(&mut self, w: &Weights, index: usize, residuals: &Residuals<'_>) -> Result<()> {
        match (index - self.trunk.network.embedders).checked_sub(1) {
            Some(number) => self.trunk.pass(w, number, residuals),
            None => {
                let image = self.embed(w)?;
                self.trunk.begin(image)
            }
        }
    }

    fn embedded(&self, branch: usize) -> Result<Tensor> {
        self.trunk.tapped(branch)
    }
}

impl FluxTransformer {
    fn single_block(&self, w: &Weights, x: &Tensor, modulation: &Tensor, pe: &Rope) -> Result<Tensor> {
        let modulation = modulation.chunk(SINGLE_MODULATION, D::Minus1)?;
        let h = normed(x, &modulation[..2])?;
        let mlp = gelu_tanh(&w.linear("proj_mlp", &h)?)?;
        let heads = self.config.heads();
        let attended = heads.attend(heads.qkv(w, h, &SIDES[0])?, Some(pe))?;
        let h = Tensor::cat(&[&attended, &mlp], D::Minus1)?;
        drop((attended, mlp));
        within_range(gated_add(x, &modulation[2], &w.linear("proj_out", &h)?)?)
    }

    /// `pe`: all text tokens are at the origin, image tokens at the number of their image, their row and their column. For
    /// placed text see [`with_text_placed`](Self::with_text_placed).
    fn pe(&self, text: usize, grids: &[[usize; 2]], device: &Device) -> Result<Rope> {
        let (plane, first) = if self.is_text_placed { (1, text) } else { (0, 0) };
        let tokens = grids.iter().enumerate().flat_map(|(image, &[rows, columns])| {
            (0..rows).flat_map(move |row| {
                (0..columns).map(move |column| [plane + image, first + row, first + column])
            })
        });
        let text = (0..text).map(|place| if self.is_text_placed { [0, place, place] } else { [0; 3] });
        let places: Vec<[usize; 3]> = text.chain(tokens).collect();
        let pairs = self.config.attention_head_dim / 2;
        let angles = angles(&places, &self.config.axes_dims_rope, |place, exponent| {
            place as f64 / THETA.powf(exponent)
        });
        Rope::from_exact_angles(&angles, places.len(), pairs, device)
    }
}
