//! What grids vary of parts, such as hires fix and ControlNets, and how that is chosen and typed.

use egui::{Event, Key, Modifiers, PointerButton, Popup};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::window::action::Action;
use sluice_engine::{
    request::{ControlNet, Enlarger, Hires, ModelSource, Request},
    session::Job,
};

use super::{
    grids::{choose, jobs, state, vary, with_folder},
    support::Window,
};

/// Changes the settings, as the side panel does.
fn edit(window: &mut Window, change: impl FnOnce(&mut Request)) {
    let mut draft = state(window).draft().clone();
    change(&mut draft.request);
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, Action::Edit(Box::new(draft)));
    window.frames();
}

fn typed(window: &Window) -> String {
    window.harness.get_by_label("Values of columns").accesskit_node().value().unwrap()
}

#[test]
fn settings_of_hires_fix_vary_once_it_is_on() {
    let (mut window, _folder) = with_folder();
    window.fill("Prompt", "a boat");
    window.click("Grid…");
    vary(&mut window, "Columns", "Strength of hires fix", "0.25, 0.5");
    assert!(window.shows("Strength of hires fix varies, but nothing uses hires fix; add it first."));
    edit(&mut window, |request| request.hires = Some(Hires::default()));
    assert!(window.shows("2 images · 2 × 1"));
    choose(&mut window, "Rows", "Upscaler of hires fix");
    window.click("All values for rows");
    assert!(window.shows("4 images · 2 × 2"));
    window.click("Generate grid");
    let hires = |job: Job| job.request.hires.map(|hires| (hires.strength, hires.enlarger)).unwrap();
    let all: Vec<_> = jobs(&window).into_iter().map(hires).collect();
    for enlarger in [Enlarger::Latent, Enlarger::Upscaler(ModelSource::Upscaler)] {
        for strength in [0.25, 0.5] {
            assert!(all.contains(&(strength, enlarger.clone())), "{all:?}");
        }
    }
}

#[test]
fn one_of_several_control_nets_is_named_before_its_values() {
    let (mut window, _folder) = with_folder();
    window.fill("Prompt", "a boat");
    let net =
        |model: &str| ControlNet { model: model.into(), image: "edges.png".into(), ..ControlNet::default() };
    edit(&mut window, |request| {
        request.control_nets = vec![net("depth.safetensors"), net("lines.safetensors")]
    });
    window.click("Grid…");
    vary(&mut window, "Columns", "ControlNet end", "lines: 0.5, 0.75");
    assert!(window.shows("2 images · 2 × 1"));
    vary(&mut window, "Rows", "ControlNet weight", "poses: 1");
    assert!(window.shows(
        "ControlNet weight varies for \"poses\", but its names are depth, lines; use one of them, or its number."
    ));
}

#[test]
fn names_of_preprocessors_are_filled_in() {
    let (mut window, _folder) = with_folder();
    window.fill("Prompt", "a boat");
    edit(&mut window, |request| {
        request.control_nets = vec![ControlNet { image: "hat.png".into(), ..ControlNet::default() }];
    });
    window.click("Grid…");
    choose(&mut window, "Columns", "Preprocessor");
    window.click("All values for columns");
    assert!(typed(&window).starts_with("none, canny, lineart"), "{}", typed(&window));
    assert!(window.shows("14 images · 14 × 1"));
}

#[test]
fn a_list_is_used_with_keys_alone() {
    let (mut window, _folder) = with_folder();
    window.fill("Prompt", "a boat");
    window.click("Grid…");
    window.harness.get_by_label("Columns").focus();
    window.frames();
    let is_open = |window: &Window| window.shows("Strength of hires fix");
    let press = |window: &mut Window, key: Key| {
        window.harness.key_press(key);
        window.frames();
    };
    press(&mut window, Key::Enter);
    assert!(is_open(&window));
    for key in [Key::ArrowDown, Key::ArrowDown, Key::Enter] {
        press(&mut window, key);
    }
    assert!(!is_open(&window), "the entry is taken, and the list closed");
    assert!(window.shows("Type its values.") && !window.shows("Seed has no values"), "nothing is wrong yet");
    assert!(window.harness.get_by_label("Columns").accesskit_node().is_focused());
    press(&mut window, Key::Enter);
    assert!(is_open(&window));
    press(&mut window, Key::Escape);
    assert!(!is_open(&window) && window.shows("Generate grid"), "only the list is closed");
    assert!(window.harness.get_by_label("Columns").accesskit_node().is_focused());
    window.click("Generate grid");
    assert!(window.shows("Type its values."), "it cannot be clicked yet");
    assert_eq!(window.take_commands(), []);
    window.harness.get_by_label("Values of columns").focus();
    window.frames();
    press(&mut window, Key::Enter);
    assert!(window.shows("Seed has no values"), "now they are wanted");
    assert_eq!(window.take_commands(), []);
    press(&mut window, Key::Escape);
    assert!(!window.shows("Generate grid"));
}

#[test]
fn a_click_on_the_edge_of_a_list_closes_nothing() {
    let (mut window, _folder) = with_folder();
    window.click("Grid…");
    window.click("Columns");
    let is_open = |window: &Window| Popup::is_any_open(&window.harness.ctx);
    assert!(is_open(&window));
    let entry = window.harness.get_all_by_label("Steps").last().unwrap().rect();
    let edge = entry.left_center() - egui::vec2(3.0, 0.0);
    window.harness.hover_at(edge);
    for pressed in [true, false] {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        window.harness.event(Event::PointerButton { pos: edge, button, pressed, modifiers });
    }
    window.frames();
    assert!(is_open(&window), "no entry was hit");
    window.harness.get_all_by_label("Steps").last().unwrap().click();
    window.frames();
    assert!(!is_open(&window) && window.shows("Type its values."), "the entry is taken");
}

#[test]
fn values_that_were_deleted_again_are_missed() {
    let (mut window, _folder) = with_folder();
    window.fill("Prompt", "a boat");
    window.click("Grid…");
    vary(&mut window, "Columns", "Steps", "2");
    assert!(window.shows("1 image"));
    window.harness.key_press(Key::Backspace);
    window.frames();
    assert!(window.shows("Steps has no values"));
}
