//! Engines that are played by the tests.

use std::{path::Path, time::Duration};

use crossbeam_channel::Sender;

use super::*;
use crate::{
    memory::{DeviceChoice, MemoryPreferences},
    models::OpenedModels,
    request::Request,
    session::{Serving, actor::model_summary},
};

/// The other end of a session.
struct Played {
    commands: Receiver<Command>,
    events: Sender<Event>,
}

impl Played {
    fn new() -> (Session, Self) {
        let (outgoing, commands) = bounded(16);
        let (events, incoming) = bounded(16);
        (Session::new(outgoing, incoming, Vec::new()), Self { commands, events })
    }

    fn say(&self, event: Event) {
        self.events.send(event).unwrap();
    }

    fn serve(&self) {
        self.say(Event::Serving(Serving { engine: "CPU".to_owned(), process: 1, instead_of: None }));
    }

    fn next(&self) -> Command {
        self.commands.recv_timeout(Duration::from_secs(10)).expect("the engine is asked for nothing")
    }

    /// The job that it gets, after it has said that it has the model.
    fn whole_job(&self) -> Job {
        match self.next() {
            Command::Generate(job) => *job,
            Command::Load { model } => {
                self.has(&model);
                self.whole_job()
            }
            other => panic!("{other:?}"),
        }
    }

    fn job(&self) -> JobId {
        self.whole_job().id
    }

    fn is_idle(&self) -> bool {
        std::thread::sleep(Duration::from_millis(100));
        self.commands.is_empty()
    }

    fn finish(&self, job: JobId) {
        self.say(Event::Finished { job, pictures: Vec::new(), seconds: 1.0 });
    }

    fn has(&self, model: &ModelSource) {
        let summary = model_summary(model, &OpenedModels::new(Vec::new())).unwrap();
        self.say(Event::ModelLoaded(Box::new(summary)));
    }

    fn lacks(&self, model: &ModelSource) {
        let failure = Failure { message: "there is no such model".to_owned(), advice: None };
        self.say(Event::NotLoaded { model: model.clone(), failure });
    }

    fn fail(&self, job: Option<JobId>, message: &str) {
        self.say(Event::Failed { job, failure: Failure { message: message.to_owned(), advice: None } });
    }

    /// Ends as an engine that is given up.
    fn give_up(&self, job: Option<JobId>) {
        self.fail(None, "the connection is refused");
        if job.is_some() {
            self.fail(job, "the connection is refused");
        }
        self.say(Event::ShutDown);
    }

    /// Waits for the end of the session.
    fn shut_down(self) {
        while self.next() != Command::ShutDown {}
        self.say(Event::ShutDown);
    }
}

fn two() -> (Session, Played, Played) {
    let ((one, first), (other, second)) = (Played::new(), Played::new());
    let lanes = [one, other].map(|session| Lane { session, has_own_device: false });
    let session = Session::of_several(lanes.into(), SessionOptions::default()).unwrap();
    (session, first, second)
}

fn job(id: u64) -> Command {
    Command::Generate(Box::new(Job::new(JobId(id), Request::default())))
}

/// The next event that is not about queues and engines.
fn next(session: &Session) -> Event {
    loop {
        match session.events().recv_timeout(Duration::from_secs(10)).unwrap() {
            Event::Queued { .. } | Event::Assigned { .. } | Event::Serving(_) | Event::Restarting { .. } => {}
            Event::Lane { .. } => {}
            other => return other,
        }
    }
}

/// Waits for an event about the engines.
fn until(session: &Session, found: impl Fn(&Event) -> bool) {
    while !found(&session.events().recv_timeout(Duration::from_secs(10)).expect("it is not said")) {}
}

fn end(session: Session, played: Vec<Played>) {
    let ends: Vec<_> =
        played.into_iter().map(|played| std::thread::spawn(move || played.shut_down())).collect();
    drop(session);
    ends.into_iter().for_each(|end| end.join().unwrap());
}

#[test]
fn jobs_go_to_whichever_is_free_in_their_order() {
    let (session, first, second) = two();
    (1..=5).for_each(|id| session.send(job(id)).unwrap());
    second.serve();
    assert_eq!(second.job(), JobId(1));
    first.serve();
    assert_eq!(first.job(), JobId(2));
    assert!(second.is_idle(), "one job at a time");
    second.finish(JobId(1));
    assert_eq!(second.job(), JobId(3));
    second.finish(JobId(3));
    assert_eq!(second.job(), JobId(4));
    first.finish(JobId(2));
    assert_eq!(first.job(), JobId(5));
    let ended: Vec<Event> = (0..3).map(|_| next(&session)).collect();
    assert!(ended.iter().all(|event| matches!(event, Event::Finished { .. })), "{ended:?}");
    end(session, vec![first, second]);
}

#[test]
fn jobs_are_cancelled_where_they_are() {
    let (session, first, second) = two();
    first.serve();
    second.serve();
    (1..=3).for_each(|id| session.send(job(id)).unwrap());
    let (own, other) = (first.job(), second.job());
    session.send(Command::Cancel { job: JobId(3) }).unwrap();
    assert_eq!(next(&session), Event::Cancelled { job: JobId(3) });
    session.send(Command::Cancel { job: other }).unwrap();
    assert_eq!(second.next(), Command::Cancel { job: other });
    second.say(Event::Cancelled { job: other });
    assert_eq!(next(&session), Event::Cancelled { job: other });
    assert!(first.is_idle() && second.is_idle());
    first.finish(own);
    assert!(matches!(next(&session), Event::Finished { job, .. } if job == own));
    end(session, vec![first, second]);
}

#[test]
fn the_job_of_an_engine_that_is_given_up_goes_to_another_one() {
    let (session, first, second) = two();
    first.serve();
    session.send(job(1)).unwrap();
    assert_eq!(first.job(), JobId(1));
    second.serve();
    session.send(job(2)).unwrap();
    assert_eq!(second.job(), JobId(2));
    session.send(job(3)).unwrap();
    first.give_up(Some(JobId(1)));
    assert_eq!(next(&session), Event::Returned { job: JobId(1) });
    assert!(second.is_idle());
    second.finish(JobId(2));
    assert_eq!(second.job(), JobId(1), "before those that came later");
    second.finish(JobId(1));
    assert_eq!(second.job(), JobId(3));
    for id in [2, 1] {
        assert!(matches!(next(&session), Event::Finished { job, .. } if job == JobId(id)));
    }
    // When the last one is given up, so are the jobs.
    second.give_up(None);
    let events: Vec<Event> = (0..3).map(|_| next(&session)).collect();
    assert!(
        events.iter().any(|event| matches!(event, Event::Failed { job: Some(JobId(3)), .. })),
        "{events:?}"
    );
    assert!(events.iter().any(|event| matches!(event, Event::Failed { job: None, .. })), "{events:?}");
    assert_eq!(next(&session), Event::ShutDown);
}

#[test]
fn an_engine_without_the_model_gets_no_job_of_it() {
    let (session, first, second) = two();
    first.serve();
    second.serve();
    let model = Request::default().model;
    session.send(Command::Load { model: model.clone() }).unwrap();
    assert_eq!(first.next(), Command::Load { model: model.clone() });
    assert_eq!(second.next(), Command::Load { model: model.clone() });
    session.send(job(1)).unwrap();
    assert!(first.is_idle() && second.is_idle(), "nobody knows yet who has the model");
    first.lacks(&model);
    assert!(first.is_idle() && second.is_idle());
    session.send(job(2)).unwrap();
    second.lacks(&model);
    let Event::NotLoaded { model: missing, failure } = next(&session) else { panic!("nobody has it") };
    assert_eq!((missing, failure.message.as_str()), (model, "there is no such model"));
    for id in [1, 2] {
        let event = next(&session);
        assert!(matches!(event, Event::Failed { job: Some(job), .. } if job == JobId(id)), "{event:?}");
    }
    end(session, vec![first, second]);
}

#[test]
fn each_model_that_is_asked_for_is_answered() {
    let (session, first, second) = two();
    first.serve();
    second.serve();
    let (bad, good) = (ModelSource::Path("no such model.gguf".into()), ModelSource::Starter);
    for model in [&bad, &good] {
        session.send(Command::Load { model: model.clone() }).unwrap();
    }
    for engine in [&first, &second] {
        assert_eq!(engine.next(), Command::Load { model: bad.clone() });
        engine.lacks(&bad);
        assert_eq!(engine.next(), Command::Load { model: good.clone() });
        engine.has(&good);
    }
    let told = [next(&session), next(&session)];
    let is_missing = |event: &Event| matches!(event, Event::NotLoaded { model, .. } if *model == bad);
    let is_there = |event: &Event| matches!(event, Event::ModelLoaded(summary) if summary.source == good);
    assert!(told.iter().any(is_missing) && told.iter().any(is_there), "{told:?}");
    end(session, vec![first, second]);
}

#[test]
fn a_paused_queue_waits_and_a_failed_job_does_not_stop_others() {
    let (session, first, second) = two();
    session.send(Command::Pause { paused: true }).unwrap();
    first.serve();
    second.serve();
    (1..=3).for_each(|id| session.send(job(id)).unwrap());
    session.send(Command::Move { job: JobId(3), before: Some(JobId(1)) }).unwrap();
    assert!(first.is_idle() && second.is_idle());
    session.send(Command::Pause { paused: false }).unwrap();
    assert_eq!((first.job(), second.job()), (JobId(3), JobId(1)));
    first.fail(Some(JobId(3)), "no");
    assert!(matches!(next(&session), Event::Failed { job: Some(JobId(3)), .. }));
    assert_eq!(first.job(), JobId(2));
    end(session, vec![first, second]);
}

#[test]
fn a_model_that_nobody_asked_for_is_asked_for_before_its_job() {
    let (session, first, second) = two();
    first.serve();
    session.send(job(1)).unwrap();
    let model = Request::default().model;
    assert_eq!(first.next(), Command::Load { model: model.clone() });
    first.lacks(&model);
    until(&session, |event| matches!(event, Event::Lane { lane: 0, change: LaneChange::Lacks(..) }));
    assert!(first.is_idle(), "the other one is waited for");
    second.serve();
    assert_eq!(second.job(), JobId(1));
    second.finish(JobId(1));
    assert!(matches!(next(&session), Event::Finished { job: JobId(1), .. }));
    // It may have been copied there meanwhile.
    session.send(Command::Load { model: model.clone() }).unwrap();
    session.send(job(2)).unwrap();
    assert_eq!(first.job(), JobId(2));
    end(session, vec![first, second]);
}

#[test]
fn a_job_that_is_cancelled_while_its_engine_is_lost_stays_cancelled() {
    let (session, first, second) = two();
    first.serve();
    session.send(job(1)).unwrap();
    assert_eq!(first.job(), JobId(1));
    session.send(Command::Cancel { job: JobId(1) }).unwrap();
    assert_eq!(first.next(), Command::Cancel { job: JobId(1) });
    first.give_up(Some(JobId(1)));
    assert_eq!(next(&session), Event::Cancelled { job: JobId(1) });
    drop(first);
    second.serve();
    session.send(job(2)).unwrap();
    assert_eq!(second.job(), JobId(2));
    end(session, vec![second]);
}

#[test]
fn the_engine_that_is_seen_makes_forecasts_and_reports_its_hardware() {
    let ((one, first), (other, second)) = (Played::new(), Played::new());
    let lanes =
        vec![Lane { session: one, has_own_device: false }, Lane { session: other, has_own_device: true }];
    let session = Session::of_several(lanes, SessionOptions::default()).unwrap();
    first.serve();
    second.serve();
    until(&session, |event| matches!(event, Event::Lane { lane: 1, change: LaneChange::Serves(_) }));
    let memory = MemoryPreferences { device: DeviceChoice::Gpu(2), ..MemoryPreferences::default() };
    let query = |id| {
        let (request, memory) = (Request::default(), memory.clone());
        Box::new(PlanQuery { id, subject: PlanSubject::Model, request, memory })
    };
    session.send(Command::Plan(query(1))).unwrap();
    assert_eq!(first.next(), Command::Plan(query(1)));
    session.send(Command::Show { lane: 1 }).unwrap();
    session.send(Command::Plan(query(2))).unwrap();
    let Command::Plan(asked) = second.next() else { panic!("no forecast") };
    assert_eq!((asked.id, asked.memory.device), (2, DeviceChoice::Auto), "its own GPU has another number");
    let Command::Generate(wanted) = job(3) else { panic!("no job") };
    session.send(Command::Generate(Box::new(Job { memory: memory.clone(), ..*wanted.clone() }))).unwrap();
    session.send(Command::Generate(Box::new(Job { id: JobId(4), memory, ..*wanted }))).unwrap();
    assert_eq!(first.whole_job().memory.device, DeviceChoice::Gpu(2));
    assert_eq!(second.whole_job().memory.device, DeviceChoice::Auto);
    end(session, vec![first, second]);
}

#[test]
fn jobs_that_wait_or_run_are_kept_for_the_next_session() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let (one, first) = Played::new();
        let lanes = vec![Lane { session: one, has_own_device: false }];
        let data = Some(folder.path().to_owned());
        (Session::of_several(lanes, SessionOptions { data, ..SessionOptions::default() }).unwrap(), first)
    };
    let (session, first) = start();
    first.serve();
    (1..=3).for_each(|id| session.send(job(id)).unwrap());
    assert!(first.whole_job().journal.is_some_and(|journal| journal.starts_with(folder.path())));
    session.send(Command::Cancel { job: JobId(2) }).unwrap();
    assert_eq!(next(&session), Event::Cancelled { job: JobId(2) });
    let ending = std::thread::spawn(move || {
        while first.next() != Command::ShutDown {}
        first.say(Event::Cancelled { job: JobId(1) });
        first.say(Event::ShutDown);
    });
    drop(session);
    ending.join().unwrap();
    let (session, first) = start();
    let Event::Unfinished { jobs } = next(&session) else { panic!("the jobs are lost") };
    assert_eq!(jobs.iter().map(|job| job.id.0).collect::<Vec<_>>(), [1, 3]);
    session.send(Command::Forget).unwrap();
    end(session, vec![first]);
    let (session, first) = start();
    first.serve();
    assert!(matches!(session.events().recv().unwrap(), Event::Lane { .. }), "nothing is left");
    end(session, vec![first]);
}

#[test]
fn the_job_of_an_engine_that_is_away_for_long_goes_to_another_one() {
    let (session, first, second) = two();
    first.serve();
    second.serve();
    (1..=3).for_each(|id| session.send(job(id)).unwrap());
    assert_eq!((first.job(), second.job()), (JobId(1), JobId(2)));
    let failure = Failure { message: "the connection broke".to_owned(), advice: None };
    first.say(Event::Restarting { failure: failure.clone() });
    // It is back soon, and keeps its job.
    first.serve();
    assert!(first.is_idle());
    std::thread::sleep(2 * LOST);
    assert!(first.is_idle());
    first.say(Event::Restarting { failure });
    assert_eq!(first.next(), Command::Cancel { job: JobId(1) });
    second.finish(JobId(2));
    assert_eq!(second.job(), JobId(1), "before the job that came later");
    // What it did meanwhile is not heard.
    first.say(Event::Cancelled { job: JobId(1) });
    first.serve();
    assert_eq!(first.job(), JobId(3));
    second.finish(JobId(1));
    first.finish(JobId(3));
    let told: Vec<Event> = (0..4).map(|_| next(&session)).collect();
    assert!(told.contains(&Event::Returned { job: JobId(1) }), "{told:?}");
    assert!(!told.iter().any(|event| matches!(event, Event::Cancelled { .. })), "{told:?}");
    end(session, vec![first, second]);
}

#[test]
fn each_engine_lists_its_own_models() {
    let (session, first, second) = two();
    session.send(Command::List { lane: 1 }).unwrap();
    session.send(Command::List { lane: 0 }).unwrap();
    let listed =
        |folder: &str| Event::Listed { lane: 0, folders: vec![folder.into()], inventory: Box::default() };
    for (lane, played, folder) in [(1, &second, "/cellar"), (0, &first, "/attic")] {
        assert!(matches!(played.next(), Command::List { .. }));
        played.say(listed(folder));
        until(
            &session,
            |event| matches!(event, Event::Listed { lane: own, folders, .. } if *own == lane && folders[0] == Path::new(folder)),
        );
    }
    // One that is gone is not waited for.
    second.give_up(None);
    until(&session, |event| matches!(event, Event::Lane { lane: 1, change: LaneChange::GivenUp(_) }));
    session.send(Command::List { lane: 1 }).unwrap();
    assert!(matches!(first.next(), Command::List { .. }));
    drop(second);
    end(session, vec![first]);
}
