//! Hires fix: the stages of a second pass over what the first one made, for every family that has image to image.

use super::{Denoise, Model, ModelPart, Network, Start, Steps, Task, around};
use crate::request::{Enlarger, Hires, Request, RequestError};

/// Name of the second pass.
const AGAIN: &str = "Denoise again";

impl Model {
    /// This model with the upscaler of another, which enlarges between two passes.
    pub fn with_upscaler(mut self, other: &Self) -> Self {
        let is_upscaler = |part: &&ModelPart| matches!(part.network, Network::Upscaler(_));
        self.parts.extend(other.parts.iter().find(is_upscaler).cloned());
        self
    }

    /// Checks both passes of a hires fix.
    pub(super) fn validate_hires(&self, request: &Request) -> Result<(), RequestError> {
        let Some([first, second]) = request.passes(self.size_multiple()) else { return Ok(()) };
        if self.frame_multiple().is_some() {
            return Err(RequestError::HiresOfClip);
        }
        self.validate(&first)?;
        if !self.denoisers().all(|denoiser| denoiser.network.denoiser.takes_images()) {
            return Err(RequestError::NoHires);
        }
        self.validate(&second)
    }
}

/// The stages of both passes as one list: the second pass denoises as image to image does, from the enlarged result of the
/// first.
pub(super) fn stages(model: &Model, request: &Request, hires: &Hires) -> Vec<Task> {
    let Some([first, second]) = request.passes(model.size_multiple()) else { return Vec::new() };
    let denoises = |request: &Request| -> Vec<Denoise> {
        let tasks = model.family.stages(model, request).into_iter();
        let denoise = |task| if let Task::Denoise(denoise) = task { Some(denoise) } else { None };
        tasks.filter_map(denoise).collect()
    };
    let mut all = denoises(&first);
    let before: usize = all.iter().map(|denoise| denoise.steps.count()).sum();
    let again = denoises(&second).into_iter().enumerate().map(|(number, denoise)| {
        let steps = Steps { first: denoise.steps.first + before, ..denoise.steps };
        match number {
            0 => Denoise { name: AGAIN, start: Start::Enlarged, steps, ..denoise },
            _ => Denoise { steps, ..denoise },
        }
    });
    all.extend(again);
    let mut tasks = around(model, &first, all);
    let is_second = |task: &Task| task.denoise().is_some_and(|denoise| denoise.start == Start::Enlarged);
    let place = tasks.iter().position(is_second).unwrap_or(tasks.len());
    if let (Enlarger::Upscaler(_), Some(upscaler), Some(autoencoder)) =
        (&hires.enlarger, model.upscaler(), model.autoencoders().next())
    {
        let sizes = [&first, &second].map(|request| [request.width, request.height]);
        let between = [
            Task::Decode { autoencoder: autoencoder.clone() },
            Task::Enlarge { upscaler, sizes },
            Task::EncodeEnlarged { autoencoder },
        ];
        tasks.splice(place..place, between);
    }
    tasks
}
