//! Whole runs of FLUX.2 dev against diffusers, through the session, stage by stage.

use candle_core::Tensor;
use sluice_engine::{
    models::{self, ModelDefaults},
    precision::Format,
    request::{GuidanceOptions, Request},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load, save},
    golden::{MODULE, WHOLE_RUN, compare},
    modes::{check_every_mode, check_forecasts, check_half_precision},
    original_names::Tensors,
    packed::{LANGUAGE_MODEL_IN_LLAMA, alternating, package, renamed, write_gguf},
    parity::{check_case, check_layouts},
    runner::Runner,
};

const ENCODER: &str = "text_encoders/tiny_mistral3";

fn fixture() -> Fixture {
    Fixture::new("flux2_dev", "default")
}

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("flux2_dev", "default").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("flux2_dev", "salted").unwrap();
}

/// Also of an encoder without the layers that are not read.
#[test]
fn every_layout_gives_the_same_bytes() {
    check_layouts(&fixture(), &fixture().run("horse").unwrap()).unwrap();
}

#[test]
fn guidance_is_an_input_and_a_negative_prompt_can_guide_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write_diffusers(folder.path()).unwrap();
    let ModelDefaults { steps, guidance, .. } = models::open(&model, &[]).unwrap().defaults;
    assert_eq!((steps, guidance), (50, 4.0));
    let run = fixture().run("horse").unwrap();
    let mut runner = Runner::start().unwrap();
    let mut dump = |change: &dyn Fn(Request) -> Request| {
        let request = change(Request { steps: 1, ..run.request(&model) });
        runner.dump(request, Some(&run.latents().unwrap())).unwrap().1
    };
    let plain = dump(&|request| request);
    let stronger = dump(&|request| Request { guidance: 6.0, ..request });
    assert!(compare("step.0.latents", &plain, &stronger, MODULE).is_err());
    let guiding = GuidanceOptions { true_cfg: 3.0, ..GuidanceOptions::default() };
    let guided = dump(&|request| Request { negative_prompt: "blurry".to_owned(), guiding, ..request });
    assert!(guided.contains_key("transformer.0.out.0.1"));
    assert!(compare("step.0.latents", &plain, &guided, MODULE).is_err());
}

#[test]
fn an_encoder_in_llama_cpps_files_gives_what_diffusers_gives() {
    const HEAD: usize = 128;
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let file = model.join(format!("{ENCODER}.safetensors"));
    let stored = |(name, tensor): (String, Tensor)| {
        let is_rotated = name.contains("q_proj") || name.contains("k_proj");
        let tensor = if is_rotated { alternating(&tensor, HEAD).unwrap() } else { tensor };
        (name, tensor)
    };
    let tensors: Tensors = load(&file).unwrap().into_iter().map(stored).collect();
    let packed = package(&tensors, |_, _| Format::F32.into()).unwrap();
    std::fs::remove_file(&file).unwrap();
    write_gguf(&file.with_extension("gguf"), "llama", &renamed(&packed, &LANGUAGE_MODEL_IN_LLAMA)).unwrap();
    let (content, width) = (models::content(&file.with_extension("gguf")).unwrap(), 64);
    assert_eq!(content.what, format!("Mistral text encoder, width {width}"));
    let run = fixture().run("horse").unwrap();
    let mut runner = Runner::start().unwrap();
    let (_, dump) = runner.dump(run.request(&model), Some(&run.latents().unwrap())).unwrap();
    let golden = run.golden().unwrap();
    compare("encode_prompt.0.0.0", &golden, &dump, MODULE).unwrap();
    compare("step.2.latents", &golden, &dump, WHOLE_RUN).unwrap();
}

/// ComfyUI's files bring their tokenizer as one more tensor, which is not needed.
#[test]
fn a_tokenizer_among_the_tensors_is_no_part_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let file = model.join(format!("{ENCODER}.safetensors"));
    let mut tensors = load(&file).unwrap();
    let tokenizer = Tensor::zeros(1000, candle_core::DType::U8, &candle_core::Device::Cpu).unwrap();
    let run = fixture().run("edited").unwrap();
    let mut runner = Runner::start().unwrap();
    let (expected, _) = runner.repeat(&run, &model).unwrap();
    tensors.insert("tekken_model".to_owned(), tokenizer);
    save(&tensors, &file).unwrap();
    let (found, _) = runner.repeat(&run, &model).unwrap();
    assert_eq!(found[0].media, expected[0].media);
}

#[test]
fn an_encoder_of_another_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let other = tempfile::tempdir().unwrap();
    let klein = Fixture::new("flux2", "default").write(other.path(), Layout::Split, Stored::F32).unwrap();
    std::fs::remove_file(model.join(format!("{ENCODER}.safetensors"))).unwrap();
    let qwen = "text_encoders/tiny_qwen3.safetensors";
    std::fs::copy(klein.join(qwen), model.join(qwen)).unwrap();
    let error = models::open(&model.join("diffusion_models/tiny_flux2.safetensors"), &[]).unwrap_err();
    assert!(error.to_string().contains("no Mistral encoder of width 64"), "{error}");
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents", "vae.decode.out"];
    check_half_precision(&fixture(), "horse", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    check_every_mode(&fixture(), "edited").unwrap();
    check_every_mode(&Fixture::new("flux2_dev", "salted"), "wide").unwrap();
}

#[test]
fn peaks_are_as_predicted() {
    for run in ["horse", "edited"] {
        check_forecasts(&fixture(), run, 0.95..1.1, 0.9..1.15).unwrap();
    }
}
