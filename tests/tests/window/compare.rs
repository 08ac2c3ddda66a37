//! Two images or clips, compared.

use egui::Key;
use egui_kittest::kittest::Queryable;
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
