//! Prompts: tokenizers and text encoders.

mod qwen2_tokenizer;
mod qwen3;

pub use qwen2_tokenizer::Qwen2Tokenizer;
pub use qwen3::{Qwen3, Qwen3Config};
