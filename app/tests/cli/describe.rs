//! Descriptions of images on the command line.

use std::{fs, path::Path};

use serde_json::json;
use sluice_engine::{
    output::{Clip, Codec, Image, Media, Settings, write_media},
    request::Request,
};

use super::{assert_fails, assert_fine, json_lines, models::write_model, run, stderr, stdout};

/// Describes with the model, in a few tokens.
fn describe(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let usual = ["describe", "--model", "model", "--max-tokens", "6"];
    run(folder, &[&usual, arguments].concat())
}

fn ready() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_model(&folder.path().join("model"));
    fs::create_dir(folder.path().join("photos")).unwrap();
    for name in ["photos/fox.png", "photos/fox.jpg", "photos/den.png", "single.png"] {
        image::RgbImage::new(60, 40).save(folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn a_seed_gives_the_same_words_on_the_standard_output() {
    let folder = ready();
    let words = |seed: &str| {
        let output = describe(folder.path(), &["single.png", "--seed", seed]);
        assert_fine(&output);
        assert!(stderr(&output).contains("a description of up to 6 tokens, seed"), "{}", stderr(&output));
        stdout(&output).to_owned()
    };
    let first = words("7");
    assert_eq!(first.lines().count(), 1, "{first}");
    assert_eq!(words("7"), first);
    assert_ne!(words("8"), first);
    assert!(!folder.path().join("single.txt").exists(), "nothing is saved unless it is asked for");
}

#[test]
fn words_are_saved_beside_images_once() {
    let folder = ready();
    let output = describe(folder.path(), &["photos", "--save", "--instruction", "tags"]);
    assert_fine(&output);
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    for (image, text) in [("den.png", "den.txt"), ("fox.jpg", "fox.txt"), ("fox.png", "fox.png.txt")] {
        let line =
            lines.iter().find_map(|line| line.split_once('\t').filter(|(name, _)| name.ends_with(image)));
        assert_eq!(read(&format!("photos/{text}")).trim_end(), line.unwrap().1.trim_end(), "{image}");
    }
    fs::write(folder.path().join("photos/den.txt"), "my own words").unwrap();
    fs::remove_file(folder.path().join("photos/fox.txt")).unwrap();
    let again = describe(folder.path(), &["photos", "--save"]);
    assert_fine(&again);
    assert!(stderr(&again).contains("den.png left out"), "{}", stderr(&again));
    assert_eq!(read("photos/den.txt"), "my own words");
    let planned = describe(folder.path(), &["photos/den.png", "--save", "--plan"]);
    assert!(stdout(&planned).contains("den.png: a description of up to 6 tokens"), "{}", stderr(&planned));
    assert!(!read("photos/fox.txt").is_empty());

    let elsewhere = describe(folder.path(), &["photos/den.png", "single.png", "--output", "captions"]);
    assert_fine(&elsewhere);
    assert!(!read("captions/den.txt").is_empty() && !read("captions/single.txt").is_empty());
}

#[test]
fn what_cannot_be_read_in_a_folder_is_left_out_and_named() {
    let folder = ready();
    fs::write(folder.path().join("photos/broken.png"), "no image").unwrap();
    let output = describe(folder.path(), &["photos"]);
    assert_fine(&output);
    assert_eq!(stdout(&output).lines().count(), 3, "{}", stdout(&output));
    let said = "left out: photos/broken.png is not an image that can be read";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn events_and_results_are_lines_of_json() {
    let folder = ready();
    let output = describe(folder.path(), &["photos/den.png", "single.png", "--together", "--json"]);
    assert_fine(&output);
    let lines = json_lines(&output);
    let result = lines.iter().find(|line| line["event"] == "description").unwrap();
    assert_eq!(result["images"], json!(["photos/den.png", "single.png"]));
    let whole = lines.iter().find(|line| line["is_whole"] == true).unwrap();
    assert_eq!(result["text"], whole["text"]);
}

#[test]
fn what_it_takes_is_said_beforehand() {
    let folder = ready();
    let output = describe(folder.path(), &["single.png", "--plan"]);
    assert_fine(&output);
    assert!(stdout(&output).contains("single.png: a description of up to 6 tokens"), "{}", stdout(&output));
}

#[test]
fn what_cannot_be_described_is_said() {
    let folder = ready();
    fs::write(folder.path().join("broken.png"), "no image").unwrap();
    assert_fails(&describe(folder.path(), &["missing.png"]), "", "");
    assert_fails(&describe(folder.path(), &["broken.png"]), "", "");
    let frames = (0..2).map(|_| Image::opaque(32, 32, vec![60; 32 * 32 * 3])).collect();
    let settings = Settings::new(&Request::default(), "", "", 0);
    let clip = Media::Clip(Clip::silent(frames, 8.0));
    write_media(&folder.path().join("clip.mp4"), &clip, &settings, Codec::H264).unwrap();
    let clip = describe(folder.path(), &["clip.mp4"]);
    assert_fails(&clip, "clip.mp4 is a clip, and an image is needed", "Choose a PNG, JPEG or WebP image.");
    let missing = run(folder.path(), &["describe", "single.png", "--language-model", "missing"]);
    assert_fails(&missing, "there is no file or folder missing", "Check the path");
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_fails(&describe(folder.path(), &["empty"]), "empty contains no images", "Give a folder with PNG");
    let none = ["describe", "single.png", "--model-folder", "empty"];
    assert_fails(
        &run(folder.path(), &none),
        "no language model that sees images was found",
        "Give the folder or the file of Qwen2.5-VL",
    );
    let few = describe(folder.path(), &["single.png", "--pixels", "10"]);
    assert_fails(&few, "images of 10 pixels cannot be described; use 3136 to 12845056", "");
    let both = describe(folder.path(), &["single.png", "--save", "--together"]);
    assert_eq!(both.status.code(), Some(2), "{}", stderr(&both));
}
