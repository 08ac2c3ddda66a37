//! The byte-level tokenizer of Llama 3. It comes under the licence of its models, and not with this program.

use std::path::PathBuf;

use tokenizers::{Tokenizer, models::bpe::Merges};

use super::byte_level::{ByteLevelKind, ByteLevelTokenizer, Pairs, letters_of_bytes};
use crate::checkpoint::{Checkpoint, CheckpointError, Part, Role};

/// The token that texts begin with.
const START: &str = "<|begin_of_text|>";
/// The token that an answer of the published models ends with. HiDream pads prompts with it.
const END: &str = "<|eot_id|>";
const SPECIAL: [&str; 5] = [START, "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", END];
/// How text is split before merging.
const WORDS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const KIND: ByteLevelKind = ByteLevelKind {
    words: WORDS,
    is_normalized: false,
    keeps_words: true,
    special: &SPECIAL,
    published: None,
};

/// Turns prompts into token ids.
#[derive(Debug)]
pub struct LlamaTokenizer {
    tokenizer: ByteLevelTokenizer,
    end: u32,
}

impl LlamaTokenizer {
    /// Loads the tokenizer for a text encoder with this many embeddings, as [`ByteLevelTokenizer::find`] does. Of a model
    /// without files, only the number of tokens matters, and [`bytes`](Self::bytes) is taken.
    pub fn find(
        checkpoint: &Checkpoint,
        encoder: &Part,
        name: &str,
        vocab_size: usize,
    ) -> Result<Self, CheckpointError> {
        if encoder.is_hollow() {
            return Self::bytes();
        }
        match ByteLevelTokenizer::find(&KIND, checkpoint, encoder, name, vocab_size) {
            Ok(found) => Self::new(found),
            Err(CheckpointError::MissingPart { model, role: Role::TextEncoder, .. }) => {
                let folder = match encoder.path.is_file() {
                    true => encoder.path.with_extension(""),
                    false => checkpoint.root.join(name),
                };
                let expected = format!(
                    "the tokenizer of Llama 3.1 comes under that model's licence and not with this program; put \
                     tokenizer.json of Llama 3.1 8B Instruct into {}, or take the text encoder as GGUF, which contains it",
                    folder.display()
                );
                let (looked, unreadable) = (Vec::new(), Vec::new());
                Err(CheckpointError::MissingPart {
                    model,
                    role: Role::TextEncoder,
                    expected,
                    looked,
                    unreadable,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// A stand-in with one token for each byte.
    ///
    /// # Errors
    /// None that files could cause.
    pub fn bytes() -> Result<Self, CheckpointError> {
        let letters = letters_of_bytes().into_iter().map(String::from);
        let tokens = letters.chain(SPECIAL.map(str::to_owned)).zip(0..).collect();
        let pairs = Pairs { path: PathBuf::new(), tokens, merges: Merges::new() };
        Self::new(ByteLevelTokenizer::of(&KIND, pairs)?)
    }

    fn new(tokenizer: ByteLevelTokenizer) -> Result<Self, CheckpointError> {
        tokenizer.id_of(START)?;
        Ok(Self { end: tokenizer.id_of(END)?, tokenizer })
    }

    /// The underlying tokenizer.
    pub fn inner(&self) -> &Tokenizer {
        self.tokenizer.inner()
    }

    /// The token ids of a text, with the start token, in which special tokens may be written out.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, CheckpointError> {
        self.tokenizer.encode(&format!("{START}{text}"))
    }

    /// The end token.
    pub fn end(&self) -> u32 {
        self.end
    }
}
