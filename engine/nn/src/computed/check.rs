//! Shared helpers for the tests of this module.

use candle_core::{DType, Device, Tensor};

/// Pseudorandom values between -1 and 1, the same in every run.
pub fn random(shape: &[usize], seed: u64) -> Tensor {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect();
    Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
}

/// All values of a tensor as f32.
pub fn flat(x: &Tensor) -> Vec<f32> {
    x.to_dtype(DType::F32).unwrap().flatten_all().unwrap().to_vec1().unwrap()
}

/// Fails unless `got` is within `tolerance` of `want`, relative to the largest value of `want`.
#[track_caller]
pub fn assert_close(got: &Tensor, want: &Tensor, tolerance: f32) {
    assert_eq!(got.dims(), want.dims());
    assert_eq!(got.dtype(), want.dtype());
    let (got, want) = (flat(got), flat(want));
    let largest = want.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    for (place, (got, want)) in got.iter().zip(&want).enumerate() {
        let error = (got - want).abs();
        assert!(
            error <= tolerance * largest,
            "got {got}, expected {want} at {place}; largest value {largest}"
        );
    }
}

/// Fails unless one thread and several threads give bit-identical results.
#[track_caller]
pub fn assert_independent_of_threads(work: impl Fn() -> Tensor + Sync) {
    let bits = |threads| -> Vec<u32> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        flat(&pool.install(&work)).into_iter().map(f32::to_bits).collect()
    };
    let alone = bits(1);
    assert!(alone == bits(2) && alone == bits(3), "the result depends on the number of threads");
}
