//! Detailers: the stages that find things in the images that were made and inpaint each of them, for every family that
//! inpaints.

use super::{Denoise, Model, ModelPart, Network, Start, Steps, Task};
use crate::request::{Request, RequestError};

/// The name of the stages that inpaint boxes.
const DETAIL: &str = "Detail";

impl Model {
    /// This model with the detectors of others, after its own parts.
    pub fn with_detectors<'a>(mut self, others: impl IntoIterator<Item = &'a Self>) -> Self {
        let parts = others.into_iter().flat_map(|other| &other.parts);
        let detectors = parts.filter(|part| matches!(part.network, Network::Detector(_)));
        let named = |(number, part): (usize, &ModelPart)| match number {
            0 => part.clone(),
            _ => ModelPart { name: format!("{}_{}", part.name, number + 1), ..part.clone() },
        };
        self.parts.extend(detectors.enumerate().map(named).collect::<Vec<_>>());
        self
    }

    /// Checks what inpaints the boxes of each detailer.
    pub(super) fn validate_detailers(&self, request: &Request) -> Result<(), RequestError> {
        if request.detailers.is_empty() {
            return Ok(());
        }
        if self.frame_multiple().is_some() {
            return Err(RequestError::DetailerOfClip);
        }
        for detailer in &request.detailers {
            let own = request.of_box(detailer);
            self.validate(&own).map_err(|error| match error {
                RequestError::PromptsOnly => RequestError::NoDetailing,
                other => other,
            })?;
            let walks = self.family.stages(self, &own).into_iter().filter(|task| task.denoise().is_some());
            if walks.count() != 1 {
                return Err(RequestError::NoDetailing);
            }
        }
        Ok(())
    }
}

/// Whether any step has a branch for the negative prompt.
fn is_guided(tasks: &[Task]) -> bool {
    tasks.iter().filter_map(Task::denoise).any(|denoise| denoise.steps.is_guided())
}

/// The stages of all detailers, after those that make the image.
pub(super) fn stages(model: &Model, request: &Request, before: &[Task]) -> Vec<Task> {
    let files = request.detectors();
    let detectors: Vec<_> = model.detectors().collect();
    let guided = is_guided(before);
    let mut first = before.iter().filter_map(Task::denoise).map(|denoise| denoise.steps.count()).sum();
    let mut tasks = Vec::new();
    for (number, detailer) in request.detailers.iter().enumerate() {
        let place = files.iter().position(|file| **file == detailer.model);
        let Some(detector) = place.and_then(|place| detectors.get(place)).cloned() else { continue };
        tasks.push(Task::Detect { detector, detailer: number });
        let own = request.of_box(detailer);
        let inner = model.family.stages(model, &own);
        let is_alike = own.prompt == request.prompt
            && own.negative_prompt == request.negative_prompt
            && request.regions.is_empty();
        let is_encoded = !before.is_empty() && is_alike && is_guided(&inner) == guided;
        for task in inner {
            tasks.push(match task {
                Task::EncodePrompt { .. } if is_encoded => continue,
                Task::Denoise(denoise) => {
                    let steps = Steps { first, ..denoise.steps };
                    first += steps.count();
                    Task::Denoise(Denoise { name: DETAIL, start: Start::Box, steps, ..denoise })
                }
                other => other,
            });
        }
    }
    tasks
}
