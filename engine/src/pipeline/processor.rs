//! How fast the CPU is.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering},
};

use crate::nn::Effort;

/// Part of the measured speed that is left beside the caches' other contents in whole networks.
const IN_NETWORKS: f64 = 0.9;
/// Operations a second and core that a CPU is taken to reach until it was measured.
const USUAL: f64 = 5e10;

static MEASURED: OnceLock<Processor> = OnceLock::new();
static IS_EXPECTED: AtomicBool = AtomicBool::new(false);

/// The speed of the CPU.
#[derive(Debug, Clone, Copy)]
pub struct Processor {
    /// Operations a second in large matrix products.
    pub rate: f64,
    /// What its other functions take.
    pub effort: Effort,
}

impl Processor {
    /// The CPU of this machine as it was measured. Waits for a measurement that is [expected](expect_measurement); where none
    /// is, a typical CPU with as many cores.
    pub fn here() -> Self {
        if IS_EXPECTED.load(Ordering::Acquire) {
            return *MEASURED.wait();
        }
        MEASURED.get().copied().unwrap_or_else(Self::usual)
    }

    fn usual() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { rate: IN_NETWORKS * USUAL * cores as f64, effort: Effort::USUAL }
    }
}

/// Says that a thread is about to [measure](measure_processor) the CPU: plans for it wait until then, which is less than a second.
pub fn expect_measurement() {
    IS_EXPECTED.store(true, Ordering::Release);
}

/// Measures how fast the CPU is, with the threads that this is called from; once a process.
pub fn measure_processor() {
    MEASURED.get_or_init(|| match Effort::measure() {
        Ok((rate, effort)) => {
            tracing::debug!(rate, ?effort, "the speed of the CPU");
            Processor { rate: IN_NETWORKS * rate, effort }
        }
        Err(error) => {
            tracing::warn!(%error, "the speed of the CPU could not be measured");
            Processor::usual()
        }
    });
}
