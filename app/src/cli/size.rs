//! Parses amounts of memory as people write them.

const KB: f64 = 1024.0;
const MB: f64 = 1024.0 * KB;
const GB: f64 = 1024.0 * MB;
const TB: f64 = 1024.0 * GB;

/// Parses `12`, `7.5`, `8GB`, `8 GiB` or `512MB` to bytes. A bare number is in GB. Both GB and GiB mean 2³⁰
/// bytes, as VRAM is sold.
pub(super) fn gigabytes(text: &str) -> Result<u64, String> {
    bytes(text, GB)
}

/// The same, but a bare number is in MB.
pub(super) fn megabytes(text: &str) -> Result<u64, String> {
    bytes(text, MB)
}

fn bytes(text: &str, unit_of_bare_numbers: f64) -> Result<u64, String> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len()));
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" => unit_of_bare_numbers,
        "b" => 1.0,
        "k" | "kb" | "kib" => KB,
        "m" | "mb" | "mib" => MB,
        "g" | "gb" | "gib" => GB,
        "t" | "tb" | "tib" => TB,
        _ => return Err("expected a number with GB or MB, such as 7.5GB or 512MB".to_owned()),
    };
    match number.trim_end().parse::<f64>() {
        Ok(number) if number.is_sign_negative() => Err("an amount of memory cannot be negative".to_owned()),
        Ok(number) if number * unit > 1024.0 * TB => Err("no machine has that much memory".to_owned()),
        Ok(number) => Ok((number * unit).round() as u64),
        Err(_) => Err("expected a number, such as 12, 7.5GB or 512MB".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_understood_as_people_write_them() {
        for (text, expected) in [
            ("8", 8 << 30),
            ("7.5", 15 << 29),
            ("8GB", 8 << 30),
            ("8 GiB", 8 << 30),
            ("0.5gb", 1 << 29),
            ("512MB", 512 << 20),
            ("512m", 512 << 20),
            ("100KiB", 100 << 10),
            ("4096B", 4096),
            ("1TB", 1 << 40),
            ("0", 0),
        ] {
            assert_eq!(gigabytes(text), Ok(expected), "{text}");
        }
        assert_eq!(megabytes("512"), Ok(512 << 20));
        assert_eq!(megabytes("1GB"), Ok(1 << 30));
    }

    #[test]
    fn what_is_no_amount_is_refused_in_words() {
        for (text, word) in [
            ("", "expected a number,"),
            ("lots", "expected a number with GB"),
            ("8 GHz", "expected a number with GB"),
            ("-1", "negative"),
            ("-0", "negative"),
            ("1.2.3", "expected a number,"),
            ("9999999TB", "no machine"),
        ] {
            assert!(gigabytes(text).unwrap_err().contains(word), "{text}");
        }
    }
}
