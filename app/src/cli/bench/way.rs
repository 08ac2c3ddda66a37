//! The placements of weights that are compared.

use sluice_engine::memory::{MemoryPreferences, OffloadMode, Residents, Wish};

/// A placement of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Everything stays on the device, whatever the budget.
    Resident,
    /// As many blocks stay as fit, chosen so that a step is fastest; the rest are streamed during computation.
    Streamed,
    /// What the planner chooses when it optimizes for speed.
    Auto,
    /// Blocks are loaded only while nothing computes: one slot.
    Synchronous,
    /// The first blocks stay instead of the best ones.
    Prefix,
}

impl Way {
    /// All of them, in the order in which they run.
    pub const ALL: [Self; 5] = [Self::Resident, Self::Streamed, Self::Auto, Self::Synchronous, Self::Prefix];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resident => "resident",
            Self::Streamed => "streamed",
            Self::Auto => "auto",
            Self::Synchronous => "synchronous",
            Self::Prefix => "prefix",
        }
    }

    /// Whether it ignores the budget.
    pub fn has_no_budget(self) -> bool {
        self == Self::Resident
    }

    /// The preferences for the engine, with this VRAM budget in bytes.
    pub fn preferences(self, base: &MemoryPreferences, budget: Option<u64>) -> MemoryPreferences {
        let vram_budget = budget.or(base.vram_budget);
        let streamed = MemoryPreferences { mode: OffloadMode::LayerStreaming, vram_budget, ..base.clone() };
        match self {
            Self::Resident => {
                MemoryPreferences { mode: OffloadMode::None, vram_budget: None, ..base.clone() }
            }
            Self::Streamed => streamed,
            Self::Auto => MemoryPreferences { mode: OffloadMode::Auto, wish: Wish::Speed, ..streamed },
            Self::Synchronous => MemoryPreferences { prefetch: Some(0), ..streamed },
            Self::Prefix => MemoryPreferences { residents: Residents::First, ..streamed },
        }
    }
}
