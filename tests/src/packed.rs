//! Model files with quantized weights.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use candle_core::{DType, Device, Tensor};
use safetensors::{Dtype, tensor::TensorView};
use sluice_engine::precision::{Encoding, Format, Packed, Zeros, encode};

use crate::original_names::Tensors;

/// All packed formats, some with several group sizes, and a number of values to test each with.
pub fn packed_encodings() -> Vec<(Encoding, usize)> {
    let mut all = Vec::new();
    for format in Format::ALL.into_iter().filter(|format| !format.is_wide()) {
        match format {
            Format::F8E4m3 | Format::F8E5m2 | Format::I8 => {
                all.extend([(format.into(), 4099), (format.into(), 3)]);
                all.extend([1, 5, 64, 100, 4099].map(|group| (Encoding::scaled(format, group), 4099)));
            }
            Format::I4 | Format::Nf4 | Format::Fp4 | Format::E2m1 => {
                all.extend([(format.into(), 4098)]);
                all.extend([6, 16, 64, 100].map(|group| (Encoding::scaled(format, group), 4098)));
            }
            _ => all.extend([(format.into(), 256 * 19), (format.into(), 256)]),
        }
        if matches!(format, Format::I8 | Format::I4) {
            let zeros = [Zeros::Subtracted, Zeros::Added];
            let scaled = |group| Encoding::scaled(format, group);
            for group in [6, 64, 4098] {
                all.extend(zeros.map(|zeros| (scaled(group).with_zeros(zeros), 4098)));
            }
            all.extend([4, 16, 64, 256].map(|rotation| (scaled(768).rotated(rotation), 4608)));
            all.push((scaled(64).rotated(64).with_zeros(Zeros::Subtracted), 4608));
        }
    }
    all
}

/// A tensor as it is written.
#[derive(Debug, Clone)]
pub struct Written {
    /// Its encoding.
    pub encoding: Encoding,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The values, then the scales and the zero points.
    pub bytes: Vec<u8>,
}

impl Written {
    /// Quantizes a tensor.
    pub fn new(tensor: &Tensor, encoding: Encoding) -> Result<Self> {
        let values = tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
        let bytes = if encoding == Format::F8E5m2.into() {
            // The upper half of 16 bits.
            values.iter().map(|value| (half::f16::from_f32(*value).to_bits() >> 8) as u8).collect()
        } else {
            encode(encoding, &values).with_context(|| format!("nothing is written as {encoding:?}"))?
        };
        Ok(Self { encoding, shape: tensor.dims().to_vec(), bytes })
    }

    /// Blocks of a GGUF type, drawn from the name's stream except for small 16-bit scales: for types that
    /// cannot be quantized to here.
    pub fn drawn(name: &str, shape: &[usize], format: Format) -> Result<Self> {
        let scales: &[usize] = match format {
            Format::Mxfp4 => &[],
            Format::Q4_0 | Format::Q5_0 | Format::Q8_0 | Format::Iq4Nl | Format::Iq4Xs => &[0],
            Format::Q4_1 | Format::Q5_1 | Format::Q4K | Format::Q5K => &[0, 2],
            Format::Q2K => &[80, 82],
            Format::Q3K => &[108],
            Format::Q6K => &[208],
            other => anyhow::bail!("{other:?} has no blocks to draw"),
        };
        let (_, block) = format.block();
        let count = format.bytes(shape.iter().product());
        let draws = crate::hash_weights::noise(name, count);
        let mut bytes: Vec<u8> = draws.iter().map(|draw| (draw.to_bits() >> 8) as u8).collect();
        for block in bytes.chunks_mut(block) {
            for scale in scales {
                let small = half::f16::from_f32(f32::from(block[*scale]) * 1e-5);
                block[*scale..scale + 2].copy_from_slice(&small.to_le_bytes());
            }
            if format == Format::Mxfp4 {
                // An exponent, plus 127.
                block[0] = 110 + block[0] % 16;
            }
        }
        Ok(Self { encoding: format.into(), shape: shape.to_vec(), bytes })
    }

    /// Values in an encoding that use all of its codes.
    pub fn with_every_code(encoding: Encoding, count: usize) -> Self {
        let name = format!("{encoding:?}");
        if let Ok(drawn) = Self::drawn(&name, &[count], encoding.format) {
            return drawn;
        }
        let mut bytes: Vec<u8> =
            (0..encoding.format.bytes(count)).map(|index| (index * 89 + index / 256) as u8).collect();
        let scales = crate::hash_weights::noise(&name, encoding.tail(count));
        bytes.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
        Self { encoding, shape: vec![count], bytes }
    }

    /// Its values in f32.
    pub fn widened(&self) -> Result<Tensor> {
        let mut values = vec![0.0; self.shape.iter().product()];
        let packed = Packed::new(self.encoding, values.len(), &self.bytes).context("too few bytes")?;
        packed.widen(0, &mut values);
        Ok(Tensor::from_vec(values, self.shape.as_slice(), &Device::Cpu)?)
    }

    /// Rounds the scales to values that nested scales can represent.
    pub fn with_nested_scales(mut self) -> Self {
        let all = self.split().0.len();
        let scales = floats(&self.bytes[all..]);
        let values =
            nested::codes(&scales).into_iter().enumerate().map(|(index, code)| nested::value(index, code));
        let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        self.bytes[all..].copy_from_slice(&bytes);
        self
    }

    fn split(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(self.encoding.format.bytes(self.shape.iter().product()))
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// 8-bit scales as in bitsandbytes: a table, a scale per group, and one offset.
mod nested {
    pub const GROUP: usize = 256;
    pub const OFFSET: f32 = 0.0625;

    pub fn map() -> Vec<f32> {
        (0..256).map(|code| ((code as f32 - 127.0) / 128.0).powi(3)).collect()
    }

    pub fn largest(group: usize) -> f32 {
        0.25 + group as f32 * 0.125
    }

    pub fn value(index: usize, code: u8) -> f32 {
        map()[usize::from(code)] * largest(index / GROUP) + OFFSET
    }

    pub fn codes(scales: &[f32]) -> Vec<u8> {
        let distance = |index: usize, code: u8, scale: f32| (value(index, code) - scale).abs();
        let nearest = |(index, scale): (usize, &f32)| {
            let mut codes = 0..=u8::MAX;
            let first = codes.next().unwrap_or_default();
            codes.fold(first, |best, code| {
                if distance(index, code, *scale) < distance(index, best, *scale) { code } else { best }
            })
        };
        scales.iter().enumerate().map(nearest).collect()
    }
}

/// Quantized tensors by name.
pub type Packaged = BTreeMap<String, Written>;

/// Quantizes tensors, with the encoding that `choose` returns for name and shape.
pub fn package(tensors: &Tensors, choose: impl Fn(&str, &[usize]) -> Encoding) -> Result<Packaged> {
    let written = tensors
        .iter()
        .map(|(name, tensor)| Ok((name.clone(), Written::new(tensor, choose(name, tensor.dims()))?)));
    written.collect()
}

/// As in published GGUF files: matrices in blocks if their rows are whole blocks, else in 16 bits.
pub fn in_blocks(tensors: &Tensors) -> Result<Packaged> {
    package(tensors, |_, shape| match shape {
        [_, columns] if columns.is_multiple_of(256) => Format::Q4K.into(),
        [_, columns] if columns.is_multiple_of(32) => Format::Q8_0.into(),
        [_, _] => Format::F16.into(),
        _ => Format::F32.into(),
    })
}

/// As in published GGUF files: those of the chosen matrices whose rows are whole blocks in 8 bits, all others in 16.
pub fn in_8_bits(tensors: &Tensors, is_chosen: impl Fn(&str) -> bool) -> Result<Packaged> {
    package(tensors, |name, shape| match shape {
        [_, columns] if is_chosen(name) && columns.is_multiple_of(32) => Format::Q8_0.into(),
        [_, _] => Format::Bf16.into(),
        _ => Format::F32.into(),
    })
}

/// As in published safetensors files: the chosen matrices in fp8 with a scale each, all else in bf16.
pub fn in_scaled_fp8(tensors: &Tensors, is_chosen: impl Fn(&str) -> bool) -> Result<Packaged> {
    package(tensors, |name, shape| match shape {
        [_, _] if is_chosen(name) => Encoding::scaled(Format::F8E4m3, shape.iter().product()),
        _ => Format::Bf16.into(),
    })
}

/// llama.cpp's names for the tensors of a T5 encoder.
pub const T5_IN_LLAMA: [(&str, &str); 13] = [
    ("encoder.block.", "enc.blk."),
    ("encoder.final_layer_norm.", "enc.output_norm."),
    ("shared.", "token_embd."),
    ("layer.0.SelfAttention.q.", "attn_q."),
    ("layer.0.SelfAttention.k.", "attn_k."),
    ("layer.0.SelfAttention.v.", "attn_v."),
    ("layer.0.SelfAttention.o.", "attn_o."),
    ("layer.0.SelfAttention.relative_attention_bias.", "attn_rel_b."),
    ("layer.0.layer_norm.", "attn_norm."),
    ("layer.1.DenseReluDense.wi_0.", "ffn_gate."),
    ("layer.1.DenseReluDense.wi_1.", "ffn_up."),
    ("layer.1.DenseReluDense.wo.", "ffn_down."),
    ("layer.1.layer_norm.", "ffn_norm."),
];

/// llama.cpp's names of the tensors of a language model: the authors' and its own.
pub const LANGUAGE_MODEL_IN_LLAMA: [(&str, &str); 14] = [
    ("model.layers.", "blk."),
    ("input_layernorm", "attn_norm"),
    ("post_attention_layernorm", "ffn_norm"),
    ("self_attn.q_norm", "attn_q_norm"),
    ("self_attn.k_norm", "attn_k_norm"),
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.o_proj", "attn_output"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
    ("model.embed_tokens", "token_embd"),
    ("model.norm", "output_norm"),
];

/// The tensors with parts of their names replaced, in the order of a table.
pub fn renamed(tensors: &Packaged, table: &[(&str, &str)]) -> Packaged {
    let rename = |name: &str| table.iter().fold(name.to_owned(), |name, (from, to)| name.replace(from, to));
    tensors.iter().map(|(name, tensor)| (rename(name), tensor.clone())).collect()
}

/// The dequantized tensors, in f32.
pub fn widened(packaged: &Packaged) -> Result<Tensors> {
    packaged.iter().map(|(name, written)| Ok((name.clone(), written.widened()?))).collect()
}

/// A value in the header of a GGUF file.
#[derive(Debug, Clone)]
pub enum GgufValue {
    /// An integer.
    Number(u32),
    /// A float.
    Float(f32),
    /// Text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of floats.
    Floats(Vec<f32>),
}

impl GgufValue {
    fn write(&self, out: &mut Vec<u8>) {
        let list = |out: &mut Vec<u8>, kind: u32, count: usize| {
            out.extend([9, kind].map(u32::to_le_bytes).concat());
            out.extend((count as u64).to_le_bytes());
        };
        match self {
            Self::Number(number) => out.extend([4, *number].map(u32::to_le_bytes).concat()),
            Self::Float(value) => {
                out.extend(6u32.to_le_bytes());
                out.extend(value.to_le_bytes());
            }
            Self::Text(text) => {
                out.extend(8u32.to_le_bytes());
                write_text(out, text);
            }
            Self::Texts(texts) => {
                list(out, 8, texts.len());
                texts.iter().for_each(|text| write_text(out, text));
            }
            Self::Floats(values) => {
                list(out, 6, values.len());
                out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
        }
    }
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Writes a GGUF file, with tensors sorted by name.
pub fn write_gguf(path: &Path, architecture: &str, tensors: &Packaged) -> Result<()> {
    let architecture = GgufValue::Text(architecture.to_owned());
    write_gguf_values(path, &[("general.architecture", architecture)], tensors)
}

/// Writes a GGUF file with these values in its header.
pub fn write_gguf_values(path: &Path, values: &[(&str, GgufValue)], tensors: &Packaged) -> Result<()> {
    const ALIGNMENT: usize = 32;
    let mut header = b"GGUF".to_vec();
    header.extend(3u32.to_le_bytes());
    header.extend((tensors.len() as u64).to_le_bytes());
    header.extend((values.len() as u64).to_le_bytes());
    for (key, value) in values {
        write_text(&mut header, key);
        value.write(&mut header);
    }
    let mut data = Vec::new();
    for (name, written) in tensors {
        let kind: u32 = match written.encoding.format {
            Format::F32 => 0,
            Format::F16 => 1,
            Format::Q4_0 => 2,
            Format::Q4_1 => 3,
            Format::Q5_0 => 6,
            Format::Q5_1 => 7,
            Format::Q8_0 => 8,
            Format::Q2K => 10,
            Format::Q3K => 11,
            Format::Q4K => 12,
            Format::Q5K => 13,
            Format::Q6K => 14,
            Format::Iq4Nl => 20,
            Format::Iq4Xs => 23,
            Format::Bf16 => 30,
            Format::Mxfp4 => 39,
            other => anyhow::bail!("no test writes {other:?} to GGUF"),
        };
        write_text(&mut header, name);
        header.extend((written.shape.len() as u32).to_le_bytes());
        for side in written.shape.iter().rev() {
            header.extend((*side as u64).to_le_bytes());
        }
        header.extend(kind.to_le_bytes());
        header.extend((data.len() as u64).to_le_bytes());
        data.extend(&written.bytes);
        data.resize(data.len().next_multiple_of(ALIGNMENT), 0);
    }
    header.resize(header.len().next_multiple_of(ALIGNMENT), 0);
    header.extend(data);
    fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
    Ok(fs::write(path, header)?)
}

/// The names of scales in safetensors files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleNames {
    /// `layer.scale_weight`, one per tensor.
    ScaleWeight,
    /// `layer.weight_scale`.
    WeightScale,
    /// NF4's, quantized themselves.
    Nested,
}

/// Writes a safetensors file; scales are separate tensors.
pub fn write_safetensors(path: &Path, tensors: &Packaged, names: ScaleNames) -> Result<()> {
    let mut entries: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = Vec::new();
    for (name, written) in tensors {
        let (values, scales) = written.split();
        let count = scales.len() / size_of::<f32>();
        let mut shape = written.shape.clone();
        let dtype = match written.encoding.format {
            Format::F32 => Dtype::F32,
            Format::F16 => Dtype::F16,
            Format::Bf16 => Dtype::BF16,
            Format::F8E4m3 => Dtype::F8_E4M3,
            Format::F8E5m2 => Dtype::F8_E5M2,
            Format::I8 => Dtype::I8,
            Format::Nf4 => {
                let group = written.encoding.group.map_or(0, std::num::NonZeroUsize::get);
                let mut state = serde_json::json!({
                    "quant_type": "nf4", "blocksize": group, "dtype": "float32", "shape": shape,
                });
                if names == ScaleNames::Nested {
                    state["nested_blocksize"] = nested::GROUP.into();
                    state["nested_offset"] = nested::OFFSET.into();
                    state["nested_dtype"] = "float32".into();
                    let mut table = |part: &str, values: &[f32]| {
                        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                        entries.push((format!("{name}.{part}"), Dtype::F32, vec![values.len()], bytes));
                    };
                    table("nested_quant_map", &nested::map());
                    let groups = 0..count.div_ceil(nested::GROUP);
                    table("nested_absmax", &groups.map(nested::largest).collect::<Vec<_>>());
                }
                let state = serde_json::to_vec(&state)?;
                let full = format!("{name}.quant_state.bitsandbytes__nf4");
                entries.push((full, Dtype::U8, vec![state.len()], state));
                entries.push((format!("{name}.quant_map"), Dtype::F32, vec![16], vec![0; 64]));
                shape = vec![values.len(), 1];
                Dtype::U8
            }
            other => anyhow::bail!("no test writes {other:?} to safetensors"),
        };
        entries.push((name.clone(), dtype, shape, values.to_vec()));
        if count > 0 {
            let stem = name.strip_suffix(".weight").context("only weights have scales")?;
            if names == ScaleNames::Nested {
                entries.push((
                    format!("{name}.absmax"),
                    Dtype::U8,
                    vec![count],
                    nested::codes(&floats(scales)),
                ));
                continue;
            }
            let (full, shape) = match names {
                _ if dtype == Dtype::U8 => (format!("{name}.absmax"), vec![count]),
                ScaleNames::ScaleWeight => (format!("{stem}.scale_weight"), vec![1; 0]),
                ScaleNames::WeightScale | ScaleNames::Nested => {
                    (format!("{stem}.weight_scale"), vec![count, 1])
                }
            };
            entries.push((full, Dtype::F32, shape, scales.to_vec()));
        }
    }
    let views = entries.iter().map(|(name, dtype, shape, bytes)| {
        Ok((name.clone(), TensorView::new(*dtype, shape.clone(), bytes)?))
    });
    let views: Vec<(String, TensorView<'_>)> = views.collect::<Result<_>>()?;
    fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
    Ok(fs::write(path, safetensors::serialize(views, None)?)?)
}
