//! Guidance options besides the scale.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Guidance options besides the scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuidanceOptions {
    /// Guidance rescale, 0 to 1: how far the standard deviation of a guided prediction is brought back to that of the
    /// conditional one.
    pub rescale: f32,
    /// The steps that use guidance.
    pub interval: Interval,
    /// Classifier-free guidance scale for guidance-distilled models such as FLUX.1; 1 turns it off.
    pub true_cfg: f32,
}

impl Default for GuidanceOptions {
    fn default() -> Self {
        Self { rescale: 0.0, interval: Interval::default(), true_cfg: 1.0 }
    }
}

/// A range of steps, from 0 for the start of the first to 1 for the end of the last.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Where it starts.
    pub start: f32,
    /// Where it ends; a step that begins there is outside.
    pub end: f32,
}

impl Default for Interval {
    fn default() -> Self {
        Self { start: 0.0, end: 1.0 }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// The text is not an interval.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected two numbers from 0 to 1, such as 0.2..0.8")]
pub struct NoInterval;

impl FromStr for Interval {
    type Err = NoInterval;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (start, end) = text.split_once("..").ok_or(NoInterval)?;
        let number = |text: &str| text.trim().parse().map_err(|_| NoInterval);
        Ok(Self { start: number(start)?, end: number(end)? })
    }
}

/// Why [`GuidanceOptions`] are invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GuidanceError {
    /// Guidance rescale out of range.
    #[error("guidance rescale {0} is invalid; use 0 to 1")]
    Rescale(f32),
    /// An empty interval, or one out of range.
    #[error("guidance interval {0} is invalid; use two increasing numbers from 0 to 1")]
    Interval(Interval),
    /// True CFG out of range.
    #[error("true CFG {0} is invalid; use 1 or more")]
    TrueCfg(f32),
}

impl GuidanceOptions {
    pub(super) fn validate(&self) -> Result<(), GuidanceError> {
        let Self { rescale, interval, true_cfg } = *self;
        if !(0.0..=1.0).contains(&rescale) {
            return Err(GuidanceError::Rescale(rescale));
        }
        if !(interval.start >= 0.0 && interval.start < interval.end && interval.end <= 1.0) {
            return Err(GuidanceError::Interval(interval));
        }
        if !true_cfg.is_finite() || true_cfg < 1.0 {
            return Err(GuidanceError::TrueCfg(true_cfg));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_they_are_written() {
        let interval = Interval { start: 0.25, end: 0.8 };
        assert_eq!(interval.to_string().parse(), Ok(interval));
        assert_eq!("0 .. 1".parse(), Ok(Interval::default()));
        for wrong in ["", "0.5", "a..b", "0.1-0.5", ".."] {
            assert_eq!(wrong.parse::<Interval>(), Err(NoInterval), "{wrong}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let plain = GuidanceOptions::default();
        let interval = |start, end| GuidanceOptions { interval: Interval { start, end }, ..plain };
        assert_eq!(plain.validate(), Ok(()));
        assert_eq!(interval(0.2, 0.8).validate(), Ok(()));
        for wrong in [
            GuidanceOptions { rescale: 1.1, ..plain },
            GuidanceOptions { rescale: f32::NAN, ..plain },
            interval(0.5, 0.5),
            interval(-0.1, 0.5),
            interval(0.1, f32::NAN),
            interval(0.1, 1.5),
            GuidanceOptions { true_cfg: 0.5, ..plain },
            GuidanceOptions { true_cfg: f32::INFINITY, ..plain },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
