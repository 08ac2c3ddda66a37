//! The noise levels a model knows, and the schedules that select a run's levels from them.

use super::{beta::inverse_beta, schedule::Shift};
use crate::request::Schedule;

/// The noise levels a model was trained on.
#[derive(Debug, Clone, PartialEq)]
pub enum Levels {
    /// Flow matching: thousandths of the way from image to noise, shifted.
    Flow(Shift),
    /// A table of at least one level, ascending.
    Table(Vec<f32>),
}

/// Number of levels of a flow model.
const FLOW_LEVELS: f64 = 1000.0;

/// Every public function returns the levels of `steps` steps: `steps + 1` values falling to 0.
impl Levels {
    /// The highest level.
    fn highest(&self) -> f64 {
        self.at(self.ends().0)
    }

    /// The lowest level above 0.
    fn lowest(&self) -> f64 {
        match self {
            Self::Flow(_) => self.entry(0.0),
            Self::Table(_) => self.at(0.0),
        }
    }

    /// Timesteps of the highest and the lowest level. For a flow model the timestep of the lowest level is
    /// the shifted level itself, as in diffusers and ComfyUI, so that the shift is applied to it twice.
    fn ends(&self) -> (f64, f64) {
        match self {
            Self::Flow(_) => (FLOW_LEVELS, FLOW_LEVELS * self.lowest()),
            Self::Table(table) => (table.len().saturating_sub(1) as f64, 0.0),
        }
    }

    /// The level at a timestep; between entries of a table, its logarithm is interpolated.
    fn at(&self, time: f64) -> f64 {
        match self {
            Self::Flow(shift) => shift.at(time / FLOW_LEVELS),
            Self::Table(table) => {
                let low = (time.floor().max(0.0) as usize).min(table.len().saturating_sub(1));
                let high = (low + 1).min(table.len().saturating_sub(1));
                let part = time - low as f64;
                let logarithm = |index: usize| table.get(index).map_or(0.0, |&sigma| f64::from(sigma).ln());
                (logarithm(low) * (1.0 - part) + logarithm(high) * part).exp()
            }
        }
    }

    /// Number of levels.
    fn count(&self) -> f64 {
        match self {
            Self::Flow(_) => FLOW_LEVELS,
            Self::Table(table) => table.len() as f64,
        }
    }

    /// The level with this index, from 0.
    fn entry(&self, number: f64) -> f64 {
        match self {
            Self::Flow(_) => self.at(number + 1.0),
            Self::Table(_) => self.at(number),
        }
    }

    /// The levels of the named schedule. Schedules that depend on more than the model's levels, namely
    /// [`Shift::sigmas`] and [`AlignedSteps`](super::AlignedSteps), fall back to [`normal`](Self::normal)
    /// here.
    pub fn spaced(&self, schedule: Schedule, steps: usize) -> Vec<f32> {
        match schedule {
            Schedule::Karras => self.karras(steps),
            Schedule::Exponential => self.exponential(steps),
            Schedule::SgmUniform => self.sgm_uniform(steps),
            Schedule::Simple => self.simple(steps),
            Schedule::Beta => self.beta(steps),
            Schedule::LinearQuadratic => self.linear_quadratic(steps),
            Schedule::KlOptimal => self.kl_optimal(steps),
            Schedule::Normal
            | Schedule::Model
            | Schedule::StaticShift
            | Schedule::DynamicShift
            | Schedule::AlignYourSteps => self.normal(steps),
        }
    }

    /// Karras et al. 2022, arXiv:2206.00364, equation 5 with ρ = 7: even steps in the seventh root.
    pub fn karras(&self, steps: usize) -> Vec<f32> {
        const RHO: f64 = 7.0;
        let (high, low) = (self.highest().powf(1.0 / RHO), self.lowest().powf(1.0 / RHO));
        falling(steps, |index| (high + ramp(index, steps) * (low - high)).powf(RHO))
    }

    /// Even steps in the logarithm of the level (k-diffusion's `get_sigmas_exponential`).
    pub fn exponential(&self, steps: usize) -> Vec<f32> {
        let (high, low) = (self.highest().ln(), self.lowest().ln());
        falling(steps, |index| (high + ramp(index, steps) * (low - high)).exp())
    }

    /// Even steps in the arc tangent of the level, which minimizes the KL divergence from the model (Sabour
    /// et al. 2024, arXiv:2404.14507, section 3.1).
    pub fn kl_optimal(&self, steps: usize) -> Vec<f32> {
        let (high, low) = (self.highest().atan(), self.lowest().atan());
        falling(steps, |index| (high + ramp(index, steps) * (low - high)).tan())
    }

    /// Even steps in time, including both ends.
    pub fn normal(&self, steps: usize) -> Vec<f32> {
        let (start, end) = self.ends();
        falling(steps, |index| self.at(start + ramp(index, steps) * (end - start)))
    }

    /// Even steps in time, the last of which would end at the lowest level; as in Stability's code.
    pub fn sgm_uniform(&self, steps: usize) -> Vec<f32> {
        let (start, end) = self.ends();
        falling(steps, |index| self.at(start + index as f64 / steps as f64 * (end - start)))
    }

    /// Evenly spaced levels of the model, starting at the highest.
    pub fn simple(&self, steps: usize) -> Vec<f32> {
        let apart = self.count() / steps as f64;
        falling(steps, |index| self.entry(self.count() - 1.0 - (index as f64 * apart).floor()))
    }

    /// Timesteps at the quantiles of the beta distribution with both parameters 0.6, denser at both ends (Lee
    /// et al. 2024, arXiv:2407.12173). They are not rounded to entries, so that no two levels are equal.
    pub fn beta(&self, steps: usize) -> Vec<f32> {
        let last = self.count() - 1.0;
        falling(steps, |index| self.entry(last * inverse_beta(1.0 - index as f64 / steps as f64, 0.6)))
    }

    /// The first half of the steps is even and tiny, covering 0.025 of the highest level in all; the second
    /// half grows quadratically (Genmo's Mochi 1).
    pub fn linear_quadratic(&self, steps: usize) -> Vec<f32> {
        const TINY: f64 = 0.025;
        let high = self.highest();
        if steps < 2 {
            return falling(steps, |_| high);
        }
        let (linear, quadratic) = ((steps / 2) as f64, (steps - steps / 2) as f64);
        let rest = linear - TINY * steps as f64;
        let square = rest / (linear * quadratic * quadratic);
        let slope = TINY / linear - 2.0 * rest / (quadratic * quadratic);
        falling(steps, |index| {
            let index = index as f64;
            let gone = if index < linear {
                index * TINY / linear
            } else {
                square * (index * index + linear * linear) + slope * index
            };
            high * (1.0 - gone)
        })
    }
}

fn falling(steps: usize, level: impl Fn(usize) -> f64) -> Vec<f32> {
    (0..steps).map(|index| level(index) as f32).chain([0.0]).collect()
}

/// From 0 in the first step to 1 in the last.
fn ramp(index: usize, steps: usize) -> f64 {
    if steps > 1 { index as f64 / (steps - 1) as f64 } else { 0.0 }
}
