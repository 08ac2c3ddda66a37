//! The tokenizers that come with the program, and those in models.

use std::{fs, io::Read, path::Path};

use flate2::read::GzDecoder;
use serde::Deserialize;
use sluice_engine::{
    checkpoint::{Checkpoint, Part, asset, read_vocabulary},
    text::{ClipTokenizer, GptOssTokenizer, MistralTokenizer, Qwen2Tokenizer, T5Tokenizer},
};
use sluice_tests::{
    checkpoint::{fixtures, read_json},
    packed::{GgufValue, Packaged, write_gguf_values},
};

const START: u32 = 49_406;
const END: u32 = 49_407;
/// Longer than any of the texts.
const LONG: usize = 700;

#[derive(Deserialize)]
struct Row {
    text: String,
    clip: Vec<u32>,
    t5: Vec<u32>,
    mistral: Vec<u32>,
    gpt_oss: Vec<u32>,
}

fn rows() -> Vec<Row> {
    read_json(&fixtures().join("tokenizers.json")).unwrap()
}

fn filled(ids: impl IntoIterator<Item = u32>, padding: u32) -> Vec<u32> {
    let mut ids: Vec<u32> = ids.into_iter().collect();
    ids.resize(LONG, padding);
    ids
}

/// A text with literal brackets instead of weights.
fn literal(text: &str) -> String {
    let is_special = |letter: &char| matches!(letter, '(' | ')' | '[' | ']' | '\\');
    text.chars().flat_map(|letter| is_special(&letter).then_some('\\').into_iter().chain([letter])).collect()
}

fn clip_ids(tokenizer: &ClipTokenizer, text: &str, length: usize) -> Vec<u32> {
    tokenizer.first(&literal(text), length).unwrap().sequences[0].ids.clone()
}

fn t5_ids(tokenizer: &T5Tokenizer, text: &str, length: usize) -> Vec<u32> {
    tokenizer.padded(&literal(text), length).unwrap().sequences[0].ids.clone()
}

#[test]
fn the_published_mistral_tokenizer_gives_what_mistral_common_gives() {
    let tokenizer = MistralTokenizer::published().unwrap();
    for Row { text, mistral, .. } in rows() {
        let ids = tokenizer.encode_chat("", &text).unwrap();
        let want = [1, 17, 18, 3].into_iter().chain(mistral).chain([4]);
        assert_eq!(ids, want.collect::<Vec<u32>>(), "{text:?}");
    }
}

#[test]
fn the_published_gpt_oss_tokenizer_gives_what_tiktoken_gives() {
    let tokenizer = GptOssTokenizer::published().unwrap();
    for Row { text, gpt_oss, .. } in rows() {
        assert_eq!(tokenizer.encode(&text).unwrap(), gpt_oss, "{text:?}");
    }
}

#[test]
fn the_published_clip_tokenizer_gives_what_transformers_gives() {
    let tokenizer = ClipTokenizer::published("<|endoftext|>").unwrap();
    for Row { text, clip, .. } in rows() {
        let want = filled([START].into_iter().chain(clip).chain([END]), END);
        assert_eq!(clip_ids(&tokenizer, &text, LONG), want, "{text:?}");
    }
    // OpenCLIP pads with a meaningless token after a single end token.
    let padded = clip_ids(&ClipTokenizer::published("!").unwrap(), "a", 5);
    assert_eq!(padded, [START, 320, END, 0, 0]);
}

#[test]
fn the_published_t5_tokenizer_gives_what_transformers_gives() {
    check_t5(&T5Tokenizer::published().unwrap());
}

fn check_t5(tokenizer: &T5Tokenizer) {
    for Row { text, t5, .. } in rows() {
        let want = filled(t5.into_iter().chain([1]), 0);
        assert_eq!(t5_ids(tokenizer, &text, LONG), want, "{text:?}");
    }
    assert_eq!(t5_ids(tokenizer, "<extra_id_0> a", 3), [32_099, 3, 1]);
}

fn published_pieces() -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = fs::File::open(asset("tokenizers/t5/spiece.model.gz").unwrap()).unwrap();
    GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_spiece_model_beside_a_model_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spiece.model");
    fs::write(&path, published_pieces()).unwrap();
    check_t5(&T5Tokenizer::load(folder.path(), 32_128).unwrap());
    fs::write(&path, "no pieces").unwrap();
    let error = T5Tokenizer::load(folder.path(), 32_128).unwrap_err();
    assert!(error.to_string().contains("spiece.model"), "{error}");
}

fn encoder(path: &Path) -> (Checkpoint, Part) {
    let checkpoint = Checkpoint::of_file(path).unwrap();
    let part = checkpoint.parts[0].clone();
    (checkpoint, part)
}

/// For a GGUF encoder of unknown size the tokenizer must be in the file; without one, the error names the
/// missing files.
#[test]
fn a_tokenizer_in_a_gguf_file_is_used_where_nothing_else_fits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("encoder.gguf");
    let text = |text: &str| GgufValue::Text(text.to_owned());
    let texts = |texts: &[&str]| GgufValue::Texts(texts.iter().map(|text| (*text).to_owned()).collect());
    let pieces = ["<pad>", "</s>", "<unk>", "\u{2581}", "\u{2581}fo", "x", "fox", "\u{2581}fox"];
    let values = [
        ("tokenizer.ggml.model", text("t5")),
        ("tokenizer.ggml.tokens", texts(&pieces)),
        ("tokenizer.ggml.scores", GgufValue::Floats(vec![0.0, 0.0, 0.0, -2.0, -3.0, -4.0, -9.0, -8.0])),
    ];
    write_gguf_values(&path, &values, &Packaged::new()).unwrap();
    let carried = read_vocabulary(&path).unwrap().unwrap();
    assert_eq!((carried.kind.as_str(), carried.tokens.len(), carried.scores[4]), ("t5", 8, -3.0));
    let (checkpoint, part) = encoder(&path);
    let tokenizer = T5Tokenizer::find(&checkpoint, &part, "tokenizer_2", 300).unwrap();
    // "▁fo" and "x" together are likelier than "▁fox".
    assert_eq!(t5_ids(&tokenizer, "fox fo", 6), [4, 5, 4, 1, 0, 0]);

    let values = [
        ("tokenizer.ggml.model", text("gpt2")),
        ("tokenizer.ggml.tokens", texts(&["a", "b", "ab", "<|im_start|>", "<|im_end|>"])),
        ("tokenizer.ggml.merges", texts(&["a b"])),
    ];
    write_gguf_values(&path, &values, &Packaged::new()).unwrap();
    let (checkpoint, part) = encoder(&path);
    let tokenizer = Qwen2Tokenizer::find(&checkpoint, &part, 5).unwrap();
    assert_eq!(tokenizer.encode_chat("abba", "").unwrap(), [3, 2, 1, 0, 4, 3, 0, 0]);
    assert!(Qwen2Tokenizer::find(&checkpoint, &part, 4).unwrap_err().to_string().contains("5 tokens"));

    write_gguf_values(&path, &[], &Packaged::new()).unwrap();
    assert_eq!(read_vocabulary(&path).unwrap(), None);
    let error = Qwen2Tokenizer::find(&checkpoint, &part, 5).unwrap_err();
    assert!(error.to_string().contains("tokenizer"), "{error}");
}
