//! Files that come in pairs, one for high and one for low noise, as checkpoints and LoRAs of Wan 2.2 14B do. Their names
//! say so.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

/// A file of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoiseHalf {
    /// Whether it is the one for low noise.
    pub is_low: bool,
    /// Where the other one is, or would be.
    pub other: PathBuf,
}

impl NoiseHalf {
    /// The half that a file is by its name; `None` if it is not one of a pair. A name that only contains the word `high`
    /// or `low` counts if the other file is there.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        for (own, other, is_low) in [("high", "low", false), ("low", "high", true)] {
            let words = words(name, own);
            if words.is_empty() {
                continue;
            }
            let beside = path.with_file_name(replaced(name, &words, other));
            let folder = path.parent().and_then(Path::to_str).unwrap_or_default();
            let elsewhere = PathBuf::from(replaced(folder, &self::words(folder, own), other));
            let elsewhere = elsewhere.join(beside.file_name()?);
            let found = [&beside, &elsewhere].into_iter().find(|path| path.is_file()).cloned();
            let says_noise = words.iter().any(|word| {
                let is_capital = name[word.clone()].bytes().all(|byte| byte.is_ascii_uppercase());
                is_capital || says_noise(&name[word.end..])
            });
            if found.is_some() || says_noise {
                return Some(Self { is_low, other: found.unwrap_or(elsewhere) });
            }
        }
        None
    }
}

/// Where a word is in a text, in any case, not inside of another word; `noise` may follow it.
fn words(text: &str, word: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let is_whole = |start: usize| {
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        let is_camel =
            text.as_bytes()[start].is_ascii_uppercase() && before.ends_with(|c: char| c.is_lowercase());
        let begins = is_camel || !before.ends_with(char::is_alphabetic);
        begins && (says_noise(after) || !after.starts_with(char::is_alphabetic))
    };
    let found = lower.match_indices(word).map(|(start, _)| start).filter(|start| is_whole(*start));
    found.map(|start| start..start + word.len()).collect()
}

/// Whether what follows the word is `noise`.
fn says_noise(after: &str) -> bool {
    after.trim_start_matches(['_', '-', ' ', '.']).to_ascii_lowercase().starts_with("noise")
}

/// The text with another word in these places, in the same case.
fn replaced(text: &str, words: &[Range<usize>], other: &str) -> String {
    let mut result = text.to_owned();
    for word in words.iter().rev() {
        let own = text[word.clone()].as_bytes();
        let mut other = other.to_owned();
        if own.iter().all(u8::is_ascii_uppercase) {
            other.make_ascii_uppercase();
        } else if own[0].is_ascii_uppercase() {
            other[..1].make_ascii_uppercase();
        }
        result.replace_range(word.clone(), &other);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_by_their_names() {
        for (own, other, is_low) in [
            (
                "m/wan2.2_t2v_high_noise_14B_fp8_scaled.safetensors",
                "m/wan2.2_t2v_low_noise_14B_fp8_scaled.safetensors",
                false,
            ),
            ("LowNoise/Wan2.2-LowNoise-Q4_K_M.gguf", "HighNoise/Wan2.2-HighNoise-Q4_K_M.gguf", true),
            ("m/Wan2_2-T2V-A14B_HIGH_bf16.safetensors", "m/Wan2_2-T2V-A14B_LOW_bf16.safetensors", false),
            ("low_noise_model.safetensors", "high_noise_model.safetensors", true),
            ("wan22_lownoise.safetensors", "wan22_highnoise.safetensors", true),
        ] {
            let half = NoiseHalf::of(Path::new(own));
            assert_eq!(half, Some(NoiseHalf { is_low, other: PathBuf::from(other) }), "{own}");
        }
        for name in ["wan2.1_t2v_1.3B_fp16", "highlights", "slow_motion", "low_poly", "HIGHLAND"] {
            assert_eq!(NoiseHalf::of(Path::new(name)), None, "{name}");
        }
    }

    #[test]
    fn a_plain_word_counts_if_the_other_file_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let [high, low] =
            ["ink-high.safetensors", "ink-low.safetensors"].map(|name| folder.path().join(name));
        assert_eq!(NoiseHalf::of(&high), None);
        std::fs::write(&low, b"x").unwrap();
        assert_eq!(NoiseHalf::of(&high), Some(NoiseHalf { is_low: false, other: low }));
    }
}
