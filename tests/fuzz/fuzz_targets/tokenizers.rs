//! Files of tokenizers. The first byte of an input chooses between `tokenizer.json`, the pair `vocab.json` and `merges.txt` with
//! a zero between them, and `spiece.model`.
#![no_main]

use std::path::Path;

use sluice_engine::text::{ClipTokenizer, Qwen2Tokenizer, T5Tokenizer};

const PROMPT: &str = "a red boat, (fog:1.2) BREAK two  Füchse, 狐 🦊 <|endoftext|>";
/// Embeddings of T5.
const EMBEDDINGS: usize = 32_128;

libfuzzer_sys::fuzz_target!(init: sluice_fuzz::let_panics_be_caught(), |bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 3 {
        0 => {
            let folder = sluice_fuzz::with_files("whole", &[("tokenizer.json", bytes)]);
            clip(&folder);
            if let Ok(tokenizer) = Qwen2Tokenizer::load(&folder) {
                let _ = (tokenizer.encode(PROMPT), tokenizer.encode_chat(PROMPT, ""), tokenizer.bytes_of(7));
            }
            t5(&folder);
        }
        1 => {
            let mut parts = bytes.splitn(2, |byte| *byte == 0);
            let mut part = || parts.next().unwrap_or_default();
            let (tokens, merges) = (part(), part());
            clip(&sluice_fuzz::with_files("pairs", &[("vocab.json", tokens), ("merges.txt", merges)]));
        }
        _ => t5(&sluice_fuzz::with_files("pieces", &[("spiece.model", bytes)])),
    }
});

/// An error is as good as tokens.
fn clip(folder: &Path) {
    if let Ok(tokenizer) = ClipTokenizer::load(folder) {
        let _ = (tokenizer.chunks(PROMPT, 77), tokenizer.first(PROMPT, 77));
    }
}

fn t5(folder: &Path) {
    if let Ok(tokenizer) = T5Tokenizer::load(folder, EMBEDDINGS) {
        let _ = tokenizer.padded(PROMPT, 32);
    }
}
