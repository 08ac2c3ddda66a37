//! The decoders of tiny autoencoders against diffusers.

use std::path::Path;

use sluice_engine::{
    checkpoint::CheckpointError,
    vae::{Tiling, TinyDecoder},
};
use sluice_tests::{
    checkpoint::{fixtures, load, manifest_tensors, save},
    golden::{AUTOENCODER, MODULE, distance},
    original_names::{self, Tensors},
};

fn weights(name: &str) -> Tensors {
    let folder = fixtures().join("autoencoder_tiny").join(name);
    manifest_tensors(&folder).unwrap().pop_first().unwrap().1
}

fn open(tensors: &Tensors, folder: &Path) -> Result<TinyDecoder, CheckpointError> {
    let file = folder.join("decoder.safetensors");
    save(tensors, &file).unwrap();
    TinyDecoder::open(&file)
}

#[test]
fn tiny_decoders_give_what_diffusers_gives_under_both_names() {
    for (name, channels, scale) in [("taesd", 4, 8), ("other", 16, 4)] {
        let golden =
            load(&fixtures().join("autoencoder_tiny").join(name).join("golden.safetensors")).unwrap();
        for tensors in [weights(name), original_names::tiny_decoder(&weights(name))] {
            let folder = tempfile::tempdir().unwrap();
            let decoder = open(&tensors, folder.path()).unwrap();
            assert_eq!((decoder.channels(), decoder.scale()), (channels, scale));
            for picture in 0..2 {
                let latents = golden["decode.in"].narrow(0, picture, 1).unwrap().into();
                let expected = golden["decode.out"].narrow(0, picture, 1).unwrap();
                // diffusers returns −1…1.
                let found = decoder
                    .decode(&latents, None, 0)
                    .unwrap()
                    .affine(2.0, -1.0)
                    .unwrap()
                    .into_computed()
                    .unwrap();
                let distance = distance(name, &expected, &found, AUTOENCODER).unwrap();
                println!("{name}: {distance:.1e}");
                let tiled =
                    decoder.decode(&latents, Some(Tiling::with_tile(5)), 0).unwrap().into_computed().unwrap();
                assert_eq!(tiled.dims(), found.dims());
            }
        }
    }
}

#[test]
fn tiny_decoders_of_clips_give_what_their_authors_code_gives() {
    for (name, channels, scale, doublings) in
        [("taew2_1", 16, 8, &[3, 1][..]), ("taew2_2", 48, 16, &[2]), ("taeltx_2", 128, 32, &[1, 0])]
    {
        let golden =
            load(&fixtures().join("autoencoder_tiny").join(name).join("golden.safetensors")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let decoder = open(&weights(name), folder.path()).unwrap();
        assert_eq!((decoder.channels(), decoder.scale()), (channels, scale));
        let latents = golden["decode.in"].clone().into();
        for kept in doublings {
            let found = decoder.decode(&latents, None, 3 - kept).unwrap().into_computed().unwrap();
            let expected = &golden[&format!("decode.out.{kept}")];
            let distance = distance(name, expected, &found, MODULE).unwrap();
            println!("{name} with {kept} doublings: {distance:.1e}");
            let tiled = decoder.decode(&latents, Some(Tiling::with_tile(2)), 3 - kept).unwrap();
            assert_eq!(tiled.dims(), found.dims());
        }
    }
}

#[test]
fn files_that_are_no_decoder_say_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut tensors = weights("taesd");
    tensors.remove("decoder.layers.3.conv.2.weight").unwrap();
    let error = open(&tensors, folder.path()).unwrap_err().to_string();
    assert!(error.contains("decoder.layers.3.conv.2.weight"), "{error}");
    tensors.retain(|name, _| name.starts_with("encoder."));
    let error = open(&tensors, folder.path()).unwrap_err();
    assert!(matches!(error, CheckpointError::MissingTensor { .. }), "{error}");
}
