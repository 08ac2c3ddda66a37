//! An adapter's tensors for one layer, and the change that results from them.

use super::formula::{Matrix, tucker};
use crate::checkpoint::{CheckpointError, StoredTensor};

/// The change of a layer's weights, as it is stored.
#[derive(Debug, Clone)]
pub enum Content {
    /// `up · down` (Hu et al. 2021, arXiv:2106.09685), for convolutions optionally with a core in between.
    LowRank {
        /// `[rank, inputs, …]`.
        down: StoredTensor,
        /// `[outputs, rank, …]`.
        up: StoredTensor,
        /// `[rank, rank, height, width]`.
        mid: Option<StoredTensor>,
    },
    /// LoHa: the elementwise product of two low-rank products (Hyeon-Woo et al. 2021, arXiv:2108.06098).
    Hadamard {
        /// `[outputs, rank]` and `[rank, inputs]` of both products; with a core, `[rank, outputs]` and
        /// `[rank, inputs]`.
        factors: [[StoredTensor; 2]; 2],
        /// `[rank, rank, height, width]` of both.
        cores: Option<[StoredTensor; 2]>,
    },
    /// LoKr: the Kronecker product of two matrices (Yeh et al. 2023, arXiv:2309.14859).
    Kronecker {
        /// The outer factor.
        first: Factor,
        /// The inner factor, copies of which are scaled by the values of the outer one.
        second: Factor,
    },
    /// The full difference.
    Difference(StoredTensor),
}

/// One factor of a Kronecker product.
#[derive(Debug, Clone)]
pub enum Factor {
    /// Stored as a full matrix.
    Whole(StoredTensor),
    /// `[rows, rank]` and `[rank, columns]`.
    Product(StoredTensor, StoredTensor),
    /// A core `[rank, rank, height, width]`, `[rank, rows]` and `[rank, columns]`.
    Tucker(StoredTensor, StoredTensor, StoredTensor),
}

fn first(tensor: &StoredTensor) -> usize {
    tensor.shape().first().copied().unwrap_or(0)
}

fn second(tensor: &StoredTensor) -> usize {
    tensor.shape().get(1).copied().unwrap_or(0)
}

/// The product of all dimensions but the first.
fn rest(tensor: &StoredTensor) -> usize {
    tensor.shape().iter().skip(1).fold(1, |all, &side| all.saturating_mul(side))
}

/// The product of all dimensions but the first two.
fn kernel(tensor: &StoredTensor) -> usize {
    tensor.shape().iter().skip(2).fold(1, |all, &side| all.saturating_mul(side))
}

fn read(tensor: &StoredTensor) -> Result<Matrix, CheckpointError> {
    Ok(Matrix::new(tensor.shape(), tensor.values()?))
}

/// Fails unless two numbers are equal.
fn same(one: usize, other: usize, what: &str) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what} is {one} in one tensor and {other} in another")) }
}

impl Content {
    /// The usual name of this kind of change.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::LowRank { down, mid, .. } if mid.is_some() || kernel(down) > 1 => "LoCon",
            Self::LowRank { .. } => "LoRA",
            Self::Hadamard { .. } => "LoHa",
            Self::Kronecker { .. } => "LoKr",
            Self::Difference(_) => "difference",
        }
    }

    /// The rank, if it has one.
    pub fn rank(&self) -> Option<usize> {
        match self {
            Self::LowRank { down, mid, .. } => Some(mid.as_ref().map_or_else(|| first(down), first)),
            Self::Hadamard { factors: [[_, right], _], .. } => Some(first(right)),
            // The second factor decides, as in LoKr's reference implementation.
            Self::Kronecker { first, second } => second.rank().or(first.rank()),
            Self::Difference(_) => None,
        }
    }

    /// All of its tensors.
    pub fn tensors(&self) -> Vec<&StoredTensor> {
        match self {
            Self::LowRank { down, up, mid } => [down, up].into_iter().chain(mid).collect(),
            Self::Hadamard { factors, cores } => {
                factors.iter().flatten().chain(cores.iter().flatten()).collect()
            }
            Self::Kronecker { first, second } => [first.tensors(), second.tensors()].concat(),
            Self::Difference(tensor) => vec![tensor],
        }
    }

    /// Outputs, and inputs times kernel size.
    ///
    /// # Errors
    /// Explains which tensors do not fit together.
    pub fn dims(&self) -> Result<[usize; 2], String> {
        match self {
            Self::LowRank { down, up, mid: None } => {
                same(first(down), rest(up), "the rank")?;
                Ok([first(up), rest(down)])
            }
            Self::LowRank { down, up, mid: Some(mid) } => {
                same(first(mid), rest(up), "the rank")?;
                same(second(mid), first(down), "the rank")?;
                Ok([first(up), rest(down).saturating_mul(kernel(mid))])
            }
            Self::Hadamard { factors, cores } => {
                let products = [0, 1].map(|index| {
                    let [left, right] = &factors[index];
                    match cores.as_ref().map(|cores| &cores[index]) {
                        None => {
                            same(rest(left), first(right), "the rank")?;
                            Ok::<_, String>([first(left), rest(right)])
                        }
                        Some(core) => tucker_dims(core, left, right),
                    }
                });
                let [one, other] = products;
                let (one, other) = (one?, other?);
                same(one[0], other[0], "the number of outputs")?;
                same(one[1], other[1], "the number of inputs")?;
                Ok(one)
            }
            Self::Kronecker { first, second } => {
                let (one, other) = (first.dims()?, second.dims()?);
                Ok([0, 1].map(|side| one[side].saturating_mul(other[side])))
            }
            Self::Difference(tensor) => Ok([first(tensor), rest(tensor)]),
        }
    }

    /// The change before it is scaled, `[outputs, inputs · kernel]`.
    ///
    /// # Errors
    /// Fails if the file is no longer readable.
    pub fn change(&self) -> Result<Matrix, CheckpointError> {
        Ok(match self {
            Self::LowRank { down, up, mid: None } => read(up)?.times(&read(down)?),
            Self::LowRank { down, up, mid: Some(mid) } => tucker(&read(mid)?, &read(up)?, &read(down)?),
            Self::Hadamard { factors, cores } => {
                let product = |index: usize| {
                    let [left, right] = &factors[index];
                    Ok::<_, CheckpointError>(match cores.as_ref().map(|cores| &cores[index]) {
                        None => read(left)?.times(&read(right)?),
                        Some(core) => tucker(&read(core)?, &read(left)?.transposed(), &read(right)?),
                    })
                };
                product(0)?.times_each(&product(1)?)
            }
            Self::Kronecker { first, second } => first.read()?.kronecker(&second.read()?),
            Self::Difference(tensor) => read(tensor)?,
        })
    }
}

/// [`Content::dims`] for a core between `[rank, outputs]` and `[rank, inputs]`.
fn tucker_dims(core: &StoredTensor, left: &StoredTensor, right: &StoredTensor) -> Result<[usize; 2], String> {
    same(first(core), first(left), "the rank")?;
    same(second(core), first(right), "the rank")?;
    Ok([rest(left), rest(right).saturating_mul(kernel(core))])
}

impl Factor {
    fn rank(&self) -> Option<usize> {
        match self {
            Self::Whole(_) => None,
            Self::Product(_, right) | Self::Tucker(_, _, right) => Some(first(right)),
        }
    }

    fn tensors(&self) -> Vec<&StoredTensor> {
        match self {
            Self::Whole(whole) => vec![whole],
            Self::Product(left, right) => vec![left, right],
            Self::Tucker(core, left, right) => vec![core, left, right],
        }
    }

    fn dims(&self) -> Result<[usize; 2], String> {
        match self {
            Self::Whole(whole) => Ok([first(whole), rest(whole)]),
            Self::Product(left, right) => {
                same(rest(left), first(right), "the rank")?;
                Ok([first(left), rest(right)])
            }
            Self::Tucker(core, left, right) => tucker_dims(core, left, right),
        }
    }

    fn read(&self) -> Result<Matrix, CheckpointError> {
        Ok(match self {
            Self::Whole(whole) => read(whole)?,
            Self::Product(left, right) => read(left)?.times(&read(right)?),
            Self::Tucker(core, left, right) => tucker(&read(core)?, &read(left)?.transposed(), &read(right)?),
        })
    }
}
