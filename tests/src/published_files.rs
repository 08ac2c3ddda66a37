//! Published files without weights: their names and shapes from the fixtures, and a hole where their values are.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Seek as _, SeekFrom, Write as _},
    path::Path,
};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use sluice_engine::{checkpoint::safetensors_header, precision::Format};

/// The dtype of integers, and their bytes.
const INTEGERS: &str = "I64";
const INTEGER: usize = 8;

/// Folded names → shapes.
type Folded = BTreeMap<String, Vec<usize>>;

/// What a published file has; the list was written by `published_control_nets.py`.
#[derive(Debug, Clone, Deserialize)]
pub struct PublishedFile {
    dtype: String,
    /// Number of its weights.
    pub parameters: u64,
    /// Its size, if that is known.
    pub bytes: Option<u64>,
    tensors: Folded,
    #[serde(default)]
    integers: Folded,
    /// Tensors whose first value is 1.
    #[serde(default)]
    filled: Vec<String>,
}

impl PublishedFile {
    /// The one of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn of(name: &str) -> Result<Self> {
        let mut all: BTreeMap<String, Self> =
            serde_json::from_str(include_str!("../fixtures/published_control_nets.json"))?;
        all.remove(name).with_context(|| format!("there is no {name}"))
    }

    /// Writes it.
    ///
    /// # Errors
    /// If a name cannot be unfolded, or the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let format = match self.dtype.as_str() {
            "BF16" => Format::Bf16,
            "F16" => Format::F16,
            "F32" => Format::F32,
            other => bail!("{other} is no dtype of published files"),
        };
        let mut rows = Vec::new();
        for (tensors, dtype) in [(&self.tensors, Some(format)), (&self.integers, None)] {
            for (pattern, shape) in tensors {
                let elements = shape.iter().product();
                let bytes = dtype.map_or(INTEGER * elements, |format| format.bytes(elements)) as u64;
                let name = dtype.map_or(INTEGERS, Format::name);
                rows.extend(unfolded(pattern)?.into_iter().map(|own| (own, name, shape, bytes)));
            }
        }
        // What has values comes first, so that no system fills what is before them. The rest is in the order of the library of
        // safetensors: wide dtypes first, then by name.
        rows.sort_by_cached_key(|(own, dtype, ..)| {
            (!self.filled.contains(own), *dtype != INTEGERS, own.clone())
        });
        let described = rows.iter().map(|(own, dtype, shape, bytes)| (own.as_str(), *dtype, *shape, *bytes));
        let (header, places) = safetensors_header(described);
        let mut file = File::create_new(path)?;
        file.write_all(&header)?;
        file.set_len(header.len() as u64 + rows.iter().map(|(.., bytes)| bytes).sum::<u64>())?;
        for name in &self.filled {
            let place = rows.iter().position(|(own, ..)| own == name);
            let place = place.with_context(|| format!("there is no {name} to fill"))?;
            file.seek(SeekFrom::Start(places[place]))?;
            match format {
                Format::F32 => file.write_all(&1_f32.to_le_bytes())?,
                Format::Bf16 => file.write_all(&half::bf16::ONE.to_le_bytes())?,
                _ => file.write_all(&half::f16::ONE.to_le_bytes())?,
            }
        }
        Ok(())
    }
}

/// The names that a folded one stands for: braces hold alternatives, or the first and the last of consecutive numbers.
fn unfolded(pattern: &str) -> Result<Vec<String>> {
    let Some((before, rest)) = pattern.split_once('{') else { return Ok(vec![pattern.to_owned()]) };
    let (inside, after) = rest.split_once('}').with_context(|| format!("{pattern} has an open brace"))?;
    let texts: Vec<String> = match inside.split_once("..") {
        Some((first, last)) => {
            let (first, last) = (first.parse::<usize>()?, last.parse::<usize>()?);
            (first..=last).map(|number| number.to_string()).collect()
        }
        None => inside.split(',').map(str::to_owned).collect(),
    };
    let after = unfolded(after)?;
    let all = texts.iter().flat_map(|text| after.iter().map(move |after| format!("{before}{text}{after}")));
    Ok(all.collect())
}
