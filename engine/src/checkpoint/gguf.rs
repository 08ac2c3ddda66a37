//! GGUF: a header of keys and values, descriptions of tensors, then the tensors.
//!
//! The reader skips values that nothing needs, so that a vocabulary costs no memory. It trusts a count only
//! as far as the file goes.

use std::{collections::HashMap, sync::Arc};

use super::{CheckpointError, StoredTensor, TensorTable, llama_names, weight_file::WeightFile};
use crate::precision::Format;

/// The versions with 64-bit counts.
const VERSIONS: std::ops::RangeInclusive<u32> = 2..=3;
/// Bytes read at once.
const WINDOW: usize = 1 << 16;
/// Longer names are rejected.
const LONGEST_NAME: u64 = 1 << 16;
/// More dimensions are rejected.
const MOST_DIMENSIONS: u32 = 8;
/// Deeper nesting of lists is rejected.
const DEEPEST_LIST: u32 = 2;
const DEFAULT_ALIGNMENT: u64 = 32;
/// Prefix of the key under which ComfyUI-GGUF keeps the original shape of a flattened tensor.
const ORIGINAL_SHAPE: &str = "comfy.gguf.orig_shape.";

pub(super) const UINT8: u32 = 0;
pub(super) const INT8: u32 = 1;
pub(super) const UINT32: u32 = 4;
pub(super) const FLOAT32: u32 = 6;
pub(super) const STRING: u32 = 8;
pub(super) const ARRAY: u32 = 9;

/// GGUF's numbers for the types that weights may have.
pub(super) const TYPES: [(u32, Format); 17] = [
    (0, Format::F32),
    (1, Format::F16),
    (2, Format::Q4_0),
    (3, Format::Q4_1),
    (6, Format::Q5_0),
    (7, Format::Q5_1),
    (8, Format::Q8_0),
    (10, Format::Q2K),
    (11, Format::Q3K),
    (12, Format::Q4K),
    (13, Format::Q5K),
    (14, Format::Q6K),
    (20, Format::Iq4Nl),
    (23, Format::Iq4Xs),
    (28, Format::F64),
    (30, Format::Bf16),
    (39, Format::Mxfp4),
];

/// GGUF's number for a format; `None` if GGUF has no such type.
pub fn type_of(format: Format) -> Option<u32> {
    TYPES.iter().find(|(_, known)| *known == format).map(|(kind, _)| *kind)
}

/// Reads the headers of one file, or of the shards of one set of weights. The first shard describes the
/// whole; the others may have no values except their numbers.
pub fn read(files: &[Arc<WeightFile>]) -> Result<TensorTable, CheckpointError> {
    let mut table = TensorTable::new();
    let mut whole: Option<Values> = None;
    for file in files {
        let (mut cursor, tensors, values) = Cursor::begin(file)?;
        let header = Values::read(&mut cursor, values)?;
        let mut described = Vec::new();
        for _ in 0..tensors {
            described.push(Description::read(&mut cursor)?);
        }
        let data = match header.alignment {
            0 => return Err(cursor.damaged("its alignment is 0 bytes".to_owned())),
            alignment => cursor.position.checked_next_multiple_of(alignment).unwrap_or(u64::MAX),
        };
        let whole = whole.get_or_insert(header);
        let is_gated = described.iter().any(|tensor: &Description| tensor.name.contains(llama_names::GATE));
        for described in described {
            let name = described.name.clone();
            let tensor = described.tensor(file, &cursor, data, &whole.shapes)?;
            let name = llama_names::renamed(&whole.architecture, is_gated, &name).unwrap_or(name);
            if table.insert(name.clone(), tensor).is_some() {
                return Err(cursor.damaged(format!("it lists {name} twice")));
            }
        }
    }
    Ok(table)
}

/// The header values that matter.
struct Values {
    architecture: String,
    alignment: u64,
    shapes: HashMap<String, Vec<usize>>,
}

impl Values {
    fn read(cursor: &mut Cursor<'_>, count: u64) -> Result<Self, CheckpointError> {
        let mut header =
            Self { architecture: String::new(), alignment: DEFAULT_ALIGNMENT, shapes: HashMap::new() };
        for _ in 0..count {
            let key = cursor.string()?;
            let kind = cursor.u32()?;
            match (key.as_str(), kind) {
                ("general.architecture", STRING) => header.architecture = cursor.string()?,
                ("general.alignment", UINT32) => header.alignment = cursor.u32()?.into(),
                (key, ARRAY) => {
                    let shape = cursor.list(0)?;
                    if let (Some(name), Some(shape)) = (key.strip_prefix(ORIGINAL_SHAPE), shape) {
                        header.shapes.insert(name.to_owned(), shape);
                    }
                }
                (_, kind) => cursor.pass_over(kind, 0)?,
            }
        }
        Ok(header)
    }
}

/// The header's description of a tensor.
struct Description {
    name: String,
    /// Dimensions, fastest first.
    sides: Vec<u64>,
    kind: u32,
    offset: u64,
}

impl Description {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, CheckpointError> {
        let name = cursor.string()?;
        let dimensions = cursor.u32()?;
        if dimensions > MOST_DIMENSIONS {
            return Err(cursor.damaged(format!("{name} has {dimensions} dimensions")));
        }
        let sides = (0..dimensions).map(|_| cursor.u64()).collect::<Result<_, _>>()?;
        Ok(Self { name, sides, kind: cursor.u32()?, offset: cursor.u64()? })
    }

    fn tensor(
        self,
        file: &Arc<WeightFile>,
        cursor: &Cursor<'_>,
        data: u64,
        shapes: &HashMap<String, Vec<usize>>,
    ) -> Result<StoredTensor, CheckpointError> {
        let Self { name, sides, kind, offset } = self;
        let own: Option<Vec<usize>> =
            sides.into_iter().rev().map(|side| usize::try_from(side).ok()).collect();
        let product = |shape: &[usize]| shape.iter().try_fold(1usize, |all, &side| all.checked_mul(side));
        let Some((own, elements)) = own.and_then(|own| product(&own).map(|elements| (own, elements))) else {
            return Err(cursor.damaged(format!("{name} has too many values")));
        };
        let columns = own.last().copied().unwrap_or(1);
        let original = shapes.get(&name).filter(|shape| product(shape) == Some(elements));
        let shape = original.cloned().unwrap_or(own);
        let Some((_, format)) = TYPES.iter().find(|(known, _)| *known == kind) else {
            let place = data..data;
            return Ok(StoredTensor::new(file, Err(format!("GGML type {kind}")), shape, place));
        };
        let (block, _) = format.block();
        if !columns.is_multiple_of(block) {
            let reason = format!("rows of {name} are not a whole number of {} blocks", format.name());
            return Err(cursor.damaged(reason));
        }
        let start = data.saturating_add(offset);
        let end = start.saturating_add(format.bytes(elements) as u64);
        if end > cursor.file.length() {
            return Err(CheckpointError::Truncated {
                path: cursor.file.path().to_owned(),
                expected: end,
                length: cursor.file.length(),
            });
        }
        Ok(StoredTensor::new(file, Ok((*format).into()), shape, start..end))
    }
}

/// Reads through the header.
pub(super) struct Cursor<'a> {
    file: &'a WeightFile,
    position: u64,
    /// Bytes of the file from `start` on.
    window: Vec<u8>,
    start: u64,
}

impl<'a> Cursor<'a> {
    /// Reads the start of a file. Returns a cursor at the first value, the number of tensors, and the number
    /// of values.
    pub(super) fn begin(file: &'a WeightFile) -> Result<(Self, u64, u64), CheckpointError> {
        let mut cursor = Self { file, position: 4, window: Vec::new(), start: 0 };
        let version = cursor.u32()?;
        if !VERSIONS.contains(&version) {
            return Err(cursor.damaged(format!("it has version {version}, which Sluice does not support")));
        }
        let (tensors, values) = (cursor.u64()?, cursor.u64()?);
        Ok((cursor, tensors, values))
    }

    pub(super) fn damaged(&self, reason: String) -> CheckpointError {
        CheckpointError::Header { path: self.file.path().to_owned(), reason }
    }

    /// Skips this many bytes and returns the offset where they begin.
    pub(super) fn advance(&mut self, bytes: u64) -> Result<u64, CheckpointError> {
        let (first, length) = (self.position, self.file.length());
        let header = first.saturating_add(bytes);
        if header > length {
            return Err(CheckpointError::HeaderPastEnd { path: self.file.path().to_owned(), header, length });
        }
        self.position = header;
        Ok(first)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], CheckpointError> {
        let first = self.advance(N as u64)?;
        let inside = |cursor: &Self| {
            let at = usize::try_from(first.checked_sub(cursor.start)?).ok()?;
            cursor.window.get(at..)?.first_chunk().copied()
        };
        if let Some(bytes) = inside(self) {
            return Ok(bytes);
        }
        let left = usize::try_from(self.file.length() - first).unwrap_or(usize::MAX);
        self.window.resize(WINDOW.min(left), 0);
        self.start = first;
        self.file.read_at(&mut self.window, first)?;
        inside(self).ok_or_else(|| self.damaged("it cannot be read".to_owned()))
    }

    pub(super) fn u32(&mut self) -> Result<u32, CheckpointError> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, CheckpointError> {
        self.take().map(u64::from_le_bytes)
    }

    /// Reads this many bytes.
    pub(super) fn bytes(&mut self, count: u64) -> Result<Vec<u8>, CheckpointError> {
        let first = self.advance(count)?;
        let mut bytes = vec![0; count as usize];
        self.file.read_at(&mut bytes, first)?;
        Ok(bytes)
    }

    /// Reads a string.
    pub(super) fn string(&mut self) -> Result<String, CheckpointError> {
        let length = self.u64()?;
        if length > LONGEST_NAME {
            return Err(self.damaged(format!("a name is {length} bytes long")));
        }
        String::from_utf8(self.bytes(length)?).map_err(|_| self.damaged("a name is not UTF-8".to_owned()))
    }

    pub(super) fn pass_over(&mut self, kind: u32, depth: u32) -> Result<(), CheckpointError> {
        match kind {
            STRING => {
                let length = self.u64()?;
                self.advance(length)?;
            }
            ARRAY => {
                self.list(depth)?;
            }
            kind => {
                let bytes = self.value_bytes(kind)?;
                self.advance(bytes)?;
            }
        }
        Ok(())
    }

    /// Skips a list; returns it if it is a short list of 32-bit integers.
    fn list(&mut self, depth: u32) -> Result<Option<Vec<usize>>, CheckpointError> {
        let (kind, count) = (self.u32()?, self.u64()?);
        match kind {
            UINT32 | 5 if count <= MOST_DIMENSIONS.into() => {
                let numbers = (0..count).map(|_| Ok(self.u32()? as usize)).collect::<Result<_, _>>()?;
                return Ok(Some(numbers));
            }
            ARRAY if depth >= DEEPEST_LIST => {
                return Err(self.damaged("its lists are nested too deeply".to_owned()));
            }
            STRING | ARRAY => {
                for _ in 0..count {
                    self.pass_over(kind, depth + 1)?;
                }
            }
            kind => {
                let bytes = self.value_bytes(kind)?.saturating_mul(count);
                self.advance(bytes)?;
            }
        }
        Ok(None)
    }

    /// Size of a value of a fixed-size type.
    fn value_bytes(&self, kind: u32) -> Result<u64, CheckpointError> {
        match kind {
            UINT8 | INT8 | 7 => Ok(1),
            2 | 3 => Ok(2),
            UINT32..=FLOAT32 => Ok(4),
            10..=12 => Ok(8),
            other => Err(self.damaged(format!("it has a value of unknown type {other}"))),
        }
    }
}
