//! The threads that compute.

use std::{sync::Arc, thread};

use gemm_common::gemm::L2_SLAB;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use super::{MemoryAccount, metered, unmetered};

/// Threads whose allocations are charged to `account` as activations, one for each of the CPU's if `threads` is `None`.
///
/// Each keeps a buffer for the tensor library's matrix products, as large as its second cache, until it ends. Like its stack, the
/// buffer is there from the beginning and belongs to no run: taken when it is first needed, it would count in the peak of that run,
/// and be missing from the forecasts of all later ones.
///
/// # Errors
/// When the operating system cannot start a thread.
pub fn computing_threads(
    account: &Arc<MemoryAccount>,
    threads: Option<usize>,
) -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .thread_name(|index| format!("sluice-compute-{index}"))
        .spawn_handler(|compute| {
            let account = Arc::clone(account);
            let name = compute.name().unwrap_or("sluice-compute").to_owned();
            let compute = || {
                unmetered(|| L2_SLAB.with(|_| ()));
                compute.run();
            };
            thread::Builder::new().name(name).spawn(move || metered(&account, compute))?;
            Ok(())
        })
        .build()
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device, Tensor};

    use super::*;

    #[test]
    fn products_leave_nothing_in_the_account() {
        let account = MemoryAccount::new();
        let pool = computing_threads(&account, Some(2)).unwrap();
        pool.install(|| {
            let matrix = Tensor::ones((256, 256), DType::F32, &Device::Cpu).unwrap();
            let product = matrix.matmul(&matrix).unwrap();
            assert_eq!(product.sum_all().unwrap().to_scalar::<f32>().unwrap(), 256.0_f32.powi(3));
        });
        assert_eq!(account.holdings().activations, 0);
    }
}
