//! How fast the CPU is.

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{hardware::give_back_freed, nn::Effort};

/// Part of the measured speed that is left beside the caches' other contents in whole networks.
const IN_NETWORKS: f64 = 0.8;
/// Operations a second and core that a CPU is taken to reach in whole networks until it was measured.
const USUAL: f64 = 4.5e10;

/// The environment variable which at 1 lets a process count with a typical CPU and begin at once, for tests that start many.
const UNMEASURED: &str = "SLUICE_UNMEASURED";

static SPEED: Speed = Speed::new();

/// The speed of the CPU.
#[derive(Debug, Clone, Copy, PartialEq)]
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
        SPEED.get()
    }

    fn usual() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { rate: USUAL * cores as f64, effort: Effort::USUAL }
    }
}

/// A speed that is measured once.
struct Speed {
    measured: OnceLock<Processor>,
    is_expected: AtomicBool,
}

impl Speed {
    const fn new() -> Self {
        Self { measured: OnceLock::new(), is_expected: AtomicBool::new(false) }
    }

    fn get(&self) -> Processor {
        if self.is_expected.load(Ordering::Acquire) {
            return *self.measured.wait();
        }
        self.measured.get().copied().unwrap_or_else(Processor::usual)
    }

    fn expect(&self) -> Expected<'_> {
        self.is_expected.store(true, Ordering::Release);
        Expected(self)
    }
}

/// A measurement that plans wait for. If it is dropped without one, they count with a typical CPU.
pub struct Expected<'a>(&'a Speed);

impl Expected<'_> {
    /// Measures how fast the CPU is, with the threads that this is called from; once a process. What it takes for that is given
    /// back.
    pub fn measure(self) {
        if env::var_os(UNMEASURED).is_some_and(|value| value == "1") {
            tracing::debug!("{UNMEASURED} is 1, so the speed of the CPU is not measured");
            return;
        }
        self.measure_with(Effort::measure);
        give_back_freed();
    }

    fn measure_with(self, measure: impl FnOnce() -> candle_core::Result<(f64, Effort)>) {
        self.0.measured.get_or_init(|| match catch_unwind(AssertUnwindSafe(measure)) {
            Ok(Ok((rate, effort))) => {
                tracing::debug!(rate, ?effort, "the speed of the CPU");
                Processor { rate: IN_NETWORKS * rate, effort }
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the speed of the CPU could not be measured");
                Processor::usual()
            }
            // A panic is a bug in Sluice, which has printed it.
            Err(_) => Processor::usual(),
        });
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        self.0.measured.get_or_init(Processor::usual);
    }
}

/// Says that the CPU is about to be measured: plans for it wait until then, which is less than a second.
pub fn expect_measurement() -> Expected<'static> {
    SPEED.expect()
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use super::*;

    /// Far longer than a thread needs to answer.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// What a plan gets that asks now, and the measurement that it waits for.
    fn asked<'a>(
        scope: &'a thread::Scope<'a, '_>,
        speed: &'a Speed,
    ) -> (Expected<'a>, mpsc::Receiver<Processor>) {
        let expected = speed.expect();
        let (answer, answers) = mpsc::channel();
        scope.spawn(move || answer.send(speed.get()));
        (expected, answers)
    }

    #[test]
    fn a_plan_waits_for_the_measured_speed() {
        let speed = Speed::new();
        assert_eq!(speed.get(), Processor::usual(), "none is expected");
        thread::scope(|scope| {
            let (expected, answers) = asked(scope, &speed);
            assert!(answers.recv_timeout(Duration::from_millis(100)).is_err(), "it does not wait");
            expected.measure_with(|| Ok((2e12, Effort::USUAL)));
            let found = answers.recv_timeout(PATIENCE).unwrap();
            assert_eq!(found.rate, IN_NETWORKS * 2e12);
        });
        speed.expect().measure_with(|| panic!("it is measured once"));
        assert_eq!(speed.get().rate, IN_NETWORKS * 2e12);
    }

    #[test]
    fn a_measurement_that_fails_panics_or_never_begins_holds_up_no_plan() {
        let fails = || Err(candle_core::Error::Msg("no memory".to_owned()));
        let ways: [fn(Expected<'_>); 3] = [
            |expected| expected.measure_with(|| panic!("this is a test of a panic")),
            |_dropped| {},
            |_| unreachable!("the thread that measures panics before it does"),
        ];
        for way in ways {
            let speed = Speed::new();
            thread::scope(|scope| {
                let (expected, answers) = asked(scope, &speed);
                let _its_panic = scope.spawn(move || way(expected)).join();
                assert_eq!(answers.recv_timeout(PATIENCE).unwrap(), Processor::usual());
            });
        }
        let speed = Speed::new();
        speed.expect().measure_with(fails);
        assert_eq!(speed.get(), Processor::usual());
    }
}
