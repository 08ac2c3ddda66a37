//! Reads time of day, terrain, and sun or moon from the pixels of an image of the starter model, by the rules
//! in `assets/starter/training/PIXELS.md`.

use std::{
    collections::BTreeMap,
    ops::{Range, RangeInclusive},
    path::Path,
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use sluice_engine::output::Image;

use crate::checkpoint::read_json;

const SKY_ROWS: Range<usize> = 0..8;
const LAND_STRIPS: [Range<usize>; 3] = [62..72, 86..94, 118..128];
/// First and last centre to search for a disc.
const DISC_COLUMNS: (usize, usize) = (20, 108);
const DISC_ROWS: (usize, usize) = (20, 62);
/// Pixels between two centres.
const DISC_STEP: usize = 2;
/// Pixels up to this distance from the centre are inside the disc.
const DISC_INSIDE: f64 = 8.0;
/// Distances of the ring around the disc from its centre.
const DISC_RING: RangeInclusive<f64> = 15.0..=19.0;
/// Maximum difference between the mean colour inside and the colour of the disc, in any channel.
const DISC_TOLERANCE: f64 = 45.0;
/// Minimum distance between the colours inside and in the ring.
const DISC_CONTRAST: f64 = 40.0;

/// Reference colours: means over images with known contents.
#[derive(Debug, Clone, Deserialize)]
pub struct Table {
    /// Time of day → colour at the top.
    sky: BTreeMap<String, Vec<f64>>,
    /// Time of day → terrain → three colours, from top to bottom.
    land: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
    /// Time of day → colour of the sun or moon.
    disc: BTreeMap<String, Vec<f64>>,
}

/// The contents of an image.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Reading {
    /// `dawn`, `day`, `sunset` or `night`.
    pub time: String,
    /// For example `sea`.
    pub terrain: String,
    /// `sun`, `moon` or `None`.
    pub celestial: Option<String>,
}

impl Table {
    /// Loads the reference colours.
    pub fn open(path: &Path) -> Result<Self> {
        read_json(path)
    }

    /// Reads an image of 128 × 128 pixels.
    pub fn read(&self, image: &Image) -> Result<Reading> {
        ensure!((image.width, image.height) == (128, 128), "{} × {} pixels", image.width, image.height);
        let time = nearest(&strip_colour(image, SKY_ROWS), &self.sky)?;
        let land: Vec<f64> = LAND_STRIPS.into_iter().flat_map(|rows| strip_colour(image, rows)).collect();
        let terrain = nearest(&land, self.land.get(&time).context("a time without land")?)?;
        let disc = self.disc.get(&time).context("a time without a disc")?;
        let celestial =
            has_disc(image, disc).then(|| if time == "night" { "moon" } else { "sun" }.to_owned());
        Ok(Reading { time, terrain, celestial })
    }
}

fn pixel(image: &Image, x: usize, y: usize) -> [f64; 3] {
    let start = 3 * (y * image.width as usize + x);
    [0, 1, 2].map(|channel| f64::from(image.pixels[start + channel]))
}

/// The median of each channel over whole rows.
fn strip_colour(image: &Image, rows: Range<usize>) -> Vec<f64> {
    let width = image.width as usize;
    let pixels: Vec<[f64; 3]> =
        rows.flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| pixel(image, x, y)).collect();
    (0..3).map(|channel| median(pixels.iter().map(|pixel| pixel[channel]).collect())).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) { (values[middle - 1] + values[middle]) / 2.0 } else { values[middle] }
}

/// The name whose reference is nearest.
fn nearest(colour: &[f64], table: &BTreeMap<String, Vec<f64>>) -> Result<String> {
    let distance =
        |reference: &[f64]| -> f64 { colour.iter().zip(reference).map(|(a, b)| (a - b).powi(2)).sum() };
    let best = table.iter().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
    Ok(best.context("an empty table")?.0.clone())
}

/// Whether there is an area of the disc's colour that stands out from its surroundings.
fn has_disc(image: &Image, colour: &[f64]) -> bool {
    let columns = (DISC_COLUMNS.0..=DISC_COLUMNS.1).step_by(DISC_STEP);
    let mut centres =
        columns.flat_map(|x| (DISC_ROWS.0..=DISC_ROWS.1).step_by(DISC_STEP).map(move |y| (x, y)));
    centres.any(|centre| {
        let inside = mean(image, centre, |distance| distance <= DISC_INSIDE);
        let ring = mean(image, centre, |distance| DISC_RING.contains(&distance));
        let contrast: f64 = inside.iter().zip(ring).map(|(a, b)| (a - b).powi(2)).sum();
        inside.iter().zip(colour).all(|(a, b)| (a - b).abs() <= DISC_TOLERANCE)
            && contrast.sqrt() >= DISC_CONTRAST
    })
}

/// The mean colour of the pixels at the wanted distances from a centre.
fn mean(image: &Image, (x, y): (usize, usize), wanted: impl Fn(f64) -> bool) -> [f64; 3] {
    let reach = DISC_RING.end().ceil() as usize;
    let (mut sum, mut count) = ([0.0; 3], 0.0);
    for row in y - reach..=y + reach {
        for column in x - reach..=x + reach {
            if wanted((column as f64 - x as f64).hypot(row as f64 - y as f64)) {
                sum.iter_mut().zip(pixel(image, column, row)).for_each(|(sum, value)| *sum += value);
                count += 1.0;
            }
        }
    }
    sum.map(|sum| sum / count)
}
