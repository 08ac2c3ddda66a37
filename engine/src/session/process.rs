//! A worker's process: its pipes, its life and how it ended.

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

/// Messages that may wait on their way to a worker.
const TO_WORKER: usize = 1024;
/// Messages that may wait on their way from a worker, before it waits itself.
const FROM_WORKER: usize = 256;
/// How long a process whose pipes are closed may take to end.
const FAREWELL: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

/// A program that serves as the engine when it is started with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// What it computes with, such as `CPU`.
    pub engine: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// What comes from a worker.
#[derive(Debug)]
pub enum Heard {
    /// A message.
    Message(FromWorker),
    /// Something that is none.
    Garbage(WireError),
    /// Its end of the pipe is closed.
    Closed,
}

/// A running worker.
pub struct Process {
    child: Child,
    /// Dropped to hang up.
    outgoing: Sender<ToWorker>,
    /// What it says.
    pub heard: Receiver<Heard>,
    /// When it last said something.
    pub silent_since: Instant,
    /// Whether hellos were exchanged.
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

    /// Its number in the operating system.
    pub fn number(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message. One that finds no room goes to a worker that hangs and is started again, or is dead.
    pub fn tell(&self, message: ToWorker) {
        if self.outgoing.try_send(message).is_err() {
            tracing::warn!("the engine process does not accept messages");
        }
    }

    /// Ends it if it has not ended yet. Says how it ended, and what helps if that happens again.
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
                message: "the graphics card failed during computation".to_owned(),
                advice: Some(
                    "Update the card's driver, and remove any overclocking. The log has details.".to_owned(),
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
            // That it is gone is heard from the other pipe.
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

/// Passes the worker's log on and remembers its last line, leaving out those that are indented: they trace where
/// something was called.
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

/// How a process ended, in words.
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

/// Which signal ended a process.
#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt as _;
    const KILLED: i32 = 9;
    Some(match status.signal()? {
        KILLED => "the engine process was killed, probably because the system ran out of memory".to_owned(),
        number => format!("the engine process was ended by signal {number}"),
    })
}

/// Windows ends processes with a code alone.
#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<String> {
    None
}
