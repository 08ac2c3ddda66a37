//! Depth estimators against transformers: under the names of all programs, and for grids other than the trained one.

use std::path::Path;

use anyhow::{Context, Result};
use candle_core::{Device, Tensor};
use sluice_engine::{
    aids::open_estimator,
    checkpoint::{Checkpoint, CheckpointError, MapKind},
    memory::Placement,
    models::{self, Kind, content},
    residency::{Blocks, Executor},
};
use sluice_tests::{
    checkpoint::{fixtures, load, save},
    depth::{authors, published, weights},
    golden::distance,
    hash_weights::noise,
    original_names::Tensors,
    stores::on_processor,
};

/// Allowed distance, relative to the largest value.
const TOLERANCE: f64 = 2e-5;
/// Heights and widths, and of how many pixels one is kept in the reference.
const SIZES: [(usize, usize, usize); 3] = [(56, 56, 7), (28, 70, 7), (42, 28, 1)];

fn open_depth_estimator(path: &Path) -> Result<models::Model, CheckpointError> {
    models::open_estimator(path, MapKind::Depth)
}

fn estimated(tensors: &Tensors, folder: &Path, placement: Placement) -> Result<Vec<Tensor>> {
    let file = folder.join("depth.safetensors");
    save(tensors, &file)?;
    let opened = open_estimator(&Checkpoint::of_file(&file)?, MapKind::Depth)?;
    let store = on_processor(opened.component, placement);
    let executor = Executor::default();
    let estimate = |(height, width, _): (usize, usize, usize)| {
        let values = noise(&format!("depth.tiny.{height}x{width}"), 3 * height * width);
        let image = Tensor::from_vec(values, (1, 3, height, width), &Device::Cpu)?;
        let nearness = opened.network.estimate(Blocks::stored(&executor, &store), &image.into())?;
        Ok(nearness.into_iter().next().context("nothing was said")?.into_computed()?)
    };
    SIZES.into_iter().map(estimate).collect()
}

#[test]
fn depth_estimators_give_what_transformers_gives() {
    let golden = load(&fixtures().join("depth/golden.safetensors")).unwrap();
    let own = weights().unwrap();
    for (naming, tensors) in [
        ("transformers 5", own.clone()),
        ("transformers 4", published(&own)),
        ("authors", authors(&own).unwrap()),
    ] {
        for placement in [Placement::Resident, Placement::Streamed] {
            let folder = tempfile::tempdir().unwrap();
            let found = estimated(&tensors, folder.path(), placement).unwrap();
            for ((height, width, kept), found) in SIZES.into_iter().zip(found) {
                let name = format!("{height}x{width}");
                let indices = |length: usize| {
                    let all: Vec<u32> = (0..length as u32).step_by(kept).collect();
                    Tensor::new(all, &Device::Cpu).unwrap()
                };
                let found = found.index_select(&indices(height), 2).unwrap();
                let found = found.index_select(&indices(width), 3).unwrap().squeeze(0).unwrap();
                let distance = distance(&name, &golden[&name], &found, TOLERANCE).unwrap();
                println!("{naming}, {placement:?}, {name}: {distance:.1e}");
            }
        }
    }
}

#[test]
fn files_that_cannot_be_used_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("depth.safetensors");
    let reason = |tensors: &Tensors| {
        save(tensors, &file).unwrap();
        let error = open_depth_estimator(&file).map(|_| ()).unwrap_err();
        format!("{error}. {}", error.advice())
    };
    let own = published(&weights().unwrap());
    let without = |name: &str| {
        let mut tensors = own.clone();
        tensors.remove(name).unwrap();
        tensors
    };
    let missing = "neck.fusion_stage.layers.2.residual_layer1.convolution2.bias";
    assert!(reason(&without(missing)).contains("refinenet2.resConfUnit1.conv2.bias"));
    let said = reason(&without("backbone.embeddings.position_embeddings"));
    assert!(said.contains("cannot make depth maps: the embeddings"), "{said}");
    let stranger =
        Tensors::from([own.first_key_value().map(|(name, one)| (name.clone(), one.clone())).unwrap()]);
    let said = reason(&stranger);
    assert!(said.contains("it is no Depth Anything network. Choose a .safetensors file"), "{said}");
    let pickle = folder.path().join("depth_anything_v2_vits.pth");
    std::fs::write(&pickle, b"PK\x03\x04").unwrap();
    let error = open_depth_estimator(&pickle).map(|_| ()).unwrap_err();
    assert!(
        matches!(error, CheckpointError::PickledEstimator { .. }) && error.advice().contains("safetensors"),
        "{error}"
    );
    let missing = open_depth_estimator(&folder.path().join("none.safetensors")).map(|_| ()).unwrap_err();
    assert!(matches!(missing, CheckpointError::NotFound { .. }), "{missing}");
}

#[test]
fn a_depth_estimator_is_known_by_its_contents_also_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.safetensors");
    save(&published(&weights().unwrap()), &file).unwrap();
    let known = content(&file).unwrap();
    assert_eq!(
        (known.kind, known.what.as_str()),
        (Kind::Part, "map estimator for depth maps, Depth Anything V2, of another size")
    );
    assert!(open_depth_estimator(folder.path()).is_ok());
}
