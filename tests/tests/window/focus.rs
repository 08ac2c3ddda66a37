//! Tab goes through all controls of a place, in the order in which one reads, and comes back to the first.

use std::collections::BTreeMap;

use egui::{Id, Key, Modifiers, Shape, Stroke, accesskit::Role};
use egui_kittest::kittest::{NodeT, Queryable};

use sluice::window::{focus::RING, state::Search, tokens::DARK};
use sluice_engine::session::Event;

use super::{
    input_image::photo,
    support::{Window, starter},
};

/// More than any place has controls.
const MOST: usize = 400;
/// Times that the focus may go up: to the next panel, or to another part of one.
const UPWARDS: usize = 12;

/// A control, by what it is called and where it is.
type Place = (String, [i32; 4]);

fn controls(window: &Window) -> impl Iterator<Item = (Place, bool)> {
    let nodes = window.harness.root().children_recursive();
    nodes.filter_map(|node| {
        let node = node.accesskit_node();
        let acts = node.data().supports_action(egui::accesskit::Action::Focus) && !node.is_hidden();
        let bounds = node.raw_bounds()?;
        let edges = [bounds.x0, bounds.y0, bounds.x1, bounds.y1].map(|edge| edge.round() as i32);
        // Edges of panels are moved with the pointer.
        let takes_keys = acts && !node.is_disabled() && node.role() != Role::Splitter;
        takes_keys.then(|| ((node.label().unwrap_or_default(), edges), node.is_focused()))
    })
}

fn all(window: &Window) -> Vec<Place> {
    controls(window).map(|(place, _)| place).collect()
}

fn focused(window: &Window) -> Option<Place> {
    controls(window).find_map(|(place, is_focused)| is_focused.then_some(place))
}

/// The id of the control with the focus, and whether it is in sight but for a small part.
fn in_sight(window: &Window) -> Option<(Id, bool)> {
    let ctx = &window.harness.ctx;
    let control = ctx.memory(|memory| memory.focused()).and_then(|id| ctx.read_response(id))?;
    let (whole, seen) = (control.rect.size(), control.interact_rect.size());
    Some((control.id, seen.y >= 0.8 * whole.y && seen.x >= 0.5 * whole.x))
}

/// Whether there is a ring around a control.
fn has_ring(window: &Window) -> bool {
    let ring = Stroke::new(RING, DARK.accent);
    let mut shapes = window.harness.output().shapes.iter();
    shapes.any(|clipped| matches!(&clipped.shape, Shape::Rect(rect) if rect.stroke == ring))
}

/// Presses Tab until the focus is back at the first control; each control is in sight then. Returns the controls in the order in
/// which they were reached, and how often the focus went up.
fn walked(window: &mut Window, modifiers: Modifiers) -> (Vec<Place>, usize) {
    let mut order: Vec<Place> = Vec::new();
    let (mut upwards, mut last) = (0, None);
    for _ in 0..MOST {
        window.harness.key_press_modifiers(modifiers, Key::Tab);
        window.frames();
        let Some(place) = focused(window) else { continue };
        if order.first() == Some(&place) {
            break;
        }
        if in_sight(window).is_some_and(|(_, is_seen)| !is_seen) {
            // Going back takes a frame more, and so does scrolling.
            window.frames();
        }
        let (id, is_seen) = in_sight(window).unwrap();
        assert!(is_seen, "{place:?} has the focus out of sight");
        // Where both are now: the place may have been scrolled.
        let rect = |id| window.harness.ctx.read_response(id).map(|control| control.rect);
        let now = rect(id).unwrap();
        // One that is gone by now may have been anywhere.
        let goes_up = |id| rect(id).is_none_or(|before| now.bottom() <= before.top());
        upwards += usize::from(last.is_some_and(goes_up));
        last = Some(id);
        order.push(place);
    }
    (order, upwards)
}

/// Tab reaches all controls of a place but those behind it, and Shift+Tab goes back the same way.
pub fn check(window: &mut Window, what: &str, behind: &[Place]) {
    let reached = check_forwards(window, what, behind);
    let (back, _) = walked(window, Modifiers::SHIFT);
    assert_eq!(names(&back), reached, "{what}: Shift+Tab goes the same way back");
}

/// How often there is a control of each name.
fn names(places: &[Place]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (name, _) in places {
        *counts.entry(name.clone()).or_insert(0_usize) += 1;
    }
    counts
}

fn check_forwards(window: &mut Window, what: &str, behind: &[Place]) -> BTreeMap<String, usize> {
    let (order, upwards) = walked(window, Modifiers::NONE);
    let all = all(window).into_iter().filter(|place| !behind.contains(place)).collect::<Vec<_>>();
    let (reached, expected) = (names(&order), names(&all));
    let missing: Vec<_> =
        expected.iter().filter(|(name, count)| reached.get(*name).unwrap_or(&0) < count).collect();
    assert!(missing.is_empty(), "{what}: {missing:?} of {} are not reached", all.len());
    assert!(order.len() < MOST, "{what}: the focus does not come back");
    assert!(upwards <= UPWARDS, "{what}: the focus goes up {upwards} times: {order:?}");
    reached
}

#[test]
fn tab_reaches_everything_and_comes_back() {
    let mut window = Window::with_starter();
    check(&mut window, "the window", &[]);
    let behind = all(&window);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    window.frames();
    assert!(window.shows("Search settings"));
    check(&mut window, "the settings", &behind);
    window.click("Close");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    assert!(window.shows("Search models"));
    window.wait_for("the list", |app| {
        let library = &app.state().library;
        matches!(library.search, Search::Ended(_)) && !library.known.is_empty()
    });
    window.frames();
    check(&mut window, "the models", &[]);
}

/// The gallery, and what opens over the window, in a small one.
#[test]
fn tab_reaches_everything_in_a_small_window_too() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.png", "b.png"] {
        photo(folder.path(), name);
    }
    let output = folder.path().to_owned();
    let mut window = Window::open([900.0, 600.0], egui::Theme::Dark, |setup| setup.folder = Some(output));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.frames();
    check(&mut window, "the window", &[]);
    window.click("Generate");
    let behind = all(&window);
    for (key, shown, what) in
        [(Key::K, "Search commands", "the palette"), (Key::Comma, "Search settings", "the settings")]
    {
        window.harness.key_press_modifiers(Modifiers::COMMAND, key);
        window.frames();
        assert!(window.shows(shown), "{what}");
        check(&mut window, what, &behind);
        window.harness.key_press(Key::Escape);
        window.frames();
        window.harness.key_press(Key::Escape);
        window.frames();
        assert!(!window.shows(shown), "{what}");
    }
    window.harness.key_press(Key::G);
    window.frames();
    window.wait_for_words("a.png");
    check(&mut window, "the gallery", &[]);
}

#[test]
fn the_control_that_keys_give_the_focus_has_a_ring() {
    let mut window = Window::with_starter();
    window.fill("Prompt", "a boat");
    assert!(!has_ring(&window), "keys did not move the focus");
    for _ in 0..20 {
        window.harness.key_press(Key::Tab);
        window.frames();
        assert!(has_ring(&window), "{:?}", focused(&window));
    }
    window.harness.get_by_label("Gallery").hover();
    window.frames();
    assert!(has_ring(&window), "the pointer only moves");
    window.click("Timeline");
    assert!(!has_ring(&window), "the pointer is used");
}

/// A long prompt scrolls in its own field, and the field in the panel.
#[test]
fn a_field_that_scrolls_by_itself_is_scrolled_into_view() {
    let mut window = Window::open([1280.0, 600.0], egui::Theme::Dark, |_| ());
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.fill("Prompt", &"a boat on a calm sea at sunset, ".repeat(40));
    window.see("More settings");
    window.harness.get_by_label("Negative prompt").focus();
    window.frames();
    for _ in 0..8 {
        window.harness.key_press_modifiers(Modifiers::SHIFT, Key::Tab);
        window.frames();
        if focused(&window).is_some_and(|(name, _)| name == "Prompt") {
            break;
        }
    }
    window.frames();
    assert_eq!(focused(&window).unwrap().0, "Prompt");
    let (id, _) = in_sight(&window).unwrap();
    let seen = window.harness.ctx.read_response(id).unwrap().interact_rect;
    assert!(seen.height() > 60.0 && seen.width() > 200.0, "{seen:?}");
}
