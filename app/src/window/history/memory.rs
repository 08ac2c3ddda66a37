//! A compact history of memory use.

use sluice_engine::telemetry::MemorySample;

/// One sample, or several consecutive ones. Peaks and valleys on the device and the host survive, however
/// many samples a point represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPoint {
    /// Time of the first sample.
    pub from: u64,
    /// Time of the last sample.
    pub to: u64,
    /// For the device (`at`, `weights`, `activations`, `others`), the sample with the greatest total. For the
    /// host (`host`, `pinned`), the sample with the greatest `host`. For the process, the greatest `process`.
    /// Each group is from a single moment, so it can be stacked.
    pub peak: MemorySample,
    /// The maximum of weights plus activations in bytes, which may be from another sample than the greatest
    /// total.
    pub most_own: u64,
    /// The smallest total on the device.
    pub least_device: u64,
    /// The smallest `host`.
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
