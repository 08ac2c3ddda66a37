//! The top bar: model, queue, and window settings.

use std::path::PathBuf;

use egui::{Align, Frame, Layout, Margin, Popup, PopupCloseBehavior, Ui, vec2};
use sluice_engine::request::ModelSource;

use super::{
    action::Action,
    files::Dialog,
    gallery::Step,
    get::GetAction,
    icons,
    library::LibraryAction,
    queue,
    settings::{Setting, ThemeChoice},
    state::{ModelStatus, State, file_name},
    tokens::{Palette, font, radius, size, space},
    widgets::{self, Weight},
};
use crate::units;

/// View state of the bar; not saved.
#[derive(Debug, Default)]
pub struct TopBar {
    typed_path: String,
    rows: Vec<queue::Row>,
}

/// Which panels are open.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    /// The gallery.
    pub gallery: bool,
    /// The plan panel.
    pub plan: bool,
    /// The timeline.
    pub timeline: bool,
}

/// Draws the bar.
pub fn show(ui: &mut Ui, state: &State, open: Open, bar: &mut TopBar, actions: &mut Vec<Action>) {
    ui.horizontal_centered(|ui| {
        model_picker(ui, state, &mut bar.typed_path, actions);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            if widgets::icon_button(ui, icons::SETTINGS, "Settings").clicked() {
                actions.push(Action::ShowSettings(true));
            }
            theme_picker(ui, state.settings.theme, actions);
            ui.add_space(space::XS);
            if widgets::toggle_button(ui, "Timeline", open.timeline)
                .on_hover_text("Show how a run uses memory over time.")
                .clicked()
            {
                actions.push(Action::Set(Setting::TimelineOpen(!open.timeline)));
            }
            if widgets::toggle_button(ui, "Plan", open.plan)
                .on_hover_text("Show how the model fits into memory, and change that.")
                .clicked()
            {
                actions.push(Action::Set(Setting::PlanOpen(!open.plan)));
            }
            if widgets::toggle_button(ui, "Gallery", open.gallery)
                .on_hover_text("Browse everything that was generated. Key: G")
                .clicked()
            {
                actions.push(Step::Open(!open.gallery).into());
            }
            if !state.jobs.is_empty() || state.jobs.paused {
                ui.add_space(space::XS);
                queue::show(ui, state, &mut bar.rows, actions);
            }
        });
    });
}

pub(super) fn popup_frame(ui: &Ui) -> Frame {
    Frame::popup(ui.style()).inner_margin(Margin::same(space::S as i8))
}

fn model_picker(ui: &mut Ui, state: &State, typed_path: &mut String, actions: &mut Vec<Action>) {
    let button = picker_button(ui, state);
    Popup::from_toggle_button_response(&button)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("Models")
        .frame(popup_frame(ui))
        .width(size::POPUP)
        .show(|ui| {
            ui.spacing_mut().item_spacing.y = space::XS;
            let mut chosen = None;
            let detail = "On this computer and well-known ones, with how they fit (Ctrl+M)";
            if widgets::row_button(ui, icons::LAYERS, "All models", detail, false)
                .on_hover_text("Opens the place of all models and LoRAs.")
                .clicked()
            {
                actions.push(Action::Library(LibraryAction::Show(true)));
                ui.close();
            }
            if state.downloads.is_there {
                let detail = match state.downloads.at_a_glance() {
                    Some((count, share)) => {
                        format!("{}, {:.0} %", units::counted(count, "download"), share * 100.0)
                    }
                    None => "A catalogue, links, and Hugging Face".to_owned(),
                };
                if widgets::row_button(ui, icons::DOWNLOAD, "Get models…", &detail, false)
                    .on_hover_text("Downloads models.")
                    .clicked()
                {
                    actions.push(GetAction::Show(true).into());
                    ui.close();
                }
            }
            ui.separator();
            for (model, detail) in [
                (ModelSource::Starter, "Built in: small images, for trying things out"),
                (ModelSource::StarterClip, "Built in: short clips, for trying things out"),
            ] {
                let selected = *state.chosen_model() == model;
                if widgets::row_button(ui, icons::PACKAGE, &model_name(&model), detail, selected).clicked() {
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
                        let remove = format!("Remove {name} from the list");
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
            for (icon, label, dialog) in [
                (icons::FILE, "Open a model file…", Dialog::ModelFile),
                (icons::FOLDER, "Open a model folder…", Dialog::ModelFolder),
            ] {
                if widgets::row_button(ui, icon, label, "", false).clicked() {
                    actions.push(Action::OpenDialog(dialog));
                    ui.close();
                }
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
    let label = widgets::field_label(ui, "Model path");
    ui.horizontal(|ui| {
        let width = ui.available_width() - 70.0;
        let field = egui::TextEdit::singleline(typed)
            .hint_text("/path/to/model")
            .margin(Margin::symmetric(10, 6))
            .desired_width(width);
        let response = ui.add_sized(vec2(width, size::CONTROL), field).labelled_by(label.id);
        let entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let empty = typed.trim().is_empty();
        let open = ui.add_enabled_ui(!empty, |ui| widgets::button(ui, None, "Open", Weight::Plain).clicked());
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
        ModelStatus::Ready(summary) => (summary.name.clone(), summary.family_name.clone()),
        ModelStatus::Loading => (model_name(state.chosen_model()), "loading…".to_owned()),
        ModelStatus::Failed => (model_name(state.chosen_model()), "could not be opened".to_owned()),
    };
    let name = widgets::cut(ui, &name, font::semibold(font::BODY), palette.text, 260.0);
    let failed = state.model.status == ModelStatus::Failed;
    let muted = if failed { palette.danger } else { palette.text_faint };
    let detail = widgets::cut(ui, &detail, egui::FontId::proportional(font::SMALL), muted, 220.0);
    let width = name.size().x + detail.size().x + 2.0 * space::M + 3.0 * space::S + 2.0 * font::ICON;
    let (rect, response) = ui.allocate_exact_size(vec2(width, size::CONTROL + 2.0), egui::Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "Model"));
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
    response.on_hover_text(state.summary().map_or_else(|| "Choose a model".to_owned(), describe))
}

fn describe(summary: &sluice_engine::session::ModelSummary) -> String {
    let mut lines = vec![summary.layout.clone()];
    for component in &summary.components {
        let (weights, size) = (units::count(component.parameters), units::memory(component.bytes));
        let (role, architecture) = (component.role, &component.architecture);
        lines.push(format!("{role}: {architecture}, {weights} parameters, {size}"));
    }
    lines.join("\n")
}

fn model_name(model: &ModelSource) -> String {
    match model {
        ModelSource::Starter => "Starter".to_owned(),
        ModelSource::StarterClip => "Clip starter".to_owned(),
        ModelSource::Path(path) => file_name(path),
    }
}

fn theme_picker(ui: &mut Ui, theme: ThemeChoice, actions: &mut Vec<Action>) {
    let choices = [
        (ThemeChoice::System, icons::SUN_MOON, "System"),
        (ThemeChoice::Dark, icons::MOON, "Dark"),
        (ThemeChoice::Light, icons::SUN, "Light"),
    ];
    let icon =
        choices.iter().find(|(choice, ..)| *choice == theme).map_or(icons::SUN_MOON, |&(_, icon, _)| icon);
    let button = widgets::icon_button(ui, icon, "Theme");
    Popup::menu(&button).accessible_name("Theme").frame(popup_frame(ui)).width(170.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for (choice, icon, label) in choices {
            if widgets::row_button(ui, icon, label, "", choice == theme).clicked() {
                actions.push(Action::Set(Setting::Theme(choice)));
            }
        }
    });
}
