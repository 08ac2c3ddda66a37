//! Files that are dragged out of the window, as far as the window goes: the rest is tested in `drag_out/x11`.

use std::path::PathBuf;

use egui::{Key, Modifiers, Pos2, Theme, vec2};
use egui_kittest::kittest::Queryable;
use sluice::window::state::Shown;
use sluice_engine::{
    output::{Media, Settings, write_png},
    request::Request,
    session::Event,
};
use tempfile::TempDir;

use super::support::{Window, landscape, starter};

/// Further than a click may move.
const FAR: egui::Vec2 = vec2(24.0, -18.0);

/// A window over a folder with two images, of which the first is shown.
fn window(drags_out: bool) -> (Window, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    for (name, seed) in [("a boat.png", 1), ("a fox.png", 2)] {
        let request = Request { prompt: name.to_owned(), seed, ..Request::default() };
        let (path, media) = (folder.path().join(name), Media::Image(landscape(64, 64, seed, 1.0)));
        write_png(&path, &media, &Settings::new(&request, "Starter", "", 0)).unwrap();
    }
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        setup.folder = Some(folder.path().to_owned());
        setup.drags_out = drags_out;
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.wait_for("the images", |app| app.state().images.recents.iter().count() == 2);
    window.click("a boat.png");
    window.wait_for("the pixels", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.pixels.is_some())
    });
    window.take_commands();
    (window, folder)
}

fn carried(window: &Window) -> Vec<PathBuf> {
    window.harness.state().carried().to_vec()
}

/// Where a widget is: of several with this name, the last one is the largest.
fn middle(window: &Window, label: &str, is_large: bool) -> Pos2 {
    let mut all = window.harness.query_all_by_label(label).map(|node| node.rect());
    all.find(|rect| (rect.height() > 200.0) == is_large).expect(label).center()
}

fn drag(window: &mut Window, from: Pos2, by: egui::Vec2) {
    window.harness.hover_at(from);
    window.frames();
    window.harness.drag_at(from);
    window.frames();
    window.harness.hover_at(from + by);
    window.frames();
}

fn drop(window: &mut Window, at: Pos2) {
    window.harness.drop_at(at);
    window.frames();
}

#[test]
fn a_thumbnail_of_the_list_is_carried_and_a_click_still_shows_it() {
    let (mut window, folder) = window(true);
    let from = middle(&window, "a fox.png", false);
    drag(&mut window, from, vec2(3.0, 0.0));
    assert!(carried(&window).is_empty(), "a click may move a little");
    window.harness.hover_at(from + FAR);
    window.frames();
    assert_eq!(carried(&window), [folder.path().join("a fox.png")]);
    drop(&mut window, from + FAR);
    assert!(carried(&window).is_empty());
    let shown = |window: &Window| {
        window.harness.state().state().images.shown_recent().map(|recent| recent.name()).unwrap()
    };
    assert_eq!(shown(&window), "a boat.png", "a drag is no click");
    window.click("a fox.png");
    assert_eq!(shown(&window), "a fox.png");
}

#[test]
fn escape_ends_a_drag_and_nothing_else() {
    let (mut window, _folder) = window(true);
    window.click("Generate");
    window.take_commands();
    let from = middle(&window, "a boat.png", false);
    drag(&mut window, from, FAR);
    assert_eq!(carried(&window).len(), 1);
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(carried(&window).is_empty());
    assert!(window.take_commands().is_empty(), "no job is cancelled");
    window.harness.hover_at(from + 3.0 * FAR);
    window.frames();
    assert!(carried(&window).is_empty(), "the same drag does not begin again");
    drop(&mut window, from + 3.0 * FAR);
    drag(&mut window, from, FAR);
    assert_eq!(carried(&window).len(), 1, "but the next one does");
    drop(&mut window, from + FAR);
}

#[test]
fn a_fitted_image_is_carried_and_a_zoomed_one_is_panned() {
    let (mut window, folder) = window(true);
    let from = middle(&window, "a boat.png", true);
    drag(&mut window, from, FAR);
    assert_eq!(carried(&window), [folder.path().join("a boat.png")]);
    drop(&mut window, from + FAR);
    assert!(window.harness.query_by_label("Fit").is_some());
    window.click("100%");
    drag(&mut window, from, FAR);
    assert!(carried(&window).is_empty());
    drop(&mut window, from + FAR);
    window.click("Fit");
    // Beside the image, the canvas is dragged.
    let beside = from - vec2(330.0, 0.0);
    drag(&mut window, beside, FAR);
    assert!(carried(&window).is_empty());
    drop(&mut window, beside + FAR);
}

#[test]
fn where_the_system_has_no_drags_everything_is_as_before() {
    let (mut window, _folder) = window(false);
    for is_large in [false, true] {
        let from = middle(&window, "a boat.png", is_large);
        drag(&mut window, from, FAR);
        assert!(carried(&window).is_empty());
        drop(&mut window, from + FAR);
    }
    assert!(matches!(window.harness.state().state().images.shown, Shown::Recent(_)));
}

#[test]
fn what_is_selected_in_the_gallery_is_carried_together() {
    let (mut window, folder) = window(true);
    window.harness.key_press(Key::G);
    window.frames();
    window.wait_for("the images", |app| app.gallery().shelf.unread == Some(0));
    let from = middle(&window, "a fox.png", false);
    drag(&mut window, from, FAR);
    assert_eq!(carried(&window), [folder.path().join("a fox.png")]);
    drop(&mut window, from + FAR);
    let selected = |window: &Window| window.harness.state().gallery().shelf.selected().len();
    assert_eq!(selected(&window), 1, "what is dragged is selected");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.frames();
    drag(&mut window, from, FAR);
    assert_eq!(carried(&window).len(), 2);
    assert!(window.shows("2 files"));
    drop(&mut window, from + FAR);
    assert_eq!(selected(&window), 2, "a drag keeps the selection");
}
