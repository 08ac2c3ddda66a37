//! Tries functions out: each once for a shape, on zeros.

use std::{
    collections::HashMap,
    fmt,
    time::{Duration, Instant},
};

use candle_core::{DType, Device, Result, Tensor};

use super::cost::Cost;

/// A function is run no more often than this, and not again after this time.
const MOST_RUNS: u32 = 16;
const ENOUGH: Duration = Duration::from_millis(5);

/// Says what functions took that were run on zeros.
pub struct DryRun {
    device: Device,
    /// Runs something and says the most bytes that it allocated.
    meter: Meter,
    known: HashMap<Call, Taken>,
    operations: f64,
    seconds: f64,
}

/// Runs something and says the most bytes that it allocated beyond what was there.
pub type Meter = Box<dyn FnMut(&mut dyn FnMut() -> Result<()>) -> Result<u64> + Send>;

/// A function and the shapes that it is given.
type Call = (&'static str, Vec<(Vec<usize>, DType)>);

#[derive(Clone, Copy)]
struct Taken {
    peak: u64,
    seconds: f64,
}

impl DryRun {
    /// Tries functions out on a device.
    pub fn new(device: Device, meter: Meter) -> Self {
        Self { device, meter, known: HashMap::new(), operations: 0.0, seconds: 0.0 }
    }

    /// Operations a second of all calls.
    pub(super) fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.operations / self.seconds)
    }

    /// What a call takes. That is no less memory than `formula` says: a function that is tried alone may find less to
    /// do for all threads at once than it does in a run.
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

    /// Runs a function as often as it takes for all threads to have been at work at the same time.
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
