//! Settings from images of other programs and other computers.

use std::path::{Path, PathBuf};

use egui::Key;
use sluice_engine::{
    output::{Media, Settings, write_png},
    request::{AdapterUse, ModelSource, Request},
    session::{Command, Event, ModelSummary},
};

use super::{
    library::{models, opened},
    support::{Window, landscape, starter},
};

/// An image with a text as A1111's web UI writes it.
fn from_a1111(folder: &Path, parameters: &str) -> PathBuf {
    let path = folder.join("boat.png");
    let image = landscape(64, 64, 5, 1.0);
    image::save_buffer(&path, &image.pixels, 64, 64, image::ColorType::Rgb8).unwrap();
    let file = std::fs::read(&path).unwrap();
    let mut chunk = b"tEXtparameters\0".to_vec();
    chunk.extend(parameters.as_bytes());
    let mut sum = flate2::Crc::new();
    sum.update(&chunk);
    // After the signature and the header.
    let (head, rest) = file.split_at(33);
    let length = (chunk.len() as u32 - 4).to_be_bytes();
    std::fs::write(&path, [head, &length, &chunk, &sum.sum().to_be_bytes(), rest].concat()).unwrap();
    path
}

/// Drops an image and uses its settings.
fn use_settings(window: &mut Window, path: PathBuf) {
    window.drop_file(path);
    window.wait_for("the question", |app| app.state().input.dropped.is_some());
    window.frames();
    window.take_commands();
    window.click("Use settings");
}

fn request(window: &Window) -> &Request {
    &window.harness.state().state().draft().request
}

#[test]
fn the_model_and_the_loras_of_another_program_are_found_in_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let mut window = opened(std::slice::from_ref(&models));
    window.harness.key_press(Key::Escape);
    window.frames();
    let text = "a red boat <lora:ink:0.7>\nSteps: 21, Sampler: Euler, CFG scale: 1, Seed: 7, Size: 64x64, \
                Model: flux1-dev-tiny";
    use_settings(&mut window, from_a1111(folder.path(), text));
    let model = ModelSource::Path(models.join("diffusion_models/flux1-dev-tiny.safetensors"));
    assert_eq!(window.take_commands(), [Command::Load { model: model.clone() }]);
    assert_eq!((request(&window).steps, request(&window).seed), (21, 7));
    assert!(!window.shows("The current model is kept"));

    let family = ("flux".to_owned(), "FLUX.1".to_owned());
    let flux = ModelSummary { source: model, family: family.0, family_name: family.1, ..starter() };
    window.says(Event::ModelLoaded(Box::new(flux)));
    window.frames();
    window.take_commands();
    window.click("Generate");
    let job = window.take_job().request;
    assert_eq!(job.prompt, "a red boat <lora:ink:0.7>");
    assert_eq!(job.adapters, [AdapterUse { path: models.join("loras/ink.safetensors"), weight: 0.7 }]);

    let text = text.replace("flux1-dev-tiny", "dreamshaper_8");
    use_settings(&mut window, from_a1111(folder.path(), &text));
    assert_eq!(window.take_commands(), [], "nothing has this name");
    assert!(window.shows("It was made with dreamshaper_8. The current model is kept."));
}

#[test]
fn a_model_that_was_moved_is_found_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    let mut window = opened(std::slice::from_ref(&models));
    window.harness.key_press(Key::Escape);
    window.frames();
    let boat = folder.path().join("boat.png");
    let made_with = |model: &str| {
        let request = Request { model: ModelSource::Path(model.into()), steps: 30, ..Request::default() };
        let settings = Settings::new(&request, "FLUX.1", "flux", 0);
        write_png(&boat, &Media::Image(landscape(64, 64, 9, 1.0)), &settings).unwrap();
        boat.clone()
    };
    use_settings(&mut window, made_with("/elsewhere/flux1-dev-tiny.safetensors"));
    let model = ModelSource::Path(models.join("diffusion_models/flux1-dev-tiny.safetensors"));
    assert_eq!(window.take_commands(), [Command::Load { model }]);
    assert_eq!(request(&window).steps, 30);
    window.click("Undo");

    window.take_commands();
    use_settings(&mut window, made_with("/elsewhere/another.safetensors"));
    assert_eq!(window.take_commands(), [], "the opened model stays");
    assert_eq!((&request(&window).model, request(&window).steps), (&ModelSource::Starter, 30));
    assert!(window.shows("It was made with FLUX.1. The current model is kept."));
}
