//! Completions and manual pages.

use std::fs;

use super::{run, stderr, stdout};

#[test]
fn every_command_has_a_page_and_completions() {
    let folder = tempfile::tempdir().unwrap();
    let help = run(folder.path(), &["--help"]);
    let commands = [
        "generate",
        "plan",
        "upscale",
        "interpolate",
        "inspect",
        "convert",
        "download",
        "engine",
        "probe",
        "bench",
        "open",
        "completions",
    ];
    let written = run(folder.path(), &["manual", "."]);
    assert!(written.status.success(), "{}", stderr(&written));
    for command in commands {
        assert!(stdout(&help).contains(&format!("\n  {command} ")), "{command} is not in the help");
        let page = fs::read_to_string(folder.path().join(format!("sluice-{command}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(fs::read_to_string(folder.path().join("sluice.1")).unwrap().contains("sluice\\-generate"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(folder.path(), &["completions", shell]);
        assert!(script.status.success(), "{}", stderr(&script));
        for command in commands {
            assert!(stdout(&script).contains(command), "{shell} does not know {command}");
        }
        assert!(stdout(&script).contains("ram-budget"), "{shell} does not know flags");
    }
}

#[test]
fn a_manual_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["manual", "missing/folder"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("the manual cannot be written to missing/folder"),
        "{}",
        stderr(&output)
    );
}
