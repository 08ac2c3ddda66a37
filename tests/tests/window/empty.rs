//! Places with nothing in them say what to do next.

use egui::{Key, Modifiers, Theme};
use sluice::language::text;
use sluice_engine::session::{Command, Event, JobId};

use super::{behaviour::nothing_is_unnamed, gallery::Kept, support::Window};

fn press(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.harness.key_press_modifiers(modifiers, key);
    window.frames();
}

#[test]
fn a_gallery_without_images_says_how_some_come_into_it() {
    let kept = Kept::new();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.wait_for_words("No images yet");
    assert!(window.shows("What you generate is saved in"));
    nothing_is_unnamed(&window, "an empty gallery");
    let mut window = Window::with_starter();
    press(&mut window, Modifiers::NONE, Key::G);
    window.wait_for_words("Choose one in the settings.");
}

#[test]
fn a_queue_without_jobs_says_what_is_queued() {
    let nothing = "Generate puts images and clips here.";
    let mut window = Window::with_starter();
    window.click("Generate");
    window.take_job();
    window.says(Event::Started { job: JobId(1) });
    window.click("Queue 1");
    assert!(!window.shows(nothing));
    window.click("Pause");
    window.take_commands();
    window.says(Event::Cancelled { job: JobId(1) });
    let [Command::Generate(again), ..] = &window.take_commands()[..] else { panic!("it waits again") };
    let job = again.id;
    window.click("Cancel job 1");
    window.says(Event::Cancelled { job });
    press(&mut window, Modifiers::NONE, Key::Escape);
    window.click("Queue · paused");
    assert!(window.shows(nothing));
}

#[test]
fn lists_of_models_without_any_say_where_they_come_from() {
    let mut window = Window::with_starter();
    press(&mut window, Modifiers::COMMAND, Key::M);
    window.click(&text("library-loras"));
    assert!(window.shows("Add the folder in which they are."));
    window.click(&text("library-favourites"));
    assert!(window.shows("The star of a model keeps it here."));
    nothing_is_unnamed(&window, "no favourites");
    window.click("Show everything");
    assert!(!window.shows("The star of a model"));
}

#[test]
fn searches_without_results_say_how_to_find_more() {
    let kept = Kept::some();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.fill("Search", "cheese");
    assert!(window.shows("Nothing found") && window.shows("Clear the search and filters"));
    let mut window = Window::with_starter();
    press(&mut window, Modifiers::COMMAND, Key::Comma);
    window.fill("Search settings", "cheese");
    window.frames();
    assert!(window.shows("No results for “cheese”. Fewer words find more."));
    press(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, Modifiers::COMMAND, Key::M);
    window.fill(&text("library-search"), "cheese");
    assert!(
        window.shows("Nothing matches “cheese”. Fewer words find more.") && window.shows("Show everything")
    );
}
