//! ControlNets on the command line.

use std::fs;

use super::{adapter::write, assert_fails, assert_fine, draw, run, stdout};

const CONTROL_NET: [(&str, [usize; 2]); 2] = [
    ("control_model.input_hint_block.0.weight", [16, 27]),
    ("control_model.input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight", [320, 768]),
];

#[test]
fn each_control_net_needs_an_image() {
    let folder = tempfile::tempdir().unwrap();
    let two =
        ["--control-net", "a.safetensors", "--control-net", "b.safetensors", "--control-image", "a.png"];
    let what = "2 ControlNets and 1 image for them are given";
    assert_fails(&draw(folder.path(), &two), what, "Give a --control-image for each --control-net.");
}

#[test]
fn one_that_follows_the_input_image_takes_none() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("edges.safetensors"), &CONTROL_NET);
    let inpaint = ["--control-net", "edges.safetensors", "--control-preprocessor", "inpaint"];
    let what = "edges.safetensors cannot be used as a ControlNet: it is for Stable Diffusion 1";
    assert_fails(&draw(folder.path(), &inpaint), what, "Choose a ControlNet made for the model");
    let more = [&inpaint[..], &["--control-image", "a.png"]].concat();
    let what = "0 ControlNets and 1 image for them are given";
    assert_fails(&draw(folder.path(), &more), what, "Give a --control-image for each --control-net.");
}

#[test]
fn options_without_what_they_are_for_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for option in [["--control-preprocessor", "canny"], ["--control-start", "0.2"], ["--control-end", "0.8"]]
    {
        let what = format!("{} is given, and nothing that it is for", option[0]);
        let help = "Give a --control-net, or a --control-video in models for that.";
        assert_fails(&draw(folder.path(), &option), &what, help);
    }
}

#[test]
fn one_for_another_model_says_so() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("edges.safetensors"), &CONTROL_NET);
    fs::write(folder.path().join("edges.png"), "").unwrap();
    let one = ["--control-net", "edges.safetensors", "--control-image", "edges.png"];
    let what = "edges.safetensors cannot be used as a ControlNet: it is for Stable Diffusion 1, and the model is Z-Image";
    assert_fails(&draw(folder.path(), &one), what, "Choose a ControlNet made for the model");
}

#[test]
fn inspect_says_which_models_one_is_for() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("edges.safetensors"), &CONTROL_NET);
    let output = run(folder.path(), &["inspect", "."]);
    assert_fine(&output);
    assert!(stdout(&output).contains("ControlNet for Stable Diffusion 1"), "{}", stdout(&output));
}

#[test]
fn inspect_knows_adapters_that_are_used_like_control_nets() {
    let folder = tempfile::tempdir().unwrap();
    let narrow = [("conv_in.weight", [320, 192]), ("body.0.block1.weight", [320, 320])];
    write(&folder.path().join("sketch.safetensors"), &narrow);
    let wide =
        [("adapter.conv_in.weight", [320, 768]), ("adapter.body.0.resnets.0.block1.weight", [320, 320])];
    write(&folder.path().join("wide.safetensors"), &wide);
    let output = run(folder.path(), &["inspect", "."]);
    assert_fine(&output);
    for what in ["T2I-Adapter for Stable Diffusion 1", "T2I-Adapter for Stable Diffusion XL"] {
        assert!(stdout(&output).contains(what), "{}", stdout(&output));
    }
}
