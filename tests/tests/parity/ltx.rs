//! LTX-Video against diffusers: whole runs through the session, stage by stage, and the autoencoder alone.

use std::{path::Path, sync::Arc};

use candle_core::{DType, Device, Tensor};
use serde_json::json;
use sluice_engine::{
    checkpoint::{Part, Role, read_header, read_json},
    memory::Placement,
    models,
    nn::{Computes, Trace},
    request::{Request, RequestError, SourceClip, Windows},
    residency::{Blocks, Executor, TracedBlocks, WeightStore},
    vae::{Autoencoder, LtxAutoencoder, Piece, Reel, Seams, Tiling, Values},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, add_note, fixtures, load, manifest_tensors, save, set_json},
    clips::write_frames,
    golden::{AUTOENCODER, compare, distance},
    hash_weights,
    modes::{check_every_mode, check_forecasts, check_forecasts_in_tiles, check_half_precision},
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
    for (case, run) in [
        ("default", "guided"),
        ("salted", "clip"),
        ("default", "first"),
        ("conditioned", "first"),
        ("conditioned", "keyframes"),
    ] {
        check_every_mode(&Fixture::new("ltx", case), run).unwrap();
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    check_forecasts(&Fixture::new("ltx", "default"), "unguided", 0.95..1.1, 0.9..1.15).unwrap();
    // With an image to encode; the decoder's tiles have fewer frames than the clip.
    let fixture = Fixture::new("ltx", "conditioned");
    check_forecasts_in_tiles(&fixture, "first", 8, 0.95..1.1, 0.9..1.15).unwrap();
    check_forecasts_in_tiles(&fixture, "keyframes", 8, 0.95..1.1, 0.9..1.15).unwrap();
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

/// Images at later frames are latent frames of their own before the clip, which only one window would have.
#[test]
fn keyframes_in_windows_are_refused() {
    let (fixture, folder) = (Fixture::new("ltx", "conditioned"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let request = fixture.run("keyframes").unwrap().request(&model);
    let windows = Some(Windows { frames: 9, overlap: 8 });
    let opened = models::open(&model, &[]).unwrap();
    let last = Request { keyframes: Vec::new(), windows, ..request.clone() };
    assert_eq!(opened.validate(&request), Ok(()));
    assert_eq!(opened.validate(&last), Err(RequestError::KeyframesInWindows));
    let first = Request { last_image: None, ..last };
    assert_eq!(opened.validate(&first), Ok(()));
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

/// An autoencoder of the fixtures and its golden tensors.
struct Opened {
    autoencoder: LtxAutoencoder,
    store: WeightStore,
    golden: Tensors,
}

impl Opened {
    fn new(name: &str, folder: &Path) -> Self {
        let fixture = fixtures().join("autoencoder").join(name);
        let (_, tensors) = manifest_tensors(&fixture).unwrap().pop_first().unwrap();
        let file = folder.join("weights.safetensors");
        save(&tensors, &file).unwrap();
        let part = Part {
            role: Role::Autoencoder,
            config: Some(read_json(&fixture.join("config.json")).unwrap()),
            tensors: read_header(&file).unwrap(),
            path: file,
            loose: Arc::default(),
        };
        let (autoencoder, component) = LtxAutoencoder::open(&part).unwrap();
        let store = on_processor(component, Placement::Resident);
        Self { autoencoder, store, golden: load(&fixture.join("golden.safetensors")).unwrap() }
    }

    fn compare(&self, name: &str, found: &[(&str, Tensor)]) {
        let found: Tensors =
            found.iter().map(|(name, tensor)| ((*name).to_owned(), tensor.clone())).collect();
        for part in found.keys() {
            let distance = compare(part, &self.golden, &found, AUTOENCODER).unwrap();
            println!("{name} {part}: {distance:.1e}");
        }
    }
}

/// The first autoencoder is that of 0.9.0. The second one is that of 0.9.5: its encoder makes neighbouring values channels,
/// its decoder is told how noisy its latents are. This decoder also adds noise to its values, as in 0.9.1.
#[test]
fn the_autoencoder_gives_what_diffusers_gives() {
    for name in ["ltx", "ltx_other"] {
        let folder = tempfile::tempdir().unwrap();
        let opened = Opened::new(name, folder.path());
        let (autoencoder, golden, executor) = (&opened.autoencoder, &opened.golden, Executor::default());
        let blocks = || Blocks::stored(&executor, &opened.store);
        let first = |name: &str| golden[name].narrow(2, 0, 1).unwrap().squeeze(2).unwrap();
        let decode = |latents: Tensor| {
            autoencoder.decode(blocks(), &latents.into(), None).unwrap().into_computed().unwrap()
        };
        let encode = |clip: Tensor| autoencoder.encode(blocks(), &clip.into(), None).unwrap();
        let (mean, logvar) = encode(golden["encode.in"].clone());
        opened.compare(
            name,
            &[
                ("encode.mean", mean.into_computed().unwrap()),
                ("encode.logvar", logvar.into_computed().unwrap()),
                ("encode_image.mean", encode(first("encode.in")).0.into_computed().unwrap()),
                ("decode.out", every(&decode(golden["decode.in"].clone()), 2, 2)),
                ("decode_image.out", decode(first("decode.in"))),
            ],
        );
    }
}

/// Each `step`-th of a tensor along a dimension.
fn every(x: &Tensor, dim: usize, step: usize) -> Tensor {
    let kept: Vec<u32> = (0..x.dim(dim).unwrap() as u32).step_by(step).collect();
    let kept = Tensor::new(kept.as_slice(), x.device()).unwrap();
    x.contiguous().unwrap().index_select(&kept, dim).unwrap()
}

fn hash_noise(name: &str, shape: [usize; 5]) -> Tensor {
    let values = hash_weights::noise(name, shape.iter().product());
    Tensor::from_vec(values, shape.as_slice(), &Device::Cpu).unwrap()
}

/// Tiles of two by two latents, of which the decoder takes two latent frames at a time: 16 frames with a step of 8.
#[test]
fn tiles_give_what_diffusers_gives() {
    for name in ["ltx", "ltx_other"] {
        let folder = tempfile::tempdir().unwrap();
        let opened = Opened::new(name, folder.path());
        let (autoencoder, executor) = (&opened.autoencoder, Executor::default());
        let blocks = || Blocks::stored(&executor, &opened.store);
        let tiling = Some(Tiling { tile: 2, overlap: 1 });
        let clip = hash_noise("autoencoder.long_clip", [1, 3, 25, 96, 64]).clamp(-1f32, 1f32).unwrap();
        let mean = |tiling| {
            let (mean, _) = autoencoder.encode(blocks(), &clip.clone().into(), tiling).unwrap();
            mean.into_computed().unwrap()
        };
        let channels = autoencoder.latent_channels();
        let latents = hash_noise("autoencoder.long", [1, channels, 5, 3, 2]);
        let mut frames: Vec<Vec<f32>> = vec![vec![f32::NAN; 3 * 96 * 64]; 33];
        let mut seams = Seams::new(tiling, 32);
        let mut show = |Piece { place, first, frames: pieces }: Piece| {
            for (number, piece) in (first..).zip(pieces) {
                let piece = piece.into_computed()?;
                let (_, _, height, width) = piece.dims4()?;
                let mut tile = Values { values: piece.flatten_all()?.to_vec1()?, height, width };
                let [rows, columns] = seams.blend(&place, number, &mut tile);
                for (line, values) in tile.values.chunks(width).enumerate() {
                    let (channel, row) = (line / height, line % height);
                    let start = (channel * 96 + 32 * place.top + row) * 64 + 32 * place.left;
                    if row < rows {
                        frames[number][start..start + columns].copy_from_slice(&values[..columns]);
                    }
                }
            }
            Ok(())
        };
        autoencoder.decode_clip(blocks(), &latents.into(), tiling, &mut show).unwrap();
        let decoded = Tensor::from_vec(frames.concat(), (1, 33, 3, 96, 64), &Device::Cpu).unwrap();
        let decoded = every(&every(&every(&decoded.transpose(1, 2).unwrap(), 2, 3), 3, 7), 4, 5);
        opened.compare(
            name,
            &[("long.mean", mean(None)), ("long_tiled.mean", mean(tiling)), ("tiled.out", decoded)],
        );
    }
}

#[test]
fn longer_clips_take_no_more_memory_in_tiles() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Opened::new("ltx_other", folder.path());
    let trace = Trace::new(Computes::here());
    let (height, width) = (256, 256);
    let peak = |latent_frames: usize| {
        let count = 1 + 8 * (latent_frames - 1);
        let blocks = || TracedBlocks::new(&trace, opened.store.component(), DType::F32);
        let most = |blocks: &TracedBlocks| blocks.take().iter().map(|block| block.activations).max().unwrap();
        let frame = |_| Ok(trace.tensor(&[1, 3, height, width], DType::F32));
        let (encoder, decoder) = (blocks(), blocks());
        let reel = Reel { count, height, width, frame: &frame };
        opened.autoencoder.encode_clip(encoder.blocks(), &reel, None).unwrap();
        let latents = trace.tensor(&[1, 12, latent_frames, height / 32, width / 32], DType::F32);
        let tiling = Some(Tiling::with_tile(8));
        opened.autoencoder.decode_clip(decoder.blocks(), &latents, tiling, &mut |_| Ok(())).unwrap();
        [most(&encoder), most(&decoder)]
    };
    let (short, long) = (peak(6), peak(24));
    let latents = (24 - 6) * 2 * 13 * 8 * 8 * 4;
    for (short, long) in short.into_iter().zip(long) {
        assert!(long <= short + 4 * latents, "{short} bytes for 41 frames, {long} for 185");
    }
}
