//! The settings of the next picture, and Generate.

use egui::{Align, Frame, Id, Layout, Margin, ScrollArea, Ui, vec2};
use sluice_engine::request::{ComputeDtype, RequestError, Sampler, Schedule};

use super::{
    action::Action,
    adapters::{self, AdaptersState},
    clip_skip,
    draft::Draft,
    forecast, icons, prompt_counter, sampling_panel,
    sizes::{Aspect, MAX_SIDE},
    source_picture,
    state::{ModelStatus, State},
    textures::Textures,
    tokens::{Palette, font, radius, size, space},
    widgets::{self, Weight},
    words,
};

/// What the panel remembers between frames and not beyond.
#[derive(Debug, Default)]
pub struct PanelState {
    more: bool,
    adapters: AdaptersState,
    sampling: bool,
    seed_text: String,
}

/// Draws the panel.
pub fn show(
    ui: &mut Ui,
    state: &mut State,
    panel: &mut PanelState,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    egui::Panel::bottom("generate")
        .resizable(false)
        .show_separator_line(true)
        .frame(Frame::new().inner_margin(Margin::symmetric(space::L as i8, space::M as i8)))
        .show(ui, |ui| generate(ui, state, actions));
    egui::CentralPanel::default().frame(Frame::new()).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            let (side, end) = (space::L as i8, space::S as i8);
            let margin = Margin { left: side, right: side, top: 12, bottom: end };
            Frame::new().inner_margin(margin).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 6.0;
                notice(ui, state, actions);
                if let Some(dropped) = &state.dropped {
                    source_picture::question(ui, dropped, actions);
                    gap(ui);
                }
                prompts(ui, state, actions);
                gap(ui);
                sizes(ui, state);
                gap(ui);
                numbers(ui, state);
                gap(ui);
                seed(ui, state, panel, actions);
                gap(ui);
                source_picture::show(ui, state, textures, actions);
                gap(ui);
                adapters::show(ui, state, &mut panel.adapters, actions);
                more(ui, state, panel);
            });
        });
    });
}

fn gap(ui: &mut Ui) {
    ui.add_space(space::XS + 2.0);
}

fn notice(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let Some(notice) = &state.notice else { return };
    let palette = Palette::of(ui);
    Frame::new()
        .fill(palette.accent_soft)
        .corner_radius(radius::M)
        .inner_margin(Margin { left: 12, right: 6, top: 6, bottom: 6 })
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    if widgets::icon_button(ui, icons::X, "Dismiss the notice").clicked() {
                        actions.push(Action::DismissNotice);
                    }
                    if notice.undo.is_some()
                        && widgets::button(ui, Some(icons::RESTORE), "Undo", Weight::Ghost).clicked()
                    {
                        actions.push(Action::UndoRestore);
                    }
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        ui.add(egui::Label::new(&notice.text).truncate()).on_hover_text(&notice.text);
                    });
                });
            });
            for detail in &notice.details {
                widgets::hint(ui, detail.as_str());
            }
        });
    gap(ui);
}

fn prompts(ui: &mut Ui, state: &mut State, actions: &mut Vec<Action>) {
    let label = ui
        .horizontal(|ui| {
            ui.set_height(font::SMALL + 2.0 * space::XS);
            let label = widgets::field_label(ui, "Prompt");
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| examples(ui, state, actions));
            label
        })
        .inner;
    prompt_counter::show(ui, &label, "Prompt", state.planning.readings(0));
    let words = "What the picture shows";
    widgets::text_area(ui, Id::unique("sluice prompt"), &mut state.draft.prompt, label.id, words, (4, 10));
    prompt_counter::unread(ui, state.planning.readings(0));
    gap(ui);
    let label = widgets::field_label(ui, "Negative prompt");
    prompt_counter::show(ui, &label, "Negative prompt", state.planning.readings(1));
    let words = "What it must not show";
    widgets::text_area(
        ui,
        Id::unique("sluice negative"),
        &mut state.draft.negative_prompt,
        label.id,
        words,
        (2, 5),
    );
    prompt_counter::unread(ui, state.planning.readings(1));
    if state.draft.guidance == 0.0 && !state.draft.negative_prompt.trim().is_empty() {
        widgets::hint(ui, "Not used while guidance is 0.");
    }
}

fn examples(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let Some(summary) = state.summary().filter(|summary| !summary.examples.is_empty()) else { return };
    let button = widgets::disclosure(ui, "Examples", icons::CHEVRON_DOWN, false);
    egui::Popup::menu(&button).accessible_name("Examples").width(size::POPUP).show(|ui| {
        for example in &summary.examples {
            if widgets::row_button(ui, icons::SPARKLES, example, "", false).clicked() {
                actions.push(Action::UsePrompt(example.clone()));
                ui.close();
            }
        }
    });
}

fn sizes(ui: &mut Ui, state: &mut State) {
    widgets::field_label(ui, "Size");
    let multiple = state.size_multiple();
    let area =
        state.summary().map_or(u64::from(state.draft.width) * u64::from(state.draft.height), |summary| {
            u64::from(summary.defaults.width) * u64::from(summary.defaults.height)
        });
    let mistake = state.mistake();
    let draft = &mut state.draft;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let count = Aspect::presets().len() as f32;
        let width = (ui.available_width() - 2.0 * (count - 1.0)) / count;
        for &aspect in Aspect::presets() {
            let wanted = aspect.size(area, multiple);
            let selected = wanted == (draft.width, draft.height);
            let tip = format!("{} × {}", wanted.0, wanted.1);
            let sides = (aspect.width, aspect.height);
            let button = widgets::aspect_button(ui, sides, &aspect.name(), selected, width);
            if button.on_hover_text(tip).clicked() {
                (draft.width, draft.height) = wanted;
            }
        }
    });
    ui.horizontal(|ui| {
        let width = (ui.available_width() - size::CONTROL - 2.0 * space::S) / 2.0;
        side(ui, "Width", &mut draft.width, multiple, width);
        if widgets::icon_button(ui, icons::ARROW_LEFT_RIGHT, "Swap width and height").clicked() {
            std::mem::swap(&mut draft.width, &mut draft.height);
        }
        side(ui, "Height", &mut draft.height, multiple, width);
    });
    if let Some(error @ (RequestError::SizeNotMultiple { .. } | RequestError::SideTooLong { .. })) = mistake {
        widgets::mistake(ui, &sentence(&error));
        if widgets::button(ui, None, "Round the size", Weight::Plain).clicked() {
            draft.snap_size(multiple);
        }
    }
}

fn side(ui: &mut Ui, name: &str, value: &mut u32, multiple: u32, width: f32) {
    let prefix = egui::RichText::new(format!("{name}  ")).color(Palette::of(ui).text_faint);
    let field = egui::DragValue::new(value)
        .range(multiple..=MAX_SIDE)
        .clamp_existing_to_range(false)
        .speed(multiple as f32 / 4.0)
        .update_while_editing(false)
        .prefix(prefix);
    let changed = ui.add_sized(vec2(width, size::CONTROL), field).accessible_name(name).changed();
    if changed {
        *value = super::sizes::snap(*value, multiple);
    }
}

fn numbers(ui: &mut Ui, state: &mut State) {
    let mistake = state.mistake();
    let draft = &mut state.draft;
    widgets::slider_row(ui, "Steps", &mut draft.steps, 1..=50, 1..=1000, 1.0);
    if let Some(error @ (RequestError::NoSteps | RequestError::TooManySteps(_))) = &mistake {
        widgets::mistake(ui, &sentence(error));
    }
    widgets::slider_row(ui, "Guidance", &mut draft.guidance, 0.0..=10.0, 0.0..=30.0, 0.1);
    if let Some(error @ RequestError::Guidance(_)) = &mistake {
        widgets::mistake(ui, &sentence(error));
    }
    let most = Draft::MAX_BATCH;
    widgets::slider_row(ui, "Pictures at once", &mut draft.batch, 1..=most, 1..=64, 1.0);
    if let Some(error @ (RequestError::EmptyBatch | RequestError::BatchTooLarge(_))) = &mistake {
        widgets::mistake(ui, &sentence(error));
    }
}

fn seed(ui: &mut Ui, state: &mut State, panel: &mut PanelState, actions: &mut Vec<Action>) {
    let label = widgets::field_label(ui, "Seed");
    let id = Id::unique("sluice seed");
    if !ui.memory(|memory| memory.has_focus(id)) {
        panel.seed_text = state.draft.seed.to_string();
    }
    ui.horizontal(|ui| {
        let width = ui.available_width() - 2.0 * (size::CONTROL + space::XS);
        ui.spacing_mut().item_spacing.x = space::XS;
        let field = egui::TextEdit::singleline(&mut panel.seed_text)
            .id(id)
            .char_limit(20)
            .margin(Margin::symmetric(10, 6))
            .desired_width(width);
        let response = ui.add_sized(vec2(width, size::CONTROL), field).labelled_by(label.id);
        if response.changed() {
            panel.seed_text.retain(|character| character.is_ascii_digit());
            if let Ok(seed) = panel.seed_text.parse() {
                state.draft.seed = seed;
                state.draft.seed_locked = true;
            }
        }
        let (icon, name) = match state.draft.seed_locked {
            true => (icons::LOCK, "Keep the seed"),
            false => (icons::LOCK_OPEN, "Keep the seed"),
        };
        if widgets::icon_toggle(ui, icon, name, state.draft.seed_locked).clicked() {
            state.draft.seed_locked = !state.draft.seed_locked;
        }
        if widgets::icon_button(ui, icons::DICES, "Draw a new seed").clicked() {
            actions.push(Action::NewSeed);
        }
    });
    let words = match state.draft.seed_locked {
        true => "Stays for the next picture.",
        false => "Each picture gets a new one.",
    };
    widgets::hint(ui, words);
}

fn more(ui: &mut Ui, state: &mut State, panel: &mut PanelState) {
    let PanelState { more, sampling, .. } = panel;
    widgets::fold(ui, "More settings", more, |ui| {
        let mistake = state.mistake();
        let draft = &mut state.draft;
        widgets::choice_row(ui, "Sampler", &mut draft.sampler, Sampler::ALL, Sampler::title);
        widgets::choice_row(ui, "Schedule", &mut draft.schedule, Schedule::ALL, Schedule::title);
        precision(ui, state);
        clip_skip::show(ui, state);
        sampling_panel::show(ui, &mut state.draft, sampling, mistake.as_ref());
    });
}

fn precision(ui: &mut Ui, state: &mut State) {
    let chosen = &mut state.draft.dtype;
    let planned = state.planning.forecast().map(|forecast| forecast.dtype).filter(|_| chosen.is_none());
    let name = |dtype: Option<ComputeDtype>| match (dtype, planned) {
        (Some(dtype), _) => words::precision(dtype).to_owned(),
        (None, Some(planned)) => format!("Automatic ({})", planned.name()),
        (None, None) => "Automatic".to_owned(),
    };
    let choices = [None].into_iter().chain(ComputeDtype::ALL.map(Some));
    widgets::choice_row(ui, "Precision", chosen, choices, name);
}

fn generate(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let running = !state.jobs.is_empty();
    let cancelling = state.running().is_some_and(|(job, _)| job.cancelling);
    ui.horizontal(|ui| {
        let cancel_width = if running { 96.0 + space::S } else { 0.0 };
        let width = ui.available_width() - cancel_width;
        let shortcut = ui.ctx().format_shortcut(&super::app::GENERATE);
        ui.add_enabled_ui(state.can_generate(), |ui| {
            if widgets::primary_button(ui, "Generate", &shortcut, width).clicked() {
                actions.push(Action::Generate);
            }
        });
        if running {
            ui.add_enabled_ui(!cancelling, |ui| {
                if widgets::wide_button(ui, "Cancel", "Esc", 96.0, Weight::Plain).clicked() {
                    actions.push(Action::CancelRunning);
                }
            });
        }
    });
    let words = match (&state.status, state.mistake()) {
        _ if state.engine_ended => Some("The engine has ended. Start Sluice again.".to_owned()),
        (ModelStatus::Loading, _) => Some("The model is being read.".to_owned()),
        (ModelStatus::Failed, _) => Some("Choose a model first.".to_owned()),
        (ModelStatus::Ready(_), Some(mistake)) => Some(sentence(&mistake)),
        (ModelStatus::Ready(_), None) if cancelling => Some("Cancelling…".to_owned()),
        (ModelStatus::Ready(_), None) => None,
    };
    match words {
        Some(words) => {
            let palette = Palette::of(ui);
            ui.horizontal(|ui| {
                widgets::icon(ui, icons::INFO, 13.0, palette.text_faint);
                ui.spacing_mut().item_spacing.x = 6.0;
                ui.add(egui::Label::new(egui::RichText::new(words).small().color(palette.text_muted)).wrap());
            });
        }
        None => forecast::show(ui, state, actions),
    }
}

/// An error as a sentence of its own.
fn sentence(error: &RequestError) -> String {
    let text = error.to_string();
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), characters.as_str()),
        None => text,
    }
}
