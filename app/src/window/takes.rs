//! What something takes, as it is said before it is done.

use egui::{RichText, Ui};

use super::{
    sentences::simulated,
    state::{Estimate, State},
    tokens::Palette,
    widgets,
};
use crate::language::{tr, units};

/// Says time and memory.
pub fn show(ui: &mut Ui, state: &State, estimate: &Estimate) {
    ui.label(RichText::new(words(state, estimate)).color(Palette::of(ui).text));
    if state.simulates() {
        widgets::hint(ui, simulated(estimate.seconds_here));
    }
}

/// The same in small letters.
pub fn hint(ui: &mut Ui, state: &State, estimate: &Estimate) {
    widgets::hint(ui, words(state, estimate));
    if state.simulates() {
        widgets::hint(ui, simulated(estimate.seconds_here));
    }
}

fn words(state: &State, estimate: &Estimate) -> String {
    let (time, memory) = (units::seconds(estimate.seconds), units::memory_needed(estimate.bytes));
    match state.simulates() {
        true => tr!("upscale-takes-there", time = time, memory = memory),
        false => tr!("upscale-takes", time = time, memory = memory),
    }
}
