//! Clips: headers, sample tables, H.264 and sound of MP4 and MOV files.
#![no_main]

use std::{env, path::Path};

use sluice_engine::{
    request::{FrameRange, SourceClip},
    source::{ClipInfo, count_frames, read_clip, read_sound},
};

/// Width and height in which frames are asked for.
const SIDES: [u32; 2] = [48, 32];

libfuzzer_sys::fuzz_target!(init: prepare(), |bytes: &[u8]| look(&sluice_fuzz::with_file("clip.mp4", bytes)));

fn prepare() {
    sluice_fuzz::let_panics_be_caught();
    // What is not read here would go to ffmpeg.
    // SAFETY: this runs before there are other threads.
    unsafe { env::remove_var("PATH") };
}

/// An error is as good as frames.
fn look(path: &Path) {
    let _ = ClipInfo::open(path);
    let range = FrameRange { start: 0, end: Some(8) };
    let wanted = SourceClip { path: path.to_owned(), range, ..SourceClip::default() };
    let _ = (count_frames(&wanted, 8.0), read_sound(path, 0.0..1.0));
    for rate in [None, Some(8.0)] {
        for frame in read_clip(&wanted, rate, SIDES.into()).into_iter().flatten() {
            assert_eq!([frame.width, frame.height], SIDES, "a frame has another size");
        }
    }
}
