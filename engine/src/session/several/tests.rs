//! Engines that are played by the tests.

use std::time::Duration;

use crossbeam_channel::Sender;

use super::*;
use crate::{request::Request, session::event::Serving};

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

    /// The job that it gets.
    fn job(&self) -> JobId {
        match self.next() {
            Command::Generate(job) => job.id,
            other => panic!("{other:?}"),
        }
    }

    fn is_idle(&self) -> bool {
        std::thread::sleep(Duration::from_millis(100));
        self.commands.is_empty()
    }

    fn finish(&self, job: JobId) {
        self.say(Event::Finished { job, pictures: Vec::new(), seconds: 1.0 });
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
    let session = Session::of_several(vec![one, other], Box::new(|| ())).unwrap();
    (session, first, second)
}

fn job(id: u64) -> Command {
    Command::Generate(Box::new(Job::new(JobId(id), Request::default())))
}

/// The next event that is not about queues and engines.
fn next(session: &Session) -> Event {
    loop {
        match session.events().recv_timeout(Duration::from_secs(10)).unwrap() {
            Event::Queued { .. } | Event::Serving(_) | Event::Restarting { .. } => {}
            other => return other,
        }
    }
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
    let events: Vec<Event> = (0..2).map(|_| next(&session)).collect();
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
    assert_eq!(second.next(), Command::Load { model });
    session.send(job(1)).unwrap();
    assert!(first.is_idle() && second.is_idle(), "nobody knows yet who has the model");
    first.fail(None, "there is no such model");
    assert!(first.is_idle() && second.is_idle());
    session.send(job(2)).unwrap();
    second.fail(None, "there is no such model");
    let Event::Failed { job: None, failure } = next(&session) else { panic!("nobody has it") };
    assert_eq!(failure.message, "there is no such model");
    for id in [1, 2] {
        let event = next(&session);
        assert!(matches!(event, Event::Failed { job: Some(job), .. } if job == JobId(id)), "{event:?}");
    }
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
