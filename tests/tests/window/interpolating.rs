//! Frames between those of clips, from the window: the question, its forecast, the jobs, and the setting of generated clips.

use std::path::{Path, PathBuf};

use egui::{Key, Theme};
use sluice::window::state::{Shown, State};
use sluice_engine::{
    checkpoint::Role,
    output::{Clip, Codec, Media, Settings, read_settings, write_media},
    request::{Interpolation, ModelSource, Request, Smooth},
    session::{Event, Session, SessionOptions, Stage, StageKind},
    source::ClipInfo,
};
use sluice_tests::interpolators::{Case, moving};

use super::{
    behaviour::nothing_is_unnamed,
    support::{Window, starter},
};

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

fn clip(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let frames = (0..4).map(|number| moving(64, 64, 4 * number)).collect();
    let request = Request { prompt: "hills".to_owned(), seed: 5, frames: 4, ..Request::default() };
    let settings = Settings::new(&request, "Starter", "z_image", 0);
    write_media(&path, &Media::Clip(Clip::silent(frames, 8.0)), &settings, Codec::H264).unwrap();
    path
}

/// A window over a folder, with a real engine and a network.
fn real(folder: &Path, network: Option<PathBuf>) -> Window {
    let session = Session::start(SessionOptions::default()).unwrap();
    let mut saved = state(&Window::with_starter()).settings.clone();
    saved.interpolate.model = network;
    let folder = folder.to_owned();
    Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        setup.link = Box::new(session);
        setup.folder = Some(folder);
        setup.settings = Some(saved);
    })
}

fn see_clip(window: &mut Window, path: &Path) {
    window.wait_for("the clip", |app| app.state().images.recents.of_file(path).is_some());
    window.wait_for("its frames", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.pixels.is_some())
    });
}

#[test]
fn a_clip_gets_frames_beside_the_original() {
    let (folder, models) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = clip(folder.path(), "hills.mp4");
    let mut window = real(folder.path(), Some(Case::latest().write(models.path()).unwrap()));
    see_clip(&mut window, &path);
    window.click("Interpolate…");
    window.wait_for_words("Takes about");
    assert!(window.shows("8 frames per second become 16"));
    assert!(!window.painted("Choose a file…").1, "a folder alone says little");
    nothing_is_unnamed(&window, "the question how to interpolate");
    window.click("4×");
    window.wait_for_words("8 frames per second become 32");
    window.wait_for_words("Takes about");
    window.click("Interpolate");
    let result = folder.path().join("hills-4x-frames.mp4");
    window.wait_for("the result", |app| app.state().images.recents.of_file(&result).is_some());
    let recents = &state(&window).images.recents;
    let recent = recents.get(recents.of_file(&result).unwrap()).unwrap();
    assert_eq!(recent.length.map(|length| (length.frames, length.rate)), Some((16, 32.0)));
    assert_eq!(recent.request.as_ref().map(|request| request.seed), Some(5), "its settings go on");
    assert_eq!(state(&window).images.shown, Shown::Recent(recent.id));
    let info = ClipInfo::open(&result).unwrap().unwrap();
    assert_eq!((info.frames, info.rate), (16, 32.0));
    assert_eq!(read_settings(&result).unwrap().settings.interpolated.len(), 1);
    assert_eq!(state(&window).settings.interpolate.factor, 4, "the factor is kept");
}

#[test]
fn without_a_network_one_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = clip(folder.path(), "hills.mp4");
    let mut window = real(folder.path(), None);
    see_clip(&mut window, &path);
    window.click("Interpolate…");
    window.wait_for_words("Choose a file of RIFE 4 first");
    window.click("Interpolate");
    assert!(state(&window).upscaling.is_some(), "there is nothing to do it with");
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(state(&window).upscaling.is_none());
}

#[test]
fn a_network_that_is_opened_as_a_model_interpolates_from_then_on() {
    let mut summary = starter();
    let source = ModelSource::Path("/models/rife_v4.26.safetensors".into());
    summary.source = source.clone();
    summary.components.truncate(1);
    summary.components[0].role = Role::Interpolator;
    let mut state = State::default();
    state.apply(Event::ModelLoaded(Box::new(starter())), 0.0);
    state.choose_model(source, true);
    state.apply(Event::ModelLoaded(Box::new(summary)), 0.0);
    assert_eq!(state.settings.interpolate.model, Some("/models/rife_v4.26.safetensors".into()));
    assert_eq!(*state.chosen_model(), ModelSource::Starter);
    let notice = state.messages.notice.as_ref().map(|notice| notice.text.as_str());
    assert_eq!(
        notice,
        Some("rife_v4.26.safetensors is a frame interpolator: Interpolate… uses it from now on")
    );
}

/// A window with a model that makes clips, and what is asked of it.
fn of_clips(change: impl FnOnce(&mut State)) -> Window {
    let mut saved = state(&Window::with_starter()).settings.clone();
    saved.draft.request.frames = 5;
    let mut before = State { settings: saved, ..State::default() };
    change(&mut before);
    let saved = before.settings;
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| setup.settings = Some(saved));
    let mut summary = starter();
    summary.frame_multiple = Some(4);
    window.says(Event::ModelLoaded(Box::new(summary)));
    window.take_commands();
    window
}

#[test]
fn a_generated_clip_is_made_smoother_in_the_same_job() {
    let smooth = Smooth { model: "/models/rife.safetensors".into(), how: Interpolation::times(2) };
    let own = smooth.clone();
    let mut window = of_clips(|state| state.settings.draft.request.smooth = Some(own));
    assert!(window.shows("× 2 frames"), "it is listed above Generate");
    window.click("More settings");
    window.see("Frame interpolation");
    window.click("Frame interpolation");
    window.see("4×");
    window.click("4×");
    window.click("Generate");
    let sent = window.take_job();
    assert_eq!(sent.request.smooth, Some(Smooth { how: Interpolation::times(4), ..smooth }));
    window.says(Event::Started { job: sent.id });
    window.says(Event::StageStarted { job: sent.id, stage: Stage::new(1, StageKind::Denoise) });
    window.says(Event::Step { job: sent.id, step: 12, steps: 12, seconds: 0.4, seconds_left: 0.0 });
    window.says(Event::StageStarted { job: sent.id, stage: Stage::new(3, StageKind::Interpolate) });
    assert!(window.shows("Interpolating frames"));
    window.click("Interpolate no frames");
    assert_eq!(state(&window).draft().request.smooth, None);
}
