//! Published models: their configurations, and the names and shapes of their tensors.

use std::{
    collections::{BTreeMap, HashSet},
    sync::LazyLock,
};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    super::{
        cascade::CascadeConfig, chroma::ChromaConfig, cosmos::CosmosConfig, diffusers_name,
        ernie::ErnieConfig, flux::FluxConfig, flux2::Flux2Config, hidream::HiDreamConfig, krea2::Krea2Config,
        lens::LensConfig, longcat, ltx::LtxConfig, qwen_image::QwenImageConfig,
        qwen_image_21::QwenImage21Config, sd3::Sd3Config, unet::UnetConfig, wan::WanConfig, wuerstchen,
        z_image::ZImageConfig,
    },
    stored_as::StoredAs,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, HollowFolder, HollowPart, HollowTensor, StoredName},
    precision::Format,
    text::{
        AnimaConditionerConfig, ClipConfig, ClipVisionConfig, GptOssConfig, LanguageModelConfig, Layers,
        Qwen3VisionConfig, QwenVisionConfig, T5Config,
    },
    vae::{AutoencoderKlConfig, LtxAutoencoderConfig, PaellaVqConfig, WanAutoencoderConfig},
};

/// What weights are published in, but for the experts of GPT-OSS: 16 bits. Forecasts do not differ between bf16 and f16.
const FORMAT: Format = Format::Bf16;

/// The class of a text encoder whose experts are published in MXFP4.
const GPT_OSS: &str = "GptOssForCausalLM";

/// Names in files → shapes.
pub type Shapes = Vec<(String, Vec<usize>)>;

/// A published model, as a diffusers folder without weights.
#[derive(Debug, Clone, Default)]
pub struct Published {
    /// Identifier, such as `flux.1-dev`.
    pub id: String,
    /// Name in words.
    pub name: String,
    /// Other identifiers for it.
    pub aliases: Vec<String>,
    /// Its repository on Hugging Face, such as `black-forest-labs/FLUX.1-dev`.
    pub hub: String,
    /// `model_index.json` without the components.
    pub index: Map<String, Value>,
    /// `scheduler_config.json`.
    pub scheduler: Value,
    /// Its components.
    pub parts: Vec<PublishedPart>,
    /// Folder → tokenizer.
    pub tokenizers: BTreeMap<String, PublishedTokenizer>,
}

/// A component of a published model.
#[derive(Debug, Clone)]
pub struct PublishedPart {
    /// Its folder, such as `text_encoder_2`.
    pub folder: String,
    /// The Python library of its class: `diffusers` or `transformers`.
    pub library: String,
    /// The class that reads it.
    pub class: String,
    /// `config.json`.
    pub config: Map<String, Value>,
    /// What a tiny version has in place of that.
    pub tiny: Map<String, Value>,
}

/// A tokenizer that comes with the program, or takes the place of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedTokenizer {
    /// The tokenizer of OpenAI's CLIP, which pads with the end token.
    Clip,
    /// The same, with OpenCLIP's padding.
    OpenClip,
    /// The tokenizer of T5.
    T5,
    /// The tokenizer of GPT-OSS.
    GptOss,
    /// The tokenizer of Mistral Small 3.
    Mistral,
    /// The tokenizer of Qwen 2 and 3.
    Qwen2,
    /// One token for each byte, in the place of Llama 3's, which does not come with the program.
    Bytes,
}

/// The models of `presets/configurations.json`.
pub fn published_models() -> &'static [Published] {
    static MODELS: LazyLock<Vec<Published>> = LazyLock::new(|| {
        read(include_str!("../../../../presets/configurations.json")).unwrap_or_else(|error| {
            tracing::error!(error, "presets/configurations.json cannot be read");
            Vec::new()
        })
    });
    &MODELS
}

impl Published {
    /// The model as a checkpoint without values. Components of classes that Sluice does not have are left out.
    ///
    /// # Errors
    /// Fails if a configuration does not fit its class.
    pub fn checkpoint(&self) -> serde_json::Result<Checkpoint> {
        self.hollow(|_, tensors| Some(tensors))
    }

    /// The same with components in other files, by their folders. Components that are not named are left out.
    ///
    /// # Errors
    /// Fails if a configuration does not fit its class.
    pub fn checkpoint_as(&self, stored: &BTreeMap<String, StoredAs>) -> serde_json::Result<Checkpoint> {
        self.hollow(|folder, tensors| Some(stored.get(folder)?.apply(tensors)))
    }

    /// A checkpoint of the components that `stored` keeps, by their folders and published tensors.
    fn hollow(
        &self,
        stored: impl Fn(&str, Vec<HollowTensor>) -> Option<Vec<HollowTensor>>,
    ) -> serde_json::Result<Checkpoint> {
        let mut parts = BTreeMap::new();
        for part in &self.parts {
            if let Some(tensors) = part.tensors()? {
                let config = Value::Object(part.config.clone());
                let tensors = tensors.into_iter().map(|tensor| part.as_published(tensor)).collect();
                if let Some(tensors) = stored(&part.folder, tensors) {
                    parts.insert(part.folder.clone(), HollowPart { config, tensors });
                }
            }
        }
        Ok(Checkpoint::hollow(HollowFolder {
            name: self.name.clone(),
            index: Value::Object(self.index.clone()),
            scheduler: self.scheduler.clone(),
            parts,
        }))
    }
}

impl PublishedPart {
    /// Names and shapes of its tensors as in diffusers and transformers; `None` if Sluice does not have its class.
    ///
    /// # Errors
    /// Fails if the configuration does not fit the class.
    pub fn tensors(&self) -> serde_json::Result<Option<Shapes>> {
        let whole = |name: &str| StoredName::whole(name);
        Ok(Some(match self.class.as_str() {
            "FluxTransformer2DModel" => stored(&self.read::<FluxConfig>()?.blueprint(), diffusers_name),
            "LongCatImageTransformer2DModel" => {
                stored(&longcat::blueprint(&self.read::<FluxConfig>()?), longcat::hub_name)
            }
            "ErnieImageTransformer2DModel" => stored(&self.read::<ErnieConfig>()?.blueprint(), whole),
            "LensTransformer2DModel" => stored(&self.read::<LensConfig>()?.blueprint(), diffusers_name),
            GPT_OSS => self.read::<GptOssConfig>()?.published_tensors(),
            "CosmosTransformer3DModel" => stored(&self.read::<CosmosConfig>()?.blueprint(), whole),
            "AnimaTextConditioner" => stored(&self.read::<AnimaConditionerConfig>()?.blueprint(), whole),
            "HiDreamImageTransformer2DModel" => stored(&self.read::<HiDreamConfig>()?.blueprint(), whole),
            "Krea2Transformer2DModel" => stored(&self.read::<Krea2Config>()?.blueprint(), whole),
            "ChromaTransformer2DModel" => stored(&self.read::<ChromaConfig>()?.blueprint(), diffusers_name),
            "Flux2Transformer2DModel" => {
                let config = self.read::<Flux2Config>()?;
                stored(&config.blueprint(), |name| config.diffusers_name(name))
            }
            "SD3Transformer2DModel" => {
                let mut tensors = stored(&self.read::<Sd3Config>()?.blueprint(), diffusers_name);
                let places = tensors.iter_mut().filter(|(name, _)| name == "pos_embed.pos_embed");
                places.for_each(|(_, shape)| shape.insert(0, 1));
                tensors
            }
            "ZImageTransformer2DModel" => stored(&self.read::<ZImageConfig>()?.blueprint(), whole),
            "QwenImageTransformer2DModel" => {
                stored(&self.read::<QwenImageConfig>()?.blueprint(), diffusers_name)
            }
            "QwenImage21Transformer2DModel" => stored(&self.read::<QwenImage21Config>()?.blueprint(), whole),
            "UNet2DConditionModel" => {
                let mut tensors = stored(&self.read::<UnetConfig>()?.blueprint(), whole);
                if self.config.get("use_linear_projection") != Some(&Value::Bool(true)) {
                    tensors.iter_mut().for_each(as_convolution);
                }
                tensors
            }
            "AutoencoderKL" => stored(&self.read::<AutoencoderKlConfig>()?.blueprint(), whole),
            "AutoencoderKLFlux2" => {
                let config = self.read::<AutoencoderKlConfig>()?;
                let mut tensors = stored(&config.blueprint(), whole);
                let statistics = ["bn.running_mean", "bn.running_var"];
                tensors.extend(statistics.map(|name| (name.to_owned(), vec![4 * config.latent_channels])));
                // The number of training steps.
                tensors.push(("bn.num_batches_tracked".to_owned(), Vec::new()));
                tensors
            }
            "CLIPTextModel" => stored(&self.read::<ClipConfig>()?.blueprint(false), clip_name),
            "CLIPVisionModel" => {
                let config = self.read::<ClipVisionConfig>()?;
                let width = config.hidden_size;
                // With the last layer and norm, whose results are not used.
                let all = ClipVisionConfig { num_hidden_layers: config.num_hidden_layers + 1, ..config };
                let norm = BlockSpec::stem("post_layernorm").norm("post_layernorm", width);
                let blueprint: Vec<BlockSpec> = all.blueprint().into_iter().chain([norm]).collect();
                stored(&blueprint, |name| StoredName::whole(format!("vision_model.{name}")))
            }
            "CLIPTextModelWithProjection" => stored(&self.read::<ClipConfig>()?.blueprint(true), clip_name),
            "WanTransformer3DModel" | "WanVACETransformer3DModel" => {
                stored(&self.read::<WanConfig>()?.blueprint(), whole)
            }
            "AutoencoderKLWan" | "AutoencoderKLQwenImage" => {
                let mut tensors = stored(&self.read::<WanAutoencoderConfig>()?.blueprint(), whole);
                tensors.iter_mut().for_each(over_frames);
                tensors
            }
            "AutoencoderKLQwenImage21" => {
                let config = WanAutoencoderConfig { is_flat: true, ..self.read()? };
                let mut tensors = stored(&config.blueprint(), whole);
                tensors.iter_mut().for_each(of_images);
                tensors.extend(config.layers_of_clips());
                tensors
            }
            "LTXVideoTransformer3DModel" => stored(&self.read::<LtxConfig>()?.blueprint(), whole),
            "AutoencoderKLLTXVideo" => {
                let config = self.read::<LtxAutoencoderConfig>()?;
                let mut tensors = stored(&config.blueprint(), whole);
                let statistics = ["latents_mean", "latents_std"];
                tensors.extend(statistics.map(|name| (name.to_owned(), vec![config.latent_channels])));
                if config.timestep_conditioning {
                    // Always 1000.
                    tensors.push(("decoder.timestep_scale_multiplier".to_owned(), Vec::new()));
                }
                tensors
            }
            "StableCascadeUNet" => stored(&self.read::<CascadeConfig>()?.blueprint(), whole),
            "WuerstchenPrior" => stored(&self.read::<wuerstchen::PriorConfig>()?.blueprint(), whole),
            "WuerstchenDiffNeXt" => stored(&self.read::<wuerstchen::DecoderConfig>()?.blueprint(), whole),
            "PaellaVQModel" => {
                let config = self.read::<PaellaVqConfig>()?;
                let mut tensors = stored(&config.blueprint(), whole);
                tensors.extend(config.layers_that_encode());
                tensors
            }
            "T5EncoderModel" | "UMT5EncoderModel" => stored(&self.read::<T5Config>()?.blueprint(), whole),
            "Qwen3Model" | "Qwen3VLTextModel" => {
                stored(&self.read::<LanguageModelConfig>()?.blueprint(Layers::Qwen3), whole)
            }
            "Qwen3ForCausalLM" | "LlamaForCausalLM" => {
                let config = self.read::<LanguageModelConfig>()?;
                let layers = match self.class.as_str() {
                    "Qwen3ForCausalLM" => Layers::Qwen3,
                    _ => Layers::Mistral { is_interleaved: false },
                };
                let named = |name: &str| StoredName::whole(format!("model.{name}"));
                let mut tensors = stored(&config.blueprint(layers), named);
                if self.config.get("tie_word_embeddings") != Some(&Value::Bool(true)) {
                    tensors.push(("lm_head.weight".to_owned(), vec![config.vocab_size, config.hidden_size]));
                }
                tensors
            }
            "MistralModel" => {
                let layers = Layers::Mistral { is_interleaved: false };
                stored(&self.read::<LanguageModelConfig>()?.blueprint(layers), whole)
            }
            "Qwen2_5_VLForConditionalGeneration" => {
                let config = self.read::<LanguageModelConfig>()?;
                let mut tensors = match self.config.get("vision_config") {
                    Some(vision) => {
                        let vision = QwenVisionConfig::deserialize(vision)?;
                        stored(&vision.blueprint(), QwenVisionConfig::stored_name)
                    }
                    None => Vec::new(),
                };
                tensors.extend(stored(&config.blueprint(Layers::Qwen2), whole));
                tensors.push(("lm_head.weight".to_owned(), vec![config.vocab_size, config.hidden_size]));
                tensors
            }
            "Qwen3VLForConditionalGeneration" => {
                let inner = |field: &str| self.config.get(field).cloned().unwrap_or_default();
                let text: LanguageModelConfig = serde_json::from_value(inner("text_config"))?;
                let vision: Qwen3VisionConfig = serde_json::from_value(inner("vision_config"))?;
                let mut tensors = stored(&vision.blueprint(), |name| {
                    let StoredName { name, part } = Qwen3VisionConfig::stored_name(name);
                    StoredName { name: format!("model.{name}"), part }
                });
                let named = |name: &str| StoredName::whole(format!("model.language_model.{name}"));
                tensors.extend(stored(&text.blueprint(Layers::Qwen3), named));
                tensors.push(("lm_head.weight".to_owned(), vec![text.vocab_size, text.hidden_size]));
                tensors
            }
            _ => return Ok(None),
        }))
    }

    /// A tensor in the format in which it is published.
    fn as_published(&self, (name, shape): (String, Vec<usize>)) -> HollowTensor {
        let packed =
            Some(()).filter(|()| self.class == GPT_OSS).and_then(|()| GptOssConfig::packed(&name, &shape));
        match packed {
            Some((name, shape)) => (name, shape, Format::Mxfp4),
            None => (name, shape, FORMAT),
        }
    }

    /// Its configuration as that of a class.
    ///
    /// # Errors
    /// Fails if it does not fit.
    pub fn read<T: for<'de> Deserialize<'de>>(&self) -> serde_json::Result<T> {
        serde_json::from_value(Value::Object(self.config.clone()))
    }
}

/// The tensors of a blueprint as they are in files.
fn stored(blueprint: &[BlockSpec], name_of: impl Fn(&str) -> StoredName) -> Shapes {
    let mut seen = HashSet::new();
    let mut tensors = Vec::new();
    for spec in blueprint {
        for (name, shape) in &spec.tensors {
            let stored = name_of(&format!("{}{name}", spec.prefix));
            let mut shape = shape.clone();
            if let (Some((parts, of)), Some(rows)) = (&stored.part, shape.first_mut()) {
                *rows = *rows / parts.len().max(1) * of;
            }
            if seen.insert(stored.name.clone()) {
                tensors.push((stored.name, shape));
            }
        }
    }
    tensors
}

/// Adds the prefix of published CLIP encoders.
fn clip_name(name: &str) -> StoredName {
    StoredName::whole(if name.starts_with("text_projection") {
        name.to_owned()
    } else {
        format!("text_model.{name}")
    })
}

/// In older networks the projections around a spatial transformer are 1×1 convolutions.
fn as_convolution((name, shape): &mut (String, Vec<usize>)) {
    let is_projection = [".proj_in.weight", ".proj_out.weight"].iter().any(|end| name.ends_with(end));
    if is_projection && shape.len() == 2 {
        shape.extend([1, 1]);
    }
}

/// The norms and layers of an autoencoder of clips are stored for frames, rows and columns; those of its attention,
/// which sees one frame at a time, for rows and columns.
fn over_frames((name, shape): &mut (String, Vec<usize>)) {
    let dimensions = if name.contains(".attentions.") { 2 } else { 3 };
    if name.ends_with(".gamma") || (name.ends_with(".weight") && shape.len() < 4) {
        shape.extend(vec![1; dimensions]);
    } else if name.ends_with("quant_conv.weight") || name.ends_with("conv_shortcut.weight") {
        shape.push(1);
    }
}

/// The norms of an autoencoder of single images are stored for frames, rows and columns, its layers for rows and columns.
fn of_images((name, shape): &mut (String, Vec<usize>)) {
    let dimensions = if name.contains(".attentions.") { 2 } else { 3 };
    if name.ends_with(".gamma") {
        shape.extend(vec![1; dimensions]);
    } else if name.ends_with(".weight") && shape.len() < 4 {
        shape.extend([1, 1]);
    }
}

/// The contents of `presets/configurations.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    parts: BTreeMap<String, PartEntry>,
    schedulers: BTreeMap<String, Value>,
    models: Vec<ModelEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartEntry {
    /// Another part that this configuration is based on.
    #[serde(default)]
    like: Option<String>,
    library: String,
    class: String,
    #[serde(default)]
    config: Map<String, Value>,
    #[serde(default)]
    tiny: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    id: String,
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
    hub: String,
    index: Map<String, Value>,
    scheduler: String,
    /// Folder → part.
    parts: BTreeMap<String, String>,
    tokenizers: BTreeMap<String, PublishedTokenizer>,
}

fn read(text: &str) -> Result<Vec<Published>, String> {
    let File { parts, schedulers, models } = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let model = |entry: ModelEntry| {
        let scheduler = schedulers.get(&entry.scheduler);
        let part = |(folder, name): (String, String)| {
            let part = parts.get(&name).ok_or_else(|| format!("there is no part {name}"))?;
            let [config, tiny] = merged(&parts, &name);
            let (library, class) = (part.library.clone(), part.class.clone());
            Ok(PublishedPart { folder, library, class, config, tiny })
        };
        Ok(Published {
            scheduler: scheduler.ok_or_else(|| format!("there is no scheduler {}", entry.scheduler))?.clone(),
            parts: entry.parts.into_iter().map(part).collect::<Result<_, String>>()?,
            id: entry.id,
            name: entry.name,
            aliases: entry.aliases,
            hub: entry.hub,
            index: entry.index,
            tokenizers: entry.tokenizers,
        })
    };
    models.into_iter().map(model).collect()
}

/// A part's configuration on top of those it is based on, and the same for the changes for a tiny version.
fn merged(parts: &BTreeMap<String, PartEntry>, name: &str) -> [Map<String, Value>; 2] {
    let Some(entry) = parts.get(name) else { return [Map::new(), Map::new()] };
    let mut all = entry.like.as_deref().map_or_else(|| [Map::new(), Map::new()], |like| merged(parts, like));
    for (all, own) in all.iter_mut().zip([&entry.config, &entry.tiny]) {
        all.extend(own.clone());
    }
    all
}
