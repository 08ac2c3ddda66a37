//! What the window looks like. One command rewrites the images and optimizes their file size:
//! `UPDATE_SNAPSHOTS=1 cargo test --release --test window snapshots`. Look at them before committing.

use std::{env, path::Path};

use egui::{Key, Modifiers, Theme};
use egui_kittest::{SnapshotOptions, SnapshotResults, try_image_snapshot_options};
use sluice::window::{
    settings::{MemorySettings, Settings as WindowSettings},
    state::Search,
};
use sluice_engine::{
    output::{Media, Settings, write_png},
    request::{ModelSource, Request},
    session::{Event, JobId, ModelSummary},
};

use super::{
    behaviour::nothing_is_unnamed,
    gallery::Kept,
    library,
    runs::{Scene, telemetry},
    support::{Window, failure, half_way, landscape, machine, optimize, picture, starter},
};

const SMALL: ([f32; 2], &str) = ([1280.0, 800.0], "1280");
const LARGE: ([f32; 2], &str) = ([1920.0, 1080.0], "1920");
const DARK: (Theme, &str) = (Theme::Dark, "dark");
const LIGHT: (Theme, &str) = (Theme::Light, "light");
/// Scenes rendered in every size and theme; the others are rendered once.
const IN_EVERY_LOOK: [&str; 2] = ["failure", "streaming"];

fn check(state: &str, script: impl Fn(&mut Window)) {
    check_with(state, &MemorySettings::default(), script);
}

fn check_with(state: &str, memory: &MemorySettings, script: impl Fn(&mut Window)) {
    let saved = WindowSettings { memory: memory.clone(), ..WindowSettings::default() };
    check_from(state, (*memory != MemorySettings::default()).then_some(&saved), script);
}

fn check_from(state: &str, saved: Option<&WindowSettings>, script: impl Fn(&mut Window)) {
    let mut results = SnapshotResults::new();
    let looks: &[_] = if IN_EVERY_LOOK.contains(&state) {
        &[(SMALL, DARK), (SMALL, LIGHT), (LARGE, DARK), (LARGE, LIGHT)]
    } else {
        &[(SMALL, DARK)]
    };
    for &((size, width), (theme, shade)) in looks {
        let mut window = Window::open(size, theme, |setup| setup.settings = saved.cloned());
        window.says(Event::Hardware(machine()));
        window.says(Event::ModelLoaded(Box::new(starter())));
        if saved.is_none_or(|saved| saved.memory == MemorySettings::default()) {
            answer(&mut window, &Scene::here());
        }
        script(&mut window);
        if saved.is_none_or(|saved| saved.memory == MemorySettings::default()) {
            answer(&mut window, &Scene::here());
        }
        results.extend(look(&mut window, &format!("{state}-{shade}-{width}")));
    }
}

/// Compares what a window looks like with an image.
pub fn look(window: &mut Window, name: &str) -> SnapshotResults {
    window.harness.remove_cursor();
    window.frames();
    nothing_is_unnamed(window, name);
    let name = format!("window/{name}");
    let options = SnapshotOptions::new().threshold(2.0).max_failed_pixels(400);
    let mut results = SnapshotResults::new();
    results.add(try_image_snapshot_options(&window.seen(), &name, &options));
    if env::var_os("UPDATE_SNAPSHOTS").is_some() {
        optimize(&Path::new("tests/snapshots").join(name).with_extension("png"));
    }
    results
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
    check("empty", |_| ());
}

#[test]
fn generating() {
    check("generating", |window| {
        finished(window);
        for _ in 0..2 {
            window.click("Generate");
        }
        half_way(window, JobId(7));
    });
}

#[test]
fn done() {
    check("finished", finished);
}

#[test]
fn failed() {
    check("failure", |window| {
        window.click("Generate");
        window.says(Event::Started { job: JobId(1) });
        window.says(Event::Failed { job: Some(JobId(1)), failure: failure() });
    });
}

#[test]
fn a_long_prompt() {
    check("long-prompt", |window| {
        let sentence = "A wide valley at the end of a long summer day, seen from a stony path that winds down \
                        between dry grass and low juniper bushes, with a river far below. ";
        window.fill("Prompt", &sentence.repeat(5));
        window.fill("Negative prompt", "people, buildings, text, watermark, fog, rain, overexposed sky");
    });
}

#[test]
fn more_settings() {
    check("more-settings", |window| {
        window.fill("Prompt", "a harbour in the evening, oil on canvas");
        window.click("More settings");
    });
}

/// All sections open.
fn all_open(scene: &Scene) -> MemorySettings {
    MemorySettings { preferences: scene.preferences.clone(), plan_open: Some(true), timeline_open: true }
}

/// Answers queries until there are no more.
fn answer(window: &mut Window, scene: &Scene) {
    while let Some(query) = window.take_plans().pop() {
        window.says(scene.answer(query.id));
    }
}

/// An input image, and a mask for it.
fn over_a_harbour(window: &mut Window, folder: &Path) {
    let image = landscape(192, 128, 5, 1.0);
    let path = folder.join("harbour.png");
    image::save_buffer(&path, &image.pixels, 192, 128, image::ColorType::Rgb8).unwrap();
    window.fill("Prompt", "a harbour in the evening, oil on canvas");
    window.drop_file(path.clone());
    window.wait_for("the image", |app| app.state().input.files.pixels(&path).is_some());
    window.click("Dismiss the notice");
}

fn paint(window: &mut Window) {
    use egui_kittest::kittest::Queryable;
    window.click("Paint…");
    let middle = window.harness.get_by_label("Mask over the image").rect().center();
    window.harness.drag_at(middle - egui::vec2(60.0, 20.0));
    window.frames();
    window.harness.hover_at(middle + egui::vec2(50.0, 30.0));
    window.frames();
    window.harness.drop_at(middle + egui::vec2(50.0, 30.0));
    window.frames();
}

#[test]
fn drawing_over_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, seed: u64| {
        let (path, image) = (folder.path().join(name), landscape(192, 128, seed, 1.0));
        image::save_buffer(&path, &image.pixels, 192, 128, image::ColorType::Rgb8).unwrap();
        path
    };
    let (picture, mask) = (save("harbour.png", 5), save("harbour mask.png", 9));
    let mut saved = WindowSettings::default();
    "a harbour in the evening, oil on canvas".clone_into(&mut saved.draft.request.prompt);
    saved.draft.use_input_image(picture.clone());
    saved.draft.use_mask(mask.clone());
    check_from("source", Some(&saved), |window| {
        window.wait_for("the files", |app| {
            let files = &app.state().input.files;
            files.pixels(&picture).is_some() && files.pixels(&mask).is_some()
        });
        window.see("Keep unmasked area unchanged");
    });
}

#[test]
fn painting_a_mask() {
    let folder = tempfile::tempdir().unwrap();
    check("mask", |window| {
        over_a_harbour(window, folder.path());
        paint(window);
    });
}

#[test]
fn asking_what_a_dropped_picture_is_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boat.png");
    let settings = Settings::new(&Request::default(), "Starter", "z_image", 0);
    write_png(&path, &Media::Image(landscape(128, 128, 9, 1.0)), &settings).unwrap();
    check("dropped", |window| {
        window.drop_file(path.clone());
        window.wait_for("the question", |app| app.state().input.dropped.is_some());
    });
}

#[test]
fn streaming() {
    let scene = Scene::streamed();
    check_with("streaming", &all_open(&scene), |window| {
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
    check_with("streamed", &all_open(&scene), |window| {
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
    check_with("too-large", &all_open(&scene), |window| answer(window, &scene));
}

#[test]
fn overrides() {
    let scene = Scene::streamed();
    check_with("overrides", &all_open(&scene), |window| {
        answer(window, &scene);
        window.click("Preset for 12 GB");
        answer(window, &scene);
        window.click("Advanced");
        window.click("Reset");
        answer(window, &scene);
        window.click("VRAM limit");
        answer(window, &scene);
    });
}

#[test]
fn long_names() {
    let mut scene = Scene::streamed();
    let name = "flux.1-dev-finetune-cinematic-landscapes-v4.2-final-merged-bf16 (community edition)";
    name.clone_into(&mut scene.forecast.model);
    scene.forecast.machine.device = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition".to_owned();
    check_with("long-names", &all_open(&scene), |window| {
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

/// A folder of images of several shapes, a clip and a broken file, all of one day.
fn an_exhibition() -> Kept {
    let kept = Kept::new();
    for number in 0..7_u32 {
        let (name, seed) = (format!("2026-11-21-{number:04}-{}.png", 7 * number), u64::from(7 * number));
        let size = [(96, 64), (64, 96), (80, 80)][number as usize % 3];
        kept.sized_image(&name, size, seed, "a calm lake between green hills at sunset", "flux1-dev");
    }
    kept.clip("2026-11-21-0007-5.mp4");
    kept.broken("a very long name of a file that another program could not write to its end.png");
    kept.on_one_day();
    kept
}

#[test]
fn gallery() {
    let kept = an_exhibition();
    let mut window = kept.open_sized([1280.0, 800.0], Theme::Dark);
    window.click("2026-11-21-0004-28.png");
    window.wait_for("the settings", |app| app.gallery().shelf.details.is_some());
    window.wait_for("thumbnails", |app| app.gallery().thumbnails.count() >= 8);
    drop(look(&mut window, "gallery-dark-1280"));
}

#[test]
fn models() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = library::opened(&[library::models(folder.path())]);
    library::answer(&mut window, |_| Scene::here());
    window.wait_for("the search", |app| matches!(app.state().library.search, Search::Ended(_)));
    drop(look(&mut window, "models-dark-1280"));
}

#[test]
fn palette() {
    check("palette", |window| {
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::K);
        window.frames();
    });
}

#[test]
fn queue() {
    check("queue", |window| {
        for prompt in ["a harbour in the evening", "a calm lake between green hills", "an old mill"] {
            window.replace("Prompt", prompt);
            window.click("Generate");
        }
        half_way(window, JobId(1));
        window.click("Queue 3");
    });
}

#[test]
fn grid() {
    check("grid", |window| {
        window.fill("Prompt", "a harbour in the evening, oil on canvas");
        window.click("Grid…");
    });
}

#[test]
fn compare() {
    check("compare", |window| {
        finished(window);
        window.click("Compare");
    });
}
