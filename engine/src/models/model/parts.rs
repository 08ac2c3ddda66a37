//! Finds the parts of a model.

use std::sync::Arc;

use super::{Denoising, Model, ModelPart, Network, Used};
use crate::{
    aids::{Detector, Segmenter},
    checkpoint::Component,
    interpolation::Ifnet,
    text::{ClipVision, TextEncoder, VisionTower, Writer},
    upscale::Upscaler,
    vae::Autoencoder,
};

impl Model {
    /// The vision tower of its text encoder, if it has one.
    pub fn vision_tower(&self) -> Option<Used<dyn VisionTower>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::VisionTower(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its encoder of images, if it reads their embeddings.
    pub fn image_encoder(&self) -> Option<Used<ClipVision>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::ImageEncoder(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// The part with this name.
    pub fn part(&self, name: &str) -> Option<&ModelPart> {
        self.parts.iter().find(|part| part.name == name)
    }

    /// The components of its parts.
    pub fn components(&self) -> impl Iterator<Item = &Component> {
        self.parts.iter().map(|part| &part.component)
    }

    /// Its text encoders, in order.
    pub fn text_encoders(&self) -> impl Iterator<Item = Used<dyn TextEncoder>> + '_ {
        self.parts.iter().enumerate().filter_map(|(part, own)| match &own.network {
            Network::TextEncoder(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its denoisers, in order.
    pub fn denoisers(&self) -> impl Iterator<Item = Used<Denoising>> + '_ {
        self.parts.iter().enumerate().filter_map(|(part, own)| match &own.network {
            Network::Denoiser(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its autoencoders, in order.
    pub fn autoencoders(&self) -> impl Iterator<Item = Used<dyn Autoencoder>> + '_ {
        self.parts.iter().enumerate().filter_map(|(part, own)| match &own.network {
            Network::Autoencoder(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its upscaler, if it is one or has one.
    pub fn upscaler(&self) -> Option<Used<dyn Upscaler>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::Upscaler(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its frame interpolator, if it is one or has one.
    pub fn interpolator(&self) -> Option<Used<Ifnet>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::Interpolator(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its segmenter, if it is one.
    pub fn segmenter(&self) -> Option<Used<Segmenter>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::Segmenter(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its detectors, in order.
    pub fn detectors(&self) -> impl Iterator<Item = Used<Detector>> + '_ {
        self.parts.iter().enumerate().filter_map(|(part, own)| match &own.network {
            Network::Detector(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its language model, if it is one.
    pub fn writer(&self) -> Option<Used<Writer>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::Writer(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }
}
