//! Models with other parts than their own.

use std::sync::Arc;

use super::{Denoising, Model, ModelPart, Network};
use crate::{
    checkpoint::{CheckpointError, Component, Part, Role},
    memory::MemoryPreferences,
    text::{ClipVision, VisionTower},
};

impl Model {
    /// This model, whose denoiser is conditioned by these of its parts alone.
    pub fn conditioned_by(mut self, reads: &[usize]) -> Self {
        for part in &mut self.parts {
            if let Network::Denoiser(denoising) = &part.network {
                let reads = reads.to_vec();
                part.network =
                    Network::Denoiser(Arc::new(Denoising { reads, ..Denoising::clone(denoising) }));
            }
        }
        self
    }

    /// This model with an encoder of images, after its text encoders.
    pub fn with_image_encoder(mut self, (encoder, component): (ClipVision, Component)) -> Self {
        let network = Network::ImageEncoder(Arc::new(encoder));
        let place = self.text_encoders().last().map_or(0, |last| last.part + 1);
        let part = ModelPart { name: "image_encoder".to_owned(), component, network, takes_adapters: false };
        self.parts.insert(place, part);
        self
    }

    /// This model with a vision tower for its text encoder, before it.
    pub fn with_vision_tower(self, (tower, component): (impl VisionTower + 'static, Component)) -> Self {
        let network = Network::VisionTower(Arc::new(tower));
        self.after(ModelPart { name: "vision_tower".to_owned(), component, network, takes_adapters: false })
    }

    /// This model with another part before its own.
    pub(in crate::models) fn after(mut self, part: ModelPart) -> Self {
        let moved = |part: &mut ModelPart| {
            if let Network::Denoiser(denoising) = &part.network {
                let reads = denoising.reads.iter().map(|read| read + 1).collect();
                part.network =
                    Network::Denoiser(Arc::new(Denoising { reads, ..Denoising::clone(denoising) }));
            }
        };
        self.parts.iter_mut().for_each(moved);
        self.parts.insert(0, part);
        self
    }

    /// This model with ControlNets that steer its first denoiser, whose weights are held and streamed with its own.
    ///
    /// # Errors
    /// When one is no ControlNet for the model, or it takes none.
    pub fn controlled_by(mut self, nets: &[&Part]) -> Result<Self, CheckpointError> {
        let first = self.parts.iter_mut().find_map(|part| match &part.network {
            Network::Denoiser(denoising) => Some((Arc::clone(denoising), part)),
            _ => None,
        });
        let Some((denoising, part)) = first else { return Ok(self) };
        let (denoiser, components) = denoising.denoiser.controlled_by(nets)?;
        let nets = components.into_iter().enumerate();
        let nets = nets.map(|(number, component)| component.prefixed(&format!("control_net.{number}.")));
        part.component = part.component.clone().after(nets);
        part.network = Network::Denoiser(Arc::new(Denoising { denoiser, ..Denoising::clone(&denoising) }));
        Ok(self)
    }

    /// This model with a denoiser that takes over from its own one.
    pub fn with_second_denoiser(mut self, denoising: Denoising, component: Component) -> Self {
        let last = self.parts.iter().rposition(|part| matches!(part.network, Network::Denoiser(_)));
        let part = ModelPart {
            name: format!("{}_2", Role::Denoiser.id()),
            component,
            network: Network::Denoiser(Arc::new(denoising)),
            takes_adapters: true,
        };
        self.parts.insert(last.map_or(0, |last| last + 1), part);
        self
    }

    /// This model plus the parts of another for which `name` returns a name. Each denoiser still reads the
    /// text encoders of its own model. LoRAs do not apply to the added parts.
    pub fn joined(&self, other: &Self, name: impl Fn(&ModelPart) -> Option<&'static str>) -> Self {
        let own = self.parts.iter().enumerate().map(|(index, part)| (0, index, part.clone()));
        let added = other.parts.iter().enumerate().filter_map(|(index, part)| {
            let name = name(part)?.to_owned();
            Some((1, index, ModelPart { name, takes_adapters: false, ..part.clone() }))
        });
        let mut parts: Vec<(usize, usize, ModelPart)> = own.chain(added).collect();
        parts.sort_by_key(|(.., part)| part.component.role);
        let places: Vec<(usize, usize)> = parts.iter().map(|(model, index, _)| (*model, *index)).collect();
        let place = |model: usize, index: usize| places.iter().position(|known| *known == (model, index));
        let joined = parts.into_iter().map(|(model, _, part)| {
            let network = match part.network {
                Network::Denoiser(denoising) => Network::Denoiser(Arc::new(Denoising {
                    reads: denoising.reads.iter().filter_map(|read| place(model, *read)).collect(),
                    ..Denoising::clone(&denoising)
                })),
                other => other,
            };
            ModelPart { network, ..part }
        });
        Self { parts: joined.collect(), ..self.clone() }
    }

    /// This model with its matrices in the precisions that the preferences ask for; they are encoded when
    /// read.
    pub fn held_as(mut self, preferences: &MemoryPreferences) -> Self {
        for part in self.parts.iter_mut().filter(|part| !part.component.role.stays_as_stored()) {
            part.component = part.component.clone().given_as(preferences.precision(part.component.role));
        }
        self
    }
}
