//! Times writing a clip of 81 frames of 832×480 in every format, and reading it back:
//! `cargo bench --workspace --bench clips`.

use std::{fs, time::Instant};

use sluice_engine::{
    output::{Clip, Codec, Image, Media, Settings, write_media},
    request::{Request, SourceClip},
    source::read_clip,
};

const WIDTH: u32 = 832;
const HEIGHT: u32 = 480;
const FRAMES: u32 = 81;
const RATE: f32 = 16.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let clip = Media::Clip(Clip::silent((0..FRAMES).map(frame).collect(), RATE));
    let settings = Settings::new(&Request::default(), "bench", "", 0);
    println!("{:<8} {:>12} {:>12}", "format", "frames/s", "bytes");
    for name in ["a.mp4", "a.webp", "a.gif", "frames"] {
        let path = folder.path().join(name);
        let start = Instant::now();
        write_media(&path, &clip, &settings, Codec::H264)?;
        let rate = f64::from(FRAMES) / start.elapsed().as_secs_f64();
        let files = if path.is_dir() {
            fs::read_dir(&path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?
        } else {
            vec![path]
        };
        let bytes = files.iter().map(|file| Ok(fs::metadata(file)?.len())).sum::<std::io::Result<u64>>()?;
        println!("{name:<8} {rate:>12.1} {bytes:>12}");
    }
    let wanted = SourceClip { path: folder.path().join("a.mp4"), ..SourceClip::default() };
    let start = Instant::now();
    let frames = read_clip(&wanted, None, (WIDTH, HEIGHT))?;
    let rate = frames.len() as f64 / start.elapsed().as_secs_f64();
    println!("{:<8} {rate:>12.1}", "read mp4");
    Ok(())
}

/// A moving pattern with fine texture, so that neither motion nor detail is free.
fn frame(number: u32) -> Image {
    let time = number as f32;
    let pixel = |x: u32, y: u32| {
        let (across, down) = (x as f32 + 2.3 * time, y as f32 + 1.1 * time);
        let texture = ((x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(2_246_822_519)) >> 28) as f32;
        let light = 120.0 + 60.0 * (across * 0.03).sin() + 40.0 * (down * 0.05).cos() + texture;
        [light as u8, (255.0 - light) as u8, (y * 255 / HEIGHT) as u8]
    };
    let pixels = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| pixel(x, y))).flatten().collect();
    Image::opaque(WIDTH, HEIGHT, pixels)
}
