//! The window in other languages: chosen in the settings, by the system, and drawn with the fonts that there are.

use std::{
    env, fs,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use egui::{
    FontFamily, FontId, Key, Modifiers, Theme,
    accesskit::Role,
    epaint::text::{FallbackRequest, FontProvider},
};
use egui_kittest::kittest::Queryable;
use egui_system_font_provider::SystemFontProvider;
use sluice::{
    language::{self, LANGUAGES, Language, units},
    window::{
        app::Setup,
        settings::{MemorySettings, Settings},
        tokens,
    },
};
use sluice_engine::{output, request::Request, session::Event};

use super::support::{Window, landscape, machine, picture, starter};

/// The language belongs to the process: one window at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn opened(size: [f32; 2], change: impl FnOnce(&mut Setup)) -> Window {
    let mut window = Window::open(size, Theme::Dark, change);
    window.says(Event::Hardware(machine()));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window
}

fn open_settings(window: &mut Window) {
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    window.frames();
}

/// Chooses an entry of the list of languages, which has this name.
fn choose(window: &mut Window, list: &str, entry: &str) {
    window.harness.get_by_role_and_label(Role::ComboBox, list).click();
    window.frames();
    window.harness.get_by_role_and_label(Role::Button, entry).click();
    window.frames();
}

fn system_has_fonts_for(text: &str) -> bool {
    let fonts = SystemFontProvider::new();
    text.chars().all(|letter| {
        let cluster = letter.to_string();
        let request = FallbackRequest { cluster: &cluster, family: &FontFamily::Proportional };
        fonts.font_for(&request).is_some()
    })
}

#[test]
fn a_language_is_in_force_at_once_and_kept() {
    let _alone = alone();
    let mut window = opened([1280.0, 800.0], |_| ());
    open_settings(&mut window);
    assert!(window.shows("Settings"));
    choose(&mut window, "Language", "Deutsch");
    assert!(window.shows("Einstellungen") && window.shows("Farbschema") && window.shows("Erzeugen"));
    assert!(!window.shows("Theme") && !window.shows("Generate"));
    let kept = Settings::from_json(&window.harness.state().state().settings.to_json());
    assert_eq!(kept.language.as_deref(), Some("de"));
    window.click("Schließen");
    drop(window);
    let mut again = opened([1280.0, 800.0], |setup| setup.settings = Some(kept));
    assert!(again.shows("Erzeugen"));
    open_settings(&mut again);
    choose(&mut again, "Sprache", "Sprache des Systems");
    assert!(again.shows("Settings"), "no locale of this system is known");
}

#[test]
fn a_search_finds_settings_in_their_language() {
    let _alone = alone();
    let mut window = opened([1280.0, 800.0], |setup| setup.locales = vec!["de_AT.UTF-8".to_owned()]);
    open_settings(&mut window);
    window.fill("Einstellungen suchen", "stumm");
    window.frames();
    assert!(window.shows("Clips stumm") && !window.shows("Ausgabeordner"));
    window.replace("Einstellungen suchen", "käse");
    window.frames();
    assert!(window.shows("Keine Einstellung passt zu „käse“."));
}

#[test]
fn a_search_finds_models_in_their_language() {
    let _alone = alone();
    let mut window = opened([1280.0, 800.0], |setup| setup.locales = vec!["de_AT.UTF-8".to_owned()]);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.wait_for("the list", |app| !app.state().library.known.is_empty());
    let (starter, elsewhere) = ("Starter, Kleine Bilder zum Ausprobieren", "Nicht hier · ");
    for (words, finds_starter) in [("kleine bilder", true), ("nicht hier", false)] {
        window.replace("Modelle suchen", words);
        assert_eq!((window.shows(starter), window.shows(elsewhere)), (finds_starter, !finds_starter));
    }
}

#[test]
fn what_the_system_speaks_is_spoken_unless_another_language_is_chosen() {
    let _alone = alone();
    let locales = |setup: &mut Setup| setup.locales = vec!["tlh".to_owned(), "de-AT".to_owned()];
    assert!(opened([1280.0, 800.0], locales).shows("Erzeugen"));
    let mut settings = Settings { language: Some("en".to_owned()), ..Settings::default() };
    let chosen = settings.clone();
    let english = opened([1280.0, 800.0], |setup| {
        locales(setup);
        setup.settings = Some(chosen);
    });
    assert!(english.shows("Generate"));
    drop(english);
    settings.language = Some("xx".to_owned());
    let of_system = opened([1280.0, 800.0], |setup| {
        locales(setup);
        setup.settings = Some(settings);
    });
    assert!(of_system.shows("Erzeugen"), "a language that is gone is that of the system");
}

#[test]
fn plurals_and_large_numbers_are_whole() {
    let _alone = alone();
    let count = |count: u64| language::text_with("app-images-not-used", [("count", count.into())]);
    language::choose(language::find("es").unwrap());
    assert_eq!(count(0), "0 imágenes no usadas: suelte solo una a la vez.");
    language::choose(language::find("fr").unwrap());
    assert_eq!(count(0), "0 image non utilisée\u{a0}: déposez-en une à la fois.");
    assert_eq!(count(2), "2 images non utilisées\u{a0}: déposez-en une à la fois.");
    language::choose(language::find("de").unwrap());
    assert_eq!(count(1), "1 Bild nicht verwendet: immer nur eines ablegen.");
    assert_eq!(count(2), "2 Bilder nicht verwendet: immer nur eines ablegen.");
    let seed = |seed: u64| language::text_with("state-image-of-seed", [("seed", seed.into())]);
    for number in [0, 9_007_199_254_740_993, u64::MAX] {
        assert_eq!(seed(number), format!("Bild mit Seed {number}"));
    }
    assert_eq!(language::text("no-such-key"), "no-such-key");
    language::choose(language::english());
}

#[test]
fn numbers_have_the_decimal_mark_of_the_language() {
    let _alone = alone();
    for language in &LANGUAGES {
        language::choose(language);
        let memory = units::memory(15 << 29);
        assert_eq!(memory, if language.decimal == "," { "7,5 GB" } else { "7.5 GB" }, "{}", language.tag);
        assert_eq!(language::memory_of(7 << 30, 12 << 30).matches(language.decimal).count(), 2);
        for typed in ["2.5", " 2.5 ", "−2.5"] {
            let value = units::typed(&typed.replace('.', language.decimal));
            let expected = Some(if typed.contains('−') { -2.5 } else { 2.5 });
            assert_eq!((value, units::typed(typed)), (expected, expected), "{}", language.tag);
        }
    }
    language::choose(language::find("de").unwrap());
    assert_eq!(units::with_point("2,0 s, 33 Bilder"), "2.0 s, 33 Bilder");
    language::choose(language::english());
    assert_eq!(units::typed("1,024"), None);
    let mut window = opened([1280.0, 800.0], |setup| setup.locales = vec!["de_AT.UTF-8".to_owned()]);
    assert!(window.shows("7,5 von 12,0 GB") && !window.shows("7.5"));
    window.click(&language::text("side-panel-more"));
    window.click("Schedule");
    assert!(window.shows("Standard des Modells") && !window.shows("Model default"));
}

/// Without a font for it, a language is English, and its name is not a row of boxes.
#[test]
fn languages_that_cannot_be_drawn_are_said_to_be() {
    let _alone = alone();
    for language in LANGUAGES.iter().filter(|language| !language.sample.is_empty()) {
        let mut window = opened([1280.0, 800.0], |setup| setup.locales = vec![language.tag.to_owned()]);
        open_settings(&mut window);
        assert!(window.shows("Settings"), "{}", language.tag);
        assert!(window.shows("No font on this computer") && window.shows(language.english));
        choose(&mut window, "Language", language.english);
        assert!(window.shows("Settings"));
    }
}

#[test]
fn languages_that_a_font_of_the_system_has_are_drawn_with_it() {
    let _alone = alone();
    for language in LANGUAGES.iter().filter(|language| !language.sample.is_empty()) {
        let window = opened([1280.0, 800.0], |setup| {
            setup.locales = vec![language.tag.to_owned()];
            setup.system_fonts = true;
        });
        let is_english = window.shows("Generate");
        assert_eq!(!is_english, system_has_fonts_for(language.sample), "{}", language.tag);
    }
}

/// egui's test harness panics at a character that nothing can draw.
#[test]
fn what_the_windows_fonts_lack_is_drawn_with_fonts_of_the_system() {
    let _alone = alone();
    for text in ["赤い小舟", "红色的小船", "작은 배"] {
        if system_has_fonts_for(&text.replace(' ', "")) {
            let mut window = opened([1280.0, 800.0], |setup| setup.system_fonts = true);
            window.fill("Prompt", text);
            assert_eq!(window.harness.state().state().draft().request.prompt, text);
            window.harness.render().unwrap();
        }
    }
}

/// The window's own fonts have every character of a language that names no sample, and not those of a sample.
#[test]
fn fonts_have_what_languages_are_written_with() {
    let ctx = egui::Context::default();
    tokens::apply(&ctx);
    let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
        for language in &LANGUAGES {
            assert_eq!(tokens::can_draw(ui.ctx(), language), language.sample.is_empty(), "{}", language.tag);
            if language.sample.is_empty() {
                let files = language.files();
                let letters = files.iter().flat_map(|(_, text)| text.chars());
                for letter in letters.filter(|letter| !letter.is_whitespace()) {
                    let is_there = ui.fonts_mut(|fonts| fonts.has_glyph(&FontId::default(), letter));
                    assert!(is_there, "{letter:?} in {}", language.tag);
                }
            }
        }
    });
    output.textures_delta.clear();
}

/// Every place of the window in every language, in the smallest window. With `SLUICE_SCREENSHOTS` set to a folder, the
/// images are written there.
#[test]
fn every_language_is_drawn_in_the_smallest_window() {
    let _alone = alone();
    for language in &LANGUAGES {
        let mut window = opened([900.0, 600.0], |setup| {
            setup.locales = vec![language.tag.to_owned()];
            setup.system_fonts = true;
            setup.folder = Some("/nowhere/Sluice".into());
        });
        shot(&mut window, language, "window");
        let panels =
            MemorySettings { plan_open: Some(true), timeline_open: true, ..MemorySettings::default() };
        let settings = Settings { memory: panels, ..Settings::default() };
        let mut with_panels = opened([900.0, 600.0], |setup| {
            setup.locales = vec![language.tag.to_owned()];
            setup.system_fonts = true;
            setup.settings = Some(settings);
        });
        shot(&mut with_panels, language, "panels");
        with_panels.click(&language::text("plan-advanced"));
        shot(&mut with_panels, language, "advanced");
        let keys = [
            ("models", Modifiers::COMMAND, Key::M),
            ("palette", Modifiers::COMMAND, Key::K),
            ("keys", Modifiers::NONE, Key::F1),
            ("settings", Modifiers::COMMAND, Key::Comma),
            ("gallery", Modifiers::NONE, Key::G),
        ];
        for (place, modifiers, key) in keys {
            window.harness.key_press_modifiers(modifiers, key);
            window.frames();
            shot(&mut window, language, place);
            let close =
                if key == Key::G { (Modifiers::NONE, Key::G) } else { (Modifiers::NONE, Key::Escape) };
            window.harness.key_press_modifiers(close.0, close.1);
            window.frames();
        }
    }
}

/// Two images, of which one is shown, beside the panel with the memory plan.
#[test]
fn the_bar_under_the_image_has_room_in_the_smallest_window_in_every_language() {
    let _alone = alone();
    for language in LANGUAGES.iter().filter(|language| language.sample.is_empty()) {
        for plan_open in [false, true] {
            let memory = MemorySettings { plan_open: Some(plan_open), ..MemorySettings::default() };
            let mut window = opened([900.0, 600.0], |setup| {
                setup.locales = vec![language.tag.to_owned()];
                setup.settings = Some(Settings { memory, ..Settings::default() });
            });
            window.take_commands();
            for seed in [5, 6] {
                window.click(&language::text("side-panel-generate"));
                let job = window.take_job().id;
                window.says(Event::Started { job });
                window.says(Event::Finished { job, pictures: vec![picture(128, 80, seed)], seconds: 1.0 });
            }
            let shown = if plan_open { language::text("viewer-actions") } else { "100%".to_owned() };
            has_room(&window, language, &shown);
            window.click(&language::text("viewer-compare"));
            has_room(&window, language, &language::text("viewer-compare-swap"));
        }
    }
}

/// What is offered for an image with settings is not wider than the panel, which would cut off all that is below.
#[test]
fn what_is_offered_for_a_dropped_image_fits_into_the_panel_in_every_language() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pic.png");
    let settings = output::Settings::new(&Request::default(), "Starter", "", 0);
    output::write_png(&path, &output::Media::Image(landscape(64, 64, 5, 1.0)), &settings).unwrap();
    for language in LANGUAGES.iter().filter(|language| language.sample.is_empty()) {
        let mut window = opened([1280.0, 800.0], |setup| setup.locales = vec![language.tag.to_owned()]);
        let prompt = language::text("side-panel-prompt");
        let panel = window.harness.get_by_role_and_label(Role::MultilineTextInput, &prompt).rect();
        window.drop_file(path.clone());
        window.wait_for("the image", |app| app.state().input.dropped.is_some());
        for button in ["side-panel-dropped-use-settings", "side-panel-dropped-use-image"] {
            let button = window.harness.get_by_label(&language::text(button)).rect();
            assert!(button.right() <= panel.right(), "{}: {button:?} beside {panel:?}", language.tag);
        }
        let after = window.harness.get_by_role_and_label(Role::MultilineTextInput, &prompt).rect();
        assert_eq!((after.left(), after.right()), (panel.left(), panel.right()), "{}", language.tag);
    }
}

/// All buttons in the row of this one are beside each other, and below the image.
fn has_room(window: &Window, language: &Language, button: &str) {
    let row = window.harness.get_by_label(button).rect();
    let images = window.harness.query_all_by_role(Role::Image).map(|node| node.rect());
    // Two that are compared have a part each.
    let image = images.fold(egui::Rect::NOTHING, egui::Rect::union);
    let buttons = window.harness.query_all_by_role(Role::Button).map(|node| node.rect());
    let within = |rect: &egui::Rect| rect.center().x > image.left() && rect.center().x < image.right();
    let mut buttons: Vec<egui::Rect> =
        buttons.filter(|rect| (rect.center().y - row.center().y).abs() < 4.0 && within(rect)).collect();
    buttons.sort_by(|one, other| one.left().total_cmp(&other.left()));
    assert!(buttons.len() > 1, "{}: {buttons:?}", language.tag);
    assert!(row.left() >= image.left(), "{}: {row:?} beside {image:?}", language.tag);
    let (first, last) = (buttons[0], buttons[buttons.len() - 1]);
    assert!(first.left() >= image.left() && last.right() <= image.right(), "{}: {buttons:?}", language.tag);
    for pair in buttons.windows(2) {
        assert!(pair[0].right() <= pair[1].left(), "{}: {pair:?}", language.tag);
    }
}

fn shot(window: &mut Window, language: &Language, place: &str) {
    let Some(folder) = env::var_os("SLUICE_SCREENSHOTS").map(PathBuf::from) else { return };
    fs::create_dir_all(&folder).unwrap();
    let name = format!("{}-{place}.png", language.tag);
    window.seen().save(folder.join(name)).unwrap();
}
