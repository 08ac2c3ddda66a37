//! Rows with their names in the gutter.

use egui::{Align2, Rect, Ui, pos2};

use crate::{
    language::units::MemoryUnit,
    window::{
        state::Watch,
        tokens::{Palette, font, size},
    },
};

/// Draws the name of a row. Returns the rest of the row.
pub fn named(ui: &Ui, row: Rect, name: &str) -> Rect {
    let palette = Palette::of(ui);
    let place = pos2(row.left(), row.top() + row.height().min(size::TRACK) / 2.0);
    ui.painter().text(place, Align2::LEFT_CENTER, name, font::medium(font::TINY), palette.text_muted);
    Rect::from_min_max(pos2(row.left() + size::GUTTER, row.top()), row.max)
}

/// The unit of all amounts in the panel, from the largest measured or predicted amount of the run.
pub fn unit_of(run: &Watch) -> MemoryUnit {
    let stages = run.history.plan().into_iter().flat_map(|plan| &plan.stages);
    let most = stages.map(|stage| stage.predicted).max().unwrap_or(0);
    MemoryUnit::for_most(most.max(run.history.peaks().device))
}
