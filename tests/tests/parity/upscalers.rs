//! Upscalers against spandrel's networks: under all names of their tensors, in odd sizes, and tile by tile.

use std::{collections::BTreeSet, path::Path};

use candle_core::Tensor;
use sluice_engine::{
    checkpoint::{Checkpoint, CheckpointError},
    memory::Placement,
    models::open_upscaler,
    residency::{Blocks, Executor, WeightStore},
    upscale::{Tiles, Upscaler, open},
};
use sluice_tests::{
    checkpoint::{fixtures, load, manifest_tensors, save},
    golden::distance,
    original_names::Tensors,
    stores::on_processor,
};

/// Allowed distance, relative to the largest value.
const TOLERANCE: f64 = 1e-4;

/// Name, architecture, factor.
const CASES: [(&str, &str, usize); 12] = [
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

fn weights(name: &str) -> Tensors {
    manifest_tensors(&fixtures().join("upscale").join(name)).unwrap().pop_first().unwrap().1
}

struct Opened {
    network: Box<dyn Upscaler>,
    store: WeightStore,
}

fn opened(tensors: &Tensors, folder: &Path, placement: Placement) -> Result<Opened, CheckpointError> {
    let file = folder.join("upscaler.safetensors");
    save(tensors, &file).unwrap();
    let opened = open(&Checkpoint::of_file(&file)?)?;
    Ok(Opened { network: opened.network, store: on_processor(opened.component, placement) })
}

impl Opened {
    fn upscale(&self, image: &Tensor) -> Tensor {
        let executor = Executor::default();
        let blocks = Blocks::stored(&executor, &self.store);
        self.network.upscale(blocks, &image.clone().into()).unwrap().into_computed().unwrap()
    }

    /// The same tile by tile; what is around a tile is left out.
    fn in_tiles(&self, image: &Tensor, side: usize) -> Tensor {
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

#[test]
fn upscalers_give_what_spandrel_gives() {
    for (name, architecture, factor) in CASES {
        let golden = load(&fixtures().join("upscale").join(name).join("golden.safetensors")).unwrap();
        let sizes: BTreeSet<&str> = golden.keys().filter_map(|key| key.strip_suffix(".in")).collect();
        assert!(!sizes.is_empty());
        for placement in [Placement::Resident, Placement::Streamed] {
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

/// Where what is around a tile covers all that the network sees, tiles are those of the whole image to the last bit.
#[test]
fn tiles_that_see_enough_are_those_of_the_whole_image() {
    for (name, height, width, side) in [
        ("compact_x4", 61, 77, 32),
        ("compact_x1", 40, 33, 16),
        ("esrgan_x4", 41, 67, 32),
        ("esrgan_numbered_x2", 45, 39, 16),
        ("span_x2", 39, 71, 32),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let opened = opened(&weights(name), folder.path(), Placement::Resident).unwrap();
        let values = sluice_tests::hash_weights::noise(name, 3 * height * width);
        let image = Tensor::from_vec(values, (1, 3, height, width), &candle_core::Device::Cpu)
            .unwrap()
            .abs()
            .unwrap();
        let (whole, tiled) = (opened.upscale(&image), opened.in_tiles(&image, side));
        let distance = distance(name, &whole, &tiled, 1e-6).unwrap();
        println!("{name} in tiles of {side}: {distance:.1e}");
    }
}

#[test]
fn files_that_cannot_be_used_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let reason = |tensors: &Tensors| match opened(tensors, folder.path(), Placement::Resident) {
        Ok(_) => panic!("it was opened"),
        Err(error) => format!("{error}. {}", error.advice()),
    };
    let mut tensors = weights("esrgan_x4");
    tensors.remove("body.0.rdb2.conv3.bias").unwrap();
    assert!(reason(&tensors).contains("body.0.rdb2.conv3.bias"));
    let one = weights("compact_x4").pop_first().unwrap();
    let gray = Tensor::zeros((16, 1, 3, 3), candle_core::DType::F32, &candle_core::Device::Cpu).unwrap();
    let mut tensors = weights("compact_x4");
    tensors.insert("body.0.weight".to_owned(), gray);
    assert!(reason(&tensors).contains("reads 1 channels"), "{}", reason(&tensors));
    tensors.insert("body.0.weight".to_owned(), weights("compact_x4")["body.0.weight"].clone());
    tensors.retain(|name, _| !["body.1.weight", "body.3.weight", "body.5.weight"].contains(&name.as_str()));
    assert!(reason(&tensors).contains("slopes"), "{}", reason(&tensors));
    let other: Tensors = [("layers.0.residual_group.blocks.0.norm1.weight".to_owned(), one.1)].into();
    assert!(reason(&other).contains("SwinIR or HAT"), "{}", reason(&other));
    let advice = reason(&other);
    assert!(advice.contains("Real-ESRGAN Compact"), "{advice}");
    for name in ["x4.pth", "x4.pt"] {
        let pickle = folder.path().join(name);
        std::fs::write(&pickle, b"PK\x03\x04").unwrap();
        let error = open_upscaler(&pickle).map(|_| ()).unwrap_err();
        assert!(matches!(error, CheckpointError::PickledUpscaler { .. }), "{error}");
        assert!(error.advice().contains("convert"), "{}", error.advice());
    }
}
