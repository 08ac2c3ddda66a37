//! A model with stores for its weights, and what stays in memory between runs.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use candle_core::Device;

use super::{
    PipelineError, Target, adapted,
    footprint::{dtype_of, footprint},
    preview::Preview,
    tiny,
    tiny::Tiny,
};
use crate::{
    adapters::AdapterReport,
    checkpoint::{Component, FileStamp, Role},
    hardware::{MemoryAccount, unmetered},
    memory::{DeviceChoice, Footprint, Keep, MemoryPreferences, Plan, Residence, StagePlan},
    models::{Conditioning, Denoising, Model, Prompt, Used},
    nn::{
        self, DryRun, Tensor,
        computed::{Bf16Method, rounds_inputs_in},
    },
    precision::Storage,
    request::{AdapterUse, ComputeDtype},
    residency::WeightStore,
};

/// Maximum number of cached prompts.
const PROMPTS: usize = 32;

/// The conditioning of a prompt for each denoiser, by the indices of their parts.
type Conditionings = BTreeMap<usize, Conditioning>;

/// The images of an IP-Adapter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PromptImages {
    /// The part that makes tokens of them.
    pub part: usize,
    /// Their files.
    pub files: Vec<FileStamp>,
    /// Whether there are tokens for the negative branch as well.
    pub is_guided: bool,
}

/// A model with stores for its weights. The plan of the last run decides which weights stay between runs.
pub struct LoadedModel {
    pub(super) model: Model,
    /// The components that adapters can change, without adapters.
    bare: Vec<Component>,
    pub(super) name: String,
    dtype: ComputeDtype,
    choice: DeviceChoice,
    /// The precisions of matrices: the denoiser's, the text encoders'.
    precisions: [Storage; 2],
    pub(super) account: Arc<MemoryAccount>,
    /// In the order of the model's components.
    pub(super) stores: Vec<WeightStore>,
    pub(super) preview: RefCell<Option<Preview>>,
    tiny: OnceCell<Option<Tiny>>,
    prompts: RefCell<VecDeque<(Prompt, Conditionings)>>,
    /// The tokens of images that were made for IP-Adapters, in RAM.
    image_tokens: RefCell<VecDeque<(PromptImages, Vec<candle_core::Tensor>)>>,
    /// The image that a segmenter has seen last, and its embedding, in RAM.
    embedded: RefCell<Option<(FileStamp, candle_core::Tensor)>>,
}

impl LoadedModel {
    /// Creates stores for the weights of `model` on a device, in the precisions of `preferences`. Reads no
    /// weights yet.
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
            let dtype = dtype_of(component.role, dtype);
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
            image_tokens: RefCell::default(),
            embedded: RefCell::default(),
        }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The dtype of its computation.
    pub fn dtype(&self) -> ComputeDtype {
        self.dtype
    }

    /// How the CPU multiplies bf16 for it.
    pub fn multiplies_in_bf16(&self) -> Option<Bf16Method> {
        let in_bf16 = self.device().is_cpu() && self.dtype == ComputeDtype::Bf16;
        Bf16Method::detect().filter(|_| in_bf16)
    }

    /// Whether the CPU rounds inputs of products to 8 bits for it.
    pub fn multiplies_in_8_bits(&self) -> bool {
        let is_asked_for = self.device().is_cpu() && self.precisions.contains(&Storage::W8a8);
        is_asked_for && rounds_inputs_in(dtype_of(Role::Denoiser, self.dtype))
    }

    /// Uses exactly these adapters from now on; returns a report for each. Weights that change are read again
    /// when they are needed. If only the weight of a low-rank adapter differs, nothing is read again.
    ///
    /// # Errors
    /// When an adapter cannot be read or is for another family. The model is then unchanged.
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

    /// Whether it can serve a job with this dtype, device and precision of weights.
    pub fn serves(
        &self,
        dtype: ComputeDtype,
        choice: &DeviceChoice,
        preferences: &MemoryPreferences,
    ) -> bool {
        self.dtype == dtype && self.choice == *choice && self.precisions == preferences.precisions()
    }

    /// Its blocks, in the precision in which they are kept.
    pub fn footprint(&self) -> Footprint {
        footprint(&self.model, &self.name, self.dtype)
    }

    /// Applies a plan to the stores: the placement of blocks in this stage, or else in the next that uses the
    /// part.
    pub(super) fn follow(&self, plan: &Plan, stage: usize) {
        for (part, store) in self.stores.iter().enumerate() {
            if let Some(part_use) = plan.use_from(stage, part) {
                store.follow(part_use);
            }
        }
    }

    /// Makes room for a part in a stage: evicts what the plan keeps on the device only for other parts. Of parts of
    /// which everything is to be kept, what fits beside stays, unless only the part in use is to be there.
    pub(super) fn enter(&self, plan: &Plan, stage: usize, index: usize) {
        self.evict(plan, stage, |other| other != index);
        if let Some(part_use) = plan.use_from(stage, index) {
            self.stores[index].follow(part_use);
        }
    }

    /// Applies a plan that needs less memory in a stage that is under way.
    pub(super) fn step_down(&self, plan: &Plan, stage: usize) {
        self.follow(plan, stage);
        let is_used = |part: usize| plan.stages.get(stage).is_some_and(|stage| stage.use_of(part).is_some());
        self.evict(plan, stage, |other| !is_used(other));
    }

    /// Evicts those of the parts that do not stay on the device in all stages.
    fn evict(&self, plan: &Plan, stage: usize, of: impl Fn(usize) -> bool) {
        let needed = plan.stages.get(stage).map_or(0, StagePlan::needed);
        let mut room = plan.device_budget.saturating_sub(needed);
        for (other, (store, part)) in self.stores.iter().zip(&plan.parts).enumerate() {
            if !of(other) || part.residence == Residence::Resident {
                continue;
            }
            let here = store.resident_bytes();
            if plan.keeps_beside(part) && here <= room {
                room -= here;
                store.rest();
            } else {
                leave(store, part.residence);
            }
        }
    }

    /// Ends a run: evicts what does not stay for the next one.
    pub(super) fn end(&self, plan: &Plan) {
        for (store, part) in self.stores.iter().zip(&plan.parts) {
            match part.keep {
                Keep::None => store.leave_memory(),
                Keep::Auto if part.residence != Residence::Resident => leave(store, part.residence),
                Keep::Auto | Keep::All => store.rest(),
            }
        }
        let mut encoders = plan.parts.iter().filter(|part| part.role == Role::TextEncoder);
        if encoders.all(|part| part.keep == Keep::None) {
            self.prompts.borrow_mut().clear();
            self.image_tokens.borrow_mut().clear();
        }
    }

    /// Runs functions without data on its device, with the accounting of its memory.
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

    /// The tiny decoder for previews, if its file exists.
    pub(super) fn tiny_decoder(&self) -> Option<&Tiny> {
        self.tiny.get_or_init(|| unmetered(|| tiny::find(&self.model))).as_ref()
    }

    /// The embedding of an image, if it was the last one that was embedded and its file is the same.
    pub(super) fn embedded(&self, image: &FileStamp) -> Option<candle_core::Tensor> {
        let known = self.embedded.borrow();
        known.as_ref().filter(|(known, _)| known == image).map(|(_, embedding)| embedding.clone())
    }

    /// Keeps a copy of the embedding of an image in RAM, in place of the one before.
    pub(super) fn keep_embedded(&self, image: FileStamp, embedding: &Tensor) -> nn::Result<()> {
        let copy = unmetered(|| embedding.computed()?.to_device(&Device::Cpu)?.copy())?;
        *self.embedded.borrow_mut() = Some((image, copy));
        Ok(())
    }

    /// The tokens of images, if they are known.
    pub(super) fn image_tokens(&self, images: &PromptImages) -> Option<Vec<candle_core::Tensor>> {
        let known = self.image_tokens.borrow();
        known.iter().find(|(known, _)| known == images).map(|(_, tokens)| tokens.clone())
    }

    /// Keeps copies of the tokens of images in RAM.
    pub(super) fn keep_image_tokens(
        &self,
        images: &PromptImages,
        tokens: &[candle_core::Tensor],
    ) -> candle_core::Result<()> {
        let copies =
            unmetered(|| tokens.iter().map(candle_core::Tensor::copy).collect::<candle_core::Result<_>>())?;
        let mut all = self.image_tokens.borrow_mut();
        all.retain(|(known, _)| known != images);
        all.truncate(PROMPTS - 1);
        all.push_front((images.clone(), copies));
        Ok(())
    }

    /// Whether the conditioning of a prompt for these denoisers is cached.
    pub(super) fn knows(&self, prompt: &Prompt, denoisers: &[Used<Denoising>]) -> bool {
        let prompts = self.prompts.borrow();
        let known = prompts.iter().find(|(known, _)| known == prompt);
        known.is_some_and(|(_, known)| denoisers.iter().all(|denoiser| known.contains_key(&denoiser.part)))
    }

    /// The cached conditioning of a prompt for the denoiser of a part, on the device.
    pub(super) fn encoded(&self, prompt: &Prompt, denoiser: usize) -> nn::Result<Option<Conditioning>> {
        let prompts = self.prompts.borrow();
        let known = prompts.iter().find(|(known, _)| known == prompt);
        let known = known.and_then(|(_, known)| known.get(&denoiser));
        known.map(|known| copied(known, self.device())).transpose()
    }

    /// Caches the conditioning of a prompt in RAM.
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
        images: conditioning.images.clone(),
        is_hidden: conditioning.is_hidden,
    })
}

fn leave(store: &WeightStore, residence: Residence) {
    if residence == Residence::OnDemand || store.memory().is_unified() {
        store.leave_memory();
    } else {
        store.leave_device();
    }
}
