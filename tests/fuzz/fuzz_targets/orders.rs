//! Lists of jobs, as `sluice batch` reads them: their lines, and the requests that their first jobs become.
#![no_main]

use std::{path::Path, sync::LazyLock};

use sluice::{
    cli::batch::tasks::parse,
    orders::{Inputs, Shelf},
};
use sluice_engine::{
    models::{Remembered, open},
    pipeline::summarise,
    request::ModelSource,
    session::ModelSummary,
};

/// Jobs of a line. More of them are slower, and no different.
const JOBS: usize = 100;
/// Jobs that become requests.
const REQUESTS: usize = 4;

static SHELF: LazyLock<Shelf> = LazyLock::new(|| Shelf::of(&[], &mut Remembered::default()).with_paths());
static SUMMARY: LazyLock<ModelSummary> = LazyLock::new(|| {
    let source = ModelSource::Starter;
    let model = open(&source.resolve().expect("the starter model is there"), &[]).expect("it can be opened");
    summarise(&model, &source).expect("it has a summary")
});

libfuzzer_sys::fuzz_target!(|text: &str| {
    let base = Path::new("/nowhere");
    let Ok(tasks) = parse(text, base, JOBS) else { return };
    for task in &tasks {
        assert!(task.order.seed.is_some(), "a job has no seed");
    }
    for task in tasks.iter().take(REQUESTS) {
        let mut inputs = Inputs::of_files_in(base).expect("a temporary folder");
        // An error is as good as a request.
        let _ = task.order.source(&SHELF, &ModelSource::Starter);
        let _ = task.order.request(&SUMMARY, &SHELF, &mut inputs);
    }
});
