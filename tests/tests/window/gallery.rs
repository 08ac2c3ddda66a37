//! The gallery over a folder of images, clips and broken files.

use std::{fs, path::Path};

use egui::{Key, Modifiers, Theme, accesskit::Role};
use egui_kittest::kittest::Queryable;
use sluice::window::{
    action::Action,
    app::{Setup, SluiceApp},
    collection::Places,
    gallery::Gallery,
    state::Shown,
};
use sluice_engine::{
    output::{Codec, Media, Settings, read_settings, write_media, write_png},
    request::Request,
    session::{Event, JobId},
};
use tempfile::TempDir;

use super::{
    behaviour::nothing_is_unnamed,
    support::{Window, clip, landscape, picture, starter},
};

/// A folder with results, and a place for what the gallery keeps.
pub struct Kept {
    pub folder: TempDir,
    places: TempDir,
}

impl Kept {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), places: tempfile::tempdir().unwrap() }
    }

    /// Three images, a clip and a broken file.
    pub fn some() -> Self {
        let kept = Self::new();
        for (seed, prompt, model) in [
            (1, "a red boat on a calm sea <lora:ink:0.7>", "flux1-dev"),
            (2, "a white house in the snow", "sd_xl_base_1.0"),
            (3, "a fox in the forest", "flux1-dev"),
        ] {
            kept.image(&format!("{seed}.png"), seed, prompt, model);
        }
        kept.clip("4.mp4");
        kept.broken("5 broken.png");
        // In the order of their names, whatever the clock says.
        for (name, hour) in [("1.png", 1), ("2.png", 2), ("3.png", 3), ("4.mp4", 4), ("5 broken.png", 5)] {
            kept.age(name, 100 - hour);
        }
        kept
    }

    fn image(&self, name: &str, seed: u64, prompt: &str, model: &str) {
        self.sized_image(name, (96, 64), seed, prompt, model);
    }

    pub fn sized_image(&self, name: &str, (width, height): (u32, u32), seed: u64, prompt: &str, model: &str) {
        let request = Request { prompt: prompt.to_owned(), seed, width, height, ..Request::default() };
        let settings = Settings::new(&request, model, "", 0);
        let image = landscape(width, height, seed, 1.0);
        write_png(&self.folder.path().join(name), &Media::Image(image), &settings).unwrap();
    }

    pub fn clip(&self, name: &str) {
        let request = Request { prompt: "waves at night".to_owned(), frames: 8, ..Request::default() };
        let media = Media::Clip(clip(64, 48, 8, 8.0));
        let settings = Settings::new(&request, "wan2.1", "wan", 0);
        write_media(&self.folder.path().join(name), &media, &settings, Codec::H264).unwrap();
    }

    pub fn broken(&self, name: &str) {
        fs::write(self.folder.path().join(name), b"\x89PNG\r\n\x1a\n and no more").unwrap();
    }

    /// Gives all files the same day, and times in the order of their names.
    pub fn on_one_day(&self) {
        let mut paths: Vec<_> =
            fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for (place, path) in paths.iter().enumerate() {
            let file = fs::File::options().write(true).open(path).unwrap();
            // From 12:00 UTC on 21 November 2026 on.
            let time = std::time::Duration::from_secs(1_795_262_400 + 60 * place as u64);
            file.set_modified(std::time::UNIX_EPOCH + time).unwrap();
        }
    }

    fn age(&self, name: &str, hours: u64) {
        let file = fs::File::options().write(true).open(self.folder.path().join(name)).unwrap();
        let age = std::time::Duration::from_secs(3600 * hours);
        file.set_modified(std::time::SystemTime::now() - age).unwrap();
    }

    pub fn open_sized(&self, size: [f32; 2], theme: Theme) -> Window {
        self.open_with(size, theme, |_| ())
    }

    fn open_with(&self, size: [f32; 2], theme: Theme, change: impl FnOnce(&mut Setup)) -> Window {
        let mut window = Window::open(size, theme, |setup| {
            setup.folder = Some(self.folder.path().to_owned());
            let folder = |name: &str| Some(self.places.path().join(name));
            setup.places = Places { data: folder("data"), cache: folder("cache") };
            change(setup);
        });
        window.says(Event::ModelLoaded(Box::new(starter())));
        window.take_commands();
        window.harness.key_press(Key::G);
        window.frames();
        window.wait_for("the images", |app| app.gallery().shelf.unread == Some(0));
        window
    }

    fn open(&self) -> Window {
        self.open_sized([1280.0, 800.0], Theme::Dark)
    }
}

fn gallery(window: &Window) -> &Gallery {
    window.harness.state().gallery()
}

fn shown(window: &Window) -> Vec<String> {
    gallery(window).shelf.shown().iter().map(|item| item.name()).collect()
}

fn selected(window: &Window) -> Vec<String> {
    gallery(window).shelf.selected().iter().map(|item| item.name()).collect()
}

fn press(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.harness.key_press_modifiers(modifiers, key);
    window.frames();
}

fn click_with(window: &mut Window, modifiers: Modifiers, label: &str) {
    window.harness.get_by_label(label).click_modifiers(modifiers);
    window.frames();
}

fn notice(app: &SluiceApp) -> &str {
    app.gallery().shelf.notice.as_ref().map_or("", |notice| &notice.text)
}

#[test]
fn everything_in_the_folder_is_shown_and_searched() {
    let kept = Kept::some();
    let mut window = kept.open();
    assert_eq!(shown(&window), ["5 broken.png", "4.mp4", "3.png", "2.png", "1.png"]);
    window.wait_for("thumbnails", |app| {
        app.gallery().shelf.shown().iter().filter(|item| app.gallery().thumbnails.has(&item.path)).count()
            >= 4
    });
    nothing_is_unnamed(&window, "the gallery");
    for (text, expected) in [
        ("boat", &["1.png"][..]),
        ("model:flux", &["3.png", "1.png"]),
        ("lora:ink", &["1.png"]),
        ("seed:2", &["2.png"]),
        ("nothing like this", &[]),
    ] {
        let before = gallery(&window).shelf.query().text.clone();
        window.harness.get_by_label("Search").focus();
        window.frames();
        for _ in before.chars() {
            window.harness.key_press(Key::Backspace);
        }
        window.frames();
        window.harness.get_by_label("Search").type_text(text);
        window.frames();
        assert_eq!(shown(&window), expected, "{text}");
    }
    assert!(window.shows("Nothing found"));
    window.click("Clear the search and filters");
    assert_eq!(shown(&window).len(), 5);
    window.click("Clips");
    assert_eq!(shown(&window), ["4.mp4"]);
    window.click("Images");
    assert_eq!(shown(&window).len(), 4);
}

#[test]
fn what_other_programs_delete_leaves_the_open_gallery_when_it_is_clicked() {
    let kept = Kept::some();
    let mut window = kept.open();
    let path = kept.folder.path().join("2.png");
    let click = |window: &mut Window| {
        window.harness.get_by_role_and_label(Role::Button, "2.png").click();
        window.frames();
    };
    window.wait_for("its thumbnail", |app| app.gallery().thumbnails.has(&path));
    click(&mut window);
    window.wait_for("its settings", |app| app.gallery().shelf.details_of(&path).is_some());
    fs::remove_file(&path).unwrap();
    click(&mut window);
    window.wait_for("its end", |app| app.gallery().shelf.count() == 4);
    window.frames();
    assert_eq!(shown(&window), ["5 broken.png", "4.mp4", "3.png", "1.png"]);
    assert!(selected(&window).is_empty() && !gallery(&window).thumbnails.has(&path));
}

#[test]
fn what_other_programs_do_is_seen_without_a_click() {
    let kept = Kept::some();
    let mut window = kept.open_with([1280.0, 800.0], Theme::Dark, |setup| setup.watches_folders = true);
    let path = |name: &str| kept.folder.path().join(name);
    fs::remove_file(path("2.png")).unwrap();
    window.wait_for("its end", |app| app.gallery().shelf.count() == 4);
    kept.image("6.png", 6, "a lighthouse", "flux1-dev");
    fs::create_dir(path("others")).unwrap();
    kept.image("others/7.png", 7, "a meadow", "flux1-dev");
    window.wait_for("both", |app| app.gallery().shelf.count() == 6 && app.gallery().shelf.unread == Some(0));
    assert!(shown(&window).contains(&"7.png".to_owned()));

    press(&mut window, Modifiers::NONE, Key::Escape);
    window.wait_for("it below the image", |app| app.state().images.recents.of_file(&path("6.png")).is_some());
    let before = window.harness.state().state().images.shown;
    kept.image("8.png", 8, "a harbour", "flux1-dev");
    window.wait_for("another one", |app| app.state().images.recents.of_file(&path("8.png")).is_some());
    kept.image("others/9.png", 9, "a bridge", "flux1-dev");
    let in_folder = path("others/9.png");
    window.wait_for("one of a folder in it", |app| app.state().images.recents.of_file(&in_folder).is_some());
    assert_eq!(window.harness.state().state().images.shown, before, "what is shown stays");
    fs::remove_file(path("8.png")).unwrap();
    window.wait_for("its end", |app| app.state().images.recents.of_file(&path("8.png")).is_none());
}

#[test]
fn escape_closes_the_gallery_and_cancels_nothing() {
    let kept = Kept::some();
    let mut window = kept.open();
    window.harness.get_by_label("Search").focus();
    window.frames();
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(gallery(&window).is_open, "Escape leaves the field first");
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!gallery(&window).is_open);
    assert!(window.take_commands().is_empty());
    window.click("Gallery");
    assert!(gallery(&window).is_open);
    press(&mut window, Modifiers::NONE, Key::G);
    assert!(!gallery(&window).is_open);
    window.harness.get_by_label("Prompt").focus();
    window.frames();
    press(&mut window, Modifiers::NONE, Key::G);
    assert!(!gallery(&window).is_open, "a letter in a field opens nothing");
}

#[test]
fn several_are_selected_as_in_a_file_manager_and_two_are_compared() {
    let kept = Kept::some();
    let mut window = kept.open();
    window.click("3.png");
    assert_eq!(selected(&window), ["3.png"]);
    window.wait_for("the settings", |app| app.gallery().shelf.details.is_some());
    window.frames();
    assert!(window.shows("a fox in the forest") && window.shows("Made with"));
    click_with(&mut window, Modifiers::SHIFT, "1.png");
    assert_eq!(selected(&window), ["3.png", "2.png", "1.png"]);
    click_with(&mut window, Modifiers::COMMAND, "2.png");
    assert_eq!(selected(&window), ["3.png", "1.png"]);
    nothing_is_unnamed(&window, "two that are selected");
    window.click("Compare");
    assert!(!gallery(&window).is_open);
    window.wait_for("the comparison", |app| app.state().images.compared().is_some());
    let images = &window.harness.state().state().images;
    assert_eq!(images.shown_recent().unwrap().name(), "3.png");
    assert_eq!(images.compared().unwrap().name(), "1.png");

    press(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, Modifiers::NONE, Key::G);
    press(&mut window, Modifiers::COMMAND, Key::A);
    assert_eq!(selected(&window).len(), 5);
    for (key, expected) in [
        (Key::End, "1.png"),
        (Key::ArrowLeft, "2.png"),
        (Key::Home, "5 broken.png"),
        (Key::ArrowRight, "4.mp4"),
    ] {
        press(&mut window, Modifiers::NONE, key);
        assert_eq!(selected(&window), [expected]);
    }
    press(&mut window, Modifiers::SHIFT, Key::ArrowRight);
    assert_eq!(selected(&window), ["4.mp4", "3.png"]);
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(!gallery(&window).is_open);
    window.wait_for("the image", |app| {
        app.state().images.shown_recent().is_some_and(|recent| recent.name() == "3.png")
    });
}

#[test]
fn stars_and_tags_survive_and_follow_a_file_that_is_moved() {
    let kept = Kept::some();
    let mut window = kept.open();
    window.click("2.png");
    press(&mut window, Modifiers::NONE, Key::S);
    window.wait_for("the star", |app| {
        app.gallery().shelf.shown().iter().any(|item| app.gallery().shelf.is_starred(&item.path))
    });
    window.fill("Tags", "snow");
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.wait_for("the tag", |app| app.gallery().shelf.tags.contains_key("snow"));
    window.frames();
    window.click("Starred only");
    assert_eq!(shown(&window), ["2.png"]);
    drop(window);

    let folder = kept.folder.path();
    fs::create_dir(folder.join("best")).unwrap();
    fs::rename(folder.join("2.png"), folder.join("best/winter.png")).unwrap();
    let mut window = kept.open();
    window.wait_for("the tag", |app| app.gallery().shelf.tags.contains_key("snow"));
    window.frames();
    window.harness.get_by_label("Search").focus();
    window.frames();
    window.harness.get_by_label("Search").type_text("tag:snow");
    window.frames();
    assert_eq!(shown(&window), ["winter.png"]);
    window.click("winter.png");
    window.click("Remove the tag snow");
    window.wait_for("the end of the tag", |app| app.gallery().shelf.tags.is_empty());
    assert!(gallery(&window).shelf.is_starred(&folder.join("best/winter.png")));
}

#[cfg(not(target_os = "macos"))]
#[test]
fn what_is_in_the_trash_comes_back() {
    let kept = Kept::some();
    let mut window = kept.open();
    let path = kept.folder.path().join("3.png");
    window.click("3.png");
    press(&mut window, Modifiers::NONE, Key::Delete);
    window.wait_for("the trash", |app| notice(app) == "3.png moved to the trash");
    window.frames();
    assert!(!path.exists());
    assert_eq!(shown(&window), ["5 broken.png", "4.mp4", "2.png", "1.png"]);
    assert_eq!(selected(&window), ["2.png"], "the next one");
    window.click("Undo");
    window.wait_for("the file", |app| notice(app) == "Restored 3.png" && app.gallery().shelf.count() == 5);
    assert!(path.exists());
    assert_eq!(read_settings(&path).unwrap().settings.seed, 3);
    assert_eq!(selected(&window), ["3.png"]);
}

#[cfg(not(target_os = "macos"))]
#[test]
fn what_is_in_the_trash_comes_back_after_something_else_was_said() {
    let kept = Kept::some();
    let mut window = kept.open();
    window.click("3.png");
    press(&mut window, Modifiers::NONE, Key::Delete);
    window.wait_for("the trash", |app| notice(app) == "3.png moved to the trash");
    window.frames();
    window.click("Copy prompt");
    assert_eq!(notice(window.harness.state()), "Copied the prompt");
    press(&mut window, Modifiers::COMMAND, Key::Z);
    window.wait_for("the file", |app| app.gallery().shelf.count() == 5);
}

#[test]
fn cancelled_jobs_are_resumed_from_the_gallery_once() {
    let kept = Kept::some();
    let mut window = kept.open();
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, Action::Generate);
    window.frames();
    window.take_job();
    window.says(Event::Cancelled { job: JobId(1) });
    assert!(window.shows("Cancelled"));
    window.click("Resume");
    window.take_job();
    press(&mut window, Modifiers::COMMAND, Key::Z);
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!gallery(&window).is_open && !window.shows("Cancelled"));
    let state = window.harness.state().state();
    assert_eq!((state.jobs.queue.len(), state.messages.notice.as_ref()), (1, None));
    assert_eq!(window.take_commands(), []);
}

#[test]
fn settings_prompt_and_image_are_used_again() {
    let kept = Kept::some();
    let mut window = kept.open();
    window.click("1.png");
    window.wait_for("the settings", |app| app.gallery().shelf.details.is_some());
    window.frames();
    window.click("Copy prompt");
    assert_eq!(notice(window.harness.state()), "Copied the prompt");
    window.click("Use these settings");
    assert!(!gallery(&window).is_open);
    let request = &window.harness.state().state().draft().request;
    assert_eq!((request.prompt.as_str(), request.seed), ("a red boat on a calm sea <lora:ink:0.7>", 1));
    assert!(window.shows("Settings of 1.png"));

    press(&mut window, Modifiers::NONE, Key::G);
    window.wait_for("the images", |app| app.gallery().shelf.unread == Some(0));
    window.harness.get_by_label("2.png").click_secondary();
    window.frames();
    // The panel beside the images has a button of that name, too.
    window.harness.get_all_by_label("Use as input image").last().unwrap().click();
    window.frames();
    let source = window.harness.state().state().draft().request.source.as_ref();
    assert_eq!(source.unwrap().path, kept.folder.path().join("2.png"));
    assert!(!gallery(&window).is_open);
}

#[test]
fn what_the_search_leaves_out_is_no_longer_selected() {
    let kept = Kept::some();
    let mut window = kept.open();
    window.click("3.png");
    click_with(&mut window, Modifiers::COMMAND, "2.png");
    assert_eq!(selected(&window), ["3.png", "2.png"]);
    press(&mut window, Modifiers::NONE, Key::Slash);
    assert!(window.harness.get_by_label("Search").is_focused(), "although an image was clicked");
    window.harness.get_by_label("Search").type_text("s");
    press(&mut window, Modifiers::NONE, Key::S);
    assert_eq!(gallery(&window).shelf.query().text, "s");
    let no_star = |window: &Window| {
        gallery(window).shelf.shown().iter().all(|item| !gallery(window).shelf.is_starred(&item.path))
    };
    assert!(no_star(&window), "letters are no keys while one searches");
    window.harness.get_by_label("Search").type_text("now");
    window.frames();
    assert_eq!((shown(&window), selected(&window)), (vec!["2.png".to_owned()], vec!["2.png".to_owned()]));
    window.harness.get_by_label("Search").type_text("man");
    window.frames();
    press(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, Modifiers::NONE, Key::Delete);
    window.frames();
    assert_eq!((shown(&window).len(), selected(&window).len()), (0, 0));
    window.click("Clear the search");
    assert_eq!((shown(&window).len(), selected(&window).len()), (5, 0));
    assert!(["2.png", "3.png"].iter().all(|name| kept.folder.path().join(name).exists()));
    assert!(window.harness.query_by_label("Clear the search").is_none());
}

#[test]
fn images_are_exported_under_names_of_a_template() {
    let kept = Kept::some();
    let mut window = kept.open();
    window.click("Images");
    press(&mut window, Modifiers::COMMAND, Key::A);
    window.click("Export…");
    assert!(window.shows("Export 4 files"));
    nothing_is_unnamed(&window, "the export");
    window.click("JPEG");
    window.harness.get_by_label("File name").focus();
    window.frames();
    window.harness.get_by_label("File name").type_text(" {nothing}");
    window.frames();
    assert!(window.shows("there is no field {nothing}"));
    press(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(gallery(&window).dialog.is_none() && gallery(&window).is_open);
    press(&mut window, Modifiers::COMMAND, Key::E);
    window.click("WebP");
    window.click("Export");
    window.wait_for("the files", |app| notice(app) == "1 file could not be exported");
    let exported = kept.folder.path().join("exported");
    for seed in 1..=3 {
        let restored = read_settings(&exported.join(format!("{seed}.webp"))).unwrap();
        assert_eq!(restored.settings.seed, seed);
    }
}

#[test]
fn clips_are_exported_as_they_are() {
    let kept = Kept::some();
    let mut window = kept.open();
    window.click("4.mp4");
    press(&mut window, Modifiers::COMMAND, Key::E);
    assert!(window.shows("Export 1 file") && window.shows("1 clip is copied as it is"));
    assert!(!window.shows("Include settings"), "that is for images");
    nothing_is_unnamed(&window, "the export of a clip");
    window.click("Export");
    window.wait_for("the file", |app| notice(app) == "Exported 1 file");
    let read = |name: &str| fs::read(kept.folder.path().join(name)).unwrap();
    assert!(read("4.mp4") == read("exported/4.mp4"));
}

#[test]
fn a_finished_image_appears_in_the_open_gallery_and_idle_costs_nothing() {
    let kept = Kept::some();
    let mut window = kept.open();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    window.frames();
    window.says(Event::Started { job: JobId(1) });
    kept.image("6.png", 6, "a lake", "Starter");
    let mut made = picture(96, 64, 6);
    made.path = Some(kept.folder.path().join("6.png"));
    window.says(Event::Finished { job: JobId(1), pictures: vec![made], seconds: 1.0 });
    window.wait_for("the new image", |app| app.gallery().shelf.count() == 6);
    assert_eq!(shown(&window)[0], "6.png");
    window.wait_for("thumbnails", |app| app.gallery().thumbnails.count() >= 5);
    window.harness.remove_cursor();
    window.harness.run_steps(60);
    let delay = window.harness.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay;
    assert!(delay > std::time::Duration::from_secs(60), "{delay:?}");
    assert_ne!(window.harness.state().state().images.shown, Shown::Nothing);
}

#[test]
fn an_empty_folder_says_what_appears_there() {
    let kept = Kept::new();
    let window = kept.open();
    assert!(window.shows("No images yet"));
    assert!(!Path::new(kept.folder.path()).join("gallery").exists(), "nothing is written beside the images");
}
