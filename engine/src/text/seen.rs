//! Images among the tokens of a language model.

use super::{Qwen2Tokenizer, qwen2_5_vl::IMAGE};
use crate::nn::{Result, Tensor, bail};

/// Images in prompts.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The token that stands for a part of an image.
    pub token: u32,
    /// What a row of such tokens is replaced by, image after image: `[rows, columns, hidden_size]`. Models with DeepStack
    /// (Meng et al. 2024, arXiv:2406.04334) get more values per token: those of the second `hidden_size` are added after
    /// the first layer, those of the third after the second, and so on.
    pub images: &'a [Tensor],
}

impl<'a> Seen<'a> {
    /// Images in the prompts of Qwen's models; `None` if there are none.
    pub(super) fn of(tokenizer: &Qwen2Tokenizer, images: &'a [Tensor]) -> Option<Self> {
        let token = tokenizer.inner().token_to_id(IMAGE).filter(|_| !images.is_empty())?;
        Some(Self { token, images })
    }
}

/// What is added to the states of an image's tokens after some of the first layers.
pub(super) struct Added {
    /// The first of the tokens.
    first: usize,
    /// `[1, tokens, width]` for each layer from the first.
    layers: Vec<Tensor>,
}

/// The embeddings of a prompt.
pub(super) struct Placed {
    /// `[tokens, width]`.
    pub x: Tensor,
    /// The position of each token on the axes of image, row and column.
    pub places: Vec<[usize; 3]>,
    /// See [`with_added`].
    pub added: Vec<Added>,
}

impl Placed {
    /// Text alone, whose positions are the same on all axes.
    pub fn text(x: Tensor) -> Result<Self> {
        let places = (0..x.dim(0)?).map(|place| [place; 3]).collect();
        Ok(Self { x, places, added: Vec::new() })
    }
}

/// `x` with what is added to it after a layer.
pub(super) fn with_added(x: Tensor, added: &[Added], layer: usize) -> Result<Tensor> {
    let (mut parts, mut end) = (Vec::new(), 0);
    for Added { first, layers } in added {
        let Some(own) = layers.get(layer) else { continue };
        let tokens = own.dim(1)?;
        if *first > end {
            parts.push(x.narrow(1, end, first - end)?);
        }
        parts.push((x.narrow(1, *first, tokens)? + own)?);
        end = first + tokens;
    }
    if parts.is_empty() {
        return Ok(x);
    }
    let rest = x.dim(1)? - end;
    if rest > 0 {
        parts.push(x.narrow(1, end, rest)?);
    }
    Tensor::cat(&parts, 1)
}

/// A prompt with images in their places. Text goes on from the longer side of an image before it.
pub(super) fn with_images(x: Tensor, ids: &[u32], seen: Seen<'_>) -> Result<Placed> {
    let width = x.dim(1)?;
    let mut images = seen.images.iter();
    let (mut parts, mut places, mut added) = (Vec::new(), Vec::with_capacity(ids.len()), Vec::new());
    let (mut first, mut next) = (0, 0);
    for run in ids.chunk_by(|one, other| (*one == seen.token) == (*other == seen.token)) {
        if run[0] == seen.token {
            let Some(image) = images.next() else { bail!("the prompt has too few images") };
            let (rows, columns, values) = image.dims3()?;
            if rows * columns != run.len() {
                bail!("{} tokens stand for an image of {}", run.len(), rows * columns);
            }
            let tokens = image.reshape((rows * columns, values))?.to_dtype(x.dtype())?;
            let layer = |number: usize| tokens.narrow(1, number * width, width)?.contiguous();
            let of_layers = (1..values / width).map(|number| layer(number)?.unsqueeze(0));
            added.push(Added { first, layers: of_layers.collect::<Result<_>>()? });
            parts.push(if values == width { tokens } else { layer(0)? });
            let place = |row| (0..columns).map(move |column| [next, next + row, next + column]);
            places.extend((0..rows).flat_map(place));
            next += rows.max(columns);
        } else {
            parts.push(x.narrow(0, first, run.len())?);
            places.extend((next..next + run.len()).map(|place| [place; 3]));
            next += run.len();
        }
        first += run.len();
    }
    Ok(Placed { x: Tensor::cat(&parts, 0)?, places, added })
}
