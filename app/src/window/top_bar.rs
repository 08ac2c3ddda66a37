//! The top bar: model, queue, and window settings.

use std::path::PathBuf;

use egui::{Align, Layout, Margin, Popup, PopupCloseBehavior, Ui, vec2};
use sluice_engine::request::ModelSource;

use super::{
    action::Action,
    commands::{self, Entry, Now},
    icons,
    queue::{self, QueueView},
    sentences::role_name,
    settings::ThemeChoice,
    state::{ModelStatus, State, file_name},
    tokens::{Palette, font, radius, size, space},
    widgets::{self, Weight},
};
use crate::language::{said, tr, units};

/// View state of the bar; not saved.
#[derive(Debug, Default)]
pub struct TopBar {
    typed_path: String,
    /// The queue.
    pub queue: QueueView,
}

/// Draws the bar.
pub fn show(ui: &mut Ui, now: &Now<'_>, bar: &mut TopBar, actions: &mut Vec<Action>) {
    let state = now.state;
    ui.horizontal_centered(|ui| {
        model_picker(ui, now, &mut bar.typed_path, actions);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            let settings = &commands::OPEN_SETTINGS;
            if widgets::explained_icon(ui, settings.icon, &settings.title(), &settings.sentence()).clicked() {
                actions.extend(settings.action(now));
            }
            theme_picker(ui, now, actions);
            ui.add_space(space::XS);
            for (command, is_on) in [
                (commands::TIMELINE, now.open.timeline),
                (commands::PLAN, now.open.plan),
                (commands::GALLERY, now.open.gallery),
            ] {
                if widgets::toggle_button(ui, &command.title(), is_on)
                    .on_hover_text(command.sentence())
                    .clicked()
                {
                    actions.extend(command.action(now));
                }
            }
            if !state.jobs.is_empty() || state.jobs.paused {
                ui.add_space(space::XS);
                queue::show(ui, state, &mut bar.queue, actions);
            }
        });
    });
}

/// A command in a menu, with a line of detail. It is left out where it cannot be used.
fn command_row(ui: &mut Ui, now: &Now<'_>, command: &Entry, detail: &str, actions: &mut Vec<Action>) {
    let Some(action) = command.action(now) else { return };
    let row = widgets::row_button(ui, command.icon, &command.title(), detail, false);
    if row.on_hover_text(command.sentence()).clicked() {
        actions.push(action);
        ui.close();
    }
}

fn model_picker(ui: &mut Ui, now: &Now<'_>, typed_path: &mut String, actions: &mut Vec<Action>) {
    let state = now.state;
    let button = picker_button(ui, state);
    Popup::from_toggle_button_response(&button)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name(tr!("top-bar-models"))
        .frame(widgets::popup_frame(ui))
        .width(size::POPUP)
        .show(|ui| {
            ui.spacing_mut().item_spacing.y = space::XS;
            let mut chosen = None;
            command_row(ui, now, &commands::ALL_MODELS, &tr!("top-bar-all-models-detail"), actions);
            let detail = match state.downloads.at_a_glance() {
                Some((count, share)) => {
                    let percent = format!("{:.0} %", share * 100.0);
                    tr!("top-bar-downloads", count = count, percent = percent)
                }
                None => tr!("top-bar-get-models-detail"),
            };
            command_row(ui, now, &commands::GET_MODELS, &detail, actions);
            ui.separator();
            for (model, detail) in [
                (ModelSource::Starter, tr!("top-bar-starter-detail")),
                (ModelSource::StarterClip, tr!("top-bar-starter-clip-detail")),
            ] {
                let selected = *state.chosen_model() == model;
                if widgets::row_button(ui, icons::PACKAGE, &model_name(&model), &detail, selected)
                    .on_hover_text(tr!("top-bar-choose-model-tip"))
                    .clicked()
                {
                    chosen = Some(model);
                }
            }
            for path in &state.settings.recent_models {
                let model = ModelSource::Path(path.clone());
                let selected = *state.chosen_model() == model;
                let detail = path.display().to_string();
                let name = file_name(path);
                ui.horizontal(|ui| {
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        let remove = tr!("top-bar-forget-model", name = &name);
                        if widgets::icon_button(ui, icons::X, &remove).clicked() {
                            actions.push(Action::ForgetModel(path.clone()));
                        }
                        let row = widgets::file_button(ui, icons::LAYERS, &name, &detail, selected);
                        if row.on_hover_text(detail).clicked() {
                            chosen = Some(model);
                        }
                    });
                });
            }
            ui.separator();
            for command in [commands::OPEN_MODEL_FILE, commands::OPEN_MODEL_FOLDER] {
                command_row(ui, now, &command, "", actions);
            }
            ui.separator();
            if let Some(path) = path_field(ui, typed_path) {
                chosen = Some(ModelSource::Path(path));
            }
            if let Some(model) = chosen {
                actions.push(Action::ChooseModel(model));
                ui.close();
            }
        });
}

/// A field for typing a path, for use with the clipboard and on desktops without dialogs.
fn path_field(ui: &mut Ui, typed: &mut String) -> Option<PathBuf> {
    let label = widgets::field_label(ui, &tr!("top-bar-path"));
    ui.horizontal(|ui| {
        let width = ui.available_width() - 70.0;
        let field = egui::TextEdit::singleline(typed)
            .hint_text(tr!("top-bar-path-example"))
            .margin(Margin::symmetric(10, 6))
            .desired_width(width);
        let response = ui
            .add_sized(vec2(width, size::CONTROL), field)
            .labelled_by(label.id)
            .on_hover_text(tr!("top-bar-path-tip"));
        let entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let empty = typed.trim().is_empty();
        let open = ui.add_enabled_ui(!empty, |ui| {
            widgets::button(ui, None, &tr!("top-bar-open"), Weight::Plain)
                .on_hover_text(tr!("top-bar-choose-model-tip"))
                .clicked()
        });
        ((open.inner || entered) && !empty).then(|| {
            let path = PathBuf::from(typed.trim());
            typed.clear();
            path
        })
    })
    .inner
}

fn picker_button(ui: &mut Ui, state: &State) -> egui::Response {
    let palette = Palette::of(ui);
    let (name, detail) = match &state.model.status {
        ModelStatus::Ready(summary) => {
            let name = match &summary.source {
                ModelSource::Path(_) => summary.name.clone(),
                built_in => model_name(built_in),
            };
            (name, said(&summary.family_name))
        }
        ModelStatus::Loading => (model_name(state.chosen_model()), tr!("top-bar-loading")),
        ModelStatus::Failed => (model_name(state.chosen_model()), tr!("top-bar-failed")),
    };
    let name = widgets::cut(ui, &name, font::semibold(font::BODY), palette.text, 260.0);
    let failed = state.model.status == ModelStatus::Failed;
    let muted = if failed { palette.danger } else { palette.text_faint };
    let detail = widgets::cut(ui, &detail, egui::FontId::proportional(font::SMALL), muted, 220.0);
    let width = name.size().x + detail.size().x + 2.0 * space::M + 3.0 * space::S + 2.0 * font::ICON;
    let (rect, response) = ui.allocate_exact_size(vec2(width, size::CONTROL + 2.0), egui::Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, tr!("top-bar-model")));
    let over = response.hovered() || response.has_focus();
    let fill = if over { palette.hover } else { palette.raised };
    let line = if response.has_focus() { palette.accent } else { palette.line };
    let stroke = egui::Stroke::new(1.0, line);
    ui.painter().rect(rect, radius::M, fill, stroke, egui::StrokeKind::Inside);
    let middle = |galley: &egui::Galley| rect.center().y - galley.size().y / 2.0;
    let mut x = rect.left() + space::M;
    let icon = |x: f32, icon: &str, size: f32| {
        let place = egui::pos2(x, rect.center().y);
        ui.painter().text(place, egui::Align2::LEFT_CENTER, icon, font::icons(size), palette.text_muted);
    };
    icon(x, icons::PACKAGE, font::ICON);
    x += font::ICON + space::S;
    for galley in [name, detail] {
        let step = galley.size().x + space::S;
        let place = egui::pos2(x, middle(&galley));
        ui.painter().galley(place, galley, palette.text);
        x += step;
    }
    icon(x, icons::CHEVRON_DOWN, font::ICON - 2.0);
    response.on_hover_text(state.summary().map_or_else(|| tr!("top-bar-choose-model"), describe))
}

fn describe(summary: &sluice_engine::session::ModelSummary) -> String {
    let mut lines = vec![summary.layout.clone()];
    for component in &summary.components {
        let (weights, size) = (units::count(component.parameters), units::memory(component.bytes));
        let role = role_name(component.role);
        let architecture = &component.architecture;
        lines.push(tr!(
            "top-bar-component",
            role = role,
            architecture = architecture,
            weights = weights,
            size = size
        ));
    }
    lines.join("\n")
}

fn model_name(model: &ModelSource) -> String {
    match model {
        ModelSource::Starter => tr!("top-bar-starter"),
        ModelSource::StarterClip => tr!("top-bar-starter-clip"),
        ModelSource::Upscaler => tr!("top-bar-upscaler"),
        ModelSource::Path(path) => file_name(path),
    }
}

fn theme_picker(ui: &mut Ui, now: &Now<'_>, actions: &mut Vec<Action>) {
    let themes = [
        (ThemeChoice::System, commands::SYSTEM),
        (ThemeChoice::Dark, commands::DARK),
        (ThemeChoice::Light, commands::LIGHT),
    ];
    let theme = now.state.settings.theme;
    let icon = themes.iter().find(|(own, _)| *own == theme).map_or(icons::SUN_MOON, |(_, own)| own.icon);
    let button = widgets::icon_button(ui, icon, &tr!("settings-theme"));
    Popup::menu(&button)
        .accessible_name(tr!("settings-theme"))
        .frame(widgets::popup_frame(ui))
        .width(190.0)
        .show(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            for (own, command) in themes {
                let row = widgets::row_button(ui, command.icon, &command.title(), "", own == theme);
                if row.on_hover_text(command.sentence()).clicked() {
                    actions.extend(command.action(now));
                }
            }
        });
}
