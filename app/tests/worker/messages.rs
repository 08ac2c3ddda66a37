//! Every message of a small job fails once, in turn.

use std::{
    io::{self, Read},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use sluice_engine::{
    request::Request,
    session::{Event, JobId, Picture, Session, SessionOptions, WorkerProgram},
};

use super::{
    Engine,
    connection::{Pass, all, connection, relay},
    elsewhere::with_input,
    job, pixels, request, undisturbed,
};

/// Bytes before a record: its length and its checksum.
const PREFIX: usize = 12;

/// What happens to a message.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// The connection ends before it.
    Lost,
    /// The connection ends in the middle of it.
    Cut,
    /// A bit of it changes.
    Damaged,
}

const FAULTS: [Fault; 3] = [Fault::Lost, Fault::Cut, Fault::Damaged];

/// Passes messages on. That of this number fails, once in the life of `happened`.
fn failing(number: usize, fault: Fault, happened: Arc<AtomicBool>) -> Pass {
    Arc::new(move |from, to| {
        for passed in 0.. {
            let Ok(mut message) = message(from) else { return };
            let fails = passed == number && !happened.swap(passed == number, Ordering::SeqCst);
            let goes_on = match fault {
                Fault::Lost if fails => false,
                Fault::Cut if fails => {
                    let _ = to.write_all(&message[..message.len() / 2]);
                    false
                }
                Fault::Damaged if fails => {
                    let middle = PREFIX + (message.len() - PREFIX) / 2;
                    message[middle] ^= 1;
                    to.write_all(&message).is_ok()
                }
                _ => to.write_all(&message).is_ok(),
            };
            if !goes_on || to.flush().is_err() {
                return;
            }
        }
    })
}

fn message(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; PREFIX];
    from.read_exact(&mut bytes)?;
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    bytes.resize(PREFIX + length, 0);
    from.read_exact(&mut bytes[PREFIX..])?;
    Ok(bytes)
}

/// An engine that serves, or why it does not.
fn serving(command: WorkerProgram) -> Result<Engine, String> {
    let options = SessionOptions { threads: Some(1), ..SessionOptions::default() };
    let session = Session::behind(command, options).unwrap();
    let mut engine = Engine { session, process: 0, restarts: Vec::new() };
    loop {
        match engine.next() {
            Event::Serving(_) => return Ok(engine),
            Event::Failed { failure, .. } => return Err(failure.message),
            _ => {}
        }
    }
}

/// The images of a job, or why there are none.
fn end(engine: &mut Engine, id: JobId) -> Result<Vec<Picture>, String> {
    loop {
        match engine.next() {
            Event::Finished { job, pictures, .. } if job == id => return Ok(pictures),
            Event::Failed { job, failure } if job.is_none_or(|job| job == id) => return Err(failure.message),
            _ => {}
        }
    }
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// In the same image.
    Same,
    /// In words.
    Told,
    /// Before the message that was to fail.
    Before,
}

/// The jobs, and what they draw.
struct Jobs {
    first: Request,
    expected: Vec<Picture>,
    next: Request,
    expected_next: Vec<Picture>,
}

impl Jobs {
    /// Lets a message to or from the worker fail, and draws the next image afterwards.
    fn run(&self, number: usize, fault: Fault, to_worker: bool) -> Ended {
        let there = tempfile::tempdir().unwrap();
        let happened = Arc::new(AtomicBool::new(false));
        let what = format!("message {number}, {fault:?}, to the worker: {to_worker}");
        let broken = failing(number, fault, Arc::clone(&happened));
        let ways = if to_worker { [broken, all()] } else { [all(), broken] };
        let (command, listener) = connection();
        let home = there.path().to_owned();
        thread::spawn(move || {
            loop {
                relay(&listener, &home, ways.clone());
            }
        });
        let (engine, result) = match serving(command.clone()) {
            Ok(mut engine) => {
                engine.generate(&job(1, self.first.clone()));
                let result = end(&mut engine, JobId(1));
                (Some(engine), result)
            }
            Err(words) => (None, Err(words)),
        };
        if !happened.load(Ordering::SeqCst) {
            return Ended::Before;
        }
        let ended = match result {
            Ok(pictures) => {
                assert_eq!(pixels(&pictures), pixels(&self.expected), "{what}");
                Ended::Same
            }
            Err(words) => {
                assert!(!words.is_empty(), "{what}");
                println!("{what}: {words}");
                Ended::Told
            }
        };
        let mut engine = engine.map_or_else(|| serving(command), Ok).expect("a second try");
        engine.generate(&job(2, self.next.clone()));
        let pictures = end(&mut engine, JobId(2)).unwrap_or_else(|words| panic!("{what}: {words}"));
        assert_eq!(pixels(&pictures), pixels(&self.expected_next), "{what}");
        ended
    }
}

/// Each job ends in the same image or in words, and the next one runs. Each message to the worker fails in each way, each of
/// the many from it in one way.
#[test]
fn whichever_message_fails_nothing_is_lost() {
    /// Most of the time goes into waiting for the next worker.
    const AT_ONCE: usize = 12;
    let here = tempfile::tempdir().unwrap();
    let first = Request { steps: 3, width: 64, height: 64, ..with_input(here.path()) };
    let next = Request { prompt: "a sailboat".to_owned(), steps: 1, width: 64, height: 64, ..request() };
    let (expected, expected_next) = (undisturbed(&first), undisturbed(&next));
    let jobs = &Jobs { first, expected, next, expected_next };
    for to_worker in [true, false] {
        let mut all = Vec::new();
        while !all.contains(&Ended::Before) {
            let cases = all.len()..all.len() + AT_ONCE;
            all.extend(thread::scope(|scope| {
                let run = |case: usize| {
                    let number = if to_worker { case / FAULTS.len() } else { case };
                    let thread = thread::Builder::new().name(format!("message {number}"));
                    let fault = FAULTS[case % FAULTS.len()];
                    thread.spawn_scoped(scope, move || jobs.run(number, fault, to_worker)).unwrap()
                };
                let runs: Vec<_> = cases.map(run).collect();
                runs.into_iter().map(|run| run.join().unwrap()).collect::<Vec<_>>()
            }));
        }
        let count = |kind: Ended| all.iter().filter(|ended| **ended == kind).count();
        let (same, told) = (count(Ended::Same), count(Ended::Told));
        println!("to the worker: {to_worker}: {same} went on with the same bytes, {told} ended in words");
        let before_it_serves = 2 * FAULTS.len();
        assert!(same >= 6 && told <= before_it_serves, "only a connection that never served ends in words");
    }
}
