//! Presets and styles.

use std::{fs, path::Path};

use egui_kittest::kittest::Queryable;
use sluice::{
    presets,
    window::{
        action::{Action, Keeping},
        state::{Draft, State},
    },
};
use sluice_engine::{
    request::{Hires, ModelSource, Request, Sampler, SourceImage},
    session::{Command, Defaults, Event, ModelSummary},
};
use tempfile::TempDir;

use super::{
    behaviour::nothing_is_unnamed,
    support::{Window, starter},
};

fn state(window: &Window) -> &State {
    window.harness.state().state()
}

/// A window with a folder for data.
fn with_data(change: impl FnOnce(&mut Request)) -> (Window, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (opened(folder.path(), change), folder)
}

/// A window with this folder for data.
fn opened(folder: &Path, change: impl FnOnce(&mut Request)) -> Window {
    let mut settings = sluice::window::settings::Settings::default();
    change(&mut settings.draft.request);
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.places.data = Some(folder.to_owned());
        setup.settings = Some(settings);
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.take_commands();
    window
}

fn request(window: &Window) -> Request {
    state(window).draft().request.clone()
}

#[test]
fn settings_are_kept_under_a_name_used_renamed_and_deleted() {
    let (mut window, folder) = with_data(|request| {
        (request.steps, request.sampler, request.prompt) = (33, Sampler::Heun, "a fox".to_owned());
    });
    window.click("Presets");
    assert!(window.shows("Nothing is kept yet."));
    window.fill("Name of a preset", "Night");
    window.click("Save");
    window.wait_for("the preset", |app| !app.state().presets.is_empty());
    window.click("Reset to the model's defaults");
    assert_eq!((request(&window).steps, request(&window).sampler), (12, Sampler::default()));
    assert_eq!(request(&window).prompt, "a fox", "prompts stay");
    window.click("Presets");
    window.frames();
    window.click("Night");
    assert_eq!((request(&window).steps, request(&window).sampler), (33, Sampler::Heun));
    assert!(window.shows("Preset Night"));
    window.click("Undo");
    assert_eq!(request(&window).steps, 12);
    window.click("Presets");
    window.click("Rename Night");
    window.fill("New name of Night", "s 2");
    window.click("Rename");
    window.wait_for("the new name", |app| app.state().presets[0].name != "Night");
    let names = || -> Vec<String> {
        presets::listed(&folder.path().join("presets")).into_iter().map(|preset| preset.name).collect()
    };
    assert_eq!(names(), [state(&window).presets[0].name.clone()]);
    let name = names().remove(0);
    window.click(&format!("Delete {name}"));
    window.wait_for("nothing", |app| app.state().presets.is_empty());
    assert_eq!(names(), Vec::<String>::new());
}

#[test]
fn what_an_input_image_put_aside_is_not_that_of_a_preset_other_defaults_or_another_model() {
    let folder = tempfile::tempdir().unwrap();
    let night = Request { width: 256, height: 256, ..Request::default() };
    presets::save(&folder.path().join("presets"), "Night", &presets::Preset::of(&night, false)).unwrap();
    let other = ModelSource::Path("/models/other.safetensors".into());
    let steps: [(Action, u32); 3] = [
        (Keeping::Apply("Night".to_owned()).into(), 256),
        (Keeping::Reset.into(), 128),
        (Action::ChooseModel(other.clone()), 96),
    ];
    for (step, expected) in steps {
        let mut window = opened(folder.path(), |request| {
            request.source = Some(SourceImage { path: "/photos/fox.png".into(), ..SourceImage::default() });
            (request.width, request.height) = (160, 160);
        });
        window.wait_for("the preset", |app| !app.state().presets.is_empty());
        let context = window.harness.ctx.clone();
        let edit = |window: &mut Window, change: &dyn Fn(&mut Draft)| {
            let mut draft = state(window).draft().clone();
            change(&mut draft);
            window.harness.state_mut().act(&context, Action::Edit(Box::new(draft)));
            window.frames();
        };
        edit(&mut window, &|draft| {
            draft.request.source.as_mut().unwrap().outpaint.right = 32;
            draft.request.width = 192;
            draft.hires_before = Some(Hires::default());
        });
        assert_eq!(state(&window).draft().size_before, Some([160, 160]));
        let keeps_hires = matches!(step, Action::ChooseModel(_));
        window.harness.state_mut().act(&context, step);
        window.frames();
        if keeps_hires {
            let defaults = Defaults { width: 96, height: 96, ..starter().defaults };
            let summary = ModelSummary { source: other.clone(), defaults, ..starter() };
            window.says(Event::ModelLoaded(Box::new(summary)));
        }
        edit(&mut window, &|draft| draft.request.source = None);
        let draft = state(&window).draft();
        assert_eq!([draft.request.width, draft.request.height], [expected; 2]);
        assert_eq!(draft.request.hires.is_some(), keeps_hires, "{expected}");
    }
}

#[test]
fn a_deleted_preset_comes_back_even_if_it_cannot_be_read() {
    let (mut window, folder) = with_data(|_| ());
    let kept = folder.path().join("presets");
    let steps = Request { steps: 33, ..Request::default() };
    presets::save(&kept, "Night", &presets::Preset::of(&steps, false)).unwrap();
    fs::write(kept.join("Broken.toml"), "steps = \"many\" # mine").unwrap();
    window.click("Presets");
    window.wait_for("the presets", |app| app.state().presets.len() == 2);
    window.frames();
    for name in ["Broken", "Night"] {
        let file = kept.join(name).with_extension("toml");
        let before = fs::read(&file).unwrap();
        window.click(&format!("Delete {name}"));
        window.wait_for("the notice", |app| app.state().messages.notice.is_some());
        window.frames();
        assert!(!file.exists() && window.shows(&format!("Preset {name} deleted")));
        window.click("Undo");
        window.wait_for("the preset", |app| app.state().presets.len() == 2);
        assert_eq!(fs::read(&file).unwrap(), before);
        assert!(state(&window).messages.notice.is_none());
        window.click("Presets");
        window.frames();
    }
    // Another one has taken the name meanwhile.
    window.click("Delete Night");
    window.wait_for("the notice", |app| app.state().messages.notice.is_some());
    window.frames();
    fs::write(kept.join("Night.toml"), "steps = 5").unwrap();
    window.click("Undo");
    window.wait_for("the failure", |app| !app.state().messages.failures.is_empty());
    assert_eq!(fs::read_to_string(kept.join("Night.toml")).unwrap(), "steps = 5", "it is not lost");
}

#[test]
fn a_preset_can_open_its_model() {
    let (mut window, folder) = with_data(|_| ());
    let kept = folder.path().join("presets");
    let other = Request { model: "/models/other".parse().unwrap(), steps: 40, ..Request::default() };
    presets::save(&kept, "Other", &presets::Preset::of(&other, true)).unwrap();
    window.click("Presets");
    window.wait_for("the preset", |app| !app.state().presets.is_empty());
    window.frames();
    window.click("Other");
    assert_eq!(window.take_commands(), [Command::Load { model: other.model }]);
    assert_eq!(request(&window).steps, 40);
}

#[test]
fn several_styles_are_applied_and_can_be_removed() {
    let (mut window, folder) = with_data(|request| request.prompt = "a fox".to_owned());
    let styles = folder.path().join("styles");
    fs::create_dir(&styles).unwrap();
    let table = "name,prompt,negative_prompt\nFilm,\"film still of {prompt}\",drawing\nFog,fog,\nInk,ink,\n";
    fs::write(styles.join("own.csv"), table).unwrap();
    window.click("Styles");
    window.wait_for("the styles", |app| app.state().styles.len() == 3);
    window.frames();
    window.click("Film");
    window.click("Fog");
    window.fill("Search styles", "in");
    assert!(window.shows("Ink") && window.harness.query_all_by_label("Fog").next().is_none());
    window.harness.key_press(egui::Key::Escape);
    window.frames();
    window.harness.key_press(egui::Key::Escape);
    window.frames();
    assert!(window.shows("Style: Film") && window.shows("Style: Fog"), "they are listed above Generate");
    window.click("Generate");
    let names: Vec<_> = window.take_job().request.styles.into_iter().map(|style| style.name).collect();
    assert_eq!(names, ["Film", "Fog"]);
    window.click("Do not use the style Film");
    assert_eq!(request(&window).styles.len(), 1);
}

#[test]
fn prompts_are_saved_as_a_style_which_can_be_deleted_and_brought_back() {
    let (mut window, folder) = with_data(|_| ());
    window.fill("Prompt", "ink wash of {prompt}");
    window.fill("Negative prompt", "fog");
    window.click("Styles");
    window.fill("Name of a new style", " Ink ");
    window.click("Save style");
    window.wait_for("the style", |app| app.state().styles.len() == 1);
    window.frames();
    nothing_is_unnamed(&window, "a saved style");
    let style = window.harness.state().state().styles[0].clone();
    assert_eq!(
        (style.name.as_str(), style.prompt.as_str(), style.negative_prompt.as_str()),
        ("Ink", "ink wash of {prompt}", "fog")
    );
    window.click("Ink");
    assert_eq!(request(&window).styles, std::slice::from_ref(&style));

    // The next start reads it, and does not take it for one that it cannot delete.
    let mut window = opened(folder.path(), |_| ());
    window.wait_for("the style", |app| app.state().own_styles.len() == 1);
    window.click("Styles");
    window.click("Delete the style Ink");
    window.wait_for("no style", |app| app.state().styles.is_empty());
    window.click("Undo");
    window.wait_for("the style", |app| app.state().styles == [style.clone()]);
}

#[test]
fn a_right_click_on_a_preset_duplicates_it() {
    let (mut window, folder) = with_data(|_| ());
    let kept = folder.path().join("presets");
    let steps = Request { steps: 33, ..Request::default() };
    presets::save(&kept, "Night", &presets::Preset::of(&steps, false)).unwrap();
    window.click("Presets");
    window.wait_for("the preset", |app| app.state().presets.len() == 1);
    window.frames();
    for (number, count) in [("Night 2", 2), ("Night 3", 3)] {
        window.harness.get_by_label("Night").click_secondary();
        window.frames();
        window.click("Duplicate");
        window.wait_for("the copy", |app| app.state().presets.len() == count);
        window.frames();
        assert!(presets::listed(&kept).iter().any(|preset| preset.name == number));
    }
    window.harness.get_by_label("Night").click_secondary();
    window.frames();
    nothing_is_unnamed(&window, "what can be done with a preset");
    window.click("Rename…");
    assert!(window.harness.query_by_label("New name of Night").is_some());
}

#[test]
fn a_right_click_on_a_style_renames_and_duplicates_it() {
    let (mut window, folder) = with_data(|_| ());
    fs::create_dir(folder.path().join("styles")).unwrap();
    let table = "name,prompt,negative_prompt\nInk,ink wash,fog\n";
    fs::write(folder.path().join("styles/saved.csv"), table).unwrap();
    window.click("Styles");
    window.wait_for("the style", |app| app.state().own_styles.len() == 1);
    window.frames();
    window.click("Ink");
    let choose = |window: &mut Window, choice: &str| {
        window.harness.get_by_label("Ink").click_secondary();
        window.frames();
        window.click(choice);
    };
    choose(&mut window, "Duplicate");
    window.wait_for("the copy", |app| app.state().own_styles.len() == 2);
    window.frames();
    choose(&mut window, "Rename…");
    window.replace("New name of Ink", "Wash");
    window.harness.key_press(egui::Key::Enter);
    window.frames();
    window.wait_for("the name", |app| app.state().own_styles.iter().any(|style| style.name == "Wash"));
    assert_eq!(request(&window).styles[0].name, "Wash", "it is still used");
    let names: Vec<_> = state(&window).own_styles.iter().map(|style| style.name.clone()).collect();
    assert_eq!(names, ["Wash", "Ink 2"]);
}

#[test]
fn a_right_click_on_what_is_in_force_shows_copies_and_removes_it() {
    let (mut window, _folder) = with_data(|request| {
        request.styles = vec![sluice_engine::request::Style {
            name: "Film".to_owned(),
            prompt: "film still".to_owned(),
            ..Default::default()
        }];
        request.hires = Some(Hires::default());
    });
    let menu = |window: &mut Window, chip: &str, choice: &str| {
        window.harness.get_by_label_contains(chip).click_secondary();
        window.frames();
        nothing_is_unnamed(window, "the menu of a chip");
        window.click(choice);
    };
    menu(&mut window, "Style: Film", "Copy its prompt");
    assert!(window.shows("Copied to the clipboard"));
    assert!(window.harness.query_by_label("Enlarge and denoise again").is_none());
    menu(&mut window, "Hires fix", "Show in the settings");
    assert!(window.harness.query_by_label("Enlarge and denoise again").is_some());
    menu(&mut window, "Style: Film", "Remove all of these");
    let without = request(&window);
    assert!(without.styles.is_empty() && without.hires.is_none());
    window.click("Undo");
    assert_eq!(request(&window).styles.len(), 1);
}

/// The words of menus keep their gaps.
#[test]
fn hints_in_menus_are_not_stretched() {
    for (menu, hint) in
        [("Styles", "No styles yet."), ("Snippets", "No snippets yet."), ("Presets", "Nothing is kept yet.")]
    {
        let (mut window, _folder) = with_data(|_| ());
        window.click(menu);
        let output = window.harness.output();
        let lines: Vec<bool> = output
            .shapes
            .iter()
            .filter_map(|clipped| match &clipped.shape {
                egui::Shape::Text(text) if text.galley.text().starts_with(hint) => {
                    Some(text.galley.job.justify)
                }
                _ => None,
            })
            .collect();
        assert_eq!(lines, [false], "{menu}");
    }
}
