//! LoRAs and other adapters in the settings.

use egui::accesskit::Role;
use egui_kittest::kittest::Queryable;
use sluice_engine::{
    adapters::AdapterReport,
    request::AdapterUse,
    session::{Event, JobId},
};

use super::{behaviour::nothing_is_unnamed, support::Window};

#[test]
fn adapters_are_added_weighted_and_taken_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ink wash.safetensors");
    let adapter = sluice_tests::adapters::Adapter::new("z_image").unwrap();
    adapter.write(&file).unwrap();
    let mut window = Window::with_starter();
    window.click("LoRA");
    assert!(window.shows("Add LoRA…"));
    window.drop_file(file.clone());
    window.wait_for("the adapter", |app| !app.state().draft().request.adapters.is_empty());
    window.frames();
    assert!(window.shows("Added the LoRA ink wash"));
    assert!(window.shows("LoRA (1)") && window.shows("Weight of ink wash"));
    window.harness.get_by_role_and_label(Role::CheckBox, "ink wash").scroll_to_me();
    window.frames();
    window.harness.get_by_role_and_label(Role::CheckBox, "ink wash").click_secondary();
    window.frames();
    nothing_is_unnamed(&window, "the menu of a LoRA");
    window.click("Copy the path");
    assert!(window.shows("Copied to the clipboard"));
    window.click("Generate");
    let uses = window.take_job().request.adapters;
    assert_eq!(uses, [AdapterUse { path: file.clone(), weight: 1.0 }]);

    let report = AdapterReport {
        path: file,
        weight: 1.0,
        kind: "LoRA".to_owned(),
        ranks: Some([4, 4]),
        keys: 304,
        unmatched: vec!["transformer.pos_embed.lora_A.weight".to_owned(); 12],
        half_of: None,
    };
    window.says(Event::Adapted { job: Some(JobId(1)), reports: vec![report] });
    assert!(window.shows("12 of 304 keys did not match"));

    window.harness.get_by_role_and_label(Role::CheckBox, "ink wash").click();
    window.frames();
    window.click("Generate");
    assert_eq!(window.take_job().request.adapters, [], "it is not used");
    window.click("Remove ink wash");
    assert!(window.harness.state().state().draft().request.adapters.is_empty());
}

#[test]
fn an_adapter_for_few_steps_brings_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let [high, low] = ["HIGH", "LOW"].map(|half| {
        let name = format!("Wan2.2-Lightning_T2V-A14B-4steps-lora_{half}_fp16.safetensors");
        folder.path().join(name)
    });
    sluice_tests::adapters::Adapter::new("z_image").unwrap().write(&high).unwrap();
    let mut window = Window::with_starter();
    let settings = |window: &Window| {
        let request = &window.harness.state().state().draft().request;
        (request.steps, request.guidance, request.shift, request.adapters.len())
    };
    let before = settings(&window);
    window.click("LoRA");
    window.drop_file(high.clone());
    window.wait_for("the adapter", |app| !app.state().draft().request.adapters.is_empty());
    window.frames();
    assert_eq!(settings(&window), (4, 1.0, Some(5.0), 1));
    assert!(window.shows("4 steps, guidance 1, shift 5"));
    let report = |path: &std::path::Path, half_of| AdapterReport {
        path: path.to_owned(),
        weight: 1.0,
        kind: "LoRA".to_owned(),
        ranks: Some([4, 4]),
        keys: 304,
        unmatched: Vec::new(),
        half_of,
    };
    let reports = vec![report(&high, None), report(&low, Some(high.clone()))];
    window.says(Event::Adapted { job: None, reports });
    assert!(window.shows("Wan2.2-Lightning_T2V-A14B-4steps-lora_LOW_fp16 is used with it."));
    window.click("Undo");
    assert_eq!(settings(&window), before);

    let switch = |window: &mut Window| {
        let name = "Wan2.2-Lightning_T2V-A14B-4steps-lora_HIGH_fp16";
        window.harness.get_by_role_and_label(Role::CheckBox, name).scroll_to_me();
        window.frames();
        window.harness.get_by_role_and_label(Role::CheckBox, name).click();
        window.frames();
    };
    window.drop_file(high);
    window.wait_for("the adapter", |app| !app.state().draft().request.adapters.is_empty());
    window.frames();
    switch(&mut window);
    assert_eq!(
        settings(&window),
        (before.0, before.1, None, 1),
        "switched off, the model's own settings are back"
    );
    switch(&mut window);
    assert_eq!(settings(&window), (4, 1.0, Some(5.0), 1));
    window.click("Remove Wan2.2-Lightning_T2V-A14B-4steps-lora_HIGH_fp16");
    assert_eq!(settings(&window), (before.0, before.1, None, 0));
}
