//! Generate, Cancel, and the prediction for the next image.

use egui::{Label, RichText, Ui};
use sluice_engine::request::RequestError;

use super::{forecast, in_force, notice, parts::lack};
use crate::{
    language::{self, tr},
    window::{
        action::{Action, Making},
        commands, icons,
        state::{ModelStatus, State},
        tokens::{Palette, size, space},
        widgets,
    },
};

/// Height of what is below Generate, so that Generate stays where it is when that changes.
const BELOW: f32 = 58.0;

/// Draws the buttons and the line below them.
pub fn show(ui: &mut Ui, state: &State, mistake: Option<&RequestError>, actions: &mut Vec<Action>) {
    notice::show(ui, state, actions);
    in_force::show(ui, state, actions);
    // What was just queued starts at once, unless the queue is paused.
    let starts = !state.jobs.is_empty() && !state.jobs.paused && !state.engine.ended;
    let is_running = starts || state.jobs.running().is_some();
    let cancelling = state.jobs.running().is_some_and(|(job, _)| job.cancelling);
    let can_generate = state.can_generate();
    let reason = mistake.map(|mistake| lack(state, mistake)).or_else(|| state.planning.refusal());
    ui.horizontal(|ui| {
        let width = ui.available_width() - 2.0 * (size::PRIMARY + space::S);
        let shortcut = language::keys(&ui.ctx().format_shortcut(&commands::GENERATE));
        ui.add_enabled_ui(can_generate, |ui| {
            let button = widgets::primary_button(ui, &tr!("side-panel-generate"), &shortcut, width)
                .on_hover_text(tr!("side-panel-generate-tip"));
            let button = match reason {
                Some(reason) => button.on_disabled_hover_text(reason),
                None => button,
            };
            if button.clicked() {
                actions.push(Action::Generate);
            }
        });
        ui.add_enabled_ui(state.can_ask(), |ui| {
            if widgets::tall_icon_button(ui, icons::LAYOUT_GRID, &tr!("side-panel-grid"))
                .on_hover_text(tr!("side-panel-grid-tip"))
                .clicked()
            {
                actions.push(Making::AskGrid(true).into());
            }
        });
        // It is there while nothing runs, too: no button takes the place of another one.
        ui.add_enabled_ui(is_running && !cancelling, |ui| {
            let tip = match state.jobs.paused {
                true => commands::CANCEL.sentence(),
                false => tr!("side-panel-cancel-tip"),
            };
            let idle =
                if cancelling { tr!("side-panel-cancelling") } else { tr!("side-panel-cancel-idle-tip") };
            if widgets::tall_icon_button(ui, icons::X, &commands::CANCEL.title())
                .on_hover_text(tip)
                .on_disabled_hover_text(idle)
                .clicked()
            {
                actions.push(Action::CancelRunning);
            }
        });
    });
    let words = match (&state.model.status, mistake) {
        _ if state.engine.ended => Some(tr!("side-panel-engine-stopped")),
        (ModelStatus::Loading, _) => Some(tr!("side-panel-model-loading")),
        (ModelStatus::Failed, _) => Some(tr!("side-panel-model-missing")),
        (ModelStatus::Ready(_), Some(mistake)) => Some(lack(state, mistake)),
        (ModelStatus::Ready(_), None) if cancelling => Some(tr!("side-panel-cancelling")),
        (ModelStatus::Ready(_), None) => state.unreadable_input(),
    };
    ui.scope(|ui| {
        ui.set_min_height(BELOW);
        match words {
            Some(words) => {
                let palette = Palette::of(ui);
                ui.horizontal(|ui| {
                    widgets::icon(ui, icons::INFO, 13.0, palette.text_faint);
                    ui.spacing_mut().item_spacing.x = 6.0;
                    ui.add(Label::new(RichText::new(words).small().color(palette.text_muted)).wrap());
                });
            }
            None => forecast::show(ui, state, actions),
        }
    });
}
