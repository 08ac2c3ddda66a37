//! Combines the branches of guidance.

use std::ops::Range;

use candle_core::{DType, Result, Tensor};

use crate::request::GuidanceOptions;

/// Added to norms by LongCat-Image's pipeline.
const LEAST_NORM: f64 = 1e-8;

/// Classifier-free guidance (Ho and Salimans 2022, arXiv:2207.12598) of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    weight: f64,
    rescale: f64,
    /// The guided levels: above the start, up to and including the end.
    levels: Range<f32>,
    /// Which patches of latents keep the norm of the prompt's prediction, if they do.
    kept_norms: Option<KeptNorms>,
}

/// Patches of latents that keep, when guided, the norm that they have with the prompt alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptNorms {
    /// Side of a patch.
    pub side: usize,
    /// Whether they are only made smaller: those that guidance made smaller stay as they are.
    pub at_most: bool,
}

impl Guide {
    /// Guidance over the levels of a run. `weight` is that of the prompt against the negative prompt; at 1 or
    /// less there is no guidance.
    pub fn new(weight: f64, options: &GuidanceOptions, sigmas: &[f32]) -> Self {
        let steps = sigmas.len().saturating_sub(1);
        let level = |part: f32| {
            // The margin keeps a third of nine steps at three steps although a third may be rounded up.
            let step = (part * steps as f32 - 1e-3).ceil() as usize;
            sigmas.get(step.min(steps)).copied().unwrap_or(0.0)
        };
        // An interval up to the end of the run includes whatever level it ends at.
        let low = if options.interval.end >= 1.0 { -1.0 } else { level(options.interval.end) };
        let high = if options.interval.start <= 0.0 { f32::INFINITY } else { level(options.interval.start) };
        Self { weight, rescale: options.rescale.into(), levels: low..high, kept_norms: None }
    }

    /// The same for a network whose patches keep their norms, as in the pipelines of Qwen-Image and LongCat-Image.
    pub fn keeping_norms(self, kept_norms: Option<KeptNorms>) -> Self {
        Self { kept_norms, ..self }
    }

    /// Whether a prediction at a level needs both branches (Kynkäänniemi et al. 2024, arXiv:2404.07724).
    pub fn is_guided(&self, sigma: f32) -> bool {
        self.weight > 1.0 && sigma > self.levels.start && sigma <= self.levels.end
    }

    /// Combines the outputs for the prompt and the negative prompt into one f32 output. A single output is
    /// returned unguided.
    ///
    /// Rescaling restores each image's standard deviation to that of its prompt branch (Lin et al. 2023,
    /// arXiv:2305.08891, section 3.4) and mixes the result with the unscaled one.
    pub fn join(&self, outputs: &[Tensor]) -> Result<Tensor> {
        let [positive, negative] = outputs else { return outputs[0].to_dtype(DType::F32) };
        let positive = positive.to_dtype(DType::F32)?;
        let difference = ((&positive - negative.to_dtype(DType::F32)?)? * (self.weight - 1.0))?;
        let guided = (&positive + difference)?;
        let guided = match self.kept_norms {
            Some(kept) => with_norms_of(&guided, &positive, kept)?,
            None => guided,
        };
        if self.rescale == 0.0 {
            return Ok(guided);
        }
        let ratio = deviation(&positive)?.div(&deviation(&guided)?)?;
        guided.broadcast_mul(&ratio.affine(self.rescale, 1.0 - self.rescale)?)
    }
}

/// `guided` `[batch, channels, height, width]` with the norm that each patch has in `prompt`.
fn with_norms_of(guided: &Tensor, prompt: &Tensor, KeptNorms { side, at_most }: KeptNorms) -> Result<Tensor> {
    let (batch, channels, height, width) = guided.dims4()?;
    let (rows, columns) = (height / side, width / side);
    let patches = |x: &Tensor| x.reshape(vec![batch, channels, rows, side, columns, side]);
    let norms = |x: &Tensor| patches(x)?.sqr()?.sum_keepdim((1, 3, 5))?.sqrt();
    let ratio = match at_most {
        true => norms(prompt)?.div(&(norms(guided)? + LEAST_NORM)?)?.minimum(1f32)?,
        false => norms(prompt)?.div(&norms(guided)?)?,
    };
    patches(guided)?.broadcast_mul(&ratio)?.reshape(guided.shape())
}

/// The standard deviation of each image of a batch, `[batch, 1, …]`, up to a factor that depends only on
/// the number of values.
fn deviation(x: &Tensor) -> Result<Tensor> {
    let mut shape = vec![1; x.rank()];
    shape[0] = x.dim(0)?;
    let values = x.flatten_from(1)?;
    let centred = values.broadcast_sub(&values.mean_keepdim(1)?)?;
    centred.sqr()?.mean_keepdim(1)?.sqrt()?.reshape(shape)
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;
    use crate::request::Interval;

    const SIGMAS: [f32; 6] = [1.0, 0.8, 0.6, 0.4, 0.2, 0.0];

    fn guided(weight: f64, start: f32, end: f32, levels: &[f32]) -> Vec<bool> {
        let options = GuidanceOptions { interval: Interval { start, end }, ..GuidanceOptions::default() };
        let guide = Guide::new(weight, &options, &SIGMAS);
        levels.iter().map(|&sigma| guide.is_guided(sigma)).collect()
    }

    #[test]
    fn an_interval_is_of_whole_steps_and_of_what_lies_inside_them() {
        let steps = &SIGMAS[..5];
        assert_eq!(guided(3.0, 0.0, 1.0, steps), [true; 5]);
        assert_eq!(guided(1.0, 0.0, 1.0, steps), [false; 5]);
        assert_eq!(guided(3.0, 0.2, 0.6, steps), [false, true, true, false, false]);
        assert_eq!(guided(3.0, 0.5, 1.0, steps), [false, false, false, true, true]);
        // Fractions of the run at steps 0, 1, 2 and 3.
        assert_eq!(guided(3.0, 0.2, 0.6, &[0.9, 0.7, 0.5, 0.3]), [false, true, true, false]);
    }

    #[test]
    fn every_patch_keeps_the_norm_of_its_prompt() {
        let tensor = |phase: f32| {
            let values: Vec<f32> = (0..2 * 3 * 4 * 6).map(|i| (i as f32 * 0.7 + phase).sin()).collect();
            Tensor::from_vec(values, (2, 3, 4, 6), &Device::Cpu).unwrap()
        };
        let outputs = [tensor(0.0), tensor(0.4)];
        let guide = Guide::new(4.0, &GuidanceOptions::default(), &SIGMAS);
        let plain = guide.join(&outputs).unwrap();
        let kept = KeptNorms { side: 2, at_most: false };
        let at_most = KeptNorms { at_most: true, ..kept };
        let shrunk = guide.clone().keeping_norms(Some(at_most)).join(&outputs).unwrap();
        let kept = guide.keeping_norms(Some(kept)).join(&outputs).unwrap();
        let patch = |x: &Tensor, image: usize, row: usize, column: usize| -> Vec<f32> {
            let patch =
                x.get(image).unwrap().narrow(1, 2 * row, 2).unwrap().narrow(2, 2 * column, 2).unwrap();
            patch.flatten_all().unwrap().to_vec1().unwrap()
        };
        let norm = |patch: &[f32]| patch.iter().map(|value| value * value).sum::<f32>().sqrt();
        for (image, row, column) in [(0, 0, 0), (0, 1, 2), (1, 0, 1), (1, 1, 0)] {
            let [prompt, plain, kept] = [&outputs[0], &plain, &kept].map(|x| patch(x, image, row, column));
            assert!((norm(&kept) / norm(&prompt) - 1.0).abs() < 1e-5);
            let ratio = norm(&prompt) / norm(&plain);
            assert!((ratio - 1.0).abs() > 0.1, "the test is of patches that guidance makes larger");
            assert!(plain.iter().zip(&kept).all(|(plain, kept)| (plain * ratio - kept).abs() < 1e-5));
            let shrunk = patch(&shrunk, image, row, column);
            let expected = plain.iter().map(|value| value * ratio.min(1.0));
            assert!(expected.zip(&shrunk).all(|(expected, shrunk)| (expected - shrunk).abs() < 1e-5));
        }
        // Guidance that makes patches smaller.
        let half = (&outputs[0] * 0.5).unwrap();
        let smaller = Guide::new(1.5, &GuidanceOptions::default(), &SIGMAS).keeping_norms(Some(at_most));
        let joined = smaller.join(&[half, outputs[0].clone()]).unwrap();
        let values = |x: &Tensor| x.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(values(&joined), values(&(&outputs[0] * 0.25).unwrap()));
    }

    #[test]
    fn rescaling_gives_each_picture_its_prompts_deviation() {
        let tensor = |scale: f32, shift: f32| {
            let values: Vec<f32> = (0..2 * 48).map(|i| (i as f32 * 0.7).sin() * scale + shift).collect();
            Tensor::from_vec(values, (2, 3, 4, 4), &Device::Cpu).unwrap()
        };
        let outputs = [tensor(2.0, 0.1), tensor(-0.5, 0.3)];
        let join = |rescale| {
            let options = GuidanceOptions { rescale, ..GuidanceOptions::default() };
            Guide::new(4.0, &options, &SIGMAS).join(&outputs).unwrap()
        };
        let of = |x: &Tensor| deviation(x).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let (plain, full, half) = (of(&join(0.0)), of(&join(1.0)), of(&join(0.5)));
        for (index, prompt) in of(&outputs[0]).into_iter().enumerate() {
            assert!(plain[index] > 2.0 * prompt);
            assert!((full[index] / prompt - 1.0).abs() < 1e-5);
            assert!((half[index] - f32::midpoint(plain[index], prompt)).abs() < 1e-5 * plain[index]);
        }
    }
}
