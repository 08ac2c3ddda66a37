//! CUDA kernels that replace plain compositions of tensor library functions, and their launch parameters.
//!
//! The sources are in `engine/nn/kernels`. Functions describe their [`Launches`] as data, so that tests can run
//! the same launches in emulation on the CPU. [`switch`] and `SLUICE_CUDA_KERNELS=0` turn them off.

mod attention;
mod convolution;
#[cfg(feature = "cuda")]
mod device;
#[cfg(feature = "cuda")]
pub mod graph;
mod norms;
mod pointwise;
mod widening;

use std::{
    env,
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use candle_core::{DType, Result, Tensor, bail};

use super::back_end;
use crate::Attention;
pub use attention::{WIDTHS, attention, attention_with_bias};
pub use convolution::{convolution, convolves, scratch_bytes};
pub use norms::{RowNorm, group_norm, norm_rows};
pub use pointwise::{Curve, Rotation, add_to_channels, add_vector, gated, gated_add, modulate, rope};
pub use widening::widen;

/// Bytes a kernel reads at once.
const ACCESS: usize = 16;
/// Threads that execute in lockstep.
const WARP: usize = 32;

static ENABLED: LazyLock<AtomicBool> =
    LazyLock::new(|| AtomicBool::new(env::var_os("SLUICE_CUDA_KERNELS").is_none_or(|value| value != "0")));

/// Whether the kernels are used where there is a GPU.
pub fn enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Whether the kernels run on a device.
#[cfg(feature = "cuda")]
pub fn serves(device: &candle_core::Device) -> bool {
    enabled() && matches!(device, candle_core::Device::Cuda(device) if device::serves(device))
}

/// Turns the kernels on or off.
pub fn switch(on: bool) {
    ENABLED.store(on, Ordering::Relaxed);
}

/// A source file of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Gated activations.
    Activation,
    /// Attention.
    Attention,
    /// Convolutions on tensor cores.
    Convolution,
    /// Convolutions in f32.
    ConvolutionF32,
    /// Scales, shifts and gates.
    Modulation,
    /// Norms.
    Norm,
    /// Rotary position embedding.
    Rope,
    /// Packed weights.
    Widen,
}

/// An argument of a kernel.
#[derive(Debug, Clone)]
pub enum Argument {
    /// Pointer to the first value of a tensor.
    Input(Tensor),
    /// Pointer to the result with this index.
    Result(usize),
    /// A null pointer.
    Absent,
    /// An `int`.
    Whole(i32),
    /// A `long long`.
    Long(i64),
    /// A `float`.
    Number(f32),
}

impl Argument {
    fn whole(value: usize) -> Result<Self> {
        match i32::try_from(value) {
            Ok(value) => Ok(Self::Whole(value)),
            Err(_) => bail!("{value} is too large for a kernel"),
        }
    }

    fn long(value: usize) -> Result<Self> {
        match i64::try_from(value) {
            Ok(value) => Ok(Self::Long(value)),
            Err(_) => bail!("{value} is too large for a kernel"),
        }
    }

    fn optional(tensor: Option<Tensor>) -> Self {
        tensor.map_or(Self::Absent, Self::Input)
    }
}

/// One launch of a kernel.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The source file of the kernel.
    pub source: Source,
    /// Name of the kernel.
    pub kernel: String,
    /// Blocks in each dimension.
    pub grid: [usize; 3],
    /// Threads per block in each dimension.
    pub block: [usize; 3],
    /// Bytes of dynamic shared memory per block.
    pub shared: usize,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
}

impl Launch {
    /// The grid dimensions, if within the limits of GPUs.
    pub fn checked_grid(&self) -> Result<[u32; 3]> {
        let [x, y, z] = self.grid.map(u32::try_from);
        match (x, y, z) {
            (Ok(x @ ..=0x7fff_ffff), Ok(y @ ..=0xffff), Ok(z @ ..=0xffff)) => Ok([x, y, z]),
            _ => bail!("{:?} blocks of {} exceed what a GPU allows", self.grid, self.kernel),
        }
    }
}

/// Launches in order, and what they write. The first result is the result of the work.
#[derive(Debug, Clone)]
pub struct Launches {
    /// Shapes and dtypes of the tensors to allocate.
    pub results: Vec<(Vec<usize>, DType)>,
    /// The launches that fill them.
    pub launches: Vec<Launch>,
}

/// Runs the kernels if they are on, `x` is on a GPU and there is a kernel for it; otherwise `plain`.
pub(super) fn or_plain(
    x: &Tensor,
    work: impl FnOnce() -> Result<Option<Launches>>,
    plain: impl FnOnce() -> Result<Tensor>,
) -> Result<Tensor> {
    or_plain_if(enabled(), x, work, plain)
}

/// The same for attention, whose kernel is chosen for each run.
pub(super) fn attend_or_plain(
    x: &Tensor,
    work: impl FnOnce() -> Result<Option<Launches>>,
    plain: impl FnOnce() -> Result<Tensor>,
) -> Result<Tensor> {
    or_plain_if(enabled() && back_end::attention() == Attention::Tiled, x, work, plain)
}

fn or_plain_if(
    on: bool,
    x: &Tensor,
    work: impl FnOnce() -> Result<Option<Launches>>,
    plain: impl FnOnce() -> Result<Tensor>,
) -> Result<Tensor> {
    #[cfg(feature = "cuda")]
    if let candle_core::Device::Cuda(device) = x.device()
        && x.elem_count() > 0
        && on
        && device::serves(device)
        && let Some(work) = work()?
    {
        return device::run(device, &work);
    }
    // Without the feature there are no CUDA tensors.
    #[cfg(not(feature = "cuda"))]
    let _ = (on, x, work);
    plain()
}

/// The dtype's name in kernel names; `None` if there are no kernels for it.
fn name_of(dtype: DType) -> Option<&'static str> {
    match dtype {
        DType::F32 => Some("f32"),
        DType::F16 => Some("f16"),
        DType::BF16 => Some("bf16"),
        _ => None,
    }
}

/// `x` made contiguous and aligned for vectorized reads.
fn placed(x: &Tensor) -> Result<Tensor> {
    let x = x.contiguous()?;
    let first = x.storage_and_layout().1.start_offset() * x.dtype().size_in_bytes();
    if first.is_multiple_of(ACCESS) { Ok(x) } else { x.force_contiguous() }
}

/// Values of a dtype that a kernel reads at once.
fn together(dtype: DType) -> usize {
    ACCESS / dtype.size_in_bytes()
}

/// Threads for this many work items: whole warps, at most `most`.
fn threads(pieces: usize, most: usize) -> usize {
    pieces.next_multiple_of(WARP).clamp(WARP, most)
}

/// Blocks across a row of `width` values, and threads per block, with one vectorized read per thread.
fn across(width: usize, dtype: DType) -> (usize, usize) {
    const MOST: usize = 256;
    let piece = if width.is_multiple_of(together(dtype)) { together(dtype) } else { 1 };
    let pieces = width / piece;
    let threads = threads(pieces, MOST);
    (pieces.div_ceil(threads), threads)
}
