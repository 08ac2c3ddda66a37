//! Detailers on the command line.

use std::path::Path;

use sluice_engine::output::read_settings;

use super::{adapter::write, assert_fails, assert_fine, draw, run, stderr, stdout};

/// Channels between the layers of the detector.
const WIDTH: usize = 8;

/// A narrow YOLOv8 with weights of zero: it is half sure of something around every place.
fn detector(path: &Path) {
    let mut tensors: Vec<(String, Vec<usize>)> = Vec::new();
    let mut conv = |name: String, outputs: usize, inputs: usize, side: usize| {
        tensors.push((format!("{name}.conv.weight"), vec![outputs, inputs, side, side]));
        let norm = ["weight", "bias", "running_mean", "running_var"];
        tensors.extend(norm.map(|end| (format!("{name}.bn.{end}"), vec![outputs])));
    };
    let half = WIDTH / 2;
    for layer in [0, 1, 3, 5, 7, 16, 19] {
        conv(format!("model.{layer}"), WIDTH, if layer == 0 { 3 } else { WIDTH }, 3);
    }
    for layer in [2, 4, 6, 8, 12, 15, 18, 21] {
        // The later ones read two others.
        conv(format!("model.{layer}.cv1"), WIDTH, if layer < 12 { WIDTH } else { 2 * WIDTH }, 1);
        conv(format!("model.{layer}.cv2"), WIDTH, 3 * half, 1);
        for part in ["cv1", "cv2"] {
            conv(format!("model.{layer}.m.0.{part}"), half, half, 3);
        }
    }
    conv("model.9.cv1".to_owned(), half, WIDTH, 1);
    conv("model.9.cv2".to_owned(), WIDTH, 4 * half, 1);
    let mut last = Vec::new();
    for level in 0..3 {
        for (way, outputs) in [("cv2", 64), ("cv3", 1)] {
            let name = format!("model.22.{way}.{level}");
            for layer in 0..2 {
                conv(format!("{name}.{layer}"), WIDTH, WIDTH, 3);
            }
            last.push((format!("{name}.2"), outputs));
        }
    }
    for (name, outputs) in last {
        tensors.push((format!("{name}.weight"), vec![outputs, WIDTH, 1, 1]));
        tensors.push((format!("{name}.bias"), vec![outputs]));
    }
    let tensors: Vec<_> = tensors.iter().map(|(name, shape)| (name.as_str(), shape.clone())).collect();
    write(path, &tensors);
}

/// Inpaints what is found again, in the small size of the starter.
fn detail(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let detailer = ["--detailer", "face.safetensors", "--detailer-most", "1", "--detailer-strength", "0.6"];
    let size = ["--width", "64", "--height", "64", "--steps", "4", "--seed", "7"];
    run(folder, &[&["detail"][..], &detailer, &size, arguments].concat())
}

#[test]
fn what_is_found_in_an_image_is_inpainted_again() {
    let folder = tempfile::tempdir().unwrap();
    detector(&folder.path().join("face.safetensors"));
    assert_fine(&draw(folder.path(), &["--output", "circle.png"]));
    let pixels = |name: &str| image::open(folder.path().join(name)).unwrap().into_rgb8();
    let output = detail(folder.path(), &["circle.png"]);
    assert_fine(&output);
    assert_eq!(stdout(&output), "circle-detailed.png\n");
    let said = stderr(&output);
    assert!(said.contains("64×64, boxes in 64×64, up to"), "{said}");
    assert!(said.contains("detailer 1 found 1 box"), "{said}");
    assert!(pixels("circle-detailed.png") != pixels("circle.png"), "something was found");
    let request = read_settings(&folder.path().join("circle-detailed.png")).unwrap().settings.request;
    assert_eq!((request.prompt.as_str(), request.detailers.len()), ("a red circle", 1));
    let again = detail(folder.path(), &["circle.png"]);
    assert_fine(&again);
    assert!(stderr(&again).contains("left out: circle-detailed.png is there"), "{}", stderr(&again));
    let unsure =
        detail(folder.path(), &["circle.png", "--detailer-confidence", "0.6", "--output", "same.png"]);
    assert_fine(&unsure);
    assert!(pixels("same.png") == pixels("circle.png"), "nothing was found");
    assert!(stderr(&unsure).contains("detailer 1 found nothing"), "{}", stderr(&unsure));
    let planned = detail(folder.path(), &["circle.png", "--plan"]);
    assert_fine(&planned);
    assert!(stdout(&planned).contains("64×64, boxes in 64×64"), "a forecast although the result is there");
}

#[test]
fn images_of_a_folder_that_cannot_be_read_are_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    detector(&folder.path().join("face.safetensors"));
    std::fs::create_dir(folder.path().join("in")).unwrap();
    image::RgbImage::new(64, 64).save(folder.path().join("in/a.png")).unwrap();
    std::fs::write(folder.path().join("in/broken.png"), "no image").unwrap();
    let output = detail(folder.path(), &["in", "--output", "out", "--prompt", "a face"]);
    assert_fine(&output);
    assert_eq!(stdout(&output), "out/a-detailed.png\n");
    let said = "left out: in/broken.png is not an image that can be read";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn settings_of_images_that_are_generated_are_refused_for_those_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    detector(&folder.path().join("face.safetensors"));
    image::RgbImage::new(64, 64).save(folder.path().join("a.png")).unwrap();
    for (more, setting) in [
        (["--region", "a fox"], "regions"),
        (["--hires", "2"], "hires fix"),
        (["--batch-size", "2"], "a batch"),
    ] {
        let output = detail(folder.path(), &[&["a.png", "--prompt", "a face"][..], &more].concat());
        let what = format!("details of an image that exists are inpainted without {setting}; leave that out");
        assert_fails(&output, &what, "Change the setting");
    }
    // What a preset has is for images that are generated.
    std::fs::write(folder.path().join("large.toml"), "hires = true\nbatch = 2\n").unwrap();
    assert_fine(&detail(folder.path(), &["a.png", "--preset", "large.toml", "--plan"]));
}

#[test]
fn a_detector_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("face_yolov8n.pt"), b"PK\x03\x04archive").unwrap();
    let pickle = draw(folder.path(), &["--detailer", "face_yolov8n.pt"]);
    assert_fails(&pickle, "face_yolov8n.pt is a pickle file", "Sluice never opens such files.");
    assert!(stderr(&pickle).contains("convert it as docs/detailer.md says"), "{}", stderr(&pickle));
    assert!(stderr(&pickle).contains("guidance 2, 1 detailer"), "{}", stderr(&pickle));
    write(&folder.path().join("other.safetensors"), &[("model.0.conv.weight", [8, 3])]);
    let other = draw(folder.path(), &["--detailer", "other.safetensors"]);
    assert_fails(&other, "other.safetensors cannot find faces", "Choose a .safetensors file of YOLOv8");
    let missing = draw(folder.path(), &["--detailer", "none.safetensors"]);
    assert_fails(&missing, "there is no file or folder none.safetensors", "Check the path");
}

#[test]
fn options_without_a_detector_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let alone = draw(folder.path(), &["--detailer-strength", "0.3"]);
    assert_eq!(alone.status.code(), Some(2), "{}", stderr(&alone));
    assert!(stderr(&alone).contains("--detailer <FILE>"), "{}", stderr(&alone));
    let unsure = draw(folder.path(), &["--detailer", "a.safetensors", "--detailer-confidence", "1"]);
    assert!(!unsure.status.success());
    let order = draw(folder.path(), &["--detailer", "a.safetensors", "--detailer-order", "best"]);
    assert_eq!(order.status.code(), Some(2), "{}", stderr(&order));
}

#[test]
fn existing_images_need_a_detector_and_images() {
    let folder = tempfile::tempdir().unwrap();
    image::RgbImage::new(20, 12).save(folder.path().join("a.png")).unwrap();
    let plain = run(folder.path(), &["detail", "a.png", "--prompt", "a face"]);
    assert_fails(&plain, "nothing says what to find in the images", "Give a detector with --detailer");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let empty = run(folder.path(), &["detail", "empty", "--detailer", "face.safetensors"]);
    assert_fails(&empty, "empty contains no images", "Give a folder with PNG");
    let none = run(folder.path(), &["detail", "none.png", "--detailer", "face.safetensors"]);
    assert_fails(&none, "the image none.png cannot be read", "Choose a file that exists");
}
