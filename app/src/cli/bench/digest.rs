//! Digests of images and latents, for comparing runs.

use std::{fs, path::Path};

use anyhow::Context;
use serde_json::Value;

/// FNV-1a over bytes: the same on every machine.
pub(super) fn digest<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let hash = parts.flatten().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The digest of the latents after each step, from the dump of a run.
///
/// # Errors
/// Fails if the file cannot be read, or is not such a dump.
pub(super) fn latents_digest(file: &Path) -> anyhow::Result<String> {
    let damaged = || format!("{} is not a tensor dump of a run", file.display());
    let bytes = fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let (length, rest) = bytes.split_first_chunk().with_context(damaged)?;
    let header = rest.get(..u64::from_le_bytes(*length) as usize).with_context(damaged)?;
    let described: serde_json::Map<String, Value> = serde_json::from_slice(header)?;
    let values = &rest[header.len()..];
    let mut latents = Vec::new();
    for (name, row) in &described {
        if !(name.starts_with("step.") && name.ends_with(".latents")) {
            continue;
        }
        let place = |index: usize| row["data_offsets"][index].as_u64().map(|offset| offset as usize);
        let range = place(0).with_context(damaged)?..place(1).with_context(damaged)?;
        latents.push((name, values.get(range).with_context(damaged)?));
    }
    anyhow::ensure!(!latents.is_empty(), damaged());
    latents.sort_unstable();
    Ok(digest(latents.into_iter().map(|(_, values)| values)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn latents_with_other_bytes_have_another_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump.safetensors");
        let write = |name: &str, first: u8| {
            let header = json!({
                name: { "dtype": "U8", "shape": [2], "data_offsets": [0, 2] },
                "output": { "dtype": "U8", "shape": [1], "data_offsets": [2, 3] },
            });
            let header = header.to_string().into_bytes();
            let values = [first, 2, first];
            fs::write(&path, [&(header.len() as u64).to_le_bytes()[..], &header, &values].concat()).unwrap();
            latents_digest(&path)
        };
        let one = write("step.0.latents", 1).unwrap();
        assert_eq!(one, write("step.0.latents", 1).unwrap());
        assert_ne!(one, write("step.0.latents", 3).unwrap());
        assert_eq!(one, digest([[1, 2].as_slice()].into_iter()));
        assert!(write("latents.start", 1).is_err());
        fs::write(&path, [9; 9]).unwrap();
        assert!(latents_digest(&path).is_err());
    }
}
