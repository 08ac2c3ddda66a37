//! Upscalers of the fixtures, opened from files.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Result, ensure};
use candle_core::Tensor;
use sluice_engine::{
    checkpoint::Checkpoint,
    memory::Placement,
    residency::{Blocks, Executor, WeightStore},
    upscale::{Tiles, Upscaler, open},
};

use crate::{
    checkpoint::{fixtures, load, manifest_tensors, save},
    golden::{MODULE, distance},
    original_names::Tensors,
    stores::on_processor,
};

/// Allowed distance, relative to the largest value.
const TOLERANCE: f64 = 1e-4;
/// The same for networks that attend within windows only.
const TOLERANCE_OF_WINDOWS: f64 = MODULE;

/// Name, architecture, factor.
const CASES: [(&str, &str, usize); 26] = [
    ("esrgan_x4", "ESRGAN", 4),
    ("esrgan_x1", "ESRGAN", 1),
    ("esrgan_numbered_x2", "ESRGAN", 2),
    ("esrgan_trunk_x4", "ESRGAN", 4),
    ("esrgan_squares_x2", "ESRGAN", 2),
    ("esrgan_squares_x1", "ESRGAN", 1),
    ("compact_x4", "Real-ESRGAN Compact", 4),
    ("compact_x3", "Real-ESRGAN Compact", 3),
    ("compact_x1", "Real-ESRGAN Compact", 1),
    ("span_x4", "SPAN", 4),
    ("span_x2", "SPAN", 2),
    ("span_whole_x2", "SPAN", 2),
    ("dat_x4", "DAT", 4),
    ("dat_x3", "DAT", 3),
    ("dat_at_once_x2", "DAT", 2),
    ("plksr_x4", "RealPLKSR", 4),
    ("plksr_x1", "RealPLKSR", 1),
    ("plksr_resampled_x2", "RealPLKSR", 2),
    ("plksr_resampled_x3", "RealPLKSR", 3),
    ("swinir_x4", "SwinIR", 4),
    ("swinir_real_x4", "SwinIR", 4),
    ("swinir_at_once_x2", "SwinIR", 2),
    ("swinir_jpeg_x1", "SwinIR", 1),
    ("swinir_squares_x2", "SwinIR", 2),
    ("hat_x4", "HAT", 4),
    ("hat_x2", "HAT", 2),
];

/// The weights of a case.
pub fn weights(name: &str) -> Result<Tensors> {
    let files = manifest_tensors(&fixtures().join("upscale").join(name))?;
    Ok(files.into_values().next().unwrap_or_default())
}

/// An upscaler and its weights.
pub struct Opened {
    /// The network.
    pub network: Box<dyn Upscaler>,
    store: WeightStore,
}

impl Opened {
    /// Writes weights into a folder and opens them, with this placement of all blocks.
    ///
    /// # Errors
    /// When they are no upscaler that is supported.
    pub fn new(tensors: &Tensors, folder: &Path, placement: Placement) -> Result<Self> {
        let file = folder.join("upscaler.safetensors");
        save(tensors, &file)?;
        let opened = open(&Checkpoint::of_file(&file)?)?;
        Ok(Self { network: opened.network, store: on_processor(opened.component, placement) })
    }

    /// An image, enlarged.
    pub fn upscale(&self, image: &Tensor) -> Result<Tensor> {
        let executor = Executor::default();
        let blocks = Blocks::stored(&executor, &self.store);
        Ok(self.network.upscale(blocks, &image.clone().into())?.into_computed()?)
    }

    /// The same tile by tile; what is around a tile is left out.
    pub fn in_tiles(&self, image: &Tensor, side: usize) -> Result<Tensor> {
        let (_, _, height, width) = image.dims4()?;
        let tiles = Tiles::new(Some(side), self.network.reach(), self.network.multiple());
        ensure!(tiles.are_exact() && tiles.cut([height, width]), "{tiles:?} are not what is tested");
        let factor = self.network.factor();
        let (mut rows, mut row): (Vec<Tensor>, Vec<Tensor>) = (Vec::new(), Vec::new());
        for tile in tiles.of([height, width]) {
            let mut seen = image.clone();
            for axis in 0..2 {
                seen = seen.narrow(2 + axis, tile.seen[axis].start, tile.seen[axis].len())?;
            }
            let mut kept = self.upscale(&seen.contiguous()?)?;
            for axis in 0..2 {
                let start = tile.kept[axis].start - tile.seen[axis].start;
                kept = kept.narrow(2 + axis, factor * start, factor * tile.kept[axis].len())?;
            }
            row.push(kept);
            if tile.kept[1].end == width {
                rows.push(Tensor::cat(&row, 3)?);
                row.clear();
            }
        }
        Ok(Tensor::cat(&rows, 2)?)
    }
}

/// Compares all cases with the reference, in these placements of their weights.
pub fn check_upscalers(placements: &[Placement]) -> Result<()> {
    for (name, architecture, factor) in CASES {
        let golden = load(&fixtures().join("upscale").join(name).join("golden.safetensors"))?;
        let sizes: BTreeSet<&str> = golden.keys().filter_map(|key| key.strip_suffix(".in")).collect();
        ensure!(!sizes.is_empty(), "{name} has no pictures");
        let tolerance = match architecture {
            "SwinIR" | "HAT" => TOLERANCE_OF_WINDOWS,
            _ => TOLERANCE,
        };
        for &placement in placements {
            let folder = tempfile::tempdir()?;
            let opened = Opened::new(&weights(name)?, folder.path(), placement)?;
            let found = (opened.network.architecture(), opened.network.factor());
            ensure!(found == (architecture, factor), "{name} is {found:?}");
            for size in &sizes {
                let (image, expected) = (&golden[&format!("{size}.in")], &golden[&format!("{size}.out")]);
                // The reference mirrors what lacks to a multiple and cuts it off again.
                let found = opened.upscale(&mirrored(image, opened.network.multiple())?)?;
                let (_, _, height, width) = expected.dims4()?;
                let found = found.narrow(2, 0, height)?.narrow(3, 0, width)?;
                let distance = distance(&format!("{name} {size}"), expected, &found, tolerance)?;
                println!("{name} {size}: {distance:.1e}");
            }
        }
    }
    Ok(())
}

fn mirrored(image: &Tensor, multiple: usize) -> Result<Tensor> {
    let mut image = image.clone();
    for axis in [2, 3] {
        let length = image.dim(axis)?;
        let lacking = length.next_multiple_of(multiple) - length;
        for number in 0..lacking {
            let mirror = image.narrow(axis, length - 2 - number, 1)?;
            image = Tensor::cat(&[&image, &mirror], axis)?;
        }
    }
    Ok(image)
}
