//! The command palette, the keys, and menus of a right click.

use egui::{Key, Modifiers, accesskit::Role};
use egui_kittest::kittest::Queryable;
use sluice::window::{
    settings::{Settings, ThemeChoice},
    state::State,
};
use sluice_engine::{
    request::{ModelSource, Style},
    session::{Command, Event, JobId},
};

use super::{
    input_image::photo,
    support::{IN_SIGHT, Window, picture},
};

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

fn open(window: &mut Window) {
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.frames();
    assert!(window.harness.query_by_label("Search commands").is_some());
}

fn press(window: &mut Window, key: Key) {
    window.harness.key_press(key);
    window.frames();
}

fn search(window: &mut Window, words: &str) {
    window.harness.get_by_label("Search commands").type_text(words);
    window.frames();
}

fn is_open(window: &Window) -> bool {
    window.harness.query_by_label("Search commands").is_some()
}

#[test]
fn a_command_is_found_by_some_of_its_letters_and_run_with_enter() {
    let mut window = Window::with_starter();
    open(&mut window);
    search(&mut window, "drk thm");
    press(&mut window, Key::Enter);
    assert_eq!(state(&window).settings.theme, ThemeChoice::Dark);
    assert!(!is_open(&window));
    open(&mut window);
    search(&mut window, "generate");
    press(&mut window, Key::Enter);
    window.take_job();
    open(&mut window);
    search(&mut window, "zzzz");
    assert!(window.shows("No results"));
    press(&mut window, Key::Enter);
    assert!(is_open(&window), "there is nothing to run");
    press(&mut window, Key::Escape);
    assert!(!is_open(&window));
    assert_eq!(window.take_commands(), [], "Escape only closes it");
}

#[test]
fn arrows_choose_and_letters_are_no_shortcuts_meanwhile() {
    let mut window = Window::with_starter();
    open(&mut window);
    search(&mut window, "theme");
    press(&mut window, Key::ArrowDown);
    press(&mut window, Key::Enter);
    assert_ne!(state(&window).settings.theme, ThemeChoice::System, "the second of three");
    open(&mut window);
    press(&mut window, Key::G);
    assert!(!window.harness.state().gallery().is_open);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.frames();
    assert!(!is_open(&window), "the key that opens it closes it");
}

#[test]
fn what_is_typed_in_the_frame_that_opens_it_is_searched_for_and_enter_does_nothing_yet() {
    let mut window = Window::with_starter();
    window.harness.get_by_label("Prompt").focus();
    window.frames();
    let key = |key, modifiers| egui::Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers,
    };
    let typed = [
        key(Key::K, Modifiers::COMMAND),
        egui::Event::Text("drk thm".to_owned()),
        key(Key::Enter, Modifiers::NONE),
    ];
    window.harness.input_mut().events.extend(typed);
    window.frames();
    assert!(is_open(&window), "Enter runs nothing that nobody has seen");
    assert_eq!(window.take_commands(), []);
    assert_eq!(state(&window).draft().request.prompt, "");
    press(&mut window, Key::Enter);
    assert_eq!(state(&window).settings.theme, ThemeChoice::Dark);
}

#[test]
fn commands_are_found_by_other_words_too() {
    let mut window = Window::with_starter();
    window.click("Generate");
    window.take_job();
    window.says(Event::Started { job: JobId(1) });
    for (word, paused) in [("pause", true), ("paus", false), ("resum", true), ("resume", false)] {
        open(&mut window);
        search(&mut window, word);
        press(&mut window, Key::Enter);
        assert_eq!(state(&window).jobs.paused, paused, "{word}");
    }
}

#[test]
fn a_long_prompt_ends_before_what_it_is() {
    let prompt = "a lighthouse in fog ".repeat(40);
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.settings = Some(Settings { prompts: vec![prompt.clone()], ..Settings::default() });
    });
    open(&mut window);
    search(&mut window, "lighthouse");
    assert!(window.harness.query_by_label(&prompt).is_some(), "its whole name is spoken");
    let shapes = &window.harness.output().shapes;
    let texts = shapes.iter().filter_map(|clipped| match &clipped.shape {
        egui::Shape::Text(text) => Some((text.galley.text().to_owned(), text.visual_bounding_rect())),
        _ => None,
    });
    let texts: Vec<_> = texts.collect();
    let title = texts.iter().find(|(text, _)| text.starts_with("a lighthouse in fog a")).unwrap();
    let kind = texts.iter().rfind(|(text, _)| text == "Prompt").unwrap();
    assert!(title.0.ends_with('…') && title.1.right() < kind.1.left(), "{title:?} {kind:?}");
}

#[test]
fn the_sheet_of_keys_opens_at_its_top() {
    let mut window = Window::open([1280.0, 600.0], egui::Theme::Dark, |_| ());
    press(&mut window, Key::F1);
    // Below the title: the sheet is as high as its list, once that is known.
    let labels = |window: &Window| {
        let top = |label| window.harness.query_all_by_label(label).next().unwrap().rect().top();
        top("Command palette") - top("Shortcuts")
    };
    let before = labels(&window);
    window.see("Wheel, drag, double-click");
    window.harness.run_steps(20);
    assert!(labels(&window) < before, "it scrolls");
    press(&mut window, Key::F1);
    press(&mut window, Key::F1);
    assert_eq!(labels(&window), before);
}

#[test]
fn models_styles_and_prompts_are_found_too() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.settings = Some(Settings {
            recent_models: vec!["/models/wan2.2.gguf".into()],
            prompts: vec!["a lighthouse in fog".to_owned()],
            ..Settings::default()
        });
    });
    window.says(Event::ModelLoaded(Box::new(super::support::starter())));
    window.take_commands();
    open(&mut window);
    search(&mut window, "lighthouse");
    press(&mut window, Key::Enter);
    assert_eq!(state(&window).draft().request.prompt, "a lighthouse in fog");
    open(&mut window);
    search(&mut window, "wan22");
    press(&mut window, Key::Enter);
    assert_eq!(
        window.take_commands(),
        [Command::Load { model: ModelSource::Path("/models/wan2.2.gguf".into()) }]
    );
}

#[test]
fn styles_and_presets_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_owned();
    std::fs::create_dir(data.join("styles")).unwrap();
    std::fs::write(data.join("styles/own.csv"), "name,prompt,negative_prompt\nWatercolour,watercolour,\n")
        .unwrap();
    std::fs::create_dir(data.join("presets")).unwrap();
    std::fs::write(data.join("presets/Quick look.toml"), "steps = 3\n").unwrap();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.places.data = Some(data));
    window.says(Event::ModelLoaded(Box::new(super::support::starter())));
    window.wait_for("both", |app| !app.state().styles.is_empty() && !app.state().presets.is_empty());
    open(&mut window);
    search(&mut window, "watercolour");
    press(&mut window, Key::Enter);
    let used = |window: &Window| -> Vec<Style> { state(window).draft().request.styles.clone() };
    assert_eq!(used(&window)[0].prompt, "watercolour");
    open(&mut window);
    search(&mut window, "watercolour");
    press(&mut window, Key::Enter);
    assert_eq!(used(&window), [], "it is taken back in the same way");
    open(&mut window);
    search(&mut window, "quick look");
    press(&mut window, Key::Enter);
    assert_eq!(state(&window).draft().request.steps, 3);
}

#[test]
fn a_right_click_shows_what_can_be_done_with_an_image() {
    let mut window = Window::with_starter();
    window.click("Generate");
    window.take_job();
    window.says(Event::Started { job: JobId(1) });
    window.says(Event::Finished { job: JobId(1), pictures: vec![picture(64, 64, 7)], seconds: 1.0 });
    let name = state(&window).images.shown_recent().unwrap().name();
    let offers = |window: &Window| window.harness.query_all_by_label("Use these settings").count();
    assert_eq!(offers(&window), 1, "in the bar");
    // Its name is beside it in the bar, too.
    for place in 0..window.harness.query_all_by_label(&name).count() {
        if let Some(node) = window.harness.query_all_by_label(&name).nth(place) {
            node.click_secondary();
        }
        window.frames();
        if offers(&window) == 2 {
            return;
        }
    }
    panic!("no menu opens");
}

#[test]
fn the_sheet_lists_the_keys_of_the_table() {
    let mut window = Window::with_starter();
    press(&mut window, Key::F1);
    for words in ["Command palette", "All models", "Full screen", "Wheel, drag, double-click"] {
        assert!(window.shows(words), "{words}");
    }
}

#[test]
fn sections_of_the_panel_are_found_opened_and_scrolled_to() {
    let mut window = Window::open([1280.0, 600.0], egui::Theme::Dark, |_| ());
    window.says(Event::ModelLoaded(Box::new(super::support::starter())));
    window.take_commands();
    for (query, inside) in [("hires", "Enlarge and denoise again"), ("detail", "Add detector…")] {
        assert!(window.harness.query_by_label(inside).is_none(), "{inside} before {query}");
        open(&mut window);
        search(&mut window, query);
        press(&mut window, Key::Enter);
        window.harness.run_steps(20);
        let place = window.harness.get_by_label(inside).rect();
        assert!((60.0..480.0).contains(&place.center().y), "{inside} is at {place:?}");
    }
    assert!(window.shows("No detector was found in your model folders."));
    open(&mut window);
    search(&mut window, "image prompt");
    assert!(window.harness.query_by_label("Image prompt").is_none(), "the starter takes none");
}

#[test]
fn outpainting_is_found_and_goes_to_the_input_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = photo(folder.path(), "harbour.png");
    let mut window = Window::open([1280.0, 720.0], egui::Theme::Dark, |_| ());
    window.says(Event::ModelLoaded(Box::new(super::support::starter())));
    window.drop_file(path.clone());
    window.wait_for("the image", |app| app.state().input.files.pixels(&path).is_some());
    window.frames();
    open(&mut window);
    search(&mut window, "outpaint");
    press(&mut window, Key::Enter);
    assert!(!is_open(&window));
    window.harness.run_steps(30);
    let edge = |window: &Window| window.harness.get_by_label("Generate").rect().top();
    let switch = window.harness.get_by_label("Outpaint").rect();
    assert!(switch.top() > 48.0 && switch.bottom() < edge(&window), "{switch:?}");
    window.click("Outpaint");
    window.harness.run_steps(30);
    let switch = window.harness.get_by_role_and_label(Role::CheckBox, "Outpaint").rect();
    let (top, floor) = (switch.top(), edge(&window));
    let is_in_sight = top > 48.0 && top + IN_SIGHT <= floor;
    assert!(is_in_sight, "a good part is in sight: {switch:?} above {floor}");
}

#[test]
fn menus_close_when_the_palette_opens() {
    let mut window = Window::with_starter();
    window.click("Styles");
    assert!(egui::Popup::is_any_open(&window.harness.ctx));
    open(&mut window);
    assert!(!egui::Popup::is_any_open(&window.harness.ctx));
}

#[test]
fn f11_fills_the_screen_and_leaves_it() {
    let mut window = Window::with_starter();
    for fills in [true, false] {
        window.harness.key_down(Key::F11);
        window.harness.step();
        let commands = &window.harness.output().viewport_output[&egui::ViewportId::ROOT].commands;
        assert!(commands.contains(&egui::ViewportCommand::Fullscreen(fills)), "{commands:?}");
        window.harness.key_up(Key::F11);
        window.frames();
        let viewports = &mut window.harness.input_mut().viewports;
        viewports.get_mut(&egui::ViewportId::ROOT).unwrap().fullscreen = Some(fills);
        window.frames();
    }
}
