//! One safetensors file: its header is read, its weights stay on disk until somebody asks.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use candle_core::{DType, Device, Tensor};
use half::{bf16, f16};
use safetensors::{Dtype, tensor::Metadata};
use zerocopy::{FromBytes, IntoBytes};

use super::CheckpointError;

/// An open safetensors file. It is read at given places and never mapped: a map of a file that another program
/// shortens would end this one, a read says that the file has become too short.
#[derive(Debug)]
pub struct WeightFile {
    path: PathBuf,
    file: File,
}

/// Where a tensor is on disk.
#[derive(Debug, Clone)]
pub struct StoredTensor {
    file: Arc<WeightFile>,
    dtype: Dtype,
    shape: Vec<usize>,
    range: Range<u64>,
}

/// Tensors by the names they are stored under.
pub type TensorTable = BTreeMap<String, StoredTensor>;

const LENGTH_BYTES: u64 = 8;
/// The longest header that the format allows.
const LONGEST_HEADER: u64 = 100_000_000;
/// Bytes that are converted at a time.
const PIECE: usize = 1 << 20;

/// Reads the header of a safetensors file. Costs no more memory than the header has bytes.
pub fn read_header(path: &Path) -> Result<TensorTable, CheckpointError> {
    let io = |source| CheckpointError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    if length == 0 {
        return Err(CheckpointError::EmptyFile { path: path.to_owned() });
    }
    if length < LENGTH_BYTES {
        return Err(CheckpointError::HeaderPastEnd { path: path.to_owned(), header: LENGTH_BYTES, length });
    }
    let mut announced = [0; LENGTH_BYTES as usize];
    read_exact_at(&file, &mut announced, 0).map_err(io)?;
    let header = u64::from_le_bytes(announced);
    if header > length - LENGTH_BYTES {
        return Err(CheckpointError::HeaderPastEnd { path: path.to_owned(), header, length });
    }
    let damaged = |reason: String| CheckpointError::Header { path: path.to_owned(), reason };
    if header > LONGEST_HEADER {
        return Err(damaged(format!("it has {header} bytes, and the format allows {LONGEST_HEADER}")));
    }
    let mut described = vec![0; header as usize];
    read_exact_at(&file, &mut described, LENGTH_BYTES).map_err(io)?;
    let metadata: Metadata =
        serde_json::from_slice(&described).map_err(|error| damaged(error.to_string()))?;
    let start = LENGTH_BYTES + header;
    let expected = start.saturating_add(metadata.data_len() as u64);
    match expected.cmp(&length) {
        std::cmp::Ordering::Greater => {
            return Err(CheckpointError::Truncated { path: path.to_owned(), expected, length });
        }
        std::cmp::Ordering::Less => {
            return Err(damaged(format!("it describes {expected} bytes and the file has {length}")));
        }
        std::cmp::Ordering::Equal => {}
    }
    let file = Arc::new(WeightFile { path: path.to_owned(), file });
    let tensors = metadata.tensors().into_iter().map(|(name, info)| {
        let (first, last) = info.data_offsets;
        let tensor = StoredTensor {
            file: Arc::clone(&file),
            dtype: info.dtype,
            shape: info.shape.clone(),
            range: start + first as u64..start + last as u64,
        };
        (name, tensor)
    });
    Ok(tensors.collect())
}

impl StoredTensor {
    /// The file it is in.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// Its shape as stored.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Its dtype in the spelling of the format, such as `BF16`.
    pub fn dtype_name(&self) -> String {
        format!("{:?}", self.dtype)
    }

    /// The dtype that it can be read as, if there is one.
    pub fn float_dtype(&self) -> Option<DType> {
        match self.dtype {
            Dtype::F32 => Some(DType::F32),
            Dtype::F16 => Some(DType::F16),
            Dtype::BF16 => Some(DType::BF16),
            Dtype::F64 => Some(DType::F64),
            _ => None,
        }
    }

    /// Number of weights.
    pub fn elements(&self) -> u64 {
        self.shape.iter().map(|&side| side as u64).product()
    }

    /// Bytes on disk.
    pub fn stored_bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Some of `of` equal parts along the first dimension: the layout of joined projections. All of it if it cannot
    /// be cut so.
    pub fn parts(&self, parts: Range<usize>, of: usize) -> Self {
        if !self.shape.first().is_some_and(|rows| rows.is_multiple_of(of)) {
            return self.clone();
        }
        let bytes = self.stored_bytes() / of as u64;
        let place = |part: usize| self.range.start + part as u64 * bytes;
        let mut shape = self.shape.clone();
        if let Some(rows) = shape.first_mut() {
            *rows = *rows / of * parts.len();
        }
        let range = place(parts.start)..place(parts.end);
        Self { file: Arc::clone(&self.file), dtype: self.dtype, shape, range }
    }

    /// The same weights under another shape of as many elements.
    pub fn with_shape(mut self, shape: &[usize]) -> Self {
        self.shape = shape.to_vec();
        self
    }

    /// Reads the weights into `out`, which has one value for each of them, and converts them to its dtype.
    ///
    /// # Errors
    /// When the file has become unreadable or shorter since it was opened.
    pub fn read_into(&self, out: Values<'_>) -> Result<(), CheckpointError> {
        self.read_from(0, out)
    }

    /// Reads as many weights as `out` has room for, from number `first` on.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn read_from(&self, first: usize, out: Values<'_>) -> Result<(), CheckpointError> {
        let offset = |width: usize| (first * width) as u64;
        match (self.dtype, out) {
            (Dtype::F32, Values::F32(out)) => self.read_bytes(out.as_mut_bytes(), offset(4)),
            (Dtype::F16, Values::F16(out)) => self.read_bytes(out.as_mut_bytes(), offset(2)),
            (Dtype::BF16, Values::Bf16(out)) => self.read_bytes(out.as_mut_bytes(), offset(2)),
            (Dtype::F32, out) => self.convert::<f32>(first, out, |value| value),
            (Dtype::F16, out) => self.convert::<f16>(first, out, f16::to_f32),
            (Dtype::BF16, out) => self.convert::<bf16>(first, out, bf16::to_f32),
            (Dtype::F64, out) => self.convert::<f64>(first, out, |value| value as f32),
            _ => Err(CheckpointError::Dtype {
                path: self.file.path.clone(),
                name: "(unnamed)".to_owned(),
                found: self.dtype_name(),
            }),
        }
    }

    /// Reads the weights into a tensor of their own.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn load(&self, device: &Device) -> Result<Tensor, CheckpointError> {
        let mut values = vec![0.0; self.elements() as usize];
        self.read_into(Values::F32(&mut values))?;
        Tensor::from_vec(values, self.shape.as_slice(), device).map_err(|error| CheckpointError::Header {
            path: self.file.path.clone(),
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
                path: self.file.path.clone(),
                reason: format!("row {index} of {rows} was asked for"),
            });
        }
        let mut row = self.parts(index..index + 1, rows);
        row.shape = self.shape[1..].to_vec();
        Ok(row)
    }

    fn convert<T: FromBytes + IntoBytes + Copy>(
        &self,
        first: usize,
        mut out: Values<'_>,
        widen: fn(T) -> f32,
    ) -> Result<(), CheckpointError> {
        let width = size_of::<T>();
        let mut piece: Vec<T> = Vec::new();
        let count = out.len();
        let mut done = 0;
        while done < count {
            let length = (PIECE / width).min(count - done);
            piece.resize(length, T::new_zeroed());
            self.read_bytes(piece.as_mut_slice().as_mut_bytes(), ((first + done) * width) as u64)?;
            out.store(done, piece.iter().map(|&value| widen(value)));
            done += length;
        }
        Ok(())
    }

    /// Reads bytes of the tensor from `offset` on.
    fn read_bytes(&self, out: &mut [u8], offset: u64) -> Result<(), CheckpointError> {
        let path = || self.file.path.clone();
        read_exact_at(&self.file.file, out, self.range.start + offset).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => {
                let length = self.file.file.metadata().map_or(0, |metadata| metadata.len());
                CheckpointError::Truncated { path: path(), expected: self.range.end, length }
            }
            _ => CheckpointError::Io { path: path(), source },
        })
    }
}

/// Room for weights in one of the dtypes that they are computed in.
#[derive(Debug)]
pub enum Values<'a> {
    /// 32 bits.
    F32(&'a mut [f32]),
    /// 16 bits.
    F16(&'a mut [f16]),
    /// 16 bits with the range of f32.
    Bf16(&'a mut [bf16]),
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F32(out) => out.len(),
            Self::F16(out) => out.len(),
            Self::Bf16(out) => out.len(),
        }
    }

    fn store(&mut self, start: usize, values: impl Iterator<Item = f32>) {
        match self {
            Self::F32(out) => out[start..].iter_mut().zip(values).for_each(|(out, value)| *out = value),
            Self::F16(out) => {
                out[start..].iter_mut().zip(values).for_each(|(out, value)| *out = f16::from_f32(value));
            }
            Self::Bf16(out) => {
                out[start..].iter_mut().zip(values).for_each(|(out, value)| *out = bf16::from_f32(value));
            }
        }
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

/// The twin for Windows, which no test here has run.
#[cfg(windows)]
fn read_exact_at(file: &File, mut out: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !out.is_empty() {
        match file.seek_read(out, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                out = &mut out[read..];
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
