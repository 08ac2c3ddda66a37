//! Noise levels of a cosine of the time (Nichol and Dhariwal 2021, arXiv:2102.09672): diffusers'
//! `DDPMWuerstchenScheduler`.

use std::f64::consts::FRAC_PI_2;

use serde::Deserialize;

use super::schedule::linspace;

/// Bounds of the share of the image in the variance.
const SHARES: [f64; 2] = [0.0001, 0.9999];
/// Levels of the table that other schedules space.
const LEVELS: usize = 1000;

/// A schedule whose times run from 1, noise, to 0, the image.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default)]
pub struct Cosine {
    /// Above 1, steps are closer to the noise; below 1, closer to the image.
    pub scaler: f64,
    /// The time that all times are moved by.
    pub s: f64,
}

impl Default for Cosine {
    fn default() -> Self {
        Self { scaler: 1.0, s: 0.008 }
    }
}

impl Cosine {
    /// The levels of `steps` steps, and the level where the last one ends, descending.
    pub fn sigmas(&self, steps: usize) -> Vec<f32> {
        (0..=steps).map(|index| self.level(linspace(1.0, 0.0, steps + 1, index))).collect()
    }

    /// The level at a time.
    pub fn level(&self, time: f32) -> f32 {
        let time = f64::from(time);
        let time = match self.scaler {
            above if above > 1.0 => 1.0 - (1.0 - time).powf(above),
            below if below < 1.0 => time.powf(below),
            _ => time,
        };
        let share = (self.angle(time).cos() / self.angle(0.0).cos()).powi(2);
        let share = share.clamp(SHARES[0], SHARES[1]);
        ((1.0 - share) / share).sqrt() as f32
    }

    /// The time of a level: of the highest level 1, of the lowest 0. For levels that come from [`level`](Self::level) it is
    /// exact to the last bit from 0.5 on. Below, half a unit in the last place of a level is up to 2e-8 of time, and the
    /// result is rounded: it is off by less than 4e-8.
    pub fn time(&self, sigma: f32) -> f32 {
        if sigma >= self.level(1.0) {
            return 1.0;
        }
        if sigma <= self.lowest() {
            return 0.0;
        }
        let root = f64::from(sigma).hypot(1.0).recip() * self.angle(0.0).cos();
        let time = (root.acos() / FRAC_PI_2 * (1.0 + self.s) - self.s).clamp(0.0, 1.0);
        let time = match self.scaler {
            above if above > 1.0 => 1.0 - (1.0 - time).powf(above.recip()),
            below if below < 1.0 => time.powf(below.recip()),
            _ => time,
        };
        time as f32
    }

    /// The level where runs end. What noise it has is no longer removed.
    pub fn lowest(&self) -> f32 {
        self.level(0.0)
    }

    /// Levels at even times, ascending.
    pub fn table(&self) -> Vec<f32> {
        (0..LEVELS).map(|index| self.level(linspace(0.0, 1.0, LEVELS, index))).collect()
    }

    fn angle(&self, time: f64) -> f64 {
        (time + self.s) / (1.0 + self.s) * FRAC_PI_2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error of the last bit of a time moves the network's waves by 0.001.
    #[test]
    fn levels_have_the_times_that_they_come_from() {
        let cosine = Cosine::default();
        for steps in [1, 2, 7, 10, 20, 33, 60, 100] {
            for (index, sigma) in cosine.sigmas(steps).into_iter().enumerate() {
                let time: f32 = linspace(1.0, 0.0, steps + 1, index);
                let found = cosine.time(sigma);
                assert!((found - time).abs() < 4e-8, "{index} of {steps}: {found} instead of {time}");
                if time >= 0.5 {
                    assert_eq!(found.to_bits(), time.to_bits(), "{index} of {steps}");
                }
            }
        }
    }

    /// Levels of diffusers 0.42.1.
    #[test]
    fn levels_are_those_of_diffusers() {
        let near = |one: f32, other: f64| (f64::from(one) / other - 1.0).abs() < 1e-5;
        let sigmas = Cosine::default().sigmas(4);
        for (sigma, share) in sigmas.iter().zip([0.0001_f64, 0.144_272_12, 0.493_843_62, 0.847_012_2, 0.9999])
        {
            assert!(near(*sigma, ((1.0 - share) / share).sqrt()), "{sigma} at {share}");
        }
    }
}
