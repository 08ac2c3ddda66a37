//! The tensors of an architecture, and how to find them in files.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use super::{CheckpointError, Role, StoredTensor, TensorTable, quantization::encoding_of};
use crate::precision::{Format, Storage};

/// The tensors that one block needs. Computed from a configuration, without any file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSpec {
    /// Its name, such as `layers.3`.
    pub name: String,
    /// Prefix of its tensors' names in the file.
    pub prefix: String,
    /// Name within the block → shape.
    pub tensors: Vec<(String, Vec<usize>)>,
}

impl BlockSpec {
    /// A block without tensors, whose tensors' names start with its own name.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { prefix: format!("{name}."), name, tensors: Vec::new() }
    }

    /// A block of tensors at the top level of the file.
    pub fn stem(name: impl Into<String>) -> Self {
        Self { name: name.into(), prefix: String::new(), tensors: Vec::new() }
    }

    /// Adds one tensor.
    pub fn tensor(mut self, name: impl Into<String>, shape: &[usize]) -> Self {
        self.tensors.push((name.into(), shape.to_vec()));
        self
    }

    /// Adds a weight matrix `[outputs, inputs]` without bias.
    pub fn matrix(self, name: &str, outputs: usize, inputs: usize) -> Self {
        self.tensor(format!("{name}.weight"), &[outputs, inputs])
    }

    /// Adds a weight matrix `[outputs, inputs]` and a bias.
    pub fn linear(self, name: &str, outputs: usize, inputs: usize) -> Self {
        self.matrix(name, outputs, inputs).tensor(format!("{name}.bias"), &[outputs])
    }

    /// Adds the weight of a norm.
    pub fn scale(self, name: &str, width: usize) -> Self {
        self.tensor(format!("{name}.weight"), &[width])
    }

    /// Adds weight and bias of a norm.
    pub fn norm(self, name: &str, width: usize) -> Self {
        self.scale(name, width).tensor(format!("{name}.bias"), &[width])
    }

    /// Adds a batch norm with its statistics.
    pub fn batch_norm(self, name: &str, width: usize) -> Self {
        self.norm(name, width)
            .tensor(format!("{name}.running_mean"), &[width])
            .tensor(format!("{name}.running_var"), &[width])
    }

    /// Adds a convolution over time and space with bias; `kernel` is its frames, rows and columns.
    pub fn conv3d(self, name: &str, outputs: usize, inputs: usize, kernel: [usize; 3]) -> Self {
        let [frames, rows, columns] = kernel;
        self.tensor(format!("{name}.weight"), &[outputs, inputs, frames, rows, columns])
            .tensor(format!("{name}.bias"), &[outputs])
    }

    /// Adds a 3×3 convolution with bias of each channel by itself.
    pub fn conv_of_each(self, name: &str, channels: usize) -> Self {
        self.tensor(format!("{name}.weight"), &[channels, 1, 3, 3])
            .tensor(format!("{name}.bias"), &[channels])
    }

    /// Adds a square convolution with bias.
    pub fn conv(self, name: &str, outputs: usize, inputs: usize, side: usize) -> Self {
        self.tensor(format!("{name}.weight"), &[outputs, inputs, side, side])
            .tensor(format!("{name}.bias"), &[outputs])
    }
}

/// The name of a tensor in a file, and the part of it that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredName {
    /// The stored tensor.
    pub name: String,
    /// Some of this many equal parts along the first dimension, if several tensors are concatenated there.
    pub part: Option<(Range<usize>, usize)>,
}

impl StoredName {
    /// A tensor that is stored whole.
    pub fn whole(name: impl Into<String>) -> Self {
        Self { name: name.into(), part: None }
    }

    /// Some of `of` equal parts of a tensor along its first dimension.
    pub fn part(name: impl Into<String>, parts: Range<usize>, of: usize) -> Self {
        Self { name: name.into(), part: Some((parts, of)) }
    }
}

/// One block of a component, with the locations of its tensors.
#[derive(Debug, Clone)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// Prefix of its tensors' names within the component.
    pub prefix: String,
    /// Name within the block → stored tensor.
    pub tensors: Vec<(String, StoredTensor)>,
    /// Low-rank terms that are added when its matrices are multiplied.
    pub terms: Vec<LowRankTerm>,
}

/// A low-rank product that is added when a matrix is multiplied. Matrix and factors are tensors of the same
/// block, and are loaded and freed with it.
#[derive(Debug, Clone, PartialEq)]
pub struct LowRankTerm {
    /// The name of the matrix `[outputs, inputs]`.
    pub matrix: String,
    /// The name of the first factor, `[rank, inputs]`.
    pub down: String,
    /// The name of the second factor, `[outputs, rank]`.
    pub up: String,
    /// Factor of the product.
    pub scale: f32,
}

impl Block {
    /// Bytes on disk.
    pub fn stored_bytes(&self) -> u64 {
        self.tensors.iter().map(|(_, tensor)| tensor.stored_bytes()).sum()
    }

    /// Bytes of its tensors in the encoding they are provided in.
    pub fn given_bytes(&self) -> u64 {
        self.tensors.iter().map(|(_, tensor)| tensor.given_bytes()).sum()
    }

    /// Number of weights.
    pub fn parameters(&self) -> u64 {
        self.tensors.iter().map(|(_, tensor)| tensor.elements()).sum()
    }

    /// Number of weights quantized while they are read, by target format.
    pub fn encoded(&self) -> BTreeMap<Format, u64> {
        let mut encoded = BTreeMap::new();
        for (_, tensor) in &self.tensors {
            if let Some(given) = tensor.encoding().filter(|_| tensor.encoding() != tensor.stored_encoding()) {
                *encoded.entry(given.format).or_default() += tensor.elements();
            }
        }
        encoded
    }

    /// Whether its tensors equal those of another block in every value. Terms may differ in scale.
    pub fn holds(&self, other: &Self) -> bool {
        let tensors = |block: &Self| -> Vec<(String, String)> {
            block.tensors.iter().map(|(name, tensor)| (name.clone(), tensor.identity())).collect()
        };
        self.tensors.len() == other.tensors.len() && tensors(self) == tensors(other)
    }
}

/// A component with every tensor found on disk in the shape its architecture needs.
#[derive(Debug, Clone)]
pub struct Component {
    /// Its role in the model.
    pub role: Role,
    /// Name of the architecture.
    pub architecture: &'static str,
    /// The blocks, the unit of offloading, in the order in which they run.
    pub blocks: Vec<Block>,
    /// The files it is read from.
    pub files: Vec<PathBuf>,
    /// For each tensor of each block, its names in files: its own, then those given by authors.
    pub names: Vec<Vec<Vec<StoredName>>>,
}

impl Component {
    /// Finds every tensor of `specs` in `table`, under its own name or the one from `original`. Errors about
    /// missing tensors name `origin`.
    pub fn bind(
        role: Role,
        architecture: &'static str,
        specs: &[BlockSpec],
        table: &TensorTable,
        original: impl Fn(&str) -> StoredName,
        origin: &Path,
    ) -> Result<Self, CheckpointError> {
        let mut missing: Vec<String> = Vec::new();
        let mut files = BTreeMap::new();
        let mut blocks = Vec::with_capacity(specs.len());
        let mut names = Vec::with_capacity(specs.len());
        for spec in specs {
            let mut tensors = Vec::with_capacity(spec.tensors.len());
            let mut own = Vec::with_capacity(spec.tensors.len());
            for (name, shape) in &spec.tensors {
                let full = format!("{}{name}", spec.prefix);
                own.push(vec![StoredName::whole(&full), original(&full)]);
                match find(table, &full, &original) {
                    Some(stored) => {
                        files.insert(stored.path().to_owned(), ());
                        tensors.push((name.clone(), checked(stored, &full, shape)?));
                    }
                    None => missing.push(full),
                }
            }
            let prefix = spec.prefix.clone();
            blocks.push(Block { name: spec.name.clone(), prefix, tensors, terms: Vec::new() });
            names.push(own);
        }
        if let Some(name) = missing.first() {
            let path = table.values().next().map_or(origin, |tensor| tensor.path()).to_owned();
            return Err(CheckpointError::MissingTensor { path, name: name.clone(), missing: missing.len() });
        }
        Ok(Self { role, architecture, blocks, files: files.into_keys().collect(), names })
    }

    /// The same component under names that begin with `prefix`, and no others.
    pub fn prefixed(mut self, prefix: &str) -> Self {
        for (block, names) in self.blocks.iter_mut().zip(&mut self.names) {
            block.name = format!("{prefix}{}", block.name);
            block.prefix = format!("{prefix}{}", block.prefix);
            for ((name, _), names) in block.tensors.iter().zip(names) {
                *names = vec![StoredName::whole(format!("{}{name}", block.prefix))];
            }
        }
        self
    }

    /// This component with the blocks of others before its own.
    pub fn after(self, others: impl IntoIterator<Item = Self>) -> Self {
        let Self { role, architecture, blocks, files, names } = self;
        let mut all = Self { role, architecture, blocks: Vec::new(), files: Vec::new(), names: Vec::new() };
        for mut other in others.into_iter().chain([Self { blocks, files, names, ..all.clone() }]) {
            all.blocks.append(&mut other.blocks);
            all.files.append(&mut other.files);
            all.names.append(&mut other.names);
        }
        all.files.sort();
        all.files.dedup();
        all
    }

    /// Adds the names from `naming` to the known names of each tensor.
    pub fn also_named(mut self, naming: impl Fn(&str) -> StoredName) -> Self {
        for names in self.names.iter_mut().flatten() {
            let other = naming(&names[0].name);
            if !names.contains(&other) {
                names.push(other);
            }
        }
        self
    }

    /// The same component with its matrices in `storage`, quantized while they are read. Left unchanged are
    /// matrices that would not get smaller, tensors that keep their precision, and what adapters change or
    /// add.
    pub fn given_as(mut self, storage: Storage) -> Self {
        // Parts of one tensor in the file share its scale, as in a converted file.
        let mut scales: HashMap<(PathBuf, u64), Arc<OnceLock<f32>>> = HashMap::new();
        for block in &mut self.blocks {
            let is_factor = |name: &str| block.terms.iter().any(|term| name == term.down || name == term.up);
            for (name, tensor) in &mut block.tensors {
                let Some(stored) = tensor.stored_encoding() else { continue };
                if tensor.is_changed() || is_factor(name) {
                    continue;
                }
                let Some(encoding) = encoding_of(storage, &format!("{}{name}", block.prefix), tensor) else {
                    continue;
                };
                let count = tensor.elements() as usize;
                if encoding.bytes(count) < stored.bytes(count) {
                    let (path, place) = tensor.origin();
                    let scale = Arc::clone(scales.entry((path.to_owned(), place)).or_default());
                    *tensor = tensor.clone().given_as(encoding, scale);
                } else if encoding.rounds_inputs {
                    *tensor = tensor.clone().rounding_inputs();
                }
            }
        }
        self
    }

    /// Whether it has shapes and no values, in a [hollow checkpoint](super::Checkpoint::hollow).
    pub fn is_hollow(&self) -> bool {
        self.blocks.iter().flat_map(|block| &block.tensors).any(|(_, tensor)| tensor.is_hollow())
    }

    /// Index of the block with this name.
    pub fn block_index(&self, name: &str) -> Option<usize> {
        self.blocks.iter().position(|block| block.name == name)
    }
}

fn find(table: &TensorTable, name: &str, original: impl Fn(&str) -> StoredName) -> Option<StoredTensor> {
    if let Some(tensor) = table.get(name) {
        return Some(tensor.clone());
    }
    let stored = original(name);
    let tensor = table.get(&stored.name)?;
    Some(match stored.part {
        Some((parts, of)) => tensor.parts(parts, of),
        None => tensor.clone(),
    })
}

fn checked(stored: StoredTensor, name: &str, shape: &[usize]) -> Result<StoredTensor, CheckpointError> {
    if stored.encoding().is_none() {
        return Err(CheckpointError::Dtype {
            path: stored.path().to_owned(),
            name: name.to_owned(),
            found: stored.dtype_name(),
        });
    }
    // A 1×1 convolution and a linear layer hold the same values in the same order.
    let significant = |dims: &[usize]| dims.iter().copied().filter(|&side| side != 1).collect::<Vec<_>>();
    if significant(stored.shape()) != significant(shape) {
        return Err(CheckpointError::Shape {
            path: stored.path().to_owned(),
            name: name.to_owned(),
            found: stored.shape().to_vec(),
            expected: shape.to_vec(),
        });
    }
    Ok(stored.with_shape(shape))
}
