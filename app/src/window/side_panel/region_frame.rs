//! The frame of the image with the boxes of its regions, which are dragged.

use egui::{
    Align2, Color32, CursorIcon, Id, Rect, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, vec2,
};
use sluice_engine::request::{Area, Region};

use crate::{
    language::tr,
    window::tokens::{Palette, font, radius},
};

/// Largest height of the frame.
const HEIGHT: f32 = 200.0;
/// Width of the stretch along an edge that takes the pointer.
const GRIP: f32 = 10.0;
/// The smallest side of a box.
const LEAST: f32 = 0.05;
/// Sides are multiples of this after a drag.
const STEP: f32 = 1.0 / 32.0;
/// The boxes of the first regions.
const FIRST: [[f32; 4]; 2] = [[0.0, 0.0, 0.5, 1.0], [0.5, 0.0, 0.5, 1.0]];
/// That of others.
const MIDDLE: [f32; 4] = [0.25, 0.25, 0.5, 0.5];

/// Which edges follow the pointer: left, top, right and bottom.
type Edges = [bool; 4];

/// What takes the pointer in a box, what is above coming last: the box itself, its edges, its corners.
const GRIPS: [(Edges, CursorIcon); 9] = [
    ([true; 4], CursorIcon::Move),
    ([true, false, false, false], CursorIcon::ResizeHorizontal),
    ([false, true, false, false], CursorIcon::ResizeVertical),
    ([false, false, true, false], CursorIcon::ResizeHorizontal),
    ([false, false, false, true], CursorIcon::ResizeVertical),
    ([true, true, false, false], CursorIcon::ResizeNwSe),
    ([false, true, true, false], CursorIcon::ResizeNeSw),
    ([false, false, true, true], CursorIcon::ResizeNwSe),
    ([true, false, false, true], CursorIcon::ResizeNeSw),
];

/// The color of a region.
pub fn color(palette: &Palette, index: usize) -> Color32 {
    let colors = [
        palette.accent,
        palette.activations,
        palette.good,
        palette.wait,
        palette.others,
        palette.star,
        palette.danger,
        palette.text_muted,
    ];
    colors[index % colors.len()]
}

/// A box for another region: one of the halves, if no region has it, or else the middle.
pub fn free(regions: &[Region]) -> [f32; 4] {
    let is_free = |sides: &[f32; 4]| regions.iter().all(|region| region.area != Area::Box(*sides));
    FIRST.into_iter().find(is_free).unwrap_or(MIDDLE)
}

/// Whether any two regions may share a place.
pub fn overlap(regions: &[Region]) -> bool {
    let meets = |one: &Region, other: &Region| match (&one.area, &other.area) {
        (Area::Box(one), Area::Box(other)) => (0..2)
            .all(|axis| one[axis] < other[axis] + other[axis + 2] && other[axis] < one[axis] + one[axis + 2]),
        _ => true,
    };
    regions.iter().enumerate().any(|(index, one)| regions[index + 1..].iter().any(|other| meets(one, other)))
}

/// A box that has a size and does not leave the image.
pub fn kept_inside([left, top, width, height]: [f32; 4]) -> [f32; 4] {
    let along = |start: f32, length: f32| {
        let length = length.clamp(LEAST, 1.0);
        (start.clamp(0.0, 1.0 - length), length)
    };
    let ((left, width), (top, height)) = (along(left, width), along(top, height));
    [left, top, width, height]
}

/// A box after some of its edges were moved by parts of the image.
fn moved([left, top, width, height]: [f32; 4], edges: Edges, by: Vec2) -> [f32; 4] {
    let stepped = |value: f32| (value / STEP).round() * STEP;
    let along = |start: f32, length: f32, [first, last]: [bool; 2], by: f32| match (first, last) {
        (true, true) => (stepped(start + by).clamp(0.0, 1.0 - length), length),
        (true, false) => {
            let moved = stepped(start + by).clamp(0.0, start + length - LEAST);
            (moved, start + length - moved)
        }
        (false, true) => (start, stepped(start + length + by).clamp(start + LEAST, 1.0) - start),
        (false, false) => (start, length),
    };
    let [first, above, last, below] = edges;
    let ((left, width), (top, height)) =
        (along(left, width, [first, last], by.x), along(top, height, [above, below], by.y));
    [left, top, width, height]
}

/// Draws an image of this width and height with the boxes.
pub fn show(ui: &mut Ui, regions: &mut [Region], [width, height]: [u32; 2]) {
    let palette = Palette::of(ui);
    let image = vec2(width.max(1) as f32, height.max(1) as f32);
    let scale = (ui.available_width() / image.x).min(HEIGHT / image.y);
    let (area, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), image.y * scale), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, tr!("regions-frame")));
    let frame = Rect::from_center_size(area.center(), image * scale);
    let painter = ui.painter_at(area.expand(1.0));
    painter.rect_filled(frame, radius::S, palette.field);
    painter.rect_stroke(frame, radius::S, Stroke::new(1.0, palette.line), StrokeKind::Inside);
    for (index, region) in regions.iter_mut().enumerate() {
        let Area::Box(sides) = &mut region.area else { continue };
        drag(ui, sides, index, frame);
        let [left, top, width, height] = *sides;
        let at = frame.min + vec2(left, top) * frame.size();
        let rect = Rect::from_min_size(at, vec2(width, height) * frame.size());
        let color = color(palette, index);
        painter.rect_filled(rect, radius::S, color.gamma_multiply(0.16));
        painter.rect_stroke(rect, radius::S, Stroke::new(1.5, color), StrokeKind::Inside);
        let number = (index + 1).to_string();
        painter.text(rect.min + vec2(6.0, 4.0), Align2::LEFT_TOP, number, font::medium(font::SMALL), color);
    }
}

/// Moves a box, or some of its edges, with the pointer.
fn drag(ui: &Ui, sides: &mut [f32; 4], index: usize, frame: Rect) {
    let id = Id::unique("sluice regions").with(index);
    let [left, top, width, height] = *sides;
    let at = frame.min + vec2(left, top) * frame.size();
    let rect = Rect::from_min_size(at, vec2(width, height) * frame.size());
    for (number, (edges, cursor)) in GRIPS.into_iter().enumerate() {
        let grip = grip(rect, edges).intersect(frame);
        let response = ui.interact(grip, id.with(number), Sense::drag()).on_hover_cursor(cursor);
        response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, name_of(edges, index + 1)));
        let tip = if number == 0 { tr!("regions-box-tip") } else { tr!("regions-edge-tip") };
        if response.drag_started() {
            ui.data_mut(|data| data.insert_temp(id, *sides));
        }
        if response.dragged()
            && let Some(before) = ui.data(|data| data.get_temp::<[f32; 4]>(id))
        {
            let by = response.total_drag_delta().unwrap_or_default() / frame.size();
            *sides = moved(before, edges, by);
        }
        response.on_hover_text(tip);
    }
}

/// What takes the pointer is called this.
fn name_of(edges: Edges, number: usize) -> String {
    if edges == [true; 4] {
        return tr!("regions-box", number = number);
    }
    let names = [
        tr!("side-panel-outpaint-left"),
        tr!("side-panel-outpaint-top"),
        tr!("side-panel-outpaint-right"),
        tr!("side-panel-outpaint-bottom"),
    ];
    let moved: Vec<String> =
        names.into_iter().zip(edges).filter_map(|(name, moves)| moves.then_some(name)).collect();
    tr!("regions-edge", edge = moved.join(" + "), number = number)
}

/// Where edges of a box take the pointer.
fn grip(rect: Rect, [left, top, right, bottom]: Edges) -> Rect {
    let along = |first: f32, last: f32, near: bool, far: bool| match (near, far) {
        (true, false) => [first - GRIP / 2.0, first + GRIP / 2.0],
        (false, true) => [last - GRIP / 2.0, last + GRIP / 2.0],
        _ => [first, last],
    };
    let x = along(rect.left(), rect.right(), left, right);
    let y = along(rect.top(), rect.bottom(), top, bottom);
    Rect::from_min_max(egui::pos2(x[0], y[0]), egui::pos2(x[1], y[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: Edges = [true, false, false, false];
    const CORNER: Edges = [false, false, true, true];

    #[test]
    fn boxes_are_moved_and_resized_inside_of_the_image() {
        let middle = [0.25, 0.25, 0.5, 0.5];
        assert_eq!(moved(middle, [true; 4], vec2(0.13, -0.5)), [0.375, 0.0, 0.5, 0.5]);
        assert_eq!(moved(middle, [true; 4], vec2(2.0, 2.0)), [0.5, 0.5, 0.5, 0.5]);
        assert_eq!(moved(middle, LEFT, vec2(-0.9, 0.7)), [0.0, 0.25, 0.75, 0.5]);
        assert_eq!(moved(middle, CORNER, vec2(0.9, -0.25)), [0.25, 0.25, 0.75, 0.25]);
        let [_, _, width, height] = moved(middle, CORNER, vec2(-0.9, -0.9));
        assert!((width - LEAST).abs() < 1e-6 && (height - LEAST).abs() < 1e-6);
    }

    #[test]
    fn typed_boxes_stay_inside_of_the_image() {
        assert_eq!(kept_inside([0.8, 0.5, 0.5, 0.0]), [0.5, 0.5, 0.5, LEAST]);
        assert_eq!(kept_inside([0.25, 0.0, 0.5, 1.0]), [0.25, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn regions_overlap_where_they_share_a_place() {
        let region = |area| Region { area, ..Region::default() };
        let [left, right, middle] = [FIRST[0], FIRST[1], MIDDLE].map(|sides| region(Area::Box(sides)));
        assert!(!overlap(&[left.clone(), right.clone()]));
        assert!(overlap(&[left.clone(), right, middle]));
        assert!(overlap(&[left.clone(), region(Area::Mask("mask.png".into()))]));
        assert!(!overlap(&[left]));
    }

    #[test]
    fn the_first_regions_are_the_halves() {
        let mut regions: Vec<Region> = Vec::new();
        for expected in [FIRST[0], FIRST[1], MIDDLE, MIDDLE] {
            let area = Area::Box(free(&regions));
            assert_eq!(area, Area::Box(expected));
            regions.push(Region { area, ..Region::default() });
        }
    }

    #[test]
    fn the_edges_of_a_box_are_gripped_before_the_box() {
        let rect = Rect::from_min_size(egui::pos2(100.0, 50.0), vec2(40.0, 60.0));
        assert_eq!(grip(rect, [true; 4]), rect);
        assert!(grip(rect, LEFT).contains(egui::pos2(97.0, 80.0)));
        assert!(grip(rect, CORNER).contains(egui::pos2(143.0, 112.0)));
        assert!(!grip(rect, CORNER).contains(egui::pos2(120.0, 112.0)));
    }
}
