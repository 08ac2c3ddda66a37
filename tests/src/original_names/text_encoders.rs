//! Text encoders.

use candle_core::{Result, Tensor};

use super::Tensors;

/// The layers of a Mistral encoder of FLUX.2 that are read, as ComfyUI's files have them.
pub fn mistral(published: Tensors) -> Tensors {
    const PREFIX: &str = "language_model.model.";
    let number = |name: &str| name.strip_prefix("layers.")?.split_once('.')?.0.parse::<usize>().ok();
    let own = published.into_iter().filter_map(|(name, tensor)| {
        let name = name.strip_prefix(PREFIX)?.to_owned();
        (name != "norm.weight").then_some((name, tensor))
    });
    let own: Tensors = own.collect();
    let layers = own.keys().filter_map(|name| number(name)).max().map_or(0, |last| last + 1);
    let is_read = |(name, _): &(String, Tensor)| number(name).is_none_or(|number| number < layers * 3 / 4);
    own.into_iter().filter(is_read).map(|(name, tensor)| (format!("model.{name}"), tensor)).collect()
}

/// The language model of Ministral 3, as ComfyUI's files have it.
pub fn ministral(published: Tensors) -> Tensors {
    let own = published.into_iter();
    own.filter_map(|(name, tensor)| {
        Some((format!("model.{}", name.strip_prefix("language_model.model.")?), tensor))
    })
    .collect()
}

/// Queries or keys with heads of this width as llama.cpp stores them: the two halves of each head alternate.
pub fn alternating(tensor: &Tensor, head: usize) -> Result<Tensor> {
    let (rows, columns) = tensor.dims2()?;
    let halves = tensor.reshape((rows / head, 2, head / 2, columns))?;
    halves.transpose(1, 2)?.contiguous()?.reshape((rows, columns))
}

/// Layers of a CLIP text encoder: OpenCLIP's name and that of published folders.
const OPEN_CLIP: [(&str, &str); 10] = [
    ("transformer.resblocks.", "text_model.encoder.layers."),
    (".ln_1.", ".layer_norm1."),
    (".ln_2.", ".layer_norm2."),
    (".attn.out_proj.", ".self_attn.out_proj."),
    (".mlp.c_fc.", ".mlp.fc1."),
    (".mlp.c_proj.", ".mlp.fc2."),
    ("ln_final.", "text_model.final_layer_norm."),
    ("token_embedding.weight", "text_model.embeddings.token_embedding.weight"),
    ("positional_embedding", "text_model.embeddings.position_embedding.weight"),
    ("text_projection", "text_projection.weight"),
];

/// A CLIP text encoder under OpenCLIP's names: query, key and value are one matrix, and the projection is
/// transposed.
pub fn open_clip(published: &Tensors) -> Result<Tensors> {
    let mut original = Tensors::new();
    for (name, tensor) in published {
        let renamed = OPEN_CLIP.iter().fold(name.clone(), |name, (theirs, own)| name.replace(own, theirs));
        if let Some((block, parameter)) = renamed.split_once(".self_attn.q_proj.") {
            let parts: Vec<&Tensor> = ["q", "k", "v"]
                .iter()
                .map(|letter| &published[&name.replace("q_proj", &format!("{letter}_proj"))])
                .collect();
            original.insert(format!("{block}.attn.in_proj_{parameter}"), Tensor::cat(&parts, 0)?);
        } else if renamed == "text_projection" {
            original.insert(renamed, tensor.t()?.contiguous()?);
        } else if !renamed.contains(".self_attn.") {
            original.insert(renamed, tensor.clone());
        }
    }
    Ok(original)
}
