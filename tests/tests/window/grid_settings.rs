//! What grids vary of parts, such as hires fix and ControlNets.

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
        "ControlNet weight varies for \"poses\", but there is only depth, lines; use such a name, or its number."
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
