//! Wan against diffusers: whole runs through the session, stage by stage, and the autoencoder alone.

use std::{path::Path, sync::Arc};

use candle_core::{DType, Tensor};
use sluice_engine::{
    checkpoint::{Part, Role, read_header, read_json},
    memory::{OffloadMode, Placement, StageKind},
    nn::{Computes, Trace},
    request::{Control, Request, SourceClip, SourceImage, Windows},
    residency::{Blocks, Executor, TracedBlocks, WeightStore},
    vae::{Autoencoder, Piece, Reel, Seams, Tiling, Values, WanAutoencoder},
};
use sluice_tests::{
    checkpoint::{Fixture, fixtures, load, manifest_tensors, save},
    clips::write_frames,
    golden::{AUTOENCODER, compare, distance},
    modes::{
        card, check_every_mode, check_every_mode_of, check_forecasts_of, check_half_precision,
        check_shared_branches, forecast,
    },
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

/// Wan 2.2 14B from images: a mask and an encoded clip are channels of the input.
#[test]
fn clips_from_images_are_what_diffusers_gives() {
    check_case("wan", "from_images").unwrap();
}

/// Wan 2.1 14B from an image, which it also attends to.
#[test]
fn clips_from_an_image_that_is_attended_to_are_what_diffusers_gives() {
    check_case("wan", "sees_images").unwrap();
}

/// Wan 2.1 14B between two images.
#[test]
fn clips_between_two_images_are_what_diffusers_gives() {
    check_case("wan", "sees_both").unwrap();
}

/// Wan 2.1 VACE: a second stream reads a controlling clip, its mask and images of what appears.
#[test]
fn controlled_clips_are_what_diffusers_gives() {
    check_case("wan", "control").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    for (case, run) in [("default", "guided"), ("control", "masked")] {
        let fixture = Fixture::new("wan", case);
        check_layouts(&fixture, &fixture.run(run).unwrap()).unwrap();
    }
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents"];
    check_half_precision(&Fixture::new("wan", "default"), "guided", &names).unwrap();
}

#[test]
fn guidance_branches_share_tensors() {
    let cases = [
        ("default", "guided"),
        ("salted", "odd"),
        ("experts", "both"),
        ("wide", "clip"),
        ("control", "references"),
    ];
    let shares =
        |&(case, run): &(&str, &str)| check_shared_branches(&Fixture::new("wan", case), run).unwrap();
    let shared: Vec<_> = cases.iter().filter(|case| shares(case)).collect();
    assert!(!shared.is_empty(), "no budget has a plan whose branches share tensors");
}

#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    for (case, run) in [("default", "guided"), ("salted", "odd"), ("experts", "both"), ("wide", "clip")]
        .into_iter()
        .chain([("default", "changed"), ("wide", "first"), ("from_images", "last"), ("sees_images", "first")])
        .chain([("control", "masked"), ("control", "references")])
    {
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

#[test]
fn what_a_model_cannot_do_is_refused_with_what_it_can() {
    let mut runner = Runner::start().unwrap();
    for (case, run, change, words) in [
        (
            "default",
            "guided",
            "first",
            "cannot do image to video; it can do text to video, video to video and",
        ),
        (
            "sees_images",
            "first",
            "text",
            "cannot do text to video; it can do image to video and extending a clip",
        ),
        ("sees_images", "first", "last", "cannot do first and last image"),
        (
            "default",
            "guided",
            "control",
            "cannot do control by a clip or by reference images; it can do text to",
        ),
        ("control", "text", "changed", "cannot do video to video; it can do text to video, image to video,"),
        ("sees_both", "last", "first", "cannot do image to video; it can do first and last image"),
        (
            "wide",
            "clip",
            "extend",
            "5 frames add nothing: the first 5 repeat the end of the input clip; use 9",
        ),
    ] {
        let (fixture, folder) = (Fixture::new("wan", case), tempfile::tempdir().unwrap());
        let model = fixture.write_diffusers(folder.path()).unwrap();
        let mut request = fixture.run(run).unwrap().request(&model);
        let image = SourceImage { path: "start.png".into(), ..SourceImage::default() };
        (request.source, request.last_image, request.clip) = match change {
            "first" => (Some(image), None, None),
            "last" => (Some(image), Some("end.png".into()), None),
            "changed" => (None, None, Some(SourceClip::default())),
            "extend" => (None, None, Some(SourceClip { extends: true, ..SourceClip::default() })),
            _ => (None, None, None),
        };
        request.control =
            (change == "control").then(|| Control { video: Some("poses.mp4".into()), ..Control::default() });
        let job = runner.job(request);
        let failure = runner.run(job).unwrap().failure().unwrap();
        assert!(failure.message.contains(words), "{case} {change}: {}", failure.message);
    }
}

/// However a model sees the frames that it goes on from.
#[test]
fn extensions_are_appended_to_their_clips() {
    let mut runner = Runner::start().unwrap();
    for (case, run) in
        [("default", "guided"), ("wide", "clip"), ("from_images", "first"), ("sees_images", "first")]
            .into_iter()
            .chain([("control", "text")])
    {
        let (fixture, folder) = (Fixture::new("wan", case), tempfile::tempdir().unwrap());
        let model = fixture.write_diffusers(folder.path()).unwrap();
        let clip = folder.path().join("clip");
        let own = fixture.run(run).unwrap().request(&model);
        let before = write_frames(&clip, 9, [own.width, own.height]).unwrap();
        let source =
            SourceClip { path: clip, extends: true, range: "1..8".parse().unwrap(), ..SourceClip::default() };
        let request = Request { source: None, clip: Some(source), frames: 9, steps: 2, ..own };
        let (pictures, dump) = runner.dump(request.clone(), None).unwrap();
        let frames = pictures[0].media.frames();
        assert_eq!(frames.len(), 7 + 4, "{case}");
        assert!(frames[..7].iter().zip(&before[1..8]).all(|(new, old)| new == old), "{case}: other frames");
        // Two latent frames are given, and kept where the network has no channels for them.
        if case == "control" {
            assert_eq!(dump["source.beside"].dims()[1..3], [96, 3]);
            continue;
        }
        let (encoded, last) = (&dump["source.latents"], &dump["step.1.latents"]);
        if encoded.dim(2).unwrap() == 2 {
            distance("the kept frames", encoded, &last.narrow(2, 0, 2).unwrap(), 1e-5).unwrap();
        } else {
            assert_eq!(dump["source.beside"].dims()[1], 4 + encoded.dims()[1], "{case}");
        }
        let short = SourceClip { range: "4..8".parse().unwrap(), ..request.clip.clone().unwrap() };
        let job = runner.job(Request { clip: Some(short), ..request });
        let failure = runner.run(job).unwrap().failure().unwrap();
        assert!(
            failure.message.contains("4 frames of") && failure.message.contains("5 are needed"),
            "{}",
            failure.message
        );
    }
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

/// The memory of encoding a clip grows only by its latents.
#[test]
fn encoding_a_longer_clip_takes_no_more_memory() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Opened::new("wan", false, Placement::Resident, folder.path());
    let trace = Trace::new(Computes::here());
    let peak = |count: usize| {
        let blocks = TracedBlocks::new(&trace, opened.store.component(), DType::F32);
        let (height, width) = (64, 64);
        let frame = |_| Ok(trace.tensor(&[1, 3, height, width], DType::F32));
        let reel = Reel { count, height, width, frame: &frame };
        opened.autoencoder.encode_clip(blocks.blocks(), &reel, None).unwrap();
        blocks.take().iter().map(|block| block.activations).max().unwrap()
    };
    let (short, long) = (peak(17), peak(81));
    let latents = (81 - 17) / 4 * 2 * 16 * 8 * 8 * 4;
    assert!(long <= short + 4 * latents, "{short} bytes for 17 frames, {long} for 81");
}

fn windows(frames: u32, overlap: u32) -> Option<Windows> {
    Some(Windows { frames, overlap })
}

/// A clip of several windows.
fn long(request: Request) -> Request {
    Request { frames: 17, windows: windows(9, 4), batch: 1, ..request }
}

#[test]
fn long_clips_of_two_experts_have_the_same_bytes_in_every_mode() {
    check_every_mode_of(&Fixture::new("wan", "experts"), "both", long).unwrap();
}

#[test]
fn long_clips_from_images_have_the_same_bytes_in_every_mode() {
    for case in ["wide", "from_images"] {
        check_every_mode_of(&Fixture::new("wan", case), "first", long).unwrap();
    }
}

#[test]
fn forecasts_of_the_peak_of_long_clips_come_true() {
    check_forecasts_of(&Fixture::new("wan", "default"), "unguided", 0.95..1.1, 0.9..1.15, long).unwrap();
}

/// One window changes nothing, and several take the memory of one.
#[test]
fn long_clips_are_denoised_in_windows() {
    let fixture = Fixture::new("wan", "default");
    let folder = tempfile::tempdir().unwrap();
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let own = fixture.run("guided").unwrap().request(&model);
    let request = Request { frames: 17, width: 64, height: 64, steps: 2, ..own };
    let dump =
        |windows| Runner::start().unwrap().dump(Request { windows, ..request.clone() }, None).unwrap().1;
    let whole = dump(None);
    for (name, tensor) in dump(windows(17, 4)) {
        distance(&name, &whole[&name].to_dtype(DType::F64).unwrap(), &tensor, 0.0).unwrap();
    }
    // Where there is room, the streamed weights come once a step for all windows.
    let runner = Runner::start().unwrap();
    let moved = |frames, windows| {
        let request = Request { frames, windows, ..request.clone() };
        let plan = forecast(&runner, &request, &card(OffloadMode::Aggressive)).unwrap().plan.unwrap();
        plan.first_of(StageKind::Denoise).unwrap().link_bytes
    };
    assert_eq!(moved(17, windows(9, 4)), moved(9, None));
    let cut = dump(windows(9, 4));
    let latents = "step.1.latents";
    let far = distance(latents, &whole[latents].to_dtype(DType::F64).unwrap(), &cut[latents], f64::INFINITY)
        .unwrap();
    assert!(far > 1e-3, "windows see less than the whole clip: {far}");
}

/// The memory of a decode does not depend on the number of frames, after the first few.
fn check_forecasts(case: &str, run: &str) {
    let small = |request| Request { width: 320, height: 256, ..request };
    check_forecasts_of(&Fixture::new("wan", case), run, 0.95..1.1, 0.9..1.15, small).unwrap();
}

#[test]
fn forecasts_of_the_peak_come_true() {
    check_forecasts("default", "unguided");
}

#[test]
fn forecasts_of_the_peak_from_two_images_come_true() {
    check_forecasts("from_images", "last");
}

#[test]
fn forecasts_of_the_peak_with_wide_latents_come_true() {
    check_forecasts("wide", "first");
}

#[test]
fn forecasts_of_the_peak_of_masked_control_come_true() {
    check_forecasts("control", "masked");
}

#[test]
fn forecasts_of_the_peak_of_references_come_true() {
    check_forecasts("control", "references");
}
