//! Enlarging from the window: the question, its forecast, the jobs and their results.

use std::{
    env,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable as _;
use sluice::window::{
    action::UpscaleStep,
    settings::Settings as WindowSettings,
    state::{Ask, FileChange, Shown, State},
};
use sluice_engine::{
    output::{InputMark, Media, NamedOutput, Output, Settings, read_settings, write_png},
    request::{Interpolate, Interpolation, ModelSource, Request, Upscale},
    session::{
        Command, Event, Failure, Job, JobId, Picture, PlanQuery, Session, SessionOptions, Stage, StageKind,
    },
    source::GivenMedia,
};

use super::{
    behaviour::nothing_is_unnamed,
    gallery::Kept,
    runs::Scene,
    support::{Window, landscape, optimize, picture, starter},
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

/// The question about what it takes.
fn asked(window: &mut Window) -> PlanQuery {
    let mut query = window.take_plans().pop();
    let start = Instant::now();
    while query.as_ref().is_none_or(|query| query.request.upscale.is_none()) {
        assert!(start.elapsed() < Duration::from_secs(20), "nothing is asked");
        std::thread::sleep(Duration::from_millis(10));
        window.frames();
        query = window.take_plans().pop();
    }
    query.unwrap()
}

/// The answer of an engine that cannot do it.
fn refuse(window: &mut Window) -> Request {
    let query = asked(window);
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

#[test]
fn a_simulated_gpu_has_its_own_time_and_enter_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(folder.path(), "hills.png", 64, 40);
    let mut scene = Scene::streamed();
    scene.forecast.seconds_here = Some(11.0);
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        let mut saved = WindowSettings::default();
        saved.memory.preferences = scene.preferences.clone();
        setup.settings = Some(saved);
        setup.folder = Some(folder.path().to_owned());
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.wait_for("the image", |app| app.state().images.recents.of_file(&path).is_some());
    window.wait_for("its pixels", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.pixels.is_some())
    });
    window.take_commands();
    window.click("Upscale…");
    let query = asked(&mut window);
    window.says(scene.answer(query.id));
    assert!(window.shows("on that GPU, and up to"));
    assert!(window.shows("Simulated: about 11 s here, on the CPU"));
    window.harness.key_press(Key::Enter);
    window.frames();
    let job = window.take_job();
    assert_eq!(job.request.upscale.as_ref().unwrap().path, path);
    assert!(state(&window).upscaling.is_none());
    let seconds = state(&window).seconds_of_queue(0.0).unwrap();
    assert!((seconds - 11.0).abs() < 1e-6, "of this computer: {seconds}");
}

/// The gallery, all of whose files were just queued to be upscaled.
fn with_all_upscaled(kept: &Kept) -> (Window, Vec<Command>) {
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.frames();
    window.click("Upscale…");
    window.wait_for("the headers", |app| {
        app.state().upscaling.as_ref().is_some_and(|upscaling| upscaling.measured.is_some())
    });
    let query = asked(&mut window);
    window.says(Scene::here().answer(query.id));
    window.take_commands();
    window.click("Upscale");
    let queued = window.take_commands();
    (window, queued)
}

#[test]
fn jobs_that_are_cancelled_in_the_gallery_are_resumed_there() {
    let kept = Kept::some();
    let (mut window, queued) = with_all_upscaled(&kept);
    assert!(window.shows("4 files are being upscaled"));
    for command in &queued {
        let Command::Generate(job) = command else { panic!("{command:?}") };
        window.says(Event::Cancelled { job: job.id });
    }
    assert!(!window.shows("being upscaled"));
    assert!(window.shows("4 jobs cancelled"));
    window.click("Resume");
    assert_eq!(window.take_commands().len(), queued.len());
    assert!(!window.shows("jobs cancelled"));
}

#[test]
fn several_files_are_one_row_of_the_queue_with_a_total() {
    let kept = Kept::some();
    let (mut window, queued) = with_all_upscaled(&kept);
    window.click("Queue 4");
    assert!(window.shows("Upscale 4 files, 0 of 4"));
    let image = queued.iter().find_map(|command| match command {
        Command::Generate(job) if job.request.frames == 1 => Some(job),
        _ => None,
    });
    let first = image.unwrap();
    window.says(Event::Started { job: first.id });
    window.says(Event::StageStarted { job: first.id, stage: Stage::new(0, StageKind::Upscale) });
    window.says(Event::Step { job: first.id, step: 3, steps: 12, seconds: 0.4, seconds_left: 3.0 });
    assert!(window.shows("Upscale 4 files, 0 of 4 · Tile 3 of 12"));
    window.says(Event::Finished { job: first.id, pictures: vec![picture(128, 80, 5)], seconds: 1.0 });
    assert!(window.shows("Upscale 4 files, 1 of 4"));
    nothing_is_unnamed(&window, "files in the queue");
    window.click("Cancel all of these files");
    assert_eq!(window.take_commands().len(), 3);
    assert!(window.shows("Upscale 4 files, Cancelling…"));
}

#[test]
fn the_title_shows_the_progress_of_all_files_that_were_queued_together() {
    let kept = Kept::some();
    let (mut window, queued) = with_all_upscaled(&kept);
    let jobs: Vec<JobId> = queued
        .iter()
        .filter_map(|command| match command {
            Command::Generate(job) => Some(job.id),
            _ => None,
        })
        .collect();
    for (place, percent) in [(0, "25%"), (1, "50%")] {
        let job = jobs[place];
        window.says(Event::Started { job });
        window.says(Event::StageStarted { job, stage: Stage::new(0, StageKind::Upscale) });
        let last = Event::Step { job, step: 12, steps: 12, seconds: 0.4, seconds_left: 0.0 };
        window.events.send(last).unwrap();
        window.harness.run_steps(1);
        let commands = &window.harness.output().viewport_output[&egui::ViewportId::ROOT].commands;
        let title = egui::ViewportCommand::Title(format!("{percent} – Sluice"));
        assert!(commands.contains(&title), "{commands:?}");
        window.says(Event::Finished { job, pictures: vec![picture(128, 80, 5)], seconds: 1.0 });
        let (next, fraction) = state(&window).jobs.at_work().unwrap();
        assert_eq!(next.id, jobs[place + 1], "the next one has not begun");
        assert!((fraction - (place + 1) as f32 / 4.0).abs() < 1e-6, "{fraction}");
    }
}

fn act(window: &mut Window, step: UpscaleStep) {
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, step.into());
    window.frames();
}

/// Answers what it takes.
fn answer(window: &mut Window, scene: &Scene) {
    let query = asked(window);
    window.says(scene.answer(query.id));
    window.take_commands();
}

/// Starts, and returns each input with the folder and the name of its result.
fn start(window: &mut Window) -> Vec<(PathBuf, PathBuf, String)> {
    window.click("Upscale");
    let job = |command: Command| {
        let Command::Generate(job) = command else { panic!("{command:?}") };
        let Some(Output::Named(NamedOutput { folder, names, .. })) = &job.output else {
            panic!("{:?}", job.output)
        };
        (job.request.upscale.as_ref().unwrap().path.clone(), folder.clone(), names.clone())
    };
    window.take_commands().into_iter().map(job).collect()
}

/// Writes what an engine would have made of an image with an upscaler.
fn enlarged(input: &Path, result: &Path, upscaler: &str) {
    let (request, _) = sluice::upscaling::request_of(input, &ModelSource::Upscaler, 2.0).unwrap();
    let made_of = request.marked_input().map(|input| InputMark::of(input).unwrap());
    let settings =
        Settings { made_of, ..Settings::of_changed(&request, upscaler, "upscaler").expect("it is changed") };
    write_png(result, &Media::Image(landscape(128, 80, 1, 1.0)), &settings).unwrap();
}

#[test]
fn files_that_are_done_are_left_out_or_upscaled_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let inputs = [("a.png", 48), ("b.png", 40), ("c.png", 32)]
        .map(|(name, height)| image(folder.path(), name, 64, height));
    let scene = Scene::here();
    let own = scene.forecast.model.as_str();
    enlarged(&inputs[0], &path("a-2x.png"), own);
    enlarged(&inputs[1], &path("b-2x.png"), "another upscaler");
    let mut window = Window::with_starter();
    act(&mut window, UpscaleStep::Ask(inputs.to_vec()));
    answer(&mut window, &scene);
    assert!(window.shows("1 file is done and left out"));
    // The largest of them is done.
    let query = asked(&mut window);
    assert_eq!(query.request.upscale.as_ref().unwrap().path, inputs[1]);
    window.says(scene.answer(query.id));
    assert!(window.shows("Takes about"));
    nothing_is_unnamed(&window, "files that are done");
    let of = |input: &PathBuf, name: &str| (input.clone(), folder.path().to_owned(), name.to_owned());
    assert_eq!(start(&mut window), [of(&inputs[1], "b-2x"), of(&inputs[2], "c-2x")]);

    enlarged(&inputs[1], &path("b-2x-2.png"), own);
    enlarged(&inputs[2], &path("c-2x.png"), own);
    act(&mut window, UpscaleStep::Ask(inputs.to_vec()));
    answer(&mut window, &scene);
    assert!(window.shows("3 files are done and left out") && !window.shows("Takes about"));
    assert_eq!(start(&mut window), []);
    window.click("3×");
    answer(&mut window, &scene);
    assert!(!window.shows("left out"), "in another scale nothing is done");
    window.click("2×");
    answer(&mut window, &scene);
    window.click("Make them again");
    assert!(window.shows("Takes about") && !window.shows("left out"));
    assert_eq!(start(&mut window).len(), 3);
}

#[test]
fn one_file_is_upscaled_as_often_as_somebody_wants() {
    let folder = tempfile::tempdir().unwrap();
    let input = image(folder.path(), "hills.png", 64, 40);
    let scene = Scene::here();
    enlarged(&input, &folder.path().join("hills-2x.png"), &scene.forecast.model);
    let mut window = Window::with_starter();
    act(&mut window, UpscaleStep::Ask(vec![input]));
    answer(&mut window, &scene);
    assert!(!window.shows("left out"));
    assert_eq!(start(&mut window).len(), 1);
}

#[test]
fn the_files_of_a_folder_are_upscaled_into_one_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let (photos, results) = (folder.path().join("photos"), folder.path().join("out"));
    std::fs::create_dir(&photos).unwrap();
    std::fs::write(photos.join("notes.txt"), "no image").unwrap();
    let inputs = ["a.png", "b.png"].map(|name| image(&photos, name, 64, 40));
    let output = results.clone();
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| setup.folder = Some(output));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    let scene = Scene::here();
    act(&mut window, UpscaleStep::AskFolder(FileChange::Enlarge, photos.clone()));
    answer(&mut window, &scene);
    assert!(window.shows("Upscale 2 files"));
    let results = results.join("photos");
    assert!(window.shows(&format!("The results are saved in {}", results.display())));
    let of = |input: &PathBuf, name: &str| (input.clone(), results.clone(), name.to_owned());
    assert_eq!(start(&mut window), [of(&inputs[0], "a-2x"), of(&inputs[1], "b-2x")]);

    std::fs::create_dir_all(&results).unwrap();
    enlarged(&inputs[0], &results.join("a-2x.png"), &scene.forecast.model);
    act(&mut window, UpscaleStep::AskFolder(FileChange::Enlarge, photos.clone()));
    answer(&mut window, &scene);
    assert!(window.shows("1 file is done and left out"));
    assert_eq!(start(&mut window), [of(&inputs[1], "b-2x")]);
    act(&mut window, UpscaleStep::AskFolder(FileChange::Interpolate, photos));
    window.wait_for_words("photos contains no clips.");
    assert_eq!(window.harness.state().state().messages.failures.len(), 1);
}

#[test]
fn a_folder_that_is_chosen_in_the_question_and_cannot_be_used_is_a_mistake_there() {
    let folder = tempfile::tempdir().unwrap();
    let input = image(folder.path(), "hills.png", 64, 40);
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let mut window = Window::with_starter();
    act(&mut window, UpscaleStep::Ask(vec![input]));
    act(&mut window, UpscaleStep::AskFolder(FileChange::Enlarge, empty));
    window.wait_for_words("empty contains no images or clips.");
    act(&mut window, UpscaleStep::AskFolder(FileChange::Enlarge, folder.path().join("gone")));
    window.wait_for_words("Choose another folder of images and clips.");
    assert!(window.harness.state().state().messages.failures.is_empty(), "nothing is behind the question");
}

#[test]
fn a_folder_is_chosen_in_the_question_or_by_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let input = image(folder.path(), "hills.png", 64, 40);
    // It is seen once the folder was read.
    std::fs::create_dir(folder.path().join("lakeside")).unwrap();
    let own = folder.path().to_owned();
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| setup.folder = Some(own));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    act(&mut window, UpscaleStep::Ask(vec![input]));
    window.click("Choose a folder…");
    window.wait_for_words("Choose a folder of images and clips");
    window.wait_for_words("lakeside");
    window.click("Use this folder");
    window.wait_for("its files", |app| {
        app.state().upscaling.as_ref().is_some_and(|asked| asked.results.is_some())
    });
    window.harness.key_press(Key::Escape);
    window.frames();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.frames();
    window.harness.get_by_label("Search commands").type_text("upscale a folder");
    window.frames();
    window.harness.key_press(Key::Enter);
    window.wait_for_words("Choose a folder of images and clips");
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
    window.seen().save(&path).unwrap();
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
    let job = Job {
        output: Some(Output::Named(NamedOutput {
            folder: folder.path().to_owned(),
            format: sluice_engine::output::StillFormat::Png,
            names: "hills-2x".to_owned(),
        })),
        ..Job::new(JobId(0), sluice::upscaling::request_of(&path, &ModelSource::Upscaler, 2.0).unwrap().0)
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
fn what_is_made_of_a_file_of_another_folder_has_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let path = image(folder.path(), "hills.png", 64, 40);
    let (request, _) = sluice::upscaling::request_of(&path, &ModelSource::Upscaler, 2.0).unwrap();
    let mut window = Window::with_starter();
    window.says(Event::Unfinished { jobs: vec![Job::new(JobId(0), request)] });
    window.click("Resume");
    let job = window.take_job().id;
    window.says(Event::Started { job });
    let result = image(folder.path(), "hills-2x.png", 128, 80);
    let pictures = vec![Picture { path: Some(result.clone()), ..picture(128, 80, 5) }];
    window.says(Event::Finished { job, pictures, seconds: 1.0 });
    window.wait_for("the settings", |app| {
        let recents = &app.state().images.recents;
        let recent = recents.of_file(&result).and_then(|id| recents.get(id));
        recent.and_then(|recent| recent.request.as_ref()).is_some_and(|request| request.seed == 5)
    });
    window.frames();
    assert!(window.shows("Use these settings"));
}

/// Nobody chose the seed, the steps and the guidance of the request that enlarged it.
#[test]
fn an_enlarged_photo_says_how_it_was_enlarged_and_no_settings() {
    let kept = Kept::new();
    let photo = kept.folder.path().join("photo.png");
    image::save_buffer(&photo, &landscape(64, 40, 5, 1.0).pixels, 64, 40, image::ColorType::Rgb8).unwrap();
    let result = kept.folder.path().join("photo-2x.png");
    enlarged(&photo, &result, "4x-sharp");
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.click("photo-2x.png");
    window.wait_for_words("4x-sharp");
    let details = window.harness.state().gallery().shelf.details_of(&result).unwrap();
    let names: Vec<&str> = details.pairs.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["Size", "Postprocess upscale by", "Postprocess upscaler", "Version"]);
    assert!(!window.shows("Use these settings") && !window.shows("Copy prompt"));
    window.harness.key_press(Key::Enter);
    window.wait_for("the image", |app| {
        let recent = app.state().images.shown_recent();
        recent.is_some_and(|recent| recent.path.as_ref() == Some(&result) && recent.pixels.is_some())
    });
    window.frames();
    let caption = "128 × 80 · upscaled × 2 with 4x-sharp";
    assert!(window.harness.query_by_label(caption).is_some(), "and nothing else");
    for words in ["Use these settings", "Variations ×4", "Similar ×4"] {
        assert!(!window.shows(words), "{words}");
    }
    nothing_is_unnamed(&window, "a photo that was enlarged");
    window.drop_file(result);
    window.wait_for("the input image", |app| app.state().draft().request.source.is_some());
    assert!(state(&window).input.dropped.is_none(), "there are no settings to use");
}

#[test]
fn a_caption_shortens_the_name_of_an_upscaler_before_it_leaves_it_out() {
    let kept = Kept::new();
    let photo = kept.folder.path().join("photo.png");
    image::save_buffer(&photo, &landscape(64, 40, 5, 1.0).pixels, 64, 40, image::ColorType::Rgb8).unwrap();
    let upscaler = format!("4x-{}", "sharp".repeat(50));
    enlarged(&photo, &kept.folder.path().join("photo-2x.png"), &upscaler);
    let mut window = kept.open_sized([1920.0, 1080.0], Theme::Dark);
    window.click("photo-2x.png");
    window.harness.key_press(Key::Enter);
    window.wait_for("the image", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.pixels.is_some())
    });
    window.frames();
    let (caption, is_cut) = window.painted("128 × 80");
    let is_shorter = caption.starts_with("128 × 80 · upscaled × 2 with 4x-sharp") && caption.ends_with('…');
    assert!(!is_cut && is_shorter, "{caption}");
    assert!(window.shows(&upscaler), "all of it is said");
}

/// Its steps are the tiles of all frames.
#[test]
fn a_clip_counts_frames_and_not_tiles() {
    let path = PathBuf::from("/clips/boat.mp4");
    let upscale = Some(Upscale { path: path.clone(), scale: 2.0 });
    let larger = Request { upscale, frames: 49, model: ModelSource::Upscaler, ..Request::default() };
    let interpolate = Some(Interpolate { path, how: Interpolation::times(2) });
    let smoother = Request { interpolate, frames: 98, ..Request::default() };
    for (request, stage, [step, steps], words) in [
        (larger.clone(), StageKind::Upscale, [28, 49], "Frame 28 of 49"),
        (larger, StageKind::Upscale, [9, 196], "Frame 3 of 49"),
        (smoother, StageKind::Interpolate, [48, 48], "Frame 48 of 48"),
    ] {
        let mut window = Window::with_starter();
        window.says(Event::Unfinished { jobs: vec![Job::new(JobId(0), request)] });
        window.click("Resume");
        let job = window.take_job().id;
        window.says(Event::Started { job });
        window.says(Event::StageStarted { job, stage: Stage::new(0, stage) });
        window.says(Event::Step { job, step, steps, seconds: 0.4, seconds_left: 3.0 });
        assert!(window.shows(words), "{words}");
        assert!(!window.shows("Tile "));
    }
}

#[test]
fn an_upscaler_from_a_file_is_kept_once_the_engine_can_use_it() {
    let mut state = State::default();
    state.ask_upscale(vec!["a.png".into()]);
    state.take_measured(vec![("a.png".into(), Ok(GivenMedia { size: [64, 32], clip: None }))]);
    state.try_file(FileChange::Enlarge, "4x-sharp.safetensors".into());
    let Ask::Now(query) = state.ask_about_upscaling(0.0) else { panic!("nothing is asked") };
    assert_eq!(state.settings.upscale.model, ModelSource::Upscaler, "it is not known yet");
    state.apply(Scene::here().answer(query.id), 0.0);
    assert_eq!(state.settings.upscale.model, ModelSource::Path("4x-sharp.safetensors".into()));
}

#[test]
fn an_upscaler_that_is_opened_as_a_model_enlarges_from_then_on() {
    let mut summary = starter();
    let source = ModelSource::Path("/models/4x-sharp.safetensors".into());
    summary.source = source.clone();
    summary.components.truncate(1);
    summary.components[0].role = sluice_engine::checkpoint::Role::Upscaler;
    let mut state = State::default();
    state.apply(Event::ModelLoaded(Box::new(starter())), 0.0);
    state.choose_model(source.clone(), true);
    state.apply(Event::ModelLoaded(Box::new(summary)), 0.0);
    assert_eq!(state.settings.upscale.model, source);
    assert_eq!(*state.chosen_model(), ModelSource::Starter);
    assert!(state.summary().is_some());
    let notice = state.messages.notice.as_ref().map(|notice| notice.text.as_str());
    assert_eq!(notice, Some("4x-sharp.safetensors is an upscaler: Upscale… uses it from now on"));
}
