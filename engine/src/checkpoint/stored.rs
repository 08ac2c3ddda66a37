//! A tensor in a file: its weights stay on disk until somebody asks.

use std::{collections::BTreeMap, fmt, ops::Range, path::Path, sync::Arc};

use candle_core::{Device, Tensor};
use half::{bf16, f16};
use zerocopy::IntoBytes;

use super::{CheckpointError, file::WeightFile};
use crate::precision::{Encoding, Format, Packed, apply_scales};

/// Where a tensor is on disk, and how it is stored.
#[derive(Debug, Clone)]
pub struct StoredTensor {
    file: Arc<WeightFile>,
    /// What cannot be computed with has a name only.
    encoding: Result<Encoding, String>,
    shape: Vec<usize>,
    /// Of its values.
    range: Range<u64>,
    scales: Option<Scales>,
    change: Option<Arc<dyn Change>>,
}

/// What is done to a tensor's values whenever they are read.
pub trait Change: fmt::Debug + Send + Sync {
    /// Changes all values of a tensor of this shape.
    ///
    /// # Errors
    /// When what the change is made of cannot be read.
    fn apply(&self, shape: &[usize], values: &mut [f32]) -> Result<(), CheckpointError>;

    /// Equal for changes that do the same.
    fn identity(&self) -> String;
}

/// The scales of a tensor, which are a tensor themselves.
#[derive(Debug, Clone)]
struct Scales {
    table: Arc<StoredTensor>,
    /// Number of the first that belongs to this tensor.
    first: usize,
}

/// Tensors by the names they are stored under.
pub type TensorTable = BTreeMap<String, StoredTensor>;

/// Values that are converted at a time: whole blocks of every format.
const PIECE: usize = 1 << 18;

impl StoredTensor {
    /// A tensor at a place of a file; the name of its dtype where that cannot be computed with.
    pub(super) fn new(
        file: &Arc<WeightFile>,
        encoding: Result<Encoding, String>,
        shape: Vec<usize>,
        range: Range<u64>,
    ) -> Self {
        Self { file: Arc::clone(file), encoding, shape, range, scales: None, change: None }
    }

    /// The same tensor with values that are changed whenever they are read. It is held in the dtype of the
    /// computation, whatever it is stored as, and cannot be cut into parts.
    pub fn changed(self, change: Arc<dyn Change>) -> Self {
        Self { change: Some(change), ..self }
    }

    /// Whether its values are changed when they are read.
    pub fn is_changed(&self) -> bool {
        self.change.is_some()
    }

    /// Equal for tensors that hold the same: place, shape and change. A file that was written anew is another.
    pub fn identity(&self) -> String {
        let Self { file, range, shape, change, .. } = self;
        let change = change.as_ref().map(|change| change.identity()).unwrap_or_default();
        format!("{} {range:?} {shape:?} {change}", file.identity())
    }

    /// The file it is in.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Its shape as stored.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Its dtype in the spelling of the format, such as `BF16` or `Q4_K`.
    pub fn dtype_name(&self) -> String {
        match &self.encoding {
            Ok(encoding) => encoding.format.name().to_owned(),
            Err(name) => name.clone(),
        }
    }

    /// How it is stored, if it can be computed with. Changed values are no longer what is stored, but f32.
    pub fn encoding(&self) -> Option<Encoding> {
        let stored = self.encoding.as_ref().ok().copied();
        if self.is_changed() { stored.map(|_| Format::F32.into()) } else { stored }
    }

    /// Number of weights.
    pub fn elements(&self) -> u64 {
        self.count() as u64
    }

    fn count(&self) -> usize {
        values_of(&self.shape)
    }

    /// Bytes on disk, with its scales.
    pub fn stored_bytes(&self) -> u64 {
        let scales = self.encoding.as_ref().map_or(0, |encoding| encoding.scales(self.count()));
        self.range.end - self.range.start + (scales * size_of::<f32>()) as u64
    }

    /// Gives the codes scales that stand in a tensor of their own, one for each `group` values.
    pub(super) fn join_scales(&mut self, format: Format, group: usize, scales: Self) {
        let encoding = Encoding::scaled(format, group);
        let fits = encoding.scales(self.count()) as u64 == scales.elements()
            && format.bytes(self.count()) as u64 == self.range.end - self.range.start
            && scales.encoding().is_some_and(|encoding| encoding.format.is_wide());
        if fits && group > 0 {
            self.encoding = Ok(encoding);
            self.scales = Some(Scales { table: Arc::new(scales), first: 0 });
        } else {
            self.encoding = Err(format!("{} with {} scales", self.dtype_name(), scales.elements()));
        }
    }

    pub(super) fn set_shape(&mut self, shape: Vec<usize>) {
        // A shape with more values than there are bytes would not survive `join_scales`.
        if shape.iter().try_fold(1usize, |product, &side| product.checked_mul(side)).is_some() {
            self.shape = shape;
        }
    }

    /// Some of `of` equal parts along the first dimension: the layout of joined projections. All of it if it cannot
    /// be cut so.
    pub fn parts(&self, parts: Range<usize>, of: usize) -> Self {
        let Some(rows) = self.shape.first().copied().filter(|rows| of > 0 && rows.is_multiple_of(of)) else {
            return self.clone();
        };
        let mut shape = self.shape.clone();
        shape[0] = rows / of * parts.len();
        let count = values_of(&shape);
        let first = self.count() / of * parts.start;
        let mut part = Self { shape, ..self.clone() };
        if part.change.take().is_some() {
            part.encoding = Err(format!("{}, changed as a whole", self.dtype_name()));
        }
        let Ok(encoding) = part.encoding else { return part };
        let start = self.range.start + encoding.format.bytes(first) as u64;
        part.range = start..start + encoding.format.bytes(count) as u64;
        let (block, _) = encoding.format.block();
        let mut whole = first.is_multiple_of(block) && part.range.end <= self.range.end;
        if let (Some(group), Some(scales)) = (encoding.group, &mut part.scales) {
            let group = group.get();
            scales.first += first / group;
            if !first.is_multiple_of(group) {
                // A part that is inside of one group has one scale.
                whole &= first / group == (first + count).saturating_sub(1) / group;
                part.encoding = Ok(Encoding::scaled(encoding.format, count));
            }
        }
        if !whole {
            part.encoding = Err(format!("{} in blocks that reach over parts of it", self.dtype_name()));
        }
        part
    }

    /// The same weights under another shape of as many elements.
    pub fn with_shape(mut self, shape: &[usize]) -> Self {
        self.shape = shape.to_vec();
        self
    }

    /// Reads the weights into `out`, which has one value for each of them, and converts them to its dtype; or reads
    /// the bytes as they are stored.
    ///
    /// # Errors
    /// When the file has become unreadable or shorter since it was opened.
    pub fn read_into(&self, out: Values<'_>) -> Result<(), CheckpointError> {
        self.read_from(0, out)
    }

    /// Reads as many weights as `out` has room for, from number `first` on, which has to be the first of a block; or as
    /// many bytes, from byte `first` on.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn read_from(&self, first: usize, out: Values<'_>) -> Result<(), CheckpointError> {
        let encoding = self.known()?;
        if self.is_changed() {
            let mut out = out;
            let values = self.values()?;
            out.store(0, &values[first..first + out.len()]);
            return Ok(());
        }
        let place = self.range.start + encoding.format.bytes(first) as u64;
        match (encoding.format, out) {
            (_, Values::Stored(out)) => self.read_stored(encoding, first, out),
            (Format::F32, Values::F32(out)) => self.file.read_at(out.as_mut_bytes(), place),
            (Format::F16, Values::F16(out)) => self.file.read_at(out.as_mut_bytes(), place),
            (Format::Bf16, Values::Bf16(out)) => self.file.read_at(out.as_mut_bytes(), place),
            (_, mut out) => self.widened_from(first..first + out.len(), |start, values| {
                out.store(start - first, values);
                Ok(())
            }),
        }
    }

    /// All values, with the change that is done to them.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn values(&self) -> Result<Vec<f32>, CheckpointError> {
        let mut values = vec![0.0; self.count()];
        self.widened_from::<CheckpointError>(0..values.len(), |start, piece| {
            values[start..start + piece.len()].copy_from_slice(piece);
            Ok(())
        })?;
        if let Some(change) = &self.change {
            change.apply(&self.shape, &mut values)?;
        }
        Ok(values)
    }

    /// Bytes of the values, then of the scales.
    fn read_stored(&self, encoding: Encoding, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
        let all = encoding.format.bytes(self.count());
        let (values, scales) = out.split_at_mut(all.saturating_sub(first).min(out.len()));
        self.file.read_at(values, self.range.start + first.min(all) as u64)?;
        if !scales.is_empty() {
            let bytes = self.read_scales()?.into_iter().flat_map(f32::to_le_bytes);
            let skipped = first.saturating_sub(all);
            scales.iter_mut().zip(bytes.skip(skipped)).for_each(|(out, byte)| *out = byte);
        }
        Ok(())
    }

    /// Gives the weights to `take` in f32, a piece at a time, each with the number of its first value. A piece has
    /// whole blocks of every format, unless it is the last.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into), or what `take` says.
    pub fn widened<E: From<CheckpointError>>(
        &self,
        take: impl FnMut(usize, &[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.widened_from(0..self.count(), take)
    }

    fn widened_from<E: From<CheckpointError>>(
        &self,
        range: Range<usize>,
        mut take: impl FnMut(usize, &[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let encoding = self.known()?;
        let scales: Vec<u8> = self.read_scales()?.into_iter().flat_map(f32::to_le_bytes).collect();
        let most = PIECE.min(range.len());
        let mut stored = vec![0; encoding.format.bytes(most)];
        let mut values = vec![0.0; most];
        for start in range.clone().step_by(PIECE) {
            let length = PIECE.min(range.end - start);
            let stored = &mut stored[..encoding.format.bytes(length)];
            self.file.read_at(stored, self.range.start + encoding.format.bytes(start) as u64)?;
            let values = &mut values[..length];
            if let Some(packed) = Packed::new(encoding.format.into(), length, stored) {
                packed.widen(0, values);
            }
            if let Some(group) = encoding.group {
                apply_scales(group.get(), &scales, start, values);
            }
            take(start, values)?;
        }
        Ok(())
    }

    fn known(&self) -> Result<Encoding, CheckpointError> {
        self.encoding.clone().map_err(|found| CheckpointError::Dtype {
            path: self.path().to_owned(),
            name: "(unnamed)".to_owned(),
            found,
        })
    }

    fn read_scales(&self) -> Result<Vec<f32>, CheckpointError> {
        let (Some(scales), Ok(encoding)) = (&self.scales, &self.encoding) else { return Ok(Vec::new()) };
        let wanted = scales.first..scales.first + encoding.scales(self.count());
        let mut read = Vec::with_capacity(wanted.len());
        scales.table.widened::<CheckpointError>(|start, values| {
            let wanted = wanted.start.max(start)..wanted.end.min(start + values.len());
            if !wanted.is_empty() {
                read.extend(&values[wanted.start - start..wanted.end - start]);
            }
            Ok(())
        })?;
        Ok(read)
    }

    /// The bytes of its values.
    pub(super) fn read_raw(&self) -> Result<Vec<u8>, CheckpointError> {
        let mut bytes = vec![0; (self.range.end - self.range.start) as usize];
        self.file.read_at(&mut bytes, self.range.start)?;
        Ok(bytes)
    }

    /// Reads the weights into a tensor of their own.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn load(&self, device: &Device) -> Result<Tensor, CheckpointError> {
        let values = self.values()?;
        Tensor::from_vec(values, self.shape.as_slice(), device).map_err(|error| CheckpointError::Header {
            path: self.path().to_owned(),
            reason: error.to_string(),
        })
    }

    /// One row of a table; nothing else of it is read.
    ///
    /// # Errors
    /// When there is no such row.
    pub fn row(&self, index: usize) -> Result<Self, CheckpointError> {
        let rows = self.shape.first().copied().unwrap_or(0);
        if index >= rows {
            return Err(CheckpointError::Header {
                path: self.path().to_owned(),
                reason: format!("row {index} of {rows} was asked for"),
            });
        }
        let mut row = self.parts(index..index + 1, rows);
        row.shape = self.shape[1..].to_vec();
        Ok(row)
    }
}

/// Number of values of a shape. Shapes of what cannot be read may be anything.
fn values_of(shape: &[usize]) -> usize {
    shape.iter().fold(1, |all, &side| all.saturating_mul(side))
}

/// Room for weights: in one of the dtypes that they are computed in, or as they are stored.
#[derive(Debug)]
pub enum Values<'a> {
    /// 32 bits.
    F32(&'a mut [f32]),
    /// 16 bits.
    F16(&'a mut [f16]),
    /// 16 bits with the range of f32.
    Bf16(&'a mut [bf16]),
    /// The bytes of the values, then the scales in f32: what [`Packed`] reads.
    Stored(&'a mut [u8]),
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F32(out) => out.len(),
            Self::F16(out) => out.len(),
            Self::Bf16(out) => out.len(),
            Self::Stored(out) => out.len(),
        }
    }

    /// Converts values to the dtype, from place `start` on. Bytes stay as they are.
    fn store(&mut self, start: usize, values: &[f32]) {
        match self {
            Self::F32(out) => out[start..start + values.len()].copy_from_slice(values),
            Self::F16(out) => {
                out[start..].iter_mut().zip(values).for_each(|(out, value)| *out = f16::from_f32(*value));
            }
            Self::Bf16(out) => {
                out[start..].iter_mut().zip(values).for_each(|(out, value)| *out = bf16::from_f32(*value));
            }
            Self::Stored(_) => {}
        }
    }
}
