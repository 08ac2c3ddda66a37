//! The settings of the next image, and Generate.

mod adapters;
mod clip;
mod clip_inputs;
mod clip_skip;
mod completion;
mod control;
mod control_map;
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
mod region_frame;
mod regions;
mod seed;
mod shift;
mod size;
mod smooth;
mod snippets;
mod styles;
mod variation;
mod weights;

use crate::language::tr;
use egui::{Align, Frame, Margin, ScrollArea, Ui};
use sluice_engine::request::{ComputeDtype, Request, RequestError, Sampler, Schedule};

use super::{
    action::{Action, Section},
    settings::Setting,
    state::{Draft, State},
    textures::Textures,
    tokens::space,
    widgets,
};
use adapters::AdapterList;
use control_nets::ControlNetList;
use detailers::DetailerList;
pub use forecast::{accuracy_of, knows_time, ways_to_fit};
use image_prompts::ImagePromptList;
pub use notice::show as show_notice;
pub use parts::lack;
use parts::{Added, Parts, gap, sentence};
use presets::PresetMenu;
use regions::RegionList;

/// View state of the panel; not saved.
#[derive(Debug, Default)]
pub struct SidePanel {
    more: bool,
    guidance: bool,
    hires: bool,
    regions: RegionList,
    detailers: DetailerList,
    smooth: bool,
    adapters: AdapterList,
    control_nets: ControlNetList,
    image_prompts: ImagePromptList,
    seed_text: String,
    presets: PresetMenu,
    /// The section that is scrolled to.
    sought: Option<Section>,
    /// The card below the prompt, if it was just opened.
    card: Added,
}

impl SidePanel {
    /// Opens a section, and scrolls to it in the next frame.
    pub fn open(&mut self, section: Section) {
        self.more |= section.is_more();
        match section {
            Section::Loras => self.adapters.open = true,
            Section::ControlNets => self.control_nets.open = true,
            Section::ImagePrompts => self.image_prompts.open = true,
            Section::Regions => self.regions.open = true,
            Section::Hires => self.hires = true,
            Section::Detailers => self.detailers.open = true,
            Section::Interpolation => self.smooth = true,
            Section::Guidance => self.guidance = true,
            Section::Prompt
            | Section::Presets
            | Section::Size
            | Section::Steps
            | Section::Seed
            | Section::Input
            | Section::Sampler
            | Section::Variation
            | Section::Precision
            | Section::Refiner => {}
        }
        self.sought = Some(section);
    }

    /// The last one of the list of a section was just added: the next frame scrolls to it.
    pub fn see_added(&mut self, section: Section) {
        match section {
            Section::ControlNets => self.control_nets.added.set(),
            Section::ImagePrompts => self.image_prompts.added.set(),
            Section::Detailers => self.detailers.added.set(),
            _ => {}
        }
    }

    /// The card below the prompt was opened: the next frame scrolls to it.
    pub fn see_card(&mut self) {
        self.card.set();
    }
}

/// The sections that the panel has now, with their names.
pub fn sections(state: &State) -> Vec<(Section, String)> {
    let request = &state.draft().request;
    let takes_refiner = state.summary().is_some_and(|summary| summary.takes_refiner);
    let name = |section| {
        Some(match section {
            Section::Prompt => tr!("side-panel-prompt"),
            Section::Presets => tr!("side-panel-presets"),
            Section::Size => tr!("side-panel-size"),
            Section::Steps => tr!("side-panel-steps"),
            Section::Seed => tr!("side-panel-seed"),
            Section::Input if state.takes_clip_inputs(request) => tr!("palette-clip-inputs"),
            Section::Input => tr!("side-panel-image-to-image"),
            Section::Loras => tr!("side-panel-loras"),
            Section::ControlNets if control_nets::is_shown(state) => tr!("control-nets-title"),
            Section::ImagePrompts if image_prompts::is_shown(state) => tr!("image-prompts-title"),
            Section::Sampler => tr!("side-panel-sampler"),
            Section::Variation => tr!("side-panel-variation-strength"),
            Section::Precision => tr!("side-panel-precision"),
            Section::Refiner if takes_refiner => tr!("palette-refiner"),
            Section::Regions if regions::is_shown(state, request) => tr!("regions-title"),
            Section::Hires if hires::is_shown(state, request) => tr!("hires-title"),
            Section::Detailers if detailers::is_shown(state, request) => tr!("detailers-title"),
            Section::Interpolation if smooth::is_shown(state, request) => tr!("interpolate-section"),
            Section::Guidance => tr!("side-panel-guidance-and-speed"),
            _ => return None,
        })
    };
    Section::ALL.into_iter().filter_map(|section| Some((section, name(section)?))).collect()
}

/// Draws a section, and scrolls to it if that is wanted.
fn section(ui: &mut Ui, sought: &mut Option<Section>, section: Section, contents: impl FnOnce(&mut Ui)) {
    let top = ui.cursor().top();
    contents(ui);
    if sought.take_if(|sought| *sought == section).is_some() {
        ui.scroll_to_rect(ui.min_rect().with_min_y(top), Some(Align::TOP));
    }
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
    let SidePanel { seed_text, presets, adapters, control_nets, image_prompts, .. } = panel;
    let sought = &mut panel.sought;
    clip::switch(ui, parts);
    section(ui, sought, Section::Prompt, |ui| prompts::show(ui, parts, &mut panel.card));
    gap(ui);
    section(ui, sought, Section::Presets, |ui| presets::show(ui, parts, presets));
    section(ui, sought, Section::Size, |ui| size::show(ui, parts));
    gap(ui);
    clip::length(ui, parts);
    section(ui, sought, Section::Steps, |ui| numbers(ui, parts));
    gap(ui);
    section(ui, sought, Section::Seed, |ui| seed::show(ui, parts, seed_text));
    gap(ui);
    section(ui, sought, Section::Input, |ui| {
        references::show(ui, parts, textures);
        redux::show(ui, parts);
        if parts.state.takes_clip_inputs(&parts.draft.request) {
            clip_inputs::show(ui, parts, textures);
        } else {
            input_image::show(ui, parts, textures);
        }
    });
    gap(ui);
    section(ui, sought, Section::Loras, |ui| adapters::show(ui, parts, adapters));
    section(ui, sought, Section::ControlNets, |ui| control_nets::show(ui, parts, control_nets, textures));
    section(ui, sought, Section::ImagePrompts, |ui| {
        image_prompts::show(ui, parts, image_prompts, textures);
    });
    more(ui, parts, panel);
    // What the panel does not have is not waited for.
    panel.sought = None;
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
    let SidePanel { more, guidance, regions, hires, detailers, smooth, sought, .. } = panel;
    widgets::fold(ui, (&tr!("side-panel-more"), tr!("side-panel-more-tip")), more, |ui| {
        section(ui, sought, Section::Sampler, |ui| sampler(ui, &mut parts.draft.request));
        shift::show(ui, parts);
        section(ui, sought, Section::Variation, |ui| variation::show(ui, parts));
        section(ui, sought, Section::Precision, |ui| precision(ui, parts));
        clip_skip::show(ui, parts);
        section(ui, sought, Section::Refiner, |ui| refiner::show(ui, parts));
        redux::offer(ui, parts);
        section(ui, sought, Section::Regions, |ui| regions::show(ui, parts, regions));
        section(ui, sought, Section::Hires, |ui| hires::show(ui, parts, hires));
        section(ui, sought, Section::Detailers, |ui| detailers::show(ui, parts, detailers));
        section(ui, sought, Section::Interpolation, |ui| smooth::show(ui, parts, smooth));
        section(ui, sought, Section::Guidance, |ui| guidance::show(ui, parts, guidance));
    });
}

fn sampler(ui: &mut Ui, request: &mut Request) {
    let name = tr!("side-panel-sampler");
    widgets::choice_row(ui, &name, &mut request.sampler, Sampler::ALL, Sampler::title)
        .on_hover_text(tr!("side-panel-sampler-tip"));
    let name = tr!("side-panel-schedule");
    let title = |schedule: Schedule| match schedule {
        Schedule::Model => tr!("side-panel-schedule-model"),
        named => named.title().to_owned(),
    };
    widgets::choice_row(ui, &name, &mut request.schedule, Schedule::ALL, title)
        .on_hover_text(tr!("side-panel-schedule-tip"));
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
