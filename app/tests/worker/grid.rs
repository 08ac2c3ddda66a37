//! A grid in a window whose engine is a process: both end, both start again, and the grid is composed.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use sluice::window::{
    action::{Action, Making},
    app::{Setup, SluiceApp},
    files::Files,
};
use sluice_engine::{
    output::read_settings,
    request::grid::{Axis, Grid, GridSetting},
    session::{Session, SessionOptions},
};

use super::{PATIENCE, program};

/// A window that is not drawn, with an engine in a process of its own.
struct Opened {
    ctx: egui::Context,
    app: SluiceApp,
}

impl Opened {
    fn new(data: &Path, pictures: &Path) -> Self {
        let options =
            SessionOptions { threads: Some(1), data: Some(data.to_owned()), ..SessionOptions::default() };
        let session = Session::in_process_of(vec![program()], None, options).unwrap();
        let files = Files::start(Arc::new(|| ())).unwrap();
        let mut setup = Setup::new(Box::new(session), files);
        (setup.folder, setup.places.data) = (Some(pictures.to_owned()), Some(data.to_owned()));
        let ctx = egui::Context::default();
        let app = SluiceApp::new(&ctx, setup);
        Self { ctx, app }
    }

    fn until(&mut self, what: &str, done: impl Fn(&SluiceApp) -> bool) {
        let start = Instant::now();
        while !done(&self.app) {
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
            let failures = &self.app.state().messages.failures;
            assert!(failures.is_empty(), "{failures:?}");
            std::thread::sleep(Duration::from_millis(2));
            self.app.take_events(&self.ctx);
        }
    }
}

fn files(folder: &Path, what: &str) -> Vec<PathBuf> {
    let all = folder.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path());
    all.filter(|path| path.to_string_lossy().contains(what)).collect()
}

#[test]
fn a_grid_goes_on_after_a_restart_and_is_composed() {
    let folder = tempfile::tempdir().unwrap();
    let (data, pictures) = (folder.path().join("data"), folder.path().join("pictures"));
    let steps = Axis::new(GridSetting::Steps, "3, 4, 60, 5").unwrap();
    let grid = Grid::new([Some(steps), None, None]).unwrap();

    let mut window = Opened::new(&data, &pictures);
    window.until("the starter", |app| app.state().can_generate());
    window.app.act(&window.ctx, Action::Make(Making::Grid(Box::new(grid))));
    assert_eq!(window.app.state().jobs.queue.len(), 4);
    window.until("the third image", |app| {
        let running = app.state().jobs.running();
        running.is_some_and(|(job, progress)| job.request().steps == 60 && progress.step >= 2)
    });
    let before = files(&pictures, ".png");
    assert_eq!(before.len(), 2, "{before:?}");
    drop(window);

    let mut window = Opened::new(&data, &pictures);
    window.until("what is unfinished", |app| app.state().jobs.unfinished.len() == 2);
    window.app.act(&window.ctx, Action::ResumeUnfinished);
    window.until("the end of the queue", |app| app.state().jobs.is_empty());
    window.until("the grid", |_| {
        files(&pictures, "-grid-").len() == 1 && files(&data.join("grids"), "").is_empty()
    });
    assert_eq!(files(&pictures, ".png").len(), 5, "four images and the grid");
    let path = files(&pictures, "-grid-").remove(0);
    let record = read_settings(&path).unwrap().settings.grid.unwrap();
    assert_eq!(record.axes[0], "steps: 3, 4, 60, 5");
    // Every cell is the image that was drawn for it: those from before the restart, too.
    let sheet = image::open(&path).unwrap().into_rgb8();
    for drawn in files(&pictures, ".png").iter().filter(|drawn| **drawn != path) {
        let image = image::open(drawn).unwrap().into_rgb8();
        let (width, height) = image.dimensions();
        let is_here = |x: u32, y: u32| {
            let view = image::imageops::crop_imm(&sheet, x, y, width, height);
            view.to_image() == image
        };
        let y = sheet.height() - height - 4;
        assert!((0..sheet.width() - width).any(|x| is_here(x, y)), "{} is in no cell", drawn.display());
    }
}
