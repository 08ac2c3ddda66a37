//! Models that are opened in quick succession, and taken back.

use sluice::window::state::{ModelStatus, State};
use sluice_engine::{
    output::{Media, Settings, write_png},
    request::{ModelSource, Request},
    session::{Command, Event, ModelSummary},
};

use super::support::{Window, failure, landscape, starter};

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

/// Opens two models, one right after the other, from a window that has the starter.
fn open_two(window: &mut Window) -> [ModelSource; 2] {
    ["first.gguf", "second.gguf"].map(|name| {
        let path = std::env::temp_dir().join(name);
        window.drop_file(path.clone());
        let model = ModelSource::Path(path);
        window.wait_for("the model", |app| app.state().chosen_model() == &model);
        model
    })
}

#[test]
fn of_two_models_that_are_opened_the_first_may_fail() {
    let mut window = Window::with_starter();
    let [first, second] = open_two(&mut window);
    window.says(Event::NotLoaded { model: first, failure: failure() });
    assert_eq!(
        (state(&window).chosen_model(), &state(&window).model.status),
        (&second, &ModelStatus::Loading)
    );
    let loaded = ModelSummary { source: second.clone(), ..starter() };
    window.says(Event::ModelLoaded(Box::new(loaded)));
    assert_eq!(state(&window).summary().map(|summary| &summary.source), Some(&second));
    assert!(window.shows("first.gguf could not be opened"), "nobody could have read it before");
    window.click("Dismiss");
    window.click("Generate");
    let job = window.take_commands().pop();
    assert!(matches!(job, Some(Command::Generate(job)) if job.request.model == second));
}

#[test]
fn of_two_models_that_are_opened_the_second_may_fail() {
    let mut window = Window::with_starter();
    let [first, second] = open_two(&mut window);
    window.says(Event::ModelLoaded(Box::new(ModelSummary { source: first, ..starter() })));
    window.says(Event::NotLoaded { model: second, failure: failure() });
    assert!(window.shows("This model could not be opened"));
    assert_eq!(state(&window).chosen_model(), &ModelSource::Starter);
    assert!(matches!(&state(&window).model.status, ModelStatus::Ready(_)));
    assert!(state(&window).settings.recent_models.is_empty());
}

#[test]
fn another_failure_does_not_end_the_opening_of_a_model() {
    let mut window = Window::with_starter();
    let [_, second] = open_two(&mut window);
    window.says(Event::Failed { job: None, failure: failure() });
    assert_eq!(
        (state(&window).chosen_model(), &state(&window).model.status),
        (&second, &ModelStatus::Loading)
    );
    window.says(Event::ShutDown);
    assert_eq!(state(&window).chosen_model(), &ModelSource::Starter, "nobody opens it any more");
}

#[test]
fn settings_of_another_model_are_taken_back_after_it_was_opened() {
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
    window.says(Event::ModelLoaded(Box::new(ModelSummary { source: model, ..starter() })));
    window.take_commands();
    window.click("Undo");
    assert_eq!(window.take_commands(), [Command::Load { model: ModelSource::Starter }]);
    window.says(Event::ModelLoaded(Box::new(starter())));
    let request = &state(&window).draft().request;
    assert_eq!((request.steps, &request.model), (12, &ModelSource::Starter));
    assert!(
        matches!(&state(&window).model.status, ModelStatus::Ready(summary) if summary.source == ModelSource::Starter)
    );
}
