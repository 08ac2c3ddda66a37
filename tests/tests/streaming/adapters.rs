//! Adapters are loaded and freed with the blocks that they change.

use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    memory::{Estimate, Keep, MemoryPreferences, OffloadMode, Tier},
    precision::{Encoding, Format, Storage},
    request::{AdapterUse, ComputeDtype, ModelSource, Request},
    session::StageKind,
};
use sluice_tests::{
    adapters::{Adapter, changes_inside},
    checkpoint::{Fixture, Layout, Stored, fixtures, manifest_tensors, save},
    original_names::{self, Tensors},
    packed::{ScaleNames, package, widened, write_gguf, write_safetensors},
    runner::Runner,
};

use super::support::{Ran, Tiny, assert_same, card, forecast, mode, passing_through, run, run_dumped};

/// Widths of the tiny transformer.
const DIM: usize = 128;
const INNER: usize = 341;
/// Index of the denoiser among the components of Z-Image.
const DENOISER: u8 = 1;

/// A tiny Z-Image with two adapters: low-rank terms, and changes of the weights themselves.
struct Adapted {
    tiny: Tiny,
    folder: tempfile::TempDir,
}

impl Adapted {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let adapted = Self { tiny: Tiny::new(), folder };
        Adapter::new("z_image").unwrap().write(&adapted.file("beside")).unwrap();
        save(&changes_inside(DIM, INNER).unwrap(), &adapted.file("inside")).unwrap();
        // A layer of the text encoder.
        let factor = |name: &str, shape: &[usize]| {
            let values = sluice_tests::hash_weights::weight(name, shape, 1.0);
            (name.to_owned(), Tensor::from_vec(values, shape, &Device::Cpu).unwrap())
        };
        let text = [
            factor("text_encoder.model.layers.0.self_attn.o_proj.lora_A.weight", &[2, 64]),
            factor("text_encoder.model.layers.0.self_attn.o_proj.lora_B.weight", &[64, 2]),
        ];
        save(&Tensors::from(text), &adapted.file("text")).unwrap();
        adapted
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.safetensors"))
    }

    fn with(&self, uses: &[(&str, f32)]) -> Request {
        let adapters =
            uses.iter().map(|(name, weight)| AdapterUse { path: self.file(name), weight: *weight });
        Request { adapters: adapters.collect(), ..self.tiny.request.clone() }
    }
}

#[test]
fn every_mode_draws_the_same_bytes_with_adapters() {
    let adapted = Adapted::new();
    let mut runner = Runner::start().unwrap();
    let request = adapted.with(&[("beside", 0.8), ("inside", -0.6), ("text", 1.5)]);
    for dtype in [ComputeDtype::F32, ComputeDtype::Bf16] {
        let request = Request { dtype: Some(dtype), ..request.clone() };
        let want = run_dumped(&mut runner, &request, &mode(OffloadMode::None));
        for part in [&[][..], &[("beside", 0.8)], &[("inside", -0.6)], &[("beside", 0.8), ("inside", -0.6)]] {
            let other = Request { dtype: Some(dtype), ..adapted.with(part) };
            let other = run_dumped(&mut runner, &other, &mode(OffloadMode::None));
            let differs = |name: &str| other.tensors[name].to_string() != want.tensors[name].to_string();
            assert!(differs("output"), "an adapter of three does nothing beside {part:?}");
        }
        for &offload in OffloadMode::ALL {
            let plenty = mode(offload);
            let least = forecast(&runner, &request, &plenty).least_device.unwrap();
            for (budget, ram) in [(least, None), (least + least / 8, None), (least, Some(200 << 10))] {
                let memory =
                    MemoryPreferences { vram_budget: Some(budget), ram_budget: ram, ..plenty.clone() };
                let Some(_) = forecast(&runner, &request, &memory).plan.ok() else { continue };
                let got = run_dumped(&mut runner, &request, &memory);
                assert_same(&got.tensors, &want.tensors, &format!("{offload:?} {budget} {ram:?}"));
                let peak = got.outcome.measured_device;
                assert!(peak <= budget, "{offload:?}: {peak} bytes of {budget} were held");
            }
        }
        let got = run_dumped(&mut runner, &request, &passing_through());
        assert_same(&got.tensors, &want.tensors, "from disk in every step");
        let on_processor = MemoryPreferences::default();
        let got = run_dumped(&mut runner, &request, &on_processor);
        assert_same(&got.tensors, &want.tensors, "the processor");
        let least = forecast(&runner, &request, &on_processor).least_device;
        let memory = MemoryPreferences { ram_budget: least, ..on_processor };
        let got = run_dumped(&mut runner, &request, &memory);
        assert_same(&got.tensors, &want.tensors, "the processor with the least memory");
    }
}

/// Low-rank terms and changed weights keep their precision when all other matrices are quantized.
#[test]
fn every_mode_draws_the_same_bytes_with_adapters_and_weights_held_smaller() {
    let adapted = Adapted::new();
    let mut runner = Runner::start().unwrap();
    let request = adapted.with(&[("beside", 0.8), ("inside", -0.6), ("text", 1.5)]);
    let plain = run_dumped(&mut runner, &request, &mode(OffloadMode::None));
    for storage in [Storage::Q8_0, Storage::Nf4] {
        let resident = mode(OffloadMode::None).with_precision(storage);
        let want = run_dumped(&mut runner, &request, &resident);
        assert_ne!(want.tensors["output"].to_string(), plain.tensors["output"].to_string(), "{storage:?}");
        let foretold = forecast(&runner, &request, &resident).plan.unwrap().peak_device();
        assert!(want.outcome.measured_device <= foretold, "{storage:?}: {foretold} bytes were foretold");
        let least = forecast(&runner, &request, &card().with_precision(storage)).least_device;
        for memory in [
            MemoryPreferences { vram_budget: least, ..card().with_precision(storage) },
            passing_through().with_precision(storage),
            MemoryPreferences::default().with_precision(storage),
        ] {
            let got = run_dumped(&mut runner, &request, &memory);
            assert_same(&got.tensors, &want.tensors, &format!("{storage:?} {memory:?}"));
        }
    }
}

/// Bytes moved for the denoiser's blocks, and how many of those blocks were already on the device.
fn moved(ran: &Ran) -> (u64, usize) {
    let blocks = ran.blocks();
    let own = || blocks.iter().filter(|block| block.component == DENOISER);
    (own().map(|block| block.bytes).sum(), own().filter(|block| block.tier == Tier::Device).count())
}

#[test]
fn another_weight_reads_nothing_that_it_does_not_change() {
    let adapted = Adapted::new();
    let keep = MemoryPreferences { keep: Keep::All, ..mode(OffloadMode::None) };
    let mut runner = Runner::start().unwrap();
    let first = run_dumped(&mut runner, &adapted.with(&[("beside", 0.8)]), &keep);
    let all = moved(&first).0;
    assert!(all > 0);
    let second = adapted.with(&[("beside", -0.3)]);
    let ran = run(&mut runner, &second, &keep);
    let (bytes, resident) = moved(&ran);
    assert_eq!(bytes, 0, "a weight was changed, and {bytes} bytes were moved");
    assert!(resident > 0);
    let got = run_dumped(&mut runner, &second, &keep);
    let want = run_dumped(&mut Runner::start().unwrap(), &second, &keep);
    assert_same(&got.tensors, &want.tensors, "another weight of low-rank factors");

    // Changed weights are read again, in the blocks that contain them; five of ten do not.
    let both = |weight| adapted.with(&[("beside", -0.3), ("inside", weight)]);
    run(&mut runner, &both(0.5), &keep);
    let (bytes, _) = moved(&run(&mut runner, &both(0.7), &keep));
    assert!(0 < bytes && bytes < all / 2 + all / 4, "{bytes} of {all} bytes were moved");
    let (bytes, _) = moved(&run(&mut runner, &both(0.7), &keep));
    assert_eq!(bytes, 0, "nothing was changed");
    let got = run_dumped(&mut runner, &both(0.7), &keep);
    let want = run_dumped(&mut Runner::start().unwrap(), &both(0.7), &keep);
    assert_same(&got.tensors, &want.tensors, "another weight of changes inside");

    // Without adapters everything is as before.
    let got = run_dumped(&mut runner, &adapted.with(&[]), &keep);
    let want = run_dumped(&mut Runner::start().unwrap(), &adapted.with(&[]), &keep);
    assert_same(&got.tensors, &want.tensors, "no adapter any more");
}

#[test]
fn an_encoder_that_an_adapter_changes_reads_prompts_again() {
    let adapted = Adapted::new();
    let keep = MemoryPreferences { keep: Keep::All, ..mode(OffloadMode::None) };
    let mut runner = Runner::start().unwrap();
    run(&mut runner, &adapted.with(&[]), &keep);
    for weight in [1.0, 0.4] {
        let request = adapted.with(&[("text", weight)]);
        let got = run_dumped(&mut runner, &request, &keep);
        let want = run_dumped(&mut Runner::start().unwrap(), &request, &keep);
        assert_same(&got.tensors, &want.tensors, "the prompt as another encoder reads it");
    }
}

#[test]
fn a_file_that_was_written_anew_is_read_again() {
    let adapted = Adapted::new();
    let keep = MemoryPreferences { keep: Keep::All, ..mode(OffloadMode::None) };
    let mut runner = Runner::start().unwrap();
    let request = adapted.with(&[("beside", 0.8)]);
    run(&mut runner, &request, &keep);
    let halves = sluice_tests::checkpoint::load(&adapted.file("beside")).unwrap().into_iter();
    let halves: Tensors = halves.map(|(name, tensor)| (name, (tensor * 0.5).unwrap())).collect();
    save(&halves, &adapted.file("beside")).unwrap();
    let got = run_dumped(&mut runner, &request, &keep);
    let want = run_dumped(&mut Runner::start().unwrap(), &request, &keep);
    assert_same(&got.tensors, &want.tensors, "the new content");
}

#[test]
fn forecasts_come_true_with_adapters() {
    let adapted = Adapted::new();
    let mut runner = Runner::of_two_threads().unwrap();
    let own = adapted.with(&[("beside", 0.8), ("inside", -0.6), ("text", 1.5)]);
    for (memory, batch, dtype) in [
        (mode(OffloadMode::None), 1, ComputeDtype::F32),
        (mode(OffloadMode::Aggressive), 3, ComputeDtype::F32),
        (passing_through(), 1, ComputeDtype::Bf16),
    ] {
        // With tiles this small, the denoiser has the peak.
        let memory = MemoryPreferences { tile: Some(16), estimate: Estimate::Formula, ..memory };
        let request = Request { width: 512, height: 384, steps: 2, batch, dtype: Some(dtype), ..own.clone() };
        let outcome = run(&mut runner, &request, &memory).outcome;
        let ratio = outcome.predicted_device as f64 / outcome.measured_device as f64;
        println!("{batch} {dtype:?}: {ratio:.3} of {} bytes", outcome.measured_device);
        assert!((0.98..1.08).contains(&ratio), "{batch} {dtype:?}: {ratio:.3}, {outcome:?}");
    }
    let [bare, with] = [adapted.with(&[]), own].map(|request| {
        let plan = forecast(&runner, &request, &card()).plan.unwrap();
        plan.first_of(StageKind::Denoise).unwrap().weights
    });
    let factors = std::fs::metadata(adapted.file("beside")).unwrap().len();
    assert!(with > bare && with - bare < 2 * factors, "{bare} bytes of weights, {with} with adapters");
}

/// A Z-Image with a quantized denoiser, or the same denoiser dequantized to f32.
fn stored(folder: &Path, encoding: Encoding, is_wide: bool) -> ModelSource {
    let model = Fixture::new("z_image", "default").write(folder, Layout::Split, Stored::F32).unwrap();
    let file = model.join("diffusion_models/tiny_z_image.safetensors");
    let mut components = manifest_tensors(&fixtures().join("z_image/default/checkpoint")).unwrap();
    let path = components.keys().find(|path| path.starts_with("transformer/")).unwrap().clone();
    let tensors = original_names::z_image(&components.remove(&path).unwrap()).unwrap();
    let choose = |_: &str, shape: &[usize]| match shape {
        [rows, columns] if *rows > 1 && columns.is_multiple_of(32) => encoding,
        _ => Format::F32.into(),
    };
    let packaged = package(&tensors, choose).unwrap();
    std::fs::remove_file(&file).unwrap();
    if is_wide {
        save(&widened(&packaged).unwrap(), &file).unwrap();
    } else if encoding.format == Format::Q8_0 {
        write_gguf(&file.with_extension("gguf"), "lumina2", &packaged).unwrap();
    } else {
        write_safetensors(&file, &packaged, ScaleNames::WeightScale).unwrap();
    }
    ModelSource::Path(model)
}

#[test]
fn weights_in_few_bits_take_adapters_as_wide_ones_do() {
    let adapted = Adapted::new();
    let mut runner = Runner::start().unwrap();
    for encoding in [Format::Q8_0.into(), Format::F8E4m3.into()] {
        let folder = tempfile::tempdir().unwrap();
        let request = adapted.with(&[("beside", 0.8), ("inside", -0.6)]);
        let [packed, wide] = [false, true].map(|is_wide| {
            let model = stored(&folder.path().join(is_wide.to_string()), encoding, is_wide);
            Request { model, ..request.clone() }
        });
        let want = run_dumped(&mut runner, &wide, &mode(OffloadMode::None));
        for memory in [mode(OffloadMode::None), passing_through()] {
            let got = run_dumped(&mut runner, &packed, &memory);
            assert_same(&got.tensors, &want.tensors, &format!("{encoding:?}"));
        }
        // Quantized matrices stay quantized, except for changed weights.
        let bytes = |request: &Request| {
            let plan = forecast(&runner, request, &mode(OffloadMode::Aggressive)).plan.unwrap();
            plan.first_of(StageKind::Denoise).unwrap().weights
        };
        assert!(bytes(&packed) * 5 < bytes(&wide) * 4, "{encoding:?}");
        assert_eq!(want.tensors["output"].dtype(), DType::F32);
    }
}
