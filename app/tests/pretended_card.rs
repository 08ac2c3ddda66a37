//! Whole runs on a card that is not there: everything but what kernels compute is as on a real one.
//!
//! `packaging/cuda/test-without-card` runs this with a driver that pretends to have a card of 8 GiB.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use sluice_engine::{checkpoint::RandomDtype, models::Likeness};
use tempfile::TempDir;

/// Models that are drawn with, small.
const MODELS: [&str; 7] = ["flux.1-dev", "z-image", "sd3.5-medium", "sd3-medium", "sd1.5", "sd2.1", "sdxl"];

/// A machine with a card, and a folder.
struct Machine {
    folder: TempDir,
    settings: Vec<(&'static str, String)>,
}

impl Machine {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            settings: vec![("PRETEND_DELAY", "0".to_owned()), ("RUST_LIB_BACKTRACE", "0".to_owned())],
        }
    }

    fn with(mut self, name: &'static str, value: u64) -> Self {
        self.settings.push((name, value.to_string()));
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn model(&self, id: &str, dtype: RandomDtype) -> PathBuf {
        let model = self.path(id);
        if !model.exists() {
            assert!(Likeness::of(id).unwrap().tiny().write(&model, dtype, 1, |_| true).unwrap());
        }
        model
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_sluice"));
        let mut command = Command::new(program);
        command.args(arguments).env("XDG_DATA_HOME", self.path("data"));
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command.output().unwrap()
    }

    /// Rows of `sluice bench run` of two steps with these further arguments.
    fn rows(&self, model: &Path, arguments: &[&str]) -> Vec<Value> {
        let report = self.path("report.json");
        let usual =
            ["bench", "run", "--quiet", "--steps", "2", "--json", report.to_str().unwrap(), "--model"];
        let output = self.run(&[&usual[..], &[model.to_str().unwrap()], arguments].concat());
        assert!(output.status.success(), "{}", words(&output));
        let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
        report["rows"].as_array().unwrap().clone()
    }
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// What each stage of a run took of what was foretold.
#[track_caller]
fn taken(row: &Value) -> Vec<(String, f64)> {
    let stages = row["stages"].as_array().unwrap_or_else(|| panic!("there was no run: {row}"));
    let taken = |stage: &Value| {
        let number = |name: &str| stage[name].as_f64().unwrap();
        (stage["stage"].as_str().unwrap().to_owned(), number("measured") / number("predicted"))
    };
    stages.iter().map(taken).collect()
}

/// Fails unless each stage took what was foretold, up to what is kept for lists.
#[track_caller]
fn check(name: &str, rows: &[Value]) {
    for row in rows {
        let taken = taken(row);
        println!("{name} {}: {taken:.3?} of {}", row["way"], row["predicted_peak"]);
        assert!(
            taken.iter().all(|(_, part)| (0.8..=1.0).contains(part)),
            "{name}: {taken:?} in {}",
            row["stages"]
        );
    }
}

#[test]
fn every_family_takes_what_was_foretold() {
    let machine = Machine::new();
    for (id, dtype) in MODELS.into_iter().zip(["bf16", "f32", "f16"].into_iter().cycle()) {
        let model = machine.model(id, RandomDtype::Bf16);
        let arguments =
            ["--width", "256", "--height", "256", "--dtype", dtype, "--ways", "resident,streamed"];
        check(&format!("{id} in {dtype}"), &machine.rows(&model, &arguments));
    }
}
