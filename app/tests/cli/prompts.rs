//! Prompts that leave words open.

use std::fs;

use sluice_engine::output::read_settings;

use super::{assert_fails, assert_fine, run};

const SMALL: [&str; 9] =
    ["generate", "--steps", "1", "--width", "64", "--height", "64", "--wildcard-folder", "wildcards"];

#[test]
fn words_are_chosen_by_the_seed_and_the_template_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let wildcards = folder.path().join("wildcards");
    fs::create_dir(&wildcards).unwrap();
    fs::write(wildcards.join("sky.txt"), "a clear sky\nclouds\nfog\n").unwrap();
    let template = "{a lake|a forest|a harbour}, __sky__";
    let prompt_of = |seed: &str, name: &str| {
        let own = ["--prompt", template, "--seed", seed, "--output", name];
        assert_fine(&run(folder.path(), &[&SMALL[..], &own].concat()));
        let request = read_settings(&folder.path().join(name)).unwrap().settings.request;
        assert_eq!(request.template.unwrap().prompt, template);
        request.prompt
    };
    let prompts: Vec<String> =
        (0..6).map(|seed| prompt_of(&seed.to_string(), &format!("{seed}.png"))).collect();
    for prompt in &prompts {
        let (place, sky) = prompt.split_once(", ").unwrap();
        assert!(["a lake", "a forest", "a harbour"].contains(&place), "{prompt}");
        assert!(["a clear sky", "clouds", "fog"].contains(&sky), "{prompt}");
    }
    assert!(prompts.iter().any(|prompt| *prompt != prompts[0]), "{prompts:?}");
    assert_eq!(prompt_of("0", "again.png"), prompts[0]);
    let [first, again] = ["0.png", "again.png"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(first == again, "the same seed gives the same image");
}

#[test]
fn braces_that_cannot_be_meant_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let with = |prompt: &str| run(folder.path(), &[&SMALL[..7], &["--prompt", prompt]].concat());
    let open = "a brace in the prompt is not closed: {red|blue house";
    assert_fails(&with("a {red|blue house"), open, "Close it after the options");
    let few = "3 different options cannot be taken of 2 in {3$$red|blue}";
    assert_fails(&with("a {3$$red|blue} house"), few, "Write a smaller number before $$");
}

#[test]
fn a_wildcard_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let wildcards = folder.path().join("wildcards");
    fs::create_dir(&wildcards).unwrap();
    fs::write(wildcards.join("colour.txt"), "red\n").unwrap();
    let output = run(folder.path(), &[&SMALL[..], &["--prompt", "a __color__ boat"]].concat());
    let what = "there is no wildcard file named color.txt; similar names: colour";
    assert_fails(&output, what, "Text files were searched in ");
}
