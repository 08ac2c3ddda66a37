//! Detailers on the command line: what cannot be done is said.

use super::{adapter::write, assert_fails, draw, run, stderr};

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
