//! Formats numbers for people: two or three significant digits and a unit.

/// The size of a file or tensor, in binary units: `7.45 GiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), UNITS[unit])
}

/// An amount of memory: `7.4 GB`, `512 MB`, `0.3 MB`. A GB is 2³⁰ bytes, as graphics cards and RAM are sold.
pub fn memory(bytes: u64) -> String {
    memory_rounded(bytes, f64::round)
}

/// The same, rounded up, so that the number shown is enough.
pub fn memory_needed(bytes: u64) -> String {
    memory_rounded(bytes, f64::ceil)
}

/// A part of a whole, with the unit only once if both have the same: `7.0 of 12.0 GB`, `512 MB of 8.0 GB`.
pub fn memory_of(part: u64, whole: u64) -> String {
    let (part, whole) = memory_pair(part, whole);
    format!("{part} of {whole}")
}

/// The same as two texts.
pub fn memory_pair(part: u64, whole: u64) -> (String, String) {
    let (part, whole) = (memory(part), memory(whole));
    match (part.split_once(' '), whole.split_once(' ')) {
        (Some((number, unit)), Some((_, unit_of_whole))) if unit == unit_of_whole => {
            (number.to_owned(), whole)
        }
        _ => (part, whole),
    }
}

/// The speed of a link: `11.8 GB/s`.
pub fn speed(bytes_per_second: f64) -> String {
    let bytes = if bytes_per_second.is_finite() { bytes_per_second.max(0.0) } else { 0.0 };
    format!("{}/s", memory(bytes as u64))
}

/// A common unit for several amounts of memory, to make them comparable and write the unit only once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryUnit {
    /// 2²⁰ bytes.
    Megabytes,
    /// 2³⁰ bytes.
    Gigabytes,
}

impl MemoryUnit {
    /// The unit that suits the largest amount.
    pub fn for_most(bytes: u64) -> Self {
        if bytes < 1 << 30 { Self::Megabytes } else { Self::Gigabytes }
    }

    /// Its symbol, such as `GB`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Megabytes => "MB",
            Self::Gigabytes => "GB",
        }
    }

    /// Bytes per unit.
    pub fn bytes(self) -> f64 {
        match self {
            Self::Megabytes => f64::from(1_u32 << 20),
            Self::Gigabytes => f64::from(1_u32 << 30),
        }
    }

    /// An amount without its unit.
    pub fn number(self, bytes: u64) -> String {
        let value = bytes as f64 / self.bytes();
        let digits = if value < 99.95 { 1 } else { 0 };
        format!("{value:.digits$}")
    }
}

fn memory_rounded(bytes: u64, round: fn(f64) -> f64) -> String {
    let megabytes = bytes as f64 / f64::from(1_u32 << 20);
    match megabytes {
        0.0 => "0 MB".to_owned(),
        ..9.95 => format!("{:.1} MB", round(10.0 * megabytes).max(1.0) / 10.0),
        ..999.5 => format!("{:.0} MB", round(megabytes)),
        ..102_348.8 => format!("{:.1} GB", round(10.0 * megabytes / 1024.0) / 10.0),
        _ => format!("{:.0} GB", round(megabytes / 1024.0)),
    }
}

/// A number of things by their name in the singular: `1 step`, `12 steps`.
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A number of weights, in units of 1000: `6.15 B` is six billion.
pub fn count(count: u64) -> String {
    const UNITS: [&str; 4] = ["k", "M", "B", "T"];
    if count < 1000 {
        return count.to_string();
    }
    let mut value = count as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), UNITS[unit])
}

/// A time: `4.2 ms`, `0.32 s`, `38 s`, `2 min 5 s`, `1 h 3 min`.
pub fn seconds(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "0 s".to_owned();
    }
    if seconds < 0.0995 {
        let milliseconds = 1000.0 * seconds;
        let digits = if milliseconds > 0.0 && milliseconds < 9.95 { 1 } else { 0 };
        return format!("{milliseconds:.digits$} ms");
    }
    if seconds < 9.95 {
        let digits = if seconds < 0.995 { 2 } else { 1 };
        return format!("{seconds:.digits$} s");
    }
    whole_seconds(seconds.round() as u64)
}

/// A time in microseconds, in the same format.
pub fn micros(micros: u64) -> String {
    seconds(micros as f64 / 1e6)
}

/// Remaining time: `4 s left`.
pub fn time_left(seconds: f64) -> String {
    remaining(seconds).map_or_else(|| "almost done".to_owned(), |time| format!("{time} left"))
}

/// The same without words, until it is almost done.
pub fn remaining(seconds: f64) -> Option<String> {
    let whole = if seconds < 9.95 { seconds.ceil() } else { seconds.round() };
    (seconds >= 1.0).then(|| whole_seconds(whole as u64))
}

fn whole_seconds(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn three_digits(value: f64) -> String {
    let digits = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}

/// A share from 0 to 1 as a percentage: `0.52%`, `2.3%`, `50%`.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        0.005..0.995 => format!("{percent:.2}%"),
        0.995..9.95 => format!("{percent:.1}%"),
        9.95.. => format!("{percent:.0}%"),
        _ => "0%".to_owned(),
    }
}

/// A setting with at most two decimals: `2`, `3.25`.
pub fn number(value: f32) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A message without the numbers of system errors, which follow their words.
pub fn without_numbers(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_lose_their_numbers() {
        let message =
            "a.png cannot be read: No such file or directory (os error 2); b.png: Denied (os error 13)";
        let said = "a.png cannot be read: No such file or directory; b.png: Denied";
        assert_eq!(without_numbers(message), said);
        assert_eq!(without_numbers("nothing of that"), "nothing of that");
    }

    #[test]
    fn bytes_have_binary_units() {
        for (number, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (10_235, "10.0 KiB"),
            (1_023_999, "0.98 MiB"),
            (1 << 20, "1.00 MiB"),
            (8_000_000_000, "7.45 GiB"),
            (23_670_000_000, "22.0 GiB"),
            (141 << 30, "141 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn memory_is_in_the_units_it_is_sold_in() {
        for (number, text) in [
            (0, "0 MB"),
            (1, "0.1 MB"),
            (3 << 19, "1.5 MB"),
            (10 << 20, "10 MB"),
            (999 << 20, "999 MB"),
            (1023 << 20, "1.0 GB"),
            (8 << 30, "8.0 GB"),
            (15 << 29, "7.5 GB"),
            (150 << 20, "150 MB"),
            (64 << 30, "64.0 GB"),
            (128 << 30, "128 GB"),
        ] {
            assert_eq!(memory(number), text);
        }
        assert_eq!(memory_needed((2 << 30) + 1), "2.1 GB");
        assert_eq!(memory_needed((20 << 20) + 1), "21 MB");
        assert_eq!(memory_needed(1), "0.1 MB");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "slot")), ["0 slots", "1 slot", "2 slots"]);
    }

    #[test]
    fn counts_have_decimal_units() {
        for (number, text) in [
            (999, "999"),
            (1000, "1.00 k"),
            (999_499, "999 k"),
            (999_500, "1.00 M"),
            (6_154_908_736, "6.15 B"),
            (u64::MAX, "18446744 T"),
        ] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn times_are_as_exact_as_they_need_to_be() {
        for (number, text) in [
            (0.0, "0 ms"),
            (0.0042, "4.2 ms"),
            (0.099, "99 ms"),
            (0.0996, "0.10 s"),
            (0.321, "0.32 s"),
            (1.04, "1.0 s"),
            (9.96, "10 s"),
            (59.6, "1 min"),
            (125.0, "2 min 5 s"),
            (3780.0, "1 h 3 min"),
            (f64::NAN, "0 s"),
        ] {
            assert_eq!(seconds(number), text);
        }
    }

    #[test]
    fn what_is_left_is_said_in_whole_seconds() {
        for (number, text) in
            [(0.4, "almost done"), (3.2, "4 s left"), (22.0, "22 s left"), (80.0, "1 min 20 s left")]
        {
            assert_eq!(time_left(number), text);
        }
        for (number, text) in [(0, "0 ms"), (1234, "1.2 ms"), (45_600, "46 ms"), (3_200_000, "3.2 s")] {
            assert_eq!(micros(number), text);
        }
    }

    #[test]
    fn a_unit_that_both_have_is_said_once() {
        assert_eq!(memory_of(7 << 30, 12 << 30), "7.0 of 12.0 GB");
        assert_eq!(memory_of(512 << 20, 8 << 30), "512 MB of 8.0 GB");
        let unit = MemoryUnit::for_most(12 << 30);
        assert_eq!((unit.name(), unit.number(512 << 20)), ("GB", "0.5".to_owned()));
        let unit = MemoryUnit::for_most(10 << 20);
        assert_eq!((unit.name(), unit.number(3 << 19)), ("MB", "1.5".to_owned()));
        assert_eq!(unit.number(8 << 30), "8192");
        assert_eq!(speed(12_670_153_523.0), "11.8 GB/s");
    }

    #[test]
    fn shares_and_settings_have_no_digits_that_say_nothing() {
        for (share, text) in [
            (0.0, "0%"),
            (0.00004, "0%"),
            (0.0052, "0.52%"),
            (0.0213, "2.1%"),
            (0.5, "50%"),
            (f64::NAN, "0%"),
        ] {
            assert_eq!(percent(share), text);
        }
        assert_eq!((number(2.0), number(3.25)), ("2".to_owned(), "3.25".to_owned()));
    }
}
