//! Presets and styles.

use std::fs;

use sluice_engine::output::read_settings;

use super::{assert_fails, assert_fine, run, stderr};

#[test]
fn a_preset_sets_what_it_has_and_options_win() {
    let folder = tempfile::tempdir().unwrap();
    let preset = "steps = 2\nwidth = 64\nheight = 96\nnegative_prompt = \"fog\"\nsampler = \"heun\"\n";
    let kept = folder.path().join(".local/share/sluice/presets");
    fs::create_dir_all(&kept).unwrap();
    fs::write(kept.join("Night shots.toml"), preset).unwrap();
    let own = ["--preset", "Night shots", "--width", "80", "--output", "a.png"];
    assert_fine(&run(folder.path(), &[&["generate", "--prompt", "a fox"][..], &own].concat()));
    let request = read_settings(&folder.path().join("a.png")).unwrap().settings.request;
    assert_eq!((request.steps, request.width, request.height), (2, 80, 96));
    assert_eq!((request.negative_prompt.as_str(), request.sampler.name()), ("fog", "heun"));
    let output = run(folder.path(), &["generate", "--prompt", "a fox", "--preset", "Night shot"]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("there is no preset named \"Night shot\"; similar names: Night shots"), "{text}");
}

#[test]
fn styles_are_applied_and_the_template_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let table =
        "name,prompt,negative_prompt\nFilm,\"film still of {prompt}, {grain|grain}\",drawing\nFog,fog,\n";
    fs::write(folder.path().join("styles.csv"), table).unwrap();
    let small = ["generate", "--prompt", "a fox", "--steps", "1", "--width", "64", "--height", "64"];
    let own = ["--style-file", "styles.csv", "--style", "film", "--style", "Fog", "--output", "a.png"];
    assert_fine(&run(folder.path(), &[&small[..], &own].concat()));
    let settings = read_settings(&folder.path().join("a.png")).unwrap().settings;
    let request = &settings.request;
    assert_eq!(request.prompt, "film still of a fox, grain, fog");
    assert_eq!(request.negative_prompt, "drawing");
    let template = request.template.as_ref().unwrap();
    assert_eq!(
        (template.prompt.as_str(), template.styles.as_slice()),
        ("a fox", &["Film".to_owned(), "Fog".to_owned()][..])
    );
    assert!(request.styles.is_empty(), "they are not applied again");
    assert!(settings.parameters().contains("Styles: \"Film, Fog\""), "{}", settings.parameters());
    let own = ["--style-file", "styles.csv", "--style", "Fo"];
    let output = run(folder.path(), &[&small[..], &own].concat());
    assert_fails(&output, "there is no style named \"Fo\"", "Similar names: Fog.");
    let own = ["--style-file", "styles.csv", "--style", "oli"];
    let output = run(folder.path(), &[&small[..], &own].concat());
    assert_fails(&output, "there is no style named \"oli\"", "There are Film, Fog. Give the file of another");
}
