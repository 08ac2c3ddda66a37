//! Mixes the predictions for the prompts of an image's regions.

use candle_core::{DType, Device, Result, Tensor};

/// How much the prediction for each prompt counts in each latent.
#[derive(Debug, Clone)]
pub struct RegionShares {
    /// `[height, width]` for each: that of the image first, then those of its regions. They add up to 1.
    shares: Vec<Tensor>,
}

impl RegionShares {
    /// Of regions with a weight and the part of each latent, `[height, width]` row by row, that is in them. Inside of regions,
    /// the prompt of the image counts `base`.
    ///
    /// # Errors
    /// When a region has another number of latents.
    pub fn new(regions: &[(f32, Vec<f32>)], base: f32, latents: [usize; 2]) -> Result<Self> {
        let count = latents[0] * latents[1];
        let mut shares = vec![vec![1.0; count]];
        shares.extend(regions.iter().map(|_| vec![0.0; count]));
        for place in 0..count {
            let inside = |region: &(f32, Vec<f32>)| region.1.get(place).copied().unwrap_or(0.0);
            let taken = regions.iter().map(inside).sum::<f32>().min(1.0) * (1.0 - base);
            let weights: f32 = regions.iter().map(|region| region.0 * inside(region)).sum();
            if weights == 0.0 {
                continue;
            }
            shares[0][place] = 1.0 - taken;
            for (shares, region) in shares[1..].iter_mut().zip(regions) {
                shares[place] = taken * (region.0 * inside(region) / weights);
            }
        }
        let tensor = |shares: Vec<f32>| Tensor::from_vec(shares, (latents[0], latents[1]), &Device::Cpu);
        Ok(Self { shares: shares.into_iter().map(tensor).collect::<Result<_>>()? })
    }

    /// One output in place of those of the prompts, which come first, and the others as they are.
    ///
    /// # Errors
    /// When there are fewer outputs than prompts, or latents of another size.
    pub fn mixed(&self, outputs: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let mut sum: Option<Tensor> = None;
        for (output, shares) in outputs.iter().zip(&self.shares) {
            let part = output.to_dtype(DType::F32)?.broadcast_mul(shares)?;
            sum = Some(match sum {
                Some(sum) => (sum + part)?,
                None => part,
            });
        }
        Ok(sum.into_iter().chain(outputs.into_iter().skip(self.shares.len())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(count: usize) -> Vec<Tensor> {
        let output = |number: usize| {
            let values: Vec<f32> = (0..12).map(|place| ((place + 5 * number) as f32).sin()).collect();
            Tensor::from_vec(values, (1, 2, 2, 3), &Device::Cpu).unwrap()
        };
        (0..count).map(output).collect()
    }

    fn values(tensor: &Tensor) -> Vec<f32> {
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    #[test]
    fn each_prompt_counts_in_its_region_and_that_of_the_image_elsewhere() {
        let regions = [(1.0, vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0]), (3.0, vec![0.0, 1.0, 0.0, 0.0, 1.0, 0.0])];
        let shares = RegionShares::new(&regions, 0.0, [2, 3]).unwrap();
        let all = outputs(4);
        let mixed = shares.mixed(all.clone()).unwrap();
        assert_eq!(mixed.len(), 2);
        assert_eq!(values(&mixed[1]), values(&all[3]), "the negative prompt is not mixed");
        let each: Vec<Vec<f32>> = all.iter().map(values).collect();
        for (place, mixed) in values(&mixed[0]).into_iter().enumerate() {
            let own = [1, 2, 0][place % 3];
            assert_eq!(mixed.to_bits(), each[own][place].to_bits());
        }
    }

    #[test]
    fn the_prompt_of_the_image_keeps_its_part_and_regions_share_by_weight() {
        let regions = [(1.0, vec![1.0, 0.5]), (3.0, vec![1.0, 0.0])];
        let shares = RegionShares::new(&regions, 0.2, [1, 2]).unwrap();
        let found: Vec<Vec<f32>> = shares.shares.iter().map(values).collect();
        let expected = [[0.2, 0.6], [0.2, 0.4], [0.6, 0.0]];
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
        }
    }

    #[test]
    fn all_frames_of_a_clip_have_the_same_regions() {
        let clip = |number: usize| Tensor::full(number as f32, (1, 2, 3, 1, 2), &Device::Cpu).unwrap();
        let shares = RegionShares::new(&[(1.0, vec![0.0, 1.0])], 0.0, [1, 2]).unwrap();
        let mixed = shares.mixed(vec![clip(1), clip(2)]).unwrap();
        assert_eq!(values(&mixed[0]), [1.0, 2.0].repeat(6));
    }
}
