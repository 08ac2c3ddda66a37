//! Files that are not whole models, and folders of them.

use std::{fs, path::PathBuf};

use serde_json::Value;
use sluice_engine::output::read_settings;
use tempfile::TempDir;

use super::{assert_fails, assert_fine, draw, run, sluice, stderr, stdout};

/// The starter model's denoiser, alone in a folder.
fn alone(folder: &TempDir) -> (PathBuf, PathBuf) {
    let starter = sluice_engine::checkpoint::asset("starter").unwrap();
    let weights = fs::read_dir(starter.join("transformer")).unwrap().map(|entry| entry.unwrap().path());
    let weights = weights.into_iter().find(|path| path.extension().is_some_and(|own| own == "safetensors"));
    let path = folder.path().join("mine/alone.safetensors");
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::copy(weights.unwrap(), &path).unwrap();
    (path, starter)
}

#[test]
fn a_file_without_its_companions_says_what_it_is_and_what_is_missing() {
    let folder = TempDir::new().unwrap();
    let (path, starter) = alone(&folder);
    let (path, starter) = (path.to_str().unwrap(), starter.to_str().unwrap());
    let output = run(folder.path(), &["inspect", path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("what       Z-Image denoiser"), "{}", stdout(&output));
    for words in ["error: the text encoder of", "no Qwen3 encoder of width", "looked in", "--model-folder"] {
        assert!(stderr(&output).contains(words), "{words} is not in {}", stderr(&output));
    }

    let named =
        run(folder.path(), &["inspect", path, "--model-folder", "nowhere", "--model-folder", starter]);
    assert_fine(&named);
    assert!(stdout(&named).contains("family  Z-Image (z_image)"), "{}", stdout(&named));
    let from = starter.to_owned() + "/vae/";
    assert!(stdout(&named).contains(&format!("from {from}")), "{}", stdout(&named));
    let mut command = sluice(folder.path(), &["inspect", path]);
    let variable = std::env::join_paths(["nowhere", starter]).unwrap();
    let by_variable = command.env("SLUICE_MODEL_FOLDERS", variable).output().unwrap();
    assert_eq!(stdout(&by_variable), stdout(&named));
    let planned = run(folder.path(), &["plan", "--model", path, "--model-folder", starter]);
    assert_fine(&planned);
}

#[test]
fn a_folder_of_files_is_listed() {
    let folder = TempDir::new().unwrap();
    let (_, starter) = alone(&folder);
    fs::write(folder.path().join("old.ckpt"), b"\x80\x02}q\x00.").unwrap();
    fs::write(folder.path().join("notes.txt"), "to do").unwrap();
    let list = run(folder.path(), &["inspect", "."]);
    assert_fine(&list);
    let lines: Vec<&str> = stdout(&list).lines().collect();
    assert!(lines[0].starts_with("file") && lines[0].ends_with("size"), "{lines:?}");
    assert!(
        lines[1].starts_with("mine/alone.safetensors  Z-Image denoiser") && lines[1].ends_with("iB"),
        "{lines:?}"
    );
    assert!(lines[2].starts_with("old.ckpt") && lines[2].contains("it is a pickle"), "{lines:?}");
    assert_eq!(lines[4], "1 other file is not a model");

    let json = run(folder.path(), &["inspect", ".", "--json"]);
    let json: Value = serde_json::from_str(stdout(&json)).unwrap();
    assert_eq!(json["items"][0]["content"]["what"], "Z-Image denoiser");
    assert!(json["items"][1]["error"].as_str().unwrap().contains("pickle"));

    let part = starter.join("vae");
    let listed = run(folder.path(), &["inspect", part.to_str().unwrap()]);
    assert_fine(&listed);
    assert!(stdout(&listed).contains("autoencoder"), "{}", stdout(&listed));
    let empty = TempDir::new().unwrap();
    assert_fails(&run(empty.path(), &["inspect", "."]), "no model found in", "Choose a diffusers folder");
}

#[test]
fn an_image_of_another_program_is_inspected() {
    let folder = TempDir::new().unwrap();
    let text = r#"{"sui_image_params": {"prompt": "a boat", "negativeprompt": "fog", "seed": 42, "steps": 28,
        "model": "Flux/flux1-dev.safetensors", "sampler": "restart", "loras": ["ink"], "loraweights": ["0.5"]}}"#;
    let mut jpeg = vec![0xFF, 0xD8, 0xFF, 0xFE];
    jpeg.extend((text.len() as u16 + 2).to_be_bytes());
    jpeg.extend(text.as_bytes());
    jpeg.extend([0xFF, 0xD9]);
    fs::write(folder.path().join("boat.jpg"), jpeg).unwrap();
    let output = run(folder.path(), &["inspect", "boat.jpg"]);
    assert_fine(&output);
    for words in [
        "boat.jpg, settings by SwarmUI",
        "a boat <lora:ink:0.5>\nNegative prompt: fog",
        "Seed: 42",
        "Model: flux1-dev",
        "The sampler “restart” is not available; Euler is used instead.",
    ] {
        assert!(stdout(&output).contains(words), "{words} is not in {}", stdout(&output));
    }
    let json: Value =
        serde_json::from_str(stdout(&run(folder.path(), &["inspect", "boat.jpg", "--json"]))).unwrap();
    assert_eq!((&json["program"], &json["seed"]), (&"SwarmUI".into(), &42.into()));
    assert_eq!(json["request"]["steps"], 28);
    assert_eq!(json["notes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_acted_on_an_image_of_another_program_is_listed() {
    let folder = TempDir::new().unwrap();
    let text = "a boat\nSteps: 28, Sampler: Euler, Seed: 42, Size: 64x64, Refiner: fine, Refiner switch at: 0.75, \
                ControlNet 0: \"Module: canny, Model: edges [d14c016b], Weight: 0.5\", Token merging ratio: 0.5";
    let mut jpeg = vec![0xFF, 0xD8, 0xFF, 0xFE];
    jpeg.extend((text.len() as u16 + 2).to_be_bytes());
    jpeg.extend(text.as_bytes());
    jpeg.extend([0xFF, 0xD9]);
    fs::write(folder.path().join("boat.jpg"), jpeg).unwrap();
    let output = run(folder.path(), &["inspect", "boat.jpg"]);
    assert_fine(&output);
    for words in [
        "Refiner: fine, Refiner switch at: 0.75",
        "ControlNet 0: \"Module: canny, Model: edges, Weight: 0.5,",
        "The images of ControlNets are not in the file; choose them again.",
        "Not taken over: Token merging ratio.",
    ] {
        assert!(stdout(&output).contains(words), "{words} is not in {}", stdout(&output));
    }
    let json: Value =
        serde_json::from_str(stdout(&run(folder.path(), &["inspect", "boat.jpg", "--json"]))).unwrap();
    let net = &json["request"]["control_nets"][0];
    assert_eq!((&net["model"], &net["weight"]), (&"edges".into(), &0.5.into()));
    assert_eq!(json["request"]["refiner"]["switch"], 0.75);
}

#[test]
fn an_outpainted_image_is_as_large_as_the_input_with_what_is_added() {
    let folder = tempfile::tempdir().unwrap();
    assert_fine(&draw(folder.path(), &["--output", "small.png"]));
    let arguments =
        ["generate", "--prompt", "a red circle", "--steps", "2", "--seed", "7", "--init-image", "small.png"];
    let with = |further: &[&str]| run(folder.path(), &[&arguments, further].concat());
    assert_fine(&with(&["--outpaint", "0,0,32,16", "--output", "large.png"]));
    let settings = read_settings(&folder.path().join("large.png")).unwrap().settings;
    assert_eq!([settings.request.width, settings.request.height], [96, 80]);
    let source = settings.request.source.unwrap();
    assert_eq!((source.outpaint.sides(), source.strength), ([0, 0, 32, 16], 1.0));
    assert_fails(
        &with(&["--outpaint", "9999", "--width", "64", "--height", "64"]),
        "9999 pixels",
        "Change the setting",
    );
    let output = with(&["--outpaint", "1,2"]);
    assert!(stderr(&output).contains("left,top,right,bottom"), "{}", stderr(&output));
}

#[test]
fn the_quality_of_a_jpeg_is_chosen() {
    let folder = TempDir::new().unwrap();
    let size = |quality: &str| {
        assert_fine(&draw(folder.path(), &["--quality", quality, "--output", "a.jpg"]));
        fs::metadata(folder.path().join("a.jpg")).unwrap().len()
    };
    assert!(size("20") < size("95"));
    let output = draw(folder.path(), &["--quality", "0"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
