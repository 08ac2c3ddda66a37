//! The transfer rate over the last second.

use sluice_engine::telemetry::BlockRecord;

/// Microseconds per bin.
const BIN: u64 = 50_000;
/// Bins per second.
const BINS: usize = 20;
const SECOND: u64 = BIN * BINS as u64;

/// Bytes moved in each twentieth of the last second.
#[derive(Debug, Clone, Default)]
pub struct LinkRate {
    bins: [f64; BINS],
    /// End of the latest known copy.
    newest: u64,
    /// End and duration of the use that it was for.
    used: u64,
    took: u64,
}

impl LinkRate {
    /// Adds the copy of a record, spread over its duration before the moment when the forward pass had the
    /// weights.
    pub fn add(&mut self, record: &BlockRecord) {
        let end = record.at.saturating_add(record.wait);
        self.took = record.wait.saturating_add(record.compute);
        self.used = self.used.max(record.at.saturating_add(self.took));
        if record.bytes == 0 {
            return;
        }
        self.go_on_to(end);
        let load = record.load.max(1);
        let per_microsecond = record.bytes as f64 / load as f64;
        let newest = self.newest / BIN;
        let oldest = newest.saturating_sub(BINS as u64 - 1);
        let start = end.saturating_sub(load);
        for bin in oldest.max(start / BIN)..=(end / BIN) {
            let from = start.max(bin * BIN);
            let to = end.min((bin * BIN).saturating_add(BIN));
            self.bins[index(bin)] += to.saturating_sub(from) as f64 * per_microsecond;
        }
    }

    /// Bytes per second over the second before the end of the latest known copy; 0 if copying has stopped.
    pub fn bytes_per_second(&self, now: u64) -> f64 {
        let patience = SECOND.saturating_add(self.took.saturating_mul(2));
        if self.newest == 0 || now > self.used.saturating_add(patience) {
            return 0.0;
        }
        let oldest = (self.newest / BIN).saturating_sub(BINS as u64 - 1) * BIN;
        self.bins.iter().sum::<f64>() / ((self.newest - oldest).max(1) as f64 * 1e-6)
    }

    fn go_on_to(&mut self, end: u64) {
        if end <= self.newest {
            return;
        }
        let (before, after) = (self.newest / BIN, end / BIN);
        for bin in (before + 1..=after).rev().take(BINS) {
            self.bins[index(bin)] = 0.0;
        }
        self.newest = end;
    }
}

fn index(bin: u64) -> usize {
    (bin % BINS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::super::samples::{record, streamed};
    use super::*;

    #[test]
    fn a_steady_flow_is_measured_as_it_is() {
        let mut rate = LinkRate::default();
        for number in 0..1000 {
            let at = number * 10_000;
            rate.add(&BlockRecord { load: 10_000, bytes: 40_000, ..streamed(at, 0, 0, 0) });
        }
        let measured = rate.bytes_per_second(9_990_000);
        assert!((measured / 4e6 - 1.0).abs() < 0.01, "{measured}");
    }

    #[test]
    fn one_long_copy_counts_with_its_own_speed() {
        let mut rate = LinkRate::default();
        let long =
            BlockRecord { wait: 5_000_000, load: 5_000_000, bytes: 10_000_000, ..streamed(0, 0, 0, 0) };
        rate.add(&long);
        let measured = rate.bytes_per_second(5_000_000);
        assert!((measured / 2e6 - 1.0).abs() < 0.01, "{measured}");
    }

    #[test]
    fn a_flow_that_stopped_is_zero_after_a_second() {
        let mut rate = LinkRate::default();
        assert_eq!(rate.bytes_per_second(0), 0.0);
        rate.add(&BlockRecord { load: 100_000, ..streamed(100_000, 0, 0, 0) });
        assert!(rate.bytes_per_second(200_000) > 0.0);
        assert_eq!(rate.bytes_per_second(1_200_000), 0.0);
    }

    #[test]
    fn resident_blocks_move_nothing() {
        let mut rate = LinkRate::default();
        rate.add(&record(100_000, 0, 0));
        assert_eq!(rate.bytes_per_second(100_000), 0.0);
    }
}
