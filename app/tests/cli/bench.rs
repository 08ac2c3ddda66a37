//! `sluice bench`, on any machine.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::{assert_fails, assert_fine, run, stdout};

#[test]
fn ways_are_compared_within_budgets() {
    let folder = TempDir::new().unwrap();
    let size =
        ["--width", "64", "--height", "64", "--steps", "2", "--card", "rtx-3060", "--vae-tile-size", "8"];
    let ways = ["--placements", "resident,streamed,prefix", "--budgets", "5.5MB,1KB", "--json", "rows.json"];
    let output = run(folder.path(), &[&["bench", "run", "--quiet", "--check"], &size[..], &ways].concat());
    assert_fine(&output);
    let report: Value = serde_json::from_slice(&fs::read(folder.path().join("rows.json")).unwrap()).unwrap();
    // All placements have the same latents, and impossible cases are reported.
    assert_eq!((&report["exact"], &report["request"]["dtype"]), (&Value::Bool(true), &"bf16".into()));
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 5, "{report:#}");
    for row in rows {
        let budget = row["budget"].as_u64();
        if budget == Some(1 << 10) {
            assert!(row["failure"].as_str().unwrap().contains("the smallest placement needs"), "{row:#}");
            continue;
        }
        let (peak, moved) = (row["peak"].as_u64().unwrap(), row["step_bytes"].as_u64().unwrap());
        assert!(peak > 0 && budget.is_none_or(|budget| peak <= budget), "{row:#}");
        assert_eq!(moved > 0, row["way"] != "resident", "{row:#}");
    }
    assert!(stdout(&output).contains("not run"), "{}", stdout(&output));
}

#[test]
fn nothing_that_could_be_run_is_a_failure() {
    let folder = TempDir::new().unwrap();
    let output = run(
        folder.path(),
        &["bench", "run", "--quiet", "--card", "rtx-3060", "--placements", "streamed", "--budgets", "1KB"],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("the smallest placement needs"), "{}", stdout(&output));
}

#[test]
fn the_link_of_a_simulated_card_is_measured() {
    let folder = TempDir::new().unwrap();
    let output = run(folder.path(), &["bench", "link", "--card", "rtx-4060", "--json", "link.json"]);
    assert_fine(&output);
    let link: Value = serde_json::from_slice(&fs::read(folder.path().join("link.json")).unwrap()).unwrap();
    let rate = link["pinned_bytes_per_second"].as_f64().unwrap();
    assert!(rate > 0.0 && rate <= 12.6e9, "{link:#}");
    assert!(link["operations_per_second"].as_f64().unwrap() > 0.0, "{link:#}");
}

#[test]
fn kernels_need_a_card() {
    let folder = TempDir::new().unwrap();
    let output = run(folder.path(), &["bench", "kernels"]);
    assert_fails(&output, "this program does not use a GPU", "Run `sluice-cuda bench kernels`");
}
