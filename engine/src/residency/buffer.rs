//! Memory for the weights of one block: flat, so that it can be refilled without a new allocation.

use std::{collections::BTreeMap, fmt::Debug, sync::Arc};

use candle_core::{CpuStorage, DType, Device, InplaceOp1, Layout, Result, Shape, Tensor, bail};
use half::{bf16, f16};

use super::moment::Moment;
use crate::{
    checkpoint::{Block, CheckpointError, StoredTensor, Values},
    memory::BytesByDtype,
    nn::computed::Weight,
    precision::{Encoding, Format},
};

/// The dtypes that weights are held in. U8 is for weights held as they are stored.
const DTYPES: [DType; 4] = [DType::F32, DType::F16, DType::BF16, DType::U8];

/// Number of values of each of [`DTYPES`].
pub type Sizes = [usize; DTYPES.len()];

/// Where the tensors of a block lie in a buffer.
#[derive(Debug, Clone)]
pub struct BlockLayout {
    /// In the order of the block's tensors.
    pub tensors: Vec<TensorPlace>,
    /// Number of values of each dtype.
    pub sizes: Sizes,
}

/// Where one tensor lies in a buffer.
#[derive(Debug, Clone)]
pub struct TensorPlace {
    /// Its name within the block.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Index of the buffer's part that holds it.
    part: usize,
    /// Index of its first value in that part.
    offset: usize,
    /// The encoding, if it is held as it is stored.
    packed: Option<Encoding>,
}

impl TensorPlace {
    /// The dtype it is held in.
    pub fn dtype(&self) -> DType {
        DTYPES[self.part]
    }

    /// The encoding, if it is held as it is stored.
    pub fn encoding(&self) -> Option<Encoding> {
        self.packed
    }

    /// Number of weights.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Number of values in its part of the buffer; of bytes if it is held as it is stored.
    pub fn values(&self) -> usize {
        self.packed.map_or(self.elements(), |encoding| encoding.bytes(self.elements()))
    }

    /// The same tensor at the start of a buffer of its own.
    pub fn alone(&self) -> Self {
        Self { offset: 0, ..self.clone() }
    }

    /// A slice of at most `length` values from index `first` on; of bytes if it is held as it is stored.
    pub fn piece(&self, first: usize, length: usize) -> Self {
        let shape = vec![length.min(self.values() - first)];
        Self { shape, offset: self.offset + first, packed: None, ..self.clone() }
    }

    /// The sizes of a buffer for this tensor alone.
    pub fn sizes(&self) -> Sizes {
        let mut sizes = [0; DTYPES.len()];
        sizes[self.part] = self.values();
        sizes
    }

    /// Its size in bytes, as it is held.
    pub fn bytes(&self) -> u64 {
        (self.values() * self.dtype().size_in_bytes()) as u64
    }
}

impl BlockLayout {
    /// The layout of a block for a computation in `compute`.
    ///
    /// Matrices and the kernels of convolutions are held as they are stored if widening loses nothing; they are
    /// widened when they are used. Everything else is held in the dtype of the computation. Weights stored in less than 16
    /// bits per value are held as they are stored in every computation.
    pub fn new(block: &Block, compute: DType) -> Self {
        let mut sizes = [0; DTYPES.len()];
        let tensors = block.tensors.iter().map(|(name, stored)| {
            let (dtype, packed) = held_as(stored, compute);
            let part = DTYPES.iter().position(|&known| known == dtype).unwrap_or(0);
            let (name, shape) = (name.clone(), stored.shape().to_vec());
            let place = TensorPlace { name, shape, part, offset: sizes[part], packed };
            sizes[part] += place.values();
            place
        });
        let tensors = tensors.collect();
        Self { tensors, sizes }
    }

    /// Bytes of all tensors.
    pub fn bytes(&self) -> u64 {
        bytes(&self.sizes)
    }

    /// Bytes of the tensors of each dtype.
    pub fn bytes_by_dtype(&self) -> BytesByDtype {
        std::array::from_fn(|part| (self.sizes[part] * DTYPES[part].size_in_bytes()) as u64)
    }

    /// Whether any tensor is held in 16-bit floats.
    pub fn has_halves(&self) -> bool {
        self.sizes
            .iter()
            .zip(DTYPES)
            .any(|(&values, dtype)| values > 0 && matches!(dtype, DType::F16 | DType::BF16))
    }

    /// Bytes of the largest layer. The tensors of a layer differ only in the last part of their names.
    pub fn largest_leaf(&self) -> u64 {
        let mut layers: BTreeMap<&str, u64> = BTreeMap::new();
        for place in &self.tensors {
            *layers.entry(layer_of(&place.name)).or_default() += place.bytes();
        }
        layers.into_values().max().unwrap_or(0)
    }
}

/// The layer that a tensor belongs to.
pub fn layer_of(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(layer, _)| layer)
}

/// How a tensor is held for a computation in `compute`: its dtype, and its encoding if it is held as it is
/// stored.
fn held_as(stored: &StoredTensor, compute: DType) -> (DType, Option<Encoding>) {
    let Some(encoding) = stored.encoding() else { return (compute, None) };
    let shape = stored.shape();
    let is_widened_in_use = matches!(shape.len(), 2 | 4);
    match (encoding.format, shape) {
        (Format::F16, _) if compute == DType::F32 && is_widened_in_use => (DType::F16, None),
        (Format::Bf16, _) if compute == DType::F32 && is_widened_in_use => (DType::BF16, None),
        (format, [_, row @ ..]) if !format.is_wide() && is_widened_in_use => {
            let fits = row.iter().product::<usize>().is_multiple_of(encoding.unit());
            if fits { (DType::U8, Some(encoding)) } else { (compute, None) }
        }
        _ => (compute, None),
    }
}

/// Total bytes of these sizes.
pub fn bytes(sizes: &Sizes) -> u64 {
    sizes.iter().zip(DTYPES).map(|(&count, dtype)| (count * dtype.size_in_bytes()) as u64).sum()
}

/// The maximum size of each dtype over all blocks.
pub fn largest<'a>(layouts: impl IntoIterator<Item = &'a BlockLayout>) -> Sizes {
    let mut sizes = [0; DTYPES.len()];
    for layout in layouts {
        for (size, other) in sizes.iter_mut().zip(layout.sizes) {
            *size = other.max(*size);
        }
    }
    sizes
}

/// Keeps host memory pinned.
pub type Pins = Vec<Arc<dyn Debug + Send + Sync>>;

/// Memory for the weights of a block, one flat tensor per dtype.
#[derive(Debug, Clone)]
pub struct Buffer {
    parts: [Option<Tensor>; DTYPES.len()],
    pins: Pins,
    read_until: Option<Arc<Moment>>,
}

impl Buffer {
    /// Allocates memory on `device`.
    pub fn new(sizes: &Sizes, device: &Device) -> Result<Self> {
        Self::of(sizes, |size, dtype| Tensor::zeros(size, dtype, device))
    }

    /// The same with the flat tensors that `allocate` makes for a number of values.
    pub fn of(sizes: &Sizes, allocate: impl Fn(usize, DType) -> Result<Tensor>) -> Result<Self> {
        let mut parts = [const { None }; DTYPES.len()];
        for ((part, &size), dtype) in parts.iter_mut().zip(sizes).zip(DTYPES) {
            if size > 0 {
                *part = Some(allocate(size, dtype)?);
            }
        }
        Ok(Self { parts, pins: Pins::new(), read_until: None })
    }

    /// The same memory, pinned by `pins`.
    #[cfg(feature = "cuda")]
    pub fn with_pins(self, pins: Pins) -> Self {
        Self { pins, ..self }
    }

    /// Says when the device has used this memory for the last time, so that new values can be copied to it. `None` is when
    /// it has done all that is queued.
    pub fn set_read_until(&mut self, moment: Option<Arc<Moment>>) {
        self.read_until = moment;
    }

    /// What [`set_read_until`](Self::set_read_until) said.
    #[cfg(any(feature = "cuda", feature = "metal"))]
    pub fn read_until(&self) -> Option<&Moment> {
        self.read_until.as_deref()
    }

    /// Whether the memory is pinned, so that a GPU can read it directly.
    #[cfg(feature = "cuda")]
    pub fn is_pinned(&self) -> bool {
        !self.pins.is_empty()
    }

    /// The flat tensors it consists of.
    #[cfg(feature = "cuda")]
    pub fn parts(&self) -> impl Iterator<Item = &Tensor> {
        self.parts.iter().flatten()
    }

    /// For each dtype that both buffers have: the tensor here, the one in `other`, and the number of values
    /// in `sizes`.
    pub fn pairs<'a>(
        &'a self,
        other: &'a Self,
        sizes: &'a Sizes,
    ) -> impl Iterator<Item = (&'a Tensor, &'a Tensor, usize)> {
        let parts = self.parts.iter().zip(&other.parts).zip(sizes);
        parts.filter_map(|((to, from), &size)| Some((to.as_ref()?, from.as_ref()?, size)))
    }

    /// One weight of a block in this buffer; a view, not a copy.
    pub fn weight(&self, place: &TensorPlace) -> Result<Weight> {
        let Some(part) = &self.parts[place.part] else { bail!("the buffer has no room for {}", place.name) };
        let values = part.narrow(0, place.offset, place.values())?;
        Ok(match place.packed {
            None => Weight::Floats(values.reshape(place.shape.as_slice())?),
            Some(encoding) => Weight::Packed { bytes: values, encoding, shape: place.shape.clone() },
        })
    }

    /// The part of the buffer that holds one tensor, as a buffer of that tensor alone.
    pub fn view(&self, place: &TensorPlace) -> Result<Self> {
        let mut parts = [const { None }; DTYPES.len()];
        if let Some(part) = &self.parts[place.part] {
            parts[place.part] = Some(part.narrow(0, place.offset, place.values())?);
        }
        Ok(Self { parts, pins: self.pins.clone(), read_until: self.read_until.clone() })
    }

    /// Reads a block from its files. Calls `between` before each tensor and stops if it returns `false`.
    pub fn read(
        &self,
        block: &Block,
        layout: &BlockLayout,
        mut between: impl FnMut() -> bool,
    ) -> std::result::Result<bool, CheckpointError> {
        for ((_, stored), place) in block.tensors.iter().zip(&layout.tensors) {
            if !between() {
                return Ok(false);
            }
            let mut outcome = Ok(());
            self.fill(place, |values| outcome = stored.read_into(values)).map_err(|error| {
                CheckpointError::Header { path: stored.path().to_owned(), reason: error.to_string() }
            })?;
            outcome?;
        }
        Ok(true)
    }

    /// Passes the values of one tensor to `write`.
    pub fn fill(&self, place: &TensorPlace, write: impl FnOnce(Values<'_>)) -> Result<()> {
        let Some(part) = &self.parts[place.part] else { bail!("the buffer has no room for {}", place.name) };
        part.inplace_op1(&Write::new(place.offset, place.values(), write))
    }

    /// Copies the first values of each dtype from another buffer, in pieces of at most `piece` bytes. Calls
    /// `after` with the bytes of each piece and stops if it returns `false`.
    pub fn copy_from(
        &self,
        other: &Self,
        sizes: &Sizes,
        piece: usize,
        mut after: impl FnMut(usize) -> bool,
    ) -> Result<bool> {
        for (to, from, size) in self.pairs(other, sizes) {
            let bytes = from.dtype().size_in_bytes();
            let (held, layout) = from.storage_and_layout();
            let first = layout.start_offset();
            let candle_core::Storage::Cpu(source) = &*held else { bail!("cannot copy from a GPU") };
            let step = (piece / bytes).max(1);
            for start in (0..size).step_by(step) {
                let count = step.min(size - start);
                to.inplace_op1(&Write::new(start, count, |values| copy(source, first + start, values)))?;
                if !after(count * bytes) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

fn copy(source: &CpuStorage, start: usize, values: Values<'_>) {
    match (source, values) {
        (CpuStorage::F32(from), Values::F32(to)) => to.copy_from_slice(&from[start..start + to.len()]),
        (CpuStorage::F16(from), Values::F16(to)) => to.copy_from_slice(&from[start..start + to.len()]),
        (CpuStorage::BF16(from), Values::Bf16(to)) => to.copy_from_slice(&from[start..start + to.len()]),
        (CpuStorage::U8(from), Values::Stored(to)) => to.copy_from_slice(&from[start..start + to.len()]),
        _ => {}
    }
}

/// Writes values of a flat tensor in place.
struct Write<F> {
    start: usize,
    count: usize,
    write: std::sync::Mutex<Option<F>>,
}

impl<F: FnOnce(Values<'_>)> Write<F> {
    fn new(start: usize, count: usize, write: F) -> Self {
        Self { start, count, write: std::sync::Mutex::new(Some(write)) }
    }

    /// Has them written. Tensor operations are called once.
    fn give(&self, values: Values<'_>) {
        let write = self.write.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(write) = write {
            write(values);
        }
    }
}

impl<F: FnOnce(Values<'_>)> InplaceOp1 for Write<F> {
    fn name(&self) -> &'static str {
        "write weights"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let first = layout.start_offset() + self.start;
        let range = first..first + self.count;
        let values = match storage {
            CpuStorage::F32(values) => Values::F32(&mut values[range]),
            CpuStorage::F16(values) => Values::F16(&mut values[range]),
            CpuStorage::BF16(values) => Values::Bf16(&mut values[range]),
            CpuStorage::U8(values) => Values::Stored(&mut values[range]),
            _ => bail!("weights must be 16-bit or 32-bit floats, or bytes"),
        };
        self.give(values);
        Ok(())
    }

    #[cfg(feature = "metal")]
    fn metal_fwd(&self, storage: &mut candle_core::MetalStorage, layout: &Layout) -> Result<()> {
        let first = layout.start_offset() + self.start;
        self.give(super::metal::values(storage, first..first + self.count)?);
        Ok(())
    }
}

/// Converts `tensor` to the dtype and order of `place`.
pub fn held_values(tensor: &Tensor, place: &TensorPlace) -> Result<Tensor> {
    if tensor.shape() != &Shape::from(place.shape.as_slice()) {
        bail!("{} has the shape {:?}, not {:?}", place.name, place.shape, tensor.dims());
    }
    if let Some(encoding) = place.packed {
        bail!("{} is held as {} and cannot be replaced", place.name, encoding.format.name());
    }
    tensor.to_dtype(place.dtype())?.contiguous()
}

/// Writes `tensor` to its place in `buffer`.
pub fn replace(buffer: &Buffer, place: &TensorPlace, tensor: &Tensor) -> Result<()> {
    let tensor = held_values(tensor, place)?.flatten_all()?;
    let mut outcome = Ok(());
    buffer.fill(place, |values| {
        outcome = match values {
            Values::F32(out) => tensor.to_vec1::<f32>().map(|from| out.copy_from_slice(&from)),
            Values::F16(out) => tensor.to_vec1::<f16>().map(|from| out.copy_from_slice(&from)),
            Values::Bf16(out) => tensor.to_vec1::<bf16>().map(|from| out.copy_from_slice(&from)),
            Values::Stored(out) => tensor.to_vec1::<u8>().map(|from| out.copy_from_slice(&from)),
        };
    })?;
    outcome
}
