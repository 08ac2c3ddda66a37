//! The starter, streamed through a simulated GPU that is too small for it, in a window with a real engine. If
//! `SLUICE_SCREENSHOTS` is set to a folder, images of the window are written there.

use std::{
    env,
    path::PathBuf,
    time::{Duration, Instant},
};

use egui::Theme;
use egui_kittest::kittest::Queryable;
use sluice::window::{
    app::SluiceApp,
    settings::{MemorySettings, Settings as WindowSettings},
};
use sluice_engine::{
    memory::{DeviceChoice, MemoryPreferences, OffloadMode, Residence},
    session::{Session, SessionOptions},
};

use super::support::{Window, optimize};

const PATIENCE: Duration = Duration::from_secs(240);

fn window(theme: Theme, vram_budget: Option<u64>) -> Window {
    let preferences = MemoryPreferences {
        mode: OffloadMode::LayerStreaming,
        denoiser: Some(Residence::OnDemand),
        device: DeviceChoice::Simulated("rtx-4060".to_owned()),
        vram_budget,
        ..MemoryPreferences::default()
    };
    let memory = MemorySettings { preferences, plan_open: Some(true), timeline_open: true };
    let session = Session::start(SessionOptions::default()).unwrap();
    let size = if theme == Theme::Dark { [1920.0, 1080.0] } else { [1280.0, 800.0] };
    Window::open(size, theme, |setup| {
        setup.link = Box::new(session);
        setup.settings = Some(WindowSettings { memory, ..WindowSettings::default() });
    })
}

fn until(window: &mut Window, what: &str, done: impl Fn(&SluiceApp) -> bool) {
    let start = Instant::now();
    while !done(window.harness.state()) {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        let failures = &window.harness.state().state().messages.failures;
        assert!(failures.is_empty(), "{failures:?}");
        std::thread::sleep(Duration::from_millis(5));
        window.harness.step();
    }
}

fn keep(window: &mut Window, name: &str) {
    let Some(folder) = env::var_os("SLUICE_SCREENSHOTS") else { return };
    window.harness.step();
    let path = PathBuf::from(folder).join(name);
    window.seen().save(&path).unwrap();
    optimize(&path);
}

/// The smallest budget for the starter, according to the engine.
fn least() -> u64 {
    let mut window = window(Theme::Dark, None);
    until(&mut window, "a forecast", |app| app.state().planning.forecast().is_some());
    window.harness.state().state().planning.forecast().unwrap().least_device.expect("some budget is enough")
}

#[test]
fn a_streamed_run_is_planned_watched_and_compared() {
    let budget = least() / 100 * 115;
    for (theme, shade) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
        let mut window = window(theme, Some(budget));
        window.fill("Prompt", "a small red boat on a calm sea at sunset");
        // So many that the run still goes on when the window is looked at.
        window.harness.get_all_by_label("Steps").last().unwrap().set_value_accesskit(100.0);
        window.frames();
        until(&mut window, "a plan", |app| {
            let planning = &app.state().planning;
            planning.plan().is_some_and(|plan| plan.peak_device() <= budget) && !planning.is_asking()
        });
        window.click("Generate");
        let steps = |app: &SluiceApp, at_least: u32| {
            let run = app.state().watches.run.as_ref();
            run.and_then(|run| run.history.last_step()).is_some_and(|step| step.step >= at_least)
        };
        until(&mut window, "the first steps", |app| steps(app, 6));
        assert!(window.shows("in this run") && window.shows(" streamed"));
        keep(&mut window, &format!("streaming-{shade}.png"));
        until(&mut window, "the comparison", |app| {
            app.state().watches.outcome.is_some() && !app.state().images.recents.is_empty()
        });
        until(&mut window, "the next forecast", |app| !app.state().planning.is_asking());
        keep(&mut window, &format!("streamed-{shade}.png"));
        window.click("Details");
        assert!(window.shows("Last run") && window.shows("in the last run"));
        let watches = &window.harness.state().state().watches;
        let measured = watches.run.as_ref().unwrap().history.peaks().device;
        assert!(0 < measured && measured <= budget, "{measured} of {budget}");
        let outcome = watches.outcome.as_ref().unwrap();
        assert!(outcome.measured_device <= budget, "{outcome:?} of {budget}");
    }
}
