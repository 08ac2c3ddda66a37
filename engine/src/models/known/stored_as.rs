//! What a component becomes in other files than the published ones.

use serde::{Deserialize, Serialize};

use crate::{checkpoint::HollowTensor, precision::Format};

/// How a component is stored in a file: its matrices in a format, and as many of them in a wider one as the size of the
/// file tells.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StoredAs {
    /// The format of most matrices.
    pub format: Format,
    /// Bits of a weight on average, over the whole component.
    pub bits: f64,
}

impl StoredAs {
    /// Published tensors as they are in such a file. What is published with fewer bits than 16 stays as it is.
    pub(super) fn apply(self, mut tensors: Vec<HollowTensor>) -> Vec<HollowTensor> {
        if self.format.is_wide() {
            let wide = tensors.iter_mut().filter(|(.., format)| format.is_wide());
            wide.for_each(|(.., format)| *format = self.format);
            return tensors;
        }
        let mut matrices: Vec<&mut HollowTensor> = Vec::new();
        let (mut all, mut others) = (0.0, 0.0);
        for tensor in &mut tensors {
            let count = weights(tensor);
            all += count;
            if self.holds(tensor) {
                matrices.push(tensor);
            } else {
                others += count * bits_of(tensor.2);
            }
        }
        let within: f64 = matrices.iter().map(|matrix| weights(matrix)).sum();
        let (narrow, wide) = (bits_of(self.format), bits_of(self.wider()));
        let mut spare = (self.bits * all - others - within * narrow) / (wide - narrow);
        // Quantizers keep tables of words in more bits.
        matrices.sort_by_key(|(name, ..)| !is_table(name));
        let tables = matrices.iter().take_while(|(name, ..)| is_table(name)).count();
        let layers = matrices.split_off(tables);
        for table in matrices {
            let is_wide = weights(table) <= spare;
            spare -= if is_wide { weights(table) } else { 0.0 };
            table.2 = if is_wide { self.wider() } else { self.format };
        }
        // The others get their share evenly, from the first layer to the last.
        let share = spare / layers.iter().map(|layer| weights(layer)).sum::<f64>();
        let mut due = 0.0;
        for layer in layers {
            let count = weights(layer);
            due += share * count;
            let is_wide = due > count / 2.0;
            due -= if is_wide { count } else { 0.0 };
            layer.2 = if is_wide { self.wider() } else { self.format };
        }
        tensors
    }

    /// Whether a tensor can be in this format: matrices whose rows are whole blocks.
    fn holds(self, (_, shape, format): &HollowTensor) -> bool {
        let (block, _) = self.format.block();
        format.is_wide() && shape.len() >= 2 && shape.last().is_some_and(|columns| columns % block == 0)
    }

    /// The format of the matrices that such files keep in more bits.
    fn wider(self) -> Format {
        match self.format {
            Format::Q2K | Format::Q3K => Format::Q4K,
            Format::Q4_0 | Format::Q4_1 | Format::Q4K | Format::Q5_0 | Format::Q5_1 | Format::Q5K => {
                Format::Q6K
            }
            _ => Format::Bf16,
        }
    }
}

fn weights((_, shape, _): &HollowTensor) -> f64 {
    shape.iter().product::<usize>() as f64
}

fn bits_of(format: Format) -> f64 {
    let (values, bytes) = format.block();
    8.0 * bytes as f64 / values as f64
}

fn is_table(name: &str) -> bool {
    ["embed_tokens.", "token_embedding.", "shared.", "lm_head."].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(name: &str, shape: &[usize]) -> HollowTensor {
        (name.to_owned(), shape.to_vec(), Format::Bf16)
    }

    fn layers() -> Vec<HollowTensor> {
        let mut tensors: Vec<HollowTensor> =
            (0..40).map(|layer| tensor(&format!("layers.{layer}.weight"), &[64, 256])).collect();
        tensors.push(tensor("norm.weight", &[256]));
        tensors.push(tensor("proj.weight", &[256, 100]));
        tensors.push(tensor("embed_tokens.weight", &[64, 256]));
        tensors
    }

    fn bits(tensors: &[HollowTensor]) -> f64 {
        let bytes: usize =
            tensors.iter().map(|(_, shape, format)| format.bytes(shape.iter().product())).sum();
        8.0 * bytes as f64 / tensors.iter().map(weights).sum::<f64>()
    }

    #[test]
    fn it_comes_to_the_size_of_the_file() {
        for (format, wanted) in [
            (Format::Q4K, 5.6),
            (Format::Q4K, 6.4),
            (Format::Q8_0, 9.0),
            (Format::F8E4m3, 9.15),
            (Format::Bf16, 16.0),
            (Format::F32, 32.0),
        ] {
            let stored = StoredAs { format, bits: wanted }.apply(layers());
            let found = bits(&stored);
            assert!((found - wanted).abs() < 0.15, "{format:?}: {found} and not {wanted}");
        }
    }

    #[test]
    fn tables_of_words_are_the_first_to_stay_wide_and_what_is_no_matrix_stays() {
        let stored = StoredAs { format: Format::F8E4m3, bits: 8.6 }.apply(layers());
        let format = |name: &str| stored.iter().find(|(own, ..)| own == name).unwrap().2;
        assert_eq!(format("embed_tokens.weight"), Format::Bf16);
        assert_eq!(format("norm.weight"), Format::Bf16);
        assert_eq!(format("proj.weight"), Format::F8E4m3);
        let stored = StoredAs { format: Format::Q4K, bits: 5.0 }.apply(layers());
        let (.., format) = stored.iter().find(|(own, ..)| own == "proj.weight").unwrap();
        assert_eq!(*format, Format::Bf16, "its rows are no whole blocks");
    }

    #[test]
    fn a_size_out_of_reach_means_the_nearest() {
        let [low, high] = [3.0, 40.0].map(|bits| StoredAs { format: Format::F8E4m3, bits }.apply(layers()));
        assert!(low.iter().filter(|(_, shape, _)| shape.len() > 1).all(|(.., own)| *own == Format::F8E4m3));
        assert!(high.iter().all(|(.., own)| *own == Format::Bf16));
    }
}
