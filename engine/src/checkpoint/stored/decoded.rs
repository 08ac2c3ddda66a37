//! Weights in a form that no encoding holds, such as rotated ones. They are decoded while they are read, and
//! held in the dtype of the computation or in the bits that are asked for.

use std::{fmt, ops::Range, sync::Arc};

use super::{CheckpointError, Encoding, Format, StoredTensor, Values};

/// The decoding of a matrix from what is stored.
pub(in crate::checkpoint) trait Decode: fmt::Debug + Send + Sync {
    /// Rows and columns of the decoded matrix.
    fn shape(&self) -> (usize, usize);

    /// Writes these rows to `out`, one after the other.
    ///
    /// # Errors
    /// Fails if the file became unreadable.
    fn decode(&self, rows: Range<usize>, out: &mut [f32]) -> Result<(), CheckpointError>;

    /// The name of the stored format, equal for equal decodings of the same bytes.
    fn name(&self) -> &str;
}

/// A decoded matrix, or a part of one.
#[derive(Debug, Clone)]
pub(super) struct Decoded {
    decoder: Arc<dyn Decode>,
    /// Index of the first value in the decoded matrix.
    first: usize,
}

impl Decoded {
    pub fn name(&self) -> &str {
        self.decoder.name()
    }

    pub fn identity(&self) -> String {
        format!("{} from {} ", self.name(), self.first)
    }

    /// The whole matrix of which `part` is a part.
    pub fn whole(&self, part: &StoredTensor) -> StoredTensor {
        let (rows, columns) = self.decoder.shape();
        let decoded = Some(Box::new(Self { first: 0, ..self.clone() }));
        StoredTensor { shape: vec![rows, columns], range: part.whole.clone(), decoded, ..part.clone() }
    }

    /// Keeps `count` values from the value `first` on of `all`, whose bytes are in `range`. Returns their
    /// share of these bytes.
    pub fn narrow(&mut self, range: &Range<u64>, all: usize, first: usize, count: usize) -> Range<u64> {
        self.first += first;
        let place = |value: usize| {
            let bytes = u128::from(range.end - range.start) * value as u128 / all.max(1) as u128;
            range.start + bytes as u64
        };
        place(first)..place(first + count)
    }

    /// Decodes values in pieces of at most `most`, whole rows at a time.
    pub fn widened<E: From<CheckpointError>>(
        &self,
        range: Range<usize>,
        most: usize,
        mut take: impl FnMut(usize, &[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (rows, columns) = self.decoder.shape();
        let columns = columns.max(1);
        let mut values = Vec::new();
        for start in range.clone().step_by(most) {
            let end = range.end.min(start + most);
            let own = self.first + start..self.first + end;
            let needed = own.start / columns..own.end.div_ceil(columns).min(rows);
            values.clear();
            values.resize(needed.len() * columns, 0.0);
            self.decoder.decode(needed.clone(), &mut values)?;
            let before = needed.start * columns;
            take(start, &values[own.start - before..own.end - before])?;
        }
        Ok(())
    }
}

impl StoredTensor {
    /// The matrix that `decoder` makes of what is stored. The tensor stands for the bytes that are read.
    pub(in crate::checkpoint) fn decoded_by(mut self, decoder: Arc<dyn Decode>) -> Self {
        let (rows, columns) = decoder.shape();
        self.encoding = Ok(Format::F32.into());
        self.shape = vec![rows, columns];
        self.matrix = true;
        self.scales = None;
        self.decoded = Some(Box::new(Decoded { decoder, first: 0 }));
        self
    }

    /// [`read_from`](Self::read_from) of a decoded tensor; its bytes are those of f32.
    pub(super) fn read_decoded(&self, first: usize, mut out: Values<'_>) -> Result<(), CheckpointError> {
        const SIZE: usize = size_of::<f32>();
        if let Values::Stored(out) = out {
            let (start, end) = (first / SIZE, (first + out.len()).div_ceil(SIZE));
            let mut bytes = Vec::with_capacity((end - start) * SIZE);
            self.widened_from::<CheckpointError>(start..end, |_, values| {
                bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                Ok(())
            })?;
            out.copy_from_slice(&bytes[first % SIZE..][..out.len()]);
            return Ok(());
        }
        self.widened_from(first..first + out.len(), |start, values| {
            out.store(start - first, values);
            Ok(())
        })
    }

    /// The number of bytes of a tensor of codes, which has no encoding.
    pub(in crate::checkpoint) fn raw_bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Values of a tensor without scales of its own, as f32.
    pub(in crate::checkpoint) fn floats(
        &self,
        range: Range<usize>,
        out: &mut Vec<f32>,
    ) -> Result<(), CheckpointError> {
        out.clear();
        self.widened_from(range, |_, values| {
            out.extend(values);
            Ok(())
        })
    }

    /// The same bytes in another format, without scales; `None` if there are more or fewer than its shape has.
    pub(in crate::checkpoint) fn seen_as(mut self, format: Format) -> Option<Self> {
        self.encoding = Ok(Encoding::from(format));
        self.scales = None;
        (format.bytes(self.count()) as u64 == self.raw_bytes()).then_some(self)
    }
}
