//! Regions: parts of the image with prompts of their own.

use egui::{Align, Color32, DragValue, Layout, Sense, TextEdit, Ui, Vec2};
use sluice_engine::request::{Area, Region, Regions, Request, RequestError};

use super::{
    parts::{Added, Parts, gap, sentence},
    prompt_counter, region_frame,
};
use crate::{
    language::{tr, units},
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::{State, file_name},
        tokens::{Palette, space},
        widgets::{self, Weight},
    },
};

/// View state of the section; not saved.
#[derive(Debug, Default)]
pub struct RegionList {
    /// Whether it is open.
    pub(super) open: bool,
    /// The region that was added, whose prompt is typed next.
    typed: Option<usize>,
    /// The last one, if it was just added.
    added: Added,
}

/// Whether the panel has the section.
pub fn is_shown(state: &State, request: &Request) -> bool {
    !request.regions.is_empty() || state.summary().is_some()
}

/// Draws the section, collapsed by default.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, list: &mut RegionList) {
    if !is_shown(parts.state, &parts.draft.request) {
        return;
    }
    let title = match parts.draft.request.regions.all.len() {
        0 => tr!("regions-title"),
        count => tr!("regions-title-used", count = count),
    };
    let RegionList { open, typed, added } = list;
    widgets::fold(ui, (&title, tr!("regions-tip")), open, |ui| opened(ui, parts, (typed, added)));
}

fn opened(ui: &mut Ui, parts: &mut Parts<'_>, (typed, added): (&mut Option<usize>, &mut Added)) {
    let Parts { state, mistake, draft, actions } = parts;
    let read = &state.planning.readings().regions;
    let Request { regions, width, height, .. } = &mut draft.request;
    if !regions.is_empty() {
        region_frame::show(ui, &mut regions.all, [*width, *height]);
    }
    let overlap = region_frame::overlap(&regions.all);
    let (mut removed, count) = (None, regions.all.len());
    for (index, region) in regions.all.iter_mut().enumerate() {
        let is_new = typed.take_if(|typed| *typed == index).is_some();
        let drawn = ui.push_id(("region", index), |ui| {
            if row(ui, region, (index, overlap, is_new), actions) {
                removed = Some(index);
            }
            if let Some(readings) = read.get(index) {
                prompt_counter::unread(ui, readings);
            }
            gap(ui);
        });
        if index + 1 == count {
            added.see(ui, drawn.response.rect);
        }
    }
    if let Some(index) = removed {
        regions.all.remove(index);
    }
    if !regions.is_empty() {
        both(ui, regions);
    }
    if let Some(
        // What is only not filled in yet is said below Generate.
        error @ (RequestError::RegionArea(_)
        | RequestError::RegionWeight(_)
        | RequestError::RegionBase(_)
        | RequestError::RegionFade(_)
        | RequestError::RegionsOfPart
        | RequestError::TooManyRegions(_)),
    ) = *mistake
    {
        widgets::mistake(ui, &sentence(error));
    }
    if regions.all.len() < Regions::MOST
        && widgets::button(ui, Some(icons::COLUMNS), &tr!("regions-add"), Weight::Plain)
            .on_hover_text(tr!("regions-add-tip"))
            .clicked()
    {
        let area = Area::Box(region_frame::free(&regions.all));
        *typed = Some(regions.all.len());
        added.set();
        regions.all.push(Region { area, ..Region::default() });
    }
}

/// What all regions have in common.
fn both(ui: &mut Ui, regions: &mut Regions) {
    let base = tr!("regions-base");
    widgets::slider_row_with(ui, &base, &mut regions.base, 0.0..=1.0, 0.0..=1.0, 0.01, percent)
        .on_hover_text(tr!("regions-base-tip"));
    let (fade, widest) = (tr!("regions-fade"), Regions::WIDEST_FADE);
    widgets::slider_row_with(ui, &fade, &mut regions.fade, 0.0..=0.25, 0.0..=widest, 0.01, percent)
        .on_hover_text(tr!("regions-fade-tip"));
    widgets::hint(ui, tr!("regions-time"));
}

/// A number that is shown and typed in percent.
fn percent(number: DragValue<'_>) -> DragValue<'_> {
    number.custom_formatter(in_percent).custom_parser(of_percent)
}

fn in_percent(part: f64, _: std::ops::RangeInclusive<usize>) -> String {
    format!("{:.0}%", part * 100.0)
}

fn of_percent(text: &str) -> Option<f64> {
    let percent = units::typed(text.trim().trim_end_matches('%'))?;
    Some(percent / 100.0)
}

/// Draws one, and returns whether it is to be removed.
fn row(
    ui: &mut Ui,
    region: &mut Region,
    (index, overlap, is_new): (usize, bool, bool),
    actions: &mut Vec<Action>,
) -> bool {
    let number = index + 1;
    let mut is_removed = false;
    let label = ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            is_removed =
                widgets::icon_button(ui, icons::X, &tr!("regions-remove", number = number)).clicked();
            let mask = tr!("regions-mask-of", number = number);
            if widgets::explained_icon(ui, icons::IMAGE, &mask, &tr!("regions-mask-tip")).clicked() {
                actions.push(Action::OpenDialog(Dialog::RegionMask(index)));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                dot(ui, region_frame::color(Palette::of(ui), index));
                widgets::field_label(ui, &tr!("regions-name", number = number))
            })
            .inner
        })
        .inner
    });
    let hint = tr!("regions-prompt-hint");
    let field = TextEdit::singleline(&mut region.prompt).hint_text(hint).desired_width(f32::INFINITY);
    let field = ui.add(field).labelled_by(label.inner.id).on_hover_text(tr!("regions-prompt-tip"));
    if is_new {
        field.request_focus();
    }
    match &mut region.area {
        Area::Box(sides) => numbers(ui, sides),
        Area::Mask(path) => {
            let name = file_name(path);
            let is_box = ui.horizontal(|ui| {
                let (remove, tip) = (tr!("regions-box-again"), tr!("regions-box-again-tip"));
                let clicked = widgets::explained_icon(ui, icons::X, &remove, &tip).clicked();
                widgets::line(ui, name, path.display().to_string());
                clicked
            });
            if is_box.inner {
                region.area = Region::default().area;
            }
        }
    }
    if overlap {
        widgets::slider_row(
            ui,
            &tr!("regions-weight"),
            &mut region.weight,
            0.1..=2.0,
            0.01..=Regions::STRONGEST,
            0.05,
        )
        .on_hover_text(tr!("regions-weight-tip"));
    }
    is_removed
}

/// The color of a region.
fn dot(ui: &mut Ui, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(Vec2::splat(space::S), Sense::hover());
    ui.painter().circle_filled(rect.center(), space::XS, color);
}

/// The sides of a box as numbers.
fn numbers(ui: &mut Ui, sides: &mut [f32; 4]) {
    let names = [tr!("regions-left"), tr!("regions-top"), tr!("regions-width"), tr!("regions-height")];
    let before = *sides;
    for pair in [[0, 1], [2, 3]] {
        ui.columns(2, |columns| {
            for (ui, side) in columns.iter_mut().zip(pair) {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = space::XS;
                    let label = widgets::field_label(ui, &names[side]);
                    let field = DragValue::new(&mut sides[side]).range(0.0..=1.0).speed(0.005);
                    ui.add(percent(field)).labelled_by(label.id).on_hover_text(tr!("regions-side-tip"));
                });
            }
        });
    }
    if *sides != before {
        *sides = region_frame::kept_inside(*sides);
    }
}

/// What is said of a region in force.
pub fn in_force(index: usize, region: &Region) -> String {
    let prompt = match region.prompt.trim() {
        "" => "…",
        prompt => prompt,
    };
    tr!("regions-in-force", number = index + 1, prompt = prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_shown_and_typed_in_percent() {
        assert_eq!(in_percent(0.126, 0..=2), "13%");
        assert_eq!(of_percent(" 12.5 %"), Some(0.125));
        assert_eq!(of_percent("half"), None);
    }
}
