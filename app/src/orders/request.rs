//! The request that an order becomes.

mod pictures;
mod steering;
#[cfg(test)]
mod tests;

use sluice_engine::{
    adapters::{FewSteps, without_tags},
    request::{AdapterUse, Detailer, Enlarger, Hires, ModelSource, Refiner, Request},
    session::ModelSummary,
};

use super::{DetailerOrder, Inputs, Order, OrderError, Shelf, sampler, schedule};
use crate::seed::random_seed;

/// The name that stands for latents among upscalers.
const LATENT: &str = "latent";

impl Order {
    /// The model, or `usual` if none is named.
    ///
    /// # Errors
    /// When no model has the name.
    pub fn source(&self, shelf: &Shelf, usual: &ModelSource) -> Result<ModelSource, OrderError> {
        self.model.as_deref().map_or_else(|| Ok(usual.clone()), |name| shelf.model(name))
    }

    /// The request, for a model with this summary. The files that it refers to are on the shelf or in the inputs.
    ///
    /// # Errors
    /// When a name is not known or a picture is none. Numbers are checked with the request.
    pub fn request(
        &self,
        summary: &ModelSummary,
        shelf: &Shelf,
        inputs: &mut Inputs,
    ) -> Result<Request, OrderError> {
        let mut adapters = self.adapters(shelf)?;
        let usual = summary.defaults.given_to(Request::default());
        let few = adapters.iter().find_map(|adapter| FewSteps::of(&adapter.path));
        let usual = few.map_or(usual.clone(), |few| few.given_to(usual));
        adapters.extend(self.named_adapters(shelf, &adapters));
        let (sampler, implied) = match &self.sampler {
            Some(name) => sampler(name)?,
            None => (usual.sampler, None),
        };
        let schedule = match &self.schedule {
            Some(name) => schedule(name)?,
            None => implied.unwrap_or(usual.schedule),
        };
        let refiner = match &self.refiner {
            Some(refiner) => Some(Refiner {
                path: shelf.model_path(&refiner.model)?,
                switch: refiner.switch.unwrap_or(Refiner::SWITCH),
            }),
            None => None,
        };
        let request = Request {
            model: summary.source.clone(),
            prompt: self.prompt.clone(),
            negative_prompt: self.negative_prompt.clone().unwrap_or_else(|| usual.negative_prompt.clone()),
            styles: self.chosen_styles(&summary.source)?,
            width: self.width.unwrap_or(usual.width),
            height: self.height.unwrap_or(usual.height),
            frames: self.frames.unwrap_or(usual.frames),
            frame_rate: self.fps.unwrap_or(usual.frame_rate),
            steps: self.steps.unwrap_or(usual.steps),
            guidance: self.guidance.unwrap_or(usual.guidance),
            seed: self.seed.unwrap_or_else(random_seed),
            variation: self.variation,
            batch: self.batch_size.unwrap_or(1),
            sampler,
            schedule,
            shift: self.shift.or(usual.shift),
            guiding: self.guiding(usual.guiding),
            step_cache: self.step_cache.unwrap_or(usual.step_cache),
            clip_skip: self.clip_skip.unwrap_or(usual.clip_skip),
            adapters,
            hires: self.hires(shelf)?,
            control: self.control(inputs)?,
            control_nets: self.nets(shelf, inputs)?,
            image_prompts: self.image_prompts(shelf, inputs)?,
            estimators: self.estimators(shelf)?,
            detailers: self.detailers(shelf)?,
            regions: self.regions(inputs)?,
            refiner,
            ..usual
        };
        let request = self.with_frames(request, summary)?;
        self.with_pictures(request, summary, inputs)
    }

    fn adapters(&self, shelf: &Shelf) -> Result<Vec<AdapterUse>, OrderError> {
        let uses = self.loras.iter().map(|lora| {
            let path = shelf.adapter(&lora.name)?;
            let usual = || FewSteps::of(&path).map_or(1.0, |few| few.weight);
            Ok(AdapterUse { weight: lora.weight.unwrap_or_else(usual), path })
        });
        uses.collect()
    }

    /// Adapters that only the prompts name. The engine takes their weights from there, and looks for other names beside the model.
    fn named_adapters(&self, shelf: &Shelf, listed: &[AdapterUse]) -> Vec<AdapterUse> {
        let prompts = [Some(&self.prompt), self.negative_prompt.as_ref()].into_iter().flatten();
        // What cannot be read is refused by the engine.
        let tags = prompts.filter_map(|prompt| without_tags(prompt).ok()).flat_map(|(_, tags)| tags);
        let mut named: Vec<AdapterUse> = Vec::new();
        for tag in tags {
            let Some(path) = shelf.named_adapter(&tag.name) else { continue };
            if listed.iter().chain(&named).all(|other| other.path != path) {
                named.push(AdapterUse { path, weight: tag.weight });
            }
        }
        named
    }

    fn hires(&self, shelf: &Shelf) -> Result<Option<Hires>, OrderError> {
        let Some(order) = &self.hires else { return Ok(None) };
        let usual = Hires::default();
        let enlarger = match order.upscaler.as_deref() {
            None => usual.enlarger,
            Some(name) if name.eq_ignore_ascii_case(LATENT) => Enlarger::Latent,
            Some(name) => Enlarger::Upscaler(shelf.upscaler(name)?),
        };
        Ok(Some(Hires {
            scale: order.scale.unwrap_or(usual.scale),
            strength: order.strength.unwrap_or(usual.strength),
            steps: order.steps,
            enlarger,
        }))
    }

    fn detailers(&self, shelf: &Shelf) -> Result<Vec<Detailer>, OrderError> {
        let detailer = |order: &DetailerOrder| {
            let usual = Detailer::new(shelf.detector(&order.model)?);
            Ok(Detailer {
                confidence: order.confidence.unwrap_or(usual.confidence),
                most: order.most.unwrap_or(usual.most),
                order: order.order.unwrap_or(usual.order),
                grow: order.grow.unwrap_or(usual.grow),
                blur: order.blur.unwrap_or(usual.blur),
                padding: order.padding.unwrap_or(usual.padding),
                strength: order.strength.unwrap_or(usual.strength),
                steps: order.steps,
                prompt: order.prompt.clone(),
                negative_prompt: order.negative_prompt.clone(),
                ..usual
            })
        };
        self.detailers.iter().map(detailer).collect()
    }
}
