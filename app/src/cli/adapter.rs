//! Adapters as text.

use std::path::Path;

use sluice_engine::{
    adapters::{AdapterError, AdapterFile, AdapterReport, AdapterSummary, rank_in_words},
    models::adapter_summary,
    units,
};

use super::exit::refuse;

/// The summary of an adapter; `None` if the file is something else or cannot be read, which is reported where models are
/// opened.
pub(super) fn summary(path: &Path) -> anyhow::Result<Option<AdapterSummary>> {
    match AdapterFile::open(path) {
        Ok(file) => Ok(Some(adapter_summary(&file))),
        Err(AdapterError::File(_) | AdapterError::NotAnAdapter { .. }) => Ok(None),
        Err(error) => Err(refuse(error.to_string(), error.advice())),
    }
}

pub(super) fn describe(summary: &AdapterSummary) -> String {
    let targets = summary.targets.iter();
    let targets: Vec<String> =
        targets.map(|(target, layers)| format!("{target} ({})", units::counted(*layers, "layer"))).collect();
    let mut lines = vec![
        summary.name.clone(),
        format!("  kind    {}", summary.kind),
        format!("  rank    {}", summary.ranks.map_or_else(|| "none".to_owned(), rank_in_words)),
        format!("  for     {}", summary.family.as_deref().unwrap_or("unknown")),
        format!("  changes {}", targets.join(", ")),
        format!("  size    {} in {}", units::bytes(summary.bytes), units::counted(summary.keys, "key")),
    ];
    if let Some(first) = summary.unknown.first() {
        lines
            .push(format!("  unknown {}, for example {first}", units::counted(summary.unknown.len(), "key")));
    }
    lines.join("\n")
}

/// How much of an adapter was applied in a run.
pub(super) fn in_a_line(report: &AdapterReport) -> String {
    let name = report.path.file_stem().unwrap_or_default().to_string_lossy();
    let rank = report.ranks.map_or_else(String::new, |ranks| format!(" of rank {}", rank_in_words(ranks)));
    let unmatched = report.sentence().map_or_else(String::new, |sentence| format!("; {sentence}"));
    format!("{name}: {}{rank}, weight {}{unmatched}", report.kind, report.weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_are_described() {
        let summary = AdapterSummary {
            path: "ink.safetensors".into(),
            name: "ink".to_owned(),
            kind: "LoRA".to_owned(),
            ranks: Some([16, 16]),
            family: Some("FLUX.1".to_owned()),
            targets: [("denoiser".to_owned(), 304), ("text encoder".to_owned(), 72)].into(),
            keys: 1128,
            unknown: vec!["ema.weight".to_owned()],
            bytes: 171 << 20,
        };
        let expected = "\
ink
  kind    LoRA
  rank    16
  for     FLUX.1
  changes denoiser (304 layers), text encoder (72 layers)
  size    171 MiB in 1128 keys
  unknown 1 key, for example ema.weight";
        assert_eq!(describe(&summary), expected);
        let report = AdapterReport {
            path: "loras/ink.safetensors".into(),
            weight: 0.8,
            kind: "LoRA".to_owned(),
            ranks: Some([4, 16]),
            keys: 304,
            unmatched: vec!["a".to_owned(), "b".to_owned()],
            half_of: None,
        };
        let expected = "ink: LoRA of rank 4 to 16, weight 0.8; 2 of 304 keys did not match, for example a.";
        assert_eq!(in_a_line(&report), expected);
    }
}
