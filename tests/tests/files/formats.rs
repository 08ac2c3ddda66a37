//! Quantized weights give the same bits as their dequantized f32 values.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    checkpoint::{Component, read_header},
    memory::{Placement, Tier},
    models,
    precision::{Encoding, Format, encode},
    request::ComputeDtype,
    residency::{CpuMemory, DeviceMemory, Executor, SimulatedCard},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, fixtures, load, manifest_tensors, save},
    original_names::{self, Tensors, prefixed},
    packed::{
        LANGUAGE_MODEL_IN_LLAMA, Packaged, ScaleNames, package, renamed, widened, write_gguf,
        write_safetensors,
    },
    runner::Runner,
    stores::store,
    twins::{bits, check_twins},
};
use sluice_tools::{ConvertTo, convert};

const DENOISER: &str = "diffusion_models/tiny_z_image";
const ENCODER: &str = "text_encoders/tiny_qwen3";

#[test]
fn every_gguf_type_is_widened_as_gguf_py_does_it() {
    let folder = fixtures().join("gguf");
    let (table, golden) =
        (read_header(&folder.join("types.gguf")).unwrap(), load(&folder.join("types.safetensors")).unwrap());
    assert_eq!(table.len(), 17);
    for (name, tensor) in &table {
        let loaded = tensor.load(&Device::Cpu).unwrap();
        assert_eq!(loaded.dims(), golden[name].dims(), "{name}");
        assert!(bits(&loaded) == bits(&golden[name]), "{name}");
        let halves = [0, 1].map(|index| bits(&tensor.row(index).unwrap().load(&Device::Cpu).unwrap()));
        assert!(halves.concat() == bits(&golden[name]), "{name} row by row");
    }
}

#[test]
fn q8_0_is_written_as_gguf_py_does_it() {
    let golden = load(&fixtures().join("gguf/types.safetensors")).unwrap();
    let values: Vec<f32> = golden["plain"].flatten_all().unwrap().to_vec1().unwrap();
    let want: Vec<u8> = golden["plain.Q8_0"].flatten_all().unwrap().to_vec1().unwrap();
    assert!(encode(Format::Q8_0.into(), &values).unwrap() == want);
}

/// The tiny Z-Image under the names of ComfyUI's files: denoiser and text encoder.
fn original() -> (Tensors, Tensors) {
    let mut components = manifest_tensors(&fixtures().join("z_image/default/checkpoint")).unwrap();
    let mut take = |folder: &str| {
        let path = components.keys().find(|path| path.starts_with(folder)).unwrap().clone();
        components.remove(&path).unwrap()
    };
    (original_names::z_image(&take("transformer/")).unwrap(), prefixed("model.", take("text_encoder/")))
}

fn model_with(folder: &Path, write: impl Fn(&Path)) -> PathBuf {
    let model = Fixture::new("z_image", "default").write(folder, Layout::Split, Stored::F32).unwrap();
    for file in [DENOISER, ENCODER] {
        fs::remove_file(model.join(format!("{file}.safetensors"))).unwrap();
    }
    write(&model);
    model
}

/// Writes the model twice, packed and dequantized to f32, and returns both.
fn twins(
    folder: &Path,
    choose: impl Fn(&str, &[usize]) -> Encoding,
    write: impl Fn(&Path, &str, &Packaged),
) -> (PathBuf, PathBuf) {
    let (denoiser, encoder) = original();
    let packaged =
        [(DENOISER, package(&denoiser, &choose).unwrap()), (ENCODER, package(&encoder, &choose).unwrap())];
    let packed = model_with(&folder.join("packed"), |model| {
        packaged.iter().for_each(|(file, tensors)| write(model, file, tensors));
    });
    let wide = model_with(&folder.join("wide"), |model| {
        for (file, tensors) in &packaged {
            save(&widened(tensors).unwrap(), &model.join(format!("{file}.safetensors"))).unwrap();
        }
    });
    (packed, wide)
}

fn assert_same_pictures(name: &str, packed: &Path, wide: &Path) {
    let run = Fixture::new("z_image", "default").run("guided").unwrap();
    check_twins(name, &run, packed, wide).unwrap();
}

/// As in published quantized files: matrices in blocks if rows are whole blocks, else in 16 bits.
fn as_published(_: &str, shape: &[usize]) -> Encoding {
    match shape {
        [_, columns] if columns.is_multiple_of(256) => Format::Q4K.into(),
        [rows, columns] if *rows > 1 && columns.is_multiple_of(32) => Format::Q8_0.into(),
        [_, _] => Format::F16.into(),
        _ => Format::F32.into(),
    }
}

fn write_published(model: &Path, file: &str, tensors: &Packaged) {
    let path = model.join(format!("{file}.gguf"));
    if file == ENCODER {
        write_gguf(&path, "qwen3", &renamed(tensors, &LANGUAGE_MODEL_IN_LLAMA)).unwrap();
    } else {
        write_gguf(&path, "lumina2", tensors).unwrap();
    }
}

#[test]
fn a_model_in_gguf_draws_what_its_widened_weights_draw() {
    let folder = tempfile::tempdir().unwrap();
    let (packed, wide) = twins(folder.path(), as_published, write_published);
    let formats: std::collections::BTreeSet<String> = read_header(&packed.join(format!("{DENOISER}.gguf")))
        .unwrap()
        .values()
        .map(|t| t.dtype_name())
        .collect();
    assert_eq!(formats.into_iter().collect::<Vec<_>>(), ["F16", "F32", "Q4_K", "Q8_0"]);
    assert_same_pictures("GGUF", &packed, &wide);
}

/// Quantizes the matrices of the blocks, without lookup tables and modulations.
fn blocks_as(encoding: impl Fn(&[usize]) -> Encoding) -> impl Fn(&str, &[usize]) -> Encoding {
    move |name, shape| match shape {
        [rows, columns]
            if *rows > 1
                && columns.is_multiple_of(64)
                && name.contains("layers.")
                && name.ends_with(".weight")
                && !name.contains("adaLN") =>
        {
            encoding(shape)
        }
        _ => Format::F32.into(),
    }
}

fn safetensors(names: ScaleNames) -> impl Fn(&Path, &str, &Packaged) {
    move |model, file, tensors| {
        write_safetensors(&model.join(format!("{file}.safetensors")), tensors, names).unwrap();
    }
}

#[test]
fn models_in_few_bits_draw_what_their_widened_weights_draw() {
    let whole = |format| move |shape: &[usize]| Encoding::scaled(format, shape.iter().product());
    let check = |name: &str, encoding: &dyn Fn(&[usize]) -> Encoding, names| {
        let folder = tempfile::tempdir().unwrap();
        let (packed, wide) = twins(folder.path(), blocks_as(encoding), safetensors(names));
        assert_same_pictures(name, &packed, &wide);
    };
    check("fp8", &|_| Format::F8E4m3.into(), ScaleNames::ScaleWeight);
    check("scaled fp8", &whole(Format::F8E4m3), ScaleNames::ScaleWeight);
    check(
        "fp8 with a scale for each row",
        &|shape| Encoding::scaled(Format::F8E4m3, shape[1]),
        ScaleNames::WeightScale,
    );
    check("int8", &|shape| Encoding::scaled(Format::I8, shape[1]), ScaleNames::WeightScale);
    check("nf4", &|_| Encoding::scaled(Format::Nf4, 64), ScaleNames::WeightScale);
}

fn every_tensor(
    component: &Component,
    memory: Arc<dyn DeviceMemory>,
    placement: Placement,
    home: Tier,
) -> (Vec<Vec<u32>>, u64, u64) {
    let store = store(component.clone(), memory, placement, home, 2);
    let mut tensors = Vec::new();
    let range = 0..component.blocks.len();
    let held = store.held_bytes().map(|(bytes, _)| bytes).sum();
    Executor::default()
        .walk(&store, range, |index, weights| {
            for (name, _) in &component.blocks[index].tensors {
                tensors.push(bits(weights.get(name)?.computed()?));
            }
            Ok(())
        })
        .unwrap();
    (tensors, store.moved_bytes(), held)
}

#[test]
fn what_moves_is_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (packed, _) = twins(folder.path(), as_published, write_published);
    let model = models::open(&packed, &[]).unwrap();
    for part in ["denoiser", "text_encoder"] {
        let component = &model.part(part).unwrap().component;
        let (want, _, held) = every_tensor(component, Arc::new(CpuMemory), Placement::Resident, Tier::Disk);
        let stored: u64 = component.blocks.iter().map(|block| block.stored_bytes()).sum();
        assert_eq!(held, stored, "{}", component.architecture);
        for placement in [Placement::Streamed, Placement::Leaves] {
            for home in [Tier::Host, Tier::Disk] {
                let card = Arc::new(SimulatedCard::new(1e9, 1e-5));
                let (got, moved, _) = every_tensor(component, card, placement, home);
                assert!(got == want, "{placement:?} from {home:?}");
                assert_eq!(moved, stored, "{placement:?} from {home:?}");
            }
        }
    }
}

#[test]
fn packed_weights_are_used_in_half_precision_too() {
    let folder = tempfile::tempdir().unwrap();
    let (packed, _) = twins(folder.path(), as_published, write_published);
    let run = Fixture::new("z_image", "default").run("guided").unwrap();
    let mut runner = Runner::start().unwrap();
    let mut output = |dtype| {
        let request = sluice_engine::request::Request { dtype: Some(dtype), ..run.request(&packed) };
        let (_, dump) = runner.dump(request, Some(&run.latents().unwrap())).unwrap();
        dump["transformer.0.out.0.0"].to_dtype(DType::F32).unwrap()
    };
    let (wide, narrow) = (output(ComputeDtype::F32), output(ComputeDtype::Bf16));
    let distance = sluice_tests::golden::distance("out", &wide, &narrow, 0.1).unwrap();
    assert!(distance > 1e-5);
}

/// A file with matrices that every format can store, and tensors that are not converted.
fn convertible(folder: &Path) -> PathBuf {
    let noise = |name: &str, shape: &[usize]| {
        let values = sluice_tests::hash_weights::noise(name, shape.iter().product());
        Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
    };
    let tensors = Tensors::from([
        ("layers.0.attention.qkv.weight".to_owned(), noise("a", &[96, 768])),
        ("layers.0.feed_forward.w2.weight".to_owned(), noise("b", &[768, 320])),
        ("layers.0.attention_norm1.weight".to_owned(), noise("c", &[768])),
        ("layers.0.adaLN_modulation.0.weight".to_owned(), noise("d", &[64, 256])),
        ("x_embedder.weight".to_owned(), noise("e", &[768, 64]).to_dtype(DType::F16).unwrap()),
        // More than one piece, to test how pieces are put together.
        ("layers.1.attention.qkv.weight".to_owned(), noise("f", &[800, 768]).to_dtype(DType::BF16).unwrap()),
    ]);
    let path = folder.join("model.safetensors");
    save(&tensors, &path).unwrap();
    path
}

#[test]
fn conversions_come_back_as_near_as_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let input = convertible(folder.path());
    let originals = read_header(&input).unwrap();
    // Nearly normal weights: the relative error of each format.
    for (to, format, least, most) in [
        (ConvertTo::Q8_0, Format::Q8_0, 0.004, 0.007),
        (ConvertTo::Q4K, Format::Q4K, 0.05, 0.09),
        (ConvertTo::Fp8, Format::F8E4m3, 0.02, 0.03),
        (ConvertTo::Fp8E5m2, Format::F8E5m2, 0.04, 0.06),
        (ConvertTo::Int8, Format::I8, 0.004, 0.012),
        (ConvertTo::Nf4, Format::Nf4, 0.08, 0.11),
        (ConvertTo::Bf16, Format::Bf16, 0.0005, 0.003),
    ] {
        let output = folder.path().join(if to.is_gguf() { "out.gguf" } else { "out.safetensors" });
        let conversion = convert(&input, &output, to, |_| true).unwrap().unwrap();
        let said = conversion[&format].error();
        println!("{}: {said:.4}", to.name());
        assert!((least..most).contains(&said), "{}: {said}", to.name());
        let table = read_header(&output).unwrap();
        let (mut errors, mut squares) = (0.0, 0.0);
        for (name, original) in &originals {
            let values = |tensor: &sluice_engine::checkpoint::StoredTensor| -> Vec<f32> {
                tensor.load(&Device::Cpu).unwrap().flatten_all().unwrap().to_vec1().unwrap()
            };
            let (want, got) = (values(original), values(&table[name]));
            assert_eq!(table[name].shape(), original.shape(), "{name}");
            if table[name].encoding().unwrap().format == format {
                for (want, got) in want.iter().zip(&got) {
                    errors += f64::from(want - got).powi(2);
                    squares += f64::from(*want).powi(2);
                }
            } else {
                assert!(want == got || to == ConvertTo::Q4K, "{}: {name} has changed", to.name());
            }
        }
        assert!(((errors / squares).sqrt() - said).abs() < 1e-6, "{}", to.name());
        let size = fs::metadata(&output).unwrap().len();
        let told: u64 = conversion.values().map(|share| share.after).sum();
        assert!((told..told + 4096).contains(&size), "{}: {size} bytes, {told} of tensors", to.name());
    }
    assert!(convert(&input, &folder.path().join("no.gguf"), ConvertTo::Q8_0, |_| false).unwrap().is_none());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_converted_model_draws() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("z_image", "default");
    let run = fixture.run("guided").unwrap();
    let mut runner = Runner::start().unwrap();
    let plain = fixture.write(&folder.path().join("plain"), Layout::SplitPrefixed, Stored::F32).unwrap();
    let (_, want) = runner.repeat(&run, &plain).unwrap();
    for (to, allowed) in
        [(ConvertTo::Q8_0, 0.05), (ConvertTo::Q4K, 0.4), (ConvertTo::Fp8, 0.2), (ConvertTo::Nf4, 0.6)]
    {
        let model =
            fixture.write(&folder.path().join(to.name()), Layout::SplitPrefixed, Stored::F32).unwrap();
        for file in [DENOISER, ENCODER] {
            let input = model.join(format!("{file}.safetensors"));
            let output = if to.is_gguf() { model.join(format!("{file}.gguf")) } else { input.clone() };
            convert(&input, &output, to, |_| true).unwrap();
            if to.is_gguf() {
                fs::remove_file(input).unwrap();
            }
        }
        let (_, got) = runner.repeat(&run, &model).unwrap();
        let name = "transformer.0.out.0.0";
        let distance = sluice_tests::golden::compare(name, &want, &got, allowed).unwrap();
        println!("{}: {distance:.1e}", to.name());
        assert!(distance > 1e-4, "{} changes nothing", to.name());
    }
}
