//! Lists the contents of a folder with all kinds of files, from their headers only.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    checkpoint::{CheckpointError, Role},
    hardware::{MemoryAccount, metered},
    models::{Content, Finding, content, inventory},
    precision::Format,
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load, save},
    failures::write_header,
    original_names::Tensors,
    packed::{Packaged, package, write_gguf},
};

/// Files of each of the ten kinds.
const COPIES: usize = 20;
/// Size of the weights of a sparse file that has only a header.
const HOLLOW: u64 = 40 << 30;

fn tensors(names: &[(&str, &[usize])]) -> Tensors {
    let zeros = |shape: &[usize]| Tensor::zeros(shape, DType::BF16, &Device::Cpu).unwrap();
    names.iter().map(|(name, shape)| ((*name).to_owned(), zeros(shape))).collect()
}

/// A transformer of 12 billion weights: a complete header, and a hole instead of the weights.
fn hollow(path: &Path) {
    let side = 1 << 14;
    let bytes = 2 * side * side;
    let count = HOLLOW / bytes;
    let rows: Vec<String> = (0..count)
        .map(|index| {
            let (start, end) = (index * bytes, (index + 1) * bytes);
            let name = match index {
                0 => "vector_in.in_layer.weight".to_owned(),
                1 => "txt_in.weight".to_owned(),
                2 => "single_blocks.0.modulation.lin.weight".to_owned(),
                _ => format!("double_blocks.0.{index}.weight"),
            };
            format!(r#""{name}":{{"dtype":"F16","shape":[{side},{side}],"data_offsets":[{start},{end}]}}"#)
        })
        .collect();
    let header = format!("{{{}}}", rows.join(","));
    write_header(path, &header, 0).unwrap();
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(8 + header.len() as u64 + count * bytes).unwrap();
}

fn gguf(path: &Path, tensors: &Tensors) {
    let packaged: Packaged = package(tensors, |_, shape| match shape {
        [_, columns] if columns.is_multiple_of(32) => Format::Q8_0.into(),
        _ => Format::F32.into(),
    })
    .unwrap();
    write_gguf(path, "flux", &packaged).unwrap();
}

/// A folder of two hundred files, and the kind of each.
fn mixed(folder: &Path) -> BTreeMap<PathBuf, &'static str> {
    let parts = folder.join("parts");
    let model = Fixture::new("flux", "dev").write(&parts, Layout::Split, Stored::F32).unwrap();
    let part = |file: &str| load(&model.join(file)).unwrap();
    let (denoiser, clip) =
        (part("diffusion_models/tiny_flux.safetensors"), part("text_encoders/clip_l.safetensors"));
    let (t5, vae) = (part("text_encoders/t5xxl.safetensors"), part("vae/ae.safetensors"));
    let single = Fixture::new("z_image", "default")
        .write(&folder.join("single"), Layout::Single, Stored::F32)
        .unwrap();
    let lora = tensors(&[
        ("diffusion_model.double_blocks.12.img_attn.qkv.lora_A.weight", &[16, 64]),
        ("diffusion_model.double_blocks.12.img_attn.qkv.lora_B.weight", &[192, 16]),
        ("diffusion_model.single_blocks.30.linear1.lora_A.weight", &[16, 64]),
        ("diffusion_model.single_blocks.30.linear1.lora_B.weight", &[448, 16]),
    ]);
    let mut expected = BTreeMap::new();
    for copy in 0..COPIES {
        let mut file = |name: &str, what: &'static str| {
            let path = folder.join(format!("mixed/{}/{copy}-{name}", copy % 3));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            expected.insert(path.clone(), what);
            path
        };
        hollow(&file("large.safetensors", "FLUX.1 denoiser"));
        gguf(&file("denoiser.gguf", "FLUX.1 denoiser"), &denoiser);
        save(&clip, &file("clip.safetensors", "CLIP text encoder, width 64")).unwrap();
        save(&t5, &file("t5.sft", "T5 text encoder, width 64")).unwrap();
        save(&vae, &file("vae.safetensors", "autoencoder, 16 channels")).unwrap();
        let words = "Z-Image: denoiser, 1 text encoder, autoencoder";
        fs::copy(&single, file("all.safetensors", words)).unwrap();
        save(&lora, &file("lora.safetensors", "LoRA for FLUX.1, 2 matrices, rank 16")).unwrap();
        fs::write(file("old.ckpt", "it is a pickle"), b"\x80\x02}q\x00.").unwrap();
        // A pickle under another name, and a file without a header.
        fs::write(file("renamed.safetensors", "it is a pickle"), b"PK\x03\x04 archive of pickles").unwrap();
        fs::write(
            file("garbage.safetensors", "it is not a safetensors file: it does not begin with a header"),
            [0xa5; 999],
        )
        .unwrap();
    }
    fs::remove_dir_all(parts).unwrap();
    fs::remove_dir_all(folder.join("single")).unwrap();
    expected
}

#[test]
fn two_hundred_files_are_told_apart_by_their_headers() {
    let folder = tempfile::tempdir().unwrap();
    let expected = mixed(folder.path());
    assert_eq!(expected.len(), 200);
    fs::write(folder.path().join("mixed/notes.txt"), "to do").unwrap();
    let account = MemoryAccount::new();
    let found = metered(&account, || inventory(&folder.path().join("mixed")));
    assert_eq!((found.items.len(), found.others), (200, 1));
    for item in &found.items {
        let said = match &item.content {
            Finding::Content(content) => &content.what,
            Finding::Error(error) => error,
        };
        assert!(said.starts_with(expected[&item.path]), "{}: {said}", item.path.display());
    }
    let names: Vec<_> = found.items.iter().map(|item| &item.path).collect();
    assert!(names.is_sorted());
    // Reading the weights would mean 800 GiB.
    let large = found.items.iter().find(|item| item.path.ends_with("0/0-large.safetensors")).unwrap();
    let Finding::Content(large) = &large.content else { panic!("{large:?}") };
    let expected: u64 = HOLLOW;
    assert!(
        large.bytes >= expected && large.dtypes == BTreeMap::from([("F16".to_owned(), expected)]),
        "{large:?}"
    );
    assert_eq!((large.parameters, large.format.as_str()), (expected / 2, "safetensors"));
}

#[test]
fn a_diffusers_folder_and_numbered_files_are_one_item_each() {
    let folder = tempfile::tempdir().unwrap();
    Fixture::new("flux", "dev").write(&folder.path().join("flux"), Layout::Sharded, Stored::F32).unwrap();
    let shard = folder.path().join("flux/text_encoder_2");
    let numbered = folder.path().join("t5");
    fs::create_dir(&numbered).unwrap();
    for entry in fs::read_dir(shard).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            fs::copy(&path, numbered.join(path.file_name().unwrap())).unwrap();
        }
    }
    let found = inventory(folder.path());
    let rows: Vec<(String, String)> = found
        .items
        .iter()
        .map(|item| match &item.content {
            Finding::Content(Content { what, format, .. }) => (what.clone(), format.clone()),
            Finding::Error(error) => panic!("{error}"),
        })
        .collect();
    let expected = [
        ("FLUX.1: denoiser, 2 text encoders, autoencoder", "diffusers folder"),
        ("T5 text encoder, width 64", "safetensors, 3 files"),
    ];
    assert_eq!(rows, expected.map(|(what, format)| (what.to_owned(), format.to_owned())));
}

#[test]
fn what_is_no_model_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.safetensors");
    let says = |names: &[(&str, &[usize])]| {
        save(&tensors(names), &path).unwrap();
        let content = content(&path).unwrap();
        assert!(content.roles.is_empty() || !content.what.starts_with("not a model"), "{content:?}");
        content.what
    };
    let unknown = "not a model that Sluice supports";
    assert_eq!(says(&[("something.weight", &[2, 2])]), unknown);
    for (names, what) in [
        (["decoder.layers.0.weight", "encoder.layers.0.weight"], "TAESD, a small autoencoder for previews"),
        (["1.weight", "3.conv.0.weight"], "TAESD, a small autoencoder for previews"),
        (["model.1.sub.0.RDB1.conv1.0.weight", "model.0.weight"], "an upscaler"),
        (["body.0.rdb1.conv1.weight", "conv_first.weight"], "an upscaler"),
        (["control_model.input_blocks.0.0.weight", "a"], "a ControlNet"),
        (["emb_params", "a"], "a textual inversion"),
        (
            ["model.embed_tokens.weight", "model.layers.0.mlp.up_proj.weight"],
            "a language model of another kind",
        ),
    ] {
        assert_eq!(says(&names.map(|name| (name, &[2_usize, 2][..]))), format!("{unknown}: {what}"));
    }
    let kohya: [(&str, &[usize]); 3] = [
        ("lora_unet_double_blocks_12_img_attn_proj.lora_down.weight", &[4, 64]),
        ("lora_unet_double_blocks_12_img_attn_proj.lora_up.weight", &[64, 4]),
        ("lora_unet_double_blocks_12_img_attn_proj.alpha", &[]),
    ];
    assert_eq!(says(&kohya), "LoRA for FLUX.1, 1 matrix, rank 4");
    assert_eq!(
        says(&[("lora_te2_text_model.hada_w1_a", &[4, 4])]),
        "LoHa or LoKr for Stable Diffusion XL, 1 matrix"
    );

    fs::write(&path, "").unwrap();
    assert!(matches!(content(&path), Err(CheckpointError::EmptyFile { .. })));
    let text = folder.path().join("notes");
    fs::write(&text, "hello, this is no model").unwrap();
    assert!(matches!(content(&text), Err(CheckpointError::NotAModelFile { .. })));
    let model = Fixture::new("flux", "dev").write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let autoencoder = content(&model.join("vae/ae.safetensors")).unwrap();
    assert_eq!(autoencoder.roles, [Role::Autoencoder]);
}
