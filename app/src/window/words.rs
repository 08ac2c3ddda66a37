//! Numbers in words.

use sluice_engine::request::ComputeDtype;

/// What is computed in.
pub fn precision(dtype: ComputeDtype) -> &'static str {
    match dtype {
        ComputeDtype::F32 => "32 bit",
        ComputeDtype::Bf16 => "16 bit (bf16)",
        ComputeDtype::F16 => "16 bit (f16)",
    }
}

/// Bytes in GB of 2³⁰, as cards and memory are sold, with one digit.
pub fn gigabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1_u32 << 30))
}

/// Bytes in GB of 2³⁰ with the digits that say something, from the smallest model to the largest card.
pub fn gb(bytes: u64) -> String {
    let value = bytes as f64 / f64::from(1_u32 << 30);
    match value {
        0.0 => "0".to_owned(),
        _ if value < 0.0995 => format!("{value:.3}"),
        _ if value < 0.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Bytes that are missing, in GB: never less than they are.
pub fn missing_gb(bytes: u64) -> String {
    let gib = f64::from(1_u32 << 30);
    let grain = if bytes as f64 >= 0.0995 * gib { gib / 10.0 } else { gib / 1000.0 };
    gb(((bytes as f64 / grain).ceil() * grain) as u64)
}

/// Two amounts of bytes as a part of a whole, with the unit once.
pub fn of_gb(part: u64, whole: u64) -> String {
    format!("{} of {} GB", gb(part), gb(whole))
}

/// How long something takes that may be shorter than a second.
pub fn pace(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        "0 s".to_owned()
    } else if seconds < 0.0995 {
        format!("{:.0} ms", seconds * 1e3)
    } else if seconds < 0.995 {
        format!("{seconds:.2} s")
    } else {
        duration(seconds)
    }
}

/// A time of a block, which may be microseconds.
pub fn micros(micros: u64) -> String {
    match micros {
        0..10_000 => format!("{:.1} ms", micros as f64 / 1e3),
        10_000..1_000_000 => format!("{:.0} ms", micros as f64 / 1e3),
        _ => pace(micros as f64 / 1e6),
    }
}

/// How much a link moves.
pub fn speed(bytes_per_second: f64) -> String {
    let bytes = if bytes_per_second.is_finite() { bytes_per_second.max(0.0) } else { 0.0 };
    format!("{} GB/s", gb(bytes as u64))
}

/// A share, 0…1.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() || percent < 0.05 {
        return "0 %".to_owned();
    }
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A duration as it would be said.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "0 s".to_owned();
    }
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 9.95 => format!("{seconds:.1} s"),
        0..60 => format!("{whole} s"),
        60..3600 if whole.is_multiple_of(60) => format!("{} min", whole / 60),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// What is left, without false precision.
pub fn time_left(seconds: f64) -> String {
    if seconds < 1.0 {
        "about to finish".to_owned()
    } else {
        format!(
            "{} left",
            duration(if seconds < 9.95 { seconds.ceil().max(1.0) } else { seconds }).replace(".0 s", " s")
        )
    }
}

/// A guidance or similar, with no digits that say nothing.
pub fn number(value: f32) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_rounded_as_they_grow() {
        for (seconds, said) in [
            (0.34, "0.3 s"),
            (9.96, "10 s"),
            (59.4, "59 s"),
            (60.2, "1 min"),
            (80.0, "1 min 20 s"),
            (3900.0, "1 h 5 min"),
            (f64::NAN, "0 s"),
        ] {
            assert_eq!(duration(seconds), said);
        }
        assert_eq!(time_left(0.4), "about to finish");
        assert_eq!(time_left(3.2), "4 s left");
        assert_eq!(time_left(22.0), "22 s left");
        assert_eq!(number(2.0), "2");
        assert_eq!(number(3.25), "3.25");
    }

    #[test]
    fn small_amounts_keep_their_digits() {
        let gib = f64::from(1_u32 << 30);
        for (size, said) in
            [(0.0, "0"), (0.0342, "0.034"), (0.5, "0.50"), (7.42, "7.4"), (99.97, "100"), (128.0, "128")]
        {
            assert_eq!(gb((size * gib) as u64), said);
        }
        assert_eq!(missing_gb((24.71 * gib) as u64), "24.8");
        assert_eq!(missing_gb((0.0333 * gib) as u64), "0.034");
        assert_eq!(missing_gb(100), "0.001");
        assert_eq!(of_gb(gib as u64 * 7, gib as u64 * 12), "7.0 of 12.0 GB");
        for (seconds, said) in [(0.034, "34 ms"), (0.34, "0.34 s"), (3.2, "3.2 s"), (80.0, "1 min 20 s")] {
            assert_eq!(pace(seconds), said);
        }
        for (time, said) in [(0, "0.0 ms"), (1234, "1.2 ms"), (45_600, "46 ms"), (3_200_000, "3.2 s")] {
            assert_eq!(micros(time), said);
        }
        assert_eq!(speed(11.8 * gib), "11.8 GB/s");
        assert_eq!(percent(0.0213), "2.1 %");
        assert_eq!(percent(0.5), "50 %");
    }
}
