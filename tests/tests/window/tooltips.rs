//! Every control has a name and a tooltip, also those that other tests do not open.

use egui::{Key, Modifiers, accesskit::Role};
use egui_kittest::kittest::Queryable;
use sluice::window::settings::Settings;
use sluice_engine::session::{Event, Job, JobId};

use super::{
    behaviour::nothing_is_unnamed,
    support::{Window, half_way, machine, picture, starter},
};

const JOB: JobId = JobId(1);

fn press(window: &mut Window, key: Key) {
    window.harness.key_press(key);
    window.frames();
}

/// A window with presets, styles, prompts and models that were used before.
fn lived_in() -> (Window, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_owned();
    std::fs::create_dir(data.join("styles")).unwrap();
    std::fs::write(data.join("styles/own.csv"), "name,prompt,negative_prompt\nFilm,film,\n").unwrap();
    std::fs::create_dir(data.join("presets")).unwrap();
    std::fs::write(data.join("presets/Quick look.toml"), "steps = 3\n").unwrap();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.places.data = Some(data);
        setup.folder = Some(folder.path().to_owned());
        setup.settings = Some(Settings {
            recent_models: vec!["/models/wan2.2.gguf".into()],
            prompts: vec!["a lighthouse in fog".to_owned()],
            ..Settings::default()
        });
    });
    window.says(Event::Hardware(machine()));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.wait_for("both", |app| !app.state().styles.is_empty() && !app.state().presets.is_empty());
    (window, folder)
}

#[test]
fn menus_of_the_panel_are_explained() {
    let (mut window, _folder) = lived_in();
    for popup in ["Presets", "Styles", "History", "Model", "Theme"] {
        window.click(popup);
        window.frames();
        nothing_is_unnamed(&window, popup);
        press(&mut window, Key::Escape);
        press(&mut window, Key::Escape);
    }
    window.click("Presets");
    window.click("Rename Quick look");
    nothing_is_unnamed(&window, "a preset that gets another name");
}

#[test]
fn sheets_and_dialogs_are_explained() {
    let (mut window, _folder) = lived_in();
    press(&mut window, Key::F1);
    nothing_is_unnamed(&window, "the sheet of keys");
    press(&mut window, Key::Escape);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.frames();
    nothing_is_unnamed(&window, "the palette");
    window.harness.get_by_label("Search commands").type_text("o");
    window.frames();
    nothing_is_unnamed(&window, "what the palette finds");
    press(&mut window, Key::Escape);
    window.click("Grid…");
    nothing_is_unnamed(&window, "the dialog for grids");
    window.click("Columns");
    window.harness.get_all_by_label("Sampler").last().unwrap().click();
    window.frames();
    nothing_is_unnamed(&window, "an axis of a grid");
}

#[test]
fn what_lies_over_the_image_is_explained() {
    let (mut window, _folder) = lived_in();
    let job = Job::new(JobId(7), sluice_engine::request::Request::default());
    window.says(Event::Unfinished { jobs: vec![job] });
    nothing_is_unnamed(&window, "unfinished jobs");
    window.click("Discard");
    window.click("Generate");
    half_way(&mut window, JOB);
    window.says(Event::Replanned { job: JOB, reason: "Ran out of memory".to_owned() });
    nothing_is_unnamed(&window, "another plan");
    press(&mut window, Key::Escape);
    window.says(Event::Cancelled { job: JOB });
    assert!(window.shows("Resume"));
    nothing_is_unnamed(&window, "a cancelled job");
}

#[test]
fn a_name_and_what_explains_it_are_in_one_tooltip() {
    let (mut window, _folder) = lived_in();
    window.click("Generate");
    window.says(Event::Started { job: JOB });
    window.says(Event::Finished { job: JOB, pictures: vec![picture(64, 64, 7)], seconds: 1.0 });
    let button = window.harness.get_by_label("Variations ×4").rect();
    window.harness.hover_at(button.center());
    window.harness.run_steps(6);
    let named = window.harness.query_all_by_label("Variations ×4").map(|node| node.rect());
    let names: Vec<_> = named.filter(|rect| *rect != button).collect();
    let tip = window.harness.get_by_label("Four images with the same settings and other seeds.").rect();
    let [name] = names[..] else { panic!("{names:?}") };
    let is_below = (0.0..4.0).contains(&(tip.top() - name.bottom()));
    assert!(is_below && (tip.left() - name.left()).abs() < 1.0, "{name:?} {tip:?}");
}

#[test]
fn commands_in_menus_are_explained() {
    let (mut window, _folder) = lived_in();
    window.fill("Prompt", "a red boat");
    window.click("Generate");
    half_way(&mut window, JOB);
    window.harness.get_by_label("Live preview").click_secondary();
    window.frames();
    assert!(window.shows("Cancel the running image"));
    nothing_is_unnamed(&window, "the menu of the live preview");
    press(&mut window, Key::Escape);
    window.says(Event::Finished { job: JOB, pictures: vec![picture(64, 64, 7)], seconds: 1.0 });
    let name = window.harness.state().state().images.shown_recent().unwrap().name();
    window.harness.get_by_role_and_label(Role::Image, &name).click_secondary();
    window.frames();
    nothing_is_unnamed(&window, "the menu of the large image");
    window.click("Copy prompt");
    assert!(!window.shows("Copy prompt"), "the menu is closed");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    window.harness.get_by_label_contains("Starter, Small images").click_secondary();
    window.frames();
    assert!(window.shows("Use current settings as defaults"));
    nothing_is_unnamed(&window, "the menu of a model");
    window.click("Add star");
    assert!(!window.shows("Add star"), "the menu is closed");
    window.harness.get_by_label_contains("Starter, Small images").click_secondary();
    window.frames();
    assert!(window.shows("Remove star"));
}
