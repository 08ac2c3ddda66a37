//! Whole runs of HiDream-I1 against diffusers, through the session, stage by stage. diffusers has no pipelines of it for image to
//! image and inpainting.

use std::{fs, path::Path};

use candle_core::Tensor;
use serde_json::Value;
use sluice_engine::{
    models,
    precision::Format,
    request::{Request, Sampler},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load, read_json},
    golden::{MODULE, WHOLE_RUN, compare},
    modes::{
        check_every_mode, check_every_mode_filled_in, check_forecasts, check_half_precision,
        check_shared_branches,
    },
    original_names::{Tensors, alternating},
    packed::{GgufValue, LANGUAGE_MODEL_IN_LLAMA, package, renamed, write_gguf_values},
    parity::{check_case, check_layouts},
    runner::Runner,
};

const DENOISER: &str = "diffusion_models/tiny_hidream.safetensors";
const LLAMA: &str = "text_encoders/llama_3.1_8b_instruct";

fn fixture() -> Fixture {
    Fixture::new("hidream", "default")
}

/// Also an image that is not square, which is padded to the size of training.
#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("hidream", "default").unwrap();
}

/// With new noise in each step.
#[test]
fn the_distilled_model_gives_what_diffusers_gives() {
    check_case("hidream", "dev").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("hidream", "salted").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    check_layouts(&fixture(), &fixture().run("guided").unwrap()).unwrap();
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision. Some tokens choose their experts by a smaller margin, and
/// later steps depend on that.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "encode_prompt.0.0.1", "transformer.0.out.0"];
    check_half_precision(&fixture(), "guided", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    for (case, run) in [("default", "guided"), ("dev", "unguided"), ("salted", "mixed")] {
        check_every_mode(&Fixture::new("hidream", case), run).unwrap();
    }
}

#[test]
fn every_mode_fills_in_the_same_bytes() {
    check_every_mode_filled_in(&fixture(), "padded").unwrap();
}

/// Prompt and negative prompt choose other experts.
#[test]
fn branches_that_share_tensors_give_the_same_bytes() {
    assert!(check_shared_branches(&fixture(), "guided").unwrap());
}

/// An expert has room for all tokens in a forecast.
#[test]
fn peaks_are_as_predicted() {
    check_forecasts(&fixture(), "guided", 0.95..1.15, 0.9..1.15).unwrap();
}

/// Without a scheduler, the name of the file says which model it is.
#[test]
fn the_name_of_a_file_says_how_a_model_was_distilled() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let full = model.join(DENOISER);
    for (name, steps, guidance, sampler) in [
        ("hidream_i1_full_fp16", 50, 5.0, Sampler::UniPc),
        ("hidream_i1_dev_bf16", 28, 0.0, Sampler::Lcm),
        ("hidream_i1_fast_fp8", 16, 0.0, Sampler::Lcm),
    ] {
        let path = full.with_file_name(format!("{name}.safetensors"));
        fs::copy(&full, &path).unwrap();
        let defaults = models::open(&path, &[]).unwrap().defaults;
        assert_eq!((defaults.steps, defaults.guidance, defaults.sampler), (steps, guidance, sampler));
    }
}

/// A tokenizer as llama.cpp stores it.
fn vocabulary(tokenizer: &Path) -> Vec<(&'static str, GgufValue)> {
    let content: Value = read_json(tokenizer).unwrap();
    let vocab = content["model"]["vocab"].as_object().unwrap();
    let mut tokens: Vec<(u64, &String)> =
        vocab.iter().map(|(token, id)| (id.as_u64().unwrap(), token)).collect();
    tokens.sort_unstable();
    let tokens = tokens.into_iter().map(|(_, token)| token.clone()).collect();
    let pair = |pair: &Value| format!("{} {}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
    let merges = content["model"]["merges"].as_array().unwrap().iter().map(pair).collect();
    vec![
        ("tokenizer.ggml.model", GgufValue::Text("gpt2".to_owned())),
        ("tokenizer.ggml.tokens", GgufValue::Texts(tokens)),
        ("tokenizer.ggml.merges", GgufValue::Texts(merges)),
    ]
}

#[test]
fn llama_in_llama_cpps_files_brings_its_tokenizer_and_gives_what_diffusers_gives() {
    const HEAD: usize = 128;
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let file = model.join(format!("{LLAMA}.safetensors"));
    let stored = |(name, tensor): (String, Tensor)| {
        let is_rotated = name.contains("q_proj") || name.contains("k_proj");
        let tensor = if is_rotated { alternating(&tensor, HEAD).unwrap() } else { tensor };
        (name, tensor)
    };
    let mut tensors: Tensors = load(&file).unwrap().into_iter().map(stored).collect();
    // The factors of the rotary frequencies, which the configuration says, too.
    let factors = Tensor::ones(HEAD / 2, candle_core::DType::F32, &candle_core::Device::Cpu).unwrap();
    tensors.insert("rope_freqs.weight".to_owned(), factors);
    let packed = package(&tensors, |_, _| Format::F32.into()).unwrap();
    fs::remove_file(&file).unwrap();
    let mut values = vocabulary(&model.join("tokenizer_4/tokenizer.json"));
    values.push(("general.architecture", GgufValue::Text("llama".to_owned())));
    let packed = renamed(&packed, &LANGUAGE_MODEL_IN_LLAMA);
    write_gguf_values(&file.with_extension("gguf"), &values, &packed).unwrap();
    fs::remove_dir_all(model.join("tokenizer_4")).unwrap();
    let run = fixture().run("guided").unwrap();
    let mut runner = Runner::start().unwrap();
    let (_, dump) = runner.dump(run.request(&model), Some(&run.latents().unwrap())).unwrap();
    let golden = run.golden().unwrap();
    compare("encode_prompt.0.0.0", &golden, &dump, MODULE).unwrap();
    compare("step.2.latents", &golden, &dump, WHOLE_RUN).unwrap();
}

#[test]
fn a_missing_tokenizer_of_llama_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    fs::rename(model.join("tokenizer_4"), model.join("elsewhere")).unwrap();
    let error = models::open(&model.join(DENOISER), &[]).unwrap_err().to_string();
    assert!(error.contains("Llama 3.1") && error.contains(LLAMA), "{error}");
    // Where the message says.
    fs::rename(model.join("elsewhere"), model.join(LLAMA)).unwrap();
    models::open(&model.join(DENOISER), &[]).unwrap();
}

#[test]
fn a_missing_text_encoder_is_asked_for() {
    for (file, expected) in [
        (LLAMA, "no Llama 3 text encoder of width 48"),
        ("text_encoders/clip_g", "of width 128"),
        ("text_encoders/t5xxl", "no T5 encoder of width 64"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
        fs::remove_file(model.join(format!("{file}.safetensors"))).unwrap();
        let error = models::open(&model.join(DENOISER), &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Images beyond the size of training are not padded, and diffusers makes none.
#[test]
fn larger_images_are_made_too() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write_diffusers(folder.path()).unwrap();
    let request = Request { width: 96, height: 64, ..fixture().run("guided").unwrap().request(&model) };
    let mut runner = Runner::start().unwrap();
    let job = runner.job(request);
    assert_eq!(runner.run(job).unwrap().pictures().unwrap().len(), 1);
}
