//! Weights as ComfyUI, bitsandbytes and torchao quantize them: widened exactly, run, and refused by name.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use candle_core::{Device, Tensor};
use safetensors::{Dtype, tensor::TensorView};
use sluice_engine::{
    checkpoint::{Values, read_header},
    models,
    precision::{Encoding, Format, Packed, encode},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, fixtures, load, manifest_tensors, save},
    original_names::{self, Tensors},
    twins::{bits, check_near_twins, check_twins},
};

const FOLDER: &str = "quantized";
/// The rows that are kept of each weight, as in the script.
const ROWS: [usize; 8] = [0, 1, 31, 32, 64, 127, 128, 143];
/// The error of one more rounding, relative to the largest value.
const ROUNDING: f32 = 1.2e-7;

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

/// Compares the weights of a file with the reference, as a whole, and row by row.
fn check(file: &str, exact: impl Fn(&str) -> bool, formats: &[(&str, &str)]) {
    let table = read_header(&fixtures().join(FOLDER).join(format!("{file}.safetensors"))).unwrap();
    let golden = load(&fixtures().join(FOLDER).join("widened.safetensors")).unwrap();
    for (layer, format) in formats {
        let name = table
            .keys()
            .find(|name| **name == format!("{layer}.weight") || name.ends_with(&format!(".{layer}.weight")));
        let tensor = &table[name.unwrap()];
        assert_eq!(&tensor.dtype_name(), format, "{layer}");
        let file = if file == "header" { "comfy" } else { file };
        let golden = &golden[&format!("{file}/{layer}")];
        let whole = tensor.load(&Device::Cpu).unwrap();
        assert_eq!(whole.dims()[1..], golden.dims()[1..], "{layer}");
        let largest = values(golden).iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        assert!(largest > 0.01, "{layer} is zero");
        let rows: Vec<usize> = ROWS.into_iter().filter(|row| *row < whole.dims()[0]).collect();
        assert_eq!(rows.len(), golden.dims()[0], "{layer}");
        for (index, row) in rows.into_iter().enumerate() {
            let (want, got) = (golden.get(index).unwrap(), whole.get(row).unwrap());
            assert!(
                bits(&tensor.row(row).unwrap().load(&Device::Cpu).unwrap()) == bits(&got),
                "row {row} of {layer} by itself"
            );
            let worst = values(&want)
                .iter()
                .zip(values(&got))
                .fold(0.0f32, |worst, (want, got)| worst.max((want - got).abs() / largest));
            if exact(layer) {
                assert!(bits(&want) == bits(&got), "row {row} of {layer} is {worst} off");
            } else {
                assert!(worst < ROUNDING, "row {row} of {layer} is {worst} off");
            }
        }
    }
}

#[test]
fn layers_of_comfyui_are_widened_as_comfy_kitchen_does_it() {
    let formats = [
        ("fp8", "F8_E4M3"),
        ("mxfp8", "F8_E4M3"),
        ("nvfp4", "E2M1"),
        ("nvfp4_smooth", "E2M1 with scaled inputs"),
        ("int8", "I8"),
        ("int8_rows", "I8"),
        ("int8_rotated", "int8_tensorwise rotated by 256"),
        ("int8_rotated_64", "int8_tensorwise rotated by 64"),
        ("w4a4", "convrot_w4a4 rotated by 256"),
        ("w4a8", "asym_w4a8_int8 rotated by 256"),
        ("w4a8_plain", "asym_w4a8_int8 rotated by 64"),
    ];
    check("comfy", |_| true, &formats);
    check("header", |_| true, &[formats[5], formats[7]]);
}

#[test]
fn weights_of_torchao_are_widened_as_it_does() {
    let formats = [
        ("float8", "F8_E4M3"),
        ("int8", "I8"),
        ("groups", "I8"),
        ("shifted", "int8 with zero points"),
        ("int4", "int4 of torchao"),
        ("tiles", "int4 of torchao in tiles"),
        ("smooth", "int4 of torchao with scaled inputs"),
    ];
    check("torchao", |_| true, &formats);
}

#[test]
fn weights_of_bitsandbytes_are_widened_as_it_does() {
    // It multiplies integers by the largest magnitude first, which rounds once more.
    let formats =
        [("nf4", "NF4"), ("nf4_nested", "NF4"), ("fp4", "FP4"), ("fp4_nested", "FP4"), ("int8", "I8")];
    check("bitsandbytes", |layer| layer != "int8", &formats);
}

#[test]
fn packed_layers_stay_packed() {
    let table = read_header(&fixtures().join(FOLDER).join("comfy.safetensors")).unwrap();
    let bytes = |layer: &str| table[&format!("{layer}.weight")].given_bytes();
    assert_eq!(bytes("mxfp8"), 160 * 160 + 160 * 160 / 32 * 4);
    assert_eq!(bytes("nvfp4"), 144 * 80 / 2 + 144 * 80 / 16 * 4);
    // A scale for each row or for all; W4A8 stands for 8-bit integers.
    assert_eq!(bytes("int8_rotated"), held("comfy", "int8_rotated", 8, 1));
    assert_eq!(bytes("w4a4"), held("comfy", "w4a4", 4, 1));
    assert_eq!(bytes("w4a8"), held("comfy", "w4a8", 8, 1));
    assert!(table.keys().all(|name| name.ends_with(".weight")), "parts are left: {:?}", table.keys());
    let table = read_header(&fixtures().join(FOLDER).join("torchao.safetensors")).unwrap();
    for (layer, bits) in [("int4", 4), ("tiles", 4), ("shifted", 8)] {
        let tensor = &table[&format!("{layer}.weight")];
        let encoding = tensor.encoding().unwrap();
        assert!(encoding.zeros.is_some() && !encoding.format.is_wide(), "{layer}: {encoding:?}");
        let (count, group) = (tensor.elements(), encoding.group.unwrap().get() as u64);
        assert_eq!(tensor.given_bytes(), count * bits / 8 + count / group * 8, "{layer}");
    }
}

/// Bytes of a layer in this many bits, with as many scales per row.
fn held(file: &str, layer: &str, bits: usize, scales: usize) -> u64 {
    let table = read_header(&fixtures().join(FOLDER).join(format!("{file}.safetensors"))).unwrap();
    let &[rows, columns] = table[&format!("{layer}.weight")].shape() else { panic!("{layer} is no matrix") };
    (rows * columns * bits / 8 + rows * scales * 4) as u64
}

#[test]
fn parts_of_joined_weights_are_parts_of_the_widened_ones() {
    let open =
        |file: &str| read_header(&fixtures().join(FOLDER).join(format!("{file}.safetensors"))).unwrap();
    let (comfy, torchao) = (open("comfy"), open("torchao"));
    let of_comfy =
        ["mxfp8", "nvfp4", "nvfp4_smooth", "int8_rotated", "w4a4", "w4a8"].map(|layer| (&comfy, layer));
    let of_torchao = ["int4", "tiles", "shifted", "smooth"].map(|layer| (&torchao, layer));
    for (table, layer) in of_comfy.into_iter().chain(of_torchao) {
        let tensor = &table[&format!("{layer}.weight")];
        let rows = tensor.shape()[0];
        let whole = tensor.load(&Device::Cpu).unwrap();
        let count = if rows.is_multiple_of(4) { 4 } else { 3 };
        assert!(rows.is_multiple_of(count));
        for part in 0..count {
            let own = tensor.parts(part..part + 1, count).load(&Device::Cpu).unwrap();
            let want = whole.narrow(0, part * rows / count, rows / count).unwrap();
            assert!(bits(&own) == bits(&want), "part {part} of {layer}");
            // As a network holds it.
            let stored = tensor.parts(part..part + 1, count);
            let encoding = stored.encoding().unwrap();
            let mut bytes = vec![0; stored.given_bytes() as usize];
            stored.read_into(Values::Stored(&mut bytes)).unwrap();
            let packed = Packed::new(encoding, want.elem_count(), &bytes).unwrap();
            let mut wide = vec![0.0; want.elem_count()];
            packed.widen(0, &mut wide);
            assert!(
                bits(&Tensor::new(wide, &Device::Cpu).unwrap()) == bits(&want),
                "part {part} of {layer}, held"
            );
        }
    }
}

type Entries = BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>;

fn write(path: &Path, entries: &Entries) {
    let views = entries.iter().map(|(name, (dtype, shape, bytes))| {
        (name.clone(), TensorView::new(*dtype, shape.clone(), bytes).unwrap())
    });
    fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

fn le(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn described(entry: &str) -> (Dtype, Vec<usize>, Vec<u8>) {
    (Dtype::U8, vec![entry.len()], entry.as_bytes().to_vec())
}

/// 8-bit scales in tiles of 128 rows and 4 columns.
fn blocked(scales: &[u8], rows: usize, columns: usize) -> (Vec<usize>, Vec<u8>) {
    let shape = [rows.next_multiple_of(128), columns.next_multiple_of(4)];
    let mut bytes = vec![0; shape[0] * shape[1]];
    for (index, scale) in scales.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let tile = row / 128 * (shape[1] / 4) + column / 4;
        bytes[tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4] = *scale;
    }
    (shape.to_vec(), bytes)
}

fn one(format: Format, value: f32) -> (u8, f32) {
    let byte = encode(format.into(), &[value]).unwrap()[0];
    let mut back = [0.0];
    Packed::new(Encoding::from(format), 1, &[byte]).unwrap().widen(0, &mut back);
    (byte, back[0])
}

/// Quantizes a matrix in one of four formats and adds it under its layer's name.
fn add_layer(entries: &mut Entries, stem: &str, kind: usize, values: &[f32], rows: usize, columns: usize) {
    let largest = |values: &[f32]| values.iter().fold(1e-6f32, |largest, value| largest.max(value.abs()));
    let mut add = |part: &str, dtype, shape: Vec<usize>, bytes| {
        entries.insert(format!("{stem}.{part}"), (dtype, shape, bytes));
    };
    let entry = match kind {
        0 => {
            let exponents: Vec<i32> =
                values.chunks(32).map(|block| (largest(block) / 448.0).log2().ceil() as i32).collect();
            let codes = values.chunks(32).zip(&exponents).flat_map(|(block, exponent)| {
                block.iter().map(|value| one(Format::F8E4m3, value / 2f32.powi(*exponent)).0)
            });
            add("weight", Dtype::F8_E4M3, vec![rows, columns], codes.collect());
            let bytes: Vec<u8> = exponents.iter().map(|exponent| (exponent + 127) as u8).collect();
            let (shape, bytes) = blocked(&bytes, rows, columns / 32);
            add("weight_scale", Dtype::U8, shape, bytes);
            r#"{"format": "mxfp8"}"#
        }
        1 => {
            const STEPS: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
            let whole = largest(values) / (448.0 * 6.0);
            let scales: Vec<(u8, f32)> = values
                .chunks(16)
                .map(|block| one(Format::F8E4m3, (largest(block) / 6.0 / whole).max(0.01)))
                .collect();
            let codes = values.chunks(16).zip(&scales).flat_map(|(block, (_, scale))| {
                block.iter().map(move |value| {
                    let magnitude = value.abs() / (scale * whole);
                    let code = STEPS.iter().rposition(|step| *step <= magnitude).unwrap_or(0) as u8;
                    code | u8::from(*value < 0.0) << 3
                })
            });
            let codes: Vec<u8> = codes.collect();
            let packed = codes.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
            add("weight", Dtype::U8, vec![rows, columns / 2], packed);
            let bytes: Vec<u8> = scales.iter().map(|scale| scale.0).collect();
            let (shape, bytes) = blocked(&bytes, rows, columns / 16);
            add("weight_scale", Dtype::F8_E4M3, shape, bytes);
            add("weight_scale_2", Dtype::F32, vec![], le(&[whole]));
            r#"{"format": "nvfp4"}"#
        }
        _ => {
            // With the matrix itself, not the steps of the engine.
            const FOUR: [[f32; 4]; 4] =
                [[1.0, 1.0, 1.0, -1.0], [1.0, 1.0, -1.0, 1.0], [1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, 1.0, 1.0]];
            let cell = |row: usize, column: usize| {
                (0..3).map(|digit| FOUR[row >> (2 * digit) & 3][column >> (2 * digit) & 3]).product::<f32>()
                    / 8.0
            };
            let turned: Vec<f32> = values
                .chunks(64)
                .flat_map(|group| {
                    (0..64).map(|row| (0..64).map(|column| cell(row, column) * group[column]).sum::<f32>())
                })
                .collect();
            let scales: Vec<f32> = turned.chunks(columns).map(|row| largest(row) / 127.0).collect();
            let codes = turned
                .chunks(columns)
                .zip(&scales)
                .flat_map(|(row, scale)| row.iter().map(move |value| (value / scale).round() as i8 as u8));
            add("weight", Dtype::I8, vec![rows, columns], codes.collect());
            add("weight_scale", Dtype::F32, vec![rows, 1], le(&scales));
            r#"{"format": "int8_tensorwise", "convrot": true, "convrot_groupsize": 64}"#
        }
    };
    entries.insert(format!("{stem}.comfy_quant"), described(entry));
}

/// The denoiser of the tiny Z-Image under the names of ComfyUI's files.
fn denoiser() -> Tensors {
    let components = manifest_tensors(&fixtures().join("z_image/default/checkpoint")).unwrap();
    let (_, transformer) = components.into_iter().find(|(path, _)| path.starts_with("transformer/")).unwrap();
    original_names::z_image(&transformer).unwrap()
}

fn model(folder: &Path, write: impl Fn(&Path)) -> PathBuf {
    let model = Fixture::new("z_image", "default").write(folder, Layout::Split, Stored::F32).unwrap();
    write(&model.join("diffusion_models/tiny_z_image.safetensors"));
    model
}

/// The denoiser with the matrices of its blocks in the formats of `kinds`, in turns.
fn quantized(kinds: &[usize]) -> Entries {
    let mut entries = Entries::new();
    let mut turn = 0;
    for (name, tensor) in denoiser() {
        let own = values(&tensor);
        match (tensor.dims(), name.strip_suffix(".weight")) {
            (&[rows, columns], Some(stem))
                if columns % 64 == 0 && name.contains("layers.") && !name.contains("adaLN") =>
            {
                add_layer(&mut entries, stem, kinds[turn % kinds.len()], &own, rows, columns);
                turn += 1;
            }
            _ => {
                entries.insert(name.clone(), (Dtype::F32, tensor.dims().to_vec(), le(&own)));
            }
        }
    }
    assert!(turn >= kinds.len(), "only {turn} matrices");
    entries
}

#[test]
fn a_model_of_quantized_layers_draws_what_its_widened_weights_draw() {
    let run = Fixture::new("z_image", "default").run("guided").unwrap();
    for (name, kinds) in [("mxfp8", &[0][..]), ("nvfp4", &[1]), ("ConvRot", &[2]), ("mixed", &[0, 1, 2])] {
        let folder = tempfile::tempdir().unwrap();
        let packed = model(&folder.path().join("packed"), |path| write(path, &quantized(kinds)));
        let file = packed.join("diffusion_models/tiny_z_image.safetensors");
        let table = read_header(&file).unwrap();
        let plain = denoiser();
        let wide: Tensors =
            table.iter().map(|(name, tensor)| (name.clone(), tensor.load(&Device::Cpu).unwrap())).collect();
        assert!(wide.keys().eq(plain.keys()));
        for (name, tensor) in &wide {
            let (own, plain) = (values(tensor), values(&plain[name]));
            let square =
                |values: &mut dyn Iterator<Item = f32>| values.map(|value| value * value).sum::<f32>();
            let error = square(&mut own.iter().zip(&plain).map(|(own, plain)| own - plain));
            assert!(error <= 0.09 * square(&mut plain.iter().copied()), "{name} is another weight");
        }
        let wide = model(&folder.path().join("wide"), |path| save(&wide, path).unwrap());
        let check = if kinds.contains(&2) { check_near_twins } else { check_twins };
        check(name, &run, &packed, &wide).unwrap();
    }
}

fn refusal(entries: &Entries) -> String {
    let folder = tempfile::tempdir().unwrap();
    let model = model(folder.path(), |path| write(path, entries));
    let error = models::open(&model, &[]).unwrap_err();
    format!("{error} {}", error.advice())
}

#[test]
fn other_formats_are_refused_by_their_names() {
    let byte = || (Dtype::U8, vec![1], vec![0]);
    for (parts, found) in [
        (&["qweight", "wscales", "proj_down"][..], "SVDQuant, the format of Nunchaku"),
        (&["qweight", "qzeros", "scales", "g_idx"], "GPTQ"),
        (&["qweight", "qzeros", "scales"], "AWQ"),
    ] {
        let mut entries = Entries::new();
        entries.extend(parts.iter().map(|part| (format!("layers.0.attention.qkv.{part}"), byte())));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        write(&path, &entries);
        let error = read_header(&path).unwrap_err();
        assert!(error.to_string().contains(found), "{error}");
        assert_eq!(error.advice(), "Use a GGUF or fp8 file of the same model.");
    }
    let mut entries = quantized(&[2]);
    let stem = entries.keys().find_map(|name| name.strip_suffix(".comfy_quant")).unwrap().to_owned();
    for (entry, found) in [
        (r#"{"format": "svdquant_w4a4"}"#, "svdquant_w4a4, a format of ComfyUI"),
        (r#"{"format": "int8_tensorwise", "convrot": true, "convrot_groupsize": 48}"#, "groups of 48"),
        (r#"{"format": "mxfp8"}"#, "F8_E4M3 with"),
        (r#"{"format": "nvfp4"}"#, "nvfp4 without both of its scales"),
    ] {
        entries.insert(format!("{stem}.comfy_quant"), described(entry));
        let error = refusal(&entries);
        assert!(error.contains(found), "{error}");
    }
    entries.insert(format!("{stem}.comfy_quant"), described("{"));
    assert!(refusal(&entries).contains("comfy_quant"), "{}", refusal(&entries));
}
