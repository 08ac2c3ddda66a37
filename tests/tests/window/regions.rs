//! Regions in the window: the section, the frame in which boxes are dragged, and a run with a real engine.

use egui::{Theme, vec2};
use egui_kittest::kittest::Queryable;
use sluice::window::state::State;
use sluice_engine::{
    output::read_settings,
    request::{Area, Region, Regions, Request},
    session::{Event, Session, SessionOptions},
};

use super::{
    behaviour::nothing_is_unnamed,
    support::{Window, starter},
};

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

fn regions(window: &Window) -> &Regions {
    &state(window).draft().request.regions
}

fn with(change: impl FnOnce(&mut Request)) -> Window {
    let mut saved = state(&Window::with_starter()).settings.clone();
    change(&mut saved.draft.request);
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| setup.settings = Some(saved));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    window
}

fn half(prompt: &str, left: f32) -> Region {
    let area = Area::Box([left, 0.0, 0.5, 1.0]);
    Region { prompt: prompt.to_owned(), area, ..Region::default() }
}

#[test]
fn regions_are_added_and_sent_with_their_prompts() {
    let mut window = with(|_| {});
    window.click("More settings");
    window.see("Regions");
    window.click("Regions");
    window.click("Add region");
    let unfinished = window.harness.query_all_by_label_contains("egion 1 has no prompt").count();
    assert_eq!(unfinished, 1, "it is said once");
    window.harness.run_steps(30);
    let edge = window.harness.get_by_label("Generate").rect().top();
    let field = window.harness.get_by_label("Region 1").rect();
    assert!(field.bottom() + 40.0 < edge, "its sides are in sight, too: {field:?} above {edge}");
    window.fill("Region 1", "a red circle");
    window.click("Add region");
    window.fill("Region 2", "a blue square");
    nothing_is_unnamed(&window, "regions");
    let wanted = vec![half("a red circle", 0.0), half("a blue square", 0.5)];
    assert_eq!(regions(&window).all, wanted);
    assert!(window.shows("Region 1 · a red circle"), "it is listed above Generate");
    window.click("Generate");
    assert_eq!(window.take_job().request.regions, Regions { all: wanted.clone(), ..Regions::default() });
    window.click("Do not use region 1");
    assert_eq!(regions(&window).all, wanted[1..]);
    window.see("Remove region 1");
    window.click("Remove region 1");
    assert!(regions(&window).is_empty());
}

/// Two that are alike are two.
#[test]
fn a_chip_removes_only_its_own_region() {
    let twice = vec![half("a red circle", 0.0); 2];
    let mut window = with(|request| request.regions.all = twice.clone());
    window.click("Do not use region 2");
    assert_eq!(regions(&window).all, twice[1..]);

    let mut window = with(|request| request.regions.all = twice);
    window.harness.get_by_label_contains("Region 1 · a red circle").click_secondary();
    window.frames();
    window.click("Remove all of these");
    assert!(regions(&window).is_empty());
}

#[test]
fn a_box_is_dragged_and_typed() {
    let mut window = with(|request| request.regions.all = vec![half("a red circle", 0.0)]);
    window.click("More settings");
    window.see("Regions (1)");
    window.click("Regions (1)");
    window.see("Add region");
    let middle = window.harness.get_by_label("Box of region 1").rect().center();
    let frame = window.harness.get_by_label("Where the regions are").rect();
    window.harness.drag_at(middle);
    window.harness.hover_at(middle + vec2(frame.height() * 0.25, 0.0));
    window.frames();
    window.harness.drop_at(middle + vec2(frame.height() * 0.25, 0.0));
    window.frames();
    assert_eq!(regions(&window).all[0].area, Area::Box([0.25, 0.0, 0.5, 1.0]), "the frame is square");
}

#[test]
fn an_image_with_regions_is_made_and_says_how() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(SessionOptions::default()).unwrap();
    let mut saved = state(&Window::with_starter()).settings.clone();
    let request = &mut saved.draft.request;
    request.regions.all = vec![half("a red circle", 0.0), half("a blue square", 0.5)];
    (request.width, request.height, request.steps) = (64, 64, 3);
    "two things".clone_into(&mut request.prompt);
    let wanted = request.regions.clone();
    let place = folder.path().to_owned();
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        setup.link = Box::new(session);
        setup.folder = Some(place);
        setup.settings = Some(saved);
    });
    window.wait_for("the model", |app| app.state().summary().is_some());
    window.click("Generate");
    window.wait_for("the image", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.path.is_some())
    });
    let path = state(&window).images.shown_recent().unwrap().path.clone().unwrap();
    assert_eq!(read_settings(&path).unwrap().settings.request.regions, wanted);
}
