//! Tokenizers of published models, as folders for diffusers and transformers.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tokenizers::{Model, Tokenizer, processors::template::TemplateProcessing};

use sluice_engine::{
    checkpoint::CheckpointError,
    models::PublishedTokenizer,
    text::{ClipTokenizer, GptOssTokenizer, LlamaTokenizer, MistralTokenizer, Qwen2Tokenizer, T5Tokenizer},
};

/// The chat template: a user's turn, and the beginning of the answer.
const CHAT: &str = "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content + \
                    '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' \
                    }}{%- endif %}";
/// The same of Mistral Small 3, whose messages are lists of texts.
const MISTRAL_CHAT: &str = "{{- bos_token }}{%- for message in messages %}{%- if message.role == 'system' %}{{- \
                            '[SYSTEM_PROMPT]' }}{%- for part in message.content %}{{- part.text }}{%- endfor %}{{- \
                            '[/SYSTEM_PROMPT]' }}{%- else %}{{- '[INST]' }}{%- for part in message.content %}{{- \
                            part.text }}{%- endfor %}{{- '[/INST]' }}{%- endif %}{%- endfor %}";

/// Writes the files of a tokenizer into an existing folder.
///
/// # Errors
/// Fails if the program's own files cannot be read or the new ones cannot be written.
pub fn write(tokenizer: PublishedTokenizer, folder: &Path) -> Result<(), CheckpointError> {
    let failed = |source| CheckpointError::Write { path: folder.to_owned(), source };
    let config = match tokenizer {
        PublishedTokenizer::Clip => clip("<|endoftext|>", folder)?,
        PublishedTokenizer::OpenClip => clip("!", folder)?,
        PublishedTokenizer::T5 => {
            let mut tokenizer = T5Tokenizer::published()?.inner().clone();
            around(&mut tokenizer, "$A </s>", ("</s>", 1));
            save(&tokenizer, folder)?;
            json!({
                "tokenizer_class": "T5TokenizerFast", "eos_token": "</s>", "pad_token": "<pad>",
                "unk_token": "<unk>", "extra_ids": 100, "model_max_length": 512,
            })
        }
        PublishedTokenizer::GptOss => {
            save(GptOssTokenizer::published()?.inner(), folder)?;
            json!({
                "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|startoftext|>",
                "eos_token": "<|return|>", "pad_token": "<|endoftext|>", "model_max_length": 131_072,
            })
        }
        PublishedTokenizer::Mistral => {
            save(MistralTokenizer::published()?.inner(), folder)?;
            json!({
                "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
                "pad_token": "<pad>", "padding_side": "left", "model_max_length": 131_072,
                "chat_template": MISTRAL_CHAT,
            })
        }
        PublishedTokenizer::Bytes => {
            let mut tokenizer = LlamaTokenizer::bytes()?.inner().clone();
            let start = "<|begin_of_text|>";
            let id = tokenizer.token_to_id(start).unwrap_or_default();
            around(&mut tokenizer, &format!("{start} $A"), (start, id));
            save(&tokenizer, folder)?;
            json!({
                "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": start, "eos_token": "<|eot_id|>",
                "model_max_length": 131_072,
            })
        }
        PublishedTokenizer::Qwen2 => {
            save(Qwen2Tokenizer::published()?.inner(), folder)?;
            json!({
                "tokenizer_class": "Qwen2TokenizerFast", "eos_token": "<|im_end|>",
                "pad_token": "<|endoftext|>", "model_max_length": 131_072, "chat_template": CHAT,
            })
        }
    };
    fs::write(folder.join("tokenizer_config.json"), format!("{config:#}\n")).map_err(failed)
}

/// The class that reads it, as in `model_index.json`.
pub fn class(tokenizer: PublishedTokenizer) -> &'static str {
    match tokenizer {
        PublishedTokenizer::Clip | PublishedTokenizer::OpenClip => "CLIPTokenizer",
        PublishedTokenizer::T5 => "T5TokenizerFast",
        PublishedTokenizer::Mistral | PublishedTokenizer::Bytes | PublishedTokenizer::GptOss => {
            "PreTrainedTokenizerFast"
        }
        PublishedTokenizer::Qwen2 => "Qwen2Tokenizer",
    }
}

/// Lets a tokenizer add a token to each text, as the template says.
fn around(tokenizer: &mut Tokenizer, template: &str, token: (&str, u32)) {
    let template = TemplateProcessing::builder()
        .try_single(template)
        .map(|builder| builder.special_tokens(vec![token]).build());
    if let Ok(Ok(template)) = template {
        tokenizer.with_post_processor(Some(template));
    }
}

/// Byte pairs in two files, as in published folders.
fn clip(padding: &str, folder: &Path) -> Result<Value, CheckpointError> {
    let tokenizer = ClipTokenizer::published(padding)?;
    let saved = tokenizer.inner().get_model().save(folder, None);
    saved.map_err(|error| not_written(folder, &error))?;
    Ok(json!({
        "tokenizer_class": "CLIPTokenizer", "bos_token": "<|startoftext|>", "eos_token": "<|endoftext|>",
        "unk_token": "<|endoftext|>", "pad_token": padding, "do_lower_case": true, "model_max_length": 77,
    }))
}

fn save(tokenizer: &Tokenizer, folder: &Path) -> Result<(), CheckpointError> {
    tokenizer.save(folder.join("tokenizer.json"), false).map_err(|error| not_written(folder, &error))
}

fn not_written(folder: &Path, error: &tokenizers::Error) -> CheckpointError {
    CheckpointError::Write { path: folder.to_owned(), source: std::io::Error::other(error.to_string()) }
}
