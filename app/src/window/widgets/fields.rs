//! Input fields and texts.

use egui::{
    Align, Align2, Color32, CornerRadius, FontId, Id, Label, Rect, Response, RichText, Sense, Stroke, Ui,
    Vec2, WidgetText, accesskit::Action, style::ScrollAnimation, vec2,
};

use super::Labelled;
use crate::{
    language::{said, units},
    window::tokens::{Palette, font, radius, space},
};

/// A title with a smaller line below it; `middle` is the left end of the line between them.
pub fn two_lines(ui: &Ui, middle: egui::Pos2, width: f32, title: &str, detail: &str) {
    let title = cut(ui, title, font::medium(font::BODY), Palette::of(ui).text, width);
    titled(ui, middle, width, title, detail);
}

/// The same for the name of a file.
pub fn file_lines(ui: &Ui, middle: egui::Pos2, width: f32, name: &str, detail: &str) {
    let name = elided(ui, name, font::medium(font::BODY), Palette::of(ui).text, width);
    titled(ui, middle, width, name, detail);
}

fn titled(ui: &Ui, middle: egui::Pos2, width: f32, title: std::sync::Arc<egui::Galley>, detail: &str) {
    let palette = Palette::of(ui);
    let title_height = title.size().y;
    if detail.is_empty() {
        ui.painter().galley(middle - vec2(0.0, title_height / 2.0), title, palette.text);
        return;
    }
    let detail = cut(ui, detail, FontId::proportional(font::TINY), palette.text_faint, width);
    let top = middle - vec2(0.0, (title_height + detail.size().y) / 2.0);
    ui.painter().galley(top, title, palette.text);
    ui.painter().galley(top + vec2(0.0, title_height), detail, palette.text_faint);
}

/// One line of text, truncated with `…` if it does not fit.
pub fn cut(ui: &Ui, text: &str, font: FontId, color: Color32, width: f32) -> std::sync::Arc<egui::Galley> {
    let mut job = egui::text::LayoutJob::simple_singleline(text.replace('\n', " "), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(width);
    ui.painter().layout_job(job)
}

/// One line of text, with `…` in the middle if it does not fit: file names often differ only near their end.
pub fn elided(ui: &Ui, text: &str, font: FontId, color: Color32, width: f32) -> std::sync::Arc<egui::Galley> {
    let shown = shortened(ui, text, (&font, color), width);
    ui.painter().layout_no_wrap(shown, font, color)
}

/// A text, with `…` in the middle if it is wider.
pub(super) fn shortened(ui: &Ui, text: &str, (font, color): (&FontId, Color32), width: f32) -> String {
    let wide = |text: &str| ui.painter().layout_no_wrap(text.to_owned(), font.clone(), color).size().x;
    shortened_until(text, |text| wide(text) <= width)
}

/// A text, with `…` in the middle unless it fits.
pub(super) fn shortened_until(text: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(text) {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let kept = |count: usize| -> String {
        let (head, tail) = letters.split_at(count.div_ceil(2).min(letters.len()));
        head.iter().chain(&['…']).chain(&tail[tail.len().saturating_sub(count / 2)..]).collect()
    };
    let (mut enough, mut too_many) = (0, letters.len());
    while enough + 1 < too_many {
        let middle = enough.midpoint(too_many);
        match fits(&kept(middle)) {
            true => enough = middle,
            false => too_many = middle,
        }
    }
    kept(enough)
}

/// A text in one line, truncated with `…` if it does not fit, and its only tooltip.
pub fn line(ui: &mut Ui, words: impl Into<WidgetText>, tip: impl Into<WidgetText>) -> Response {
    ui.add(Label::new(words).truncate().show_tooltip_when_elided(false)).on_hover_text(tip)
}

/// The label above a field.
pub fn field_label(ui: &mut Ui, text: &str) -> Response {
    let color = Palette::of(ui).text_muted;
    ui.label(RichText::new(text).font(font::medium(font::SMALL)).color(color))
}

/// An error message below a field.
pub fn mistake(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(said(text)).small().color(Palette::of(ui).danger));
}

/// An explanatory text.
pub fn hint(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.label(RichText::new(text).small().color(Palette::of(ui).text_faint))
}

/// A decorative icon.
pub fn icon(ui: &mut Ui, icon: &str, size: f32, color: Color32) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(size), Sense::hover());
    ui.painter().text(rect.center(), Align2::CENTER_CENTER, icon, font::icons(size), color);
    response
}

/// A text field of several lines, which scrolls if there are many. Its tooltip does not show while somebody types.
pub fn text_area(
    ui: &mut Ui,
    id: Id,
    text: &mut String,
    (label, tip): (Id, String),
    hint: &str,
    rows: (usize, usize),
) -> Response {
    let palette = Palette::of(ui);
    let focused = ui.memory(|memory| memory.has_focus(id));
    let line = if focused { palette.accent } else { palette.line };
    let row = ui.text_style_height(&egui::TextStyle::Body);
    let is_sought = takes_scrolling(ui, id);
    let shown = egui::Frame::new()
        .fill(palette.field)
        .stroke(Stroke::new(1.0, line))
        .corner_radius(CornerRadius::same(radius::M))
        .show(ui, |ui| {
            egui::ScrollArea::vertical()
                .id_salt(id)
                .max_height(row * rows.1 as f32 + 16.0)
                .show(ui, |ui| {
                    let field = egui::TextEdit::multiline(text)
                        .id(id)
                        .hint_text(hint)
                        .desired_rows(rows.0)
                        .desired_width(f32::INFINITY)
                        .frame(egui::Frame::new().inner_margin(egui::Margin::symmetric(10, 8)))
                        .show(ui)
                        .response
                        .response
                        .labelled_by(label);
                    super::edit_menu(&field, text.chars().count());
                    ui.ctx().accesskit_node_builder(id, |node| node.set_description(tip.as_str()));
                    if focused { field } else { field.on_hover_text(tip) }
                })
                .inner
        });
    if is_sought && !ui.clip_rect().contains_rect(shown.response.rect) {
        shown.response.scroll_to_me_animation(Some(Align::Center), ScrollAnimation::none());
    }
    shown.inner
}

/// Whether a field is to be scrolled into view. It would only scroll its own lines.
fn takes_scrolling(ui: &Ui, id: Id) -> bool {
    let mut is_sought = false;
    ui.input_mut(|input| {
        input.consume_accesskit_action_requests(id, |request| {
            let is_scrolling = request.action == Action::ScrollIntoView;
            is_sought |= is_scrolling;
            is_scrolling
        });
    });
    is_sought
}

/// A label, a number and a slider.
pub fn slider_row<N: egui::emath::Numeric>(
    ui: &mut Ui,
    text: &str,
    value: &mut N,
    slider: std::ops::RangeInclusive<N>,
    typed: std::ops::RangeInclusive<N>,
    step: f64,
) -> Labelled {
    slider_row_with(ui, text, value, slider, typed, step, |number| number)
}

/// The same with a number that is shown or typed in another way.
pub fn slider_row_with<N: egui::emath::Numeric>(
    ui: &mut Ui,
    text: &str,
    value: &mut N,
    slider: std::ops::RangeInclusive<N>,
    typed: std::ops::RangeInclusive<N>,
    step: f64,
    format: impl FnOnce(egui::DragValue<'_>) -> egui::DragValue<'_>,
) -> Labelled {
    let (label, number) = ui
        .horizontal(|ui| {
            let label = field_label(ui, text);
            let number = ui.with_layout(egui::Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().interact_size = vec2(44.0, 22.0);
                ui.spacing_mut().button_padding = vec2(6.0, 2.0);
                let field = egui::DragValue::new(value)
                    .range(typed)
                    .speed(step)
                    .max_decimals(2)
                    .custom_parser(units::typed);
                ui.add(format(field)).labelled_by(label.id)
            });
            (label, number.inner)
        })
        .inner;
    ui.add_space(-space::XS);
    let slider = egui::Slider::new(value, slider).step_by(step).clamping(egui::SliderClamping::Edits);
    let width = ui.available_width();
    let slider = super::slider(ui, slider, width).labelled_by(label.id);
    Labelled::new(label, [number, slider])
}

/// A progress bar; `fraction` is 0…1.
pub fn progress_bar(ui: &Ui, rect: Rect, fraction: f32) {
    let palette = Palette::of(ui);
    let rounding = CornerRadius::same(2);
    ui.painter().rect_filled(rect, rounding, palette.line);
    let done = rect.width() * fraction.clamp(0.0, 1.0);
    let filled = Rect::from_min_size(rect.min, vec2(done, rect.height()));
    ui.painter().rect_filled(filled, rounding, palette.accent);
}
