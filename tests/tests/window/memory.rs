//! The plan, the prediction next to Generate, and the settings behind them.

use egui::{Theme, accesskit::Role};
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::units;
use sluice::window::{
    action::Action,
    settings::{Setting, Settings as WindowSettings},
    state::Shown,
};
use sluice_engine::{
    hardware::GpuSample,
    memory::{
        Alternative, DeviceChoice, Keep, MemoryPreferences, OffloadMode, Outcome, PartChoice, PlanError,
        Quality, Residence, card_presets,
    },
    output::{Media, Settings, write_png},
    request::{ComputeDtype, Request},
    session::{Command, Event, Failure, JobId, PlanSubject, Serving},
};

use super::{
    behaviour::nothing_is_unnamed,
    runs::Scene,
    support::{Window, landscape, machine, starter},
};

const JOB: JobId = JobId(1);

/// A window with the plan and its details open, and the answer to its first query.
pub fn planned(scene: &Scene) -> Window {
    let mut window = Window::with_starter();
    window.click("Plan");
    answer(&mut window, scene);
    window.click("Details");
    window
}

/// The same with the preferences of the scene.
fn planned_as(scene: &Scene) -> Window {
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        let mut saved = WindowSettings::default();
        saved.memory.preferences = scene.preferences.clone();
        setup.settings = Some(saved);
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    answer(&mut window, scene);
    window
}

/// Answers the one new query.
pub fn answer(window: &mut Window, scene: &Scene) {
    let [query] = window.take_plans().try_into().expect("one question");
    window.says(scene.answer(query.id));
}

pub fn preferences(window: &Window) -> MemoryPreferences {
    window.harness.state().state().settings.memory.preferences.clone()
}

#[test]
fn the_model_is_asked_about_as_soon_as_it_is_read() {
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |_| ());
    assert_eq!(window.take_plans(), [], "nobody knows the model yet");
    window.says(Event::ModelLoaded(Box::new(starter())));
    let [query] = window.take_plans().try_into().expect("one question");
    assert_eq!((query.subject, query.request.frames), (PlanSubject::Model, 1));
    assert_eq!(query.request.width, 128);
    assert_eq!(query.memory, MemoryPreferences::default());
    assert!(window.shows("Planning…"));
    window.says(Scene::streamed().answer(query.id));
    assert!(!window.shows("Planning…"));
    assert!(window.shows("Forecast, "));
    window.harness.run_steps(10);
    assert_eq!(window.take_plans(), [], "nothing has changed");
}

#[test]
fn whatever_decides_about_memory_is_asked_about_again() {
    let scene = Scene::streamed();
    let mut window = planned(&scene);
    for press in ["Aspect 16:9", "Preset for 12 GB"] {
        window.click(press);
        let plans = window.take_plans();
        assert_eq!(plans.len(), 1, "{press}");
        window.says(scene.answer(plans[0].id));
    }
    for (label, value) in [("Steps", 20.0), ("Guidance", 0.0), ("Batch size", 3.0)] {
        window.harness.get_all_by_label(label).last().unwrap().set_value_accesskit(value);
        window.frames();
        let plans = window.take_plans();
        assert_eq!(plans.len(), 1, "{label}");
        window.says(scene.answer(plans[0].id));
    }
    window.click("More settings");
    window.click("Precision");
    window.click("16-bit (bf16)");
    let [query] = window.take_plans().try_into().expect("one question");
    assert_eq!(query.request.dtype, Some(ComputeDtype::Bf16));
    assert_eq!((query.request.steps, query.request.batch), (20, 3));
}

#[test]
fn one_question_is_outstanding_and_the_last_settings_win() {
    let scene = Scene::streamed();
    let mut window = planned(&scene);
    window.click("Aspect 16:9");
    let [first] = window.take_plans().try_into().expect("one question");
    window.click("Aspect 9:16");
    window.click("Aspect 3:2");
    assert_eq!(window.take_plans(), [], "the engine still thinks about the first");
    window.says(scene.answer(first.id));
    let [second] = window.take_plans().try_into().expect("one question");
    let draft = &window.harness.state().state().draft().request;
    assert_eq!((second.request.width, second.request.height), (draft.width, draft.height));
}

#[test]
fn a_prompt_that_is_typed_is_asked_about_and_never_waits() {
    let mut window = planned(&Scene::streamed());
    window.fill("Prompt", "a red boat");
    let [query] = window.take_plans().try_into().expect("one question");
    assert_eq!(query.request.prompt, "a red boat", "its tokens are counted");
    window.click("Generate");
    window.take_job();
}

#[test]
fn the_forecast_says_what_the_image_takes_and_how_good_forecasts_were() {
    let scene = Scene::streamed();
    let window = planned(&scene);
    assert!(window.shows("Forecast, fits, "));
    assert!(window.shows(&scene.forecast.sentence));
    assert!(window.shows("Off by at most 1.2% memory, 3.4% time in 6 runs"));
}

#[test]
fn the_plan_at_a_glance_has_a_line_and_three_choices() {
    let scene = Scene::streamed();
    let mut window = planned(&scene);
    window.click("Details");
    let time = units::seconds(scene.forecast.plan.as_ref().unwrap().seconds);
    assert!(window.shows(&format!("Fits · {time}")) && !window.shows(&scene.forecast.sentence));
    for choice in &scene.forecast.choices {
        window.click_what_says(&format!("{}, ", choice.name));
        assert_eq!(Some(preferences(&window)), choice.preferences);
        let [query] = window.take_plans().try_into().expect("one question");
        window.says(scene.answer(query.id));
        let quality =
            if choice.quality == Quality::Exact { " · identical image" } else { " · nearly identical" };
        assert!(window.shows(quality), "{}", choice.name);
    }
    assert_eq!(scene.forecast.choices.len(), 3);
    let too_large = planned(&Scene::too_large());
    assert!(too_large.shows("Does not fit · needs "));
}

#[test]
fn a_time_that_runs_have_confirmed_is_said_without_about() {
    let time = |scene: &Scene| units::seconds(scene.forecast.plan.as_ref().unwrap().seconds);
    let known = Scene::streamed();
    let window = planned(&known);
    assert!(window.shows(&format!("Fits · {}", time(&known))) && !window.shows("Fits · about "));
    let mut unknown = Scene::streamed();
    unknown.forecast.accuracy = None;
    assert!(planned(&unknown).shows(&format!("Fits · about {}", time(&unknown))));
    let mut simulated = planned_as(&known);
    simulated.click("Plan");
    assert!(simulated.shows("Fits · about "), "the runs were on another device");
}

#[test]
fn what_does_not_fit_is_said_with_a_way_out() {
    let scene = Scene::too_large();
    let mut window = planned(&scene);
    assert!(window.shows("Forecast, does not fit, "));
    assert!(window.shows(&scene.forecast.sentence));
    assert!(!window.shows("8-bit weights"), "the same image is possible");
    window.click("Use layer streaming");
    let chosen = preferences(&window);
    assert_ne!(chosen.mode, OffloadMode::None);
    let row = scene.forecast.alternatives.iter().find(|row| row.preferences.as_ref() == Some(&chosen));
    let row = row.expect("it is one of the alternatives");
    assert!(row.available && row.device_short == 0 && row.host_short == 0);
    let [query] = window.take_plans().try_into().expect("one question");
    assert_eq!(query.memory, chosen);
}

#[test]
fn a_run_that_did_not_fit_fails_with_a_way_out() {
    let scene = Scene::too_large();
    let mut window = planned_as(&scene);
    let ways = |window: &Window| window.harness.query_all_by_label("Use layer streaming").count();
    let error = scene.forecast.plan.as_ref().unwrap_err().to_string();
    let does_not_fit = Failure { message: error, advice: None };
    let fail = |window: &mut Window, failure: &Failure| {
        window.take_commands();
        window.click("Generate");
        let job = window.take_job().id;
        window.says(Event::Started { job });
        window.says(Event::Failed { job: Some(job), failure: failure.clone() });
    };
    let disk_full = Failure { message: "the disk is full".to_owned(), advice: None };
    fail(&mut window, &disk_full);
    assert_eq!(ways(&window), 1, "a smaller image does not free the disk");
    window.click("Dismiss");
    fail(&mut window, &does_not_fit);
    assert_eq!(ways(&window), 2, "below Generate, and with the error");
    nothing_is_unnamed(&window, "a run that did not fit");
    window
        .harness
        .get_all_by_label("Use layer streaming")
        .find(|way| way.rect().left() > 400.0)
        .unwrap()
        .click();
    window.frames();
    assert_ne!(preferences(&window).mode, OffloadMode::None);
    assert!(window.harness.state().state().messages.failures.is_empty(), "the error is answered");

    answer(&mut window, &Scene::streamed());
    fail(&mut window, &does_not_fit);
    assert_eq!(ways(&window), 0, "something else failed");
}

#[test]
fn what_only_another_image_makes_possible_is_offered_by_what_changes() {
    let mut scene = Scene::too_large();
    let rows = &mut scene.forecast.alternatives;
    let exact = rows.iter().position(|row| row.recommended).unwrap();
    let fitting = rows[exact].clone();
    rows.retain(|row| row.device_short > 0 || row.host_short > 0);
    let tiled = MemoryPreferences { tile: Some(64), ..fitting.preferences.clone().unwrap() };
    let of_quality = |quality, preferences| Alternative {
        quality,
        preferences: Some(preferences),
        recommended: quality == Quality::EightBit,
        ..fitting.clone()
    };
    rows.push(of_quality(Quality::EightBit, fitting.preferences.clone().unwrap()));
    rows.push(of_quality(Quality::Blended, tiled.clone()));
    rows.push(of_quality(Quality::FourBit, fitting.preferences.clone().unwrap()));
    (scene.forecast.fitting_size, scene.forecast.fitting_frames) = (Some([896, 640]), Some(33));
    let mut window = planned(&scene);
    assert!(window.shows("8-bit weights") && !window.shows("4-bit weights"));
    assert!(!window.shows("Use recommended settings"), "no advice in red");
    let size = |window: &Window| {
        let request = &window.harness.state().state().draft().request;
        (request.width, request.height, request.frames)
    };
    window.click("Use 896 × 640");
    assert_eq!(size(&window), (896, 640, 1));
    window.click("Use 2.1 s, 33 frames");
    assert_eq!(size(&window), (896, 640, 33));
    window.click("Tile the decode");
    assert_eq!(preferences(&window), tiled);
}

#[test]
fn a_limit_of_the_users_own_is_named_and_removed() {
    let mut scene = Scene::too_large();
    scene.preferences.vram_budget = Some(2 << 30);
    let mut window = planned_as(&scene);
    assert!(window.shows("your limit is "));
    window.click("Remove my limit");
    assert_eq!(preferences(&window).vram_budget, None);
}

#[test]
fn a_limit_of_ram_is_named_and_removed_alone() {
    let mut scene = Scene::too_large();
    let limits = (Some(24_u64 << 30), Some(2_u64 << 30));
    (scene.preferences.vram_budget, scene.preferences.ram_budget) = limits;
    scene.forecast.plan = Err(PlanError::Host { needed: 9 << 30, budget: 2 << 30 });
    let mut window = planned_as(&scene);
    assert!(window.shows("of RAM, your limit is "));
    window.click("Remove my limit");
    let left = preferences(&window);
    assert_eq!((left.vram_budget, left.ram_budget), (limits.0, None));
}

#[test]
fn generate_stays_where_it_is_when_a_run_does_not_fit() {
    let place = |scene: &Scene| planned_as(scene).harness.get_by_label("Generate").rect();
    let mut scene = Scene::too_large();
    let fits = place(&Scene::streamed());
    assert_eq!(place(&scene), fits);
    scene.preferences.vram_budget = Some(2 << 30);
    assert_eq!(place(&scene), fits, "with one more button");
}

#[test]
fn a_narrow_window_does_not_make_the_plan_narrow_for_ever() {
    let mut window = planned_as(&Scene::streamed());
    let context = window.harness.ctx.clone();
    window.harness.state_mut().act(&context, Action::Set(Setting::PlanOpen(true)));
    window.frames();
    let width = |window: &Window| window.harness.get_by_label("GPU").rect().width();
    let wide = width(&window);
    window.harness.set_size(egui::vec2(900.0, 600.0));
    window.frames();
    assert!(width(&window) < wide);
    window.harness.set_size(egui::vec2(1280.0, 800.0));
    window.frames();
    assert_eq!(width(&window), wide);
}

#[test]
fn the_time_of_a_simulated_gpu_is_not_taken_for_that_of_this_computer() {
    let mut scene = Scene::streamed();
    assert!(planned_as(&scene).shows("Simulated: takes longer here, on the CPU"));
    scene.forecast.seconds_here = Some(11.0);
    let there = format!("about {}", units::seconds(scene.forecast.plan.as_ref().unwrap().seconds));
    let window = planned_as(&scene);
    assert!(window.shows(&there) && window.shows("Simulated: about 11 s here, on the CPU"), "both: {there}");
    assert!(!planned_as(&Scene::here()).shows("Simulated: "));
}

#[test]
fn a_row_of_the_table_is_taken_over_and_goes_with_the_job() {
    let scene = Scene::streamed();
    let mut window = planned(&scene);
    let row = scene.forecast.alternatives.iter().find(|row| row.id == "model_offload").unwrap();
    window.click_what_says("Does not fit (");
    window.click_what_says(&format!("{}, ", row.name));
    assert_eq!(Some(preferences(&window)), row.preferences);
    window.click("Generate");
    assert_eq!(Some(window.take_job().memory), row.preferences);
}

#[test]
fn nothing_is_recommended_that_does_not_fit() {
    let mut scene = Scene::streamed();
    let rows = &mut scene.forecast.alternatives;
    rows.iter_mut().for_each(|row| row.recommended = false);
    let short = rows.iter_mut().find(|row| row.available && row.device_short > 0).unwrap();
    short.recommended = true;
    let name = format!("{}, ", short.name);
    let mut window = planned(&scene);
    window.click_what_says("Does not fit (");
    let rows = window.harness.query_all_by_label_contains(&name);
    let said: Vec<_> = rows.map(|row| row.accesskit_node().label().unwrap_or_default()).collect();
    assert!(!said.is_empty() && said.iter().all(|row| !row.contains("recommended")), "{said:?}");
}

#[test]
fn rows_that_cannot_be_chosen_say_why_and_do_nothing() {
    let scene = Scene::streamed();
    let mut window = planned(&scene);
    let row = scene.forecast.alternatives.iter().find(|row| row.id == "sequential").unwrap();
    assert!(!row.available);
    assert!(!window.shows(&format!("{}, ", row.name)), "the list is closed at first");
    window.click_what_says("For comparison (");
    window.click_what_says(&format!("{}, ", row.name));
    assert_eq!(preferences(&window), MemoryPreferences::default());
    assert!(window.shows("diffusers only"));
    let short = scene.forecast.alternatives.iter().find(|row| row.available && row.device_short > 0).unwrap();
    assert!(!window.shows(&format!("{}, ", short.name)), "the list is closed at first");
    window.click_what_says("Does not fit (");
    assert!(window.shows(&format!("{}, ", short.name)));
    assert!(window.shows(" VRAM too much"));
}

#[test]
fn a_preset_is_one_press_and_is_seen_to_be_in_force() {
    let all = card_presets();
    let sizes = all.iter().map(|preset| preset.vram).chain([80 << 30]);
    for (place, size) in sizes.enumerate() {
        let mut scene = Scene::streamed();
        scene.forecast.machine.device_total = size;
        let mut window = planned(&scene);
        for preset in all.iter().take(place + 1) {
            window.click(&format!("Preset for {}", preset.name));
            // One for a smaller GPU uses no more than that has.
            let is_smaller = preset.vram < all[place.min(all.len() - 1)].vram;
            let vram_budget = is_smaller.then_some(preset.vram);
            assert_eq!(preferences(&window), MemoryPreferences { vram_budget, ..preset.memory.clone() });
            assert!(window.shows(&preset.summary), "{} of a GPU with {size} bytes", preset.name);
        }
    }
    let mut window = planned(&Scene::streamed());
    let preset = &all[1];
    window.click(&format!("Preset for {}", preset.name));
    window.click("GPU");
    window.click_what_says("RTX 4080");
    let chosen = preferences(&window);
    assert_eq!(chosen.device, DeviceChoice::Simulated("rtx-4080".to_owned()));
    assert_eq!(MemoryPreferences { device: DeviceChoice::Auto, ..chosen }, preset.memory, "the rest stays");
}

#[test]
fn the_cards_that_are_here_and_those_that_are_not_can_be_asked_about() {
    let mut window = planned(&Scene::streamed());
    window.says(Event::Hardware(machine()));
    window.take_plans();
    window.click("GPU");
    assert!(window.shows("RTX 3060 12.0 GB (found)"));
    window.click_what_says("RTX 3060 12.0 GB (found)");
    let DeviceChoice::Simulated(id) = preferences(&window).device else { panic!("a simulated card") };
    assert!(id.starts_with("rtx-3060"));
    let [query] = window.take_plans().try_into().expect("one question");
    assert_eq!(query.memory.device, DeviceChoice::Simulated(id));
    window.click("GPU");
    window.click_what_says("This computer");
    assert_eq!(preferences(&window).device, DeviceChoice::Auto);
}

#[test]
fn an_engine_for_cards_offers_the_card_and_the_processor() {
    let mut window = planned(&Scene::streamed());
    window.says(Event::Hardware(machine()));
    window.says(Event::Serving(Serving { engine: "CUDA".to_owned(), process: 7, instead_of: None }));
    window.click("GPU");
    assert!(window.shows("This computer (GPU)"));
    assert!(!window.shows("RTX 3060 12.0 GB (found)"), "what is found is what computes");
    window.click("This computer (CPU)");
    assert_eq!(preferences(&window).device, DeviceChoice::Processor);
    assert!(!window.shows("Simulated: predicted for this GPU"));
}

#[test]
fn of_several_gpus_one_can_be_chosen() {
    let mut window = planned(&Scene::streamed());
    let mut machine = machine();
    let first = machine.gpus[0].clone();
    machine.gpus.insert(
        0,
        GpuSample { name: "NVIDIA GeForce RTX 4090".to_owned(), vram_total: 24 << 30, ..first.clone() },
    );
    window.says(Event::Hardware(machine));
    window.says(Event::Serving(Serving { engine: "CUDA".to_owned(), process: 7, instead_of: None }));
    window.take_plans();
    window.click("GPU");
    window.click("GPU 1, RTX 3060 12.0 GB");
    assert_eq!(preferences(&window).device, DeviceChoice::Gpu(1));
    let [query] = window.take_plans().try_into().expect("one question");
    assert_eq!(query.memory.device, DeviceChoice::Gpu(1));
    window.click("GPU");
    window.click("This computer (CPU)");
    assert_eq!(preferences(&window).device, DeviceChoice::Processor);
}

#[test]
fn each_part_of_the_model_can_be_placed_and_kept_on_its_own() {
    let mut window = planned(&Scene::streamed());
    window.click("Advanced");
    window.click("Each part");
    window.click("Qwen3");
    window.click("Streamed from disk");
    window.click("Keep Qwen3");
    window.click("Nothing");
    let expected = PartChoice { residence: Some(Residence::OnDemand), keep: Some(Keep::None) };
    assert_eq!(preferences(&window).parts, [("text_encoder".to_owned(), expected)].into());
}

#[test]
fn lists_below_each_other_are_equally_wide_whatever_their_labels() {
    let mut window = planned(&Scene::streamed());
    window.click("Advanced");
    window.click("Each part");
    let width = |name: &str| window.harness.get_by_role_and_label(Role::ComboBox, name).rect().width();
    let usual = width("Keep loaded");
    for part in ["Qwen3", "ZImageTransformer2DModel", "AutoencoderKL"] {
        for name in [part.to_owned(), format!("Keep {part}")] {
            assert_eq!(width(&name), usual, "{name}");
        }
    }
}

#[test]
fn everything_can_be_overridden_and_set_back() {
    let mut window = planned(&Scene::streamed());
    window.click("Advanced");
    window.click("Mode");
    window.click("Layer streaming");
    window.click("Text encoder");
    window.click("Streamed from disk");
    window.click("VRAM limit");
    window.click("Prefetch");
    let chosen = preferences(&window);
    assert_eq!(chosen.mode, OffloadMode::LayerStreaming);
    assert_eq!(chosen.text_encoder, Some(Residence::OnDemand));
    assert_eq!(chosen.prefetch, Some(1));
    assert!(chosen.vram_budget.is_some_and(|bytes| bytes > 8 << 30));
    window.harness.get_by_label("VRAM limit in GB").set_value_accesskit(6.5);
    window.frames();
    assert_eq!(preferences(&window).vram_budget, Some((13 << 30) / 2));
    window.click("Remove limit");
    assert_eq!(preferences(&window).vram_budget, None);
    window.click("Reset");
    assert_eq!(preferences(&window), MemoryPreferences::default());
}

#[test]
fn memory_settings_survive_a_restart() {
    let mut window = planned(&Scene::streamed());
    window.click("Preset for 12 GB");
    window.click("Timeline");
    let saved = window.harness.state().state().settings.clone();
    assert_eq!(saved.memory.preferences, card_presets()[1].memory);
    assert_eq!((saved.memory.plan_open, saved.memory.timeline_open), (Some(true), true));
    let kept = WindowSettings::from_json(&saved.to_json());
    let again = Window::open([1280.0, 800.0], Theme::Dark, |setup| setup.settings = Some(kept));
    assert_eq!(preferences(&again), card_presets()[1].memory);
    assert!(again.shows("Memory plan") && again.shows("The timeline shows memory use"));
}

#[test]
fn a_dropped_image_changes_nothing_about_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boat.png");
    let request = Request { prompt: "a boat".to_owned(), seed: 99, ..Request::default() };
    write_png(
        &path,
        &Media::Image(landscape(128, 128, 9, 1.0)),
        &Settings::new(&request, "Starter", "z_image", 0),
    )
    .unwrap();
    let mut window = planned(&Scene::streamed());
    window.click("Preset for 12 GB");
    let before = preferences(&window);
    window.drop_file(path);
    window.wait_for("the question", |app| app.state().input.dropped.is_some());
    window.frames();
    window.click("Use settings");
    window.wait_for("the settings", |app| app.state().draft().request.seed == 99);
    window.frames();
    assert_eq!(preferences(&window), before);
    window.click("Undo");
    assert_eq!(preferences(&window), before);
    window.click("Generate");
    assert_eq!(window.take_job().memory, before);
}

#[test]
fn the_plan_is_open_where_there_is_room_and_stays_as_it_was_put() {
    let mut wide = Window::open([1920.0, 1080.0], Theme::Dark, |_| ());
    assert!(wide.shows("Memory plan"));
    wide.click("Close the plan");
    assert!(!wide.shows("Memory plan"));
    assert_eq!(wide.harness.state().state().settings.clone().memory.plan_open, Some(false));
    let narrow = Window::open([1280.0, 800.0], Theme::Dark, |_| ());
    assert!(!narrow.shows("Memory plan"));
}

#[test]
fn a_question_without_an_answer_says_why() {
    let mut window = Window::with_starter();
    let [query] = window.take_plans().try_into().expect("one question");
    let message = "there is no wildcard file named nothere.txt".to_owned();
    let advice = Some("Check the spelling.".to_owned());
    window.says(Event::NotPlanned { id: query.id, failure: Failure { message, advice } });
    assert!(window.shows("There is no wildcard file named nothere.txt."));
    assert!(window.shows("Check the spelling."));
    assert_eq!(window.harness.state().state().images.shown, Shown::Nothing);
    window.click("Generate");
    assert!(window.take_commands().is_empty(), "it cannot be run");
    assert!(window.take_plans().is_empty());
    window.harness.event(egui::Event::WindowFocused(true));
    window.frames();
    assert_eq!(window.take_plans().len(), 1, "the file may be there by now");
    window.click("Generate");
    assert_eq!(window.take_job().id, JOB, "nothing is known that speaks against it");
}

#[test]
fn what_a_run_took_is_compared_and_asked_about_again() {
    let scene = Scene::streamed();
    let mut window = planned(&scene);
    assert!(!window.shows("Last run"));
    let outcome = scene.outcome();
    let of_another = Outcome { model: "another".to_owned(), ..outcome.clone() };
    window.says(Event::Outcome { job: JOB, outcome: Box::new(of_another) });
    assert!(!window.shows("Last run"), "it was of another model");
    answer(&mut window, &scene);
    window.says(Event::Outcome { job: JOB, outcome: Box::new(outcome) });
    assert!(window.shows("Last run"));
    assert!(window.shows("predicted ") && window.shows(", measured "));
    assert_eq!(window.take_plans().len(), 1, "the next forecast is corrected by the run");
}

#[test]
fn another_model_is_asked_about_anew() {
    let scene = Scene::streamed();
    let mut window = planned(&scene);
    let path = std::env::temp_dir().join("another model.safetensors");
    window.drop_file(path.clone());
    window.wait_for("the model", |app| app.state().summary().is_none());
    window.frames();
    assert!(!window.shows("Forecast, "));
    assert_eq!(window.take_plans(), []);
    let model = sluice_engine::request::ModelSource::Path(path);
    assert_eq!(window.take_commands(), [Command::Load { model: model.clone() }]);
    let summary = sluice_engine::session::ModelSummary { source: model.clone(), ..starter() };
    window.says(Event::ModelLoaded(Box::new(summary)));
    let [query] = window.take_plans().try_into().expect("one question");
    assert_eq!(query.request.model, model);
}
