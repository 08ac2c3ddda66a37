//! Autoencoders alone against diffusers: encode, decode, and decode in tiles.

use std::{path::Path, sync::Arc};

use candle_core::Tensor;
use sluice_engine::{
    checkpoint::{Part, Role, read_header, read_json},
    memory::Placement,
    models::{flux, stable_diffusion},
    residency::{Blocks, Executor, WeightStore},
    vae::{Autoencoder, AutoencoderKl, Tiling},
};
use sluice_tests::{
    checkpoint::{fixtures, load, manifest_tensors, save},
    golden::{AUTOENCODER, compare, distance},
    original_names::{self, Tensors},
    stores::on_processor,
};

/// An autoencoder of the fixtures, opened from files in `folder`.
struct Opened {
    autoencoder: AutoencoderKl,
    store: WeightStore,
    golden: Tensors,
}

impl Opened {
    fn new(name: &str, original: bool, placement: Placement, folder: &Path) -> Self {
        let fixture = fixtures().join("autoencoder").join(name);
        let (_, tensors) = manifest_tensors(&fixture).unwrap().pop_first().unwrap();
        let tensors = if original { original_names::autoencoder(&tensors).unwrap() } else { tensors };
        let file = folder.join("weights.safetensors");
        save(&tensors, &file).unwrap();
        let config = (!original).then(|| read_json(&fixture.join("config.json")).unwrap());
        let part = Part {
            role: Role::Autoencoder,
            path: file.clone(),
            config,
            tensors: read_header(&file).unwrap(),
            loose: Arc::default(),
        };
        let scaling = if name == "flux" { flux::LATENT_SCALING } else { stable_diffusion::LATENT_SCALING };
        let (autoencoder, component) = AutoencoderKl::open(&part, scaling).unwrap();
        let store = on_processor(component, placement);
        Self { autoencoder, store, golden: load(&fixture.join("golden.safetensors")).unwrap() }
    }

    fn encode(&self) -> Tensors {
        let executor = Executor::default();
        let blocks = Blocks::stored(&executor, &self.store);
        let images = self.golden["encode.in"].clone().into();
        let (mean, logvar) = self.autoencoder.encode(blocks, &images, None).unwrap();
        let named = [("encode.mean", mean), ("encode.logvar", logvar)];
        named.into_iter().map(|(name, tensor)| (name.to_owned(), tensor.into_computed().unwrap())).collect()
    }

    fn decode(&self, latents: &Tensor, tiling: Option<Tiling>) -> Tensor {
        let executor = Executor::default();
        let blocks = Blocks::stored(&executor, &self.store);
        self.autoencoder.decode(blocks, &latents.clone().into(), tiling).unwrap().into_computed().unwrap()
    }

    fn check(&self, name: &str) {
        let mut found = self.encode();
        found.insert("decode.out".to_owned(), self.decode(&self.golden["decode.in"], None));
        let tiles = Some(Tiling::with_tile(12));
        found.insert("tiled.out".to_owned(), self.decode(&self.golden["tiled.in"], tiles));
        for part in ["encode.mean", "encode.logvar", "decode.out", "tiled.out"] {
            let distance = compare(part, &self.golden, &found, AUTOENCODER).unwrap();
            println!("{name} {part}: {distance:.1e}");
        }
    }
}

#[test]
fn autoencoders_give_what_diffusers_gives() {
    for name in ["flux", "sd"] {
        let folder = tempfile::tempdir().unwrap();
        Opened::new(name, false, Placement::Resident, folder.path()).check(name);
    }
}

/// Files with original names have no configuration; it is inferred from the shapes.
#[test]
fn original_names_and_shapes_are_enough() {
    for name in ["flux", "sd"] {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let opened = Opened::new(name, true, Placement::Streamed, a.path());
        opened.check(name);
        let configured = Opened::new(name, false, Placement::Resident, b.path());
        assert_eq!(opened.autoencoder.config(), configured.autoencoder.config(), "{name}");
    }
}

#[test]
fn scaling_goes_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Opened::new("flux", false, Placement::Streamed, folder.path());
    let latents = &opened.golden["decode.in"];
    let unscaled = opened.autoencoder.unscale(&latents.clone().into()).unwrap();
    let by_hand = ((latents / 0.3611).unwrap() + 0.1159).unwrap();
    distance("unscaled", &by_hand, unscaled.computed().unwrap(), 1e-7).unwrap();
    let rescaled = opened.autoencoder.rescale(&unscaled).unwrap();
    distance("rescaled", latents, rescaled.computed().unwrap(), 1e-6).unwrap();
}

/// An image that fits into one tile is not blended; pixels outside the overlap are those of the tile alone.
#[test]
fn tiles_change_nothing_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Opened::new("flux", false, Placement::Resident, folder.path());
    let latents = &opened.golden["decode.in"];
    let whole = opened.decode(latents, None);
    let one_tile = opened.decode(latents, Some(Tiling::with_tile(5)));
    distance("one tile", &whole, &one_tile, 0.0).unwrap();
    let tiles = opened.decode(latents, Some(Tiling::with_tile(4)));
    assert_eq!(tiles.dims(), whole.dims());
    assert!(distance("tiles", &whole, &tiles, AUTOENCODER).is_err(), "tiles of 4 × 4 must differ at borders");
}

/// Images of a batch do not affect each other.
#[test]
fn a_batch_is_its_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Opened::new("sd", false, Placement::Resident, folder.path());
    let latents = &opened.golden["decode.in"];
    let together = opened.decode(latents, None);
    for index in 0..2 {
        let alone = opened.decode(&latents.narrow(0, index, 1).unwrap(), None);
        distance("picture", &alone, &together.narrow(0, index, 1).unwrap(), 1e-5).unwrap();
    }
}
