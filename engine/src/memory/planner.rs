//! Decides where every block is when. Modes are rows of a table; `auto` chooses among rows.

use std::rc::Rc;

use super::{
    Footprint, Machine, MemoryPreferences, OffloadMode, PartFootprint, Plan, PlanError, Residence, Technique,
    Wish, Workload,
    search::{Merit, Row, Search, Shape, Solution},
};
use crate::checkpoint::Role;

use Residence::{OnDemand, Resident, Staged, Streamed};

/// The residences of parts by what they do.
struct ByRole {
    text_encoders: Residence,
    denoisers: Residence,
    autoencoders: Residence,
}

impl ByRole {
    fn of(&self, role: Role) -> Residence {
        match role {
            Role::TextEncoder | Role::LanguageModel => self.text_encoders,
            Role::Denoiser => self.denoisers,
            Role::Autoencoder
            | Role::Upscaler
            | Role::Interpolator
            | Role::Preprocessor
            | Role::Segmenter
            | Role::Detector => self.autoencoders,
        }
    }
}

/// Text encoders, denoisers and autoencoders.
const fn by_role(text_encoders: Residence, denoisers: Residence, autoencoders: Residence) -> ByRole {
    ByRole { text_encoders, denoisers, autoencoders }
}

/// What each mode may do, from the least intrusive to the most: the first that fits is taken. `auto` is the
/// exception, as it has wishes to choose by.
const PRESETS: [(OffloadMode, &[ByRole]); 6] = [
    (OffloadMode::None, &[by_role(Resident, Resident, Resident)]),
    (OffloadMode::CondOnly, &[by_role(Staged, Resident, Resident)]),
    (OffloadMode::CondDiffusion, &[by_role(Staged, Staged, Resident)]),
    (OffloadMode::Aggressive, &[by_role(Staged, Staged, Staged)]),
    (
        OffloadMode::LayerStreaming,
        &[by_role(Resident, Resident, Resident), by_role(Streamed, Streamed, Streamed)],
    ),
    (
        OffloadMode::Auto,
        &[
            by_role(Resident, Resident, Resident),
            by_role(Staged, Resident, Resident),
            by_role(Staged, Staged, Resident),
            by_role(Staged, Staged, Staged),
            by_role(Streamed, Resident, Resident),
            by_role(Streamed, Staged, Resident),
            by_role(Streamed, Staged, Staged),
            by_role(Staged, Streamed, Resident),
            by_role(Staged, Streamed, Staged),
            by_role(Streamed, Streamed, Resident),
            by_role(Streamed, Streamed, Streamed),
            by_role(OnDemand, Resident, Resident),
            by_role(OnDemand, Staged, Staged),
            by_role(OnDemand, Streamed, Resident),
            by_role(OnDemand, Streamed, Streamed),
        ],
    ),
];

/// How much more than the least memory a plan for the least memory may take, as one in so many: a few bytes often save a
/// second load of every tensor.
const NEARLY: u64 = 16;

/// The part of the device's budget that a balanced plan leaves free, as one in so many.
pub(super) const SPARE: u64 = 5;

/// Decides where every block is when.
///
/// The machine's budgets are taken as they are: whoever measured it has subtracted what is to stay free. The
/// same input gives the same plan. Fails if the preferences cannot be followed within the budgets.
pub fn plan(
    footprint: &Footprint,
    workload: &Workload,
    machine: &Machine,
    preferences: &MemoryPreferences,
) -> Result<Plan, PlanError> {
    let held = footprint.held_as(preferences);
    Planner::new(&held, workload, machine, preferences).plan(machine.device_budget)
}

/// The smallest `device_budget` with which [`plan`] succeeds; `None` if it fails with any.
pub fn least_device_budget(
    footprint: &Footprint,
    workload: &Workload,
    machine: &Machine,
    preferences: &MemoryPreferences,
) -> Option<u64> {
    let held = footprint.held_as(preferences);
    Planner::new(&held, workload, machine, preferences).least().map(|(bytes, _)| bytes)
}

/// One question to the search. Nothing but [`plan`](Self::plan) depends on the device's budget, so one
/// planner answers for many budgets.
pub(super) struct Planner<'a> {
    search: Rc<Search<'a>>,
    technique: Technique,
    mode: OffloadMode,
    wish: Wish,
    rows: Vec<Row>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        footprint: &'a Footprint,
        workload: &'a Workload,
        machine: &'a Machine,
        preferences: &MemoryPreferences,
    ) -> Self {
        Self::over(Rc::new(Search::new(footprint, workload, machine, preferences)), preferences)
    }

    /// Asks a search that was made for the same tiles.
    pub(super) fn over(search: Rc<Search<'a>>, preferences: &MemoryPreferences) -> Self {
        let rows = rows(search.footprint(), preferences);
        let technique = Technique::new(preferences.prefetch).with_choice(preferences.residents);
        Self { search, technique, mode: preferences.mode, wish: preferences.wish, rows }
    }

    /// A plan within this many bytes of the device.
    pub(super) fn plan(&self, budget: u64) -> Result<Plan, PlanError> {
        let solution = self.solve(budget).ok_or_else(|| self.error(budget))?;
        let plan = self.search.plan(&solution, self.mode);
        Ok(Plan { device_budget: budget, ..plan }.keeping(self.search.footprint()))
    }

    fn solve(&self, budget: u64) -> Option<Solution> {
        if self.mode != OffloadMode::Auto {
            return self.lightest(budget);
        }
        match self.wish {
            Wish::Speed => self.fastest(budget, |_| true),
            Wish::Quality => {
                let exact = self.fastest(budget, |level| self.search.is_whole(level));
                exact.or_else(|| self.fastest(budget, |_| true))
            }
            Wish::Memory => {
                let (least, _) = self.least()?;
                let nearly = least.saturating_add(least / NEARLY).min(budget);
                if least > budget { None } else { self.fastest(nearly, |_| true) }
            }
            Wish::Balanced => {
                let comfortable = budget - budget.div_ceil(SPARE);
                self.lightest(comfortable).or_else(|| self.fastest(budget, |_| true))
            }
        }
    }

    fn shapes(&self) -> impl Iterator<Item = Shape> {
        let rows = move |level| self.rows.iter().map(move |row| Shape { row: row.clone(), level });
        (0..self.search.levels()).flat_map(rows)
    }

    /// The first row that fits with the largest tiles that fit.
    fn lightest(&self, budget: u64) -> Option<Solution> {
        self.shapes().find_map(|shape| self.search.solve(&shape, budget, self.technique))
    }

    /// The fastest placement that fits.
    ///
    /// All placements of all rows are looked at from the fewest bytes to the most, and each takes the place
    /// of the last only if it is no slower in a step and no slower in a run. A larger budget goes on looking
    /// where a smaller one stopped, so it is never slower.
    fn fastest(&self, budget: u64, allowed: impl Fn(usize) -> bool) -> Option<Solution> {
        let shapes: Vec<Shape> = self.shapes().filter(|shape| allowed(shape.level)).collect();
        let options: Vec<_> = shapes
            .iter()
            .map(|shape| (self.search.fronts(shape, self.technique), self.search.base(shape)))
            .collect();
        let mut stops: Vec<(u64, usize)> = Vec::new();
        for (number, (shape, (fronts, base))) in shapes.iter().zip(&options).enumerate() {
            let Some(least) = self.search.least(shape, self.technique) else { continue };
            let least = least.into_iter().max().unwrap_or(0);
            let steps = self.search.uses().flat_map(|part_use| {
                let base = base[self.search.stage(part_use)];
                fronts[part_use].iter().map(move |candidate| base.saturating_add(candidate.device()))
            });
            let steps = steps.chain([least]).filter(|&bytes| bytes >= least && bytes <= budget);
            stops.extend(steps.map(|bytes| (bytes, number)));
        }
        stops.sort_unstable();
        stops.dedup();
        let mut best: Option<(Merit, usize, Solution)> = None;
        for (bytes, number) in stops {
            let (shape, (fronts, base)) = (&shapes[number], &options[number]);
            let Some(chosen) = self.search.choose(shape, fronts, base, bytes) else { continue };
            let merit = self.search.merit(&chosen);
            let better = best.as_ref().is_none_or(|(before, rank, _)| {
                let no_slower = merit.0 <= before.0 && merit.1 <= before.1;
                no_slower && (merit.0, merit.1, number, merit.2) < (before.0, before.1, *rank, before.2)
            });
            if better {
                best = Some((merit, number, Solution { shape: shape.clone(), chosen }));
            }
        }
        best.map(|(.., solution)| solution)
    }

    /// The fewest bytes of the device that any row takes, and by stage.
    pub(super) fn least(&self) -> Option<(u64, Vec<u64>)> {
        let least = self.shapes().filter_map(|shape| self.search.least(&shape, self.technique));
        least
            .map(|stages| (stages.iter().copied().max().unwrap_or(0), stages))
            .min_by_key(|(bytes, _)| *bytes)
    }

    /// Why nothing fits this many bytes.
    fn error(&self, budget: u64) -> PlanError {
        let host_budget = self.search.machine().host_budget;
        if let Some(needed) = self.host_needed(budget) {
            return PlanError::Host { needed, budget: host_budget };
        }
        let (needed, stages) = self.least().unwrap_or((u64::MAX, Vec::new()));
        let stage = stages.iter().position(|&bytes| bytes == needed);
        PlanError::Device {
            what: self.in_words().to_owned(),
            device: self.search.machine().device.clone(),
            stage: stage.map_or_else(|| "denoise".to_owned(), |stage| self.search.stage_name(stage)),
            needed,
            budget,
        }
    }

    /// Bytes of the host's memory with which the device's budget would do, if that is what lacks.
    fn host_needed(&self, budget: u64) -> Option<u64> {
        let machine = self.search.machine();
        if machine.unified {
            return None;
        }
        let fits = |host: u64| {
            let search = Rc::new(self.search.with_host_budget(host));
            let with = Planner { search, rows: self.rows.clone(), ..*self };
            with.least().is_some_and(|(least, _)| least <= budget)
        };
        let footprint = self.search.footprint();
        let (tensor, block) = (footprint.largest_tensor(), footprint.largest_block());
        let buffers = (1..=self.technique.most_slots).map(|slots| block.saturating_mul(slots.into()));
        let larger = [tensor].into_iter().chain(buffers).chain([footprint.total()]);
        larger.filter(|&host| host > machine.host_budget).find(|&host| fits(host))
    }

    fn in_words(&self) -> &'static str {
        match self.mode {
            OffloadMode::None => "keeping everything on the device",
            OffloadMode::CondOnly => "keeping everything but the text encoder on the device",
            OffloadMode::CondDiffusion => "keeping the autoencoder next to the part in use",
            OffloadMode::Aggressive => "the largest part alone",
            OffloadMode::LayerStreaming | OffloadMode::Auto => "even the smallest placement",
        }
    }
}

/// The rows of a mode with the overrides for single parts, each once.
fn rows(footprint: &Footprint, preferences: &MemoryPreferences) -> Vec<Row> {
    let presets =
        PRESETS.iter().find(|(mode, _)| *mode == preferences.mode).map_or(&[][..], |(_, presets)| presets);
    let mut rows: Vec<Row> = Vec::new();
    for preset in presets {
        let residence = |part: &PartFootprint| preferences.residence(part).unwrap_or(preset.of(part.role));
        let row: Row = footprint.parts.iter().map(residence).collect();
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}
