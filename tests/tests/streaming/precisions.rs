//! Weights held in fewer bits than they are stored in.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::support::{
    SMALL, Tiny, assert_same, card, forecast, half_streamed, mode, passing_through, run, run_dumped, starter,
    streamed,
};
use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    checkpoint::{BlockSpec, Component, Role, StoredName, Values, read_header, sampled_errors},
    hardware::{MemoryAccount, metered},
    memory::{MemoryPreferences, OffloadMode, Quality, Tier},
    models,
    nn::computed::rounds_inputs_in,
    precision::Storage,
    request::Request,
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, save},
    hash_weights,
    original_names::Tensors,
    runner::Runner,
};
use sluice_tools::{ConvertTo, convert};

const CONVERSIONS: [ConvertTo; 6] =
    [ConvertTo::Fp8, ConvertTo::Fp8E5m2, ConvertTo::Int8, ConvertTo::Q8_0, ConvertTo::Nf4, ConvertTo::Q4K];

/// Converts every file in these folders of a model.
fn convert_files(model: &Path, folders: &[&str], to: ConvertTo) {
    for folder in folders {
        let files: Vec<PathBuf> =
            fs::read_dir(model.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        for input in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "safetensors")) {
            let output = if to.is_gguf() { input.with_extension("gguf") } else { input.clone() };
            convert(input, &output, to, |_| true).unwrap();
            if to.is_gguf() {
                fs::remove_file(input).unwrap();
            }
        }
    }
}

/// A model, and the same model converted.
fn twins(folder: &Path, fixture: &Fixture, layout: Layout, to: ConvertTo) -> [PathBuf; 2] {
    // 16 bits, as models are published.
    let stored = Stored::As(DType::BF16);
    let plain = fixture.write(&folder.join("plain"), layout, stored).unwrap();
    let converted = fixture.write(&folder.join("converted"), layout, stored).unwrap();
    let folders: &[&str] = match layout {
        Layout::Diffusers | Layout::Variant | Layout::Sharded => &["transformer", "text_encoder"],
        Layout::Split | Layout::SplitPrefixed => &["diffusion_models", "text_encoders"],
        Layout::Single => &["."],
    };
    convert_files(&converted, folders, to);
    [plain, converted]
}

/// Memory preferences for all ways of placing weights.
fn ways(runner: &Runner, request: &Request, storage: Storage) -> Vec<(&'static str, MemoryPreferences)> {
    let least = |memory: MemoryPreferences| {
        let memory = memory.with_precision(storage);
        let vram_budget = forecast(runner, request, &memory).least_device;
        MemoryPreferences { vram_budget, ..memory }
    };
    let plenty = streamed(card()).with_precision(storage);
    let held = forecast(runner, request, &plenty);
    let (least_device, most) = (held.least_device.unwrap(), held.plan.unwrap().peak_device());
    let half = Some(least_device + (most - least_device) / 2);
    vec![
        ("the processor", MemoryPreferences::default().with_precision(storage)),
        ("the processor's least memory", {
            let memory = MemoryPreferences::default().with_precision(storage);
            let ram_budget = forecast(runner, request, &memory).least_device;
            MemoryPreferences { ram_budget, ..memory }
        }),
        ("none", mode(OffloadMode::None).with_precision(storage)),
        ("cond_diffusion", mode(OffloadMode::CondDiffusion).with_precision(storage)),
        ("aggressive", mode(OffloadMode::Aggressive).with_precision(storage)),
        ("half streamed", MemoryPreferences { vram_budget: half, ..plenty.clone() }),
        (
            "half streamed with little RAM",
            MemoryPreferences { vram_budget: half, ram_budget: Some(200 << 10), ..plenty },
        ),
        ("from disk", passing_through().with_precision(storage)),
        ("the least there is", least(card())),
    ]
}

#[track_caller]
fn assert_as_converted(fixture: &Fixture, run_name: &str, layout: Layout, to: ConvertTo) {
    assert_held_as_converted(fixture, run_name, layout, to, to.storage().unwrap());
}

/// The same with weights that are held as `storage` in both.
#[track_caller]
fn assert_held_as_converted(
    fixture: &Fixture,
    run_name: &str,
    layout: Layout,
    to: ConvertTo,
    storage: Storage,
) {
    let folder = tempfile::tempdir().unwrap();
    let [plain, converted] = twins(folder.path(), fixture, layout, to);
    let run = fixture.run(run_name).unwrap();
    let mut runner = Runner::start().unwrap();
    let as_stored = run_dumped(&mut runner, &run.request(&converted), &MemoryPreferences::default()).tensors;
    let want = if to.storage() == Some(storage) {
        as_stored
    } else {
        let held = MemoryPreferences::default().with_precision(storage);
        let want = run_dumped(&mut runner, &run.request(&converted), &held).tensors;
        let differs = want.iter().any(|(name, tensor)| bits(tensor) != bits(&as_stored[name]));
        assert_eq!(differs, storage == Storage::W8a8 && rounds_inputs_in(DType::F32));
        want
    };
    let exact = run_dumped(&mut runner, &run.request(&plain), &MemoryPreferences::default()).tensors;
    let differs = want.iter().any(|(name, tensor)| bits(tensor) != bits(&exact[name]));
    assert!(differs, "{} changes nothing", to.name());
    let request = run.request(&plain);
    for (way, memory) in ways(&runner, &request, storage) {
        let got = run_dumped(&mut runner, &request, &memory).tensors;
        assert_same(&got, &want, &format!("{} by {way}", storage.name()));
    }
}

fn bits(tensor: &Tensor) -> Vec<u32> {
    let values: Vec<f32> = tensor.to_dtype(DType::F32).unwrap().flatten_all().unwrap().to_vec1().unwrap();
    values.into_iter().map(f32::to_bits).collect()
}

#[test]
fn z_image_held_smaller_is_z_image_converted() {
    let fixture = Fixture::new("z_image", "default");
    for to in CONVERSIONS {
        assert_as_converted(&fixture, "guided", Layout::SplitPrefixed, to);
    }
    for to in [ConvertTo::Fp8, ConvertTo::Int8, ConvertTo::Nf4] {
        assert_as_converted(&fixture, "guided", Layout::Diffusers, to);
    }
}

/// What is multiplied in 8 bits is the same from a file that has integers.
#[test]
fn weights_and_inputs_in_8_bits_are_the_same_in_every_mode_and_from_integers() {
    let fixture = Fixture::new("z_image", "default");
    assert_held_as_converted(&fixture, "guided", Layout::Diffusers, ConvertTo::Int8, Storage::W8a8);
}

/// FLUX.1's files have queries, keys and values in one tensor with one scale.
#[test]
fn flux_held_smaller_is_flux_converted() {
    let fixture = Fixture::new("flux", "dev");
    let name = fixture.runs().unwrap()[0].name();
    let run = name.rsplit('/').next().unwrap().to_owned();
    for to in [ConvertTo::Fp8, ConvertTo::Int8, ConvertTo::Nf4, ConvertTo::Q8_0] {
        assert_as_converted(&fixture, &run, Layout::Split, to);
    }
}

/// Names of a component's tensors that are converted while they are read.
fn encoded(component: &Component) -> BTreeSet<String> {
    let tensors = component.blocks.iter().flat_map(|block| {
        block.tensors.iter().map(|(name, tensor)| (format!("{}{name}", block.prefix), tensor))
    });
    tensors
        .filter(|(_, tensor)| tensor.encoding() != tensor.stored_encoding())
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn matrices_of_the_repeating_blocks_are_held_smaller_and_nothing_else() {
    for (family, case, blocks, modulates) in [
        ("z_image", "default", &["layers.", "noise_refiner.", "context_refiner."][..], "adaLN"),
        ("flux", "dev", &["transformer_blocks.", "single_transformer_blocks."][..], "norm"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let model = Fixture::new(family, case).write_diffusers(folder.path()).unwrap();
        let memory = MemoryPreferences::default().with_precision(Storage::Int8);
        let model = models::open(&model, &[]).unwrap().held_as(&memory);
        for component in model.components() {
            let expected = component.blocks.iter().flat_map(|block| {
                block.tensors.iter().filter_map(move |(name, tensor)| {
                    let full = format!("{}{name}", block.prefix);
                    let repeats = match component.role {
                        Role::TextEncoder => full.contains("layers.") || full.contains("block."),
                        Role::Denoiser => blocks.iter().any(|start| full.starts_with(start)),
                        Role::Autoencoder
                        | Role::Upscaler
                        | Role::Interpolator
                        | Role::Preprocessor
                        | Role::Segmenter
                        | Role::Detector
                        | Role::LanguageModel => false,
                    };
                    let linear = tensor.shape().len() == 2 && full.ends_with("weight");
                    let kept = full.contains(modulates) || full.contains("relative_attention_bias");
                    (repeats && linear && !kept).then_some(full)
                })
            });
            assert_eq!(encoded(component), expected.collect(), "{family}, {}", component.architecture);
        }
    }
}

#[test]
fn forecasts_of_weights_held_smaller_come_true() {
    let mut runner = Runner::of_two_threads().unwrap();
    for storage in [Storage::Fp8, Storage::Int8, Storage::W8a8, Storage::Q8_0, Storage::Nf4] {
        let all = forecast(&runner, &starter(256, 2), &card()).plan.unwrap().peak_device();
        for memory in [card(), mode(OffloadMode::Aggressive), streamed(card())] {
            let memory = memory.with_precision(storage);
            let request = Request { width: 384, ..starter(256, 2) };
            let planned = forecast(&runner, &request, &memory).plan.unwrap().peak_device();
            let outcome = run(&mut runner, &request, &memory).outcome;
            let ratio = outcome.predicted_device as f64 / outcome.measured_device as f64;
            assert!((0.98..1.05).contains(&ratio), "{storage:?}: predicted {ratio:.3} of what was measured");
            assert_eq!(planned, outcome.predicted_device, "{storage:?}");
        }
        let held = forecast(&runner, &starter(256, 2), &card().with_precision(storage)).plan.unwrap();
        assert!(held.peak_device() < all, "{storage:?} saves nothing");
    }
}

/// Quantized weights stay in host memory: only the first walk of the first job reads them from disk.
#[test]
fn weights_are_encoded_once() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let plenty = half_streamed(&runner, &tiny.request).with_precision(Storage::Fp8);
    let model = models::open(&tiny.model, &[]).unwrap().held_as(&plenty);
    let component = &model.part("denoiser").unwrap().component;
    for job in 0..2 {
        let ran = run(&mut runner, &tiny.request, &plenty);
        let denoiser = ran.blocks().into_iter().filter(|block| {
            let own =
                block.component == 1 && !component.blocks[usize::from(block.block)].encoded().is_empty();
            own && block.tier != Tier::Device
        });
        let mut seen = BTreeSet::new();
        for block in denoiser {
            let again = !seen.insert(block.block);
            assert!((!again && job == 0) || block.tier == Tier::Host, "block {} was read again", block.block);
        }
        assert!(!seen.is_empty());
    }
}

/// A component of one large matrix.
fn one_matrix(folder: &Path, rows: usize, columns: usize) -> Component {
    let values = hash_weights::noise("large", rows * columns);
    let tensor =
        Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap().to_dtype(DType::BF16).unwrap();
    let path = folder.join("large.safetensors");
    save(&Tensors::from([("layers.0.w.weight".to_owned(), tensor)]), &path).unwrap();
    let specs = [BlockSpec::new("layers.0").matrix("w", rows, columns)];
    let table = read_header(&path).unwrap();
    Component::bind(Role::Denoiser, "one matrix", &specs, &table, |name| StoredName::whole(name), &path)
        .unwrap()
}

#[test]
fn encoding_takes_little_memory_beside_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let component = one_matrix(folder.path(), 2048, 8192);
    let stored = component.blocks[0].stored_bytes();
    for storage in Storage::smaller() {
        let held = component.clone().given_as(storage);
        let mut bytes = vec![0; held.blocks[0].given_bytes() as usize];
        let (_, tensor) = &held.blocks[0].tensors[0];
        let account = MemoryAccount::new();
        metered(&account, || tensor.read_into(Values::Stored(&mut bytes)).unwrap());
        let peak = account.take_peaks().activations;
        println!("{}: {} of {} KiB", storage.name(), peak >> 10, stored >> 10);
        assert!(peak > 0 && peak < stored / 4, "{}: {peak} bytes for a tensor of {stored}", storage.name());
        // The result does not depend on the size of the pieces.
        for piece in [1000, 1 << 18] {
            let mut again = Vec::new();
            while again.len() < bytes.len() {
                let mut part = vec![0; piece.min(bytes.len() - again.len())];
                tensor.read_from(again.len(), Values::Stored(&mut part)).unwrap();
                again.extend(part);
                if piece == 1000 && again.len() > 20_000 {
                    break;
                }
            }
            assert!(again[..] == bytes[..again.len()], "{} in pieces of {piece}", storage.name());
        }
    }
}

#[test]
fn measured_errors_are_those_of_a_conversion() {
    let folder = tempfile::tempdir().unwrap();
    let component = one_matrix(folder.path(), 512, 1024);
    let errors = sampled_errors(&component).unwrap();
    assert_eq!(errors.len(), Storage::smaller().count());
    for to in CONVERSIONS {
        let output = folder.path().join(if to.is_gguf() { "out.gguf" } else { "out.safetensors" });
        let conversion =
            convert(&folder.path().join("large.safetensors"), &output, to, |_| true).unwrap().unwrap();
        let (said, sampled) = (
            conversion.values().map(|share| share.error()).fold(0.0, f64::max),
            errors[&to.storage().unwrap()],
        );
        println!("{}: {said:.4}, sampled {sampled:.4}", to.name());
        assert!((sampled / said - 1.0).abs() < 0.05, "{}: {said}, sampled {sampled}", to.name());
    }
}

#[test]
fn a_forecast_says_what_other_precisions_would_take_and_lose() {
    let runner = Runner::start().unwrap();
    let request = starter(SMALL, 2);
    let plain = forecast(&runner, &request, &card());
    assert!(plain.plan.is_ok());
    let row = |forecast: &sluice_engine::memory::Forecast, id: &str| {
        forecast.alternatives.iter().find(|row| row.id == id).unwrap().clone()
    };
    let (everything, fp8, nf4) = (row(&plain, "everything"), row(&plain, "fp8"), row(&plain, "nf4"));
    // Not all rows of such a small model are whole NF4 groups.
    assert!(nf4.device < everything.device && fp8.device < everything.device);
    assert_eq!(
        (everything.quality, fp8.quality, nf4.quality),
        (Quality::Exact, Quality::EightBit, Quality::FourBit)
    );
    assert!(everything.error.is_none() && fp8.error.unwrap() < nf4.error.unwrap());
    assert!((0.01..0.05).contains(&fp8.error.unwrap()), "{fp8:?}");
    // Each can be selected, and gives what it promises.
    for id in ["fp8", "int8_model_offload", "nf4_layer_streaming"] {
        let row = row(&plain, id);
        assert!(row.available && !row.recommended);
        let memory = row.preferences.clone().unwrap();
        let chosen = forecast(&runner, &request, &memory);
        assert_eq!(chosen.plan.as_ref().unwrap().peak_device(), row.device, "{id}");
        assert!(chosen.alternatives.iter().any(|row| row.id == "stored" && row.quality == Quality::Exact));
    }
}

/// The root mean square of the difference, relative to that of the expected values.
fn distance(got: &Tensor, want: &Tensor) -> f64 {
    let values = |tensor: &Tensor| -> Vec<f32> {
        tensor.to_dtype(DType::F32).unwrap().flatten_all().unwrap().to_vec1().unwrap()
    };
    let (mut errors, mut squares) = (0.0, 0.0);
    for (got, want) in values(got).into_iter().zip(values(want)) {
        errors += f64::from(got - want).powi(2);
        squares += f64::from(want).powi(2);
    }
    (errors / squares).sqrt()
}

/// Prints the table of `docs/precisions.md`, measured on the starter, whose weights are all trained.
#[test]
fn a_whole_run_is_off_by_what_its_weights_are_off() {
    let mut runner = Runner::start().unwrap();
    let request = Request { steps: 12, ..starter(128, 12) };
    let mut drawn = |storage: Storage| {
        let memory = MemoryPreferences::default().with_precision(storage);
        let tensors = run_dumped(&mut runner, &request, &memory).tensors;
        let errors = forecast(&runner, &request, &memory).alternatives[0].error;
        (tensors, errors.unwrap_or(0.0))
    };
    let (want, _) = drawn(Storage::Stored);
    let first = want.keys().find(|name| name.starts_with("transformer.0.out")).unwrap().clone();
    let mut off = Vec::new();
    for storage in Storage::smaller() {
        let (got, weights) = drawn(storage);
        let [prompt, output, latents, picture] =
            ["encode_prompt.0.0.0", &first, "step.11.latents", "vae.decode.out"]
                .map(|name| distance(&got[name], &want[name]));
        println!(
            "{:<9} weights {:.2} %, prompt {:.2} %, first prediction {:.2} %, latents {:.2} %, picture {:.2} %",
            storage.name(),
            weights * 100.0,
            prompt * 100.0,
            output * 100.0,
            latents * 100.0,
            picture * 100.0
        );
        assert!(
            weights > 1e-3 && output > 1e-4 && output < 5.0 * weights,
            "{storage:?}: {output} of {weights}"
        );
        off.push((storage, output));
    }
    let of = |storage: Storage| off.iter().find(|(known, _)| *known == storage).unwrap().1;
    assert!(of(Storage::Q8_0) < of(Storage::Fp8) && of(Storage::Int8) < of(Storage::Fp8));
    // Also where the processor rounds inputs to 8 bits, too.
    assert!(of(Storage::W8a8) >= of(Storage::Int8) && of(Storage::W8a8) < of(Storage::Fp8));
    assert!(of(Storage::Fp8) < of(Storage::Fp8E5m2));
}
