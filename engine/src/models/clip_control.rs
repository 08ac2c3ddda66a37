//! How a clip is controlled, in models for that.

use super::{Denoising, Steps, denoiser::acts_at};
use crate::request::Request;

/// How a clip is controlled by another one and by reference images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipControl {
    /// How strongly; 1 is as trained.
    pub strength: f32,
    /// The noise levels at which it has an effect, from above the first up to the second.
    pub levels: [f32; 2],
}

impl Default for ClipControl {
    /// As trained, at all noise levels.
    fn default() -> Self {
        Self { strength: 1.0, levels: [f32::NEG_INFINITY, f32::INFINITY] }
    }
}

impl ClipControl {
    /// What a request asks of a denoiser. Start and end are fractions of all steps, also where denoisers take turns.
    pub fn of(request: &Request, denoising: &Denoising) -> Self {
        let Some(control) = &request.control else { return Self::default() };
        let always = Self { strength: control.strength, ..Self::default() };
        if control.is_felt_always() {
            return always;
        }
        Self { levels: control.levels(&Steps::new(denoising, request).sigmas), ..always }
    }

    /// Whether it has an effect at a noise level.
    pub fn acts_at(&self, sigma: f32) -> bool {
        acts_at(self.strength, self.levels, sigma)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_strength_nothing_controls() {
        let usual = ClipControl::default();
        assert!([0.0, 0.5, 1.0].into_iter().all(|sigma| usual.acts_at(sigma)));
        assert!(!ClipControl { strength: 0.0, ..usual }.acts_at(0.5));
        let late = ClipControl { levels: [0.0, 0.5], ..usual };
        assert_eq!([1.0, 0.5, 0.1].map(|sigma| late.acts_at(sigma)), [false, true, true]);
    }
}
