//! Noise levels of models trained on a table of levels: DDPM (Ho et al. 2020, arXiv:2006.11239).

use serde::Deserialize;

use super::AlignedSteps;

/// What the network predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictionType {
    /// The noise.
    Epsilon,
    /// The velocity on the circle between image and noise (Salimans and Ho 2022, arXiv:2202.00512).
    VPrediction,
}

/// Where the steps of a run lie in the table (Lin et al. 2023, arXiv:2305.08891, table 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Includes both ends of the table.
    Linspace,
    /// Includes the lowest level.
    Leading,
    /// Includes the highest level.
    Trailing,
}

/// How the variance (beta) grows over the training steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BetaSchedule {
    /// Linearly.
    Linear,
    /// Its square root grows linearly.
    ScaledLinear,
}

/// A table of noise levels and how a run selects from it, as in diffusers' `scheduler_config.json`. The
/// default table is Stable Diffusion's; the other defaults are those of diffusers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct DiscreteConfig {
    /// The scheduler's class in diffusers.
    #[serde(rename = "_class_name")]
    pub class: String,
    /// Variance added by the first training step, above 0 and below 1.
    pub beta_start: f64,
    /// Variance added by the last training step, above 0 and below 1.
    pub beta_end: f64,
    /// How the variance grows in between.
    pub beta_schedule: BetaSchedule,
    /// Number of noise levels, at least 2.
    pub num_train_timesteps: usize,
    /// What the network predicts.
    pub prediction_type: PredictionType,
    /// Where the steps lie in the table. If absent, the usual spacing of the class.
    pub timestep_spacing: Option<Spacing>,
    /// Added to each timestep with [`Spacing::Leading`]; less than the number of levels.
    pub steps_offset: usize,
    /// Whether the last step ends at the clean image instead of the lowest level.
    pub set_alpha_to_one: bool,
    /// Whether the table is rescaled to a last level of pure noise (zero terminal SNR).
    pub rescale_betas_zero_snr: bool,
    /// Number of steps of a distillation, from 1 to the number of levels.
    pub original_inference_steps: usize,
}

impl Default for DiscreteConfig {
    fn default() -> Self {
        Self {
            class: "EulerDiscreteScheduler".to_owned(),
            beta_start: 0.000_85,
            beta_end: 0.012,
            beta_schedule: BetaSchedule::ScaledLinear,
            num_train_timesteps: 1000,
            prediction_type: PredictionType::Epsilon,
            timestep_spacing: None,
            steps_offset: 0,
            set_alpha_to_one: true,
            rescale_betas_zero_snr: false,
            original_inference_steps: 50,
        }
    }
}

/// Schedulers with variance-preserving latents whose timesteps are table entries.
const DIFFUSION: [&str; 3] = ["DDIMScheduler", "DDPMScheduler", "PNDMScheduler"];
/// Schedulers with variance-preserving latents that compute one extra step and drop the last.
const SOLVERS: [&str; 4] = [
    "DPMSolverMultistepScheduler",
    "DPMSolverSinglestepScheduler",
    "UniPCMultistepScheduler",
    "DEISMultistepScheduler",
];
const CONSISTENCY: &str = "LCMScheduler";
const TRAJECTORY_CONSISTENCY: &str = "TCDScheduler";

/// The timesteps that a spacing covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grid {
    /// All, including those between two entries.
    Any,
    /// The table entries.
    Entries,
    /// The table entries, for one extra step whose last is dropped.
    OneMore,
    /// The entries at which the steps of a distillation began; holds their number.
    Distilled(usize),
}

/// The noise levels a model was trained on, and the spacing of a run's levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Discrete {
    table: Vec<f32>,
    prediction: PredictionType,
    spacing: Spacing,
    offset: usize,
    grid: Grid,
    last: f32,
    aligned: AlignedSteps,
}

impl Discrete {
    /// Stable Diffusion's table, for a network with this kind of prediction.
    pub fn stable_diffusion(prediction: PredictionType) -> Self {
        Self::new(&DiscreteConfig {
            prediction_type: prediction,
            timestep_spacing: Some(Spacing::Leading),
            steps_offset: 1,
            ..DiscreteConfig::default()
        })
    }

    /// The same for a network trained with zero terminal SNR (Lin et al. 2023, arXiv:2305.08891): the table
    /// ends at pure noise, and runs begin there.
    pub fn up_to_noise(prediction: PredictionType) -> Self {
        Self::new(&DiscreteConfig {
            prediction_type: prediction,
            timestep_spacing: Some(Spacing::Trailing),
            rescale_betas_zero_snr: true,
            ..DiscreteConfig::default()
        })
    }

    /// The same with the aligned steps of another model; the default is Stable Diffusion.
    pub fn with_aligned(self, aligned: AlignedSteps) -> Self {
        Self { aligned, ..self }
    }

    /// The aligned steps of this model.
    pub fn aligned(&self) -> AlignedSteps {
        self.aligned
    }

    /// The table of a configuration whose values are in the ranges given in [`DiscreteConfig`].
    pub fn new(config: &DiscreteConfig) -> Self {
        let table = table(config);
        let class = config.class.as_str();
        let grid = if DIFFUSION.contains(&class) {
            Grid::Entries
        } else if SOLVERS.contains(&class) {
            Grid::OneMore
        } else if [CONSISTENCY, TRAJECTORY_CONSISTENCY].contains(&class) {
            Grid::Distilled(config.original_inference_steps)
        } else {
            Grid::Any
        };
        let usual = if grid == Grid::Entries { Spacing::Leading } else { Spacing::Linspace };
        let ends_in_table =
            class == TRAJECTORY_CONSISTENCY || grid == Grid::Entries && !config.set_alpha_to_one;
        Self {
            last: table.first().copied().filter(|_| ends_in_table).unwrap_or(0.0),
            table,
            prediction: config.prediction_type,
            spacing: config.timestep_spacing.unwrap_or(usual),
            offset: config.steps_offset,
            grid,
            aligned: AlignedSteps::StableDiffusion,
        }
    }

    /// The noise levels, ascending.
    pub fn table(&self) -> &[f32] {
        &self.table
    }

    /// What the network predicts.
    pub fn prediction(&self) -> PredictionType {
        self.prediction
    }

    /// Whether the model's own scheduler keeps latents variance-preserving.
    pub fn preserves_variance(&self) -> bool {
        self.grid != Grid::Any
    }

    /// The levels of `steps` steps, and the level where the last one ends, descending.
    pub fn sigmas(&self, steps: usize) -> Vec<f32> {
        let last = (self.table.len() - 1) as f64;
        (0..steps).map(|index| self.at(self.time(index, steps).clamp(0.0, last))).chain([self.last]).collect()
    }

    /// The timestep of a step.
    fn time(&self, index: usize, steps: usize) -> f64 {
        let count = self.table.len();
        let last = (count - 1) as f64;
        if let Grid::Distilled(original) = self.grid {
            // With more steps than in the distillation, the extra ones lie between those of the distillation.
            let original = original.max(steps).min(count);
            return ((original - (index * original / steps)) * (count / original)) as f64 - 1.0;
        }
        let laid = steps + usize::from(self.grid == Grid::OneMore);
        match self.spacing {
            Spacing::Linspace if laid == 1 => last,
            Spacing::Linspace => {
                let even = last - index as f64 * last / (laid - 1) as f64;
                if self.grid == Grid::Any { even } else { even.round_ties_even() }
            }
            Spacing::Leading => ((laid - 1 - index) * (count / laid) + self.offset) as f64,
            Spacing::Trailing => {
                (count as f64 - index as f64 * count as f64 / steps as f64).round_ties_even() - 1.0
            }
        }
    }

    /// The level at a timestep, interpolated between entries.
    fn at(&self, time: f64) -> f32 {
        let low = time.floor();
        let level = |time: f64| f64::from(self.table[(time as usize).min(self.table.len() - 1)]);
        (level(low) + (level(low + 1.0) - level(low)) * (time - low)) as f32
    }

    /// The timestep of a level: the index of its entry, interpolated between entries in the logarithm of the
    /// level (k-diffusion's `sigma_to_t`).
    pub fn timestep(&self, sigma: f32) -> f32 {
        let above = self.table.partition_point(|level| *level < sigma);
        match self.table.get(above) {
            Some(level) if level.to_bits() == sigma.to_bits() || above == 0 => above as f32,
            Some(level) => {
                let (low, high) = (f64::from(self.table[above - 1]).ln(), f64::from(*level).ln());
                (above as f64 - 1.0 + (f64::from(sigma).ln() - low) / (high - low)) as f32
            }
            None => (self.table.len() - 1) as f32,
        }
    }

    /// The factor from noise of unit variance to the initial latents.
    pub fn first_noise(&self, sigma: f32) -> f64 {
        let sigma = f64::from(sigma);
        match self.spacing {
            Spacing::Leading => sigma.hypot(1.0),
            _ if self.preserves_variance() => sigma.hypot(1.0),
            Spacing::Linspace | Spacing::Trailing => sigma,
        }
    }
}

/// The noise levels of a table, `√((1 − ᾱ) / ᾱ)`, rounded where PyTorch rounds.
fn table(config: &DiscreteConfig) -> Vec<f32> {
    let count = config.num_train_timesteps;
    let ends = match config.beta_schedule {
        BetaSchedule::Linear => [config.beta_start, config.beta_end],
        BetaSchedule::ScaledLinear => [config.beta_start.sqrt(), config.beta_end.sqrt()],
    };
    let beta = |index| {
        let even = super::schedule::linspace(ends[0], ends[1], count, index);
        if config.beta_schedule == BetaSchedule::ScaledLinear { even * even } else { even }
    };
    let mut product = 1.0_f64;
    let mut shares: Vec<f32> = (0..count)
        .map(|index| {
            product *= f64::from(1.0 - beta(index));
            product as f32
        })
        .collect();
    if config.rescale_betas_zero_snr {
        shares = without_picture_at_the_end(&shares);
    }
    let level = |share: f32| if share > LEAST { ((1.0 - share) / share).sqrt() } else { HIGHEST };
    shares.into_iter().map(level).collect()
}

/// The image's share in pure noise. As in diffusers it is slightly above zero, so that the level is finite.
const LEAST: f32 = 1.0 / (1 << 24) as f32;
/// The level of pure noise, rounded as in diffusers: multiplying noise by a power of two is exact.
const HIGHEST: f32 = 4096.0;

/// Shifts and scales `√ᾱ` so that the last level is pure noise (Lin et al. 2023, algorithm 1).
fn without_picture_at_the_end(shares: &[f32]) -> Vec<f32> {
    let roots: Vec<f64> = shares.iter().map(|share| f64::from(*share).sqrt()).collect();
    let (first, last) = (roots[0], roots[roots.len() - 1]);
    let moved = roots.iter().map(|root| (((root - last) * first / (first - last)).powi(2) as f32).max(LEAST));
    moved.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(class: &str, spacing: Spacing) -> Discrete {
        Discrete::new(&DiscreteConfig {
            class: class.to_owned(),
            timestep_spacing: Some(spacing),
            steps_offset: 1,
            set_alpha_to_one: false,
            ..DiscreteConfig::default()
        })
    }

    fn near(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-6 * expected.abs(), "got {found}, expected {expected}");
        }
    }

    /// Expected values from diffusers 0.42.1.
    #[test]
    fn levels_are_those_of_diffusers() {
        let euler = |spacing| of("EulerDiscreteScheduler", spacing).sigmas(5);
        let linspace = [14.614_647, 4.086_089_6, 1.615_583_4, 0.695_151, 0.029_167_535, 0.0];
        near(&euler(Spacing::Linspace), &linspace);
        let leading = [5.134_433_3, 2.292_854_8, 1.168_216_5, 0.574_050_8, 0.041_314_48, 0.0];
        near(&euler(Spacing::Leading), &leading);
        let trailing = [14.614_647, 5.087_765, 2.276_464, 1.160_579, 0.569_285_4, 0.0];
        near(&euler(Spacing::Trailing), &trailing);
        let ddim = of("DDIMScheduler", Spacing::Leading);
        near(&ddim.sigmas(5), &[&leading[..5], &[0.029_167_535]].concat());

        let config = DiscreteConfig {
            timestep_spacing: Some(Spacing::Trailing),
            rescale_betas_zero_snr: true,
            ..DiscreteConfig::default()
        };
        near(
            &Discrete::new(&config).sigmas(5),
            &[4096.0, 7.410_707_5, 2.604_856_3, 1.241_375_5, 0.594_751_8, 0.0],
        );
        assert_eq!(Discrete::new(&config).sigmas(5)[0], HIGHEST);
        let config = DiscreteConfig {
            beta_start: 0.0001,
            beta_end: 0.02,
            beta_schedule: BetaSchedule::Linear,
            timestep_spacing: Some(Spacing::Leading),
            steps_offset: 1,
            ..DiscreteConfig::default()
        };
        let linear = [25.945_423, 6.212_093_4, 2.051_380_2, 0.727_916_7, 0.014_832_044, 0.0];
        near(&Discrete::new(&config).sigmas(5), &linear);
    }

    #[test]
    fn the_time_of_a_level_of_the_table_is_its_number() {
        let discrete = Discrete::stable_diffusion(PredictionType::Epsilon);
        for (number, sigma) in discrete.table().iter().enumerate() {
            assert_eq!(discrete.timestep(*sigma).to_bits(), (number as f32).to_bits());
        }
        let between = (discrete.table()[10] * discrete.table()[11]).sqrt();
        assert!((discrete.timestep(between) - 10.5).abs() < 1e-3);
        assert!(discrete.timestep(1e9) == 999.0 && discrete.timestep(0.0) == 0.0);
    }

    #[test]
    fn one_step_starts_where_the_spacing_says() {
        for (spacing, time) in [(Spacing::Linspace, 999), (Spacing::Leading, 1), (Spacing::Trailing, 999)] {
            let discrete = of("EulerDiscreteScheduler", spacing);
            assert_eq!(discrete.sigmas(1), [discrete.table()[time], 0.0]);
        }
    }
}
