//! Start image, end image and input clip.

use std::path::{Path, PathBuf};

use egui::{Key, Modifiers, accesskit::Role};
use egui_kittest::kittest::Queryable;
use sluice::window::{settings::Settings as WindowSettings, state::Draft};
use sluice_engine::{
    output::{Codec, Media, Settings, write_media},
    request::{
        Control, FrameRange, Keyframe, Mode, ModelSource, Outpaint, Preprocessor, Request, SourceImage,
        SourceMask,
    },
    session::{Event, JobId, ModelSummary, Picture},
};

use super::{
    behaviour::nothing_is_unnamed,
    snapshots::look,
    support::{Window, clip, landscape, starter},
};

/// A window with a model that generates clips from these.
fn with(modes: &[Mode]) -> Window {
    with_request(modes, Request::default())
}

fn with_request(modes: &[Mode], request: Request) -> Window {
    let model = ModelSource::Path("/nowhere/wan".into());
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let request = Request { model: model.clone(), frames: 33, ..request };
        let draft = Draft { request, ..Draft::default() };
        setup.settings = Some(WindowSettings { draft, ..WindowSettings::default() });
    });
    window.take_commands();
    let (modes, overlap) = (modes.to_vec(), Some(5));
    let summary = ModelSummary { source: model, frame_multiple: Some(4), modes, overlap, ..starter() };
    window.says(Event::ModelLoaded(Box::new(summary)));
    window
}

fn request(window: &Window) -> &Request {
    &window.harness.state().state().draft().request
}

fn photo(folder: &Path, name: &str) -> PathBuf {
    let image = landscape(128, 128, 4, 1.0);
    let path = folder.join(name);
    image::save_buffer(&path, &image.pixels, 128, 128, image::ColorType::Rgb8).unwrap();
    path
}

/// A clip of 24 frames, 8 a second.
fn video(folder: &Path) -> PathBuf {
    let path = folder.join("waves.mp4");
    let settings = Settings::new(&Request::default(), "Wan", "wan", 0);
    write_media(&path, &Media::Clip(clip(64, 48, 24, 8.0)), &settings, Codec::H264).unwrap();
    path
}

#[test]
fn wells_appear_for_models_that_take_them() {
    for (modes, shown) in [
        (&[Mode::Text][..], [false, false]),
        (&[Mode::ImageToVideo], [true, false]),
        (&[Mode::Text, Mode::Extend], [false, true]),
        (&[Mode::Text, Mode::ImageToVideo, Mode::VideoToVideo], [true, true]),
    ] {
        let window = with(modes);
        assert_eq!([window.shows("Start image"), window.shows("Input clip")], shown, "{modes:?}");
        assert!(!window.shows("Image to image") && !window.shows("End image"));
    }
    assert!(Window::with_starter().shows("Image to image"));
}

#[test]
fn a_plan_that_cannot_be_made_says_why() {
    let source = SourceImage { path: "start.png".into(), ..SourceImage::default() };
    let mut window = with_request(&[Mode::Text], Request { source: Some(source), ..Request::default() });
    let said =
        |window: &Window| window.harness.query_all_by_label_contains("cannot do image to video").count();
    let before = said(&window);
    window.click("Plan");
    assert!(before > 0 && said(&window) == before + 1, "in the plan too");
    assert!(!window.shows("Load a model to see"));
}

#[test]
fn a_clip_between_two_images() {
    let folder = tempfile::tempdir().unwrap();
    let (first, last) = (photo(folder.path(), "start.png"), photo(folder.path(), "end.png"));
    let mut window = with(&[Mode::ImageToVideo, Mode::FirstAndLast]);
    window.click("Generate");
    assert!(window.take_commands().is_empty(), "this model needs an image");
    assert!(window.shows("This model cannot do text to video"));
    window.drop_file(first.clone());
    window.wait_for("the image", |app| app.state().input.files.pixels(&first).is_some());
    window.frames();
    assert!(window.shows("End image") && !window.shows("Denoising strength"));
    nothing_is_unnamed(&window, "a start image");
    window.click("Generate");
    assert_eq!(window.take_job().request.mode(), Mode::ImageToVideo);

    let source = Some(SourceImage { path: first, ..SourceImage::default() });
    let both = Request { source, last_image: Some(last), ..Request::default() };
    let mut window = with_request(&[Mode::ImageToVideo, Mode::FirstAndLast], both);
    nothing_is_unnamed(&window, "two images");
    window.click("Generate");
    assert_eq!(window.take_job().request.mode(), Mode::FirstAndLast);
    window.click("Remove end image");
    assert_eq!(request(&window).mode(), Mode::ImageToVideo);
    window.click("Remove start image");
    assert_eq!(request(&window).mode(), Mode::Text);
}

#[test]
fn a_keyframe_has_a_frame_and_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let middle = Keyframe { frame: 16, path: photo(folder.path(), "middle.png") };
    let saved = Request { keyframes: vec![middle], ..Request::default() };
    let mut window = with_request(&[Mode::Text, Mode::ImageToVideo, Mode::Keyframes], saved);
    assert!(window.shows("Keyframes") && window.shows("Frame 17: middle.png"));
    nothing_is_unnamed(&window, "a keyframe");
    window.click("Generate");
    assert_eq!(window.take_job().request.mode(), Mode::Keyframes);
    window.click("Remove keyframe middle.png");
    assert_eq!(request(&window).keyframes, []);
    assert!(window.shows("Keyframes"), "one can be added");
    assert!(!with(&[Mode::Text, Mode::ImageToVideo]).shows("Keyframes"));
}

#[test]
fn a_control_clip_has_a_mask_and_a_strength() {
    let folder = tempfile::tempdir().unwrap();
    let (clip, mask) = (video(folder.path()), photo(folder.path(), "mask.png"));
    assert!(with(&[Mode::Text, Mode::Control]).shows("Control clip"));
    assert!(!with(&[Mode::Text]).shows("Control clip"));
    let control = Control { video: Some(clip), mask: Some(mask), ..Control::default() };
    let saved = Request { control: Some(control), ..Request::default() };
    let mut window = with_request(&[Mode::Text, Mode::Control], saved);
    assert!(window.shows("Control strength") && window.shows("Start") && window.shows("End"));
    nothing_is_unnamed(&window, "a control clip");
    window.click("Preprocessor");
    window.click("Depth map");
    assert!(window.shows("Depth estimator"));
    window.click("Preprocessor");
    window.click("Canny edges");
    assert!(!window.shows("Depth estimator"));
    window.click("Remove control mask");
    assert!(window.shows("Control mask"));
    window.click("Generate");
    let sent = window.take_job().request;
    let control = sent.control.clone().unwrap();
    assert_eq!((sent.mode(), control.mask, control.preprocessor), (Mode::Control, None, Preprocessor::Canny));
    window.click("Remove control clip");
    assert!(request(&window).control.is_none() && window.shows("Control clip"));
}

#[test]
fn the_palette_finds_control_clips_and_references() {
    let mut window = with(&[Mode::Text, Mode::Control]);
    for words in ["control clip", "references"] {
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
        window.frames();
        window.harness.get_by_label("Search commands").type_text(words);
        window.frames();
        assert!(window.shows("Start image, end image, input clip, control clip and references"), "{words}");
        window.harness.key_press(Key::Escape);
        window.frames();
    }
}

#[test]
fn a_missing_estimator_is_said_once() {
    let video = Some("/clips/poses.mp4".into());
    let control = Control { video, preprocessor: Preprocessor::Depth, ..Control::default() };
    let saved = Request { control: Some(control), ..Request::default() };
    let window = with_request(&[Mode::Text, Mode::Control], saved);
    let said = window.harness.query_all_by_label_contains("No model is chosen that makes").count();
    assert_eq!(said, 1, "below Generate");
}

#[test]
fn what_controls_a_clip_is_shown_above_generate() {
    let control = Control { video: Some("/clips/poses.mp4".into()), ..Control::default() };
    let saved = Request { control: Some(control), ..Request::default() };
    let mut window = with_request(&[Mode::Text, Mode::Control], saved);
    assert!(window.shows("Control: poses.mp4"));
    window.click("Do not use what controls the clip");
    assert!(request(&window).control.is_none() && !window.shows("Control: poses.mp4"));
    let strong = Some(Control { strength: 0.5, ..Control::default() });
    let saved = Request { control: strong, references: vec!["/cats/one.png".into()], ..Request::default() };
    let window = with_request(&[Mode::Text, Mode::Control], saved);
    assert!(window.shows("Control strength 0.5"));
}

#[test]
fn a_dropped_clip_is_changed_or_extended() {
    let folder = tempfile::tempdir().unwrap();
    let path = video(folder.path());
    let mut window = with(&[Mode::Text, Mode::VideoToVideo, Mode::Extend]);
    window.drop_file(path.clone());
    window.wait_for("the question", |app| app.state().input.dropped.is_some());
    window.frames();
    window.click("Use as input clip");
    window.wait_for("its first frame", |app| app.state().input.files.pixels(&path).is_some());
    window.frames();
    assert!(window.shows("Denoising strength") && window.shows("64 × 48"));
    // Three seconds are 48 frames at 16 a second.
    assert_eq!(request(&window).frames, 33);
    nothing_is_unnamed(&window, "an input clip");
    window.click("Generate");
    let sent = window.take_job().request;
    assert_eq!((sent.mode(), sent.clip.unwrap().path), (Mode::VideoToVideo, path));
    window.click("Extend");
    assert!(window.shows("Continues from its last 5 frames.") && !window.shows("Denoising strength"));
    window.click("Generate");
    assert_eq!(window.take_job().request.mode(), Mode::Extend);
    window.click("Remove input clip");
    assert_eq!(request(&window).clip, None);
    assert!(window.shows("Input clip"));
}

#[test]
fn the_player_extends_what_it_plays() {
    let folder = tempfile::tempdir().unwrap();
    let path = video(folder.path());
    let mut window = with(&[Mode::Text, Mode::Extend]);
    window.click("Generate");
    window.take_commands();
    let job = JobId(1);
    window.says(Event::Started { job });
    let media = Media::Clip(clip(64, 48, 24, 8.0));
    let pictures = vec![Picture { media, seed: 7, path: Some(path.clone()) }];
    window.says(Event::Finished { job, pictures, seconds: 1.0 });
    window.click("Extend");
    let extended = request(&window).clip.clone().unwrap();
    assert_eq!((extended.path, extended.range, extended.extends), (path, FrameRange::default(), true));
    window.click("Undo");
    assert_eq!(request(&window).clip, None);
}

#[test]
fn what_the_wells_look_like() {
    let folder = tempfile::tempdir().unwrap();
    let (start, end) =
        (photo(folder.path(), "harbour at dawn.png"), photo(folder.path(), "harbour at night.png"));
    let source = Some(SourceImage { path: start.clone(), ..SourceImage::default() });
    let images = Request { source, last_image: Some(end.clone()), ..Request::default() };
    let mut window = with_request(&[Mode::ImageToVideo, Mode::FirstAndLast], images);
    window.wait_for("the images", |app| {
        [&start, &end].iter().all(|path| app.state().input.files.pixels(path).is_some())
    });
    window.see("Remove end image");
    let mut results = look(&mut window, "well-images-dark-1280");

    let path = video(folder.path());
    let mut window = with(&[Mode::Text, Mode::VideoToVideo, Mode::Extend]);
    window.drop_file(path.clone());
    window.wait_for("the question", |app| app.state().input.dropped.is_some());
    window.frames();
    window.click("Use as input clip");
    window.wait_for("its first frame", |app| app.state().input.files.pixels(&path).is_some());
    window.click("Dismiss the notice");
    window.see("Remove input clip");
    results.extend(look(&mut window, "well-clip-dark-1280"));
}

/// They are for images, and the run would be refused.
#[test]
fn a_start_image_has_no_mask_and_nothing_is_added_around_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = SourceImage {
        path: photo(folder.path(), "start.png"),
        mask: Some(SourceMask::default()),
        outpaint: Outpaint { right: 64, ..Outpaint::default() },
        ..SourceImage::default()
    };
    let path = source.path.clone();
    let mut window =
        with_request(&[Mode::ImageToVideo], Request { source: Some(source), ..Request::default() });
    window.frames();
    let wanted = SourceImage { path, ..SourceImage::default() };
    assert_eq!(request(&window).source, Some(wanted));
}

#[test]
fn a_right_click_on_an_input_copies_replaces_or_removes_it() {
    let folder = tempfile::tempdir().unwrap();
    let [first, last] = ["first.png", "last.png"].map(|name| photo(folder.path(), name));
    let source = Some(SourceImage { path: first, ..SourceImage::default() });
    let given = Request { source, last_image: Some(last), ..Request::default() };
    let mut window = with_request(&[Mode::ImageToVideo, Mode::FirstAndLast], given);
    let menu = |window: &mut Window, name: &str| {
        window.harness.get_by_role_and_label(Role::Image, name).scroll_to_me();
        window.frames();
        window.harness.get_by_role_and_label(Role::Image, name).click_secondary();
        window.frames();
    };
    menu(&mut window, "first.png");
    nothing_is_unnamed(&window, "the menu of an input");
    assert!(window.shows("Replace…") && window.shows("Show in folder"));
    window.click("Copy the path");
    assert!(window.shows("Copied to the clipboard") && !window.shows("Replace…"));
    menu(&mut window, "last.png");
    window.click("Replace…");
    window.wait_for_words("Choose an end image");
    window.harness.key_press(Key::Escape);
    window.frames();
    menu(&mut window, "last.png");
    let remove = window.harness.get_all_by_label("Remove end image").last().unwrap();
    remove.click();
    window.frames();
    assert_eq!(request(&window).last_image, None);
    assert!(request(&window).source.is_some());
}
