//! Align Your Steps: noise levels optimized for a model.

/// The models with published levels (Sabour et al. 2024, arXiv:2404.14507, and the paper's web page).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlignedSteps {
    /// Stable Diffusion 1.5.
    StableDiffusion,
    /// Stable Diffusion XL.
    StableDiffusionXl,
    /// Stable Video Diffusion.
    StableVideoDiffusion,
}

impl AlignedSteps {
    /// The published levels of ten steps, and the level where the last step ends.
    fn table(self) -> [f64; 11] {
        match self {
            Self::StableDiffusion => {
                [14.615, 6.475, 3.861, 2.697, 1.886, 1.396, 0.963, 0.652, 0.399, 0.152, 0.029]
            }
            Self::StableDiffusionXl => {
                [14.615, 6.315, 3.771, 2.181, 1.342, 0.862, 0.555, 0.380, 0.234, 0.113, 0.029]
            }
            Self::StableVideoDiffusion => {
                [700.0, 54.5, 15.886, 7.977, 4.248, 1.789, 0.981, 0.403, 0.173, 0.034, 0.002]
            }
        }
    }

    /// The levels of `steps` steps: `steps + 1` values falling to 0. As the authors recommend, the logarithm
    /// of the published levels is interpolated; the last step ends at 0.
    pub fn sigmas(self, steps: usize) -> Vec<f32> {
        let table = self.table();
        let last = table.len() - 1;
        let level = |index: usize| {
            let place = (index * last) as f64 / steps as f64;
            let low = (place as usize).min(last - 1);
            let part = place - low as f64;
            (table[low].ln() * (1.0 - part) + table[low + 1].ln() * part).exp() as f32
        };
        (0..steps).map(level).chain([0.0]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_steps_are_the_published_ones() {
        for model in [
            AlignedSteps::StableDiffusion,
            AlignedSteps::StableDiffusionXl,
            AlignedSteps::StableVideoDiffusion,
        ] {
            let sigmas = model.sigmas(10);
            assert_eq!(sigmas.len(), 11);
            for (found, published) in sigmas.iter().zip(&model.table()[..10]) {
                assert!(
                    (f64::from(*found) / published - 1.0).abs() < 1e-6,
                    "got {found}, published {published}"
                );
            }
            assert_eq!(sigmas[10], 0.0);
        }
    }
}
