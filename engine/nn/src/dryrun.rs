//! Dry runs: measures each function once per shape, on zeros.

use std::{
    collections::HashMap,
    fmt,
    time::{Duration, Instant},
};

use candle_core::{DType, Device, Result, Tensor};

use super::cost::Cost;

/// A function runs at most this often, and is not repeated after this much time.
const MOST_RUNS: u32 = 16;
const ENOUGH: Duration = Duration::from_millis(5);

/// Measures what functions take, by running them on zeros.
pub struct DryRun {
    device: Device,
    /// Runs a closure and returns its peak allocation.
    meter: Meter,
    known: HashMap<Call, Taken>,
    operations: f64,
    seconds: f64,
}

/// Runs a closure and returns its peak allocation in bytes, beyond what was allocated before.
pub type Meter = Box<dyn FnMut(&mut dyn FnMut() -> Result<()>) -> Result<u64> + Send>;

/// A function and the shapes of its inputs.
type Call = (&'static str, Vec<(Vec<usize>, DType)>);

#[derive(Clone, Copy)]
struct Taken {
    peak: u64,
    seconds: f64,
}

impl DryRun {
    /// Measures functions on `device`.
    pub fn new(device: Device, meter: Meter) -> Self {
        Self { device, meter, known: HashMap::new(), operations: 0.0, seconds: 0.0 }
    }

    /// Operations per second over all calls.
    pub(super) fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.operations / self.seconds)
    }

    /// The cost of a call, with at least the memory of `formula`: a function run alone may keep fewer threads
    /// busy at once than in a real run, and so allocate less.
    pub(super) fn cost(
        &mut self,
        name: &'static str,
        inputs: &[(&[usize], DType)],
        formula: Cost,
        compute: &dyn Fn(&[Tensor]) -> Result<Tensor>,
    ) -> Result<Cost> {
        let call = (name, inputs.iter().map(|(dims, dtype)| (dims.to_vec(), *dtype)).collect());
        let taken = match self.known.get(&call) {
            Some(taken) => *taken,
            None => {
                let zeros = inputs.iter().map(|(dims, dtype)| Tensor::zeros(*dims, *dtype, &self.device));
                let zeros = zeros.collect::<Result<Vec<_>>>()?;
                let taken = self.run(&zeros, compute)?;
                self.known.insert(call, taken);
                taken
            }
        };
        self.operations += formula.operations;
        self.seconds += taken.seconds;
        Ok(Cost { peak: taken.peak.max(formula.peak), ..formula })
    }

    /// Repeats a function until all threads have worked on it at the same time.
    fn run(&mut self, zeros: &[Tensor], compute: &dyn Fn(&[Tensor]) -> Result<Tensor>) -> Result<Taken> {
        let mut taken = Taken { peak: 0, seconds: f64::INFINITY };
        let begun = Instant::now();
        for _ in 0..MOST_RUNS {
            let mut seconds = 0.0;
            let peak = (self.meter)(&mut || {
                let started = Instant::now();
                compute(zeros)?;
                self.device.synchronize()?;
                seconds = started.elapsed().as_secs_f64();
                Ok(())
            })?;
            taken = Taken { peak: taken.peak.max(peak), seconds: taken.seconds.min(seconds) };
            if begun.elapsed() > ENOUGH {
                break;
            }
        }
        Ok(taken)
    }
}

impl fmt::Debug for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DryRun").field("known", &self.known.len()).finish_non_exhaustive()
    }
}
