//! What belongs together in an image, from points and a box: Segment Anything (Kirillov et al. 2023, arXiv:2304.02643), and
//! MobileSAM (Zhang et al. 2023, arXiv:2306.14289), which has a smaller image encoder.

mod decoder;
mod names;
mod neck;
mod tiny_vit;
mod vit;

use std::path::Path;

use super::{estimator::IMAGE_NET, own, taken::own_name};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Role, StoredName},
    nn::{Result as TensorResult, Tensor},
    residency::{Blocks, RunError},
};
use names::Naming;
use tiny_vit::TinyVit;
use vit::Vit;

pub use decoder::MASK_SIDE;

/// Pixels along each side of what the network sees.
const SIDE: usize = 1024;
/// Places along each side of an image's embedding.
const GRID: usize = 64;
/// Channels of an image's embedding, and the width of the mask decoder.
const CHANNELS: usize = 256;

/// A network that finds what belongs together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segmenter {
    encoder: Encoder,
}

/// What embeds images.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Encoder {
    Vit(Vit),
    TinyVit(TinyVit),
}

/// A segmenter and the location of its weights.
pub struct OpenedSegmenter {
    /// The network.
    pub network: Segmenter,
    /// Location of its weights.
    pub component: Component,
}

/// What shows the network a part of an image, in pixels of what it sees.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prompt {
    /// Points, and whether each is inside.
    pub points: Vec<([f32; 2], bool)>,
    /// Left, top, right and bottom of a box around it.
    pub area: Option<[f32; 4]>,
}

/// What the network makes of a prompt.
#[derive(Debug, Clone)]
pub struct Masks {
    /// Four masks `[4, 256 · 256]`, above 0 inside: one for clear prompts, then three for ambiguous ones.
    pub shapes: Tensor,
    /// How well it takes each to fit, `[1, 4]`.
    pub scores: Tensor,
}

fn refused(path: &Path, reason: impl Into<String>) -> CheckpointError {
    CheckpointError::Segmenter { path: path.to_owned(), reason: reason.into() }
}

/// What the authors call a tensor of the blueprint.
fn authors_name(name: &str) -> String {
    name.strip_prefix(decoder::HEAD).map_or_else(|| own_name(name), |name| format!("mask_decoder.{name}"))
}

/// Whether a checkpoint is a segmenter that can be opened.
pub fn is_segmenter(checkpoint: &Checkpoint) -> bool {
    own(checkpoint).is_some_and(|tensors| Naming::of(tensors).is_some())
}

/// Opens the segmenter in a checkpoint. Reads no weights.
///
/// # Errors
/// When it has none, or a tensor is missing or has another shape.
pub fn open_segmenter(checkpoint: &Checkpoint) -> Result<OpenedSegmenter, CheckpointError> {
    let path = &checkpoint.path;
    let found = own(checkpoint).and_then(|tensors| Some((tensors, Naming::of(tensors)?)));
    let (tensors, naming) = found.ok_or_else(|| refused(path, "it is no Segment Anything network"))?;
    let shape = |name: &str| tensors.get(&naming.stored(name, tensors)).map_or(&[][..], |it| it.shape());
    let encoder = if shape("image_encoder.patch_embed.seq.0.c.weight").is_empty() {
        Encoder::Vit(Vit::found(path, shape)?)
    } else {
        Encoder::TinyVit(TinyVit::found(path, shape)?)
    };
    let network = Segmenter { encoder };
    let mut specs = match &network.encoder {
        Encoder::Vit(encoder) => encoder.specs(),
        Encoder::TinyVit(encoder) => encoder.specs(),
    };
    specs.extend(decoder::specs());
    let component = Component::bind(
        Role::Segmenter,
        network.architecture(),
        &specs,
        tensors,
        |name| StoredName::whole(naming.stored(&authors_name(name), tensors)),
        path,
    )?;
    Ok(OpenedSegmenter { network, component })
}

impl Segmenter {
    /// Means and deviations of the channels of images, in 0…1.
    pub const SPREAD: [[f32; 3]; 2] = IMAGE_NET;
    /// Pixels along each side of what it sees: the image at the top left, and black after normalization beside it.
    pub const SIDE: usize = SIDE;

    fn architecture(&self) -> &'static str {
        match &self.encoder {
            Encoder::Vit(_) => "Segment Anything",
            Encoder::TinyVit(_) => "MobileSAM",
        }
    }

    /// What people call its size.
    pub fn size(&self) -> &'static str {
        match &self.encoder {
            Encoder::Vit(encoder) => encoder.size(),
            Encoder::TinyVit(encoder) => encoder.size(),
        }
    }

    /// Height and width of an image of a height and width in what it sees.
    pub fn sees([height, width]: [u32; 2]) -> [u32; 2] {
        let longest = height.max(width).max(1);
        [height, width].map(|side| {
            let scaled = (f64::from(side) * SIDE as f64 / f64::from(longest) + 0.5) as u32;
            scaled.clamp(1, SIDE as u32)
        })
    }

    /// The number of its blocks that embed images.
    fn encoder_blocks(&self) -> usize {
        match &self.encoder {
            Encoder::Vit(encoder) => encoder.blocks(),
            Encoder::TinyVit(_) => tiny_vit::STAGES,
        }
    }

    /// The embedding `[1, 256, 64, 64]` of a normalized image `[1, 3, 1024, 1024]`. It is the same for all prompts.
    ///
    /// # Errors
    /// When weights cannot be read, memory runs out, or the run is cancelled.
    pub fn embed(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        match &self.encoder {
            Encoder::Vit(encoder) => encoder.embed(blocks, image),
            Encoder::TinyVit(encoder) => encoder.embed(blocks, image),
        }
    }

    /// The masks for a prompt in an image with this embedding.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    pub fn masks(&self, blocks: Blocks<'_>, embedding: &Tensor, prompt: &Prompt) -> Result<Masks, RunError> {
        decoder::masks(blocks.from(self.encoder_blocks()), embedding, prompt)
    }
}

impl Masks {
    /// The values of the mask that fits a prompt best, row by row. One point may mean a part or a whole: for it the best of
    /// three masks is taken.
    ///
    /// # Errors
    /// When the values cannot be read.
    pub fn best(&self, prompt: &Prompt) -> TensorResult<Tensor> {
        let is_clear = prompt.points.len() > 1 || prompt.area.is_some();
        let scores = self.scores.computed()?.flatten_all()?.to_vec1::<f32>()?;
        let ambiguous = scores.iter().enumerate().skip(1);
        let best = ambiguous.max_by(|one, other| one.1.total_cmp(other.1)).map_or(0, |(number, _)| number);
        self.shapes.narrow(0, if is_clear { 0 } else { best }, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Device;

    #[test]
    fn no_tensor_is_taken_for_another_of_the_same_name() {
        for spec in decoder::specs() {
            for (name, _) in &spec.tensors {
                let own = format!("{}{name}", spec.prefix);
                let authors = authors_name(&own);
                assert!(authors.starts_with("mask_decoder.") || authors.starts_with("prompt_encoder."));
                assert_ne!(own, authors, "a file of transformers may have another tensor of this name");
            }
        }
    }

    #[test]
    fn the_longer_side_is_the_trained_one() {
        for (size, sees) in [
            ([1024, 1024], [1024, 1024]),
            ([768, 1024], [768, 1024]),
            ([100, 50], [1024, 512]),
            ([3, 2000], [2, 1024]),
            ([1, 9000], [1, 1024]),
        ] {
            assert_eq!(Segmenter::sees(size), sees, "{size:?}");
        }
    }

    #[test]
    fn one_point_gets_the_best_of_three_masks_and_clear_prompts_the_first() {
        let of = |values: Vec<f32>, shape: (usize, usize)| {
            Tensor::from_vec(values, shape, &Device::processor()).unwrap()
        };
        let masks = Masks {
            shapes: of(vec![0.0, 1.0, 2.0, 3.0], (4, 1)),
            scores: of(vec![0.9, 0.1, 0.5, 0.2], (1, 4)),
        };
        let best = |prompt: &Prompt| {
            let best = masks.best(prompt).unwrap().into_computed().unwrap();
            best.flatten_all().unwrap().to_vec1::<f32>().unwrap()[0]
        };
        let point = ([4.0, 4.0], true);
        assert_eq!(best(&Prompt { points: vec![point], area: None }), 2.0);
        assert_eq!(best(&Prompt { points: vec![point; 2], area: None }), 0.0);
        assert_eq!(best(&Prompt { points: vec![point], area: Some([0.0, 0.0, 9.0, 9.0]) }), 0.0);
    }
}
