//! Wan against diffusers: whole runs through the session, stage by stage, and the autoencoder alone.

use std::{path::Path, sync::Arc};

use candle_core::Tensor;
use sluice_engine::{
    checkpoint::{Part, Role, read_header, read_json},
    memory::Placement,
    request::Request,
    residency::{Blocks, Executor, WeightStore},
    vae::{Autoencoder, Piece, Seams, Tiling, Values, WanAutoencoder},
};
use sluice_tests::{
    checkpoint::{Fixture, fixtures, load, manifest_tensors, save},
    golden::{AUTOENCODER, compare, distance},
    modes::{check_every_mode, check_forecasts, check_half_precision, check_shared_branches},
    original_names::{self, Tensors},
    parity::{check_case, check_layouts},
    runner::Runner,
    stores::on_processor,
};

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("wan", "default").unwrap();
}

#[test]
fn eulers_method_gives_what_diffusers_gives() {
    check_case("wan", "euler").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("wan", "salted").unwrap();
}

#[test]
fn epsilons_that_decide_give_what_diffusers_gives() {
    check_case("wan", "faint").unwrap();
}

/// Wan 2.2 14B: a second transformer takes over at a noise level, with the sampler's history.
#[test]
fn two_experts_give_what_diffusers_gives() {
    check_case("wan", "experts").unwrap();
}

/// Wan 2.2 5B: its autoencoder has shortcuts and patches of pixels.
#[test]
fn wide_latents_give_what_diffusers_gives() {
    check_case("wan", "wide").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    let fixture = Fixture::new("wan", "default");
    check_layouts(&fixture, &fixture.run("guided").unwrap()).unwrap();
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents"];
    check_half_precision(&Fixture::new("wan", "default"), "guided", &names).unwrap();
}

#[test]
fn guidance_branches_share_tensors() {
    let cases = [("default", "guided"), ("salted", "odd"), ("experts", "both"), ("wide", "clip")];
    let shares =
        |&(case, run): &(&str, &str)| check_shared_branches(&Fixture::new("wan", case), run).unwrap();
    let shared: Vec<_> = cases.iter().filter(|case| shares(case)).collect();
    assert!(!shared.is_empty(), "no budget has a plan whose branches share tensors");
}

#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    for (case, run) in [("default", "guided"), ("salted", "odd"), ("experts", "both"), ("wide", "clip")] {
        check_every_mode(&Fixture::new("wan", case), run).unwrap();
    }
}

#[test]
fn other_numbers_of_frames_are_refused_with_the_nearest() {
    let (fixture, folder) = (Fixture::new("wan", "default"), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let request = Request { frames: 80, ..fixture.run("guided").unwrap().request(&model) };
    let mut runner = Runner::start().unwrap();
    let job = runner.job(request);
    let failure = runner.run(job).unwrap().failure().unwrap();
    assert!(failure.message.contains("not 80; use 77 or 81"), "{}", failure.message);
}

/// An autoencoder of the fixtures, opened from files in `folder`.
struct Opened {
    autoencoder: WanAutoencoder,
    store: WeightStore,
    golden: Tensors,
}

impl Opened {
    fn new(name: &str, original: bool, placement: Placement, folder: &Path) -> Self {
        let fixture = fixtures().join("autoencoder").join(name);
        let (_, tensors) = manifest_tensors(&fixture).unwrap().pop_first().unwrap();
        let tensors = if original { original_names::causal_autoencoder(&tensors) } else { tensors };
        let file = folder.join("weights.safetensors");
        save(&tensors, &file).unwrap();
        let part = Part {
            role: Role::Autoencoder,
            config: (!original).then(|| read_json(&fixture.join("config.json")).unwrap()),
            tensors: read_header(&file).unwrap(),
            path: file,
            loose: Arc::default(),
        };
        let (autoencoder, component) = WanAutoencoder::open(&part).unwrap();
        let store = on_processor(component, placement);
        Self { autoencoder, store, golden: load(&fixture.join("golden.safetensors")).unwrap() }
    }

    fn blocks<'a>(&'a self, executor: &'a Executor) -> Blocks<'a> {
        Blocks::stored(executor, &self.store)
    }

    fn decode(&self, latents: &Tensor) -> Tensor {
        let executor = Executor::default();
        let latents = latents.clone().into();
        self.autoencoder.decode(self.blocks(&executor), &latents, None).unwrap().into_computed().unwrap()
    }

    fn encode(&self, clip: &Tensor) -> [Tensor; 2] {
        let executor = Executor::default();
        let clip = clip.clone().into();
        let (mean, spread) = self.autoencoder.encode(self.blocks(&executor), &clip, None).unwrap();
        [mean, spread].map(|tensor| tensor.into_computed().unwrap())
    }

    /// Decodes in tiles and puts the pieces together.
    fn decode_in_tiles(&self, latents: &Tensor, tiling: Tiling) -> Tensor {
        let (executor, scale) = (Executor::default(), self.autoencoder.scale());
        let (_, _, frames, height, width) = latents.dims5().unwrap();
        let frames = 1 + (frames - 1) * self.autoencoder.frames_per_latent();
        let [height, width] = [height * scale, width * scale];
        let (mut seams, mut canvas) =
            (Seams::new(Some(tiling), scale), vec![f32::NAN; 3 * frames * height * width]);
        let latents = latents.clone().into();
        let mut show = |Piece { place, first, frames: shown }: Piece| {
            for (number, frame) in (first..).zip(shown) {
                let (_, _, rows, columns) = frame.dims4()?;
                let values = frame.into_computed()?.flatten_all()?.to_vec1()?;
                let mut tile = Values { values, height: rows, width: columns };
                let [kept, wide] = seams.blend(&place, number, &mut tile);
                for (line, values) in tile.values.chunks(columns).enumerate() {
                    let (channel, row) = (line / rows, line % rows);
                    let start = ((channel * frames + number) * height + place.top * scale + row) * width;
                    let start = start + place.left * scale;
                    if row < kept {
                        let limited = values[..wide].iter().map(|value| value.clamp(-1.0, 1.0));
                        let kept = canvas[start..start + wide].iter_mut();
                        kept.zip(limited).for_each(|(kept, value)| *kept = value);
                    }
                }
            }
            Ok(())
        };
        self.autoencoder.decode_clip(self.blocks(&executor), &latents, Some(tiling), &mut show).unwrap();
        Tensor::from_vec(canvas, (1, 3, frames, height, width), &candle_core::Device::Cpu).unwrap()
    }

    fn check(&self, name: &str) {
        let golden = &self.golden;
        let first = |name: &str| golden[name].narrow(2, 0, 1).unwrap().squeeze(2).unwrap();
        let [mean, logvar] = self.encode(&golden["encode.in"]);
        let [of_image, _] = self.encode(&first("encode.in"));
        let mut found = Tensors::from(
            [
                ("encode.mean", mean),
                ("encode.logvar", logvar),
                ("encode_image.mean", of_image),
                ("decode.out", self.decode(&golden["decode.in"])),
                ("decode_image.out", self.decode(&first("decode.in"))),
            ]
            .map(|(name, tensor)| (name.to_owned(), tensor)),
        );
        if let Some(wide) = golden.get("tiled.in") {
            let tiled = self.decode_in_tiles(wide, Tiling { tile: 3, overlap: 1 });
            found.insert("tiled.out".to_owned(), tiled);
        }
        for part in found.keys() {
            let distance = compare(part, golden, &found, AUTOENCODER).unwrap();
            println!("{name} {part}: {distance:.1e}");
        }
    }
}

#[test]
fn the_autoencoder_gives_what_diffusers_gives() {
    for name in ["wan", "wan_other", "wan_2_2"] {
        let folder = tempfile::tempdir().unwrap();
        Opened::new(name, false, Placement::Resident, folder.path()).check(name);
    }
}

/// Files with original names have no configuration; it is inferred from the shapes.
#[test]
fn original_names_and_shapes_are_enough() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let opened = Opened::new("wan", true, Placement::Streamed, a.path());
    opened.check("wan");
    let configured = Opened::new("wan", false, Placement::Resident, b.path());
    let mut expected = configured.autoencoder.config().clone();
    expected.decoder_base_dim = Some(expected.base_dim);
    assert_eq!(opened.autoencoder.config(), &expected);
}

#[test]
fn scaling_goes_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Opened::new("wan_other", false, Placement::Streamed, folder.path());
    let latents = &opened.golden["decode.in"];
    let unscaled = opened.autoencoder.unscale(&latents.clone().into()).unwrap();
    let channel = |tensor: &Tensor| tensor.narrow(1, 5, 1).unwrap();
    let by_hand = ((channel(latents) * 1.6).unwrap() + 0.7).unwrap();
    distance("unscaled", &by_hand, &channel(unscaled.computed().unwrap()), 1e-6).unwrap();
    let rescaled = opened.autoencoder.rescale(&unscaled).unwrap();
    distance("rescaled", latents, rescaled.computed().unwrap(), 1e-6).unwrap();
}

/// The memory of a decode does not depend on the number of frames, after the first few.
#[test]
fn forecasts_of_the_peak_come_true() {
    check_forecasts(&Fixture::new("wan", "default"), "unguided", 0.95..1.1, 0.9..1.15).unwrap();
}
