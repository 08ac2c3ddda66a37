//! IP-Adapters and the images that are read through them.

use egui::{Align, Layout, Ui};
use sluice_engine::{
    models::{Item, Kind},
    request::{ImagePrompt, RequestError},
};

use super::{
    control_nets::library_menu,
    file_menu::FileMenu,
    input_image::file_row,
    parts::{Added, Parts, sentence},
};
use crate::{
    language::tr,
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::{State, file_name},
        textures::Textures,
        widgets::{self, Weight},
    },
};

/// View state of the list; not saved.
#[derive(Debug, Default)]
pub struct ImagePromptList {
    /// Whether it is open.
    pub(super) open: bool,
    /// The last one, if it was just added.
    pub(super) added: Added,
}

/// Whether the panel has the list.
pub fn is_shown(state: &State) -> bool {
    state.summary().is_some_and(|summary| summary.takes_ip_adapters)
}

/// Draws the list for models that take IP-Adapters, collapsed by default.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, list: &mut ImagePromptList, textures: &mut Textures) {
    if !is_shown(parts.state) {
        return;
    }
    let title = match parts.draft.request.image_prompts.len() {
        0 => tr!("image-prompts-title"),
        count => tr!("image-prompts-title-used", count = count),
    };
    let ImagePromptList { open, added } = list;
    widgets::fold(ui, (&title, tr!("image-prompts-tip")), open, |ui| opened(ui, parts, added, textures));
}

fn opened(ui: &mut Ui, parts: &mut Parts<'_>, added: &mut Added, textures: &mut Textures) {
    let Parts { state, mistake, draft, actions } = parts;
    let prompts = &mut draft.request.image_prompts;
    let (mut removed, count) = (None, prompts.len());
    for (index, prompt) in prompts.iter_mut().enumerate() {
        let drawn = ui.push_id(("image-prompt", index), |ui| {
            if row(ui, (prompt, index), (state, textures), actions) {
                removed = Some(index);
            }
        });
        if index + 1 == count {
            added.see(ui, drawn.response.rect);
        }
    }
    if let Some(index) = removed {
        prompts.remove(index);
    }
    if let Some(
        // What is only not filled in yet is said below Generate.
        error @ (RequestError::ImagePromptWeight(_)
        | RequestError::ImagePromptRange { .. }
        | RequestError::TooManyPromptImages(_)),
    ) = *mistake
    {
        widgets::mistake(ui, &sentence(error));
    }
    if prompts.len() == ImagePrompt::MOST {
        return;
    }
    ui.horizontal(|ui| {
        if widgets::button(ui, Some(icons::FILE_UP), &tr!("image-prompts-add"), Weight::Plain)
            .on_hover_text(tr!("image-prompts-add-tip"))
            .clicked()
        {
            actions.push(Action::OpenDialog(Dialog::IpAdapter));
        }
        let is_new = |item: &&Item| {
            item.content().is_some_and(|content| content.kind == Kind::IpAdapter)
                && prompts.iter().all(|prompt| prompt.adapter != item.path)
        };
        let found: Vec<&Item> = state.library.inventory.items.iter().filter(is_new).collect();
        let spoken = tr!("image-prompts-library-spoken");
        let words = [tr!("image-prompts-library"), tr!("image-prompts-library-tip"), spoken];
        if let Some(adapter) = library_menu(ui, words, &found) {
            prompts.push(ImagePrompt { adapter, ..ImagePrompt::default() });
            added.set();
        }
    });
}

/// Draws one, and returns whether it is to be removed.
fn row(
    ui: &mut Ui,
    (prompt, index): (&mut ImagePrompt, usize),
    (state, textures): (&State, &mut Textures),
    actions: &mut Vec<Action>,
) -> bool {
    let name = prompt.adapter.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut is_removed = false;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let remove = tr!("image-prompts-remove", name = name.as_str());
            is_removed = widgets::icon_button(ui, icons::X, &remove).clicked();
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                widgets::line(ui, &name, prompt.adapter.display().to_string());
            });
        });
    });
    let mut unread = None;
    for (number, image) in prompt.images.iter().enumerate() {
        ui.push_id(number, |ui| {
            let remove = tr!("image-prompts-image-remove", name = file_name(image));
            let replace = Dialog::OtherPromptImage { prompt: index, image: number };
            let menu = FileMenu { path: image, replace, remove: &remove };
            file_row(ui, &state.input.files, textures, &menu, actions, || unread = Some(number));
        });
    }
    if let Some(number) = unread {
        prompt.images.remove(number);
    }
    if prompt.images.len() < ImagePrompt::MOST_IMAGES
        && widgets::button(ui, Some(icons::IMAGE), &tr!("image-prompts-image"), Weight::Plain)
            .on_hover_text(tr!("image-prompts-image-tip"))
            .clicked()
    {
        actions.push(Action::OpenDialog(Dialog::PromptImage(index)));
    }
    if prompt.images.is_empty() {
        return is_removed;
    }
    let most = ImagePrompt::LARGEST_WEIGHT;
    widgets::slider_row(ui, &tr!("image-prompts-weight"), &mut prompt.weight, 0.0..=most, 0.0..=most, 0.05)
        .on_hover_text(tr!("image-prompts-weight-tip"));
    widgets::slider_row(ui, &tr!("image-prompts-start"), &mut prompt.start, 0.0..=0.95, 0.0..=0.99, 0.05)
        .on_hover_text(tr!("image-prompts-start-tip"));
    widgets::slider_row(ui, &tr!("image-prompts-end"), &mut prompt.end, 0.05..=1.0, 0.01..=1.0, 0.05)
        .on_hover_text(tr!("image-prompts-end-tip"));
    is_removed
}
