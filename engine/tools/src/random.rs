//! Files of random weights, to measure models of real shapes without downloading them.
//!
//! A value depends only on the seed, the tensor's name and the value's index: SplitMix64 turns them into 64
//! bits, of which each 16 select one of 65,536 quantiles of the normal distribution. So the same seed gives
//! the same file for any number of threads, and only a piece of a tensor is in memory.

use std::{fs::File, io::Write, path::Path, sync::LazyLock};

use half::{bf16, f16};
use rayon::prelude::*;
use zerocopy::{Immutable, IntoBytes};

use sluice_engine::{
    checkpoint::{CheckpointError, safetensors_header},
    precision::Format,
};

/// Values generated and written at a time.
const PIECE: usize = 1 << 22;
/// Values one thread generates at a time.
const CHUNK: usize = 1 << 16;
/// Values per draw of 64 bits.
const LANES: usize = 4;
const QUANTILES: usize = 1 << 16;

/// The dtype of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RandomDtype {
    /// 16-bit floats with the range of f32.
    #[default]
    Bf16,
    /// 16-bit floats.
    F16,
    /// 32-bit floats.
    F32,
}

impl RandomDtype {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bf16, Self::F16, Self::F32];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::F32 => "f32",
        }
    }

    /// Its name in PyTorch and in configurations.
    pub fn torch_name(self) -> &'static str {
        match self {
            Self::Bf16 => "bfloat16",
            Self::F16 => "float16",
            Self::F32 => "float32",
        }
    }

    fn format(self) -> Format {
        match self {
            Self::Bf16 => Format::Bf16,
            Self::F16 => Format::F16,
            Self::F32 => Format::F32,
        }
    }
}

/// The distribution of a tensor's values.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Law {
    Constant(f32),
    /// Normal around zero, with this standard deviation.
    Normal(f32),
}

/// A tensor of a file to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomTensor {
    /// Its name in the file.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
}

impl RandomTensor {
    /// Number of values.
    pub fn elements(&self) -> u64 {
        self.shape.iter().map(|&side| side as u64).product()
    }

    /// Biases are 0 and norm weights are 1. Everything else is normal with variance `1 / inputs`, which
    /// preserves the mean square of activations. In tables with a leading dimension of 1, rows are inputs.
    fn law(&self) -> Law {
        match self.shape.as_slice() {
            [] | [_] if self.name.ends_with("bias") => Law::Constant(0.0),
            [] | [_] => Law::Constant(1.0),
            [1, .., inputs] => Law::Normal((*inputs as f32).sqrt().recip()),
            [_, inputs @ ..] => Law::Normal((inputs.iter().product::<usize>() as f32).sqrt().recip()),
        }
    }
}

/// Size in bytes of a file with these tensors.
pub fn random_file_bytes(tensors: &[RandomTensor], dtype: RandomDtype) -> u64 {
    let (header, _) = header(tensors, dtype);
    header.len() as u64 + tensors.iter().map(|tensor| bytes(tensor, dtype)).sum::<u64>()
}

/// Writes a safetensors file of random weights. Calls `progress` with the number of bytes written since its
/// last call; if that returns `false`, stops, leaves the file incomplete and returns `false`.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn write_random(
    path: &Path,
    tensors: &[RandomTensor],
    dtype: RandomDtype,
    seed: u64,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<bool, CheckpointError> {
    let failed = |source| CheckpointError::Write { path: path.to_owned(), source };
    let mut file = File::create_new(path).map_err(failed)?;
    let (header, _) = header(tensors, dtype);
    file.write_all(&header).map_err(failed)?;
    let mut write = |bytes: &[u8]| {
        file.write_all(bytes).map_err(failed)?;
        Ok(progress(bytes.len() as u64))
    };
    for tensor in tensors {
        let goes_on = match dtype {
            RandomDtype::Bf16 => {
                write_tensor(tensor, seed, |value| bf16::from_f32(value).to_bits().to_le(), &mut write)
            }
            RandomDtype::F16 => {
                write_tensor(tensor, seed, |value| f16::from_f32(value).to_bits().to_le(), &mut write)
            }
            RandomDtype::F32 => write_tensor(tensor, seed, |value| value.to_bits().to_le(), &mut write),
        }?;
        if !goes_on {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes a file with the same header as [`write_random`] but no values. It opens and plans alike, and takes
/// no disk space on file systems with sparse files.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn write_hollow(
    path: &Path,
    tensors: &[RandomTensor],
    dtype: RandomDtype,
) -> Result<(), CheckpointError> {
    let failed = |source| CheckpointError::Write { path: path.to_owned(), source };
    let mut file = File::create_new(path).map_err(failed)?;
    file.write_all(&header(tensors, dtype).0).map_err(failed)?;
    file.set_len(random_file_bytes(tensors, dtype)).map_err(failed)
}

fn bytes(tensor: &RandomTensor, dtype: RandomDtype) -> u64 {
    dtype.format().bytes(tensor.elements() as usize) as u64
}

fn header(tensors: &[RandomTensor], dtype: RandomDtype) -> (Vec<u8>, Vec<u64>) {
    let name = dtype.format().name();
    safetensors_header(
        tensors.iter().map(|tensor| (tensor.name.as_str(), name, &tensor.shape, bytes(tensor, dtype))),
    )
}

fn write_tensor<T: Copy + Send + Sync + IntoBytes + Immutable>(
    tensor: &RandomTensor,
    seed: u64,
    encode: impl Fn(f32) -> T,
    write: &mut impl FnMut(&[u8]) -> Result<bool, CheckpointError>,
) -> Result<bool, CheckpointError> {
    let elements = tensor.elements() as usize;
    let mut piece = vec![encode(0.0); elements.min(PIECE)];
    let table: Option<Box<[T; QUANTILES]>> = match tensor.law() {
        Law::Constant(value) => {
            piece.fill(encode(value));
            None
        }
        Law::Normal(deviation) => {
            let values: Vec<T> = NORMAL.iter().map(|quantile| encode(quantile * deviation)).collect();
            values.into_boxed_slice().try_into().ok()
        }
    };
    let seed = draw(fnv1a64(&tensor.name), seed);
    for first in (0..elements).step_by(PIECE) {
        let piece = &mut piece[..PIECE.min(elements - first)];
        if let Some(table) = &table {
            fill(piece, table, seed, (first / LANES) as u64);
        }
        if !write(piece.as_bytes())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Fills `out` with quantiles, starting with draw `first`.
fn fill<T: Copy + Send + Sync>(out: &mut [T], table: &[T; QUANTILES], seed: u64, first: u64) {
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
        let first = first + (chunk * CHUNK / LANES) as u64;
        for (index, values) in out.chunks_mut(LANES).enumerate() {
            let bits = draw(seed, first + index as u64);
            for (lane, value) in values.iter_mut().enumerate() {
                *value = table[usize::from((bits >> (16 * lane)) as u16)];
            }
        }
    });
}

/// Draw `index` of the SplitMix64 stream with this seed (Steele, Lea and Flood 2014).
fn draw(seed: u64, index: u64) -> u64 {
    let mut state = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// 64-bit FNV-1a hash of a name.
fn fnv1a64(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The midpoints of 65,536 equally likely parts of the normal distribution.
static NORMAL: LazyLock<Vec<f32>> = LazyLock::new(|| {
    (0..QUANTILES).map(|index| quantile((index as f64 + 0.5) / QUANTILES as f64) as f32).collect()
});

/// The quantile of the standard normal distribution: Acklam's rational approximation, with a relative error
/// of at most 1.2·10⁻⁹.
fn quantile(probability: f64) -> f64 {
    const CENTRE: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const CENTRE_BELOW: [f64; 6] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
        1.0,
    ];
    const TAIL: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const TAIL_BELOW: [f64; 5] = [
        0.007_784_695_709_041_462,
        0.322_467_129_070_039_8,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    /// Where the tails begin.
    const LOW: f64 = 0.02425;
    let polynomial = |factors: &[f64], x: f64| factors.iter().fold(0.0, |sum, factor| sum * x + factor);
    let tail = |probability: f64| {
        let q = (-2.0 * f64::ln(probability)).sqrt();
        polynomial(&TAIL, q) / polynomial(&TAIL_BELOW, q)
    };
    if probability < LOW {
        return tail(probability);
    }
    if probability > 1.0 - LOW {
        return -tail(1.0 - probability);
    }
    let q = probability - 0.5;
    q * polynomial(&CENTRE, q * q) / polynomial(&CENTRE_BELOW, q * q)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        for (probability, expected) in [
            (0.5, 0.0),
            (0.975, 1.959_963_985),
            (0.841_344_746, 1.0),
            (1e-4, -3.719_016_485),
            (0.02, -2.053_748_911),
        ] {
            assert!((quantile(probability) - expected).abs() < 1e-8, "{probability}");
        }
        let count = QUANTILES as f64;
        let mean = NORMAL.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let square = NORMAL.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>() / count;
        assert!(mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-3, "{mean} {square}");
    }

    #[test]
    fn values_depend_on_seed_name_and_place_and_not_on_threads() {
        let folder = tempfile::tempdir().unwrap();
        let tensor = |name: &str| RandomTensor { name: name.to_owned(), shape: vec![1001, 333] };
        let tensors = [tensor("a.weight"), tensor("b.weight")];
        let write = |name: &str, threads, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let path = folder.path().join(name);
            let written = pool
                .install(|| write_random(&path, &tensors, RandomDtype::F32, seed, &mut |_| true).unwrap());
            assert!(written);
            fs::read(path).unwrap()
        };
        let one = write("one", 1, 7);
        assert_eq!(one, write("three", 3, 7));
        assert_ne!(one, write("other", 1, 8));
        assert_eq!(one.len() as u64, random_file_bytes(&tensors, RandomDtype::F32));
        let bytes = 4 * 1001 * 333;
        let start = one.len() - 2 * bytes;
        let values = |tensor: usize| {
            let bytes = &one[start + tensor * bytes..start + (tensor + 1) * bytes];
            bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect::<Vec<_>>()
        };
        let (a, b) = (values(0), values(1));
        assert_ne!(a, b);
        let mean_square = |values: &[f32]| {
            values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>() / values.len() as f64
        };
        for values in [&a, &b] {
            assert!((mean_square(values) * 333.0 - 1.0).abs() < 0.02, "{}", mean_square(values));
        }
        let product: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        assert!(product.abs() / (1001.0 * 333.0) * 333.0 < 0.01, "{product}");
    }

    #[test]
    fn norms_are_one_and_biases_zero() {
        let law = |name: &str, shape: &[usize]| RandomTensor { name: name.into(), shape: shape.into() }.law();
        assert_eq!(law("norm.weight", &[8]), Law::Constant(1.0));
        assert_eq!(law("norm.bias", &[8]), Law::Constant(0.0));
        assert_eq!(law("conv.weight", &[8, 4, 2, 2]), Law::Normal(0.25));
        assert_eq!(law("pos_embed.pos_embed", &[1, 9, 4]), Law::Normal(0.5));
    }

    #[test]
    fn who_says_no_is_heard() {
        let folder = tempfile::tempdir().unwrap();
        let tensors = [RandomTensor { name: "a.weight".to_owned(), shape: vec![4, 4] }];
        let path = folder.path().join("a");
        assert!(!write_random(&path, &tensors, RandomDtype::F16, 0, &mut |_| false).unwrap());
    }
}
