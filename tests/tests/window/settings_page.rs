//! The settings: found by a search, and in force at once.

use std::sync::Arc;

use crossbeam_channel::unbounded;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use sluice::window::{
    app::{Setup, SluiceApp},
    files::Files,
    link::ChannelLink,
    settings::{Settings, ThemeChoice},
};
use sluice_engine::output::{Codec, NamedOutput, Output, StillFormat};

use super::behaviour::nothing_is_unnamed;
use super::control_nets::choose;
use super::snapshots::look;
use super::support::Window;

fn opened() -> Window {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.folder = Some("/nowhere/Sluice".into());
    });
    window.says(sluice_engine::session::Event::ModelLoaded(Box::new(super::support::starter())));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    window.frames();
    window
}

#[test]
fn a_search_leaves_the_settings_that_it_is_about() {
    let mut window = opened();
    assert!(window.shows("Theme") && window.shows("Output folder") && window.shows("Copy report"));
    nothing_is_unnamed(&window, "the settings");
    let _results = look(&mut window, "settings-dark-1280");
    let field = |window: &Window| window.harness.get_by_label("Search settings").rect();
    let before = field(&window);
    window.fill("Search settings", "jpeg");
    window.frames();
    assert_eq!(field(&window), before, "it stays where it is");
    assert!(window.shows("Image format"));
    assert!(!window.shows("Output folder") && !window.shows("Copy report"));
    window.replace("Search settings", "cheese");
    window.frames();
    assert!(window.shows("No results for “cheese”."));
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(!window.shows("Image format") && !window.shows("Close"));
}

#[test]
fn licences_of_what_comes_with_it_can_be_read() {
    let mut window = opened();
    window.fill("Search settings", "licence");
    window.frames();
    window.click("Licences of what comes with it");
    for (part, words) in [
        ("Inter · OFL-1.1", "SIL OPEN FONT LICENSE"),
        ("Lucide · ISC", "Permission to use, copy, modify"),
        ("Real-ESRGAN · BSD-3-Clause", "Redistribution and use in source and binary forms"),
    ] {
        assert!(!window.shows(words));
        window.click(part);
        assert!(window.shows(words), "{part}");
    }
    nothing_is_unnamed(&window, "the licences");
}

#[test]
fn format_and_names_are_those_of_the_next_job() {
    let mut window = opened();
    window.click("JPEG");
    window.replace("File names", "{prompt} {seed}");
    window.frames();
    window.replace("File names", "{nonsense}");
    window.frames();
    let all = "there is no field {nonsense}; use {name}, {number}, {date}, {seed}, {model}, {prompt}, {width} or {height}";
    assert!(window.shows(all));
    window.click("Close");
    window.take_commands();
    window.click("Generate");
    let expected = NamedOutput {
        folder: "/nowhere/Sluice".into(),
        format: StillFormat::Jpeg,
        names: "{prompt} {seed}".to_owned(),
    };
    assert_eq!(window.take_job().output, Some(Output::Named(expected)));
}

#[test]
fn quality_and_codec_are_those_of_the_next_job() {
    let mut window = opened();
    let slider = egui::accesskit::Role::Slider;
    assert!(window.harness.query_by_role_and_label(slider, "Quality").is_none(), "PNG has none");
    window.click("WebP");
    window.frames();
    window.harness.get_by_role_and_label(slider, "Quality").set_value_accesskit(70.0);
    window.frames();
    window.click("Video codec");
    window.click("AV1");
    nothing_is_unnamed(&window, "the settings");
    let output = window.harness.state().state().settings.output.clone();
    assert_eq!((output.quality, output.codec), (70, Codec::Av1));
    window.click("Close");
    window.take_commands();
    window.click("Generate");
    let job = window.take_job();
    assert_eq!((job.quality, job.codec), (70, Codec::Av1));
}

#[test]
fn a_click_beside_the_settings_closes_an_open_list_before_them() {
    let mut window = opened();
    window.click("Video codec");
    let shows = |window: &Window| {
        let list = window.harness.query_by_label("AV1").is_some();
        (list, window.harness.query_by_label("Search settings").is_some())
    };
    assert_eq!(shows(&window), (true, true));
    let beside = egui::pos2(12.0, 780.0);
    for expected in [(false, true), (false, false)] {
        window.harness.hover_at(beside);
        window.harness.drag_at(beside);
        window.harness.drop_at(beside);
        window.frames();
        assert_eq!(shows(&window), expected);
    }
}

#[test]
fn the_first_frame_has_the_scale_and_the_theme_of_the_last_time() {
    let (to_engine, _commands) = unbounded();
    let (_events, from_engine) = unbounded();
    let link = ChannelLink { commands: to_engine, events: from_engine };
    let mut setup = Setup::new(Box::new(link), Files::start(Arc::new(|| ())).unwrap());
    let theme = ThemeChoice::Light;
    setup.settings = Some(Settings { scale: 1.25, theme, ..Settings::default() });
    let ctx = egui::Context::default();
    let mut app = SluiceApp::new(&ctx, setup);
    let whole = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1024.0, 640.0));
    let input = egui::RawInput { screen_rect: Some(whole), ..egui::RawInput::default() };
    let mut first = None;
    let output = ctx.run_ui(input, |ui| {
        first.get_or_insert((ui.ctx().content_rect(), ui.ctx().zoom_factor(), ui.ctx().theme()));
        app.ui(ui);
    });
    output.drop_without_applying_deltas();
    assert_eq!(first, Some((whole, 1.25, egui::Theme::Light)));
    assert_eq!(app.state().settings.scale, 1.25);
}

#[test]
fn theme_and_scale_apply_at_once_and_are_kept() {
    let mut window = opened();
    window.click("Light");
    window.click("Reduced motion");
    window.click("On");
    window.frames();
    let ctx = &window.harness.ctx;
    assert_eq!(ctx.theme(), egui::Theme::Light);
    assert_eq!(ctx.style_of(egui::Theme::Light).animation_time, 0.0);
    ctx.set_zoom_factor(1.25);
    window.frames();
    let settings = &window.harness.state().state().settings;
    let chosen = (settings.theme, settings.scale, settings.reduced_motion);
    assert_eq!(chosen, (ThemeChoice::Light, 1.25, Some(true)));
    window.click("UI scale");
    window.click("110%");
    window.frames();
    assert_eq!((window.harness.ctx.zoom_factor(), window.harness.state().state().settings.scale), (1.1, 1.1));
}

#[test]
fn another_output_folder_is_that_of_the_next_job() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = opened();
    window.fill("Search settings", "output folder");
    window.frames();
    let title = window.harness.get_by_label("Output folder").rect().left_bottom();
    // The settings are over the panel for inputs, which has buttons of the same name.
    let distance = |button: &egui_kittest::Node<'_>| button.rect().left_top().distance(title);
    let buttons = window.harness.get_all_by_label("Choose…");
    buttons.min_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap().click();
    window.frames();
    window.wait_for_words("Folder path");
    window.replace("Folder path", folder.path().to_str().unwrap());
    window.harness.key_press(Key::Enter);
    window.frames();
    window.wait_for_words("No folders in here.");
    window.click("Use this folder");
    window.wait_for("the folder", |app| app.state().settings.output.folder.as_deref() == Some(folder.path()));
    window.frames();
    window.click("Close");
    window.take_commands();
    window.click("Generate");
    assert_eq!(window.take_job().output, Some(Output::Folder(folder.path().to_owned())));
}

#[test]
fn motion_is_reduced_as_the_system_says_unless_the_settings_say_otherwise() {
    let (system, said) = unbounded();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.reduced_motion = Some(said);
    });
    let reduces = |window: &Window| window.harness.state().state().reduces_motion();
    assert!(!reduces(&window));
    system.send(true).unwrap();
    window.frames();
    assert!(reduces(&window));
    assert_eq!(window.harness.ctx.style_of(egui::Theme::Dark).animation_time, 0.0);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    window.frames();
    window.see("Reduced motion");
    window.click("Reduced motion");
    assert!(window.shows("System (On)"));
    window.click("Off");
    assert!(!reduces(&window));
    assert!(window.harness.ctx.style_of(egui::Theme::Dark).animation_time > 0.0);
    system.send(true).unwrap();
    window.frames();
    assert!(!reduces(&window), "the settings count");
}

#[test]
fn a_report_goes_to_the_clipboard() {
    let mut window = opened();
    window.fill("Search settings", "report");
    window.frames();
    window.see("Copy report");
    window.harness.get_by_label("Copy report").click();
    let text = (0..500).find_map(|_| {
        window.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(5));
        window.harness.output().platform_output.commands.iter().find_map(|command| match command {
            egui::OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        })
    });
    let text = text.expect("nothing was copied");
    assert!(text.starts_with("Sluice ") && text.contains("\nLog\n"), "{text}");
}

#[test]
fn tags_of_a_file_are_offered_until_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("danbooru.csv"), "long_hair,0,400,longhair\nhair_ornament,0,90,\n")
        .unwrap();
    let recent_models = vec![folder.path().join("model.safetensors")];
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.settings = Some(Settings { recent_models, ..Settings::default() });
    });
    window.says(sluice_engine::session::Event::ModelLoaded(Box::new(super::support::starter())));
    let search = |window: &mut Window| {
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
        window.frames();
        window.fill("Search settings", "tags");
        window.frames();
    };
    search(&mut window);
    window.click("Add a file of tags…");
    choose(&mut window, "danbooru.csv");
    window.wait_for("the tags", |app| app.state().tags.len() == 2);
    window.frames();
    assert!(window.shows("2 tags are offered while you type."));
    nothing_is_unnamed(&window, "files of tags");
    window.harness.key_press(Key::Escape);
    window.frames();
    window.fill("Prompt", "a fox, longh");
    window.frames();
    window.harness.key_press(Key::Enter);
    window.frames();
    assert_eq!(window.harness.state().state().draft().request.prompt, "a fox, long hair, ");

    search(&mut window);
    window.click("Remove danbooru.csv");
    window.wait_for("no tags", |app| app.state().tags.is_empty());
    assert!(window.harness.state().state().settings.tag_files.is_empty());
}
