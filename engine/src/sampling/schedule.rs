//! Noise levels of flow matching.

use serde::Deserialize;

use super::{Levels, beta::inverse_beta};

/// How a model's noise levels are shifted towards noise (Esser et al. 2024, arXiv:2403.03206, section 5.3.2).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct FlowShift {
    /// The constant shift.
    #[serde(alias = "flow_shift")]
    pub shift: f64,
    /// Whether the model's own schedule depends on the image size.
    pub use_dynamic_shifting: bool,
    /// Shift exponent for the smaller image.
    pub base_shift: f64,
    /// Shift exponent for the larger image.
    pub max_shift: f64,
    /// Image tokens of the smaller image.
    pub base_image_seq_len: usize,
    /// Image tokens of the larger image.
    pub max_image_seq_len: usize,
    /// Where the last level before 0 is moved to; the others are stretched with it.
    pub shift_terminal: Option<f64>,
    /// Whether the model's own levels are at the quantiles of a beta distribution between the first and the last of these.
    pub use_beta_sigmas: bool,
    /// Where the model's own schedule ends. This depends on its pipeline, not on its configuration.
    #[serde(skip)]
    pub last: LastLevel,
    /// How the model's own schedule spaces its levels. This depends on its pipeline or its training, too.
    #[serde(skip)]
    pub own: OwnLevels,
}

/// How a model's own schedule spaces its levels.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum OwnLevels {
    /// Evenly, and shifted.
    #[default]
    Even,
    /// Evenly, and shifted by the size of the image and the number of steps, as FLUX.2 is.
    Empirical,
    /// As [`Levels::linear_quadratic`].
    LinearQuadratic,
    /// As a distilled model was trained: these levels, at least one, falling from 1. Other numbers of steps interpolate.
    Listed(Vec<f32>),
}

/// The lowest level of a run before the shift; steps are even from 1 down to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LastLevel {
    /// `1 / steps`.
    #[default]
    Reciprocal,
    /// The lowest level in training. With a constant shift, diffusers' scheduler has already shifted it, so
    /// that the shift is applied to it twice.
    Lowest,
    /// One step above the lowest level in training, as in diffusers' UniPC. The first level is a millionth below 1.
    BeforeLowest,
}

/// A shift of a known amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shift {
    /// `shift · σ / (1 + (shift − 1) · σ)`.
    Static(f64),
    /// `eᵘ / (eᵘ + 1/σ − 1)` with this `µ`.
    Exponential(f64),
}

impl Default for FlowShift {
    fn default() -> Self {
        Self {
            shift: 1.0,
            use_dynamic_shifting: false,
            base_shift: 0.5,
            max_shift: 1.15,
            base_image_seq_len: 256,
            max_image_seq_len: 4096,
            shift_terminal: None,
            use_beta_sigmas: false,
            last: LastLevel::default(),
            own: OwnLevels::default(),
        }
    }
}

impl FlowShift {
    /// A constant shift.
    pub fn fixed(shift: f64) -> Self {
        Self { shift, ..Self::default() }
    }

    /// With this constant shift, and even levels that are not stretched, in place of its own.
    pub fn with_constant(&self, shift: f64) -> Self {
        Self {
            shift,
            use_dynamic_shifting: false,
            shift_terminal: None,
            use_beta_sigmas: false,
            own: OwnLevels::Even,
            ..self.clone()
        }
    }

    /// The constant shift.
    pub fn constant(&self) -> Shift {
        Shift::Static(self.shift)
    }

    /// The shift for an image of this many tokens; its exponent is linear in them.
    pub fn dynamic(&self, image_tokens: usize) -> Shift {
        let span = self.max_image_seq_len as f64 - self.base_image_seq_len as f64;
        let slope = (self.max_shift - self.base_shift) / span;
        Shift::Exponential(
            image_tokens as f64 * slope + (self.base_shift - slope * self.base_image_seq_len as f64),
        )
    }

    /// The noise levels of the model's own pipeline for `steps` steps under a shift: `steps + 1` values from
    /// 1 to 0.
    pub fn sigmas(&self, shift: Shift, steps: usize) -> Vec<f32> {
        let mut sigmas = match self.last {
            LastLevel::Reciprocal => shift.sigmas(steps),
            LastLevel::Lowest => shift.sigmas_to_lowest(steps),
            LastLevel::BeforeLowest => shift.sigmas_before_lowest(steps),
        };
        if let Some(terminal) = self.shift_terminal {
            stretch(&mut sigmas[..steps], terminal as f32);
        }
        sigmas
    }

    /// The noise levels of the model's own schedule for an image of this many tokens.
    pub fn own_sigmas(&self, image_tokens: usize, steps: usize) -> Vec<f32> {
        match &self.own {
            OwnLevels::Even | OwnLevels::Empirical => {
                let mut sigmas = self.sigmas(self.own(image_tokens, steps), steps);
                if self.use_beta_sigmas {
                    at_quantiles(&mut sigmas[..steps]);
                }
                sigmas
            }
            OwnLevels::LinearQuadratic => Levels::Flow(self.own(image_tokens, steps)).linear_quadratic(steps),
            OwnLevels::Listed(levels) => interpolated(levels, steps),
        }
    }

    /// The shift that the model's own configuration selects for an image of this many tokens and a number of steps.
    pub fn own(&self, image_tokens: usize, steps: usize) -> Shift {
        match self.own {
            _ if !self.use_dynamic_shifting => self.constant(),
            OwnLevels::Empirical => Shift::empirical(image_tokens, steps),
            _ => self.dynamic(image_tokens),
        }
    }
}

impl Shift {
    /// The shift of FLUX.2 for an image of this many tokens: a line through fits for 10 and for 200 steps. The constants are
    /// those of diffusers' `compute_empirical_mu`.
    pub fn empirical(image_tokens: usize, steps: usize) -> Self {
        /// Larger images have the fit for 200 steps.
        const LARGE: usize = 4300;
        let tokens = image_tokens as f64;
        let at_200 = 0.000_169_27 * tokens + 0.456_666_66;
        if image_tokens > LARGE {
            return Self::Exponential(at_200);
        }
        let at_10 = 8.738_095_24e-5 * tokens + 1.898_333_33;
        let slope = (at_200 - at_10) / 190.0;
        Self::Exponential(slope * steps as f64 + (at_200 - 200.0 * slope))
    }

    /// Shifts a level.
    pub(super) fn at(self, sigma: f64) -> f64 {
        match self {
            Self::Static(shift) => shift * sigma / (1.0 + (shift - 1.0) * sigma),
            Self::Exponential(mu) => mu.exp() / (mu.exp() + (1.0 / sigma - 1.0)),
        }
    }

    /// The noise levels of `steps` steps, `steps + 1` values from 1 to 0: evenly spaced between 1 and
    /// `1 / steps`, shifted, then 0.
    pub fn sigmas(self, steps: usize) -> Vec<f32> {
        let even = |index: usize| linspace(1.0, 1.0 / steps as f64, steps, index);
        let shifted = |sigma: f32| match self {
            Self::Static(shift) => {
                let shift = shift as f32;
                shift * sigma / (1.0 + (shift - 1.0) * sigma)
            }
            Self::Exponential(mu) => {
                let power = mu.exp() as f32;
                power / (power + (1.0 / sigma - 1.0))
            }
        };
        (0..steps).map(|index| shifted(even(index))).chain([0.0]).collect()
    }

    /// The same for steps that end at [`LastLevel::Lowest`].
    pub fn sigmas_to_lowest(self, steps: usize) -> Vec<f32> {
        let last = match self {
            Self::Static(_) => self.at(LOWEST),
            Self::Exponential(_) => LOWEST,
        };
        let step = (last - 1.0) / steps.saturating_sub(1).max(1) as f64;
        (0..steps).map(|index| self.at(1.0 + step * index as f64) as f32).chain([0.0]).collect()
    }

    /// The same for steps that end at [`LastLevel::BeforeLowest`].
    pub fn sigmas_before_lowest(self, steps: usize) -> Vec<f32> {
        const HIGHEST: f64 = 1.0 - 1e-6;
        let step = (LOWEST - 1.0) / steps as f64;
        let level = |index: usize| self.at(1.0 + step * index as f64).min(HIGHEST) as f32;
        (0..steps).map(level).chain([0.0]).collect()
    }
}

/// Levels of `steps` steps along a list, which ends at 0.
fn interpolated(levels: &[f32], steps: usize) -> Vec<f32> {
    let at = |index: usize| levels.get(index).copied().unwrap_or(0.0);
    let level = |step: usize| {
        let place = (step * levels.len()) as f32 / steps as f32;
        let (before, part) = (at(place as usize), place.fract());
        before + part * (at(place as usize + 1) - before)
    };
    (0..steps).map(level).chain([0.0]).collect()
}

/// Moves levels to the quantiles of the beta distribution with both parameters 0.6 between the first and the last, as
/// diffusers does (Lee et al. 2024, arXiv:2407.12173).
fn at_quantiles(sigmas: &mut [f32]) {
    let (Some(&first), Some(&last)) = (sigmas.first(), sigmas.last()) else { return };
    let count = sigmas.len();
    for (index, sigma) in sigmas.iter_mut().enumerate() {
        let part = if count > 1 { index as f64 / (count - 1) as f64 } else { 0.0 };
        let quantile = inverse_beta(1.0 - part, 0.6);
        *sigma = (f64::from(last) + quantile * f64::from(first - last)) as f32;
    }
}

/// Stretches levels that begin at 1 so that they end at `terminal`. A single level stays.
fn stretch(sigmas: &mut [f32], terminal: f32) {
    let Some(last) = sigmas.last().copied().filter(|last| *last < 1.0) else { return };
    let factor = (1.0 - last) / (1.0 - terminal);
    sigmas.iter_mut().for_each(|sigma| *sigma = 1.0 - (1.0 - *sigma) / factor);
}

/// The lowest of a thousand levels in training.
const LOWEST: f64 = 1e-3;

/// Element `index` of `count` even steps from `start` to `end`, rounded as in PyTorch: computed from the
/// nearer end.
pub(super) fn linspace(start: f64, end: f64, count: usize, index: usize) -> f32 {
    let (start, end) = (start as f32, end as f32);
    if count == 1 {
        return start;
    }
    let step = (end - start) / (count - 1) as f32;
    if index < count / 2 { start + step * index as f32 } else { end - step * (count - 1 - index) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_shift_replaces_all_that_is_the_models_own() {
        for own in [
            OwnLevels::Even,
            OwnLevels::Empirical,
            OwnLevels::LinearQuadratic,
            OwnLevels::Listed(vec![1.0, 0.9]),
        ] {
            let shift = FlowShift {
                own,
                use_dynamic_shifting: true,
                shift_terminal: Some(0.1),
                use_beta_sigmas: true,
                ..FlowShift::default()
            };
            let levels = shift.with_constant(3.0).own_sigmas(64, 4);
            assert_eq!(levels, FlowShift::fixed(3.0).own_sigmas(64, 4));
        }
    }

    /// Expected values from diffusers' `compute_empirical_mu`.
    #[test]
    fn the_shift_of_flux_2_depends_on_size_and_steps() {
        for (tokens, steps, wanted) in [
            (12, 3, 1.952_459_733),
            (4096, 4, 2.291_179_894),
            (4096, 50, 2.023_351_157),
            (6144, 50, 1.496_661_54),
        ] {
            let Shift::Exponential(mu) = Shift::empirical(tokens, steps) else { panic!("a constant shift") };
            assert!((mu - wanted).abs() < 1e-9, "{tokens} {steps}: {mu}");
        }
    }

    #[test]
    fn listed_levels_are_those_of_as_many_steps() {
        let listed = FlowShift { own: OwnLevels::Listed(vec![1.0, 0.9, 0.4]), ..FlowShift::default() };
        assert_eq!(listed.own_sigmas(64, 3), [1.0, 0.9, 0.4, 0.0]);
        assert_eq!(listed.own_sigmas(64, 6), [1.0, 0.95, 0.9, 0.65, 0.4, 0.2, 0.0]);
        assert_eq!(listed.own_sigmas(64, 1), [1.0, 0.0]);
    }

    /// Expected values from diffusers' FlowMatchEulerDiscreteScheduler, given only a number of steps.
    #[test]
    fn steps_to_the_lowest_trained_level_are_those_of_diffusers() {
        let fixed = FlowShift { last: LastLevel::Lowest, ..FlowShift::fixed(3.0) };
        let even = FlowShift { last: LastLevel::BeforeLowest, ..fixed.clone() };
        // From UniPCMultistepScheduler with use_flow_sigmas.
        let wanted = [0.999_999, 0.900_12, 0.750_374_8, 0.500_999, 0.0];
        for (wanted, found) in wanted.into_iter().zip(even.sigmas(even.constant(), 4)) {
            assert!((wanted - found).abs() <= 1e-6, "got {found}, expected {wanted}");
        }
        let cases = [
            (fixed.constant(), 1, vec![1.0, 0.0]),
            (fixed.constant(), 4, vec![1.0, 0.857_692_3, 0.602_150_56, 0.008_928_572, 0.0]),
            (Shift::Exponential(0.8), 4, vec![1.0, 0.816_774_85, 0.527_435_24, 0.002_222_817, 0.0]),
        ];
        for (shift, steps, wanted) in cases {
            let found = fixed.sigmas(shift, steps);
            assert_eq!(found.len(), wanted.len());
            for (wanted, found) in wanted.into_iter().zip(found) {
                assert!(
                    (wanted - found).abs() <= 3e-7 * wanted,
                    "{shift:?} {steps}: got {found}, expected {wanted}"
                );
            }
        }
        assert_eq!(FlowShift::fixed(3.0).sigmas(fixed.constant(), 4), fixed.constant().sigmas(4));
    }
}
