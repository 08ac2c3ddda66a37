//! Downloads from a server with the faults of real ones.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use sluice::downloads::{
    Arrived, Credentials, Download, DownloadError, DownloadId, Downloads, Link, Network, Order, Phase,
    Source, Stop, Token, Told, Wanted, look_up, search, transfer,
};
use sluice_tests::{
    file_server::{Answer, Asked, FileServer},
    network::{FREE, network},
};

const NAME: &str = "model.safetensors";

/// Bytes that look like nothing.
fn contents(length: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    let output = std::process::Command::new("sha256sum").arg(file.path()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

fn wanted(sha256: Option<String>) -> Wanted {
    let source = Source::Hub { repository: "o/n".into(), revision: "main".into(), path: NAME.into() };
    Wanted { source, to: NAME.into(), sorts: false, bytes: None, sha256 }
}

fn fetch(network: &Network, wanted: &Wanted, folder: &Path) -> Result<Arrived, DownloadError> {
    transfer(network, wanted, folder, &Stop::default(), &|| 0, &|_| ())
}

/// The incomplete file, and what describes it.
fn leftovers(folder: &Path) -> Vec<PathBuf> {
    [".part", ".part.json"]
        .map(|ending| folder.join(format!("{NAME}{ending}")))
        .into_iter()
        .filter(|path| path.exists())
        .collect()
}

/// Where each request began.
fn starts(server: &FileServer) -> Vec<Option<usize>> {
    server.asked().iter().map(|asked| asked.from).collect()
}

#[test]
fn a_file_arrives_complete_and_verified() {
    let bytes = contents(900_000);
    let (whole, hash) = (bytes.clone(), sha256(&bytes));
    let linked = hash.clone();
    let server = FileServer::start(move |asked| match asked.path.as_str() {
        "/o/n/resolve/main/model.safetensors" => Answer::to("/elsewhere?signed=1")
            .with("X-Linked-ETag", &format!("\"{linked}\""))
            .with("X-Linked-Size", &whole.len().to_string()),
        "/elsewhere?signed=1" => Answer::file(&whole, asked),
        _ => Answer::status(404),
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let arrived = fetch(&network(&server), &wanted(None), folder.path()).unwrap();
    assert_eq!(fs::read(&arrived.path).unwrap(), bytes);
    assert_eq!(
        arrived,
        Arrived {
            path: folder.path().join(NAME),
            bytes: 900_000,
            sha256: Some(hash.clone()),
            is_verified: true,
            was_here: false
        }
    );
    assert!(leftovers(folder.path()).is_empty());

    // A file that is here is not fetched again, and one with other contents is not replaced.
    let before = server.asked().len();
    assert!(fetch(&network(&server), &wanted(Some(hash.clone())), folder.path()).unwrap().was_here);
    fs::write(folder.path().join(NAME), "mine").unwrap();
    let error = fetch(&network(&server), &wanted(Some(hash)), folder.path()).unwrap_err();
    assert!(matches!(error, DownloadError::Occupied { .. }), "{error}");
    assert_eq!(fs::read(folder.path().join(NAME)).unwrap(), b"mine");
    assert_eq!(server.asked().len(), before);
}

#[test]
fn a_dropped_connection_goes_on_from_where_it_was() {
    let bytes = contents(600_000);
    let whole = bytes.clone();
    let server = FileServer::start(move |asked| {
        let answer = Answer::file(&whole, asked);
        let cut = answer.body.len() / 2;
        // Twice half of the rest.
        match asked.from {
            Some(from) if from >= 450_000 => answer,
            _ => Answer { cut: Some(cut), announced: Some(answer.body.len()), ..answer },
        }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let arrived = fetch(&network(&server), &wanted(Some(sha256(&bytes))), folder.path()).unwrap();
    assert_eq!(fs::read(arrived.path).unwrap(), bytes);
    assert_eq!(starts(&server), [None, Some(300_000), Some(450_000)]);
}

#[test]
fn a_stalled_connection_is_given_up_and_resumed() {
    let bytes = contents(400_000);
    let whole = bytes.clone();
    let server = FileServer::start(move |asked| {
        let answer = Answer::file(&whole, asked);
        let stall = asked.from.is_none().then_some(Duration::from_secs(5));
        Answer { stall, ..answer }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let arrived = fetch(&network(&server), &wanted(None), folder.path()).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(4), "it waits for the server");
    assert_eq!(fs::read(&arrived.path).unwrap(), bytes);
    assert!(!arrived.is_verified, "nobody said what the hash is");
    assert_eq!(starts(&server), [None, Some(200_000)]);
}

#[test]
fn a_server_that_lies_about_the_size_is_found_out() {
    let bytes = contents(50_000);
    let hash = sha256(&bytes);
    for (announced, expected) in [(60_000, "Dropped"), (40_000, "WrongHash")] {
        let whole = bytes.clone();
        let server = FileServer::start(move |asked| Answer {
            announced: asked.from.is_none().then_some(announced),
            ..Answer::file(&whole, asked)
        })
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let error = fetch(&network(&server), &wanted(Some(hash.clone())), folder.path()).unwrap_err();
        assert!(format!("{error:?}").starts_with(expected), "{announced}: {error:?}");
        assert!(!folder.path().join(NAME).exists());
        assert!(!error.advice().is_empty());
    }
}

#[test]
fn a_wrong_hash_leaves_nothing_behind() {
    let bytes = contents(30_000);
    let whole = bytes.clone();
    let server = FileServer::start(move |asked| Answer::file(&whole, asked)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let other = "0".repeat(64);
    let error = fetch(&network(&server), &wanted(Some(other.clone())), folder.path()).unwrap_err();
    let DownloadError::WrongHash { expected, found, .. } = &error else { panic!("{error}") };
    assert_eq!((expected, found), (&other, &sha256(&bytes)));
    assert!(leftovers(folder.path()).is_empty() && !folder.path().join(NAME).exists());
}

#[test]
fn a_file_that_the_catalogue_does_not_know_is_not_even_begun() {
    let server = FileServer::start(|asked| {
        Answer::file(&contents(5_000), asked).with("X-Linked-ETag", &format!("\"{}\"", "a".repeat(64)))
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let told = |told: Told| {
        if let Told::Bytes(bytes) = told {
            assert_eq!(bytes, 0);
        }
    };
    let wanted = wanted(Some("b".repeat(64)));
    let error =
        transfer(&network(&server), &wanted, folder.path(), &Stop::default(), &|| 0, &told).unwrap_err();
    assert!(matches!(error, DownloadError::WrongHash { .. }), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn damaged_bytes_of_an_earlier_session_are_fetched_again() {
    let bytes = contents(80_000);
    let whole = bytes.clone();
    let server = FileServer::start(move |asked| Answer::file(&whole, asked)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let wanted = wanted(Some(sha256(&bytes)));
    fs::write(folder.path().join(format!("{NAME}.part")), vec![0; 50_000]).unwrap();
    let side = r#"{"source":"o/n@main/model.safetensors","identity":"first","size":80000}"#;
    fs::write(folder.path().join(format!("{NAME}.part.json")), side).unwrap();
    let arrived = fetch(&network(&server), &wanted, folder.path()).unwrap();
    assert_eq!(fs::read(arrived.path).unwrap(), bytes);
    assert_eq!(starts(&server), [Some(50_000), None]);
}

#[test]
fn a_server_without_ranges_sends_everything_again() {
    let bytes = contents(100_000);
    let whole = bytes.clone();
    let count = AtomicUsize::new(0);
    let server = FileServer::start(move |_| {
        let answer = Answer { body: whole.clone(), ..Answer::status(200) }.with("ETag", "\"x\"");
        match count.fetch_add(1, Ordering::Relaxed) {
            0 => Answer { cut: Some(70_000), announced: Some(100_000), ..answer },
            _ => answer,
        }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let arrived = fetch(&network(&server), &wanted(Some(sha256(&bytes))), folder.path()).unwrap();
    assert_eq!(fs::read(arrived.path).unwrap(), bytes);
    assert_eq!(starts(&server), [None, Some(70_000)]);
}

#[test]
fn a_file_that_changes_meanwhile_is_begun_anew() {
    let (old, new) = (contents(100_000), contents(90_000).into_iter().rev().collect::<Vec<u8>>());
    let (second, count) = (new.clone(), AtomicUsize::new(0));
    let server = FileServer::start(move |asked| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Answer { cut: Some(50_000), announced: Some(100_000), ..Answer::file(&old, asked) },
        _ => Answer::file(&second, asked).with("ETag", "\"second\""),
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let arrived = fetch(&network(&server), &wanted(Some(sha256(&new))), folder.path()).unwrap();
    assert_eq!(fs::read(arrived.path).unwrap(), new, "no bytes of the old file are in it");
    assert_eq!(starts(&server), [None, Some(50_000), None]);
}

/// A server that wants a token for the file, and redirects to another name of itself.
fn gated(bytes: Vec<u8>) -> FileServer {
    let other = Arc::new(std::sync::OnceLock::<String>::new());
    let address = Arc::clone(&other);
    let server = FileServer::start(move |asked| match (asked.path.as_str(), asked.token.as_deref()) {
        ("/o/n/resolve/main/model.safetensors", Some("right")) => {
            Answer::to(&format!("{}/storage", address.get().unwrap()))
        }
        ("/o/n/resolve/main/model.safetensors", Some("stranger")) => {
            Answer::status(403).with("X-Error-Code", "GatedRepo")
        }
        ("/o/n/resolve/main/model.safetensors", _) => Answer::status(401).with("X-Error-Code", "GatedRepo"),
        ("/storage", None) => Answer::file(&bytes, asked),
        ("/storage", Some(_)) => Answer::status(400),
        _ => Answer::status(404),
    })
    .unwrap();
    other.set(server.other_url()).unwrap();
    server
}

#[test]
fn a_token_goes_to_the_hub_and_to_nobody_else() {
    let bytes = contents(10_000);
    let server = gated(bytes.clone());
    let folder = tempfile::tempdir().unwrap();
    let with = |token: &str| Network { credentials: Credentials::of(Token::new(token)), ..network(&server) };

    let error = fetch(&network(&server), &wanted(None), folder.path()).unwrap_err();
    assert!(matches!(error, DownloadError::NeedsToken { has_token: false, .. }), "{error}");
    assert!(error.advice().contains("https://huggingface.co/o/n"), "{}", error.advice());
    let error = fetch(&with("wrong"), &wanted(None), folder.path()).unwrap_err();
    assert!(matches!(error, DownloadError::NeedsToken { has_token: true, .. }), "{error}");
    let error = fetch(&with("stranger"), &wanted(None), folder.path()).unwrap_err();
    assert!(matches!(error, DownloadError::NotAllowed { .. }), "{error}");

    let arrived = fetch(&with("right"), &wanted(None), folder.path()).unwrap();
    assert_eq!(fs::read(arrived.path).unwrap(), bytes);
    let asked = server.asked();
    let of_storage: Vec<&Asked> = asked.iter().filter(|asked| asked.path == "/storage").collect();
    assert!(!of_storage.is_empty() && of_storage.iter().all(|asked| asked.token.is_none()), "{of_storage:?}");
    assert!(of_storage.iter().all(|asked| asked.host.starts_with("localhost")));
    // It is shown only to who asks for it.
    assert!(asked.iter().any(|asked| asked.token.is_none() && asked.path.contains("resolve")));
}

#[test]
fn a_server_that_asks_to_wait_is_obeyed() {
    let bytes = contents(1_000);
    let (whole, count) = (bytes.clone(), AtomicUsize::new(0));
    let server = FileServer::start(move |asked| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Answer::status(429).with("Retry-After", "1"),
        1 | 2 => Answer::status(503),
        _ => Answer::file(&whole, asked),
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let arrived = fetch(&network(&server), &wanted(None), folder.path()).unwrap();
    assert_eq!(fs::read(arrived.path).unwrap(), bytes);
    assert!(begin.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn faults_that_stay_are_told_in_words() {
    for (status, expected) in [(500, "Server"), (429, "Busy"), (404, "NotFound"), (418, "Answer")] {
        let server = FileServer::start(move |_| Answer::status(status)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let error = fetch(&network(&server), &wanted(None), folder.path()).unwrap_err();
        assert!(format!("{error:?}").starts_with(expected), "{error:?}");
        let tries = if error.is_temporary() { 4 } else { 1 };
        assert_eq!(server.asked().len(), tries, "{status}");
    }
    let server = FileServer::start(|_| Answer::status(200)).unwrap();
    let nowhere = Network { endpoint: "http://127.0.0.1:9".to_owned(), ..network(&server) };
    let folder = tempfile::tempdir().unwrap();
    let error = fetch(&nowhere, &wanted(None), folder.path()).unwrap_err();
    assert!(error.is_offline(), "{error:?}");
    assert_eq!(error.to_string(), "there is no connection to 127.0.0.1");
    let page = FileServer::start(|_| Answer::text("<html>").with("Content-Type", "text/html; charset=utf-8"))
        .unwrap();
    let error = fetch(&network(&page), &wanted(None), folder.path()).unwrap_err();
    assert!(error.to_string().contains("a web page in place of the file"), "{error}");
    let civitai = Wanted { source: Source::Civitai { version: 7, query: String::new() }, ..wanted(None) };
    let error = fetch(&network(&page), &civitai, folder.path()).unwrap_err();
    assert!(error.advice().contains("CIVITAI_API_TOKEN"), "{error}");
    let endless = FileServer::start(|asked| Answer::to(&asked.path)).unwrap();
    let error = fetch(&network(&endless), &wanted(None), folder.path()).unwrap_err();
    assert!(error.to_string().contains("redirects without end"), "{error}");
}

#[test]
fn the_space_is_checked_before_anything_is_written() {
    let bytes = contents(20_000);
    let whole = bytes.clone();
    let server = FileServer::start(move |asked| Answer::file(&whole, asked)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let full = Network { free_space: |_| Ok(5_000), ..network(&server) };
    let error = fetch(&full, &wanted(None), folder.path()).unwrap_err();
    assert!(matches!(error, DownloadError::NoSpace { free: 5_000, .. }), "{error}");
    let written = fs::metadata(folder.path().join(format!("{NAME}.part"))).unwrap().len();
    assert_eq!(written, 0);
    // What others still need counts, too.
    let claimed = || FREE - 100;
    let error =
        transfer(&network(&server), &wanted(None), folder.path(), &Stop::default(), &claimed, &|_| ());
    assert!(matches!(error, Err(DownloadError::NoSpace { free: 100, .. })), "{error:?}");
    assert!(fetch(&network(&server), &wanted(None), folder.path()).is_ok());
}

#[test]
fn two_downloads_of_one_file_do_not_mix() {
    let bytes = contents(200_000);
    let whole = bytes.clone();
    let server = FileServer::start(move |asked| {
        let slowly = Some((20_000, Duration::from_millis(30)));
        Answer { slowly, ..Answer::file(&whole, asked) }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let network = network(&server);
    thread::scope(|scope| {
        let first = scope.spawn(|| fetch(&network, &wanted(None), folder.path()));
        while leftovers(folder.path()).is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(30));
        let error = fetch(&network, &wanted(None), folder.path()).unwrap_err();
        assert!(matches!(error, DownloadError::InUse { .. }), "{error}");
        assert_eq!(fs::read(first.join().unwrap().unwrap().path).unwrap(), bytes);
    });
}

#[test]
fn a_stopped_transfer_ends_at_once_and_goes_on_later() {
    let bytes = contents(300_000);
    let whole = bytes.clone();
    let server = FileServer::start(move |asked| {
        let slowly = asked.from.is_none().then_some((30_000, Duration::from_millis(100)));
        Answer { slowly, ..Answer::file(&whole, asked) }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (stop, wanted) = (Stop::default(), wanted(Some(sha256(&bytes))));
    let told = |told: Told| {
        if matches!(told, Told::Bytes(bytes) if bytes >= 60_000) {
            stop.stop();
        }
    };
    let error = transfer(&network(&server), &wanted, folder.path(), &stop, &|| 0, &told).unwrap_err();
    assert!(matches!(error, DownloadError::Stopped), "{error}");
    assert_eq!(leftovers(folder.path()).len(), 2);
    // Another mirror of the same file takes it up.
    let whole = bytes.clone();
    let mirror = FileServer::start(move |asked| Answer::file(&whole, asked)).unwrap();
    let arrived = fetch(&network(&mirror), &wanted, folder.path()).unwrap();
    assert_eq!(fs::read(arrived.path).unwrap(), bytes);
    assert!(starts(&mirror)[0].is_some_and(|from| from >= 60_000), "{:?}", starts(&mirror));
}

/// Waits until a download is in a phase.
fn wait(downloads: &Downloads, id: DownloadId, is_there: impl Fn(&Download) -> bool) -> Download {
    let begin = Instant::now();
    loop {
        let all = downloads.list();
        let found = all.iter().find(|download| download.id == id).unwrap_or_else(|| panic!("{id:?} is gone"));
        if is_there(found) {
            return found.clone();
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "waited in vain: {found:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn order(folder: &Path, names: &[&str]) -> Order {
    let files = names.iter().map(|name| Wanted {
        source: Source::Hub { repository: "o/n".into(), revision: "main".into(), path: (*name).to_owned() },
        to: name.into(),
        sorts: false,
        bytes: None,
        sha256: None,
    });
    Order { title: names.join(" and "), files: files.collect(), folder: folder.to_owned(), opens: None }
}

#[test]
fn several_downloads_run_at_once_up_to_a_limit() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, peak) = (Arc::clone(&now), Arc::clone(&most));
    let server = FileServer::start(move |asked| {
        peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(120));
        running.fetch_sub(1, Ordering::SeqCst);
        Answer::file(asked.path.as_bytes(), asked)
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let downloads = Downloads::start(network(&server), None, Arc::new(|| ())).unwrap();
    let names: Vec<String> = (0..7).map(|number| format!("{number}.gguf")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let id = downloads.add(order(folder.path(), &names));
    assert_eq!(downloads.add(order(folder.path(), &names)), id, "the same order is not listed twice");
    let done = wait(&downloads, id, |download| matches!(download.phase, Phase::Done { .. }));
    assert_eq!(done.files, (7, 7));
    let Phase::Done { opens, is_verified } = done.phase else { panic!() };
    assert_eq!((opens, is_verified), (folder.path().join("0.gguf"), false));
    assert_eq!(most.load(Ordering::SeqCst), sluice::downloads::AT_ONCE);
    downloads.cancel(id);
    assert!(downloads.list().is_empty() && folder.path().join("0.gguf").exists());
}

#[test]
fn a_download_that_does_not_fit_as_a_whole_is_not_begun() {
    let server = FileServer::start(|asked| Answer::file(b"here", asked)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let downloads = Downloads::start(network(&server), None, Arc::new(|| ())).unwrap();
    let large = |names: &[&str]| {
        let mut order = order(folder.path(), names);
        order.files.iter_mut().for_each(|wanted| wanted.bytes = Some(FREE / 5 * 3));
        order
    };
    let id = downloads.add(large(&["denoiser.gguf", "encoder.gguf"]));
    let failed = wait(&downloads, id, |download| matches!(download.phase, Phase::Failed(_)));
    let Phase::Failed(failure) = failed.phase else { panic!() };
    assert!(failure.message.starts_with("there is not enough space in "), "{failure:?}");
    assert!(server.asked().is_empty(), "each file would fit, but not both");

    // What is here already needs no more space.
    fs::write(folder.path().join("encoder.gguf"), b"here").unwrap();
    downloads.resume(id);
    let done = wait(&downloads, id, |download| matches!(download.phase, Phase::Done { .. }));
    assert_eq!(done.files, (2, 2));
    assert_eq!(server.asked().len(), 1);

    let id = downloads.add(large(&["a.gguf", "b.gguf"]));
    wait(&downloads, id, |download| matches!(download.phase, Phase::Failed(_)));
    downloads.set_network(Network { free_space: |_| Ok(2 * FREE), ..network(&server) });
    downloads.resume(id);
    wait(&downloads, id, |download| matches!(download.phase, Phase::Done { .. }));
}

#[test]
fn a_pause_and_a_new_session_go_on_from_what_is_here() {
    let bytes = contents(400_000);
    let whole = bytes.clone();
    let server = FileServer::start(move |asked| {
        let slowly = asked.from.is_none().then_some((20_000, Duration::from_millis(40)));
        Answer { slowly, ..Answer::file(&whole, asked) }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("state/downloads.json");
    let start = || Downloads::start(network(&server), Some(kept.clone()), Arc::new(|| ())).unwrap();
    let downloads = start();
    let id = downloads.add(order(folder.path(), &["big.gguf"]));
    wait(&downloads, id, |download| download.done >= 60_000);
    downloads.pause(id);
    let paused = wait(&downloads, id, |download| download.phase == Phase::Paused && download.speed == 0.0);
    assert!(paused.done < 400_000 && paused.is_unfinished());
    drop(downloads);

    let downloads = start();
    let [again] = downloads.list().try_into().unwrap();
    assert_eq!(again.phase, Phase::Paused, "nothing is fetched without being asked");
    assert!(again.done >= 60_000, "{again:?}");
    downloads.resume(again.id);
    wait(&downloads, again.id, |download| matches!(download.phase, Phase::Done { .. }));
    assert_eq!(fs::read(folder.path().join("big.gguf")).unwrap(), bytes);
    assert!(starts(&server).last().unwrap().is_some_and(|from| from >= 60_000), "{:?}", starts(&server));
    assert!(!kept.exists(), "nothing is left to do");
}

#[test]
fn a_cancelled_download_leaves_nothing_and_a_failed_one_can_be_retried() {
    let works = Arc::new(AtomicUsize::new(0));
    let switch = Arc::clone(&works);
    let server =
        FileServer::start(move |asked| match (asked.path.contains("slow"), switch.load(Ordering::Relaxed)) {
            (true, _) => Answer {
                slowly: Some((1_000, Duration::from_millis(50))),
                ..Answer::file(&contents(100_000), asked)
            },
            (false, 0) => Answer::status(404),
            (false, _) => Answer::file(b"here", asked),
        })
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let downloads = Downloads::start(network(&server), None, Arc::new(|| ())).unwrap();
    let slow = downloads.add(order(folder.path(), &["slow.gguf"]));
    let gone = downloads.add(order(folder.path(), &["gone.gguf"]));
    wait(&downloads, slow, |download| download.done > 0);
    downloads.cancel(slow);
    let failed = wait(&downloads, gone, |download| matches!(download.phase, Phase::Failed(_)));
    let Phase::Failed(failure) = failed.phase else { panic!() };
    assert_eq!(failure.message, "gone.gguf of o/n is not on 127.0.0.1");
    works.store(1, Ordering::Relaxed);
    downloads.resume(gone);
    wait(&downloads, gone, |download| matches!(download.phase, Phase::Done { .. }));
    let begin = Instant::now();
    while folder.path().join("slow.gguf.part").exists() {
        assert!(begin.elapsed() < Duration::from_secs(10), "the incomplete file stays");
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(downloads.list().len(), 1);
}

#[test]
fn without_a_connection_it_waits_and_goes_on_by_itself_when_asked() {
    let server = FileServer::start(|asked| Answer::file(b"here", asked)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let nowhere = Network { endpoint: "http://127.0.0.1:9".to_owned(), ..network(&server) };
    let downloads = Downloads::start(nowhere, None, Arc::new(|| ())).unwrap();
    let id = downloads.add(order(folder.path(), &["a.gguf"]));
    let offline = wait(&downloads, id, |download| matches!(download.phase, Phase::Offline { .. }));
    assert!(offline.is_unfinished(), "it is a state, not a failure");
    downloads.set_network(network(&server));
    downloads.resume(id);
    wait(&downloads, id, |download| matches!(download.phase, Phase::Done { .. }));
}

/// The programming interfaces of the hub and of Civitai, as far as they are used.
fn sites() -> FileServer {
    FileServer::start(|asked| match asked.path.as_str() {
        "/api/models/o/whole/tree/main?recursive=true" => Answer::text(
            r#"[{"type":"file","path":"model_index.json","size":3},{"type":"directory","path":"unet"}]"#,
        )
        .with("Link", "</api/models/o/whole/tree/main?recursive=true&cursor=2>; rel=\"next\""),
        "/api/models/o/several/tree/main?recursive=true" => Answer::text(
            r#"[{"type":"file","path":"a-Q4_K.gguf","size":3},{"type":"file","path":"a-Q8_0.gguf","size":5}]"#,
        ),
        "/api/models/o/none/tree/main?recursive=true" => Answer::text(r#"[{"type":"file","path":"a.ckpt"}]"#),
        "/api/models/o/whole" => Answer::text(r#"{"gated":"auto","cardData":{"license":"apache-2.0"}}"#),
        path if path.starts_with("/api/models/o/") && !path.contains("tree") => Answer::text("{}"),
        "/api/models?search=two%20words&limit=30&sort=downloads&direction=-1" => {
            Answer::text(r#"[{"id":"o/whole","downloads":7},{"odd":1},{"modelId":"o/several","gated":false}]"#)
        }
        "/api/v1/model-versions/7" => Answer::text(
            r#"{"id":7,"modelId":3,"name":"v1","model":{"name":"Ink","type":"LORA"},"files":[{"name":"ink.safetensors","primary":true,"sizeKB":1}]}"#,
        ),
        _ => Answer::status(404),
    })
    .unwrap()
}

#[test]
fn links_are_looked_up() {
    let server = sites();
    let network = network(&server);
    let look = |text: &str| look_up(&network, &Stop::default(), &Link::parse(text, &server.url()).unwrap());

    let offer = look("o/several").unwrap();
    let error = offer.only().unwrap_err();
    assert!(error.advice().contains("o/several/a-Q4_K.gguf"), "{}", error.advice());
    let offer = look("o/several/a-Q8_0.gguf").unwrap();
    assert_eq!(offer.only().unwrap().bytes(), Some(5));
    let error = look("o/none").unwrap_err();
    assert_eq!(error.to_string(), "o/none has no .safetensors or .gguf files");
    let error = look("o/missing").unwrap_err();
    assert!(matches!(error, DownloadError::NotFound { .. }), "{error}");
    let offer = look("https://civitai.com/models/3?modelVersionId=7").unwrap();
    assert_eq!(offer.title, "Ink v1");
    assert!(offer.only().unwrap().files[0].sorts);

    let found = search(&network, &Stop::default(), " two words ").unwrap();
    let names: Vec<&str> = found.iter().map(|found| found.repository.as_str()).collect();
    assert_eq!(names, ["o/whole", "o/several"]);
}

#[test]
fn a_list_of_files_may_have_several_pages() {
    let server = FileServer::start(|asked| {
        if asked.path.ends_with("cursor=2") {
            return Answer::text(r#"[{"type":"file","path":"unet/model.safetensors","size":9}]"#);
        }
        match asked.path.as_str() {
            "/api/models/o/n" => Answer::text(r#"{"gated":"auto","cardData":{"license":"apache-2.0"}}"#),
            _ => Answer::text(r#"[{"type":"file","path":"model_index.json","size":3}]"#)
                .with("Link", &format!("<http://{}{}&cursor=2>; rel=\"next\"", asked.host, asked.path)),
        }
    })
    .unwrap();
    let network = network(&server);
    let link = Link::parse("o/n", &server.url()).unwrap();
    let offer = look_up(&network, &Stop::default(), &link).unwrap();
    assert!(offer.is_gated);
    assert_eq!(offer.licence.as_deref(), Some("apache-2.0"));
    let whole = offer.only().unwrap();
    assert_eq!(whole.bytes(), Some(12));
    assert_eq!(whole.folder.as_deref(), Some(Path::new("diffusers/n")));
}

#[test]
fn a_model_in_two_repositories_is_one_download() {
    let server = FileServer::start(|asked| match asked.path.as_str() {
        path if !path.contains("/tree/") => Answer::text("{}"),
        path if path.starts_with("/api/models/warp-ai/wuerstchen-prior/") => Answer::text(
            r#"[{"type":"file","path":"model_index.json","size":3},{"type":"file","path":"prior/a.safetensors","size":9}]"#,
        ),
        path if path.starts_with("/api/models/warp-ai/wuerstchen/") => Answer::text(
            r#"[{"type":"file","path":"model_index.json","size":3},{"type":"file","path":"decoder/a.safetensors","size":5}]"#,
        ),
        _ => Answer::status(404),
    })
    .unwrap();
    let network = network(&server);
    for (asked, opens) in
        [("warp-ai/wuerstchen", "wuerstchen"), ("warp-ai/wuerstchen-prior", "wuerstchen-prior")]
    {
        let link = Link::parse(asked, &server.url()).unwrap();
        let offer = look_up(&network, &Stop::default(), &link).unwrap();
        let whole = offer.only().unwrap();
        assert_eq!(whole.bytes(), Some(20));
        assert_eq!(whole.folder.as_deref(), Some(&*Path::new("diffusers").join(opens)));
        let to = |path: &str| whole.files.iter().any(|file| file.to == Path::new("diffusers").join(path));
        assert!(to("wuerstchen/decoder/a.safetensors") && to("wuerstchen-prior/prior/a.safetensors"));
    }
}

#[test]
fn a_file_goes_where_its_contents_belong() {
    use sluice_tests::checkpoint::{Fixture, Layout, Stored};
    let made = tempfile::tempdir().unwrap();
    Fixture::new("flux", "dev").write(made.path(), Layout::Split, Stored::F32).unwrap();
    let files: Vec<(&str, &str)> = vec![
        ("diffusion_models/tiny_flux.safetensors", "diffusion_models"),
        ("vae/ae.safetensors", "vae"),
        ("text_encoders/t5xxl.safetensors", "text_encoders"),
    ];
    for (path, expected) in files {
        let bytes = fs::read(made.path().join(path)).unwrap();
        let server = FileServer::start(move |asked| Answer::file(&bytes, asked)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let sorted = Wanted { sorts: true, ..wanted(None) };
        let arrived = fetch(&network(&server), &sorted, folder.path()).unwrap();
        assert_eq!(arrived.path, folder.path().join(expected).join(NAME));
        assert!(fetch(&network(&server), &sorted, folder.path()).unwrap().was_here);
    }
}
