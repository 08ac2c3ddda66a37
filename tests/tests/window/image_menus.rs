//! The menus of images: in the gallery and in the list of results they offer the same in the same order.

use egui::{Key, Theme, accesskit::Role};
use egui_kittest::kittest::Queryable;
use sluice::window::app::SluiceApp;
use sluice_engine::{output::read_settings, session::Command};

use super::{behaviour::nothing_is_unnamed, gallery::Kept, support::Window};

fn press(window: &mut Window, key: Key) {
    window.harness.key_press(key);
    window.frames();
}

fn notice(app: &SluiceApp) -> &str {
    app.gallery().shelf.notice.as_ref().map_or("", |notice| &notice.text)
}

/// Opens the menu of a right click.
fn menu(window: &mut Window, name: &str) {
    window.harness.get_by_role_and_label(Role::Button, name).click_secondary();
    window.frames();
}

#[test]
fn the_menus_of_the_gallery_and_of_results_are_alike() {
    let kept = Kept::some();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    let in_order = |window: &Window| {
        let names = [
            "Use these settings",
            "Variations ×4",
            "Similar ×4",
            "Use as input image",
            "Inpaint…",
            "Use as preview…",
            "Upscale…",
            "Detail image…",
            "Describe image…",
            "Copy image",
            "Copy file",
            "Copy prompt",
            "Save as…",
            "Show in folder",
            "Add star",
            "Move to trash",
        ];
        // The bar below the image has buttons of the same names.
        let all = |name| window.harness.query_all_by_label(name).map(|node| node.rect().top());
        let top = |name| all(name).reduce(f32::min).unwrap();
        let tops = names.map(top);
        assert!(tops.is_sorted_by(|above, below| above < below), "{tops:?}");
    };
    menu(&mut window, "2.png");
    nothing_is_unnamed(&window, "the menu of an image");
    in_order(&window);
    press(&mut window, Key::Escape);
    press(&mut window, Key::G);
    assert!(!window.harness.state().gallery().is_open);
    menu(&mut window, "2.png");
    in_order(&window);
}

#[test]
fn an_image_is_copied_saved_varied_and_painted_over() {
    let kept = Kept::some();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    menu(&mut window, "2.png");
    window.click("Copy image");
    window.wait_for("the pixels", |app| notice(app) == "Copied to the clipboard");
    menu(&mut window, "2.png");
    window.click("Save as…");
    window.wait_for_words("There is a file with this name.");
    window.replace("File name", "small.jpg");
    window.click("Save");
    window.wait_for("the copy", |app| notice(app) == "Saved small.jpg");
    let copy = kept.folder.path().join("small.jpg");
    assert_eq!(read_settings(&copy).unwrap().settings.seed, 2);

    window.take_commands();
    menu(&mut window, "2.png");
    window.click("Variations ×4");
    window.wait_for("the jobs", |app| !app.state().jobs.is_empty());
    assert!(!window.harness.state().gallery().is_open);
    let commands = window.take_commands();
    assert_eq!(commands.len(), 4);
    for (command, seed) in commands.iter().zip(1234..) {
        let Command::Generate(job) = command else { panic!("{command:?}") };
        assert_eq!((job.request.prompt.as_str(), job.request.seed), ("a white house in the snow", seed));
    }

    press(&mut window, Key::G);
    window.wait_for("the images", |app| app.gallery().shelf.unread == Some(0));
    menu(&mut window, "2.png");
    window.click("Inpaint…");
    window.wait_for("the brush", |app| app.state().input.painting.is_some());
    assert!(!window.harness.state().gallery().is_open);
}
