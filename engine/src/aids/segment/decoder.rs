//! Segment Anything's prompt encoder and mask decoder. What points, box and image see of each other is computed by
//! candle-transformers. The masks are not: its decoder has the tanh approximation of GELU, the trained one is exact.

use candle_core::Tensor as Values;
use candle_nn::VarBuilder;
use candle_transformers::models::segment_anything::{
    prompt_encoder::PromptEncoder, transformer::TwoWayTransformer,
};

use super::{CHANNELS, GRID, Masks, Prompt, SIDE};
use crate::{
    aids::taken::{Lent, block},
    checkpoint::BlockSpec,
    nn::{Computes, Error, Result as TensorResult, Tensor, Untraced, gelu, linear, untraced},
    residency::{Blocks, RunError, Weights},
};

use super::names::FREQUENCIES;

/// What the names of the second block's tensors begin with. They are not those of its authors, which transformers has for
/// other layers of the same shapes.
pub(super) const HEAD: &str = "masks.";
/// Masks that it makes: one for clear prompts, then three for ambiguous ones.
const MASKS: usize = 4;
/// Places along each side of a mask.
pub const MASK_SIDE: usize = 4 * GRID;
/// Tokens for the scores and the masks.
const OWN: usize = 1 + MASKS;
/// Channels of the masks after each enlargement.
const WIDTHS: [usize; 2] = [CHANNELS / 4, CHANNELS / 8];
/// Layers, heads and width of the feed-forward of its transformer.
const LAYERS: usize = 2;
const HEADS: usize = 8;
const INNER: usize = 2048;
/// Channels of a mask that is given as a prompt, which no prompt of Sluice has.
const GIVEN: usize = 16;
/// Added to the variance in the norm between the enlargements.
const EPS: f64 = 1e-6;
/// What candle-transformers' transformer holds of each place at its peak, in half widths. It is in its second layer, where
/// places attend to tokens: the image, its places, what the layer got and two sums of both, twice each; queries in rows and
/// in heads, what they saw in heads and in rows; and the result before and after its bias, twice each.
const HELD: usize = 2 * 5 + 4 + 2 * 2;

/// The mask decoder, in two blocks: what prompt and image see of each other, and the masks.
pub(super) fn specs() -> [BlockSpec; 2] {
    [block("prompt_encoder", &tensors()), head()]
}

/// Masks for a prompt in an image with this embedding `[1, 256, 64, 64]`.
pub(super) fn masks(blocks: Blocks<'_>, embedding: &Tensor, prompt: &Prompt) -> Result<Masks, RunError> {
    let mut seen = None;
    let mut made = None;
    blocks.walk(0..2, |_, w| {
        match seen.take() {
            None => seen = Some(attend(w, embedding, prompt)?),
            Some(seen) => made = Some(decode(w, seen, prompt)?),
        }
        Ok(())
    })?;
    made.ok_or_else(|| Error::msg("a walk had no blocks").into())
}

impl Prompt {
    /// The tokens of the prompt, and those for scores and masks.
    fn tokens(&self) -> usize {
        // Points without a box are followed by one that is none, and a box has two corners.
        OWN + match self.area {
            Some(_) => self.points.len() + 2,
            None => self.points.len() + 1,
        }
    }
}

/// The tokens of a prompt, then the places of the image: `[1, tokens + places, 256]`.
fn attend(w: &Weights<'_>, embedding: &Tensor, prompt: &Prompt) -> TensorResult<Tensor> {
    let tensors = tensors();
    let lent = Lent::of(w, &tensors)?;
    let (places, tokens) = (GRID * GRID, prompt.tokens());
    let takes = |_: Computes| {
        let of_layer = 2 * places * CHANNELS * (3 * CHANNELS + 4 * tokens);
        // Beside the image there are its scores, before and after the softmax.
        let values = HELD * places * CHANNELS / 2 + 2 * HEADS * places * tokens;
        Untraced { values, operations: (LAYERS * of_layer) as f64 }
    };
    untraced([embedding], &[1, tokens + places, CHANNELS], takes, |[embedding]| {
        let device = embedding.device();
        let weights = lent.builder(device)?;
        let grid = (GRID, GRID);
        let encoder = PromptEncoder::new(CHANNELS, grid, (SIDE, SIDE), GIVEN, weights.pp("prompt_encoder"))?;
        let (sparse, dense) = prompted(&encoder, &weights.pp("prompt_encoder"), prompt)?;
        let weights = weights.pp("mask_decoder");
        let own = |name: &str, count: usize| weights.get((count, CHANNELS), name);
        let own = Values::cat(&[own("iou_token.weight", 1)?, own("mask_tokens.weight", MASKS)?], 0)?;
        let tokens = Values::cat(&[own.unsqueeze(0)?, sparse], 1)?;
        let transformer = TwoWayTransformer::new(LAYERS, CHANNELS, HEADS, INNER, weights.pp("transformer"))?;
        let image = embedding.broadcast_add(&dense)?;
        // In order, because the transformer would keep an ordered copy beside it.
        let places = encoder.get_dense_pe()?.contiguous()?;
        let (tokens, image) = transformer.forward(&image, &places, &tokens)?;
        Values::cat(&[tokens, image], 1)
    })
}

/// The tokens of points and of the corners of a box, and what is added to all places. What candle-transformers makes of a box
/// has no dimension for its corners (0.11.1): they are given as points of neither kind, and marked as corners here.
fn prompted(
    encoder: &PromptEncoder,
    weights: &VarBuilder<'_>,
    prompt: &Prompt,
) -> TensorResult<(Values, Values)> {
    const CORNERS: [&str; 2] = ["point_embeddings.2.weight", "point_embeddings.3.weight"];
    let count = prompt.points.len();
    let mut places: Vec<f32> = prompt.points.iter().flat_map(|(place, _)| *place).collect();
    let mut kinds: Vec<f32> = prompt.points.iter().map(|(_, inside)| f32::from(u8::from(*inside))).collect();
    if let Some(area) = prompt.area {
        places.extend(area);
        kinds.extend([2.0, 3.0]);
    }
    let all = kinds.len();
    let places = Values::from_vec(places, (1, all, 2), weights.device())?;
    let kinds = Values::from_vec(kinds, (1, all), weights.device())?;
    let (tokens, dense) = encoder.forward(Some((&places, &kinds)), None, None)?;
    if prompt.area.is_none() {
        return Ok((tokens, dense));
    }
    // Without the one that is no point, which only points without a box are followed by.
    let [first, second] = CORNERS.map(|name| weights.get((1, CHANNELS), name));
    let corners = tokens.narrow(1, count, 2)?.broadcast_add(&Values::cat(&[first?, second?], 0)?)?;
    Ok(match count {
        0 => (corners, dense),
        _ => (Values::cat(&[tokens.narrow(1, 0, count)?, corners], 1)?, dense),
    })
}

/// The masks and their scores.
fn decode(w: &Weights<'_>, seen: Tensor, prompt: &Prompt) -> TensorResult<Masks> {
    let (own, places) = (seen.narrow(1, 0, OWN)?.contiguous()?, GRID * GRID);
    let image = seen.narrow(1, prompt.tokens(), places)?.contiguous()?.reshape((places, CHANNELS))?;
    drop(seen);
    let image = enlarged(w, "output_upscaling.0", image, GRID)?;
    let image = gelu(&w.layer_norm("output_upscaling.1", &image, EPS)?)?;
    let image = gelu(&enlarged(w, "output_upscaling.3", image, 2 * GRID)?)?;
    let token = |number: usize| own.narrow(1, number, 1)?.reshape((1, CHANNELS));
    let of_mask =
        |number: usize| small(w, &format!("output_hypernetworks_mlps.{number}"), &token(1 + number)?);
    let kernels = (0..MASKS).map(of_mask).collect::<TensorResult<Vec<_>>>()?;
    Ok(Masks {
        shapes: linear(&Tensor::cat(&kernels, 0)?, &image, None)?,
        scores: small(w, "iou_prediction_head", &token(0)?)?,
    })
}

/// A network of three linear layers.
fn small(w: &Weights<'_>, name: &str, x: &Tensor) -> TensorResult<Tensor> {
    let x = w.linear(&format!("{name}.layers.0"), x)?.relu()?;
    let x = w.linear(&format!("{name}.layers.1"), &x)?.relu()?;
    w.linear(&format!("{name}.layers.2"), &x)
}

/// A transposed convolution that makes a square of four places of each place of a square `[places, channels]`.
fn enlarged(w: &Weights<'_>, name: &str, x: Tensor, side: usize) -> TensorResult<Tensor> {
    let kernel = w.get(&format!("{name}.weight"))?;
    let (inputs, outputs, ..) = kernel.dims4()?;
    let kernel = kernel.reshape((inputs, outputs * 4))?.transpose(0, 1)?.contiguous()?;
    let squares = linear(&x, &kernel, None)?.reshape((side, side, outputs, 2, 2))?;
    drop(x);
    let places = squares.permute([0, 3, 1, 4, 2])?.contiguous()?;
    drop(squares);
    let places = places.reshape((4 * side * side, outputs))?;
    places.broadcast_add(&w.get(&format!("{name}.bias"))?.reshape((1, outputs))?)
}

/// The names and shapes of the tensors of the first block.
fn tensors() -> Vec<(String, Vec<usize>)> {
    let mut all = vec![(FREQUENCIES.to_owned(), vec![2, CHANNELS / 2])];
    let mut add = |name: String, shape: &[usize]| all.push((name, shape.to_vec()));
    for number in 0..4 {
        add(format!("prompt_encoder.point_embeddings.{number}.weight"), &[1, CHANNELS]);
    }
    for name in ["not_a_point_embed", "no_mask_embed"] {
        add(format!("prompt_encoder.{name}.weight"), &[1, CHANNELS]);
    }
    let quarter = GIVEN / 4;
    for (layer, shape) in [
        (0, &[quarter, 1, 2, 2][..]),
        (1, &[quarter]),
        (3, &[GIVEN, quarter, 2, 2]),
        (4, &[GIVEN]),
        (6, &[CHANNELS, GIVEN, 1, 1]),
    ] {
        add(format!("prompt_encoder.mask_downscaling.{layer}.weight"), shape);
        add(format!("prompt_encoder.mask_downscaling.{layer}.bias"), &shape[..1]);
    }
    add("mask_decoder.iou_token.weight".to_owned(), &[1, CHANNELS]);
    add("mask_decoder.mask_tokens.weight".to_owned(), &[MASKS, CHANNELS]);
    let mut linear = |name: &str, outputs: usize, inputs: usize| {
        add(format!("mask_decoder.transformer.{name}.weight"), &[outputs, inputs]);
        add(format!("mask_decoder.transformer.{name}.bias"), &[outputs]);
    };
    let attentions = (0..LAYERS).flat_map(|layer| {
        let across = ["cross_attn_token_to_image", "cross_attn_image_to_token"];
        let across = across.map(|name| (format!("layers.{layer}.{name}"), CHANNELS / 2));
        [(format!("layers.{layer}.self_attn"), CHANNELS)].into_iter().chain(across)
    });
    let last = ("final_attn_token_to_image".to_owned(), CHANNELS / 2);
    for (name, width) in attentions.chain([last]) {
        for part in ["q_proj", "k_proj", "v_proj"] {
            linear(&format!("{name}.{part}"), width, CHANNELS);
        }
        linear(&format!("{name}.out_proj"), CHANNELS, width);
    }
    for layer in 0..LAYERS {
        linear(&format!("layers.{layer}.mlp.lin1"), INNER, CHANNELS);
        linear(&format!("layers.{layer}.mlp.lin2"), CHANNELS, INNER);
    }
    let norms = (0..LAYERS).flat_map(|layer| (1..5).map(move |norm| format!("layers.{layer}.norm{norm}")));
    for norm in norms.chain(["norm_final_attn".to_owned()]) {
        for end in ["weight", "bias"] {
            all.push((format!("mask_decoder.transformer.{norm}.{end}"), vec![CHANNELS]));
        }
    }
    all
}

/// The second block.
fn head() -> BlockSpec {
    let [first, second] = WIDTHS;
    let mut spec = BlockSpec { prefix: HEAD.to_owned(), ..BlockSpec::stem("mask_decoder") }
        .tensor("output_upscaling.0.weight", &[CHANNELS, first, 2, 2])
        .tensor("output_upscaling.0.bias", &[first])
        .norm("output_upscaling.1", first)
        .tensor("output_upscaling.3.weight", &[first, second, 2, 2])
        .tensor("output_upscaling.3.bias", &[second]);
    let small = |spec: BlockSpec, name: &str, outputs: usize| {
        spec.linear(&format!("{name}.layers.0"), CHANNELS, CHANNELS)
            .linear(&format!("{name}.layers.1"), CHANNELS, CHANNELS)
            .linear(&format!("{name}.layers.2"), outputs, CHANNELS)
    };
    for number in 0..MASKS {
        spec = small(spec, &format!("output_hypernetworks_mlps.{number}"), second);
    }
    small(spec, "iou_prediction_head", MASKS)
}
