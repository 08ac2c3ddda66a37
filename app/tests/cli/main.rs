//! The program as a user at a terminal or a script sees it.

#![cfg(test)]

mod adapter;
mod batch;
mod bench;
mod control_nets;
mod convert;
#[cfg(unix)]
mod deploy;
mod describe;
mod detailer;
mod discreet;
mod download;
mod engine_package;
#[cfg(unix)]
mod engines;
mod enhance;
mod files;
mod grids;
mod hires;
mod image_prompts;
mod interpolate;
#[cfg(target_os = "linux")]
mod limits;
mod map;
mod mask;
mod memory;
#[path = "../shared/models.rs"]
mod models;
mod presets;
mod prompts;
mod proxy;
mod regions;
mod shell;
mod upscale;

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};
#[cfg(unix)]
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr},
};

use serde_json::Value;
use sluice_engine::output::{Origin, read_settings};
use tempfile::TempDir;

/// The program in a given folder, without a home folder.
fn sluice(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    command.args(arguments).current_dir(folder).env("HOME", folder).env_remove("SLUICE_LOG");
    // A second less for each process.
    command.env("SLUICE_UNMEASURED", "1");
    command
        .env_remove("SLUICE_ENGINE")
        .env_remove("SLUICE_MODEL_FOLDERS")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME")
        .stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    sluice(folder, arguments).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// A short run of the starter model, with additional arguments.
fn draw(folder: &Path, further: &[&str]) -> Output {
    let mut arguments = vec!["generate", "--prompt", "a red circle", "--steps", "2", "--width", "64"];
    arguments.extend(["--height", "64", "--seed", "7"]);
    arguments.extend(further);
    run(folder, &arguments)
}

fn assert_fine(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
}

/// Checks a failure: the message and advice, nothing on the standard output, no debugging output.
fn assert_fails(output: &Output, what: &str, help: &str) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("error: {what}")), "{text}");
    assert!(text.contains(&format!("help: {help}")), "{text}");
    for noise in ["panicked", "backtrace", "Error {", "Some("] {
        assert!(!text.contains(noise), "{text}");
    }
    assert_eq!(stdout(output), "");
}

fn json_lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn there_may_be_more_prompts_than_the_engine_queues() {
    let folder = tempfile::tempdir().unwrap();
    let prompts: Vec<String> = (0..300).map(|number| format!("--prompt={number}")).collect();
    let mut arguments =
        vec!["generate", "--steps", "1", "--width", "16", "--height", "16", "--output", "a.png"];
    arguments.extend(prompts.iter().map(String::as_str));
    let output = run(folder.path(), &arguments);
    assert_fine(&output);
    assert_eq!(stdout(&output).lines().count(), 300);
}

#[test]
fn the_version_and_the_help_are_on_the_standard_output() {
    let folder = TempDir::new().unwrap();
    let version = run(folder.path(), &["--version"]);
    assert_fine(&version);
    assert_eq!(stdout(&version), format!("sluice {}\n", env!("CARGO_PKG_VERSION")));

    let help = run(folder.path(), &["--help"]);
    assert_fine(&help);
    for word in [
        "generate",
        "plan",
        "inspect",
        "probe",
        "Examples:",
        "Exit codes:",
        "130",
        "SLUICE_LOG",
        "SLUICE_MODEL_FOLDERS",
    ] {
        assert!(stdout(&help).contains(word), "{word}");
    }
    let help = run(folder.path(), &["help", "generate"]);
    assert_fine(&help);
    for word in [
        "--prompt",
        "--sampler",
        "euler-ancestral, heun",
        "[default: starter]",
        "Examples:",
        "Memory:",
        "--keep-loaded",
    ] {
        assert!(stdout(&help).contains(word), "{word}");
    }
    let help = run(folder.path(), &["help", "plan"]);
    assert_fine(&help);
    for word in
        ["--vram", "--ram", "--offload", "layer_streaming", "rtx-3060", "Well-known models:", "flux.1-dev"]
    {
        assert!(stdout(&help).contains(word), "{word}");
    }
}

#[test]
fn a_command_line_that_is_not_understood_has_code_2() {
    let folder = TempDir::new().unwrap();
    for (arguments, words) in [
        (vec!["draw"], "unrecognized subcommand 'draw'"),
        (vec!["generate"], "--prompt <TEXT>"),
        (vec!["generate", "--prompt", "x", "--steps", "many"], "'many'"),
        (vec!["generate", "--prompt", "x", "--sampler", "foo"], "[possible values: euler, euler-ancestral,"),
        (vec!["generate", "--prompt", "x", "--threads", "0"], "'0'"),
        (vec!["generate", "--prompt", "x", "--offload", "all"], "[possible values: auto, none, cond_only,"),
        (vec!["generate", "--prompt", "x", "--card", "rtx-3600"], "rtx-3060"),
        (vec!["generate", "--prompt", "x", "--vram-budget", "lots"], "such as 7.5GB or 512MB"),
        (vec!["generate", "--prompt", "x", "--vram-budget=-1"], "cannot be negative"),
        (vec!["generate", "--prompt", "x", "--vae-tile-size", "0"], "'0'"),
        (vec!["plan", "--card", "voodoo-2"], "rtx-4090"),
        (vec!["plan", "--frames", "0"], "'0'"),
        (vec!["inspect"], "<PATH>"),
        (vec!["inspect", "starter", "--json", "--blocks"], "cannot be used with"),
    ] {
        let output = run(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn a_model_that_is_not_there_is_named() {
    let folder = TempDir::new().unwrap();
    let words = ("there is no file or folder missing/model", "Check the path");
    assert_fails(&draw(folder.path(), &["--model", "missing/model"]), words.0, words.1);
    assert_fails(&run(folder.path(), &["inspect", "missing/model"]), words.0, words.1);
    fs::write(folder.path().join("model.safetensors"), "").unwrap();
    let output = run(folder.path(), &["inspect", "model.safetensors"]);
    assert_fails(&output, "model.safetensors is empty", "The download probably stopped early.");
}

#[test]
fn a_well_known_model_that_is_not_there_can_be_downloaded() {
    let folder = TempDir::new().unwrap();
    let output = draw(folder.path(), &["--model", "sdxl"]);
    assert_fails(
        &output,
        "Stable Diffusion XL is not on this machine",
        "Download it from huggingface.co/stabilityai/stable-diffusion-xl-base-1.0",
    );
}

#[test]
fn settings_that_cannot_be_drawn_are_named() {
    let folder = TempDir::new().unwrap();
    let fails = |further: &[&str], what: &str| {
        let mut arguments = vec!["generate", "--prompt", "x"];
        arguments.extend(further);
        let output = run(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(&format!("error: {what}")), "{}", stderr(&output));
    };
    fails(&["--width", "100"], "width 100 is not a multiple of 16; use 96 or 112\n");
    fails(&["--height", "0"], "height 0 is not a multiple of 16; use 16 or 32\n");
    fails(&["--steps", "0"], "0 steps would leave only noise; use 1 or more\n");
    fails(&["--steps", "1001"], "1001 steps are too many");
    fails(&["--batch-size", "0"], "batch size 0 produces nothing");
    fails(&["--guidance", "-1"], "guidance -1 is invalid; use 0 or more");
    fails(&["--guidance", "NaN"], "guidance NaN is invalid; use 0 or more");
}

#[test]
fn a_picture_that_cannot_be_written_is_known_before_the_run() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let help = "Choose a file name that ends in one of these; .png keeps every pixel.";
    for (output, what, help) in [
        ("a.bmp", "a.bmp does not end in .png, .jpg or .webp", help),
        (".", ". is a folder", "Add a file name that ends in .png."),
        ("file/a.png", "file is a file", "Choose a folder that you can write to."),
        ("a.mp4", "a.mp4 does not end in .png, .jpg or .webp", help),
    ] {
        let failed = draw(folder.path(), &["--output", output]);
        assert_fails(&failed, what, help);
        assert!(!stderr(&failed).contains("encode"), "{}", stderr(&failed));
    }
    if cfg!(target_os = "linux") {
        let failed = draw(folder.path(), &["--output", "/proc/self/a.png"]);
        assert_fails(&failed, "the folder /proc/self is not writable", "Choose a folder");
    }
}

#[test]
fn a_clip_that_cannot_be_written_is_known_before_the_run() {
    let folder = TempDir::new().unwrap();
    let fails = |arguments: &[&str], what: &str, help: &str| {
        let failed = draw(folder.path(), &[&["--frames", "9", "--fps", "8"], arguments].concat());
        assert_fails(&failed, what, help);
        assert!(!stderr(&failed).contains("encode"), "{}", stderr(&failed));
    };
    let help = "Choose one of these, or the name of a folder for a PNG of each frame.";
    fails(&["--output", "a.avi"], "a.avi does not end in .mp4, .m4v, .webp, .gif or .png", help);
    let help = "Choose one of these, or another codec.";
    fails(&["--codec", "prores", "--output", "a.mp4"], "a.mp4 does not end in .mov or .mkv", help);
    // The starter generates images.
    let failed = draw(folder.path(), &["--frames", "9", "--output", "frames/"]);
    assert!(stderr(&failed).contains("this model generates images, not clips"), "{}", stderr(&failed));
}

#[test]
fn the_settings_of_an_image_are_shown() {
    let folder = TempDir::new().unwrap();
    assert_fine(&draw(folder.path(), &["--output", "a.png"]));
    let shown = run(folder.path(), &["inspect", "a.png"]);
    assert_fine(&shown);
    assert!(
        stdout(&shown).starts_with("a.png, settings by Sluice\n\na red circle\nSteps: 2, "),
        "{}",
        stdout(&shown)
    );
    let shown = run(folder.path(), &["inspect", "a.png", "--json"]);
    let json: Value = serde_json::from_str(stdout(&shown)).unwrap();
    assert_eq!(json["request"]["prompt"], "a red circle");
    fs::write(folder.path().join("b.mp4"), "nothing").unwrap();
    assert_fails(
        &run(folder.path(), &["inspect", "b.mp4"]),
        "b.mp4 is not a PNG, JPEG, WebP, GIF or MP4 file",
        "Choose an image or a clip made by Sluice",
    );
}

#[test]
fn the_same_settings_give_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let picture = |name: &str, further: &[&str]| {
        let output = draw(folder.path(), &[&["--output", name], further].concat());
        assert_fine(&output);
        assert_eq!(stdout(&output), format!("{name}\n"));
        fs::read(folder.path().join(name)).unwrap()
    };
    let first = picture("a.png", &[]);
    assert_eq!(first, picture("b.png", &[]));
    assert_eq!(first, picture("new/folder/c.png", &["--threads", "1"]));
    assert_ne!(first, picture("d.png", &["--seed", "8"]));
}

#[test]
fn the_settings_are_in_the_file_and_the_standard_error_tells_the_story() {
    let folder = TempDir::new().unwrap();
    let output = draw(
        folder.path(),
        &["--negative-prompt", "fog, \"mist\"", "--guidance", "2.5", "--output", "a.png"],
    );
    assert_fine(&output);
    let lines: Vec<_> = stderr(&output).lines().collect();
    assert!(lines[0].ends_with(": 1 image of 64×64, 2 steps, guidance 2.5, seed 7"), "{lines:?}");
    for start in ["encode: ", "step 1 of 2: ", "step 2 of 2: ", "denoise: ", "decode: ", "done in "] {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{lines:?}");
    }
    let read = read_settings(&folder.path().join("a.png")).unwrap();
    assert_eq!(read.origin, Origin::Sluice);
    let request = read.settings.request;
    assert_eq!(
        (request.prompt.as_str(), request.negative_prompt.as_str()),
        ("a red circle", "fog, \"mist\"")
    );
    assert_eq!((request.width, request.height, request.steps, request.seed), (64, 64, 2, 7));
    assert_eq!(request.guidance, 2.5);
}

#[test]
fn a_batch_has_a_file_for_each_picture() {
    let folder = TempDir::new().unwrap();
    let output = draw(folder.path(), &["--batch-size", "2", "--output", "a.png", "--quiet"]);
    assert_fine(&output);
    assert_eq!((stdout(&output), stderr(&output)), ("a.png\na-2.png\n", ""));
    assert_fine(&draw(folder.path(), &["--seed", "8", "--output", "alone.png"]));
    let pixels = |name: &str| {
        let picture = image::open(folder.path().join(name)).unwrap();
        (picture.width(), picture.height(), picture.into_rgb8().into_raw())
    };
    assert_eq!(read_settings(&folder.path().join("a-2.png")).unwrap().settings.seed, 8);
    assert_ne!(pixels("a.png"), pixels("a-2.png"));
    assert_eq!((pixels("alone.png").0, pixels("alone.png").1), (64, 64));
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_name_the_picture_goes_to_the_pictures() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join(".config")).unwrap();
    fs::write(folder.path().join(".config/user-dirs.dirs"), "XDG_PICTURES_DIR=\"$HOME/Bilder\"\n").unwrap();
    let output = run(
        folder.path(),
        &["generate", "--prompt", "x", "--steps", "1", "--width", "64", "--height", "64", "--json"],
    );
    assert_fine(&output);
    let finished = json_lines(&output).pop().unwrap();
    let picture = &finished["pictures"][0];
    let path = Path::new(picture["path"].as_str().unwrap());
    assert_eq!(path.parent().unwrap(), folder.path().join("Bilder/Sluice"));
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.ends_with(&format!("-0001-{}.png", picture["seed"])), "{name}");
    assert!(path.is_file());
    assert!(picture["seed"].as_u64().unwrap() <= u64::from(u32::MAX));
}

#[test]
fn json_has_an_event_a_line_and_no_pixels() {
    let folder = TempDir::new().unwrap();
    let output = draw(folder.path(), &["--json", "--output", "a.png"]);
    assert_fine(&output);
    assert_eq!(stderr(&output), "");
    assert!(!stdout(&output).contains("\"pixels\""));
    let lines = json_lines(&output);
    let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!((events[0], events[events.len() - 1]), ("model_loaded", "finished"));
    assert_eq!(events.iter().filter(|event| **event == "step").count(), 2);
    let picture = &lines[lines.len() - 1]["pictures"][0];
    assert_eq!((&picture["path"], &picture["seed"]), (&"a.png".into(), &7.into()));
    assert_eq!(picture["image"], serde_json::json!({ "width": 64, "height": 64 }));

    let failed = draw(folder.path(), &["--json", "--width", "100"]);
    assert_eq!(failed.status.code(), Some(1));
    let last = json_lines(&failed).pop().unwrap();
    assert_eq!(last["event"], "failed");
    let message = last["failure"]["message"].as_str().unwrap();
    assert!(stderr(&failed).starts_with(&format!("error: {message}\n")), "{}", stderr(&failed));
}

/// The names and shapes in a safetensors file.
fn tensors(path: &Path) -> serde_json::Map<String, Value> {
    let bytes = fs::read(path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[8..8 + length]).unwrap()
}

#[test]
fn the_stages_can_be_dumped_and_the_latents_given() {
    let folder = TempDir::new().unwrap();
    let output = draw(folder.path(), &["--dump", "stages.safetensors", "--output", "a.png"]);
    assert_fine(&output);
    let stages = tensors(&folder.path().join("stages.safetensors"));
    let names: BTreeSet<_> = stages.keys().map(String::as_str).collect();
    for name in
        ["latents.init", "scheduler.sigmas", "step.0.latents", "step.1.latents", "vae.decode.out", "output"]
    {
        assert!(names.contains(name), "{name} is not among {names:?}");
    }

    let bytes = fs::read(folder.path().join("stages.safetensors")).unwrap();
    let data = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut latents = stages["latents.init"].clone();
    let range: Vec<usize> = serde_json::from_value(latents["data_offsets"].clone()).unwrap();
    latents["data_offsets"] = serde_json::json!([0, range[1] - range[0]]);
    let header = serde_json::json!({ "latents": latents }).to_string();
    let values = &bytes[data + range[0]..data + range[1]];
    let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), values].concat();
    fs::write(folder.path().join("latents.safetensors"), file).unwrap();
    let given = ["--seed", "8", "--initial-latents", "latents.safetensors", "--output", "b.png"];
    assert_fine(&draw(folder.path(), &given));
    let pixels = |name: &str| image::open(folder.path().join(name)).unwrap().into_rgb8().into_raw();
    assert!(pixels("a.png") == pixels("b.png"), "the noise decides, not the seed that it did not come from");

    let missing = draw(folder.path(), &["--initial-latents", "none.safetensors", "--output", "c.png"]);
    assert_fails(&missing, "the initial latents in none.safetensors", "Use a safetensors file");
}

#[test]
fn inspect_says_what_the_starter_is_made_of() {
    let folder = TempDir::new().unwrap();
    let table = run(folder.path(), &["inspect", "starter"]);
    assert_fine(&table);
    for word in
        ["family  Z-Image (z_image)", "component", "text_encoder", "denoiser", "autoencoder", "MiB", "each"]
    {
        assert!(stdout(&table).contains(word), "{word} is not in\n{}", stdout(&table));
    }
    assert!(stdout(&table).lines().all(|line| line.trim_end() == line));
    let every = run(folder.path(), &["inspect", "starter", "--blocks"]);
    assert_fine(&every);
    assert!(stdout(&every).lines().count() > stdout(&table).lines().count());

    let json = run(folder.path(), &["inspect", "starter", "--json"]);
    assert_fine(&json);
    let summary: Value = serde_json::from_str(stdout(&json)).unwrap();
    assert_eq!(summary["family"], "z_image");
    for component in summary["components"].as_array().unwrap() {
        let sum = |field: &str| -> u64 {
            let blocks = component["blocks"].as_array().unwrap();
            blocks.iter().map(|block| block[field].as_u64().unwrap()).sum()
        };
        assert_eq!(component["bytes"], sum("bytes"));
        assert_eq!(component["parameters"], sum("parameters"));
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = TempDir::new().unwrap();
    for arguments in [
        vec!["--help"],
        vec!["inspect", "starter"],
        vec!["plan"],
        vec!["probe"],
        vec![
            "generate", "--prompt", "x", "--steps", "1", "--width", "64", "--height", "64", "--json", "-o",
            "a.png",
        ],
    ] {
        let mut child = sluice(folder.path(), &arguments);
        let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stderr(&output), "");
    }
    assert!(folder.path().join("a.png").is_file());
}

/// Starts a run in the folder and returns after its first step.
#[cfg(unix)]
fn start(folder: &Path, arguments: &[&str]) -> (Child, BufReader<ChildStderr>) {
    let mut command = sluice(folder, &[&["generate", "--prompt", "x"], arguments].concat());
    command.env("TMPDIR", folder.join("temporary")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut story = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("step 1 ") {
        line.clear();
        assert_ne!(story.read_line(&mut line).unwrap(), 0, "it ended before the first step");
    }
    (child, story)
}

#[cfg(unix)]
#[test]
fn ctrl_c_cancels() {
    let folder = TempDir::new().unwrap();
    let size = ["--width", "256", "--height", "256", "--steps", "1000", "--output", "a.png"];
    let (mut child, mut story) = start(folder.path(), &size);
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let mut rest = String::new();
    story.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(rest.ends_with("cancelled\n"), "{rest}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn pictures_whose_folder_vanishes_are_kept() {
    let folder = TempDir::new().unwrap();
    let (child, mut story) =
        start(folder.path(), &["--steps", "12", "--batch-size", "2", "--output", "out/a.png"]);
    fs::remove_dir(folder.path().join("out")).unwrap();
    let mut rest = String::new();
    story.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{rest}");
    for name in ["out/a.png", "out/a-2.png"] {
        assert!(rest.contains(&format!("error: {name} cannot be written: ")), "{rest}");
    }
    let kept: Vec<_> = stdout(&output).lines().collect();
    assert_eq!(kept.len(), 2);
    for path in kept {
        assert!(rest.contains(&format!("; it was saved as {path} instead\n")), "{rest}");
        assert_eq!(read_settings(Path::new(path)).unwrap().settings.request.prompt, "x");
    }
}

#[test]
fn an_option_of_another_program_is_answered_with_ours() {
    let folder = TempDir::new().unwrap();
    for (arguments, tip) in [
        (
            ["generate", "-p", "x", "--max-vram", "8"],
            "`--max-vram` of stable-diffusion.cpp is called `--vram-budget` here",
        ),
        (["generate", "-p", "x", "-H", "512"], "`-H` of stable-diffusion.cpp is called `--height` here"),
        (
            ["plan", "--reserve-vram=1", "--ram", "8", "--json"],
            "`--reserve-vram` of ComfyUI is called `--min-free-vram` here",
        ),
    ] {
        let refused = run(folder.path(), &arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(tip), "{}", stderr(&refused));
    }
}
