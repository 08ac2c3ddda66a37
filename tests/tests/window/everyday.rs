//! What must not get lost or surprise: failed opens, Escape, settings out of sight, many jobs and many files.

use std::path::PathBuf;

use crossbeam_channel::{bounded, unbounded};
use egui::{Key, Modifiers, accesskit::Role};
use egui_kittest::kittest::Queryable;
use sluice::window::{
    action::Action,
    app::Lock,
    files::{Dialog, FolderKind},
    link::ChannelLink,
    settings::Settings as WindowSettings,
    state::{ModelStatus, State},
};
use sluice_engine::{
    output::{Media, Settings, write_png},
    request::{AdapterUse, ModelSource, Redux, Refiner, Request, SourceImage, SourceMask},
    session::{Command, Defaults, Event, Job, JobId, ModelSummary, Stage, StageKind},
};

use super::behaviour::nothing_is_unnamed;
use super::grids::vary;
use super::support::{Window, failure, half_way, landscape, picture, starter};

const JOB: JobId = JobId(1);

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

fn edit(window: &mut Window, change: impl FnOnce(&mut Request)) {
    let mut saved = state(window).settings.clone();
    change(&mut saved.draft.request);
    *window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.settings = Some(saved));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
}

fn finish(window: &mut Window, job: u64) {
    window.click("Generate");
    window.take_commands();
    window.says(Event::Started { job: JobId(job) });
    window.says(Event::Finished { job: JobId(job), pictures: vec![picture(64, 64, job)], seconds: 1.0 });
}

#[test]
fn a_model_that_cannot_be_opened_changes_nothing() {
    let mut window = Window::with_starter();
    window.take_commands();
    let path = std::env::temp_dir().join("no such model.gguf");
    window.drop_file(path.clone());
    let model = ModelSource::Path(path);
    window.wait_for("the model", |app| app.state().chosen_model() == &model);
    assert_eq!(window.take_commands(), [Command::Load { model: model.clone() }]);
    window.says(Event::NotLoaded { model, failure: failure() });
    assert!(window.shows("This model could not be opened"));
    assert!(matches!(state(&window).model.status, ModelStatus::Ready(_)));
    assert_eq!(state(&window).chosen_model(), &ModelSource::Starter);
    assert!(state(&window).settings.recent_models.is_empty());
    window.click("Dismiss");
    window.click("Generate");
    assert_eq!(window.take_job().request.model, ModelSource::Starter);
}

#[test]
fn the_failure_to_open_a_model_goes_once_another_is_open_or_something_runs() {
    const CARD: &str = "This model could not be opened";
    let mut window = Window::with_starter();
    let fail = |window: &mut Window| {
        let path = std::env::temp_dir().join("no such model.gguf");
        window.drop_file(path.clone());
        window.wait_for("the model", |app| app.state().chosen_model() != &ModelSource::Starter);
        window.says(Event::NotLoaded { model: ModelSource::Path(path), failure: failure() });
        assert!(window.shows(CARD));
    };
    fail(&mut window);
    window.says(Event::ModelLoaded(Box::new(starter())));
    assert!(!window.shows(CARD), "a model is open");
    fail(&mut window);
    window.click("Generate");
    window.says(Event::Started { job: JobId(1) });
    assert!(!window.shows(CARD), "a job runs");
    window.says(Event::Failed { job: Some(JobId(1)), failure: failure() });
    window.says(Event::ModelLoaded(Box::new(starter())));
    assert!(window.shows("Generation failed"), "other failures stay");
}

#[test]
fn settings_of_a_model_that_cannot_be_opened_are_not_kept_by_half() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boat.png");
    let model = ModelSource::Path(folder.path().to_owned());
    let request = Request { model: model.clone(), steps: 30, ..Request::default() };
    write_png(&path, &Media::Image(landscape(64, 64, 9, 1.0)), &Settings::new(&request, "Other", "sdxl", 0))
        .unwrap();
    let mut window = Window::with_starter();
    window.drop_file(path);
    window.wait_for("the question", |app| app.state().input.dropped.is_some());
    window.frames();
    window.click("Use settings");
    assert_eq!(state(&window).draft().request.steps, 30);
    window.says(Event::NotLoaded { model, failure: failure() });
    let request = &state(&window).draft().request;
    assert_eq!((request.steps, &request.model), (12, &ModelSource::Starter));
}

#[test]
fn models_are_remembered_once_they_are_open_and_can_be_removed() {
    let mut window = Window::with_starter();
    let path = PathBuf::from("/models/wan.gguf");
    let model = ModelSource::Path(path.clone());
    window.drop_file(path.clone());
    window.wait_for("the model", |app| app.state().chosen_model() == &model);
    window.says(Event::ModelLoaded(Box::new(ModelSummary { source: model, ..starter() })));
    assert_eq!(state(&window).settings.recent_models, [path]);
    window.click("Model");
    window.click("Remove wan.gguf from the list");
    assert!(state(&window).settings.recent_models.is_empty());
}

#[test]
fn escape_leaves_a_field_before_it_cancels_and_a_cancelled_run_can_be_resumed() {
    let mut window = Window::with_starter();
    window.click("Generate");
    let job = window.take_job();
    half_way(&mut window, JOB);
    window.fill("Prompt", "a fox");
    window.harness.key_press(Key::Escape);
    window.frames();
    assert_eq!(window.take_commands(), [], "it leaves the field");
    window.harness.key_press(Key::Escape);
    window.frames();
    assert_eq!(window.take_commands(), [Command::Cancel { job: JOB }]);
    window.says(Event::Cancelled { job: JOB });
    window.click("Resume");
    assert_eq!(window.take_job(), Job { id: JobId(2), ..job });
}

#[test]
fn a_cancelled_run_can_be_resumed_after_something_else_was_said() {
    let mut window = Window::with_starter();
    window.fill("Prompt", "a harbour");
    window.click("Generate");
    let job = window.take_job();
    window.click("Generate");
    window.take_job();
    half_way(&mut window, JOB);
    window.says(Event::Cancelled { job: JOB });
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, Action::CopyText("a fox".to_owned()));
    window.frames();
    assert!(window.shows("Copied to the clipboard") && !window.shows("Cancelled"));
    window.click("Queue 1");
    window.see("Resume cancelled");
    window.harness.get_by_label("Resume cancelled").hover();
    window.harness.run_steps(6);
    assert!(window.shows("Continue “a harbour” where it was cancelled."));
    window.click("Resume cancelled");
    assert_eq!(window.take_job(), Job { id: JobId(3), ..job });
    assert!(!window.shows("Resume cancelled"), "once");
}

#[test]
fn all_jobs_that_were_cancelled_come_back() {
    let mut window = Window::with_starter();
    for _ in 0..3 {
        window.click("Generate");
    }
    window.take_commands();
    for job in (1..=3).rev() {
        window.says(Event::Cancelled { job: JobId(job) });
    }
    assert!(window.shows("3 jobs cancelled"));
    window.click("Resume");
    assert_eq!((window.take_commands().len(), state(&window).jobs.queue.len()), (3, 3));
}

#[test]
fn what_is_in_force_is_shown_above_generate_and_can_be_removed() {
    let mut window = Window::with_starter();
    edit(&mut window, |request| {
        request.source = Some(SourceImage { path: "/photos/harbour.png".into(), ..SourceImage::default() });
        request.adapters = vec![AdapterUse { path: "/loras/ink wash.safetensors".into(), weight: 0.7 }];
    });
    window.click("Lock seed");
    let generate = window.harness.get_by_label("Generate").rect();
    for chip in ["harbour.png · 60%", "ink wash · 0.7"] {
        let rect = window.harness.get_by_label(chip).rect();
        assert!(rect.bottom() <= generate.top() && rect.top() > generate.top() - 90.0, "{chip} at {rect:?}");
    }
    window.click("Do not use the input image");
    window.click("Do not use the LoRA ink wash");
    window.click("Do not use the same seed again");
    let draft = state(&window).draft();
    assert!(draft.request.source.is_none() && draft.request.adapters.is_empty() && !draft.seed_locked);
    assert!(!window.shows("ink wash · 0.7"));
}

#[test]
fn a_refiner_redux_and_a_mask_are_in_force_until_they_are_removed() {
    let mut settings = WindowSettings::default();
    let request = &mut settings.draft.request;
    let mask = Some(SourceMask { path: "/photos/sky.png".into(), ..SourceMask::default() });
    let harbour = SourceImage { path: "/photos/harbour.png".into(), mask, ..SourceImage::default() };
    request.source = Some(harbour);
    request.refiner = Some(Refiner { path: "/models/fine.safetensors".into(), switch: 0.8 });
    request.redux = Some(Redux { path: "/models/look.safetensors".into(), strengths: Vec::new() });
    let mut window =
        Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.settings = Some(settings));
    let summary = ModelSummary { takes_refiner: true, takes_redux: true, ..starter() };
    window.says(Event::ModelLoaded(Box::new(summary)));
    for (chip, remove) in [
        ("Mask", "Do not use the mask"),
        ("Redux: look", "Do not use Redux"),
        ("Refiner: fine", "Do not use the refiner"),
    ] {
        assert!(window.shows(chip), "{chip}");
        window.click(remove);
    }
    let request = &state(&window).draft().request;
    assert!(request.redux.is_none() && request.refiner.is_none());
    assert!(request.source.as_ref().is_some_and(|source| source.mask.is_none()), "the image stays");
}

#[test]
fn a_size_far_from_the_trained_one_is_said_and_mended() {
    let mut window = Window::with_starter();
    assert!(!window.shows("The model was trained for"));
    edit(&mut window, |request| (request.width, request.height) = (512, 256));
    assert!(window.shows("trained for about 128 × 128. Larger images repeat"));
    window.click("Use 176 × 96");
    let request = &state(&window).draft().request;
    assert_eq!((request.width, request.height), (176, 96));
    assert!(!window.shows("The model was trained for"));

    edit(&mut window, |request| (request.width, request.height) = (256, 64));
    assert!(window.shows("made for images between 9:16 and 16:9"));
    window.click("Use 176 × 96");
    assert!(!window.shows("made for images"));
}

#[test]
fn what_is_far_from_the_trained_size_depends_on_the_model() {
    let sides = |range| {
        let defaults = Defaults { width: 512, height: 512, range, ..starter().defaults };
        let model = ModelSummary { defaults, ..starter() };
        let mut window = Window::with_starter();
        [320, 512, 640, 768].map(|side| {
            edit(&mut window, |request| (request.width, request.height) = (side, side));
            window.says(Event::ModelLoaded(Box::new(model.clone())));
            window.shows("The model was trained for")
        })
    };
    assert_eq!(sides([0.25, 2.3]), [false; 4]);
    assert_eq!(sides([0.5, 1.7]), [true, false, false, true]);
}

#[test]
fn errors_do_not_pile_up_and_escape_closes_them() {
    let mut window = Window::with_starter();
    for _ in 0..3 {
        window.says(Event::Failed { job: None, failure: failure() });
    }
    assert_eq!(state(&window).messages.failures.len(), 1, "the same one is said once");
    let other = sluice_engine::session::Failure { message: "another".to_owned(), advice: None };
    window.says(Event::Failed { job: None, failure: other });
    window.harness.key_press(Key::Escape);
    window.frames();
    assert_eq!(state(&window).messages.failures.len(), 1);
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(state(&window).messages.failures.is_empty());
}

#[test]
fn the_wheel_moves_the_list_and_a_new_image_is_in_sight() {
    let mut window = Window::with_starter();
    for job in 1..=20 {
        finish(&mut window, job);
    }
    let tile = |window: &Window, name: &str| window.harness.get_by_role_and_label(Role::Button, name).rect();
    let first = tile(&window, "Image with seed 20");
    window.harness.hover_at(first.center());
    window.harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, -400.0),
        modifiers: Modifiers::NONE,
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
    });
    window.harness.run_steps(8);
    let moved = tile(&window, "Image with seed 20").left() - first.left();
    assert!(moved < -200.0, "{moved}");
    finish(&mut window, 21);
    window.harness.run_steps(12);
    let newest = tile(&window, "Image with seed 21");
    assert!((newest.left() - first.left()).abs() < 4.0, "{newest:?} is where {first:?} was");
}

#[test]
fn the_title_says_what_runs_and_keys_open_the_sheet_and_change_weights() {
    let mut window = Window::with_starter();
    window.fill("Prompt", "a red fox");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::ArrowUp);
    window.frames();
    assert_eq!(state(&window).draft().request.prompt, "a red (fox:1.1)");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::ArrowDown);
    window.frames();
    assert_eq!(state(&window).draft().request.prompt, "a red fox");
    window.click("Generate");
    window.says(Event::Started { job: JOB });
    window.events.send(Event::StageStarted { job: JOB, stage: Stage::new(1, StageKind::Denoise) }).unwrap();
    window
        .events
        .send(Event::Step { job: JOB, step: 6, steps: 12, seconds: 1.0, seconds_left: 6.0 })
        .unwrap();
    window.harness.run_steps(1);
    let commands = &window.harness.output().viewport_output[&egui::ViewportId::ROOT].commands;
    let title = egui::ViewportCommand::Title("50% · a red fox – Sluice".to_owned());
    assert!(commands.contains(&title), "{commands:?}");

    window.harness.key_press(Key::F1);
    window.frames();
    assert!(window.shows("Take back an edit"));
    window.harness.key_press(Key::Escape);
    window.frames();
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(!window.shows("Take back an edit"));
}

#[test]
fn rows_of_the_open_queue_stay_where_they_are_under_the_pointer() {
    let mut window = Window::with_starter();
    for _ in 0..3 {
        window.click("Generate");
    }
    window.says(Event::Started { job: JOB });
    window.click("Queue 3");
    let place = |window: &Window| window.harness.get_by_role_and_label(Role::Button, "Cancel job 2").rect();
    window.harness.get_by_role_and_label(Role::Button, "Cancel job 2").hover();
    window.harness.step();
    let before = place(&window);
    window.says(Event::Finished { job: JOB, pictures: vec![picture(64, 64, 1)], seconds: 1.0 });
    assert_eq!(place(&window), before, "the pointer aims at it");
    assert!(window.shows("Ended"));
    window.harness.get_by_role_and_label(Role::Button, "Cancel job 2").click();
    window.frames();
    assert_eq!(window.take_commands().last(), Some(&Command::Cancel { job: JobId(2) }));
}

#[test]
fn in_a_narrow_window_what_can_be_done_with_an_image_is_a_menu() {
    let mut window = Window::open([900.0, 600.0], egui::Theme::Dark, |_| ());
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.click("Plan");
    finish(&mut window, 1);
    assert!(!window.shows("Use these settings"));
    window.click("Actions");
    window.click("Use these settings");
    assert!(window.shows("Settings of Image with seed 1"));
    let mut window = Window::with_starter();
    finish(&mut window, 1);
    assert!(window.shows("Use these settings") && !window.shows("Actions"));
}

#[test]
fn more_jobs_than_the_engine_reads_at_once_wait_in_the_window() {
    let (to_engine, commands) = bounded(16);
    let (_events, from_engine) = unbounded();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.link = Box::new(ChannelLink { commands: to_engine, events: from_engine });
    });
    assert_eq!(commands.try_iter().count(), 1, "the model");
    let jobs = (0..300).map(|id| Job::new(JobId(id), Request::default())).collect();
    _events.send(Event::Unfinished { jobs }).unwrap();
    window.frames();
    window.click("Resume");
    let mut sent = 0;
    for _ in 0..40 {
        sent += commands.try_iter().filter(|command| matches!(command, Command::Generate(_))).count();
        window.frames();
    }
    assert_eq!(sent, 300);
    assert!(!state(&window).engine.ended);
}

#[test]
fn a_grid_may_have_more_cells_than_the_engine_reads_at_once() {
    let (to_engine, commands) = bounded(16);
    let (events, from_engine) = unbounded();
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.folder = Some(folder.path().to_owned());
        setup.link = Box::new(ChannelLink { commands: to_engine, events: from_engine });
    });
    events.send(Event::ModelLoaded(Box::new(starter()))).unwrap();
    window.frames();
    window.click("Grid…");
    vary(&mut window, "Columns", "Seed", "1-300");
    window.click("Generate grid");
    let mut seeds = Vec::new();
    for _ in 0..40 {
        seeds.extend(commands.try_iter().filter_map(|command| match command {
            Command::Generate(job) => Some(job.request.seed),
            _ => None,
        }));
        window.frames();
    }
    seeds.sort_unstable();
    assert_eq!(seeds, (1..=300).collect::<Vec<_>>());
    assert!(window.shows("Queue 300") && !state(&window).engine.ended);
}

#[test]
fn of_several_dropped_images_the_first_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.png", "b.png", "c.png"].map(|name| {
        let path = folder.path().join(name);
        let image = landscape(32, 32, 1, 1.0);
        image::save_buffer(&path, &image.pixels, 32, 32, image::ColorType::Rgb8).unwrap();
        path
    });
    let mut window = Window::with_starter();
    window.drop_files(&paths);
    window.wait_for("the image", |app| app.state().draft().request.source.is_some());
    window.frames();
    let used = state(&window).draft().request.source.as_ref().unwrap().path.clone();
    assert_eq!(used, paths[0]);
    assert!(window.shows("2 images not used: drop one at a time."));
}

#[test]
fn without_a_dialog_of_the_system_the_window_has_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("photos");
    std::fs::create_dir(&inside).unwrap();
    let path = inside.join("boat.png");
    let image = landscape(32, 32, 1, 1.0);
    image::save_buffer(&path, &image.pixels, 32, 32, image::ColorType::Rgb8).unwrap();
    let model = folder.path().join("model.gguf");
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.settings =
            Some(sluice::window::settings::Settings { recent_models: vec![model], ..Default::default() });
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.click("Choose…");
    let wait = |window: &mut Window, name: &str| {
        let found = std::time::Instant::now();
        while !window.shows(name) {
            assert!(found.elapsed().as_secs() < 20, "{name} is not listed");
            std::thread::sleep(std::time::Duration::from_millis(10));
            window.frames();
        }
    };
    wait(&mut window, "photos");
    nothing_is_unnamed(&window, "the file dialog");
    window.click("photos");
    wait(&mut window, "boat.png");
    window.click("boat.png");
    window.wait_for("the image", |app| app.state().draft().request.source.is_some());
    window.frames();
    assert!(!window.shows("Choose an input image"));
    window.click("Model");
    window.click("Open a model folder…");
    wait(&mut window, "photos");
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(!window.shows("Use this folder"));
}

#[test]
fn a_typed_path_leads_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("disk").join("models");
    std::fs::create_dir_all(inside.join("flux")).unwrap();
    let mut window = Window::with_starter();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    window.click("Folders");
    window.click("Add a folder…");
    window.wait_for_words("Use this folder");
    window.frames();
    assert!(!window.shows("Look again"), "the menu is closed");
    let go = |window: &mut Window, path: &str| {
        window.replace("Folder path", path);
        window.harness.key_press(Key::Enter);
        window.frames();
    };
    go(&mut window, inside.to_str().unwrap());
    window.wait_for_words("flux");
    go(&mut window, folder.path().join("gone").to_str().unwrap());
    window.wait_for_words("This folder cannot be listed: ");
    go(&mut window, inside.to_str().unwrap());
    window.wait_for_words("flux");
    window.click("Use this folder");
    assert!(state(&window).settings.library.folders.contains(&inside));
}

#[test]
fn a_typed_path_of_a_file_chooses_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boat.png");
    let image = landscape(32, 32, 1, 1.0);
    image::save_buffer(&path, &image.pixels, 32, 32, image::ColorType::Rgb8).unwrap();
    let mut window = Window::with_starter();
    let context = window.harness.ctx.clone();
    let open = |window: &mut Window, dialog, typed: &str| {
        window.harness.state_mut().act(&context, Action::OpenDialog(dialog));
        window.wait_for_words("Folder path");
        window.replace("Folder path", typed);
        window.harness.key_press(Key::Enter);
        window.frames();
    };
    open(&mut window, Dialog::InputImage, path.to_str().unwrap());
    window.wait_for("the image", |app| app.state().draft().request.source.is_some());
    window.frames();
    assert!(!window.shows("Choose an input image"));

    let model = folder.path().join("models/flux");
    std::fs::create_dir_all(&model).unwrap();
    open(&mut window, Dialog::ModelFolder, model.to_str().unwrap());
    window.wait_for_words("No folders in here.");
    window.click("Use this folder");
    let kept = state(&window).settings.dialog_folders.get(&FolderKind::Models).cloned();
    assert_eq!(kept, Some(folder.path().join("models")), "its neighbours are models, too");
}

#[test]
fn a_second_window_says_that_it_saves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let first = Lock::of(Some(folder.path()));
    assert!(matches!(first, Lock::First(Some(_))));
    let second = Lock::of(Some(folder.path()));
    assert!(matches!(second, Lock::Taken));
    let window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.lock = second);
    assert!(window.shows("Sluice is already open"));
    drop(first);
    assert!(matches!(Lock::of(Some(folder.path())), Lock::First(Some(_))));
}
