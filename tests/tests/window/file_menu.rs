//! "Replace…" in the menu of a file that is used.

use std::path::{Path, PathBuf};

use egui::accesskit::Role;
use egui_kittest::kittest::Queryable;
use sluice::window::{settings::Settings, state::Draft};
use sluice_engine::{
    request::{AdapterUse, ImagePrompt, Keyframe, Mode, ModelSource, ReferenceSizes, References, Request},
    session::{Event, ModelSummary},
};

use super::{
    control_nets::choose,
    input_image::photo,
    support::{Window, starter},
};

/// A window with a request, whose dialogs start in a folder.
fn with_request(folder: &Path, request: Request, summary: ModelSummary) -> Window {
    let source = ModelSource::Path(folder.join("model.safetensors"));
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let draft = Draft { request: Request { model: source.clone(), ..request }, ..Draft::default() };
        let recent_models = vec![folder.join("model.safetensors")];
        setup.settings = Some(Settings { draft, recent_models, ..Settings::default() });
    });
    window.take_commands();
    window.says(Event::ModelLoaded(Box::new(ModelSummary { source, ..summary })));
    window.frames();
    window
}

fn replace(window: &mut Window, role: Role, old: &str, new: &str) {
    window.harness.get_by_role_and_label(role, old).scroll_to_me();
    window.frames();
    window.harness.get_by_role_and_label(role, old).click_secondary();
    window.frames();
    window.click("Replace…");
    choose(window, new);
}

fn request(window: &Window) -> &Request {
    &window.harness.state().state().draft().request
}

#[test]
fn another_lora_takes_the_place_and_the_weight_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(format!("{name}.safetensors"));
    let lightning = "Wan2.2-Lightning_T2V-A14B-4steps-lora_HIGH_fp16";
    for name in ["ink", "film", "paper", lightning] {
        sluice_tests::adapters::Adapter::new("z_image").unwrap().write(&path(name)).unwrap();
    }
    let used = |name: &str, weight| AdapterUse { path: path(name), weight };
    let adapters = vec![used("ink", 0.7), used("film", 0.5)];
    let mut window = with_request(folder.path(), Request { adapters, ..Request::default() }, starter());
    window.click("LoRA (2)");
    replace(&mut window, Role::CheckBox, "ink", "paper.safetensors");
    assert_eq!(request(&window).adapters, [used("paper", 0.7), used("film", 0.5)]);

    replace(&mut window, Role::CheckBox, "paper", "film.safetensors");
    assert_eq!(request(&window).adapters, [used("paper", 0.7), used("film", 0.5)], "it is in the list");

    window.click("film");
    replace(&mut window, Role::CheckBox, "film", "ink.safetensors");
    assert_eq!(request(&window).adapters, [used("paper", 0.7), used("ink", 0.5)]);
    window.click("Generate");
    assert_eq!(window.take_job().request.adapters, [used("paper", 0.7)], "it is still switched off");

    replace(&mut window, Role::CheckBox, "ink", &format!("{lightning}.safetensors"));
    assert_eq!(request(&window).adapters, [used("paper", 0.7), used(lightning, 1.0)]);
    assert_eq!(request(&window).steps, 4, "it brings its own settings");
}

#[test]
fn another_keyframe_keeps_the_frame() {
    let folder = tempfile::tempdir().unwrap();
    let [middle, other] = ["middle.png", "other.png"].map(|name| photo(folder.path(), name));
    let keyframes = vec![Keyframe { frame: 16, path: middle }];
    let summary =
        ModelSummary { frame_multiple: Some(4), modes: vec![Mode::Text, Mode::Keyframes], ..starter() };
    let given = Request { keyframes, frames: 33, ..Request::default() };
    let mut window = with_request(folder.path(), given, summary);
    replace(&mut window, Role::Image, "middle.png", "other.png");
    assert_eq!(request(&window).keyframes, [Keyframe { frame: 16, path: other }]);
}

#[test]
fn another_reference_keeps_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let images = ["one.png", "two.png", "other.png"].map(|name| photo(folder.path(), name));
    let sizes = ReferenceSizes::Area { side: 128, multiple: 32, up: false };
    let references = Some(References { most: 2, edits: true, sizes });
    let given = Request { references: images[..2].to_vec(), ..Request::default() };
    let mut window = with_request(folder.path(), given, ModelSummary { references, ..starter() });
    let wanted = |kept: [usize; 2]| -> Vec<PathBuf> { kept.map(|index| images[index].clone()).to_vec() };
    replace(&mut window, Role::Image, "two.png", "other.png");
    assert_eq!(request(&window).references, wanted([0, 2]));
    replace(&mut window, Role::Image, "one.png", "two.png");
    assert_eq!(request(&window).references, wanted([1, 2]));
    window.wait_for("its size", |app| {
        let request = &app.state().draft().request;
        (request.width, request.height) == (160, 96)
    });
}

#[test]
fn another_image_of_an_image_prompt_keeps_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let images = ["one.png", "two.png", "other.png"].map(|name| photo(folder.path(), name));
    let prompt = ImagePrompt {
        adapter: folder.path().join("ip-adapter.safetensors"),
        images: images[..2].to_vec(),
        ..ImagePrompt::default()
    };
    let given = Request { image_prompts: vec![prompt], ..Request::default() };
    let summary = ModelSummary { takes_ip_adapters: true, ..starter() };
    let mut window = with_request(folder.path(), given, summary);
    window.click("Image prompt (1)");
    replace(&mut window, Role::Image, "one.png", "other.png");
    assert_eq!(request(&window).image_prompts[0].images, [images[2].clone(), images[1].clone()]);
}
