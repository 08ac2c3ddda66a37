//! Clips: played, scrubbed, trimmed, and their frames used.

use std::time::Duration;

use egui::{Key, ViewportId, ViewportInfo};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::window::state::{Playback, RecentId, Shown};
use sluice_engine::{
    output::{Codec, Media, Settings, read_settings, write_media, write_png},
    request::Request,
    session::{Event, JobId},
};

use super::behaviour::nothing_is_unnamed;
use super::support::{Window, clip, moving, picture};

/// A window that shows a finished clip of 12 frames, 8 a second.
fn playing() -> Window {
    let mut window = Window::with_starter();
    finish(&mut window, JobId(1));
    window
}

fn finish(window: &mut Window, job: JobId) {
    window.click("Generate");
    window.take_commands();
    window.says(Event::Started { job });
    window.says(Event::Finished { job, pictures: vec![moving(64, 48, 12, 8.0)], seconds: 1.0 });
}

fn playback(window: &Window) -> &Playback {
    window.harness.state().state().player.current().expect("a clip is played").1
}

/// The number of the displayed frame, from 1.
fn frame(window: &Window) -> u32 {
    window.harness.get_by_label("Frame").accesskit_node().numeric_value().unwrap() as u32
}

fn press(window: &mut Window, key: Key) {
    window.harness.key_press(key);
    window.harness.run_steps(2);
}

fn repaints_after(window: &Window) -> Duration {
    window.harness.output().viewport_output[&ViewportId::ROOT].repaint_delay
}

/// Renders once without events, a quarter of a second later.
fn tick(window: &mut Window) {
    window.harness.run_steps(1);
}

#[test]
fn a_finished_clip_plays_in_a_loop_and_says_what_it_is() {
    let mut window = playing();
    assert!(window.shows("64 × 48 · 12 frames · 8 fps · 1.5 s · seed 7"));
    let mut shown = Vec::new();
    for _ in 0..8 {
        shown.push(frame(&window));
        tick(&mut window);
    }
    for pair in shown.windows(2) {
        assert_eq!((pair[0] + 1) % 12 + 1, pair[1], "two frames in a quarter of a second: {shown:?}");
    }
}

#[test]
fn the_window_repaints_exactly_when_the_next_frame_is_due() {
    let mut window = playing();
    window.click("Speed");
    window.click("0.25×");
    for _ in 0..4 {
        tick(&mut window);
        let now = window.harness.ctx.time();
        let due = playback(&window).until_next(now).unwrap();
        let asked = repaints_after(&window).as_secs_f64();
        assert!((due..due + 0.002).contains(&asked), "{asked} s for {due} s");
        assert!(asked > 0.2, "nothing else repaints");
    }
}

#[test]
fn nothing_repaints_while_a_clip_is_paused_or_not_seen() {
    let mut window = playing();
    tick(&mut window);
    assert!(repaints_after(&window) < Duration::from_secs(1));

    press(&mut window, Key::Space);
    window.harness.run_steps(8);
    assert_eq!(repaints_after(&window), Duration::MAX, "it is paused");

    press(&mut window, Key::Space);
    assert!(repaints_after(&window) < Duration::from_secs(1));
    let mut covered = |is_covered: bool| {
        let seen =
            ViewportInfo { minimized: Some(false), occluded: Some(is_covered), ..ViewportInfo::default() };
        window.harness.input_mut().viewports.insert(ViewportId::ROOT, seen);
        window.harness.run_steps(8);
        repaints_after(&window)
    };
    assert_eq!(covered(true), Duration::MAX, "the window is covered");
    assert!(covered(false) < Duration::from_secs(1));

    window.click("Generate");
    window.says(Event::Started { job: JobId(2) });
    window.says(Event::Finished { job: JobId(2), pictures: vec![picture(128, 128, 1)], seconds: 1.0 });
    window.harness.run_steps(8);
    assert_eq!(repaints_after(&window), Duration::MAX, "an image is shown");
}

#[test]
fn animations_in_the_folder_are_listed_as_clips_and_play() {
    let folder = tempfile::tempdir().unwrap();
    let request = Request { frames: 12, frame_rate: 8.0, ..Request::default() };
    let settings = Settings::new(&request, "Wan", "wan", 0);
    for name in ["a.webp", "b.gif"] {
        let path = folder.path().join(name);
        write_media(&path, &Media::Clip(clip(64, 48, 12, 8.0)), &settings, Codec::H264).unwrap();
    }
    let own = folder.path().to_owned();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.folder = Some(own));
    window.wait_for("both", |app| app.state().images.recents.iter().count() == 2);
    window.frames();
    for name in ["a.webp", "b.gif"] {
        window.click(name);
        window.wait_for("its frames", |app| {
            app.state().images.shown_recent().is_some_and(|recent| recent.clip().is_some())
        });
        window.frames();
        assert!(window.shows("64 × 48 · 12 frames · 8 fps"), "{name}");
        assert_eq!(playback(&window).frames(), 12);
    }
}

#[test]
fn an_idle_window_does_not_repaint() {
    let mut window = Window::with_starter();
    window.harness.run_steps(8);
    assert_eq!(repaints_after(&window), Duration::MAX);
}

#[test]
fn the_keyboard_plays_steps_and_trims() {
    let mut window = playing();
    press(&mut window, Key::Space);
    let here = frame(&window);
    assert!(!playback(&window).is_playing());
    press(&mut window, Key::ArrowRight);
    assert_eq!(frame(&window), here % 12 + 1);
    press(&mut window, Key::ArrowLeft);
    assert_eq!(frame(&window), here);
    press(&mut window, Key::Home);
    assert_eq!(frame(&window), 1);
    press(&mut window, Key::ArrowRight);
    press(&mut window, Key::ArrowRight);
    press(&mut window, Key::I);
    press(&mut window, Key::End);
    press(&mut window, Key::ArrowLeft);
    press(&mut window, Key::O);
    assert_eq!(playback(&window).range(), (2, 10));
    window.click("Play the whole clip");
    assert!(!playback(&window).is_trimmed());
    window.fill("Prompt", "i o");
    press(&mut window, Key::ArrowLeft);
    assert_eq!((playback(&window).is_trimmed(), frame(&window)), (false, 11), "the keys are the prompt's");
}

#[test]
fn the_bar_has_every_control() {
    let mut window = playing();
    window.click("Pause");
    window.click("Boomerang");
    window.click("Speed");
    window.click("2×");
    window.harness.get_by_label("Frame").set_value_accesskit(5.0);
    window.frames();
    assert_eq!(frame(&window), 5);
    window.click("Next frame");
    window.click("Start here");
    window.click("Previous frame");
    window.click("Previous frame");
    window.harness.get_by_label("End of the range").set_value_accesskit(9.0);
    window.frames();
    let playback = playback(&window);
    assert_eq!((playback.range(), playback.boomerang(), playback.speed()), ((5, 8), true, 2.0));
    assert_eq!(
        (playback.is_playing(), frame(&window)),
        (false, 4),
        "frames outside the range can be looked at"
    );
    window.click("Play");
    for _ in 0..6 {
        tick(&mut window);
        assert!((6..=9).contains(&frame(&window)));
    }
}

#[test]
fn the_pointer_scrubs_and_a_click_on_the_clip_pauses() {
    let mut window = playing();
    let bar = window.harness.get_by_label("Frame").rect();
    let at = |share: f32| egui::pos2(bar.left() + bar.width() * share, bar.center().y - 2.0);
    window.harness.drag_at(at(0.2));
    window.frames();
    let early = frame(&window);
    window.harness.hover_at(at(0.8));
    window.frames();
    let late = frame(&window);
    assert!(early < 5 && late > 8, "frames {early} and {late}");
    assert!(playback(&window).resumes() && window.shows("Pause"));
    window.harness.drop_at(at(0.8));
    window.frames();
    assert!(playback(&window).is_playing());

    let handle = window.harness.get_by_label("Start of the range").rect().center();
    window.harness.drag_at(handle);
    window.frames();
    window.harness.hover_at(egui::pos2(at(0.5).x, handle.y));
    window.frames();
    window.harness.drop_at(egui::pos2(at(0.5).x, handle.y));
    window.frames();
    let first = playback(&window).range().0;
    assert!((5..=6).contains(&first), "the range starts at {first}");

    let named = window.harness.get_all_by_label("Clip with seed 7").map(|node| node.rect());
    let canvas = named.max_by(|a, b| a.area().total_cmp(&b.area())).unwrap().center();
    window.harness.drag_at(canvas);
    window.harness.drop_at(canvas);
    window.frames();
    assert!(!playback(&window).is_playing());
}

#[test]
fn every_control_of_the_player_has_a_name() {
    let mut window = playing();
    nothing_is_unnamed(&window, "a clip");
    window.click("Pause");
    window.click("Next frame");
    window.click("End here");
    window.click("Speed");
    nothing_is_unnamed(&window, "a paused clip");
}

#[test]
fn each_clip_starts_anew_and_keeps_its_range() {
    let mut window = playing();
    press(&mut window, Key::Space);
    press(&mut window, Key::Home);
    press(&mut window, Key::ArrowRight);
    press(&mut window, Key::I);
    finish(&mut window, JobId(2));
    assert!(playback(&window).is_playing() && !playback(&window).is_trimmed());
    press(&mut window, Key::ArrowDown);
    window.frames();
    assert_eq!(window.harness.state().state().images.shown, Shown::Recent(RecentId(1)));
    assert_eq!(playback(&window).range(), (1, 11));
    assert!(playback(&window).is_playing());
}

#[test]
fn a_clip_in_the_filmstrip_plays_under_the_pointer() {
    let mut window = playing();
    window.click("Generate");
    window.says(Event::Started { job: JobId(2) });
    window.says(Event::Finished { job: JobId(2), pictures: vec![picture(128, 128, 1)], seconds: 1.0 });
    assert_eq!(repaints_after(&window), Duration::MAX);
    let tile = window.harness.get_by_label("Clip with seed 7").rect().center();
    window.harness.hover_at(tile);
    window.frames();
    assert!(repaints_after(&window) <= Duration::from_millis(126), "it plays");
    window.harness.hover_at(egui::pos2(640.0, 300.0));
    window.harness.run_steps(12);
    assert_eq!(repaints_after(&window), Duration::MAX, "it stops");
}

#[test]
fn a_frame_is_saved_or_becomes_the_input_image() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.folder = Some(folder.path().to_owned());
    });
    window.says(Event::ModelLoaded(Box::new(super::support::starter())));
    finish(&mut window, JobId(1));
    press(&mut window, Key::Home);
    press(&mut window, Key::ArrowRight);
    press(&mut window, Key::ArrowRight);
    window.click("Save frame as PNG");
    let saved = folder.path().join("Clip with seed 7 frame 3.png");
    window.wait_for("the frame", |app| app.state().messages.notice.is_some());
    window.frames();
    assert!(window.shows("Saved Clip with seed 7 frame 3.png"));
    let pixels = image::open(&saved).unwrap().into_rgb8().into_raw();
    assert_eq!(pixels, clip(64, 48, 12, 8.0).frames[2].pixels);
    let inside = read_settings(&saved).unwrap().settings.request;
    assert_eq!(
        inside,
        Request { seed: inside.seed, ..window.harness.state().state().draft().request.clone() }
    );
    assert_eq!(window.harness.state().state().images.shown, Shown::Recent(RecentId(1)), "the clip stays");

    window.click("Use frame as input image");
    window.wait_for("the input image", |app| app.state().draft().request.source.is_some());
    let source = window.harness.state().state().draft().request.source.clone().unwrap();
    assert_eq!(source.path, folder.path().join("frames").join("Clip with seed 7 frame 3.png"));
}

#[test]
fn the_played_range_is_exported_and_listed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
            setup.folder = Some(folder.path().to_owned());
        });
        window.says(Event::ModelLoaded(Box::new(super::support::starter())));
        window
    };
    let mut window = open();
    finish(&mut window, JobId(1));
    for key in [Key::Home, Key::ArrowRight, Key::I, Key::End, Key::ArrowLeft, Key::O] {
        press(&mut window, key);
    }
    window.click("Export the played range");
    window.click("MP4 video");
    window.wait_for("the file", |app| app.state().messages.notice.is_some());
    window.frames();
    assert!(window.shows("Saved Clip with seed 7 2-11.mp4"));

    let mut again = open();
    again.wait_for("its frames", |app| app.state().player.current().is_some());
    again.frames();
    assert!(again.shows("64 × 48 · 10 frames · 8 fps · 1.2 s · seed 7"));
}

#[test]
fn the_last_clip_is_shown_at_the_start_and_waits() {
    let folder = tempfile::tempdir().unwrap();
    let request = Request { seed: 5, frames: 9, frame_rate: 8.0, ..Request::default() };
    let settings = Settings::new(&request, "Clips", "wan", 0);
    let made = clip(64, 48, 9, 8.0);
    write_png(&folder.path().join("waves.png"), &Media::Clip(made.clone()), &settings).unwrap();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.folder = Some(folder.path().to_owned());
    });
    window.says(Event::ModelLoaded(Box::new(super::support::starter())));
    window.wait_for("its frames", |app| app.state().player.current().is_some());
    window.frames();
    let recents = &window.harness.state().state().images.recents;
    assert_eq!(recents.iter().next().unwrap().length.map(|length| length.frames), Some(9));
    assert!(!playback(&window).is_playing(), "nobody has asked for it");
    press(&mut window, Key::Space);
    assert!(playback(&window).is_playing());
    assert!(window.shows("64 × 48 · 9 frames · 8 fps · 1.1 s · seed 5"));
    assert!(window.shows(" / 9 · "));
    let recents = &window.harness.state().state().images.recents;
    assert_eq!(recents.iter().next().unwrap().clip().unwrap().frames, made.frames);
}

#[test]
fn with_reduced_motion_clips_play_only_when_they_are_started() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.settings =
            Some(sluice::window::settings::Settings { reduced_motion: Some(true), ..Default::default() });
    });
    window.says(Event::ModelLoaded(Box::new(super::support::starter())));
    window.frames();
    finish(&mut window, JobId(1));
    assert!(!playback(&window).is_playing());
    press(&mut window, Key::Space);
    assert!(playback(&window).is_playing());
    window.frames();
    assert!(playback(&window).is_playing(), "it goes on");

    window.click("Generate");
    window.says(Event::Started { job: JobId(2) });
    window.says(Event::Finished { job: JobId(2), pictures: vec![picture(128, 128, 1)], seconds: 1.0 });
    let tile = window.harness.get_by_label("Clip with seed 7").rect().center();
    window.harness.hover_at(tile);
    window.frames();
    window.harness.run_steps(12);
    assert_eq!(repaints_after(&window), Duration::MAX, "nor under the pointer");
}
