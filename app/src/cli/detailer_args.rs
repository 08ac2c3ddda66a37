//! Options of detailers.

use std::path::PathBuf;

use sluice_engine::request::{BoxOrder, Detailer};

use super::names::named;

/// Detailers, one after the other. Their options count in the order in which they are given.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct DetailerArgs {
    /// Find faces, hands or persons with this detector and inpaint each of them at full resolution: a .safetensors file of
    /// YOLOv8, such as face_yolov8n. Can be given several times, for one after the other.
    #[arg(long, value_name = "FILE")]
    detailer: Vec<PathBuf>,
    /// Describes what is in the boxes. Left out or empty, it is the prompt of the image.
    #[arg(long, value_name = "TEXT", requires = "detailer")]
    detailer_prompt: Vec<String>,
    /// What to avoid there. Left out or empty, it is what the image avoids.
    #[arg(long, value_name = "TEXT", requires = "detailer")]
    detailer_negative_prompt: Vec<String>,
    /// How much a box changes, above 0 and at most 1; 0.4 if left out.
    #[arg(long, value_name = "NUMBER", requires = "detailer")]
    detailer_strength: Vec<f64>,
    /// Steps for each box, of which the strength leaves some out. As many as those of the image if left out.
    #[arg(long, value_name = "COUNT", requires = "detailer")]
    detailer_steps: Vec<u32>,
    /// How sure the detector must be, between 0 and 1; 0.3 if left out.
    #[arg(long, value_name = "NUMBER", requires = "detailer")]
    detailer_confidence: Vec<f32>,
    /// The most boxes of an image that are inpainted; 10 if left out.
    #[arg(long, value_name = "COUNT", requires = "detailer")]
    detailer_most: Vec<u32>,
    /// Which boxes come first: the largest, those that the detector is surest of, those on the left, or those in the middle.
    #[arg(long, value_name = "NAME", value_parser = named(&BoxOrder::ALL, BoxOrder::name), requires = "detailer")]
    detailer_order: Vec<BoxOrder>,
    /// Pixels by which what is found grows on each side; 4 if left out.
    #[arg(long, value_name = "PIXELS", requires = "detailer")]
    detailer_grow: Vec<u32>,
    /// Pixels over which a box fades into the rest; 4 if left out.
    #[arg(long, value_name = "PIXELS", requires = "detailer")]
    detailer_blur: Vec<u32>,
    /// Pixels around a box that the model sees; 32 if left out.
    #[arg(long, value_name = "PIXELS", requires = "detailer")]
    detailer_padding: Vec<u32>,
}

impl DetailerArgs {
    /// The detailers, if any is given.
    pub fn detailers(&self) -> Option<Vec<Detailer>> {
        let usual = Detailer::default();
        let detailer = |(index, model): (usize, &PathBuf)| Detailer {
            model: model.clone(),
            confidence: given(&self.detailer_confidence, index, &usual.confidence),
            most: given(&self.detailer_most, index, &usual.most),
            order: given(&self.detailer_order, index, &usual.order),
            grow: given(&self.detailer_grow, index, &usual.grow),
            blur: given(&self.detailer_blur, index, &usual.blur),
            padding: given(&self.detailer_padding, index, &usual.padding),
            strength: given(&self.detailer_strength, index, &usual.strength),
            steps: self.detailer_steps.get(index).copied(),
            prompt: given(&self.detailer_prompt, index, &usual.prompt),
            negative_prompt: given(&self.detailer_negative_prompt, index, &usual.negative_prompt),
        };
        (!self.detailer.is_empty()).then(|| self.detailer.iter().enumerate().map(detailer).collect())
    }
}

/// The value of an option of one of several things, in the order in which they are given.
pub(super) fn given<T: Clone>(all: &[T], index: usize, usual: &T) -> T {
    all.get(index).unwrap_or(usual).clone()
}
