//! Tiny networks of RIFE 4 with weights made from their names, as `reference/interpolators.py` makes them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Result, ensure};
use candle_core::{Device, Tensor};
use sluice_engine::{
    checkpoint::Checkpoint,
    interpolation::{Ifnet, open},
    memory::Placement,
    output::Image,
    residency::{Blocks, Executor, WeightStore},
};

use crate::{
    checkpoint::{fixtures, load, save},
    golden::{MODULE, distance},
    hash_weights,
    original_names::Tensors,
    stores::on_processor,
};

/// Pixels between those that pictures are made of.
const STEP: usize = 8;

/// What a version looks at of each frame, and under which names.
#[derive(Debug, Clone, Copy)]
pub enum Head {
    /// Nothing more.
    None,
    /// Two layers, from the first to the second number of channels.
    Pair(usize, usize),
    /// Four layers with numbers.
    Numbered(usize, usize),
    /// Four layers with names.
    Named(usize, usize),
}

/// A version with few channels.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its name in the fixture.
    pub name: &'static str,
    /// The version that is found.
    pub version: &'static str,
    /// What it looks at of each frame.
    pub head: Head,
    /// The channels of its blocks.
    pub widths: &'static [usize],
    /// What its blocks say.
    pub outputs: usize,
    /// Whether activations have learned slopes.
    pub is_prelu: bool,
    /// Height and width.
    pub size: [usize; 2],
    /// The time between the frames.
    pub time: f32,
    /// What the last layers are multiplied by.
    pub scale: f32,
}

const LATEST: Case = Case {
    name: "4.26",
    version: "RIFE 4.26",
    head: Head::Named(16, 4),
    widths: &[12, 8, 8, 6, 4],
    outputs: 13,
    is_prelu: false,
    size: [64, 128],
    time: 0.5,
    scale: 6.0,
};

/// Those of the fixture.
pub const CASES: [Case; 11] = [
    LATEST,
    Case { name: "4.26 later", size: [64, 64], time: 0.75, ..LATEST },
    Case {
        name: "4.26 heavy",
        head: Head::Named(16, 16),
        widths: &[8, 8, 6, 6, 4],
        size: [64, 64],
        ..LATEST
    },
    Case {
        name: "4.25 lite",
        version: "RIFE 4.25 lite",
        widths: &[8, 8, 6, 6, 24],
        size: [128, 128],
        ..LATEST
    },
    Case { name: "4.22", version: "RIFE 4.22", head: Head::Named(32, 8), outputs: 13, ..OLDER },
    Case {
        name: "4.15",
        version: "RIFE 4.15",
        head: Head::Named(32, 8),
        size: [64, 32],
        time: 0.25,
        ..OLDER
    },
    Case { name: "4.12", version: "RIFE 4.15", head: Head::Numbered(32, 8), ..OLDER },
    Case { name: "4.7", version: "RIFE 4.7", head: Head::Pair(16, 4), ..OLDER },
    Case { name: "4.6", version: "RIFE 4.6", size: [32, 96], ..OLDER },
    Case { name: "4.0", scale: 1.0, ..FIRST },
    Case { name: "4.0 far", scale: 2.8, ..FIRST },
];

const OLDER: Case = Case { head: Head::None, widths: &[12, 8, 8, 6], outputs: 6, size: [32, 64], ..LATEST };

const FIRST: Case = Case { version: "RIFE 4.0", outputs: 5, is_prelu: true, size: [64, 64], ..OLDER };

impl Case {
    /// The first of the fixture, the latest version.
    pub fn latest() -> Self {
        LATEST
    }

    /// The names and shapes of its tensors.
    fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let mut all = Vec::new();
        let conv = |all: &mut Vec<(String, Vec<usize>)>, name: &str, outputs: usize, inputs: usize| {
            all.push((format!("{name}.weight"), vec![outputs, inputs, 3, 3]));
            all.push((format!("{name}.bias"), vec![outputs]));
        };
        let transposed = |all: &mut Vec<(String, Vec<usize>)>, name: &str, inputs: usize, outputs: usize| {
            all.push((format!("{name}.weight"), vec![inputs, outputs, 4, 4]));
            all.push((format!("{name}.bias"), vec![outputs]));
        };
        let seen = match self.head {
            Head::None => 0,
            Head::Pair(inner, outputs) => {
                conv(&mut all, "encode.0", inner, 3);
                transposed(&mut all, "encode.1", inner, outputs);
                2 * outputs
            }
            Head::Numbered(inner, outputs) | Head::Named(inner, outputs) => {
                let is_named = matches!(self.head, Head::Named(..));
                let names = if is_named { ["cnn0", "cnn1", "cnn2", "cnn3"] } else { ["0", "2", "4", "6"] };
                for (number, name) in names.iter().enumerate() {
                    let name = format!("encode.{name}");
                    match number {
                        0 => conv(&mut all, &name, inner, 3),
                        3 => transposed(&mut all, &name, inner, outputs),
                        _ => conv(&mut all, &name, inner, inner),
                    }
                }
                2 * outputs
            }
        };
        let passed = if self.outputs == 13 { 8 } else { 0 };
        for (number, &width) in self.widths.iter().enumerate() {
            let more = if number == 0 { 0 } else { 1 + passed + 4 };
            let block = format!("block{number}");
            let layer = |all: &mut Vec<(String, Vec<usize>)>, name: &str, outputs: usize, inputs: usize| {
                conv(all, &format!("{block}.{name}.0"), outputs, inputs);
                if self.is_prelu {
                    all.push((format!("{block}.{name}.1.weight"), vec![outputs]));
                }
            };
            layer(&mut all, "conv0.0", width / 2, 7 + seen + more);
            layer(&mut all, "conv0.1", width, width / 2);
            for inner in 0..8 {
                if self.is_prelu {
                    layer(&mut all, &format!("convblock.{inner}"), width, width);
                } else {
                    conv(&mut all, &format!("{block}.convblock.{inner}.conv"), width, width);
                    all.push((format!("{block}.convblock.{inner}.beta"), vec![1, width, 1, 1]));
                }
            }
            match self.is_prelu {
                true => transposed(&mut all, &format!("{block}.lastconv"), width, self.outputs),
                false => transposed(&mut all, &format!("{block}.lastconv.0"), width, 4 * self.outputs),
            }
        }
        all
    }

    /// Its weights.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn weights(&self) -> Result<Tensors> {
        let made = self.shapes().into_iter().map(|(name, shape)| {
            let factor = if name.contains("lastconv") { self.scale } else { 1.0 };
            let values = hash_weights::weight(&format!("interpolation.{}.{name}", self.name), &shape, factor);
            Ok((name, Tensor::from_vec(values, shape, &Device::Cpu)?))
        });
        made.collect()
    }

    /// Writes its weights to a file in a folder.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn write(&self, folder: &Path) -> Result<PathBuf> {
        let path = folder.join("rife.safetensors");
        save(&self.weights()?, &path)?;
        Ok(path)
    }

    /// The frames before and after, `[2, 3, height, width]`.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn pair(&self) -> Result<Tensor> {
        let picture = |which: &str| smooth(&format!("interpolation.{}.{which}", self.name), self.size);
        let values = [picture("before"), picture("after")].concat();
        Ok(Tensor::from_vec(values, (2, 3, self.size[0], self.size[1]), &Device::Cpu)?)
    }
}

/// A smooth picture in 0…1, channel by channel: few values, with straight lines between.
pub fn smooth(name: &str, [height, width]: [usize; 2]) -> Vec<f32> {
    let (rows, columns) = (height / STEP + 1, width / STEP + 1);
    let grid = hash_weights::uniform_values(name, 3 * rows * columns);
    let grid: Vec<f64> = grid.into_iter().map(|value| (f64::from(value) + 1.0) / 2.0).collect();
    let mut values = Vec::with_capacity(3 * height * width);
    for channel in 0..3 {
        for y in 0..height {
            for x in 0..width {
                let at = |row: usize, column: usize| grid[(channel * rows + row) * columns + column];
                let (row, column) = (y / STEP, x / STEP);
                let [down, across] = [y, x].map(|place| (place % STEP) as f64 / STEP as f64);
                let line = |row: usize| at(row, column) * (1.0 - across) + at(row, column + 1) * across;
                values.push((line(row) * (1.0 - down) + line(row + 1) * down) as f32);
            }
        }
    }
    values
}

/// The most pixels by which a picture moves.
const FARTHEST: usize = 64;

/// A part of a smooth picture that is `by` pixels, at most [`FARTHEST`], from its left edge.
pub fn moving(width: u32, height: u32, by: usize) -> Image {
    let wide = (width as usize + FARTHEST).next_multiple_of(STEP);
    let high = (height as usize).next_multiple_of(STEP);
    let values = smooth("interpolation.moving", [high, wide]);
    let mut pixels = Vec::with_capacity(3 * width as usize * height as usize);
    for y in 0..height as usize {
        for x in 0..width as usize {
            for channel in 0..3 {
                let value = values[(channel * high + y) * wide + x + by];
                pixels.push((value * 255.0).round() as u8);
            }
        }
    }
    Image::opaque(width, height, pixels)
}

/// A network and its weights.
pub struct Opened {
    /// The network.
    pub network: Arc<Ifnet>,
    /// Its architecture as it is reported.
    pub architecture: &'static str,
    store: WeightStore,
}

impl Opened {
    /// Writes weights into a folder and opens them, with this placement of all blocks.
    ///
    /// # Errors
    /// When they are no network that is supported.
    pub fn new(tensors: &Tensors, folder: &Path, placement: Placement) -> Result<Self> {
        let file = folder.join("rife.safetensors");
        save(tensors, &file)?;
        let opened = open(&Checkpoint::of_file(&file)?)?;
        let architecture = opened.component.architecture;
        Ok(Self { network: opened.network, architecture, store: on_processor(opened.component, placement) })
    }

    /// The frame at a time between two `[2, 3, height, width]`.
    ///
    /// # Errors
    /// When weights cannot be read.
    pub fn between(&self, pair: &Tensor, time: f32) -> Result<Tensor> {
        let executor = Executor::default();
        let blocks = Blocks::stored(&executor, &self.store);
        Ok(self.network.between(blocks, &pair.clone().into(), time)?.into_computed()?)
    }
}

/// Rows and columns between the places that the fixture has.
const KEPT: [usize; 2] = [11, 13];

/// Every so many of the rows and columns.
fn kept(image: &Tensor) -> Result<Tensor> {
    let mut image = image.clone();
    for (axis, every) in [2, 3].into_iter().zip(KEPT) {
        let places: Vec<u32> = (0..image.dim(axis)? as u32).step_by(every).collect();
        let places = Tensor::new(places, image.device())?;
        image = image.contiguous()?.index_select(&places, axis)?;
    }
    Ok(image)
}

/// Compares all cases with the reference, in these placements of their weights.
///
/// # Errors
/// When one differs too much.
pub fn check_interpolators(placements: &[Placement]) -> Result<()> {
    let golden = load(&fixtures().join("interpolation.safetensors"))?;
    ensure!(golden.len() == CASES.len(), "the fixture has {} cases", golden.len());
    for case in CASES {
        let (weights, pair) = (case.weights()?, case.pair()?);
        for &placement in placements {
            let folder = tempfile::tempdir()?;
            let opened = Opened::new(&weights, folder.path(), placement)?;
            ensure!(opened.architecture == case.version, "{} is {}", case.name, opened.architecture);
            let made = opened.between(&pair, case.time)?;
            let distance = distance(case.name, &golden[case.name], &kept(&made)?, MODULE)?;
            println!("{}: {distance:.1e}", case.name);
        }
    }
    Ok(())
}
