//! Frames between those of clips.

use std::{fs, path::Path};

use sluice_engine::{
    output::{Clip, Codec, Image, Media, Settings, read_settings, write_media},
    request::{Interpolation, Request, Smooth},
    source::ClipInfo,
};
use tempfile::TempDir;

use super::{adapter::write, assert_fails, assert_fine, json_lines, run, stderr, stdout};

/// A RIFE 4.6 with few channels and weights of zero: nothing moves, and the frames between are the mean of both.
fn network(path: &Path) {
    let mut tensors = Vec::new();
    for number in 0..4 {
        let inputs = if number == 0 { 7 } else { 12 };
        let mut conv = |name: String, outputs: usize, inputs: usize, side: usize| {
            let bias = if side == 4 { inputs } else { outputs };
            tensors.push((format!("block{number}.{name}.weight"), vec![outputs, inputs, side, side]));
            tensors.push((format!("block{number}.{name}.bias"), vec![bias]));
        };
        conv("conv0.0.0".to_owned(), 4, inputs, 3);
        conv("conv0.1.0".to_owned(), 8, 4, 3);
        (0..8).for_each(|layer| conv(format!("convblock.{layer}.conv"), 8, 8, 3));
        // A transposed convolution has its inputs first.
        conv("lastconv.0".to_owned(), 8, 24, 4);
        tensors
            .extend((0..8).map(|layer| (format!("block{number}.convblock.{layer}.beta"), vec![1, 8, 1, 1])));
    }
    let tensors: Vec<_> = tensors.iter().map(|(name, shape)| (name.as_str(), shape.clone())).collect();
    write(path, &tensors);
}

fn clip(path: &Path, shades: &[u8]) {
    let frames = shades.iter().map(|shade| Image::opaque(33, 20, vec![*shade; 33 * 20 * 3])).collect();
    let settings = Settings::new(&Request { prompt: "a boat".to_owned(), ..Request::default() }, "", "", 0);
    write_media(path, &Media::Clip(Clip::silent(frames, 8.0)), &settings, Codec::H264).unwrap();
}

#[test]
fn a_clip_gets_more_frames_beside_itself_and_keeps_its_settings() {
    let folder = TempDir::new().unwrap();
    network(&folder.path().join("rife.safetensors"));
    clip(&folder.path().join("boat.mp4"), &[60, 80, 100]);
    let with = ["interpolate", "boat.mp4", "--model", "rife.safetensors"];
    let output = run(folder.path(), &with);
    assert_fine(&output);
    assert_eq!(stdout(&output), "boat-2x-frames.mp4\n");
    let said = stderr(&output);
    assert!(said.contains("rife: 33×20, 3 frames at 8 per second to 6 frames at 16, up to"), "{said}");
    let path = folder.path().join("boat-2x-frames.mp4");
    let info = ClipInfo::open(&path).unwrap().unwrap();
    assert_eq!((info.width, info.height, info.frames, info.rate.round()), (33, 20, 6, 16.0));
    let settings = read_settings(&path).unwrap().settings;
    assert_eq!((settings.request.prompt.as_str(), settings.interpolated[0].factor), ("a boat", 2));
    let again = run(folder.path(), &with);
    assert_fine(&again);
    assert!(stderr(&again).contains("left out: boat-2x-frames.mp4 is there"), "{}", stderr(&again));
    let upscaler = sluice_engine::checkpoint::upscaler_file().unwrap();
    let other = ["interpolate", "boat.mp4", "--model", upscaler.to_str().unwrap()];
    assert_fails(
        &run(folder.path(), &other),
        &format!("{} cannot interpolate frames: it is no RIFE 4", upscaler.display()),
        "Choose a .safetensors file of RIFE 4",
    );
    let four =
        run(folder.path(), &[&with[..], &["--factor", "4", "--output", "four.mp4", "--json"]].concat());
    assert_fine(&four);
    let events: Vec<_> =
        json_lines(&four).iter().map(|line| line["event"].as_str().unwrap().to_owned()).collect();
    for event in ["planned", "stage_started", "step", "outcome", "finished"] {
        assert!(events.contains(&event.to_owned()), "{events:?}");
    }
    assert_eq!(ClipInfo::open(&folder.path().join("four.mp4")).unwrap().unwrap().frames, 12);
    let inspected = run(folder.path(), &["inspect", "rife.safetensors"]);
    assert_fine(&inspected);
    assert!(stdout(&inspected).contains("frame interpolator, RIFE 4.6"), "{}", stdout(&inspected));
}

#[test]
fn folders_and_forecasts() {
    let folder = TempDir::new().unwrap();
    network(&folder.path().join("rife.safetensors"));
    let inputs = folder.path().join("in");
    fs::create_dir(&inputs).unwrap();
    clip(&inputs.join("a.mp4"), &[60, 80]);
    clip(&inputs.join("b.mp4"), &[60, 80]);
    image::RgbImage::new(20, 12).save(inputs.join("c.png")).unwrap();
    let with = ["interpolate", "in", "--model", "rife.safetensors", "--output", "out"];
    let plan = run(folder.path(), &[&with[..], &["--plan"]].concat());
    assert_fine(&plan);
    assert!(stdout(&plan).contains("2 frames at 8 per second to 4 frames at 16"), "{}", stdout(&plan));
    assert!(!folder.path().join("out").exists(), "a forecast makes nothing");
    let output = run(folder.path(), &with);
    assert_fine(&output);
    let mut names: Vec<_> = stdout(&output).lines().collect();
    names.sort_unstable();
    assert_eq!(names, ["out/a-2x-frames.mp4", "out/b-2x-frames.mp4"]);
}

#[test]
fn a_clip_that_cannot_be_used_does_not_stop_a_folder() {
    let folder = TempDir::new().unwrap();
    network(&folder.path().join("rife.safetensors"));
    let inputs = folder.path().join("in");
    fs::create_dir(&inputs).unwrap();
    fs::write(inputs.join("a.mp4"), "no clip").unwrap();
    clip(&inputs.join("b.mp4"), &[60]);
    clip(&inputs.join("c.mp4"), &[60, 80]);
    let with = ["interpolate", "in", "--model", "rife.safetensors", "--output", "out"];
    let output = run(folder.path(), &with);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(stdout(&output), "out/c-2x-frames.mp4\n");
    assert!(said.lines().any(|line| line.starts_with("left out: ") && line.contains("in/a.mp4")), "{said}");
    assert!(said.contains("error: the clip has one frame"), "{said}");
}

#[test]
fn a_generated_clip_is_smoothed_in_the_same_run() {
    let folder = TempDir::new().unwrap();
    network(&folder.path().join("rife.safetensors"));
    let with = ["generate", "--model", "starter-clip", "--prompt", "a boat", "--steps", "1", "--frames", "5"];
    let more = ["--interpolate", "2", "--interpolator", "rife.safetensors", "--output", "boat.mp4", "--json"];
    let output = run(folder.path(), &[&with[..], &more].concat());
    assert_fine(&output);
    let lines = json_lines(&output);
    let started = lines.iter().filter(|line| line["event"] == "stage_started");
    let names: Vec<_> = started.map(|line| line["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Encode", "Denoise", "Decode", "Interpolate"]);
    let path = folder.path().join("boat.mp4");
    let info = ClipInfo::open(&path).unwrap().unwrap();
    let settings = read_settings(&path).unwrap().settings;
    assert_eq!((info.frames, settings.request.frames), (10, 5));
    assert!((info.rate - 2.0 * f64::from(settings.request.frame_rate)).abs() < 0.01, "{}", info.rate);
    let smooth = Smooth { model: "rife.safetensors".into(), how: Interpolation::times(2) };
    assert_eq!(settings.request.smooth, Some(smooth));
    let alone = run(folder.path(), &[&with[..], &["--interpolate", "2"]].concat());
    assert_eq!(alone.status.code(), Some(2), "{}", stderr(&alone));
}

#[test]
fn what_cannot_be_interpolated_is_said() {
    let folder = TempDir::new().unwrap();
    network(&folder.path().join("rife.safetensors"));
    clip(&folder.path().join("boat.mp4"), &[60, 80]);
    clip(&folder.path().join("one.mp4"), &[60]);
    image::RgbImage::new(20, 12).save(folder.path().join("a.png")).unwrap();
    fs::write(folder.path().join("flownet.pkl"), b"PK\x03\x04").unwrap();
    let with = |more: &[&str]| run(folder.path(), &[&["interpolate"], more].concat());
    let rife = ["--model", "rife.safetensors"];
    let of = |input: &str| with(&[&[input], &rife[..]].concat());
    assert_fails(&of("a.png"), "an image has no frames to put others between", "Choose a clip");
    assert_fails(&of("one.mp4"), "the clip has one frame", "Choose a clip");
    assert_fails(&of("no.mp4"), "the clip no.mp4 cannot be read: No such file", "Choose a file");
    fs::write(folder.path().join("bad.mp4"), "no clip").unwrap();
    assert_fails(&of("bad.mp4"), "bad.mp4 is not a clip that can be read", "Choose an MP4 or MOV clip.");
    let factor = with(&[&["boat.mp4", "--factor", "1"], &rife[..]].concat());
    assert_fails(&factor, "the factor 1 is not between 2 and 8", "Use --factor");
    assert_fails(
        &with(&["boat.mp4", "--model", "flownet.pkl"]),
        "flownet.pkl is a pickle file",
        "Sluice never opens",
    );
    let none = with(&["boat.mp4"]);
    assert_eq!(none.status.code(), Some(2), "{}", stderr(&none));
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_fails(&of("empty"), "empty contains no clips", "Give a folder");
}
