//! What the pointer does over an image while a mask is painted.

use egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, TouchPhase, Vec2, vec2,
};
use egui_kittest::kittest::Queryable as _;
use sluice::{
    units,
    window::{action::Action, state::MaskEdit, tokens::space},
};
use sluice_engine::{
    output::Image,
    request::ModelSource,
    session::{Event as EngineEvent, Failure, PlanQuery},
};

use super::{behaviour::nothing_is_unnamed, input_image::painting, runs::Scene, support::Window};

const SIZE: [f32; 2] = [1280.0, 800.0];

fn button(pos: Pos2, pressed: bool, button: PointerButton) -> Event {
    Event::PointerButton { pos, button, pressed, modifiers: Modifiers::NONE }
}

/// Delivers all of this in one slow frame.
fn at_once(window: &mut Window, events: impl IntoIterator<Item = Event>) {
    window.harness.input_mut().events.extend(events);
    window.frames();
}

/// Moves along these places with the first button, in one slow frame each for what is before and after the middle.
fn slowly(window: &mut Window, places: &[Pos2]) {
    let (first, rest) = places.split_first().unwrap();
    let last = *rest.last().unwrap();
    let moved = rest.iter().map(|place| Event::PointerMoved(*place));
    let begin = [Event::PointerMoved(*first), button(*first, true, PointerButton::Primary)];
    let all: Vec<Event> =
        begin.into_iter().chain(moved).chain([button(last, false, PointerButton::Primary)]).collect();
    let (before, after) = all.split_at(all.len() / 2);
    at_once(window, before.to_vec());
    at_once(window, after.to_vec());
}

fn masked(window: &Window) -> Image {
    window.harness.state().state().input.painting.as_ref().unwrap().to_image()
}

fn count(image: &Image) -> usize {
    image.pixels.iter().filter(|value| **value == 255).count() / 3
}

/// Whether a pixel of the image of 96 × 64 is masked.
fn is_masked(image: &Image, [x, y]: [u32; 2]) -> bool {
    image.pixels[(3 * (y * 96 + x)) as usize] == 255
}

/// Points in the window for a pixel of the image, which is fitted to the canvas.
fn scale(window: &Window) -> f32 {
    let canvas = window.harness.get_by_label("Mask over the image").rect();
    ((canvas.size() - Vec2::splat(2.0 * space::XL)) / vec2(96.0, 64.0)).min_elem()
}

#[test]
fn a_stroke_in_slow_frames_ends_where_the_pointer_is_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, middle) = painting(folder.path(), SIZE, egui::Theme::Dark);
    let scale = scale(&window);
    let beside = |columns: f32| middle + vec2(columns * scale, 0.0);
    slowly(&mut window, &[beside(-30.0), beside(-10.0), beside(30.0)]);
    let image = masked(&window);
    for column in [18, 38, 58, 78] {
        assert!(is_masked(&image, [column, 32]), "column {column}");
    }
    assert!(!is_masked(&image, [94, 32]) && !is_masked(&image, [2, 32]));

    window.click("Clear");
    let press = |pressed| button(middle, pressed, PointerButton::Primary);
    at_once(&mut window, [Event::PointerMoved(middle), press(true), press(false)]);
    assert!(is_masked(&masked(&window), [48, 32]), "a click within a frame is a dot");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.frames();
    assert_eq!(count(&masked(&window)), 0);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Y);
    window.frames();
    assert!(is_masked(&masked(&window), [48, 32]), "it is there again");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.frames();
    window.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    window.frames();
    assert!(is_masked(&masked(&window), [48, 32]), "and again");
}

#[test]
fn paint_and_erase_stay_where_they_are_with_every_tool() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, _) = painting(folder.path(), SIZE, egui::Theme::Dark);
    let places = |window: &Window| ["Paint", "Erase"].map(|name| window.harness.get_by_label(name).rect());
    let before = places(&window);
    for tool in ["Rectangle", "Lasso", "Object"] {
        window.click("Tool");
        window.click(tool);
        assert_eq!(places(&window), before, "{tool}");
    }
}

#[test]
fn a_lasso_in_slow_frames_keeps_its_corners() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, middle) = painting(folder.path(), SIZE, egui::Theme::Dark);
    let scale = scale(&window);
    window.click("Tool");
    window.click("Lasso");
    let corner = |x: f32, y: f32| middle + vec2(x, y) * scale;
    let square = [corner(-20.0, -20.0), corner(20.0, -20.0), corner(20.0, 20.0), corner(-20.0, 20.0)];
    slowly(&mut window, &square);
    let image = masked(&window);
    for corner in [[30, 14], [66, 14], [66, 50], [30, 50]] {
        assert!(is_masked(&image, corner), "{corner:?}");
    }
    assert!((1500..1700).contains(&count(&image)), "{}", count(&image));
}

#[test]
fn the_view_is_zoomed_and_moved_while_a_mask_is_painted() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, middle) = painting(folder.path(), SIZE, egui::Theme::Dark);
    let dot = |window: &mut Window, place: Pos2| {
        slowly(window, &[place, place]);
        let image = masked(window);
        window.click("Clear");
        image
    };
    let before = dot(&mut window, middle + vec2(120.0, 0.0));
    let wheel = Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, 300.0),
        phase: TouchPhase::Move,
        modifiers: Modifiers::NONE,
        source: MouseWheelSource::Wheel,
    };
    at_once(&mut window, [Event::PointerMoved(middle), wheel]);
    window.harness.run_steps(20);
    let column = |image: &Image| {
        let row = &image.pixels[3 * 96 * 32..3 * 96 * 33];
        row.chunks(3).position(|pixel| pixel[0] == 255).expect("something is masked in the middle row")
    };
    let zoomed = dot(&mut window, middle + vec2(120.0, 0.0));
    assert!(column(&zoomed) < column(&before), "the same place is nearer to the middle of the image");

    let by = vec2(-90.0, 0.0);
    let drag = |window: &mut Window, which| {
        at_once(window, [Event::PointerMoved(middle), button(middle, true, which)]);
        at_once(window, [Event::PointerMoved(middle + by)]);
        at_once(window, [button(middle + by, false, which)]);
    };
    drag(&mut window, PointerButton::Middle);
    assert_eq!(count(&masked(&window)), 0, "the middle button does not paint");
    let moved = dot(&mut window, middle + vec2(120.0, 0.0));
    assert!(column(&moved) > column(&zoomed));
    window.harness.key_down(Key::Space);
    window.frames();
    drag(&mut window, PointerButton::Primary);
    window.harness.key_up(Key::Space);
    window.frames();
    assert_eq!(count(&masked(&window)), 0, "nor does the first one while Space is held");
    let again = dot(&mut window, middle + vec2(120.0, 0.0));
    assert!(column(&again) > column(&moved));
}

#[test]
fn brackets_change_the_size_of_the_brush() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, middle) = painting(folder.path(), SIZE, egui::Theme::Dark);
    let mut dot_after = |presses: usize, key| {
        for _ in 0..presses {
            window.harness.key_press(key);
            window.frames();
        }
        slowly(&mut window, &[middle, middle]);
        let pixels = count(&masked(&window));
        window.click("Clear");
        pixels
    };
    let usual = dot_after(0, Key::CloseBracket);
    let larger = dot_after(3, Key::CloseBracket);
    let smaller = dot_after(6, Key::OpenBracket);
    assert!(smaller > 0 && smaller * 2 < usual && usual * 2 < larger, "{smaller}, {usual}, {larger}");
}

#[test]
fn a_stroke_that_goes_on_is_taken_back_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, middle) = painting(folder.path(), SIZE, egui::Theme::Dark);
    let beside = middle + vec2(20.0 * scale(&window), 0.0);
    let press = |place, pressed| button(place, pressed, PointerButton::Primary);
    let undo = |window: &mut Window| {
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        window.frames();
    };
    at_once(&mut window, [Event::PointerMoved(middle), press(middle, true)]);
    undo(&mut window);
    assert!(is_masked(&masked(&window), [48, 32]), "the brush is held");
    at_once(&mut window, [Event::PointerMoved(beside)]);
    at_once(&mut window, [press(beside, false)]);
    assert!(is_masked(&masked(&window), [64, 32]));
    undo(&mut window);
    assert_eq!(count(&masked(&window)), 0);
}

fn act(window: &mut Window, action: Action) {
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, action);
    window.frames();
}

/// The questions about masks since the last call.
fn asked(window: &Window) -> Vec<PlanQuery> {
    window.take_plans().into_iter().filter(|query| query.request.mask_of.is_some()).collect()
}

#[test]
fn what_a_mask_of_an_object_takes_is_said_before_something_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, _) = painting(folder.path(), SIZE, egui::Theme::Dark);
    act(&mut window, Action::UseSegmenter("/models/sam.safetensors".into()));
    assert_eq!(asked(&window), [], "the brush needs no segmenter");
    window.click("Tool");
    window.click("Object");
    let [query] = asked(&window).try_into().expect("one question");
    assert_eq!(query.request.model, ModelSource::Path("/models/sam.safetensors".into()));
    let scene = Scene::here();
    window.says(scene.answer(query.id));
    let plan = scene.plan();
    let (time, memory) = (units::seconds(plan.seconds), units::memory_needed(plan.peak_device()));
    let takes = format!("Takes about {time} and up to {memory} of memory");
    let how = "Click the object, or drag a box around it. Alt-click leaves something out.";
    assert!(window.shows(&takes) && window.shows(how));
    nothing_is_unnamed(&window, "what a mask takes");
    window.take_commands();
    act(&mut window, Action::EditMask(MaskEdit::Point { place: [48, 32], inside: true, erases: false }));
    assert!(!window.shows(&takes) && !window.shows(how));
    assert!(window.take_job().request.mask_of.is_some());

    act(&mut window, Action::UseSegmenter("/models/other.safetensors".into()));
    let [query] = asked(&window).try_into().expect("another question");
    let failure = Failure { message: "it is no segmenter".to_owned(), advice: None };
    window.says(EngineEvent::NotPlanned { id: query.id, failure });
    assert!(window.shows("It is no segmenter."));
}
