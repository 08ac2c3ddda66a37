//! A language model against transformers: its chat template, its scores, and how it goes on.

use std::{fs, path::Path};

use anyhow::Result;
use candle_core::{Device, Tensor};
use sluice_engine::{
    checkpoint::{Checkpoint, CheckpointError, read_notes},
    memory::Placement,
    models::{Model, Used, open_language_model},
    precision::Format,
    residency::{Blocks, Executor},
    text::Writer,
};
use sluice_tests::{
    checkpoint::{fixtures, load, save},
    golden::{distance, ids},
    stores::on_processor,
    writer::{INSTRUCTION, PROMPT, THINKING, TOKENS, values, weights, write, write_tensors},
};

/// Allowed distance, relative to the largest value.
const TOLERANCE: f64 = 2e-5;
/// Of scores, one of so many is in the reference.
const KEPT: usize = 4;

/// What a model answers if the likeliest token is always taken, and the scores of each.
fn answer(
    model: &Model,
    placement: Placement,
    chat: &[u32],
    longest: usize,
) -> Result<(Vec<u32>, Vec<Vec<f32>>)> {
    let Used { part, network } = model.writer().unwrap();
    let store = on_processor(model.parts[part].component.clone(), placement);
    let executor = Executor::default();
    let (mut tokens, mut all) = (Vec::new(), Vec::new());
    network.answer(Blocks::stored(&executor, &store), (chat, &[]), longest, &mut |scores| {
        all.push(scores.to_vec());
        let likeliest = (0..scores.len()).max_by(|one, other| scores[*one].total_cmp(&scores[*other]));
        tokens.extend(likeliest.map(|token| token as u32));
        tokens.last().copied()
    })?;
    Ok((tokens, all))
}

fn opened(folder: &Path, format: Format) -> Model {
    let file = folder.join("tiny.gguf");
    write(&file, format).unwrap();
    open_language_model(&file).unwrap()
}

fn writer(model: &Model) -> std::sync::Arc<Writer> {
    model.writer().unwrap().network
}

fn golden_ids(name: &str) -> Vec<u32> {
    let golden = load(&fixtures().join("writer/golden.safetensors")).unwrap();
    ids(&golden[name]).unwrap().into_iter().map(|id| id as u32).collect()
}

#[test]
fn a_language_model_goes_on_as_in_transformers() {
    let path = fixtures().join("writer/golden.safetensors");
    let golden = load(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let model = opened(folder.path(), Format::F16);
    let chat = writer(&model).tokenize(INSTRUCTION, PROMPT).unwrap();
    assert_eq!(chat, golden_ids("chat"), "the answer is begun without thinking");
    let want = golden_ids("answer");
    for placement in [Placement::Resident, Placement::Streamed] {
        let (tokens, scores) = answer(&model, placement, &chat, want.len()).unwrap();
        assert_eq!(tokens, want, "{placement:?}");
        for (name, scores) in [("first", scores.first()), ("last", scores.last())] {
            let kept: Vec<f32> = scores.unwrap().iter().step_by(KEPT).copied().collect();
            let kept = Tensor::new(kept, &Device::Cpu).unwrap();
            let distance = distance(name, &golden[&format!("scores.{name}")], &kept, TOLERANCE).unwrap();
            println!("{placement:?}, {name} scores: {distance:.2e}");
        }
        // Each of the later scores was made of what is kept of the tokens before; here all of them are read again.
        for count in [1, 7, want.len() - 1] {
            let whole = [&chat, &want[..count]].concat();
            let (_, again) = answer(&model, placement, &whole, 1).unwrap();
            let [kept, again] = [&scores[count], &again[0]]
                .map(|scores| Tensor::new(scores.as_slice(), &Device::Cpu).unwrap());
            distance(&format!("after {count} tokens"), &again, &kept, TOLERANCE).unwrap();
        }
    }
    let text = read_notes(&path).unwrap().remove("text").unwrap();
    assert_eq!(writer(&model).text(&want), text);
    // The token that ends a turn, the second of those that were added, is no part of the text.
    assert_eq!(writer(&model).text(&[&want[..], &[568]].concat()), text);
}

#[test]
fn what_a_chat_template_says_about_thinking_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let tensors = weights().unwrap();
    let chat = |name: &str, template: &str| {
        let file = folder.path().join(name);
        write_tensors(&file, &tensors, &values(template).unwrap(), Format::F16).unwrap();
        writer(&open_language_model(&file).unwrap()).tokenize(INSTRUCTION, PROMPT).unwrap()
    };
    assert_eq!(chat("a.gguf", "{{ messages }}"), golden_ids("chat.thinking"));
    assert_eq!(chat("a.gguf", THINKING), golden_ids("chat"));
    assert_eq!(chat("Qwen3-0.6B-Q8_0.gguf", ""), golden_ids("chat"));
    assert_eq!(chat("Qwen3-4B-Instruct-2507-Q4_K_M.gguf", ""), golden_ids("chat.thinking"));
}

#[test]
fn files_of_transformers_and_models_with_a_head_of_their_own_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let tensors = weights().unwrap();
    let chat = golden_ids("chat");
    let want = answer(&opened(folder.path(), Format::F32), Placement::Resident, &chat, 3).unwrap();

    let published = folder.path().join("published");
    fs::create_dir_all(&published).unwrap();
    for name in ["tokenizer.json", "tokenizer_config.json"] {
        fs::copy(fixtures().join("z_image/tokenizer").join(name), published.join(name)).unwrap();
    }
    save(&tensors, &published.join("model.safetensors")).unwrap();
    let config = serde_json::json!({
        "vocab_size": TOKENS, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "rms_norm_eps": 1e-5, "rope_theta": 5e6,
    });
    fs::write(published.join("config.json"), config.to_string()).unwrap();
    let model = open_language_model(&published).unwrap();
    assert_eq!(writer(&model).tokenize(INSTRUCTION, PROMPT).unwrap(), chat, "its template is beside it");
    assert_eq!(answer(&model, Placement::Resident, &chat, 3).unwrap(), want);

    // A head of its own: that of a model without one, turned around.
    let mut with_head = tensors.clone();
    with_head.insert("lm_head.weight".to_owned(), (&tensors["model.embed_tokens.weight"] * -1.0).unwrap());
    let file = folder.path().join("head.gguf");
    write_tensors(&file, &with_head, &values(THINKING).unwrap(), Format::F32).unwrap();
    let (_, scores) = answer(&open_language_model(&file).unwrap(), Placement::Resident, &chat, 1).unwrap();
    let turned: Vec<f32> = scores[0].iter().map(|score| -score).collect();
    assert_eq!(turned, want.1[0]);
}

#[test]
fn quantized_models_answer_the_same_wherever_their_weights_are() {
    let folder = tempfile::tempdir().unwrap();
    let chat = golden_ids("chat");
    let model = opened(folder.path(), Format::Q8_0);
    let resident = answer(&model, Placement::Resident, &chat, 8).unwrap();
    assert_eq!(resident, answer(&model, Placement::Streamed, &chat, 8).unwrap());
    let (_, exact) = answer(&opened(folder.path(), Format::F16), Placement::Resident, &chat, 1).unwrap();
    let [exact, near] =
        [&exact[0], &resident.1[0]].map(|scores| Tensor::new(scores.as_slice(), &Device::Cpu).unwrap());
    distance("8 bits", &exact, &near, 0.03).unwrap();
}

#[test]
fn an_answer_ends_with_its_token_or_when_it_is_long_enough() {
    let folder = tempfile::tempdir().unwrap();
    let model = opened(folder.path(), Format::F16);
    let (chat, want) = (golden_ids("chat"), golden_ids("answer"));
    let Used { part, network } = model.writer().unwrap();
    let store = on_processor(model.parts[part].component.clone(), Placement::Resident);
    let executor = Executor::default();
    let blocks = Blocks::stored(&executor, &store);
    let asked = |longest: usize, ends: Option<usize>| {
        let mut asked = 0;
        let mut next = |_: &[f32]| {
            asked += 1;
            // The token that ends a turn is the second of those that were added.
            if ends == Some(asked) { Some(568) } else { want.get(asked - 1).copied() }
        };
        network.answer(blocks, (&chat, &[]), longest, &mut next).unwrap();
        asked
    };
    assert_eq!(asked(5, None), 5);
    assert_eq!(asked(5, Some(3)), 3);
    assert_eq!(asked(100, None), want.len() + 1, "nothing more is chosen");
}

#[test]
fn what_is_no_language_model_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let tensors = weights().unwrap();
    let refused = |name: &str| match open_language_model(&folder.path().join(name)).map(|_| ()) {
        Err(error) => error.to_string(),
        Ok(()) => panic!("{name} was opened"),
    };
    let file = |name: &str| folder.path().join(name);

    let mut llama = values(THINKING).unwrap();
    llama[0].1 = sluice_tests::packed::GgufValue::Text("llama".to_owned());
    write_tensors(&file("llama.gguf"), &tensors, &llama, Format::F16).unwrap();
    let said = refused("llama.gguf");
    assert!(
        said.contains(
            "cannot write prompts: it is a model of the kind \"llama\", not one of qwen2vl, qwen3, qwen3vl"
        ),
        "{said}"
    );

    let mut encoder = tensors.clone();
    encoder.remove("model.norm.weight");
    save(&encoder, &file("encoder.safetensors")).unwrap();
    assert!(refused("encoder.safetensors").contains("its last norm is missing"));

    let mut wide = tensors.clone();
    let embeddings = Tensor::zeros((4, 3584), candle_core::DType::F16, &Device::Cpu).unwrap();
    wide.insert("model.embed_tokens.weight".to_owned(), embeddings);
    save(&wide, &file("wide.safetensors")).unwrap();
    assert!(refused("wide.safetensors").contains("its last layer, lm_head, is missing"));

    let mut incomplete = tensors.clone();
    incomplete.remove("model.layers.1.mlp.up_proj.weight");
    save(&incomplete, &file("incomplete.safetensors")).unwrap();
    assert!(refused("incomplete.safetensors").contains("layers.1.mlp.up_proj.weight"));

    save(&tensors, &file("mute.safetensors")).unwrap();
    assert!(refused("mute.safetensors").contains("tokenizer"), "{}", refused("mute.safetensors"));

    fs::write(file("damaged.gguf"), b"GGUF\x03\0\0\0").unwrap();
    assert!(refused("damaged.gguf").contains("damaged.gguf"));
    write(&file("whole.gguf"), Format::F16).unwrap();
    let whole = fs::read(file("whole.gguf")).unwrap();
    fs::write(file("cut.gguf"), &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(open_language_model(&file("cut.gguf")), Err(CheckpointError::Truncated { .. })));

    assert!(refused("nothing.gguf").contains("nothing.gguf"));
    assert!(refused("").contains("the folder has several files"));
    fs::create_dir(file("empty")).unwrap();
    assert!(refused("empty").contains("the folder has no weights"));
    assert!(Checkpoint::of_file(&file("whole.gguf")).is_ok());
}
