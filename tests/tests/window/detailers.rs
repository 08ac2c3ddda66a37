//! Detailers in the window: the section, what is sent, and a run with a real engine.

use std::path::{Path, PathBuf};

use egui::Theme;
use egui_kittest::kittest::Queryable;
use sluice::window::{
    action::UpscaleStep,
    state::{Ask, Progress, State},
};
use sluice_engine::{
    output::{Output, read_settings},
    request::{BoxOrder, Detailer, Request, SourceImage},
    session::{Command, Event, ModelSummary, Session, SessionOptions, Stage, StageKind},
    source::GivenMedia,
};
use sluice_tests::detect::write_plain;

use super::{
    behaviour::nothing_is_unnamed,
    gallery::Kept,
    input_image::photo,
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

/// The question about details of these images, of which one cannot be read.
fn asked(detailers: Vec<Detailer>) -> State {
    let mut state = State::default();
    state.apply(Event::ModelLoaded(Box::new(starter())), 0.0);
    let request = &mut state.settings.draft.request;
    request.prompt = "hills".to_owned();
    request.source = Some(SourceImage { path: "/photos/lake.png".into(), ..SourceImage::default() });
    request.detailers = detailers;
    let image = |size| Ok(GivenMedia { size, clip: None });
    let all =
        [("a.jpg", image([640, 480])), ("b.png", image([64, 48])), ("c.png", Err("no image".to_owned()))];
    let all = all.map(|(name, given)| (Path::new("/photos").join(name), given)).to_vec();
    state.ask_detail(all.iter().map(|(path, _)| path.clone()).collect(), 7);
    let prompts = ["a face".to_owned(), "fog".to_owned()];
    state.take_prompts(vec![(PathBuf::from("/photos/a.jpg"), prompts)]);
    state.take_measured(all);
    state
}

#[test]
fn details_of_images_become_jobs_whose_results_are_beside_them() {
    let mut state = asked(two());
    state.choose_detectors(vec!["/models/other.safetensors".into()]);
    let commands = state.upscale();
    assert!(state.upscaling.is_none());
    let [Command::Generate(first), Command::Generate(second)] = &commands[..] else { panic!("{commands:?}") };
    for (job, path, name) in [(first, "/photos/a.jpg", "a-detailed"), (second, "/photos/b.png", "b-detailed")]
    {
        let request = &job.request;
        assert_eq!(request.detail_of.as_deref(), Some(Path::new(path)));
        assert_eq!((&request.detailers, request.seed, &request.source), (&two(), 7, &None));
        let Some(Output::Named(output)) = &job.output else { panic!("{:?}", job.output) };
        assert_eq!((output.folder.as_path(), output.names.as_str()), (Path::new("/photos"), name));
    }
    let prompts = |request: &Request| [request.prompt.clone(), request.negative_prompt.clone()];
    assert_eq!(prompts(&first.request), ["a face", "fog"], "those in the image");
    assert_eq!(prompts(&second.request), ["hills", ""], "those of the panel");
    assert_eq!(state.draft().request.detail_of, None);
}

#[test]
fn detectors_are_chosen_where_the_panel_has_no_detailers() {
    let mut state = asked(Vec::new());
    assert_eq!(state.ask_about_upscaling(0.0), Ask::Nothing, "there is no detector");
    assert!(!state.can_upscale());
    state.choose_detectors(vec!["/models/face.safetensors".into()]);
    let Ask::Now(query) = state.ask_about_upscaling(0.0) else { panic!("nothing is asked") };
    assert_eq!(query.request.detail_of.as_deref(), Some(Path::new("/photos/a.jpg")), "the largest");
    assert_eq!(query.request.detailers, [Detailer::new("/models/face.safetensors")]);
    assert!(state.draft().request.detailers.is_empty(), "the panel stays as it is");
    state.settings.draft.seed_locked = true;
    state.settings.draft.request.seed = 99;
    state.ask_detail(vec!["/photos/a.jpg".into()], 8);
    state.take_measured(vec![("/photos/a.jpg".into(), Ok(GivenMedia { size: [64, 48], clip: None }))]);
    state.choose_detectors(vec!["/models/face.safetensors".into()]);
    let commands = state.upscale();
    let [Command::Generate(job)] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!(job.request.seed, 99);
}

#[test]
fn the_menu_of_the_gallery_asks_about_details() {
    let kept = Kept::some();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.harness.get_by_label("2.png").click_secondary();
    window.frames();
    window.click("Detail image…");
    window.wait_for_words("Choose a detector first");
    assert!(window.shows("Detail 2.png") && window.shows("The prompt is the one in the image"));
    nothing_is_unnamed(&window, "the question about details");
    window.click("Cancel");
    assert!(state(&window).upscaling.is_none());
}

#[test]
fn details_of_an_image_are_inpainted_beside_it() {
    let (folder, models) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let detector = models.path().join("face.safetensors");
    write_plain(&detector).unwrap();
    let image = photo(folder.path(), "house.png");
    let mut window = real(folder.path(), detector);
    window.wait_for("the model", |app| app.state().summary().is_some());
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, UpscaleStep::AskDetail(vec![image]).into());
    window.wait_for_words("Takes about");
    assert!(window.shows("Uses face.safetensors, as set under Detailers"));
    assert!(window.shows("The prompt is that of the settings, because the image has none"));
    window.click("Detail");
    let result = folder.path().join("house-detailed.png");
    window.wait_for("the result", |app| app.state().images.recents.of_file(&result).is_some());
    let recents = &state(&window).images.recents;
    let recent = recents.get(recents.of_file(&result).unwrap()).unwrap();
    assert_eq!(recent.size(), [96, 64]);
    let request = recent.request.as_ref().unwrap();
    assert_eq!((request.prompt.as_str(), &request.detail_of), ("a red circle", &None));
}
