//! Enlarging from the window: the question, its forecast, the jobs and their results.

use std::{
    env,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use egui::{Key, Modifiers, Theme};
use sluice::window::state::{Shown, State};
use sluice_engine::{
    output::{Media, NamedOutput, Output, Settings, read_settings, write_png},
    request::{ModelSource, Request},
    session::{Command, Event, Failure, JobId, Session, SessionOptions, Stage, StageKind},
};

use super::{
    behaviour::nothing_is_unnamed,
    gallery::Kept,
    support::{Window, landscape, optimize},
};

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

fn image(folder: &Path, name: &str, width: u32, height: u32) -> PathBuf {
    let path = folder.join(name);
    let request = Request { prompt: "hills".to_owned(), seed: 5, width, height, ..Request::default() };
    let settings = Settings::new(&request, "Starter", "z_image", 0);
    write_png(&path, &Media::Image(landscape(width, height, 5, 1.0)), &settings).unwrap();
    path
}

/// The answer of an engine that cannot do it.
fn refuse(window: &mut Window) -> Request {
    let mut query = window.take_plans().pop();
    let start = Instant::now();
    while query.as_ref().is_none_or(|query| query.request.upscale.is_none()) {
        assert!(start.elapsed() < Duration::from_secs(20), "nothing is asked");
        std::thread::sleep(Duration::from_millis(10));
        window.frames();
        query = window.take_plans().pop();
    }
    let query = query.unwrap();
    let failure = Failure { message: "it is no upscaler".to_owned(), advice: None };
    window.says(Event::NotPlanned { id: query.id, failure });
    query.request
}

#[test]
fn a_selection_in_the_gallery_is_asked_about_and_what_is_broken_is_left_out() {
    let kept = Kept::some();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.frames();
    window.click("Upscale…");
    window.wait_for("the headers", |app| {
        app.state().upscaling.as_ref().is_some_and(|upscaling| upscaling.measured.is_some())
    });
    assert!(window.shows("Upscale 4 files"));
    let asked = refuse(&mut window);
    assert_eq!((asked.model, asked.width, asked.height), (ModelSource::Upscaler, 192, 128));
    assert!(window.shows("It is no upscaler"));
    nothing_is_unnamed(&window, "the question how to upscale");
    window.click("3×");
    assert_eq!(refuse(&mut window).width, 288);
    window.click("Upscale");
    assert!(window.take_commands().is_empty(), "it cannot be done");
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(state(&window).upscaling.is_none());
    assert!(window.harness.state().gallery().is_open, "Escape closes the question alone");
    assert_eq!(state(&window).settings.upscale.scale, 3.0, "the scale is kept");
}

/// A window over a folder, with a real engine.
fn real(folder: &Path) -> Window {
    let session = Session::start(SessionOptions::default()).unwrap();
    let folder = folder.to_owned();
    Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        setup.link = Box::new(session);
        setup.folder = Some(folder);
    })
}

fn keep(window: &mut Window, name: &str) {
    let Some(folder) = env::var_os("SLUICE_SCREENSHOTS") else { return };
    window.frames();
    let path = PathBuf::from(folder).join(name);
    window.harness.render().unwrap().save(&path).unwrap();
    optimize(&path);
}

#[test]
fn an_image_is_enlarged_beside_the_original_and_compared_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(folder.path(), "hills.png", 320, 200);
    let mut window = real(folder.path());
    window.wait_for("the image", |app| app.state().images.recents.of_file(&path).is_some());
    window.wait_for("its pixels", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.pixels.is_some())
    });
    window.click("Upscale…");
    window.wait_for_words("Takes about");
    assert!(window.shows("320 × 200 becomes 640 × 400"));
    keep(&mut window, "upscale-dark.png");
    window.click("Upscale");
    let result = folder.path().join("hills-2x.png");
    window.wait_for("the result", |app| app.state().images.recents.of_file(&result).is_some());
    let recents = &state(&window).images.recents;
    let recent = recents.get(recents.of_file(&result).unwrap()).unwrap();
    assert_eq!(recent.size(), [640, 400]);
    assert_eq!(recent.request.as_ref().map(|request| request.seed), Some(5), "its settings go on");
    assert_eq!(state(&window).images.shown, Shown::Recent(recent.id));
    let settings = read_settings(&result).unwrap().settings;
    assert_eq!((settings.request.prompt.as_str(), settings.enlarged.len()), ("hills", 1));
    window.click("Compare");
    assert!(state(&window).images.compared().is_some());
    keep(&mut window, "upscaled-dark.png");
    // Once more takes another name.
    window.click("Stop comparing");
    window.click("Upscale…");
    window.wait_for_words("Takes about");
    assert!(window.shows("640 × 400 becomes 1280 × 800"));
}

#[test]
fn a_job_that_enlarges_is_resumed_and_is_in_the_queue_with_its_tiles() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(folder.path(), "hills.png", 64, 40);
    let mut window = Window::with_starter();
    let job = sluice_engine::session::Job {
        output: Some(Output::Named(NamedOutput {
            folder: folder.path().to_owned(),
            format: sluice_engine::output::StillFormat::Png,
            names: "hills-2x".to_owned(),
        })),
        ..sluice_engine::session::Job::new(
            JobId(0),
            sluice::upscaling::request_of(&path, &ModelSource::Upscaler, 2.0).unwrap().0,
        )
    };
    window.says(Event::Unfinished { jobs: vec![job] });
    window.click("Resume");
    let sent = window.take_job();
    assert_eq!(sent.request.upscale.as_ref().unwrap().path, path);
    window.says(Event::Started { job: sent.id });
    window.says(Event::StageStarted { job: sent.id, stage: Stage::new(0, StageKind::Upscale) });
    window.says(Event::Step { job: sent.id, step: 3, steps: 12, seconds: 0.4, seconds_left: 3.0 });
    assert!(window.shows("Tile 3 of 12"));
    window.click("Queue 1");
    assert!(window.shows("Upscale hills.png, Tile 3 of 12 · 128 × 80"));
    window.click("Cancel job 1");
    assert_eq!(window.take_commands(), [Command::Cancel { job: sent.id }]);
}

#[test]
fn an_upscaler_that_is_opened_as_a_model_enlarges_from_then_on() {
    let mut summary = super::support::starter();
    let source = ModelSource::Path("/models/4x-sharp.safetensors".into());
    summary.source = source.clone();
    summary.components.truncate(1);
    summary.components[0].role = sluice_engine::checkpoint::Role::Upscaler;
    let mut state = State::default();
    state.apply(Event::ModelLoaded(Box::new(super::support::starter())), 0.0);
    state.choose_model(source.clone(), true);
    state.apply(Event::ModelLoaded(Box::new(summary)), 0.0);
    assert_eq!(state.settings.upscale.model, source);
    assert_eq!(*state.chosen_model(), ModelSource::Starter);
    assert!(state.summary().is_some());
    let notice = state.messages.notice.as_ref().map(|notice| notice.text.as_str());
    assert_eq!(notice, Some("4x-sharp.safetensors is an upscaler: Upscale… uses it from now on"));
}
