//! LoRAs on the command line.

use serde_json::{Value, json};

pub use super::models::write;
use super::{assert_fails, assert_fine, draw, run, stderr, stdout};

const FLUX: [(&str, [usize; 2]); 2] = [
    ("lora_unet_single_blocks_30_linear1.lora_down.weight", [16, 3072]),
    ("lora_unet_single_blocks_30_linear1.lora_up.weight", [21_504, 16]),
];

#[test]
fn inspect_says_what_an_adapter_is() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("ink.safetensors"), &FLUX);
    let output = run(folder.path(), &["inspect", "ink.safetensors"]);
    assert_fine(&output);
    let expected = "\
ink
  kind    LoRA
  rank    16
  for     FLUX.1
  changes denoiser (1 layer)
  size    1.50 MiB in 2 keys
";
    assert_eq!(stdout(&output), expected);
    let output = run(folder.path(), &["inspect", "ink.safetensors", "--json"]);
    let summary: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(summary["targets"], json!({ "denoiser": 1 }));

    write(&folder.path().join("half.safetensors"), &FLUX[..1]);
    let what = "half.safetensors: the tensors for layer lora_unet_single_blocks_30_linear1 do not fit together: \
                lora_B or lora_up is missing";
    assert_fails(&run(folder.path(), &["inspect", "half.safetensors"]), what, "The file is damaged");
}

#[test]
fn an_adapter_for_few_steps_brings_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let layer = "diffusion_model.layers.0.attention.to_q";
    let [down, up] = ["A", "B"].map(|side| format!("{layer}.lora_{side}.weight"));
    let name = "lightx2v_4steps_lora.safetensors";
    write(&folder.path().join(name), &[(&down, [2, 160]), (&up, [160, 2])]);
    let generate = |further: &[&str]| {
        let arguments =
            ["generate", "--prompt", "a red circle", "--width", "64", "--height", "64", "--seed", "7"];
        run(folder.path(), &[&arguments[..], further].concat())
    };
    let output = generate(&["--lora", name]);
    assert_fine(&output);
    let text = stderr(&output);
    assert!(text.contains("lightx2v_4steps_lora is made for 4 steps, guidance 1, shift 5."), "{text}");
    assert!(text.contains("4 steps, guidance 1, seed 7"), "{text}");
    let output = generate(&["--lora", name, "--steps", "3"]);
    assert_fine(&output);
    assert!(stderr(&output).contains("3 steps, guidance 1, seed 7"), "{}", stderr(&output));
}

#[test]
fn adapters_that_cannot_be_used_are_refused_before_a_step() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("mine/ink.safetensors"), &FLUX);
    let what = "mine/ink.safetensors is for FLUX.1, but this model is Z-Image";
    let help = "Remove it, or open a FLUX.1 model.";
    assert_fails(&draw(folder.path(), &["--lora", "mine/ink.safetensors:0.8"]), what, help);
    let prompt = |prompt| run(folder.path(), &["generate", "--prompt", prompt, "--lora-folder", "mine"]);
    assert_fails(&prompt("a fox <lora:ink:0.8>"), what, help);
    let what = "there is no LoRA named inc; similar names: ink";
    assert_fails(&prompt("a fox <lora:inc>"), what, "Remove it from the prompt, or put its file into");
    let missing = draw(folder.path(), &["--lora", "gone.safetensors"]);
    assert_fails(&missing, "there is no file or folder gone.safetensors", "Check the path");
}
