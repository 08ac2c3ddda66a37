//! A model whose weights have places, and what of it stays between runs.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use candle_core::Device;

use super::{PipelineError, Target, adapted, estimate, preview::Preview, tiny};
use crate::{
    adapters::AdapterReport,
    checkpoint::{Component, Role},
    hardware::{MemoryAccount, unmetered},
    memory::{DeviceChoice, Footprint, Keep, MemoryPreferences, Plan, Residence, StagePlan},
    models::{Conditioning, Denoising, Model, Prompt, Used},
    nn::{self, DryRun, Tensor},
    precision::Storage,
    request::{AdapterUse, ComputeDtype},
    residency::WeightStore,
    vae::TinyDecoder,
};

/// Embedded prompts that are kept.
const PROMPTS: usize = 32;

/// What a prompt became for each denoiser, by the numbers of their parts.
type Conditionings = BTreeMap<usize, Conditioning>;

/// A model with stores for its weights. What stays in them between runs is said by the plan of the last run.
pub struct LoadedModel {
    pub(super) model: Model,
    /// What adapters can change, as it is without any.
    bare: Vec<Component>,
    pub(super) name: String,
    dtype: ComputeDtype,
    choice: DeviceChoice,
    /// What matrices are held as: those of the denoiser, those of the text encoders.
    precisions: [Storage; 2],
    pub(super) account: Arc<MemoryAccount>,
    /// In the order of the model's components.
    pub(super) stores: Vec<WeightStore>,
    pub(super) preview: RefCell<Option<Preview>>,
    tiny: OnceCell<Option<TinyDecoder>>,
    prompts: RefCell<VecDeque<(Prompt, Conditionings)>>,
}

impl LoadedModel {
    /// Makes stores for the weights of `model` on a device, to be held as `preferences` say. Reads none yet.
    pub fn new(
        model: Model,
        name: String,
        dtype: ComputeDtype,
        target: &Target,
        preferences: &MemoryPreferences,
        account: &Arc<MemoryAccount>,
    ) -> Self {
        let model = model.held_as(preferences);
        let memory = target.memory();
        account.count_with(memory.pool());
        let store = |component: &Component| {
            let dtype = estimate::dtype_of(component.role, dtype);
            WeightStore::new(component.clone(), dtype, Arc::clone(&memory), Arc::clone(account))
        };
        let stores = model.components().map(store).collect();
        let bare = adapted::adaptable(&model).map(|part| part.component.clone()).collect();
        Self {
            model,
            bare,
            name,
            dtype,
            choice: target.choice.clone(),
            precisions: preferences.precisions(),
            account: Arc::clone(account),
            stores,
            preview: RefCell::new(None),
            tiny: OnceCell::new(),
            prompts: RefCell::default(),
        }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What it is computed in.
    pub fn dtype(&self) -> ComputeDtype {
        self.dtype
    }

    /// Draws with these adapters from now on, and with no others; says what became of each. What they change is read
    /// again when it is needed; where nothing but the weight of a low-rank adapter is different, nothing is.
    ///
    /// # Errors
    /// When an adapter cannot be read or is for another family. The model is then as it was.
    pub fn adapt(&mut self, uses: &[AdapterUse]) -> Result<Vec<AdapterReport>, PipelineError> {
        let (components, reports) = adapted::adapted(&self.bare, &self.model, uses)?;
        let mut text_differs = false;
        let takes_adapters = self.model.parts.iter().map(|part| part.takes_adapters);
        let stores = self.stores.iter_mut().zip(takes_adapters).filter(|(_, takes)| *takes);
        for ((store, _), component) in stores.zip(&components) {
            let differs = store.adapt(component.clone())?;
            text_differs |= differs && component.role == Role::TextEncoder;
        }
        if text_differs {
            self.prompts.borrow_mut().clear();
        }
        adapted::replace(&mut self.model, components);
        Ok(reports)
    }

    /// Whether it can serve a job in this precision on this device with weights that are held so.
    pub fn serves(
        &self,
        dtype: ComputeDtype,
        choice: &DeviceChoice,
        preferences: &MemoryPreferences,
    ) -> bool {
        self.dtype == dtype && self.choice == *choice && self.precisions == preferences.precisions()
    }

    /// Its blocks, as they are held.
    pub fn footprint(&self) -> Footprint {
        estimate::footprint(&self.model, &self.name, self.dtype)
    }

    /// Gives the stores their parts of a plan: where blocks are in this stage, or else in the next that uses the part.
    pub(super) fn follow(&self, plan: &Plan, stage: usize) {
        for (part, store) in self.stores.iter().enumerate() {
            if let Some(part_use) = plan.use_from(stage, part) {
                store.follow(part_use);
            }
        }
    }

    /// Makes the room that a part needs in a stage: what the plan has on the device for others only goes, unless
    /// everything is to be kept and there is room for it.
    pub(super) fn enter(&self, plan: &Plan, stage: usize, index: usize, keep: Keep) {
        let needed = plan.stages.get(stage).map_or(0, StagePlan::device);
        let mut room = plan.device_budget.saturating_sub(needed);
        for (other, (store, part)) in self.stores.iter().zip(&plan.parts).enumerate() {
            if other == index || part.residence == Residence::Resident {
                continue;
            }
            let here = store.resident_bytes();
            if keep == Keep::All && here <= room {
                room -= here;
                store.rest();
            } else {
                leave(store, part.residence);
            }
        }
        if let Some(part_use) = plan.use_from(stage, index) {
            self.stores[index].follow(part_use);
        }
    }

    /// Ends a run: what does not stay for the next one goes.
    pub(super) fn end(&self, plan: &Plan, keep: Keep) {
        for (store, part) in self.stores.iter().zip(&plan.parts) {
            match keep {
                Keep::None => store.leave_memory(),
                Keep::Auto if part.residence != Residence::Resident => leave(store, part.residence),
                Keep::Auto | Keep::All => store.rest(),
            }
        }
        if keep == Keep::None {
            self.prompts.borrow_mut().clear();
        }
    }

    /// Tries functions out where its weights are, by the books of its memory.
    pub(super) fn dry_run(&self) -> DryRun {
        let account = Arc::clone(&self.account);
        let meter = move |work: &mut dyn FnMut() -> nn::Result<()>| {
            account.settle();
            let before = account.holdings().activations;
            account.take_peaks();
            work()?;
            Ok(account.take_peaks().activations.saturating_sub(before))
        };
        DryRun::new(self.device().clone(), Box::new(meter))
    }

    /// The device that it is computed on.
    pub(super) fn device(&self) -> &Device {
        self.stores.first().map_or(&Device::Cpu, WeightStore::device)
    }

    /// What previews are decoded with, if there is a file for that.
    pub(super) fn tiny_decoder(&self) -> Option<&TinyDecoder> {
        self.tiny.get_or_init(|| unmetered(|| tiny::find(&self.model))).as_ref()
    }

    /// Whether a prompt was encoded before for these denoisers.
    pub(super) fn knows(&self, prompt: &Prompt, denoisers: &[Used<Denoising>]) -> bool {
        let prompts = self.prompts.borrow();
        let known = prompts.iter().find(|(known, _)| known == prompt);
        known.is_some_and(|(_, known)| denoisers.iter().all(|denoiser| known.contains_key(&denoiser.part)))
    }

    /// What a prompt that was encoded before became for the denoiser of a part, on the device.
    pub(super) fn encoded(&self, prompt: &Prompt, denoiser: usize) -> nn::Result<Option<Conditioning>> {
        let prompts = self.prompts.borrow();
        let known = prompts.iter().find(|(known, _)| known == prompt);
        let known = known.and_then(|(_, known)| known.get(&denoiser));
        known.map(|known| copied(known, self.device())).transpose()
    }

    /// Keeps what a prompt became, in the host's memory.
    pub(super) fn keep_encoded(&self, prompt: &Prompt, conditionings: &Conditionings) -> nn::Result<()> {
        let copy = |(part, conditioning): (&usize, &Conditioning)| {
            Ok((*part, unmetered(|| copied(conditioning, &Device::Cpu))?))
        };
        let copies = conditionings.iter().map(copy).collect::<nn::Result<_>>()?;
        let mut prompts = self.prompts.borrow_mut();
        prompts.retain(|(known, _)| known != prompt);
        prompts.truncate(PROMPTS - 1);
        prompts.push_front((prompt.clone(), copies));
        Ok(())
    }
}

fn copied(conditioning: &Conditioning, device: &Device) -> nn::Result<Conditioning> {
    let copy =
        |tensor: &Tensor| -> nn::Result<Tensor> { Ok(tensor.computed()?.to_device(device)?.copy()?.into()) };
    Ok(Conditioning {
        prompt: copy(&conditioning.prompt)?,
        pooled: conditioning.pooled.as_ref().map(copy).transpose()?,
    })
}

fn leave(store: &WeightStore, residence: Residence) {
    if residence == Residence::OnDemand || store.memory().is_unified() {
        store.leave_memory();
    } else {
        store.leave_device();
    }
}
