//! Turns tensors around.

use candle_core::Result;

use super::{Costs, Tensor, computed, functions::apply};

/// `x` `[rows, columns]` as `[columns, rows]`, in row-major order.
pub fn turned(x: &Tensor) -> Result<Tensor> {
    let (rows, columns) = x.dims2()?;
    let take = |costs: Costs| (costs.turned(rows * columns), vec![columns, rows]);
    apply("turned", [x], take, |[x]| computed::turned(x))
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device, Tensor as Values};

    use super::*;
    use crate::{Computes, Trace};

    #[test]
    fn what_is_turned_takes_its_result_and_less_time_than_a_copy_by_the_tensor_library() {
        let trace = Trace::new(Computes::here());
        let x = trace.tensor(&[30, 200], DType::F32);
        assert_eq!(turned(&x).unwrap().dims(), [200, 30]);
        let own = trace.take();
        x.transpose(0, 1).unwrap().contiguous().unwrap();
        let library = trace.take();
        assert_eq!(own.peak, library.peak);
        assert!(own.operations < library.operations, "{own:?} {library:?}");
        let x = Values::new(&[[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::Cpu).unwrap();
        let got = turned(&x.into()).unwrap().into_computed().unwrap();
        assert_eq!(got.to_vec2::<f32>().unwrap(), [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
    }
}
