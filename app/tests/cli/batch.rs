//! `sluice batch`, whole, in parts, and again.

use std::{fs, path::Path};

use serde_json::Value;

use crate::{assert_fails, assert_fine, run, sluice, stderr, stdout};

/// Six jobs, one of which cannot be done.
const JOBS: &str = r#"
# Small, so that they are quick.
{"prompt": "a red circle", "width": 64, "height": 64, "steps": 1, "seed": 7}
{"width": 64, "height": 64, "steps": 1, "matrix": {"prompt": ["a fox", "a wolf"], "seed": [1, 2]}}
{"prompt": "too large", "width": 63}
"#;

fn folder_with(jobs: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("jobs.jsonl"), jobs).unwrap();
    folder
}

fn batch(folder: &Path, further: &[&str]) -> std::process::Output {
    run(folder, &[&["batch", "jobs.jsonl", "--output", "results", "--threads", "1"][..], further].concat())
}

fn images(folder: &Path) -> Vec<Vec<u8>> {
    let files = fs::read_dir(folder.join("results")).unwrap().map(|entry| entry.unwrap().path());
    let mut images: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "png")).collect();
    images.sort();
    images.iter().map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn jobs_are_done_once_and_failures_do_not_stop_the_others() {
    let folder = folder_with(JOBS);
    let first = batch(folder.path(), &[]);
    assert_eq!(first.status.code(), Some(1), "{}", stderr(&first));
    assert!(stderr(&first).contains("line 5 failed: too large"), "{}", stderr(&first));
    assert!(stderr(&first).contains("error: width 63"), "{}", stderr(&first));
    assert_eq!(stdout(&first).lines().count(), 5);
    let made = images(folder.path());
    assert_eq!(made.len(), 5);

    let again = batch(folder.path(), &[]);
    assert!(stderr(&again).contains("6 jobs, 5 of them done"), "{}", stderr(&again));
    assert_eq!(stdout(&again), "");
    let removed = stdout(&first).lines().next().unwrap();
    fs::remove_file(folder.path().join(removed)).unwrap();
    let repaired = batch(folder.path(), &[]);
    assert_eq!(stdout(&repaired).lines().collect::<Vec<_>>(), [removed]);
    assert_eq!(images(folder.path()), made, "the same order gives the same image");
}

#[test]
fn parts_make_the_whole_and_are_merged_into_one_index() {
    let (whole, parts) = (folder_with(JOBS), folder_with(JOBS));
    batch(whole.path(), &[]);
    for shard in ["0/3", "2/3"] {
        batch(parts.path(), &["--shard", shard]);
    }
    let incomplete = batch(parts.path(), &["--merge"]);
    assert_eq!(incomplete.status.code(), Some(1));
    assert!(stderr(&incomplete).contains("3 of 6 jobs are missing"), "{}", stderr(&incomplete));
    // The part of a task of a Slurm array that counts from 1.
    let slurm = [("ID", "2"), ("COUNT", "3"), ("MIN", "1"), ("STEP", "1")];
    let mut command =
        sluice(parts.path(), &["batch", "jobs.jsonl", "--output", "results", "--threads", "1", "--quiet"]);
    command.envs(slurm.map(|(name, value)| (format!("SLURM_ARRAY_TASK_{name}"), value)));
    command.output().unwrap();
    assert_eq!(images(parts.path()), images(whole.path()));

    let merged = batch(parts.path(), &["--merge"]);
    assert!(stderr(&merged).contains("1 of 6 jobs are missing:\n  line 5: too large"), "{}", stderr(&merged));
    let index = fs::read_to_string(parts.path().join(stdout(&merged).trim())).unwrap();
    let lines: Vec<Value> = index.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let prompts: Vec<_> = lines.iter().map(|line| line["order"]["prompt"].as_str().unwrap()).collect();
    assert_eq!(prompts, ["a red circle", "a fox", "a fox", "a wolf", "a wolf"], "in the order of the file");
    for line in &lines {
        assert!(parts.path().join("results").join(line["files"][0].as_str().unwrap()).is_file());
    }
}

#[test]
fn a_batch_that_cannot_be_read_is_refused_before_anything_runs() {
    for (jobs, words) in [
        ("{\"promt\": \"a\"}", "line 1 is no job: unknown field `promt`"),
        ("# nothing", "jobs.jsonl has no jobs"),
        ("{", "line 1 is no job"),
    ] {
        let folder = folder_with(jobs);
        assert_fails(&batch(folder.path(), &[]), words, "Write one JSON object per line");
    }
    let folder = folder_with("{\"prompt\": \"a\", \"model\": \"startr\"}");
    let unknown = batch(folder.path(), &[]);
    assert!(stderr(&unknown).contains("Did you mean starter?"), "{}", stderr(&unknown));
    assert_eq!(batch(folder.path(), &["--shard", "3/3"]).status.code(), Some(2));
    let counted = batch(folder.path(), &["--count"]);
    assert_fine(&counted);
    assert_eq!(stdout(&counted), "1 job, 0 of them done\n");
}
