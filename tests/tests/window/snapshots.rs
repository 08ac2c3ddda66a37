//! What the window looks like. `UPDATE_SNAPSHOTS=1` writes the pictures anew; look at them before committing.

use egui::Theme;
use egui_kittest::SnapshotResults;
use sluice::window::persistence::{MemorySettings, Saved};
use sluice_engine::{
    request::ModelSource,
    session::{Event, JobId, ModelSummary},
};

use super::{
    runs::{Scene, telemetry},
    support::{Window, failure, half_way, machine, picture, starter},
};

const SIZES: [([f32; 2], &str); 2] = [([1280.0, 800.0], "1280"), ([1920.0, 1080.0], "1920")];
const THEMES: [(Theme, &str); 2] = [(Theme::Dark, "dark"), (Theme::Light, "light")];

fn in_every_look(state: &str, script: impl Fn(&mut Window)) {
    in_every_look_with(state, &MemorySettings::default(), script);
}

fn in_every_look_with(state: &str, memory: &MemorySettings, script: impl Fn(&mut Window)) {
    let mut results = SnapshotResults::new();
    for (size, width) in SIZES {
        for (theme, shade) in THEMES {
            let mut window = Window::open(size, theme, |setup| {
                if *memory != MemorySettings::default() {
                    setup.saved = Some(Saved { memory: memory.clone(), ..Saved::default() });
                }
            });
            window.says(Event::Hardware(machine()));
            window.says(Event::ModelLoaded(Box::new(starter())));
            if *memory == MemorySettings::default() {
                answer(&mut window, &Scene::here());
            }
            script(&mut window);
            if *memory == MemorySettings::default() {
                answer(&mut window, &Scene::here());
            }
            window.harness.remove_cursor();
            window.frames();
            window.harness.snapshot(format!("window/{state}-{shade}-{width}"));
            results.extend_harness(&mut window.harness);
        }
    }
}

fn finished(window: &mut Window) {
    window.fill("Prompt", "a calm lake between green hills at sunset");
    for job in (1..=6).map(JobId) {
        window.click("Generate");
        window.says(Event::Started { job });
        let pictures = vec![picture(128, 128, job.0 * 7)];
        window.says(Event::Finished { job, pictures, seconds: 3.4 });
    }
}

#[test]
fn empty() {
    in_every_look("empty", |_| ());
}

#[test]
fn generating() {
    in_every_look("generating", |window| {
        finished(window);
        for _ in 0..2 {
            window.click("Generate");
        }
        half_way(window, JobId(7));
    });
}

#[test]
fn done() {
    in_every_look("finished", finished);
}

#[test]
fn failed() {
    in_every_look("failure", |window| {
        window.click("Generate");
        window.says(Event::Started { job: JobId(1) });
        window.says(Event::Failed { job: Some(JobId(1)), failure: failure() });
    });
}

#[test]
fn a_long_prompt() {
    in_every_look("long-prompt", |window| {
        let sentence = "A wide valley at the end of a long summer day, seen from a stony path that winds down \
                        between dry grass and low juniper bushes, with a river far below. ";
        window.fill("Prompt", &sentence.repeat(5));
        window.fill("Negative prompt", "people, buildings, text, watermark, fog, rain, overexposed sky");
    });
}

/// Everything that can be open.
fn all_open(scene: &Scene) -> MemorySettings {
    MemorySettings { preferences: scene.preferences.clone(), plan_open: Some(true), timeline_open: true }
}

/// Answers until nothing more is asked.
fn answer(window: &mut Window, scene: &Scene) {
    while let Some(query) = window.take_plans().pop() {
        window.says(scene.answer(query.id));
    }
}

#[test]
fn streaming() {
    let scene = Scene::streamed();
    in_every_look_with("streaming", &all_open(&scene), |window| {
        answer(window, &scene);
        finished(window);
        window.says(Event::Outcome { job: JobId(6), outcome: Box::new(scene.outcome()) });
        answer(window, &scene);
        window.click("Generate");
        half_way(window, JobId(7));
        for event in telemetry(JobId(7), &scene.run(5, 12)) {
            window.says(event);
        }
    });
}

#[test]
fn streamed() {
    let scene = Scene::streamed();
    in_every_look_with("streamed", &all_open(&scene), |window| {
        answer(window, &scene);
        window.click("Generate");
        let job = JobId(1);
        window.says(Event::Started { job });
        for event in telemetry(job, &scene.run(12, 12)) {
            window.says(event);
        }
        window.says(Event::Replanned {
            job,
            reason: "Another program took 0.4 GB of the card: 3 more blocks pass through it.".to_owned(),
        });
        window.says(Event::Finished { job, pictures: vec![picture(128, 128, 7)], seconds: 41.0 });
    });
}

#[test]
fn too_large() {
    let scene = Scene::too_large();
    in_every_look_with("too-large", &all_open(&scene), |window| answer(window, &scene));
}

#[test]
fn overrides() {
    let scene = Scene::streamed();
    in_every_look_with("overrides", &all_open(&scene), |window| {
        answer(window, &scene);
        window.click("Preset for 12 GB");
        answer(window, &scene);
        window.click("Advanced");
        window.click("Back to the defaults");
        answer(window, &scene);
        window.click("VRAM budget");
        answer(window, &scene);
    });
}

#[test]
fn long_names() {
    let mut scene = Scene::streamed();
    let name = "flux.1-dev-finetune-cinematic-landscapes-v4.2-final-merged-bf16 (community edition)";
    name.clone_into(&mut scene.forecast.model);
    scene.forecast.machine.device = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition".to_owned();
    in_every_look_with("long-names", &all_open(&scene), |window| {
        window.says(Event::ModelLoaded(Box::new(ModelSummary {
            source: ModelSource::Starter,
            name: name.to_owned(),
            family_name: "FLUX.1, a rectified flow transformer of twelve billion weights".to_owned(),
            ..starter()
        })));
        answer(window, &scene);
        let mut events = scene.run(3, 12);
        if let Some(sluice_engine::telemetry::TelemetryEvent::Plan(plan)) = events.first_mut() {
            for component in &mut plan.components {
                component.blocks[0].name = format!("{name}.transformer_blocks.0.attention_and_feed_forward");
            }
        }
        window.click("Generate");
        half_way(window, JobId(1));
        for event in telemetry(JobId(1), &events) {
            window.says(event);
        }
    });
}
