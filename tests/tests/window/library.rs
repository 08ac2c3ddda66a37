//! The place of models: what is listed and found there, and how it fits.

use std::{
    fs,
    path::{Path, PathBuf},
};

use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable;
use sluice::{
    language::units,
    window::{
        library::LibraryOptions,
        settings::Settings,
        state::{EntryId, Fit, Search, State, Way},
    },
};
use sluice_engine::{
    memory::{DeviceChoice, MemoryPreferences},
    models::Kind,
    request::ModelSource,
    session::{Command, Event, ModelSummary, PlanQuery, PlanSubject},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored},
    failures::write_header,
};

use super::{
    behaviour::nothing_is_unnamed,
    runs::Scene,
    support::{Window, failure, landscape, starter},
};

pub const SIZE: [f32; 2] = [1280.0, 800.0];
/// At the end of what is said of the row of the opened model.
const OPENED: &str = ", opened";

pub fn state(window: &Window) -> &State {
    window.harness.state().state()
}

/// A LoRA for FLUX.1, by its header and zeros.
pub fn lora(path: &Path, rank: usize) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let [down, up] = [rank * 64 * 2, rank * 192 * 2];
    let layer = "diffusion_model.double_blocks.12.img_attn.qkv";
    let header = format!(
        r#"{{"{layer}.lora_A.weight":{{"dtype":"F16","shape":[{rank},64],"data_offsets":[0,{down}]}},"{layer}.lora_B.weight":{{"dtype":"F16","shape":[192,{rank}],"data_offsets":[{down},{}]}}}}"#,
        down + up
    );
    write_header(path, &header, down + up).unwrap();
}

/// A folder as ComfyUI has it: two models, LoRAs with descriptions, an upscaler, and a damaged file.
pub fn models(folder: &Path) -> PathBuf {
    let models = folder.join("models");
    Fixture::new("flux", "dev").write(&models, Layout::Split, Stored::F32).unwrap();
    let denoiser = models.join("diffusion_models/tiny_flux.safetensors");
    fs::rename(denoiser, models.join("diffusion_models/flux1-dev-tiny.safetensors")).unwrap();
    let checkpoints = models.join("checkpoints");
    fs::create_dir_all(&checkpoints).unwrap();
    Fixture::new("z_image", "default")
        .write(&models.join("diffusers/z-image-tiny"), Layout::Diffusers, Stored::F32)
        .unwrap();
    fs::write(checkpoints.join("broken.safetensors"), [0xa5; 99]).unwrap();
    lora(&models.join("loras/ink.safetensors"), 16);
    let info = r#"{"model": {"name": "Ink wash", "tags": ["style"]}, "trainedWords": ["inkwash", "rice paper"], "description": "<p>For calm landscapes.</p>"}"#;
    fs::write(models.join("loras/ink.civitai.info"), info).unwrap();
    let image = landscape(64, 64, 5, 1.0);
    image::save_buffer(models.join("loras/ink.preview.png"), &image.pixels, 64, 64, image::ColorType::Rgb8)
        .unwrap();
    lora(&models.join("loras/film.safetensors"), 8);
    fs::create_dir_all(models.join("upscale_models")).unwrap();
    let header = r#"{"conv_first.weight":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},"body.0.rdb1.conv1.weight":{"dtype":"F16","shape":[2,2],"data_offsets":[8,16]}}"#;
    write_header(&models.join("upscale_models/esrgan.safetensors"), header, 16).unwrap();
    models
}

/// A window that knows these folders, with the place open and everything listed.
pub fn opened(folders: &[PathBuf]) -> Window {
    opened_with([1280.0, 800.0], Theme::Dark, folders, |_| ())
}

/// The same in another size and with other settings.
pub fn opened_with(
    size: [f32; 2],
    theme: Theme,
    folders: &[PathBuf],
    change: impl FnOnce(&mut Settings),
) -> Window {
    let mut settings = Settings::default();
    change(&mut settings);
    let mut window = Window::open(size, theme, |setup| {
        setup.settings = Some(settings);
        setup.library = LibraryOptions { folders: folders.to_vec(), ..LibraryOptions::default() };
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    window.wait_for("the list", |app| {
        let library = &app.state().library;
        matches!(library.search, Search::Ended(_)) && !library.known.is_empty()
    });
    window.frames();
    window
}

#[test]
fn folders_are_searched_at_the_start_without_being_asked() {
    let folder = tempfile::tempdir().unwrap();
    let folders = vec![models(folder.path())];
    let mut window = Window::open(SIZE, Theme::Dark, |setup| {
        setup.library = LibraryOptions { folders, ..LibraryOptions::default() };
    });
    window.wait_for("the list", |app| !app.state().library.inventory.items.is_empty());
    assert!(!state(&window).library.is_open);
    let window = Window::open(SIZE, Theme::Dark, |_| ());
    assert_eq!(state(&window).library.search, Search::Never, "there is nothing to search");
}

/// Answers the questions about fits until all are known; the answer may depend on the question.
pub fn answer(window: &mut Window, scene: impl Fn(&PlanQuery) -> Scene) {
    let lacks_none = |state: &State| {
        let library = &state.library;
        let built_in = [ModelSource::Starter, ModelSource::StarterClip].map(EntryId::Source);
        let models = library.inventory.items.iter().filter(|item| {
            item.content().is_some_and(|content| content.kind == Kind::Model) && item.half_of.is_none()
        });
        let known = library.known.iter().filter(|known| !library.is_here(known));
        let known = known.map(|known| EntryId::Known(known.id.clone()));
        let mut all = built_in.into_iter().chain(models.map(|item| EntryId::path(&item.path))).chain(known);
        all.all(|id| !library.fits.lacks(&id))
    };
    let start = std::time::Instant::now();
    while !lacks_none(state(window)) {
        assert!(start.elapsed().as_secs() < 60, "waited in vain for fits");
        for query in window.take_plans() {
            let event = scene(&query).answer(query.id);
            window.says(event);
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
        window.harness.step();
    }
    window.frames();
}

fn path_of(folder: &Path, name: &str) -> PathBuf {
    folder.join("models").join(name)
}

#[test]
fn models_are_listed_by_family_with_parts_broken_files_and_what_is_not_here() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = opened(&[models(folder.path())]);
    for words in
        ["FLUX.1, 1 row", "Z-Image, 1 row", "Cannot be opened, 1 row", "Built in, 2 rows", "Not here, "]
    {
        assert!(window.shows(words), "{words}");
    }
    assert!(window.shows("flux1-dev-tiny, FLUX.1 denoiser"));
    window.click_what_says("broken, It is not a safetensors file");
    assert!(window.shows("It is not a safetensors file"));
    nothing_is_unnamed(&window, "a broken file");

    window.click_what_says("flux1-dev-tiny, FLUX.1 denoiser");
    window.wait_for("the parts", |app| {
        let path = path_of(folder.path(), "diffusion_models/flux1-dev-tiny.safetensors");
        app.state().library.described.get(&ModelSource::Path(path)).is_some_and(Result::is_ok)
    });
    window.frames();
    assert!(window.shows("from t5xxl.safetensors"), "the encoder beside it is named");
    let path = path_of(folder.path(), "diffusion_models/flux1-dev-tiny.safetensors");
    let bytes = state(&window).library.item(&EntryId::path(&path)).unwrap().content().unwrap().bytes;
    assert!(window.shows(&format!(" · {} · F32", units::memory(bytes))), "the row says size and precision");
    assert!(window.shows("Stored as"));
    window.click("Other files 4");
    assert!(window.shows("Text encoders and autoencoders, 3 rows"));
    assert!(window.shows("esrgan, not a model that Sluice supports: an upscaler"));
    nothing_is_unnamed(&window, "other files");
}

#[test]
fn a_missing_part_is_named_with_the_place_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    // The other model has an autoencoder that fits, too.
    for other in ["vae", "diffusers"] {
        fs::remove_dir_all(models.join(other)).unwrap();
    }
    let mut window = opened(&[models]);
    window.click_what_says("flux1-dev-tiny, FLUX.1 denoiser");
    let path = path_of(folder.path(), "diffusion_models/flux1-dev-tiny.safetensors");
    window.wait_for("the failure", |app| {
        app.state().library.described.get(&ModelSource::Path(path.clone())).is_some_and(Result::is_err)
    });
    window.frames();
    assert!(window.shows("Something is missing"));
    assert!(window.shows("Put the file into one of these folders"));
    assert!(matches!(state(&window).library.fits.of(&EntryId::path(path)), Some(Fit::Cannot(_))));
}

#[test]
fn a_part_in_another_folder_of_the_library_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::rename(models.join("vae/ae.safetensors"), elsewhere.join("ae.safetensors")).unwrap();
    let mut window = opened(&[models, elsewhere.clone()]);
    let parts = window.take_commands();
    let is_told = |command: &Command| match command {
        Command::SearchIn { folders } => folders.contains(&elsewhere.join("ae.safetensors")),
        _ => false,
    };
    assert!(parts.iter().any(is_told), "{parts:?}");
    window.click_what_says("flux1-dev-tiny, FLUX.1 denoiser");
    let path = path_of(folder.path(), "diffusion_models/flux1-dev-tiny.safetensors");
    window.wait_for("the parts", |app| {
        app.state().library.described.contains_key(&ModelSource::Path(path.clone()))
    });
    assert!(state(&window).library.described[&ModelSource::Path(path)].is_ok());
}

#[test]
fn fits_come_one_after_the_other_from_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = opened(&[models(folder.path())]);
    let query = loop {
        let queries = window.take_plans();
        // The question about the next image comes first.
        let (next, fits): (Vec<_>, Vec<_>) = queries.into_iter().partition(|query| query.id < 1 << 48);
        for query in next {
            window.says(Scene::here().answer(query.id));
        }
        if let [query] = fits.as_slice() {
            break query.clone();
        }
        assert!(fits.is_empty(), "one at a time: {fits:?}");
        std::thread::sleep(std::time::Duration::from_millis(5));
        window.frames();
    };
    assert_eq!(query.subject, PlanSubject::Model);
    window.frames();
    assert_eq!(window.take_plans(), [], "the next one waits");
    window.says(Scene::streamed().answer(query.id));
    let fit = state(&window).library.fits.of(&EntryId::Source(query.request.model)).cloned();
    assert!(matches!(fit, Some(Fit::Runs { way: Way::Streamed, is_guess: false, .. })), "{fit:?}");
    answer(&mut window, |query| match &query.subject {
        PlanSubject::Known(_) | PlanSubject::KnownAs(..) => Scene::too_large(),
        PlanSubject::Model => Scene::here(),
    });
    assert!(window.shows("Runs well · "));
    assert!(window.shows("Too big, needs "));
    let asked = state(&window).library.known.iter().all(|known| {
        let id = EntryId::Known(known.id.clone());
        state(&window).library.is_here(known) || state(&window).library.fits.of(&id).is_some()
    });
    assert!(asked, "all well-known models are asked about");
}

#[test]
fn a_model_that_takes_hours_is_not_only_slow() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = opened(&[models(folder.path())]);
    answer(&mut window, |_| {
        let mut scene = Scene::here();
        scene.forecast.plan.as_mut().unwrap().seconds = 47.0 * 3600.0;
        scene
    });
    assert!(window.shows("Runs very slowly · ") && window.shows("47 h 0 min"));
}

#[test]
fn who_has_no_model_is_offered_three_that_suit_the_machine() {
    let mut window = opened(&[]);
    answer(&mut window, |query| match &query.subject {
        PlanSubject::Known(id) if id.starts_with("flux") || id == "sdxl" => Scene::here(),
        PlanSubject::Known(id) if id.starts_with("qwen") => Scene::too_large(),
        _ => Scene::streamed(),
    });
    assert!(window.shows("to download, 3 rows"));
    let suggested: Vec<&str> =
        state(&window).library.suggested().iter().map(|known| known.id.as_str()).collect();
    assert_eq!(suggested[0], "flux.2-dev", "the largest that runs quickly");
    window.click_what_says("FLUX.2 [dev], Not here · black-forest-labs/FLUX.2-dev · FLUX Non-Commercial");
    for words in ["Not on this computer", "Open its page", "in 16 bits"] {
        assert!(window.shows(words), "{words}");
    }
    nothing_is_unnamed(&window, "a well-known model");

    let folder = tempfile::tempdir().unwrap();
    let mut window = opened(&[models(folder.path())]);
    answer(&mut window, |_| Scene::here());
    assert!(!window.shows("to download, "), "who has models is not");
}

#[test]
fn another_card_means_other_fits() {
    let mut window = opened(&[]);
    answer(&mut window, |_| Scene::here());
    assert!(state(&window).library.fits.of(&EntryId::Source(ModelSource::Starter)).is_some());
    window.click("Close models");
    window.click("Plan");
    let preferences = MemoryPreferences {
        device: DeviceChoice::Simulated("rtx-4060".to_owned()),
        ..MemoryPreferences::default()
    };
    let saved = Settings {
        memory: sluice::window::settings::MemorySettings {
            preferences: preferences.clone(),
            ..Default::default()
        },
        ..Settings::default()
    };
    let mut window = opened_with(SIZE, Theme::Dark, &[], |settings| *settings = saved);
    let asked = std::cell::RefCell::new(Vec::new());
    answer(&mut window, |query| {
        asked.borrow_mut().push(query.memory.clone());
        Scene::streamed()
    });
    assert!(asked.into_inner().iter().all(|memory| *memory == preferences));
}

#[test]
fn the_place_is_used_with_the_keyboard_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = opened(&[models(folder.path())]);
    window.take_commands();
    window.harness.get_by_label("Search models").type_text("z-image-tiny");
    window.frames();
    assert!(!window.shows("flux1-dev-tiny, FLUX.1"));
    window.harness.key_press(Key::ArrowDown);
    window.frames();
    window.harness.key_press(Key::Enter);
    window.frames();
    let model = ModelSource::Path(path_of(folder.path(), "diffusers/z-image-tiny"));
    assert_eq!(window.take_commands(), [Command::Load { model }]);
    assert!(!state(&window).library.is_open, "opening a model closes the place");

    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    window.harness.get_by_label("Search models").type_text("nothing like this");
    window.frames();
    assert!(window.shows("Nothing matches"));
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(state(&window).library.is_open && !window.shows("Nothing matches"), "it empties the search");
    window.harness.get_by_label("Search models").type_text("nothing like this");
    window.frames();
    assert!(window.shows("Nothing matches"), "and leaves the cursor in it");
    window.harness.key_press(Key::Escape);
    window.frames();
    window.harness.key_press(Key::Escape);
    window.frames();
    assert!(!state(&window).library.is_open);
}

#[test]
fn a_lora_of_the_library_is_used_once_its_name_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let mut window = opened(std::slice::from_ref(&models));
    window.harness.key_press(Key::Escape);
    window.frames();
    window.fill("Prompt", "a fox <lora:in");
    window.frames();
    assert!(window.harness.query_by_label("ink").is_none(), "it is for another family");
    let flux = ModelSummary { family: "flux".to_owned(), family_name: "FLUX.1".to_owned(), ..starter() };
    window.says(Event::ModelLoaded(Box::new(flux)));
    window.frames();
    assert!(window.harness.query_by_label("ink").is_some());
    assert!(state(&window).draft().request.adapters.is_empty());
    window.harness.key_press(Key::Enter);
    window.frames();
    let request = &state(&window).draft().request;
    assert_eq!(request.prompt, "a fox <lora:ink:1>");
    let used: Vec<_> = request.adapters.iter().map(|used| used.path.clone()).collect();
    assert_eq!(used, [models.join("loras/ink.safetensors")], "it is not next to the model");
}

#[test]
fn a_search_says_which_other_list_has_what_it_finds() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = opened(&[models(folder.path())]);
    window.harness.get_by_label("Search models").type_text("inkwash");
    window.frames();
    assert!(window.shows("Nothing matches") && !window.shows("In Other files"));
    window.click("In LoRAs, 1");
    assert!(window.shows("Ink wash, inkwash, rice paper"));
}

#[test]
fn a_search_finds_how_models_run_once_that_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = opened(&[models(folder.path())]);
    window.fill("Search models", "too big");
    assert!(window.shows("Nothing matches"), "it is not known yet");
    answer(&mut window, |query| match &query.subject {
        PlanSubject::Known(_) | PlanSubject::KnownAs(..) => Scene::too_large(),
        PlanSubject::Model => Scene::here(),
    });
    assert!(window.shows("Not here · ") && window.shows("Too big, needs "));
    assert!(!window.shows("Starter, Small images") && !window.shows("flux1-dev-tiny, FLUX.1 denoiser"));
    window.replace("Search models", "trying");
    assert!(window.shows("Starter, Small images") && !window.shows("Not here · "));
}

#[test]
fn the_details_are_about_the_list_that_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = opened(&[models(folder.path())]);
    let starter = "Comes with Sluice, so the first results need no download.";
    assert!(window.shows(starter));
    window.click("LoRAs 2");
    assert!(!window.shows(starter), "the details are about the first LoRA");
    window.click_what_says("Models ");
    assert!(window.shows(starter));
}

#[test]
fn rows_with_one_title_name_their_folders() {
    let folder = tempfile::tempdir().unwrap();
    for (place, rank) in [("one", 4), ("two", 8)] {
        let inside = folder.path().join("loras").join(place);
        fs::create_dir_all(&inside).unwrap();
        lora(&inside.join("golden.safetensors"), rank);
    }
    lora(&folder.path().join("loras/other.safetensors"), 16);
    let mut window = opened(&[folder.path().to_owned()]);
    window.click("LoRAs 3");
    assert!(window.shows("golden, one · ") && window.shows("golden, two · "));
    assert!(!window.shows("other, loras"), "it is the only one of its name");
}

#[test]
fn a_starter_that_cannot_be_opened_is_not_the_opened_one() {
    assert!(opened(&[]).shows(OPENED));
    let mut window = Window::open(SIZE, Theme::Dark, |_| ());
    window.says(Event::NotLoaded { model: ModelSource::Starter, failure: failure() });
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    window.frames();
    assert!(window.shows("Starter, Small images") && !window.shows(OPENED));
}

#[test]
fn loras_for_the_opened_model_come_first_and_are_added_with_one_click() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let mut window = opened(std::slice::from_ref(&models));
    window.click("LoRAs 2");
    assert!(window.shows("For FLUX.1, 2 rows"), "the starter is of another family");
    let flux = ModelSummary { family: "flux".to_owned(), family_name: "FLUX.1".to_owned(), ..starter() };
    window.says(Event::ModelLoaded(Box::new(flux)));
    assert!(window.shows("Fit FLUX.1, 2 rows"));
    assert!(
        window.shows("Ink wash, inkwash, rice paper"),
        "the name and the trigger words of another program"
    );
    window.click("Add Ink wash");
    let ink = models.join("loras/ink.safetensors");
    assert_eq!(
        state(&window).draft().request.adapters.iter().map(|used| &used.path).collect::<Vec<_>>(),
        [&ink]
    );
    window.click_what_says("Ink wash, inkwash");
    window.click("Add inkwash to the prompt");
    window.click("Add rice paper to the prompt");
    assert_eq!(state(&window).draft().request.prompt, "inkwash, rice paper");
    nothing_is_unnamed(&window, "a LoRA");
    window.click("Remove Ink wash");
    assert!(state(&window).draft().request.adapters.is_empty());
}

#[test]
fn a_copied_path_is_confirmed_in_the_place_of_models() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let mut window = opened(std::slice::from_ref(&models));
    window.harness.get_by_label_contains("flux1-dev-tiny, FLUX.1 denoiser").click_secondary();
    window.frames();
    window.harness.get_all_by_label("Copy the path").last().unwrap().click();
    window.frames();
    assert!(state(&window).library.is_open && window.shows("Copied to the clipboard"));
    nothing_is_unnamed(&window, "a copied path");
    window.click("Dismiss the notice");
    assert!(!window.shows("Copied to the clipboard"));
}

#[test]
fn of_a_thousand_files_only_those_in_sight_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..1000 {
        lora(&folder.path().join(format!("loras/{number:04}.safetensors")), 1 + number % 7);
    }
    let mut window = opened(&[folder.path().to_owned()]);
    window.click("LoRAs 1000");
    let drawn =
        |window: &Window| window.harness.query_all_by_label_contains("LoRA for FLUX.1, 1 matrix").count();
    assert!((5..40).contains(&drawn(&window)), "{} rows", drawn(&window));
    for _ in 0..60 {
        window.harness.key_press(Key::PageDown);
        window.frames();
    }
    window.harness.run_steps(12);
    assert!((5..40).contains(&drawn(&window)), "{} rows", drawn(&window));
}
