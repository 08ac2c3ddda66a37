//! The device that a job asks for: what the planner may count with, and the memory behind it.

#[cfg(feature = "metal")]
mod apple;
#[cfg(feature = "cuda")]
mod card;
#[cfg(not(any(feature = "cuda", feature = "metal")))]
mod no_card;

#[cfg(feature = "metal")]
pub use apple::ready;
#[cfg(feature = "metal")]
use apple::{first_card, numbered_card};
#[cfg(feature = "cuda")]
pub use card::ready;
#[cfg(feature = "cuda")]
use card::{first_card, numbered_card};
#[cfg(not(any(feature = "cuda", feature = "metal")))]
pub use no_card::ready;
#[cfg(not(any(feature = "cuda", feature = "metal")))]
use no_card::{first_card, numbered_card};

use std::{collections::BTreeMap, sync::Arc};

use super::{PipelineError, processor::Processor};
use crate::{
    hardware::{CardProfile, HardwareSample, card, cards},
    memory::{
        self, Attention, CARD_BLOCK_LATENCY, Correction, DeviceChoice, Footprint, Link, Machine,
        MemoryPreferences, Outcome, RunIdentity, USUAL_DISK, machine_of, unified_machine,
    },
    models::Model,
    nn::{self, Balance, Computes, Effort, Kernels},
    request::ComputeDtype,
    residency::{CpuMemory, DeviceMemory, SimulatedCard},
};

/// Part of the available memory that a run may take when nobody says how much.
const SHARE: f64 = 0.85;
/// Bytes of a process's memory limit that a run does not plan with: the stacks and buffers of the threads that it starts.
const BESIDE_A_RUN: u64 = 8 << 20;
/// What a disk is taken to deliver until it was measured.
const DISK: Link = Link { bytes_per_second: 1.5e9, latency: 1e-4 };
/// Seconds that a pass through a block takes on the processor however small it is.
const BLOCK_LATENCY: f64 = 30e-6;

/// A device to run on.
#[derive(Debug, Clone)]
pub struct Target {
    /// What was chosen.
    pub choice: DeviceChoice,
    /// What a card computes with kernels of this engine.
    pub kernels: Kernels,
    /// What the planner may count with.
    pub machine: Machine,
    /// Whether the budget is enforced: a GPU's always is, the machine's own memory if a budget or the system limits it.
    pub enforced: bool,
    /// Operations a second in f32, where `machine` has those in 16 bits.
    f32_rate: Option<f64>,
    /// What its functions that wait for memory count, where a card computes.
    balance: Balance,
    /// Whether its card, there or simulated, computes in bf16; those before compute capability 8.0 do not.
    card_has_bf16: Option<bool>,
    /// Bytes that are allocated for each byte of activations at most.
    allocates: f64,
    /// The memory of a card that is there.
    card: Option<Arc<dyn DeviceMemory>>,
    /// Number of CPU threads that compute.
    threads: usize,
    /// How long the functions of the CPU take.
    effort: Effort,
}

/// A card that is there.
struct Card {
    memory: Arc<dyn DeviceMemory>,
    has_bf16: bool,
    /// Whether the engine's kernels run on it.
    has_kernels: bool,
    name: String,
    /// Bytes of VRAM, or of the memory that it shares.
    total: u64,
    /// Bytes that this process has or can still get.
    available: u64,
    /// From the host's memory; absent if the card computes in it.
    link: Option<Link>,
    /// Bytes that are allocated for each byte of activations at most.
    allocates: f64,
    /// Floating-point operations a second in 16 bits.
    operations_per_second: f64,
    /// The same in f32, for which there are no tensor cores.
    f32_operations_per_second: f64,
    /// Bytes a second that its memory reads or writes.
    memory_bytes_per_second: f64,
}

/// Whose speed a plan counts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// That of the card, to say what it would do.
    Card,
    /// That of the processor, which computes in the place of a simulated card.
    Here,
}

impl Target {
    /// The device that `preferences` choose on a machine as `sample` shows it, of whose memory `held` bytes are
    /// this engine's already.
    pub fn choose(
        preferences: &MemoryPreferences,
        sample: &HardwareSample,
        held: u64,
        pace: Pace,
    ) -> Result<Self, PipelineError> {
        let choice = preferences.device.clone();
        let limited = sample.ram_limit.is_some();
        let set_aside = if limited { BESIDE_A_RUN } else { 0 };
        let free = (sample.ram_available + held).saturating_sub(set_aside);
        let available = (free as f64 * SHARE) as u64;
        let within = |budget: u64| if limited { budget.min(available) } else { budget };
        let host = preferences.ram_budget.map_or(available, within);
        let card = match &choice {
            DeviceChoice::Auto => first_card()?,
            DeviceChoice::Gpu(number) => Some(numbered_card(*number, sample)?),
            DeviceChoice::Processor | DeviceChoice::Simulated(_) => None,
        };
        match (&choice, card) {
            (_, Some(card)) => {
                let free = card.available.saturating_sub(preferences.min_free_vram);
                let machine = match card.link {
                    Some(link) => Machine {
                        device: card.name,
                        unified: false,
                        device_total: card.total,
                        device_budget: preferences.vram_budget.map_or(free, |budget| budget.min(free)),
                        host_budget: host,
                        link,
                        disk: USUAL_DISK,
                        disk_is_measured: false,
                        operations_per_second: card.operations_per_second,
                        block_latency: CARD_BLOCK_LATENCY,
                        own_speeds: BTreeMap::new(),
                    },
                    None => {
                        let budget = one_budget(preferences).map_or(free, |budget| budget.min(free));
                        unified_machine(card.name, card.total, budget, card.operations_per_second)
                    }
                };
                Ok(Self {
                    choice,
                    kernels: possible(preferences.attention, card.has_kernels),
                    machine,
                    enforced: true,
                    f32_rate: Some(card.f32_operations_per_second),
                    balance: Balance::of(card.operations_per_second, card.memory_bytes_per_second),
                    card_has_bf16: Some(card.has_bf16),
                    allocates: card.allocates,
                    card: Some(card.memory),
                    threads: rayon::current_num_threads(),
                    effort: Effort::USUAL,
                })
            }
            (DeviceChoice::Auto | DeviceChoice::Processor | DeviceChoice::Gpu(_), None) => {
                let processor = Processor::here();
                let limit = one_budget(preferences);
                let machine = Machine {
                    device: "CPU".to_owned(),
                    unified: true,
                    device_total: sample.ram_total,
                    device_budget: limit.map_or(available, within),
                    host_budget: 0,
                    link: DISK,
                    disk: DISK,
                    disk_is_measured: false,
                    operations_per_second: processor.rate,
                    block_latency: BLOCK_LATENCY,
                    own_speeds: BTreeMap::new(),
                };
                Ok(Self {
                    choice,
                    kernels: Kernels { attention: preferences.attention, others: true },
                    machine,
                    enforced: limit.is_some() || limited,
                    f32_rate: None,
                    balance: Balance::USUAL,
                    card_has_bf16: None,
                    allocates: 1.0,
                    card: None,
                    threads: rayon::current_num_threads(),
                    effort: processor.effort,
                })
            }
            (DeviceChoice::Simulated(id), None) => {
                let card = find(id)?;
                let mut machine = machine_of(card, host, preferences.min_free_vram);
                if let Some(budget) = preferences.vram_budget {
                    machine.device_budget = budget.min(machine.device_budget);
                }
                machine.device = format!("{} (simulated)", card.name);
                let mut f32_rate = Some(card.f32_operations_per_second());
                let processor = Processor::here();
                if pace == Pace::Here {
                    machine.operations_per_second = processor.rate;
                    machine.block_latency = BLOCK_LATENCY;
                    f32_rate = None;
                }
                Ok(Self {
                    choice,
                    kernels: possible(preferences.attention, card.has_bf16() && nn::cuda::enabled()),
                    machine,
                    enforced: true,
                    f32_rate,
                    balance: Balance::of(card.operations_per_second, card.memory_bytes_per_second),
                    card_has_bf16: Some(card.has_bf16()),
                    allocates: 1.0,
                    card: None,
                    threads: rayon::current_num_threads(),
                    effort: processor.effort,
                })
            }
        }
    }

    /// The same for a session that computes with `threads` threads, where they are not those of the caller's pool.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Corrects the machine and the activations of a model by past runs, as [`memory::correct`] and [`memory::own_speeds`] do.
    ///
    /// On the CPU the number of threads that hold scratch memory at once varies from run to run, so that runs that took
    /// less than was predicted lower nothing.
    pub fn correct(
        &self,
        outcomes: &[Outcome],
        run: Option<&RunIdentity>,
        footprint: &Footprint,
    ) -> Correction {
        let mut correction = memory::correct(outcomes, run, &self.machine);
        if let Some(run) = run {
            correction.machine.own_speeds =
                memory::own_speeds(outcomes, run, &footprint.parts, &self.machine.device);
        }
        if correction.accuracy.is_none() {
            correction.activation_factor = correction.activation_factor.max(self.allocates);
        }
        if self.computes().is_processor() {
            correction.activation_factor = correction.activation_factor.max(1.0);
        }
        correction
    }

    /// What computes: a simulated card is the processor.
    pub fn computes(&self) -> Computes {
        match self.card {
            Some(_) => Computes::Card(self.kernels, self.balance),
            None => Computes::Processor { threads: self.threads, effort: self.effort },
        }
    }

    /// What would compute if a simulated card were there.
    pub fn computes_if_there(&self) -> Computes {
        match self.choice {
            DeviceChoice::Simulated(_) => Computes::Card(self.kernels, self.balance),
            _ => self.computes(),
        }
    }

    /// What an image of `model` is computed in where nobody asks for anything: f32 on the processor, and on a card,
    /// there or simulated, the 16 bits that the model was published for, if the card has them.
    pub fn dtype(&self, model: &Model, asked: Option<ComputeDtype>) -> ComputeDtype {
        asked.unwrap_or(match (self.card_has_bf16, model.defaults.on_cards) {
            (None, _) | (Some(false), ComputeDtype::Bf16) => ComputeDtype::F32,
            (Some(_), on_cards) => on_cards,
        })
    }

    /// The same with the speed that it has in a precision.
    pub fn computing_in(mut self, dtype: ComputeDtype) -> Self {
        if let Some(rate) = self.f32_rate.filter(|_| dtype == ComputeDtype::F32) {
            self.balance = self.balance.at(rate / self.machine.operations_per_second);
            self.machine.operations_per_second = rate;
        }
        self
    }

    /// The memory of the device.
    pub fn memory(&self) -> Arc<dyn DeviceMemory> {
        match (&self.choice, &self.card) {
            (_, Some(card)) => Arc::clone(card),
            (DeviceChoice::Auto | DeviceChoice::Processor | DeviceChoice::Gpu(_), None) => {
                Arc::new(CpuMemory)
            }
            (DeviceChoice::Simulated(_), None) => {
                let link = self.machine.link;
                Arc::new(SimulatedCard::new(link.bytes_per_second, link.latency))
            }
        }
    }
}

/// The budget of a device that computes in the host's memory.
fn one_budget(preferences: &MemoryPreferences) -> Option<u64> {
    [preferences.vram_budget, preferences.ram_budget].into_iter().flatten().min()
}

/// The kernels of a card: they need compute capability 8.0, as bf16 does.
fn possible(attention: Attention, has_kernels: bool) -> Kernels {
    if has_kernels { Kernels { attention, others: true } } else { Kernels::NONE }
}

fn find(id: &str) -> Result<&'static CardProfile, PipelineError> {
    card(id).ok_or_else(|| PipelineError::UnknownCard {
        id: id.to_owned(),
        known: cards().iter().map(|card| card.id.clone()).collect(),
    })
}
