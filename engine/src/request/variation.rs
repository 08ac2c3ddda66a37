//! Images that are like another one.

use serde::{Deserialize, Serialize};

use super::{Request, RequestError};

/// Turns the first noise of an image towards that of another seed, as the variation seed of A1111's web UI. Image `i` of a
/// batch keeps the seed and has the variation seed `seed + i`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Variation {
    /// The other seed.
    pub seed: u64,
    /// How far: 0 is the noise of the seed, 1 that of the other one.
    pub strength: f32,
}

impl Variation {
    pub(super) fn validate(&self) -> Result<(), RequestError> {
        match (0.0..=1.0).contains(&self.strength) {
            true => Ok(()),
            false => Err(RequestError::Variation(self.strength)),
        }
    }

    /// Whether it changes anything.
    pub fn is_felt(&self) -> bool {
        self.strength > 0.0
    }
}

impl Request {
    /// The request that generates image `index` of the batch alone.
    pub fn alone(&self, index: u32) -> Self {
        let next = |seed: u64| seed.wrapping_add(index.into());
        match self.variation.filter(Variation::is_felt) {
            Some(Variation { seed, strength }) => {
                Self { batch: 1, variation: Some(Variation { seed: next(seed), strength }), ..self.clone() }
            }
            None => Self { batch: 1, seed: next(self.seed), ..self.clone() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_a_batch_have_seeds_of_their_own() {
        let plain = Request { seed: u64::MAX, batch: 4, ..Request::default() };
        assert_eq!(plain.alone(2), Request { seed: 1, batch: 1, ..plain.clone() });
        let variation = Some(Variation { seed: 10, strength: 0.2 });
        let varied = Request { variation, ..plain.clone() };
        let third = Some(Variation { seed: 12, strength: 0.2 });
        assert_eq!(varied.alone(2), Request { variation: third, batch: 1, ..varied.clone() });
        let unfelt = Request { variation: Some(Variation { seed: 10, strength: 0.0 }), ..plain };
        assert_eq!(unfelt.alone(2).seed, 1);
    }
}
