//! The settings, in the order in which they are listed.

use std::path::PathBuf;

use egui::{RichText, TextEdit, Ui};
use sluice_engine::output::{Codec, Date, NAME_FIELDS, NameFacts, StillFormat, file_name_of};

use super::{SettingsPage, about, engines, language, updates};
use crate::language::{text, tr};
use crate::window::{
    action::{Action, GalleryAction, Keeping, LibraryAction},
    commands,
    files::Dialog,
    get, icons,
    settings::{OutputSettings, RenderGpu, SCALES, Setting, ThemeChoice},
    state::{State, file_name},
    tokens::space,
    widgets::{self, Weight},
};

/// A setting, or a few that belong together.
pub struct Row {
    /// The key of the title above it.
    pub section: &'static str,
    /// The key of the words by which it is found, beside the section.
    words: &'static str,
    /// Draws it.
    pub show: fn(&mut Ui, &State, &mut SettingsPage, &mut Vec<Action>),
}

impl Row {
    /// Whether it has every word of a search.
    pub fn matches(&self, search: &str) -> bool {
        let own = format!("{} {}", text(self.section), text(self.words)).to_lowercase();
        search.to_lowercase().split_whitespace().all(|word| own.contains(word))
    }
}

const LOOK: &str = "settings-section-look";
const SAVING: &str = "settings-section-saving";
const FOLDERS: &str = "settings-section-folders";
const PROMPTS: &str = "settings-section-prompts";
const ENGINE: &str = "settings-section-engine";
const ABOUT: &str = "settings-section-about";

/// All of them.
pub const ROWS: [Row; 19] = [
    Row { section: LOOK, words: "settings-words-language", show: language::show },
    Row { section: LOOK, words: "settings-words-theme", show: theme },
    Row { section: LOOK, words: "settings-words-scale", show: scale },
    Row { section: LOOK, words: "settings-words-motion", show: motion },
    Row { section: LOOK, words: "settings-words-notifications", show: notifications },
    Row { section: LOOK, words: "settings-words-previews", show: previews },
    Row { section: LOOK, words: "settings-words-sound", show: sound },
    Row { section: LOOK, words: "settings-words-rendering", show: render_gpu },
    Row { section: SAVING, words: "settings-words-output", show: output_folder },
    Row { section: SAVING, words: "settings-words-format", show: format },
    Row { section: SAVING, words: "settings-words-codec", show: codec },
    Row { section: SAVING, words: "settings-words-names", show: names },
    Row { section: FOLDERS, words: "settings-words-folders", show: folders },
    Row { section: FOLDERS, words: "settings-words-connection", show: connection },
    Row { section: PROMPTS, words: "settings-words-styles", show: styles },
    Row { section: PROMPTS, words: "settings-words-tags", show: tags },
    Row { section: ENGINE, words: "settings-words-engine", show: engines::show },
    Row { section: ABOUT, words: "settings-words-about", show: about::show },
    Row { section: ABOUT, words: "settings-words-updates", show: updates::show },
];

fn theme(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    widgets::field_label(ui, &tr!("settings-theme"));
    let choices = [
        (ThemeChoice::System, tr!("settings-theme-system"), commands::SYSTEM.sentence()),
        (ThemeChoice::Dark, tr!("settings-theme-dark"), commands::DARK.sentence()),
        (ThemeChoice::Light, tr!("settings-theme-light"), commands::LIGHT.sentence()),
    ];
    if let Some(chosen) = widgets::segmented(ui, state.settings.theme, &choices) {
        actions.push(Action::Set(Setting::Theme(chosen)));
    }
}

fn scale(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let percent = |scale: f32| (100.0 * scale).round();
    let mut chosen = percent(state.settings.scale);
    let all = SCALES.map(percent);
    widgets::choice_row(ui, &tr!("settings-scale"), &mut chosen, all, |percent| format!("{percent}%"))
        .on_hover_text(tr!("settings-scale-tip"));
    if chosen != percent(state.settings.scale) {
        actions.push(Action::Set(Setting::Scale(chosen / 100.0)));
    }
}

fn motion(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let mut reduced = state.settings.reduced_motion;
    let on_or_off = |on| if on { tr!("settings-motion-on") } else { tr!("settings-motion-off") };
    let by_system = state.surroundings.reduces_motion;
    let name = |choice: Option<bool>| match choice {
        None => tr!("settings-motion-system", now = on_or_off(by_system)),
        Some(on) => on_or_off(on),
    };
    let choices = [None, Some(true), Some(false)];
    widgets::choice_row(ui, &tr!("settings-motion"), &mut reduced, choices, name)
        .on_hover_text(tr!("settings-motion-tip"));
    if reduced != state.settings.reduced_motion {
        actions.push(Action::Set(Setting::ReducedMotion(reduced)));
    }
}

fn notifications(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let mut notifies = state.settings.notifies;
    let switch = ui.checkbox(&mut notifies, tr!("settings-notifications"));
    if switch.on_hover_text(tr!("settings-notifications-tip")).changed() {
        actions.push(Action::Set(Setting::Notifies(notifies)));
    }
}

fn previews(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let mut previews = state.settings.previews;
    let switch = ui.checkbox(&mut previews, tr!("settings-previews"));
    if switch.on_hover_text(tr!("settings-previews-tip")).changed() {
        actions.push(Action::Set(Setting::Previews(previews)));
    }
}

fn sound(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let mut muted = state.settings.muted;
    let switch = ui.checkbox(&mut muted, tr!("settings-mute"));
    if switch.on_hover_text(tr!("settings-mute-tip")).changed() {
        actions.push(Action::Set(Setting::Muted(muted)));
    }
}

fn render_gpu(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    widgets::field_label(ui, &tr!("settings-rendering"));
    let choices = [
        (
            RenderGpu::Integrated,
            tr!("settings-rendering-integrated"),
            tr!("settings-rendering-integrated-tip"),
        ),
        (RenderGpu::Dedicated, tr!("settings-rendering-dedicated"), tr!("settings-rendering-dedicated-tip")),
    ];
    if let Some(chosen) = widgets::segmented(ui, state.settings.startup.render_gpu, &choices) {
        actions.push(Action::Set(Setting::RenderGpu(chosen)));
    }
    let words = match &state.surroundings.gpu {
        Some(gpu) => tr!("settings-rendering-hint-now", gpu = gpu),
        None => tr!("settings-rendering-hint"),
    };
    widgets::hint(ui, words);
}

fn output_folder(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    widgets::field_label(ui, &tr!("settings-output"));
    let Some(folder) = &state.surroundings.output_folder else {
        widgets::hint(ui, tr!("settings-output-none"));
        return;
    };
    let path = folder.display().to_string();
    widgets::line(ui, RichText::new(&path).small(), &path);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        if widgets::button(ui, Some(icons::FOLDER), &tr!("settings-output-choose"), Weight::Plain)
            .on_hover_text(tr!("settings-output-choose-tip"))
            .clicked()
        {
            actions.push(Action::OpenDialog(Dialog::OutputFolder));
        }
        if widgets::button(ui, Some(icons::FOLDER_OPEN), &tr!("common-open-folder"), Weight::Plain)
            .on_hover_text(tr!("settings-open-folder-tip"))
            .clicked()
        {
            actions.push(Action::OpenFolder(folder.clone()));
        }
    });
}

fn format(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let output = &state.settings.output;
    widgets::field_label(ui, &tr!("settings-format"));
    let choices = StillFormat::ALL.map(|format| (format, format.title(), format_meaning(format)));
    if let Some(format) = widgets::segmented(ui, output.format, &choices) {
        set_output(actions, OutputSettings { format, ..output.clone() });
    }
    widgets::hint(ui, tr!("settings-format-hint"));
    if output.format.is_lossy() {
        let mut quality = output.quality;
        widgets::slider_row(ui, &tr!("gallery-export-quality"), &mut quality, 50..=100, 1..=100, 1.0)
            .on_hover_text(tr!("gallery-export-quality-tip"));
        if quality != output.quality {
            set_output(actions, OutputSettings { quality, ..output.clone() });
        }
    }
}

fn codec(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    let output = &state.settings.output;
    let mut codec = output.codec;
    widgets::choice_row(ui, &tr!("settings-codec"), &mut codec, Codec::ALL, Codec::title)
        .on_hover_text(tr!("settings-codec-tip"));
    if codec != output.codec {
        set_output(actions, OutputSettings { codec, ..output.clone() });
    }
    widgets::hint(ui, tr!("settings-codec-hint"));
}

fn names(ui: &mut Ui, state: &State, page: &mut SettingsPage, actions: &mut Vec<Action>) {
    let output = &state.settings.output;
    let label = widgets::field_label(ui, &tr!("settings-names"));
    let mut typed = page.names.clone().unwrap_or_else(|| output.names.clone());
    let field = TextEdit::singleline(&mut typed)
        .hint_text(OutputSettings::USUAL_NAMES)
        .margin(egui::Margin::symmetric(10, 6))
        .desired_width(f32::INFINITY);
    let field = ui.add(field).labelled_by(label.id).on_hover_text(tr!("settings-names-tip"));
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
        Ok(name) => drop(widgets::hint(
            ui,
            tr!("settings-names-example", name = format!("{name}.{}", output.format.extension())),
        )),
        Err(error) => widgets::mistake(ui, &error.to_string()),
    }
    let fields = NAME_FIELDS.iter().map(|(field, words)| {
        tr!("settings-field", field = format!("{{{field}}}"), meaning = field_meaning(field, words))
    });
    widgets::hint(ui, fields.collect::<Vec<_>>().join(", ") + ".");
}

/// What a format is good for.
pub fn format_meaning(format: StillFormat) -> String {
    match format {
        StillFormat::Png => tr!("settings-format-png-tip"),
        StillFormat::Jpeg => tr!("settings-format-jpeg-tip"),
        StillFormat::WebP => tr!("settings-format-webp-tip"),
    }
}

/// What a field of a template of names becomes; the words of the engine, if it is new.
pub fn field_meaning(field: &str, words: &str) -> String {
    match field {
        "name" => tr!("settings-field-name"),
        "number" => tr!("settings-field-number"),
        "date" => tr!("settings-field-date"),
        "seed" => tr!("settings-field-seed"),
        "model" => tr!("settings-field-model"),
        "prompt" => tr!("settings-field-prompt"),
        "width" => tr!("settings-field-width"),
        "height" => tr!("settings-field-height"),
        _ => words.to_owned(),
    }
}

fn set_output(actions: &mut Vec<Action>, output: OutputSettings) {
    actions.push(Action::Set(Setting::Output(Box::new(output))));
}

fn folders(ui: &mut Ui, _: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        if widgets::button(ui, Some(icons::LAYERS), &tr!("settings-folders-models"), Weight::Plain)
            .on_hover_text(tr!("settings-folders-models-tip"))
            .clicked()
        {
            actions.push(Action::ShowSettings(false));
            actions.push(Action::Library(LibraryAction::Show(true)));
        }
        if widgets::button(ui, Some(icons::LAYOUT_GRID), &tr!("settings-folders-gallery"), Weight::Plain)
            .on_hover_text(tr!("settings-folders-gallery-tip"))
            .clicked()
        {
            actions.push(Action::ShowSettings(false));
            actions.push(GalleryAction::Open(true).into());
        }
    });
}

fn connection(ui: &mut Ui, state: &State, page: &mut SettingsPage, actions: &mut Vec<Action>) {
    get::connection(ui, state, &mut page.connection, actions);
}

fn styles(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    widgets::field_label(ui, &tr!("side-panel-styles"));
    if let Some(file) = listed(ui, &state.settings.style_files) {
        actions.push(Keeping::ForgetStyles(file).into());
    }
    if widgets::button(ui, Some(icons::FILE), &tr!("side-panel-styles-open"), Weight::Plain)
        .on_hover_text(tr!("side-panel-styles-open-tip"))
        .clicked()
    {
        actions.push(Action::OpenDialog(Dialog::Styles));
    }
}

fn tags(ui: &mut Ui, state: &State, _: &mut SettingsPage, actions: &mut Vec<Action>) {
    widgets::field_label(ui, &tr!("settings-tags"));
    if let Some(file) = listed(ui, &state.settings.tag_files) {
        actions.push(Keeping::ForgetTags(file).into());
    }
    if widgets::button(ui, Some(icons::FILE), &tr!("settings-tags-open"), Weight::Plain)
        .on_hover_text(tr!("settings-tags-open-tip"))
        .clicked()
    {
        actions.push(Action::OpenDialog(Dialog::Tags));
    }
    if !state.tags.is_empty() {
        widgets::hint(ui, tr!("settings-tags-count", count = state.tags.len()));
    }
}

/// Files, each with a button to remove it from the list. Returns one that is to be removed.
fn listed(ui: &mut Ui, files: &[PathBuf]) -> Option<PathBuf> {
    let mut removed = None;
    for file in files {
        ui.horizontal(|ui| {
            let remove = tr!("settings-file-remove", name = file_name(file));
            if widgets::icon_button(ui, icons::X, &remove).clicked() {
                removed = Some(file.clone());
            }
            let path = file.display().to_string();
            widgets::line(ui, RichText::new(&path).small(), &path);
        });
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_settings_by_any_words_of_theirs() {
        let found = |search: &str| ROWS.iter().filter(|row| row.matches(search)).count();
        assert_eq!(found(""), ROWS.len());
        assert_eq!(found("  "), ROWS.len());
        assert_eq!((found("JPEG"), found("output folder"), found("appearance gpu")), (1, 1, 1));
        assert_eq!((found("quality"), found("prores")), (1, 1));
        assert_eq!((found("proxy"), found("token"), found("tags csv")), (1, 1, 1));
        assert_eq!(found("cheese"), 0);
    }
}
