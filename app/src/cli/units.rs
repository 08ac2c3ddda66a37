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

/// A time: `0.32 s`, `38 s`, `2 min 5 s`, `1 h 3 min`.
pub fn seconds(seconds: f64) -> String {
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
            (0.0, "0.00 s"),
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
