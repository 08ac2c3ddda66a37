//! A worker's process: its pipes and how it ended.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io::{self, BufRead, BufReader, BufWriter, Read},
    path::PathBuf,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command as Program, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::{
    command::Command,
    elsewhere::{
        parcels::{Courier, Parcel},
        sent::Sent,
    },
    event::Failure,
    protocol::{CARD_LOST, FromWorker, LONGEST_HELLO, ToWorker},
    pulse::{Heeded, Pulse},
    threads::spawn,
};
use crate::wire::{LONGEST, WireError, read_record_within, write_record};

/// Capacity of the queue of messages to a worker.
const TO_WORKER: usize = 1024;
/// Capacity of the queue of messages from a worker; when it is full, the worker waits.
const FROM_WORKER: usize = 256;
/// How long a process may take to end after its pipes are closed.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long its pipes may stay open after it: a process that it started may have them.
const LEFT_OPEN: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);
/// The last lines of a command's log that an error shows.
const LAST_LINES: usize = 4;
/// How much is shown of what is no message.
const SHOWN: usize = 200;

/// A program that serves as the engine when it is started with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// Its device, such as `CPU`.
    pub engine: String,
    /// Path of the program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables of its environment, beside those of this process.
    pub variables: Vec<(OsString, OsString)>,
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
    /// A command was not sent, because of its files.
    Unsent {
        /// The command.
        command: Box<Command>,
        /// The error.
        failure: Failure,
    },
}

/// A running worker.
pub struct Process {
    child: Child,
    /// Dropping it closes the pipe.
    outgoing: Sender<ToWorker>,
    /// For an engine elsewhere: what has files.
    parcels: Option<Sender<Parcel>>,
    /// What the worker sends.
    pub heard: Receiver<Heard>,
    /// When the worker was last heard.
    pub pulse: Pulse,
    /// Whether its hello has arrived.
    pub greeted: bool,
    /// Whether it takes commands.
    pub serves: bool,
    last_words: Arc<Mutex<VecDeque<String>>>,
    first_words: Arc<Mutex<Vec<u8>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Process {
    /// Starts a program; `sent` are the files of an engine elsewhere.
    pub fn start(program: &WorkerProgram, sent: Option<&Arc<Sent>>) -> io::Result<Self> {
        let mut start = Program::new(&program.path);
        start.args(&program.arguments).envs(program.variables.iter().cloned());
        start.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if sent.is_some() {
            apart(&mut start);
        }
        let mut child = start.spawn()?;
        let (outgoing, messages) = bounded(TO_WORKER);
        let (heard, incoming) = bounded(FROM_WORKER);
        let last_words = Arc::<Mutex<VecDeque<String>>>::default();
        let first_words = Arc::<Mutex<Vec<u8>>>::default();
        let (pulse, mut parcels, mut threads) = (Pulse::start(), None, Vec::new());
        if let Some(pipe) = child.stdin.take() {
            threads.push(match sent {
                None => spawn("sluice-worker-write", move || write(pipe, &messages))?,
                Some(sent) => {
                    let (outgoing, parcels_to_send) = bounded(TO_WORKER);
                    parcels = Some(outgoing);
                    let (sent, heard) = (Arc::clone(sent), heard.clone());
                    let (pipe, last, parcels) = (BufWriter::new(pipe), Instant::now(), parcels_to_send);
                    let courier = Courier { pipe, messages, parcels, sent, heard, last };
                    spawn("sluice-worker-write", move || courier.run())?
                }
            });
        }
        if let Some(pipe) = child.stdout.take() {
            let (pipe, words) = (pulse.of(pipe), Arc::clone(&first_words));
            threads.push(spawn("sluice-worker-read", move || read(pipe, &heard, &words))?);
        }
        if let Some(pipe) = child.stderr.take() {
            let (words, count) = (Arc::clone(&last_words), if sent.is_some() { LAST_LINES } else { 1 });
            threads.push(spawn("sluice-worker-log", move || log(pipe, &words, count))?);
        }
        Ok(Self {
            child,
            outgoing,
            parcels,
            heard: incoming,
            pulse,
            greeted: false,
            serves: false,
            last_words,
            first_words,
            threads,
        })
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

    /// Sends a command after its files, if the engine is elsewhere.
    pub fn send(&self, parcel: Parcel) {
        if let Some(parcels) = &self.parcels
            && parcels.try_send(parcel).is_err()
        {
            tracing::warn!("the engine process does not accept jobs");
        }
    }

    /// What the program wrote before or instead of its first message, if that is text.
    pub fn first_words(&self) -> Option<String> {
        let words = self.first_words.lock().unwrap_or_else(PoisonError::into_inner);
        let is_text =
            |letter: &char| *letter != '\u{FFFD}' && (!letter.is_control() || letter.is_whitespace());
        let text: String = String::from_utf8_lossy(&words).chars().take_while(is_text).collect();
        // The first byte of a message may be a letter, too.
        let is_some = !self.greeted && text.trim().chars().count() > 1;
        is_some.then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Ends the process if it is still running. Returns how it ended, with advice.
    pub fn end(self) -> Failure {
        let Self { mut child, outgoing, parcels, heard, threads, last_words, .. } = self;
        let is_command = parcels.is_some();
        drop((outgoing, parcels, heard));
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
        let until = Instant::now() + LEFT_OPEN;
        for thread in threads {
            while !thread.is_finished() && Instant::now() < until {
                std::thread::sleep(LOOK);
            }
            if !thread.is_finished() {
                // It ends with the process that has the pipe.
                tracing::debug!("a process of the engine's command is still running");
                continue;
            }
            if thread.join().is_err() {
                tracing::error!("a thread that serves the engine process panicked");
            }
        }
        let words = std::mem::take(&mut *last_words.lock().unwrap_or_else(PoisonError::into_inner));
        let words = Vec::from(words).join("\n");
        if status.is_some_and(|status| status.code() == Some(CARD_LOST)) {
            return Failure {
                message: "the GPU failed during computation".to_owned(),
                advice: Some(
                    "Update the GPU driver, and remove any overclocking. The log has details.".to_owned(),
                ),
            };
        }
        let message = match (status.map(|status| described(status, is_command)), words.is_empty()) {
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

fn read(pipe: Heeded<ChildStdout>, heard: &Sender<Heard>, first_words: &Mutex<Vec<u8>>) {
    let mut pipe = BufReader::new(Copied { pipe, bytes: first_words, left: SHOWN });
    let mut longest = LONGEST_HELLO;
    loop {
        let heard_now = match read_record_within(&mut pipe, longest) {
            Ok(Some(message)) => {
                pipe.get_mut().left = 0;
                longest = LONGEST;
                Heard::Message(message)
            }
            Ok(None) | Err(WireError::Truncated) => Heard::Closed,
            Err(error) => Heard::Garbage(error),
        };
        let is_last = !matches!(heard_now, Heard::Message(_));
        if heard.send(heard_now).is_err() || is_last {
            return;
        }
    }
}

/// A pipe whose first bytes are kept.
struct Copied<'a, R> {
    pipe: R,
    bytes: &'a Mutex<Vec<u8>>,
    left: usize,
}

impl<R: Read> Read for Copied<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.pipe.read(buffer)?;
        let kept = count.min(self.left);
        if kept > 0 {
            self.left -= kept;
            self.bytes.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..kept]);
        }
        Ok(count)
    }
}

/// Forwards the worker's log and keeps its last lines. Indented lines are not kept: they belong to backtraces.
fn log(pipe: ChildStderr, last_words: &Mutex<VecDeque<String>>, count: usize) {
    for line in BufReader::new(pipe).split(b'\n') {
        let Ok(line) = line else { return };
        let line = String::from_utf8_lossy(&line);
        if line.trim().is_empty() {
            continue;
        }
        tracing::info!(target: "sluice_engine::worker", "{}", line.trim_end());
        if !line.starts_with([' ', '\t']) {
            let mut words = last_words.lock().unwrap_or_else(PoisonError::into_inner);
            words.push_back(line.trim_end().to_owned());
            while words.len() > count {
                words.pop_front();
            }
        }
    }
}

/// Keeps Ctrl-C in a terminal from the command: the caller ends it.
#[cfg(unix)]
fn apart(program: &mut Program) {
    use std::os::unix::process::CommandExt as _;
    program.process_group(0);
}

/// Keeps Ctrl-C in a terminal from the command: the caller ends it.
#[cfg(windows)]
fn apart(program: &mut Program) {
    use std::os::windows::process::CommandExt as _;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    program.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

/// Describes how a process ended. Codes of commands are those of shells and of ssh.
fn described(status: ExitStatus, is_command: bool) -> String {
    if let Some(words) = signal(status) {
        return words;
    }
    match status.code() {
        Some(0) => "the engine process exited".to_owned(),
        Some(code) if is_command => format!("the engine's command ended with code {code}"),
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
