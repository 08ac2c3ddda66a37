//! Shows objects to a segmenter: a click on one, with Alt beside it, or a box around it.

use egui::{
    Color32, Label, Margin, Painter, PointerButton, Pos2, Rect, Response, RichText, Stroke, Ui, pos2,
};

use super::card;
use crate::{
    language::tr,
    window::{
        action::Action,
        files::Dialog,
        icons,
        model_menu::{self, Choice},
        state::{MaskEdit, MaskPainting, State},
        takes,
        tokens::{Palette, space},
        widgets::{self, Weight},
    },
};

/// Radius of the marks of points.
const MARK: f32 = 4.0;

/// The box that is being dragged.
#[derive(Debug, Default)]
pub struct ObjectTool {
    /// The corners, in pixels of the image.
    dragged: Option<[Pos2; 2]>,
}

impl ObjectTool {
    /// Hears what the pointer does; `pixel` is the place in the image of a place in the window.
    pub fn hear(
        &mut self,
        ui: &Ui,
        response: &Response,
        (painting, erases): (&MaskPainting, bool),
        pixel: impl Fn(Pos2) -> Pos2,
        actions: &mut Vec<Action>,
    ) {
        let [width, height] = painting.size();
        let inside =
            |place: Pos2| Rect::from_min_max(Pos2::ZERO, pos2(width as f32, height as f32)).clamp(place);
        let at = response.interact_pointer_pos().map(&pixel);
        if response.clicked()
            && let Some(at) = at.filter(|at| inside(*at) == *at)
        {
            let place = [at.x, at.y].map(|place| place as u32);
            let place = [place[0].min(width as u32 - 1), place[1].min(height as u32 - 1)];
            let is_inside = !ui.input(|input| input.modifiers.alt);
            actions.push(Action::EditMask(MaskEdit::Point { place, inside: is_inside, erases }));
        }
        if response.dragged_by(PointerButton::Primary)
            && let Some(at) = at
        {
            let origin = ui.input(|input| input.pointer.press_origin()).map_or(at, &pixel);
            self.dragged = Some([inside(origin), inside(at)]);
        }
        if response.drag_stopped()
            && let Some([one, other]) = self.dragged.take()
        {
            let area = Rect::from_two_pos(one, other);
            let corners =
                [area.left().floor(), area.top().floor(), area.right().ceil(), area.bottom().ceil()];
            let corners @ [left, top, right, bottom] = corners.map(|side| side as u32);
            if left < right && top < bottom {
                actions.push(Action::EditMask(MaskEdit::Box { corners, erases }));
            }
        }
    }

    /// Draws the points and the box; `place` is the place in the window of a place in the image.
    pub fn draw(&self, painter: &Painter, painting: &MaskPainting, place: impl Fn(Pos2) -> Pos2) {
        let (points, area) = painting.shown();
        let boxed = area.map(|area| area.map(|side| side as f32));
        let boxed = boxed.map(|[left, top, right, bottom]| [pos2(left, top), pos2(right, bottom)]);
        if let Some([one, other]) = self.dragged.or(boxed) {
            let area = Rect::from_two_pos(place(one), place(other));
            for (width, color) in [(2.5, Color32::from_black_alpha(120)), (1.0, Color32::WHITE)] {
                painter.rect_stroke(area, 0.0, Stroke::new(width, color), egui::StrokeKind::Middle);
            }
        }
        for point in points {
            let at = place(pos2(point.x as f32 + 0.5, point.y as f32 + 0.5));
            painter.circle_filled(at, MARK + 1.5, Color32::from_black_alpha(160));
            // A point beside the object is hollow.
            match point.inside {
                true => painter.circle_filled(at, MARK, Color32::WHITE),
                false => painter.circle_stroke(at, MARK, Stroke::new(1.5, Color32::WHITE)),
            };
        }
    }
}

/// Draws what makes the masks, and what is done next.
pub fn bar(ui: &mut Ui, state: &State, painting: &MaskPainting, is_narrow: bool, actions: &mut Vec<Action>) {
    let found: Vec<_> = state.segmenters().collect();
    let words = (tr!("viewer-segmenter"), tr!("viewer-segmenter-tip"));
    match model_menu::show(ui, words, state.segmenter(), &found, is_narrow) {
        Some(Choice::Model(path)) => actions.push(Action::UseSegmenter(path)),
        Some(Choice::File) => actions.push(Action::OpenDialog(Dialog::Segmenter)),
        None => {}
    }
    if state.makes_mask() {
        ui.spinner().on_hover_text(tr!("viewer-mask-object-made"));
    }
    ui.add_enabled_ui(painting.shows_object(), |ui| {
        let (name, tip) = (tr!("viewer-mask-object-next"), tr!("viewer-mask-object-next-tip"));
        let next = match is_narrow {
            true => widgets::explained_icon(ui, icons::STEP_FORWARD, &name, &tip),
            false => widgets::button(ui, None, &name, Weight::Plain).on_hover_text(tip),
        };
        if next.clicked() {
            actions.push(Action::EditMask(MaskEdit::NextObject));
        }
    });
}

/// Says over the image how an object is marked and what that takes, or why nothing is marked: nothing finds objects, or nothing was found.
pub fn notice(
    ui: &mut Ui,
    area: Rect,
    state: &State,
    (painting, is_shown): (&MaskPainting, bool),
    actions: &mut Vec<Action>,
) {
    let lacks = state.segmenter().is_none();
    let (estimate, found_nothing) = (state.mask_estimate(), painting.found_nothing());
    let is_said = match &estimate {
        // It is over the image only until something is shown.
        Some(Ok(_)) => !painting.shows_object(),
        Some(Err(_)) => true,
        None => false,
    };
    if !is_shown || !(lacks || found_nothing || is_said) {
        return;
    }
    let margin = Margin::symmetric(space::M as i8, space::S as i8);
    card::show(ui, area, "object", margin, |ui, _| {
        let mut say =
            |words: String| ui.add(Label::new(RichText::new(words).color(Palette::of(ui).text)).wrap());
        match estimate {
            _ if lacks => {
                say(tr!("viewer-segmenter-missing"));
                let tip = tr!("viewer-segmenter-tip");
                model_menu::offer(ui, state, (Dialog::Segmenter, tip), actions);
            }
            _ if found_nothing => {
                say(tr!("viewer-mask-object-none"));
            }
            Some(Ok(estimate)) => {
                say(tr!("viewer-mask-object-how"));
                takes::show(ui, state, &estimate);
            }
            Some(Err(why)) => widgets::mistake(ui, &why),
            None => {}
        }
    });
}
