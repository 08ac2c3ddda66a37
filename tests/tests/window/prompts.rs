//! Token counts next to the prompts, and clip skip.

use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice_engine::session::{Event, Extent, ModelSummary, Reading};

use super::{
    runs::Scene,
    support::{Window, starter},
};

fn reading(encoder: &str, is_summary: bool, tokens: usize, room: usize, chunks: usize) -> Reading {
    let extent = Extent { chunks, ..Extent::whole(tokens, room) };
    Reading { encoder: encoder.to_owned(), is_summary, extent }
}

fn planned(window: &mut Window, answer: Vec<Vec<Reading>>) {
    let scene = Scene::here();
    for query in window.take_plans() {
        let Event::Planned { id, forecast, .. } = scene.answer(query.id) else { panic!("no answer") };
        window.says(Event::Planned { id, forecast, readings: answer.clone() });
    }
}

#[test]
fn tokens_are_counted_beside_the_prompts() {
    let mut window = Window::with_starter();
    let prompt = vec![reading("CLIP-L", false, 118, 150, 2), reading("CLIP-G", false, 118, 150, 2)];
    planned(&mut window, vec![prompt, vec![reading("CLIP-L", false, 4, 75, 1)]]);
    let names = ["Prompt, 118 of 150 tokens", "Negative prompt, 4 of 75 tokens"];
    for name in names {
        assert!(window.harness.query_by_label(name).is_some(), "{name}");
    }
    assert!(!window.shows(" ignores "));
}

#[test]
fn what_is_not_read_is_said() {
    let mut window = Window::with_starter();
    let prompt = vec![reading("CLIP-L", true, 118, 75, 1), reading("T5 encoder", false, 60, 48, 1)];
    planned(&mut window, vec![prompt]);
    assert!(window.harness.query_by_label("Prompt, 60 of 48 tokens").is_some());
    assert!(window.shows("T5 encoder ignores the last 12 tokens."));
}

#[test]
fn clip_skip_is_grey_where_it_has_no_effect() {
    let mut window = Window::with_starter();
    window.click("More settings");
    assert!(window.shows("Clip skip has no effect on Z-Image."));
    let is_grey = |window: &Window| {
        let mut fields = window.harness.query_all_by_label("Clip skip");
        fields.any(|field| field.accesskit_node().is_disabled())
    };
    assert!(is_grey(&window));
    window.says(Event::ModelLoaded(Box::new(ModelSummary { reads_clip_skip: true, ..starter() })));
    assert!(!window.shows("Clip skip has no effect on Z-Image."));
    assert!(!is_grey(&window));
}
