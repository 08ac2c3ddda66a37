//! The settings, in the order in which they are listed.

use egui::{Label, RichText, TextEdit, Ui};
use sluice_engine::output::{Date, NAME_FIELDS, NameFacts, StillFormat, file_name_of};

use super::{SettingsPage, about};
use crate::window::{
    action::Action,
    files::Dialog,
    icons,
    settings::{OutputSettings, RenderGpu, SCALES, Setting, ThemeChoice},
    state::State,
    tokens::space,
    widgets::{self, Weight},
};

/// A setting, or a few that belong together.
pub struct Row {
    /// The title above it.
    pub section: &'static str,
    /// Words by which it is found, beside the section.
    words: &'static str,
    /// Draws it.
    pub show: fn(&mut Ui, &State, &mut SettingsPage, &mut Vec<Action>),
}

impl Row {
    /// Whether it has every word of a search.
    pub fn matches(&self, search: &str) -> bool {
        let own = format!("{} {}", self.section, self.words).to_lowercase();
        search.to_lowercase().split_whitespace().all(|word| own.contains(word))
    }
}

const LOOK: &str = "Look";
const SAVING: &str = "Saving";
const FOLDERS: &str = "Folders";
const ABOUT: &str = "About";

/// All of them.
pub const ROWS: [Row; 11] = [
    Row { section: LOOK, words: "theme dark light system colours", show: theme },
    Row { section: LOOK, words: "size of the contents scale zoom font ui", show: scale },
    Row { section: LOOK, words: "reduced motion animation accessibility", show: motion },
    Row { section: LOOK, words: "live preview while generating", show: previews },
    Row { section: LOOK, words: "sound mute clips", show: sound },
    Row { section: LOOK, words: "app rendering gpu adapter integrated dedicated vram", show: render_gpu },
    Row { section: SAVING, words: "output folder images clips where", show: output_folder },
    Row { section: SAVING, words: "image format png jpeg webp", show: format },
    Row { section: SAVING, words: "file names template date seed prompt", show: names },
    Row { section: FOLDERS, words: "models loras checkpoints gallery", show: folders },
    Row {
        section: ABOUT,
        words: "version licence license engine data logs report problem support privacy update",
        show: about::show,
    },
];

fn theme(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    widgets::field_label(ui, "Theme");
    let choices =
        [(ThemeChoice::System, "System"), (ThemeChoice::Dark, "Dark"), (ThemeChoice::Light, "Light")];
    if let Some(chosen) = widgets::segmented(ui, state.settings.theme, &choices) {
        actions.push(Action::Set(Setting::Theme(chosen)));
    }
}

fn scale(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let percent = |scale: f32| (100.0 * scale).round();
    let mut chosen = percent(state.settings.scale);
    let all = SCALES.map(percent);
    widgets::choice_row(ui, "Size of the contents", &mut chosen, all, |percent| format!("{percent}%"))
        .on_hover_text("Scales text and controls. Keys: Ctrl+Plus and Ctrl+Minus");
    if chosen != percent(state.settings.scale) {
        actions.push(Action::Set(Setting::Scale(chosen / 100.0)));
    }
}

fn motion(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let mut reduced = state.settings.reduced_motion;
    let switch = ui.checkbox(&mut reduced, "Reduced motion");
    if switch.on_hover_text("Panels and popups appear at once instead of fading.").changed() {
        actions.push(Action::Set(Setting::ReducedMotion(reduced)));
    }
}

fn previews(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let mut previews = state.settings.previews;
    let switch = ui.checkbox(&mut previews, "Live preview");
    if switch.on_hover_text("Shows the image while it is generated.").changed() {
        actions.push(Action::Set(Setting::Previews(previews)));
    }
}

fn sound(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let mut muted = state.settings.muted;
    let switch = ui.checkbox(&mut muted, "Mute clips");
    if switch.on_hover_text("Plays clips without their sound. Key: M").changed() {
        actions.push(Action::Set(Setting::Muted(muted)));
    }
}

fn render_gpu(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    widgets::field_label(ui, "App rendering GPU");
    let choices = [(RenderGpu::Integrated, "Integrated"), (RenderGpu::Dedicated, "Dedicated")];
    if let Some(chosen) = widgets::segmented(ui, state.settings.startup.render_gpu, &choices) {
        actions.push(Action::Set(Setting::RenderGpu(chosen)));
    }
    let gpu = state.surroundings.gpu.as_ref();
    let now = gpu.map_or_else(String::new, |gpu| format!(" Current: {gpu}."));
    let words =
        "The integrated GPU leaves all VRAM of the dedicated one to models. Takes effect after restart.";
    widgets::hint(ui, format!("{words}{now}"));
}

fn output_folder(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    widgets::field_label(ui, "Output folder");
    let Some(folder) = &state.surroundings.output_folder else {
        widgets::hint(ui, "Nothing is saved: this user has no folder for images.");
        return;
    };
    let path = folder.display().to_string();
    ui.add(Label::new(RichText::new(&path).small()).truncate()).on_hover_text(&path);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        if widgets::button(ui, Some(icons::FOLDER), "Choose…", Weight::Plain).clicked() {
            actions.push(Action::OpenDialog(Dialog::OutputFolder));
        }
        if widgets::button(ui, Some(icons::FOLDER_OPEN), "Open folder", Weight::Plain).clicked() {
            actions.push(Action::OpenFolder(folder.clone()));
        }
    });
}

fn format(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let output = &state.settings.output;
    widgets::field_label(ui, "Image format");
    let choices = StillFormat::ALL.map(|format| (format, format.title()));
    if let Some(format) = widgets::segmented(ui, output.format, &choices) {
        set_output(actions, OutputSettings { format, ..output.clone() });
    }
    let words = "PNG keeps every pixel. JPEG and WebP are smaller and lose a little. All keep the settings.";
    widgets::hint(ui, words);
}

fn names(ui: &mut Ui, state: &State, page: &mut SettingsPage, actions: &mut Vec<Action>) {
    let output = &state.settings.output;
    let label = widgets::field_label(ui, "File names");
    let mut typed = page.names.clone().unwrap_or_else(|| output.names.clone());
    let field = TextEdit::singleline(&mut typed)
        .hint_text(OutputSettings::USUAL_NAMES)
        .margin(egui::Margin::symmetric(10, 6))
        .desired_width(f32::INFINITY);
    let field = ui.add(field).labelled_by(label.id);
    let facts = NameFacts {
        name: "2026-11-25-0007-42",
        number: 1,
        count: 1,
        date: Some(Date::today()),
        seed: Some(42),
        model: "flux1-dev",
        prompt: "a red boat on a calm sea",
        size: [1024, 1024],
    };
    let made = file_name_of(&typed, &facts);
    if field.changed() {
        page.names = made.is_err().then(|| typed.clone());
        if made.is_ok() {
            set_output(actions, OutputSettings { names: typed, ..output.clone() });
        }
    }
    match made {
        Ok(name) => drop(widgets::hint(ui, format!("For example {name}.{}", output.format.extension()))),
        Err(error) => widgets::mistake(ui, &error.to_string()),
    }
    let fields: Vec<String> =
        NAME_FIELDS.iter().map(|(field, words)| format!("{{{field}}} is {words}")).collect();
    widgets::hint(ui, fields.join(", ") + ".");
}

fn set_output(actions: &mut Vec<Action>, output: OutputSettings) {
    actions.push(Action::Set(Setting::Output(Box::new(output))));
}

fn folders(ui: &mut Ui, _: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        if widgets::button(ui, Some(icons::LAYERS), "Folders of models…", Weight::Plain).clicked() {
            actions.push(Action::ShowSettings(false));
            actions.push(Action::Library(crate::window::library::LibraryAction::Show(true)));
        }
        if widgets::button(ui, Some(icons::LAYOUT_GRID), "Folders of the gallery…", Weight::Plain).clicked()
        {
            actions.push(Action::ShowSettings(false));
            actions.push(crate::window::gallery::Step::Open(true).into());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_settings_by_any_words_of_theirs() {
        let found = |search: &str| ROWS.iter().filter(|row| row.matches(search)).count();
        assert_eq!(found(""), ROWS.len());
        assert_eq!(found("  "), ROWS.len());
        assert_eq!((found("JPEG"), found("output folder"), found("look gpu")), (1, 1, 1));
        assert_eq!(found("cheese"), 0);
    }
}
