//! A worker's process: its pipes and how it ended.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, BufWriter},
    path::PathBuf,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::{
    event::Failure,
    protocol::{CARD_LOST, FromWorker, ToWorker},
    threads::spawn,
};
use crate::wire::{WireError, read_record, write_record};

/// Capacity of the queue of messages to a worker.
const TO_WORKER: usize = 1024;
/// Capacity of the queue of messages from a worker; when it is full, the worker waits.
const FROM_WORKER: usize = 256;
/// How long a process may take to end after its pipes are closed.
const FAREWELL: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

/// A program that serves as the engine when it is started with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// Its device, such as `CPU`.
    pub engine: String,
    /// Path of the program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Something received from a worker.
#[derive(Debug)]
pub enum Heard {
    /// A message.
    Message(FromWorker),
    /// Invalid data.
    Garbage(WireError),
    /// The worker closed its end of the pipe.
    Closed,
}

/// A running worker.
pub struct Process {
    child: Child,
    /// Dropping it closes the pipe.
    outgoing: Sender<ToWorker>,
    /// What the worker sends.
    pub heard: Receiver<Heard>,
    /// Time of the worker's last message.
    pub silent_since: Instant,
    /// Whether both sides have sent their hello.
    pub serves: bool,
    last_words: Arc<Mutex<String>>,
    threads: Vec<JoinHandle<()>>,
}

impl Process {
    /// Starts a program.
    pub fn start(program: &WorkerProgram) -> std::io::Result<Self> {
        let mut child = std::process::Command::new(&program.path)
            .args(&program.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (outgoing, messages) = bounded(TO_WORKER);
        let (heard, incoming) = bounded(FROM_WORKER);
        let last_words = Arc::default();
        let mut threads = Vec::new();
        if let Some(pipe) = child.stdin.take() {
            threads.push(spawn("sluice-worker-write", move || write(pipe, &messages))?);
        }
        if let Some(pipe) = child.stdout.take() {
            threads.push(spawn("sluice-worker-read", move || read(pipe, &heard))?);
        }
        if let Some(pipe) = child.stderr.take() {
            let words = Arc::clone(&last_words);
            threads.push(spawn("sluice-worker-log", move || log(pipe, &words))?);
        }
        let now = Instant::now();
        Ok(Self { child, outgoing, heard: incoming, silent_since: now, serves: false, last_words, threads })
    }

    /// Its process id.
    pub fn number(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message. If the queue is full, the message is dropped: the worker hangs and will be restarted,
    /// or is dead.
    pub fn tell(&self, message: ToWorker) {
        if self.outgoing.try_send(message).is_err() {
            tracing::warn!("the engine process does not accept messages");
        }
    }

    /// Ends the process if it is still running. Returns how it ended, with advice.
    pub fn end(self) -> Failure {
        let Self { mut child, outgoing, heard, threads, last_words, .. } = self;
        drop((outgoing, heard));
        let until = Instant::now() + FAREWELL;
        let mut status = None;
        while status.is_none() && Instant::now() < until {
            match child.try_wait() {
                Ok(found) => status = found,
                Err(error) => {
                    tracing::warn!(%error, "cannot wait for the engine process");
                    break;
                }
            }
            if status.is_none() {
                std::thread::sleep(LOOK);
            }
        }
        if status.is_none() {
            if let Err(error) = child.kill() {
                tracing::warn!(%error, "cannot end the engine process");
            }
            status = child.wait().ok();
        }
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread that serves the engine process panicked");
            }
        }
        let words = std::mem::take(&mut *last_words.lock().unwrap_or_else(PoisonError::into_inner));
        if status.is_some_and(|status| status.code() == Some(CARD_LOST)) {
            return Failure {
                message: "the GPU failed during computation".to_owned(),
                advice: Some(
                    "Update the GPU driver, and remove any overclocking. The log has details.".to_owned(),
                ),
            };
        }
        let message = match (status.map(described), words.is_empty()) {
            (Some(how), true) => how,
            (Some(how), false) => format!("{how}: {words}"),
            (None, _) => words,
        };
        let advice = "Allow less memory, or use a smaller image. The log has details.";
        Failure { message, advice: Some(advice.to_owned()) }
    }
}

fn write(pipe: ChildStdin, messages: &Receiver<ToWorker>) {
    let mut pipe = BufWriter::new(pipe);
    for message in messages {
        if let Err(error) = write_record(&mut pipe, &message) {
            // The reader of the other pipe notices that the process has ended.
            tracing::debug!(%error, "the engine process does not listen");
            return;
        }
    }
}

fn read(pipe: ChildStdout, heard: &Sender<Heard>) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let heard_now = match read_record(&mut pipe) {
            Ok(Some(message)) => Heard::Message(message),
            Ok(None) | Err(WireError::Truncated) => Heard::Closed,
            Err(error) => Heard::Garbage(error),
        };
        let is_last = !matches!(heard_now, Heard::Message(_));
        if heard.send(heard_now).is_err() || is_last {
            return;
        }
    }
}

/// Forwards the worker's log and keeps its last line. Indented lines are not kept: they belong to backtraces.
fn log(pipe: ChildStderr, last_words: &Mutex<String>) {
    for line in BufReader::new(pipe).split(b'\n') {
        let Ok(line) = line else { return };
        let line = String::from_utf8_lossy(&line);
        if line.trim().is_empty() {
            continue;
        }
        tracing::info!(target: "sluice_engine::worker", "{}", line.trim_end());
        if !line.starts_with([' ', '\t']) {
            *last_words.lock().unwrap_or_else(PoisonError::into_inner) = line.trim_end().to_owned();
        }
    }
}

/// Describes how a process ended.
fn described(status: ExitStatus) -> String {
    if let Some(words) = signal(status) {
        return words;
    }
    match status.code() {
        Some(0) => "the engine process exited".to_owned(),
        Some(code) => format!("the engine process ended with code {code:#x}"),
        None => "the engine process ended".to_owned(),
    }
}

/// Describes the signal that ended a process.
#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt as _;
    const KILLED: i32 = 9;
    Some(match status.signal()? {
        KILLED => "the engine process was killed, probably because the system ran out of memory".to_owned(),
        number => format!("the engine process was ended by signal {number}"),
    })
}

/// Windows processes only have exit codes.
#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<String> {
    None
}
