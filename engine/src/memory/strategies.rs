//! Every strategy that users of diffusion models know, and what it would take; and Sluice's own plans.

use std::{collections::BTreeMap, rc::Rc};

use super::{
    Accuracy, Alternative, BlockCost, Candidate, Footprint, Forecast, Machine, MemoryPreferences,
    OffloadMode, PartChoice, Placement, Plan, PlanError, Quality, Wish, Workload,
    candidate::{Layout, used},
    part::Part,
    planner::{Planner, SPARE},
    search::Search,
    sentence::{in_8_bits, offer, sentence},
    with_allowed_precision,
};
use crate::precision::Storage;

/// How weights come to the device in strategies of others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Movement {
    /// The group of so many blocks in use is there; with a stream the next is on its way meanwhile.
    Blocks { group: usize, stream: Option<Stream> },
    /// The tensor in use is there; with a stream the next is on its way meanwhile.
    Tensors { stream: bool },
}

/// How a stream copies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    /// From pinned copies of all weights, waiting for each copy.
    Waiting,
    /// The same with `record_stream`: nobody waits, and memory is freed one group later.
    Recorded,
    /// With `low_cpu_mem_usage`: from a pinned buffer that each tensor is first copied to.
    Unpinned,
}

/// A strategy of others.
type Strategy = (&'static str, &'static str, Movement);

/// Those that this program cannot do, with the names of the options in diffusers' guide.
const OTHERS: [Strategy; 8] = [
    ("block_groups", "Group offload, block level", Movement::Blocks { group: 1, stream: None }),
    ("block_groups_4", "Group offload, 4 blocks per group", Movement::Blocks { group: 4, stream: None }),
    (
        "block_groups_stream",
        "Group offload, block level, stream",
        Movement::Blocks { group: 1, stream: Some(Stream::Waiting) },
    ),
    (
        "block_groups_stream_record",
        "Group offload, block level, record_stream",
        Movement::Blocks { group: 1, stream: Some(Stream::Recorded) },
    ),
    (
        "block_groups_stream_unpinned",
        "Group offload, block level, low_cpu_mem_usage",
        Movement::Blocks { group: 1, stream: Some(Stream::Unpinned) },
    ),
    ("leaf_groups", "Group offload, leaf level", Movement::Tensors { stream: false }),
    ("leaf_groups_stream", "Group offload, leaf level, stream", Movement::Tensors { stream: true }),
    ("sequential", "Sequential offload", Movement::Tensors { stream: false }),
];

/// Denoiser and text encoders held otherwise: identifier, name, storage and mode.
type Smaller = (&'static str, &'static str, Storage, OffloadMode);

/// Those that are held smaller than they are stored.
const SMALLER: [Smaller; 9] = [
    ("fp8", "FP8, no offload", Storage::Fp8, OffloadMode::None),
    ("fp8_model_offload", "FP8, model offload", Storage::Fp8, OffloadMode::Aggressive),
    ("fp8_layer_streaming", "FP8, layer streaming", Storage::Fp8, OffloadMode::LayerStreaming),
    ("int8", "INT8, no offload", Storage::Int8, OffloadMode::None),
    ("int8_model_offload", "INT8, model offload", Storage::Int8, OffloadMode::Aggressive),
    ("int8_layer_streaming", "INT8, layer streaming", Storage::Int8, OffloadMode::LayerStreaming),
    ("nf4", "NF4, no offload", Storage::Nf4, OffloadMode::None),
    ("nf4_model_offload", "NF4, model offload", Storage::Nf4, OffloadMode::Aggressive),
    ("nf4_layer_streaming", "NF4, layer streaming", Storage::Nf4, OffloadMode::LayerStreaming),
];

/// Sluice's own modes under the names that they have in the table. The first two are what others call so,
/// too.
const OWN: [(&str, &str, OffloadMode); 6] = [
    ("everything", "No offload", OffloadMode::None),
    ("model_offload", "Model offload", OffloadMode::Aggressive),
    ("cond_only", "Text encoder offload", OffloadMode::CondOnly),
    ("cond_diffusion", "Offload of all but the VAE", OffloadMode::CondDiffusion),
    ("layer_streaming", "Layer streaming", OffloadMode::LayerStreaming),
    ("auto", "Recommended by Sluice", OffloadMode::Auto),
];

/// What the automatic mode can be asked for without changing the image where that is possible.
const CHOICES: [(&str, &str, Wish); 3] = [
    ("fastest", "Fastest", Wish::Speed),
    ("balanced", "Balanced", Wish::Balanced),
    ("least_memory", "Least memory", Wish::Memory),
];

/// Parts of the denoiser that stay in the examples of layer streaming, in percent.
const RESIDENT_PARTS: [(&str, &str, u64); 3] = [
    ("layer_streaming_25", "Layer streaming, 25% resident", 25),
    ("layer_streaming_50", "Layer streaming, 50% resident", 50),
    ("layer_streaming_75", "Layer streaming, 75% resident", 75),
];

/// What is less than this part of a time or a peak is worth saying.
const NOTABLE: f64 = 0.9;

/// Copies of the weights that groups with a stream keep in the host's memory, in tenths: diffusers takes 2.5
/// to 3.
const STREAM_COPIES: u64 = 25;

/// Bytes per second that are copied to freshly pinned memory: an assumption.
const PINNED_BYTES_PER_SECOND: f64 = 5e9;

/// Every strategy with what it would take. Those that do not fit say by how much; those that are not in this
/// program are marked. On a unified device there are no strategies that move weights between two memories.
pub fn alternatives(
    footprint: &Footprint,
    workload: &Workload,
    machine: &Machine,
    preferences: &MemoryPreferences,
) -> Vec<Alternative> {
    let held = footprint.held_as(preferences);
    rows(footprint, &Table::new(&held, workload, machine, preferences))
}

fn rows(footprint: &Footprint, table: &Table<'_>) -> Vec<Alternative> {
    let mut rows: Vec<Alternative> = Vec::new();
    let mut seen: Vec<Plan> = Vec::new();
    for (id, name, mode) in OWN {
        let preferences = table.preferences(mode, None);
        let Some(plan) = table.plan(&preferences) else { continue };
        if mode == OffloadMode::LayerStreaming {
            rows.extend(OTHERS.iter().filter_map(|strategy| table.other(strategy)));
            rows.extend(table.parts(&mut seen));
        }
        if mode == OffloadMode::Auto {
            rows.extend(other_precisions(footprint, table));
        }
        rows.push(table.own(id, name, &plan, preferences));
        seen.push(plan);
    }
    rows
}

fn choices(table: &Table<'_>) -> Vec<Alternative> {
    let choice = |(id, name, wish): (&str, &str, Wish)| {
        let preferences = MemoryPreferences { wish, ..table.preferences(OffloadMode::Auto, None) };
        let plan = table.plan(&preferences)?;
        let row = table.own(id, name, &plan, preferences);
        Some(Alternative { recommended: row.recommended && wish == Wish::default(), ..row })
    };
    CHOICES.into_iter().filter_map(choice).collect()
}

/// The rows in which weights are held otherwise than the person wants it so far.
fn other_precisions(footprint: &Footprint, table: &Table<'_>) -> Vec<Alternative> {
    const STORED: [Smaller; 1] = [("stored", "Original weights", Storage::Stored, OffloadMode::Auto)];
    let mut rows = Vec::new();
    for group in SMALLER.chunk_by(|one, next| one.2 == next.2).chain([&STORED[..]]) {
        let Some((.., storage, _)) = group.first() else { continue };
        let wanted = table.wanted.with_precision(*storage);
        let held = footprint.held_as(&wanted);
        if held == *table.footprint {
            continue;
        }
        let table = Table::new(&held, table.workload, table.machine, &wanted);
        for (id, name, _, mode) in group {
            let preferences = table.preferences(*mode, None);
            let row = table.plan(&preferences).map(|plan| table.own(id, name, &plan, preferences));
            rows.extend(row.map(|row| Alternative { recommended: false, ..row }));
        }
    }
    rows
}

/// The row with smaller weights that the wish would pick, if it is worth saying: where weights as they are wanted do
/// not fit, or where it gives notably more of what is wished for. Weights are only held in fewer bits on request.
fn worth_saying<'a>(
    rows: &'a [Alternative],
    plan: &Result<Plan, PlanError>,
    workload: &Workload,
    machine: &Machine,
    preferences: &MemoryPreferences,
) -> Option<&'a Alternative> {
    let fits = |row: &&Alternative| row.device_short == 0 && row.host_short == 0;
    let smaller = || rows.iter().filter(|row| SMALLER.iter().any(|(id, ..)| *id == row.id)).filter(fits);
    let by_time = |a: &&Alternative, b: &&Alternative| a.seconds_per_image.total_cmp(&b.seconds_per_image);
    let nearest = || smaller().min_by(|a, b| a.quality.cmp(&b.quality).then(by_time(a, b)));
    let Ok(plan) = plan else {
        let otherwise = rows.iter().filter(fits).any(|row| row.available && row.quality <= Quality::Blended);
        return nearest().filter(|_| !otherwise);
    };
    if preferences.mode != OffloadMode::Auto {
        return None;
    }
    let seconds = plan.seconds / f64::from(workload.images.max(1));
    let faster = |row: &&Alternative| row.seconds_per_image < NOTABLE * seconds;
    let comfortable = machine.device_budget - machine.device_budget.div_ceil(SPARE);
    match preferences.wish {
        Wish::Quality => None,
        Wish::Speed => smaller().filter(faster).min_by(by_time),
        Wish::Memory => {
            let less = |row: &&Alternative| (row.device as f64) < NOTABLE * plan.peak_device() as f64;
            smaller().filter(less).min_by_key(|row| row.device)
        }
        Wish::Balanced => {
            let lighter = smaller().filter(faster).filter(|row| row.device <= comfortable);
            lighter.min_by(|a, b| a.quality.cmp(&b.quality).then(by_time(a, b)))
        }
    }
}

/// What the person sees before a run.
pub fn forecast(
    footprint: &Footprint,
    workload: &Workload,
    machine: &Machine,
    preferences: &MemoryPreferences,
    accuracy: Option<Accuracy>,
) -> Forecast {
    let allowed = with_allowed_precision(footprint, workload, machine, preferences);
    let is_smaller = allowed.precisions() != preferences.precisions();
    let preferences = &allowed;
    let held = footprint.held_as(preferences);
    let table = Table::new(&held, workload, machine, preferences);
    let planner = Planner::over(Rc::clone(&table.search), preferences);
    let plan = planner.plan(machine.device_budget);
    let least_device = planner.least().map(|(bytes, _)| bytes);
    let (choices, alternatives) = (choices(&table), rows(footprint, &table));
    let mut sentence = sentence(&held, machine, &plan, least_device, preferences);
    if is_smaller {
        sentence += &format!(" {}", in_8_bits(preferences));
    }
    if let Some(row) = worth_saying(&alternatives, &plan, workload, machine, preferences) {
        sentence += &format!(" {}", offer(row));
    }
    Forecast {
        model: footprint.model.clone(),
        dtype: footprint.dtype,
        machine: machine.clone(),
        sentence,
        plan,
        least_device,
        choices,
        alternatives,
        attention: workload.attention,
        accuracy,
        seconds_here: None,
        fitting_size: None,
        fitting_frames: None,
    }
}

struct Table<'a> {
    footprint: &'a Footprint,
    workload: &'a Workload,
    machine: &'a Machine,
    wanted: &'a MemoryPreferences,
    search: Rc<Search<'a>>,
    /// As if the host's memory had no end.
    roomy: Rc<Search<'a>>,
}

impl<'a> Table<'a> {
    fn new(
        footprint: &'a Footprint,
        workload: &'a Workload,
        machine: &'a Machine,
        wanted: &'a MemoryPreferences,
    ) -> Self {
        let search = Rc::new(Search::new(footprint, workload, machine, wanted));
        let roomy = Rc::new(search.with_host_budget(u64::MAX));
        Self { footprint, workload, machine, wanted, search, roomy }
    }

    /// The person's preferences with another mode, which alone places the parts.
    fn preferences(&self, mode: OffloadMode, vram_budget: Option<u64>) -> MemoryPreferences {
        MemoryPreferences {
            mode,
            text_encoder: None,
            denoiser: None,
            autoencoder: None,
            parts: self.kept_parts(),
            vram_budget: vram_budget.or(self.wanted.vram_budget),
            ..self.wanted.clone()
        }
    }

    /// What was chosen to be kept of single parts.
    fn kept_parts(&self) -> BTreeMap<String, PartChoice> {
        let kept = self.wanted.parts.iter().filter(|(_, choice)| choice.keep.is_some());
        kept.map(|(name, choice)| (name.clone(), PartChoice { residence: None, ..*choice })).collect()
    }

    /// The plan of a mode; where there is none, the one that takes least; where the host lacks memory, as if
    /// it did not.
    fn plan(&self, preferences: &MemoryPreferences) -> Option<Plan> {
        let within = |search: &Rc<Search<'a>>| {
            let planner = Planner::over(Rc::clone(search), preferences);
            let fits = planner.plan(self.machine.device_budget);
            match fits {
                Err(PlanError::Device { .. }) => planner.plan(planner.least()?.0).ok(),
                fits => fits.ok(),
            }
        };
        within(&self.search).or_else(|| within(&self.roomy))
    }

    fn own(&self, id: &str, name: &str, plan: &Plan, preferences: MemoryPreferences) -> Alternative {
        let tiled = plan.uses().any(|part_use| part_use.tile.is_some());
        let (quality, error) = self.loss();
        let row = self.row(
            (id, name),
            (plan.peak_device(), plan.peak_host()),
            (plan.seconds_per_step, plan.seconds),
            if tiled { quality.max(Quality::Blended) } else { quality },
        );
        let row = Alternative { error, ..row };
        let fits = row.device_short == 0 && row.host_short == 0;
        let recommended = fits && preferences.mode == OffloadMode::Auto;
        Alternative { available: true, recommended, preferences: Some(preferences), ..row }
    }

    fn row(
        &self,
        (id, name): (&str, &str),
        (device, host): (u64, u64),
        (seconds_per_step, seconds): (f64, f64),
        quality: Quality,
    ) -> Alternative {
        let host_short = if self.machine.unified { 0 } else { host.saturating_sub(self.machine.host_budget) };
        Alternative {
            id: id.to_owned(),
            name: name.to_owned(),
            device,
            host,
            seconds_per_step,
            seconds_per_image: seconds / f64::from(self.workload.images.max(1)),
            quality,
            error: None,
            device_short: device.saturating_sub(self.machine.device_budget),
            host_short,
            available: false,
            recommended: false,
            preferences: None,
        }
    }

    /// What images and weights lose through the storage of the weights.
    fn loss(&self) -> (Quality, Option<f64>) {
        let (mut quality, mut error) = (Quality::Exact, None::<f64>);
        for part in &self.footprint.parts {
            let storage = self.wanted.precision(part.role);
            if part.blocks.iter().any(|block| !block.encoded.is_empty()) {
                quality = quality.max(Quality::of(storage));
                let own = part.errors.get(&storage).copied();
                error = own.map(|own| own.max(error.unwrap_or(0.0))).or(error);
            }
        }
        (quality, error)
    }

    /// Layer streaming with parts of the denoiser staying, where that gives plans of their own.
    fn parts(&self, seen: &mut Vec<Plan>) -> Vec<Alternative> {
        let mut rows = Vec::new();
        for (id, name, percent) in RESIDENT_PARTS {
            let Some(budget) = self.budget_of_part(percent) else { continue };
            let preferences = self.preferences(OffloadMode::LayerStreaming, Some(budget));
            let planner = Planner::over(Rc::clone(&self.search), &preferences);
            let Ok(plan) = planner.plan(budget) else { continue };
            if seen.iter().all(|seen| !is_same(seen, &plan)) {
                let row = self.own(id, name, &plan, preferences);
                // With less memory the same preferences would give another plan.
                let preferences = row.preferences.clone().filter(|_| row.device_short == 0);
                rows.push(Alternative { preferences, ..row });
                seen.push(plan);
            }
        }
        rows
    }

    /// Bytes of the device with which this part of the denoiser stays.
    fn budget_of_part(&self, percent: u64) -> Option<u64> {
        let denoising = self.search.uses().find(|&number| self.search.denoises(number))?;
        let costs = self.search.costs(denoising, 0);
        let used: Vec<u64> = costs.iter().filter(|cost| cost.passes > 0).map(|cost| cost.bytes).collect();
        let slots = u64::from(self.wanted.prefetch.unwrap_or(1).min(used.len() as u32)) + 1;
        let largest = used.iter().copied().max()?;
        let resident = used.iter().copied().fold(0, u64::saturating_add) / 100 * percent;
        let weights = resident.checked_add(largest.checked_mul(slots)?)?;
        weights.checked_add(self.search.activations(self.search.stage(denoising), 0))
    }

    /// A strategy of others. `None` where it makes no sense.
    fn other(&self, &(id, name, movement): &Strategy) -> Option<Alternative> {
        if self.machine.unified {
            return None;
        }
        let device = |level: usize| self.device_of(movement, level);
        let levels = 0..self.search.levels();
        let last = levels.end - 1;
        let level =
            levels.into_iter().find(|&level| device(level) <= self.machine.device_budget).unwrap_or(last);
        let mut seconds = 0.0;
        let mut steps = 0.0;
        for number in self.search.uses() {
            let costs = self.search.costs(number, level);
            let simulation = arrange(movement, &costs, self.machine).simulation;
            let walks = costs.iter().map(|cost| cost.passes).max().unwrap_or(0);
            seconds += simulation.seconds;
            if self.search.denoises(number) {
                steps += simulation.steady * f64::from(walks);
            }
        }
        let tiled = if self.search.is_whole(level) { Quality::Exact } else { Quality::Blended };
        let (quality, error) = self.loss();
        let row = self.row(
            (id, name),
            (device(level), self.host_of(movement)),
            (steps / f64::from(self.workload.steps.max(1)), seconds),
            tiled.max(quality),
        );
        Some(Alternative { error, ..row })
    }

    fn device_of(&self, movement: Movement, level: usize) -> u64 {
        let weights = match movement {
            Movement::Blocks { group, stream } => {
                self.footprint.largest_group(group).saturating_mul(slots(stream).into())
            }
            Movement::Tensors { stream } => {
                self.footprint.largest_tensor().saturating_mul(1 + u64::from(stream))
            }
        };
        let activations =
            self.search.stages().map(|stage| self.search.activations(stage, level)).max().unwrap_or(0);
        weights.saturating_add(activations)
    }

    fn host_of(&self, movement: Movement) -> u64 {
        match movement {
            Movement::Blocks { stream: Some(Stream::Waiting | Stream::Recorded), .. }
            | Movement::Tensors { stream: true } => self.footprint.total() / 10 * STREAM_COPIES,
            Movement::Blocks { stream: Some(Stream::Unpinned) | None, .. }
            | Movement::Tensors { stream: false } => self.footprint.total(),
        }
    }
}

/// Groups on the device at once.
fn slots(stream: Option<Stream>) -> u32 {
    match stream {
        None => 1,
        Some(Stream::Waiting | Stream::Unpinned) => 2,
        Some(Stream::Recorded) => 3,
    }
}

/// Whether two plans place everything alike.
fn is_same(one: &Plan, other: &Plan) -> bool {
    one.parts == other.parts && one.uses().eq(other.uses())
}

/// How a strategy of others has its blocks come. All branches are computed at once, so tensors come once a
/// pass.
fn arrange(movement: Movement, costs: &[BlockCost], machine: &Machine) -> Candidate {
    let costs: Vec<BlockCost> = costs.iter().map(|cost| BlockCost { reads: 1, ..*cost }).collect();
    let mut machine = machine.clone();
    let (placement, slots) = match movement {
        Movement::Blocks { stream, .. } => {
            if stream == Some(Stream::Unpinned) {
                let link = &mut machine.link.bytes_per_second;
                *link = 1.0 / (1.0 / *link + 1.0 / PINNED_BYTES_PER_SECOND);
            }
            (Placement::Streamed, slots(stream))
        }
        Movement::Tensors { stream: true } => (Placement::Streamed, 2),
        Movement::Tensors { stream: false } => (Placement::Leaves, 0),
    };
    let part = Part::new(&costs, &machine, true);
    let placements = costs.iter().map(|cost| used(cost, placement));
    Layout::through(&part, placements, u64::MAX, true).played(&part, slots)
}
