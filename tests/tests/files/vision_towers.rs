//! Text encoders in llama.cpp's GGUF files, whose vision towers are in files of their own (`mmproj`).

use std::{fs, path::Path};

use candle_core::DType;
use sluice_engine::{
    models,
    precision::Format,
    request::{Describe, ModelSource, Request, Writing},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load, save},
    describe::write_images,
    golden::{MODULE, distance},
    original_names::Tensors,
    packed::{LANGUAGE_MODEL_IN_LLAMA, Packaged, package, renamed, write_gguf},
    runner::Runner,
};

/// llama.cpp's names for the parts of a tower; those of feed-forward layers and mergers differ.
const TOWER: [(&str, &str); 6] = [
    ("visual.blocks.", "v.blk."),
    ("visual.pos_embed.", "v.position_embd."),
    ("visual.patch_embed.proj.", "v.patch_embd."),
    ("attn.proj.", "attn_out."),
    (".norm1.", ".ln1."),
    (".norm2.", ".ln2."),
];
const OF_QWEN_2_5_VL: [(&str, &str); 6] = [
    ("mlp.gate_proj.", "ffn_gate."),
    ("mlp.up_proj.", "ffn_up."),
    ("mlp.down_proj.", "ffn_down."),
    ("visual.merger.ln_q.", "v.post_ln."),
    ("visual.merger.mlp.", "mm."),
    ("attn.qkv.", "attn_qkv."),
];
/// The only merger of DeepStack comes after the sixth layer.
const OF_QWEN3_VL: [(&str, &str); 8] = [
    ("visual.deepstack_merger_list.0.linear_", "v.deepstack.5."),
    ("visual.deepstack_merger_list.0.", "v.deepstack.5."),
    ("mlp.linear_fc1.", "ffn_up."),
    ("mlp.linear_fc2.", "ffn_down."),
    ("visual.merger.norm.", "v.post_ln."),
    ("visual.merger.linear_fc1.", "mm.0."),
    ("visual.merger.linear_fc2.", "mm.2."),
    ("attn.qkv.", "attn_qkv."),
];

/// Both files of a text encoder as llama.cpp writes them. The kernel of each frame of a patch is a tensor of its own; in
/// Qwen2.5-VL's towers so are queries, keys and values.
fn in_llama(tensors: &Tensors, tower: &[(&str, &str)], is_joined: bool) -> (Packaged, Packaged) {
    let (mut told, mut seeing) = (Tensors::new(), Tensors::new());
    for (name, tensor) in tensors {
        let Some((_, name)) = name.split_once("visual.") else {
            let name = name.replace("language_model.", "");
            if name != "lm_head.weight" {
                told.insert(name, tensor.clone());
            }
            continue;
        };
        let name = format!("visual.{name}");
        if name == "visual.patch_embed.proj.weight" {
            for (frame, end) in ["", ".1"].into_iter().enumerate() {
                let kernel = tensor.narrow(2, frame, 1).unwrap().squeeze(2).unwrap().contiguous().unwrap();
                seeing.insert(format!("{name}{end}"), kernel);
            }
        } else if name.contains(".qkv.") && !is_joined {
            let third = tensor.dim(0).unwrap() / 3;
            for (index, part) in ["q", "k", "v"].into_iter().enumerate() {
                let part_of = tensor.narrow(0, index * third, third).unwrap().contiguous().unwrap();
                seeing.insert(name.replace("attn.qkv.", &format!("attn_{part}.")), part_of);
            }
        } else {
            seeing.insert(name, tensor.clone());
        }
    }
    let plain = |tensors: &Tensors| package(tensors, |_, _| Format::F32.into()).unwrap();
    (renamed(&plain(&told), &LANGUAGE_MODEL_IN_LLAMA), renamed(&renamed(&plain(&seeing), tower), &TOWER))
}

/// Replaces the text encoder of a model by two GGUF files, and compares a run with that of the first file. Products of both
/// frames of a patch are summed in another order.
fn check(
    model: &Path,
    (fixture, run): (&Fixture, &str),
    encoder: &str,
    parts: (Packaged, Packaged),
    kind: &str,
) {
    let run = fixture.run(run).unwrap();
    let mut runner = Runner::start().unwrap();
    let (_, expected) = runner.repeat(&run, model).unwrap();
    let file = model.join(format!("text_encoders/{encoder}.safetensors"));
    fs::remove_file(&file).unwrap();
    write_gguf(&file.with_extension("gguf"), kind, &parts.0).unwrap();
    let tower = file.with_file_name(format!("mmproj-{encoder}-F16.gguf"));
    write_gguf(&tower, "clip", &parts.1).unwrap();
    let (_, found) = runner.repeat(&run, model).unwrap();
    assert_eq!(found.len(), expected.len());
    for (name, tensor) in &expected {
        distance(name, &tensor.to_dtype(DType::F64).unwrap(), &found[name], MODULE).unwrap();
    }
    let what = models::content(&tower).unwrap().what;
    assert!(what.starts_with("vision tower of Qwen"), "{what}");
}

#[test]
fn qwen_image_edits_with_the_tower_beside_its_gguf_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("qwen_image", "edit_several");
    let model = fixture.write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let denoiser = model.join("diffusion_models/tiny_qwen_image.safetensors");
    fs::rename(&denoiser, denoiser.with_file_name("qwen_image_edit_2509.safetensors")).unwrap();
    let encoder = "qwen_2.5_vl_7b";
    let tensors = load(&model.join(format!("text_encoders/{encoder}.safetensors"))).unwrap();
    let parts = in_llama(&tensors, &OF_QWEN_2_5_VL, false);
    check(&model, (&fixture, "two"), encoder, parts, "qwen2vl");
}

#[test]
fn longcat_image_edits_with_the_tower_beside_its_gguf_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("longcat", "edit");
    let model = fixture.write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let denoiser = model.join("diffusion_models/tiny_longcat.safetensors");
    fs::rename(&denoiser, denoiser.with_file_name("LongCat-Image-Edit.safetensors")).unwrap();
    let encoder = "qwen_2.5_vl_7b";
    let tensors = load(&model.join(format!("text_encoders/{encoder}.safetensors"))).unwrap();
    let parts = in_llama(&tensors, &OF_QWEN_2_5_VL, false);
    check(&model, (&fixture, "one"), encoder, parts, "qwen2vl");
}

#[test]
fn qwen_image_21_sees_with_the_tower_beside_its_gguf_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("qwen_image_21", "default");
    let model = fixture.write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let encoder = "qwen3vl_8b";
    let tensors = load(&model.join(format!("text_encoders/{encoder}.safetensors"))).unwrap();
    let parts = in_llama(&tensors, &OF_QWEN3_VL, true);
    check(&model, (&fixture, "one"), encoder, parts, "qwen3vl");
}

#[test]
fn a_gguf_language_model_describes_with_the_tower_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("qwen_image", "edit_several");
    let model = fixture.write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let file = model.join("text_encoders/qwen_2.5_vl_7b.safetensors");
    // Without a head of its own, as in models of this width.
    let mut tensors = load(&file).unwrap();
    tensors.retain(|name, _| !name.starts_with("lm_head."));
    save(&tensors, &file).unwrap();
    let mut runner = Runner::start().unwrap();
    let writing = Writing { instruction: "Describe it.".to_owned(), longest: 5, ..Writing::default() };
    let describe = Describe { images: write_images(folder.path()).unwrap(), writing, ..Describe::default() };
    let request = |file: &Path| Request {
        model: ModelSource::Path(file.to_owned()),
        describe: Some(describe.clone()),
        ..Request::default()
    };
    let (_, expected) = runner.dump(request(&file), None).unwrap();
    let (told, seeing) = in_llama(&tensors, &OF_QWEN_2_5_VL, false);
    let gguf = file.with_extension("gguf");
    write_gguf(&gguf, "qwen2vl", &told).unwrap();
    let job = runner.job(request(&gguf));
    let blind = runner.run(job).unwrap().failure().unwrap();
    assert!(blind.message.contains("sees no images"), "{blind:?}");
    assert!(blind.advice.as_ref().unwrap().contains("with its mmproj file in the same folder"), "{blind:?}");
    assert!(!models::content(&gguf).unwrap().sees_images);
    write_gguf(&file.with_file_name("mmproj-qwen_2.5_vl_7b-F16.gguf"), "clip", &seeing).unwrap();
    assert!(models::content(&gguf).unwrap().sees_images);
    let (_, found) = runner.dump(request(&gguf), None).unwrap();
    for (name, tensor) in &expected {
        distance(name, &tensor.to_dtype(DType::F64).unwrap(), &found[name], MODULE).unwrap();
    }
}
