//! Mixtures of experts (Shazeer et al. 2017, arXiv:1701.06538): each token goes through some of several layers of one shape.

use candle_core::{DType, Result, Tensor as Values, bail};

use super::{Tensor, computed, cost::Costs, functions::apply, tensor::Kind};

/// Which tokens go through which expert, and how much of what comes out is added.
///
/// In a forecast, where no token has a value, each expert has room for all tokens, and computes as many as it gets on average.
#[derive(Debug, Clone)]
pub struct Routes {
    /// One for each expert.
    experts: Vec<Route>,
    /// The part of all tokens that goes through an expert on average.
    share: f64,
}

/// What the weights of the chosen experts are the softmax of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// The scores of all experts.
    OfAll,
    /// Those of the chosen ones, whose weights then sum to 1.
    OfChosen,
}

/// The tokens that go through an expert.
#[derive(Debug, Clone, Default)]
struct Route {
    /// Their rows, ascending.
    rows: Vec<u32>,
    /// How much of the output is added to each.
    weights: Vec<f32>,
}

impl Routes {
    /// Each token goes through the `chosen` experts with the highest scores, and their outputs are weighted by these: the
    /// softmax of `logits` `[tokens, experts]`, or of the chosen ones of them. The lower expert comes first where scores are
    /// equal.
    ///
    /// The scores are read on the host.
    ///
    /// # Errors
    /// When there are fewer experts than are chosen.
    pub fn new(logits: &Tensor, chosen: usize, of: Share) -> Result<Self> {
        let (tokens, count) = logits.dims2()?;
        if chosen == 0 || chosen > count {
            bail!("{chosen} of {count} experts cannot be chosen");
        }
        let part = chosen as f64 / count as f64;
        let mut experts = vec![Route::default(); count];
        match &logits.0 {
            Kind::Computed(values) => {
                let scores = values.to_dtype(DType::F32)?.to_vec2::<f32>()?;
                for (row, scores) in (0..).zip(scores) {
                    let weighted = match of {
                        Share::OfAll => highest(softmax(scores), chosen),
                        Share::OfChosen => {
                            let (places, scores): (Vec<_>, Vec<_>) =
                                highest(scores, chosen).into_iter().unzip();
                            places.into_iter().zip(softmax(scores)).collect()
                        }
                    };
                    for (expert, weight) in weighted {
                        experts[expert].rows.push(row);
                        experts[expert].weights.push(weight);
                    }
                }
            }
            Kind::Traced(traced) => {
                traced.copied(traced.dims(), DType::F32);
                let all = Route { rows: (0..tokens as u32).collect(), weights: vec![1.0; tokens] };
                experts.fill(all);
            }
        }
        Ok(Self { experts, share: part })
    }

    /// The number of experts.
    pub fn count(&self) -> usize {
        self.experts.len()
    }

    /// Whether any token goes through an expert.
    pub fn has(&self, expert: usize) -> bool {
        self.experts.get(expert).is_some_and(|route| !route.rows.is_empty())
    }

    /// `sum` `[tokens, width]` plus the weighted outputs of an expert, which `work` computes from its rows of `x` `[tokens,
    /// width]`. An expert without tokens computes one that is not added: its weights are asked for all the same, in the order
    /// of the blueprint.
    ///
    /// # Errors
    /// As `work`.
    pub fn add(
        &self,
        expert: usize,
        x: &Tensor,
        sum: Tensor,
        work: impl FnOnce(Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let Some(route) = self.experts.get(expert) else { bail!("there is no expert {expert}") };
        let routed = || {
            if route.rows.is_empty() {
                work(x.index_select(&[0])?)?;
                return Ok(sum);
            }
            let out = work(x.index_select(&route.rows)?)?;
            add_rows(&sum, &out, route)
        };
        match &x.0 {
            Kind::Traced(traced) => traced.trace().at_share(self.share, routed),
            Kind::Computed(_) => routed(),
        }
    }
}

/// `sum` with the weighted rows of `x` added in their places.
fn add_rows(sum: &Tensor, x: &Tensor, route: &Route) -> Result<Tensor> {
    let (dims, values) = (sum.dims().to_vec(), x.elem_count());
    let take = |costs: Costs| (costs.add_rows(sum.elem_count(), values), dims);
    apply("add_rows", [sum, x], take, |[sum, x]: [&Values; 2]| {
        computed::add_rows(sum, x, &route.rows, &route.weights)
    })
}

fn softmax(mut scores: Vec<f32>) -> Vec<f32> {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let sum: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
    scores
}

/// The indices and values of the `count` highest scores, by index.
fn highest(scores: Vec<f32>, count: usize) -> Vec<(usize, f32)> {
    let mut all: Vec<(usize, f32)> = scores.into_iter().enumerate().collect();
    all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    all.truncate(count);
    all.sort_by_key(|(index, _)| *index);
    all
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn tensor(rows: &[&[f32]]) -> Tensor {
        let width = rows[0].len();
        Values::from_vec(rows.concat(), (rows.len(), width), &Device::Cpu).unwrap().into()
    }

    #[test]
    fn tokens_go_through_the_experts_with_the_highest_scores() {
        let logits = tensor(&[&[0.0, 1.0, 3.0], &[2.0, 2.0, 2.0], &[f32::NAN, f32::INFINITY, 0.0]]);
        let routes = Routes::new(&logits, 2, Share::OfAll).unwrap();
        let rows: Vec<&[u32]> = routes.experts.iter().map(|route| &route.rows[..]).collect();
        // Of equal ones the first two; each token has two whatever its scores are.
        assert_eq!(rows[0].len() + rows[1].len() + rows[2].len(), 6);
        assert!(rows[0].contains(&1) && rows[1].contains(&1) && !rows[2].contains(&1));
        let sum = 1.0 + (-2.0f32).exp() + (-3.0f32).exp();
        assert!((routes.experts[2].weights[0] - 1.0 / sum).abs() < 1e-6);
        assert!((routes.experts[1].weights[0] - (-2.0f32).exp() / sum).abs() < 1e-6);
        let chosen = Routes::new(&logits, 2, Share::OfChosen).unwrap();
        // The softmax of all makes all scores of the last token not numbers, and so equal.
        let numbers = |routes: &Routes, expert: usize| -> Vec<u32> {
            routes.experts[expert].rows.iter().copied().filter(|row| *row < 2).collect()
        };
        assert!((0..3).all(|expert| numbers(&chosen, expert) == numbers(&routes, expert)));
        let sum = 1.0 + (-2.0f32).exp();
        assert!((chosen.experts[2].weights[0] - 1.0 / sum).abs() < 1e-6);
        assert!((chosen.experts[1].weights[0] - (-2.0f32).exp() / sum).abs() < 1e-6);
        assert!(Routes::new(&logits, 4, Share::OfAll).is_err());
        assert!(Routes::new(&logits, 0, Share::OfChosen).is_err());
    }

    #[test]
    fn outputs_are_weighted_and_added_in_their_places() {
        let routes = Routes::new(&tensor(&[&[9.0, 0.0], &[0.0, 9.0], &[9.0, 0.0]]), 1, Share::OfAll).unwrap();
        let x = tensor(&[&[1.0, 2.0], &[3.0, 4.0], &[5.0, 6.0]]);
        let mut sum = tensor(&[&[10.0, 10.0], &[20.0, 20.0], &[30.0, 30.0]]);
        let weight = 1.0 / (1.0 + (-9.0f32).exp());
        for expert in 0..routes.count() {
            sum = routes.add(expert, &x, sum, |x| x * (expert + 1) as f64).unwrap();
        }
        let got = sum.computed().unwrap().to_vec2::<f32>().unwrap();
        let want = [[10.0 + weight, 10.0 + 2.0 * weight], [20.0 + 6.0 * weight, 20.0 + 8.0 * weight]];
        assert_eq!(got[..2], want);
        assert_eq!(got[2], [30.0 + 5.0 * weight, 30.0 + 6.0 * weight]);
    }

    #[test]
    fn an_expert_without_tokens_is_asked_all_the_same() {
        let routes = Routes::new(&tensor(&[&[9.0, 0.0]]), 1, Share::OfAll).unwrap();
        assert!(routes.has(0) && !routes.has(1));
        let (x, mut asked) = (tensor(&[&[1.0]]), false);
        let sum = routes.add(1, &x, tensor(&[&[2.0]]), |x| {
            asked = true;
            Ok(x)
        });
        assert!(asked);
        assert_eq!(sum.unwrap().computed().unwrap().to_vec2::<f32>().unwrap(), [[2.0]]);
    }
}
