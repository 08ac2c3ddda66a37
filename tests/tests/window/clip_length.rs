//! Image or video: the switch, and the length of a clip.

use std::path::Path;

use egui_kittest::kittest::Queryable;
use sluice::window::{
    settings::{LastModels, Settings as WindowSettings},
    state::Draft,
};
use sluice_engine::{
    output::{Media, Settings, write_png},
    request::{ModelSource, Request},
    session::{Command, Defaults, Event, ModelSummary},
};

use super::{
    behaviour::nothing_is_unnamed,
    support::{Window, landscape, starter},
};

fn wan() -> ModelSource {
    ModelSource::Path("/nowhere/wan".into())
}

/// A model that generates clips of one frame and a multiple of four more.
fn clip_model() -> ModelSummary {
    ModelSummary { source: wan(), name: "Wan".to_owned(), frame_multiple: Some(4), ..starter() }
}

fn request(window: &Window) -> &Request {
    &window.harness.state().state().draft().request
}

/// A window with a model for clips and these frames.
fn with_clips(frames: u32) -> Window {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let request = Request { model: wan(), frames, ..Request::default() };
        let draft = Draft { request, ..Draft::default() };
        setup.settings = Some(WindowSettings { draft, ..WindowSettings::default() });
    });
    window.take_commands();
    window.says(Event::ModelLoaded(Box::new(clip_model())));
    window
}

#[test]
fn a_duration_snaps_to_what_the_model_can() {
    let mut window = with_clips(33);
    let shown = |window: &Window| {
        let durations = window.harness.get_all_by_label("Duration");
        durations.filter_map(|node| node.value()).next().unwrap()
    };
    assert_eq!(shown(&window), "2.1 s, 33 frames");
    window.harness.get_by_role_and_label(egui::accesskit::Role::Slider, "Duration").set_value_accesskit(20.0);
    window.frames();
    assert_eq!((request(&window).frames, shown(&window).as_str()), (81, "5.1 s, 81 frames"));
    window
        .harness
        .get_by_role_and_label(egui::accesskit::Role::Slider, "Frame rate")
        .set_value_accesskit(24.0);
    window.frames();
    assert_eq!((request(&window).frame_rate, shown(&window).as_str()), (24.0, "3.4 s, 81 frames"));
    nothing_is_unnamed(&window, "a model for clips");
    window.click("Generate");
    let sent = window.take_job().request;
    assert_eq!((sent.frames, sent.frame_rate), (81, 24.0));
    assert_eq!(with_clips(34).harness.state().state().draft().request.frames, 33);
}

#[test]
fn a_clip_far_from_what_the_model_was_made_for_is_said_beside_its_settings() {
    let mut window = with_clips(161);
    assert!(!window.shows("made for"), "its usual length is not known");
    let defaults = Defaults { width: 832, height: 480, frames: 81, ..Defaults::default() };
    let model = || Event::ModelLoaded(Box::new(ModelSummary { defaults: defaults.clone(), ..clip_model() }));
    let opened = |frames: u32, (width, height): (u32, u32)| {
        let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
            let request = Request { model: wan(), frames, width, height, ..Request::default() };
            let draft = Draft { request, ..Draft::default() };
            setup.settings = Some(WindowSettings { draft, ..WindowSettings::default() });
        });
        window.take_commands();
        window.says(model());
        window
    };
    window = opened(161, (832, 480));
    assert!(!window.shows("made for"), "twice as long is not far");
    window = opened(165, (832, 480));
    assert!(window.shows("made for about 5.1 s, 81 frames"));
    nothing_is_unnamed(&window, "a long clip");
    window.click("Generate in windows");
    assert!(!window.shows("made for"), "a window is not too long");
    window.click("Generate in windows");
    window.click("Use 5.1 s, 81 frames");
    assert_eq!(request(&window).frames, 81);
    assert!(!window.shows("made for"));

    window = opened(81, (1088, 368));
    assert!(window.shows("made for clips between 9:16 and 16:9"));
    window.click("Use 848 × 480");
    assert_eq!((request(&window).width, request(&window).height), (848, 480));
    assert!(!window.shows("made for"));
}

#[test]
fn a_model_for_images_has_no_duration_and_one_frame() {
    let mut window = Window::with_starter();
    assert!(!window.shows("Duration"));
    window.says(Event::ModelLoaded(Box::new(starter())));
    assert_eq!(request(&window).frames, 1);

    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let request = Request { frames: 81, ..Request::default() };
        let draft = Draft { request, ..Draft::default() };
        setup.settings = Some(WindowSettings { draft, ..WindowSettings::default() });
    });
    window.take_commands();
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.click("Generate");
    assert_eq!(window.take_job().request.frames, 1, "what a clip left behind does not stop an image");
}

#[test]
fn the_switch_changes_between_the_last_models() {
    let mut window = with_clips(33);
    assert!(window.shows("Image") && window.shows("Video"));
    window.click("Image");
    assert_eq!(window.take_commands(), [Command::Load { model: ModelSource::Starter }]);
    window.says(Event::ModelLoaded(Box::new(starter())));
    assert!(!window.shows("Duration"));
    let last = &window.harness.state().state().settings.last_models;
    assert_eq!(*last, LastModels { image: Some(ModelSource::Starter), video: Some(wan()) });
    window.click("Video");
    assert_eq!(window.take_commands(), [Command::Load { model: wan() }]);
}

fn clip_settings(folder: &Path) -> std::path::PathBuf {
    let request = Request { model: wan(), frames: 49, frame_rate: 24.0, ..Request::default() };
    let path = folder.join("waves.png");
    let settings = Settings::new(&request, "Wan", "wan", 0);
    write_png(&path, &Media::Image(landscape(64, 48, 9, 1.0)), &settings).unwrap();
    path
}

#[test]
fn frames_and_rate_are_restored_from_a_file_and_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = with_clips(33);
    window.drop_file(clip_settings(folder.path()));
    window.wait_for("the question", |app| app.state().input.dropped.is_some());
    window.frames();
    window.click("Use settings");
    assert_eq!((request(&window).frames, request(&window).frame_rate), (49, 24.0));
    let saved = window.harness.state().state().settings.clone();
    assert_eq!(WindowSettings::from_json(&saved.to_json()), saved);
    window.click("Undo");
    assert_eq!((request(&window).frames, request(&window).frame_rate), (33, 16.0));
}
