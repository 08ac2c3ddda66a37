//! Numbers in words.

/// Bytes in GB of 2³⁰, as cards and memory are sold, with one digit.
pub fn gigabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1_u32 << 30))
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
}
