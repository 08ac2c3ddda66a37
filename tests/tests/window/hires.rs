//! Hires fix: the section, the offer for large sizes, and the progress of both passes.

use std::path::PathBuf;

use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sluice::window::state::{Progress, State};
use sluice_engine::{
    request::{Enlarger, Hires, ModelSource, Request},
    session::{Event, Stage, StageKind},
};

use super::{
    input_image::photo,
    snapshots::look,
    support::{Window, starter},
};

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

fn hires(window: &Window) -> Option<Hires> {
    state(window).draft().request.hires.clone()
}

fn with(change: impl FnOnce(&mut Request)) -> Window {
    let mut saved = state(&Window::with_starter()).settings.clone();
    change(&mut saved.draft.request);
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.settings = Some(saved));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    window
}

#[test]
fn the_section_sets_what_is_sent() {
    let mut window = Window::with_starter();
    window.click("More settings");
    window.see("Hires fix");
    window.click("Hires fix");
    window.see("Enlarge and denoise again");
    window.click("Enlarge and denoise again");
    assert_eq!(hires(&window), Some(Hires::default()));
    assert!(window.shows("128 × 128 becomes 256 × 256"));
    window.see("Own steps");
    window.click("Own steps");
    assert_eq!(hires(&window).unwrap().steps, Some(state(&window).draft().request.steps));
    let _results = look(&mut window, "hires-dark-1280");
    window.click("Generate");
    assert_eq!(window.take_job().request.hires, hires(&window));
    window.click("Do not use hires fix");
    assert_eq!(hires(&window), None);
}

#[test]
fn a_size_that_is_too_large_is_offered_as_the_result() {
    let other = |width, height| {
        let source = ModelSource::Path("/nowhere/model".into());
        let mut window = with(|request| {
            request.model = source.clone();
            (request.width, request.height) = (width, height);
        });
        let summary = sluice_engine::session::ModelSummary { source, ..starter() };
        window.says(Event::ModelLoaded(Box::new(summary)));
        window
    };
    let mut window = other(512, 512);
    window.click("Hires fix from 128 × 128");
    let request = &state(&window).draft().request;
    assert_eq!((request.width, request.height), (128, 128));
    assert_eq!(request.hires.as_ref().map(|hires| hires.scale), Some(4.0));
    assert!(window.shows("Hires fix × 4 · 50%"), "it is listed above Generate");
    let small = other(32, 32);
    assert!(small.shows("trained for about 128 × 128") && !small.shows("Hires fix from"));
    let far = other(1024, 1024);
    assert!(far.shows("trained for about 128 × 128") && !far.shows("Hires fix from"), "more than 4 times");
}

/// It draws nothing but patterns there.
#[test]
fn the_starter_does_not_offer_what_it_cannot_do() {
    const UPSCALE: &str = "larger than 128 × 128. Use Upscale";
    let window = with(|request| (request.width, request.height) = (512, 512));
    assert!(window.shows(UPSCALE) && !window.shows("Hires fix from"));
    let mut window = with(|request| request.hires = Some(Hires::default()));
    window.click("More settings");
    window.see("Hires fix");
    window.click("Hires fix");
    assert!(window.shows(UPSCALE));
}

#[test]
fn an_input_image_ends_it_and_an_upscaler_can_be_of_ones_own() {
    let mut window = with(|request| request.hires = Some(Hires::default()));
    let mut draft = state(&window).draft().clone();
    draft.enlarge_by(PathBuf::from("/models/4x.safetensors"));
    let own = Enlarger::Upscaler(ModelSource::Path("/models/4x.safetensors".into()));
    assert_eq!(draft.request.hires.as_ref().map(|hires| hires.enlarger.clone()), Some(own));
    draft.use_input_image(PathBuf::from("/photos/harbour.png"));
    assert_eq!(draft.request.hires, None);
    let video = sluice_engine::session::ModelSummary { frame_multiple: Some(4), ..starter() };
    window.says(Event::ModelLoaded(Box::new(video)));
    assert_eq!(hires(&window), None, "clips have none");
}

#[test]
fn progress_goes_on_between_the_passes() {
    let mut window = with(|request| request.hires = Some(Hires::default()));
    window.click("Generate");
    let job = window.take_job().id;
    window.says(Event::Started { job });
    let mut last = 0.0;
    let mut check = |window: &mut Window, event: Event, words: &str| {
        window.says(event);
        let (_, progress): (_, &Progress) = state(window).jobs.running().unwrap();
        assert!(progress.fraction() >= last, "{words}: back to {} from {last}", progress.fraction());
        last = progress.fraction();
        window.frames();
        assert!(window.shows(words), "{words} is not shown");
    };
    let stage = |kind, number| Event::StageStarted { job, stage: Stage::new(number, kind) };
    let step = |step| Event::Step { job, step, steps: 18, seconds: 0.1, seconds_left: 1.0 };
    check(&mut window, stage(StageKind::EncodePrompt, 0), "Encoding the prompt");
    check(&mut window, stage(StageKind::Denoise, 1), "Denoising");
    check(&mut window, step(12), "Step 12 of 18");
    check(&mut window, stage(StageKind::Decode, 2), "Decoding");
    check(&mut window, stage(StageKind::Upscale, 3), "Upscaling");
    check(&mut window, stage(StageKind::EncodeImage, 4), "Encoding the image");
    check(&mut window, stage(StageKind::Denoise, 5), "Step 12 of 18");
    check(&mut window, step(18), "Step 18 of 18");
    check(&mut window, stage(StageKind::Decode, 6), "Decoding");
}

#[test]
fn a_run_is_not_almost_done_between_its_passes_or_in_the_middle() {
    let mut window = Window::with_starter();
    window.click("Generate");
    let job = window.take_job().id;
    window.says(Event::Started { job });
    let stage = |kind, number| Event::StageStarted { job, stage: Stage::new(number, kind) };
    let step = |step| Event::Step { job, step, steps: 18, seconds: 0.1, seconds_left: 0.4 };
    let events = [stage(StageKind::Denoise, 0), step(3), step(12), stage(StageKind::Upscale, 1), step(18)];
    for event in events {
        window.says(event);
        assert!(!window.shows("almost done"));
    }
}

#[test]
fn hires_fix_comes_back_when_the_input_image_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = photo(folder.path(), "harbour.png");
    let mut window = with(|request| request.hires = Some(Hires { scale: 1.5, ..Hires::default() }));
    window.drop_file(path.clone());
    window.wait_for("the image", |app| app.state().input.files.pixels(&path).is_some());
    window.frames();
    assert_eq!(hires(&window), None, "it starts from the prompt");
    assert!(window.shows("Hires fix waits until the input image is removed."));
    window.click("Remove input image");
    assert_eq!(hires(&window).map(|hires| hires.scale), Some(1.5));
}

#[test]
fn with_an_input_image_the_section_says_why_it_is_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = photo(folder.path(), "harbour.png");
    let open = |window: &mut Window| {
        window.drop_file(path.clone());
        window.wait_for("the image", |app| app.state().input.files.pixels(&path).is_some());
        window.click("More settings");
        window.frames();
    };
    let mut window = Window::with_starter();
    open(&mut window);
    assert!(window.shows("Hires fix starts from the prompt alone, and not from an input image."));
    assert!(window.harness.get_by_label("Hires fix").accesskit_node().is_disabled());

    let mut window = with(|request| request.hires = Some(Hires::default()));
    open(&mut window);
    window.click("Dismiss the notice");
    let waits = "Hires fix waits until the input image is removed.";
    assert_eq!(window.harness.query_all_by_label(waits).count(), 1, "in its section");
    window.harness.get_by_label("Hires fix waits");
    window.click("Do not use hires fix");
    window.click("Remove input image");
    assert_eq!(hires(&window), None, "it waits no longer");
}
