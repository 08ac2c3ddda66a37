//! A model whose weights have places, and what of it stays between runs.

use std::{cell::RefCell, collections::VecDeque, sync::Arc};

use candle_core::Tensor;

use super::{Target, estimate, preview::Preview};
use crate::{
    checkpoint::Component,
    hardware::{MemoryAccount, unmetered},
    memory::{ComponentPlan, DeviceChoice, Footprint, Keep, Plan, Residence, Stage, StagePlan},
    models::Model,
    request::ComputeDtype,
    residency::{DeviceMemory, WeightStore},
};

/// Embedded prompts that are kept.
const PROMPTS: usize = 32;

/// A model with stores for its weights. What stays in them between runs is said by the plan of the last run.
pub struct LoadedModel {
    pub(super) model: Model,
    pub(super) name: String,
    dtype: ComputeDtype,
    choice: DeviceChoice,
    pub(super) account: Arc<MemoryAccount>,
    /// In the order of the model's components: text encoder, denoiser, autoencoder.
    pub(super) stores: [WeightStore; 3],
    pub(super) preview: RefCell<Option<Preview>>,
    prompts: RefCell<VecDeque<(Vec<u32>, Tensor)>>,
}

/// The numbers of the stores.
pub const TEXT: usize = 0;
/// The numbers of the stores.
pub const DENOISER: usize = 1;
/// The numbers of the stores.
pub const AUTOENCODER: usize = 2;

impl LoadedModel {
    /// Makes stores for the weights of `model` on a device. Reads none yet.
    pub fn new(
        model: Model,
        name: String,
        dtype: ComputeDtype,
        target: &Target,
        account: &Arc<MemoryAccount>,
    ) -> Self {
        let memory = target.memory();
        let dtypes = estimate::dtypes(dtype);
        let store = |component: &Component, index: usize| {
            let memory: Arc<dyn DeviceMemory> = Arc::clone(&memory);
            WeightStore::new(component.clone(), dtypes[index], memory, Arc::clone(account))
        };
        let stores = [
            store(&model.text.component, TEXT),
            store(&model.denoiser_component, DENOISER),
            store(&model.autoencoder_component, AUTOENCODER),
        ];
        Self {
            model,
            name,
            dtype,
            choice: target.choice.clone(),
            account: Arc::clone(account),
            stores,
            preview: RefCell::new(None),
            prompts: RefCell::default(),
        }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Whether it can serve a job in this precision on this device.
    pub fn serves(&self, dtype: ComputeDtype, choice: &DeviceChoice) -> bool {
        self.dtype == dtype && self.choice == *choice
    }

    /// Its blocks, as they are held.
    pub fn footprint(&self) -> Footprint {
        estimate::footprint(&self.model, &self.name, self.dtype)
    }

    /// Gives the stores their parts of a plan.
    pub(super) fn follow(&self, plan: &Plan) {
        for (store, component) in self.stores.iter().zip(&plan.components) {
            store.follow(component);
        }
    }

    /// Makes the room that a stage needs: what the plan has on the device in other stages only goes, unless
    /// everything is to be kept and there is room for it.
    pub(super) fn enter(&self, plan: &Plan, stage: Stage, keep: Keep) {
        let needed = plan.stage(stage).map_or(0, StagePlan::device);
        let mut room = plan.device_budget.saturating_sub(needed);
        for (store, component) in self.stores.iter().zip(&plan.components) {
            if component.stage == stage || component.residence == Residence::Resident {
                continue;
            }
            let here = store.resident_bytes();
            if keep == Keep::All && here <= room {
                room -= here;
                store.rest();
            } else {
                leave(store, component);
            }
        }
    }

    /// Ends a run: what does not stay for the next one goes.
    pub(super) fn end(&self, plan: &Plan, keep: Keep) {
        for (store, component) in self.stores.iter().zip(&plan.components) {
            match keep {
                Keep::None => store.leave_memory(),
                Keep::Auto if component.residence != Residence::Resident => leave(store, component),
                Keep::Auto | Keep::All => store.rest(),
            }
        }
        if keep == Keep::None {
            self.prompts.borrow_mut().clear();
        }
    }

    /// Whether a prompt was embedded before.
    pub(super) fn is_embedded(&self, ids: &[u32]) -> bool {
        self.prompts.borrow().iter().any(|(known, _)| known == ids)
    }

    /// The embedding of a prompt that was embedded before, on the device.
    pub(super) fn embedded(&self, ids: &[u32]) -> candle_core::Result<Option<Tensor>> {
        let prompts = self.prompts.borrow();
        let known = prompts.iter().find(|(known, _)| known == ids);
        known.map(|(_, embedding)| embedding.to_device(self.stores[DENOISER].device())?.copy()).transpose()
    }

    /// Keeps the embedding of a prompt, in the host's memory.
    pub(super) fn keep_embedding(&self, ids: &[u32], embedding: &Tensor) -> candle_core::Result<()> {
        let copy = unmetered(|| embedding.to_device(&candle_core::Device::Cpu)?.copy())?;
        let mut prompts = self.prompts.borrow_mut();
        prompts.truncate(PROMPTS - 1);
        prompts.push_front((ids.to_vec(), copy));
        Ok(())
    }
}

fn leave(store: &WeightStore, component: &ComponentPlan) {
    if component.residence == Residence::OnDemand || store.memory().is_unified() {
        store.leave_memory();
    } else {
        store.leave_device();
    }
}
