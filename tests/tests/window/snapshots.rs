//! What the window looks like. `UPDATE_SNAPSHOTS=1` writes the pictures anew; look at them before committing.

use egui::Theme;
use egui_kittest::SnapshotResults;
use sluice_engine::session::{Event, JobId};

use super::support::{Window, failure, half_way, machine, picture, starter};

const SIZES: [([f32; 2], &str); 2] = [([1280.0, 800.0], "1280"), ([1920.0, 1080.0], "1920")];
const THEMES: [(Theme, &str); 2] = [(Theme::Dark, "dark"), (Theme::Light, "light")];

fn in_every_look(state: &str, script: impl Fn(&mut Window)) {
    let mut results = SnapshotResults::new();
    for (size, width) in SIZES {
        for (theme, shade) in THEMES {
            let mut window = Window::open(size, theme, |_| ());
            window.says(Event::Hardware(machine()));
            window.says(Event::ModelLoaded(Box::new(starter())));
            script(&mut window);
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
