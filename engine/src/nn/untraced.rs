//! Functions of the tensor library's own, whose inside a trace does not see.

use candle_core::{D, Result, Tensor as Values};

use super::{
    Tensor,
    cost::{Computes, Cost},
    functions::apply,
    tensor::Kind,
};

/// What a function takes whose inside is not traced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Untraced {
    /// The most values that it holds at a time besides its inputs, its result among them.
    pub values: usize,
    /// Its floating-point operations.
    pub operations: f64,
}

/// Applies a function that is not written over [`Tensor`] to inputs of one dtype. On shapes it returns a tensor of `dims`, and
/// charges what `takes` says.
pub fn untraced<const N: usize>(
    inputs: [&Tensor; N],
    dims: &[usize],
    takes: impl FnOnce(Computes) -> Untraced,
    compute: impl FnOnce([&Values; N]) -> Result<Values>,
) -> Result<Tensor> {
    let Kind::Traced(first) = &inputs[0].0 else {
        let mut values = [inputs[0].computed()?; N];
        for (values, input) in values.iter_mut().zip(inputs) {
            *values = input.computed()?;
        }
        return Ok(compute(values)?.into());
    };
    let trace = first.trace();
    let Untraced { values, operations } = takes(trace.computes());
    let bytes = |values: usize| (values * first.dtype.size_in_bytes()) as u64;
    let result = bytes(dims.iter().product());
    let cost = Cost { peak: bytes(values).max(result), result, operations };
    Ok(trace.run(cost, dims, first.dtype).into())
}

/// Attention of `q` over `k` and `v` `[batch, heads, tokens, width]`, scaled by `1 / sqrt(width)`, with `bias` `[heads, tokens,
/// tokens]` added to the scores. The scores are materialized, so that it is for few tokens.
pub fn attention_with_scores(q: &Tensor, k: &Tensor, v: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let (batch, heads, tokens, width) = q.dims4()?;
    let (scores, values) = (batch * heads * tokens * tokens, batch * heads * tokens * width);
    let dims = vec![batch, heads, tokens, width];
    apply(
        "attention_with_scores",
        [q, k, v, bias],
        |costs| {
            let bytes = |values: usize| (values * costs.value_bytes) as u64;
            let operations = 4.0 * (scores * width) as f64 + costs.copy(3 * scores).operations;
            let peak = bytes(scores + scores.max(values));
            (Cost { peak, result: bytes(values), operations }, dims)
        },
        |[q, k, v, bias]| {
            let mut scores = (q * (width as f64).powf(-0.5))?.matmul(&k.transpose(D::Minus2, D::Minus1)?)?;
            scores = scores.broadcast_add(bias)?;
            scores = candle_nn::ops::softmax_last_dim(&scores)?;
            scores.matmul(v)
        },
    )
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device};

    use super::*;
    use crate::nn::Trace;

    #[test]
    fn an_untraced_function_is_charged_what_it_says() {
        let trace = Trace::new(Computes::here());
        let x = trace.tensor(&[2, 3], DType::F32);
        let takes = |_| Untraced { values: 100, operations: 7.0 };
        let result = untraced([&x], &[5], takes, |_| unreachable!("nothing is computed")).unwrap();
        assert_eq!((result.dims(), trace.live()), (&[5][..], 24 + 20));
        let passed = trace.take();
        assert_eq!((passed.peak, passed.operations), (24 + 400, 7.0));
        let x = Tensor::from(Values::new(&[1.0_f32, 2.0], &Device::Cpu).unwrap());
        let doubled = untraced([&x], &[2], takes, |[x]| x * 2.0).unwrap();
        assert_eq!(doubled.computed().unwrap().to_vec1::<f32>().unwrap(), [2.0, 4.0]);
    }

    #[test]
    fn a_bias_decides_what_is_attended_to() {
        let of = |values: &[f32], dims: &[usize]| {
            Tensor::from(Values::from_slice(values, dims, &Device::Cpu).unwrap())
        };
        let (q, v) = (of(&[0.0; 4], &[1, 1, 2, 2]), of(&[1.0, 2.0, 3.0, 4.0], &[1, 1, 2, 2]));
        let bias = of(&[0.0, -1e4, -1e4, 0.0], &[1, 2, 2]);
        let attended = attention_with_scores(&q, &q, &v, &bias).unwrap().into_computed().unwrap();
        assert_eq!(attended.flatten_all().unwrap().to_vec1::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    }
}
