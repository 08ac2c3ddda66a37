//! What models and requests come to, kept for the next question: the window asks after each edit, and most edits
//! change no size.

use std::{collections::VecDeque, sync::Arc};

use super::precisions::MeasuredErrors;
use crate::{
    adapters::AdapterReport,
    checkpoint::{Errors, FileStamp},
    memory::{Footprint, Workload},
    models::{Model, Prompt},
    nn::{Computes, Trace},
    pipeline::{self, PipelineError, Resolved},
    request::Request,
};

/// Requests that are kept.
const KEPT: usize = 16;

/// What a model and a request come to.
pub struct Sizes {
    /// The model's blocks.
    pub footprint: Footprint,
    /// What the request asks of them.
    pub workload: Workload,
    /// What became of the adapters.
    pub reports: Vec<AdapterReport>,
    /// [`Model::identity`] without adapters; empty for a model that is not here.
    pub identity: String,
}

/// Sizes that were worked out before.
#[derive(Default)]
pub struct KnownSizes {
    errors: MeasuredErrors,
    known: VecDeque<(Arc<Model>, String, Arc<Sizes>)>,
}

impl KnownSizes {
    /// The sizes of a model without adapters and a request that may name some, on what computes it. Reads a sample of
    /// the weights, once a model. Without `name` the model is called what its files say.
    ///
    /// # Errors
    /// When an adapter cannot be read or does not fit, or the model cannot do what is asked of it.
    pub fn of(
        &mut self,
        model: &Arc<Model>,
        name: Option<&str>,
        resolved: &Resolved,
        computes: Computes,
    ) -> Result<Arc<Sizes>, PipelineError> {
        let key = key(resolved, computes);
        let known = self.known.iter().find(|(known, own, _)| Arc::ptr_eq(known, model) && *own == key);
        if let Some((.., sizes)) = known {
            return Ok(Arc::clone(sizes));
        }
        let errors: Vec<Errors> = model.components().map(|component| self.errors.of(component)).collect();
        let mut adapted = Model::clone(model);
        let reports = pipeline::adapt_model(&mut adapted, &resolved.request.adapters)?;
        let workload = pipeline::workload(&adapted, resolved, &Trace::new(computes))?;
        let name = match name {
            Some(name) => name.to_owned(),
            None => pipeline::summarise(&adapted, &resolved.request.model)?.name,
        };
        let mut footprint = pipeline::footprint(&adapted, &name, resolved.dtype);
        for (part, errors) in footprint.parts.iter_mut().zip(errors) {
            part.errors = errors;
        }
        let sizes = Arc::new(Sizes { footprint, workload, reports, identity: model.identity() });
        self.known.truncate(KEPT - 1);
        self.known.push_front((Arc::clone(model), key, Arc::clone(&sizes)));
        Ok(sizes)
    }
}

/// Everything in a request that sizes depend on.
fn key(resolved: &Resolved, computes: Computes) -> String {
    let request = Request {
        prompt: String::new(),
        negative_prompt: String::new(),
        seed: 0,
        ..resolved.request.clone()
    };
    let lengths: Vec<Vec<usize>> = resolved.prompts.iter().map(Prompt::lengths).collect();
    let adapters: Vec<FileStamp> =
        request.adapters.iter().map(|adapter| FileStamp::of(&adapter.path)).collect();
    let Resolved { references, tile, .. } = resolved;
    format!("{request:?} {references:?} {lengths:?} {adapters:?} {computes:?} {tile:?}")
}
