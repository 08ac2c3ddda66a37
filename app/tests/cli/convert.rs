//! Conversions of weights.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::{assert_fails, assert_fine, run, stderr, stdout};

/// The starter's transformer.
fn transformer() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/starter/transformer").display().to_string()
}

#[test]
fn a_component_is_converted_and_the_error_is_said() {
    let folder = TempDir::new().unwrap();
    let output = run(folder.path(), &["convert", &transformer(), "small.gguf", "--type", "q8_0", "--quiet"]);
    assert_fine(&output);
    let text = stdout(&output);
    assert!(text.starts_with("stored as  tensors"), "{text}");
    assert!(text.contains("\nQ8_0 ") && text.contains('%') && text.contains("\nfile "), "{text}");
    assert_eq!(stderr(&output), "");
    assert!(fs::read(folder.path().join("small.gguf")).unwrap().starts_with(b"GGUF"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something was left behind");
}

#[test]
fn a_name_of_another_kind_is_refused() {
    let folder = TempDir::new().unwrap();
    let output = run(folder.path(), &["convert", &transformer(), "small.safetensors", "--type", "q4_k"]);
    assert_fails(
        &output,
        "small.safetensors must end in .gguf for q4_k weights",
        "Choose a file name that ends in .gguf",
    );
    let output = run(folder.path(), &["convert", "nothing.safetensors", "out.gguf", "--type", "q4_k"]);
    assert_fails(&output, "nothing.safetensors cannot be read", "Check");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
