//! The network of a ControlNet that embeds a map of pixels (Zhang et al. 2023, arXiv:2302.05543): pairs of convolutions, the
//! second of which halves the size.

use crate::{
    checkpoint::{BlockSpec, StoredName, StoredTensor, TensorTable},
    nn::{Conv2d, Result, Tensor, bail, silu},
    residency::Weights,
};

/// Channels of an image.
const COLOURS: usize = 3;
/// What the authors' files call it.
const ORIGINAL: &str = "input_hint_block";

/// The network's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct MapEmbedder {
    /// What diffusers calls it.
    name: &'static str,
    /// The channels, each after a halving of the size but the first. There is at least one.
    channels: Vec<usize>,
    /// Channels of its results.
    width: usize,
}

impl MapEmbedder {
    /// The one in `tensors`, if there is one, which diffusers calls `name`. Its results have `width` channels.
    pub fn of(name: &'static str, tensors: &TensorTable, width: usize) -> Option<Self> {
        let layers = (0usize..).map(|layer| {
            let own = if layer == 0 { "conv_in".to_owned() } else { format!("blocks.{}", 2 * layer - 1) };
            let original = format!("{ORIGINAL}.{}.weight", 4 * layer);
            tensors.get(&format!("{name}.{own}.weight")).or_else(|| tensors.get(&original))
        });
        let outputs = |tensor: &StoredTensor| tensor.shape().first().copied().unwrap_or_default();
        let channels: Vec<usize> = layers.map_while(|layer| layer.map(outputs)).collect();
        (!channels.is_empty()).then_some(Self { name, channels, width })
    }

    /// A block with its layers.
    pub fn added_to(&self, spec: BlockSpec) -> BlockSpec {
        let [first, .., last] = self.channels[..] else { return spec };
        let name = |layer: &str| format!("{}.{layer}", self.name);
        let mut spec = spec.conv(&name("conv_in"), first, COLOURS, 3);
        for (index, pair) in self.channels.windows(2).enumerate() {
            let [same, halved] = [2 * index, 2 * index + 1].map(|layer| name(&format!("blocks.{layer}")));
            spec = spec.conv(&same, pair[0], pair[0], 3).conv(&halved, pair[1], pair[0], 3);
        }
        spec.conv(&name("conv_out"), self.width, last, 3)
    }

    /// The name in the authors' files of one of its tensors. Activations are counted, too.
    pub fn original(&self, name: &str) -> Option<StoredName> {
        let (layer, kind) = name.strip_prefix(self.name)?.strip_prefix('.')?.rsplit_once('.')?;
        let number = match layer.strip_prefix("blocks.") {
            Some(number) => 2 * (number.parse::<usize>().ok()? + 1),
            None if layer == "conv_out" => 2 * (2 * self.channels.len() - 1),
            None => 0,
        };
        Some(StoredName::whole(format!("{ORIGINAL}.{number}.{kind}")))
    }

    /// `[1, 3, height, width]` to `[1, width, height, width]` of the height and width of latents.
    pub fn embed(&self, w: &Weights, image: &Tensor, latents: [usize; 2]) -> Result<Tensor> {
        let name = |layer: &str| format!("{}.{layer}", self.name);
        let mut x = silu(&w.conv2d(&name("conv_in"), image, Conv2d::SAME_3X3)?)?;
        for layer in 0..2 * (self.channels.len() - 1) {
            let conv = if layer % 2 == 0 { Conv2d::SAME_3X3 } else { Conv2d::HALVE_3X3 };
            x = silu(&w.conv2d(&name(&format!("blocks.{layer}")), &x, conv)?)?;
        }
        let embedded = w.conv2d(&name("conv_out"), &x, Conv2d::SAME_3X3)?;
        let (_, _, height, width) = embedded.dims4()?;
        if [height, width] != latents {
            bail!("the image of a ControlNet is embedded as {height}×{width} latents, not {latents:?}");
        }
        Ok(embedded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_authors_own() {
        let embedder = MapEmbedder { name: "hint", channels: vec![16; 4], width: 16 };
        for (ours, theirs) in [
            ("hint.conv_in.weight", "input_hint_block.0.weight"),
            ("hint.blocks.0.bias", "input_hint_block.2.bias"),
            ("hint.blocks.5.weight", "input_hint_block.12.weight"),
            ("hint.conv_out.bias", "input_hint_block.14.bias"),
        ] {
            assert_eq!(embedder.original(ours), Some(StoredName::whole(theirs)), "{ours}");
        }
        assert_eq!(embedder.original("x_embedder.weight"), None);
        let spec = embedder.added_to(BlockSpec::stem("map"));
        assert_eq!(spec.tensors.len(), 16);
        assert_eq!(spec.tensors[0], ("hint.conv_in.weight".to_owned(), vec![16, 3, 3, 3]));
    }
}
