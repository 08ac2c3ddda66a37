//! Better prompts on the command line.

use super::{assert_fails, assert_fine, models::write_model, run, stderr, stdout};

#[test]
fn a_seed_gives_the_same_prompt_on_the_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    write_model(&folder.path().join("model"));
    let enhance = |more: &[&str]| {
        let usual = ["enhance", "a dog", "--language-model", "model", "--max-tokens", "6"];
        let output = run(folder.path(), &[&usual, more].concat());
        assert_fine(&output);
        output
    };
    let prompt = |seed: &str| {
        let output = enhance(&["--seed", seed]);
        assert!(stderr(&output).contains("a prompt of up to 6 tokens, seed"), "{}", stderr(&output));
        stdout(&output).to_owned()
    };
    let first = prompt("7");
    assert_eq!(first.lines().count(), 1, "{first}");
    assert_eq!(prompt("7"), first);
    assert_ne!(prompt("8"), first);
    let by_another_name = ["enhance", "a dog", "--model", "model", "--max-tokens", "6", "--seed", "7"];
    assert_eq!(stdout(&run(folder.path(), &by_another_name)), first);
    let planned = enhance(&["--plan"]);
    assert!(stdout(&planned).contains("a prompt of up to 6 tokens"), "{}", stdout(&planned));
}

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
