//! The panel of the plan: which presets it offers, how it opens, and the stages in its details.

use egui::{Key, Modifiers, Theme, accesskit::Toggled};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::{
    units,
    window::{action::Action, settings::Settings as WindowSettings},
};
use sluice_engine::{
    checkpoint::MapKind,
    hardware::HardwareSample,
    memory::{MemoryPreferences, StagePlan},
    request::{ControlNet, Detailer, Hires, ImagePrompt, Preprocessor, Request, SourceImage},
    session::{Event, ModelSummary, Readings, Stage, StageKind},
};
use sluice_tests::{checkpoint::Fixture, modes::forecast, runner::Runner};

use super::{
    behaviour::nothing_is_unnamed,
    memory::{answer, planned, preferences},
    runs::Scene,
    support::{IN_SIGHT, Window, failure, machine, starter},
};

/// Of the window.
const HEIGHT: f32 = 800.0;

#[test]
fn presets_are_those_for_the_gpu_and_for_smaller_ones() {
    let scene = Scene::streamed();
    let mut window = planned(&scene);
    let node = |window: &Window, gigabytes: u32| {
        let name = format!("Preset for {gigabytes} GB");
        let segment = window.harness.get_by_label(&name);
        let node = segment.accesskit_node();
        (!node.is_disabled(), node.toggled() == Some(Toggled::True))
    };
    assert_eq!([8, 12, 16, 24].map(|size| node(&window, size).0), [true, true, false, false]);
    assert!(!node(&window, 12).1);
    window.click("Preset for 8 GB");
    assert!(node(&window, 8).1 && !node(&window, 12).1, "it leaves memory for other programs");
    window.click("Preset for 12 GB");
    assert!(node(&window, 12).1 && !node(&window, 8).1, "it is in force");
    let before = preferences(&window);
    // Each press is a question.
    let [query] = window.take_plans().try_into().expect("one question");
    window.says(Event::NotPlanned { id: query.id, failure: failure() });
    assert!(node(&window, 12).1, "they stay without a forecast");
    let [query] = window.take_plans().try_into().expect("one question");
    window.says(Scene::too_large().answer(query.id));
    assert_eq!([8, 12].map(|size| node(&window, size)), [(true, false), (false, false)], "a GPU with 8 GB");
    assert_eq!(preferences(&window), before);
    let mut here = Window::with_starter();
    here.click("Plan");
    answer(&mut here, &Scene::here());
    assert!(!here.shows("Preset for"), "they say nothing about the CPU");
}

#[test]
fn choices_take_as_long_as_the_whole_batch() {
    let scene = Scene::streamed();
    let mut window = planned(&scene);
    let fastest = scene.forecast.choices[0].seconds_per_image;
    let says =
        |window: &Window, images: f64| window.shows(&format!("{} per run", units::seconds(images * fastest)));
    assert!(says(&window, 1.0));
    let mut draft = window.harness.state().state().draft().clone();
    draft.request.batch = 4;
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, Action::Edit(Box::new(draft)));
    window.frames();
    assert!(says(&window, 1.0), "the forecast is still that of one image");
    answer(&mut window, &scene);
    assert!(says(&window, 4.0));
}

#[test]
fn the_cpu_has_one_memory_with_one_limit() {
    for (scene, is_shared) in [(Scene::here(), true), (Scene::streamed(), false)] {
        let mut window = Window::with_starter();
        window.click("Plan");
        answer(&mut window, &scene);
        window.click("Advanced");
        window.frames();
        for (words, shared) in [("Memory limit", true), ("Reserve memory", true), ("VRAM limit", false)] {
            assert_eq!(window.shows(words), shared == is_shared, "{words}");
        }
        assert_eq!(window.shows("RAM limit"), !is_shared);
    }
}

#[test]
fn a_heading_stays_where_it_was_clicked() {
    let scene = Scene::streamed();
    let mut window = Window::with_starter();
    window.click("Plan");
    answer(&mut window, &scene);
    let mut opened = |heading: &str| {
        window.see(heading);
        let top = |window: &Window| window.harness.get_by_label(heading).rect().top();
        let before = top(&window);
        window.harness.get_by_label(heading).click();
        for _ in 0..10 {
            window.frames();
        }
        [before, top(&window)]
    };
    let [before, now] = opened("Details");
    assert_eq!(now, before);
    // This one is the last in sight.
    let [before, now] = opened("Advanced");
    assert!(before + IN_SIGHT > HEIGHT && now + IN_SIGHT <= HEIGHT, "from {before} to {now}");
    assert!(now > HEIGHT - 2.0 * IN_SIGHT, "no further than that takes: from {before} to {now}");
    assert!(window.shows(&scene.forecast.sentence) && window.shows("Reserve VRAM"));
}

#[test]
fn plan_and_timeline_come_in_front_of_the_gallery_and_the_models() {
    let mut window = Window::with_starter();
    let (plan, timeline) = ("Memory plan", "The timeline shows memory use");
    window.harness.key_press(Key::G);
    window.frames();
    assert!(window.harness.state().gallery().is_open);
    window.click("Plan");
    assert!(!window.harness.state().gallery().is_open && window.shows(plan));
    for (button, shown) in [("Timeline", timeline), ("Plan", plan)] {
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
        window.frames();
        assert!(window.harness.state().state().library.is_open && !window.shows(plan));
        window.click(button);
        assert!(!window.harness.state().state().library.is_open && window.shows(shown), "{button}");
    }
    window.click("Plan");
    assert!(!window.shows(plan), "the button still closes it");
}

/// A ControlNet and hires fix: the forecast is that of an engine, but for its tiles, a detailer, a map estimator and an IP-Adapter.
#[test]
fn the_details_list_each_stage_with_its_networks_and_tiles() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("stable_diffusion", "one");
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let run = fixture.run("steered/guided").unwrap();
    run.write_beside(&model).unwrap();
    let request = Request { hires: Some(Hires::default()), ..run.request(&model) };
    let mut forecast = forecast(&Runner::start().unwrap(), &request, &MemoryPreferences::default()).unwrap();
    let plan = forecast.plan.as_mut().unwrap();
    let upscale = plan.stages.iter().position(|stage| stage.stage.kind == StageKind::Upscale).unwrap();
    plan.stages[upscale].uses[0].tile = Some(96);
    let denoise = plan.first_of(StageKind::Denoise).unwrap().clone();
    for (kind, name) in
        [(StageKind::Detect, "Detect"), (StageKind::Denoise, "Detail"), (StageKind::Preprocess, "Make maps")]
    {
        let stage = Stage { number: plan.stages.len(), kind, name: name.to_owned() };
        plan.stages.push(StagePlan { stage, ..denoise.clone() });
    }
    let stages = plan.stages.clone();
    let mut request = request;
    request.control_nets[0].preprocessor = Preprocessor::Depth;
    request.estimators.insert(MapKind::Depth, "/models/depths.safetensors".into());
    request.detailers = vec![Detailer::new("/models/faces.safetensors")];
    let adapter = "/models/looks.safetensors".into();
    request.image_prompts =
        vec![ImagePrompt { adapter, images: vec!["/photos/fox.png".into()], ..ImagePrompt::default() }];

    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        let mut saved = WindowSettings::default();
        saved.draft.request = request.clone();
        setup.settings = Some(saved);
    });
    let summary = ModelSummary {
        source: request.model.clone(),
        takes_control_nets: true,
        takes_ip_adapters: true,
        ..starter()
    };
    window.says(Event::ModelLoaded(Box::new(summary)));
    // What the map alone takes is another question.
    let mut queries = window.take_plans().into_iter();
    let query = queries.find(|query| query.request.map_of.is_none()).expect("a question");
    assert_eq!((&query.request.control_nets, &query.request.hires), (&request.control_nets, &request.hires));
    window.says(Event::Planned { id: query.id, forecast: Box::new(forecast), readings: Readings::default() });
    window.click("Plan");
    let steered = "With ControlNet lines";
    assert!(!window.shows(steered), "the details are closed");
    window.click("Details");
    for stage in &stages {
        let takes = format!("{} · {}", units::memory(stage.device()), units::seconds(stage.seconds));
        assert!(window.shows(&stage.stage.name) && window.shows(&takes), "{}: {takes}", stage.stage.name);
    }
    assert!(stages.iter().any(|stage| stage.stage.name == "Denoise again"));
    assert_eq!(window.harness.query_all_by_label(steered).count(), 2, "both passes, and no detailer");
    assert!(window.shows("With upscaler Built-in, for drawings"));
    assert!(window.shows("With detector faces") && window.shows("With map estimator depths"));
    let read = window.harness.query_all_by_label("With IP-Adapter looks").count();
    assert_eq!(read, 3, "all passes, also that of the detailer");
    assert!(window.shows("In tiles of up to 96 × 96 pixels"));
    nothing_is_unnamed(&window, "the stages of the plan");
}

/// What was planned for the settings before is no longer said.
#[test]
fn settings_that_cannot_be_generated_with_have_no_plan() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.png");
    std::fs::write(&text, "no image").unwrap();
    let mut window = Window::with_starter();
    let query = window.take_plans().pop().expect("a question");
    window.says(Scene::here().answer(query.id));
    window.click("Plan");
    let none = "No plan for these settings";
    assert!(window.shows("Fits") && !window.shows(none));

    let net = ControlNet { model: "/models/lines.safetensors".into(), ..ControlNet::default() };
    let source = SourceImage { path: text.clone(), ..SourceImage::default() };
    for change in [
        &(|request: &mut Request| request.control_nets = vec![net.clone()]) as &dyn Fn(&mut Request),
        &|request| request.source = Some(source.clone()),
    ] {
        let before = window.harness.state().state().draft().clone();
        let mut draft = before.clone();
        change(&mut draft.request);
        let context = window.harness.ctx.clone();
        window.harness.state_mut().act(&context, Action::Edit(Box::new(draft)));
        window.wait_for_words(none);
        assert!(!window.shows("Fits"));
        window.harness.state_mut().act(&context, Action::Edit(Box::new(before)));
        window.frames();
        assert!(window.shows("Fits") && !window.shows(none));
    }
}

#[test]
fn of_a_gpu_that_cannot_compute_it_is_said_what_does() {
    let mut window = Window::open([1920.0, 1080.0], Theme::Dark, |setup| {
        setup.gpu = Some("AMD Radeon RX 7800 XT".to_owned());
    });
    let words = "AMD Radeon RX 7800 XT only renders the window. The CPU computes the images.";
    window.says(Event::Hardware(machine()));
    assert!(!window.shows(words), "there is another GPU");
    window.says(Event::Hardware(HardwareSample { gpus: Vec::new(), ..machine() }));
    assert!(window.shows(words));
}
