//! The family of models that an adapter looks as if it were for. It is only said, never acted on.

use super::AdapterFile;

/// What an adapter was trained for, by the names and widths of its layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guess {
    /// The family's name.
    pub family: &'static str,
}

/// Parts of layers' names that one family alone has, with dots and underscores alike.
const MARKS: [(&str, &[&str]); 9] = [
    ("FLUX.1", &["single_blocks", "single_transformer_blocks"]),
    ("Stable Diffusion 3", &["joint_blocks"]),
    ("Z-Image", &["noise_refiner", "context_refiner", "layers_0_attention_to_q", "layers_0_attention_qkv"]),
    ("Qwen-Image", &["transformer_blocks_0_txt_mlp", "transformer_blocks_0_img_mod"]),
    ("Wan", &["blocks_0_cross_attn", "blocks_0_self_attn"]),
    ("SDXL", &["lora_te2_text_model", "input_blocks_4_1_transformer_blocks_1", "add_embedding"]),
    ("SDXL", &["down_blocks_2_attentions_1_transformer_blocks_9"]),
    ("Stable Diffusion 3", &["transformer_blocks_0_attn_add_k_proj", "transformer_blocks_0_ff_context"]),
    ("FLUX.1", &["double_blocks_0"]),
];
/// Widths of the prompt's embeddings that a UNet reads.
const PROMPTS: [(usize, &str); 3] =
    [(768, "Stable Diffusion 1.5"), (1024, "Stable Diffusion 2"), (2048, "SDXL")];

/// The family that the names of a file's layers, or else their widths, say.
pub fn guess(file: &AdapterFile) -> Option<Guess> {
    let names: Vec<String> = file.layers.iter().map(|layer| layer.name.replace('.', "_")).collect();
    let marked =
        MARKS.iter().find(|(_, marks)| marks.iter().any(|mark| names.iter().any(|name| name.contains(mark))));
    if let Some((family, _)) = marked {
        return Some(Guess { family });
    }
    let of_prompts = file.layers.iter().zip(&names).find(|(_, name)| name.ends_with("attn2_to_k"));
    let width = of_prompts.and_then(|(layer, _)| layer.content.as_ref()?.dims().ok()).map(|[_, width]| width);
    let family = PROMPTS.iter().find(|(known, _)| Some(*known) == width);
    family.map(|(_, family)| Guess { family })
}
