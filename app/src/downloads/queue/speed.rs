//! How fast bytes arrive.

use std::time::Instant;

use super::EVERY;

/// The time over which the speed is averaged, in seconds.
const AVERAGED: f64 = 4.0;

/// A mean of the last seconds.
#[derive(Debug, Default)]
pub(super) struct Speed {
    rate: f64,
    last: Option<Instant>,
    pending: u64,
}

impl Speed {
    pub(super) fn add(&mut self, bytes: u64, now: Instant) {
        self.pending += bytes;
        let Some(last) = self.last else {
            self.last = Some(now);
            return;
        };
        let seconds = now.duration_since(last).as_secs_f64();
        if seconds >= EVERY.as_secs_f64() {
            let share = if self.rate > 0.0 { 1.0 - (-seconds / AVERAGED).exp() } else { 1.0 };
            self.rate += share * (self.pending as f64 / seconds - self.rate);
            (self.last, self.pending) = (Some(now), 0);
        }
    }

    pub(super) fn at(&self, now: Instant) -> f64 {
        const STALE: f64 = 3.0;
        let is_fresh = self.last.is_some_and(|last| now.duration_since(last).as_secs_f64() < STALE);
        if is_fresh { self.rate } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_speed_is_a_mean_of_the_last_seconds() {
        let start = Instant::now();
        let mut speed = Speed::default();
        for step in 0..=40 {
            speed.add(if step == 0 { 0 } else { 100_000 }, start + Duration::from_millis(250 * step));
        }
        let end = start + Duration::from_secs(10);
        assert!((speed.at(end) / 400_000.0 - 1.0).abs() < 0.01, "{}", speed.at(end));
        assert_eq!(speed.at(end + Duration::from_secs(5)), 0.0);
    }
}
