//! Detailers in the window: the section, what is sent, and a run with a real engine.

use std::path::{Path, PathBuf};

use egui::Theme;
use sluice::window::state::{Progress, State};
use sluice_engine::{
    output::read_settings,
    request::{BoxOrder, Detailer, Request},
    session::{Event, ModelSummary, Session, SessionOptions, Stage, StageKind},
};
use sluice_tests::detect::write_plain;

use super::{
    behaviour::nothing_is_unnamed,
    support::{Window, starter},
};

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

fn detailers(window: &Window) -> &[Detailer] {
    &state(window).draft().request.detailers
}

fn with(change: impl FnOnce(&mut Request)) -> Window {
    let mut saved = state(&Window::with_starter()).settings.clone();
    change(&mut saved.draft.request);
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| setup.settings = Some(saved));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    window
}

fn two() -> Vec<Detailer> {
    ["/models/face_yolov8n.safetensors", "/models/hand_yolov8n.safetensors"].map(Detailer::new).to_vec()
}

#[test]
fn the_section_sets_what_is_sent() {
    let mut window = with(|request| request.detailers = two());
    assert!(window.shows("face_yolov8n · 40%"), "it is listed above Generate");
    window.click("More settings");
    window.see("Detailers (2)");
    window.click("Detailers (2)");
    window.see("Remove detailer hand_yolov8n");
    assert!(
        window.shows("The forecast counts one box")
            && window.shows("Prompt for boxes")
            && !window.shows("Mask blur")
    );
    nothing_is_unnamed(&window, "detailers");
    window.click("More of face_yolov8n");
    assert!(window.shows("Mask blur") && window.shows("Grow mask"));
    nothing_is_unnamed(&window, "all settings of a detailer");
    window.click("Remove detailer face_yolov8n");
    assert_eq!(detailers(&window), &two()[1..]);
    window.click("Generate");
    assert_eq!(window.take_job().request.detailers, two()[1..]);
    window.click("Do not use hand_yolov8n");
    assert!(detailers(&window).is_empty());
}

#[test]
fn models_of_clips_have_none() {
    let mut window = with(|request| request.detailers = two());
    let video = ModelSummary { frame_multiple: Some(4), ..starter() };
    window.says(Event::ModelLoaded(Box::new(video)));
    assert!(detailers(&window).is_empty());
    window.click("More settings");
    assert!(!window.shows("Detailers"));
}

#[test]
fn the_status_says_that_something_is_looked_for() {
    let mut window = with(|request| request.detailers = two());
    window.click("Generate");
    let job = window.take_job().id;
    window.says(Event::Started { job });
    let stage = |kind, number| Event::StageStarted { job, stage: Stage::new(number, kind) };
    let step = |step, steps| Event::Step { job, step, steps, seconds: 0.1, seconds_left: 1.0 };
    let mut last = 0.0;
    for (event, words) in [
        (stage(StageKind::Denoise, 1), "Denoising"),
        (step(12, 20), "Step 12 of 20"),
        (stage(StageKind::Decode, 2), "Decoding"),
        (stage(StageKind::Detect, 3), "Looking for details"),
        (stage(StageKind::EncodeImage, 4), "Encoding the image"),
        (step(13, 20), "Step 13 of 20"),
    ] {
        window.says(event);
        let (_, progress): (_, &Progress) = state(&window).jobs.running().unwrap();
        assert!(progress.fraction() >= last, "{words}: back to {} from {last}", progress.fraction());
        last = progress.fraction();
        window.frames();
        if words.starts_with("Step 13") {
            continue;
        }
        assert!(window.shows(words), "{words} is not shown");
    }
}

/// A window over a folder, with a real engine.
fn real(folder: &Path, detector: PathBuf) -> Window {
    let session = Session::start(SessionOptions::default()).unwrap();
    let mut saved = state(&Window::with_starter()).settings.clone();
    let order = BoxOrder::LeftToRight;
    saved.draft.request.detailers = vec![Detailer { most: 2, order, ..Detailer::new(detector) }];
    saved.draft.request.prompt = "a red circle".to_owned();
    (saved.draft.request.width, saved.draft.request.height, saved.draft.request.steps) = (64, 64, 4);
    let folder = folder.to_owned();
    Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        setup.link = Box::new(session);
        setup.folder = Some(folder);
        setup.settings = Some(saved);
    })
}

#[test]
fn an_image_is_made_and_says_how() {
    let (folder, models) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let detector = models.path().join("face.safetensors");
    write_plain(&detector).unwrap();
    let mut window = real(folder.path(), detector.clone());
    window.wait_for("the model", |app| app.state().summary().is_some());
    window.click("Generate");
    window.wait_for("the image", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.path.is_some())
    });
    let recent = state(&window).images.shown_recent().unwrap();
    let path = recent.path.clone().unwrap();
    let settings = read_settings(&path).unwrap().settings;
    assert_eq!(settings.request.detailers.len(), 1);
    assert_eq!(settings.request.detailers[0].model, detector);
    assert!(settings.parameters().contains("ADetailer model: face, "), "{}", settings.parameters());
}
