//! Upscalers of the fixtures, opened from files.

use std::{collections::BTreeSet, path::Path};

use candle_core::Tensor;
use sluice_engine::{
    checkpoint::{Checkpoint, CheckpointError},
    memory::Placement,
    residency::{Blocks, Executor, WeightStore},
    upscale::{Tiles, Upscaler, open},
};

use crate::{
    checkpoint::{fixtures, load, manifest_tensors, save},
    golden::distance,
    original_names::Tensors,
    stores::on_processor,
};

/// Allowed distance, relative to the largest value.
const TOLERANCE: f64 = 1e-4;

/// Name, architecture, factor.
pub const CASES: [(&str, &str, usize); 12] = [
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
];

/// The weights of a case.
pub fn weights(name: &str) -> Tensors {
    manifest_tensors(&fixtures().join("upscale").join(name)).unwrap().pop_first().unwrap().1
}

/// An upscaler and its weights.
pub struct Opened {
    /// The network.
    pub network: Box<dyn Upscaler>,
    store: WeightStore,
}

/// Writes weights into a folder and opens them as an upscaler.
///
/// # Errors
/// When they are none.
pub fn opened(tensors: &Tensors, folder: &Path, placement: Placement) -> Result<Opened, CheckpointError> {
    let file = folder.join("upscaler.safetensors");
    save(tensors, &file).unwrap();
    let opened = open(&Checkpoint::of_file(&file)?)?;
    Ok(Opened { network: opened.network, store: on_processor(opened.component, placement) })
}

impl Opened {
    /// An enlarged image.
    pub fn upscale(&self, image: &Tensor) -> Tensor {
        let executor = Executor::default();
        let blocks = Blocks::stored(&executor, &self.store);
        self.network.upscale(blocks, &image.clone().into()).unwrap().into_computed().unwrap()
    }

    /// The same tile by tile; what is around a tile is left out.
    pub fn in_tiles(&self, image: &Tensor, side: usize) -> Tensor {
        let (_, _, height, width) = image.dims4().unwrap();
        let tiles = Tiles::new(Some(side), self.network.reach(), self.network.multiple());
        assert!(tiles.are_exact() && tiles.cut([height, width]));
        let factor = self.network.factor();
        let mut rows: Vec<Vec<Tensor>> = Vec::new();
        for tile in tiles.of([height, width]) {
            let part = |tensor: &Tensor, axis: usize, start: usize, length: usize| {
                tensor.narrow(2 + axis, start, length).unwrap()
            };
            let mut seen = image.clone();
            for axis in 0..2 {
                seen = part(&seen, axis, tile.seen[axis].start, tile.seen[axis].len());
            }
            let mut kept = self.upscale(&seen.contiguous().unwrap());
            for axis in 0..2 {
                let start = tile.kept[axis].start - tile.seen[axis].start;
                kept = part(&kept, axis, factor * start, factor * tile.kept[axis].len());
            }
            if tile.kept[1].start == 0 {
                rows.push(Vec::new());
            }
            rows.last_mut().unwrap().push(kept);
        }
        let rows: Vec<Tensor> = rows.iter().map(|row| Tensor::cat(row, 3).unwrap()).collect();
        Tensor::cat(&rows, 2).unwrap()
    }
}

/// Compares all cases with the reference, in these placements of their weights.
pub fn check_upscalers(placements: &[Placement]) {
    for (name, architecture, factor) in CASES {
        let golden = load(&fixtures().join("upscale").join(name).join("golden.safetensors")).unwrap();
        let sizes: BTreeSet<&str> = golden.keys().filter_map(|key| key.strip_suffix(".in")).collect();
        assert!(!sizes.is_empty());
        for &placement in placements {
            let folder = tempfile::tempdir().unwrap();
            let opened = opened(&weights(name), folder.path(), placement).unwrap();
            assert_eq!((opened.network.architecture(), opened.network.factor()), (architecture, factor));
            for size in &sizes {
                let (image, expected) = (&golden[&format!("{size}.in")], &golden[&format!("{size}.out")]);
                // The reference mirrors what lacks to a multiple and cuts it off again.
                let found = opened.upscale(&mirrored(image, opened.network.multiple()));
                let (_, _, height, width) = expected.dims4().unwrap();
                let found = found.narrow(2, 0, height).unwrap().narrow(3, 0, width).unwrap();
                let distance = distance(&format!("{name} {size}"), expected, &found, TOLERANCE).unwrap();
                println!("{name} {size}: {distance:.1e}");
            }
        }
    }
}

fn mirrored(image: &Tensor, multiple: usize) -> Tensor {
    let mut image = image.clone();
    for axis in [2, 3] {
        let length = image.dim(axis).unwrap();
        let lacking = length.next_multiple_of(multiple) - length;
        for number in 0..lacking {
            let mirror = image.narrow(axis, length - 2 - number, 1).unwrap();
            image = Tensor::cat(&[&image, &mirror], axis).unwrap();
        }
    }
    image
}
