//! The offer to install the engine for NVIDIA GPUs, with a real server on this computer.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use crossbeam_channel::unbounded;
use egui::{Key, Modifiers, Theme};
use sluice::{
    engines::{
        Card, EngineList,
        cuda_engine::{Installed, Target},
    },
    window::{
        app::CudaOptions,
        link::{ChannelLink, EngineLink},
    },
};
use sluice_engine::session::{Event, Failure, Serving};
use sluice_tests::{
    cuda_package::{ARCHIVE, LIST, Package, VERSION, program},
    file_server::FileServer,
    network::network,
};

use super::{
    behaviour::nothing_is_unnamed,
    support::{Window, starter},
};

const INSTALL: &str = "Install the engine for NVIDIA GPUs…";
const FROM_FILE: &str = "Install the engine for NVIDIA GPUs from a file…";

/// A server with an engine.
fn server(package: Package) -> FileServer {
    FileServer::start(move |asked| package.answer(asked)).unwrap()
}

fn options(server: &FileServer, folder: &Path) -> CudaOptions {
    CudaOptions {
        target: Target { engines: folder.join("engines"), wheels: server.url() },
        network: network(server),
        is_beside: false,
        releases: Some(format!("{}/releases/latest", server.url())),
    }
}

/// A window on a computer with so many cards, whose engine computes on the CPU. Counts how often engines are started.
fn open(cards: u32, options: CudaOptions) -> (Window, Arc<AtomicUsize>) {
    let started = Arc::<AtomicUsize>::default();
    let own = Arc::clone(&started);
    let mut window = Window::open([1920.0, 1080.0], Theme::Dark, |setup| {
        let (report, found) = crossbeam_channel::bounded(1);
        let card = |number: u32| Card {
            uuid: format!("GPU-{number}"),
            name: "RTX 3060".to_owned(),
            capability: Some(86),
        };
        report.send((0..cards).map(card).collect()).unwrap();
        setup.cards = Some(found);
        setup.cuda = Some(options);
        setup.start_engines = Some(Arc::new(move |_: &EngineList| {
            own.fetch_add(1, Ordering::Relaxed);
            let (commands, _) = unbounded();
            let (_, events) = unbounded();
            Ok(Box::new(ChannelLink { commands, events }) as Box<dyn EngineLink>)
        }));
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    let missing = Failure { message: "no engine".to_owned(), advice: None };
    let serving = Serving { engine: "CPU".to_owned(), process: 7, instead_of: Some(missing) };
    window.says(Event::Serving(serving));
    (window, started)
}

#[test]
fn it_is_offered_where_there_is_a_card_and_no_engine() {
    let server = server(Package::new(&program(VERSION)).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (window, _) = open(1, options(&server, folder.path()));
    assert!(window.shows(INSTALL) && window.shows("Choose a file…"));
    let without_releases = CudaOptions { releases: None, ..options(&server, folder.path()) };
    let (window, _) = open(1, without_releases);
    assert!(window.shows(FROM_FILE) && !window.shows(INSTALL));
    let (window, _) = open(0, options(&server, folder.path()));
    assert!(!window.shows(INSTALL), "there is no card");
    let beside = CudaOptions { is_beside: true, ..options(&server, folder.path()) };
    let (window, _) = open(1, beside);
    assert!(!window.shows(INSTALL), "there is an engine, which has another reason not to run");
    assert!(server.asked().is_empty(), "nobody has asked for it");
}

#[test]
fn it_is_installed_after_its_size_and_source_were_shown_and_removed_in_the_settings() {
    let server = server(Package::new(&program(VERSION)).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let options = options(&server, folder.path());
    let engines = options.target.engines.clone();
    let (mut window, started) = open(1, options);
    nothing_is_unnamed(&window, "the offer");
    window.click(INSTALL);
    window.wait_for_words("The program, ");
    assert!(window.shows("NVIDIA's libraries, ") && window.shows(server.url().trim_start_matches("http://")));
    nothing_is_unnamed(&window, "what is offered");
    assert_eq!(Installed::find(&engines), None);
    window.click("Install");
    window.wait_for_words("The engine for NVIDIA GPUs is installed");
    assert!(Installed::find(&engines).is_some());
    wait_for(&mut window, || started.load(Ordering::Relaxed) == 1);
    assert!(!window.shows(INSTALL));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    window.frames();
    window.fill("Search settings", "ssh");
    window.frames();
    nothing_is_unnamed(&window, "the settings with an installed engine");
    window.click("Remove the engine for NVIDIA GPUs");
    wait_for(&mut window, || Installed::find(&engines).is_none() && started.load(Ordering::Relaxed) == 2);
}

#[test]
fn what_goes_wrong_is_said_and_it_is_offered_again() {
    let server = server(Package::new("#!/bin/sh\necho 'no libcuda' >&2\nexit 1\n").unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (mut window, started) = open(1, options(&server, folder.path()));
    window.click(INSTALL);
    window.wait_for_words("The program, ");
    window.click("Install");
    window.wait_for_words("The engine for NVIDIA GPUs does not start: no libcuda");
    assert!(window.shows("Check that the NVIDIA driver is installed"));
    assert!(window.shows(INSTALL));
    assert_eq!(started.load(Ordering::Relaxed), 0);
    nothing_is_unnamed(&window, "a failure to install");
}

#[test]
fn an_archive_can_be_chosen() {
    let package = Package::new(&program(VERSION)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(ARCHIVE), &package.archive).unwrap();
    std::fs::write(folder.path().join(LIST), &package.list).unwrap();
    let server = server(package);
    let (mut window, _) = open(1, CudaOptions { releases: None, ..options(&server, folder.path()) });
    let kind = sluice::window::files::Dialog::CudaEngine;
    let action = sluice::window::action::CudaAction::LookInto(folder.path().join(ARCHIVE));
    assert_eq!(kind.filter(), Some(("files-kind-archives", &["xz"][..])));
    let ctx = window.harness.ctx.clone();
    window.harness.state_mut().act(&ctx, action.into());
    window.wait_for_words(ARCHIVE);
    assert!(window.shows("On the disk they take"));
    window.click("Cancel");
    assert!(window.shows(FROM_FILE));
}

/// Draws until something has happened.
fn wait_for(window: &mut Window, is_done: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_done() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
        window.frames();
    }
}
