//! Hires fix.

use sluice_engine::{
    output::read_settings,
    request::{Enlarger, Hires},
};
use tempfile::TempDir;

use super::{assert_fails, assert_fine, draw, json_lines, run, stderr, stdout};

#[test]
fn an_image_is_enlarged_and_denoised_again_and_says_so() {
    let folder = TempDir::new().unwrap();
    let output = draw(folder.path(), &["--hires", "2", "--hires-steps", "4", "--output", "circle.png"]);
    assert_fine(&output);
    let said = stderr(&output);
    assert!(said.contains("1 image of 64×64, 2 steps, guidance 2, hires fix ×2"), "{said}");
    assert!(said.contains("step 4 of 4") && said.contains("denoise again:"), "{said}");
    let path = folder.path().join("circle.png");
    assert_eq!(image::image_dimensions(&path).unwrap(), (128, 128));
    let settings = read_settings(&path).unwrap().settings;
    let expected = Hires { steps: Some(4), ..Hires::default() };
    assert_eq!((settings.request.hires.as_ref(), settings.request.width), (Some(&expected), 64));
    let inspected = run(folder.path(), &["inspect", "circle.png"]);
    assert_fine(&inspected);
    for words in ["Hires upscale", "Hires steps", "realesr-animevideov3", "Denoising strength"] {
        assert!(stdout(&inspected).contains(words), "{words}: {}", stdout(&inspected));
    }
}

#[test]
fn latents_are_enlarged_in_one_stage_less() {
    let folder = TempDir::new().unwrap();
    let latent = ["--hires", "1.5", "--hires-upscaler", "latent", "--hires-strength", "0.7", "--json"];
    let output = draw(folder.path(), &[&latent[..], &["--output", "circle.png"]].concat());
    assert_fine(&output);
    let lines = json_lines(&output);
    let started = lines.iter().filter(|line| line["event"] == "stage_started");
    let names: Vec<_> = started.map(|line| line["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Encode", "Denoise", "Denoise again", "Decode"]);
    let path = folder.path().join("circle.png");
    assert_eq!(image::image_dimensions(&path).unwrap(), (96, 96));
    let hires = read_settings(&path).unwrap().settings.request.hires.unwrap();
    assert_eq!((hires.enlarger, hires.strength), (Enlarger::Latent, 0.7));
}

#[test]
fn both_passes_are_planned_also_for_models_that_are_not_here() {
    let folder = TempDir::new().unwrap();
    for model in ["starter", "stable-diffusion-1.5"] {
        let known = ["plan", "--model", model, "--card", "rtx-3060"];
        let peak = |further: &[&str]| {
            let output = run(folder.path(), &[&known[..], further, &["--json"]].concat());
            assert_fine(&output);
            let forecast: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
            forecast["plan"].clone()
        };
        let [one, two] = [peak(&[]), peak(&["--hires", "2"])];
        let count = |plan: &serde_json::Value| plan.to_string().matches("Denoise again").count();
        assert_eq!((count(&one), count(&two)), (0, 1), "{model}: {two}");
    }
    let text = run(folder.path(), &["plan", "--hires", "2", "--card", "rtx-3060"]);
    assert_fine(&text);
    assert!(stdout(&text).contains("hires fix ×2"), "{}", stdout(&text));
}

#[test]
fn what_is_wrong_is_named() {
    let folder = TempDir::new().unwrap();
    let output = draw(folder.path(), &["--hires", "5"]);
    assert!(stderr(&output).contains("the scale 5 is not between 1 and 4"), "{}", stderr(&output));
    let missing = draw(folder.path(), &["--hires", "2", "--hires-upscaler", "none.safetensors"]);
    assert_fails(&missing, "there is no file or folder none.safetensors", "Check the path");
    let alone = draw(folder.path(), &["--hires-steps", "3"]);
    assert_fails(&alone, "--hires-steps is given, and there is no hires fix", "Give --hires <SCALE>");
}
