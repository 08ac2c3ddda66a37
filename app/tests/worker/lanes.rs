//! Several engines that share a queue: processes of this computer, one of them behind a command.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use sluice_engine::{
    request::{ModelSource, Request},
    session::{Command, Event, Job, JobId, Lane, LaneChange, Session, SessionOptions, WorkerProgram},
};
use sluice_tools::{Likeness, RandomDtype};

use super::{Engine, elsewhere::command, job, kill, pixels, program, request};

fn options() -> SessionOptions {
    SessionOptions { threads: Some(1), keeps_jobs: false, ..SessionOptions::default() }
}

/// One of this computer and others behind commands.
fn share(local: WorkerProgram, others: Vec<WorkerProgram>, data: &Path) -> Engine {
    let here = SessionOptions { data: Some(data.to_owned()), ..options() };
    let mut sessions = vec![Session::in_process_of(vec![local], None, here).unwrap()];
    sessions.extend(others.into_iter().map(|command| Session::behind(command, options()).unwrap()));
    let lanes = sessions.into_iter().map(|session| Lane { session, has_own_device: true }).collect();
    Engine { session: Session::of_several(lanes, options()).unwrap(), process: 0, restarts: Vec::new() }
}

fn variant(number: u64) -> Job {
    job(number, Request { seed: number, steps: 6, ..request() })
}

/// The pixels of each job and the engine that made it, until all have ended.
fn collect(engine: &mut Engine, count: usize) -> BTreeMap<u64, (usize, Vec<u8>)> {
    let (mut lanes, mut done) = (BTreeMap::new(), BTreeMap::new());
    while done.len() < count {
        match engine.next() {
            Event::Assigned { job, lane } => drop(lanes.insert(job.0, lane)),
            Event::Finished { job, pictures, .. } => {
                done.insert(job.0, (lanes[&job.0], pixels(&pictures).concat()));
            }
            Event::Failed { job: Some(job), failure } => panic!("{job:?}: {failure:?}"),
            _ => {}
        }
    }
    done
}

/// What one engine makes of them.
fn alone(numbers: impl Iterator<Item = u64>) -> BTreeMap<u64, Vec<u8>> {
    let data = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(data.path());
    numbers
        .map(|number| {
            engine.generate(&variant(number));
            (number, pixels(&engine.pictures(JobId(number))).concat())
        })
        .collect()
}

/// Waits until both serve.
fn both(engine: &mut Engine) {
    let mut serving = [false; 2];
    while serving != [true; 2] {
        if let Event::Lane { lane, change: LaneChange::Serves(_) } = engine.next() {
            serving[lane] = true;
        }
    }
}

#[test]
fn two_engines_share_ten_jobs_and_make_what_one_makes() {
    let (data, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut engine = share(program(), vec![command(there.path())], data.path());
    both(&mut engine);
    (1..=10).for_each(|number| engine.generate(&variant(number)));
    let done = collect(&mut engine, 10);
    let of = |lane: usize| done.values().filter(|(own, _)| *own == lane).count();
    assert!(of(0) >= 2 && of(1) >= 2, "{} and {}", of(0), of(1));
    assert_eq!(
        done.into_iter().map(|(number, (_, pixels))| (number, pixels)).collect::<BTreeMap<_, _>>(),
        alone(1..=10)
    );
}

#[test]
fn a_job_is_cancelled_at_its_engine_and_the_others_go_on() {
    let (data, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut engine = share(program(), vec![command(there.path())], data.path());
    both(&mut engine);
    let long = |number| job(number, Request { steps: 400, ..request() });
    engine.generate(&long(1));
    engine.generate(&long(2));
    engine.generate(&variant(3));
    let mut moving = [false; 2];
    while moving != [true; 2] {
        if let Event::Step { job, .. } = engine.next() {
            moving[job.0 as usize - 1] = true;
        }
    }
    engine.send(Command::Cancel { job: JobId(2) });
    engine.until(|event| matches!(event, Event::Cancelled { job: JobId(2) }));
    assert_eq!(pixels(&engine.pictures(JobId(3))).concat(), alone(3..=3)[&3]);
    engine.send(Command::Cancel { job: JobId(1) });
    engine.until(|event| matches!(event, Event::Cancelled { job: JobId(1) }));
}

/// The program starts once, and after its end no more.
fn mortal(folder: &Path) -> WorkerProgram {
    let flag = folder.join("has run");
    let script = format!(
        "test -e '{0}' && exit 1; touch '{0}'; exec '{1}' worker --own",
        flag.display(),
        env!("CARGO_BIN_EXE_sluice")
    );
    WorkerProgram {
        engine: "CPU".to_owned(),
        path: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
        variables: Vec::new(),
    }
}

#[test]
fn the_job_of_a_dead_engine_is_made_by_the_other_one() {
    let (data, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut engine = share(mortal(data.path()), vec![command(there.path())], data.path());
    let mut process = 0;
    let mut serving = 0;
    while serving < 2 {
        if let Event::Lane { lane, change: LaneChange::Serves(served) } = engine.next() {
            serving += 1;
            process = if lane == 0 { served.process } else { process };
        }
    }
    engine.send(Command::Load { model: request().model });
    let mut having = 0;
    while having < 2 {
        having += usize::from(matches!(engine.next(), Event::Lane { change: LaneChange::Has(_), .. }));
    }
    let long = Request { seed: 1, steps: 60, ..request() };
    engine.generate(&job(1, long.clone()));
    (2..=4).for_each(|number| engine.generate(&variant(number)));
    engine.until(|event| matches!(event, Event::Step { job: JobId(1), step: 5, .. }));
    kill(process);
    let gone = engine.until(|event| matches!(event, Event::Returned { .. } | Event::Failed { .. }));
    assert_eq!(gone, Event::Returned { job: JobId(1) });
    let pictures = engine.pictures(JobId(1));
    assert_eq!(pixels(&pictures), pixels(&super::undisturbed(&long)));
    // What comes later is made, too.
    engine.generate(&variant(5));
    assert_eq!(pixels(&engine.pictures(JobId(5))).concat(), alone(5..=5)[&5]);
}

/// The command of an engine whose relative paths begin in a folder.
fn within(there: &Path) -> WorkerProgram {
    let WorkerProgram { mut arguments, .. } = command(there);
    arguments.splice(0..0, [OsString::from("-C"), there.into()]);
    WorkerProgram { arguments, ..command(there) }
}

#[test]
fn jobs_go_where_their_model_is_or_say_that_it_is_nowhere() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let sessions = folders.iter().map(|folder| Session::behind(within(folder.path()), options()).unwrap());
    let lanes = sessions.map(|session| Lane { session, has_own_device: true }).collect();
    let session = Session::of_several(lanes, options()).unwrap();
    let mut engine = Engine { session, process: 0, restarts: Vec::new() };
    both(&mut engine);
    let model = folders[1].path().join("tiny");
    assert!(
        Likeness::of("sd1.5").unwrap().tiny().write(&model, RandomDtype::F32, Some(1), |_| true).unwrap()
    );
    let of = |number, model: &str| {
        let model = ModelSource::Path(model.into());
        job(number, Request { model, steps: 2, width: 64, height: 64, seed: number, ..request() })
    };
    (1..=3).for_each(|number| engine.generate(&of(number, "tiny")));
    let done = collect(&mut engine, 3);
    assert!(done.values().all(|(lane, _)| *lane == 1), "the other one does not have it");
    engine.generate(&of(4, "nowhere"));
    let event =
        engine.until(|event| matches!(event, Event::Failed { job: Some(_), .. } | Event::Finished { .. }));
    let Event::Failed { job: Some(JobId(4)), failure } = event else { panic!("{event:?}") };
    assert!(failure.message.contains("nowhere"), "{failure:?}");
    // Both engines are still there.
    (5..=8).for_each(|number| engine.generate(&variant(number)));
    assert_eq!(collect(&mut engine, 4).len(), 4);
}
