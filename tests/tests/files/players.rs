//! Clips in the programs that play them, where those are installed.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use sluice_engine::{
    output::{Clip, Codec, Image, Media, Settings, write_media},
    request::Request,
};
use tempfile::TempDir;

/// The exit code of the script if there is no browser.
const NOT_INSTALLED: i32 = 77;

/// A clip of 17 frames with a red middle.
fn save(folder: &Path, name: &str) -> PathBuf {
    let frame = |number: u32| {
        let pixel = |x: u32, y: u32| {
            let is_middle = (40..88).contains(&x) && (20..44).contains(&y);
            if is_middle { [230, 30, 20] } else { [(x + 4 * number) as u8, (3 * y) as u8, 120] }
        };
        let pixels = (0..64).flat_map(|y| (0..128).map(move |x| pixel(x, y))).flatten().collect();
        Image::opaque(128, 64, pixels)
    };
    let clip = Media::Clip(Clip::silent((0..17).map(frame).collect(), 8.0));
    let request = Request { prompt: "a boat".to_owned(), frames: 17, frame_rate: 8.0, ..Request::default() };
    let path = folder.join(name);
    write_media(&path, &clip, &Settings::new(&request, "Starter", "wan", 0), Codec::H264).unwrap();
    path
}

#[test]
fn chromium_loads_seeks_and_plays_a_clip() {
    let folder = TempDir::new().unwrap();
    let path = save(folder.path(), "a.mp4");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("players/chromium");
    let output = match Command::new("sh").arg(&script).arg(&path).output() {
        Ok(output) if output.status.code() != Some(NOT_INSTALLED) => output,
        _ => return eprintln!("skipped: Chromium is not installed"),
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.starts_with("128x64 2.13 s, played to 0.50 s"), "{said}");
}

#[test]
fn ffprobe_finds_the_video_and_the_settings() {
    let folder = TempDir::new().unwrap();
    let path = save(folder.path(), "a.mp4");
    let entries =
        "stream=codec_name,profile,width,height,pix_fmt,color_range,color_space,r_frame_rate,nb_frames";
    let probe = Command::new("ffprobe")
        .args(["-v", "error", "-of", "default=nw=1", "-show_entries"])
        .arg(format!("{entries}:format_tags=parameters,comment,sluice,encoder"))
        .arg(&path)
        .output();
    let Ok(output) = probe else { return eprintln!("skipped: ffprobe is not installed") };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for line in [
        "codec_name=h264",
        "profile=High",
        "width=128",
        "height=64",
        "pix_fmt=yuv420p",
        "color_range=tv",
        "color_space=bt709",
        "r_frame_rate=8/1",
        "nb_frames=17",
        "TAG:parameters=a boat",
        "TAG:comment=a boat",
    ] {
        assert!(said.lines().any(|found| found == line), "{line} is missing:\n{said}");
    }
    assert!(said.contains("TAG:sluice={\"version\":1,"), "{said}");
}
