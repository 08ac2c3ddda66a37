//! Maps the layers of adapters to tensors of a model.

use std::{collections::HashMap, ops::Range};

use crate::checkpoint::{Component, Role, StoredName};

/// A tensor of a component, and the part of an adapter's change that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Index of the block.
    pub block: usize,
    /// Index of the tensor in it.
    pub tensor: usize,
    /// Whether it is the layer's bias.
    pub is_bias: bool,
    /// Some of this many equal parts of the changed outputs; all of them if absent.
    pub part: Option<(Range<usize>, usize)>,
}

/// The layers of a model under all names that its families know, with dots and with underscores instead.
#[derive(Debug)]
pub struct Names {
    components: Vec<(Role, HashMap<String, Vec<Place>>)>,
}

/// Prefixes of layer names, and the component that each means: the denoiser, or the text encoder of this
/// index among those that have the layer.
const PREFIXES: [(&str, Scope); 28] = [
    // Anima's text conditioner, which many files count to the denoiser.
    ("lora_unet_llm_adapter_", Scope::Text(0)),
    ("model.diffusion_model.llm_adapter.", Scope::Text(0)),
    ("diffusion_model.llm_adapter.", Scope::Text(0)),
    ("text_conditioner.", Scope::Text(0)),
    ("lora_unet_", Scope::Denoiser),
    ("lora_transformer_", Scope::Denoiser),
    ("lycoris_", Scope::Denoiser),
    ("model.diffusion_model.", Scope::Denoiser),
    ("diffusion_model.", Scope::Denoiser),
    ("transformer.", Scope::Denoiser),
    ("transformer_2.", Scope::SecondDenoiser),
    ("unet.", Scope::Denoiser),
    ("lora_te_", Scope::Text(0)),
    ("lora_te1_", Scope::Text(0)),
    ("lora_te2_", Scope::Text(1)),
    ("lora_te3_", Scope::Text(2)),
    ("text_encoder.", Scope::Text(0)),
    ("text_encoder_2.", Scope::Text(1)),
    ("text_encoder_3.", Scope::Text(2)),
    ("text_encoders.clip_l.transformer.", Scope::Text(0)),
    ("text_encoders.clip_g.transformer.", Scope::Text(1)),
    ("text_encoders.t5xxl.transformer.", Scope::Text(2)),
    ("text_encoders.qwen3_4b.transformer.", Scope::Text(0)),
    ("text_encoders.qwen3_06b.transformer.", Scope::Text(0)),
    ("clip_l.transformer.", Scope::Text(0)),
    ("clip_g.transformer.", Scope::Text(1)),
    ("t5xxl.transformer.", Scope::Text(2)),
    ("base_model.model.", Scope::Any),
];
/// What may stand between that prefix and the names of a text encoder's layers.
const MODELS: [&str; 4] = ["text_model.", "model.", "text_model_", "model_"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Denoiser,
    /// The second of two denoisers that take turns.
    SecondDenoiser,
    Text(usize),
    Any,
}

impl Names {
    /// The layers of these components.
    pub fn of<'a>(components: impl IntoIterator<Item = &'a Component>) -> Self {
        let table = |component: &Component| {
            let mut layers: HashMap<String, Vec<Place>> = HashMap::new();
            for (block, tensors) in component.names.iter().enumerate() {
                for (tensor, names) in tensors.iter().enumerate() {
                    add(&mut layers, names, block, tensor);
                }
            }
            (component.role, layers)
        };
        Self { components: components.into_iter().map(table).collect() }
    }

    /// The components, and the places in them, of an adapter's layer: one component, or several denoisers that take
    /// turns. `second` restricts those to the second one, or to the first.
    pub fn places(&self, layer: &str, second: Option<bool>) -> Vec<(usize, &[Place])> {
        let (scope, name) = scoped(layer);
        let second = if scope == Scope::SecondDenoiser { Some(true) } else { second };
        let without_processors = name.replace(".processor.", ".");
        // An old form of diffusers omits that the output projection is the first of two layers.
        let spellings = [name.to_owned(), format!("{without_processors}.0"), without_processors];
        let found = spellings.iter().map(|name| match scope {
            Scope::Denoiser | Scope::SecondDenoiser => self.of_denoisers(name, second),
            Scope::Text(number) => self.of_text_encoder(number, name).into_iter().collect(),
            Scope::Any => {
                let denoisers = self.of_denoisers(name, second);
                if denoisers.is_empty() {
                    self.of_text_encoder(0, name).into_iter().collect()
                } else {
                    denoisers
                }
            }
        });
        found.into_iter().find(|found: &Vec<_>| !found.is_empty()).unwrap_or_default()
    }

    /// Encoders of one model may have different names for a layer.
    fn of_text_encoder(&self, number: usize, name: &str) -> Option<(usize, &[Place])> {
        let inside = MODELS.iter().filter_map(|model| name.strip_prefix(model));
        let spellings: Vec<&str> = std::iter::once(name).chain(inside).collect();
        let encoders = self.components.iter().enumerate().filter(|(_, (role, _))| *role == Role::TextEncoder);
        let found = encoders.filter_map(|(index, (_, layers))| {
            let places = spellings.iter().find_map(|name| layers.get(*name))?;
            Some((index, places.as_slice()))
        });
        let found: Vec<_> = found.collect();
        found.get(number).or(found.last()).copied()
    }

    fn of_denoisers(&self, name: &str, second: Option<bool>) -> Vec<(usize, &[Place])> {
        let of_role = self.components.iter().enumerate().filter(|(_, (role, _))| *role == Role::Denoiser);
        let denoisers: Vec<_> = of_role.collect();
        let wanted = match second {
            Some(second) if denoisers.len() > 1 => &denoisers[usize::from(second)..][..1],
            _ => &denoisers[..],
        };
        let places =
            wanted.iter().filter_map(|(index, (_, layers))| Some((*index, layers.get(name)?.as_slice())));
        places.collect()
    }
}

/// The component of an adapter's layer, according to its prefix.
pub fn target(layer: &str) -> String {
    match scoped(layer).0 {
        Scope::Text(0) => "text encoder".to_owned(),
        Scope::Text(number) => format!("text encoder {}", number + 1),
        Scope::SecondDenoiser => "denoiser 2".to_owned(),
        Scope::Denoiser | Scope::Any => "denoiser".to_owned(),
    }
}

/// Whether a layer's prefix means the second of two denoisers.
pub fn is_for_second(layer: &str) -> bool {
    scoped(layer).0 == Scope::SecondDenoiser
}

fn scoped(layer: &str) -> (Scope, &str) {
    for (prefix, scope) in PREFIXES {
        if let Some(name) = layer.strip_prefix(prefix) {
            return if scope == Scope::Any { scoped(name) } else { (scope, name) };
        }
    }
    (Scope::Any, layer)
}

fn add(layers: &mut HashMap<String, Vec<Place>>, names: &[StoredName], block: usize, tensor: usize) {
    let own = names.first().map_or("", |name| name.name.as_str());
    let is_bias = own.ends_with(".bias");
    for StoredName { name, part } in names {
        let (layer, parameter) = name.rsplit_once('.').unwrap_or((name, ""));
        let layer = if ["weight", "bias", "scale"].contains(&parameter) { layer } else { name };
        let place = Place { block, tensor, is_bias, part: part.clone() };
        for name in [layer.to_owned(), layer.replace('.', "_")] {
            let places = layers.entry(name).or_default();
            if !places.contains(&place) {
                places.push(place.clone());
            }
        }
    }
}
