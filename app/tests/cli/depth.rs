//! Depth maps on the command line.

use std::fs;

use super::{adapter::write, assert_fails, draw, run};

#[test]
fn what_makes_no_depth_map_is_said() {
    let folder = tempfile::tempdir().unwrap();
    image::RgbImage::new(20, 12).save(folder.path().join("a.png")).unwrap();
    fs::write(folder.path().join("vits.pth"), b"PK\x03\x04").unwrap();
    write(&folder.path().join("other.safetensors"), &[("pretrained.cls_token", [1, 384])]);
    let with = |more: &[&str]| run(folder.path(), &[&["depth"], more].concat());
    let what = "other.safetensors cannot make depth maps: it is no Depth Anything network";
    assert_fails(
        &with(&["a.png", "--model", "other.safetensors"]),
        what,
        "Choose a .safetensors file of Depth",
    );
    assert_fails(
        &with(&["a.png", "--model", "vits.pth"]),
        "vits.pth is a pickle file",
        "Sluice never opens such files",
    );
    assert_fails(&with(&["a.png", "--model", "no.safetensors"]), "there is no file or folder", "Check");
    assert_fails(
        &with(&["no.png", "--model", "other.safetensors"]),
        "the image no.png cannot be read",
        "Choose",
    );
}

#[test]
fn a_control_net_that_follows_depths_needs_an_estimator() {
    let folder = tempfile::tempdir().unwrap();
    let one =
        ["--control-net", "a.safetensors", "--control-image", "a.png", "--depth-model", "d.safetensors"];
    let output = draw(folder.path(), &one);
    assert!(!output.status.success());
    assert!(super::stderr(&output).contains("--control-preprocessor"), "{}", super::stderr(&output));
}
