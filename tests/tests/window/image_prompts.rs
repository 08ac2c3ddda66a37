//! IP-Adapters and their images in the side panel.

use sluice_engine::{
    request::ImagePrompt,
    session::{Event, ModelSummary},
};

use super::{
    behaviour::nothing_is_unnamed,
    control_nets::choose,
    input_image::photo,
    support::{Window, starter},
};

#[test]
fn an_ip_adapter_is_added_with_images_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ip-adapter_sd15.safetensors"), "").unwrap();
    photo(folder.path(), "house.png");
    photo(folder.path(), "tree.png");
    let model = folder.path().join("sd15.safetensors");
    let mut window = Window::open([1280.0, 1000.0], egui::Theme::Dark, |setup| {
        setup.settings =
            Some(sluice::window::settings::Settings { recent_models: vec![model], ..Default::default() });
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.frames();
    assert!(!window.shows("Image prompt"), "the starter takes none");
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_ip_adapters: true, ..starter() })));
    window.frames();
    window.click("Image prompt");
    window.click("Add IP-Adapter…");
    choose(&mut window, "ip-adapter_sd15.safetensors");
    window.wait_for("the IP-Adapter", |app| !app.state().draft().request.image_prompts.is_empty());
    window.frames();
    assert!(window.shows("An IP-Adapter has no image to read; choose one, or remove the IP-Adapter."));
    for (number, name) in ["house.png", "tree.png"].into_iter().enumerate() {
        window.see("Add image…");
        window.click("Add image…");
        choose(&mut window, name);
        window.wait_for("the image", |app| {
            let prompt = app.state().draft().request.image_prompts.first();
            let image = prompt.and_then(|prompt| prompt.images.get(number));
            image.is_some_and(|image| app.state().input.files.pixels(image).is_some())
        });
        window.frames();
    }
    nothing_is_unnamed(&window, "image prompts");
    assert!(window.shows("Image prompt (1)"));
    // The chip above the settings, which removes it.
    assert!(window.shows("ip-adapter_sd15"));
    window.see("Do not read house.png");
    window.click("Do not read house.png");
    window.frames();
    window.take_commands();
    window.click("Generate");
    let prompts = window.take_job().request.image_prompts;
    let [ImagePrompt { adapter, images, weight, start, end }] = &prompts[..] else { panic!("{prompts:?}") };
    assert!(adapter.ends_with("ip-adapter_sd15.safetensors"));
    assert!(matches!(&images[..], [only] if only.ends_with("tree.png")));
    assert_eq!((*weight, *start, *end), (1.0, 0.0, 1.0));
    window.click("Do not use the IP-Adapter ip-adapter_sd15");
    window.frames();
    assert!(window.harness.state().state().draft().request.image_prompts.is_empty());
}

/// A model that takes none is not sent what another one was given.
#[test]
fn another_model_forgets_image_prompts() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut settings = sluice::window::settings::Settings::default();
        settings.draft.request.image_prompts =
            vec![ImagePrompt { adapter: "ip.safetensors".into(), ..ImagePrompt::default() }];
        setup.settings = Some(settings);
    });
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_ip_adapters: true, ..starter() })));
    window.frames();
    assert!(window.shows("Image prompt (1)"));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.frames();
    assert!(window.harness.state().state().draft().request.image_prompts.is_empty());
}
