//! IP-Adapters for UNets (Ye et al. 2023, arXiv:2308.06721): each block of a spatial transformer also attends to tokens of
//! images, with keys and values of their own.

use super::{
    Unet,
    control_net::kind_of,
    nodes::{Kind, Node},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    models::{ImageTokens, SeenImages},
    nn::{Result, Tensor},
    residency::{Blocks, RunError, Weights},
};

/// Prefix of the names of keys and values in files.
const PREFIX: &str = "ip_adapter.";
/// Keys and values of images.
const PROJECTIONS: [&str; 2] = ["to_k_ip", "to_v_ip"];
/// IP-Adapters that need something else of an image, by part of a name.
const OTHERS: [(&str, &str); 3] = [
    ("lora", "it is for FaceID, which needs another network that recognises faces"),
    ("perceiver_resampler", "it is for FaceID, which needs another network that recognises faces"),
    ("image_proj.proj.0.", "it is for full faces or FaceID, which are projected in another way"),
];
/// What other files are.
const STRANGER: &str = "it is no IP-Adapter: it has no keys and values of images";
/// What names of an IP-Adapter for a transformer have.
const OF_TRANSFORMERS: [&str; 2] = ["double_blocks.", "ip_adapter"];

/// Which models the IP-Adapter in `tensors` is for, if it is one for a UNet.
pub fn ip_adapter_for(tensors: &TensorTable) -> Option<String> {
    is_ip_adapter(tensors).then(|| kind_of(prompt_width(tensors)))
}

fn is_ip_adapter(tensors: &TensorTable) -> bool {
    let keys = tensors.keys().any(|name| name.starts_with(PREFIX) && name.contains(PROJECTIONS[0]));
    keys && tensors.keys().any(|name| name.starts_with("image_proj."))
}

/// Width of the tokens that the keys in `tensors` are made of.
fn prompt_width(tensors: &TensorTable) -> Option<usize> {
    tensors.get(&format!("{PREFIX}1.{}.weight", PROJECTIONS[0]))?.shape().get(1).copied()
}

/// The keys and values of the IP-Adapter in a part of a checkpoint, for a network: a block for each of its transformer
/// blocks, in their order.
///
/// # Errors
/// When it is none that fits the network, or a tensor is missing or has another shape.
pub fn open(part: &Part, unet: &Unet) -> std::result::Result<Component, CheckpointError> {
    let refused = |reason: String| CheckpointError::IpAdapter { path: part.path.clone(), reason };
    let has = |word: &str| part.tensors.keys().any(|name| name.contains(word));
    if !is_ip_adapter(&part.tensors) {
        let is_of_transformer = OF_TRANSFORMERS.iter().all(|word| has(word));
        let why = if is_of_transformer { "it is for FLUX.1" } else { STRANGER };
        return Err(refused(why.to_owned()));
    }
    if let Some((_, why)) = OTHERS.iter().find(|(word, _)| has(word)) {
        return Err(refused((*why).to_owned()));
    }
    let transformers: Vec<(&Node, usize)> = transformers(unet).collect();
    let [own, wanted] = [prompt_width(&part.tensors), Some(unet.config.cross_attention_dim)];
    let count = part.tensors.keys().filter(|name| name.contains(PROJECTIONS[0])).count();
    if own != wanted || count != transformers.len() {
        let [own, wanted] = [own, wanted].map(kind_of);
        return Err(refused(match own == wanted {
            true => format!(
                "it is for a network with {count} blocks of attention, and the model has {}",
                transformers.len()
            ),
            false => format!("it is for {own}, and the model is {wanted}"),
        }));
    }
    let specs = transformers.iter().map(|(node, width)| {
        let spec = BlockSpec {
            prefix: format!("{}.attn2.", node.name),
            ..BlockSpec::new(format!("{}.images", node.name))
        };
        let seen = unet.config.cross_attention_dim;
        PROJECTIONS.iter().fold(spec, |spec, name| spec.matrix(name, *width, seen))
    });
    let specs: Vec<BlockSpec> = specs.collect();
    let places = places(&transformers);
    let stored = |name: &str| {
        let place =
            transformers.iter().position(|(node, _)| name.starts_with(&format!("{}.attn2.", node.name)));
        let layer = name.rsplit('.').nth(1).unwrap_or_default();
        // Attention to the image itself is counted, too, and has no tensors.
        StoredName::whole(format!(
            "{PREFIX}{}.{layer}.weight",
            2 * place.map_or(0, |place| places[place]) + 1
        ))
    };
    Component::bind(Role::Denoiser, "IP-Adapter", &specs, &part.tensors, stored, &part.path)
}

/// The nodes with transformer blocks, and their widths.
fn transformers(unet: &Unet) -> impl Iterator<Item = (&Node, usize)> {
    unet.nodes.iter().filter_map(|node| match node.kind {
        Kind::Transformer { width, .. } => Some((node, width)),
        _ => None,
    })
}

/// Where files have each of the transformer blocks: those in the middle come last.
fn places(transformers: &[(&Node, usize)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..transformers.len()).collect();
    order.sort_by_key(|&number| transformers[number].0.name.starts_with("mid_block"));
    let mut places = vec![0; order.len()];
    order.into_iter().enumerate().for_each(|(place, number)| places[number] = place);
    places
}

/// Number of blocks of an IP-Adapter for a network.
pub fn blocks(unet: &Unet) -> usize {
    transformers(unet).count()
}

/// Computes the keys and values of images with the blocks of an IP-Adapter.
pub fn prepare(
    unet: &Unet,
    blocks: Blocks<'_>,
    tokens: &ImageTokens,
) -> std::result::Result<SeenImages, RunError> {
    let branches = tokens.branches.iter().map(|tokens| tokens.to_dtype(blocks.dtype()));
    let branches = branches.collect::<Result<Vec<_>>>()?;
    let mut seen: Vec<Vec<[Tensor; 2]>> = vec![Vec::new(); branches.len()];
    blocks.walk(0..self::blocks(unet), |_, w| {
        let both = keys_and_values(w, PROJECTIONS, branches.iter())?;
        seen.iter_mut().zip(both).for_each(|(seen, both)| seen.push(both));
        Ok(())
    })?;
    Ok(SeenImages { seen, weight: tokens.weight, levels: tokens.levels })
}

/// Keys and values `[1, tokens, width]` of the tokens `[tokens, width]` of each guidance branch. Each matrix is read once for
/// all.
pub fn keys_and_values<'a>(
    w: &Weights,
    names: [&str; 2],
    branches: impl Iterator<Item = &'a Tensor> + Clone,
) -> Result<Vec<[Tensor; 2]>> {
    let project = |name: &str| -> Result<Vec<Tensor>> {
        branches.clone().map(|tokens| w.linear(name, &tokens.unsqueeze(0)?)).collect()
    };
    let (keys, values) = (project(names[0])?, project(names[1])?);
    Ok(keys.into_iter().zip(values).map(Into::into).collect())
}
