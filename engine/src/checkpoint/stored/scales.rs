//! Scales of quantized weights, which are tensors themselves.

use std::{ops::Range, sync::Arc};

use super::{CheckpointError, StoredTensor, Values};

/// The scales of a tensor, in a tensor of their own.
#[derive(Debug, Clone)]
pub(super) struct Scales {
    pub table: Arc<StoredTensor>,
    /// Index of the first scale of this tensor.
    pub first: usize,
    /// How to read a table that is quantized itself.
    pub nested: Option<Arc<NestedScales>>,
}

/// Scales quantized to 8 bits (double quantization, Dettmers et al. 2023, arXiv:2305.14314): each is an index
/// into a table; the entry is multiplied by the scale of its group, then an offset is added.
#[derive(Debug, Clone)]
pub(in crate::checkpoint) struct NestedScales {
    map: Vec<f32>,
    largest: StoredTensor,
    group: usize,
    offset: f32,
}

/// Number of 8-bit codes.
const CODES: u64 = 256;

impl Scales {
    /// Reads `count` scales as f32.
    pub fn read(&self, count: usize) -> Result<Vec<f32>, CheckpointError> {
        let wanted = self.first..self.first + count;
        if let Some(nested) = &self.nested {
            return nested.read(&self.table, wanted);
        }
        let mut read = Vec::with_capacity(count);
        self.table.widened::<CheckpointError>(|start, values| {
            let wanted = wanted.start.max(start)..wanted.end.min(start + values.len());
            if !wanted.is_empty() {
                read.extend(&values[wanted.start - start..wanted.end - start]);
            }
            Ok(())
        })?;
        Ok(read)
    }
}

impl NestedScales {
    /// `None` if the tensors do not fit together: one scale per group of codes, one value per code.
    pub(in crate::checkpoint) fn new(
        codes: &StoredTensor,
        largest: StoredTensor,
        group: usize,
        map: &StoredTensor,
        offset: f32,
    ) -> Result<Option<Self>, CheckpointError> {
        let is_wide = |tensor: &StoredTensor| tensor.encoding().is_some_and(|own| own.format.is_wide());
        let fits = group > 0
            && codes.range.end - codes.range.start == codes.elements()
            && largest.elements() == codes.elements().div_ceil(group as u64)
            && map.elements() == CODES
            && is_wide(&largest)
            && is_wide(map);
        if !fits {
            return Ok(None);
        }
        let mut values = vec![0.0; CODES as usize];
        map.read_into(Values::F32(&mut values))?;
        Ok(Some(Self { map: values, largest, group, offset }))
    }

    /// Dequantizes a range of codes.
    fn read(&self, codes: &StoredTensor, wanted: Range<usize>) -> Result<Vec<f32>, CheckpointError> {
        let mut bytes = vec![0; wanted.len()];
        codes.file.read_at(&mut bytes, codes.range.start + wanted.start as u64)?;
        let mut largest = vec![0.0; self.largest.count()];
        self.largest.read_into(Values::F32(&mut largest))?;
        let value = |(index, code): (usize, u8)| {
            self.map[usize::from(code)] * largest[index / self.group] + self.offset
        };
        Ok(wanted.zip(bytes).map(value).collect())
    }
}
