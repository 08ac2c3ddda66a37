//! The columns of the timeline: no more than can be distinguished, cached until the history changes.

use sluice_engine::{session::JobId, telemetry::MemorySample};

use crate::window::{history::MemoryPoint, state::Watch};

/// Maximum number of columns.
pub const COLUMNS: usize = 1024;

/// Memory use in an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Start in seconds.
    pub from: f64,
    /// Start of the next column.
    pub to: f64,
    /// The maximum in the interval; device and host each from a single moment.
    pub peak: MemorySample,
}

impl Column {
    /// Bytes on the device.
    pub fn device(&self) -> u64 {
        let MemorySample { weights, activations, others, .. } = self.peak;
        weights.saturating_add(activations).saturating_add(others)
    }

    fn new(point: &MemoryPoint) -> Self {
        Self { from: seconds(point.from), to: seconds(point.to), peak: point.peak }
    }

    fn include(&mut self, later: Self) {
        let MemorySample { at, weights, activations, others, host, pinned, process } = later.peak;
        if later.device() > self.device() {
            self.peak = MemorySample { at, weights, activations, others, ..self.peak };
        }
        if host > self.peak.host {
            (self.peak.host, self.peak.pinned) = (host, pinned);
        }
        self.peak.process = self.peak.process.max(process);
        self.to = later.to;
    }
}

/// A section of a history in columns.
#[derive(Debug, Default)]
pub struct Series {
    columns: Vec<Column>,
    made_of: Option<(JobId, u64, (f64, f64))>,
}

impl Series {
    /// The columns of a section of a run, in seconds. The outer ones may extend beyond it.
    pub fn of(&mut self, run: &Watch, part: (f64, f64)) -> &[Column] {
        let made_of = Some((run.job, run.version, part));
        if self.made_of != made_of {
            self.fill(run.history.memory(), part);
            self.made_of = made_of;
        }
        &self.columns
    }

    /// The columns drawn last.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Memory use at a moment.
    pub fn at(&self, seconds: f64) -> Option<&Column> {
        let after = self.columns.partition_point(|column| column.from <= seconds);
        self.columns.get(after.saturating_sub(1))
    }

    fn fill(&mut self, points: &[MemoryPoint], (start, end): (f64, f64)) {
        let first = points.partition_point(|point| seconds(point.to) < start).saturating_sub(1);
        // The point after the section gives the end of its last column.
        let last = (points.partition_point(|point| seconds(point.from) <= end) + 1).min(points.len());
        let points = &points[first..last.max(first)];
        self.columns.clear();
        for group in points.chunks(points.len().div_ceil(COLUMNS).max(1)) {
            let mut parts = group.iter().map(Column::new);
            let Some(mut column) = parts.next() else { continue };
            parts.for_each(|part| column.include(part));
            if let Some(before) = self.columns.last_mut() {
                before.to = column.from;
                if same(&before.peak, &column.peak) {
                    before.to = column.to;
                    continue;
                }
            }
            self.columns.push(column);
        }
    }
}

fn same(a: &MemorySample, b: &MemorySample) -> bool {
    MemorySample { at: b.at, ..*a } == *b
}

fn seconds(micros: u64) -> f64 {
    micros as f64 * 1e-6
}

#[cfg(test)]
mod tests {
    use sluice_engine::telemetry::TelemetryEvent;

    use super::*;
    use crate::window::history::History;

    fn run(weights: impl Iterator<Item = u64>) -> Watch {
        let mut history = History::new();
        for (index, weights) in weights.enumerate() {
            let at = index as u64 * 20_000;
            history.push(&TelemetryEvent::Memory(MemorySample { at, weights, ..MemorySample::default() }));
        }
        Watch { job: JobId(1), history, over: false, version: 1 }
    }

    #[test]
    fn neighbours_that_are_alike_share_a_column_and_columns_leave_no_gap() {
        let run = run([5, 5, 5, 9, 9, 2].into_iter());
        let mut series = Series::default();
        let columns = series.of(&run, (0.0, 1.0));
        let heights: Vec<_> = columns.iter().map(|column| column.peak.weights).collect();
        assert_eq!(heights, [5, 9, 2]);
        assert!(columns.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert_eq!(series.at(0.07).map(|column| column.peak.weights), Some(9));
        assert_eq!(series.at(-1.0).map(|column| column.peak.weights), Some(5));
    }

    #[test]
    fn a_long_run_has_no_more_columns_than_can_be_told_apart_and_keeps_its_peak() {
        let run = run((0..200_000).map(|index| if index == 77_777 { 1 << 40 } else { index % 7 }));
        let mut series = Series::default();
        let columns = series.of(&run, (0.0, 4000.0));
        assert!(columns.len() <= COLUMNS);
        assert!(columns.iter().any(|column| column.peak.weights == 1 << 40));
    }

    #[test]
    fn a_part_of_the_run_is_drawn_from_its_own_points() {
        let run = run(0..3000);
        let mut series = Series::default();
        let columns = series.of(&run, (10.0, 12.0));
        assert!((95..=112).contains(&columns.len()), "{}", columns.len());
        assert!(columns[0].from <= 10.0 && columns.last().unwrap().to >= 11.9);
    }

    #[test]
    fn what_has_not_changed_is_kept() {
        let mut run = run(0..10);
        let mut series = Series::default();
        assert_eq!(series.of(&run, (0.0, 1.0)).len(), 10);
        run.history = History::new();
        assert_eq!(series.of(&run, (0.0, 1.0)).len(), 10, "nobody said that it changed");
        run.version += 1;
        assert_eq!(series.of(&run, (0.0, 1.0)).len(), 0);
    }
}
