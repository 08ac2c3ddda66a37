//! Numbers for people: three digits that count and a unit.

/// Bytes, in units of 1024: `7.45 GiB`.
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

/// Bytes of memory as cards and memory are sold, a GB being 2³⁰ bytes: `7.4 GB`, `512 MB`, `0.3 MB`.
pub fn memory(bytes: u64) -> String {
    memory_rounded(bytes, f64::round)
}

/// The same, rounded up: what is needed is enough as it is said.
pub fn memory_needed(bytes: u64) -> String {
    memory_rounded(bytes, f64::ceil)
}

fn memory_rounded(bytes: u64, round: fn(f64) -> f64) -> String {
    let megabytes = bytes as f64 / f64::from(1_u32 << 20);
    match megabytes {
        0.0 => "0 MB".to_owned(),
        ..9.95 => format!("{:.1} MB", round(10.0 * megabytes).max(1.0) / 10.0),
        ..999.5 => format!("{:.0} MB", round(megabytes)),
        _ => format!("{:.1} GB", round(10.0 * megabytes / 1024.0) / 10.0),
    }
}

/// A count of weights, in units of 1000: `6.15 B` are six billion.
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
    if seconds < 0.0995 {
        let milliseconds = 1000.0 * seconds;
        let digits = if milliseconds > 0.0 && milliseconds < 9.95 { 1 } else { 0 };
        return format!("{milliseconds:.digits$} ms");
    }
    if seconds < 9.95 {
        let digits = if seconds < 0.995 { 2 } else { 1 };
        return format!("{seconds:.digits$} s");
    }
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
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

/// A small part of a whole: `2.3 %`, or `0.52 %`.
pub(super) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent < 0.995 { format!("{percent:.2} %") } else { format!("{percent:.1} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (64 << 30, "64.0 GB"),
        ] {
            assert_eq!(memory(number), text);
        }
        assert_eq!(memory_needed((2 << 30) + 1), "2.1 GB");
        assert_eq!(memory_needed((20 << 20) + 1), "21 MB");
        assert_eq!(memory_needed(1), "0.1 MB");
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
            (59.6, "1 min 0 s"),
            (125.0, "2 min 5 s"),
            (3780.0, "1 h 3 min"),
        ] {
            assert_eq!(seconds(number), text);
        }
    }
}
