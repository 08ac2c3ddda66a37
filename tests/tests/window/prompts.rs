//! Token counts next to the prompts, and clip skip.

use egui::{Key, Modifiers, ViewportCommand};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::window::{action::Action, settings::Settings};
use sluice_engine::{
    request::{Region, Regions},
    session::{Event, Extent, ModelSummary, Reading, Readings},
};

use super::{
    behaviour::nothing_is_unnamed,
    runs::Scene,
    support::{Window, machine, starter},
};

fn reading(encoder: &str, is_summary: bool, tokens: usize, room: usize, chunks: usize) -> Reading {
    let extent = Extent { chunks, ..Extent::whole(tokens, room) };
    Reading { encoder: encoder.to_owned(), is_summary, extent }
}

fn planned(window: &mut Window, answer: Readings) {
    let scene = Scene::here();
    for query in window.take_plans() {
        let Event::Planned { id, forecast, .. } = scene.answer(query.id) else { panic!("no answer") };
        window.says(Event::Planned { id, forecast, readings: answer.clone() });
    }
}

#[test]
fn the_menu_of_a_prompt_selects_cuts_and_pastes() {
    let mut window = Window::with_starter();
    window.replace("Prompt", "a fox");
    let asked = |window: &Window, wanted: ViewportCommand| {
        let output = window.harness.output();
        output.viewport_output.values().any(|viewport| viewport.commands.contains(&wanted))
    };
    window.harness.get_by_label("Prompt").click_secondary();
    window.frames();
    window.click("Select all");
    window.harness.event(egui::Event::Cut);
    window.frames();
    assert_eq!(window.harness.state().state().draft().request.prompt, "", "all of it was selected");
    window.harness.get_by_label("Prompt").click_secondary();
    window.frames();
    window.harness.get_by_label("Paste").click();
    window.harness.step();
    assert!(asked(&window, ViewportCommand::RequestPaste));
    window.harness.event(egui::Event::Paste("a heron".to_owned()));
    window.frames();
    assert_eq!(window.harness.state().state().draft().request.prompt, "a heron", "it has the focus");
}

#[test]
fn a_prompt_that_is_replaced_by_another_one_comes_back() {
    let settings = Settings { prompts: vec!["a red boat".to_owned()], ..Settings::default() };
    let mut window =
        Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.settings = Some(settings));
    window.says(Event::ModelLoaded(Box::new(starter())));
    let use_earlier = |window: &mut Window| {
        window.click("History");
        window.click("a red boat");
    };
    use_earlier(&mut window);
    assert_eq!(prompt(&window), "a red boat");
    assert!(!window.shows("Replaced the prompt"), "there were no words");

    window.replace("Prompt", "three green hills");
    use_earlier(&mut window);
    assert_eq!(prompt(&window), "a red boat");
    assert!(window.shows("Replaced the prompt"));
    let mut draft = window.harness.state().state().draft().clone();
    draft.request.steps = 33;
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, Action::Edit(Box::new(draft)));
    window.frames();
    window.click("Undo");
    assert_eq!(prompt(&window), "three green hills");
    assert_eq!(window.harness.state().state().draft().request.steps, 33, "other settings stay");
}

#[test]
fn what_was_typed_into_the_prompt_is_taken_back_with_a_key() {
    let mut window = Window::with_starter();
    window.fill("Prompt", "a red boat");
    // A pause makes the next words a change of their own.
    window.harness.run_steps(8);
    window.harness.event(egui::Event::Text(" at sea".to_owned()));
    window.frames();
    assert_eq!(prompt(&window), "a red boat at sea");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.frames();
    assert_eq!(prompt(&window), "a red boat");
}

#[test]
fn the_buttons_of_the_prompt_stay_the_same_while_somebody_types() {
    let mut window = Window::with_starter();
    let answer =
        |tokens| Readings { prompt: vec![reading("Qwen3", false, tokens, 504, 1)], ..Readings::default() };
    let place = |window: &Window| window.harness.get_by_label("Styles").rect();
    planned(&mut window, answer(0));
    window.frames();
    let before = place(&window);
    for (words, tokens) in [("a", 4), ("a red", 48), ("a red boat", 504)] {
        window.replace("Prompt", words);
        window.harness.run_steps(30);
        planned(&mut window, answer(tokens));
        window.frames();
        assert_eq!(place(&window), before, "{tokens} tokens");
    }
}

#[test]
fn the_buttons_of_the_prompt_are_the_same_with_every_model() {
    let buttons = ["Styles", "Snippets", "History", "Enhance prompt…"];
    let places = |examples: Vec<String>, read: Reading| {
        let settings = Settings { prompts: vec!["a red boat".to_owned()], ..Settings::default() };
        let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
            setup.settings = Some(settings);
        });
        window.says(Event::ModelLoaded(Box::new(ModelSummary { examples, ..starter() })));
        let spoken = format!("Prompt, {} of {} tokens", read.extent.tokens, read.extent.room);
        planned(&mut window, Readings { prompt: vec![read], ..Readings::default() });
        window.frames();
        let place = |name: &str| window.harness.get_by_label(name).rect();
        let (count, places) = (place(&spoken), buttons.map(place));
        assert!(places.iter().all(|button| button.left() >= count.right()), "{count:?} {places:?}");
        places
    };
    let with_examples = places(starter().examples, reading("Qwen3", false, 4, 504, 1));
    assert_eq!(with_examples, places(Vec::new(), reading("CLIP-L", false, 118, 150, 2)));
}

/// Beside a history, too, and while the panel is made narrower.
#[test]
fn the_token_count_touches_nothing() {
    let settings = Settings { prompts: vec!["a red boat".to_owned()], ..Settings::default() };
    let mut window =
        Window::open([900.0, 600.0], egui::Theme::Light, |setup| setup.settings = Some(settings));
    window.says(Event::Hardware(machine()));
    window.says(Event::ModelLoaded(Box::new(starter())));
    let read = vec![reading("Qwen3", false, 488, 512, 1)];
    planned(&mut window, Readings { prompt: read.clone(), negative: read, ..Readings::default() });
    window.frames();
    let mut edge = 328.0;
    for narrower in [0.0, 20.0, 28.0] {
        let from = egui::pos2(edge, 300.0);
        window.harness.drag_at(from);
        window.frames();
        window.harness.hover_at(from - egui::vec2(narrower, 0.0));
        window.frames();
        window.harness.drop_at(from - egui::vec2(narrower, 0.0));
        window.frames();
        edge -= narrower;
        let count = window.harness.get_by_label("Prompt, 488 of 512 tokens").rect();
        for opener in ["Styles", "History", "Examples"] {
            let rect = window.harness.get_by_label(opener).rect();
            assert!(rect.left() >= count.right() + 4.0, "{opener} at {rect:?}, the count at {count:?}");
            assert!(rect.right() < edge, "{opener} ends at {}, the panel at {edge}", rect.right());
        }
    }
}

#[test]
fn tokens_are_counted_beside_the_prompts() {
    let mut window = Window::with_starter();
    let prompt = vec![reading("CLIP-L", false, 118, 150, 2), reading("CLIP-G", false, 118, 150, 2)];
    let negative = vec![reading("CLIP-L", false, 4, 75, 1)];
    planned(&mut window, Readings { prompt, negative, ..Readings::default() });
    let names = ["Prompt, 118 of 150 tokens", "Negative prompt, 4 of 75 tokens"];
    for name in names {
        assert!(window.harness.query_by_label(name).is_some(), "{name}");
    }
    assert!(!window.shows(" ignores "));
}

#[test]
fn the_prompt_of_a_region_is_not_counted_as_the_negative_one() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut settings = Settings::default();
        settings.draft.request.regions = Regions {
            all: vec![Region { prompt: "a blue tent".to_owned(), ..Region::default() }],
            ..Regions::default()
        };
        setup.settings = Some(settings);
    });
    window.says(Event::Hardware(machine()));
    window.says(Event::ModelLoaded(Box::new(starter())));
    let of = |tokens| vec![reading("Qwen3", false, tokens, 512, 1)];
    planned(&mut window, Readings { prompt: of(9), regions: vec![of(600)], negative: of(24) });
    window.frames();
    assert!(window.harness.query_by_label("Negative prompt, 24 of 512 tokens").is_some());
    let unread = "Qwen3 ignores the last 88 tokens.";
    assert!(!window.shows(unread));
    window.click("More settings");
    window.click("Regions (1)");
    assert!(window.shows(unread), "beside the region's prompt");
}

#[test]
fn what_is_not_read_is_said() {
    let mut window = Window::with_starter();
    let prompt = vec![reading("CLIP-L", true, 118, 75, 1), reading("T5 encoder", false, 60, 48, 1)];
    planned(&mut window, Readings { prompt, ..Readings::default() });
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

#[test]
fn true_cfg_is_offered_only_where_the_model_reads_it() {
    let mut window = Window::with_starter();
    window.click("More settings");
    window.click("Guidance and speed");
    assert!(window.shows("Guidance rescale") && !window.shows("True CFG"));
    window.says(Event::ModelLoaded(Box::new(ModelSummary { reads_true_cfg: true, ..starter() })));
    assert!(window.shows("True CFG"));
}

/// Types into a field in place of what is there.
fn replace(window: &mut Window, label: &str, text: &str) {
    window.harness.get_by_label(label).focus();
    window.frames();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.harness.key_press(Key::Delete);
    window.frames();
    if !text.is_empty() {
        window.fill(label, text);
    }
}

/// Generates from a prompt.
fn generate(window: &mut Window, prompt: &str) {
    replace(window, "Prompt", prompt);
    window.click("Generate");
    window.take_job();
}

fn prompt(window: &Window) -> String {
    window.harness.state().state().draft().request.prompt.clone()
}

#[test]
fn earlier_prompts_come_back_with_the_arrow_keys() {
    let mut window = Window::with_starter();
    for used in ["a red boat", "a lake", "a red boat", "a harbour"] {
        generate(&mut window, used);
    }
    replace(&mut window, "Prompt", "");
    let mut seen = Vec::new();
    for key in [Key::ArrowUp, Key::ArrowUp, Key::ArrowUp, Key::ArrowUp, Key::ArrowDown, Key::ArrowDown] {
        window.harness.key_press(key);
        window.frames();
        seen.push(prompt(&window));
    }
    assert_eq!(seen, ["a harbour", "a red boat", "a lake", "a lake", "a red boat", "a harbour"]);
    window.fill("Prompt", " at night");
    window.harness.key_press(Key::ArrowUp);
    window.frames();
    assert_eq!(prompt(&window), "a harbour at night", "what was typed is not replaced");
}

#[test]
fn earlier_prompts_are_found_by_their_words() {
    let mut window = Window::with_starter();
    assert!(!window.shows("History"), "there are none yet");
    for used in ["a red boat", "a lake at dawn", "two boats"] {
        generate(&mut window, used);
    }
    window.click("History");
    assert!(window.shows("a lake at dawn"));
    window.fill("Search prompts", "BOAT");
    assert!(window.shows("a red boat") && !window.shows("a lake at dawn"));
    window.click("a red boat");
    assert_eq!(prompt(&window), "a red boat");
    window.click("History");
    window.fill("Search prompts", "zebra");
    assert!(window.shows("No prompt contains this."));
}

/// Models that are run without guidance read no negative prompt.
#[test]
fn a_negative_prompt_is_offered_only_where_the_model_reads_one() {
    let mut window = Window::with_starter();
    assert!(window.shows("Negative prompt"), "it is not known yet what is read");
    let read = vec![reading("T5 encoder", false, 8, 48, 1)];
    planned(&mut window, Readings { prompt: read.clone(), ..Readings::default() });
    window.frames();
    assert!(!window.shows("Negative prompt"));
    window.fill("Prompt", "a cat");
    window.frames();
    planned(&mut window, Readings { prompt: read.clone(), negative: read, ..Readings::default() });
    window.frames();
    window.fill("Negative prompt", "fog");
    planned(
        &mut window,
        Readings { prompt: vec![reading("T5 encoder", false, 8, 48, 1)], ..Readings::default() },
    );
    window.frames();
    assert!(window.shows("Negative prompt"), "what is written there stays");
}

/// With a mouse: keep the prompt, put it into an empty one, delete it, and undo that.
#[test]
fn snippets_are_kept_used_deleted_and_kept_again() {
    let mut window = Window::with_starter();
    window.fill("Prompt", "soft light");
    window.click("Snippets");
    window.click("Keep the prompt");
    window.frames();
    assert_eq!(window.harness.state().state().settings.snippets, ["soft light"]);
    window.replace("Prompt", "a cat");
    window.click("soft light");
    assert_eq!(window.harness.state().state().settings.draft.request.prompt, "a cat, soft light");
    window.click("Snippets");
    window.click("Delete the snippet soft light");
    window.frames();
    assert!(window.harness.state().state().settings.snippets.is_empty());
    window.click("Undo");
    assert_eq!(window.harness.state().state().settings.snippets, ["soft light"]);
}

/// In a list of their own, which is kept like the other one.
#[test]
fn negative_presets_are_no_snippets() {
    let mut window = Window::with_starter();
    let settings = |window: &Window| window.harness.state().state().settings.clone();
    window.fill("Negative prompt", "blurry, lowres");
    window.click("Negative presets");
    nothing_is_unnamed(&window, "negative presets");
    window.click("Keep the negative prompt");
    window.frames();
    let kept = Settings::from_json(&settings(&window).to_json());
    assert_eq!(kept.negative_snippets, ["blurry, lowres"]);
    assert!(kept.snippets.is_empty());
    window.replace("Negative prompt", "fog");
    window.click("blurry, lowres");
    assert_eq!(settings(&window).draft.request.negative_prompt, "fog, blurry, lowres");
    window.click("Negative presets");
    window.click("Delete the negative preset blurry, lowres");
    window.frames();
    assert!(settings(&window).negative_snippets.is_empty());
    assert!(window.shows("Negative preset deleted: blurry, lowres"));
    window.click("Undo");
    assert_eq!(settings(&window).negative_snippets, ["blurry, lowres"]);
    assert!(settings(&window).snippets.is_empty());
}
