//! Functions of the tensor library's own, whose inside a trace does not see.

use candle_core::{Result, Tensor as Values};

use super::{
    Tensor,
    cost::{Computes, Cost},
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

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device};

    use super::*;
    use crate::Trace;

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
}
