//! Clips as folders of images.

use std::{fs, path::Path};

use anyhow::Result;
use sluice_engine::output::Image;

/// Writes the frames of a clip with slopes and edges that move into a new folder, and returns them.
pub fn write_frames(folder: &Path, count: u32, [width, height]: [u32; 2]) -> Result<Vec<Image>> {
    fs::create_dir(folder)?;
    let pixel = |number: u32, place: u32| {
        let (x, y) = (place % width, place / width);
        [(x * 7 + number * 11) as u8, (y * 9 + number) as u8, ((x + y + number) % 5 * 50) as u8]
    };
    let frame = |number: u32| {
        let pixels: Vec<u8> = (0..width * height).flat_map(|place| pixel(number, place)).collect();
        let path = folder.join(format!("{number:03}.png"));
        image::save_buffer(path, &pixels, width, height, image::ColorType::Rgb8)?;
        Ok(Image::opaque(width, height, pixels))
    };
    (0..count).map(frame).collect()
}
