//! Launches kernels on a GPU.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    ops::Deref,
    sync::{Arc, Mutex, PoisonError},
};

use candle_core::{
    CudaDevice, CudaStorage, DType, Result, Storage, Tensor, bail,
    cuda::{
        CudaStorageSlice, WrapErr,
        cudarc::{
            driver::{
                CudaContext, CudaFunction, CudaModule, CudaSlice, CudaView, LaunchConfig, PushKernelArg,
                sys::CUfunction_attribute_enum,
            },
            nvrtc::Ptx,
        },
    },
    op::BackpropOp,
};
use half::{bf16, f16};

use super::{Argument, Launch, Launches, Source};

/// Bytes of shared memory a launch may use without opting in to more.
const SHARED: usize = 48 << 10;

impl Source {
    /// What `build.rs` compiles from it.
    fn code(self) -> &'static [u8] {
        match self {
            Self::Activation => include_bytes!(concat!(env!("OUT_DIR"), "/activation.fatbin")),
            Self::Attention => include_bytes!(concat!(env!("OUT_DIR"), "/attention.fatbin")),
            Self::Convolution => include_bytes!(concat!(env!("OUT_DIR"), "/convolution.fatbin")),
            Self::ConvolutionF32 => include_bytes!(concat!(env!("OUT_DIR"), "/convolution_f32.fatbin")),
            Self::Modulation => include_bytes!(concat!(env!("OUT_DIR"), "/modulation.fatbin")),
            Self::Norm => include_bytes!(concat!(env!("OUT_DIR"), "/norm.fatbin")),
            Self::Rope => include_bytes!(concat!(env!("OUT_DIR"), "/rope.fatbin")),
            Self::Widen => include_bytes!(concat!(env!("OUT_DIR"), "/widen.fatbin")),
        }
    }
}

/// What is loaded in a context, for as long as the process runs. No two sources have a kernel of the same name.
#[derive(Default)]
struct Loaded {
    modules: HashMap<Source, Arc<CudaModule>>,
    functions: HashMap<String, CudaFunction>,
}

/// The function of a launch, loaded when it is first needed.
fn function(context: &Arc<CudaContext>, launch: &Launch) -> Result<CudaFunction> {
    static LOADED: Mutex<BTreeMap<usize, Loaded>> = Mutex::new(BTreeMap::new());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let loaded = loaded.entry(context.cu_ctx() as usize).or_default();
    if let Some(function) = loaded.functions.get(&launch.kernel) {
        return Ok(function.clone());
    }
    let module = match loaded.modules.entry(launch.source) {
        Entry::Occupied(module) => module.into_mut(),
        Entry::Vacant(place) => {
            place.insert(context.load_module(Ptx::from_binary(launch.source.code().to_vec())).w()?)
        }
    };
    let function = module.load_function(&launch.kernel).w()?;
    loaded.functions.insert(launch.kernel.clone(), function.clone());
    Ok(function)
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
    let stream = device.cuda_stream();
    let function = function(stream.context(), launch)?;
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
    let mut builder = stream.launch_builder(&function);
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
    // SAFETY: everything that is read was computed on this stream, or had arrived before. The tests run the same kernels with
    // the same arguments in emulation, which checks their number, their types, and that the kernel accesses nothing out of
    // bounds; results have the lengths that their shapes say.
    unsafe { builder.launch(config) }.w()?;
    Ok(())
}
