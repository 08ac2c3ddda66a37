//! What an adapter's file says about one layer, and the change that it means.

use super::formula::{Matrix, tucker};
use crate::checkpoint::{CheckpointError, StoredTensor};

/// The change of a layer's weights, as it is stored.
#[derive(Debug, Clone)]
pub enum Content {
    /// `up · down` (Hu et al. 2021, arXiv:2106.09685), for kernels perhaps with a core between both.
    LowRank {
        /// `[rank, inputs, …]`.
        down: StoredTensor,
        /// `[outputs, rank, …]`.
        up: StoredTensor,
        /// `[rank, rank, height, width]`.
        mid: Option<StoredTensor>,
    },
    /// LoHa: two low-rank products, multiplied value by value (Hyeon-Woo et al. 2021, arXiv:2108.06098).
    Hadamard {
        /// `[outputs, rank]` and `[rank, inputs]` of both products; with a core `[rank, outputs]` and `[rank, inputs]`.
        factors: [[StoredTensor; 2]; 2],
        /// `[rank, rank, height, width]` of both.
        cores: Option<[StoredTensor; 2]>,
    },
    /// LoKr: Kronecker's product of two matrices (Yeh et al. 2023, arXiv:2309.14859).
    Kronecker {
        /// The one whose values are multiplied with whole copies of the other.
        first: Factor,
        /// The other.
        second: Factor,
    },
    /// The difference itself.
    Difference(StoredTensor),
}

/// One side of Kronecker's product.
#[derive(Debug, Clone)]
pub enum Factor {
    /// As it is.
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

/// All but the first side, as one.
fn rest(tensor: &StoredTensor) -> usize {
    tensor.shape().iter().skip(1).fold(1, |all, &side| all.saturating_mul(side))
}

/// All but the first two sides, as one.
fn kernel(tensor: &StoredTensor) -> usize {
    tensor.shape().iter().skip(2).fold(1, |all, &side| all.saturating_mul(side))
}

fn read(tensor: &StoredTensor) -> Result<Matrix, CheckpointError> {
    Ok(Matrix::new(tensor.shape(), tensor.values()?))
}

/// Says that two numbers have to be the same.
fn same(one: usize, other: usize, what: &str) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what} is {one} in one tensor and {other} in another")) }
}

impl Content {
    /// What people call such a change.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::LowRank { down, mid, .. } if mid.is_some() || kernel(down) > 1 => "LoCon",
            Self::LowRank { .. } => "LoRA",
            Self::Hadamard { .. } => "LoHa",
            Self::Kronecker { .. } => "LoKr",
            Self::Difference(_) => "difference",
        }
    }

    /// The rank, where it has one.
    pub fn rank(&self) -> Option<usize> {
        match self {
            Self::LowRank { down, mid, .. } => Some(mid.as_ref().map_or_else(|| first(down), first)),
            Self::Hadamard { factors: [[_, right], _], .. } => Some(first(right)),
            // The second decides, as in the program that LoKr comes from.
            Self::Kronecker { first, second } => second.rank().or(first.rank()),
            Self::Difference(_) => None,
        }
    }

    /// Every tensor of it.
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

    /// Outputs, and inputs times the values of a kernel.
    ///
    /// # Errors
    /// In words when the parts do not fit each other.
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
    /// When the file has become unreadable.
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

/// As [`Content::dims`] of a core between `[rank, outputs]` and `[rank, inputs]`.
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
