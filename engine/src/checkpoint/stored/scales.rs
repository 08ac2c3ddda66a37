//! Scales of quantized weights, which are tensors themselves.

use std::{ops::Range, sync::Arc};

use super::{CheckpointError, StoredTensor, Values};

/// The scales of a tensor, in a tensor of their own.
#[derive(Debug, Clone)]
pub(super) struct Scales {
    pub table: Arc<StoredTensor>,
    /// Index of the first scale of this tensor.
    pub first: usize,
    /// How the table holds them.
    pub codes: ScaleCodes,
}

/// How a table holds scales.
#[derive(Debug, Clone)]
pub(super) enum ScaleCodes {
    /// As floats, which are multiplied by a number.
    Floats { factor: f32 },
    /// Quantized themselves.
    Nested(Arc<NestedScales>),
    /// As 8-bit floats or exponents in the order of tensor cores.
    Blocked(Arc<BlockedScales>),
    /// As exponents, plus 127, which are read into the blocks of values.
    Woven,
}

/// 8-bit scales of a matrix in the order that the tensor cores of NVIDIA's GPUs read: tiles of 128 rows and 4
/// columns, left to right and then down, padded with zeros. A tile has the scales of the rows 0, 32, 64 and 96
/// first, then those of the rows 1, 33, 65 and 97, and so on (cuBLAS 12.8, "1D block scaling factors layout").
#[derive(Debug, Clone)]
pub(super) struct BlockedScales {
    pub rows: usize,
    /// Scales per row.
    pub columns: usize,
    pub form: BlockedForm,
    /// What they are multiplied by.
    pub factor: f32,
}

/// What a byte of blocked scales means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::checkpoint) enum BlockedForm {
    /// An 8-bit float, as in NVFP4.
    Float,
    /// The exponent of a power of two, plus 127, as in MXFP8; 0 means zero, as in comfy-kitchen.
    Exponent,
}

/// Rows and columns of a tile of blocked scales.
const TILE: (usize, usize) = (128, 4);

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
        let factor = match &self.codes {
            ScaleCodes::Floats { factor } => *factor,
            ScaleCodes::Nested(nested) => return nested.read(&self.table, wanted),
            ScaleCodes::Blocked(blocked) => return blocked.read(&self.table, wanted),
            ScaleCodes::Woven => return Ok(Vec::new()),
        };
        let mut read = Vec::with_capacity(count);
        self.table.widened::<CheckpointError>(|start, values| {
            let wanted = wanted.start.max(start)..wanted.end.min(start + values.len());
            if !wanted.is_empty() {
                let values = &values[wanted.start - start..wanted.end - start];
                read.extend(values.iter().map(|value| value * factor));
            }
            Ok(())
        })?;
        Ok(read)
    }
}

impl BlockedScales {
    /// Bytes of the table.
    pub fn bytes(&self) -> usize {
        self.rows.next_multiple_of(TILE.0).saturating_mul(self.columns.next_multiple_of(TILE.1))
    }

    /// Reads scales in the order of rows.
    fn read(&self, table: &StoredTensor, wanted: Range<usize>) -> Result<Vec<f32>, CheckpointError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let tiles = self.columns.div_ceil(TILE.1);
        let row_of_tiles = tiles * TILE.0 * TILE.1;
        let tile_rows =
            wanted.start / self.columns / TILE.0..wanted.end.div_ceil(self.columns).div_ceil(TILE.0);
        let mut bytes = vec![0; tile_rows.len() * row_of_tiles];
        table.read_raw_at(tile_rows.start * row_of_tiles, &mut bytes)?;
        let scale = |index: usize| {
            let (row, column) = (index / self.columns - tile_rows.start * TILE.0, index % self.columns);
            let tile = row / TILE.0 * tiles + column / TILE.1;
            let (row, column) = (row % TILE.0, column % TILE.1);
            let byte = bytes[tile * TILE.0 * TILE.1 + row % 32 * 16 + row / 32 * TILE.1 + column];
            self.factor
                * match self.form {
                    BlockedForm::Float => crate::precision::e4m3(byte),
                    BlockedForm::Exponent => f32::from_bits(u32::from(byte) << 23),
                }
        };
        Ok(wanted.map(scale).collect())
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
