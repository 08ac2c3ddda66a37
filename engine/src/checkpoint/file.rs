//! One safetensors file: its header is read, its weights stay on disk until somebody asks.

use std::{
    collections::BTreeMap,
    fs::File,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use candle_core::{DType, Device, Tensor};
use memmap2::Mmap;
use safetensors::{Dtype, SafeTensorError, SafeTensors, tensor::Metadata};

use super::CheckpointError;

/// A memory-mapped safetensors file.
#[derive(Debug)]
pub struct MappedFile {
    path: PathBuf,
    file: File,
    map: Mmap,
}

/// Where a tensor is on disk.
#[derive(Debug, Clone)]
pub struct StoredTensor {
    file: Arc<MappedFile>,
    dtype: Dtype,
    shape: Vec<usize>,
    range: Range<usize>,
}

/// Tensors by the names they are stored under.
pub type TensorTable = BTreeMap<String, StoredTensor>;

const LENGTH_BYTES: u64 = 8;

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
    // SAFETY: the map is only ever read. Another program that shortens the file while it is mapped could
    // end the process; `StoredTensor::bytes` therefore checks the length before each read.
    #[allow(unsafe_code, reason = "mapping a file has no safe form")]
    let map = unsafe { Mmap::map(&file) }.map_err(io)?;
    let mut announced = [0; 8];
    announced.copy_from_slice(&map[..8]);
    let header = u64::from_le_bytes(announced);
    if header > length - LENGTH_BYTES {
        return Err(CheckpointError::HeaderPastEnd { path: path.to_owned(), header, length });
    }
    let (header_bytes, metadata): (usize, Metadata) =
        SafeTensors::read_metadata(&map).map_err(|error| unreadable(path, &map, header as usize, &error))?;
    let start = header_bytes + LENGTH_BYTES as usize;
    let file = Arc::new(MappedFile { path: path.to_owned(), file, map });
    let tensors = metadata.tensors().into_iter().map(|(name, info)| {
        let (first, last) = info.data_offsets;
        let tensor = StoredTensor {
            file: Arc::clone(&file),
            dtype: info.dtype,
            shape: info.shape.clone(),
            range: start + first..start + last,
        };
        (name, tensor)
    });
    Ok(tensors.collect())
}

/// What is wrong with a file whose header of `header` bytes the reader refuses: where the weights end too
/// early, the header itself is sound.
fn unreadable(path: &Path, bytes: &[u8], header: usize, error: &SafeTensorError) -> CheckpointError {
    let (path, length) = (path.to_owned(), bytes.len() as u64);
    let described = &bytes[LENGTH_BYTES as usize..][..header];
    if matches!(error, SafeTensorError::MetadataIncompleteBuffer)
        && let Ok(metadata) = serde_json::from_slice::<Metadata>(described)
    {
        let expected = (LENGTH_BYTES + header as u64).saturating_add(metadata.data_len() as u64);
        if expected > length {
            return CheckpointError::Truncated { path, expected, length };
        }
    }
    CheckpointError::Header { path, reason: error.to_string() }
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
        self.range.len() as u64
    }

    /// Part `index` of `parts` equal parts along the first dimension: the layout of joined projections.
    pub fn part(&self, index: usize, parts: usize) -> Self {
        let bytes = self.range.len() / parts;
        let start = self.range.start + index * bytes;
        let mut shape = self.shape.clone();
        if let Some(rows) = shape.first_mut() {
            *rows /= parts;
        }
        Self { file: Arc::clone(&self.file), dtype: self.dtype, shape, range: start..start + bytes }
    }

    /// The same weights under another shape of as many elements.
    pub fn with_shape(mut self, shape: &[usize]) -> Self {
        self.shape = shape.to_vec();
        self
    }

    fn bytes(&self) -> Result<&[u8], CheckpointError> {
        let io = |source| CheckpointError::Io { path: self.file.path.clone(), source };
        let length = self.file.file.metadata().map_err(io)?.len();
        if length < self.range.end as u64 {
            let expected = self.range.end as u64;
            return Err(CheckpointError::Truncated { path: self.file.path.clone(), expected, length });
        }
        Ok(&self.file.map[self.range.clone()])
    }

    /// Reads the weights into a tensor of `dtype`.
    pub fn load(&self, dtype: DType, device: &Device) -> Result<Tensor, CheckpointError> {
        let stored = self.float_dtype().ok_or_else(|| CheckpointError::Dtype {
            path: self.file.path.clone(),
            name: "(unnamed)".to_owned(),
            found: self.dtype_name(),
        })?;
        Tensor::from_raw_buffer(self.bytes()?, stored, &self.shape, device)
            .and_then(|tensor| tensor.to_dtype(dtype))
            .map_err(|error| CheckpointError::Header {
                path: self.file.path.clone(),
                reason: error.to_string(),
            })
    }
}
