//! Prompts: tokenizers and text encoders. CLIP also encodes images, and Qwen2.5-VL sees them. Anima's conditioner reads the
//! states of another encoder.

mod anima;
mod byte_level;
mod chunks;
mod clip;
mod clip_tokenizer;
mod clip_vision;
mod emphasis;
mod encoder;
mod language_model;
mod mistral;
mod mistral_tokenizer;
mod open_clip_names;
mod prompts;
mod qwen2_5_vl;
mod qwen2_tokenizer;
mod qwen3;
mod qwen3_vl;
mod qwen_vision;
mod sentencepiece;
mod t5;
mod t5_tokenizer;
mod tokenizer_files;
mod tokens;
mod umt5_names;

pub use anima::{AnimaConditioner, AnimaConditionerConfig};
pub use chunks::Cut;
pub use clip::{Clip, ClipConfig, ClipEncoder, ClipUse};
pub use clip_tokenizer::ClipTokenizer;
pub use clip_vision::{ClipVision, ClipVisionConfig};
pub use emphasis::{Piece, parse};
pub use encoder::{Encoded, Given, Manner, TextEncoder};
pub use language_model::{LanguageModelConfig, Layers, RopeParameters, RopeScaling, Seen};
pub use mistral::MistralChat;
pub use mistral_tokenizer::MistralTokenizer;
pub use prompts::encode;
pub use qwen_vision::{QwenVision, QwenVisionConfig, SeenSize, Shown};
pub use qwen2_5_vl::{Qwen25Vl, Told};
pub use qwen2_tokenizer::Qwen2Tokenizer;
pub use qwen3::{Qwen3Chat, Qwen3Plain};
pub use qwen3_vl::Qwen3Vl;
pub use t5::{T5, T5Config, T5Encoder};
pub use t5_tokenizer::T5Tokenizer;
pub use tokens::{Extent, Sequence, Tokens, Word};
