//! What memory held, in little room.

use sluice_engine::telemetry::MemorySample;

/// One sample, or several in a row. Peaks and valleys of both tracks survive, however many samples a point
/// stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPoint {
    /// The first sample's time.
    pub from: u64,
    /// The last sample's time.
    pub to: u64,
    /// On the device (`at`, `weights`, `activations`, `others`), the sample with the greatest total. In the host
    /// (`host`, `pinned`), the one with the greatest `host`; of the process, the greatest `process`. Each group
    /// is from one moment, so it can be stacked.
    pub peak: MemorySample,
    /// The most bytes of weights and activations, which may be in another sample than the greatest total.
    pub most_own: u64,
    /// The least total on the device.
    pub least_device: u64,
    /// The least `host`.
    pub least_host: u64,
}

impl MemoryPoint {
    /// A point for one sample.
    pub fn new(sample: MemorySample) -> Self {
        Self {
            from: sample.at,
            to: sample.at,
            peak: sample,
            most_own: own(&sample),
            least_device: total(&sample),
            least_host: sample.host,
        }
    }

    pub(super) fn include(&mut self, later: &Self) {
        let peak = &mut self.peak;
        if total(&later.peak) > total(peak) {
            let MemorySample { at, weights, activations, others, .. } = later.peak;
            *peak = MemorySample { at, weights, activations, others, ..*peak };
        }
        if later.peak.host > peak.host {
            (peak.host, peak.pinned) = (later.peak.host, later.peak.pinned);
        }
        peak.process = peak.process.max(later.peak.process);
        self.to = later.to;
        self.most_own = self.most_own.max(later.most_own);
        self.least_device = self.least_device.min(later.least_device);
        self.least_host = self.least_host.min(later.least_host);
    }
}

fn own(sample: &MemorySample) -> u64 {
    sample.weights.saturating_add(sample.activations)
}

fn total(sample: &MemorySample) -> u64 {
    own(sample).saturating_add(sample.others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_and_host_keep_their_peaks_from_different_moments() {
        let mut point = MemoryPoint::new(MemorySample {
            at: 1,
            weights: 10,
            activations: 5,
            others: 1,
            host: 100,
            pinned: 60,
            process: 7,
        });
        let later =
            MemorySample { at: 2, weights: 4, others: 20, host: 90, pinned: 90, ..Default::default() };
        point.include(&MemoryPoint::new(later));
        let peak = MemorySample { host: 100, pinned: 60, process: 7, ..later };
        assert_eq!(
            point,
            MemoryPoint { from: 1, to: 2, peak, most_own: 15, least_device: 16, least_host: 90 }
        );
    }
}
