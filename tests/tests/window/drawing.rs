//! What a frame costs where no GPU draws: the pixels that are painted, and how many frames something needs to be seen.

use egui::{Key, Modifiers, Pos2, Rect, Theme, epaint::Primitive};
use sluice::window::settings::{MemorySettings, Settings as WindowSettings};
use sluice_engine::session::Event;

use super::{
    runs::Scene,
    support::{Window, failure, starter},
};

const SIZE: [f32; 2] = [1920.0, 1080.0];

fn opened(is_drawn_by_cpu: bool) -> Window {
    let mut window = Window::open(SIZE, Theme::Dark, |setup| {
        let memory = MemorySettings { plan_open: Some(false), ..MemorySettings::default() };
        setup.settings = Some(WindowSettings { memory, ..WindowSettings::default() });
        setup.is_drawn_by_cpu = is_drawn_by_cpu;
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    let plan = window.take_plans().pop().unwrap();
    window.says(Scene::here().answer(plan.id));
    window
}

fn press(window: &mut Window, key: Key, modifiers: Modifiers) {
    window.harness.key_press_modifiers(modifiers, key);
    window.frames();
}

/// Pixels that are painted, as a multiple of those of the window.
fn painted(window: &Window) -> f64 {
    let output = window.harness.output();
    let shapes = output.shapes.clone();
    let primitives = window.harness.ctx.tessellate(shapes, output.pixels_per_point);
    let mut area = 0.0;
    for clipped in primitives {
        let Primitive::Mesh(mesh) = clipped.primitive else { continue };
        for triangle in mesh.triangles() {
            let corners = triangle.map(|corner| mesh.vertices[corner as usize].pos);
            area += clipped_area(&corners, clipped.clip_rect);
        }
    }
    area / f64::from(SIZE[0] * SIZE[1])
}

/// The area of the part of a triangle that is in a rectangle, by cutting it at each side.
fn clipped_area(corners: &[Pos2], rect: Rect) -> f64 {
    type Inside = fn(Pos2, Rect) -> f32;
    let sides: [Inside; 4] = [
        |at, rect| at.x - rect.left(),
        |at, rect| rect.right() - at.x,
        |at, rect| at.y - rect.top(),
        |at, rect| rect.bottom() - at.y,
    ];
    let mut polygon = corners.to_vec();
    for inside in sides {
        let mut cut = Vec::new();
        for (index, &to) in polygon.iter().enumerate() {
            let from = polygon[(index + polygon.len() - 1) % polygon.len()];
            let (before, after) = (inside(from, rect), inside(to, rect));
            if (before < 0.0) != (after < 0.0) {
                cut.push(from + (to - from) * (before / (before - after)));
            }
            if after >= 0.0 {
                cut.push(to);
            }
        }
        polygon = cut;
    }
    let doubled: f64 = polygon
        .iter()
        .zip(polygon.iter().cycle().skip(1))
        .map(|(a, b)| f64::from(a.x) * f64::from(b.y) - f64::from(b.x) * f64::from(a.y))
        .sum();
    (doubled / 2.0).abs()
}

/// The largest surface is that on which everything is drawn, and costs nothing.
#[test]
fn the_largest_surface_is_not_painted() {
    let mut window = opened(false);
    let image = painted(&window);
    assert!((0.15..0.5).contains(&image), "{image}");
    press(&mut window, Key::G, Modifiers::NONE);
    let gallery = painted(&window);
    assert!((0.1..0.6).contains(&gallery), "{gallery}");
    press(&mut window, Key::Escape, Modifiers::NONE);
    press(&mut window, Key::M, Modifiers::COMMAND);
    let models = painted(&window);
    assert!((0.05..0.5).contains(&models), "{models}");
}

/// A dialog dims the window with another layer of pixels, but not where the CPU has to paint them.
#[test]
fn a_dialog_does_not_paint_the_window_again_where_the_cpu_draws() {
    let [usual, plain] = [false, true].map(|is_drawn_by_cpu| {
        let mut window = opened(is_drawn_by_cpu);
        let before = painted(&window);
        press(&mut window, Key::Comma, Modifiers::COMMAND);
        painted(&window) - before
    });
    assert!(usual > 1.0, "{usual}");
    assert!(plain < 0.6, "{plain}");
}

/// What opens is laid out and measured in the frame that takes the key.
#[test]
fn what_opens_is_seen_in_the_frame_after_the_key() {
    for (key, modifiers, shown) in
        [(Key::Comma, Modifiers::COMMAND, "Settings"), (Key::K, Modifiers::COMMAND, "Search commands")]
    {
        let mut window = opened(true);
        let before = painted(&window);
        let input = window.harness.input_mut();
        input.events.push(egui::Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers,
        });
        window.harness.step();
        let seen = painted(&window);
        window.frames();
        let at_rest = painted(&window);
        assert!((at_rest - before).abs() > 0.01, "{shown}: {before} and {at_rest}");
        assert!((seen - at_rest).abs() < 0.01, "{shown}: {seen} instead of {at_rest}, {before} before");
    }
}

/// What was measured keeps its size.
#[test]
fn at_rest_a_frame_is_laid_out_once() {
    for (key, modifiers) in [
        (Key::Escape, Modifiers::NONE),
        (Key::Comma, Modifiers::COMMAND),
        (Key::K, Modifiers::COMMAND),
        (Key::M, Modifiers::COMMAND),
        (Key::G, Modifiers::NONE),
        (Key::F1, Modifiers::NONE),
    ] {
        let mut window = opened(false);
        window.says(Event::Failed { job: None, failure: failure() });
        press(&mut window, key, modifiers);
        window.frames();
        let before = window.harness.ctx.cumulative_pass_nr();
        window.harness.step();
        let passes = window.harness.ctx.cumulative_pass_nr() - before;
        assert_eq!(
            passes,
            1,
            "{key:?}: {:?}",
            window.harness.output().platform_output.request_discard_reasons
        );
    }
}
