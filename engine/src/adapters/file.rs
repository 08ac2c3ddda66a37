//! Adapter files: groups keys by layer, and determines scales.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{AdapterError, Content, content::Factor};
use crate::checkpoint::{CheckpointError, StoredTensor, TensorTable, read_header, read_notes};

/// What a file changes in one layer.
#[derive(Debug, Clone)]
pub struct Layer {
    /// The layer's name in the file.
    pub name: String,
    /// Its keys.
    pub keys: Vec<String>,
    /// The change of its weights.
    pub content: Option<Content>,
    /// Factor of the change: alpha divided by rank.
    pub scale: f32,
    /// DoRA: the norms of the changed weights, one per output or input (Liu et al. 2024, arXiv:2402.09353).
    pub magnitude: Option<StoredTensor>,
    /// The change of its bias.
    pub bias: Option<StoredTensor>,
}

/// The header of an adapter, by layer.
#[derive(Debug, Clone)]
pub struct AdapterFile {
    /// Its path.
    pub path: PathBuf,
    /// Sorted by name.
    pub layers: Vec<Layer>,
    /// Keys that belong to no known kind of adapter.
    pub unknown: Vec<String>,
    /// Metadata from the program that trained it.
    pub notes: BTreeMap<String, String>,
}

/// The meaning of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Down,
    Up,
    Mid,
    Alpha,
    Magnitude,
    Bias,
    Difference,
    /// Index of the product, and of the factor in it.
    Hadamard(usize, usize),
    HadamardCore(usize),
    /// Index of the factor of the Kronecker product.
    Kronecker(usize),
    KroneckerFactor(usize, usize),
    KroneckerCore,
}

/// Suffixes of keys. diffusers has written four forms of the first two over time.
const PARTS: [(&str, Part); 37] = [
    (".lora_A.weight", Part::Down),
    (".lora_B.weight", Part::Up),
    (".lora_A.default.weight", Part::Down),
    (".lora_B.default.weight", Part::Up),
    (".lora_down.weight", Part::Down),
    (".lora_up.weight", Part::Up),
    (".lora.down.weight", Part::Down),
    (".lora.up.weight", Part::Up),
    (".lora_linear_layer.down.weight", Part::Down),
    (".lora_linear_layer.up.weight", Part::Up),
    ("_lora.down.weight", Part::Down),
    ("_lora.up.weight", Part::Up),
    (".lora_mid.weight", Part::Mid),
    (".alpha", Part::Alpha),
    (".dora_scale", Part::Magnitude),
    (".lora_magnitude_vector", Part::Magnitude),
    (".lora_magnitude_vector.weight", Part::Magnitude),
    (".lora_magnitude_vector.default.weight", Part::Magnitude),
    (".diff", Part::Difference),
    (".w_norm", Part::Difference),
    (".diff_b", Part::Bias),
    (".b_norm", Part::Bias),
    (".hada_w1_a", Part::Hadamard(0, 0)),
    (".hada_w1_b", Part::Hadamard(0, 1)),
    (".hada_w2_a", Part::Hadamard(1, 0)),
    (".hada_w2_b", Part::Hadamard(1, 1)),
    (".hada_t1", Part::HadamardCore(0)),
    (".hada_t2", Part::HadamardCore(1)),
    (".lokr_w1", Part::Kronecker(0)),
    (".lokr_w2", Part::Kronecker(1)),
    (".lokr_w1_a", Part::KroneckerFactor(0, 0)),
    (".lokr_w1_b", Part::KroneckerFactor(0, 1)),
    (".lokr_w2_a", Part::KroneckerFactor(1, 0)),
    (".lokr_w2_b", Part::KroneckerFactor(1, 1)),
    (".lokr_t2", Part::KroneckerCore),
    (".lora_B.bias", Part::Bias),
    (".lora_B.default.bias", Part::Bias),
];

impl AdapterFile {
    /// Reads the header of an adapter, and its alphas.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not an adapter, or if tensors of a layer are missing or do not
    /// fit together.
    pub fn open(path: &Path) -> Result<Self, AdapterError> {
        if !path.is_file() {
            return Err(CheckpointError::NotFound { path: path.to_owned() }.into());
        }
        let (table, notes) = (read_header(path)?, read_notes(path)?);
        let first = table.keys().next().cloned().unwrap_or_else(|| "missing".to_owned());
        let (grouped, unknown) = group(table);
        if grouped.is_empty() {
            return Err(AdapterError::NotAnAdapter { path: path.to_owned(), first });
        }
        let scales = Scales::new(&notes);
        let layers = grouped.into_iter().map(|(name, parts)| {
            parts.layer(&name, &scales).map_err(|problem| match problem {
                Problem::Parts(reason) => AdapterError::Layer { path: path.to_owned(), layer: name, reason },
                Problem::File(error) => error.into(),
            })
        });
        Ok(Self { path: path.to_owned(), layers: layers.collect::<Result<_, _>>()?, unknown, notes })
    }

    /// The file's name without its extension.
    pub fn name(&self) -> String {
        self.path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Number of keys.
    pub fn keys(&self) -> usize {
        self.unknown.len() + self.layers.iter().map(|layer| layer.keys.len()).sum::<usize>()
    }

    /// The kinds of its changes, most frequent first, such as `LoRA` or `LoHa and difference`.
    pub fn kind(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for layer in &self.layers {
            let kind = match (&layer.content, &layer.magnitude) {
                (Some(_), Some(_)) => "DoRA",
                (Some(content), None) => content.kind(),
                (None, _) => "difference",
            };
            *counts.entry(kind).or_default() += 1;
        }
        let mut kinds: Vec<(&str, usize)> = counts.into_iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        kinds.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>().join(" and ")
    }

    /// The lowest and the highest rank.
    pub fn ranks(&self) -> Option<[usize; 2]> {
        let ranks = self.layers.iter().filter_map(|layer| layer.content.as_ref()?.rank());
        let (low, high) = ranks.fold((usize::MAX, 0), |(low, high), rank| (low.min(rank), high.max(rank)));
        (high > 0).then_some([low, high])
    }
}

/// The parts of a layer found so far.
#[derive(Debug, Default)]
struct Parts {
    keys: Vec<String>,
    tensors: BTreeMap<Part, StoredTensor>,
}

enum Problem {
    Parts(String),
    File(CheckpointError),
}

fn group(table: TensorTable) -> (BTreeMap<String, Parts>, Vec<String>) {
    let mut grouped: BTreeMap<String, Parts> = BTreeMap::new();
    let mut unknown = Vec::new();
    for (key, tensor) in table {
        let found = PARTS.iter().filter_map(|(end, part)| Some((key.strip_suffix(end)?, *part)));
        match found.min_by_key(|(name, _)| name.len()) {
            Some((name, part)) if !name.is_empty() => {
                let parts = grouped.entry(name.to_owned()).or_default();
                parts.tensors.insert(part, tensor);
                parts.keys.push(key);
            }
            _ => unknown.push(key),
        }
    }
    (grouped, unknown)
}

impl Parts {
    fn layer(mut self, name: &str, scales: &Scales) -> Result<Layer, Problem> {
        let unreadable = self.tensors.values().find(|tensor| tensor.encoding().is_none());
        if let Some(tensor) = unreadable {
            return Err(Problem::File(CheckpointError::Dtype {
                path: tensor.path().to_owned(),
                name: name.to_owned(),
                found: tensor.dtype_name(),
            }));
        }
        let alpha = match self.tensors.remove(&Part::Alpha) {
            Some(alpha) if alpha.elements() == 1 => {
                Some(alpha.values().map_err(Problem::File)?[0]).filter(|alpha| alpha.is_finite())
            }
            Some(_) => return Err(Problem::Parts("its alpha is not a single number".to_owned())),
            None => None,
        };
        let (magnitude, bias) = (self.tensors.remove(&Part::Magnitude), self.tensors.remove(&Part::Bias));
        let content = self.content()?;
        if let Some(content) = &content {
            content.dims().map_err(Problem::Parts)?;
        }
        if let Some(part) = self.tensors.keys().next() {
            return Err(Problem::Parts(format!("{} has no counterpart", end_of(*part))));
        }
        let scale = match content.as_ref().and_then(Content::rank) {
            Some(rank) => scales.of(name, alpha, rank),
            None => 1.0,
        };
        Ok(Layer { name: name.to_owned(), keys: self.keys, content, scale, magnitude, bias })
    }

    fn content(&mut self) -> Result<Option<Content>, Problem> {
        let has = |part| self.tensors.contains_key(&part);
        if has(Part::Down) || has(Part::Up) {
            let (down, up) = (self.take(Part::Down)?, self.take(Part::Up)?);
            return Ok(Some(Content::LowRank { down, up, mid: self.tensors.remove(&Part::Mid) }));
        }
        if self.tensors.keys().any(|part| matches!(part, Part::Hadamard(..))) {
            let mut side = |product, side| self.take(Part::Hadamard(product, side));
            let factors = [[side(0, 0)?, side(0, 1)?], [side(1, 0)?, side(1, 1)?]];
            let cores = if self.tensors.contains_key(&Part::HadamardCore(0)) {
                Some([self.take(Part::HadamardCore(0))?, self.take(Part::HadamardCore(1))?])
            } else {
                None
            };
            return Ok(Some(Content::Hadamard { factors, cores }));
        }
        let is_kronecker = |part: &Part| matches!(part, Part::Kronecker(_) | Part::KroneckerFactor(..));
        if self.tensors.keys().any(is_kronecker) {
            let (first, second) = (self.factor(0)?, self.factor(1)?);
            return Ok(Some(Content::Kronecker { first, second }));
        }
        Ok(self.tensors.remove(&Part::Difference).map(Content::Difference))
    }

    fn factor(&mut self, number: usize) -> Result<Factor, Problem> {
        if let Some(whole) = self.tensors.remove(&Part::Kronecker(number)) {
            return Ok(Factor::Whole(whole));
        }
        let left = self.take(Part::KroneckerFactor(number, 0))?;
        let right = self.take(Part::KroneckerFactor(number, 1))?;
        let core = if number == 1 { self.tensors.remove(&Part::KroneckerCore) } else { None };
        Ok(match core {
            Some(core) => Factor::Tucker(core, left, right),
            None => Factor::Product(left, right),
        })
    }

    fn take(&mut self, part: Part) -> Result<StoredTensor, Problem> {
        self.tensors.remove(&part).ok_or_else(|| Problem::Parts(format!("{} is missing", end_of(part))))
    }
}

/// The suffix of a part in the files of most programs.
fn end_of(part: Part) -> &'static str {
    match part {
        Part::Down => "lora_A or lora_down",
        Part::Up => "lora_B or lora_up",
        part => PARTS.iter().find(|(_, known)| *known == part).map_or("a part", |(end, _)| &end[1..]),
    }
}

/// Scales for layers whose keys do not include one.
struct Scales {
    /// PEFT's configuration, as stored by diffusers; names begin with that of the component.
    configuration: Map<String, Value>,
}

impl Scales {
    fn new(notes: &BTreeMap<String, String>) -> Self {
        let text = notes.get("lora_adapter_metadata");
        let parsed = text.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        Self { configuration: parsed.unwrap_or_default() }
    }

    /// Alpha divided by rank; alpha defaults to the rank.
    fn of(&self, layer: &str, alpha: Option<f32>, rank: usize) -> f32 {
        let (component, name) = layer.split_once('.').unwrap_or(("", layer));
        let entry = |key: &str| self.configuration.get(&format!("{component}.{key}"));
        let patterns = entry("alpha_pattern").and_then(Value::as_object);
        let by_name = patterns.and_then(|patterns| {
            let fits = |pattern: &str| name == pattern || name.ends_with(&format!(".{pattern}"));
            patterns.iter().find(|(pattern, _)| fits(pattern)).map(|(_, alpha)| alpha)
        });
        let configured = by_name.or_else(|| entry("lora_alpha")).and_then(Value::as_f64);
        let alpha = alpha.or(configured.map(|alpha| alpha as f32)).unwrap_or(rank as f32);
        let is_square_root = entry("use_rslora").and_then(Value::as_bool).unwrap_or(false);
        alpha / if is_square_root { (rank as f32).sqrt() } else { rank as f32 }
    }
}
