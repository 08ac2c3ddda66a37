//! The date in a file name, or of a file.

use std::{fmt, time::SystemTime};

/// A calendar day, shown as `2026-11-21`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
        Self::of(SystemTime::now())
    }

    /// The day of a moment in local time.
    pub fn of(moment: SystemTime) -> Self {
        let moment = jiff::Timestamp::try_from(moment).unwrap_or_else(|_| jiff::Timestamp::now());
        let day = moment.to_zoned(jiff::tz::TimeZone::system()).date();
        Self { year: day.year(), month: day.month(), day: day.day() }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}
