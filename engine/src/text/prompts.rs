//! From sequences to prompts: weights of tokens, chunks side by side.

use candle_core::{DType, Result, Tensor};

use super::{Encoded, Sequence, TextEncoder, Tokens};
use crate::{
    memory::Work,
    nn::Costs,
    residency::{Executor, RunError, WeightStore},
};

/// What an encoder makes of prompts: the states of a prompt's chunks are weighted and joined along the tokens, the
/// pooled row is that of the first chunk.
pub fn encode(
    encoder: &dyn TextEncoder,
    executor: &Executor,
    store: &WeightStore,
    prompts: &[&Tokens],
    clip_skip: u32,
) -> std::result::Result<Vec<Encoded>, RunError> {
    let sequences: Vec<&[u32]> = all(prompts).map(|sequence| sequence.ids.as_slice()).collect();
    let mut encoded = encoder.encode(executor, store, &sequences, clip_skip)?.into_iter();
    let mut joined = Vec::new();
    for prompt in prompts {
        let (mut states, mut pooled) = (Vec::new(), None);
        for (sequence, encoded) in prompt.sequences.iter().zip(encoded.by_ref()) {
            states.push(weighted(encoded.states, sequence)?);
            pooled = pooled.or(encoded.pooled);
        }
        let states = if states.len() == 1 { states.remove(0) } else { Tensor::cat(&states, 0)? };
        joined.push(Encoded { states, pooled });
    }
    Ok(joined)
}

/// What [`encode`] takes: the encoder's own work, and what comes after its last block.
pub fn work(encoder: &dyn TextEncoder, prompts: &[&Tokens], clip_skip: u32, costs: Costs) -> Work {
    let lengths: Vec<usize> = all(prompts).map(|sequence| sequence.ids.len()).collect();
    let mut work = encoder.work(&lengths, clip_skip, costs);
    let value_bytes = costs.value_bytes;
    let bytes = |tokens: usize, each: usize| (tokens * encoder.width() * each) as u64;
    let after = |prompt: &&Tokens| {
        let weighted = prompt.sequences.iter().filter(|sequence| sequence.is_weighted());
        // Of the sequence that is weighted, a copy in f32 and the result, where those are two.
        let wide = size_of::<f32>() + if value_bytes < size_of::<f32>() { size_of::<f32>() } else { 0 };
        let weighting = weighted.map(|sequence| bytes(sequence.ids.len(), wide)).max().unwrap_or(0);
        let joined = if prompt.sequences.len() > 1 { bytes(prompt.len(), value_bytes) } else { 0 };
        weighting.max(joined)
    };
    if let Some(last) = work.blocks.last_mut() {
        let after = prompts.iter().map(after).max().unwrap_or(0);
        last.activations = last.activations.max(after);
    }
    work
}

fn all<'a>(prompts: &[&'a Tokens]) -> impl Iterator<Item = &'a Sequence> {
    prompts.iter().flat_map(|prompt| &prompt.sequences)
}

/// States multiplied by the weights of their tokens, and all of them by one number that gives them the mean they had
/// before: "Original" in A1111's settings of emphasis.
fn weighted(states: Tensor, sequence: &Sequence) -> Result<Tensor> {
    if !sequence.is_weighted() {
        return Ok(states);
    }
    let (shape, width, dtype, device) =
        (states.dims2()?, states.dim(1)?, states.dtype(), states.device().clone());
    let mut values = states.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
    drop(states);
    let sum = |values: &[f32]| values.iter().copied().map(f64::from).sum::<f64>();
    let before = sum(&values);
    for (row, weight) in values.chunks_exact_mut(width.max(1)).zip(&sequence.weights) {
        row.iter_mut().for_each(|value| *value *= weight);
    }
    let factor = (before / sum(&values)) as f32;
    if factor.is_finite() {
        values.iter_mut().for_each(|value| *value *= factor);
    }
    Tensor::from_vec(values, shape, &device)?.to_dtype(dtype)
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn sequence(weights: &[f32]) -> Sequence {
        Sequence { ids: vec![0; weights.len()], weights: weights.to_vec() }
    }

    #[test]
    fn weighted_states_keep_their_mean() {
        let states = Tensor::new(&[[1.0_f32, 2.0], [3.0, 4.0], [-1.0, 3.0]], &Device::Cpu).unwrap();
        let found = weighted(states, &sequence(&[1.0, 2.0, 0.5])).unwrap();
        // A sum of 12 becomes 3 + 14 + 1.
        let factor = 12.0 / 18.0;
        let expected = [[1.0, 2.0], [6.0, 8.0], [-0.5, 1.5]].map(|row| row.map(|value: f32| value * factor));
        assert_eq!(found.to_vec2::<f32>().unwrap(), expected);
    }

    #[test]
    fn a_mean_of_nothing_is_not_restored() {
        let states = Tensor::new(&[[1.0_f32, 1.0], [1.0, 1.0]], &Device::Cpu).unwrap();
        let found = weighted(states, &sequence(&[2.0, -2.0])).unwrap();
        assert_eq!(found.to_vec2::<f32>().unwrap(), [[2.0, 2.0], [-2.0, -2.0]]);
    }

    #[test]
    fn states_without_weights_are_not_touched() {
        let states = Tensor::new(&[[0.1_f32, 0.2]], &Device::Cpu).unwrap();
        assert_eq!(weighted(states.clone(), &sequence(&[1.0])).unwrap().id(), states.id());
    }
}
