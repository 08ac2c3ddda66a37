//! What is known about the selected row.

use std::path::Path;

use egui::{Align, Frame, Grid, Id, Label, Layout, Margin, Rect, RichText, ScrollArea, Ui, vec2};
use sluice_engine::{
    models::{Content, Finding, Item, Kind},
    request::ModelSource,
    session::{Failure, ModelSummary},
};

use super::{
    LibraryPlace, Typed,
    previews::{LARGE, Previews},
};
use crate::{
    downloads::catalogue::catalogue,
    language::{said, tr, units},
    window::{
        action::{Action, LibraryAction},
        fit,
        get::start_button,
        icons,
        sentences::{role_name, sentence},
        state::{EntryId, KnownEntry, Likeness, State, file_name, title_of},
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
    let LibraryPlace { selected, previews, typed, .. } = place;
    let Some(id) = selected.clone() else {
        frame.show(ui, |ui| widgets::hint(ui, tr!("library-nothing-selected")));
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
                    widgets::hint(ui, tr!("library-file-gone"));
                    return;
                }
            }
            let typed = typed_about(state, &id, typed);
            own_tags(ui, state, &id, &mut typed.tag, actions);
            own_note(ui, &id, &mut typed.note, actions);
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
    heading(ui, title_of(item));
    path_line(ui, &item.path, actions);
    let content = match &item.content {
        Finding::Content(content) => content,
        Finding::Error(error) => {
            section(ui, &tr!("library-cannot-be-opened"));
            widgets::mistake(ui, &sentence(error));
            return;
        }
    };
    let source = ModelSource::Path(item.path.clone());
    match content.kind {
        Kind::Model => {
            open_buttons(ui, state, &source, actions);
            if let Some(names) = state.engines_with(id) {
                paragraph(ui, &tr!("library-on-engine", name = names));
            } else {
                fit(ui, state, id);
                ui.scope(|ui| parts(ui, state, &source));
            }
        }
        Kind::Adapter => adapter(ui, state, item, content, actions),
        Kind::ControlNet => paragraph(ui, &tr!("library-control-net-tip")),
        Kind::IpAdapter => paragraph(ui, &tr!("library-ip-adapter-tip")),
        Kind::Part => {
            paragraph(ui, &tr!("library-part-tip"));
        }
        Kind::Other => {
            widgets::hint(ui, tr!("library-not-used-tip"));
        }
    }
    facts(ui, content);
    copies(ui, state, item, actions);
    about(ui, item);
}

/// The preview image. It has its place before it is read, so that nothing moves.
fn preview(ui: &mut Ui, item: &Item, previews: &mut Previews) {
    let Some(path) = item.about.preview.as_deref() else { return };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), IMAGE), egui::Sense::hover());
    let name = tr!("library-preview", name = title_of(item));
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
            if widgets::icon_button(ui, icons::COPY, &tr!("library-copy-path")).clicked() {
                actions.push(Action::CopyText(path.display().to_string()));
            }
            if widgets::icon_button(ui, icons::FOLDER_OPEN, &tr!("library-open-folder")).clicked() {
                let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
                actions.push(Action::OpenFolder(folder.to_owned()));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let words = path.display().to_string();
                let label = RichText::new(&words).small().color(Palette::of(ui).text_muted);
                widgets::line(ui, label, words);
            });
        });
    });
}

fn open_buttons(ui: &mut Ui, state: &State, source: &ModelSource, actions: &mut Vec<Action>) {
    let is_open = state.chosen_model() == source && state.summary().is_some();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, space::XS);
        if is_open {
            if widgets::button(ui, None, &tr!("library-keep-defaults"), Weight::Plain)
                .on_hover_text(tr!("library-keep-defaults-tip"))
                .clicked()
            {
                actions.push(Action::Library(LibraryAction::KeepDefaults));
            }
        } else if widgets::button(ui, Some(icons::FOLDER_OPEN), &tr!("library-open-model"), Weight::Primary)
            .on_hover_text(tr!("library-open-model-tip"))
            .clicked()
        {
            actions.push(Action::Library(LibraryAction::Open(EntryId::Source(source.clone()))));
        }
        if state.settings.library.defaults_of(source).is_some()
            && widgets::button(ui, Some(icons::RESTORE), &tr!("library-reset-defaults"), Weight::Ghost)
                .on_hover_text(tr!("library-reset-defaults-tip"))
                .clicked()
        {
            actions.push(Action::Library(LibraryAction::ResetDefaults(source.clone())));
        }
    });
}

/// How a model fits, with the sentence of its plan.
fn fit(ui: &mut Ui, state: &State, id: &EntryId) {
    let palette = Palette::of(ui);
    let title = match state.library.fits.device() {
        Some(device) => tr!("library-fit-on", device = device),
        None => tr!("library-fit"),
    };
    section(ui, &title);
    let Some(fit) = state.library.fits.of(id) else {
        widgets::hint(ui, tr!("library-checking"));
        return;
    };
    ui.horizontal(|ui| {
        let (dot, _) = ui.allocate_exact_size(vec2(8.0, 16.0), egui::Sense::hover());
        ui.painter().circle_filled(dot.center(), 4.0, fit::color(palette, fit));
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
            section(ui, &tr!("library-something-missing"));
            widgets::mistake(ui, &sentence(message));
            if let Some(advice) = advice {
                paragraph(ui, &said(advice));
            }
            return;
        }
    };
    section(ui, &tr!("library-parts"));
    ui.spacing_mut().interact_size.y = font::BODY;
    ui.spacing_mut().item_spacing.y = 2.0;
    for component in &summary.components {
        let (architecture, bytes) = (&component.architecture, units::memory(component.bytes));
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            ui.label(RichText::new("✓").color(palette.good));
            ui.label(RichText::new(role_name(component.role)).small().color(palette.text));
            let words = format!("{architecture} · {bytes}");
            ui.add(Label::new(RichText::new(words).small().color(palette.text_muted)).truncate());
        });
        if let Some(file) = component.files.first().filter(|file| !is_within(file, source)) {
            let words = match component.files.len() - 1 {
                0 => tr!("library-part-from", name = file_name(file)),
                more => tr!("library-part-from-more", name = file_name(file), count = more),
            };
            let words = RichText::new(words).small().color(palette.text_faint);
            widgets::line(ui, words, file.display().to_string());
        }
    }
}

fn is_within(file: &Path, source: &ModelSource) -> bool {
    match source {
        ModelSource::Path(path) => file.starts_with(path),
        ModelSource::Starter | ModelSource::StarterClip | ModelSource::Upscaler => true,
    }
}

fn facts(ui: &mut Ui, content: &Content) {
    let palette = Palette::of(ui);
    section(ui, &tr!("library-file"));
    let rows = [
        (tr!("library-fact-what"), said(&content.what)),
        (tr!("library-fact-size"), units::memory(content.bytes)),
        (tr!("library-fact-weights"), units::count(content.parameters)),
        (tr!("library-fact-stored-as"), content.stored_as()),
        (tr!("library-fact-format"), said(&content.format)),
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
            true => widgets::button(ui, Some(icons::X), &tr!("library-lora-remove"), Weight::Plain),
            false => widgets::button(ui, Some(icons::LAYERS), &tr!("library-lora-add"), Weight::Primary),
        };
        if pressed.on_hover_text(tr!("library-lora-add-tip")).clicked() {
            let path = item.path.clone();
            actions.push(if used { Action::RemoveAdapter(path) } else { Action::AddAdapter(path) });
        }
    });
    if let (Some(summary), Some(family)) = (state.summary(), &content.family)
        && sluice_engine::models::adapter_fits(Some(family), &summary.family_name) == Some(false)
    {
        widgets::mistake(
            ui,
            &tr!("library-lora-unfit", family = said(family), model = said(&summary.family_name)),
        );
    }
    let words = trigger_words(state, item);
    if words.is_empty() {
        return;
    }
    section(ui, &tr!("library-trigger-words"));
    for word in words {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let name = tr!("library-trigger-add-spoken", words = word);
                let tip = tr!("library-trigger-add-tip");
                let button = widgets::button(ui, None, &tr!("library-trigger-add"), Weight::Plain);
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

/// Copies of the file, and where they are.
fn copies(ui: &mut Ui, state: &State, item: &Item, actions: &mut Vec<Action>) {
    let alike: Vec<_> = state.library.alike(item).collect();
    if alike.is_empty() {
        return;
    }
    section(ui, &tr!("library-copies"));
    for (path, likeness) in alike {
        path_line(ui, path, actions);
        match likeness {
            Likeness::Comparing => drop(widgets::hint(ui, tr!("library-comparing"))),
            Likeness::Same => paragraph(ui, &tr!("library-files-same")),
            Likeness::Differs => paragraph(ui, &tr!("library-files-differ")),
            Likeness::Unreadable(error) => widgets::mistake(ui, &sentence(&error)),
        }
    }
}

/// What other programs have written.
fn about(ui: &mut Ui, item: &Item) {
    let about = &item.about;
    if let Some(base) = &about.base {
        section(ui, &tr!("library-based-on"));
        paragraph(ui, base);
    }
    if !about.tags.is_empty() {
        section(ui, &tr!("library-tags"));
        paragraph(ui, &about.tags.iter().take(TAGS).cloned().collect::<Vec<_>>().join(", "));
    }
    if let Some(notes) = &about.notes {
        section(ui, &tr!("library-description"));
        paragraph(ui, notes);
    }
}

fn known_details(ui: &mut Ui, state: &State, id: &EntryId, known: &KnownEntry, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    heading(ui, &known.name);
    paragraph(ui, &tr!("library-not-on-computer"));
    fit(ui, state, id);
    section(ui, &tr!("library-download"));
    let rows = [
        (tr!("library-repository"), known.hub.clone()),
        (tr!("library-licence"), known.licence.clone().unwrap_or_else(|| tr!("library-licence-unknown"))),
        (tr!("library-fact-size"), tr!("library-size-in-16-bits", size = units::memory(known.bytes))),
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
            paragraph(ui, &tr!("library-gated"));
        }
    }
    let link = format!("https://huggingface.co/{}", known.hub);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, space::XS);
        if widgets::button(ui, None, &tr!("library-open-page"), Weight::Plain)
            .on_hover_text(tr!("library-open-page-tip"))
            .clicked()
        {
            ui.ctx().open_url(egui::OpenUrl::new_tab(&link));
        }
        if widgets::button(ui, Some(icons::COPY), &tr!("library-copy-link"), Weight::Ghost)
            .on_hover_text(tr!("library-copy-link-tip"))
            .clicked()
        {
            actions.push(Action::CopyText(link.clone()));
        }
    });
    paragraph(ui, &tr!("library-download-yourself"));
}

fn built_in(ui: &mut Ui, state: &State, id: &EntryId, source: &ModelSource, actions: &mut Vec<Action>) {
    let is_clip = *source == ModelSource::StarterClip;
    heading(ui, &if is_clip { tr!("library-clip-starter") } else { tr!("library-starter") });
    paragraph(ui, &tr!("library-starter-tip"));
    open_buttons(ui, state, source, actions);
    fit(ui, state, id);
    ui.scope(|ui| parts(ui, state, source));
}

fn typed_about<'a>(state: &State, id: &EntryId, typed: &'a mut Option<Typed>) -> &'a mut Typed {
    if typed.as_ref().is_none_or(|typed| typed.about != *id) {
        *typed = None;
    }
    typed.get_or_insert_with(|| Typed {
        about: id.clone(),
        note: state.settings.library.notes.get(&id.key()).cloned().unwrap_or_default(),
        tag: String::new(),
    })
}

/// The person's own tags.
fn own_tags(ui: &mut Ui, state: &State, id: &EntryId, typed: &mut String, actions: &mut Vec<Action>) {
    ui.add_space(space::XS);
    let tags = state.settings.library.tags.get(&id.key());
    let words = [&*tr!("library-own-tags"), &*tr!("library-own-tags-tip")];
    let tags: Vec<String> = tags.into_iter().flatten().cloned().collect();
    if let Some(change) = widgets::tags(ui, "library tag", &tags, typed, words) {
        actions.push(Action::Library(LibraryAction::Tag(id.clone(), change)));
    }
}

/// The person's own note.
fn own_note(ui: &mut Ui, id: &EntryId, text: &mut String, actions: &mut Vec<Action>) {
    ui.add_space(space::XS);
    let label = widgets::field_label(ui, &tr!("library-note"));
    let field = widgets::text_area(
        ui,
        Id::unique("library note"),
        text,
        (label.id, tr!("library-note-tip")),
        &tr!("library-note-hint"),
        (2, 8),
    );
    if field.changed() {
        actions.push(Action::Library(LibraryAction::Note(id.clone(), text.clone())));
    }
    ui.add_space(size::CONTROL);
}
