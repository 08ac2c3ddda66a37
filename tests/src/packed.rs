//! Model files whose weights are stored in few bits.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use candle_core::{DType, Device, Tensor};
use safetensors::{Dtype, tensor::TensorView};
use sluice_engine::precision::{Encoding, Format, Packed, encode};

use crate::original_names::Tensors;

/// A tensor as it is written.
#[derive(Debug, Clone)]
pub struct Written {
    /// How.
    pub encoding: Encoding,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The values, then the scales.
    pub bytes: Vec<u8>,
}

impl Written {
    /// Encodes a tensor.
    pub fn new(tensor: &Tensor, encoding: Encoding) -> Result<Self> {
        let values = tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
        let bytes =
            encode(encoding, &values).with_context(|| format!("nothing is written as {encoding:?}"))?;
        Ok(Self { encoding, shape: tensor.dims().to_vec(), bytes })
    }

    /// What it stands for, in f32.
    pub fn widened(&self) -> Result<Tensor> {
        let mut values = vec![0.0; self.shape.iter().product()];
        let packed = Packed::new(self.encoding, values.len(), &self.bytes).context("too few bytes")?;
        packed.widen(0, &mut values);
        Ok(Tensor::from_vec(values, self.shape.as_slice(), &Device::Cpu)?)
    }

    fn split(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(self.encoding.format.bytes(self.shape.iter().product()))
    }
}

/// Tensors as they are written, by name.
pub type Packaged = BTreeMap<String, Written>;

/// Encodes tensors, each as `choose` says for its name and shape.
pub fn package(tensors: &Tensors, choose: impl Fn(&str, &[usize]) -> Encoding) -> Result<Packaged> {
    let written = tensors
        .iter()
        .map(|(name, tensor)| Ok((name.clone(), Written::new(tensor, choose(name, tensor.dims()))?)));
    written.collect()
}

/// The tensors that these stand for, in f32.
pub fn widened(packaged: &Packaged) -> Result<Tensors> {
    packaged.iter().map(|(name, written)| Ok((name.clone(), written.widened()?))).collect()
}

/// Writes a GGUF file, tensors in the order of their names.
pub fn write_gguf(path: &Path, architecture: &str, tensors: &Packaged) -> Result<()> {
    const ALIGNMENT: usize = 32;
    let mut header = Vec::new();
    let string = |header: &mut Vec<u8>, text: &str| {
        header.extend((text.len() as u64).to_le_bytes());
        header.extend(text.as_bytes());
    };
    header.extend(b"GGUF");
    header.extend(3u32.to_le_bytes());
    header.extend((tensors.len() as u64).to_le_bytes());
    header.extend(1u64.to_le_bytes());
    string(&mut header, "general.architecture");
    header.extend(8u32.to_le_bytes());
    string(&mut header, architecture);
    let mut data = Vec::new();
    for (name, written) in tensors {
        let kind: u32 = match written.encoding.format {
            Format::F32 => 0,
            Format::F16 => 1,
            Format::Q8_0 => 8,
            Format::Q4K => 12,
            Format::Bf16 => 30,
            other => anyhow::bail!("no test writes {other:?} to GGUF"),
        };
        string(&mut header, name);
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

/// The names under which safetensors files keep scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleNames {
    /// `layer.scale_weight`, one for a tensor.
    ScaleWeight,
    /// `layer.weight_scale`.
    WeightScale,
}

/// Writes a safetensors file; scales are tensors of their own.
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
            Format::I8 => Dtype::I8,
            Format::Nf4 => {
                let group = written.encoding.group.map_or(0, std::num::NonZeroUsize::get);
                let state = serde_json::json!({
                    "quant_type": "nf4", "blocksize": group, "dtype": "float32", "shape": shape,
                });
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
            let (full, shape) = match names {
                _ if dtype == Dtype::U8 => (format!("{name}.absmax"), vec![count]),
                ScaleNames::ScaleWeight => (format!("{stem}.scale_weight"), vec![1; 0]),
                ScaleNames::WeightScale => (format!("{stem}.weight_scale"), vec![count, 1]),
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
