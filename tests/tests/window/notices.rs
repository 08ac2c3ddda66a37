//! Notices that only say what was done leave by themselves.

use std::time::Duration;

use egui::{Key, Modifiers, Theme, ViewportId};
use egui_kittest::kittest::Queryable;
use sluice::window::{
    action::Action,
    app::{Lock, SluiceApp},
};

use super::{
    gallery::Kept,
    input_image::photo,
    support::{Window, starter},
};
use sluice_engine::session::{Event, JobId};

fn act(window: &mut Window, action: Action) {
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, action);
    window.frames();
}

/// What is said above the settings.
fn said(app: &SluiceApp) -> Option<&str> {
    app.state().messages.notice.as_ref().map(|notice| notice.text.as_str())
}

/// Lets seconds pass; a frame takes a quarter of one.
fn pass(window: &mut Window, seconds: usize) {
    window.harness.run_steps(4 * seconds);
}

#[test]
fn what_only_confirms_leaves_unless_the_pointer_is_over_it() {
    let kept = Kept::some();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.click("1.png");
    window.click("Copy prompt");
    pass(&mut window, 8);
    let place = window.harness.get_by_label("Copied the prompt").rect().center();
    window.harness.hover_at(place);
    pass(&mut window, 20);
    assert!(window.shows("Copied the prompt"));
    window.harness.remove_cursor();
    pass(&mut window, 8);
    assert!(window.shows("Copied the prompt"));
    // Nothing is drawn until then.
    let delay = window.harness.output().viewport_output[&ViewportId::ROOT].repaint_delay;
    assert!((Duration::from_secs(1)..Duration::from_secs(12)).contains(&delay), "{delay:?}");
    pass(&mut window, 6);
    assert!(!window.shows("Copied the prompt"));
}

#[test]
fn what_is_said_again_stays_as_long_again() {
    let kept = Kept::some();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.click("1.png");
    for _ in 0..2 {
        window.click("Copy prompt");
        window.harness.remove_cursor();
        pass(&mut window, 8);
    }
    assert!(window.shows("Copied the prompt"));
    pass(&mut window, 6);
    assert!(!window.shows("Copied the prompt"));
}

#[test]
fn cancelled_jobs_can_be_resumed_a_minute_later() {
    let mut window = Window::with_starter();
    for _ in 0..3 {
        window.click("Generate");
    }
    window.take_commands();
    for job in (1..=3).rev() {
        window.says(Event::Cancelled { job: JobId(job) });
    }
    window.harness.remove_cursor();
    pass(&mut window, 60);
    window.click("Resume");
    assert_eq!(window.take_commands().len(), 3);
}

#[cfg(not(target_os = "macos"))]
#[test]
fn what_is_in_the_trash_comes_back_after_its_notice_has_left() {
    let kept = Kept::some();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.click("3.png");
    window.harness.key_press(Key::Delete);
    window.frames();
    window.wait_for_words("3.png moved to the trash");
    window.harness.remove_cursor();
    pass(&mut window, 15);
    assert!(window.shows("Undo"), "what can be taken back stays longer");
    pass(&mut window, 20);
    assert!(!window.shows("Undo"));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.frames();
    window.wait_for("the file", |app| app.gallery().shelf.count() == 5);
}

#[cfg(not(target_os = "macos"))]
#[test]
fn a_name_is_shortened_in_the_gallery_if_its_sentence_takes_more_than_two_lines() {
    for (parts, is_shortened) in [(13, false), (28, true)] {
        let kept = Kept::new();
        let name = format!("{}.png", "harbour-".repeat(parts));
        for name in ["a.png", &name] {
            kept.sized_image(name, (64, 64), 1, "a harbour", "flux1-dev");
        }
        let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
        window.click(&name);
        window.harness.key_press(Key::Delete);
        window.frames();
        window.wait_for_words("moved to the trash");
        let (text, is_cut) = window.painted("moved to the trash");
        assert!(!is_cut && text.ends_with("harbour-.png moved to the trash"), "{text}");
        assert_eq!(text.contains('…'), is_shortened, "{text}");
    }
}

#[test]
fn the_notice_above_the_settings_leaves_unless_it_came_as_a_surprise() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::with_starter();
    window.drop_file(photo(folder.path(), "room.png"));
    window.wait_for_words("Input image: room.png");
    pass(&mut window, 60);
    assert!(window.shows("Input image: room.png"), "it is the only way back");
    act(&mut window, Action::CopyText("a fox".to_owned()));
    assert!(said(window.harness.state()).is_some());
    pass(&mut window, 15);
    assert_eq!(said(window.harness.state()), None);

    let mut window = Window::open([900.0, 600.0], Theme::Dark, |setup| setup.lock = Lock::Taken);
    window.says(Event::ModelLoaded(Box::new(starter())));
    pass(&mut window, 60);
    assert!(window.shows("Sluice is already open"));
}

#[test]
fn what_is_resumed_in_a_paused_queue_is_said_to_wait() {
    let mut window = Window::with_starter();
    window.click("Generate");
    act(&mut window, Action::PauseQueue(true));
    act(&mut window, Action::CancelAll);
    window.says(Event::Cancelled { job: JobId(1) });
    window.click("Resume");
    assert_eq!(said(window.harness.state()), Some("The queue is paused"));
    assert!(window.shows("Queue 1 · paused"));
    act(&mut window, Action::PauseQueue(false));
    assert!(!window.shows("Queue 1 · paused"));
}
