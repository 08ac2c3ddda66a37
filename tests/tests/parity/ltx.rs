//! LTX-Video against diffusers: whole runs through the session, stage by stage, and the autoencoder alone.

use std::sync::Arc;

use candle_core::{DType, Tensor};
use serde_json::json;
use sluice_engine::{
    checkpoint::{Part, Role, read_header, read_json},
    memory::Placement,
    models,
    request::{Request, SourceClip},
    residency::{Blocks, Executor},
    vae::{Autoencoder, LtxAutoencoder},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, add_note, fixtures, load, manifest_tensors, save, set_json},
    clips::write_frames,
    golden::{AUTOENCODER, compare, distance},
    modes::{check_every_mode, check_forecasts, check_half_precision},
    original_names::Tensors,
    parity::{check_case, check_run},
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

/// The pipeline from 0.9.7 on: levels of its own, places of latent frames at their last frame, and new noise for given
/// frames before each prediction.
#[test]
fn the_conditioned_pipeline_gives_what_diffusers_gives() {
    check_case("ltx", "conditioned").unwrap();
}

#[test]
fn distilled_models_take_the_steps_they_were_trained_for() {
    let (fixture, folder) = (Fixture::new("ltx", "conditioned"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(&folder.path().join("ltxv-distilled")).unwrap();
    let defaults = models::open(&model, &[]).unwrap().defaults;
    assert_eq!((defaults.steps, defaults.guidance), (8, 1.0));
    let mut runner = Runner::start().unwrap();
    check_run(&mut runner, &fixture.run("distilled/fast").unwrap(), &model).unwrap();
}

/// Files as published: transformer and autoencoder in one, under the authors' names, with notes in the header.
#[test]
fn the_authors_files_give_the_same_bytes() {
    let shape = json!({ "num_attention_heads": 2, "attention_head_dim": 32 });
    let levels = [1.0, 0.9937, 0.9875, 0.9812, 0.975, 0.9094, 0.725, 0.4219];
    for (case, run, notes) in [
        ("default", "first", json!({ "transformer": shape.clone() })),
        ("conditioned", "first", json!({ "transformer": shape.clone() })),
        ("conditioned", "distilled/fast", json!({ "transformer": shape, "allowed_inference_steps": levels })),
    ] {
        let (fixture, folder) = (Fixture::new("ltx", case), tempfile::tempdir().unwrap());
        let is_distilled = run.starts_with("distilled");
        let name = if is_distilled { "ltx-distilled" } else { "ltx" };
        let diffusers = fixture.write_diffusers(&folder.path().join(name)).unwrap();
        let single = fixture.write(&folder.path().join("single"), Layout::Single, Stored::F32).unwrap();
        add_note(&single, "config", &notes.to_string()).unwrap();
        let defaults = models::open(&single, &[]).unwrap().defaults;
        assert_eq!(defaults.steps, models::open(&diffusers, &[]).unwrap().defaults.steps, "{case}");
        let (run, mut runner) = (fixture.run(run).unwrap(), Runner::start().unwrap());
        let (_, wanted) = runner.repeat(&run, &diffusers).unwrap();
        let (_, found) = runner.repeat(&run, &single).unwrap();
        assert_eq!(wanted.len(), found.len());
        for (name, tensor) in &wanted {
            distance(name, &tensor.to_dtype(DType::F64).unwrap(), &found[name], 0.0).unwrap();
        }
    }
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents"];
    check_half_precision(&Fixture::new("ltx", "default"), "guided", &names).unwrap();
}

#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    for (case, run) in
        [("default", "guided"), ("salted", "clip"), ("default", "first"), ("conditioned", "first")]
    {
        check_every_mode(&Fixture::new("ltx", case), run).unwrap();
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    check_forecasts(&Fixture::new("ltx", "default"), "unguided", 0.95..1.1, 0.9..1.15).unwrap();
}

#[test]
fn autoencoders_of_impossible_shapes_are_refused() {
    for (field, value, reason) in [
        ("downsample_type", json!(["spatial", "temporal", "spatial", "spatial"]), "the decoder makes"),
        ("downsample_type", json!(["spatial", "temporal", "diagonal", "spatial"]), "only conv, spatial"),
        ("block_out_channels", json!([6, 12, 8, 10, 16]), "the width does not fit"),
        ("down_block_types", json!(["Other", "LTXVideo095DownBlock3D"]), "of one known type"),
        ("decoder_inject_noise", json!([true]), "it must have 4"),
    ] {
        let (fixture, folder) = (Fixture::new("ltx", "salted"), tempfile::tempdir().unwrap());
        let model = fixture.write_diffusers(folder.path()).unwrap();
        set_json(&model.join("vae/config.json"), field, value).unwrap();
        let error = models::open(&model, &[]).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
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

#[test]
fn clips_are_changed_and_extended() {
    let (fixture, folder) = (Fixture::new("ltx", "default"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let own = Request { steps: 4, ..fixture.run("guided").unwrap().request(&model) };
    let path = folder.path().join("clip");
    let before = write_frames(&path, 12, [own.width, own.height]).unwrap();
    let clip = SourceClip { path, strength: 0.5, ..SourceClip::default() };
    let mut runner = Runner::start().unwrap();
    let changed = Request { frames: 9, clip: Some(clip.clone()), ..own.clone() };
    let (pictures, dump) = runner.dump(changed, None).unwrap();
    assert_eq!(pictures[0].media.frames().len(), 9);
    assert_eq!(dump["scheduler.timesteps"].elem_count(), 2, "half of the steps");
    let extended = Request { frames: 17, clip: Some(SourceClip { extends: true, ..clip }), ..own };
    let (pictures, dump) = runner.dump(extended, None).unwrap();
    let frames = pictures[0].media.frames();
    assert_eq!(frames.len(), 12 + 8);
    assert!(frames[..12].iter().zip(&before).all(|(new, old)| new == old));
    let last = &dump["step.3.latents"].narrow(2, 0, 2).unwrap();
    distance("the kept frames", &dump["source.latents"], last, 1e-5).unwrap();
}

/// The first autoencoder is that of 0.9.0. The second one is that of 0.9.5: its encoder makes neighbouring values channels,
/// its decoder is told how noisy its latents are. This decoder also adds noise to its values, as in 0.9.1.
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
