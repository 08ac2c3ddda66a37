//! The settings of the next image, and Generate.

mod adapters;
mod clip;
mod clip_inputs;
mod clip_skip;
mod completion;
mod control;
mod control_nets;
mod detailers;
mod enhance;
mod file_menu;
mod forecast;
mod generate;
mod guidance;
mod hires;
mod image_prompts;
mod in_force;
mod input_image;
mod keyframes;
mod notice;
mod outpaint;
mod parts;
mod presets;
mod prompt_counter;
mod prompt_history;
mod prompts;
mod redux;
mod references;
mod refiner;
mod seed;
mod shift;
mod size;
mod smooth;
mod snippets;
mod styles;
mod variation;
mod weights;

use crate::language::tr;
use egui::{Frame, Margin, ScrollArea, Ui};
use sluice_engine::request::{ComputeDtype, RequestError, Sampler, Schedule};

use super::{
    action::Action,
    settings::Setting,
    state::{Draft, State},
    textures::Textures,
    tokens::space,
    widgets,
};
use adapters::AdapterList;
use control_nets::ControlNetList;
use detailers::DetailerList;
pub use forecast::accuracy_of;
use image_prompts::ImagePromptList;
pub use notice::show as show_notice;
pub use parts::sentence;
use parts::{Parts, gap};
use presets::PresetMenu;

/// View state of the panel; not saved.
#[derive(Debug, Default)]
pub struct SidePanel {
    more: bool,
    guidance: bool,
    hires: bool,
    detailers: DetailerList,
    smooth: bool,
    adapters: AdapterList,
    control_nets: ControlNetList,
    image_prompts: ImagePromptList,
    seed_text: String,
    presets: PresetMenu,
}

/// Draws the panel.
pub fn show(
    ui: &mut Ui,
    state: &State,
    panel: &mut SidePanel,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    let mistake = state.mistake();
    let mut draft = state.draft().clone();
    let mut asked = Vec::new();
    egui::Panel::bottom("generate")
        .resizable(false)
        .show_separator_line(true)
        .frame(Frame::new().inner_margin(Margin::symmetric(space::L as i8, space::M as i8)))
        .show(ui, |ui| generate::show(ui, state, mistake.as_ref(), &mut asked));
    let mut parts = Parts { state, mistake: mistake.as_ref(), draft: &mut draft, actions: &mut asked };
    egui::CentralPanel::default().frame(Frame::new()).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            let (side, end) = (space::L as i8, space::S as i8);
            let margin = Margin { left: side, right: side, top: 12, bottom: end };
            Frame::new().inner_margin(margin).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 6.0;
                settings(ui, &mut parts, panel, textures);
            });
        });
    });
    // Apply changed settings before any action that uses them.
    if draft != *state.draft() {
        actions.push(Action::Edit(Box::new(draft)));
    }
    actions.append(&mut asked);
}

fn settings(ui: &mut Ui, parts: &mut Parts<'_>, panel: &mut SidePanel, textures: &mut Textures) {
    if let Some(dropped) = &parts.state.input.dropped {
        input_image::question(ui, dropped, parts.state.takes_clips(), parts.actions);
        gap(ui);
    }
    clip::switch(ui, parts);
    prompts::show(ui, parts);
    gap(ui);
    presets::show(ui, parts, &mut panel.presets);
    size::show(ui, parts);
    gap(ui);
    clip::length(ui, parts);
    numbers(ui, parts);
    gap(ui);
    seed::show(ui, parts, &mut panel.seed_text);
    gap(ui);
    references::show(ui, parts, textures);
    redux::show(ui, parts);
    if parts.state.takes_clip_inputs(&parts.draft.request) {
        clip_inputs::show(ui, parts, textures);
    } else {
        input_image::show(ui, parts, textures);
    }
    gap(ui);
    adapters::show(ui, parts, &mut panel.adapters);
    control_nets::show(ui, parts, &mut panel.control_nets, textures);
    image_prompts::show(ui, parts, &mut panel.image_prompts, textures);
    more(ui, parts, panel);
}

fn numbers(ui: &mut Ui, parts: &mut Parts<'_>) {
    let (request, mistake) = (&mut parts.draft.request, parts.mistake);
    widgets::slider_row(ui, &tr!("side-panel-steps"), &mut request.steps, 1..=50, 1..=1000, 1.0)
        .on_hover_text(tr!("side-panel-steps-tip"));
    if let Some(error @ (RequestError::NoSteps | RequestError::TooManySteps(_))) = mistake {
        widgets::mistake(ui, &sentence(error));
    }
    widgets::slider_row(ui, &tr!("side-panel-guidance"), &mut request.guidance, 0.0..=10.0, 0.0..=30.0, 0.1)
        .on_hover_text(tr!("side-panel-guidance-tip"));
    if let Some(error @ RequestError::Guidance(_)) = mistake {
        widgets::mistake(ui, &sentence(error));
    }
    let most = Draft::MAX_BATCH;
    widgets::slider_row(ui, &tr!("side-panel-batch-size"), &mut request.batch, 1..=most, 1..=64, 1.0)
        .on_hover_text(tr!("side-panel-batch-size-tip"));
    if request.batch > 1 {
        let mut on = parts.state.settings.batch_grid;
        let text = egui::RichText::new(tr!("side-panel-batch-as-grid")).small();
        if ui.checkbox(&mut on, text).on_hover_text(tr!("side-panel-batch-as-grid-tip")).changed() {
            parts.actions.push(Action::Set(Setting::BatchGrid(on)));
        }
    }
    if let Some(error @ (RequestError::EmptyBatch | RequestError::BatchTooLarge(_))) = mistake {
        widgets::mistake(ui, &sentence(error));
    }
}

fn more(ui: &mut Ui, parts: &mut Parts<'_>, panel: &mut SidePanel) {
    let SidePanel { more, guidance, hires, detailers, smooth, .. } = panel;
    widgets::fold(ui, (&tr!("side-panel-more"), tr!("side-panel-more-tip")), more, |ui| {
        let request = &mut parts.draft.request;
        widgets::choice_row(
            ui,
            &tr!("side-panel-sampler"),
            &mut request.sampler,
            Sampler::ALL,
            Sampler::title,
        )
        .on_hover_text(tr!("side-panel-sampler-tip"));
        widgets::choice_row(
            ui,
            &tr!("side-panel-schedule"),
            &mut request.schedule,
            Schedule::ALL,
            Schedule::title,
        )
        .on_hover_text(tr!("side-panel-schedule-tip"));
        shift::show(ui, parts);
        variation::show(ui, parts);
        precision(ui, parts);
        clip_skip::show(ui, parts);
        refiner::show(ui, parts);
        redux::offer(ui, parts);
        hires::show(ui, parts, hires);
        detailers::show(ui, parts, detailers);
        smooth::show(ui, parts, smooth);
        guidance::show(ui, parts, guidance);
    });
}

fn precision(ui: &mut Ui, parts: &mut Parts<'_>) {
    let chosen = &mut parts.draft.request.dtype;
    let planned = parts.state.planning.forecast().map(|forecast| forecast.dtype).filter(|_| chosen.is_none());
    let name = |dtype: Option<ComputeDtype>| match (dtype, planned) {
        (Some(ComputeDtype::F32), _) => tr!("side-panel-precision-32-bit"),
        (Some(ComputeDtype::Bf16), _) => tr!("side-panel-precision-16-bit", format = "bf16"),
        (Some(ComputeDtype::F16), _) => tr!("side-panel-precision-16-bit", format = "f16"),
        (None, Some(planned)) => tr!("side-panel-precision-automatic-planned", format = planned.name()),
        (None, None) => tr!("side-panel-precision-automatic"),
    };
    let choices = [None].into_iter().chain(ComputeDtype::ALL.map(Some));
    widgets::choice_row(ui, &tr!("side-panel-precision"), chosen, choices, name)
        .on_hover_text(tr!("side-panel-precision-tip"));
}
