//! The engine for NVIDIA GPUs is installed completely or not at all.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use sluice::{
    downloads::{DownloadError, Stop},
    engines::{
        Card,
        cuda_engine::{CudaEngineError, Installed, Installer, Offer, Report, Step, Target, install, remove},
    },
};
use sluice_tests::{
    cuda_package::{ARCHIVE, LIBRARY, LIST, Package, VERSION, archive, archive_with_link, list, program},
    file_server::{Answer, FileServer},
    network::network,
};
use tempfile::TempDir;

/// A server, and where the engine goes.
fn place(package: &Package) -> (FileServer, TempDir, Target) {
    let own = package.clone();
    let server = FileServer::start(move |asked| own.answer(asked)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = Target { engines: folder.path().join("engines"), wheels: server.url() };
    (server, folder, target)
}

fn offered(server: &FileServer) -> Result<Offer, CudaEngineError> {
    let address = format!("{}/releases/latest", server.url());
    Offer::of_release(&network(server), &Stop::default(), &address, 86)
}

/// The archive and its list as files.
fn files(folder: &Path, package: &Package) -> Result<Offer, CudaEngineError> {
    fs::write(folder.join(ARCHIVE), &package.archive).unwrap();
    fs::write(folder.join(LIST), &package.list).unwrap();
    Offer::of_file(&folder.join(ARCHIVE), &[])
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Neither an engine nor one that is half unpacked.
fn assert_nothing(target: &Target) {
    let names = names(&target.engines);
    assert!(
        !names.iter().any(|name| name.starts_with("cuda-") || name.starts_with("installing-")),
        "{names:?}"
    );
    assert_eq!(Installed::find(&target.engines), None);
}

#[test]
fn an_engine_of_a_release_is_installed_and_removed() {
    let (server, _folder, target) = place(&Package::new(&program(VERSION)).unwrap());
    let old = target.engines.join("cuda-0.0.1");
    fs::create_dir_all(&old).unwrap();
    let offer = offered(&server).unwrap();
    assert_eq!((offer.package.capability, offer.package.file.as_str()), (75, ARCHIVE));
    assert_eq!(offer.source(), server.url().trim_start_matches("http://"));
    let steps = std::cell::RefCell::new(Vec::new());
    let told = |step| steps.borrow_mut().push(step);
    let installed = install(&network(&server), &offer, &target, &Stop::default(), &told).unwrap();
    assert_eq!(Installed::find(&target.engines).as_ref(), Some(&installed));
    assert_eq!(names(&target.engines), [format!("cuda-{VERSION}"), "install.lock".to_owned()]);
    assert_eq!(names(&installed.folder), ["LICENSE-MIT", "lib", "licences", "sluice-cuda"]);
    assert_eq!(fs::read_to_string(installed.folder.join("lib/libcublas.so.13")).unwrap(), LIBRARY);
    assert_eq!(names(&installed.folder.join("lib")), ["libcublas.so.13"], "only what is needed");
    assert_eq!(names(&installed.folder.join("licences")), ["nvidia-cublas.txt"]);
    assert!(Command::new(installed.program()).status().unwrap().success());
    let steps = steps.into_inner();
    let all = offer.package.bytes + offer.library_bytes();
    assert!(steps.contains(&Step::Fetching { done: all, bytes: all }), "{steps:?}");
    assert_eq!(steps.last(), Some(&Step::Starting));
    // Once more in its place, then not any more.
    install(&network(&server), &offer, &target, &Stop::default(), &|_| ()).unwrap();
    assert!(remove(&target.engines).unwrap() && !remove(&target.engines).unwrap());
    assert!(!target.engines.exists());
}

#[test]
fn an_archive_on_this_computer_needs_its_list() {
    let package = Package::new(&program(VERSION)).unwrap();
    let (server, folder, target) = place(&package);
    fs::write(folder.path().join(ARCHIVE), &package.archive).unwrap();
    let missing = Offer::of_file(&folder.path().join(ARCHIVE), &[]).unwrap_err();
    assert!(matches!(missing, CudaEngineError::NoIndex { .. }), "{missing}");
    let offer = files(folder.path(), &package).unwrap();
    install(&network(&server), &offer, &target, &Stop::default(), &|_| ()).unwrap();
    assert!(Installed::find(&target.engines).is_some());
    fs::copy(folder.path().join(ARCHIVE), folder.path().join("other.tar.xz")).unwrap();
    let other = Offer::of_file(&folder.path().join("other.tar.xz"), &[]).unwrap_err();
    assert!(matches!(other, CudaEngineError::NotListed { .. }), "{other}");
}

#[test]
fn an_archive_for_later_cards_is_refused() {
    let package = Package::new(&program(VERSION)).unwrap();
    let (_server, folder, _) = place(&package);
    files(folder.path(), &package).unwrap();
    let card = |capability| Card { uuid: String::new(), name: String::new(), capability };
    let of = |cards: &[Card]| Offer::of_file(&folder.path().join(ARCHIVE), cards);
    assert!(of(&[card(Some(75)), card(Some(89))]).is_ok() && of(&[card(None)]).is_ok());
    let error = of(&[card(Some(61)), card(Some(89))]).unwrap_err();
    assert!(matches!(error, CudaEngineError::TooOld { .. }), "{error}");
}

#[test]
fn other_files_among_the_downloads_do_not_stop_it() {
    let (server, _folder, target) = place(&Package::new(&program(VERSION)).unwrap());
    let offer = offered(&server).unwrap();
    let downloads = target.engines.join("downloads");
    fs::create_dir_all(&downloads).unwrap();
    // An archive of the same name that was made before, and one of another version.
    fs::write(downloads.join(ARCHIVE), vec![1; offer.package.bytes as usize]).unwrap();
    fs::write(downloads.join("sluice-cuda-0.0.1.tar.xz"), "old").unwrap();
    install(&network(&server), &offer, &target, &Stop::default(), &|_| ()).unwrap();
    assert!(Installed::find(&target.engines).is_some() && !downloads.exists());
}

#[test]
fn what_is_being_installed_is_not_removed() {
    let (server, _folder, target) = place(&Package::new(&program(VERSION)).unwrap());
    let offer = offered(&server).unwrap();
    let told = |_| {
        let error = remove(&target.engines).unwrap_err();
        assert!(matches!(error, CudaEngineError::Download(DownloadError::InUse { .. })), "{error}");
    };
    install(&network(&server), &offer, &target, &Stop::default(), &told).unwrap();
    assert!(Installed::find(&target.engines).is_some());
}

/// Tries to install an archive, and returns why it is not.
fn refused(package: &Package) -> CudaEngineError {
    let (server, folder, target) = place(package);
    let offer = files(folder.path(), package).unwrap();
    let error = install(&network(&server), &offer, &target, &Stop::default(), &|_| ()).unwrap_err();
    assert_nothing(&target);
    error
}

#[test]
fn archives_that_are_not_what_they_should_be_are_not_installed() {
    let right = Package::new(&program(VERSION)).unwrap();
    let mut other = right.clone();
    other.archive[40] ^= 1;
    let error = refused(&other);
    assert!(matches!(error, CudaEngineError::Download(DownloadError::WrongHash { .. })), "{error}");

    let mut cut = right.clone();
    cut.archive.truncate(right.archive.len() / 2);
    cut.list = list(&cut.archive, &cut.wheel);
    let error = refused(&cut);
    assert!(matches!(error, CudaEngineError::Damaged { .. }), "{error}");

    let outside = archive(&[("../evil", "x", 0o644)]).unwrap();
    let error = refused(&Package::of(outside).unwrap());
    assert!(matches!(error, CudaEngineError::Outside { .. }), "{error}");
    let absolute = archive(&[("/tmp/evil", "x", 0o644)]).unwrap();
    let error = refused(&Package::of(absolute).unwrap());
    assert!(matches!(error, CudaEngineError::Outside { .. }), "{error}");
    let error = refused(&Package::of(archive_with_link().unwrap()).unwrap());
    assert!(matches!(error, CudaEngineError::Damaged { .. }), "{error}");
    let large = "x".repeat(200_000);
    let error = refused(&Package::of(archive(&[("sluice-cuda/a", &large, 0o644)]).unwrap()).unwrap());
    assert!(error.to_string().contains("larger than announced"), "{error}");
    let empty = archive(&[("sluice-cuda/README", "x", 0o644)]).unwrap();
    let error = refused(&Package::of(empty).unwrap());
    assert!(error.to_string().contains("it has no engine"), "{error}");
}

#[test]
fn an_engine_that_does_not_start_or_is_of_another_version_is_not_installed() {
    let broken = "#!/bin/sh\necho 'libcuda.so.1 is not there' >&2\nexit 127\n";
    let error = refused(&Package::new(broken).unwrap());
    assert!(error.to_string().ends_with("libcuda.so.1 is not there"), "{error}");
    let error = refused(&Package::new(&program("0.0.1")).unwrap());
    assert!(matches!(error, CudaEngineError::Version { .. }), "{error}");
}

#[test]
fn what_was_there_stays_if_another_one_fails() {
    let right = Package::new(&program(VERSION)).unwrap();
    let (server, folder, target) = place(&right);
    let offer = files(folder.path(), &right).unwrap();
    install(&network(&server), &offer, &target, &Stop::default(), &|_| ()).unwrap();
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let broken = files(&other, &Package::new("#!/bin/sh\nexit 1\n").unwrap()).unwrap();
    install(&network(&server), &broken, &target, &Stop::default(), &|_| ()).unwrap_err();
    let installed = Installed::find(&target.engines).unwrap();
    assert!(Command::new(installed.program()).status().unwrap().success());
}

#[test]
fn without_space_nothing_is_fetched() {
    let (server, _folder, target) = place(&Package::new(&program(VERSION)).unwrap());
    let offer = offered(&server).unwrap();
    let before = server.asked().len();
    let mut network = network(&server);
    network.free_space = |_| Ok(300 << 20);
    install(&network, &offer, &target, &Stop::default(), &|_| ()).unwrap();
    remove(&target.engines).unwrap();
    let fetched = server.asked().len();
    assert!(fetched > before);
    network.free_space = |_| Ok(256 << 20);
    let error = install(&network, &offer, &target, &Stop::default(), &|_| ()).unwrap_err();
    assert!(matches!(error, CudaEngineError::Download(DownloadError::NoSpace { .. })), "{error}");
    assert_nothing(&target);
    assert_eq!(server.asked().len(), fetched);
}

#[test]
fn a_connection_that_drops_is_resumed() {
    let package = Package::new(&program(VERSION)).unwrap();
    let was_cut = AtomicBool::new(false);
    let server = FileServer::start(move |asked| {
        let answer = package.answer(asked);
        let is_wheel = asked.path.ends_with(".whl");
        match is_wheel && !was_cut.swap(is_wheel, Ordering::Relaxed) {
            true => Answer { cut: Some(100_000), announced: Some(answer.body.len()), ..answer },
            false => answer,
        }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = Target { engines: folder.path().join("engines"), wheels: server.url() };
    let offer = offered(&server).unwrap();
    install(&network(&server), &offer, &target, &Stop::default(), &|_| ()).unwrap();
    let asked = server.asked();
    let starts: Vec<_> = asked.iter().filter(|one| one.path.ends_with(".whl")).map(|one| one.from).collect();
    assert_eq!(starts, [None, Some(100_000)]);
}

#[test]
fn what_is_stopped_is_not_installed_and_what_is_cancelled_leaves_nothing() {
    let package = Package::new(&program(VERSION)).unwrap();
    let server = FileServer::start(move |asked| {
        let answer = package.answer(asked);
        let slowly = asked.path.ends_with(".whl").then_some((2000, Duration::from_millis(20)));
        Answer { slowly, ..answer }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = Target { engines: folder.path().join("engines"), wheels: server.url() };
    let offer = offered(&server).unwrap();
    let stop = Stop::default();
    let end = offer.package.bytes + 1;
    let told = |step| {
        if matches!(step, Step::Fetching { done, .. } if done > end) {
            stop.stop();
        }
    };
    let error = install(&network(&server), &offer, &target, &stop, &told).unwrap_err();
    assert!(error.is_stop(), "{error}");
    assert_nothing(&target);
    assert!(!names(&target.engines.join("downloads")).is_empty(), "it goes on from there");

    let installer = Installer::install(network(&server), offer, target.clone(), || ()).unwrap();
    let start = Instant::now();
    let mut is_cancelled = false;
    loop {
        assert!(start.elapsed() < Duration::from_secs(60));
        match installer.try_recv() {
            Some(Report::Step(_)) if !is_cancelled => {
                installer.cancel();
                is_cancelled = true;
            }
            Some(Report::Stopped) => break,
            Some(Report::Step(_)) => {}
            Some(other) => panic!("{other:?}"),
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
    assert_nothing(&target);
    assert!(!target.engines.join("downloads").exists());
}

#[test]
fn releases_without_an_engine_say_so() {
    let server = FileServer::start(|asked| match asked.path.as_str() {
        "/releases/latest" => Answer::text(r#"{"tag_name": "v99.0.0", "assets": []}"#),
        _ => Answer::status(404),
    })
    .unwrap();
    let error = offered(&server).unwrap_err();
    assert!(matches!(error, CudaEngineError::NotReleased { .. }), "{error}");
    let old = Package::new(&program(VERSION)).unwrap();
    let (server, _folder, _) = place(&old);
    let address = format!("{}/releases/latest", server.url());
    let error = Offer::of_release(&network(&server), &Stop::default(), &address, 61).unwrap_err();
    assert!(matches!(error, CudaEngineError::TooOld { .. }), "{error}");
}
