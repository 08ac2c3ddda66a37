//! Unions of ControlNets for UNets (xinsir's ControlNet++): one network that follows several kinds of maps, and several maps
//! at once. It is told the kinds, and what it adds to each map depends on the map as a whole.

use crate::{
    checkpoint::{BlockSpec, StoredName, TensorTable},
    models::FollowedMap,
    nn::{self, DType, Result, Tensor, add, bail, quick_gelu},
    request::ControlMode,
    residency::Weights,
};

/// The table of what stands for each kind of map.
pub const KINDS: &str = "task_embedding";
/// Which kinds are followed, embedded like the sizes of an image.
pub const FOLLOWED: &str = "control_add_embedding";
/// The transformer. Its authors' spelling.
const LAYERS: &str = "transformer_layes";
/// What it gives for a map, to be added to it.
const SHIFT: &str = "spatial_ch_projs";
/// Added to the variance.
const EPS: f64 = 1e-5;
/// The kinds of maps, in the order of the table. The first versions lack the last two.
pub const MODES: [ControlMode; 8] = [
    ControlMode::Pose,
    ControlMode::Depth,
    ControlMode::SoftEdge,
    ControlMode::Canny,
    ControlMode::Normal,
    ControlMode::Segments,
    ControlMode::Tile,
    ControlMode::Inpaint,
];

/// Whether the tensors of a ControlNet are those of a union.
pub fn is_union(tensors: &TensorTable) -> bool {
    tensors.contains_key(KINDS)
}

/// The kinds of maps that the ControlNet in `tensors` has to be told, if it follows several.
pub fn union_modes(tensors: &TensorTable) -> &'static [ControlMode] {
    let rows = tensors.get(KINDS).and_then(|table| table.shape().first().copied()).unwrap_or(0);
    &MODES[..rows.min(MODES.len())]
}

/// What a union has beside the layers of other ControlNets.
#[derive(Debug, Clone)]
pub struct Union {
    /// Rows of the table of kinds.
    kinds: usize,
    width: usize,
    layers: usize,
}

impl Union {
    /// That of a ControlNet with hidden values of this width, if it is one.
    pub fn of(tensors: &TensorTable, width: usize) -> Option<Self> {
        let &[kinds, ..] = tensors.get(KINDS)?.shape() else { return None };
        let has = |layer: &usize| tensors.contains_key(&format!("{LAYERS}.{layer}.ln_1.weight"));
        Some(Self { kinds, width, layers: (0..).take_while(has).count() })
    }

    /// The kinds of maps that it can be told.
    pub fn modes(&self) -> &'static [ControlMode] {
        &MODES[..self.kinds.min(MODES.len())]
    }

    /// The block that embeds maps with what else is needed for that.
    pub fn with_kinds(&self, spec: BlockSpec) -> BlockSpec {
        spec.tensor(KINDS, &[self.kinds, self.width])
    }

    /// The block that embeds timesteps to this width with what embeds the kinds, each to `each` values.
    pub fn with_embedder(&self, spec: BlockSpec, width: usize, each: usize) -> BlockSpec {
        spec.linear(&format!("{FOLLOWED}.linear_1"), width, each * self.kinds).linear(
            &format!("{FOLLOWED}.linear_2"),
            width,
            width,
        )
    }

    /// The first block of a step with the transformer.
    pub fn with_layers(&self, spec: BlockSpec) -> BlockSpec {
        let width = self.width;
        let layer = |spec: BlockSpec, layer: usize| {
            let name = |part: &str| format!("{LAYERS}.{layer}.{part}");
            spec.norm(&name("ln_1"), width)
                .linear(&name("attn.in_proj"), 3 * width, width)
                .linear(&name("attn.out_proj"), width, width)
                .norm(&name("ln_2"), width)
                .linear(&name("mlp.c_fc"), 4 * width, width)
                .linear(&name("mlp.c_proj"), width, 4 * width)
        };
        (0..self.layers).fold(spec, layer).linear(SHIFT, width, width)
    }

    /// The name of a tensor in files, as PyTorch's attention calls it.
    pub fn stored(name: &str) -> Option<StoredName> {
        name.starts_with(LAYERS).then(|| StoredName::whole(name.replace(".in_proj.", ".in_proj_")))
    }

    /// The number of a kind of map.
    pub fn number(&self, mode: Option<ControlMode>) -> Result<usize> {
        match self.modes().iter().position(|known| Some(*known) == mode) {
            Some(number) => Ok(number),
            None => bail!("a ControlNet was not told the kind of its map"),
        }
    }

    /// For each kind, 1 if it is one of these and 0 if not.
    pub fn followed(&self, numbers: &[usize]) -> Vec<f32> {
        (0..self.kinds).map(|kind| if numbers.contains(&kind) { 1.0 } else { 0.0 }).collect()
    }

    /// What the transformer reads of an embedded map `[1, channels, height, width]`.
    pub fn token(&self, w: &Weights, embedded: &Tensor, number: usize) -> Result<Tensor> {
        mean(embedded)?.broadcast_add(&w.get(KINDS)?.get(number)?)
    }

    /// Hidden values of latents `[batch, channels, height, width]` with the maps, as they count at a noise level.
    pub fn fused(&self, w: &Weights, x: Tensor, maps: &[FollowedMap], sigma: f32) -> Result<Tensor> {
        let batch = x.dim(0)?;
        // What a single map taps is weighed later; several are weighed here.
        let weighed = |tensor: &Tensor, map: &FollowedMap| -> Result<Tensor> {
            let weight = map.weight_at(sigma);
            if maps.len() == 1 || weight == 1.0 { Ok(tensor.clone()) } else { tensor * f64::from(weight) }
        };
        let mut tokens = Vec::new();
        for map in maps {
            tokens.push(weighed(&map.token, map)?.broadcast_as((batch, 1, self.width))?.contiguous()?);
        }
        tokens.push(mean(&x)?);
        let mut h = Tensor::cat(&tokens, 1)?;
        for layer in 0..self.layers {
            h = self.layer(w, &format!("{LAYERS}.{layer}"), h)?;
        }
        let shifts = w.linear(SHIFT, &h.narrow(1, 0, maps.len())?.contiguous()?)?;
        let mut sum: Option<Tensor> = None;
        for (place, map) in maps.iter().enumerate() {
            let shift = shifts.narrow(1, place, 1)?.contiguous()?;
            let shift = weighed(&shift, map)?.reshape((batch, self.width, 1, 1))?;
            let shifted = weighed(&map.embedded, map)?.broadcast_add(&shift)?;
            sum = Some(match sum {
                Some(sum) => add(&sum, &shifted)?,
                None => shifted,
            });
        }
        match sum {
            Some(sum) => add(&x, &sum),
            None => Ok(x),
        }
    }

    /// The reference, in training as well, hands the tokens to PyTorch's attention where that expects the batch. So a token
    /// attends to the same token of the other images, which are the same in a run of one image, and gets its own value.
    fn layer(&self, w: &Weights, name: &str, x: Tensor) -> Result<Tensor> {
        let h = w.layer_norm(&format!("{name}.ln_1"), &x, EPS)?;
        let all = w.linear(&format!("{name}.attn.in_proj"), &h)?;
        let value = all.narrow(2, 2 * self.width, self.width)?.contiguous()?;
        let x = add(&x, &w.linear(&format!("{name}.attn.out_proj"), &value)?)?;
        let h = w.layer_norm(&format!("{name}.ln_2"), &x, EPS)?;
        let h = quick_gelu(&w.linear(&format!("{name}.mlp.c_fc"), &h)?)?;
        add(&x, &w.linear(&format!("{name}.mlp.c_proj"), &h)?)
    }
}

/// The mean of each channel, `[batch, 1, channels]`, summed in f32: half precision ends at 65504.
fn mean(x: &Tensor) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    let pixels = x.to_dtype(DType::F32)?.reshape((batch, channels, height * width))?;
    let ones = Tensor::ones((1, height * width), DType::F32, &x.device())?;
    let mean = (nn::linear(&pixels, &ones, None)? / (height * width) as f64)?;
    mean.reshape((batch, 1, channels))?.to_dtype(x.dtype())
}
