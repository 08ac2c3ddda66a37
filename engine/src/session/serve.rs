//! A session served over two pipes: what a worker process runs.

use std::{
    io::{self, Read, Write},
    path::PathBuf,
    thread,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, bounded, select};

use super::{
    Command, Event, Failure, Session, SessionOptions, Unsent,
    elsewhere::inbox::{Inbox, Names},
    protocol::{FromWorker, Hello, PATIENCE, SIGN_OF_LIFE, ToWorker},
    pulse::Pulse,
    threads::spawn,
};
use crate::{
    request::PromptFolders,
    wire::{WireError, read_record, write_record},
};

/// What this computer has for callers elsewhere, which cannot name its folders.
#[derive(Debug, Clone, Default)]
pub struct Own {
    /// The device, such as `CPU`.
    pub engine: String,
    /// Why a faster engine is not used, if there could be one.
    pub instead_of: Option<Failure>,
    /// See [`SessionOptions::data`].
    pub data: Option<PathBuf>,
    /// See [`SessionOptions::model_folders`].
    pub model_folders: Vec<PathBuf>,
    /// See [`SessionOptions::downloads`].
    pub downloads: Option<PathBuf>,
    /// See [`SessionOptions::prompt_folders`].
    pub prompt_folders: PromptFolders,
}

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
    Threads(io::Error),
    /// The engine's threads ended before the window did.
    #[error("the engine has ended")]
    Ended,
    /// The name of the visit has other characters.
    #[error("the caller did not name its visit as expected")]
    NoVisit,
    /// The folder of the visit cannot be used.
    #[error("the folder for files that are sent to this engine cannot be used: {0}")]
    Folder(io::Error),
    /// Another worker has the visit's folder.
    #[error("the engine of the broken connection is still running")]
    Occupied,
    /// A file was announced or sent in another way than agreed.
    #[error("the caller did not send a file as expected")]
    File,
}

/// Serves a session until the pipes are closed or a command ends it.
///
/// # Errors
/// When the input is not a valid message. A running job is cancelled.
pub fn serve(input: impl Read, mut output: impl Write + Send + 'static, own: Own) -> Result<(), ServeError> {
    let pulse = Pulse::start();
    let mut input = pulse.of(input);
    write_record(&mut output, &FromWorker::Hello(Hello::own()))?;
    match read_record(&mut input)? {
        Some(ToWorker::Hello(hello)) if hello == Hello::own() => {}
        // The window sees from our hello that the versions differ.
        Some(ToWorker::Hello(_)) | None => return Ok(()),
        Some(_) => return Err(ServeError::NoHello),
    }
    let (options, mut inbox) = match after_signs_of_life(&mut input)? {
        Some(ToWorker::Start { threads, hardware, data, model_folders, prompt_folders, visit }) => {
            let given =
                SessionOptions { threads, hardware, ends_with_card: true, ..SessionOptions::default() };
            match visit {
                None => (SessionOptions { data, model_folders, prompt_folders, ..given }, None),
                Some(visit) => {
                    let inbox = Inbox::open(own.data.as_deref(), &visit)?;
                    (own.options(given, model_folders), Some(inbox))
                }
            }
        }
        None => return Ok(()),
        Some(_) => return Err(ServeError::NoHello),
    };
    let names = inbox.as_ref().map(Inbox::names);
    if let Some(inbox) = &inbox {
        let Own { engine, instead_of, .. } = own;
        write_record(&mut output, &FromWorker::Ready { engine, instead_of, files: inbox.files() })?;
        spawn("sluice-worker-watch", move || end_when_silent(&pulse)).map_err(ServeError::Threads)?;
    }
    let session = Session::start(options).map_err(ServeError::Threads)?;
    let events = session.events().clone();
    let (answers, answered) = bounded(ANSWERS);
    let writer = spawn("sluice-worker-events", move || report(output, &events, &answered, names.as_ref()))
        .map_err(ServeError::Threads)?;
    let result = obey(&mut input, &session, inbox.as_mut(), &answers);
    drop((session, answers));
    if writer.join().is_err() {
        tracing::error!("the thread for events panicked");
    }
    let is_over = result?;
    // After a broken connection, the next worker of the visit goes on with the files.
    if let Some(inbox) = inbox.filter(|_| is_over) {
        inbox.remove();
    }
    Ok(())
}

/// The first message that says something. A caller whose command took long to lead here has said before that it is alive.
fn after_signs_of_life(input: &mut impl Read) -> Result<Option<ToWorker>, WireError> {
    loop {
        match read_record(input)? {
            Some(ToWorker::Alive) => {}
            message => return Ok(message),
        }
    }
}

/// Capacity of the queue of messages that are no events.
const ANSWERS: usize = 64;

impl Own {
    fn options(&self, given: SessionOptions, more: Vec<PathBuf>) -> SessionOptions {
        let mut folders = self.model_folders.clone();
        folders.extend(more.into_iter().filter(|folder| !self.model_folders.contains(folder)));
        SessionOptions {
            data: self.data.clone(),
            model_folders: folders,
            downloads: self.downloads.clone(),
            prompt_folders: self.prompt_folders.clone(),
            ..given
        }
    }
}

/// Ends the process when a caller elsewhere is silent: a network can break without telling this side.
fn end_when_silent(pulse: &Pulse) {
    while pulse.silence() < PATIENCE {
        thread::sleep(SIGN_OF_LIFE);
    }
    tracing::error!("the caller of this engine is silent");
    std::process::exit(1);
}

/// Writes events and answers until both have ended.
fn report(
    mut output: impl Write,
    events: &Receiver<Event>,
    answers: &Receiver<FromWorker>,
    names: Option<&Names>,
) {
    let event = |mut event: Event| {
        if let Some(names) = names {
            names.outward(&mut event);
        }
        FromWorker::Event(Box::new(event))
    };
    loop {
        let message = select! {
            recv(events) -> next => match next {
                Ok(next) => event(next),
                Err(_) => return,
            },
            recv(answers) -> answer => match answer {
                Ok(answer) => answer,
                // The last events follow.
                Err(_) => match events.recv() {
                    Ok(next) => event(next),
                    Err(_) => return,
                },
            },
            default(SIGN_OF_LIFE) => FromWorker::Alive,
        };
        if let Err(error) = write_record(&mut output, &message) {
            // Nobody receives the images.
            tracing::error!(%error, "the window is gone");
            std::process::exit(1);
        }
    }
}

/// Passes commands on. Returns whether the caller said that it needs the engine no more.
fn obey(
    input: &mut impl Read,
    session: &Session,
    mut inbox: Option<&mut Inbox>,
    answers: &Sender<FromWorker>,
) -> Result<bool, ServeError> {
    let answer = |message| answers.send(message).map_err(|_| ServeError::Ended);
    while let Some(message) = read_record(input)? {
        let command = match (message, inbox.as_deref_mut()) {
            (ToWorker::Command(command), None) => *command,
            (ToWorker::Command(command), Some(inbox)) => match inbox.inward(*command) {
                Ok(command) => command,
                Err(event) => {
                    answer(FromWorker::Event(event))?;
                    continue;
                }
            },
            (message, Some(inbox)) => {
                if let Some(name) = take(message, inbox)? {
                    answer(FromWorker::NotKept { name })?;
                }
                continue;
            }
            (_, None) => return Err(ServeError::NoHello),
        };
        let is_last = command == Command::ShutDown;
        pass_on(session, command)?;
        if is_last {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Takes a message about a visit's files. Returns the name of one that is not kept.
fn take(message: ToWorker, inbox: &mut Inbox) -> Result<Option<String>, ServeError> {
    match message {
        ToWorker::File { name, bytes, sha256 } => return inbox.begin(name, bytes, sha256),
        ToWorker::Chunk { bytes } => return inbox.receive(&bytes),
        ToWorker::Abandon => inbox.abandon(),
        ToWorker::Drop { name } => inbox.drop_file(&name),
        ToWorker::Forget { journal } => inbox.forget(&journal),
        ToWorker::Alive => {}
        ToWorker::Hello(_) | ToWorker::Start { .. } | ToWorker::Command(_) => {
            return Err(ServeError::NoHello);
        }
    }
    Ok(None)
}

/// The engine reads commands quickly, but hundreds can arrive at once.
fn pass_on(session: &Session, mut command: Command) -> Result<(), ServeError> {
    while let Err(unsent) = session.send(command) {
        match unsent {
            Unsent::Full(waiting) => command = *waiting,
            Unsent::Ended(_) => return Err(ServeError::Ended),
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
