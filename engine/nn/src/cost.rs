//! The memory and operations of the functions of this module, from shapes alone. Tests compare them with
//! measurements.

mod attention;

use super::{
    computed::{
        ConvPath, LARGE_KERNEL, WARP_PLANES, bf16_scratch_bytes, bytes_scratch_bytes,
        channel_norm_scratch_bytes, conv_scratch_bytes, linear_scratch_bytes, response_norm_scratch_bytes,
        unpacked_scratch_bytes,
    },
    cuda,
    effort::Effort,
};
use crate::Attention;

/// The bytes a function needs while it runs, the bytes its result keeps, and its floating-point operations.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Peak bytes beyond its inputs, including the result.
    pub peak: u64,
    /// Bytes of the result.
    pub result: u64,
    /// Floating-point operations; on the CPU, those of a large matrix product in the same time.
    pub operations: f64,
}

/// The processor that computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Computes {
    /// The CPU, with the fused functions of this module.
    Processor {
        /// Number of threads that compute; each has scratch memory.
        threads: usize,
        /// How long its functions take.
        effort: Effort,
    },
    /// A GPU.
    Card(Kernels, Balance),
}

/// How many operations of a large matrix product a GPU does in the time in which its memory moves a byte. What waits for
/// memory counts as that many operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Balance(u32);

impl Balance {
    /// Of a usual card with tensor cores, in 16 bits.
    pub const USUAL: Self = Self(100);

    /// Of a card that does so many operations, and moves so many bytes, in a second.
    pub fn of(operations: f64, bytes: f64) -> Self {
        Self((operations / bytes.max(1.0)).round() as u32)
    }

    /// That of the same card where it does this many times the operations.
    pub fn at(self, factor: f64) -> Self {
        Self((f64::from(self.0) * factor).round() as u32)
    }

    /// Operations in the time in which so many bytes are read or written.
    fn moving(self, bytes: usize) -> f64 {
        f64::from(self.0) * bytes as f64
    }
}

/// What a GPU computes with kernels of this engine. Everything else is composed of functions of the tensor library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernels {
    /// How it computes attention.
    pub attention: Attention,
    /// Whether there are kernels for other functions.
    pub others: bool,
}

impl Kernels {
    /// No kernels.
    pub const NONE: Self = Self { attention: Attention::Math, others: false };
    /// All kernels.
    pub const ALL: Self = Self { attention: Attention::Tiled, others: true };
}

impl Computes {
    /// A typical CPU, with all threads of the pool that this is called from.
    pub fn here() -> Self {
        Self::Processor { threads: rayon::current_num_threads(), effort: Effort::USUAL }
    }

    /// Operations in the time in which functions of this engine read or write so many values in f32.
    pub fn moving(self, values: usize) -> f64 {
        match self {
            Self::Processor { effort, .. } => effort.moving(values),
            Self::Card(_, balance) => balance.moving(WIDE * values),
        }
    }

    /// Operations in the time in which a function of the tensor library reads so many values in f32 and writes as many.
    pub fn copying(self, values: usize) -> f64 {
        match self {
            Self::Processor { effort, .. } => effort.copying(values),
            Self::Card(_, balance) => balance.moving(2 * WIDE * values),
        }
    }

    /// Whether the CPU computes.
    pub fn is_processor(self) -> bool {
        matches!(self, Self::Processor { .. })
    }
}

/// Costs for values of a given width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// Bytes per value, 4 or 2. On the CPU, functions compute 16-bit values in f32 and round once.
    pub value_bytes: usize,
    /// Which implementations are used.
    pub computes: Computes,
    /// Whether weights are widened for their product: on the CPU those that are not f32, a piece at a time; on
    /// GPUs those of another dtype than activations, as a whole.
    pub widens: bool,
    /// Whether weights and values of a product, or what attention multiplies, are multiplied in bf16 by the CPU.
    pub in_bf16: bool,
    /// Whether the CPU multiplies values and weights of a product in whole numbers of 8 bits.
    pub in_8_bits: bool,
    /// Whether the weights of a product are held rotated, so that the CPU rotates its rows.
    pub is_rotated: bool,
    /// Whether a bias is added to a product, which GPUs do after it.
    pub is_biased: bool,
}

const WIDE: usize = 4;
/// Values that a bilinear interpolation reads and writes for each of its result.
const NEIGHBOURS: usize = 5;

impl Costs {
    /// Costs on the CPU, with all threads of the pool that this is called from.
    pub fn of_processor(value_bytes: usize) -> Self {
        Self {
            value_bytes,
            computes: Computes::here(),
            widens: false,
            in_bf16: false,
            in_8_bits: false,
            is_rotated: false,
            is_biased: false,
        }
    }

    /// A function of the CPU that reads `wide` values and writes `result` values.
    fn function(
        self,
        effort: Effort,
        wide: usize,
        result: usize,
        scratch: usize,
        mut operations: f64,
    ) -> Cost {
        let computed = result * WIDE;
        let bytes = if self.value_bytes == WIDE {
            computed + scratch
        } else {
            operations += effort.moving(wide + result);
            // What was widened is gone when the result is rounded.
            (wide * WIDE + scratch).max(result * self.value_bytes) + computed
        };
        Cost { peak: bytes as u64, result: (result * self.value_bytes) as u64, operations }
    }

    /// A function of a GPU with a result of `result` values and `more` values next to it at its peak, which moves so many
    /// values.
    fn on_card(self, balance: Balance, [result, more]: [usize; 2], moved: usize) -> Cost {
        let bytes = |values: usize| (values * self.value_bytes) as u64;
        let operations = balance.moving(moved * self.value_bytes);
        Cost { peak: bytes(result + more), result: bytes(result), operations }
    }

    /// The same for a product: its operations go on while values are moved.
    fn product_on_card(self, balance: Balance, sizes: [usize; 2], moved: usize, operations: f64) -> Cost {
        let cost = self.on_card(balance, sizes, moved);
        Cost { operations: operations.max(cost.operations), ..cost }
    }

    /// `[rows, inputs]` through a linear layer.
    pub fn linear(self, rows: usize, inputs: usize, outputs: usize) -> Cost {
        let operations = 2.0 * rows as f64 * inputs as f64 * outputs as f64;
        match self.computes {
            Computes::Processor { threads, effort } => {
                if self.in_8_bits {
                    let scratch = bytes_scratch_bytes([rows, inputs, outputs], threads);
                    let result = (rows * outputs * self.value_bytes) as u64;
                    let operations = effort.linear_in_8_bits([rows, inputs, outputs], threads);
                    return Cost { peak: scratch as u64 + result, result, operations };
                }
                if self.in_bf16 {
                    // Sums are rounded as they are written.
                    let scratch = bf16_scratch_bytes(rows, inputs, outputs, threads, self.is_rotated);
                    let result = (rows * outputs * self.value_bytes) as u64;
                    let operations = effort.linear_in_bf16([rows, inputs, outputs], threads);
                    return Cost { peak: scratch as u64 + result, result, operations };
                }
                let scratch = linear_scratch_bytes(rows, inputs, outputs, threads, self.is_rotated);
                let operations = effort.linear([rows, inputs, outputs], threads);
                self.function(effort, rows * inputs, rows * outputs, scratch, operations)
            }
            // The product, and its matrix or the sum with the bias.
            Computes::Card(_, balance) => {
                let (weights, result) = (inputs * outputs, rows * outputs);
                let matrix = if self.widens { weights } else { 0 };
                let moved = rows * inputs + weights + result;
                let product = self.product_on_card(balance, [result, matrix.max(result)], moved, operations);
                // The product is read and written once more for the bias.
                let again = if self.is_biased { 2 * result } else { 0 };
                let after = balance.moving(again * self.value_bytes) + self.widening(matrix);
                Cost { operations: product.operations + after, ..product }
            }
        }
    }

    /// A linear layer to whose product more is added before it is rounded.
    pub fn linear_with_terms(self, rows: usize, inputs: usize, outputs: usize) -> Cost {
        let cost = self.linear(rows, inputs, outputs);
        match self.computes {
            Computes::Processor { threads, effort } if self.in_8_bits => {
                let scratch = bytes_scratch_bytes([rows, inputs, outputs], threads);
                self.function(effort, 0, rows * outputs, scratch, cost.operations)
            }
            Computes::Processor { threads, effort } if self.in_bf16 => {
                let scratch = bf16_scratch_bytes(rows, inputs, outputs, threads, self.is_rotated);
                self.function(effort, 0, rows * outputs, scratch, cost.operations)
            }
            Computes::Processor { threads, effort } => {
                let scratch = linear_scratch_bytes(rows, inputs, outputs, threads, self.is_rotated);
                let all = self.function(effort, rows * inputs, rows * outputs, scratch, 0.0);
                Cost { peak: all.peak, ..cost }
            }
            Computes::Card(..) => cost,
        }
    }

    /// What it takes a GPU to widen a matrix, which is read at half its width or less, for its product.
    pub fn widening(self, elements: usize) -> f64 {
        match self.computes {
            Computes::Processor { .. } => 0.0,
            Computes::Card(_, balance) => balance.moving(3 * elements * self.value_bytes / 2),
        }
    }

    /// Bytes for dequantizing a packed matrix for its product: the widened values and scratch memory. The CPU
    /// widens a piece at a time.
    pub fn unpacked(self, elements: usize) -> u64 {
        let widened = elements * self.value_bytes;
        match self.computes {
            Computes::Processor { .. } => 0,
            Computes::Card(Kernels { others: true, .. }, _) => widened as u64,
            Computes::Card(..) => (widened + unpacked_scratch_bytes(elements)) as u64,
        }
    }

    /// A modulation of `values` values, or a gated activation or sum of two tensors of that size.
    pub fn pointwise(self, values: usize, tensors: usize) -> Cost {
        match self.computes {
            Computes::Processor { effort, .. } => self.as_held(effort, values, tensors + 1),
            Computes::Card(Kernels { others: true, .. }, balance) => {
                self.on_card(balance, [values, 0], values * (tensors + 1))
            }
            // One of the tensors after a function or a gate, or scaled before it is shifted.
            Computes::Card(_, balance) => self.on_card(balance, [values; 2], values * (tensors + 3)),
        }
    }

    /// The product of `values` values and a function of as many, which has no kernel for GPUs.
    pub fn product_of_two(self, values: usize) -> Cost {
        match self.computes {
            Computes::Processor { .. } => self.pointwise(values, 2),
            Computes::Card(_, balance) => self.on_card(balance, [values; 2], 5 * values),
        }
    }

    /// Some rows with `more` values, weighted and added to others with `values`.
    pub fn add_rows(self, values: usize, more: usize) -> Cost {
        match self.computes {
            Computes::Processor { effort, .. } => {
                let operations = effort.moving(values + 2 * more);
                self.function(effort, values + more, values, 0, operations)
            }
            // The weighted rows.
            Computes::Card(_, balance) => self.on_card(balance, [values, more], 2 * values + 5 * more),
        }
    }

    /// A function that a CPU computes of values as they are held, with a result of `values` values. So many tensors of as many are
    /// read or written.
    fn as_held(self, effort: Effort, values: usize, tensors: usize) -> Cost {
        let bytes = (values * self.value_bytes) as u64;
        Cost { peak: bytes, result: bytes, operations: effort.moving(values * tensors) }
    }

    /// A norm of rows or groups of `values` values.
    pub fn norm(self, values: usize) -> Cost {
        match self.computes {
            Computes::Processor { effort, .. } => self.as_held(effort, values, 2),
            // Groups are read once for their mean and once for the result.
            Computes::Card(Kernels { others: true, .. }, balance) => {
                self.on_card(balance, [values, 0], 3 * values)
            }
            Computes::Card(_, balance) => self.composed_norm(balance, values),
        }
    }

    /// A norm of `values` values by the tensor library: before and after a function in f32, of some ten values read or written.
    fn composed_norm(self, balance: Balance, values: usize) -> Cost {
        let wide = WIDE / self.value_bytes;
        self.on_card(balance, [values, values * (2 * wide - 1)], values * (10 * wide + 2))
    }

    /// A rotation of the neighbouring pairs of `values` values.
    pub fn rotation(self, values: usize) -> Cost {
        match self.computes {
            Computes::Processor { .. } => self.pointwise(values, 1),
            Computes::Card(Kernels { others: true, .. }, balance) => {
                self.on_card(balance, [values, 0], 2 * values)
            }
            // In f32, the values unless they are in it, and four halves of which two are added.
            Computes::Card(_, balance) => {
                let widened = if self.value_bytes < WIDE { WIDE * values } else { 0 };
                let bytes = (widened + 2 * WIDE * values) as u64;
                let moved = values * (10 * WIDE / self.value_bytes);
                Cost { peak: bytes, ..self.on_card(balance, [values, 0], moved) }
            }
        }
    }

    /// A rotation of the halves of heads of `values` values, with this many sines and cosines.
    pub fn rotation_of_halves(self, values: usize, angles: usize) -> Cost {
        let cost = self.pointwise(values, 1);
        match self.computes {
            // By the tensor library: half of the values, and the products whose sum is the other half.
            Computes::Processor { .. } if self.value_bytes < WIDE => {
                Cost { peak: 2 * cost.result + (angles * self.value_bytes) as u64, ..cost }
            }
            // They are rounded to the type of the values.
            Computes::Card(Kernels { others: false, .. }, _) if self.value_bytes < WIDE => {
                Cost { peak: cost.peak + (angles * self.value_bytes) as u64, ..cost }
            }
            _ => cost,
        }
    }

    /// A norm over the channels of `[batch, channels, pixels]`.
    pub fn channel_norm(self, [batch, channels, pixels]: [usize; 3]) -> Cost {
        let values = batch * channels * pixels;
        match self.computes {
            Computes::Processor { effort, .. } => {
                let scratch = channel_norm_scratch_bytes(batch, channels, pixels);
                self.function(effort, values, values, scratch, effort.moving(2 * values))
            }
            Computes::Card(_, balance) => {
                let cost = self.composed_norm(balance, values);
                // The length of each pixel before and after a function, and the shortest one.
                Cost { peak: cost.peak + (3 * WIDE * batch * pixels) as u64, ..cost }
            }
        }
    }

    /// A global response norm of `[batch, tokens, width]`.
    pub fn response_norm(self, [batch, tokens, width]: [usize; 3]) -> Cost {
        let values = batch * tokens * width;
        match self.computes {
            Computes::Processor { effort, .. } => {
                let scratch = response_norm_scratch_bytes(tokens, width);
                self.function(effort, values, values, scratch, effort.moving(2 * values))
            }
            Computes::Card(_, balance) => self.composed_norm(balance, values),
        }
    }

    /// A depthwise convolution with a square kernel of `side` to `[batch, height, width, channels]`.
    pub fn depthwise(self, [batch, height, width, channels]: [usize; 4], side: usize) -> Cost {
        let values = batch * height * width * channels;
        let operations = 2.0 * (values * side * side) as f64;
        match self.computes {
            Computes::Processor { effort, .. } => {
                let operations = operations + effort.moving(2 * values);
                self.function(effort, values, values, 0, operations)
            }
            // The padded input, and a product between two sums.
            Computes::Card(_, balance) => {
                let padded = batch * (height + side - 1) * (width + side - 1) * channels;
                // Each of the kernel's values: a product is read and written, and added to a sum.
                let moved = 2 * padded + 5 * side * side * values;
                self.on_card(balance, [values, padded + 2 * values], moved)
            }
        }
    }

    /// An activation of `values` values, for which the tensor library takes some `functions`.
    pub fn activation(self, values: usize, functions: usize) -> Cost {
        match self.computes {
            Computes::Processor { .. } => self.pointwise(values, 1),
            Computes::Card(_, balance) => {
                self.on_card(balance, [values, (functions - 1) * values], 2 * functions * values)
            }
        }
    }

    /// Values copied, concatenated or added by the tensor library.
    pub fn copy(self, values: usize) -> Cost {
        let bytes = (values * self.value_bytes) as u64;
        let operations = match self.computes {
            Computes::Processor { effort, .. } => effort.copying(values),
            Computes::Card(_, balance) => balance.moving(2 * values * self.value_bytes),
        };
        Cost { peak: bytes, result: bytes, operations }
    }

    /// Values of which rows become columns.
    pub fn turned(self, values: usize) -> Cost {
        let cost = self.copy(values);
        match self.computes {
            Computes::Processor { effort, .. } if self.value_bytes == WIDE => {
                Cost { operations: effort.moving(2 * values), ..cost }
            }
            _ => cost,
        }
    }

    /// A convolution with a square kernel of `side` from `[batch, inputs, …]` to `outputs` channels of
    /// `height` by `width`; the input is `stride` times as large. `path` is how the CPU computes it.
    pub(crate) fn conv(
        self,
        path: ConvPath,
        channels: [usize; 3],
        size: [usize; 2],
        [side, stride]: [usize; 2],
    ) -> Cost {
        let ([batch, inputs, outputs], [height, width]) = (channels, size);
        let pixels = batch * height * width;
        let operations = 2.0 * (pixels * side * side) as f64 * inputs as f64 * outputs as f64;
        match self.computes {
            Computes::Processor { threads, effort } => {
                let scratch = conv_scratch_bytes(path, channels, size, [side, stride], self.widens, threads);
                let operations = effort.conv(path, [inputs, outputs], pixels, side * side);
                if path.reads_as_held() {
                    let result = (pixels * outputs * self.value_bytes) as u64;
                    return Cost { peak: scratch as u64 + result, result, operations };
                }
                let wide = pixels * stride * stride * inputs;
                self.function(effort, wide, pixels * outputs, scratch, operations)
            }
            Computes::Card(kernels, balance) => {
                let (result, wide) = (pixels * outputs, self.value_bytes == WIDE);
                let widened = if self.widens { inputs * outputs * side * side } else { 0 };
                let more = if (side, stride) == (1, 1) {
                    // The product before the bias is added.
                    result
                } else if kernels.others && cuda::convolves(wide, [side, stride], channels, size) {
                    cuda::scratch_bytes(wide, channels, size) / self.value_bytes
                } else if side >= LARGE_KERNEL && stride == 1 {
                    // In f32: the padded input, the rows of it that a row of the kernel reads, their patches, and three results;
                    // and the input and the kernel themselves where they are narrower.
                    let copied = if wide { 0 } else { pixels * inputs + inputs * outputs * side * side };
                    let each = side * inputs + 2 * inputs + 3 * outputs;
                    (copied + each * pixels) * WIDE / self.value_bytes
                } else {
                    // The input as columns (im2col), and the product before it is transposed.
                    pixels * inputs * side * side + result
                };
                let moved = pixels * stride * stride * inputs + 2 * more + result;
                self.product_on_card(balance, [result, widened + more], moved, operations)
            }
        }
    }

    /// A bilinear resize of `input` values to `result` values.
    pub fn resize(self, input: usize, result: usize) -> Cost {
        match self.computes {
            Computes::Processor { effort, .. } => {
                self.function(effort, input, result, 0, effort.moving(NEIGHBOURS * result))
            }
            Computes::Card(..) => self.copy(result),
        }
    }

    /// Warping an image of some channels and pixels.
    pub fn warp(self, channels: usize, pixels: usize) -> Cost {
        let values = channels * pixels;
        match self.computes {
            Computes::Processor { effort, .. } => {
                let moved = NEIGHBOURS * values + 2 * channels * pixels;
                self.function(effort, values, values, 0, effort.moving(moved))
            }
            // In f32: places and shares, and the values of one neighbour, what they count and the sum.
            Computes::Card(_, balance) => {
                let peak = (WIDE * pixels * (3 * channels + WARP_PLANES)) as u64;
                let cost = self.on_card(balance, [values, 0], 4 * NEIGHBOURS * values);
                Cost { peak: peak.max(cost.peak), ..cost }
            }
        }
    }

    /// Upsampling of `values` values to double height and width.
    pub fn upsample(self, values: usize) -> Cost {
        self.copy(4 * values)
    }
}
