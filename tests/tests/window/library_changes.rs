//! The place of models: what is kept about models, and files that appear, change or are the same.

use std::fs;

use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable;
use sluice::window::{
    action::{Action, LibraryAction},
    settings::Settings,
    state::{EntryId, Search, State},
};
use sluice_engine::{
    output::{Media, Settings as ImageSettings, write_png},
    request::{AdapterUse, Hires, ModelSource, Request},
    session::{Event, ModelSummary},
};

use super::{
    library::{SIZE, lora, models, opened, opened_with, state},
    support::{Window, landscape, starter},
};

#[test]
fn stars_notes_and_folders_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let mut window = opened(&[]);
    assert!(!window.shows("flux1-dev-tiny"));
    let mut saved = state(&window).settings.clone();
    saved.library.folders.push(models.clone());
    window = opened_with(SIZE, Theme::Dark, &[], |settings| *settings = saved);
    assert!(window.shows("flux1-dev-tiny, FLUX.1 denoiser"));
    window.click("Favorite flux1-dev-tiny");
    assert!(window.shows("Favorites, 1 row"));
    window.click_what_says("flux1-dev-tiny, FLUX.1 denoiser");
    window.fill("Your note", "for posters");
    for tag in ["night", "skyline"] {
        window.fill("Your tags", tag);
        window.harness.key_press(Key::Enter);
        window.frames();
    }
    window.click("Remove the tag night");
    let again = Settings::from_json(&state(&window).settings.to_json());
    assert_eq!(again.library, state(&window).settings.library);
    window = opened_with(SIZE, Theme::Dark, &[], |settings| *settings = again);
    window.harness.get_by_label("Search models").type_text("posters skyline");
    window.frames();
    assert!(window.shows("flux1-dev-tiny, FLUX.1 denoiser") && !window.shows("z-image-tiny, "));
    window.click("Folders");
    window.click(&format!("Remove {}", models.display()));
    assert!(state(&window).settings.library.folders.is_empty());
    window.wait_for("the empty list", |app| app.state().library.inventory.items.is_empty());
}

#[test]
fn a_model_starts_with_the_settings_that_were_kept_for_it() {
    let mut window = Window::with_starter();
    let request = Request {
        steps: 33,
        guidance: 3.5,
        negative_prompt: "fog".to_owned(),
        clip_skip: 2,
        hires: Some(Hires::default()),
        ..Request::default()
    };
    let mut settings = state(&window).settings.clone();
    settings.draft.request = Request { model: ModelSource::Starter, ..request };
    window = opened_with(SIZE, Theme::Dark, &[], |own| *own = settings);
    window.click_what_says("Starter, Small images");
    window.click("Use current settings as defaults");
    window.click("Close models");
    let mut draft = state(&window).draft().clone();
    (draft.request.clip_skip, draft.request.hires) = (0, None);
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, Action::Edit(Box::new(draft)));

    // Another model, and back.
    window.click("Model");
    window.click_what_says("Clip starter");
    window.says(Event::ModelLoaded(Box::new(ModelSummary { source: ModelSource::StarterClip, ..starter() })));
    assert_eq!(state(&window).draft().request.steps, 12);
    window.click("Model");
    window.click("Starter");
    window.says(Event::ModelLoaded(Box::new(starter())));
    let request = &state(&window).draft().request;
    assert_eq!((request.steps, request.guidance, request.negative_prompt.as_str()), (33, 3.5, "fog"));
    assert_eq!((request.clip_skip, &request.hires), (2, &Some(Hires::default())));

    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    window.click("Reset defaults");
    let request = &state(&window).draft().request;
    assert_eq!((request.steps, request.negative_prompt.as_str(), &request.hires), (12, "", &None));
    assert!(state(&window).settings.library.defaults.is_empty());
}

#[test]
fn new_files_are_found_when_the_window_is_in_front_again() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let mut window = opened(std::slice::from_ref(&models));
    window.harness.key_press(Key::Escape);
    window.frames();
    lora(&models.join("loras/late.safetensors"), 4);
    let is_listed = |state: &State| {
        state.library.inventory.items.iter().any(|item| item.path.ends_with("loras/late.safetensors"))
    };
    window.harness.run_steps(30);
    assert!(!is_listed(state(&window)), "the place is closed");
    window.harness.event(egui::Event::WindowFocused(true));
    window.wait_for("the new file", |app| is_listed(app.state()));
}

#[test]
fn new_files_appear_when_the_folders_are_searched_again() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let mut window = opened(std::slice::from_ref(&models));
    lora(&models.join("loras/new.safetensors"), 4);
    window.click("Folders");
    window.click("Look again");
    window.wait_for("the new file", |app| app.state().library.inventory.items.len() == 10);
    window.harness.key_press(Key::Escape);
    window.frames();
    window.click("LoRAs 3");
    assert!(window.shows("new, LoRA for FLUX.1"));
}

#[test]
fn new_files_appear_by_themselves_while_the_place_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let mut window = opened(std::slice::from_ref(&models));
    let count = |window: &Window| state(window).library.inventory.items.len();
    assert_eq!(count(&window), 9);
    lora(&models.join("loras/new.safetensors"), 4);
    window.wait_for("the new file", |app| app.state().library.inventory.items.len() == 10);
    // Once the search that may be running has ended.
    window.wait_for("the search", |app| matches!(app.state().library.search, Search::Ended(_)));
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(!state(&window).library.is_open);
    lora(&models.join("loras/newer.safetensors"), 4);
    for _ in 0..20 {
        window.frames();
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(count(&window), 10, "nobody looks");
}

#[test]
fn copies_are_found_by_their_content_and_said_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let copy = models.join("loras/film copy.safetensors");
    fs::copy(models.join("loras/film.safetensors"), &copy).unwrap();
    // Only between the samples of the weights it is another one.
    let large = models.join("loras/large.safetensors");
    lora(&large, 4000);
    let mut bytes = fs::read(&large).unwrap();
    bytes[10_000] ^= 1;
    fs::write(models.join("loras/other.safetensors"), bytes).unwrap();
    let mut window = opened(std::slice::from_ref(&models));
    window.wait_for("the hashes", |app| app.state().library.hashes.len() == 4);
    window.click("LoRAs 5");
    assert!(window.shows("F16 · duplicate"));
    window.click_what_says("film, LoRA for FLUX.1, 1 matrix, rank 8 · ");
    assert!(window.shows(&copy.display().to_string()) && window.shows("Same content"));
    window.click_what_says("large, LoRA for FLUX.1");
    assert!(window.shows("Same size and header, but different content."));
    assert!(!window.shows("Same content:"));
}

#[test]
fn an_image_becomes_the_preview_of_a_lora_and_another_one_replaces_it_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let lora = models.join("loras/film.safetensors");
    let image = folder.path().join("fox.png");
    let request = Request {
        model: ModelSource::Path(models.join("diffusion_models/flux1-dev-tiny.safetensors")),
        adapters: vec![AdapterUse { path: lora.clone(), weight: 1.0 }],
        ..Request::default()
    };
    let write = |width: u32| {
        let media = Media::Image(landscape(width, 64, 3, 1.0));
        write_png(&image, &media, &ImageSettings::new(&request, "tiny", "flux", 0)).unwrap();
    };
    let mut window = opened(std::slice::from_ref(&models));
    let ask = |window: &mut Window| {
        let ctx = window.harness.ctx.clone();
        let action = LibraryAction::AskPreview(image.clone()).into();
        window.harness.state_mut().act(&ctx, action);
        window.wait_for_words("The image is saved beside the model");
        window.click("film.safetensors");
    };
    let preview = models.join("loras/film.preview.png");
    write(1536);
    ask(&mut window);
    window.click("Save preview");
    window.wait_for("the preview", |app| {
        let item = app.state().library.item(&EntryId::path(&lora));
        item.is_some_and(|item| item.about.preview.as_ref() == Some(&preview))
    });
    assert_eq!(image::image_dimensions(&preview).unwrap(), (768, 32), "a small copy");

    write(64);
    ask(&mut window);
    assert!(window.shows("film.safetensors has a preview already. It is replaced."));
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(!window.shows("has a preview already") && state(&window).library.is_open);
    ask(&mut window);
    window.click("Replace preview");
    window.wait_for("the other preview", |_| image::image_dimensions(&preview).unwrap() == (64, 64));
}
