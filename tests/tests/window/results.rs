//! What the menus of results offer, as those of the gallery do: stars, the trash, input clips, inpainting and copies.

use std::{
    fs::{self, File},
    path::PathBuf,
    thread,
    time::{Duration, Instant, SystemTime},
};

use egui::{Key, Theme, accesskit::Role};
use egui_kittest::kittest::Queryable;
use sluice::window::{app::SluiceApp, collection::Places, state::State};
use sluice_engine::{
    output::{Codec, Media, Settings, read_settings, write_media, write_png},
    request::{Mode, Request},
    session::{Event, JobId, ModelSummary, Picture},
};
use tempfile::TempDir;

use super::{
    behaviour::nothing_is_unnamed,
    support::{Window, clip, landscape, moving, picture, starter},
};

/// A folder of results, and one for what the gallery keeps.
struct Folders {
    results: TempDir,
    data: TempDir,
}

impl Folders {
    /// The last of them is the newest, and a second old: each is a second older than the next.
    fn with_images(names: &[&str]) -> Self {
        let folders = Self { results: tempfile::tempdir().unwrap(), data: tempfile::tempdir().unwrap() };
        let oldest = SystemTime::now() - Duration::from_secs(names.len() as u64 + 1);
        for (seed, name) in (1..).zip(names) {
            let request = Request { prompt: (*name).to_owned(), seed, ..Request::default() };
            let media = Media::Image(landscape(64, 64, seed, 1.0));
            let path = folders.path(name);
            write_png(&path, &media, &Settings::new(&request, "Starter", "", 0)).unwrap();
            File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_modified(oldest + Duration::from_secs(seed))
                .unwrap();
        }
        folders
    }

    fn with_clip(name: &str) -> Self {
        let folders = Self::with_images(&[]);
        let request = Request { prompt: "waves".to_owned(), frames: 8, ..Request::default() };
        let settings = Settings::new(&request, "wan2.1", "wan", 0);
        let media = Media::Clip(clip(64, 48, 8, 8.0));
        write_media(&folders.path(name), &media, &settings, Codec::H264).unwrap();
        folders
    }

    fn path(&self, name: &str) -> PathBuf {
        self.results.path().join(name)
    }

    /// A window that lists them and shows the newest. Its gallery was not opened.
    fn open(&self) -> Window {
        let count = fs::read_dir(&self.results).unwrap().count();
        let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| {
            setup.folder = Some(self.results.path().to_owned());
            setup.places = Places { data: Some(self.data.path().to_owned()), cache: None };
        });
        window.says(Event::ModelLoaded(Box::new(starter())));
        window.take_commands();
        window.wait_for("the results", |app| {
            let images = &app.state().images;
            images.recents.iter().count() == count && images.shown_recent().is_some()
        });
        window.frames();
        window
    }
}

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

fn names(window: &Window) -> Vec<String> {
    state(window).images.recents.iter().map(|recent| recent.name()).collect()
}

fn shown(window: &Window) -> String {
    state(window).images.shown_recent().unwrap().name()
}

fn has_star(app: &SluiceApp) -> bool {
    !app.state().images.starred.is_empty()
}

/// Opens the menu of a result in the list below the image.
fn menu(window: &mut Window, name: &str) {
    window.harness.get_by_role_and_label(Role::Button, name).click_secondary();
    window.frames();
}

#[test]
fn a_result_gets_a_star_that_the_gallery_has_too() {
    let folders = Folders::with_images(&["boat.png"]);
    let mut window = folders.open();
    menu(&mut window, "boat.png");
    nothing_is_unnamed(&window, "the menu of a result");
    assert!(!window.shows("Remove star"));
    window.click("Add star");
    window.wait_for("the star", has_star);
    drop(window);

    let mut window = folders.open();
    window.wait_for("the star of the session before", has_star);
    window.harness.key_press(Key::G);
    window.frames();
    window.wait_for("the gallery", |app| app.gallery().shelf.unread == Some(0));
    assert!(window.harness.state().gallery().shelf.is_starred(&folders.path("boat.png")));
    window.harness.key_press(Key::G);
    window.frames();
    menu(&mut window, "boat.png");
    assert!(!window.shows("Add star"));
    window.click("Remove star");
    window.wait_for("the end of the star", |app| !has_star(app));
}

#[cfg(not(target_os = "macos"))]
#[test]
fn a_result_goes_to_the_trash_and_comes_back_to_its_place() {
    let folders = Folders::with_images(&["a.png", "b.png", "c.png"]);
    let mut window = folders.open();
    let before = names(&window);
    assert_eq!(before, ["c.png", "b.png", "a.png"]);
    window.click("b.png");
    menu(&mut window, "b.png");
    window.click("Move to trash");
    window.wait_for_words("b.png moved to the trash");
    assert!(!folders.path("b.png").exists());
    assert_eq!((names(&window).concat().as_str(), shown(&window).as_str()), ("c.pnga.png", "a.png"));
    window.click("Undo");
    window.wait_for_words("Restored b.png");
    assert_eq!(read_settings(&folders.path("b.png")).unwrap().settings.seed, 2);
    assert_eq!((names(&window), shown(&window).as_str()), (before, "b.png"));
    window.wait_for("its pixels", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.pixels.is_some())
    });
}

#[cfg(not(target_os = "macos"))]
#[test]
fn a_long_name_leaves_room_for_what_was_done_and_the_whole_is_told_once() {
    let long = "2026-11-21 a calm lake between green hills at sunset, seen from a stony path, 4711.png";
    let folders = Folders::with_images(&["a.png", long]);
    let mut window = folders.open();
    assert_eq!(shown(&window), long);
    window.harness.key_press(Key::Delete);
    window.frames();
    let done = "moved to the trash";
    window.wait_for_words(done);
    let (text, is_cut) = window.painted(done);
    assert!(!is_cut && text.contains('…') && text.ends_with(done), "{text}");
    let whole = format!("{long} {done}");
    let place = window.harness.get_by_label(&whole).rect();
    assert!(place.height() < 50.0, "{place:?}");
    let told = |window: &Window| window.harness.query_all_by_label(&whole).count();
    // The notice may still move when it is new.
    for _ in 0..20 {
        let place = window.harness.query_all_by_label(&whole).next().unwrap().rect();
        window.harness.hover_at(place.center());
        window.harness.run_steps(6);
        if told(&window) > 1 {
            break;
        }
    }
    assert_eq!(told(&window), 2, "in the notice, and in one tooltip");
}

#[test]
fn a_caption_shows_a_seed_as_a_whole_or_not_at_all() {
    for width in [1280.0, 1100.0, 1000.0] {
        let mut window = Window::open([width, 800.0], Theme::Dark, |_| ());
        window.says(Event::ModelLoaded(Box::new(starter())));
        window.click("Generate");
        window.says(Event::Started { job: JobId(1) });
        let pictures = vec![Picture { seed: u64::MAX, ..moving(64, 48, 24, 16.0) }];
        window.says(Event::Finished { job: JobId(1), pictures, seconds: 1.0 });
        window.frames();
        let (caption, is_cut) = window.painted("64 × 48");
        let seed = u64::MAX.to_string();
        assert!(!is_cut && (caption.contains(&seed) || !caption.contains("seed")), "{width}: {caption}");
    }
}

#[test]
fn a_key_moves_the_shown_image_to_the_trash_unless_something_has_the_focus() {
    let folders = Folders::with_images(&["a.png", "b.png"]);
    let mut window = folders.open();
    window.harness.get_by_label("Prompt").focus();
    window.frames();
    window.harness.key_press(Key::Delete);
    window.frames();
    assert!(folders.path("b.png").exists() && names(&window).len() == 2);
    window.harness.key_press(Key::Escape);
    window.frames();
    window.harness.key_press(Key::Delete);
    window.frames();
    window.wait_for_words("b.png moved to the trash");
    assert_eq!((names(&window).as_slice(), shown(&window).as_str()), (&["a.png".to_owned()][..], "a.png"));
    window.click("Undo");
    window.wait_for_words("Restored b.png");
}

#[test]
fn the_newest_result_is_shown_at_the_start_although_it_is_in_a_subfolder() {
    let folders = Folders::with_images(&["a.png"]);
    fs::create_dir(folders.path("foxes")).unwrap();
    let media = Media::Image(landscape(64, 64, 2, 1.0));
    let settings = Settings::new(&Request::default(), "Starter", "", 0);
    write_png(&folders.path("foxes/b.png"), &media, &settings).unwrap();
    let window = folders.open();
    assert_eq!((names(&window).concat().as_str(), shown(&window).as_str()), ("b.pnga.png", "b.png"));
}

#[test]
fn what_other_programs_delete_leaves_the_list_and_comes_back_to_it() {
    let folders = Folders::with_images(&["a.png", "b.png", "c.png"]);
    let mut window = folders.open();
    let contents = fs::read(folders.path("c.png")).unwrap();
    for name in ["b.png", "c.png"] {
        fs::remove_file(folders.path(name)).unwrap();
    }
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(1500) {
        thread::sleep(Duration::from_millis(10));
        window.frames();
    }
    assert_eq!((names(&window).len(), shown(&window).as_str()), (3, "c.png"), "nobody looks all the time");
    let count = |app: &SluiceApp| app.state().images.recents.iter().count();
    window.harness.event(egui::Event::WindowFocused(true));
    window.wait_for("the end of two images", |app| count(app) == 1);
    assert_eq!((names(&window).concat().as_str(), shown(&window).as_str()), ("a.png", "a.png"));
    assert!(state(&window).messages.failures.is_empty(), "nobody has asked for them");
    fs::write(folders.path("c.png"), contents).unwrap();
    window.harness.event(egui::Event::WindowFocused(true));
    window.wait_for("one of them", |app| count(app) == 2);
    assert_eq!((names(&window).concat().as_str(), shown(&window).as_str()), ("c.pnga.png", "a.png"));
}

#[test]
fn with_one_file_that_is_gone_the_others_leave_the_list_too() {
    let folders = Folders::with_images(&["a.png", "b.png", "c.png"]);
    let mut window = folders.open();
    let contents = fs::read(folders.path("a.png")).unwrap();
    for name in ["a.png", "b.png"] {
        fs::remove_file(folders.path(name)).unwrap();
    }
    let count = |app: &SluiceApp| app.state().images.recents.iter().count();
    window.click("a.png");
    window.wait_for("their end", |app| count(app) == 1);
    assert_eq!((names(&window).concat().as_str(), shown(&window).as_str()), ("c.png", "c.png"));
    assert_eq!(state(&window).messages.failures.len(), 1, "of the one that was to be shown");
    fs::write(folders.path("a.png"), contents).unwrap();
    window.harness.event(egui::Event::WindowFocused(true));
    window.wait_for("the one that was to be shown", |app| count(app) == 2);
    assert_eq!((names(&window).concat().as_str(), shown(&window).as_str()), ("c.pnga.png", "c.png"));
}

#[test]
fn what_cannot_go_to_the_trash_is_said_beside_the_image() {
    let folders = Folders::with_images(&["a.png", "b.png"]);
    let mut window = folders.open();
    fs::remove_file(folders.path("a.png")).unwrap();
    menu(&mut window, "a.png");
    window.click("Move to trash");
    window.wait_for_words("Not everything could be moved to the trash");
    assert_eq!(state(&window).messages.failures.len(), 1);
}

#[test]
fn a_clip_is_the_input_of_the_next_one() {
    let folders = Folders::with_clip("waves.mp4");
    let mut window = folders.open();
    menu(&mut window, "waves.mp4");
    assert!(!window.shows("Use as input clip"), "the starter makes no clips");
    assert!(!window.shows("Inpaint…") && !window.shows("Save as…"), "they are for images");
    window.harness.key_press(Key::Escape);
    window.frames();
    let modes = vec![Mode::Text, Mode::VideoToVideo];
    window.says(Event::ModelLoaded(Box::new(ModelSummary { frame_multiple: Some(4), modes, ..starter() })));
    menu(&mut window, "waves.mp4");
    nothing_is_unnamed(&window, "the menu of a clip");
    window.click("Use as input clip");
    let clip = state(&window).draft().request.clip.clone().unwrap();
    assert_eq!((clip.path, clip.extends), (folders.path("waves.mp4"), false));
    assert!(window.shows("Input clip: waves.mp4"));
}

#[test]
fn a_result_is_painted_over_at_once() {
    let folders = Folders::with_images(&["boat.png"]);
    let mut window = folders.open();
    menu(&mut window, "boat.png");
    window.click("Inpaint…");
    window.wait_for("the brush", |app| app.state().input.painting.is_some());
    window.frames();
    assert!(window.shows("Mask over the image"));
    nothing_is_unnamed(&window, "painting over a result");
    let source = state(&window).draft().request.source.clone().unwrap();
    assert_eq!(source.path, folders.path("boat.png"));
    window.click("Discard");
    assert!(state(&window).input.painting.is_none() && state(&window).input.paints.is_none());
}

#[test]
fn a_copy_is_saved_under_a_name_that_says_the_format() {
    let folders = Folders::with_images(&["boat.png"]);
    let mut window = folders.open();
    menu(&mut window, "boat.png");
    window.click("Save as…");
    window.wait_for_words("There is a file with this name.");
    nothing_is_unnamed(&window, "saving an image");
    window.replace("File name", "small.jpg");
    assert!(!window.shows("There is a file with this name."));
    window.click("Save");
    window.wait_for_words("Saved small.jpg");
    let copy = folders.path("small.jpg");
    assert_eq!(fs::read(&copy).unwrap()[..2], [0xff, 0xd8]);
    assert_eq!(read_settings(&copy).unwrap().settings.seed, 1);
}

/// The bars above and below the image leave another canvas for it than there was before.
#[test]
fn the_first_frame_of_an_image_says_its_zoom() {
    let mut window = Window::with_starter();
    window.click("Generate");
    let job = window.take_job().id;
    window.frames();
    window.events.send(Event::Started { job }).unwrap();
    let pictures = vec![picture(1024, 1024, 5)];
    window.events.send(Event::Finished { job, pictures, seconds: 1.0 }).unwrap();
    let painted = |window: &Window| -> Vec<String> {
        let shapes = window.harness.output().shapes.iter();
        let texts = shapes.filter_map(|clipped| match &clipped.shape {
            egui::Shape::Text(text) => Some(text.galley.text().to_owned()),
            _ => None,
        });
        texts.filter(|text| text.ends_with('%')).collect()
    };
    window.harness.run_steps(1);
    let first = painted(&window);
    window.frames();
    assert!(first.len() > 1 && first == painted(&window), "{first:?}, then {:?}", painted(&window));
}
