//! Reuses predictions, which is faster but changes the image.

use candle_core::{Result, Tensor};

/// The first `calls / FIRST` predictions are always computed, and at least `FEWEST_FIRST`.
const FIRST: usize = 6;
const FEWEST_FIRST: usize = 2;
/// The last `calls / LAST` predictions are always computed, and at least one.
const LAST: usize = 20;

/// Decides from the values alone whether the last direction can replace the next one.
///
/// The change of a prediction is estimated from the change of its input, at the ratio seen between the last
/// two computed predictions (as in EasyCache, Zhou et al. 2025, arXiv:2507.02860). The last direction is
/// reused as long as the changes since it was computed add up to less than a threshold.
#[derive(Debug)]
pub struct StepCache {
    threshold: f64,
    /// Predictions of the run, computed or not.
    calls: usize,
    call: usize,
    last: Option<Known>,
    /// Change of the direction per change of the input.
    rate: Option<f64>,
    /// Sum of relative changes since the last computed prediction.
    change: f64,
    reused: usize,
}

/// Input and output of the last computed prediction.
#[derive(Debug)]
struct Known {
    /// Its input, scaled as the network sees it.
    input: Tensor,
    /// The latest input since then.
    asked: Tensor,
    direction: Tensor,
    is_guided: bool,
}

impl StepCache {
    /// A cache for a run of `calls` predictions. With a threshold of 0 all are computed.
    pub fn new(threshold: f64, calls: usize) -> Self {
        Self { threshold, calls, call: 0, last: None, rate: None, change: 0.0, reused: 0 }
    }

    /// Number of tensors of the latents' size held while the model is called.
    pub fn held(threshold: f32) -> usize {
        if threshold > 0.0 { 3 } else { 0 }
    }

    /// Forgets the last prediction: from here on another network predicts.
    pub fn forget(&mut self) {
        (self.last, self.rate, self.change) = (None, None, 0.0);
    }

    /// Number of predictions reused so far.
    pub fn reused(&self) -> usize {
        self.reused
    }

    /// The direction for these latents, scaled as the network sees them: the last one if it is close enough,
    /// otherwise the result of `predict`. Guided and unguided directions never replace each other.
    pub fn direction<E: From<candle_core::Error>>(
        &mut self,
        input: &Tensor,
        is_guided: bool,
        predict: impl FnOnce() -> std::result::Result<Tensor, E>,
    ) -> std::result::Result<Tensor, E> {
        if self.threshold <= 0.0 {
            return predict();
        }
        let call = self.call;
        self.call += 1;
        let first = self.calls.div_ceil(FIRST).max(FEWEST_FIRST);
        let last = (self.calls / LAST).max(1);
        let may = call >= first && call + last < self.calls;
        if let (Some(known), Some(rate)) = (&mut self.last, self.rate) {
            let moved = distance(input, &known.asked)?;
            self.change += rate * moved / size(&known.direction)?;
            known.asked = input.clone();
            if may && known.is_guided == is_guided && self.change < self.threshold {
                self.reused += 1;
                return Ok(known.direction.clone());
            }
        }
        let direction = predict()?;
        if let Some(known) = self.last.take().filter(|known| known.is_guided == is_guided) {
            let moved = distance(input, &known.input)?;
            self.rate = (moved > 0.0).then_some(distance(&direction, &known.direction)? / moved);
        }
        let (input, asked) = (input.clone(), input.clone());
        self.last = Some(Known { input, asked, direction: direction.clone(), is_guided });
        self.change = 0.0;
        Ok(direction)
    }
}

/// The mean absolute value.
fn size(x: &Tensor) -> Result<f64> {
    Ok(f64::from(x.abs()?.mean_all()?.to_scalar::<f32>()?))
}

fn distance(x: &Tensor, y: &Tensor) -> Result<f64> {
    size(&(x - y)?)
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    /// The indices of computed predictions, for a direction that is the sine of evenly advancing time.
    fn made(threshold: f64, calls: usize, is_guided: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut cache = StepCache::new(threshold, calls);
        let mut made = Vec::new();
        for call in 0..calls {
            let time = call as f32 / calls as f32;
            let tensor = |value: f32| Tensor::new(&[value, 1.0 - value], &Device::Cpu).unwrap();
            let predict = || -> Result<Tensor> {
                made.push(call);
                Ok(tensor(time.sin()))
            };
            cache.direction(&tensor(time), is_guided(call), predict).unwrap();
        }
        assert_eq!(cache.reused(), calls - made.len());
        made
    }

    #[test]
    fn nothing_is_reused_without_a_threshold() {
        assert_eq!(made(0.0, 12, |_| true).len(), 12);
    }

    #[test]
    fn a_larger_threshold_leaves_out_more_but_never_the_ends() {
        let numbers = [1e-9, 0.2, 0.5, 1e9].map(|threshold| made(threshold, 24, |_| true));
        assert_eq!(numbers[0].len(), 24);
        assert!(numbers.windows(2).all(|pair| pair[0].len() > pair[1].len()), "{numbers:?}");
        assert_eq!(numbers[3], [0, 1, 2, 3, 23]);
        assert_eq!(made(1e9, 4, |_| true), [0, 1, 3]);
        assert_eq!(made(1e9, 1, |_| true), [0]);
    }

    #[test]
    fn guided_and_unguided_predictions_do_not_stand_for_each_other() {
        assert_eq!(made(1e9, 12, |call| call >= 6), [0, 1, 6, 11]);
    }
}
