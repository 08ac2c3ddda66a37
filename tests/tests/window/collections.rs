//! Collections in the gallery.

use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable;
use sluice::window::collection::Within;

use super::{behaviour::nothing_is_unnamed, gallery::Kept, support::Window};

fn open(kept: &Kept) -> Window {
    kept.open_sized([1280.0, 800.0], Theme::Dark)
}

fn collections(window: &Window) -> Vec<(String, usize)> {
    window.harness.state().gallery().shelf.collections.clone()
}

fn shown(window: &Window) -> Vec<String> {
    window.harness.state().gallery().shelf.shown().iter().map(|item| item.name()).collect()
}

fn within(window: &Window) -> Within {
    window.harness.state().gallery().shelf.query().within.clone()
}

fn wait_for(window: &mut Window, expected: &[(&str, usize)]) {
    window.wait_for("the collections", |app| {
        let all = &app.gallery().shelf.collections;
        all.len() == expected.len()
            && all.iter().zip(expected).all(|((name, count), wanted)| (name.as_str(), *count) == *wanted)
    });
    window.frames();
}

fn press(window: &mut Window, key: Key) {
    window.harness.key_press(key);
    window.frames();
}

/// Types a name into the field that has opened.
fn name(window: &mut Window, name: &str) {
    window.frames();
    window.harness.get_by_label("Name of the collection").type_text(name);
    window.frames();
    press(window, Key::Enter);
}

/// Clicks a row of the menu beside the list.
fn in_menu(window: &mut Window, row: &str) {
    {
        let mut rows = window.harness.query_all_by_label(row);
        rows.rfind(|node| node.rect().left() > 200.0).unwrap().click();
    }
    window.frames();
}

/// The place of a row of the list.
fn row(window: &Window, name: &str) -> egui::Pos2 {
    let mut rows = window.harness.query_all_by_label(name);
    rows.rfind(|node| node.rect().left() < 200.0).unwrap().rect().center()
}

/// Clicks a row of the list.
fn click_row(window: &mut Window, name: &str) {
    let at = row(window, name);
    window.harness.hover_at(at);
    window.frames();
    window.harness.drag_at(at);
    window.frames();
    window.harness.drop_at(at);
    window.frames();
}

/// Makes a collection of one image.
fn collect(window: &mut Window, image: &str, collection: &str) {
    window.click(image);
    window.click("Add to collection");
    in_menu(window, "New collection…");
    name(window, collection);
}

/// A window with two collections of one image each.
fn with_two(kept: &Kept) -> Window {
    let mut window = open(kept);
    collect(&mut window, "1.png", "Sea");
    wait_for(&mut window, &[("Sea", 1)]);
    collect(&mut window, "2.png", "Snow");
    wait_for(&mut window, &[("Sea", 1), ("Snow", 1)]);
    window
}

/// Drags a tile onto a row of the list.
fn drag(window: &mut Window, image: &str, row: &str) {
    let from = window.harness.get_by_label(image).rect().center();
    let to = self::row(window, row);
    window.harness.hover_at(from);
    window.frames();
    window.harness.drag_at(from);
    window.frames();
    for step in [0.3, 0.7, 1.0] {
        window.harness.hover_at(from + step * (to - from));
        window.frames();
    }
    window.harness.drop_at(to);
    window.frames();
}

#[test]
fn images_are_dragged_onto_a_collection_and_it_is_shown() {
    let kept = Kept::some();
    let mut window = open(&kept);
    click_row(&mut window, "New collection…");
    name(&mut window, "Sea");
    wait_for(&mut window, &[("Sea", 0)]);
    click_row(&mut window, "Sea");
    assert!(window.shows("Sea is empty"));
    window.click("Everything");
    drag(&mut window, "1.png", "Sea");
    wait_for(&mut window, &[("Sea", 1)]);
    assert!(window.shows("Added 1 file to Sea"));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.frames();
    drag(&mut window, "3.png", "New collection…");
    name(&mut window, "All of them");
    wait_for(&mut window, &[("All of them", 5), ("Sea", 1)]);
    click_row(&mut window, "Sea");
    assert_eq!(shown(&window), ["1.png"]);
    window.click("In no collection");
    assert_eq!(shown(&window), [""; 0]);
    window.click("Everything");
    assert_eq!(shown(&window).len(), 5);
    nothing_is_unnamed(&window, "the collections");
    // They are there at the next start.
    drop(window);
    let mut window = open(&kept);
    wait_for(&mut window, &[("All of them", 5), ("Sea", 1)]);
}

#[test]
fn an_image_is_in_several_collections_and_leaves_one() {
    let kept = Kept::some();
    let mut window = with_two(&kept);
    window.click("Add to collection");
    in_menu(&mut window, "Sea");
    wait_for(&mut window, &[("Sea", 2), ("Snow", 1)]);
    window.click("Remove from the collection Snow");
    wait_for(&mut window, &[("Sea", 2), ("Snow", 0)]);
    assert_eq!(collections(&window).len(), 2, "an empty collection is kept");
}

#[test]
fn a_collection_is_renamed_and_deleted_and_comes_back() {
    let kept = Kept::some();
    let mut window = with_two(&kept);
    click_row(&mut window, "Sea");
    assert_eq!(within(&window), Within::Collection("Sea".to_owned()));
    window.click("Rename…");
    name(&mut window, "shore");
    wait_for(&mut window, &[("Seashore", 1), ("Snow", 1)]);
    assert_eq!(within(&window), Within::Collection("Seashore".to_owned()), "what is shown follows the name");
    // A name that is taken is not given twice.
    window.click("Rename…");
    window.frames();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.frames();
    name(&mut window, "Snow");
    assert!(window.shows("There is a collection with this name."));
    press(&mut window, Key::Escape);
    assert!(window.harness.query_by_label("Name of the collection").is_none());
    assert!(window.harness.state().gallery().is_open, "Escape leaves the field only");
    window.click("Delete collection");
    wait_for(&mut window, &[("Snow", 1)]);
    // What is shown follows in a frame of its own.
    window.wait_for("all images", |app| app.gallery().shelf.query().within == Within::All);
    window.frames();
    assert_eq!(shown(&window).len(), 5, "no image is deleted");
    assert!(window.shows("Deleted the collection Seashore"));
    window.click("Undo");
    wait_for(&mut window, &[("Seashore", 1), ("Snow", 1)]);
    click_row(&mut window, "Seashore");
    assert_eq!(shown(&window), ["1.png"]);
}

#[test]
fn a_narrow_window_opens_the_list_when_it_is_asked_for() {
    let kept = Kept::some();
    let mut window = kept.open_sized([900.0, 600.0], Theme::Light);
    assert!(window.harness.query_by_label("In no collection").is_none());
    collect(&mut window, "1.png", "Sea");
    wait_for(&mut window, &[("Sea", 1)]);
    assert!(window.harness.query_by_label("In no collection").is_some());
    window.harness.get_by_role_and_label(egui::accesskit::Role::CheckBox, "Collections").click();
    window.frames();
    assert!(window.harness.query_by_label("In no collection").is_none());
}
