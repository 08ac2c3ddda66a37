//! Amounts and times that are said with words.

use super::{tr, units::figure};
use crate::units;

/// Remaining time: `4 s left`.
pub fn time_left(seconds: f64) -> String {
    match units::remaining(seconds) {
        Some(time) => tr!("common-time-left", time = time),
        None => tr!("common-almost-done"),
    }
}

/// A part of a whole, with the unit only once if both have the same: `7.0 of 12.0 GB`, `512 MB of 8.0 GB`.
pub fn memory_of(part: u64, whole: u64) -> String {
    let (part, whole) = units::memory_pair(part, whole);
    tr!("common-part-of-whole", part = figure(&part), whole = figure(&whole))
}
