//! What makes tokens of images for IP-Adapters (Ye et al. 2023, arXiv:2308.06721): CLIP's image encoder, and a projection of
//! what it gives.

use std::path::{Path, PathBuf};

use super::clip_vision::ClipVision;
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Mask, Result, Tensor, attention, gelu},
    residency::{Blocks, RunError, Weights},
};

/// Prefix of the names of the projection.
const PREFIX: &str = "image_proj.";
/// Added to the variance in the norms of the projection.
const EPS: f64 = 1e-5;
/// Width of the heads of a resampler.
const HEAD: usize = 64;
/// Where image encoders are kept below a folder around that of the adapter: as h94/IP-Adapter has them, and ComfyUI.
const PLACES: [&str; 3] = ["models/image_encoder", "models/clip_vision", "image_encoder"];
/// How many folders around an adapter may have them.
const AROUND: usize = 4;

/// CLIP's image encoder with the projection of an IP-Adapter. The weights come from a store.
#[derive(Debug, Clone)]
pub struct ImagePrompter {
    encoder: ClipVision,
    projection: Projection,
}

/// What makes tokens of an encoded image.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Projection {
    /// A layer that makes them of the embedding of the whole image.
    OfEmbedding {
        /// Values of the embedding.
        values: usize,
        /// Number of tokens.
        tokens: usize,
        /// Width of a token.
        width: usize,
    },
    /// Tokens that attend to the states of the image, layer by layer, as in a Perceiver (Jaegle et al. 2021,
    /// arXiv:2103.03206).
    Resampler {
        /// Width of the states.
        states: usize,
        /// Number of tokens.
        tokens: usize,
        /// Width inside.
        inside: usize,
        /// Width of all heads together.
        heads: usize,
        /// Width inside the feed-forward layers.
        inner: usize,
        /// Number of layers.
        layers: usize,
        /// Width of a token.
        width: usize,
    },
}

impl Projection {
    /// The projection in `tensors`, if there is one of a known kind.
    fn of(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(&format!("{PREFIX}{name}.weight")).map(|tensor| tensor.shape());
        if let (Some(&[outputs, values]), Some(&[width])) = (shape("proj"), shape("norm")) {
            return Some(Self::OfEmbedding { values, tokens: outputs / width.max(1), width });
        }
        let &[inside, states] = shape("proj_in")? else { return None };
        Some(Self::Resampler {
            states,
            tokens: *tensors.get(&format!("{PREFIX}latents"))?.shape().get(1)?,
            inside,
            heads: *shape("layers.0.0.to_q")?.first().filter(|width| width.is_multiple_of(HEAD))?,
            inner: *shape("layers.0.1.1")?.first()?,
            layers: (0..).take_while(|layer| shape(&format!("layers.{layer}.0.to_q")).is_some()).count(),
            width: *shape("norm_out")?.first()?,
        })
    }

    /// Whether it can read what the encoder in `tensors` gives.
    fn reads(&self, tensors: &TensorTable) -> bool {
        match self {
            Self::OfEmbedding { values, .. } => ClipVision::embedding(tensors) == Some(*values),
            Self::Resampler { states, .. } => ClipVision::width(tensors) == Some(*states),
        }
    }

    /// The encoder that it was trained with, and where it is published.
    fn wanted(&self) -> String {
        let published = |name: &str, folder: &str| {
            format!("{name} (model.safetensors in {folder}/image_encoder of h94/IP-Adapter)")
        };
        match self {
            Self::OfEmbedding { values: 1024, .. } | Self::Resampler { states: 1280, .. } => {
                published("CLIP ViT-H", "models")
            }
            Self::OfEmbedding { values: 1280, .. } | Self::Resampler { states: 1664, .. } => {
                published("CLIP ViT-bigG", "sdxl_models")
            }
            Self::OfEmbedding { values, .. } => {
                format!("a CLIP image encoder with embeddings of {values} values")
            }
            Self::Resampler { states, .. } => format!("a CLIP image encoder of width {states}"),
        }
    }

    /// The blocks of the encoder that it needs, then its own.
    fn blueprint(&self, encoder: &ClipVision) -> Vec<BlockSpec> {
        let spec =
            |name: &str| BlockSpec { prefix: PREFIX.to_owned(), ..BlockSpec::new(format!("{PREFIX}{name}")) };
        match *self {
            Self::OfEmbedding { values, tokens, width } => {
                let mut blocks = encoder.config().blueprint_to_embedding(values);
                blocks.push(spec("proj").linear("proj", tokens * width, values).norm("norm", width));
                blocks
            }
            Self::Resampler { states, tokens, inside, heads, inner, layers, width } => {
                let mut blocks = encoder.config().blueprint();
                blocks.push(
                    spec("proj_in").tensor("latents", &[1, tokens, inside]).linear("proj_in", inside, states),
                );
                blocks.extend((0..layers).map(|layer| {
                    BlockSpec::new(format!("{PREFIX}layers.{layer}"))
                        .norm("0.norm1", inside)
                        .norm("0.norm2", inside)
                        .matrix("0.to_q", heads, inside)
                        .matrix("0.to_k", heads, inside)
                        .matrix("0.to_v", heads, inside)
                        .matrix("0.to_out", inside, heads)
                        .norm("1.0", inside)
                        .matrix("1.1", inner, inside)
                        .matrix("1.3", inside, inner)
                }));
                blocks.push(spec("proj_out").linear("proj_out", width, inside).norm("norm_out", width));
                blocks
            }
        }
    }
}

impl ImagePrompter {
    /// Opens the IP-Adapter in a file, and finds the image encoder that it was trained with near it or in `folders`.
    ///
    /// # Errors
    /// When it is no IP-Adapter, there is no such encoder, a configuration is wrong, or a tensor is missing or has the wrong
    /// shape.
    pub fn open(path: &Path, folders: &[PathBuf]) -> std::result::Result<(Self, Component), CheckpointError> {
        let around = path.ancestors().skip(1).take(AROUND);
        let near =
            around.flat_map(|folder| PLACES.map(|place| folder.join(place))).filter(|place| place.is_dir());
        let folders: Vec<PathBuf> = near.chain(folders.iter().cloned()).collect();
        let mut checkpoint = Checkpoint::open(path, &folders)?;
        let own = checkpoint.parts.first().map(|part| part.tensors.clone()).unwrap_or_default();
        let Some(projection) = Projection::of(&own) else {
            let reason = "it has no projection of images of a known kind".to_owned();
            return Err(CheckpointError::IpAdapter { path: path.to_owned(), reason });
        };
        loop {
            let fits = |part: &&Part| projection.reads(&part.tensors);
            if let Some(part) = checkpoint.candidates(Role::TextEncoder).find(fits) {
                let encoder = ClipVision::of(part)?;
                let mut tensors = part.tensors.clone();
                tensors.extend(own);
                let component = Component::bind(
                    Role::TextEncoder,
                    "CLIP vision and IP-Adapter",
                    &projection.blueprint(&encoder),
                    &tensors,
                    stored_name,
                    path,
                )?;
                return Ok((Self { encoder, projection }, component));
            }
            if !checkpoint.look_further(Role::TextEncoder) {
                let (adapter, wanted) = (path.to_owned(), projection.wanted());
                return Err(CheckpointError::NoImageEncoder { adapter, wanted });
            }
        }
    }

    /// Pixels along each side of the images that it reads.
    pub fn side(&self) -> usize {
        self.encoder.config().image_size
    }

    /// The tokens `[tokens, width]` of normalized images `[images, 3, side, side]`, one image after the other. If they are for
    /// a guided prediction, those that its negative branch reads follow: of an embedding of zeros or, for a resampler, of an
    /// image of zeros.
    ///
    /// # Errors
    /// When the walk stops early.
    pub fn encode(
        &self,
        blocks: Blocks<'_>,
        images: &Tensor,
        is_guided: bool,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let count = images.dim(0)?;
        let mut x = images.to_dtype(blocks.dtype())?;
        let with_zeros = |x: &Tensor| match is_guided {
            true => Tensor::cat(&[x, &x.narrow(0, 0, 1)?.zeros_like()?], 0),
            false => Ok(x.clone()),
        };
        let layers = self.encoder.config().num_hidden_layers;
        match self.projection {
            Projection::OfEmbedding { tokens, width, .. } => blocks.walk(0..layers + 3, |index, w| {
                x = if index <= layers {
                    self.encoder.pass(w, index, &x)?
                } else if index == layers + 1 {
                    with_zeros(&self.encoder.embedded(w, &x)?)?
                } else {
                    let all = w.linear("proj", &x)?.reshape((x.dim(0)?, tokens, width))?;
                    w.layer_norm("norm", &all, EPS)?
                };
                Ok(())
            })?,
            Projection::Resampler { layers: own, .. } => {
                x = with_zeros(&x)?;
                let mut latents = x.clone();
                blocks.walk(0..layers + own + 2, |index, w| {
                    if index < layers {
                        x = self.encoder.pass(w, index, &x)?;
                    } else if index == layers {
                        // A copy: what is read from a block must not outlive its pass, and one alone would not be copied.
                        let own = w.get("latents")?.affine(1.0, 0.0)?;
                        latents = Tensor::cat(&vec![own; x.dim(0)?], 0)?;
                        x = w.linear("proj_in", &x)?;
                    } else if index <= layers + own {
                        latents = resampled(w, &x, &latents)?;
                    } else {
                        x = w.layer_norm("norm_out", &w.linear("proj_out", &latents)?, EPS)?;
                    }
                    Ok(())
                })?;
            }
        }
        let (_, tokens, width) = x.dims3()?;
        let mut branches = vec![x.narrow(0, 0, count)?.contiguous()?.reshape((count * tokens, width))?];
        if is_guided {
            branches.push(x.narrow(0, count, 1)?.squeeze(0)?.contiguous()?);
        }
        Ok(branches)
    }
}

/// The tokens after a layer of a resampler, which attend to the states of an image and to themselves.
fn resampled(w: &Weights, x: &Tensor, latents: &Tensor) -> Result<Tensor> {
    let own = w.layer_norm("0.norm2", latents, EPS)?;
    let seen = Tensor::cat(&[w.layer_norm("0.norm1", x, EPS)?, own.clone()], 1)?;
    let split = |x: Tensor| x.reshape((x.dim(0)?, x.dim(1)?, (), HEAD));
    let q = split(w.linear("0.to_q", &own)?)?;
    let (k, v) = (split(w.linear("0.to_k", &seen)?)?, split(w.linear("0.to_v", &seen)?)?);
    let attended = attention(&q, &k, &v, Mask::None)?.flatten_from(2)?;
    let latents = (latents + w.linear("0.to_out", &attended)?)?;
    let inner = gelu(&w.linear("1.1", &w.layer_norm("1.0", &latents, EPS)?)?)?;
    latents + w.linear("1.3", &inner)?
}

/// The name in published files, where keys and values are one matrix.
fn stored_name(name: &str) -> StoredName {
    for (own, parts) in [(".to_k.", 0..1), (".to_v.", 1..2)] {
        if name.starts_with(PREFIX) && name.contains(own) {
            return StoredName::part(name.replace(own, ".to_kv."), parts, 2);
        }
    }
    ClipVision::published_name(name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use candle_core::{DType, Device, Tensor as Values};

    use super::*;

    #[test]
    fn a_resampler_has_heads_of_the_usual_width() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plus.safetensors");
        for (heads, is_known) in [(128, true), (96, false)] {
            let shapes = [
                ("latents", vec![1, 2, 8]),
                ("proj_in.weight", vec![8, 4]),
                ("layers.0.0.to_q.weight", vec![heads, 8]),
                ("layers.0.1.1.weight", vec![32, 8]),
                ("norm_out.weight", vec![16]),
            ];
            let zeros = |shape: Vec<usize>| Values::zeros(shape, DType::F32, &Device::Cpu).unwrap();
            let tensors: HashMap<String, Values> =
                shapes.map(|(name, shape)| (format!("{PREFIX}{name}"), zeros(shape))).into();
            candle_core::safetensors::save(&tensors, &file).unwrap();
            let part = Checkpoint::of_file(&file).unwrap().parts.remove(0);
            assert_eq!(Projection::of(&part.tensors).is_some(), is_known, "{heads}");
        }
    }

    #[test]
    fn keys_and_values_are_halves_of_one_matrix() {
        let name = "image_proj.layers.3.0.to_kv.weight";
        for (own, parts) in [("to_k", 0..1), ("to_v", 1..2)] {
            let own = format!("image_proj.layers.3.0.{own}.weight");
            assert_eq!(stored_name(&own), StoredName::part(name, parts, 2));
        }
        let embeddings = "embeddings.class_embedding";
        assert_eq!(stored_name(embeddings), StoredName::whole(format!("vision_model.{embeddings}")));
    }

    #[test]
    fn a_missing_encoder_is_named_with_where_it_is_published() {
        let plain = |values| Projection::OfEmbedding { values, tokens: 4, width: 2048 };
        assert!(plain(1024).wanted().contains("ViT-H (model.safetensors in models/image_encoder"));
        assert!(plain(1280).wanted().contains("ViT-bigG (model.safetensors in sdxl_models/image_encoder"));
        assert_eq!(plain(7).wanted(), "a CLIP image encoder with embeddings of 7 values");
    }
}
