//! Finds the parts of a model regardless of file names and folders.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    checkpoint::{Checkpoint, CheckpointError, Role},
    models,
    precision::Format,
    session::SessionOptions,
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load, save},
    original_names::{Tensors, prefixed},
    packed::{GgufValue, Packaged, ScaleNames, package, write_gguf_values, write_safetensors},
    runner::Runner,
    twins::{bits, check_twins},
};

const DENOISER: &str = "diffusion_models/tiny_flux.safetensors";
const CLIP: &str = "text_encoders/clip_l.safetensors";
const T5: &str = "text_encoders/t5xxl.safetensors";
const VAE: &str = "vae/ae.safetensors";

fn split(folder: &Path) -> PathBuf {
    Fixture::new("flux", "schnell").write(folder, Layout::Split, Stored::F32).unwrap()
}

fn put(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::rename(from, to).unwrap();
}

/// The split model with its files moved to `places`.
fn arranged(folder: &Path, places: [&str; 4]) -> PathBuf {
    let model = split(folder);
    for (from, to) in [DENOISER, CLIP, T5, VAE].into_iter().zip(places) {
        put(&model.join(from), &model.join(to));
    }
    model
}

/// The names of the files that a model is read from.
fn files(model: &models::Model) -> Vec<String> {
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    model.components().flat_map(|component| component.files.iter().map(name)).collect()
}

#[test]
fn parts_are_found_around_a_file_as_programs_keep_them() {
    for (program, places) in [
        (
            "ComfyUI",
            [
                "diffusion_models/a.safetensors",
                "text_encoders/b.safetensors",
                "clip/c.safetensors",
                "vae/d.safetensors",
            ],
        ),
        (
            "ComfyUI, folders in folders",
            [
                "unet/flux/dev/a.safetensors",
                "clip/flux/b.safetensors",
                "clip/c.safetensors",
                "vae/flux/d.safetensors",
            ],
        ),
        (
            "Forge",
            [
                "Stable-diffusion/a.safetensors",
                "text_encoder/b.safetensors",
                "text_encoder/c.safetensors",
                "VAE/d.safetensors",
            ],
        ),
        ("all in one folder", ["a.safetensors", "b.safetensors", "c.safetensors", "d.sft"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = arranged(folder.path(), places).join(places[0]);
        for (tokenizer, encoder) in [("tokenizer", places[1]), ("tokenizer_2", places[2])] {
            let beside = folder.path().join(encoder).with_file_name(tokenizer);
            if !beside.exists() {
                put(&folder.path().join(tokenizer), &beside);
            }
        }
        let model = models::open(&path, &[]).unwrap_or_else(|error| panic!("{program}: {error}"));
        let last = places[3].rsplit('/').next().unwrap();
        assert_eq!(files(&model), ["b.safetensors", "c.safetensors", "a.safetensors", last], "{program}");
    }
}

/// Parts missing around a file are found in the user's folders, and give the same result.
#[test]
fn parts_are_found_in_named_folders() {
    let folder = tempfile::tempdir().unwrap();
    let whole = split(&folder.path().join("whole"));
    let places = [
        "here/old/things/models/mine/a.safetensors",
        "far/b.safetensors",
        "far/deep/er/c.safetensors",
        "else/vae.safetensors",
    ];
    let apart = arranged(&folder.path().join("apart"), places);
    put(&apart.join("tokenizer"), &apart.join("far/tokenizer"));
    put(&apart.join("tokenizer_2"), &apart.join("far/deep/er/tokenizer_2"));
    let path = apart.join(places[0]);
    let error = models::open(&path, &[]).unwrap_err();
    assert!(matches!(error, CheckpointError::MissingPart { role: Role::TextEncoder, .. }), "{error}");
    let folders = vec![apart.join("far"), apart.join("nowhere"), apart.join("else")];
    let error = models::open(&path, &folders[..2]).unwrap_err().to_string();
    for words in ["autoencoder", "a.safetensors", "16 channels", "models/vae", "far", "nowhere"] {
        assert!(error.contains(words), "{words} is not in {error}");
    }

    let run = Fixture::new("flux", "schnell").run("batch").unwrap();
    let (_, want) = Runner::start().unwrap().repeat(&run, &whole).unwrap();
    let options = SessionOptions { model_folders: folders, ..SessionOptions::default() };
    let (_, got) = Runner::with(options).unwrap().repeat(&run, &path).unwrap();
    assert_eq!(want.len(), got.len());
    for (name, want) in &want {
        assert!(bits(want) == bits(&got[name]), "{name}");
    }
}

#[test]
fn of_several_that_fit_the_more_precise_is_taken_then_the_first_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let model = split(folder.path());
    let tensors = load(&model.join(T5)).unwrap();
    let few = package(&tensors, |name, shape| match shape {
        [_, _] if name.contains("DenseReluDense") => Format::F8E4m3.into(),
        _ => Format::F32.into(),
    });
    let name = "text_encoders/a_t5xxl_fp8.safetensors";
    write_safetensors(&model.join(name), &few.unwrap(), ScaleNames::ScaleWeight).unwrap();
    // 32 bits are no better than 16.
    let halves: Tensors =
        tensors.iter().map(|(name, tensor)| (name.clone(), tensor.to_dtype(DType::BF16).unwrap())).collect();
    save(&halves, &model.join("text_encoders/b_t5xxl_bf16.safetensors")).unwrap();
    fs::copy(model.join(VAE), model.join("vae/z.safetensors")).unwrap();
    for path in [model.clone(), model.join(DENOISER)] {
        let taken = files(&models::open(&path, &[]).unwrap());
        let expected =
            ["clip_l.safetensors", "b_t5xxl_bf16.safetensors", "tiny_flux.safetensors", "ae.safetensors"];
        assert_eq!(taken, expected);
    }
}

/// A file with a whole model is not used for parts of another model, even if its autoencoder fits.
#[test]
fn whole_models_lend_no_parts() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("flux", "schnell");
    let single = fixture.write(folder.path(), Layout::Single, Stored::F32).unwrap();
    assert_eq!(models::open(&single, &[]).unwrap().layout.name(), "single file");
    let model = split(folder.path());
    fs::remove_file(model.join(VAE)).unwrap();
    let error = models::open(&model.join(DENOISER), &[folder.path().to_owned()]).unwrap_err();
    assert!(matches!(error, CheckpointError::MissingPart { role: Role::Autoencoder, .. }), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_is_told_only_where_it_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let model = split(folder.path());
    fs::write(model.join("text_encoders/a.safetensors"), [0; 64]).unwrap();
    fs::write(model.join("text_encoders/b.pt"), b"\x80\x02}q\x00.").unwrap();
    models::open(&model.join(DENOISER), &[]).unwrap();
    fs::remove_file(model.join(T5)).unwrap();
    let error = models::open(&model.join(DENOISER), &[]).unwrap_err();
    for words in ["T5 encoder of width 64", "text_encoders", "a.safetensors is damaged", "b.pt is a pickle"] {
        assert!(error.to_string().contains(words), "{words} is not in {error}");
    }
    assert!(error.advice().contains("--model-folder"), "{}", error.advice());
}

fn zeros(shape: &[usize]) -> Tensor {
    Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap()
}

/// The prefixes of all programs' single files, and the parts they give.
#[test]
fn single_files_are_taken_apart_by_prefixes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let parts = |names: &[&str]| -> Vec<(Role, Vec<String>)> {
        let tensors: Tensors = names.iter().map(|name| ((*name).to_owned(), zeros(&[2, 2]))).collect();
        save(&tensors, &path).unwrap();
        let parts = Checkpoint::of_file(&path).unwrap().parts;
        parts.into_iter().map(|part| (part.role, part.tensors.into_keys().collect())).collect()
    };
    let part = |role, names: &[&str]| (role, names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    use Role::{Autoencoder, Denoiser, TextEncoder};
    // Stable Diffusion 1.5; training-only tensors are left out.
    assert_eq!(
        parts(&[
            "model.diffusion_model.input_blocks.0.0.weight",
            "model_ema.decay",
            "betas",
            "first_stage_model.decoder.conv_in.weight",
            "cond_stage_model.transformer.text_model.final_layer_norm.weight",
            "cond_stage_model.logit_scale",
        ]),
        [
            part(Denoiser, &["input_blocks.0.0.weight"]),
            part(TextEncoder, &["text_model.final_layer_norm.weight"]),
            part(Autoencoder, &["decoder.conv_in.weight"]),
        ]
    );
    // Stable Diffusion 2.
    assert_eq!(
        parts(&[
            "model.diffusion_model.out.2.bias",
            "cond_stage_model.model.transformer.resblocks.0.ln_1.bias"
        ]),
        [part(Denoiser, &["out.2.bias"]), part(TextEncoder, &["transformer.resblocks.0.ln_1.bias"])]
    );
    // Stable Diffusion XL.
    assert_eq!(
        parts(&[
            "model.diffusion_model.label_emb.0.0.bias",
            "conditioner.embedders.0.transformer.text_model.final_layer_norm.bias",
            "conditioner.embedders.1.model.ln_final.bias",
            "conditioner.embedders.1.model.text_projection",
            "first_stage_model.quant_conv.bias",
        ]),
        [
            part(Denoiser, &["label_emb.0.0.bias"]),
            part(TextEncoder, &["text_model.final_layer_norm.bias"]),
            part(TextEncoder, &["ln_final.bias", "text_projection"]),
            part(Autoencoder, &["quant_conv.bias"]),
        ]
    );
    // Stable Diffusion 3 and later models in ComfyUI.
    assert_eq!(
        parts(&[
            "model.diffusion_model.joint_blocks.0.x_block.attn.proj.bias",
            "text_encoders.clip_l.logit_scale",
            "text_encoders.clip_l.transformer.text_projection.weight",
            "text_encoders.clip_g.transformer.text_projection.weight",
            "text_encoders.t5xxl.transformer.shared.weight",
            "text_encoders.qwen3_4b.transformer.model.norm.weight",
            "text_encoders.qwen3_4b.transformer.lm_head.weight",
            "vae.decoder.conv_in.bias",
        ]),
        [
            part(Denoiser, &["joint_blocks.0.x_block.attn.proj.bias"]),
            part(Autoencoder, &["decoder.conv_in.bias"]),
            part(TextEncoder, &["text_projection.weight"]),
            part(TextEncoder, &["text_projection.weight"]),
            // What makes words of states stays: the file may be chosen to write.
            part(TextEncoder, &["lm_head.weight", "norm.weight"]),
            part(TextEncoder, &["shared.weight"]),
        ]
    );
    // One component, with or without a prefix; its names give the role, whatever the folder.
    assert_eq!(parts(&["diffusion_model.img_in.weight"]), [part(Denoiser, &["img_in.weight"])]);
    assert_eq!(parts(&["img_in.weight"]), [part(Denoiser, &["img_in.weight"])]);
    assert_eq!(parts(&["decoder.conv_in.weight"]), [part(Autoencoder, &["decoder.conv_in.weight"])]);
    assert_eq!(parts(&["model.embed_tokens.weight"]), [part(TextEncoder, &["embed_tokens.weight"])]);
    assert_eq!(parts(&["shared.weight"]), [part(TextEncoder, &["shared.weight"])]);
}

/// Splits a file into `count` shards, with neighbours in different shards.
fn numbered(path: &Path, tensors: &Tensors, count: usize, write: impl Fn(&Path, usize, &Tensors)) -> PathBuf {
    let mut shares = vec![Tensors::new(); count];
    for (index, (name, tensor)) in tensors.iter().enumerate() {
        shares[index % count].insert(name.clone(), tensor.clone());
    }
    let stem = path.file_stem().unwrap().to_string_lossy();
    let extension = path.extension().unwrap().to_string_lossy();
    let name = |number: usize| path.with_file_name(format!("{stem}-{number:05}-of-{count:05}.{extension}"));
    for (index, share) in shares.iter().enumerate() {
        write(&name(index + 1), index, share);
    }
    name(1)
}

#[test]
fn numbered_files_draw_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let whole = split(&folder.path().join("whole"));
    let model = split(&folder.path().join("numbered"));
    let (denoiser, t5) = (load(&model.join(DENOISER)).unwrap(), load(&model.join(T5)).unwrap());
    fs::remove_file(model.join(DENOISER)).unwrap();
    fs::remove_file(model.join(T5)).unwrap();
    let first = numbered(&model.join(DENOISER), &denoiser, 3, |path, _, share| save(share, path).unwrap());
    // Only the first of llama.cpp's shards has the architecture.
    let values = |index: usize| -> Vec<(&str, GgufValue)> {
        let architecture = ("general.architecture", GgufValue::Text("t5encoder".to_owned()));
        [architecture]
            .into_iter()
            .filter(|_| index == 0)
            .chain([("split.no", GgufValue::Number(index as u32))])
            .collect()
    };
    let llama: BTreeMap<&str, &str> = [("encoder.block.", "enc.blk."), ("shared.", "token_embd.")].into();
    let renamed: Tensors = t5
        .into_iter()
        .map(|(name, tensor)| (llama.iter().fold(name, |name, (from, to)| name.replace(from, to)), tensor))
        .collect();
    let gguf = model.join("text_encoders/t5xxl.gguf");
    numbered(&gguf, &renamed, 2, |path, index, share| {
        let share: Packaged = package(share, |_, _| Format::F32.into()).unwrap();
        write_gguf_values(path, &values(index), &share).unwrap();
    });
    let run = Fixture::new("flux", "schnell").run("batch").unwrap();
    for path in
        [model.clone(), first.clone(), model.join("diffusion_models/tiny_flux-00002-of-00003.safetensors")]
    {
        check_twins(&path.display().to_string(), &run, &path, &whole.join(DENOISER)).unwrap();
    }
    let gone = model.join("diffusion_models/tiny_flux-00003-of-00003.safetensors");
    fs::remove_file(&gone).unwrap();
    let error = models::open(&first, &[]).unwrap_err();
    assert!(matches!(&error, CheckpointError::MissingShard { shard, .. } if *shard == gone), "{error}");
}

/// The denoiser of a single file may come without other components.
#[test]
fn prefixes_of_a_lone_denoiser_make_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    let model = split(folder.path());
    let tensors = load(&model.join(DENOISER)).unwrap();
    let want = files(&models::open(&model.join(DENOISER), &[]).unwrap());
    for prefix in ["model.diffusion_model.", "diffusion_model."] {
        save(&prefixed(prefix, tensors.clone()), &model.join(DENOISER)).unwrap();
        assert_eq!(files(&models::open(&model.join(DENOISER), &[]).unwrap()), want);
    }
}
