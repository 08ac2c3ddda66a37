//! The commands that the window sends, and the texts it shows.

use egui::{Key, Modifiers, accesskit::Role};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::window::{
    action::Action,
    settings::Settings as WindowSettings,
    state::{Draft, ModelStatus, Shown},
};
use sluice_engine::{
    output::{Media, Output, Settings, write_png},
    request::{ModelSource, Request, Sampler},
    session::{Command, Event, Failure, Job, JobId, Serving},
};

use super::runs::{Scene, telemetry};
use super::support::{Window, failure, half_way, landscape, machine, picture, starter};

const JOB: JobId = JobId(1);

#[test]
fn ctrl_enter_queues_exactly_one_job_with_what_the_panel_shows() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.folder = Some("/nowhere/Sluice".into());
    });
    window.take_commands();
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.fill("Prompt", "a red boat");
    window.fill("Negative prompt", "fog");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    window.frames();
    let job = window.take_job();
    let expected = Request {
        prompt: "a red boat".to_owned(),
        negative_prompt: "fog".to_owned(),
        seed: 1234,
        ..Request::default()
    };
    assert_eq!(job.request, expected);
    assert_eq!(job.id, JOB);
    assert_eq!(job.output, Some(Output::Folder("/nowhere/Sluice".into())));
    assert!(job.previews);
    assert_eq!(window.harness.state().state().draft().request.prompt, "a red boat", "no line was broken");
}

#[test]
fn ctrl_enter_held_down_queues_one_job() {
    let mut window = Window::with_starter();
    for _ in 0..4 {
        window.harness.key_down_modifiers(Modifiers::COMMAND, Key::Enter);
        window.frames();
    }
    window.take_job();
    window.harness.key_up_modifiers(Modifiers::COMMAND, Key::Enter);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    window.frames();
    window.take_job();
}

#[test]
fn no_button_takes_the_place_of_another_one_when_a_job_starts() {
    let mut window = Window::with_starter();
    let places = |window: &Window| {
        ["Generate", "Grid…", "Cancel the running image"].map(|name| window.harness.get_by_label(name).rect())
    };
    let before = places(&window);
    window.click("Cancel the running image");
    assert_eq!(window.take_commands(), [], "nothing runs");
    window.click("Generate");
    window.take_job();
    half_way(&mut window, JOB);
    assert_eq!(places(&window), before);
    window.click("Cancel the running image");
    assert_eq!(window.take_commands(), [Command::Cancel { job: JOB }]);
}

#[test]
fn while_the_queue_is_paused_and_nothing_runs_there_is_nothing_to_cancel() {
    let mut window = Window::with_starter();
    window.click("Generate");
    window.take_job();
    let can = |window: &Window| {
        !window.harness.get_by_label("Cancel the running image").accesskit_node().is_disabled()
    };
    assert!(can(&window), "it is about to start");
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, Action::PauseQueue(true));
    window.frames();
    assert!(!can(&window));
}

#[test]
fn where_nothing_runs_the_button_to_cancel_says_so() {
    let mut window = Window::with_starter();
    window.harness.get_by_label("Cancel the running image").hover();
    window.harness.run_steps(30);
    assert!(window.shows("Nothing is running."));
}

#[test]
fn escape_cancels_what_runs_and_asks_once() {
    let mut window = Window::with_starter();
    window.click("Generate");
    window.take_job();
    half_way(&mut window, JOB);
    window.harness.key_press(Key::Escape);
    window.frames();
    window.harness.key_press(Key::Escape);
    window.frames();
    assert_eq!(window.take_commands(), [Command::Cancel { job: JOB }]);
    assert!(window.shows("Cancelling…"));
    window.says(Event::Cancelled { job: JOB });
    assert!(window.shows("Step 5 of 12 was done."));
    assert!(window.harness.state().state().jobs.is_empty());
    window.harness.key_press(Key::Escape);
    window.frames();
    assert_eq!(window.take_commands(), []);
}

#[test]
fn escape_closes_a_popup_before_it_cancels() {
    let mut window = Window::with_starter();
    window.click("Generate");
    window.take_job();
    half_way(&mut window, JOB);
    window.click("Settings");
    assert!(window.shows("App rendering GPU"));
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(!window.shows("App rendering GPU"));
    assert_eq!(window.take_commands(), []);
}

#[test]
fn progress_is_said_in_words() {
    let mut window = Window::with_starter();
    window.click("Generate");
    assert!(window.shows("Waiting for the engine"));
    half_way(&mut window, JOB);
    assert!(window.shows("Step 5 of 12 · 3.2 s per step · 22 s left"));
    assert_eq!(window.harness.state().state().images.shown, Shown::Live);
    window.says(Event::Finished { job: JOB, pictures: vec![picture(128, 128, 1234)], seconds: 4.0 });
    assert!(window.shows("128 × 128 · seed 1234 · 12 steps · guidance 2 · 4.0 s"));
    assert!(window.shows("Ready"));
}

#[test]
fn a_failure_says_what_happened_and_what_to_do_and_keeps_the_settings() {
    let mut window = Window::with_starter();
    window.fill("Prompt", "a red boat");
    window.click("Generate");
    window.take_job();
    half_way(&mut window, JOB);
    let Failure { message, advice } = failure();
    window.says(Event::Failed { job: Some(JOB), failure: failure() });
    assert!(window.shows(&message));
    assert!(window.shows(&advice.unwrap()));
    assert_eq!(window.harness.state().state().draft().request.prompt, "a red boat");
    window.click("Dismiss");
    assert!(!window.shows(&message));
    window.click("Generate");
    assert_eq!(window.take_job().id, JobId(2));
}

#[test]
fn a_first_model_that_cannot_be_opened_is_said_where_the_image_would_be() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |_| ());
    window.take_commands();
    window.says(Event::NotLoaded { model: ModelSource::Starter, failure: failure() });
    assert_eq!(window.harness.state().state().model.status, ModelStatus::Failed);
    assert!(window.shows("This model could not be opened"));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    window.frames();
    assert_eq!(window.take_commands(), [], "nothing can be generated without a model");
}

#[test]
fn a_dropped_image_restores_its_settings_and_they_can_be_undone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boat.png");
    let request = Request {
        prompt: "a boat, quite red".to_owned(),
        negative_prompt: "fog".to_owned(),
        width: 160,
        height: 96,
        steps: 7,
        guidance: 3.5,
        seed: 99,
        sampler: Sampler::Heun,
        ..Request::default()
    };
    let settings = Settings::new(&request, "Starter", "z_image", 0);
    write_png(&path, &Media::Image(landscape(160, 96, 9, 1.0)), &settings).unwrap();

    let mut window = Window::with_starter();
    window.fill("Prompt", "something else");
    window.drop_file(path);
    window.wait_for("the question", |app| app.state().input.dropped.is_some());
    window.frames();
    assert!(window.shows("boat.png contains settings"));
    window.click("Use settings");
    window.wait_for("the settings", |app| app.state().draft().request.seed == 99);
    assert_eq!(window.harness.state().state().draft(), &Draft::from_request(&request));
    assert!(window.shows("Settings of boat.png"));
    window.click("Generate");
    assert_eq!(window.take_job().request, request, "the seed of the image is kept");

    window.click("Use these settings");
    window.click("Undo");
    assert_eq!(window.harness.state().state().draft().request.prompt, "a boat, quite red");
}

#[test]
fn a_file_without_settings_is_said_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("note.png");
    std::fs::write(&path, "no image").unwrap();
    let mut window = Window::with_starter();
    let before = window.harness.state().state().draft().clone();
    window.drop_file(path);
    window.wait_for("the failure", |app| !app.state().messages.failures.is_empty());
    window.frames();
    assert!(window.shows("This file cannot be used"));
    assert_eq!(window.harness.state().state().draft(), &before);
}

#[test]
fn the_folders_images_are_listed_and_read_when_they_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let request = Request { prompt: "found".to_owned(), seed: 5, ..Request::default() };
    let settings = Settings::new(&request, "Starter", "z_image", 0);
    write_png(&folder.path().join("found.png"), &Media::Image(landscape(128, 128, 5, 1.0)), &settings)
        .unwrap();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.folder = Some(folder.path().to_owned());
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.wait_for("its pixels", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.pixels.is_some())
    });
    window.frames();
    window.click("Use these settings");
    assert_eq!(window.harness.state().state().draft().request.prompt, "found");
}

#[test]
fn the_last_generated_image_is_shown_at_the_start_until_there_is_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, minutes: u64, prompt: Option<&str>| {
        let path = folder.path().join(name);
        let image = landscape(64, 64, minutes, 1.0);
        match prompt {
            Some(prompt) => {
                let request = Request { prompt: prompt.to_owned(), ..Request::default() };
                let settings = Settings::new(&request, "Starter", "z_image", 0);
                write_png(&path, &Media::Image(image), &settings).unwrap();
            }
            None => image::RgbImage::from_raw(64, 64, image.pixels).unwrap().save(&path).unwrap(),
        }
        let age = std::time::Duration::from_secs(60 * minutes);
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(std::time::SystemTime::now() - age).unwrap();
    };
    write("oldest.png", 4, Some("a lake"));
    write("generated.png", 3, Some("a boat"));
    write("photo.png", 2, None);
    std::fs::write(folder.path().join("broken.png"), b"\x89PNG\r\n\x1a\n and no more").unwrap();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.folder = Some(folder.path().to_owned());
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.wait_for("all images", |app| app.state().images.recents.iter().count() == 3);
    window.wait_for("its pixels", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.pixels.is_some())
    });
    let images = &window.harness.state().state().images;
    assert_eq!(images.shown_recent().unwrap().name(), "generated.png");
    assert!(window.harness.state().state().messages.failures.is_empty());

    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    window.frames();
    window.says(Event::Started { job: JOB });
    assert_eq!(window.harness.state().state().images.shown, Shown::Live);
    window.says(Event::Finished { job: JOB, pictures: vec![picture(64, 64, 9)], seconds: 1.0 });
    let images = &window.harness.state().state().images;
    assert_eq!(images.shown_recent().unwrap().id, images.recents.newest().unwrap());
    assert!(images.shown_recent().unwrap().path.is_none(), "the new one");
}

#[test]
fn a_missing_model_is_seen_before_an_image_of_the_last_session() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::new(&Request::default(), "Starter", "z_image", 0);
    let image = Media::Image(landscape(64, 64, 5, 1.0));
    write_png(&folder.path().join("found.png"), &image, &settings).unwrap();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.folder = Some(folder.path().to_owned());
    });
    window.wait_for("the image", |app| app.state().images.shown_recent().is_some());
    window.says(Event::NotLoaded { model: ModelSource::Starter, failure: failure() });
    assert_eq!(window.harness.state().state().images.shown, Shown::Nothing);
}

#[test]
fn sizes_snap_to_what_the_model_can_draw() {
    let mut window = Window::with_starter();
    window.harness.get_by_label("Width").set_value_accesskit(100.0);
    window.frames();
    assert_eq!(window.harness.state().state().draft().request.width, 96);
    window.click("Aspect 16:9");
    let draft = &window.harness.state().state().draft().request;
    assert_eq!((draft.width, draft.height), (176, 96));
    window.click("Swap width and height");
    let draft = &window.harness.state().state().draft().request;
    assert_eq!((draft.width, draft.height), (96, 176));
}

#[test]
fn a_size_the_model_cannot_draw_is_said_next_to_the_field() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut draft = Draft::default();
        draft.request.width = 100;
        setup.settings = Some(WindowSettings { draft, ..WindowSettings::default() });
    });
    window.take_commands();
    window.says(Event::ModelLoaded(Box::new(starter())));
    assert!(window.shows("Width 100 is not a multiple of 16; use 96 or 112."));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    window.frames();
    assert_eq!(window.take_commands(), []);
    window.click("Round the size");
    window.click("Generate");
    assert_eq!(window.take_job().request.width, 96);
}

#[test]
fn a_locked_seed_stays_and_others_are_drawn() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.new_seed = || {
            use std::sync::atomic::{AtomicU64, Ordering};
            static NEXT: AtomicU64 = AtomicU64::new(100);
            NEXT.fetch_add(1, Ordering::Relaxed)
        };
    });
    window.take_commands();
    window.says(Event::ModelLoaded(Box::new(starter())));
    let generate = |window: &mut Window| {
        window.click("Generate");
        window.take_job().request.seed
    };
    let (first, second) = (generate(&mut window), generate(&mut window));
    assert_ne!(first, second);
    window.click("Lock seed");
    assert_eq!(generate(&mut window), second);
    assert_eq!(generate(&mut window), second);
    window.click("Randomize seed");
    let drawn = generate(&mut window);
    assert_ne!(drawn, second);
    assert_eq!(generate(&mut window), drawn);
    window.click("Lock seed");
    window.click("Randomize seed");
    let drawn = window.harness.state().state().draft().request.seed;
    assert_eq!(generate(&mut window), drawn, "what was drawn is used");
    assert_ne!(generate(&mut window), drawn);
}

#[test]
fn jobs_wait_in_a_queue_and_each_can_be_cancelled() {
    let mut window = Window::with_starter();
    for _ in 0..3 {
        window.click("Generate");
    }
    window.take_commands();
    half_way(&mut window, JOB);
    window.click("Queue 3");
    window.click("Cancel job 2");
    assert_eq!(window.take_commands(), [Command::Cancel { job: JobId(2) }]);
    window.says(Event::Cancelled { job: JobId(2) });
    assert!(window.shows("Queue 2"));
    window.click("Cancel all");
    assert_eq!(
        window.take_commands(),
        [Command::Cancel { job: JobId(3) }, Command::Cancel { job: JOB }],
        "what waits ends before what runs, so that it never begins"
    );
}

#[test]
fn an_image_that_is_looked_at_stays_while_another_is_finished() {
    let mut window = Window::with_starter();
    for job in [JOB, JobId(2)] {
        window.click("Generate");
        window.take_job();
        window.says(Event::Started { job });
        if job == JOB {
            window.says(Event::Finished { job, pictures: vec![picture(128, 128, 1)], seconds: 1.0 });
        }
    }
    let first = window.harness.state().state().images.recents.newest().unwrap();
    window.click("Image with seed 1");
    let images = vec![picture(128, 128, 2), picture(128, 128, 3)];
    window.says(Event::Finished { job: JobId(2), pictures: images, seconds: 1.0 });
    let state = window.harness.state().state();
    assert_eq!(state.images.shown, Shown::Recent(first));
    let seeds: Vec<_> =
        state.images.recents.iter().map(|recent| recent.request.as_ref().unwrap().seed).collect();
    assert_eq!(seeds, [2, 3, 1]);
}

#[test]
fn an_example_fills_the_prompt() {
    let mut window = Window::with_starter();
    let example = starter().examples.swap_remove(1);
    window.click(&example);
    assert_eq!(window.harness.state().state().draft().request.prompt, example);
    assert_eq!(window.take_commands(), []);
}

#[test]
fn every_widget_has_a_name() {
    let mut window = Window::with_starter();
    window.says(Event::Hardware(machine()));
    window.click("More settings");
    window.click("Guidance and speed");
    window.click("Plan");
    window.click("Timeline");
    window.click("Advanced");
    let scene = Scene::streamed();
    for query in window.take_plans() {
        window.says(scene.answer(query.id));
    }
    nothing_is_unnamed(&window, "a plan");
    window.click("GPU");
    nothing_is_unnamed(&window, "GPUs");
    window.harness.key_press(Key::Escape);
    window.frames();
    for popup in ["Model", "Theme", "Settings", "Examples"] {
        window.click(popup);
        nothing_is_unnamed(&window, popup);
        window.harness.key_press(Key::Escape);
        window.frames();
    }
    window.click("Generate");
    window.click("Generate");
    half_way(&mut window, JOB);
    window.click("Queue 2");
    nothing_is_unnamed(&window, "the queue");
    window.harness.key_press(Key::Escape);
    window.frames();
    window.says(Event::Finished { job: JOB, pictures: vec![picture(128, 128, 1)], seconds: 1.0 });
    nothing_is_unnamed(&window, "an image");
    for event in telemetry(JobId(2), &scene.run(5, 12)) {
        window.says(event);
    }
    nothing_is_unnamed(&window, "a run");
    window.says(Event::Failed { job: None, failure: failure() });
    nothing_is_unnamed(&window, "a failure");
}

pub fn nothing_is_unnamed(window: &Window, what: &str) {
    let unnamed = window.harness.unnamed_widgets();
    assert_eq!(unnamed, Vec::<String>::new(), "with {what}");
    for node in window.harness.root().children_recursive() {
        let node = node.accesskit_node();
        let named = node.label().is_some_and(|label| !label.trim().is_empty());
        let acts = node.data().supports_action(egui::accesskit::Action::Focus) && !node.is_hidden();
        assert!(named || !acts, "{:?} at {:?} with {what}", node.role(), node.raw_bounds());
    }
    everything_is_explained(window, what);
}

/// Every control has a tooltip. What is looked at has none, which would cover it, nor have lists as a whole; and the edges of
/// panels say with the pointer that they can be dragged.
fn everything_is_explained(window: &Window, what: &str) {
    let mut missing = Vec::new();
    for node in window.harness.root().children_recursive() {
        let node = node.accesskit_node();
        let is_looked_at = matches!(node.role(), Role::Image | Role::Canvas | Role::ListBox | Role::Splitter);
        let acts = node.data().supports_action(egui::accesskit::Action::Focus) && !node.is_hidden();
        let acts = acts && !is_looked_at;
        let tip = node.data().description().unwrap_or_default();
        if acts && tip.trim().is_empty() {
            missing.push(format!("{:?} {:?}", node.role(), node.label().unwrap_or_default()));
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "without a tooltip, with {what}");
}

#[test]
fn settings_survive_a_restart() {
    let mut window = Window::with_starter();
    window.fill("Prompt", "a red boat");
    window.click("Aspect 3:2");
    window.click("Lock seed");
    let saved = window.harness.state().state().settings.clone();
    let kept = WindowSettings::from_json(&saved.to_json());
    let mut again = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.settings = Some(kept));
    assert_eq!(again.take_commands(), [Command::Load { model: ModelSource::Starter }]);
    again.says(Event::ModelLoaded(Box::new(starter())));
    assert_eq!(again.harness.state().state().draft(), &saved.draft, "the model's defaults change nothing");
    assert_eq!(again.harness.state().state().settings.clone(), saved);
}

#[test]
fn an_engine_that_is_gone_is_said_once_and_takes_no_jobs() {
    let mut window = Window::with_starter();
    window.click("Generate");
    window.take_commands();
    window.says(Event::ShutDown);
    assert!(window.shows("The engine has stopped"));
    assert_eq!(window.harness.state().state().messages.failures.len(), 1);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    window.frames();
    assert_eq!(window.take_commands(), []);
}

#[test]
fn unfinished_images_are_resumed_or_discarded() {
    let earlier = Job::new(JobId(40), Request { prompt: "a red boat".to_owned(), ..Request::default() });
    for (press, expected) in [("Resume", 1), ("Discard", 0)] {
        let mut window = Window::with_starter();
        window.says(Event::Unfinished { jobs: vec![earlier.clone()] });
        window.harness.get_by_label("1 unfinished image");
        window.click(press);
        let commands = window.take_commands();
        match commands.as_slice() {
            [Command::Generate(job)] if expected == 1 => {
                assert_eq!(**job, Job { id: JobId(1), ..earlier.clone() });
            }
            [Command::Forget] if expected == 0 => {}
            others => panic!("{press}: {others:?}"),
        }
        assert_eq!(window.harness.state().state().jobs.queue.len(), expected);
        assert!(window.harness.query_by_label("1 unfinished image").is_none());
    }
}

#[test]
fn the_offer_to_resume_covers_nothing() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let mut window = Window::open(size, egui::Theme::Light, |_| ());
        window.says(Event::Hardware(machine()));
        window.says(Event::ModelLoaded(Box::new(starter())));
        window.says(Event::Unfinished { jobs: vec![Job::new(JobId(40), Request::default())] });
        let bottom = ["1 unfinished image", "Resume", "Discard"]
            .map(|label| window.harness.get_by_label(label).rect().bottom())
            .into_iter()
            .fold(0.0, f32::max);
        let below = window.harness.get_by_label("What would you like to create?").rect();
        assert!(below.top() >= bottom, "{below:?} begins above {bottom} at {size:?}");
    }
}

#[test]
fn an_engine_that_died_is_mentioned_and_the_job_stays() {
    let mut window = Window::with_starter();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    window.frames();
    window.says(Event::Started { job: JOB });
    let failure = Failure { message: "memory ran out".to_owned(), advice: None };
    window.says(Event::Restarting { failure });
    window.harness.get_by_label("Engine restarted, resuming");
    window.harness.get_by_label("Memory ran out.");
    assert!(window.harness.state().state().jobs.running().is_some());
    assert!(!window.shows("goes on"), "no step was done");
}

#[test]
fn a_restart_says_after_which_step_the_image_goes_on() {
    let mut window = Window::with_starter();
    window.click("Generate");
    half_way(&mut window, JOB);
    window
        .says(Event::Restarting { failure: Failure { message: "memory ran out".to_owned(), advice: None } });
    window.harness.get_by_label("The image goes on after step 5.");
    window.click("Dismiss the notice");
    window.click("Cancel the running image");
    window
        .says(Event::Restarting { failure: Failure { message: "memory ran out".to_owned(), advice: None } });
    assert!(window.shows("Engine restarted") && !window.shows("goes on"), "it was cancelled");
}

#[test]
fn the_plan_says_when_there_is_no_cuda() {
    let mut window = Window::open([1920.0, 1080.0], egui::Theme::Dark, |_| ());
    let missing = Failure { message: "no libcublas".to_owned(), advice: None };
    window.says(Event::Serving(Serving { engine: "CPU".to_owned(), process: 7, instead_of: None }));
    assert!(window.harness.query_by_label("CUDA is not available.").is_none());
    let serving = Serving { engine: "CPU".to_owned(), process: 7, instead_of: Some(missing) };
    window.says(Event::Serving(serving));
    window.harness.get_by_label("CUDA is not available.");
}

#[test]
fn undoing_the_settings_of_another_model_brings_the_model_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boat.png");
    let model = ModelSource::Path(folder.path().to_owned());
    let request = Request { model: model.clone(), steps: 30, ..Request::default() };
    let settings = Settings::new(&request, "Other", "z_image", 0);
    write_png(&path, &Media::Image(landscape(128, 128, 9, 1.0)), &settings).unwrap();
    let mut window = Window::with_starter();
    window.drop_file(path);
    window.wait_for("the question", |app| app.state().input.dropped.is_some());
    window.frames();
    window.click("Use settings");
    assert_eq!(window.take_commands(), [Command::Load { model }]);
    assert_eq!(window.harness.state().state().draft().request.steps, 30);
    window.click("Undo");
    assert_eq!(window.take_commands(), [Command::Load { model: ModelSource::Starter }]);
    assert_eq!(window.harness.state().state().draft().request.steps, 12);
}
