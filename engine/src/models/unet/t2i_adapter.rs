//! T2I-Adapters (Mou et al. 2023, arXiv:2302.08453): small networks that make features of a map once, which are added on the
//! way down of a UNet in every step.

use super::{Unet, UnetConfig, control_net::kind_of};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    models::{ControlImage, MapForm, Prepared, SteeredBy, Steering},
    nn::{Conv2d, Result, Tensor, add},
    residency::{Blocks, RunError, Weights},
    upscale::unshuffle,
};

/// What diffusers has before all names.
const PREFIX: &str = "adapter.";
/// Before the levels.
const INPUT: &str = "conv_in";
/// The values of a square of pixels that it reads as channels, with the channels of a pixel and the side of the square.
const INPUTS: [(usize, [usize; 2]); 4] = [(64, [1, 8]), (192, [3, 8]), (256, [1, 16]), (768, [3, 16])];
/// The side of the square in those for Stable Diffusion XL, whose first features are half as large as the latents.
const WIDE: usize = 16;
/// The only level at which those halve the size.
const HALVED: usize = 2;

/// The network's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct T2iAdapter {
    /// Channels of a pixel that it reads.
    channels: usize,
    /// Side of the squares of pixels that it reads as channels.
    side: usize,
    levels: Vec<Level>,
}

/// The layers of one size.
#[derive(Debug, Clone)]
struct Level {
    /// Input channels, if a convolution changes their number first.
    inputs: Option<usize>,
    /// Channels inside.
    width: usize,
    /// Output channels, if they are others.
    outputs: Option<usize>,
    /// Number of residual blocks.
    resnets: usize,
    /// Whether the size is halved first.
    halves: bool,
}

impl Level {
    fn features(&self) -> usize {
        self.outputs.unwrap_or(self.width)
    }
}

/// Which models the T2I-Adapter in `tensors` is for, if it is one.
pub fn t2i_adapter_for(tensors: &TensorTable) -> Option<&'static str> {
    T2iAdapter::of(&plain(tensors)).map(|adapter| adapter.models())
}

impl T2iAdapter {
    /// Whether tensors are those of one.
    pub fn is_one(tensors: &TensorTable) -> bool {
        t2i_adapter_for(tensors).is_some()
    }

    /// Which models it is for.
    fn models(&self) -> &'static str {
        if self.side == WIDE { "Stable Diffusion XL" } else { "Stable Diffusion 1" }
    }

    /// The one with these [names](plain).
    fn of(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(&format!("{name}.weight")).map(|tensor| tensor.shape());
        let first = shape(INPUT).or_else(|| shape("body.0.in_conv"))?.get(1)?;
        let [channels, side] = INPUTS.iter().find(|(inputs, _)| inputs == first)?.1;
        let mut levels = Vec::new();
        while let Some(&[width, ..]) = shape(&format!("body.{}.resnets.0.block1", levels.len())) {
            let number = levels.len();
            let name = |layer: &str| format!("body.{number}.{layer}");
            let has = |layer: &usize| shape(&name(&format!("resnets.{layer}.block1"))).is_some();
            levels.push(Level {
                inputs: shape(&name("in_conv")).and_then(|shape| shape.get(1).copied()),
                width,
                outputs: shape(&name("out_conv")).and_then(|shape| shape.first().copied()),
                resnets: (0..).take_while(has).count(),
                halves: if side == WIDE { number == HALVED } else { number > 0 },
            });
        }
        (!levels.is_empty()).then_some(Self { channels, side, levels })
    }

    /// The T2I-Adapter in a part of a checkpoint, for a network.
    ///
    /// # Errors
    /// When it is none that fits the network, or a tensor is missing or has another shape.
    pub fn open(part: &Part, steered: &Unet) -> std::result::Result<(Self, Component), CheckpointError> {
        let refused = |reason: String| CheckpointError::ControlNet { path: part.path.clone(), reason };
        let tensors = plain(&part.tensors);
        let Some(adapter) = Self::of(&tensors) else {
            return Err(refused("it is no T2I-Adapter".to_owned()));
        };
        let own: Vec<usize> = adapter.levels.iter().map(Level::features).collect();
        let wanted = widths(&steered.config);
        let begins_halved =
            steered.config.levels.first().is_some_and(|level| level.down.iter().all(|depth| *depth == 0));
        let side = if begins_halved { 2 * steered.scale } else { steered.scale };
        if adapter.side != side || !wanted.starts_with(&own) {
            let [own, wanted] =
                [adapter.models().to_owned(), kind_of(Some(steered.config.cross_attention_dim))];
            return Err(refused(format!("it is a T2I-Adapter for {own}, and the model is {wanted}")));
        }
        let specs = adapter.blueprint(&tensors);
        let component = Component::bind(
            Role::Denoiser,
            "T2I-Adapter",
            &specs,
            &tensors,
            |name| StoredName::whole(name.to_owned()),
            &part.path,
        )?;
        Ok((adapter, component))
    }

    /// A block for each level.
    fn blueprint(&self, tensors: &TensorTable) -> Vec<BlockSpec> {
        let level = |(number, level): (usize, &Level)| {
            let mut spec = BlockSpec::stem(format!("body.{number}"));
            if number == 0 && tensors.contains_key(&format!("{INPUT}.weight")) {
                spec = spec.conv(INPUT, level.inputs.unwrap_or(level.width), self.inputs(), 3);
            }
            let name = |layer: &str| format!("body.{number}.{layer}");
            if let Some(inputs) = level.inputs {
                spec = spec.conv(&name("in_conv"), level.width, inputs, 1);
            }
            for layer in 0..level.resnets {
                let [first, second] =
                    ["block1", "block2"].map(|conv| name(&format!("resnets.{layer}.{conv}")));
                let side = if level.outputs.is_some() { 3 } else { 1 };
                spec = spec.conv(&first, level.width, level.width, 3).conv(
                    &second,
                    level.width,
                    level.width,
                    side,
                );
            }
            match level.outputs {
                Some(outputs) => spec.conv(&name("out_conv"), outputs, level.width, 1),
                None => spec,
            }
        };
        self.levels.iter().enumerate().map(level).collect()
    }

    /// Values of a square of pixels.
    fn inputs(&self) -> usize {
        self.channels * self.side * self.side
    }

    /// What has to be known to use it.
    pub fn about(&self) -> SteeredBy {
        let reads = if self.channels == 1 { MapForm::GrayPixels } else { MapForm::PixelsWithBlack };
        SteeredBy { reads, ..SteeredBy::default() }
    }

    /// Number of its blocks.
    pub fn blocks(&self) -> usize {
        self.levels.len()
    }

    /// Makes the features of its map, as strong as it counts.
    pub fn prepare(
        &self,
        blocks: Blocks<'_>,
        control: &ControlImage,
    ) -> std::result::Result<Steering, RunError> {
        let mut x = control.image.to_dtype(blocks.dtype())?;
        for axis in [2, 3] {
            x = repeated_to(&x, axis, self.side)?;
        }
        x = unshuffle(&x, self.side)?;
        let mut features = Vec::new();
        blocks.walk(0..self.levels.len(), |number, w| {
            x = self.level(w, number, &x)?;
            let weight = control.weight;
            features.push(if weight == 1.0 { x.clone() } else { (&x * f64::from(weight))? });
            Ok(())
        })?;
        Ok(Steering { features, ..Steering::new(Prepared::default(), control) })
    }

    fn level(&self, w: &Weights, number: usize, x: &Tensor) -> Result<Tensor> {
        let level = &self.levels[number];
        let name = |layer: &str| format!("body.{number}.{layer}");
        let mut x = if level.halves { halved(x)? } else { x.clone() };
        if w.has(&format!("{INPUT}.weight")) {
            x = w.conv2d(INPUT, &x, Conv2d::SAME_3X3)?;
        }
        if level.inputs.is_some() {
            x = w.conv2d(&name("in_conv"), &x, Conv2d::POINTWISE)?;
        }
        for layer in 0..level.resnets {
            let [first, second] = ["block1", "block2"].map(|conv| name(&format!("resnets.{layer}.{conv}")));
            let is_point = level.outputs.is_none();
            let h = w.conv2d(&first, &x, Conv2d::SAME_3X3)?.relu()?;
            let conv = if is_point { Conv2d::POINTWISE } else { Conv2d::SAME_3X3 };
            x = add(&w.conv2d(&second, &h, conv)?, &x)?;
        }
        if level.outputs.is_some() {
            x = w.conv2d(&name("out_conv"), &x, Conv2d::POINTWISE)?;
        }
        Ok(x)
    }
}

/// The widths to which features are added: those of the levels, and that of the middle.
fn widths(config: &UnetConfig) -> Vec<usize> {
    let levels = config.levels.iter().map(|level| level.width);
    levels.chain(config.levels.last().map(|level| level.width)).collect()
}

/// The tensors under the names that diffusers has after its prefix. The authors count the residual blocks of all levels, two
/// each, or call those of a level its body.
fn plain(tensors: &TensorTable) -> TensorTable {
    let renamed = |name: &str| -> String {
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        let parts: Vec<&str> = name.split('.').collect();
        match parts[..] {
            ["body", level, "body", number, conv, kind] => {
                format!("body.{level}.resnets.{number}.{conv}.{kind}")
            }
            ["body", number, conv @ ("block1" | "block2"), kind] => match number.parse::<usize>() {
                Ok(number) => format!("body.{}.resnets.{}.{conv}.{kind}", number / 2, number % 2),
                Err(_) => name.to_owned(),
            },
            _ => name.to_owned(),
        }
    };
    let first = "body.0.block1.weight";
    let counts_all = tensors.contains_key(first) || tensors.contains_key(&format!("{PREFIX}{first}"));
    let in_level = |name: String| -> String {
        let parts: Vec<&str> = name.split('.').collect();
        match parts[..] {
            ["body", number, "in_conv", kind] if counts_all => {
                let level =
                    number.parse::<usize>().map_or_else(|_| number.to_owned(), |own| (own / 2).to_string());
                format!("body.{level}.in_conv.{kind}")
            }
            _ => name,
        }
    };
    tensors.iter().map(|(name, tensor)| (in_level(renamed(name)), tensor.clone())).collect()
}

/// Values whose size along an axis is a multiple of `of`: the last ones are repeated.
fn repeated_to(x: &Tensor, axis: usize, of: usize) -> Result<Tensor> {
    let size = x.dim(axis)?;
    let more = size.next_multiple_of(of) - size;
    if more == 0 {
        return Ok(x.clone());
    }
    let last = x.narrow(axis, size - 1, 1)?.contiguous()?;
    let parts: Vec<Tensor> = std::iter::once(x.clone()).chain(vec![last; more]).collect();
    Tensor::cat(&parts, axis)
}

/// The means of squares of four values; of those that are there, at the edge of an odd size.
fn halved(x: &Tensor) -> Result<Tensor> {
    let x = repeated_to(&repeated_to(x, 2, 2)?, 3, 2)?;
    let (batch, channels, height, width) = x.dims4()?;
    let rows = x.reshape((batch * channels, height / 2, 2, width))?;
    let half = |x: &Tensor, axis: usize, number: usize| x.narrow(axis, number, 1)?.contiguous();
    let sums = add(&half(&rows, 2, 0)?, &half(&rows, 2, 1)?)?;
    let columns = sums.reshape((batch * channels, height / 2, width / 2, 2))?;
    let sums = add(&half(&columns, 3, 0)?, &half(&columns, 3, 1)?)?;
    (sums * 0.25)?.reshape((batch, channels, height / 2, width / 2))
}
