//! Series of bounded length.

use sluice_engine::telemetry::StepRecord;

use super::MemoryPoint;

/// A point that can represent several consecutive observations.
pub trait Merge {
    /// Merges a later point into this one. Extremes of either must survive.
    fn merge(&mut self, later: &Self);
}

impl Merge for MemoryPoint {
    fn merge(&mut self, later: &Self) {
        self.include(later);
    }
}

impl Merge for StepRecord {
    /// Keeps the slower one.
    fn merge(&mut self, later: &Self) {
        if later.took > self.took {
            *self = *later;
        }
    }
}

/// A series of at most `capacity` points. When it is full, neighbours are merged in pairs, and from then on
/// each point represents twice as many observations.
#[derive(Debug, Clone)]
pub struct Decimated<T> {
    points: Vec<T>,
    capacity: usize,
    stride: u64,
    /// Number of observations in the last point.
    in_last: u64,
}

impl<T: Merge + Clone> Decimated<T> {
    /// An empty series; the capacity is rounded to an even number.
    pub fn new(capacity: usize) -> Self {
        Self { points: Vec::new(), capacity: capacity.max(2).next_multiple_of(2), stride: 1, in_last: 0 }
    }

    /// Adds an observation.
    pub fn push(&mut self, point: T) {
        if self.in_last < self.stride
            && let Some(last) = self.points.last_mut()
        {
            last.merge(&point);
            self.in_last += 1;
            return;
        }
        if self.points.len() == self.capacity {
            self.halve();
        }
        self.points.push(point);
        self.in_last = 1;
    }

    fn halve(&mut self) {
        for index in 0..self.points.len() / 2 {
            let mut merged = self.points[2 * index].clone();
            merged.merge(&self.points[2 * index + 1]);
            self.points[index] = merged;
        }
        self.points.truncate(self.points.len() / 2);
        self.stride *= 2;
    }

    /// The points in the order of observation.
    pub fn points(&self) -> &[T] {
        &self.points
    }

    /// Number of observations per point; the last point may have fewer.
    pub fn stride(&self) -> u64 {
        self.stride
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Range {
        first: usize,
        last: usize,
        most: u32,
    }

    impl Merge for Range {
        fn merge(&mut self, later: &Self) {
            assert_eq!(self.last + 1, later.first, "neighbours are merged in their order");
            self.last = later.last;
            self.most = self.most.max(later.most);
        }
    }

    proptest! {
        #[test]
        fn every_observation_is_in_one_point_and_the_most_stays(
            values in vec(any::<u32>(), 0..300),
            capacity in 0..20usize,
        ) {
            let mut series = Decimated::new(capacity);
            for (index, &most) in values.iter().enumerate() {
                series.push(Range { first: index, last: index, most });
            }
            let points = series.points();
            prop_assert!(points.len() <= capacity.max(2).next_multiple_of(2));
            let mut next = 0;
            for (index, point) in points.iter().enumerate() {
                prop_assert_eq!(point.first, next);
                prop_assert_eq!(Some(&point.most), values[point.first..=point.last].iter().max());
                if index + 1 < points.len() {
                    prop_assert_eq!((point.last + 1 - point.first) as u64, series.stride());
                }
                next = point.last + 1;
            }
            prop_assert_eq!(next, values.len());
        }
    }

    #[test]
    fn of_two_steps_the_slower_one_stays() {
        let step = |step, took| StepRecord { at: 0, step, steps: 9, took, wait: 0, bytes: 0, reused: 0 };
        let mut series = Decimated::new(2);
        [(1, 5), (2, 9), (3, 7), (4, 6)]
            .into_iter()
            .for_each(|(number, took)| series.push(step(number, took)));
        assert_eq!(series.points(), [step(2, 9), step(3, 7)]);
    }
}
