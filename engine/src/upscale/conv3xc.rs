//! SPAN's convolution: three convolutions and a shortcut while it is trained, of which one is made.

use crate::{
    checkpoint::BlockSpec,
    nn::{Conv2d, Result, Tensor, conv2d, linear},
    residency::Weights,
};

/// How many times the channels are inside.
const GAIN: usize = 2;
/// Values of a kernel of one channel.
const KERNEL: usize = 9;

/// Adds the tensors of a convolution to a block: the parts that it is made of, or the whole where only that is kept.
pub fn described(spec: BlockSpec, name: &str, outputs: usize, inputs: usize, is_whole: bool) -> BlockSpec {
    if is_whole {
        return spec.conv(&format!("{name}.eval_conv"), outputs, inputs, 3);
    }
    spec.conv(&format!("{name}.sk"), outputs, inputs, 1)
        .conv(&format!("{name}.conv.0"), GAIN * inputs, inputs, 1)
        .conv(&format!("{name}.conv.1"), GAIN * outputs, GAIN * inputs, 3)
        .conv(&format!("{name}.conv.2"), outputs, GAIN * outputs, 1)
}

/// Applies the convolution `name` with a kernel of 3×3 and a padding of 1.
pub fn apply(w: &Weights<'_>, name: &str, x: &Tensor) -> Result<Tensor> {
    let whole = format!("{name}.eval_conv");
    if w.has(&format!("{whole}.weight")) {
        return w.conv2d(&whole, x, Conv2d::SAME_3X3_IN_TILES);
    }
    let (kernel, bias) = joined(w, name)?;
    conv2d(x, &kernel, Some(&bias), Conv2d::SAME_3X3_IN_TILES)
}

/// Kernel and bias of the one convolution that all parts together are. Kept ones may be those of an earlier step of the
/// training, so they are made again.
fn joined(w: &Weights<'_>, name: &str) -> Result<(Tensor, Tensor)> {
    let matrix = |part: &str| {
        let kernel = w.get(&format!("{name}.{part}.weight"))?;
        let (outputs, inputs) = (kernel.dim(0)?, kernel.dim(1)?);
        kernel.reshape((outputs, inputs))
    };
    let bias = |part: &str| w.get(&format!("{name}.{part}.bias"));
    let (first, last, shortcut) = (matrix("conv.0")?, matrix("conv.2")?, matrix("sk")?);
    let middle = w.get(&format!("{name}.conv.1.weight"))?;
    let (inner_outputs, inner_inputs, ..) = middle.dims4()?;
    let (outputs, inputs) = shortcut.dims2()?;
    let middle = middle.reshape((inner_outputs, inner_inputs, KERNEL))?;
    // [inner outputs, values, inner inputs] to [inner outputs, values, inputs].
    let rows = middle.transpose(1, 2)?.reshape((inner_outputs * KERNEL, inner_inputs))?;
    let across = linear(&rows, &first.transpose(0, 1)?.contiguous()?, None)?;
    // [values · inputs, inner outputs] to [values · inputs, outputs].
    let rows = across.reshape((inner_outputs, KERNEL * inputs))?.transpose(0, 1)?.contiguous()?;
    let kernel = linear(&rows, &last, None)?.reshape((KERNEL, inputs, outputs))?.permute([2, 1, 0])?;
    let centre = shortcut.reshape((outputs, inputs, 1))?.pad_with_zeros(2, KERNEL / 2, KERNEL / 2)?;
    let kernel = (kernel.contiguous()? + centre)?.reshape((outputs, inputs, 3, 3))?;
    // What the bias of the first part becomes is the same everywhere: padding comes before it.
    let spread = bias("conv.0")?.reshape((1, inner_inputs, 1))?.broadcast_as((1, inner_inputs, KERNEL))?;
    let spread = spread.reshape((1, inner_inputs * KERNEL))?;
    let through =
        linear(&spread, &middle.reshape((inner_outputs, inner_inputs * KERNEL))?, Some(&bias("conv.1")?))?;
    let bias = (linear(&through, &last, Some(&bias("conv.2")?))?.reshape(outputs)? + bias("sk")?)?;
    Ok((kernel, bias))
}
