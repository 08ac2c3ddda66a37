//! Maps of images and clips on the command line.

use std::{fs, path::Path};

use sluice_engine::{
    output::{Clip, Codec, Image, Media, Settings, read_settings, write_media},
    request::Request,
    source::ClipInfo,
};

use super::{
    assert_fails, assert_fine, draw,
    models::{write, write_hed},
    run, stderr, stdout,
};

#[test]
fn maps_are_written_beside_their_images() {
    let folder = tempfile::tempdir().unwrap();
    image::RgbImage::from_fn(40, 30, |x, _| image::Rgb([(x / 20 * 255) as u8; 3]))
        .save(folder.path().join("a.png"))
        .unwrap();
    let canny = run(folder.path(), &["map", "a.png", "--preprocessor", "canny"]);
    assert!(canny.status.success(), "{}", stderr(&canny));
    assert_eq!(stdout(&canny).trim(), "a-canny.png");
    let edges = image::open(folder.path().join("a-canny.png")).unwrap().into_rgb8();
    assert_eq!(edges.dimensions(), (40, 30));
    let white = edges.pixels().filter(|pixel| pixel.0 == [255; 3]).count();
    assert!((20..=90).contains(&white), "{white}");
}

#[test]
fn images_of_one_name_become_two_maps_and_what_is_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |name: &str| folder.path().join(name);
    fs::create_dir(in_folder("photos")).unwrap();
    for name in ["photos/a.jpg", "photos/a.png"] {
        image::RgbImage::new(20, 12).save(in_folder(name)).unwrap();
    }
    fs::write(in_folder("photos/broken.png"), "no image").unwrap();
    let map = ["map", "photos", "--preprocessor", "gray", "--output", "maps"];
    let made = run(folder.path(), &map);
    assert_fine(&made);
    assert_eq!(stdout(&made), "maps/a-gray.png\nmaps/a.png-gray.png\n");
    let said = "left out: photos/broken.png is not an image that can be read";
    assert!(stderr(&made).contains(said), "{}", stderr(&made));

    fs::write(in_folder("maps/a-gray.png"), "my own").unwrap();
    fs::remove_file(in_folder("maps/a.png-gray.png")).unwrap();
    let again = run(folder.path(), &map);
    assert_fine(&again);
    assert_eq!(stdout(&again), "maps/a.png-gray.png\n");
    let said = "photos/a.jpg left out: maps/a-gray.png is there";
    assert!(stderr(&again).contains(said), "{}", stderr(&again));
    assert_eq!(fs::read_to_string(in_folder("maps/a-gray.png")).unwrap(), "my own");

    let named = [&["map", "photos/a.png"][..], &map[2..4], &["--output", "maps/a-gray.png"]].concat();
    assert_fine(&run(folder.path(), &named));
    assert!(image::open(in_folder("maps/a-gray.png")).is_ok(), "a file that is named is replaced");
    fs::create_dir(in_folder("empty")).unwrap();
    let empty = run(folder.path(), &["map", "empty", "--preprocessor", "gray"]);
    assert_fails(&empty, "empty contains no images", "Give a folder with PNG");
}

#[test]
fn an_image_of_the_same_name_in_another_folder_is_not_done() {
    let folder = tempfile::tempdir().unwrap();
    for (name, width) in [("in", 20), ("other/in", 12)] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
        image::RgbImage::new(width, 12).save(folder.path().join(name).join("a.png")).unwrap();
    }
    let map = |input: &str| {
        let output = run(folder.path(), &["map", input, "--preprocessor", "gray", "--output", "out"]);
        assert_fine(&output);
        output
    };
    assert_eq!(stdout(&map("in")), "out/a-gray.png\n");
    assert_eq!(stdout(&map("other/in")), "out/a.png-gray.png\n");
    for (input, result) in [("in", "out/a-gray.png"), ("other/in", "out/a.png-gray.png")] {
        let again = map(input);
        assert_eq!(stdout(&again), "");
        let said = format!("{input}/a.png left out: {result} is there; name another place with --output");
        assert!(stderr(&again).contains(&said), "{}", stderr(&again));
    }
}

#[test]
fn a_network_makes_a_map_and_its_forecast() {
    let folder = tempfile::tempdir().unwrap();
    image::RgbImage::new(40, 30).save(folder.path().join("a.png")).unwrap();
    write_hed(&folder.path().join("hed.safetensors"));
    let map = ["map", "a.png", "--preprocessor", "soft_edge", "--model", "hed.safetensors"];
    let planned = run(folder.path(), &[&map[..], &["--plan"]].concat());
    assert!(stdout(&planned).contains("soft edges of 40×30"), "{}{}", stdout(&planned), stderr(&planned));
    let made = run(folder.path(), &map);
    assert_fine(&made);
    assert_eq!(stdout(&made).trim(), "a-soft_edge.png");
    let edges = image::open(folder.path().join("a-soft_edge.png")).unwrap().into_rgb8();
    assert_eq!(edges.dimensions(), (40, 30));
    assert!(edges.pixels().all(|pixel| pixel.0 == [127; 3]));
    fs::create_dir(folder.path().join("photos")).unwrap();
    for name in ["photos/a.png", "photos/b.png"] {
        image::RgbImage::new(40, 30).save(folder.path().join(name)).unwrap();
    }
    let several = run(folder.path(), &[&["map", "photos", "--output", "maps"][..], &map[2..]].concat());
    assert_fine(&several);
    assert_eq!(stdout(&several), "maps/a-soft_edge.png\nmaps/b-soft_edge.png\n");
    let known = run(folder.path(), &["inspect", "hed.safetensors"]);
    assert!(stdout(&known).contains("map estimator for soft edges, HED"), "{}", stdout(&known));
}

/// A clip of so many frames, half black and half white.
fn write_clip(path: &Path, frames: u32) {
    let half: Vec<u8> = (0..64 * 48).flat_map(|place| [if place % 64 < 32 { 0 } else { 255 }; 3]).collect();
    let frames = (0..frames).map(|_| Image::opaque(64, 48, half.clone())).collect();
    let settings = Settings::new(&Request::default(), "", "", 0);
    write_media(path, &Media::Clip(Clip::silent(frames, 8.0)), &settings, Codec::H264).unwrap();
}

#[test]
fn a_clip_becomes_a_clip_of_maps() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |name: &str| folder.path().join(name);
    fs::create_dir(in_folder("in")).unwrap();
    write_clip(&in_folder("in/walk.mp4"), 5);
    image::RgbImage::new(20, 12).save(in_folder("in/a.png")).unwrap();
    let canny = run(folder.path(), &["map", "in", "--preprocessor", "canny", "--output", "maps"]);
    assert_fine(&canny);
    assert_eq!(stdout(&canny), "maps/a-canny.png\nmaps/walk-canny.mp4\n");
    let info = |name: &str| {
        let info = ClipInfo::open(&in_folder(name)).unwrap().unwrap();
        (info.width, info.height, info.frames, info.rate.round())
    };
    assert_eq!(info("maps/walk-canny.mp4"), (64, 48, 5, 8.0));
    assert!(read_settings(&in_folder("maps/walk-canny.mp4")).is_err(), "no model has made it");
    let frames = run(folder.path(), &["map", "in/walk.mp4", "-p", "gray", "--output", "frames"]);
    assert_fine(&frames);
    assert_eq!(fs::read_dir(in_folder("frames")).unwrap().count(), 5);

    write_hed(&in_folder("hed.safetensors"));
    let map = ["map", "in/walk.mp4", "--preprocessor", "soft_edge", "--model", "hed.safetensors"];
    let planned = run(folder.path(), &[&map[..], &["--plan"]].concat());
    assert_fine(&planned);
    assert!(stdout(&planned).contains("soft edges of 5 frames of 64×48"), "{}", stdout(&planned));
    let made = run(folder.path(), &map);
    assert_fine(&made);
    assert_eq!(stdout(&made), "in/walk-soft_edge.mp4\n");
    assert!(stderr(&made).contains("step 5 of 5"), "{}", stderr(&made));
    assert_eq!(info("in/walk-soft_edge.mp4"), (64, 48, 5, 8.0));
    let request = read_settings(&in_folder("in/walk-soft_edge.mp4")).unwrap().settings.request;
    assert_eq!((request.frames, request.frame_rate), (5, 8.0));
    write_clip(&in_folder("still.mp4"), 1);
    let still = run(folder.path(), &[&map[..1], &["still.mp4"], &map[2..]].concat());
    assert_fine(&still);
    assert_eq!(info("still-soft_edge.mp4").2, 1);
}

#[test]
fn what_makes_no_map_is_said() {
    let folder = tempfile::tempdir().unwrap();
    image::RgbImage::new(20, 12).save(folder.path().join("a.png")).unwrap();
    fs::write(folder.path().join("hed.pth"), b"PK\x03\x04").unwrap();
    write(&folder.path().join("other.safetensors"), &[("pretrained.cls_token", [1, 384])]);
    let with = |name: &str, more: &[&str]| {
        run(folder.path(), &[&["map", "a.png", "--preprocessor", name], more].concat())
    };
    for (name, what, advice) in [
        (
            "depth",
            "other.safetensors cannot make depth maps: it is no Depth Anything network",
            "Choose a .safetensors file of Depth",
        ),
        (
            "pose",
            "other.safetensors cannot make poses: it is no YOLOv8-pose network",
            "Choose a .safetensors file of YOLOv8-pose",
        ),
        (
            "segments",
            "other.safetensors cannot make segments: it is no SegFormer network",
            "Choose a .safetensors file of SegFormer",
        ),
        (
            "soft_edge",
            "other.safetensors cannot make soft edges: it is no HED network",
            "Choose a .safetensors file of HED",
        ),
    ] {
        assert_fails(&with(name, &["--model", "other.safetensors"]), what, advice);
        assert_fails(
            &with(name, &[]),
            &format!("the preprocessor {name} needs a model"),
            "Give a .safetensors file of",
        );
    }
    assert_fails(
        &with("soft_edge", &["--model", "hed.pth"]),
        "hed.pth is a pickle file",
        "Sluice never opens such files",
    );
    assert_fails(&with("pose", &["--model", "no.safetensors"]), "there is no file or folder", "Check");
    assert_fails(
        &with("canny", &["--model", "other.safetensors"]),
        "the preprocessor canny needs no model",
        "Leave --model out",
    );
    assert_fails(
        &with("canny", &["--plan"]),
        "the preprocessor canny needs no model, so there is no forecast",
        "Leave --plan out",
    );
    for more in
        [&["--preprocessor", "depth", "--model", "other.safetensors"][..], &["--preprocessor", "canny"]]
    {
        let missing = run(folder.path(), &[&["map", "no.png"], more].concat());
        assert_fails(&missing, "the image no.png cannot be read", "Choose");
    }
}

#[test]
fn a_control_net_that_follows_a_networks_map_needs_an_estimator() {
    let folder = tempfile::tempdir().unwrap();
    for option in ["--depth-model", "--pose-model", "--segment-model", "--soft-edge-model"] {
        let one = ["--control-net", "a.safetensors", "--control-image", "a.png", option, "d.safetensors"];
        let output = draw(folder.path(), &one);
        assert!(!output.status.success());
        assert!(stderr(&output).contains("--control-preprocessor"), "{}", stderr(&output));
    }
}
