//! Memory for the weights of one block: flat, so that it can be filled again without a new allocation.

use candle_core::{CpuStorage, DType, Device, InplaceOp1, Layout, Result, Shape, Tensor, bail};
use half::{bf16, f16};

use crate::checkpoint::{Block, CheckpointError, Values};

/// The dtypes that weights are held in.
const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

/// Values of each of [`DTYPES`].
pub type Sizes = [usize; DTYPES.len()];

/// Where the tensors of a block are in a buffer.
#[derive(Debug, Clone)]
pub struct BlockLayout {
    /// In the order of the block's tensors.
    pub tensors: Vec<TensorPlace>,
    /// Values of each dtype.
    pub sizes: Sizes,
}

/// Where one tensor is in a buffer.
#[derive(Debug, Clone)]
pub struct TensorPlace {
    /// Its name inside the block.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Which of the buffer's parts it is in.
    part: usize,
    /// Number of its first value there.
    offset: usize,
}

impl TensorPlace {
    /// The dtype that it is held in.
    pub fn dtype(&self) -> DType {
        DTYPES[self.part]
    }

    /// Number of values.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// The same tensor at the start of a buffer of its own.
    pub fn alone(&self) -> Self {
        Self { offset: 0, ..self.clone() }
    }

    /// A run of its values, at most `length` from number `first` on.
    pub fn piece(&self, first: usize, length: usize) -> Self {
        let shape = vec![length.min(self.elements() - first)];
        Self { shape, offset: self.offset + first, ..self.clone() }
    }

    /// Values of each dtype that a buffer for it alone has.
    pub fn sizes(&self) -> Sizes {
        let mut sizes = [0; DTYPES.len()];
        sizes[self.part] = self.elements();
        sizes
    }

    /// Bytes as it is held.
    pub fn bytes(&self) -> u64 {
        (self.elements() * self.dtype().size_in_bytes()) as u64
    }
}

impl BlockLayout {
    /// The layout of a block for a computation in `compute`.
    ///
    /// Matrices are held as they are stored where widening them changes no value: they are widened when they are
    /// multiplied. All else is held in the dtype of the computation.
    pub fn new(block: &Block, compute: DType) -> Self {
        let mut sizes = [0; DTYPES.len()];
        let tensors = block.tensors.iter().map(|(name, stored)| {
            let exact = stored.float_dtype().filter(|&dtype| {
                stored.shape().len() == 2
                    && compute == DType::F32
                    && matches!(dtype, DType::F16 | DType::BF16)
            });
            let dtype = exact.unwrap_or(compute);
            let part = DTYPES.iter().position(|&known| known == dtype).unwrap_or(0);
            let place =
                TensorPlace { name: name.clone(), shape: stored.shape().to_vec(), part, offset: sizes[part] };
            sizes[part] += place.elements();
            place
        });
        let tensors = tensors.collect();
        Self { tensors, sizes }
    }

    /// Bytes of all tensors.
    pub fn bytes(&self) -> u64 {
        bytes(&self.sizes)
    }

    /// Bytes of the largest tensor together with its bias.
    pub fn largest_leaf(&self) -> u64 {
        let with_bias = |place: &TensorPlace| {
            let bias = place.name.strip_suffix(".weight").map(|name| format!("{name}.bias"));
            let bias = bias.and_then(|bias| self.tensors.iter().find(|place| place.name == bias));
            place.bytes() + bias.map_or(0, TensorPlace::bytes)
        };
        self.tensors.iter().map(with_bias).max().unwrap_or(0)
    }
}

/// Bytes of values of each dtype.
pub fn bytes(sizes: &Sizes) -> u64 {
    sizes.iter().zip(DTYPES).map(|(&count, dtype)| (count * dtype.size_in_bytes()) as u64).sum()
}

/// For each dtype the most values that any of the blocks has.
pub fn largest<'a>(layouts: impl IntoIterator<Item = &'a BlockLayout>) -> Sizes {
    let mut sizes = [0; DTYPES.len()];
    for layout in layouts {
        for (size, other) in sizes.iter_mut().zip(layout.sizes) {
            *size = other.max(*size);
        }
    }
    sizes
}

/// Room for the weights of a block, one flat tensor for each dtype.
#[derive(Debug, Clone)]
pub struct Buffer {
    parts: [Option<Tensor>; DTYPES.len()],
}

impl Buffer {
    /// Takes memory on `device`.
    pub fn new(sizes: &Sizes, device: &Device) -> Result<Self> {
        let mut parts = [const { None }; DTYPES.len()];
        for ((part, &size), dtype) in parts.iter_mut().zip(sizes).zip(DTYPES) {
            if size > 0 {
                *part = Some(Tensor::zeros(size, dtype, device)?);
            }
        }
        Ok(Self { parts })
    }

    /// One tensor of a block whose weights are in this buffer; a view, not a copy.
    pub fn tensor(&self, place: &TensorPlace) -> Result<Tensor> {
        let Some(part) = &self.parts[place.part] else { bail!("a buffer without room for {}", place.name) };
        part.narrow(0, place.offset, place.elements())?.reshape(place.shape.as_slice())
    }

    /// The part of the buffer that holds one tensor, as a buffer of that tensor alone.
    pub fn view(&self, place: &TensorPlace) -> Result<Self> {
        let mut parts = [const { None }; DTYPES.len()];
        if let Some(part) = &self.parts[place.part] {
            parts[place.part] = Some(part.narrow(0, place.offset, place.elements())?);
        }
        Ok(Self { parts })
    }

    /// Reads a block from its files. `between` is asked before each tensor whether to go on.
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

    /// Gives the values of one tensor to `write`.
    pub fn fill(&self, place: &TensorPlace, write: impl FnOnce(Values<'_>)) -> Result<()> {
        let Some(part) = &self.parts[place.part] else { bail!("a buffer without room for {}", place.name) };
        part.inplace_op1(&Write::new(place.offset, place.elements(), write))
    }

    /// Copies the first values of each dtype from another buffer, in pieces of at most `piece` bytes; `after` is
    /// told the bytes of each piece and whether to go on is its answer.
    pub fn copy_from(
        &self,
        other: &Self,
        sizes: &Sizes,
        piece: usize,
        mut after: impl FnMut(usize) -> bool,
    ) -> Result<bool> {
        for ((to, from), (&size, dtype)) in self.parts.iter().zip(&other.parts).zip(sizes.iter().zip(DTYPES))
        {
            let (Some(to), Some(from)) = (to, from) else { continue };
            let (held, layout) = from.storage_and_layout();
            let first = layout.start_offset();
            let candle_core::Storage::Cpu(source) = &*held else { bail!("a copy from a card") };
            let step = (piece / dtype.size_in_bytes()).max(1);
            for start in (0..size).step_by(step) {
                let count = step.min(size - start);
                to.inplace_op1(&Write::new(start, count, |values| copy(source, first + start, values)))?;
                if !after(count * dtype.size_in_bytes()) {
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
            _ => bail!("weights are floats of 16 or 32 bits"),
        };
        let write = self.write.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(write) = write {
            write(values);
        }
        Ok(())
    }
}

/// The values of `tensor` as they are held at `place`.
pub fn held_values(tensor: &Tensor, place: &TensorPlace) -> Result<Tensor> {
    if tensor.shape() != &Shape::from(place.shape.as_slice()) {
        bail!("{} has the shape {:?}, not {:?}", place.name, place.shape, tensor.dims());
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
        };
    })?;
    outcome
}
