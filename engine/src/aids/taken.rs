//! Networks of candle-transformers. They own their weights, so a network is one block: it is built from the block's weights
//! for a forward pass, without copying them, and gone after it.

use std::collections::HashMap;

use candle_nn::VarBuilder;

use crate::{
    checkpoint::BlockSpec,
    nn::{DType, Result, Tensor},
    residency::Weights,
};

/// What the names of all tensors of such a block begin with. To the store they are the tensors of one layer, which come and go
/// together.
const LAYER: &str = "network.";

/// The block of a network with tensors of these names and shapes.
pub(super) fn block(name: &str, tensors: &[(String, Vec<usize>)]) -> BlockSpec {
    tensors.iter().fold(BlockSpec::stem(name), |spec, (name, shape)| {
        spec.tensor(format!("{LAYER}{}", name.replace('.', "/")), shape)
    })
}

/// The network's own name of a tensor of such a block; other names as they are.
pub(super) fn own_name(name: &str) -> String {
    name.strip_prefix(LAYER).map_or_else(|| name.to_owned(), |name| name.replace('/', "."))
}

/// The weights of a block, lent to a network for a forward pass.
pub(super) struct Lent(Vec<(String, Tensor)>);

impl Lent {
    /// All tensors of these names and shapes.
    pub fn of(w: &Weights<'_>, tensors: &[(String, Vec<usize>)]) -> Result<Self> {
        let lent = |(name, _): &(String, Vec<usize>)| {
            Ok((name.clone(), w.get(&format!("{LAYER}{}", name.replace('.', "/")))?))
        };
        Ok(Self(tensors.iter().map(lent).collect::<Result<_>>()?))
    }

    /// What candle-transformers builds a network from.
    pub fn builder(&self, device: &candle_core::Device) -> Result<VarBuilder<'static>> {
        let values = |(name, tensor): &(String, Tensor)| Ok((name.clone(), tensor.computed()?.clone()));
        let tensors = self.0.iter().map(values).collect::<Result<HashMap<_, _>>>()?;
        Ok(VarBuilder::from_tensors(tensors, DType::F32, device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tensors_of_a_network_are_one_layer() {
        let spec = block("encoder", &[("a.b.weight".to_owned(), vec![2]), ("c.bias".to_owned(), vec![3])]);
        assert_eq!(spec.tensors[0], ("network.a/b/weight".to_owned(), vec![2]));
        let layers = spec.tensors.iter().map(|(name, _)| name.rsplit_once('.').map(|(layer, _)| layer));
        assert!(layers.clone().all(|layer| layer == Some("network")));
        assert_eq!(own_name(&spec.tensors[1].0), "c.bias");
        assert_eq!(own_name("mask_decoder.0.weight"), "mask_decoder.0.weight");
    }
}
