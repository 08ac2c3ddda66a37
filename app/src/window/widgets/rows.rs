//! Rows with a label on the left and an input on the right.

use std::ops::RangeInclusive;

use egui::{Align, ComboBox, DragValue, Label, Layout, Response, RichText, Role, Ui, WidgetInfo, vec2};

use super::{Labelled, drop_down, entry, field_label, told::fitted};
use crate::{
    language::{tr, units},
    window::tokens::{Palette, font, size},
};

/// Width of a list, and the part of a row that its label has at least.
const CHOICE: f32 = 180.0;
const LABEL: f32 = 0.35;

/// A label and a drop-down list.
pub fn choice_row<T: Copy + PartialEq, S: Into<String>>(
    ui: &mut Ui,
    text: &str,
    value: &mut T,
    all: impl IntoIterator<Item = T>,
    name: impl Fn(T) -> S,
) -> Labelled {
    choice_row_about(ui, (text, ""), value, all, name)
}

/// The same with a label about something whose name is shortened where it does not fit.
pub fn choice_row_about<T: Copy + PartialEq, S: Into<String>>(
    ui: &mut Ui,
    (text, about): (&str, &str),
    value: &mut T,
    all: impl IntoIterator<Item = T>,
    name: impl Fn(T) -> S,
) -> Labelled {
    ui.horizontal(|ui| {
        let (whole, gap) = (ui.available_width(), ui.spacing().item_spacing.x);
        let room = (whole - gap - CHOICE).max(LABEL * whole);
        let label = row_label(ui, (text, about), room);
        let choice = ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let list = ComboBox::from_id_salt(text)
                .selected_text(name(*value).into())
                .width(CHOICE.min(whole - gap - room))
                .truncate();
            let shown = drop_down(ui, list, |ui| {
                for candidate in all {
                    entry(ui, value, candidate, name(candidate).into());
                }
            });
            shown.response.labelled_by(label.id)
        });
        Labelled::new(label, [choice.inner])
    })
    .inner
}

/// A label in as many lines as it takes, so that lists below each other are equally wide.
fn row_label(ui: &mut Ui, (text, about): (&str, &str), room: f32) -> Response {
    let (font, color) = (font::medium(font::SMALL), Palette::of(ui).text_muted);
    let shown = fitted(ui, (text, about), (&font, color), room);
    let words = RichText::new(&shown).font(font).color(color);
    let label = ui.scope(|ui| {
        ui.set_max_width(room);
        ui.add(Label::new(words).wrap())
    });
    let label = label.inner;
    if shown != text {
        label.widget_info(|| WidgetInfo::labeled(Role::Label, ui.is_enabled(), text));
    }
    label
}

/// A number that is set, or chosen automatically.
pub fn optional_row(
    ui: &mut Ui,
    text: &str,
    value: &mut Option<f64>,
    otherwise: f64,
    range: RangeInclusive<f64>,
    (speed, unit): (f64, &str),
) -> Labelled {
    ui.horizontal(|ui| {
        let mut set = value.is_some();
        let switch = ui.checkbox(&mut set, RichText::new(text).small());
        if switch.changed() {
            *value = set.then_some(otherwise);
        }
        let number = ui.with_layout(Layout::right_to_left(Align::Center), |ui| match value {
            Some(number) => Some(field(ui, text, number, range, (speed, unit))),
            None => {
                ui.label(RichText::new(tr!("common-automatic")).small().color(Palette::of(ui).text_faint));
                None
            }
        });
        Labelled::new(switch, number.inner)
    })
    .inner
}

/// A number with its unit.
pub fn number_row(
    ui: &mut Ui,
    text: &str,
    value: &mut f64,
    range: RangeInclusive<f64>,
    (speed, unit): (f64, &str),
) -> Labelled {
    ui.horizontal(|ui| {
        let label = field_label(ui, text);
        let number = ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            field(ui, text, value, range, (speed, unit))
        });
        Labelled::new(label, [number.inner])
    })
    .inner
}

fn field(
    ui: &mut Ui,
    text: &str,
    value: &mut f64,
    range: RangeInclusive<f64>,
    (speed, unit): (f64, &str),
) -> Response {
    let digits = if speed < 0.1 { 0 } else { 3 };
    let field = DragValue::new(value)
        .range(range)
        .speed(speed)
        .max_decimals(digits)
        .custom_parser(units::typed)
        .update_while_editing(false)
        .suffix(unit);
    let named = if unit.trim().is_empty() {
        text.to_owned()
    } else {
        tr!("common-in-unit", name = text, unit = unit.trim())
    };
    ui.add_sized(vec2(90.0, size::CONTROL - 4.0), field).accessible_name(named)
}
