//! What it takes to find things in images, and what those are inpainted with.

use super::{Conditionings, Estimator, LISTS, PipelineError};
use crate::{
    aids::{Detector, View},
    memory::{PartUse, Work},
    models::{Task, Used},
    nn::DType,
};

impl Estimator<'_> {
    /// The work of finding things in an image of a width and height.
    pub(super) fn detect(
        &self,
        Used { part, network }: &Used<Detector>,
        [width, height]: [u32; 2],
    ) -> Result<Vec<PartUse>, PipelineError> {
        self.trace.take();
        let blocks = self.blocks(*part);
        let [rows, columns] = View::of([height, width]).whole;
        let image = self.trace.tensor(&[1, 3, rows, columns], DType::F32);
        network.look(blocks.blocks(), &image)?;
        let work = Work { tile: None, carried: LISTS, blocks: blocks.take() };
        Ok(vec![PartUse { part: *part, ways: vec![work] }])
    }

    /// What the boxes of a detailer are conditioned on, if no stage of its own encodes its prompts: those of the images.
    pub(super) fn conditionings(&self, detailer: usize) -> Result<Conditionings, PipelineError> {
        let stages = &self.resolved.stages;
        let is_encoder = |task: &&Task| matches!(task, Task::EncodePrompt { .. });
        if stages[self.resolved.range(Some(detailer))].iter().any(|task| is_encoder(&task)) {
            return Ok(Conditionings::new());
        }
        let Some(Task::EncodePrompt { encoders, denoisers, vision }) = stages.iter().find(is_encoder) else {
            return Ok(Conditionings::new());
        };
        let (_, seen) = self.see(vision.as_ref())?;
        Ok(self.encode_prompt(encoders, denoisers, &seen)?.1)
    }
}
