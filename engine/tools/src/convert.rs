//! Converts weights from one format to another, tensor by tensor and piece by piece.
//!
//! Matrices of the repeating blocks are quantized. Norms, biases, embeddings and modulations keep their
//! precision, because they are small and their errors reach everything. Only a piece of a tensor is in memory
//! at a time, plus the scales of the largest one.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::Path,
};

use serde_json::json;

use sluice_engine::{
    checkpoint::{
        CheckpointError, StoredTensor, TensorTable, encoding_of, gguf_type_of, read_folder, read_weights,
        safetensors_header,
    },
    models::FAMILIES,
    precision::{Encoding, Format, NF4_GROUP, NORMAL, Storage},
};

/// The target formats of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvertTo {
    /// GGUF, 8 bits with one scale per 32 values.
    Q8_0,
    /// GGUF, 4 bits with scales and minima; 8 bits if the row length is not a multiple of 256.
    Q4K,
    /// Safetensors, 8-bit floats with one scale per tensor, as ComfyUI reads them.
    Fp8,
    /// Safetensors, 8-bit floats with a shorter mantissa and one scale per tensor.
    Fp8E5m2,
    /// Safetensors, 8-bit integers with one scale per row.
    Int8,
    /// Safetensors, NF4 with one scale per 64 values, as bitsandbytes reads it.
    Nf4,
    /// Safetensors, everything in bf16.
    Bf16,
}

/// Alignment of tensors in a GGUF file.
const ALIGNMENT: u64 = 32;
/// Other programs' names for architectures that Sluice does not run, by the name of a characteristic tensor.
const OTHER_ARCHITECTURES: [(&str, &str); 1] =
    [("transformer_blocks.0.attn.add_k_proj.weight", "qwen_image")];

impl ConvertTo {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Q8_0, Self::Q4K, Self::Fp8, Self::Fp8E5m2, Self::Int8, Self::Nf4, Self::Bf16];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.storage().map_or("bf16", Storage::name)
    }

    /// The storage of matrices; `None` if everything is bf16.
    pub fn storage(self) -> Option<Storage> {
        match self {
            Self::Q8_0 => Some(Storage::Q8_0),
            Self::Q4K => Some(Storage::Q4K),
            Self::Fp8 => Some(Storage::Fp8),
            Self::Fp8E5m2 => Some(Storage::Fp8E5m2),
            Self::Int8 => Some(Storage::Int8),
            Self::Nf4 => Some(Storage::Nf4),
            Self::Bf16 => None,
        }
    }

    /// Whether the output is GGUF; otherwise it is safetensors.
    pub fn is_gguf(self) -> bool {
        matches!(self, Self::Q8_0 | Self::Q4K)
    }

    /// The target encoding of a tensor.
    fn encoding(self, name: &str, tensor: &StoredTensor, stored: Encoding) -> Encoding {
        let Some(storage) = self.storage() else { return Format::Bf16.into() };
        let wide = match stored.format {
            format @ (Format::F32 | Format::F16 | Format::Bf16) => format,
            Format::F8E4m3 | Format::F8E5m2 if stored.group.is_none() => Format::Bf16,
            _ => Format::F32,
        };
        encoding_of(storage, name, tensor).unwrap_or(wide.into())
    }
}

/// What was written in one format.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Share {
    /// Number of tensors.
    pub tensors: usize,
    /// Number of weights.
    pub weights: u64,
    /// Bytes before the conversion.
    pub before: u64,
    /// Bytes after the conversion.
    pub after: u64,
    /// Sum of the squares of the weights.
    squares: f64,
    /// Sum of the squared errors.
    errors: f64,
}

impl Share {
    fn add(&mut self, values: &[f32], back: &[f32]) {
        for (value, back) in values.iter().zip(back) {
            let error = f64::from(*value) - f64::from(*back);
            self.squares += f64::from(*value).powi(2);
            self.errors += error * error;
        }
    }

    /// Root mean square error of the weights, relative to their root mean square.
    pub fn error(&self) -> f64 {
        if self.squares > 0.0 { (self.errors / self.squares).sqrt() } else { 0.0 }
    }
}

/// The result of a conversion, by the formats it wrote.
pub type Conversion = BTreeMap<Format, Share>;

/// A tensor of the output.
struct Planned<'a> {
    tensor: &'a StoredTensor,
    encoding: Encoding,
    values: Place,
    scales: Option<Place>,
}

/// A range of bytes in the output.
#[derive(Clone, Copy)]
struct Place {
    offset: u64,
}

/// Converts a file, or all files in the folder of a component. Calls `progress` with the part done, from 0 to
/// 1; if that returns `false`, stops without a result and returns `None`. The output gets its name when it is
/// complete.
///
/// # Errors
/// Fails if the weights cannot be read or are in an unsupported format, or the output cannot be written.
pub fn convert(
    input: &Path,
    output: &Path,
    to: ConvertTo,
    mut progress: impl FnMut(f64) -> bool,
) -> Result<Option<Conversion>, CheckpointError> {
    let table = if input.is_dir() { read_folder(input)? } else { read_weights(input)? };
    let failed = |source| CheckpointError::Write { path: output.to_owned(), source };
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The standard library creates it with the usual permissions.
    let temporary = tempfile::Builder::new()
        .prefix(".sluice-")
        .suffix(".tmp")
        .make_in(folder, |path| File::create_new(path))
        .map_err(failed)?;
    let mut out = BufWriter::new(temporary.as_file());
    let planned = if to.is_gguf() { plan_gguf(&table, to) } else { plan_safetensors(&table, to) };
    let (header, constants, planned) = planned?;
    out.write_all(&header).map_err(failed)?;
    for (place, bytes) in constants {
        write_at(&mut out, place, &bytes).map_err(failed)?;
    }
    let total: u64 = planned.iter().map(|planned| planned.tensor.elements()).sum();
    let (mut conversion, mut done) = (Conversion::new(), 0);
    for planned in &planned {
        let share = conversion.entry(planned.encoding.format).or_default();
        let elements = planned.tensor.elements();
        share.tensors += 1;
        share.weights += elements;
        share.before += planned.tensor.stored_bytes();
        share.after += planned.encoding.bytes(elements as usize) as u64;
        let mut told = |values: u64| progress((done + values) as f64 / total.max(1) as f64);
        match write_tensor(planned, share, &mut out, &mut told) {
            Ok(()) => {}
            Err(Stopped::ByCaller) => return Ok(None),
            Err(Stopped::Checkpoint(error)) => return Err(error),
            Err(Stopped::Write(source)) => return Err(failed(source)),
        }
        done += elements;
    }
    let end = out.stream_position().map_err(failed)?;
    out.flush().map_err(failed)?;
    drop(out);
    if to.is_gguf() {
        // The last tensor is padded like the others.
        let length = temporary.as_file().metadata().map_err(failed)?.len().max(end);
        temporary.as_file().set_len(length.next_multiple_of(ALIGNMENT)).map_err(failed)?;
    }
    temporary.persist(output).map_err(|error| failed(error.error))?;
    Ok(Some(conversion))
}

/// Why writing a tensor stopped.
enum Stopped {
    ByCaller,
    Checkpoint(CheckpointError),
    Write(io::Error),
}

impl From<CheckpointError> for Stopped {
    fn from(error: CheckpointError) -> Self {
        Self::Checkpoint(error)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

type Out<'a> = BufWriter<&'a File>;

fn write_at(out: &mut Out<'_>, place: Place, bytes: &[u8]) -> io::Result<()> {
    out.seek(SeekFrom::Start(place.offset))?;
    out.write_all(bytes)
}

fn write_tensor(
    planned: &Planned<'_>,
    share: &mut Share,
    out: &mut Out<'_>,
    progress: &mut impl FnMut(u64) -> bool,
) -> Result<(), Stopped> {
    let Planned { tensor, encoding, values: place, scales: scales_place } = planned;
    // A single scale takes a first pass over all values; scales of groups are computed along the way.
    let one = match encoding.group {
        Some(group) if group.get() as u64 == tensor.elements() => Some(tensor.one_scale(encoding.format)?),
        _ => None,
    };
    let mut scales: Vec<u8> = one.map(f32::to_le_bytes).into_iter().flatten().collect();
    out.seek(SeekFrom::Start(place.offset))?;
    let mut back = Vec::new();
    tensor.encoded(
        *encoding,
        one,
        |_| true,
        |piece| {
            out.write_all(piece.bytes)?;
            scales.extend(piece.scales);
            back.resize(piece.values.len(), 0.0);
            piece.widen(&mut back);
            share.add(piece.values, &back);
            if progress((piece.start + piece.values.len()) as u64) { Ok(()) } else { Err(Stopped::ByCaller) }
        },
    )?;
    if let Some(place) = scales_place {
        write_at(out, *place, &scales)?;
    }
    Ok(())
}

fn encodings(
    table: &TensorTable,
    to: ConvertTo,
) -> impl Iterator<Item = Result<(&String, &StoredTensor, Encoding), CheckpointError>> {
    table.iter().filter(|(name, _)| !name.ends_with("scaled_fp8")).map(move |(name, tensor)| {
        let stored = tensor.encoding().ok_or_else(|| CheckpointError::Dtype {
            path: tensor.path().to_owned(),
            name: name.clone(),
            found: tensor.dtype_name(),
        })?;
        Ok((name, tensor, to.encoding(name, tensor, stored)))
    })
}

/// The header, constant bytes, and the location of each tensor.
type Plan<'a> = (Vec<u8>, Vec<(Place, Vec<u8>)>, Vec<Planned<'a>>);

fn plan_gguf(table: &TensorTable, to: ConvertTo) -> Result<Plan<'_>, CheckpointError> {
    const STRING: u32 = 8;
    const UINT32: u32 = 4;
    /// GGUF's version of the block types.
    const QUANTIZATION: u32 = 2;
    let architectures = FAMILIES.iter().flat_map(|family| family.gguf_architectures());
    let architecture = architectures
        .chain(&OTHER_ARCHITECTURES)
        .find(|(name, _)| table.keys().any(|known| known.ends_with(name)));
    let architecture = architecture.map_or("unknown", |(_, architecture)| *architecture);
    let mut header = b"GGUF".to_vec();
    let number = |header: &mut Vec<u8>, number: u32| header.extend(number.to_le_bytes());
    let text = |header: &mut Vec<u8>, text: &str| {
        header.extend((text.len() as u64).to_le_bytes());
        header.extend(text.as_bytes());
    };
    let tensors = encodings(table, to).collect::<Result<Vec<_>, _>>()?;
    number(&mut header, 3);
    header.extend((tensors.len() as u64).to_le_bytes());
    header.extend(2u64.to_le_bytes());
    text(&mut header, "general.architecture");
    number(&mut header, STRING);
    text(&mut header, architecture);
    text(&mut header, "general.quantization_version");
    number(&mut header, UINT32);
    number(&mut header, QUANTIZATION);
    let (mut planned, mut offset) = (Vec::new(), 0u64);
    for (name, tensor, encoding) in tensors {
        let kind = gguf_type_of(encoding.format).unwrap_or(0);
        text(&mut header, name);
        number(&mut header, tensor.shape().len() as u32);
        tensor.shape().iter().rev().for_each(|side| header.extend((*side as u64).to_le_bytes()));
        number(&mut header, kind);
        header.extend(offset.to_le_bytes());
        planned.push(Planned { tensor, encoding, values: Place { offset }, scales: None });
        let bytes = encoding.bytes(tensor.elements() as usize) as u64;
        offset += bytes.next_multiple_of(ALIGNMENT);
    }
    header.resize(header.len().next_multiple_of(ALIGNMENT as usize), 0);
    for planned in &mut planned {
        planned.values.offset += header.len() as u64;
    }
    Ok((header, Vec::new(), planned))
}

/// One tensor in a safetensors header.
struct Entry {
    name: String,
    dtype: &'static str,
    /// Bytes per value. Wider ones come first, so that all are aligned.
    width: usize,
    shape: Vec<usize>,
    bytes: u64,
    content: Content,
}

enum Content {
    Values(usize),
    Scales(usize),
    Constant(Vec<u8>),
}

fn plan_safetensors(table: &TensorTable, to: ConvertTo) -> Result<Plan<'_>, CheckpointError> {
    let mut planned = Vec::new();
    let mut entries = Vec::new();
    for (index, found) in encodings(table, to).enumerate() {
        let (name, tensor, encoding) = found?;
        let elements = tensor.elements() as usize;
        entries.extend(described(name, tensor, encoding, index));
        let scales = encoding.group.map(|_| Place { offset: 0 });
        debug_assert_eq!(encoding.scales(elements) > 0, scales.is_some());
        planned.push(Planned { tensor, encoding, values: Place { offset: 0 }, scales });
    }
    if planned.iter().any(|planned| matches!(planned.encoding.format, Format::F8E4m3 | Format::F8E5m2)) {
        // Tells ComfyUI that there are scales.
        entries.push(Entry {
            name: "scaled_fp8".to_owned(),
            dtype: "F8_E4M3",
            width: 1,
            shape: vec![2],
            bytes: 2,
            content: Content::Constant(vec![0; 2]),
        });
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.width));
    let (header, places) = safetensors_header(
        entries.iter().map(|entry| (entry.name.as_str(), entry.dtype, &entry.shape, entry.bytes)),
    );
    let mut constants = Vec::new();
    for (entry, offset) in entries.into_iter().zip(places) {
        let place = Place { offset };
        match entry.content {
            Content::Values(index) => planned[index].values = place,
            Content::Scales(index) => planned[index].scales = Some(place),
            Content::Constant(bytes) => constants.push((place, bytes)),
        }
    }
    Ok((header, constants, planned))
}

/// The entries of one tensor: its values, its scales, and their description.
fn described(name: &str, tensor: &StoredTensor, encoding: Encoding, index: usize) -> Vec<Entry> {
    let elements = tensor.elements() as usize;
    let bytes = encoding.format.bytes(elements) as u64;
    let shape = tensor.shape().to_vec();
    let scales = encoding.scales(elements);
    let scale_bytes = (scales * size_of::<f32>()) as u64;
    let entry = |name: String, dtype, width, shape, bytes, content| Entry {
        name,
        dtype,
        width,
        shape,
        bytes,
        content,
    };
    let (_, width) = encoding.format.block();
    if encoding.format == Format::Nf4 {
        let state =
            json!({ "quant_type": "nf4", "blocksize": NF4_GROUP, "dtype": "bfloat16", "shape": shape });
        let state = state.to_string().into_bytes();
        let map: Vec<u8> = NORMAL.iter().flat_map(|value| value.to_le_bytes()).collect();
        let states = vec![state.len()];
        return vec![
            entry(name.to_owned(), "U8", 1, vec![elements / 2, 1], bytes, Content::Values(index)),
            entry(format!("{name}.absmax"), "F32", 4, vec![scales], scale_bytes, Content::Scales(index)),
            entry(format!("{name}.quant_map"), "F32", 4, vec![16], 64, Content::Constant(map)),
            entry(
                format!("{name}.quant_state.bitsandbytes__nf4"),
                "U8",
                1,
                states,
                state.len() as u64,
                Content::Constant(state),
            ),
        ];
    }
    let mut entries =
        vec![entry(name.to_owned(), encoding.format.name(), width, shape, bytes, Content::Values(index))];
    if scales > 0 {
        let stem = name.strip_suffix("weight").unwrap_or(name);
        let (scale, shape) = match encoding.format {
            Format::I8 => (format!("{name}_scale"), vec![scales, 1]),
            _ => (format!("{stem}scale_weight"), Vec::new()),
        };
        entries.push(entry(scale, "F32", 4, shape, scale_bytes, Content::Scales(index)));
    }
    entries
}
