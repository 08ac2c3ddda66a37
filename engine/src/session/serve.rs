//! A session served over two pipes: what a worker process runs.

use std::{
    io::{Read, Write},
    thread,
    time::Duration,
};

use crossbeam_channel::RecvTimeoutError;

use super::{
    Command, Session, SessionOptions, Unsent,
    protocol::{FromWorker, Hello, SIGN_OF_LIFE, ToWorker},
};
use crate::wire::{WireError, read_record, write_record};

/// Why a worker ends early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The pipe from the window failed.
    #[error("the messages from the window cannot be read: {0}")]
    Pipe(#[from] WireError),
    /// The first message was not a greeting.
    #[error("the window did not begin with a greeting")]
    NoHello,
    /// The threads could not be started.
    #[error("the engine's threads could not be started: {0}")]
    Threads(std::io::Error),
    /// The engine's threads ended before the window did.
    #[error("the engine has ended")]
    Ended,
}

/// Serves a session until the pipes are closed or a command ends it.
///
/// # Errors
/// When the input is not a valid message. A running job is cancelled.
pub fn serve(mut input: impl Read, mut output: impl Write + Send + 'static) -> Result<(), ServeError> {
    write_record(&mut output, &FromWorker::Hello(Hello::own()))?;
    match read_record(&mut input)? {
        Some(ToWorker::Hello(hello)) if hello == Hello::own() => {}
        // The window sees from our hello that the versions differ.
        Some(ToWorker::Hello(_)) | None => return Ok(()),
        Some(_) => return Err(ServeError::NoHello),
    }
    let options = match read_record(&mut input)? {
        Some(ToWorker::Start { threads, hardware, data, model_folders, prompt_folders }) => {
            let folders = SessionOptions { model_folders, prompt_folders, ..SessionOptions::default() };
            SessionOptions { threads, hardware, data, ends_with_card: true, ..folders }
        }
        None => return Ok(()),
        Some(_) => return Err(ServeError::NoHello),
    };
    let session = Session::start(options).map_err(ServeError::Threads)?;
    let events = session.events().clone();
    let writer = thread::Builder::new()
        .name("sluice-worker-events".to_owned())
        .spawn(move || {
            loop {
                let message = match events.recv_timeout(SIGN_OF_LIFE) {
                    Ok(event) => FromWorker::Event(Box::new(event)),
                    Err(RecvTimeoutError::Timeout) => FromWorker::Alive,
                    Err(RecvTimeoutError::Disconnected) => return,
                };
                if let Err(error) = write_record(&mut output, &message) {
                    // Nobody receives the images.
                    tracing::error!(%error, "the window is gone");
                    std::process::exit(1);
                }
            }
        })
        .map_err(ServeError::Threads)?;
    let result = obey(&mut input, &session);
    drop(session);
    if writer.join().is_err() {
        tracing::error!("the thread for events panicked");
    }
    result
}

fn obey(input: &mut impl Read, session: &Session) -> Result<(), ServeError> {
    while let Some(message) = read_record(input)? {
        let ToWorker::Command(command) = message else { return Err(ServeError::NoHello) };
        let mut command = *command;
        let is_last = command == Command::ShutDown;
        // The engine reads commands quickly, but hundreds can arrive at once.
        while let Err(unsent) = session.send(command) {
            match unsent {
                Unsent::Full(waiting) => command = *waiting,
                Unsent::Ended(_) => return Err(ServeError::Ended),
            }
            thread::sleep(Duration::from_millis(5));
        }
        if is_last {
            break;
        }
    }
    Ok(())
}
