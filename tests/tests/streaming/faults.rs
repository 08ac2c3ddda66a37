//! Files that vanish, and reports that cannot be written.

use std::{fs, path::PathBuf};

use sluice_engine::{
    request::Request,
    session::{Command, Event, Job, Reports},
};
use sluice_tests::runner::Runner;

use super::support::{Copy, Tiny, card, passing_through, run, run_dumped};

/// The largest weight file of the denoiser.
fn weights(copy: &Copy) -> PathBuf {
    let folder = copy.folder.path().join("transformer");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let weights = files.filter(|file| file.extension().is_some_and(|extension| extension == "safetensors"));
    weights.max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap()
}

#[test]
fn a_file_that_is_cut_off_during_a_run_is_named_and_the_next_job_runs() {
    let copy = Copy::new();
    let mut runner = Runner::start().unwrap();
    let file = weights(&copy);
    let whole = fs::read(&file).unwrap();
    let long = Request { steps: 400, ..copy.request.clone() };
    let job = Job { memory: passing_through(), ..runner.job(long.clone()) };
    let id = job.id;
    runner.send(Command::Generate(Box::new(job))).unwrap();
    while !matches!(runner.event().unwrap(), Event::Step { step: 2.., .. }) {}
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(whole.len() as u64 / 4).unwrap();
    let failure = runner.wait(id).unwrap().failure().unwrap();
    assert!(failure.message.contains("is incomplete"), "{}", failure.message);
    assert!(failure.message.contains(file.file_name().unwrap().to_str().unwrap()), "{}", failure.message);
    assert!(failure.advice.is_some());

    fs::write(&file, whole).unwrap();
    let memory = passing_through();
    run(&mut runner, &copy.request, &memory);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_deleted_during_a_run_is_read_to_the_end() {
    let copy = Copy::new();
    let mut runner = Runner::start().unwrap();
    let long = Request { steps: 40, ..copy.request.clone() };
    let memory = passing_through();
    let want = run_dumped(&mut runner, &long, &memory);
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.safetensors");
    let job = Job { memory: passing_through(), dump: Some(dump.clone()), ..runner.job(long.clone()) };
    let id = job.id;
    runner.send(Command::Generate(Box::new(job))).unwrap();
    while !matches!(runner.event().unwrap(), Event::Step { step: 2.., .. }) {}
    fs::remove_file(weights(&copy)).unwrap();
    runner.wait(id).unwrap().pictures().unwrap();
    let got = sluice_tests::checkpoint::load(&dump).unwrap();
    super::support::assert_same(&got, &want.tensors, "a file that is gone");
}

#[test]
fn reports_that_cannot_be_written_are_refused_before_the_run() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let reports = Reports { telemetry: Some(tiny.model.join("missing/telemetry.jsonl")), trace: None };
    let job = Job { reports, ..runner.job(tiny.request.clone()) };
    let failure = runner.run(job).unwrap().failure().unwrap();
    assert!(failure.message.contains("telemetry.jsonl"), "{}", failure.message);
    run(&mut runner, &tiny.request, &card());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_the_report_and_not_the_picture() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let reports = Reports { telemetry: Some(PathBuf::from("/dev/full")), trace: None };
    let job = Job { reports, ..runner.job(tiny.request.clone()) };
    let failure = runner.run(job).unwrap().failure().unwrap();
    assert!(failure.message.contains("/dev/full"), "{}", failure.message);
    run(&mut runner, &tiny.request, &card());
}
