//! The part of a sampling loop that one denoiser runs.

use std::{collections::BTreeMap, time::Instant};

use candle_core::Tensor;

use super::{Begun, PipelineError, Run};
use crate::{
    hardware::unmetered,
    memory::DeviceChoice,
    models::{Conditioning, Denoise, Denoiser, LatentShape, Prepared},
    nn,
    pipeline::estimate::{StageInputs, prepare_input},
    request::{Region, Regions},
    residency::{Blocks, Executor, WeightStore},
    sampling::RegionShares,
    source::{SourceError, region_shares},
    telemetry::StepRecord,
    units,
};

/// The part of a sampling loop that one denoiser runs.
pub(super) struct Turn<'a> {
    begun: Begun,
    pub stage: usize,
    pub denoise: &'a Denoise,
    pub store: &'a WeightStore,
    pub executor: Executor,
    pub pace: Pace,
    /// Mixes the predictions for regions, if there are any.
    pub regions: Option<RegionShares>,
    prepared: Prepared,
    unguided: Prepared,
    /// The number of the loop's calls before this turn, and the index of its stage in the loop.
    before: usize,
    place: usize,
}

impl<'a> Turn<'a> {
    pub fn part(&self) -> usize {
        self.denoise.denoiser.part
    }

    pub fn denoiser(&self) -> &'a dyn Denoiser {
        self.denoise.denoiser.network.denoiser.as_ref()
    }

    /// The prepared inputs for a prediction with all branches, or without that of the negative prompt.
    pub fn prepared(&self, is_guided: bool) -> &Prepared {
        if is_guided { &self.prepared } else { &self.unguided }
    }

    /// The next stage, if it is its turn at `call`, which counts the loop's calls from 1.
    pub fn next(&self, call: usize, denoises: &[&'a Denoise]) -> Option<&'a Denoise> {
        let is_over = call > self.before + self.denoise.steps.called.len();
        denoises.get(self.place + 1).copied().filter(|_| is_over)
    }
}

impl Run<'_> {
    /// Starts a stage: makes room for its denoiser and prepares it.
    pub(super) fn take_turn<'b>(
        &'b self,
        stage: usize,
        denoise: &'b Denoise,
        conditionings: &mut BTreeMap<usize, Vec<Conditioning>>,
    ) -> Result<Turn<'b>, PipelineError> {
        let begun = self.begin_repeated(stage)?;
        let part = denoise.denoiser.part;
        let (store, executor) = self.enter(stage, part);
        self.fetch_residents(stage)?;
        let branches = conditionings.get(&part).map_or(&[][..], Vec::as_slice);
        let image = self.image.borrow().as_ref().map(|image| image.to_device(store.device())).transpose()?;
        let image = image.map(nn::Tensor::from);
        let there = |latents: &Tensor| Ok(nn::Tensor::from(latents.to_device(store.device())?));
        let references = self.reference_latents.borrow().iter().map(there).collect::<nn::Result<Vec<_>>>()?;
        let controls = self.control_images(denoise, store.device())?;
        let image_tokens = self.seen_images(denoise, store.device())?;
        let inputs = StageInputs {
            image: image.as_ref(),
            references: &references,
            controls: &controls,
            image_tokens: &image_tokens,
        };
        let input = prepare_input(self.request, denoise, branches, inputs);
        let prepared = self.within_memory(stage, || {
            store.announce(0);
            denoise.denoiser.network.denoiser.prepare(Blocks::stored(&executor, store), &input)
        })?;
        if !self.resolved.denoises_after(stage, part) {
            conditionings.remove(&part);
        }
        let unguided = prepared.of_branches(self.resolved.positive_prompts());
        let regions = unmetered(|| self.regions(denoise))?;
        let pace = Pace::new(store);
        Ok(Turn {
            begun,
            stage,
            denoise,
            store,
            executor,
            pace,
            regions,
            prepared,
            unguided,
            before: 0,
            place: 0,
        })
    }

    /// How much the prompts of the image's regions count in the latents of a stage; `None` if there are no regions.
    fn regions(&self, denoise: &Denoise) -> Result<Option<RegionShares>, PipelineError> {
        let Regions { all, base, fade } = &self.request.regions;
        if all.is_empty() {
            return Ok(None);
        }
        let LatentShape { height, width, .. } = denoise.denoiser.network.denoiser.latents(denoise.canvas);
        let shares =
            |region: &Region| Ok((region.weight, region_shares(&region.area, *fade, [height, width])?));
        let each = all.iter().map(shares).collect::<Result<Vec<_>, SourceError>>()?;
        Ok(Some(RegionShares::new(&each, *base, [height, width])?))
    }

    /// Loads what will stay for later stages while this one computes.
    fn fetch_residents(&self, stage: usize) -> Result<(), PipelineError> {
        let later = unmetered(|| self.plan.borrow().residents_of_later_stages(stage));
        for (part, blocks) in later {
            self.loaded.stores[part].fetch_ahead(blocks)?;
        }
        Ok(())
    }

    /// Ends a denoiser's stage and starts the next one in the same sampling loop.
    pub(super) fn hand_over<'b>(
        &'b self,
        turn: &mut Turn<'b>,
        next: &'b Denoise,
        conditionings: &mut BTreeMap<usize, Vec<Conditioning>>,
    ) -> Result<(), PipelineError> {
        let before = turn.before + turn.denoise.steps.called.len();
        let (stage, place, started) = (turn.stage + 1, turn.place + 1, turn.pace.started);
        turn.prepared = Prepared::default();
        turn.unguided = Prepared::default();
        self.end_stage(turn);
        *turn = self.take_turn(stage, next, conditionings)?;
        turn.before = before;
        turn.place = place;
        turn.pace.started = started;
        Ok(())
    }

    /// Ends a denoiser's stage.
    pub(super) fn end_turn(&self, turn: Turn<'_>) {
        self.end_stage(&turn);
    }

    /// Takes the timings of a denoiser's blocks.
    pub(super) fn observe(&self, turn: &Turn<'_>) {
        self.plan.borrow_mut().observe(turn.stage, turn.part(), turn.store);
    }

    fn end_stage(&self, turn: &Turn<'_>) {
        self.observe(turn);
        let slow = self.plan.borrow().slow_link();
        if let (DeviceChoice::Simulated(_), Some(rates)) = (&self.options.target.choice, slow) {
            let [measured, simulated] = rates.map(units::speed);
            self.tell(&format!(
                "This computer copies {measured}, the simulated link {simulated}: steps that wait for it take \
                 longer than on the GPU"
            ));
        }
        if self.repeat.get().is_last() {
            self.finish(&turn.begun);
        }
    }
}

/// Records the timing of each step.
pub(super) struct Pace {
    started: Instant,
    waited: u64,
    moved: u64,
    /// The number of reused predictions so far.
    reused: usize,
}

impl Pace {
    pub fn new(store: &WeightStore) -> Self {
        let (waited, moved) = (store.waited_micros(), store.moved_bytes());
        Self { started: Instant::now(), waited, moved, reused: 0 }
    }

    /// Records a step. `reused` is the number of reused predictions since the first step.
    pub fn step(&mut self, reused: usize, store: &WeightStore, at: u64) -> StepRecord {
        let next = Self { reused, ..Self::new(store) };
        let record = StepRecord {
            at,
            step: 0,
            steps: 0,
            took: (next.started - self.started).as_micros() as u64,
            wait: next.waited - self.waited,
            bytes: next.moved - self.moved,
            reused: (next.reused - self.reused) as u32,
        };
        *self = next;
        record
    }
}
