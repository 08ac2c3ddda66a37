//! Settings from images of other programs and other computers.

use std::path::{Path, PathBuf};

use egui::{Key, Theme, accesskit::Role};
use egui_kittest::kittest::Queryable;
use sluice::{engines::EngineList, window::state::Search};
use sluice_engine::{
    models::{Remembered, scan},
    output::{Media, Settings, write_png},
    request::{AdapterUse, ControlNet, Detailer, Enlarger, Hires, ModelSource, Preprocessor, Request},
    session::{Command, Event, ModelSummary},
};
use sluice_tests::{checkpoint::save, detect::write_plain, failures::write_header, upscalers::weights};

use super::{
    engines::{self, with_attic},
    gallery::Kept,
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
fn settings_wait_for_the_models_of_a_search_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let models = models(folder.path());
    // The engine lists its models, which takes a while.
    let (mut window, _) = engines::opened(EngineList { here: false, ..with_attic() });
    let search = window.harness.state().state().library.search;
    assert!(matches!(search, Search::Running(_)), "it is asked without being opened");
    let text =
        "a red boat\nSteps: 21, Sampler: Euler, CFG scale: 1, Seed: 7, Size: 64x64, Model: flux1-dev-tiny";
    use_settings(&mut window, from_a1111(folder.path(), text));
    assert_eq!(window.take_commands(), []);
    assert_ne!(request(&window).steps, 21);
    assert!(window.shows("The settings of boat.png follow once the models are listed"));

    let inventory = scan(std::slice::from_ref(&models), &mut Remembered::default(), |_, _| ());
    window.says(Event::Listed { lane: 0, folders: vec![models.clone()], inventory: Box::new(inventory) });
    let model = ModelSource::Path(models.join("diffusion_models/flux1-dev-tiny.safetensors"));
    assert_eq!(window.take_commands(), [Command::Load { model }]);
    assert_eq!((request(&window).steps, request(&window).prompt.as_str()), (21, "a red boat"));
    assert!(!window.shows("The current model is kept"));
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

/// A ControlNet for Stable Diffusion 1, by its header and zeros.
fn control_net(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let [hint, key] = [16 * 27 * 2, 320 * 768 * 2];
    let block = "control_model.input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight";
    let header = format!(
        r#"{{"control_model.input_hint_block.0.weight":{{"dtype":"F16","shape":[16,27],"data_offsets":[0,{hint}]}},"{block}":{{"dtype":"F16","shape":[320,768],"data_offsets":[{hint},{}]}}}}"#,
        hint + key
    );
    write_header(path, &header, hint + key).unwrap();
}

/// What an image of A1111 was made with besides its model.
const STEERED: &str = "a red boat\nSteps: 21, Sampler: Euler, CFG scale: 1, Seed: 7, Size: 64x64, \
    Model: flux1-dev-tiny, Denoising strength: 0.4, Hires upscale: 2, Hires upscaler: ESRGAN, \
    ADetailer model: face_yolov8n.pt, ADetailer confidence: 0.5, ADetailer model 2nd: hand_yolov8n.pt, \
    ControlNet 0: \"Module: canny, Model: control_v11p_sd15_canny [d14c016b], Weight: 0.5, Guidance End: 0.75\", \
    ControlNet 1: \"Module: none, Model: unknown_net, Weight: 1\", Refiner: gone, Refiner switch at: 0.8";

/// A window whose library has most of what that image was made with.
fn with_library(folder: &Path) -> (Window, PathBuf) {
    let models = models(folder);
    control_net(&models.join("controlnet/control_v11p_sd15_canny.safetensors"));
    // In the place of one with too few tensors.
    save(&weights("esrgan_x4").unwrap(), &models.join("upscale_models/esrgan.safetensors")).unwrap();
    std::fs::create_dir_all(models.join("adetailer")).unwrap();
    write_plain(&models.join("adetailer/face_yolov8n.safetensors")).unwrap();
    let mut window = opened(std::slice::from_ref(&models));
    window.harness.key_press(Key::Escape);
    window.frames();
    (window, models)
}

#[test]
fn what_acted_on_an_image_of_another_program_is_found_in_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, models) = with_library(folder.path());
    use_settings(&mut window, from_a1111(folder.path(), STEERED));
    let model = ModelSource::Path(models.join("diffusion_models/flux1-dev-tiny.safetensors"));
    assert_eq!(window.take_commands(), [Command::Load { model: model.clone() }]);
    let upscaler = ModelSource::Path(models.join("upscale_models/esrgan.safetensors"));
    let hires = Hires { strength: 0.4, enlarger: Enlarger::Upscaler(upscaler), ..Hires::default() };
    assert_eq!(request(&window).hires, Some(hires));
    let face = Detailer {
        confidence: 0.5,
        most: Detailer::MOST_BOXES,
        ..Detailer::new(models.join("adetailer/face_yolov8n.safetensors"))
    };
    assert_eq!(request(&window).detailers, [face]);
    let net = ControlNet {
        model: models.join("controlnet/control_v11p_sd15_canny.safetensors"),
        preprocessor: Preprocessor::Canny,
        weight: 0.5,
        end: 0.75,
        ..ControlNet::default()
    };
    assert_eq!(request(&window).control_nets, [net]);
    assert_eq!(request(&window).refiner, None);
    assert!(window.shows("The images of ControlNets are not in the file; choose them again."));
    for name in ["hand_yolov8n", "unknown_net", "gone"] {
        assert!(window.shows(&format!("“{name}” is not in your model folders and is left out.")), "{name}");
    }

    let family = ("flux".to_owned(), "FLUX.1".to_owned());
    let flux = ModelSummary {
        source: model,
        family: family.0,
        family_name: family.1,
        takes_control_nets: true,
        ..starter()
    };
    window.says(Event::ModelLoaded(Box::new(flux)));
    window.frames();
    window.click("ControlNet (1)");
    assert!(window.shows("A ControlNet has no image to follow; choose one, or remove the ControlNet."));
}

#[test]
fn what_is_not_for_the_model_that_is_kept_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, _) = with_library(folder.path());
    let text = STEERED.replace("flux1-dev-tiny", "dreamshaper_8").replace("ESRGAN", "4x-UltraSharp");
    use_settings(&mut window, from_a1111(folder.path(), &text));
    assert_eq!(window.take_commands(), []);
    assert!(request(&window).control_nets.is_empty());
    assert_eq!(request(&window).detailers.len(), 1);
    assert_eq!(request(&window).hires, Some(Hires { strength: 0.4, ..Hires::default() }));
    for words in [
        "“control_v11p_sd15_canny” is not for this model and is left out.",
        "“gone” is not for this model and is left out.",
        "The upscaler “4x-UltraSharp” is not in your model folders; the one of Sluice is used instead.",
    ] {
        assert!(window.shows(words), "{words}");
    }
}

#[test]
fn variations_from_the_gallery_say_what_could_not_be_restored() {
    let kept = Kept::new();
    from_a1111(kept.folder.path(), STEERED);
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.harness.get_by_role_and_label(Role::Button, "boat.png").click_secondary();
    window.frames();
    window.click("Variations ×4");
    window.wait_for("the jobs", |app| app.state().jobs.queue.len() == 4);
    window.frames();
    for words in [
        "Settings of boat.png",
        "It was made with flux1-dev-tiny. The current model is kept.",
        "“gone” is not for this model and is left out.",
    ] {
        assert!(window.shows(words), "{words}");
    }
}
