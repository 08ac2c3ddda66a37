//! Plans, simulated GPUs, and reports on memory.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use sluice_engine::output::read_settings;
use tempfile::TempDir;

use super::{assert_fails, assert_fine, draw, json_lines, run, stderr, stdout};

/// A plan for a small image of the starter as JSON, with additional arguments.
fn planned(folder: &Path, further: &[&str]) -> Value {
    let size =
        ["plan", "--json", "--prompt", "a red circle", "--steps", "2", "--width", "64", "--height", "64"];
    let output = run(folder, &[&size, further].concat());
    assert_fine(&output);
    serde_json::from_str(stdout(&output)).unwrap()
}

#[test]
fn a_plan_refuses_a_dry_run() {
    let folder = TempDir::new().unwrap();
    for model in ["starter", "flux.1-dev"] {
        let refused = run(folder.path(), &["plan", "--model", model, "--estimate", "dryrun"]);
        assert_fails(&refused, "`plan` computes nothing", "Leave out `--estimate`");
    }
    assert_fine(&draw(folder.path(), &["--estimate", "dryrun"]));
}

#[test]
fn a_plan_is_a_sentence_and_tables() {
    let folder = TempDir::new().unwrap();
    let table = run(folder.path(), &["plan", "--card", "rtx-3060"]);
    assert_fine(&table);
    assert!(
        stdout(&table).starts_with("Starter: 1 image of 128×128, 12 steps, guidance 2, computed in bf16\n"),
        "{}",
        stdout(&table)
    );
    for word in ["encode", "denoise", "decode", "strategy", "VRAM", "recommended", "Minimum VRAM: "] {
        assert!(stdout(&table).contains(word), "{word} is not in\n{}", stdout(&table));
    }
    assert!(stdout(&table).lines().all(|line| line.trim_end() == line));

    let here = run(folder.path(), &["plan", "starter"]);
    assert_eq!(here.status.code(), Some(2), "the model is an option");
    let here = run(folder.path(), &["plan"]);
    assert_fine(&here);
    assert!(stdout(&here).contains("Minimum memory: "), "{}", stdout(&here));
}

#[test]
fn a_plan_as_json_is_the_whole_forecast() {
    let folder = TempDir::new().unwrap();
    let forecast = planned(folder.path(), &["--card", "rtx-3060", "--ram", "16"]);
    let plan = &forecast["plan"]["Ok"];
    let stages: Vec<_> = plan["stages"].as_array().unwrap().iter().map(|stage| &stage["stage"]).collect();
    assert_eq!(stages, ["encode", "denoise", "decode"]);
    assert!(forecast["least_device"].as_u64().unwrap() > 0);
    let alternatives = forecast["alternatives"].as_array().unwrap();
    assert_eq!(alternatives.iter().filter(|one| one["recommended"] == true).count(), 1);
    assert!(forecast["machine"]["host_budget"].as_u64().unwrap() <= 14 << 30);
}

#[test]
fn a_file_takes_as_long_on_a_card_that_is_asked_about_as_the_model_it_is_like() {
    let folder = TempDir::new().unwrap();
    let make = ["bench", "make-checkpoint", "--hollow", "--output", "hollow", "--dtype"];
    for (like, dtype) in [("sd-1.5", "f16"), ("z-image", "bf16")] {
        assert_fine(&run(folder.path(), &[&make[..], &[dtype, "--like", like]].concat()));
        let seconds = |model: &str| {
            let output = run(folder.path(), &["plan", "--json", "--card", "rtx-4090", "--model", model]);
            assert_fine(&output);
            let forecast: Value = serde_json::from_str(stdout(&output)).unwrap();
            forecast["plan"]["Ok"]["seconds"].as_f64().unwrap()
        };
        let (file, entry) = (seconds("./hollow"), seconds(like));
        assert!((file / entry - 1.0).abs() < 0.02, "{like}: {file} and {entry} seconds");
        fs::remove_dir_all(folder.path().join("hollow")).unwrap();
    }
}

#[test]
fn a_well_known_model_can_be_planned_before_it_is_there() {
    let folder = TempDir::new().unwrap();
    let forecast = |arguments: &[&str]| -> Value {
        let output = run(folder.path(), &[&["plan", "--json", "--model", "flux.1-dev"], arguments].concat());
        assert_fine(&output);
        serde_json::from_str(stdout(&output)).unwrap()
    };
    let peak = |forecast: &Value| {
        let stages = forecast["plan"]["Ok"]["stages"].as_array().unwrap().clone();
        let device =
            |stage: &Value| stage["weights"].as_u64().unwrap() + stage["activations"].as_u64().unwrap();
        stages.iter().map(device).max().unwrap()
    };
    let small = forecast(&["--card", "rtx-3060", "--ram", "64"]);
    assert!(peak(&small) <= 12 << 30);
    let large = forecast(&["--vram", "24", "--ram", "64"]);
    assert!(peak(&large) <= 24 << 30);
    assert!(large["machine"]["device_total"].as_u64().unwrap() >= 24 << 30);

    let refused = forecast(&["--vram", "8GB", "--ram", "64", "--offload", "none"]);
    assert!(refused["plan"]["Err"].is_object(), "{refused}");
    let table = run(
        folder.path(),
        &["plan", "--model", "flux.1-dev", "--vram", "8", "--offload", "none", "--steps", "4"],
    );
    assert_fine(&table);
    for words in ["Does not fit on the GPU", "more VRAM", "not available"] {
        assert!(stdout(&table).contains(words), "{words} is not in\n{}", stdout(&table));
    }
}

#[test]
fn a_plan_says_so_if_it_holds_weights_in_8_bits() {
    let folder = TempDir::new().unwrap();
    let planned = |more: &[&str]| {
        let asked = ["plan", "--model", "flux.1-dev", "--card", "rtx-4060", "--ram", "64"];
        let small = ["--width", "512", "--height", "512", "--optimize-for", "memory"];
        let output = run(folder.path(), &[&asked[..], &small, more].concat());
        assert_fine(&output);
        stdout(&output).to_owned()
    };
    let words = "The text encoders' weights are held in 8 bits (INT8), which changes the image slightly.";
    assert!(planned(&["--allow-8-bit"]).contains(words), "{}", planned(&["--allow-8-bit"]));
    assert!(!planned(&[]).contains(words));
}

#[test]
fn what_cannot_be_planned_is_said_in_words() {
    let folder = TempDir::new().unwrap();
    let unknown = run(folder.path(), &["plan", "--model", "flux.1-dew"]);
    assert_fails(
        &unknown,
        "there is no file, folder or well-known model named flux.1-dew",
        "Did you mean flux.1-dev? ",
    );
    let unknown = run(folder.path(), &["plan", "--model", "my/own/model"]);
    assert_fails(
        &unknown,
        "there is no file, folder or well-known model named my/own/model",
        "Check the path, or use one of ",
    );
    let card = run(folder.path(), &["plan", "--vram", "16", "--card", "rtx-3060"]);
    assert_fails(&card, "no simulated GPU has 16.0 GB of VRAM", "The ");
    let gpu = run(folder.path(), &["plan", "--gpu", "7"]);
    assert_fails(&gpu, "there is no GPU 7 here", "This version of Sluice computes on the CPU.");
    let size = run(folder.path(), &["plan", "--width", "100"]);
    assert_eq!(size.status.code(), Some(1), "{}", stderr(&size));
    assert!(stderr(&size).contains("width 100 is not a multiple of 16"), "{}", stderr(&size));
}

#[test]
fn probe_says_what_the_machine_has_and_which_cards_can_be_simulated() {
    let folder = TempDir::new().unwrap();
    let table = run(folder.path(), &["probe"]);
    assert_fine(&table);
    for word in ["CPU", "RAM", "NVIDIA", "rtx-3060", "rtx-4090", "12.0 GB"] {
        assert!(stdout(&table).contains(word), "{word} is not in\n{}", stdout(&table));
    }
    let json = run(folder.path(), &["probe", "--json"]);
    assert_fine(&json);
    let all: Value = serde_json::from_str(stdout(&json)).unwrap();
    assert!(all["hardware"]["ram_total"].as_u64().unwrap() > 0);
    assert!(all["cards"].as_array().unwrap().iter().any(|card| card["id"] == "rtx-4090"));
}

#[test]
fn no_way_of_using_memory_changes_the_picture() {
    let folder = TempDir::new().unwrap();
    let picture = |name: &str, further: &[&str]| {
        let output = draw(folder.path(), &[&["--output", name], further].concat());
        assert_fine(&output);
        fs::read(folder.path().join(name)).unwrap()
    };
    let here = picture("here.png", &[]);
    assert_eq!(here, picture("card.png", &["--card", "rtx-4060", "--dtype", "f32"]));
    let streamed = ["--offload", "layer_streaming", "--vram-budget", "64MB", "--prefetch", "2"];
    let card = ["--card", "rtx-3060", "--dtype", "f32"];
    assert_eq!(here, picture("streamed.png", &[&card[..], &streamed[..]].concat()));
    let placed = [
        "--text-encoder-placement",
        "on-demand",
        "--denoiser-placement",
        "streamed",
        "--vae-placement",
        "staged",
    ];
    assert_eq!(here, picture("placed.png", &[&card[..], &placed[..]].concat()));
    // In the precision that the GPU would use.
    let rounded = picture("rounded.png", &["--dtype", "bf16"]);
    assert_ne!(here, rounded);
    assert_eq!(rounded, picture("ampere.png", &["--card", "rtx-3060"]));
    assert_eq!(here, picture("turing.png", &["--card", "rtx-2070"]));
}

#[test]
fn cards_compute_in_the_bits_that_a_model_was_published_for() {
    let folder = TempDir::new().unwrap();
    for (model, ampere, turing) in [("sd1.5", "f16", "f16"), ("flux.1-dev", "bf16", "f32")] {
        let make = ["bench", "make-checkpoint", "--like", model, "--tiny", "--output", model];
        assert_fine(&run(folder.path(), &make));
        let path = format!("./{model}");
        for (dtype, further) in [
            (ampere, &["--card", "rtx-3060"][..]),
            (turing, &["--card", "rtx-2070"]),
            ("f32", &["--cpu"]),
            ("bf16", &["--cpu", "--dtype", "bf16"]),
        ] {
            let forecast = planned(folder.path(), &[&["--model", &path], further].concat());
            assert_eq!(forecast["dtype"], dtype, "{model} {further:?}");
        }
        // In f32 without tensor cores.
        for (card, slower) in [("rtx-3060", 2.0), ("rtx-2070", 4.0)] {
            let [half, single] = ["f16", "f32"].map(|dtype| {
                let asked = ["--model", &path, "--card", card, "--dtype", dtype];
                planned(folder.path(), &asked)["machine"]["operations_per_second"].as_f64().unwrap()
            });
            assert_eq!(half / single, slower, "{model} on {card}");
        }
    }
}

#[test]
fn the_least_budget_works_and_less_is_refused_before_the_run() {
    let folder = TempDir::new().unwrap();
    let card = ["--card", "rtx-3060", "--offload", "layer_streaming"];
    let least = planned(folder.path(), &card)["least_device"].as_u64().unwrap();
    let budget = format!("{least}B");
    assert_fine(&draw(
        folder.path(),
        &[&card[..], &["--vram-budget", &budget, "--output", "a.png"]].concat(),
    ));
    // In another folder, so that the run above does not correct the prediction.
    let folder = TempDir::new().unwrap();
    let budget = format!("{}B", least * 95 / 100);
    let refused =
        draw(folder.path(), &[&card[..], &["--vram-budget", &budget, "--output", "b.png"]].concat());
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("error: ") && stderr(&refused).contains("help: "),
        "{}",
        stderr(&refused)
    );
    assert!(!stderr(&refused).contains("encode:"), "{}", stderr(&refused));
    assert!(!folder.path().join("b.png").exists());
}

#[test]
fn a_run_reports_about_itself() {
    let folder = TempDir::new().unwrap();
    let card =
        ["--card", "rtx-3060", "--offload", "layer_streaming", "--vram-budget", "5MB", "--output", "a.png"];
    let files = ["--telemetry", "run.jsonl", "--trace", "trace.json", "--offload-log"];
    let output = draw(folder.path(), &[&card[..], &files].concat());
    assert_fine(&output);
    let telemetry = fs::read_to_string(folder.path().join("run.jsonl")).unwrap();
    let lines: Vec<Value> = telemetry.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["kind"], "header");
    for kind in ["plan", "block", "step", "memory"] {
        assert!(lines.iter().any(|line| line["kind"] == kind), "{kind}");
    }
    let trace = fs::read_to_string(folder.path().join("trace.json")).unwrap();
    assert!(serde_json::from_str::<Value>(&trace).is_ok_and(|trace| trace.is_object() || trace.is_array()));
    for words in ["step 2 of 2: ", "text encoder", "placement", "moved", "streamed", " of ", "(predicted "] {
        assert!(stderr(&output).contains(words), "{words} is not in\n{}", stderr(&output));
    }
    assert_eq!(stdout(&output), "a.png\n");
}

#[test]
fn telemetry_is_among_the_events_only_if_asked_for() {
    let folder = TempDir::new().unwrap();
    let events = |further: &[&str]| {
        let output = draw(folder.path(), &[&["--json", "--output", "a.png"], further].concat());
        assert_fine(&output);
        assert_eq!(stderr(&output), "");
        let names = json_lines(&output).into_iter().map(|line| line["event"].as_str().unwrap().to_owned());
        names.collect::<BTreeSet<_>>()
    };
    let plain = events(&[]);
    assert!(plain.contains("outcome") && !plain.contains("telemetry"), "{plain:?}");
    assert!(events(&["--offload-log"]).contains("telemetry"));
}

#[test]
fn several_prompts_are_drawn_one_after_the_other() {
    let folder = TempDir::new().unwrap();
    let further = [
        "--prompt",
        "a blue square",
        "--output",
        "a.png",
        "--telemetry",
        "run.jsonl",
        "--keep-loaded",
        "all",
    ];
    let output = draw(folder.path(), &further);
    assert_fine(&output);
    assert_eq!(stdout(&output), "a-1.png\na-2.png\n");
    assert!(stderr(&output).contains("prompt 2 of 2: a blue square\n"), "{}", stderr(&output));
    for (name, prompt) in [("a-1.png", "a red circle"), ("a-2.png", "a blue square")] {
        assert_eq!(read_settings(&folder.path().join(name)).unwrap().settings.request.prompt, prompt);
    }
    assert!(folder.path().join("run-1.jsonl").is_file() && folder.path().join("run-2.jsonl").is_file());
    let pixels = |name: &str| image::open(folder.path().join(name)).unwrap().into_rgb8().into_raw();
    let kept = pixels("a-2.png");
    let arguments =
        ["generate", "--prompt", "a blue square", "--steps", "2", "--width", "64", "--height", "64"];
    let keep = ["--seed", "7", "--keep-loaded", "none", "--output", "b.png"];
    assert_fine(&run(folder.path(), &[&arguments[..], &keep].concat()));
    assert!(kept == pixels("b.png"), "keeping weights in memory changed the image");
}
