//! LTX-Video against diffusers: whole runs through the session, stage by stage, and the autoencoder alone.

use std::sync::Arc;

use candle_core::Tensor;
use sluice_engine::{
    checkpoint::{Part, Role, read_header, read_json},
    memory::Placement,
    request::Request,
    residency::{Blocks, Executor},
    vae::{Autoencoder, LtxAutoencoder},
};
use sluice_tests::{
    checkpoint::{Fixture, fixtures, load, manifest_tensors, save},
    golden::{AUTOENCODER, compare},
    modes::{check_every_mode, check_forecasts, check_half_precision},
    original_names::Tensors,
    parity::check_case,
    runner::Runner,
    stores::on_processor,
};

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("ltx", "default").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("ltx", "salted").unwrap();
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents"];
    check_half_precision(&Fixture::new("ltx", "default"), "guided", &names).unwrap();
}

#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    for (case, run) in [("default", "guided"), ("salted", "clip")] {
        check_every_mode(&Fixture::new("ltx", case), run).unwrap();
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    check_forecasts(&Fixture::new("ltx", "default"), "unguided", 0.95..1.1, 0.9..1.15).unwrap();
}

#[test]
fn other_numbers_of_frames_are_refused_with_the_nearest() {
    let (fixture, folder) = (Fixture::new("ltx", "default"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let request = Request { frames: 81, ..fixture.run("guided").unwrap().request(&model) };
    let mut runner = Runner::start().unwrap();
    let job = runner.job(Request { frames: 80, ..request });
    let failure = runner.run(job).unwrap().failure().unwrap();
    assert!(failure.message.contains("not 80; use 73 or 81"), "{}", failure.message);
}

/// The first decoder is that of 0.9.0; the second is told how noisy its latents are and has shortcuts around its
/// doublings, as from 0.9.5 on.
#[test]
fn the_autoencoder_gives_what_diffusers_gives() {
    for name in ["ltx", "ltx_other"] {
        let (fixture, folder) = (fixtures().join("autoencoder").join(name), tempfile::tempdir().unwrap());
        let (_, tensors) = manifest_tensors(&fixture).unwrap().pop_first().unwrap();
        let file = folder.path().join("weights.safetensors");
        save(&tensors, &file).unwrap();
        let part = Part {
            role: Role::Autoencoder,
            config: Some(read_json(&fixture.join("config.json")).unwrap()),
            tensors: read_header(&file).unwrap(),
            path: file,
            loose: Arc::default(),
        };
        let (autoencoder, component) = LtxAutoencoder::open(&part).unwrap();
        let (store, executor) = (on_processor(component, Placement::Resident), Executor::default());
        let golden = load(&fixture.join("golden.safetensors")).unwrap();
        let blocks = || Blocks::stored(&executor, &store);
        let first = |name: &str| golden[name].narrow(2, 0, 1).unwrap().squeeze(2).unwrap();
        let decode = |latents: Tensor| {
            autoencoder.decode(blocks(), &latents.into(), None).unwrap().into_computed().unwrap()
        };
        let encode = |clip: Tensor| autoencoder.encode(blocks(), &clip.into(), None).unwrap();
        let (mean, logvar) = encode(golden["encode.in"].clone());
        let decoded = decode(golden["decode.in"].clone());
        let frames = decoded.dim(2).unwrap();
        let every_second: Vec<u32> = (0..frames as u32).step_by(2).collect();
        let every_second = Tensor::new(every_second.as_slice(), decoded.device()).unwrap();
        let found = Tensors::from(
            [
                ("encode.mean", mean.into_computed().unwrap()),
                ("encode.logvar", logvar.into_computed().unwrap()),
                ("encode_image.mean", encode(first("encode.in")).0.into_computed().unwrap()),
                ("decode.out", decoded.index_select(&every_second, 2).unwrap()),
                ("decode_image.out", decode(first("decode.in"))),
            ]
            .map(|(name, tensor)| (name.to_owned(), tensor)),
        );
        for part in found.keys() {
            let distance = compare(part, &golden, &found, AUTOENCODER).unwrap();
            println!("{name} {part}: {distance:.1e}");
        }
    }
}
