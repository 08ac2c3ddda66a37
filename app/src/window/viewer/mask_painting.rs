//! Paints a mask over the input image.

use std::{ops::RangeInclusive, sync::Arc};

use egui::{
    Align, Color32, ColorImage, ComboBox, CursorIcon, DragValue, Event, Key, Layout, Modifiers,
    PointerButton, Pos2, Rect, Response, Role, Sense, Shape, Slider, Stroke, Ui, Vec2, WidgetInfo, pos2,
    vec2,
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
        tokens::space,
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
    /// Whether the pointer is held that was pressed on the image.
    is_held: bool,
    object: ObjectTool,
    view: View,
}

/// What the pointer does with its first button, at a place in the window.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Touch {
    Begins(Pos2),
    Moves(Pos2),
    Ends(Pos2),
}

impl Touch {
    fn of(event: &Event) -> Option<Self> {
        match *event {
            Event::PointerMoved(place) => Some(Self::Moves(place)),
            Event::PointerButton { pos, button: PointerButton::Primary, pressed, .. } => {
                Some(if pressed { Self::Begins(pos) } else { Self::Ends(pos) })
            }
            _ => None,
        }
    }

    fn place(self) -> Pos2 {
        let (Self::Begins(place) | Self::Moves(place) | Self::Ends(place)) = self;
        place
    }
}

impl Brush {
    /// Whether objects are shown to a segmenter.
    pub fn shows_objects(&self) -> bool {
        self.tool == Tool::Object
    }

    /// Fits the image to the canvas again.
    pub fn fit(&mut self) {
        self.view.fit();
    }

    /// All that the pointer did on the image since the last frame. After a slow frame there are many places.
    fn touches(&mut self, ui: &Ui, response: &Response, moves_view: bool) -> Vec<Touch> {
        let is_on = |place: Pos2| {
            response.rect.contains(place) && ui.ctx().layer_id_at(place) == Some(response.layer_id)
        };
        let all: Vec<Touch> = ui.input(|input| input.events.iter().filter_map(Touch::of).collect());
        let mut own = Vec::new();
        for touch in all {
            if let Touch::Begins(place) = touch {
                self.is_held = !moves_view && is_on(place);
            }
            if self.is_held {
                own.push(touch);
            }
            self.is_held &= !matches!(touch, Touch::Ends(_));
        }
        // What was pressed may also be the edge of a panel, and Escape lets go.
        let has_ended = own.iter().any(|touch| matches!(touch, Touch::Ends(_)));
        if self.is_held && !has_ended && !response.is_pointer_button_down_on() {
            self.is_held = false;
            own.clear();
        }
        if !self.is_held && own.is_empty() {
            self.last = None;
            self.outline.clear();
        }
        own
    }

    /// Goes on with a stroke from the last point to this one.
    fn stroke(&mut self, touch: Touch, to: Pos2, brush: f32, actions: &mut Vec<Action>) {
        let last = self.last.filter(|_| !matches!(touch, Touch::Begins(_)));
        if last != Some(to) {
            let (from, begins) = (last.unwrap_or(to), last.is_none());
            let stroke = MaskEdit::Stroke { from, to, brush, erases: self.erases, begins };
            actions.push(Action::EditMask(stroke));
        }
        self.last = (!matches!(touch, Touch::Ends(_))).then_some(to);
    }

    /// Goes on with a rectangle or an outline while the pointer is held, and fills it when it is let go.
    fn draw_outline(&mut self, touch: Touch, here: Pos2, actions: &mut Vec<Action>) {
        if let Touch::Begins(_) = touch {
            self.outline = vec![here];
        } else if self.tool == Tool::Rectangle {
            let first = self.outline.first().copied().unwrap_or(here);
            self.outline = vec![first, pos2(here.x, first.y), here, pos2(first.x, here.y)];
        } else if self.outline.last() != Some(&here) {
            self.outline.push(here);
        }
        if let Touch::Ends(_) = touch {
            let outline = std::mem::take(&mut self.outline);
            if outline.len() > 2 && outline.iter().any(|corner| *corner != outline[0]) {
                actions.push(Action::EditMask(MaskEdit::Area { outline, erases: self.erases }));
            }
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
    let area = ui.max_rect();
    let [width, height] = painting.size();
    let size = vec2(width as f32, height as f32);
    let response = ui.interact(area, ui.scope_id().with("mask"), Sense::click_and_drag());
    let moves_view = move_view(ui, brush, &response, size);
    let place = brush.view.place(size, area, ui.pixels_per_point());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, tr!("viewer-mask")));
    canvas::paint_sheet(ui, area, place);
    let texture = textures.input(ui.ctx(), &painting.image, image);
    canvas::paint_image(ui, area, place, texture, Color32::WHITE);
    let diameter = brush.diameter(painting);
    let pixel = |pointer: Pos2| ((pointer - place.min) / place.size() * size).to_pos2();
    let touches = brush.touches(ui, &response, moves_view);
    match brush.tool {
        Tool::Object if moves_view => {}
        Tool::Object => brush.object.hear(ui, &response, (painting, brush.erases), pixel, actions),
        Tool::Brush => {
            touches
                .into_iter()
                .for_each(|touch| brush.stroke(touch, pixel(touch.place()), diameter, actions));
        }
        Tool::Rectangle | Tool::Lasso => {
            touches.into_iter().for_each(|touch| brush.draw_outline(touch, pixel(touch.place()), actions));
        }
    }
    let over = textures.mask(ui.ctx(), painting, false);
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
        ui.ctx().set_cursor_icon(match moves_view {
            true if response.dragged() => CursorIcon::Grabbing,
            true => CursorIcon::Grab,
            false => CursorIcon::Crosshair,
        });
    }
    if let Some(pointer) = response.hover_pos().filter(|_| brush.tool == Tool::Brush && !moves_view) {
        let reach = diameter / 2.0 * place.width() / size.x.max(1.0);
        painter.circle_stroke(pointer, reach, Stroke::new(2.5, Color32::from_black_alpha(120)));
        painter.circle_stroke(pointer, reach, Stroke::new(1.0, Color32::WHITE));
    }
}

/// Zooms and pans as in the viewer: with the wheel, the middle button, or the first one while Space is held. Returns whether the
/// pointer moves the view, and does not paint.
fn move_view(ui: &Ui, brush: &mut Brush, response: &Response, size: Vec2) -> bool {
    let area = response.rect;
    canvas::zoom(ui, &mut brush.view, response, size, area);
    let has_space = ui.input(|input| input.key_down(Key::Space)) && !ui.ctx().text_edit_focused();
    let moves = response.dragged_by(PointerButton::Middle) || (has_space && !brush.is_held);
    if moves && response.dragged() {
        brush.view.pan(response.drag_delta(), size, area, ui.pixels_per_point());
    }
    moves
}

/// Ctrl+Z takes back a stroke, Ctrl+Shift+Z and Ctrl+Y make it again; `[` and `]` change the brush.
fn keys(ui: &Ui, painting: &MaskPainting, brush: &mut Brush, actions: &mut Vec<Action>) {
    if ui.ctx().text_edit_focused() {
        return;
    }
    // What a stroke that goes on has painted would be of no edit, and stay.
    if !brush.is_held {
        undo_keys(ui, painting, actions);
    }
    for (key, factor) in [(Key::OpenBracket, 0.8), (Key::CloseBracket, 1.25)] {
        if ui.input(|input| input.key_pressed(key)) {
            let changed = (brush.diameter(painting) * factor).round();
            brush.diameter = Some(changed.clamp(*DIAMETERS.start(), *DIAMETERS.end()));
        }
    }
}

fn undo_keys(ui: &Ui, painting: &MaskPainting, actions: &mut Vec<Action>) {
    let again = [(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z), (Modifiers::COMMAND, Key::Y)];
    let is_again = |(modifiers, key)| ui.input_mut(|input| input.consume_key(modifiers, key));
    if again.into_iter().any(is_again) && painting.can_redo() {
        actions.push(Action::EditMask(MaskEdit::Redo));
    }
    if ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Z)) && painting.can_undo() {
        actions.push(Action::EditMask(MaskEdit::Undo));
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
        let slider = Slider::new(&mut diameter, range.clone()).integer().logarithmic(true);
        let slider = widgets::slider(ui, slider, spare.min(140.0)).on_hover_text(tr!("viewer-brush-tip"));
        slider.widget_info(|| WidgetInfo::slider(true, before.into(), name()));
    }
    let number = DragValue::new(&mut diameter).range(range).fixed_decimals(0);
    let number = ui.add(number).on_hover_text(tr!("viewer-brush-tip"));
    number.widget_info(|| WidgetInfo::drag_value(true, before.into()));
    if diameter != before {
        brush.diameter = Some(diameter);
    }
}

/// Draws what the tools do, which is the same for all of them.
fn paint_or_erase(ui: &mut Ui, brush: &mut Brush, is_narrow: bool) {
    let (name, tip) = (tr!("viewer-mask-erase"), tr!("viewer-mask-erase-tip"));
    if is_narrow {
        if widgets::toggle_button(ui, &name, brush.erases).on_hover_text(tip).clicked() {
            brush.erases = !brush.erases;
        }
        return;
    }
    let paint = (tr!("viewer-mask-paint"), false, tr!("viewer-mask-paint-tip"));
    for (name, erases, tip) in [paint, (name, true, tip)] {
        if widgets::toggle_button(ui, &name, brush.erases == erases).on_hover_text(tip).clicked() {
            brush.erases = erases;
        }
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
        paint_or_erase(ui, brush, is_narrow);
        let tools = ComboBox::from_id_salt("mask tool").width(TOOL).selected_text(brush.tool.name());
        let tools = widgets::drop_down(ui, tools, |ui| {
            for tool in Tool::ALL {
                widgets::entry(ui, &mut brush.tool, tool, tool.name());
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
        ui.add_enabled_ui(painting.can_undo(), |ui| {
            let (name, tip) = (tr!("viewer-mask-undo"), tr!("viewer-mask-undo-tip"));
            if widgets::explained_icon(ui, icons::RESTORE, &name, &tip).clicked() {
                actions.push(Action::EditMask(MaskEdit::Undo));
            }
        });
        let edge = ((longest_side(painting) / EDGE) as usize).max(1);
        for (icon, name, edit) in [
            (icons::EXPAND, tr!("viewer-mask-grow", pixels = edge), MaskEdit::Grow(edge)),
            (icons::SHRINK, tr!("viewer-mask-shrink", pixels = edge), MaskEdit::Shrink(edge)),
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
