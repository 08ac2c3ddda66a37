//! Qwen-Image against diffusers: its transformer alone, and whole runs through the session, stage by stage.

use std::{cell::Cell, path::Path, sync::Arc};

use candle_core::Tensor;
use sluice_engine::{
    checkpoint::{CheckpointError, Component, Part, Role, read_header, read_json},
    memory::Placement,
    models::{
        self, ClipControl, Conditioning, Denoiser, DenoiserInput, LatentShape, PrepareInput,
        qwen_image::{QwenImageConfig, QwenImageTransformer},
    },
    nn::{self, Computes, DType, Trace, computed::Bf16Instruction},
    request::{Canvas, Request},
    residency::{Blocks, Executor, TracedBlocks},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, fixtures, load, manifest_tensors, save},
    golden::{MODULE, compare},
    modes::{
        check_every_mode, check_forecasts, check_forecasts_in_f32, check_forecasts_of, check_half_precision,
    },
    original_names::Tensors,
    parity::{check_case, check_layouts},
    stores::on_processor,
};

/// Pixels per latent.
const SCALE: usize = 8;
/// The runs of every case: images of different shapes and numbers, each after two prompts.
const RUNS: [&str; 2] = ["wide", "tall"];

/// A transformer of the fixtures, and diffusers' results.
struct Case {
    transformer: QwenImageTransformer,
    component: Component,
    golden: Tensors,
}

/// The part of a case, with its weights in a file in `folder`.
fn part(name: &str, folder: &Path) -> Part {
    let fixture = fixtures().join("transformer").join(name);
    let (_, tensors) = manifest_tensors(&fixture).unwrap().pop_first().unwrap();
    let path = folder.join("weights.safetensors");
    save(&tensors, &path).unwrap();
    Part {
        role: Role::Denoiser,
        tensors: read_header(&path).unwrap(),
        config: Some(read_json(&fixture.join("config.json")).unwrap()),
        path,
        loose: Arc::default(),
    }
}

impl Case {
    fn open(name: &str, part: &Part) -> Self {
        let (transformer, component) = QwenImageTransformer::open(part, SCALE).unwrap();
        let golden = load(&fixtures().join("transformer").join(name).join("golden.safetensors")).unwrap();
        Self { transformer, component, golden }
    }

    fn sigma(&self, run: &str) -> f32 {
        self.golden[&format!("{run}.sigma")].to_vec1().unwrap()[0]
    }

    /// The predictions for `run`, with the noise levels of all runs prepared; `input` returns a tensor of the
    /// fixtures.
    fn outputs(
        &self,
        run: &str,
        blocks: Blocks<'_>,
        input: impl Fn(&Tensor) -> nn::Tensor,
    ) -> Vec<nn::Tensor> {
        let given = |name: &str| input(&self.golden[&format!("{run}.{name}")]);
        let branch = |name| Conditioning::new(given(name));
        let branches = ["prompt.0", "prompt.1"].map(branch);
        let (latents, sigmas) = (given("latents"), RUNS.map(|run| self.sigma(run)));
        let (_, channels, height, width) = latents.dims4().unwrap();
        let input = PrepareInput {
            branches: &branches,
            sigmas: &sigmas,
            guidance: 4.0,
            latents: LatentShape::image(channels, height, width),
            pixels: [height * SCALE, width * SCALE],
            frame_rate: 16.0,
            clean: 0,
            later: Vec::new(),
            image: None,
            control: ClipControl::default(),
            references: &[],
            controls: &[],
            image_tokens: &[],
        };
        let prepared = self.transformer.prepare(blocks, &input).unwrap();
        let input = DenoiserInput { latents: &latents, sigma: self.sigma(run), beside: None, clean: 0 };
        self.transformer.predict(blocks, &input, &prepared).unwrap()
    }

    /// [`Case::outputs`] of all runs, computed in f32, by their names in the fixtures.
    fn computed(&self, placement: Placement) -> Tensors {
        let (store, executor) = (on_processor(self.component.clone(), placement), Executor::default());
        let mut found = Tensors::new();
        for run in RUNS {
            let blocks = Blocks::stored(&executor, &store);
            let outputs = self.outputs(run, blocks, |values| values.clone().into());
            for (branch, output) in outputs.into_iter().enumerate() {
                found.insert(format!("{run}.out.{branch}"), output.into_computed().unwrap());
            }
        }
        assert_eq!(found.len(), 4);
        found
    }
}

fn same(expected: &Tensors, found: &Tensors) {
    assert!(expected.keys().eq(found.keys()));
    for (name, tensor) in expected {
        let bits = |tensor: &Tensor| -> Vec<u32> {
            let values: Vec<f32> = tensor.flatten_all().unwrap().to_vec1().unwrap();
            values.into_iter().map(f32::to_bits).collect()
        };
        assert!(bits(tensor) == bits(&found[name]), "{name}");
    }
}

#[test]
fn the_transformer_gives_what_diffusers_gives() {
    for name in ["qwen_image", "qwen_image_salted", "qwen_image_faint"] {
        let folder = tempfile::tempdir().unwrap();
        let case = Case::open(name, &part(name, folder.path()));
        let resident = case.computed(Placement::Resident);
        for output in resident.keys() {
            let distance = compare(output, &case.golden, &resident, MODULE).unwrap();
            println!("{name} {output}: {distance:.1e}");
        }
        same(&resident, &case.computed(Placement::Streamed));
    }
}

/// Files for ComfyUI and GGUF files have no configuration.
#[test]
fn shapes_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    let part = part("qwen_image", folder.path());
    let configured = Case::open("qwen_image", &part);
    let found = Case::open("qwen_image", &Part { config: None, ..part });
    same(&configured.computed(Placement::Resident), &found.computed(Placement::Resident));
}

/// A traced run passes through every block once, reads every weight and has the shapes of a computed run.
#[test]
fn a_traced_run_asks_for_every_weight() {
    let folder = tempfile::tempdir().unwrap();
    let case = Case::open("qwen_image", &part("qwen_image", folder.path()));
    let trace = Trace::new(Computes::here());
    for run in RUNS {
        let blocks = TracedBlocks::new(&trace, &case.component, DType::F32);
        let outputs = case.outputs(run, blocks.blocks(), |values| trace.tensor(values.dims(), DType::F32));
        let expected = case.golden[&format!("{run}.latents")].dims();
        assert!(outputs.iter().all(|output| output.dims() == expected));
        assert!(blocks.unread().is_empty(), "{:?}", blocks.unread());
        assert!(blocks.take().iter().all(|block| block.passes == 1 && block.operations > 0.0));
    }
}

#[test]
fn models_for_layers_are_refused() {
    for field in ["use_additional_t_cond", "use_layer3d_rope"] {
        let folder = tempfile::tempdir().unwrap();
        let mut part = part("qwen_image", folder.path());
        part.config.as_mut().unwrap()[field] = true.into();
        let error = QwenImageTransformer::open(&part, SCALE).unwrap_err();
        assert!(matches!(error, CheckpointError::OtherTask { .. }), "{error}");
    }
}

/// References through the vision tower and through the autoencoder: in the first model the same size for both, in later
/// ones several, in the last one without noise.
#[test]
fn edited_images_are_what_diffusers_gives() {
    for case in ["edit", "edit_several", "edit_2511"] {
        check_case("qwen_image", case).unwrap();
    }
}

#[test]
fn models_that_edit_are_told_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let write = |case: &str, layout, name: &str| {
        Fixture::new("qwen_image", case).write(&folder.path().join(name), layout, Stored::F32).unwrap()
    };
    let most = |path: &Path| models::open(path, &[]).unwrap().references().map(|takes| takes.most);
    assert_eq!(most(&write("edit", Layout::Diffusers, "one")), Some(1));
    assert_eq!(most(&write("edit_several", Layout::Diffusers, "several")), Some(3));
    assert_eq!(most(&write("default", Layout::Diffusers, "none")), None);
    let mut before =
        write("edit_several", Layout::Split, "split").join("diffusion_models/tiny_qwen_image.safetensors");
    assert_eq!(most(&before), None);
    for (name, expected) in [
        ("Qwen-Image-Edit-Q4_0", Some(1)),
        ("qwen_image_edit_2509_bf16", Some(3)),
        ("Qwen-Image-Edit-2511", Some(3)),
    ] {
        let named = before.with_file_name(format!("{name}.safetensors"));
        std::fs::rename(&before, &named).unwrap();
        assert_eq!(most(&named), expected, "{name}");
        before = named;
    }
}

#[test]
fn sizes_are_those_of_packed_latents() {
    let transformer = QwenImageTransformer::new(QwenImageConfig::default(), SCALE);
    assert_eq!(transformer.size_multiple(), 16);
    let canvas = Canvas { width: 1328, height: 1056, frames: 1, references: 0, later_images: 0 };
    assert_eq!(transformer.latents(canvas), LatentShape::image(16, 132, 166));
}

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("qwen_image", "default").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("qwen_image", "salted").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    let fixture = Fixture::new("qwen_image", "default");
    check_layouts(&fixture, &fixture.run("guided").unwrap()).unwrap();
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents", "vae.decode.out"];
    check_half_precision(&Fixture::new("qwen_image", "default"), "guided", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    for (case, run) in [
        ("default", "guided"),
        ("default", "filled_in"),
        ("salted", "tall"),
        ("edit_several", "two"),
        ("edit_2511", "three"),
    ] {
        check_every_mode(&Fixture::new("qwen_image", case), run).unwrap();
    }
}

#[test]
fn peaks_are_as_predicted() {
    check_forecasts(&Fixture::new("qwen_image", "default"), "guided", 0.95..1.1, 0.9..1.15).unwrap();
    // Prompts that were encoded before would leave out the vision tower, which has the peak.
    let prompts = Cell::new(0);
    let new_prompt = |request: Request| {
        prompts.set(prompts.get() + 1);
        Request { prompt: format!("{} {}", request.prompt, prompts.get()), ..request }
    };
    let fixture = Fixture::new("qwen_image", "edit_several");
    // By pairs of AVX-512, that is over in bf16 before the language model's blocks are there: 1.8 of 11.2 MB.
    match Bf16Instruction::detect() {
        Some(Bf16Instruction::Pairs) => {
            check_forecasts_in_f32(&fixture, "two", 0.95..1.1, 0.9..1.15, new_prompt).unwrap();
        }
        _ => check_forecasts_of(&fixture, "two", 0.95..1.1, 0.9..1.15, new_prompt).unwrap(),
    }
}
