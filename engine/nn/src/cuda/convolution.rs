//! 3×3 convolutions.

use candle_core::{DType, Result, Tensor};

use super::{Argument, Launch, Launches, Source, WARP, name_of, placed, threads};
use crate::computed::Conv2d;

/// Rows and columns of a kernel.
const SIDE: usize = 3;
const PLACES: usize = SIDE * SIDE;

/// Threads of a block and pixels of a tile in `convolution_f32.cu`.
const WIDE_THREADS: usize = 8 * WARP;
const WIDE_TILE: usize = 128;

/// The work of a block of `convolution.cu`, where its kernels are listed.
#[derive(Debug, Clone, Copy)]
struct Shape {
    outputs: usize,
    /// Pixels of a tile.
    tile: usize,
    warps: usize,
    /// Tiles of kernels that are in shared memory, or on their way to it.
    stages: usize,
}

impl Shape {
    const MEDIUM: Self = Self { outputs: 128, tile: 128, warps: 4, stages: 3 };
    const LARGE: Self = Self { outputs: 160, tile: 128, warps: 4, stages: 2 };
    /// Input channels that are in shared memory together.
    const CHANNELS: usize = 32;

    /// The shape for this many outputs.
    fn of(outputs: usize) -> Self {
        let padded = |shape: Self| outputs.next_multiple_of(shape.outputs);
        match outputs {
            ..=16 => Self { outputs: 16, tile: 256, warps: 8, stages: 3 },
            17..=32 => Self { outputs: 32, tile: 256, warps: 8, stages: 3 },
            33..=64 => Self { outputs: 64, tile: 128, warps: 4, stages: 3 },
            _ if padded(Self::LARGE) <= padded(Self::MEDIUM) => Self::LARGE,
            _ => Self::MEDIUM,
        }
    }

    /// Values in shared memory: the tiles of kernels, and twice the pixels of a tile and around it.
    fn shared_values(self) -> usize {
        let around = if self.tile == 128 { 180 } else { 340 };
        (self.stages * self.outputs + 2 * around) * Self::CHANNELS
    }
}

/// How a convolution is cut into the work of blocks.
#[derive(Debug, Clone, Copy)]
struct Cut {
    /// The shape of blocks; in f32 there is one for all.
    shape: Option<Shape>,
    /// Outputs of a block.
    outputs: usize,
    /// Input channels that are in shared memory together.
    channels: usize,
    /// The binary logarithm of the width of a tile of pixels.
    log_width: u32,
    /// Tiles of pixels of an image.
    tiles: usize,
    /// Outputs and input channels of the kernels, padded to whole tiles.
    padded: [usize; 2],
    /// Shares of the input channels, each with blocks of its own.
    shares: usize,
}

impl Cut {
    /// The cut of a convolution from `[batch, inputs, …]` to `outputs` channels of this size. `wide` says whether it is in f32.
    /// It depends on nothing else, so that the same sums are rounded in the same order everywhere.
    fn new(wide: bool, [batch, inputs, outputs]: [usize; 3], [height, width]: [usize; 2]) -> Self {
        /// Blocks that keep most GPUs busy.
        const ENOUGH: usize = 256;
        /// Input channels that are worth a share.
        const OF_SHARE: usize = 64;
        let shape = (!wide).then(|| Shape::of(outputs));
        let (of_block, channels, tile) =
            shape.map_or((64, 4, WIDE_TILE), |shape| (shape.outputs, Shape::CHANNELS, shape.tile));
        let tiles = |log: u32| width.div_ceil(1 << log) * height.div_ceil(tile >> log);
        // The wider ones of two are read in longer rows.
        let [narrow, broad] = if tile == WIDE_TILE { [3, 4] } else { [4, 5] };
        let log_width = if tiles(narrow) < tiles(broad) { narrow } else { broad };
        let tiles = tiles(log_width);
        let blocks = batch * tiles * outputs.div_ceil(of_block);
        Self {
            shape,
            outputs: of_block,
            channels,
            log_width,
            tiles,
            padded: [outputs.next_multiple_of(of_block), inputs.next_multiple_of(channels)],
            shares: (ENOUGH / blocks.max(1)).min(inputs / OF_SHARE).max(1),
        }
    }

    /// Values of the kernels as they are laid out.
    fn kernel_values(self) -> usize {
        PLACES * self.padded[0] * self.padded[1]
    }

    /// Values of the sums of all shares of a result.
    fn sums(self, result: usize) -> usize {
        if self.shares == 1 { 0 } else { self.shares * result }
    }
}

/// Bytes beside input and result that a convolution from `[batch, inputs, …]` to `outputs` channels of this size takes: its
/// kernels laid out anew, and sums. `wide` says whether it is in f32.
pub fn scratch_bytes(wide: bool, channels: [usize; 3], size: [usize; 2]) -> usize {
    let cut = Cut::new(wide, channels, size);
    let [batch, _, outputs] = channels;
    let value_bytes = if wide { size_of::<f32>() } else { size_of::<u16>() };
    value_bytes * cut.kernel_values() + size_of::<f32>() * cut.sums(batch * outputs * size[0] * size[1])
}

/// Whether there is a kernel for convolutions with square kernels of `side` rows, from `[batch, inputs, …]` to `outputs` channels
/// of this size. In f32 there is none for few pixels of many channels: the patches of the input take less than the kernels do,
/// and the tensor library is faster.
pub fn convolves(
    wide: bool,
    [side, stride]: [usize; 2],
    [batch, _, outputs]: [usize; 3],
    [height, width]: [usize; 2],
) -> bool {
    (side, stride) == (SIDE, 1) && (!wide || batch * height * width >= outputs)
}

/// Convolves `x` `[batch, in, height, width]` with `weight` `[out, in, 3, 3]` and adds `bias` `[out]`.
pub fn convolution(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    conv: Conv2d,
) -> Result<Option<Launches>> {
    let (batch, channels, height, width) = x.dims4()?;
    let (outputs, expected, rows, columns) = weight.dims4()?;
    let is_known = (rows, columns, conv.stride, conv.trailing) == (SIDE, SIDE, 1, 0);
    let Some(name) = name_of(x.dtype()).filter(|_| is_known) else { return Ok(None) };
    if weight.dtype() != x.dtype() || bias.is_some_and(|bias| bias.dtype() != x.dtype()) {
        return Ok(None);
    }
    if channels != expected || bias.is_some_and(|bias| bias.dims() != [outputs]) {
        candle_core::bail!(
            "a convolution of {:?} with {:?} and a bias of {:?}",
            x.dims(),
            weight.dims(),
            bias.map(Tensor::dims)
        );
    }
    let zeros = 2 * conv.padding;
    if height + zeros < SIDE || width + zeros < SIDE {
        candle_core::bail!("an input of {height}×{width} is too small for a kernel of 3×3");
    }
    let [out_height, out_width] = [height, width].map(|side| side + zeros + 1 - SIDE);
    let wide = x.dtype() == DType::F32;
    let (sides, size) = ([batch, channels, outputs], [out_height, out_width]);
    if !convolves(wide, [rows, conv.stride], sides, size) {
        return Ok(None);
    }
    let cut = Cut::new(wide, sides, size);
    let [kernel_outputs, stride] = cut.padded;
    let source = if wide { Source::ConvolutionF32 } else { Source::Convolution };
    let bias = bias.map(Tensor::contiguous).transpose()?;
    let shape = vec![batch, outputs, out_height, out_width];
    let values = shape.iter().product();
    let mut results = vec![(shape, x.dtype()), (vec![cut.kernel_values()], x.dtype())];
    let sums = if cut.shares > 1 {
        results.push((vec![cut.sums(values)], DType::F32));
        Argument::Result(2)
    } else {
        Argument::Absent
    };

    let mut arguments = vec![
        Argument::Input(weight.contiguous()?),
        Argument::Result(1),
        Argument::whole(outputs)?,
        Argument::whole(channels)?,
        Argument::whole(kernel_outputs)?,
    ];
    let lay_out = if wide {
        over_values(source, format!("lay_out_kernels_{name}"), [kernel_outputs, stride], arguments)
    } else {
        arguments.push(Argument::whole(stride)?);
        laid_out(source, format!("lay_out_kernels_{name}"), cut.padded, arguments)
    };

    let mut arguments = vec![
        Argument::Input(placed(x)?),
        Argument::Result(1),
        Argument::optional(bias.clone()),
        Argument::Result(0),
        sums.clone(),
    ];
    // Places in a plane are whole numbers, too.
    Argument::whole(height * width)?;
    let sides = [channels, height, width, outputs, out_height, out_width, conv.padding];
    for side in
        sides.into_iter().chain([stride / cut.channels, kernel_outputs, cut.log_width as usize, cut.shares])
    {
        arguments.push(Argument::whole(side)?);
    }
    let (kernel, threads, shared) = match cut.shape {
        None => (format!("convolution_{name}"), WIDE_THREADS, shared_values_of_f32(cut)),
        Some(shape) => (
            format!("convolution_{name}_{}x{}", shape.outputs, shape.tile),
            shape.warps * WARP,
            shape.shared_values(),
        ),
    };
    let convolve = Launch {
        source,
        kernel,
        grid: [cut.tiles, kernel_outputs / cut.outputs, batch * cut.shares],
        block: [threads, 1, 1],
        shared: shared * x.dtype().size_in_bytes(),
        arguments,
    };
    let mut launches = vec![lay_out, convolve];
    if cut.shares > 1 {
        let arguments = vec![
            sums,
            Argument::optional(bias),
            Argument::Result(0),
            Argument::long(values)?,
            Argument::whole(cut.shares)?,
            Argument::whole(outputs)?,
            Argument::long(out_height * out_width)?,
        ];
        launches.push(over_values(source, format!("add_shares_{name}"), [values, 1], arguments));
    }
    Ok(Some(Launches { results, launches }))
}

/// A launch with a thread for each value, and a row of blocks for each row of values.
fn over_values(
    source: Source,
    kernel: String,
    [width, rows]: [usize; 2],
    arguments: Vec<Argument>,
) -> Launch {
    const MOST: usize = 256;
    let threads = threads(width, MOST);
    let (grid, block) = ([width.div_ceil(threads), rows, 1], [threads, 1, 1]);
    Launch { source, kernel, grid, block, shared: 0, arguments }
}

/// A launch that lays kernels out, through shared memory.
fn laid_out(
    source: Source,
    kernel: String,
    [outputs, stride]: [usize; 2],
    arguments: Vec<Argument>,
) -> Launch {
    /// As in `convolution.cu`.
    const CHANNELS: usize = 256;
    const THREADS: usize = 96;
    Launch {
        source,
        kernel,
        grid: [stride.div_ceil(CHANNELS), outputs, 1],
        block: [THREADS, 1, 1],
        shared: CHANNELS * PLACES * size_of::<u16>(),
        arguments,
    }
}

/// Values in shared memory in f32: two stages of kernels and pixels.
fn shared_values_of_f32(cut: Cut) -> usize {
    const STAGES: usize = 2;
    const AROUND: usize = 216;
    STAGES * cut.channels * (PLACES * cut.outputs + AROUND)
}
