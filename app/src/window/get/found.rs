//! What a link leads to, and what a search has found.

use egui::{Align, Frame, Label, Layout, Margin, RichText, Stroke, Ui};

use super::{heading, paragraph};
use crate::{
    downloads::{Found, Offer},
    language::{said, tr, units},
    window::{
        action::{Action, GetAction},
        icons,
        sentences::sentence,
        state::{Asked, State},
        tokens::{Palette, font, radius, space},
        widgets::{self, Weight},
    },
};

/// Draws the answer to what was asked for.
pub fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    match &state.downloads.asked {
        Asked::Nothing => {}
        Asked::Waiting(what) => {
            ui.horizontal(|ui| {
                ui.spinner();
                paragraph(ui, &tr!("get-looking", what = what));
            });
        }
        Asked::Offer(offer) => offered(ui, state, offer, actions),
        Asked::Found(words, found) => results(ui, words, found, actions),
        Asked::Failed { what, failure, is_offline } => {
            heading(ui, &if *is_offline { tr!("get-offline") } else { tr!("get-not-found") });
            let ink = if *is_offline { Palette::of(ui).text } else { Palette::of(ui).danger };
            let message = RichText::new(sentence(&failure.message)).color(ink);
            ui.add(Label::new(message).wrap().selectable(true));
            if *is_offline {
                paragraph(ui, &tr!("get-offline-advice"));
            } else if let Some(advice) = &failure.advice {
                paragraph(ui, &said(advice));
            }
            if widgets::button(ui, Some(icons::RESTORE), &tr!("get-try-again"), Weight::Plain)
                .on_hover_text(tr!("get-try-again-tip"))
                .clicked()
            {
                actions.push(GetAction::Ask(what.clone()).into());
            }
        }
    }
}

fn offered(ui: &mut Ui, state: &State, offer: &Offer, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    heading(ui, &offer.title);
    let licence = match &offer.licence {
        Some(licence) => tr!("get-licence", licence = licence),
        None => tr!("get-licence-on-page"),
    };
    paragraph(ui, &licence);
    if offer.is_gated {
        paragraph(ui, &tr!("get-gated"));
    }
    if let Some(page) = &offer.page
        && widgets::button(ui, None, &tr!("get-open-page"), Weight::Ghost)
            .on_hover_text(tr!("get-open-page-tip"))
            .clicked()
    {
        ui.ctx().open_url(egui::OpenUrl::new_tab(page));
    }
    for (index, choice) in offer.choices.iter().enumerate() {
        framed(ui, |ui| {
            let weight = if index == 0 { Weight::Primary } else { Weight::Plain };
            let button = widgets::button(ui, Some(icons::DOWNLOAD), &tr!("get-download"), weight);
            let name = tr!("get-download-named", name = &choice.name);
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
            if button.on_hover_text(tr!("get-download-tip")).clicked() {
                actions.push(GetAction::Choose(index).into());
            }
            let bytes = choice.bytes();
            let is_too_big = bytes.zip(state.downloads.free).is_some_and(|(bytes, free)| bytes > free);
            let ink = if is_too_big { palette.danger } else { palette.text_muted };
            let size = bytes.map_or_else(|| tr!("get-unknown-size"), units::memory);
            ui.label(RichText::new(size).small().color(ink));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let files = match choice.files.len() {
                    1 => choice.name.clone(),
                    count => tr!("get-files", name = &choice.name, count = count),
                };
                let words = RichText::new(&files).font(font::medium(font::BODY)).color(palette.text);
                widgets::line(ui, words, files);
            });
        });
    }
    ui.add_space(space::L);
}

fn results(ui: &mut Ui, words: &str, found: &[Found], actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    heading(ui, &tr!("get-results", words = words));
    if found.is_empty() {
        paragraph(ui, &tr!("get-no-results"));
        return;
    }
    for result in found {
        framed(ui, |ui| {
            let button = widgets::button(ui, None, &tr!("get-show-files"), Weight::Plain);
            let name = tr!("get-show-files-of", name = &result.repository);
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
            if button.on_hover_text(tr!("get-show-files-tip")).clicked() {
                actions.push(GetAction::Ask(result.repository.clone()).into());
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    let title =
                        RichText::new(&result.repository).font(font::medium(font::BODY)).color(palette.text);
                    ui.add(Label::new(title).truncate());
                    let detail = RichText::new(detail(result)).small().color(palette.text_faint);
                    ui.add(Label::new(detail).truncate());
                });
            });
        });
    }
    paragraph(ui, &tr!("get-families"));
    ui.add_space(space::L);
}

fn detail(found: &Found) -> String {
    let mut parts = Vec::new();
    parts.extend(found.downloads.map(|count| tr!("get-downloads-a-month", count = units::count(count))));
    parts.extend(found.likes.map(|count| tr!("get-likes", count = count)));
    parts.extend(found.licence.clone());
    if found.is_gated {
        parts.push(tr!("get-needs-token"));
    }
    parts.join(" · ")
}

/// A row in a frame, filled from the right.
fn framed(ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
    let palette = Palette::of(ui);
    Frame::new()
        .fill(palette.raised)
        .stroke(Stroke::new(1.0, palette.line))
        .corner_radius(radius::M)
        .inner_margin(Margin::symmetric(space::M as i8, space::S as i8))
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.set_min_height(36.0);
                ui.spacing_mut().item_spacing.x = space::S;
                ui.with_layout(Layout::right_to_left(Align::Center), contents);
            });
        });
}
