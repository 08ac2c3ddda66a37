//! The blocks of a network as its authors have it in code, which other programs offload one by one or in groups.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The bytes of a network by its authors' lists of blocks, such as `transformer_blocks`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PublishedBlocks {
    /// Of each block of each list.
    lists: Vec<Vec<u64>>,
    /// Of the whole network.
    all: u64,
}

impl PublishedBlocks {
    /// From the full names of tensors and their bytes. The outermost number in a name is a block's place in its list.
    pub fn new(tensors: impl IntoIterator<Item = (String, u64)>) -> Self {
        let mut lists = BTreeMap::<String, BTreeMap<usize, u64>>::new();
        let mut all = 0;
        for (name, bytes) in tensors {
            all += bytes;
            let mut parts = name.split('.');
            let mut list = Vec::new();
            let place = parts.find_map(|part| {
                let place = part.parse::<usize>().ok();
                if place.is_none() {
                    list.push(part);
                }
                place
            });
            if let Some(place) = place {
                *lists.entry(list.join(".")).or_default().entry(place).or_default() += bytes;
            }
        }
        Self { lists: lists.into_values().map(|list| list.into_values().collect()).collect(), all }
    }

    /// The part of the network that is on the device with its largest group of so many blocks: that group, and what is in
    /// none of the lists. 1 where the network has no lists, `None` if nothing is known of it.
    pub fn largest_group(&self, blocks: usize) -> Option<f64> {
        if self.all == 0 {
            return None;
        }
        let listed: u64 = self.lists.iter().flatten().sum();
        let groups = self.lists.iter().flat_map(|list| list.chunks(blocks.max(1)));
        let largest: u64 = groups.map(|group| group.iter().sum()).max().unwrap_or(0);
        Some((largest + self.all - listed) as f64 / self.all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_whatever_its_list_has_at_one_place() {
        let tensors = [
            ("x_embedder.weight", 10),
            ("transformer_blocks.0.attn.to_out.0.weight", 30),
            ("transformer_blocks.0.norm1.linear.weight", 20),
            ("transformer_blocks.1.attn.to_out.0.weight", 40),
            ("single_transformer_blocks.0.proj_mlp.weight", 100),
        ];
        let blocks = PublishedBlocks::new(tensors.map(|(name, bytes)| (name.to_owned(), bytes)));
        assert_eq!(blocks.largest_group(1), Some(110.0 / 200.0));
        assert_eq!(blocks.largest_group(2), Some(110.0 / 200.0));
        let even = PublishedBlocks::new((0..4).map(|place| (format!("layers.{place}.weight"), 5)));
        assert_eq!([1, 3, 9].map(|count| even.largest_group(count)), [0.25, 0.75, 1.0].map(Some));
        let unlisted = PublishedBlocks::new([("conv_in.weight".to_owned(), 7)]);
        assert_eq!(unlisted.largest_group(1), Some(1.0));
        assert_eq!(PublishedBlocks::default().largest_group(1), None);
    }
}
