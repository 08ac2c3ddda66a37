//! Two images or clips, compared.

use egui::{Key, Rect, Shape, accesskit::Role};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::window::state::{RecentId, Shown, State};
use sluice_engine::session::{Event, JobId, Picture};

use super::behaviour::nothing_is_unnamed;
use super::support::{Window, moving, picture};

fn finish(window: &mut Window, job: u64, made: Picture) {
    window.click("Generate");
    window.take_commands();
    window.says(Event::Started { job: JobId(job) });
    window.says(Event::Finished { job: JobId(job), pictures: vec![made], seconds: 1.0 });
}

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

fn compared(window: &Window) -> Option<RecentId> {
    state(window).images.compared().map(|recent| recent.id)
}

/// The displayed frames of both clips.
fn frames(window: &Window) -> [u32; 2] {
    let (images, now) = (&state(window).images, window.harness.ctx.time());
    let shown = [images.shown_recent(), images.compared()].map(|recent| recent.expect("two are compared"));
    shown.map(|recent| state(window).frame_of(recent.id, recent.clip().unwrap(), now))
}

#[test]
fn the_second_image_moves_no_button() {
    let mut window = Window::with_starter();
    finish(&mut window, 1, picture(128, 128, 1));
    let places = |window: &Window| {
        ["Compare", "Use these settings", "Copy image"].map(|name| {
            let node = window.harness.get_by_role_and_label(Role::Button, name);
            (node.rect(), node.accesskit_node().is_disabled())
        })
    };
    let before = places(&window);
    assert_eq!(before.map(|(_, is_disabled)| is_disabled), [true, false, false]);
    nothing_is_unnamed(&window, "one image");
    finish(&mut window, 2, picture(128, 128, 2));
    assert_eq!(places(&window), before.map(|(place, _)| (place, false)));
}

#[test]
fn two_clips_have_one_playhead() {
    let mut window = Window::with_starter();
    finish(&mut window, 1, moving(64, 48, 24, 16.0));
    finish(&mut window, 2, moving(64, 48, 12, 8.0));
    window.click("Compare");
    assert_eq!(compared(&window), Some(RecentId(1)));
    for _ in 0..5 {
        window.harness.run_steps(1);
        let [shown, other] = frames(&window);
        assert_eq!(2 * shown, other, "the same moment at twice the rate");
    }
    window.harness.key_press(Key::Space);
    window.harness.run_steps(2);
    let paused = frames(&window);
    window.harness.run_steps(4);
    assert_eq!(frames(&window), paused);
    window.harness.key_press(Key::Home);
    window.harness.run_steps(2);
    window.harness.key_press(Key::ArrowRight);
    window.harness.run_steps(2);
    assert_eq!(frames(&window), [1, 2]);

    window.click("Swap A and B");
    window.frames();
    let [shown, other] = frames(&window);
    assert_eq!((state(&window).images.shown, shown / 2), (Shown::Recent(RecentId(1)), other));
    window.click("Side by side");
    nothing_is_unnamed(&window, "a comparison");
    window.click("Stop comparing");
    assert_eq!(compared(&window), None);
    assert!(window.shows("64 × 48 · 24 frames · 16 fps"));
}

#[test]
fn a_shorter_clip_waits_at_its_last_frame() {
    let mut window = Window::with_starter();
    finish(&mut window, 1, moving(64, 48, 4, 8.0));
    finish(&mut window, 2, moving(64, 48, 12, 8.0));
    window.click("Compare");
    window.harness.key_press(Key::End);
    window.harness.run_steps(2);
    assert_eq!(frames(&window), [11, 3]);
}

#[test]
fn an_image_is_compared_with_the_one_that_is_clicked() {
    let mut window = Window::with_starter();
    for job in 1..=3 {
        finish(&mut window, job, picture(128, 128, job));
    }
    window.harness.key_press(Key::C);
    window.frames();
    assert_eq!(compared(&window), Some(RecentId(2)));
    window.click("Image with seed 1");
    assert_eq!(
        (compared(&window), state(&window).images.shown),
        (Some(RecentId(1)), Shown::Recent(RecentId(3)))
    );
    let divider = window.harness.get_by_label("Divider").rect();
    let there = divider.center() + egui::vec2(90.0, 0.0);
    window.harness.drag_at(divider.center());
    window.frames();
    window.harness.hover_at(there);
    window.frames();
    window.harness.drop_at(there);
    window.frames();
    let moved = window.harness.get_by_label("Divider").rect().center().x - divider.center().x;
    assert!((moved - 90.0).abs() < 2.0, "{moved}");
    let dropped = window.harness.get_by_label("Divider").rect().center().x;
    window.harness.get_by_label("Divider").focus();
    window.frames();
    window.harness.key_press(Key::ArrowLeft);
    window.frames();
    assert!(window.harness.get_by_label("Divider").rect().center().x < dropped - 2.0, "keys move it too");
    window.harness.key_press(Key::Escape);
    window.frames();
    assert_eq!(compared(&window), None);
    assert!(window.take_commands().is_empty(), "Escape cancels nothing");

    window.click("Generate");
    window.says(Event::Started { job: JobId(4) });
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(!window.take_commands().is_empty());
}

/// Where the two images next to each other are painted; thumbnails are smaller.
fn painted(window: &Window) -> [Rect; 2] {
    let images = window.harness.output().shapes.iter().filter_map(|clipped| match &clipped.shape {
        Shape::Mesh(mesh) => Some(mesh.calc_bounds()).filter(|bounds| bounds.height() > 150.0),
        _ => None,
    });
    let mut images: Vec<Rect> = images.collect();
    images.sort_by(|one, other| one.left().total_cmp(&other.left()));
    let count = images.len();
    images.try_into().unwrap_or_else(|_| panic!("{count} images"))
}

#[test]
fn images_side_by_side_are_zoomed_and_moved_together() {
    let mut window = Window::with_starter();
    for job in 1..=2 {
        finish(&mut window, job, picture(128, 128, job));
    }
    window.click("Compare");
    window.click("Side by side");
    let [a, b] = painted(&window);
    assert_eq!(a.size(), b.size());
    let apart = b.min - a.min;
    let is_locked =
        |[a, b]: [Rect; 2]| (a.size() - b.size()).length() < 0.1 && (b.min - a.min - apart).length() < 0.1;

    window.harness.hover_at(a.center() + egui::vec2(20.0, -10.0));
    window.harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, 200.0),
        modifiers: egui::Modifiers::NONE,
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
    });
    window.harness.run_steps(8);
    let zoomed = painted(&window);
    assert!(zoomed[0].width() > 1.2 * a.width() && is_locked(zoomed), "{zoomed:?} from {a:?}, {b:?}");

    let from = b.center();
    let by = egui::vec2(-40.0, 25.0);
    window.harness.drag_at(from);
    window.frames();
    window.harness.hover_at(from + by);
    window.frames();
    window.harness.drop_at(from + by);
    window.frames();
    let moved = painted(&window);
    let way = moved[0].min - zoomed[0].min;
    assert!((way - by).length() < 2.0 && is_locked(moved), "{moved:?} from {zoomed:?}");
}
