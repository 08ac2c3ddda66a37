//! Better prompts on the command line.

use super::{assert_fails, run, stderr};

#[test]
fn what_writes_no_prompt_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let with = |more: &[&str]| {
        run(folder.path(), &[&["enhance", "a dog", "--model-folder", "empty"], more].concat())
    };
    assert_fails(&with(&[]), "no language model was found", "Give a .gguf or .safetensors file of Qwen3");
    std::fs::write(folder.path().join("notes.gguf"), "no model").unwrap();
    let notes = ["--language-model", "notes.gguf"];
    assert_fails(&with(&notes), "notes.gguf", "");
    let missing = ["--language-model", "missing.gguf"];
    assert_fails(&with(&missing), "there is no file or folder missing.gguf", "Check the path");
    assert_fails(
        &with(&[&notes[..], &["--for", "nothing"]].concat()),
        "nothing is no model here, no family and no kind of prompt",
        "Give the path of a model",
    );
    let output = run(folder.path(), &["enhance"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("PROMPT"), "{}", stderr(&output));
}
