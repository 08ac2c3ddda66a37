//! Several engines: their list in the settings, and what they do in the queue.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crossbeam_channel::{Receiver, unbounded};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use sluice::{
    engines::{Card, EngineList, OtherEngine},
    window::link::{ChannelLink, EngineLink},
};
use sluice_engine::{
    models::{About, Content, Finding, Inventory, Item, Kind},
    request::ModelSource,
    session::{Command, Event, Failure, JobId, LaneChange, ModelSummary, Serving, Stage, StageKind},
};

use super::{
    behaviour::nothing_is_unnamed,
    support::{Window, machine, picture, starter},
};

const ATTIC: &str = "ssh -T attic sluice worker";

pub fn with_attic() -> EngineList {
    let attic = OtherEngine { name: "attic".to_owned(), command: ATTIC.to_owned(), is_on: true };
    EngineList { others: vec![attic], ..EngineList::default() }
}

/// What the window has started in the place of its engines.
pub type Started = Arc<Mutex<Vec<(EngineList, Receiver<Command>)>>>;

pub fn opened(list: EngineList) -> (Window, Started) {
    opened_with_size([1280.0, 800.0], list)
}

fn opened_with_size(size: [f32; 2], list: EngineList) -> (Window, Started) {
    let started = Started::default();
    let own = Arc::clone(&started);
    let mut window = Window::open(size, egui::Theme::Dark, |setup| {
        let (report, cards) = crossbeam_channel::bounded(1);
        let card = |number: u32| Card {
            uuid: format!("GPU-{number}"),
            name: "RTX 3060".to_owned(),
            capability: Some(86),
        };
        report.send((0..3).map(card).collect()).unwrap();
        setup.cards = Some(cards);
        setup.startup.engines = list;
        setup.start_engines = Some(Arc::new(move |list: &EngineList| {
            let (commands, sent) = unbounded();
            let (_, events) = unbounded();
            own.lock().unwrap().push((list.clone(), sent));
            Ok(Box::new(ChannelLink { commands, events }) as Box<dyn EngineLink>)
        }));
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    (window, started)
}

fn settings() -> (Window, Started) {
    let (mut window, started) = opened(EngineList::default());
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    window.frames();
    window.fill("Search settings", "ssh");
    window.frames();
    (window, started)
}

fn list(window: &Window) -> EngineList {
    window.harness.state().state().settings.startup.engines.clone()
}

fn serving() -> Serving {
    Serving { engine: "CPU".to_owned(), process: 7, instead_of: None }
}

#[test]
fn why_an_engine_elsewhere_has_no_gpu_is_said_of_its_computer() {
    let (mut window, _) = opened_with_size([1920.0, 1080.0], EngineList { here: false, ..with_attic() });
    let missing = Failure { message: "no libcublas".to_owned(), advice: None };
    window.says(Event::Serving(Serving { instead_of: Some(missing), ..serving() }));
    assert!(window.shows("CUDA is not available on the engine's computer."));
}

/// A window with two engines, each with a job, and a third job that waits.
fn at_work() -> Window {
    let (mut window, _) = opened(with_attic());
    for lane in 0..2 {
        window.says(Event::Lane { lane, change: LaneChange::Serves(serving()) });
        window.says(Event::Lane { lane, change: LaneChange::Has(ModelSource::Starter) });
    }
    for prompt in ["a", "b", "c"] {
        window.replace("Prompt", prompt);
        window.click("Generate");
        window.take_job();
    }
    for (lane, step) in [(0, 3), (1, 6)] {
        let job = JobId(lane as u64 + 1);
        window.says(Event::Assigned { job, lane });
        window.says(Event::Started { job });
        window.says(Event::StageStarted { job, stage: Stage::new(1, StageKind::Denoise) });
        window.says(Event::Step { job, step, steps: 12, seconds: 1.0, seconds_left: 65.0 });
    }
    window.take_plans();
    window
}

#[test]
fn the_list_has_this_computer_its_further_cards_and_commands() {
    let (mut window, started) = settings();
    assert!(
        window.shows("This computer") && window.shows("RTX 3060 (GPU 1)") && window.shows("RTX 3060 (GPU 2)")
    );
    assert!(!window.shows("GPU 0"), "this computer's engine keeps it");
    assert!(window.shows("Add an engine…"));
    window.click("Add an engine…");
    for template in ["SSH", "Slurm", "Kubernetes", "Container", "Another command"] {
        assert!(window.shows(template), "{template}");
    }
    window.click("SSH");
    let added = list(&window).others;
    assert_eq!((added.len(), added[0].name.as_str(), added[0].is_on), (1, "SSH", false));
    assert!(added[0].command.starts_with("ssh -T ") && added[0].command.ends_with(" sluice worker"));
    window.replace("Name of engine 1", "attic");
    window.replace("Command of engine 1", ATTIC);
    window.harness.key_press(Key::Tab);
    window.frames();
    let other = &list(&window).others[0];
    assert_eq!((other.name.as_str(), other.command.as_str()), ("attic", ATTIC), "the field was left");
    nothing_is_unnamed(&window, "the engines");
    window.click("Use engine 1");
    assert_eq!(list(&window), with_attic());
    window.click("RTX 3060 (GPU 2)");
    assert_eq!(list(&window).cards[0].uuid, "GPU-2");
    window.click("Use engine 1");
    window.click("RTX 3060 (GPU 2)");
    window.click("Remove engine 1");
    assert_eq!(list(&window), EngineList::default());
    assert!(started.lock().unwrap().len() >= 2, "they were used at once");
}

#[test]
fn a_command_that_cannot_be_is_not_used_and_one_that_leads_nowhere_says_so() {
    let (mut window, _) = settings();
    window.click("Add an engine…");
    window.click("Another command");
    assert!(window.shows("Write the command that leads to the engine."));
    window.replace("Command of engine 1", "ssh 'attic");
    assert!(window.shows("A quotation mark is missing."));
    window.click("Use engine 1");
    assert!(!list(&window).others[0].is_on);
    window.replace("Command of engine 1", "no-such-program worker");
    let buttons: Vec<_> = window.harness.get_all_by_label("Try it").collect();
    buttons.last().unwrap().click();
    drop(buttons);
    window.wait_for_words("no-such-program cannot be started");
    assert!(window.shows("Check the name of the program"));
}

#[test]
fn other_engines_are_started_when_no_job_needs_those_that_there_are() {
    let (mut window, started) = settings();
    window.click("Close");
    window.click("Generate");
    let job = window.take_job().id;
    window.says(Event::Started { job });
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    window.frames();
    window.fill("Search settings", "ssh");
    window.frames();
    window.click("RTX 3060 (GPU 1)");
    assert!(window.shows("Applies when the queue is done."));
    assert!(started.lock().unwrap().is_empty());
    window.says(Event::Finished { job, pictures: vec![picture(64, 64, 1)], seconds: 1.0 });
    let start = std::time::Instant::now();
    while started.lock().unwrap().is_empty() && start.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        window.frames();
    }
    window.frames();
    let mut all = started.lock().unwrap();
    let (list, commands) = all.pop().expect("they are not started");
    drop(all);
    assert_eq!(list.cards.len(), 1);
    let load = Command::Load { model: ModelSource::Starter };
    let mut sent = Vec::new();
    while !sent.contains(&load) && start.elapsed().as_secs() < 60 {
        window.frames();
        sent.extend(commands.try_iter());
    }
    assert!(sent.contains(&load), "{sent:?}");
    assert!(!window.shows("Applies when the queue is done."));
}

#[test]
fn the_queue_shows_what_each_engine_does() {
    let mut window = at_work();
    window.click("Queue 3");
    assert!(window.shows("This computer, Step 3 of 12 · ") && window.shows(" left · a"), "the engine");
    assert!(window.shows("attic, Step 6 of 12 · ") && window.shows(" left · b"));
    assert!(window.shows("Step 3 of 12 · This computer · "), "the job");
    assert!(window.shows("Step 6 of 12 · attic · "));
    assert!(window.shows("c, Waiting"));
    nothing_is_unnamed(&window, "the queue with two engines");
    window.says(Event::Finished { job: JobId(2), pictures: vec![picture(64, 64, 1)], seconds: 1.0 });
    assert!(window.shows("attic, Free · CPU"));
    let failure = Failure { message: "there is no such model".to_owned(), advice: None };
    window.says(Event::Lane { lane: 1, change: LaneChange::Lacks(ModelSource::Starter, failure) });
    assert!(window.shows("attic, Does not have this model"));
}

#[test]
fn forecast_hardware_and_activity_are_those_of_the_engine_that_is_shown() {
    let mut window = at_work();
    window.says(Event::Hardware(machine()));
    let status = |window: &Window| window.shows("This computer · Step 3 of 12");
    assert!(status(&window) && window.shows("RTX 3060"));
    window.click("Queue 3");
    window.click_what_says("attic, Step 6");
    assert_eq!(window.take_commands(), [Command::Show { lane: 1 }]);
    assert_eq!(window.take_plans().len(), 1, "its forecast is asked for");
    assert!(!status(&window) && window.shows("attic · Step 6 of 12"));
    let state = window.harness.state().state();
    assert!(state.engine.hardware.is_none(), "that of the other computer is not shown any more");
    assert_eq!(state.jobs.running().map(|(job, _)| job.id), Some(JobId(2)));
    // One that is gone is not shown.
    let failure = Failure { message: "the line is dead".to_owned(), advice: None };
    window.says(Event::Returned { job: JobId(2) });
    window.says(Event::Lane { lane: 1, change: LaneChange::GivenUp(failure) });
    assert!(window.shows("Engine not used any more: attic"));
    assert_eq!(window.take_commands(), [Command::Show { lane: 0 }]);
    assert!(status(&window));
    let queue: Vec<u64> = window.harness.state().state().jobs.queue.iter().map(|job| job.id.0).collect();
    assert_eq!(queue, [1, 2, 3], "the job waits before the others");
}

#[test]
fn a_pause_stops_the_jobs_of_all_engines_and_they_keep_their_order() {
    let mut window = at_work();
    window.click("Queue 3");
    window.click("Pause");
    let commands = window.take_commands();
    let cancels = [1, 2].map(|id| Command::Cancel { job: JobId(id) });
    assert_eq!(commands[..3], [Command::Pause { paused: true }, cancels[0].clone(), cancels[1].clone()]);
    window.says(Event::Cancelled { job: JobId(2) });
    window.says(Event::Cancelled { job: JobId(1) });
    let queue: Vec<u64> = window.harness.state().state().jobs.queue.iter().map(|job| job.id.0).collect();
    assert_eq!(queue, [1, 2, 3]);
    assert!(!window.shows("Cancelled"));
    window.click("Resume");
    assert_eq!(window.take_commands().last(), Some(&Command::Pause { paused: false }));
}

/// What is in the folders of another computer: models with these names.
fn models_elsewhere(names: &[&str]) -> Box<Inventory> {
    let item = |name: &&str| Item {
        path: format!("/data/models/{name}.gguf").into(),
        name: (*name).to_owned(),
        content: Finding::Content(Content {
            what: "Z-Image denoiser".to_owned(),
            kind: Kind::Model,
            family: Some("Z-Image".to_owned()),
            roles: Vec::new(),
            sees_images: false,
            maps: None,
            modes: Vec::new(),
            format: "GGUF".to_owned(),
            parameters: 1,
            bytes: 1 << 30,
            dtypes: BTreeMap::new(),
        }),
        about: About::default(),
        same_as: None,
        half_of: None,
    };
    Box::new(Inventory { items: names.iter().map(item).collect(), others: 0 })
}

#[test]
fn models_of_engines_elsewhere_are_listed_under_their_names_and_run_there() {
    let cellar = OtherEngine { name: "cellar".to_owned(), command: ATTIC.to_owned(), is_on: true };
    let mut list = with_attic();
    list.others.push(cellar);
    let (mut window, _) = opened(list);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    let sent = window.take_commands();
    let lists: Vec<_> = sent.iter().filter(|command| matches!(command, Command::List { .. })).collect();
    assert_eq!(lists, [&Command::List { lane: 1 }, &Command::List { lane: 2 }], "not this computer's");
    for (lane, names) in [(1, ["boat", "fox"]), (2, ["fox", "wolf"])] {
        window.says(Event::Listed { lane, folders: Vec::new(), inventory: models_elsewhere(&names) });
    }
    for heading in ["attic, 1 row", "attic, cellar, 1 row", "cellar, 1 row", "Models 3"] {
        assert!(window.shows(heading), "{heading}");
    }
    nothing_is_unnamed(&window, "models of several engines");

    window.harness.get_by_label("Search models").type_text("wolf");
    window.frames();
    window.harness.key_press(Key::ArrowDown);
    window.frames();
    assert!(window.shows("On cellar. "));
    window.take_commands();
    window.harness.key_press(Key::Enter);
    window.frames();
    let model = ModelSource::Path("/data/models/wolf.gguf".into());
    assert!(window.take_commands().contains(&Command::Load { model: model.clone() }));
    let failure = Failure { message: "there is no such model".to_owned(), advice: None };
    for lane in 0..2 {
        window.says(Event::Lane { lane, change: LaneChange::Lacks(model.clone(), failure.clone()) });
    }
    window.says(Event::Lane { lane: 2, change: LaneChange::Has(model.clone()) });
    window.says(Event::ModelLoaded(Box::new(ModelSummary { source: model.clone(), ..starter() })));
    assert!(window.take_commands().contains(&Command::Show { lane: 2 }), "its forecasts are shown");
    window.click("Generate");
    assert_eq!(window.take_job().request.model, model);
    // The models of one that is gone are not listed any more.
    window.says(Event::Lane { lane: 2, change: LaneChange::GivenUp(failure) });
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    assert!(window.shows("attic, 2 rows") && !window.shows("cellar, "));
}

#[test]
fn models_of_engines_elsewhere_are_found_in_the_palette() {
    let (mut window, _) = opened(with_attic());
    window.says(Event::Listed { lane: 1, folders: Vec::new(), inventory: models_elsewhere(&["wolf"]) });
    window.take_commands();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.frames();
    window.harness.get_by_label("Search commands").type_text("wolf");
    window.frames();
    window.harness.key_press(Key::Enter);
    window.frames();
    let model = ModelSource::Path("/data/models/wolf.gguf".into());
    assert!(window.take_commands().contains(&Command::Load { model }));
}
