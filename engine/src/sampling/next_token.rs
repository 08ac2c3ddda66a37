//! The next token of a text, from what a language model makes of the tokens before it.

use crate::nn::NoiseStream;

/// Never are more tokens than these considered.
const MOST: usize = 1000;

/// How tokens are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenChoice {
    /// How much less likely tokens gain; 0 always takes the likeliest.
    pub temperature: f32,
    /// So many of the likeliest tokens are considered.
    pub top_k: usize,
    /// Of these, the likeliest that together have this probability (Holtzman et al. 2020, arXiv:1904.09751).
    pub top_p: f32,
}

impl TokenChoice {
    /// A token by its score; `None` if a score is not a number, or the highest is infinite.
    pub fn of(&self, scores: &[f32], noise: &mut NoiseStream) -> Option<u32> {
        if scores.iter().any(|score| score.is_nan()) {
            return None;
        }
        let count = if self.temperature > 0.0 { self.top_k.clamp(1, MOST) } else { 1 };
        // The likeliest so far, in their order; of equals the first.
        let mut best: Vec<(usize, f32)> = Vec::with_capacity(count + 1);
        for (token, score) in scores.iter().copied().enumerate() {
            if best.len() == count && best.last().is_some_and(|(_, last)| score <= *last) {
                continue;
            }
            best.insert(best.partition_point(|(_, known)| *known >= score), (token, score));
            best.truncate(count);
        }
        let (likeliest, highest) = best.first().copied().filter(|(_, highest)| highest.is_finite())?;
        if count == 1 {
            return u32::try_from(likeliest).ok();
        }
        let weight = |score: f32| (f64::from(score - highest) / f64::from(self.temperature)).exp();
        let weights: Vec<f64> = best.iter().map(|(_, score)| weight(*score)).collect();
        let enough = f64::from(self.top_p) * weights.iter().sum::<f64>();
        // The token with which the probability is reached is one of them.
        let mut sum = 0.0;
        let kept = weights.iter().position(|weight| {
            sum += weight;
            sum >= enough
        });
        let weights = &weights[..kept.map_or(weights.len(), |last| last + 1)];
        let mut left = noise.uniform() * weights.iter().sum::<f64>();
        let chosen = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        u32::try_from(best[chosen.unwrap_or(weights.len() - 1)].0).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f32; 5] = [0.5, 2.0, -1.0, 1.9, 1.0];

    fn counts(choice: TokenChoice) -> [usize; 5] {
        let mut noise = NoiseStream::new(7);
        let mut counts = [0; 5];
        for _ in 0..10_000 {
            counts[choice.of(&SCORES, &mut noise).unwrap() as usize] += 1;
        }
        counts
    }

    #[test]
    fn without_temperature_the_likeliest_token_is_taken() {
        let greedy = TokenChoice { temperature: 0.0, top_k: 5, top_p: 1.0 };
        let mut noise = NoiseStream::new(1);
        assert_eq!(greedy.of(&SCORES, &mut noise), Some(1));
        assert_eq!(greedy.of(&[3.0, 3.0], &mut noise), Some(0), "the first of equals");
        assert_eq!(greedy.of(&[1.0, f32::NAN], &mut noise), None);
        assert_eq!(greedy.of(&[], &mut noise), None);
    }

    #[test]
    fn tokens_come_as_often_as_they_are_likely() {
        let found = counts(TokenChoice { temperature: 1.0, top_k: 5, top_p: 1.0 });
        let sum: f32 = SCORES.iter().map(|score| score.exp()).sum();
        for (score, count) in SCORES.into_iter().zip(found) {
            let expected = 10_000.0 * score.exp() / sum;
            assert!((count as f32 - expected).abs() < 150.0, "{count} of {expected}");
        }
        let flat = counts(TokenChoice { temperature: 100.0, top_k: 5, top_p: 1.0 });
        assert!(flat.iter().all(|count| (1800..2200).contains(count)), "{flat:?}");
    }

    #[test]
    fn unlikely_tokens_are_left_out() {
        let three = counts(TokenChoice { temperature: 1.0, top_k: 3, top_p: 1.0 });
        assert!(three[0] == 0 && three[2] == 0 && three[4] > 0, "{three:?}");
        // The first two have 0.75 of the probability, the first alone 0.39.
        let two = counts(TokenChoice { temperature: 1.0, top_k: 5, top_p: 0.6 });
        assert!(two[1] > 0 && two[3] > 0 && two[0] + two[2] + two[4] == 0, "{two:?}");
        let one = counts(TokenChoice { temperature: 1.0, top_k: 5, top_p: 0.3 });
        assert_eq!(one[1], 10_000);
    }

    #[test]
    fn a_seed_gives_the_same_tokens() {
        let choice = TokenChoice { temperature: 0.7, top_k: 4, top_p: 0.9 };
        let tokens = |seed| {
            let mut noise = NoiseStream::new(seed);
            (0..20).filter_map(|_| choice.of(&SCORES, &mut noise)).collect::<Vec<_>>()
        };
        assert_eq!(tokens(3), tokens(3));
        assert_ne!(tokens(3), tokens(4));
    }
}
