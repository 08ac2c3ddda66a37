//! The place for downloads and the first start, with a real server on this computer.

use std::{fs, path::Path, time::Duration};

use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::{
    downloads::{Network, Order, Phase, Source, Wanted, catalogue::catalogue},
    window::{
        action::GetAction,
        app::Lock,
        get::DownloadOptions,
        library::LibraryOptions,
        settings::Settings,
        state::{Asked, State, TokenState, Updates},
    },
};
use sluice_engine::{
    request::ModelSource,
    session::{Command, Event, PlanSubject},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored},
    file_server::{Answer, FileServer},
    network::network,
};

use super::{
    behaviour::nothing_is_unnamed,
    focus::check,
    library,
    runs::Scene,
    support::{Window, machine, starter},
};

const SIZE: [f32; 2] = [1280.0, 800.0];

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

/// A window that downloads from this server into this folder.
fn window(server: &FileServer, folder: &Path) -> Window {
    window_with(server, folder, |_| ())
}

fn window_with(server: &FileServer, folder: &Path, change: impl FnOnce(&mut Settings)) -> Window {
    window_over(network(server), server, folder, change)
}

fn window_over(
    network: Network,
    server: &FileServer,
    folder: &Path,
    change: impl FnOnce(&mut Settings),
) -> Window {
    let kept = Some(folder.join("downloads.json"));
    let models = folder.join("models");
    let mut window = Window::open(SIZE, Theme::Dark, |setup| {
        change(setup.settings.get_or_insert_default());
        let releases = Some(format!("{}/releases/latest", server.url()));
        setup.downloads = Some(DownloadOptions { network, kept, folder: models.clone(), releases });
        setup.library = LibraryOptions { folders: vec![models.clone()], ..LibraryOptions::default() };
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window
}

/// Opens the place by keyboard and mouse.
fn open(window: &mut Window) {
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    window.wait_for("the well-known models", |app| !app.state().library.known.is_empty());
    window.click("Get models…");
    assert!(window.shows("Search Hugging Face, or paste a link"));
}

fn find(window: &mut Window, words: &str) {
    window.fill("Search Hugging Face, or paste a link", words);
    window.click("Search");
}

/// A repository with one tiny model, or several files.
fn hub(slowly: Option<(usize, Duration)>) -> (FileServer, Vec<u8>) {
    let made = tempfile::tempdir().unwrap();
    Fixture::new("flux", "dev").write(made.path(), Layout::Split, Stored::F32).unwrap();
    let bytes = fs::read(made.path().join("diffusion_models/tiny_flux.safetensors")).unwrap();
    let (whole, size) = (bytes.clone(), bytes.len());
    let server = FileServer::start(move |asked| match asked.path.as_str() {
        "/o/one/resolve/main/tiny.safetensors" => Answer { slowly, ..Answer::file(&whole, asked) },
        "/api/models/o/one/tree/main?recursive=true" => {
            Answer::text(&format!(r#"[{{"type":"file","path":"tiny.safetensors","size":{size}}}]"#))
        }
        "/api/models/o/two/tree/main?recursive=true" => Answer::text(
            r#"[{"type":"file","path":"a-Q4.gguf","size":7},{"type":"file","path":"a-Q8.gguf","size":9}]"#,
        ),
        "/api/models/o/one" => Answer::text(r#"{"gated":false,"tags":["license:mit"]}"#),
        "/api/models/o/two" => Answer::text(r#"{"gated":"manual"}"#),
        path if path.starts_with("/api/models?search=") => {
            Answer::text(r#"[{"id":"o/one","downloads":1200,"likes":3},{"id":"o/two","gated":"auto"}]"#)
        }
        _ => Answer::status(404),
    });
    (server.unwrap(), bytes)
}

#[test]
fn a_link_is_downloaded_and_opened_with_one_click() {
    let (server, bytes) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    open(&mut window);
    nothing_is_unnamed(&window, "the catalogue");
    find(&mut window, "https://huggingface.co/o/one/blob/main/tiny.safetensors");
    window.wait_for("the offer", |app| matches!(app.state().downloads.asked, Asked::Offer(_)));
    window.frames();
    assert!(window.shows("Licence: mit"));
    nothing_is_unnamed(&window, "an offer");
    window.click("Download tiny.safetensors");
    window.wait_for("the model", |app| {
        matches!(app.state().downloads.list.first().map(|one| &one.phase), Some(Phase::Done { .. }))
    });
    window.frames();
    let path = folder.path().join("models/diffusion_models/tiny.safetensors");
    assert_eq!(fs::read(&path).unwrap(), bytes);
    nothing_is_unnamed(&window, "a finished download");
    window.wait_for("the library", |app| {
        app.state().library.inventory.items.iter().any(|item| item.path == path)
    });
    window.take_commands();
    window.click("Open this model");
    assert_eq!(window.take_commands(), [Command::Load { model: ModelSource::Path(path) }]);
    assert!(!state(&window).library.is_open, "the place is closed");
}

#[test]
fn a_download_is_paused_resumed_and_cancelled() {
    let (server, bytes) = hub(Some((2_000, Duration::from_millis(40))));
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    open(&mut window);
    find(&mut window, "o/one");
    window.wait_for("the offer", |app| matches!(app.state().downloads.asked, Asked::Offer(_)));
    window.frames();
    window.click("Download tiny.safetensors");
    window.wait_for("bytes", |app| app.state().downloads.list.first().is_some_and(|one| one.done > 4_000));
    window.frames();
    nothing_is_unnamed(&window, "a running download");
    window.click("Pause tiny.safetensors");
    window.wait_for("the pause", |app| app.state().downloads.list[0].phase == Phase::Paused);
    let part = folder.path().join("models/tiny.safetensors.part");
    assert!(part.exists() && fs::metadata(&part).unwrap().len() < bytes.len() as u64);
    window.frames();
    window.click("Resume tiny.safetensors");
    window.wait_for("more bytes", |app| app.state().downloads.list[0].phase == Phase::Running);
    window.frames();
    window.click("Cancel tiny.safetensors and remove what is here of it");
    window.wait_for("the end", |app| app.state().downloads.list.is_empty());
    let begin = std::time::Instant::now();
    while part.exists() {
        assert!(begin.elapsed() < Duration::from_secs(10), "the incomplete file stays");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn words_are_searched_and_what_is_wrong_is_said() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    open(&mut window);
    find(&mut window, "two words");
    window.wait_for("results", |app| matches!(app.state().downloads.asked, Asked::Found(..)));
    window.frames();
    assert!(window.shows("1.2 k downloads a month") || window.shows("downloads a month"));
    nothing_is_unnamed(&window, "results");
    window.click("Show files of o/two");
    window.wait_for("the offer", |app| matches!(app.state().downloads.asked, Asked::Offer(_)));
    window.frames();
    assert!(window.shows("a-Q4.gguf") && window.shows("a-Q8.gguf"));
    assert!(window.shows("Its conditions have to be accepted"));
    window.click("Back to the catalogue");
    assert!(window.shows("Names and sizes as of"));

    find(&mut window, "o/missing");
    window.wait_for("a failure", |app| matches!(app.state().downloads.asked, Asked::Failed { .. }));
    window.frames();
    assert!(window.shows("Not found") && window.shows("o/missing is not on 127.0.0.1"));
    window.click("Back to the catalogue");
    find(&mut window, "https://huggingface.co/datasets/a/b");
    window.wait_for("a failure", |app| matches!(app.state().downloads.asked, Asked::Failed { .. }));
    window.frames();
    assert!(window.shows("does not lead to a model"));
}

#[test]
fn without_a_connection_it_says_so_and_a_mirror_helps() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    open(&mut window);
    window.click("Connection");
    window.fill("Mirror", "http://127.0.0.1:9");
    window.click("Use");
    assert_eq!(state(&window).settings.library.downloads.endpoint, "http://127.0.0.1:9");
    find(&mut window, "o/one");
    window.wait_for("the answer", |app| {
        matches!(app.state().downloads.asked, Asked::Failed { is_offline: true, .. })
    });
    window.frames();
    assert!(window.shows("No connection") && window.shows("There is no connection to 127.0.0.1"));
    nothing_is_unnamed(&window, "no connection");
    window.harness.get_by_label("Mirror").focus();
    window.frames();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.frames();
    window.harness.get_by_label("Mirror").type_text(&server.url());
    window.frames();
    window.click("Use");
    window.click("Try again");
    window.wait_for("the offer", |app| matches!(app.state().downloads.asked, Asked::Offer(_)));
}

#[test]
fn a_search_whose_connection_ends_is_no_failed_download() {
    let server =
        FileServer::start(|_| Answer { cut: Some(3), ..Answer::text(r#"[{"id":"o/one"}]"#) }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    open(&mut window);
    find(&mut window, "some words");
    window.wait_for("the answer", |app| {
        matches!(app.state().downloads.asked, Asked::Failed { is_offline: true, .. })
    });
    window.frames();
    assert!(window.shows("No connection") && window.shows("then try again"));
    assert!(!window.shows("has arrived") && !window.shows("before the file"));
}

#[test]
fn sluices_own_folder_is_called_so() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("models")).unwrap();
    let mut window = window(&server, folder.path());
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    window.click("Folders");
    window.wait_for_words("Sluice's own folder");
    assert!(window.shows("Sluice's own folder · ") && !window.shows("Named at the start"));
}

#[test]
fn nothing_moves_when_the_models_for_the_first_start_are_found() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    window.says(Event::Hardware(machine()));
    let place = |window: &Window| window.harness.get_by_label("Get other models…").rect();
    let before = place(&window);
    assert!(window.shows("Finding models that suit it…"));
    answer(&mut window, |window| !state(window).first_models().is_empty());
    window.frames();
    assert!(window.shows("Z-Image Turbo, "));
    assert_eq!(place(&window), before);
}

#[test]
fn the_catalogue_stays_beside_the_panel_of_downloads() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    open(&mut window);
    window.wait_for_words("50.0 GB free");
    // The panel is 340 points wide, and everything ends 16 before it.
    let most = SIZE[0] - 340.0 - 16.0;
    for name in ["Search", "50.0 GB free", "Download Z-Image Turbo"] {
        let rect = window.harness.get_by_label(name).rect();
        assert!(rect.right() <= most, "{name}: {rect:?}");
    }
}

#[test]
fn a_model_for_which_there_is_not_enough_space_says_so() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    open(&mut window);
    window.wait_for_words("50.0 GB free");
    let row = words_of(&window, "Z-Image Turbo, ");
    assert!(!row.contains("not enough free space"), "{row}");

    let full = Network { free_space: |_| Ok(2 << 30), ..network(&server) };
    let mut window = window_over(full, &server, folder.path(), |_| ());
    open(&mut window);
    window.wait_for_words("2.0 GB free");
    let row = words_of(&window, "Z-Image Turbo, ");
    assert!(row.contains("not enough free space"), "{row}");
    nothing_is_unnamed(&window, "models without space");
}

#[test]
fn a_second_window_leaves_the_list_of_downloads_to_the_first() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("downloads.json");
    let source = Source::Address(format!("{}/fox.gguf", server.url()));
    let file = Wanted { source, to: "fox.gguf".into(), sorts: false, bytes: None, sha256: None };
    let order = Order {
        title: "Fox".to_owned(),
        files: vec![file],
        folder: folder.path().join("models"),
        opens: None,
    };
    let list = serde_json::to_vec(&[order]).unwrap();
    fs::write(&kept, &list).unwrap();
    let open = |lock| {
        Window::open(SIZE, Theme::Dark, |setup| {
            setup.lock = lock;
            setup.downloads = Some(DownloadOptions {
                network: network(&server),
                kept: Some(kept.clone()),
                folder: folder.path().join("models"),
                releases: None,
            });
        })
    };
    let mut second = open(Lock::Taken);
    assert!(state(&second).downloads.list.is_empty());
    let context = second.harness.ctx.clone();
    let start = GetAction::Start("z-image".to_owned(), "Q4_K_M".to_owned());
    second.harness.state_mut().act(&context, start.into());
    second.wait_for("the download", |app| !app.state().downloads.list.is_empty());
    drop(second);
    assert_eq!(fs::read(&kept).unwrap(), list);
    let first = open(Lock::First(None));
    let titles: Vec<&str> = state(&first).downloads.list.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(titles, ["Fox"]);
}

#[test]
fn tab_reaches_everything_where_models_are_downloaded() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    open(&mut window);
    window.click("Connection");
    check(&mut window, "get models", &[]);
}

#[test]
fn a_mirror_is_found_among_the_settings() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    window.frames();
    window.fill("Search settings", "proxy");
    window.frames();
    window.click("Connection");
    window.replace("Mirror", "https://mirror.example");
    window.click("Use");
    assert_eq!(state(&window).settings.library.downloads.endpoint, "https://mirror.example");
}

#[test]
fn a_text_that_is_no_token_is_not_kept() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    open(&mut window);
    let is_known = |token: &TokenState| *token != TokenState::Unknown;
    window.wait_for("the keyring", |app| {
        let downloads = &app.state().downloads;
        is_known(&downloads.token) && is_known(&downloads.civitai_token)
    });
    window.click("Connection");
    window.fill("Hugging Face token", "two words");
    window.click("Keep the Hugging Face token in the keyring");
    assert_eq!(state(&window).downloads.token, TokenState::Failed("This is not a token.".to_owned()));
    let saved = state(&window).settings.to_json();
    assert!(!saved.contains("two words"), "no token is in the settings");
    let mistake = state(&window).downloads.token.clone();
    assert_ne!(state(&window).downloads.civitai_token, mistake, "each site has its own");
    window.fill("Civitai token", "not one either");
    window.click("Keep the Civitai token in the keyring");
    assert_eq!(state(&window).downloads.civitai_token, mistake);
    nothing_is_unnamed(&window, "the tokens of two sites");
}

/// Answers questions until that is enough, and counts them: Qwen-Image is too large, others run well in fewer than 16 bits and are streamed otherwise.
fn answer(window: &mut Window, is_enough: fn(&Window) -> bool) -> usize {
    let begin = std::time::Instant::now();
    let mut answered = 0;
    while !is_enough(window) {
        assert!(begin.elapsed() < Duration::from_secs(60), "waited in vain for fits");
        for query in window.take_plans() {
            let scene = match &query.subject {
                PlanSubject::KnownAs(id, _) if id.starts_with("qwen") => Scene::too_large(),
                PlanSubject::KnownAs(_, parts) if parts.values().any(|part| part.bits < 10.0) => {
                    Scene::here()
                }
                _ => Scene::streamed(),
            };
            window.says(scene.answer(query.id));
            answered += 1;
        }
        std::thread::sleep(Duration::from_millis(2));
        window.frames();
    }
    answered
}

/// The whole name of the widget whose name contains these words.
fn words_of(window: &Window, words: &str) -> String {
    let node = window.harness.get_by_label_contains(words);
    let node = node.accesskit_node();
    node.label().or_else(|| node.value()).unwrap_or_default()
}

#[test]
fn each_version_has_its_own_fit_and_the_best_that_runs_well_is_proposed() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    window.says(Event::Hardware(machine()));
    answer(&mut window, |window| !state(window).first_models().is_empty());
    open(&mut window);
    answer(&mut window, |window| {
        let mut all = state(window).versions_to_fit().into_iter();
        all.all(|version| state(window).library.fits.of(&version).is_some())
    });
    let listed = |id: &str| catalogue().find(id).unwrap();
    let proposed = |window: &Window, id: &str| state(window).version_for(listed(id)).unwrap().format.clone();
    assert_eq!(proposed(&window, "z-image"), "Q4_K_M");
    assert_eq!(proposed(&window, "flux.1-schnell"), "fp8", "more bits than Q4_K_S, which runs well, too");
    assert_eq!(proposed(&window, "qwen-image"), "Q4_K_S", "nothing runs: that for 12 GB");
    assert_eq!(proposed(&window, "flux.2-klein-4b"), "Q8_0", "that for 12 GB, bf16, would be streamed");

    window.click("Version of Z-Image Turbo");
    let choice = words_of(&window, "bf16 · ");
    assert!(choice.contains("Runs, streamed · "), "{choice}");
    let choice = words_of(&window, "Q4_K_M · ");
    assert!(choice.contains("Runs well · "), "{choice}");
    nothing_is_unnamed(&window, "the versions of a model");
    window.click_what_says("bf16 · ");
    let row = words_of(&window, "Z-Image Turbo, ");
    assert!(row.contains("Runs, streamed · "), "the row is about the chosen version: {row}");
}

#[test]
fn who_has_no_model_is_offered_three_that_suit_the_card() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&server, folder.path());
    assert!(window.shows("What would you like to create?"), "the starter is there at once");
    window.says(Event::Hardware(machine()));
    let answered = answer(&mut window, |window| !state(window).first_models().is_empty());
    let versions = state(&window).versions_to_fit().len();
    assert!(answered < versions / 4, "{answered} of {versions} versions were asked about for three models");
    let suited: Vec<&str> = state(&window).first_models().iter().map(|listed| listed.id.as_str()).collect();
    assert_eq!(
        suited,
        ["z-image", "flux.2-klein-4b", "flux.1-schnell"],
        "in the catalogue's order, one of a family"
    );
    assert!(window.shows("NVIDIA GeForce RTX 3060, 12.0 GB"));
    assert!(window.shows("Z-Image Turbo, ") && window.shows("Runs well"));
    nothing_is_unnamed(&window, "the first start");
    window.click("Download Z-Image Turbo");
    window.wait_for("the failure", |app| {
        matches!(app.state().downloads.list.first().map(|one| &one.phase), Some(Phase::Failed(_)))
    });
    assert!(state(&window).downloads.list[0].title.starts_with("Z-Image Turbo (Q4_K_M)"), "for 12 GB");
    window.frames();
    assert!(window.shows("Try again Z-Image Turbo"));
    window.click("Get other models…");
    assert!(window.shows("Suits ") && window.shows("All models"));
    let failed = window.shows("is not on 127.0.0.1");
    assert!(failed, "the list says why");
}

#[test]
fn models_that_are_here_already_are_found_and_offered_at_the_first_start() {
    let (server, _) = hub(None);
    let folder = tempfile::tempdir().unwrap();
    library::models(folder.path());
    let mut window = window(&server, folder.path());
    window.wait_for_words("2 models found");
    nothing_is_unnamed(&window, "models that were found");
    window.click("2 models found");
    assert!(state(&window).library.is_open);
    assert!(window.shows("flux1-dev-tiny, FLUX.1 denoiser"));
}

#[test]
fn a_newer_release_is_told_to_who_wants_to_know() {
    let page = "https://example.org/sluice/99.0.0";
    let server = FileServer::start(move |asked| match asked.path.as_str() {
        "/releases/latest" => Answer::text(&format!(r#"{{"tag_name":"v99.0.0","html_url":"{page}"}}"#)),
        _ => Answer::status(404),
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut quiet = window(&server, folder.path());
    assert!(!state(&quiet).settings.looks_for_updates && state(&quiet).updates == Updates::Unasked);
    quiet.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    quiet.frames();
    quiet.fill("Search settings", "new version");
    quiet.click("Look for a new version when Sluice starts");
    assert!(state(&quiet).settings.looks_for_updates);
    assert!(server.asked().is_empty(), "nothing is asked before somebody wants it");
    quiet.click("Look now");
    quiet.wait_for("the answer", |app| matches!(app.state().updates, Updates::Newer(_)));
    quiet.frames();
    assert!(quiet.shows("Sluice 99.0.0 is available.") && quiet.shows("Open its page"));
    nothing_is_unnamed(&quiet, "a newer release");

    let mut wanting = window_with(&server, folder.path(), |settings| settings.looks_for_updates = true);
    wanting.wait_for("the notice", |app| app.state().messages.notice.is_some());
    wanting.frames();
    assert!(wanting.shows("Sluice 99.0.0 is available"));

    let old = FileServer::start(|_| Answer::text(r#"{"tag_name":"v0.0.1","html_url":"https://a.org"}"#));
    let old = old.unwrap();
    let mut newest = window(&old, folder.path());
    newest.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    newest.frames();
    newest.fill("Search settings", "update");
    newest.click("Look now");
    newest.wait_for("the answer", |app| app.state().updates == Updates::Newest);
    newest.frames();
    assert!(newest.shows("This is the latest version."));
    drop(old);
    newest.click("Look now");
    newest.wait_for("the failure", |app| matches!(app.state().updates, Updates::Failed(_)));
    newest.frames();
    assert!(newest.shows("There is no connection to 127.0.0.1."));
}
