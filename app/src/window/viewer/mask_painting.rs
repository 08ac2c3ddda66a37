//! Paints a mask over the input image.

use std::{ops::RangeInclusive, sync::Arc};

use egui::{
    Align, Color32, ColorImage, ComboBox, CursorIcon, DragValue, Key, Layout, Modifiers, Pos2, Rect, Role,
    Sense, Shape, Slider, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::{
    canvas::{self, View},
    object_tool::{self, ObjectTool},
};
use crate::{
    language::tr,
    window::{
        action::Action,
        icons,
        state::{MaskEdit, MaskPainting, State},
        textures::Textures,
        tokens::{Palette, space},
        widgets::{self, Weight},
    },
};

/// Range of brush diameters in pixels of the image.
const DIAMETERS: RangeInclusive<f32> = 1.0..=400.0;

/// Width of the bar's contents other than the brush's slider.
const BUTTONS: f32 = 640.0;
/// Width of the choice of tools.
const TOOL: f32 = 60.0;
/// Room that the names of the tool for objects need.
const FOR_OBJECTS: f32 = 260.0;
/// The shortest slider.
const SHORTEST: f32 = 40.0;
/// The part of an image's longest side by which the mask's edge moves at a time.
const EDGE: f32 = 256.0;

/// What a mask is painted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tool {
    /// Strokes.
    #[default]
    Brush,
    /// Rectangles from corner to corner.
    Rectangle,
    /// Outlines drawn by hand.
    Lasso,
    /// Objects that a segmenter finds.
    Object,
}

impl Tool {
    const ALL: [Self; 4] = [Self::Brush, Self::Rectangle, Self::Lasso, Self::Object];

    fn name(self) -> String {
        match self {
            Self::Brush => tr!("viewer-brush"),
            Self::Rectangle => tr!("viewer-mask-rectangle"),
            Self::Lasso => tr!("viewer-mask-lasso"),
            Self::Object => tr!("viewer-mask-object"),
        }
    }
}

/// The tool, and where it is.
#[derive(Debug, Default)]
pub struct Brush {
    tool: Tool,
    /// Diameter in pixels of the image; chosen for the image until the user sets it.
    diameter: Option<f32>,
    erases: bool,
    /// The last point of the current stroke.
    last: Option<Pos2>,
    /// The points of the current outline.
    outline: Vec<Pos2>,
    object: ObjectTool,
}

impl Brush {
    /// Goes on with a rectangle or an outline while the pointer is held, and fills it when it is let go.
    fn draw_outline(&mut self, here: Option<Pos2>, actions: &mut Vec<Action>) {
        match here {
            Some(here) if self.tool == Tool::Rectangle => {
                let first = self.outline.first().copied().unwrap_or(here);
                self.outline = vec![first, pos2(here.x, first.y), here, pos2(first.x, here.y)];
            }
            Some(here) if self.outline.last() != Some(&here) => self.outline.push(here),
            Some(_) => {}
            None if self.outline.len() > 2 => {
                let outline = std::mem::take(&mut self.outline);
                actions.push(Action::EditMask(MaskEdit::Area { outline, erases: self.erases }));
            }
            None => self.outline.clear(),
        }
    }

    fn diameter(&self, painting: &MaskPainting) -> f32 {
        let suiting = longest_side(painting) / 12.0;
        self.diameter.unwrap_or_else(|| suiting.clamp(*DIAMETERS.start(), *DIAMETERS.end()).round())
    }
}

fn longest_side(painting: &MaskPainting) -> f32 {
    let [width, height] = painting.size();
    width.max(height) as f32
}

/// Draws the image with the mask over it, and the brush.
pub fn canvas(
    ui: &mut Ui,
    painting: &MaskPainting,
    image: &Arc<ColorImage>,
    brush: &mut Brush,
    textures: &mut Textures,
    actions: &mut Vec<Action>,
) {
    let palette = Palette::of(ui);
    let area = ui.max_rect();
    let [width, height] = painting.size();
    let size = vec2(width as f32, height as f32);
    let place = View::default().place(size, area, ui.pixels_per_point());
    let response = ui.interact(area, ui.scope_id().with("mask"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, tr!("viewer-mask")));
    canvas::paint_sheet(ui, area, place);
    let texture = textures.input(ui.ctx(), &painting.image, image);
    canvas::paint_image(ui, area, place, texture, Color32::WHITE);
    let diameter = brush.diameter(painting);
    let pixel = |pointer: Pos2| ((pointer - place.min) / place.size() * size).to_pos2();
    let held = response.interact_pointer_pos().filter(|_| response.is_pointer_button_down_on());
    let here = held.map(pixel);
    if brush.tool == Tool::Object {
        brush.object.hear(ui, &response, (painting, brush.erases), pixel, actions);
    } else if brush.tool != Tool::Brush {
        brush.draw_outline(here, actions);
    } else if let Some(to) = here
        && brush.last != here
    {
        let (from, begins) = (brush.last.unwrap_or(to), brush.last.is_none());
        let stroke = MaskEdit::Stroke { from, to, brush: diameter, erases: brush.erases, begins };
        actions.push(Action::EditMask(stroke));
    }
    brush.last = here;
    let over = textures.mask(ui.ctx(), painting, palette.accent.gamma_multiply(0.6));
    let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    ui.painter_at(area).image(over, place, whole, Color32::WHITE);
    let painter = ui.painter_at(area);
    if let [_, _, ..] = brush.outline[..] {
        let points = brush.outline.iter().map(|point| place.min + point.to_vec2() / size * place.size());
        let points: Vec<Pos2> = points.collect();
        painter.add(Shape::closed_line(points.clone(), Stroke::new(2.5, Color32::from_black_alpha(120))));
        painter.add(Shape::closed_line(points, Stroke::new(1.0, Color32::WHITE)));
    }
    if brush.tool == Tool::Object {
        brush.object.draw(&painter, painting, |at| place.min + at.to_vec2() / size * place.size());
    }
    if response.hovered() {
        ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
    }
    if let Some(pointer) = response.hover_pos().filter(|_| brush.tool == Tool::Brush) {
        let reach = diameter / 2.0 * place.width() / size.x.max(1.0);
        painter.circle_stroke(pointer, reach, Stroke::new(2.5, Color32::from_black_alpha(120)));
        painter.circle_stroke(pointer, reach, Stroke::new(1.0, Color32::WHITE));
    }
}

/// Ctrl+Z takes back a stroke; `[` and `]` change the brush.
fn keys(ui: &Ui, painting: &MaskPainting, brush: &mut Brush, actions: &mut Vec<Action>) {
    if ui.ctx().text_edit_focused() {
        return;
    }
    if ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Z)) && painting.can_undo() {
        actions.push(Action::EditMask(MaskEdit::Undo));
    }
    for (key, factor) in [(Key::OpenBracket, 0.8), (Key::CloseBracket, 1.25)] {
        if ui.input(|input| input.key_pressed(key)) {
            let changed = (brush.diameter(painting) * factor).round();
            brush.diameter = Some(changed.clamp(*DIAMETERS.start(), *DIAMETERS.end()));
        }
    }
}

/// Draws the brush's diameter: a slider where there is room for it, and a number.
fn diameter(ui: &mut Ui, painting: &MaskPainting, brush: &mut Brush, spare: f32) {
    let most = (longest_side(painting) / 2.0).clamp(8.0, *DIAMETERS.end());
    let mut diameter = brush.diameter(painting);
    let before = diameter;
    let range = *DIAMETERS.start()..=most;
    let name = || tr!("viewer-brush-size");
    if spare >= SHORTEST {
        ui.spacing_mut().slider_width = spare.min(140.0);
        let slider = Slider::new(&mut diameter, range.clone()).integer().logarithmic(true).show_value(false);
        let slider = ui.add(slider).on_hover_text(tr!("viewer-brush-tip"));
        slider.widget_info(|| WidgetInfo::slider(true, before.into(), name()));
    }
    let number = DragValue::new(&mut diameter).range(range).fixed_decimals(0);
    let number = ui.add(number).on_hover_text(tr!("viewer-brush-tip"));
    number.widget_info(|| WidgetInfo::drag_value(true, before.into()));
    if diameter != before {
        brush.diameter = Some(diameter);
    }
}

/// Draws the bar under it.
pub fn toolbar(
    ui: &mut Ui,
    state: &State,
    painting: &MaskPainting,
    brush: &mut Brush,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_centered(|ui| {
        let spare = ui.available_width() - BUTTONS;
        let is_narrow = spare < 0.0;
        ui.spacing_mut().item_spacing.x = if is_narrow { space::XS } else { space::S };
        let tools = ComboBox::from_id_salt("mask tool").width(TOOL).selected_text(brush.tool.name());
        let tools = tools.show_ui(ui, |ui| {
            for tool in Tool::ALL {
                ui.selectable_value(&mut brush.tool, tool, tool.name());
            }
        });
        let tip = match brush.tool {
            Tool::Object => tr!("viewer-mask-object-tip"),
            Tool::Brush | Tool::Rectangle | Tool::Lasso => tr!("viewer-mask-tool-tip"),
        };
        let tools = tools.response.on_hover_text(tip);
        tools.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, tr!("viewer-mask-tool")));
        match brush.tool {
            Tool::Brush => diameter(ui, painting, brush, spare),
            Tool::Object => object_tool::bar(ui, state, painting, spare < FOR_OBJECTS, actions),
            Tool::Rectangle | Tool::Lasso => {}
        }
        let erase = (tr!("viewer-mask-erase"), true, tr!("viewer-mask-erase-tip"));
        if is_narrow {
            let (name, _, tip) = erase;
            if widgets::toggle_button(ui, &name, brush.erases).on_hover_text(tip).clicked() {
                brush.erases = !brush.erases;
            }
        } else {
            let paint = (tr!("viewer-mask-paint"), false, tr!("viewer-mask-paint-tip"));
            for (name, erases, tip) in [paint, erase] {
                if widgets::toggle_button(ui, &name, brush.erases == erases).on_hover_text(tip).clicked() {
                    brush.erases = erases;
                }
            }
        }
        ui.add_enabled_ui(painting.can_undo(), |ui| {
            let tip = tr!("viewer-mask-undo-tip");
            if widgets::icon_button(ui, icons::RESTORE, &tr!("viewer-mask-undo")).on_hover_text(tip).clicked()
            {
                actions.push(Action::EditMask(MaskEdit::Undo));
            }
        });
        let edge = ((longest_side(painting) / EDGE) as usize).max(1);
        for (icon, name, edit) in [
            (icons::ARROW_RIGHT_FROM_LINE, tr!("viewer-mask-grow", pixels = edge), MaskEdit::Grow(edge)),
            (icons::ARROW_RIGHT_TO_LINE, tr!("viewer-mask-shrink", pixels = edge), MaskEdit::Shrink(edge)),
            (icons::ARROW_LEFT_RIGHT, tr!("viewer-mask-invert"), MaskEdit::Invert),
            (icons::X, tr!("viewer-mask-clear"), MaskEdit::Clear),
        ] {
            if widgets::icon_button(ui, icon, &name).clicked() {
                actions.push(Action::EditMask(edit));
            }
        }
        keys(ui, painting, brush, actions);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_enabled_ui(!painting.is_empty(), |ui| {
                if widgets::button(ui, None, &tr!("viewer-mask-apply"), Weight::Primary)
                    .on_hover_text(tr!("viewer-mask-apply-tip"))
                    .clicked()
                {
                    actions.push(Action::ApplyMask);
                }
            });
            let tip = tr!("viewer-mask-discard-tip");
            if widgets::button(ui, None, &tr!("viewer-mask-discard"), Weight::Plain)
                .on_hover_text(tip)
                .clicked()
            {
                actions.push(Action::CancelMask);
            }
        });
    });
}
