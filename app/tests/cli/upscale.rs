//! Enlarging images and clips.

use std::{fs, path::Path};

use sluice_engine::output::{Clip, Codec, Image, Media, Settings, read_settings, write_media};
use sluice_engine::request::Request;
use tempfile::TempDir;

use super::{assert_fails, assert_fine, draw, json_lines, run, stderr, stdout};

fn picture(path: &Path, width: u32, height: u32) {
    image::RgbImage::from_fn(width, height, |x, y| image::Rgb([(x * 9) as u8, (y * 7) as u8, 120]))
        .save(path)
        .unwrap();
}

#[test]
fn an_image_is_enlarged_beside_itself_and_keeps_its_settings() {
    let folder = TempDir::new().unwrap();
    assert_fine(&draw(folder.path(), &["--output", "circle.png"]));
    let output = run(folder.path(), &["upscale", "circle.png", "--scale", "1.5"]);
    assert_fine(&output);
    assert_eq!(stdout(&output), "circle-1.5x.png\n");
    let said = stderr(&output);
    assert!(said.contains("realesr-animevideov3-x4: 64×64 to 96×96, up to"), "{said}");
    assert!(said.contains("of memory, about") && said.contains("upscale:"), "{said}");
    let path = folder.path().join("circle-1.5x.png");
    assert_eq!(image::image_dimensions(&path).unwrap(), (96, 96));
    let settings = read_settings(&path).unwrap().settings;
    assert_eq!(settings.request.prompt, "a red circle");
    assert_eq!(settings.enlarged[0].scale, 1.5);
    // A second time there is nothing to do.
    let again = run(folder.path(), &["upscale", "circle.png", "--scale", "1.5"]);
    assert_fine(&again);
    assert!(stderr(&again).contains("left out: circle-1.5x.png is there"), "{}", stderr(&again));
    let inspected = run(folder.path(), &["inspect", "circle-1.5x.png"]);
    assert!(stdout(&inspected).contains("a red circle"), "{}", stdout(&inspected));
}

#[test]
fn folders_and_clips_are_enlarged_into_a_folder() {
    let folder = TempDir::new().unwrap();
    let inputs = folder.path().join("in");
    fs::create_dir(&inputs).unwrap();
    picture(&inputs.join("a.png"), 20, 12);
    picture(&inputs.join("a.jpg"), 12, 20);
    fs::write(inputs.join("notes.txt"), "no image").unwrap();
    let frames = (0..3).map(|shade| Image::opaque(32, 32, vec![60 * shade; 32 * 32 * 3])).collect();
    let clip = Media::Clip(Clip::silent(frames, 8.0));
    let settings = Settings::new(&Request::default(), "", "", 0);
    write_media(&inputs.join("b.mp4"), &clip, &settings, Codec::H264).unwrap();
    let output = run(folder.path(), &["upscale", "in", "--scale", "2", "--output", "out"]);
    assert_fine(&output);
    let mut names: Vec<_> = stdout(&output).lines().collect();
    names.sort_unstable();
    assert_eq!(names, ["out/a-2x.png", "out/a.png-2x.png", "out/b-2x.mp4"]);
    let info = sluice_engine::source::ClipInfo::open(&folder.path().join("out/b-2x.mp4")).unwrap().unwrap();
    assert_eq!((info.width, info.height, info.frames), (64, 64, 3));
    let json = run(folder.path(), &["upscale", "in/a.png", "--output", "b.png", "--json"]);
    assert_fine(&json);
    let events: Vec<_> =
        json_lines(&json).iter().map(|line| line["event"].as_str().unwrap().to_owned()).collect();
    for event in ["planned", "stage_started", "step", "outcome", "finished"] {
        assert!(events.contains(&event.to_owned()), "{events:?}");
    }
}

#[test]
fn what_cannot_be_read_in_a_folder_is_left_out_and_named() {
    let folder = TempDir::new().unwrap();
    let inputs = folder.path().join("in");
    fs::create_dir(&inputs).unwrap();
    fs::write(inputs.join("a.png"), "no image").unwrap();
    fs::write(inputs.join("b.mp4"), "no clip").unwrap();
    let upscale = ["upscale", "in", "--output", "out"];
    let nothing = "in contains no images and no clips that can be read: in/a.png is not an image";
    assert_fails(&run(folder.path(), &upscale), nothing, "Give a folder");
    picture(&inputs.join("c.png"), 12, 20);
    let output = run(folder.path(), &upscale);
    assert_fine(&output);
    assert_eq!(stdout(&output), "out/c-2x.png\n");
    for name in ["in/a.png", "in/b.mp4"] {
        let is_named = |line: &str| line.starts_with("left out: ") && line.contains(name);
        assert!(stderr(&output).lines().any(is_named), "{}", stderr(&output));
    }
    let named = run(folder.path(), &["upscale", "in/c.png", "in/a.png", "--output", "out"]);
    assert_fails(&named, "in/a.png is not an image that can be read", "Choose a PNG, JPEG or WebP image.");
}

#[test]
fn a_folder_of_which_a_part_is_done_goes_on_with_the_rest() {
    let folder = TempDir::new().unwrap();
    for name in ["in", "out"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    for name in ["in/a.jpg", "in/a.png"] {
        picture(&folder.path().join(name), 12, 20);
    }
    let first = run(folder.path(), &["upscale", "in/a.jpg", "--output", "out"]);
    assert_fine(&first);
    assert_eq!(stdout(&first), "out/a-2x.png\n");
    let rest = run(folder.path(), &["upscale", "in", "--output", "out"]);
    assert_fine(&rest);
    assert_eq!(stdout(&rest), "out/a.png-2x.png\n");
    assert!(stderr(&rest).contains("in/a.jpg left out: out/a-2x.png is there"), "{}", stderr(&rest));
}

#[test]
fn an_image_of_the_same_name_in_another_folder_is_not_done() {
    let folder = TempDir::new().unwrap();
    for name in ["in", "other/in"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    picture(&folder.path().join("in/a.png"), 12, 20);
    picture(&folder.path().join("other/in/a.png"), 20, 12);
    let upscale = |input: &str, more: &[&str]| {
        let output = run(folder.path(), &[&["upscale", input, "--output", "out"], more].concat());
        assert_fine(&output);
        output
    };
    assert_eq!(stdout(&upscale("in", &[])), "out/a-2x.png\n");
    assert_eq!(stdout(&upscale("other/in", &[])), "out/a.png-2x.png\n");
    for (input, result) in [("in", "out/a-2x.png"), ("other/in", "out/a.png-2x.png")] {
        let again = upscale(input, &["--quiet"]);
        assert_eq!(stdout(&again), "");
        let said = format!("{input}/a.png left out: {result} is there; name another place with --output");
        assert!(stderr(&again).contains(&said), "{}", stderr(&again));
        let planned = upscale(input, &["--plan"]);
        assert!(stdout(&planned).contains("computed in f32"), "{}", stderr(&planned));
    }
    fs::write(folder.path().join("fake.safetensors"), "no model").unwrap();
    let fake = ["upscale", "in", "--output", "out", "--model", "fake.safetensors"];
    let refused = run(folder.path(), &fake);
    assert_fails(&refused, "", "");
    assert!(stderr(&refused).contains("fake.safetensors"), "{}", stderr(&refused));
}

#[test]
fn a_forecast_is_printed_without_a_run() {
    let folder = TempDir::new().unwrap();
    picture(&folder.path().join("a.png"), 640, 480);
    let output =
        run(folder.path(), &["upscale", "a.png", "--scale", "4", "--plan", "--vram-budget", "100MB"]);
    assert_fine(&output);
    let said = stdout(&output);
    assert!(said.contains("640×480 to 2560×1920, computed in f32"), "{said}");
    assert!(said.contains("enlarged in tiles of up to"), "{said}");
    assert_eq!(
        fs::read_dir(folder.path())
            .unwrap()
            .filter(|entry| {
                entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "png")
            })
            .count(),
        1
    );
    let json = run(folder.path(), &["upscale", "a.png", "--plan", "--json"]);
    let forecast: serde_json::Value = serde_json::from_str(stdout(&json)).unwrap();
    assert_eq!(forecast["plan"]["Ok"]["stages"][0]["stage"], "upscale");
}

#[test]
fn what_cannot_be_enlarged_is_said() {
    let folder = TempDir::new().unwrap();
    picture(&folder.path().join("a.png"), 20, 12);
    fs::write(folder.path().join("x4.pth"), b"PK\x03\x04").unwrap();
    let with = |more: &[&str]| run(folder.path(), &[&["upscale"], more].concat());
    assert_fails(&with(&["a.png", "--scale", "5"]), "the scale 5 is not between 1 and 4", "Use --scale");
    assert_fails(&with(&["no.png"]), "the image no.png cannot be read", "Choose a file");
    assert_fails(&with(&["a.png", "--model", "x4.pth"]), "x4.pth is a pickle file", "Sluice never opens");
    assert_fails(&with(&["a.png", "--model", "no.safetensors"]), "there is no file or folder", "Check");
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_fails(&with(&["empty"]), "empty contains no images", "Give a folder");
}

#[test]
fn inspect_names_an_upscaler() {
    let folder = TempDir::new().unwrap();
    let path = sluice_engine::checkpoint::upscaler_file().unwrap();
    let output = run(folder.path(), &["inspect", path.to_str().unwrap()]);
    assert_fine(&output);
    let said = stdout(&output);
    assert!(said.contains("what       upscaler, Real-ESRGAN Compact, ×4"), "{said}");
}
