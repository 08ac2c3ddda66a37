//! Reads time of day, terrain and the direction of motion from the pixels of a clip of the clip starter, by the rules in
//! `assets/starter-clip/training/MOTION.md`.

use std::ops::Range;

use anyhow::{Context, Result, ensure};
use sluice_engine::output::Image;

use crate::pixels::Table;

const SIDE: usize = 128;
/// How much a pixel has to change between two frames to count, in any channel.
const CHANGED: f64 = 6.0;
const CHANGED_IN_PAN: f64 = 3.0;
/// Pixels a frame below which the direction cannot be told.
const SLOWEST: f64 = 0.4;
/// Share of columns that change when the camera pans.
const PAN_COLUMNS: f64 = 0.35;
/// Share of the cells of 16×16 pixels that change when it snows.
const SNOW_CELLS: f64 = 0.5;
/// Share of pixels of a still shot that may change.
const STILL_SHARE: f64 = 0.02;
/// Fewer changed values than this have no speed.
const FEWEST: usize = 20;

/// The contents of a clip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClipReading {
    /// Time of day in the first frame.
    pub time: String,
    /// For example `sea`.
    pub terrain: String,
    /// For example `left`, or `day/night` when the time of day changes; `None` if nothing moves.
    pub direction: Option<String>,
}

/// Reads a clip of 128 × 128 pixels whose motion is of this kind.
pub fn read_clip(frames: &[Image], motion: &str, table: &Table) -> Result<ClipReading> {
    let (first, last) = (frames.first().context("no frames")?, frames.last().context("no frames")?);
    let (begin, end) = (table.read(first)?, table.read(last)?);
    let direction = match motion {
        "time" => Some(format!("{}/{}", begin.time, end.time)),
        _ => direction(frames, motion)?.map(str::to_owned),
    };
    Ok(ClipReading { time: begin.time, terrain: begin.terrain, direction })
}

fn direction(frames: &[Image], motion: &str) -> Result<Option<&'static str>> {
    let frames = frames.iter().map(blurred).collect::<Result<Vec<_>>>()?;
    let rows = match motion {
        "boat" => 40..124,
        "balloon" => 0..112,
        "clouds" => 0..44,
        "disc" | "still" => 0..80,
        "pan" => 56..128,
        _ => 0..SIDE,
    };
    let least = if motion == "pan" { CHANGED_IN_PAN } else { CHANGED };
    let Motion { across, down, changed } = Motion::of(&frames, rows.clone(), least);
    let share = |count: usize, of: usize| count as f64 / of as f64;
    Ok(match motion {
        "still" => {
            let moved = changed.iter().filter(|changed| **changed).count();
            (share(moved, changed.len()) < STILL_SHARE).then_some("none")
        }
        "pan" => {
            let columns = (0..SIDE).filter(|&x| (0..rows.len()).any(|y| changed[y * SIDE + x]));
            way(-across, 0.0).filter(|_| share(columns.count(), SIDE) >= PAN_COLUMNS)
        }
        "snow" => {
            let cells = (0..64).filter(|cell| {
                let (top, left) = (cell / 8 * 16, cell % 8 * 16);
                (top..top + 16).any(|y| (left..left + 16).any(|x| changed[y * SIDE + x]))
            });
            way(0.0, down).filter(|&found| found == "down" && share(cells.count(), 64) >= SNOW_CELLS)
        }
        "boat" | "clouds" => way(across, 0.0),
        _ => way(across, down),
    })
}

/// The direction of a speed; `None` where it is too slow to tell.
fn way(across: f64, down: f64) -> Option<&'static str> {
    if across.abs().max(down.abs()) < SLOWEST {
        return None;
    }
    Some(match across.abs() >= down.abs() {
        true if across > 0.0 => "right",
        true => "left",
        false if down > 0.0 => "down",
        false => "up",
    })
}

/// Values `[rows, columns, 3]`, each the mean of 3 × 3 around it, twice.
fn blurred(image: &Image) -> Result<Vec<f32>> {
    ensure!((image.width, image.height) == (128, 128), "{} × {} pixels", image.width, image.height);
    let mut x: Vec<f32> = image.pixels.iter().map(|&value| f32::from(value)).collect();
    for _ in 0..2 {
        for step in [3 * SIDE, 3] {
            let length = SIDE * step;
            let around = |at: usize, by: usize| at / length * length + (at % length + by) % length;
            x = (0..x.len())
                .map(|at| (x[around(at, length - step)] + x[at] + x[around(at, step)]) / 3.0)
                .collect();
        }
    }
    Ok(x)
}

/// How fast what changes moves, in pixels a frame, and which pixels change at least once.
struct Motion {
    across: f64,
    down: f64,
    changed: Vec<bool>,
}

impl Motion {
    /// Least squares over all pixels that change by more than `least` between two frames, in all channels.
    fn of(frames: &[Vec<f32>], rows: Range<usize>, least: f64) -> Self {
        let mut changed = vec![false; rows.len() * SIDE];
        let (mut uu, mut uv, mut vv, mut ut, mut vt) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut pixels = 0;
        for pair in frames.windows(2) {
            let at = |frame: &Vec<f32>, y: usize, x: usize, channel: usize| {
                f64::from(frame[3 * (y * SIDE + x) + channel])
            };
            let over_time = |y, x, channel| at(&pair[1], y, x, channel) - at(&pair[0], y, x, channel);
            let middle = |y, x, channel| (at(&pair[1], y, x, channel) + at(&pair[0], y, x, channel)) / 2.0;
            for (row, y) in rows.clone().enumerate() {
                for x in 0..SIDE {
                    if (0..3).all(|channel| over_time(y, x, channel).abs() <= least) {
                        continue;
                    }
                    changed[row * SIDE + x] = true;
                    pixels += 1;
                    let inside = x > 0 && x + 1 < SIDE && y > rows.start && y + 1 < rows.end;
                    for channel in 0..3 {
                        let t = over_time(y, x, channel);
                        let (u, v) = match inside {
                            true => (
                                (middle(y, x + 1, channel) - middle(y, x - 1, channel)) / 2.0,
                                (middle(y + 1, x, channel) - middle(y - 1, x, channel)) / 2.0,
                            ),
                            false => (0.0, 0.0),
                        };
                        (uu, uv, vv) = (uu + u * u, uv + u * v, vv + v * v);
                        (ut, vt) = (ut + u * t, vt + v * t);
                    }
                }
            }
        }
        if pixels < FEWEST {
            return Self { across: 0.0, down: 0.0, changed };
        }
        let damping = 1e-3 * 3.0 * f64::from(pixels as u32);
        let (uu, vv) = (uu + damping, vv + damping);
        let determinant = uu * vv - uv * uv;
        let across = -(vv * ut - uv * vt) / determinant;
        let down = -(uu * vt - uv * ut) / determinant;
        Self { across, down, changed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dark square on a bright ground that moves by so many pixels a frame.
    fn moving(across: i32, down: i32) -> Vec<Image> {
        let frame = |number: i32| {
            let (left, top) = (56 + across * number, 56 + down * number);
            let shade = |x: i32, y: i32| {
                if (left..left + 16).contains(&x) && (top..top + 16).contains(&y) { 40 } else { 200 }
            };
            let pixels = (0..128).flat_map(|y| (0..128).flat_map(move |x| [shade(x, y); 3])).collect();
            Image::opaque(128, 128, pixels)
        };
        (0..9).map(frame).collect()
    }

    #[test]
    fn directions_are_read() {
        for (across, down, wanted) in [(1, 0, "right"), (-1, 0, "left"), (0, 1, "down"), (0, -1, "up")] {
            assert_eq!(direction(&moving(across, down), "balloon").unwrap(), Some(wanted));
            let sideways = Some(wanted).filter(|_| across != 0);
            assert_eq!(direction(&moving(across, down), "boat").unwrap(), sideways);
        }
        assert_eq!(direction(&moving(0, 0), "still").unwrap(), Some("none"));
        assert_eq!(direction(&moving(1, 0), "still").unwrap(), None);
        assert_eq!(direction(&moving(0, 0), "boat").unwrap(), None);
        assert_eq!(direction(&moving(0, 1), "snow").unwrap(), None, "one square is no snow");
    }
}
