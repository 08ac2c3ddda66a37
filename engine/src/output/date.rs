//! The date in a file name.

use std::fmt;

/// A calendar day, shown as `2026-11-21`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// Year.
    pub year: i16,
    /// Month, from 1.
    pub month: i8,
    /// Day of the month, from 1.
    pub day: i8,
}

impl Date {
    /// Today in local time.
    pub fn today() -> Self {
        let today = jiff::Zoned::now().date();
        Self { year: today.year(), month: today.month(), day: today.day() }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}
