//! The engine for NVIDIA GPUs from the command line. What becomes of archives is tested in `tests/tests/files`.

use super::{assert_fine, run, stderr, stdout};

#[test]
fn nothing_is_installed_at_first() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["engine", "status"]);
    assert_fine(&output);
    assert!(stdout(&output).starts_with("engine: "), "{}", stdout(&output));
    let output = run(folder.path(), &["engine", "status", "--json"]);
    assert_fine(&output);
    let status: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert!(status["installed"].is_null() && status["gpus"].is_array(), "{status}");
    let output = run(folder.path(), &["engine", "remove"]);
    assert_fine(&output);
    assert_eq!(stderr(&output).trim(), "No engine was installed.");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn an_archive_without_its_list_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("engine.tar.xz"), "").unwrap();
    let output = run(folder.path(), &["engine", "install", "engine.tar.xz"]);
    super::assert_fails(&output, "the list of engines sluice-cuda-", "Put it beside the archive");
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[test]
fn there_are_no_packages_for_this_computer() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["engine", "install", "engine.tar.xz"]);
    super::assert_fails(&output, "the engine for NVIDIA GPUs can be installed only", "Compute on the CPU");
}
