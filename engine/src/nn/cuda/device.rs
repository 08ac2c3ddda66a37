//! Launches kernels on a GPU.

use std::ops::Deref;

use candle_core::{
    CudaDevice, CudaStorage, DType, Result, Storage, Tensor, bail,
    cuda::{
        CudaStorageSlice, WrapErr,
        cudarc::driver::{CudaSlice, CudaView, LaunchConfig, PushKernelArg, sys::CUfunction_attribute_enum},
    },
    op::BackpropOp,
};
use half::{bf16, f16};

use super::{Argument, Launch, Launches, Source};

/// Bytes of shared memory a launch may use without opting in to more.
const SHARED: usize = 48 << 10;

impl Source {
    fn name(self) -> &'static str {
        match self {
            Self::Activation => "sluice_activation",
            Self::Attention => "sluice_attention",
            Self::Convolution => "sluice_convolution",
            Self::ConvolutionF32 => "sluice_convolution_f32",
            Self::Modulation => "sluice_modulation",
            Self::Norm => "sluice_norm",
            Self::Rope => "sluice_rope",
            Self::Widen => "sluice_widen",
        }
    }

    /// The PTX that `engine/build.rs` compiles from it.
    fn ptx(self) -> &'static str {
        match self {
            Self::Activation => include_str!(concat!(env!("OUT_DIR"), "/activation.ptx")),
            Self::Attention => include_str!(concat!(env!("OUT_DIR"), "/attention.ptx")),
            Self::Convolution => include_str!(concat!(env!("OUT_DIR"), "/convolution.ptx")),
            Self::ConvolutionF32 => include_str!(concat!(env!("OUT_DIR"), "/convolution_f32.ptx")),
            Self::Modulation => include_str!(concat!(env!("OUT_DIR"), "/modulation.ptx")),
            Self::Norm => include_str!(concat!(env!("OUT_DIR"), "/norm.ptx")),
            Self::Rope => include_str!(concat!(env!("OUT_DIR"), "/rope.ptx")),
            Self::Widen => include_str!(concat!(env!("OUT_DIR"), "/widen.ptx")),
        }
    }
}

/// The compute capability the kernels are compiled for, times ten.
const CAPABILITY: &str = env!("SLUICE_KERNELS_CAPABILITY");

/// Whether the GPU is new enough for the kernels.
pub(super) fn serves(device: &CudaDevice) -> bool {
    match (device.cuda_stream().context().compute_capability(), CAPABILITY.parse()) {
        (Ok((major, minor)), Ok(least)) => 10 * major + minor >= least,
        _ => false,
    }
}

/// The memory of a result.
enum Memory {
    F32(CudaSlice<f32>),
    F16(CudaSlice<f16>),
    Bf16(CudaSlice<bf16>),
}

impl Memory {
    fn new(device: &CudaDevice, values: usize, dtype: DType) -> Result<Self> {
        // SAFETY: any bit pattern is a valid float, and nothing reads the memory before the launches have
        // written all of it.
        unsafe {
            Ok(match dtype {
                DType::F32 => Self::F32(device.alloc(values)?),
                DType::F16 => Self::F16(device.alloc(values)?),
                DType::BF16 => Self::Bf16(device.alloc(values)?),
                other => bail!("no kernel writes {other:?}"),
            })
        }
    }

    fn into_storage(self, device: &CudaDevice) -> CudaStorage {
        match self {
            Self::F32(slice) => CudaStorage::wrap_cuda_slice(slice, device.clone()),
            Self::F16(slice) => CudaStorage::wrap_cuda_slice(slice, device.clone()),
            Self::Bf16(slice) => CudaStorage::wrap_cuda_slice(slice, device.clone()),
        }
    }
}

/// The values of an input.
enum View<'a> {
    U8(CudaView<'a, u8>),
    F32(CudaView<'a, f32>),
    F16(CudaView<'a, f16>),
    Bf16(CudaView<'a, bf16>),
}

impl<'a> View<'a> {
    fn new(storage: &'a impl Deref<Target = Storage>, first: usize) -> Result<Self> {
        let Storage::Cuda(storage) = &**storage else { bail!("an input of a kernel is not on the GPU") };
        Ok(match &storage.slice {
            CudaStorageSlice::U8(slice) => Self::U8(slice.slice(first..)),
            CudaStorageSlice::F32(slice) => Self::F32(slice.slice(first..)),
            CudaStorageSlice::F16(slice) => Self::F16(slice.slice(first..)),
            CudaStorageSlice::BF16(slice) => Self::Bf16(slice.slice(first..)),
            _ => bail!("no kernel reads a tensor of this dtype"),
        })
    }
}

/// Enqueues the work and returns the first of its results. The values are ready once the device's stream
/// reaches them.
pub(super) fn run(device: &CudaDevice, work: &Launches) -> Result<Tensor> {
    let memory = |(shape, dtype): &(Vec<usize>, DType)| Memory::new(device, shape.iter().product(), *dtype);
    let mut results = work.results.iter().map(memory).collect::<Result<Vec<_>>>()?;
    for launch in &work.launches {
        submit(device, launch, &mut results)?;
    }
    let (Some(memory), Some((shape, _))) = (results.into_iter().next(), work.results.first()) else {
        bail!("the launches have no result");
    };
    let storage = Storage::Cuda(memory.into_storage(device));
    Ok(Tensor::from_storage(storage, shape.as_slice(), BackpropOp::none(), false))
}

fn submit(device: &CudaDevice, launch: &Launch, results: &mut [Memory]) -> Result<()> {
    let function =
        device.get_or_load_custom_func(&launch.kernel, launch.source.name(), launch.source.ptx())?;
    let narrow = |side: usize| u32::try_from(side).map_err(candle_core::Error::wrap);
    let shared = narrow(launch.shared)?;
    if launch.shared > SHARED {
        let attribute = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function.set_attribute(attribute, shared.cast_signed()).w()?;
    }
    let [grid_x, grid_y, grid_z] = launch.checked_grid()?;
    let [x, y, z] = launch.block;
    let config = LaunchConfig {
        grid_dim: (grid_x, grid_y, grid_z),
        block_dim: (narrow(x)?, narrow(y)?, narrow(z)?),
        shared_mem_bytes: shared,
    };

    let inputs = launch.arguments.iter().filter_map(|argument| match argument {
        Argument::Input(tensor) => Some(tensor.storage_and_layout()),
        _ => None,
    });
    let held: Vec<_> = inputs.collect();
    let views = held.iter().map(|(storage, layout)| View::new(storage, layout.start_offset()));
    let views = views.collect::<Result<Vec<_>>>()?;
    let mut views = views.iter();
    let mut written: Vec<Option<&mut Memory>> = results.iter_mut().map(Some).collect();
    let mut builder = function.builder();
    for argument in &launch.arguments {
        match argument {
            Argument::Input(_) => match views.next() {
                Some(View::U8(view)) => builder.arg(view),
                Some(View::F32(view)) => builder.arg(view),
                Some(View::F16(view)) => builder.arg(view),
                Some(View::Bf16(view)) => builder.arg(view),
                None => bail!("{} lacks an input", launch.kernel),
            },
            Argument::Result(index) => match written.get_mut(*index).and_then(Option::take) {
                Some(Memory::F32(slice)) => builder.arg(slice),
                Some(Memory::F16(slice)) => builder.arg(slice),
                Some(Memory::Bf16(slice)) => builder.arg(slice),
                None => bail!("{} has no result {index}", launch.kernel),
            },
            // A null pointer.
            Argument::Absent => builder.arg(&0u64),
            Argument::Whole(value) => builder.arg(value),
            Argument::Long(value) => builder.arg(value),
            Argument::Number(value) => builder.arg(value),
        };
    }
    // SAFETY: the tests run the same kernels with the same arguments in emulation, which checks their number,
    // their types, and that the kernel accesses nothing out of bounds; results have the lengths that their
    // shapes say.
    unsafe { builder.launch(config) }.w()?;
    Ok(())
}
