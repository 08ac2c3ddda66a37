//! Lens in published formats: quantized weights give the same bits as their dequantized f32 values. The experts of its text
//! encoder are in MXFP4, as in transformers' and in llama.cpp's files, or in NVFP4, as in ComfyUI's.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use candle_core::{Device, Tensor};
use safetensors::{Dtype, tensor::TensorView};
use serde_json::{Value, json};
use sluice_engine::{
    checkpoint::read_header,
    models,
    precision::{Encoding, Format},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load, save},
    golden::{MODULE, WHOLE_RUN, compare},
    original_names::Tensors,
    packed::{
        LANGUAGE_MODEL_IN_LLAMA, Packaged, ScaleNames, Written, in_blocks, in_scaled_fp8, renamed, write_gguf,
    },
    runner::Runner,
    twins::{as_safetensors, check_files, check_twins, with_files},
};

const DENOISER: &str = "diffusion_models/lens_tiny";
const ENCODER: &str = "text_encoders/gpt_oss_20b";
/// The tensors of experts, and llama.cpp's names.
const IN_LLAMA: [(&str, &str); 4] = [
    ("self_attn.sinks", "attn_sinks.weight"),
    ("post_attention_layernorm", "post_attention_norm"),
    ("mlp.router", "ffn_gate_inp"),
    ("lm_head", "output"),
];
/// 4-bit floats without their sign.
const STEPS: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

fn fixture() -> Fixture {
    Fixture::new("lens", "default")
}

fn check(
    name: &str,
    pack: impl Fn(&str, &Tensors) -> Packaged,
    write: impl Fn(&Path, &str, &Packaged) -> Result<()>,
) {
    check_files(name, (&fixture(), "guided"), &[DENOISER], pack, write).unwrap();
}

fn gguf(model: &Path, file: &str, tensors: &Packaged) -> Result<()> {
    write_gguf(&model.join(format!("{file}.gguf")), "lens", tensors)
}

#[test]
fn gguf_draws_what_its_widened_weights_draw() {
    check("GGUF", |_, tensors| in_blocks(tensors).unwrap(), gguf);
}

#[test]
fn scaled_fp8_draws_what_its_widened_weights_draw() {
    let pack = |_: &str, tensors: &Tensors| in_scaled_fp8(tensors, |name| name.contains("blocks.")).unwrap();
    for names in [ScaleNames::ScaleWeight, ScaleNames::WeightScale] {
        check("fp8", pack, as_safetensors(names));
    }
}

#[test]
fn a_file_says_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let write = |model: &Path, file: &str, tensors: &Tensors| gguf(model, file, &in_blocks(tensors).unwrap());
    let model = with_files(&fixture(), folder.path(), &[DENOISER], write).unwrap();
    let content = models::content(&model.join(format!("{DENOISER}.gguf"))).unwrap();
    assert_eq!((content.what.as_str(), content.format.as_str()), ("Lens denoiser", "GGUF"));
    let content = models::content(&model.join(format!("{ENCODER}.safetensors"))).unwrap();
    assert_eq!(content.what, "GPT-OSS text encoder, width 32");
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

/// The number of an expert's layer among all, if a tensor is one of those that are packed.
fn is_packed(name: &str) -> bool {
    name.ends_with("experts.gate_up_proj") || name.ends_with("experts.down_proj")
}

/// A row of values as 4-bit floats and the exponents of each 32.
fn in_mxfp4(row: &[f32]) -> (Vec<u8>, Vec<u8>) {
    let mut codes = Vec::new();
    let mut exponents = Vec::new();
    for block in row.chunks(32) {
        let largest = block.iter().fold(1e-6f32, |largest, value| largest.max(value.abs()));
        let exponent = (largest / 6.0).log2().ceil() as i32;
        exponents.push((exponent + 127) as u8);
        codes.extend(block.iter().map(|value| {
            let magnitude = value.abs() / 2f32.powi(exponent);
            let code = STEPS.iter().rposition(|step| *step <= magnitude).unwrap_or(0) as u8;
            code | u8::from(*value < 0.0) << 3
        }));
    }
    (codes, exponents)
}

/// The numbers that codes stand for.
fn widened(codes: &[u8], exponents: &[u8]) -> Vec<f32> {
    let value = |(place, code): (usize, &u8)| {
        let sign = if *code < 8 { 1.0 } else { -1.0 };
        sign * STEPS[usize::from(code & 7)] * 2f32.powi(i32::from(exponents[place / 32]) - 127)
    };
    codes.iter().enumerate().map(value).collect()
}

type Entries = BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>;

fn write(path: &Path, entries: &Entries) -> Result<()> {
    let views = entries.iter().map(|(name, (dtype, shape, bytes))| {
        Ok((name.clone(), TensorView::new(*dtype, shape.clone(), bytes)?))
    });
    Ok(fs::write(path, safetensors::serialize(views.collect::<Result<Vec<_>>>()?, None)?)?)
}

fn le(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The experts' matrices with rows of outputs, in the order of experts, `[experts, outputs, inputs]`.
fn by_outputs(tensor: &Tensor) -> Tensor {
    tensor.transpose(1, 2).unwrap().contiguous().unwrap()
}

/// The model with the experts of its text encoder in MXFP4, and the same in f32.
fn in_mxfp4_and_wide(folder: &Path) -> [PathBuf; 2] {
    let packed = fixture().write(&folder.join("packed"), Layout::Split, Stored::F32).unwrap();
    let wide = fixture().write(&folder.join("wide"), Layout::Split, Stored::F32).unwrap();
    let file = format!("{ENCODER}.safetensors");
    let (mut entries, mut tensors) = (Entries::new(), Tensors::new());
    for (name, tensor) in load(&packed.join(&file)).unwrap() {
        if !is_packed(&name) {
            let bytes = le(&values(&tensor));
            entries.insert(name.clone(), (Dtype::F32, tensor.dims().to_vec(), bytes));
            tensors.insert(name, tensor);
            continue;
        }
        let turned = by_outputs(&tensor);
        let (experts, rows, columns) = turned.dims3().unwrap();
        let (codes, exponents) = in_mxfp4(&values(&turned));
        let back = Tensor::from_vec(widened(&codes, &exponents), (experts, rows, columns), &Device::Cpu);
        tensors.insert(name.clone(), by_outputs(&back.unwrap()));
        // The first of two codes is in the lower half of a byte.
        let bytes = codes.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect();
        let blocks = columns / 32;
        entries.insert(format!("{name}_blocks"), (Dtype::U8, vec![experts, rows, blocks, 16], bytes));
        entries.insert(format!("{name}_scales"), (Dtype::U8, vec![experts, rows, blocks], exponents));
    }
    write(&packed.join(&file), &entries).unwrap();
    save(&tensors, &wide.join(&file)).unwrap();
    [packed, wide]
}

#[test]
fn experts_in_mxfp4_draw_what_their_widened_weights_draw() {
    let folder = tempfile::tempdir().unwrap();
    let [packed, wide] = in_mxfp4_and_wide(folder.path());
    check_twins("MXFP4", &fixture().run("guided").unwrap(), &packed, &wide).unwrap();
}

/// Nothing is widened before it is used: 4 bits and a quarter.
#[test]
fn experts_in_mxfp4_stay_packed() {
    let folder = tempfile::tempdir().unwrap();
    let [packed, _] = in_mxfp4_and_wide(folder.path());
    let table = read_header(&packed.join(format!("{ENCODER}.safetensors"))).unwrap();
    let stack = &table["model.layers.1.mlp.experts.gate_up_proj.weight"];
    assert_eq!((stack.shape(), stack.dtype_name().as_str()), (&[6, 64, 32][..], "MXFP4"));
    assert_eq!(stack.given_bytes(), 6 * 64 * 17);
    let whole = values(&stack.load(&Device::Cpu).unwrap());
    for expert in 0..6 {
        let own = values(&stack.parts(expert..expert + 1, 6).load(&Device::Cpu).unwrap());
        assert!(own == whole[expert * 64 * 32..(expert + 1) * 64 * 32], "expert {expert}");
    }
    let opened = models::open(&packed.join(format!("{DENOISER}.safetensors")), &[]).unwrap();
    let encoder = &opened.parts[0].component;
    let expert = encoder.block_index("layers.1.mlp.experts.5").unwrap();
    let (width, inner) = (32, 32);
    let biases = (2 * inner + width) * 4;
    assert_eq!(encoder.blocks[expert].given_bytes(), (3 * width * inner * 17 / 32 + biases) as u64);
}

/// Gates and values are apart there, and a block has the lower halves of its bytes first.
#[test]
fn the_encoder_in_llama_cpps_files_draws_what_the_other_draws() {
    let folder = tempfile::tempdir().unwrap();
    let [_, wide] = in_mxfp4_and_wide(folder.path());
    let llama = fixture().write(&folder.path().join("llama"), Layout::Split, Stored::F32).unwrap();
    let mut packed = Packaged::new();
    for (name, tensor) in load(&wide.join(format!("{ENCODER}.safetensors"))).unwrap() {
        let Some((before, own)) = name.split_once("mlp.experts.") else {
            packed.insert(name, Written::new(&tensor, Format::F32.into()).unwrap());
            continue;
        };
        // Every other row is a gate.
        let every_other = |tensor: &Tensor, first: u32| {
            let rows: Vec<u32> = (first..tensor.dim(1).unwrap() as u32).step_by(2).collect();
            tensor.index_select(&Tensor::new(rows, &Device::Cpu).unwrap(), 1).unwrap().contiguous().unwrap()
        };
        let rows = if own.ends_with("bias") { tensor } else { by_outputs(&tensor) };
        let (kind, encoding) = match own.ends_with("bias") {
            true => ("bias", Encoding::from(Format::F32)),
            false => ("weight", Format::Mxfp4.into()),
        };
        let parts = match own.starts_with("gate_up") {
            true => vec![("ffn_gate_exps", every_other(&rows, 0)), ("ffn_up_exps", every_other(&rows, 1))],
            false => vec![("ffn_down_exps", rows)],
        };
        for (layer, tensor) in parts {
            let written = match kind {
                "bias" => Written::new(&tensor, encoding).unwrap(),
                _ => in_blocks_of_mxfp4(&tensor),
            };
            packed.insert(format!("{before}{layer}.{kind}"), written);
        }
    }
    let names: Vec<(&str, &str)> = IN_LLAMA.into_iter().chain(LANGUAGE_MODEL_IN_LLAMA).collect();
    let file = llama.join(format!("{ENCODER}.safetensors"));
    fs::remove_file(&file).unwrap();
    write_gguf(&file.with_extension("gguf"), "gpt-oss", &renamed(&packed, &names)).unwrap();
    assert_eq!(models::content(&file.with_extension("gguf")).unwrap().what, "GPT-OSS text encoder, width 32");

    // Products of other matrices are summed in another order.
    let run = fixture().run("guided").unwrap();
    let mut runner = Runner::start().unwrap();
    let (_, expected) = runner.repeat(&run, &wide).unwrap();
    let (_, dump) = runner.repeat(&run, &llama).unwrap();
    compare("encode_prompt.0.0.0", &expected, &dump, MODULE).unwrap();
    compare("step.2.latents", &expected, &dump, WHOLE_RUN).unwrap();
}

fn in_blocks_of_mxfp4(tensor: &Tensor) -> Written {
    let (codes, exponents) = in_mxfp4(&values(tensor));
    let block = |(codes, exponent): (&[u8], &u8)| {
        let halves = (0..16).map(|place| codes[place] | codes[place + 16] << 4);
        std::iter::once(*exponent).chain(halves).collect::<Vec<u8>>()
    };
    let bytes = codes.chunks(32).zip(&exponents).flat_map(block).collect();
    Written { encoding: Format::Mxfp4.into(), shape: tensor.dims().to_vec(), bytes }
}

/// A stack of matrices of ComfyUI, each with its own scales, draws what the same weights draw in f32.
#[test]
fn experts_in_nvfp4_draw_what_their_widened_weights_draw() {
    let folder = tempfile::tempdir().unwrap();
    let packed = fixture().write(&folder.path().join("packed"), Layout::Split, Stored::F32).unwrap();
    let wide = fixture().write(&folder.path().join("wide"), Layout::Split, Stored::F32).unwrap();
    let file = format!("{ENCODER}.safetensors");
    let (mut entries, mut tensors) = (Entries::new(), Tensors::new());
    for (name, tensor) in load(&packed.join(&file)).unwrap() {
        // ComfyUI's names have no prefix, and biases of experts are those of layers.
        let own = name.strip_prefix("model.").unwrap_or(&name).replace("proj_bias", "proj.bias");
        if !is_packed(&name) {
            entries.insert(own, (Dtype::F32, tensor.dims().to_vec(), le(&values(&tensor))));
            tensors.insert(name, tensor);
            continue;
        }
        let turned = by_outputs(&tensor);
        let (experts, rows, columns) = turned.dims3().unwrap();
        let (mut codes, mut scales, mut wholes, mut back) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (expert, matrix) in values(&turned).chunks(rows * columns).enumerate() {
            let whole = 0.01 + 0.001 * expert as f32;
            wholes.push(whole);
            let mut own = vec![0u8; rows.next_multiple_of(128) * (columns / 16).next_multiple_of(4)];
            for (index, block) in matrix.chunks(16).enumerate() {
                // Powers of two are 8-bit floats.
                let exponent = index as i32 % 4;
                let scale = 2f32.powi(exponent);
                let (row, column) = (index / (columns / 16), index % (columns / 16));
                own[row % 32 * 16 + row % 128 / 32 * 4 + column] = ((exponent + 7) << 3) as u8;
                for value in block {
                    let magnitude = value.abs() / (scale * whole);
                    let code = STEPS.iter().rposition(|step| *step <= magnitude).unwrap_or(0);
                    let sign = if *value < 0.0 { -1.0 } else { 1.0 };
                    codes.push(code as u8 | u8::from(*value < 0.0) << 3);
                    back.push(sign * STEPS[code] * (scale * whole));
                }
            }
            scales.extend(own);
        }
        let bytes = codes.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        entries.insert(format!("{own}.weight"), (Dtype::U8, vec![experts, rows, columns / 2], bytes));
        entries.insert(format!("{own}.weight_scale"), (Dtype::F8_E4M3, vec![experts, 128, 4], scales));
        entries.insert(format!("{own}.weight_scale_2"), (Dtype::F32, vec![experts], le(&wholes)));
        let description = br#"{"format": "nvfp4"}"#.to_vec();
        entries.insert(format!("{own}.comfy_quant"), (Dtype::U8, vec![description.len()], description));
        let back = Tensor::from_vec(back, (experts, rows, columns), &Device::Cpu).unwrap();
        tensors.insert(name, by_outputs(&back));
    }
    entries.insert("tokenizer_json".to_owned(), (Dtype::U8, vec![2], b"{}".to_vec()));
    write(&packed.join(&file), &entries).unwrap();
    save(&tensors, &wide.join(&file)).unwrap();
    check_twins("NVFP4", &fixture().run("guided").unwrap(), &packed, &wide).unwrap();
}

/// Numbers that the text encoder cannot have are refused by their names.
#[test]
fn wrong_numbers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write_diffusers(folder.path()).unwrap();
    let config = |part: &str| model.join(part).join("config.json");
    for (part, field, value, reason) in [
        ("text_encoder", "num_experts_per_tok", json!(7), "1 to 6"),
        ("text_encoder", "sliding_window", json!(0), "at least 1"),
        ("text_encoder", "layer_types", json!(["full_attention"]), "each of 4 layers"),
        ("transformer", "selected_layer_index", json!([0, 1, 2, 9]), "4 layers"),
        ("transformer", "selected_layer_index", json!([0, 1, 3, 2]), "ascending"),
        ("transformer", "rms_norm", json!(false), "without it"),
        ("transformer", "in_channels", json!(64), "4 times"),
    ] {
        let path = config(part);
        let original = fs::read(&path).unwrap();
        let mut changed: Value = serde_json::from_slice(&original).unwrap();
        changed[field] = value;
        fs::write(&path, changed.to_string()).unwrap();
        let error = models::open(&model, &[]).err().context("it was opened").unwrap().to_string();
        assert!(error.contains(field) && error.contains(reason), "{field}: {error}");
        fs::write(&path, original).unwrap();
    }
    models::open(&model, &[]).unwrap();
}
