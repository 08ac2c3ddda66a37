//! What a model can do.

use super::Model;
use crate::{
    models::{Denoiser, stages::overlap},
    request::{ControlMode, GuidanceOptions, Mode, References, Request},
    sampling::{OwnLevels, Training},
    text::Manner,
};

impl Model {
    /// What the frames of a clip after the first must be a multiple of; `None` if it only generates images.
    pub fn frame_multiple(&self) -> Option<u32> {
        let makes_clips = self.denoisers().all(|denoiser| denoiser.network.denoiser.makes_clips());
        let multiples = self.denoisers().map(|denoiser| denoiser.network.denoiser.frame_multiple());
        multiples.max().filter(|_| makes_clips)
    }

    /// Whether ControlNets can steer it.
    pub fn takes_control_nets(&self) -> bool {
        self.denoisers().next().is_some_and(|denoiser| denoiser.network.denoiser.control_nets().is_some())
    }

    /// The kinds of maps that ControlNets for it can be told.
    pub fn control_modes(&self) -> &'static [ControlMode] {
        self.denoisers().next().map_or(&[], |denoiser| denoiser.network.denoiser.control_modes())
    }

    /// Width and height must be multiples of this.
    pub fn size_multiple(&self) -> u32 {
        self.denoisers().map(|denoiser| denoiser.network.denoiser.size_multiple()).max().unwrap_or(1)
    }

    /// The maximum of width and height.
    pub fn longest_side(&self) -> u32 {
        self.denoisers().map(|denoiser| denoiser.network.denoiser.longest_side()).min().unwrap_or(0)
    }

    /// The constant shift of its noise levels; `None` if they have none, or are spaced in another way.
    pub fn shift(&self) -> Option<f32> {
        match &self.denoisers().next()?.network.training {
            Training::Flow(shift) => {
                let is_constant = !shift.use_dynamic_shifting && shift.own == OwnLevels::Even;
                is_constant.then_some(shift.shift as f32)
            }
            Training::Discrete(_) | Training::Cosine(_) => None,
        }
    }

    /// What it generates clips from; empty if it only generates images.
    pub fn modes(&self) -> &'static [Mode] {
        let first = self.denoisers().next().map(|denoiser| denoiser.network.denoiser.modes());
        first.filter(|_| self.frame_multiple().is_some()).unwrap_or_default()
    }

    /// The last frames of a clip that it continues from when it extends the clip.
    pub fn overlap(&self) -> Option<u32> {
        let denoiser = self.denoisers().next()?;
        self.modes().contains(&Mode::Extend).then(|| overlap(denoiser.network.denoiser.as_ref()))
    }

    /// Whether it only fills in a masked part of an image.
    pub fn fills_in(&self) -> bool {
        self.denoisers().any(|denoiser| denoiser.network.denoiser.fills_in())
    }

    /// How it takes reference images, if it does.
    pub fn references(&self) -> Option<References> {
        if self.vision_tower().is_some_and(|tower| tower.network.is_beside()) {
            return Some(References::through_redux());
        }
        self.denoisers().next()?.network.denoiser.references()
    }

    /// Whether [`GuidanceOptions::true_cfg`] has an effect.
    pub fn reads_true_cfg(&self) -> bool {
        let weight = |denoiser: &dyn Denoiser, true_cfg: f32| {
            let guiding = GuidanceOptions { true_cfg, ..GuidanceOptions::default() };
            denoiser.guidance_weight(&Request { guiding, ..Request::default() })
        };
        self.denoisers().any(|used| {
            let denoiser = used.network.denoiser.as_ref();
            weight(denoiser, 1.0) != weight(denoiser, 2.0)
        })
    }

    /// Whether clip skip has an effect.
    pub fn reads_clip_skip(&self) -> bool {
        self.text_encoders().any(|encoder| encoder.network.manner() == Manner::Chunks)
    }
}
