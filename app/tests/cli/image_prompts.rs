//! Image prompts on the command line.

use std::fs;

use super::{adapter::write, assert_fails, assert_fine, draw, run, stdout};

const IP_ADAPTER: [(&str, [usize; 2]); 3] = [
    ("image_proj.proj.weight", [3072, 1024]),
    ("ip_adapter.1.to_k_ip.weight", [320, 768]),
    ("ip_adapter.1.to_v_ip.weight", [320, 768]),
];

#[test]
fn several_adapters_need_an_image_each() {
    let folder = tempfile::tempdir().unwrap();
    let two = ["--ip-adapter", "a.safetensors", "--ip-adapter", "b.safetensors", "--image-prompt", "a.png"];
    let what = "2 IP-Adapters and 1 image for them are given";
    assert_fails(&draw(folder.path(), &two), what, "Give an --image-prompt for each --ip-adapter.");
}

#[test]
fn one_for_another_model_says_so() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("style.safetensors"), &IP_ADAPTER);
    fs::write(folder.path().join("style.png"), "").unwrap();
    let one = ["--ip-adapter", "style.safetensors", "--image-prompt", "style.png"];
    let what = "style.safetensors cannot be used as an IP-Adapter: no IP-Adapters for this kind of model can be used yet";
    assert_fails(&draw(folder.path(), &one), what, "Choose an IP-Adapter made for the model");
}

#[test]
fn inspect_says_which_models_one_is_for() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("style.safetensors"), &IP_ADAPTER);
    let output = run(folder.path(), &["inspect", "."]);
    assert_fine(&output);
    assert!(stdout(&output).contains("IP-Adapter for Stable Diffusion 1"), "{}", stdout(&output));
}
