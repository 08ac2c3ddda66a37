//! A tensor in a file: its weights stay on disk until they are read.

mod encoded;
mod repacked;
mod scales;
mod values;
mod woven;

use std::{
    collections::BTreeMap,
    fmt,
    num::NonZeroUsize,
    ops::Range,
    path::Path,
    sync::{Arc, OnceLock},
};

use candle_core::{Device, Tensor};
use zerocopy::IntoBytes;

use super::{CheckpointError, FilePart, weight_file::WeightFile};
use crate::precision::{Encoding, Format, Packed, finish};
pub use encoded::EncodedPiece;
use encoded::Target;
pub(super) use repacked::Repack;
use repacked::Repacked;
pub(super) use scales::{BlockedForm, NestedScales};
use scales::{BlockedScales, ScaleCodes, Scales};
pub use values::Values;

/// Location and encoding of a tensor on disk.
#[derive(Debug, Clone)]
pub struct StoredTensor {
    file: Arc<WeightFile>,
    /// The encoding, or the name of an unsupported one.
    encoding: Result<Encoding, String>,
    shape: Vec<usize>,
    /// Bytes of its values.
    range: Range<u64>,
    /// Bytes of the whole tensor in the file, of which this may be a part.
    whole: Range<u64>,
    scales: Option<Scales>,
    /// How it is read if its order or its parts in the file are not those of the encoding.
    repacked: Option<Box<Repacked>>,
    /// Whether the file stores it with two dimensions.
    matrix: bool,
    /// The encoding it is converted to, if any.
    target: Option<Target>,
    /// Changes applied to its values on each read, in order. A changed tensor has no target.
    changes: Vec<Arc<dyn Change>>,
}

/// A change applied to a tensor's values on each read.
pub trait Change: fmt::Debug + Send + Sync {
    /// Changes all values of a tensor of this shape.
    ///
    /// # Errors
    /// Fails if the data of the change cannot be read.
    fn apply(&self, shape: &[usize], values: &mut [f32]) -> Result<(), CheckpointError>;

    /// Equal for changes with the same effect.
    fn identity(&self) -> String;
}

/// Tensors by stored name.
pub type TensorTable = BTreeMap<String, StoredTensor>;

/// Values converted at a time: whole blocks of every format.
const PIECE: usize = 1 << 18;

impl StoredTensor {
    /// A tensor at an offset in a file; `encoding` is the dtype's name if it is not supported.
    pub(super) fn new(
        file: &Arc<WeightFile>,
        encoding: Result<Encoding, String>,
        shape: Vec<usize>,
        range: Range<u64>,
    ) -> Self {
        let (file, whole, matrix) = (Arc::clone(file), range.clone(), shape.len() == 2);
        let changes = Vec::new();
        Self {
            file,
            encoding,
            shape,
            range,
            whole,
            scales: None,
            repacked: None,
            matrix,
            target: None,
            changes,
        }
    }

    /// The same tensor with one more change, applied on each read after the existing ones. It is held in the
    /// dtype of the computation, regardless of its stored or target encoding, and cannot be split into parts.
    pub fn changed(mut self, change: Arc<dyn Change>) -> Self {
        self.changes.push(change);
        Self { target: None, ..self }
    }

    /// Whether its values are changed when they are read.
    pub fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Equal for tensors with the same content: location, shape, encoding and changes. A rewritten file
    /// counts as different.
    pub fn identity(&self) -> String {
        let Self { file, range, shape, changes, .. } = self;
        let repacked = self.repacked.as_ref().map_or_else(String::new, |repacked| repacked.identity());
        let changes: Vec<String> = changes.iter().map(|change| change.identity()).collect();
        let encoding = self.encoding();
        format!("{} {range:?} {shape:?} {encoding:?} {repacked}{}", file.identity(), changes.join("; "))
    }

    /// Whether it has a shape and no values, in a [hollow checkpoint](super::Checkpoint::hollow).
    pub fn is_hollow(&self) -> bool {
        self.file.is_hollow()
    }

    /// The file it is in.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Its values in the file, without scales that lie elsewhere.
    pub fn in_file(&self) -> FilePart {
        FilePart { file: Arc::clone(&self.file), bytes: self.range.clone() }
    }

    /// Its shape as stored.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Its dtype in the spelling of the format, such as `BF16` or `Q4_K`.
    pub fn dtype_name(&self) -> String {
        if let Some(repacked) = &self.repacked {
            return repacked.name().to_owned();
        }
        match &self.encoding {
            Ok(encoding) => encoding.format.name().to_owned(),
            Err(name) => name.clone(),
        }
    }

    /// Its stored encoding, if supported.
    pub fn stored_encoding(&self) -> Option<Encoding> {
        self.encoding.as_ref().ok().copied()
    }

    /// The encoding it is provided in, if supported: as stored, or as set by [`given_as`](Self::given_as). It
    /// is f32 if the values are changed, because no other encoding holds them exactly.
    pub fn encoding(&self) -> Option<Encoding> {
        let stored = self.stored_encoding()?;
        if self.is_changed() {
            return Some(Format::F32.into());
        }
        Some(self.target.as_ref().map_or(stored, |target| target.encoding))
    }

    /// Whether the file stores it as a matrix. 1×1 kernels hold the same numbers but do not count.
    pub(super) fn is_stored_as_matrix(&self) -> bool {
        self.matrix
    }

    /// The same weights, converted to another encoding while they are read. Parts of one tensor in the file
    /// share its single scale, if the encoding has one.
    pub(super) fn given_as(mut self, encoding: Encoding, scale: Arc<OnceLock<f32>>) -> Self {
        self.target = Some(Target { encoding, scale });
        self
    }

    /// The same weights. Inputs of their products are rounded to 8 bits where they can be.
    pub(super) fn rounding_inputs(mut self) -> Self {
        self.encoding = self.encoding.map(Encoding::rounding_inputs);
        self
    }

    /// The file, and the offset of the tensor in it of which this may be a part.
    pub(super) fn origin(&self) -> (&Path, u64) {
        (self.path(), self.whole.start)
    }

    /// The tensor in the file of which this may be a part.
    fn whole(&self) -> Self {
        if let Some(repacked) = &self.repacked {
            return repacked.whole(self);
        }
        let length = (self.whole.end - self.whole.start) as usize;
        match self.stored_encoding() {
            Some(Encoding { format, group: None, .. }) if self.range != self.whole => {
                let (values, _) = format.block();
                let bytes = self.place_of(format, values) as usize;
                let mut whole =
                    Self { shape: vec![length / bytes * values], range: self.whole.clone(), ..self.clone() };
                whole.scales.iter_mut().for_each(|scales| scales.first = 0);
                whole
            }
            _ => self.clone(),
        }
    }

    /// Number of weights.
    pub fn elements(&self) -> u64 {
        self.count() as u64
    }

    fn count(&self) -> usize {
        values_of(&self.shape)
    }

    /// Bytes on disk, including scales of encodings that have them.
    pub fn stored_bytes(&self) -> u64 {
        let scales = self.stored_encoding().map_or(0, |encoding| encoding.tail(self.count()));
        let woven = self.woven().map_or(0, |_| self.count() / Format::Mxfp4.block().0);
        self.range.end - self.range.start + (scales * size_of::<f32>() + woven) as u64
    }

    /// Bytes in the encoding it is provided in, including scales.
    pub fn given_bytes(&self) -> u64 {
        self.encoding().map_or(0, |encoding| encoding.bytes(self.count()) as u64)
    }

    /// Attaches scales from another tensor, one per `group` values.
    pub(super) fn join_scales(&mut self, format: Format, group: usize, scales: Self) {
        self.join_scales_times(format, group, scales, 1.0);
    }

    /// [`join_scales`](Self::join_scales) with scales that are multiplied by a number.
    pub(super) fn join_scales_times(&mut self, format: Format, group: usize, scales: Self, factor: f32) {
        let encoding = Encoding::scaled(format, group);
        let fits = encoding.scales(self.count()) as u64 == scales.elements()
            && format.bytes(self.count()) as u64 == self.range.end - self.range.start
            && scales.encoding().is_some_and(|encoding| encoding.format.is_wide());
        let codes = ScaleCodes::Floats { factor };
        self.join(fits && group > 0, encoding, Scales { table: Arc::new(scales), first: 0, codes });
    }

    /// [`join_scales`](Self::join_scales) with 8-bit scales, one per `group` values of a row, in the order of
    /// the tensor cores of NVIDIA's GPUs. They are multiplied by a number.
    pub(super) fn join_blocked_scales(
        &mut self,
        format: Format,
        group: usize,
        table: Self,
        form: BlockedForm,
        factor: f32,
    ) {
        let encoding = Encoding::scaled(format, group);
        let (rows, columns) = match *self.shape() {
            [rows, columns] if group > 0 && columns.is_multiple_of(group) => (rows, columns / group),
            _ => (0, 0),
        };
        let blocked = BlockedScales { rows, columns, form, factor };
        let fits = rows > 0
            && table.elements() == blocked.bytes() as u64
            && table.raw_bytes() == table.elements()
            && format.bytes(self.count()) as u64 == self.range.end - self.range.start;
        let codes = ScaleCodes::Blocked(Arc::new(blocked));
        self.join(fits, encoding, Scales { table: Arc::new(table), first: 0, codes });
    }

    /// [`join_scales`](Self::join_scales) with scales that are quantized themselves; `None` if the
    /// description does not fit them.
    pub(super) fn join_nested_scales(
        &mut self,
        format: Format,
        group: usize,
        codes: Self,
        nested: Option<NestedScales>,
    ) {
        let encoding = Encoding::scaled(format, group);
        let fits = group > 0
            && nested.is_some()
            && encoding.scales(self.count()) as u64 == codes.elements()
            && format.bytes(self.count()) as u64 == self.range.end - self.range.start;
        let how =
            nested.map_or(ScaleCodes::Floats { factor: 1.0 }, |nested| ScaleCodes::Nested(Arc::new(nested)));
        self.join(fits, encoding, Scales { table: Arc::new(codes), first: 0, codes: how });
    }

    fn join(&mut self, fits: bool, encoding: Encoding, scales: Scales) {
        if fits {
            self.encoding = Ok(encoding);
            self.scales = Some(scales);
        } else {
            self.encoding = Err(format!("{} with {} scales", self.dtype_name(), scales.table.elements()));
        }
    }

    /// Marks the tensor as stored in a way that is not supported, by its name.
    pub(super) fn refuse(&mut self, found: String) {
        self.encoding = Err(found);
    }

    pub(super) fn set_shape(&mut self, shape: Vec<usize>) {
        // `join_scales` relies on shapes whose number of values does not overflow.
        if shape.iter().try_fold(1usize, |product, &side| product.checked_mul(side)).is_some() {
            self.matrix = shape.len() == 2;
            self.shape = shape;
        }
    }

    /// Some of `of` equal parts along the first dimension, the layout of concatenated projections. Returns
    /// the whole tensor if it cannot be split this way.
    pub fn parts(&self, parts: Range<usize>, of: usize) -> Self {
        let Some(rows) = self.shape.first().copied().filter(|rows| of > 0 && rows.is_multiple_of(of)) else {
            return self.clone();
        };
        let mut shape = self.shape.clone();
        shape[0] = rows / of * parts.len();
        let count = values_of(&shape);
        let first = self.count() / of * parts.start;
        let mut part = Self { shape, ..self.clone() };
        if part.is_changed() {
            part.changes.clear();
            part.encoding = Err(format!("{}, modified as a whole", self.dtype_name()));
        }
        let Ok(encoding) = part.encoding else { return part };
        part.range = match &mut part.repacked {
            Some(repacked) => repacked.narrow(&self.range, self.count(), first, count),
            None => {
                let start = self.range.start + self.place_of(encoding.format, first);
                start..start + self.place_of(encoding.format, count)
            }
        };
        let unit = encoding.unit();
        if self.woven().is_some() {
            part.scales.iter_mut().for_each(|scales| scales.first += first / unit);
        }
        let mut whole = first.is_multiple_of(unit) && part.range.end <= self.range.end;
        if let Some(group) = encoding.group.map(NonZeroUsize::get) {
            part.scales.iter_mut().for_each(|scales| scales.first += first / group);
            if !first.is_multiple_of(group) {
                // A part within one group has one scale.
                whole &= first / group == (first + count).saturating_sub(1) / group;
                part.encoding = Ok(Encoding { group: NonZeroUsize::new(count), ..encoding });
            }
        }
        if !whole {
            part.encoding = Err(format!("{} in blocks that span several parts", self.dtype_name()));
        }
        part
    }

    /// The same weights in another shape with as many elements.
    pub fn with_shape(mut self, shape: &[usize]) -> Self {
        self.shape = shape.to_vec();
        self
    }

    /// Reads the weights into `out`, which has one value per weight, and converts them to its dtype; or reads
    /// the stored bytes.
    ///
    /// # Errors
    /// Fails if the file became unreadable or shorter since it was opened.
    pub fn read_into(&self, out: Values<'_>) -> Result<(), CheckpointError> {
        self.read_from(0, out)
    }

    /// Reads as many weights as fit into `out`, from index `first` on, which must be the first of a block; or
    /// as many bytes, from byte `first` on.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn read_from(&self, first: usize, mut out: Values<'_>) -> Result<(), CheckpointError> {
        if let (Some(target), Values::Stored(out)) = (&self.target, &mut out) {
            return self.read_encoded(target, first, out);
        }
        let encoding = self.known()?;
        if self.is_changed() {
            let values = self.values()?;
            out.store(0, &values[first..first + out.len()]);
            return Ok(());
        }
        let place = encoding.format.bytes(first);
        match (encoding.format, out) {
            (_, Values::Stored(out)) => self.read_stored(encoding, first, out),
            (Format::F32, Values::F32(out)) => self.read_values(place, out.as_mut_bytes()),
            (Format::F16, Values::F16(out)) => self.read_values(place, out.as_mut_bytes()),
            (Format::Bf16, Values::Bf16(out)) => self.read_values(place, out.as_mut_bytes()),
            (_, mut out) => self.widened_from(first..first + out.len(), |start, values| {
                out.store(start - first, values);
                Ok(())
            }),
        }
    }

    /// All values, with the changes applied.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn values(&self) -> Result<Vec<f32>, CheckpointError> {
        // Fails before allocating if the tensor cannot be read.
        self.known()?;
        let mut values = vec![0.0; self.count()];
        self.widened_from::<CheckpointError>(0..values.len(), |start, piece| {
            values[start..start + piece.len()].copy_from_slice(piece);
            Ok(())
        })?;
        self.changes.iter().try_for_each(|change| change.apply(&self.shape, &mut values))?;
        Ok(values)
    }

    /// Reads the bytes of the values, then of the scales and the zero points.
    fn read_stored(&self, encoding: Encoding, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
        let all = encoding.format.bytes(self.count());
        let (values, tail) = out.split_at_mut(all.saturating_sub(first).min(out.len()));
        self.read_values(first.min(all), values)?;
        if !tail.is_empty() {
            let bytes = self.read_tail()?.into_iter().flat_map(f32::to_le_bytes);
            let skipped = first.saturating_sub(all);
            tail.iter_mut().zip(bytes.skip(skipped)).for_each(|(out, byte)| *out = byte);
        }
        Ok(())
    }

    /// Dequantizes the weights piece by piece and passes each piece, with the index of its first value, to
    /// `take`. All pieces but the last have whole blocks in every format.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into), or the error of `take`.
    pub fn widened<E: From<CheckpointError>>(
        &self,
        take: impl FnMut(usize, &[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.widened_from(0..self.count(), take)
    }

    /// [`widened`](Self::widened) for a range of values.
    fn widened_from<E: From<CheckpointError>>(
        &self,
        range: Range<usize>,
        mut take: impl FnMut(usize, &[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let encoding = self.known()?;
        let tail: Vec<u8> = self.read_tail()?.into_iter().flat_map(f32::to_le_bytes).collect();
        let most = PIECE.min(range.len());
        let mut stored = vec![0; encoding.format.bytes(most)];
        let mut values = vec![0.0; most];
        for start in range.clone().step_by(PIECE) {
            let length = PIECE.min(range.end - start);
            let stored = &mut stored[..encoding.format.bytes(length)];
            self.read_values(encoding.format.bytes(start), stored)?;
            let values = &mut values[..length];
            if let Some(packed) = Packed::new(encoding.format.into(), length, stored) {
                packed.widen(0, values);
            }
            finish(encoding, &tail, start, values);
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

    /// The scales, then the zero points.
    fn read_tail(&self) -> Result<Vec<f32>, CheckpointError> {
        let count = self.stored_encoding().map_or(0, |encoding| encoding.scales(self.count()));
        match (&self.repacked, &self.scales) {
            (Some(repacked), _) => repacked.tail(count),
            (None, Some(scales)) => scales.read(count),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// The bytes of a range of its values as they are in the file.
    pub(super) fn read_raw_at(&self, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
        self.file.read_at(out, self.range.start + first as u64)
    }

    /// The bytes of its values as they are in the file.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn read_raw(&self) -> Result<Vec<u8>, CheckpointError> {
        let mut bytes = vec![0; (self.range.end - self.range.start) as usize];
        self.file.read_at(&mut bytes, self.range.start)?;
        Ok(bytes)
    }

    /// Reads the weights into a tensor.
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

    /// One row of a table; reading it reads nothing else.
    ///
    /// # Errors
    /// Fails if there is no such row.
    pub fn row(&self, index: usize) -> Result<Self, CheckpointError> {
        let rows = self.shape.first().copied().unwrap_or(0);
        if index >= rows {
            return Err(CheckpointError::Header {
                path: self.path().to_owned(),
                reason: format!("row {index} of {rows} was requested"),
            });
        }
        let mut row = self.parts(index..index + 1, rows);
        row.shape = self.shape[1..].to_vec();
        Ok(row)
    }
}

/// Number of values of a shape. Shapes of unreadable tensors may be anything.
fn values_of(shape: &[usize]) -> usize {
    shape.iter().fold(1, |all, &side| all.saturating_mul(side))
}
