//! The telemetry of a run, shown while it is running.

use egui::Theme;
use egui_kittest::kittest::Queryable;
use sluice::window::settings::{MemorySettings, Settings as WindowSettings};
use sluice_engine::session::{Event, JobId};

use super::{
    runs::{Scene, telemetry},
    support::{Window, half_way, machine, picture, starter},
};

const JOB: JobId = JobId(1);

/// A window with the timeline open and a run in its fifth step.
fn running(scene: &Scene) -> Window {
    let mut window = Window::open([1280.0, 800.0], Theme::Dark, |setup| {
        let memory = MemorySettings { timeline_open: true, ..MemorySettings::default() };
        setup.settings = Some(WindowSettings { memory, ..WindowSettings::default() });
    });
    window.says(Event::Hardware(machine()));
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.click("Generate");
    half_way(&mut window, JOB);
    for event in telemetry(JOB, &scene.run(5, 12)) {
        window.says(event);
    }
    window
}

fn label(window: &Window, words: &str) -> String {
    use egui_kittest::kittest::NodeT as _;
    window.harness.get_by_label_contains(words).accesskit_node().label().unwrap_or_default().to_owned()
}

#[test]
fn before_the_first_run_the_timeline_says_what_it_is_for() {
    let mut window = Window::with_starter();
    window.click("Timeline");
    assert!(window.shows("The timeline shows memory use while an image is generated."));
    window.click("Close the timeline");
    assert!(!window.shows("The timeline shows memory use"));
}

#[test]
fn a_run_is_drawn_while_it_goes_on() {
    let window = running(&Scene::streamed());
    assert!(window.shows("in this run"));
    let vram = label(&window, "VRAM over time");
    assert!(vram.contains("of 12.0 GB measured at its peak"), "{vram}");
    assert!(label(&window, "GB at its peak").starts_with("RAM over time, "));
    let steps = label(&window, "Steps, ");
    assert!(steps.starts_with("Steps, 5 done, "), "{steps}");
    let layers = label(&window, "Layers of the denoiser");
    assert!(layers.contains(" resident, ") && layers.contains(" streamed, now "), "{layers}");
    for kind in ["weights", "activations", "others", "free", "predicted", "allowed"] {
        assert!(window.shows(kind), "{kind}");
    }
}

#[test]
fn a_run_on_the_processor_has_no_vram() {
    let window = running(&Scene::here());
    assert!(!window.shows("VRAM over time"));
    assert!(window.shows("RAM of the run over time") && window.shows("RAM of Sluice over time"));
}

#[test]
fn the_status_line_says_how_weights_flow() {
    let mut window = running(&Scene::streamed());
    assert!(window.shows("link ") && window.shows("GB/s · waiting ") && window.shows("% · peak "));
    window.says(Event::Finished { job: JOB, pictures: vec![picture(128, 128, 1)], seconds: 4.0 });
    assert!(!window.shows(" · waiting "));
}

#[test]
fn the_last_run_stays_in_sight_until_the_next_says_something() {
    let scene = Scene::streamed();
    let mut window = running(&scene);
    window.says(Event::Finished { job: JOB, pictures: vec![picture(128, 128, 1)], seconds: 4.0 });
    assert!(window.shows("in the last run"));
    assert!(window.shows("Steps, 5 done"));
    window.click("Generate");
    window.says(Event::Started { job: JobId(2) });
    assert!(window.shows("Steps, 5 done"));
    for event in telemetry(JobId(2), &scene.run(1, 12)) {
        window.says(event);
    }
    assert!(window.shows("in this run") && window.shows("Steps, 1 done"));
}

#[test]
fn a_pause_lets_the_drawing_stand_still_while_the_run_goes_on() {
    let scene = Scene::streamed();
    let mut window = running(&scene);
    window.click("Pause");
    assert!(window.shows("Resume"));
    let whole = scene.run(12, 12);
    for event in telemetry(JOB, &whole[whole.len() - 900..]) {
        window.says(event);
    }
    assert!(window.shows("Layers of the"), "what is kept grows on");
    window.click("Resume");
    assert!(window.shows("Pause"));
}

#[test]
fn the_wheel_zooms_into_the_timeline_and_a_press_shows_the_whole_run() {
    let mut window = running(&Scene::streamed());
    assert!(!window.shows("Whole run"));
    let place = window.harness.get_by_label_contains("VRAM over time").rect().center();
    window.harness.hover_at(place);
    window.frames();
    window.harness.input_mut().events.push(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, 240.0),
        source: egui::MouseWheelSource::Wheel,
        phase: egui::TouchPhase::Move,
        modifiers: egui::Modifiers::NONE,
    });
    window.frames();
    assert!(window.shows("Whole run"));
    window.click("Whole run");
    assert!(!window.shows("Whole run"));
}

#[test]
fn a_pointer_over_the_tracks_reads_the_figures() {
    let mut window = running(&Scene::streamed());
    let place = window.harness.get_by_label_contains("VRAM over time").rect().center();
    window.harness.hover_at(place);
    window.harness.run_steps(6);
    assert!(window.shows("Weights in RAM"));
    let layers = window.harness.get_by_label_contains("Layers of the").rect();
    window.harness.hover_at(layers.left_center() + egui::vec2(40.0, 0.0));
    window.harness.run_steps(6);
    assert!(window.shows(" of the denoiser") && window.shows("computing "));
    let steps = window.harness.get_by_label_contains("Steps, ").rect();
    window.harness.hover_at(steps.left_bottom() + egui::vec2(4.0, -4.0));
    window.harness.run_steps(6);
    assert!(window.shows("Step 1 of 12") && window.shows("waiting for weights"));
}

#[test]
fn a_new_plan_in_the_middle_of_a_run_is_told() {
    let mut window = running(&Scene::streamed());
    let reason = "The card had 0.4 GB less than a moment ago: 3 more blocks pass through it.";
    window.says(Event::Replanned { job: JOB, reason: reason.to_owned() });
    assert!(window.shows("The run continues with a new plan") && window.shows(reason));
    window.click("Dismiss the notice of the new plan");
    assert!(!window.shows(reason));
}

#[test]
fn hours_of_telemetry_leave_the_window_as_fast_as_it_was() {
    use sluice_engine::telemetry::{MemorySample, TelemetryEvent};
    let mut window = running(&Scene::streamed());
    for hour in 0..4_u64 {
        let events = (0..180_000)
            .map(|index| {
                TelemetryEvent::Memory(MemorySample {
                    at: hour * 3_600_000_000 + index * 20_000,
                    weights: (index % 97) << 20,
                    ..MemorySample::default()
                })
            })
            .collect();
        window.says(Event::Telemetry { job: JOB, events });
    }
    let history = &window.harness.state().state().watches.run.as_ref().unwrap().history;
    assert!(history.memory().len() <= 4096);
    assert!(window.shows("VRAM over time"));
}

#[test]
fn the_timeline_and_the_plan_leave_the_image_the_largest() {
    let mut window = running(&Scene::streamed());
    window.click("Plan");
    let image = window.harness.get_by_label("Live preview").rect();
    let timeline = window.harness.get_by_label_contains("VRAM over time").rect();
    assert!(image.width() > 560.0 && image.height() > 340.0, "{image:?}");
    assert!(image.area() > timeline.area());
}
