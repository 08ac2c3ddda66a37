//! Encodes prompts from their sequences: applies token weights and concatenates chunks.

use super::{Encoded, Given, Sequence, TextEncoder, Tokens};
use crate::{
    nn::{Result, Tensor, on_host},
    residency::{Blocks, RunError},
};

/// Encodes prompts. The states of a prompt's chunks are weighted and concatenated along the tokens; the
/// pooled output is that of the first chunk.
pub fn encode(
    encoder: &dyn TextEncoder,
    blocks: Blocks<'_>,
    prompts: &[&Tokens],
    given: Given<'_>,
) -> std::result::Result<Vec<Encoded>, RunError> {
    let sequences: Vec<&[u32]> = all(prompts).map(|sequence| sequence.ids.as_slice()).collect();
    let mut encoded = encoder.encode(blocks, &sequences, given)?.into_iter();
    let mut joined = Vec::new();
    for prompt in prompts {
        let (mut states, mut pooled, mut images) = (Vec::new(), None, Vec::new());
        for (sequence, encoded) in prompt.sequences.iter().zip(encoded.by_ref()) {
            states.push(weighted(encoded.states, sequence)?);
            pooled = pooled.or(encoded.pooled);
            images.extend(encoded.images);
        }
        let states = if states.len() == 1 { states.remove(0) } else { Tensor::cat(&states, 0)? };
        joined.push(Encoded { states, pooled, images });
    }
    Ok(joined)
}

fn all<'a>(prompts: &[&'a Tokens]) -> impl Iterator<Item = &'a Sequence> {
    prompts.iter().flat_map(|prompt| &prompt.sequences)
}

/// Multiplies the states by the weights of their tokens, then rescales all of them to their original mean:
/// "Original" in A1111's emphasis settings.
fn weighted(states: Tensor, sequence: &Sequence) -> Result<Tensor> {
    if !sequence.is_weighted() {
        return Ok(states);
    }
    let width = states.dim(1)?.max(1);
    on_host(states, |values| {
        let sum = |values: &[f32]| values.iter().copied().map(f64::from).sum::<f64>();
        let before = sum(values);
        for (row, weight) in values.chunks_exact_mut(width).zip(&sequence.weights) {
            row.iter_mut().for_each(|value| *value *= weight);
        }
        let factor = (before / sum(values)) as f32;
        if factor.is_finite() {
            values.iter_mut().for_each(|value| *value *= factor);
        }
    })
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor as Values};

    use super::*;

    fn sequence(weights: &[f32]) -> Sequence {
        Sequence { ids: vec![0; weights.len()], weights: weights.to_vec() }
    }

    fn states(rows: &[[f32; 2]]) -> Tensor {
        Values::from_vec(rows.concat(), (rows.len(), 2), &Device::Cpu).unwrap().into()
    }

    #[test]
    fn weighted_states_keep_their_mean() {
        let states = states(&[[1.0, 2.0], [3.0, 4.0], [-1.0, 3.0]]);
        let found = weighted(states, &sequence(&[1.0, 2.0, 0.5])).unwrap();
        // A sum of 12 becomes 3 + 14 + 1.
        let factor = 12.0 / 18.0;
        let expected = [[1.0, 2.0], [6.0, 8.0], [-0.5, 1.5]].map(|row| row.map(|value: f32| value * factor));
        assert_eq!(found.computed().unwrap().to_vec2::<f32>().unwrap(), expected);
    }

    #[test]
    fn a_mean_of_nothing_is_not_restored() {
        let states = states(&[[1.0, 1.0], [1.0, 1.0]]);
        let found = weighted(states, &sequence(&[2.0, -2.0])).unwrap();
        assert_eq!(found.computed().unwrap().to_vec2::<f32>().unwrap(), [[2.0, 2.0], [-2.0, -2.0]]);
    }

    #[test]
    fn states_without_weights_are_not_touched() {
        let states = states(&[[0.1, 0.2]]);
        let found = weighted(states.clone(), &sequence(&[1.0])).unwrap();
        assert_eq!(found.computed().unwrap().id(), states.computed().unwrap().id());
    }
}
