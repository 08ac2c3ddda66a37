//! Guidance options of an order, besides the scale.

use sluice_engine::request::{GuidanceOptions, Interval};

use super::Order;

impl Order {
    /// The options, with the usual ones for those that are left out.
    pub(super) fn guiding(&self, usual: GuidanceOptions) -> GuidanceOptions {
        GuidanceOptions {
            rescale: self.guidance_rescale.unwrap_or(usual.rescale),
            interval: Interval {
                start: self.guidance_start.unwrap_or(usual.interval.start),
                end: self.guidance_end.unwrap_or(usual.interval.end),
            },
            true_cfg: self.true_cfg.unwrap_or(usual.true_cfg),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_as_usual() {
        let usual = GuidanceOptions { rescale: 0.5, true_cfg: 2.0, ..GuidanceOptions::default() };
        assert_eq!(Order::default().guiding(usual), usual);
        let order: Order = serde_json::from_str(r#"{"guidance_end": 0.75, "true_cfg": 4}"#).unwrap();
        let given = GuidanceOptions { interval: Interval { start: 0.0, end: 0.75 }, true_cfg: 4.0, ..usual };
        assert_eq!(order.guiding(usual), given);
    }
}
