//! Weights whose order or parts in the file are not those of an encoding. They are brought into one while they are
//! read.

use std::{fmt, ops::Range, sync::Arc};

use super::{CheckpointError, Encoding, Format, StoredTensor};

/// A matrix that is put together from what is stored.
pub(in crate::checkpoint) trait Repack: fmt::Debug + Send + Sync {
    /// Rows and columns of the matrix.
    fn shape(&self) -> (usize, usize);

    /// The encoding that it is brought into. Groups and rotations end where rows do, unless one group has all
    /// values.
    fn encoding(&self) -> Encoding;

    /// Writes bytes of its values, from byte `first` on.
    ///
    /// # Errors
    /// Fails if the file became unreadable.
    fn read(&self, first: usize, out: &mut [u8]) -> Result<(), CheckpointError>;

    /// The scales of these groups, then their zero points, if the encoding has them.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn tail(&self, groups: Range<usize>) -> Result<Vec<f32>, CheckpointError>;

    /// The name of the stored format, equal for equal readings of the same bytes.
    fn name(&self) -> &str;
}

/// A repacked matrix, or a part of one.
#[derive(Debug, Clone)]
pub(super) struct Repacked {
    source: Arc<dyn Repack>,
    /// Index of the first value in the matrix.
    first: usize,
}

impl Repacked {
    pub fn name(&self) -> &str {
        self.source.name()
    }

    pub fn identity(&self) -> String {
        format!("{} from {} ", self.name(), self.first)
    }

    /// The whole matrix of which `part` is a part.
    pub fn whole(&self, part: &StoredTensor) -> StoredTensor {
        let (rows, columns) = self.source.shape();
        let repacked = Some(Box::new(Self { first: 0, ..self.clone() }));
        let encoding = Ok(self.source.encoding());
        StoredTensor {
            shape: vec![rows, columns],
            range: part.whole.clone(),
            encoding,
            repacked,
            ..part.clone()
        }
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

    /// Bytes of its values, from byte `first` on.
    pub fn read(&self, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
        self.source.read(self.source.encoding().format.bytes(self.first) + first, out)
    }

    /// This many scales, and the zero points of their groups.
    pub fn tail(&self, scales: usize) -> Result<Vec<f32>, CheckpointError> {
        let group = self.source.encoding().group.map_or(usize::MAX, std::num::NonZeroUsize::get);
        let first = self.first / group;
        self.source.tail(first..first + scales)
    }
}

impl StoredTensor {
    /// The matrix that `source` makes of what is stored. The tensor stands for the bytes that are read.
    pub(in crate::checkpoint) fn repacked_by(mut self, source: Arc<dyn Repack>) -> Self {
        let (rows, columns) = source.shape();
        self.encoding = Ok(source.encoding());
        self.shape = vec![rows, columns];
        self.matrix = true;
        self.scales = None;
        self.repacked = Some(Box::new(Repacked { source, first: 0 }));
        self
    }

    /// The number of bytes of a tensor of codes, which has no encoding.
    pub(in crate::checkpoint) fn raw_bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Values as f32.
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
