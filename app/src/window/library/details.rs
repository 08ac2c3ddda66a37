//! What is known about the selected row.

use std::path::{Path, PathBuf};

use egui::{Align, Frame, Grid, Id, Label, Layout, Margin, Rect, RichText, ScrollArea, Ui, vec2};
use sluice_engine::{
    models::{Content, Finding, Item, Kind},
    request::ModelSource,
    session::{Failure, ModelSummary},
};

use super::{
    LibraryAction, LibraryPlace,
    lines::title,
    previews::{LARGE, Previews},
    row,
};
use crate::{
    downloads::catalogue::catalogue,
    units,
    window::{
        action::Action,
        get::start_button,
        icons,
        state::{Comparison, EntryId, KnownEntry, State, file_name},
        tokens::{Palette, font, radius, size, space},
        widgets::{self, Weight},
    },
};

/// Largest height of the preview image.
const IMAGE: f32 = 220.0;
/// Tags that are shown.
const TAGS: usize = 12;

/// Draws the panel.
pub fn show(ui: &mut Ui, state: &State, place: &mut LibraryPlace, actions: &mut Vec<Action>) {
    let frame = Frame::new().inner_margin(Margin::same(space::L as i8));
    let LibraryPlace { selected, previews, note, .. } = place;
    let Some(id) = selected.clone() else {
        frame.show(ui, |ui| widgets::hint(ui, "Select a model to see what is known about it."));
        return;
    };
    ScrollArea::vertical().id_salt(&id).auto_shrink(false).show(ui, |ui| {
        frame.show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::S;
            match (state.library.item(&id), state.library.known(&id), &id) {
                (Some(item), ..) => item_details(ui, state, &id, item, previews, actions),
                (_, Some(known), _) => known_details(ui, state, &id, known, actions),
                (.., EntryId::Source(source)) if !matches!(source, ModelSource::Path(_)) => {
                    built_in(ui, state, &id, source, actions);
                }
                _ => {
                    widgets::hint(ui, "This file is no longer there.");
                    return;
                }
            }
            own_note(ui, state, &id, note, actions);
        });
    });
}

fn heading(ui: &mut Ui, text: &str) {
    let ink = Palette::of(ui).text;
    ui.add(Label::new(RichText::new(text).font(font::semibold(font::HEADING)).color(ink)).wrap());
}

fn section(ui: &mut Ui, text: &str) {
    ui.add_space(space::XS);
    widgets::field_label(ui, text);
}

/// A text that can be selected and copied.
fn paragraph(ui: &mut Ui, text: &str) {
    let ink = Palette::of(ui).text_muted;
    ui.add(Label::new(RichText::new(text).small().color(ink)).wrap().selectable(true));
}

fn item_details(
    ui: &mut Ui,
    state: &State,
    id: &EntryId,
    item: &Item,
    previews: &mut Previews,
    actions: &mut Vec<Action>,
) {
    preview(ui, item, previews);
    heading(ui, title(item));
    path_line(ui, &item.path, actions);
    let content = match &item.content {
        Finding::Content(content) => content,
        Finding::Error(error) => {
            section(ui, "Cannot be opened");
            widgets::mistake(ui, &sentence(error));
            return;
        }
    };
    let source = ModelSource::Path(item.path.clone());
    match content.kind {
        Kind::Model => {
            open_buttons(ui, state, &source, actions);
            fit(ui, state, id);
            ui.scope(|ui| parts(ui, state, &source));
        }
        Kind::Adapter => adapter(ui, state, item, content, actions),
        Kind::Part => {
            paragraph(ui, "Models that need this part find it here by themselves.");
        }
        Kind::Other => {
            widgets::hint(ui, "Sluice does not generate with this file.");
        }
    }
    facts(ui, content);
    duplicate(ui, state, item, actions);
    about(ui, item);
}

/// The preview image. It has its place before it is read, so that nothing moves.
fn preview(ui: &mut Ui, item: &Item, previews: &mut Previews) {
    let Some(path) = item.about.preview.as_deref() else { return };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), IMAGE), egui::Sense::hover());
    let name = format!("Preview of {}", title(item));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &name));
    ui.painter().rect_filled(rect, f32::from(radius::M), Palette::of(ui).field);
    let Some(texture) = previews.get(path, LARGE) else { return };
    let whole = texture.size_vec2();
    let scale = (rect.width() / whole.x.max(1.0)).min(rect.height() / whole.y.max(1.0)).min(1.0);
    let place = Rect::from_center_size(rect.center(), whole * scale);
    let uv = Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
    ui.painter().image(texture.id(), place, uv, egui::Color32::WHITE);
}

fn path_line(ui: &mut Ui, path: &Path, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            if widgets::icon_button(ui, icons::COPY, "Copy the path").clicked() {
                actions.push(Action::CopyText(path.display().to_string()));
            }
            if widgets::icon_button(ui, icons::FOLDER_OPEN, "Open its folder").clicked() {
                let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
                actions.push(Action::OpenFolder(folder.to_owned()));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let words = path.display().to_string();
                let label = RichText::new(&words).small().color(Palette::of(ui).text_muted);
                ui.add(Label::new(label).truncate()).on_hover_text(words);
            });
        });
    });
}

fn open_buttons(ui: &mut Ui, state: &State, source: &ModelSource, actions: &mut Vec<Action>) {
    let is_open = state.chosen_model() == source && state.summary().is_some();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, space::XS);
        if is_open {
            if widgets::button(ui, None, "Use current settings as defaults", Weight::Plain)
                .on_hover_text(
                    "This model starts with the size, steps, guidance, sampler and negative prompt that are set now.",
                )
                .clicked()
            {
                actions.push(Action::Library(LibraryAction::KeepDefaults));
            }
        } else if widgets::button(ui, Some(icons::FOLDER_OPEN), "Open this model", Weight::Primary)
            .on_hover_text("Generates with this model from now on.")
            .clicked()
        {
            actions.push(Action::Library(LibraryAction::Open(EntryId::Source(source.clone()))));
        }
        if state.settings.library.defaults_of(source).is_some()
            && widgets::button(ui, Some(icons::RESTORE), "Reset defaults", Weight::Ghost)
                .on_hover_text("The model starts with its own size, steps and guidance again.")
                .clicked()
        {
            actions.push(Action::Library(LibraryAction::ResetDefaults(source.clone())));
        }
    });
}

/// How a model fits, with the sentence of its plan.
fn fit(ui: &mut Ui, state: &State, id: &EntryId) {
    let palette = Palette::of(ui);
    let device = state.library.fits.device().map_or_else(String::new, |device| format!(" on {device}"));
    section(ui, &format!("Fit{device}"));
    let Some(fit) = state.library.fits.of(id) else {
        widgets::hint(ui, "Checking…");
        return;
    };
    ui.horizontal(|ui| {
        let (dot, _) = ui.allocate_exact_size(vec2(8.0, 16.0), egui::Sense::hover());
        ui.painter().circle_filled(dot.center(), 4.0, row::color(palette, fit));
        ui.label(RichText::new(fit.words()).font(font::medium(font::BODY)).color(palette.text));
    });
    paragraph(ui, &sentence(&fit.sentence()));
}

/// The parts that were found for a model, or what is missing and where to put it.
fn parts(ui: &mut Ui, state: &State, source: &ModelSource) {
    let palette = Palette::of(ui);
    let summary: &ModelSummary = match state.library.described.get(source) {
        None => return,
        Some(Ok(summary)) => summary,
        Some(Err(Failure { message, advice })) => {
            section(ui, "Something is missing");
            widgets::mistake(ui, &sentence(message));
            if let Some(advice) = advice {
                paragraph(ui, advice);
            }
            return;
        }
    };
    section(ui, "Parts");
    ui.spacing_mut().interact_size.y = font::BODY;
    ui.spacing_mut().item_spacing.y = 2.0;
    for component in &summary.components {
        let role = component.role.to_string();
        let (architecture, bytes) = (&component.architecture, units::memory(component.bytes));
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            ui.label(RichText::new("✓").color(palette.good));
            ui.label(RichText::new(capitalised(&role)).small().color(palette.text));
            let words = format!("{architecture} · {bytes}");
            ui.add(Label::new(RichText::new(words).small().color(palette.text_muted)).truncate());
        });
        if let Some(file) = component.files.first().filter(|file| !is_within(file, source)) {
            let more = component.files.len() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let words =
                RichText::new(format!("from {}{more}", file_name(file))).small().color(palette.text_faint);
            ui.add(Label::new(words).truncate()).on_hover_text(file.display().to_string());
        }
    }
}

fn is_within(file: &Path, source: &ModelSource) -> bool {
    match source {
        ModelSource::Path(path) => file.starts_with(path),
        ModelSource::Starter | ModelSource::StarterClip => true,
    }
}

fn facts(ui: &mut Ui, content: &Content) {
    let palette = Palette::of(ui);
    section(ui, "File");
    let rows = [
        ("What", content.what.clone()),
        ("Size", units::memory(content.bytes)),
        ("Weights", units::count(content.parameters)),
        ("Stored as", content.stored_as()),
        ("Format", content.format.clone()),
    ];
    Grid::new("facts").num_columns(2).spacing([space::M, 2.0]).show(ui, |ui| {
        for (name, value) in rows {
            ui.label(RichText::new(name).small().color(palette.text_faint));
            ui.add(Label::new(RichText::new(value).small().color(palette.text)).wrap());
            ui.end_row();
        }
    });
}

fn adapter(ui: &mut Ui, state: &State, item: &Item, content: &Content, actions: &mut Vec<Action>) {
    let used = state.draft().request.adapters.iter().any(|used| used.path == item.path);
    ui.horizontal(|ui| {
        let pressed = match used {
            true => widgets::button(ui, Some(icons::X), "Remove from the next image", Weight::Plain),
            false => widgets::button(ui, Some(icons::LAYERS), "Add to the next image", Weight::Primary),
        };
        if pressed.on_hover_text("Uses the LoRA with weight 1; change that under LoRA.").clicked() {
            let path = item.path.clone();
            actions.push(if used { Action::RemoveAdapter(path) } else { Action::AddAdapter(path) });
        }
    });
    if let (Some(summary), Some(family)) = (state.summary(), &content.family)
        && sluice_engine::models::adapter_fits(Some(family), &summary.family_name) == Some(false)
    {
        widgets::mistake(ui, &format!("Made for {family}, but the opened model is {}.", summary.family_name));
    }
    let words = trigger_words(state, item);
    if words.is_empty() {
        return;
    }
    section(ui, "Trigger words");
    for word in words {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let name = format!("Add {word} to the prompt");
                let tip = "Adds these words to the end of the prompt.";
                let button = widgets::button(ui, None, "Add", Weight::Plain);
                button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
                if button.on_hover_text(tip).clicked() {
                    actions.push(Action::Library(LibraryAction::AddToPrompt(word.clone())));
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| paragraph(ui, word));
            });
        });
    }
}

/// Those that other programs wrote beside a LoRA, or else those in its header.
fn trigger_words<'a>(state: &'a State, item: &'a Item) -> &'a [String] {
    match item.about.trigger_words.as_slice() {
        [] => state.library.trigger_words.get(&item.path).map_or(&[], Vec::as_slice),
        words => words,
    }
}

fn duplicate(ui: &mut Ui, state: &State, item: &Item, actions: &mut Vec<Action>) {
    let Some(other) = &item.same_as else { return };
    section(ui, "Duplicate");
    paragraph(ui, &format!("Same size, header and samples as {}.", other.display()));
    let files: [PathBuf; 2] = [item.path.clone(), other.clone()];
    match state.library.comparison.as_ref().filter(|comparison| comparison.files == files) {
        Some(Comparison { result: None, .. }) => {
            widgets::hint(ui, "Comparing every byte…");
        }
        Some(Comparison { result: Some(Ok(true)), .. }) => {
            paragraph(ui, "Every byte is the same: one of the files can be deleted.");
        }
        Some(Comparison { result: Some(Ok(false)), .. }) => paragraph(ui, "The files differ."),
        Some(Comparison { result: Some(Err(error)), .. }) => widgets::mistake(ui, error),
        None => {
            if widgets::button(ui, None, "Compare every byte", Weight::Plain)
                .on_hover_text("Reads both files completely, which takes a while.")
                .clicked()
            {
                actions.push(Action::Library(LibraryAction::Compare(files)));
            }
        }
    }
}

/// What other programs have written.
fn about(ui: &mut Ui, item: &Item) {
    let about = &item.about;
    if let Some(base) = &about.base {
        section(ui, "Based on");
        paragraph(ui, base);
    }
    if !about.tags.is_empty() {
        section(ui, "Tags");
        paragraph(ui, &about.tags.iter().take(TAGS).cloned().collect::<Vec<_>>().join(", "));
    }
    if let Some(notes) = &about.notes {
        section(ui, "Description");
        paragraph(ui, notes);
    }
}

fn known_details(ui: &mut Ui, state: &State, id: &EntryId, known: &KnownEntry, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    heading(ui, &known.name);
    paragraph(ui, "Not on this computer.");
    fit(ui, state, id);
    section(ui, "Download");
    let rows = [
        ("Repository", known.hub.clone()),
        ("Licence", known.licence.clone().unwrap_or_else(|| "See the repository".to_owned())),
        ("Size", format!("{} in 16 bits", units::memory(known.bytes))),
    ];
    Grid::new("download").num_columns(2).spacing([space::M, 2.0]).show(ui, |ui| {
        for (name, value) in rows {
            ui.label(RichText::new(name).small().color(palette.text_faint));
            ui.add(Label::new(RichText::new(value).small().color(palette.text)).wrap().selectable(true));
            ui.end_row();
        }
    });
    if let Some(listed) = catalogue().find(&known.id).filter(|_| state.downloads.is_there)
        && let Some(version) = state.version_for(listed)
    {
        let bytes =
            listed.bytes(version).map_or_else(String::new, |bytes| format!(", {}", units::memory(bytes)));
        ui.horizontal(|ui| {
            start_button(ui, state, listed, version, actions);
            let words = format!("{}{bytes}", version.format);
            ui.label(RichText::new(words).small().color(palette.text_muted));
        });
        if version.is_gated {
            paragraph(
                ui,
                "Accept the conditions on its page first, and give Sluice your token under Get models, Connection.",
            );
        }
    }
    let link = format!("https://huggingface.co/{}", known.hub);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, space::XS);
        if widgets::button(ui, None, "Open its page", Weight::Plain)
            .on_hover_text("Opens the repository in the browser.")
            .clicked()
        {
            ui.ctx().open_url(egui::OpenUrl::new_tab(&link));
        }
        if widgets::button(ui, Some(icons::COPY), "Copy link", Weight::Ghost)
            .on_hover_text("Copies the address of the repository.")
            .clicked()
        {
            actions.push(Action::CopyText(link.clone()));
        }
    });
    paragraph(
        ui,
        "Files that you download yourself into one of the folders that are searched appear here, too.",
    );
}

fn built_in(ui: &mut Ui, state: &State, id: &EntryId, source: &ModelSource, actions: &mut Vec<Action>) {
    heading(ui, if *source == ModelSource::StarterClip { "Clip starter" } else { "Starter" });
    paragraph(ui, "Comes with Sluice, so the first results need no download.");
    open_buttons(ui, state, source, actions);
    fit(ui, state, id);
    ui.scope(|ui| parts(ui, state, source));
}

/// The person's own note.
fn own_note(
    ui: &mut Ui,
    state: &State,
    id: &EntryId,
    note: &mut Option<(EntryId, String)>,
    actions: &mut Vec<Action>,
) {
    ui.add_space(space::XS);
    let label = widgets::field_label(ui, "Your note");
    let saved = state.settings.library.notes.get(&id.key());
    let text = match note {
        Some((of, text)) if of == id => text,
        note => &mut note.insert((id.clone(), saved.cloned().unwrap_or_default())).1,
    };
    let field = widgets::text_area(ui, Id::unique("library note"), text, label.id, "Only you see it", (2, 8));
    let field = field.on_hover_text("Kept on this computer; the search finds its words.");
    if field.changed() {
        actions.push(Action::Library(LibraryAction::Note(id.clone(), text.clone())));
    }
    ui.add_space(size::CONTROL);
}

/// A text with a capital letter at the start.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A message as a sentence of its own.
fn sentence(text: &str) -> String {
    let text = capitalised(text);
    if text.ends_with(['.', '!', '?']) { text } else { format!("{text}.") }
}
