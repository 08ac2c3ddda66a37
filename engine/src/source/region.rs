//! Where regions of an image are.

use super::{Mask, SourceError, fitted, read};
use crate::request::{Area, Fit};

/// Points along each side of a latent that are looked at.
const POINTS: usize = 4;

/// How much of each latent is in a region, row by row, from 0 to 1. `latents` are height and width; `fade` is the part of the
/// shorter side over which it fades in at its edges, inside of it. The edge of the image is no edge of a region.
///
/// # Errors
/// When the mask cannot be read, or nothing is in the region.
pub fn region_shares(area: &Area, fade: f32, latents: [usize; 2]) -> Result<Vec<f32>, SourceError> {
    let [height, width] = latents.map(|side| side * POINTS);
    let mask = match area {
        Area::Box(sides) => boxed(*sides, [height, width]),
        Area::Mask(path) => Mask::of(&fitted(&read(path)?, Fit::Stretch, width as u32, height as u32)),
    };
    let blur = (fade * width.min(height) as f32).round() as u32;
    let points = mask.shares(blur);
    let mut shares = vec![0.0; latents[0] * latents[1]];
    for (place, point) in points.into_iter().enumerate() {
        let (row, column) = (place / width / POINTS, place % width / POINTS);
        shares[row * latents[1] + column] += point;
    }
    let points = (POINTS * POINTS) as f32;
    shares.iter_mut().for_each(|share| *share /= points);
    match shares.iter().any(|share| *share > 0.0) {
        true => Ok(shares),
        false => Err(SourceError::EmptyRegion { area: area.to_string() }),
    }
}

/// A box of left, top, width and height, as parts of the whole.
fn boxed([left, top, width, height]: [f32; 4], [rows, columns]: [usize; 2]) -> Mask {
    let is_inside = |place: usize, whole: usize, start: f32, length: f32| {
        let middle = (place as f32 + 0.5) / whole as f32;
        middle >= start && middle < start + length
    };
    let across: Vec<bool> = (0..columns).map(|column| is_inside(column, columns, left, width)).collect();
    let open = (0..rows).flat_map(|row| {
        let is_row = is_inside(row, rows, top, height);
        across.iter().map(move |open| *open && is_row)
    });
    Mask::new(columns as u32, open.collect())
}

#[cfg(test)]
mod tests {
    use image::GrayImage;

    use super::*;

    #[test]
    fn a_box_has_its_part_of_each_latent() {
        let area = Area::Box([0.0, 0.0, 0.375, 1.0]);
        let shares = region_shares(&area, 0.0, [2, 4]).unwrap();
        assert_eq!(shares, [1.0, 0.5, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0]);
        let whole = region_shares(&Area::Box([0.0, 0.0, 1.0, 1.0]), 0.5, [2, 3]).unwrap();
        assert_eq!(whole, [1.0; 6], "the edge of the image is no edge");
    }

    #[test]
    fn regions_fade_in_inside_of_their_edges() {
        let area = Area::Box([0.5, 0.0, 0.5, 1.0]);
        let shares = region_shares(&area, 0.25, [8, 8]).unwrap();
        let row = &shares[..8];
        assert_eq!(row[..4], [0.0; 4]);
        assert!(row[4] > 0.0 && row[4] < row[5] && row[5] < row[6], "{row:?}");
        assert_eq!(row[6..], [1.0; 2]);
    }

    #[test]
    fn a_mask_is_stretched_and_has_to_be_white_somewhere() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, pixels: [u8; 2]| {
            let path = folder.path().join(name);
            GrayImage::from_raw(2, 1, pixels.to_vec()).unwrap().save(&path).unwrap();
            Area::Mask(path)
        };
        let right = region_shares(&write("right.png", [0, 255]), 0.0, [2, 8]).unwrap();
        assert_eq!([right[0], right[1], right[6], right[7]], [0.0, 0.0, 1.0, 1.0]);
        let black = region_shares(&write("black.png", [0, 0]), 0.0, [2, 2]);
        assert!(matches!(black, Err(SourceError::EmptyRegion { .. })));
        assert!(region_shares(&Area::Mask("missing.png".into()), 0.0, [2, 2]).is_err());
    }
}
