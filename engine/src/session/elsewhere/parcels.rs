//! The thread that writes to an engine elsewhere. Jobs wait for their files; other messages pass between chunks.

use std::{
    fs::File,
    io::{Read as _, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Instant,
};

use crossbeam_channel::{Receiver, Sender, TryRecvError, select_biased};
use sha2::{Digest as _, Sha256};

use super::{CHUNK, LARGEST_FILE, TravelError, digits, marked, sent::Sent};
use crate::{
    checkpoint::{FileStamp, NoiseHalf},
    request::{FileRole, Request, sent_name},
    session::{
        command::{Command, JobId},
        event::Failure,
        process::Heard,
        protocol::{SIGN_OF_LIFE, ToWorker},
    },
    wire::{WireError, write_record},
};

/// A command whose files are sent before it.
pub struct Parcel {
    /// The command, with paths of this computer.
    pub command: Command,
    /// Whether it is still wanted.
    pub ticket: Ticket,
}

/// Decides between sending a job and withdrawing it.
#[derive(Debug, Clone, Default)]
pub struct Ticket(Arc<AtomicU8>);

const WAITING: u8 = 0;
const WITHDRAWN: u8 = 1;
const SENT: u8 = 2;

impl Ticket {
    /// Withdraws the job; `false` if it was sent already.
    pub fn withdraw(&self) -> bool {
        self.leave(WITHDRAWN)
    }

    fn send(&self) -> bool {
        self.leave(SENT)
    }

    fn leave(&self, to: u8) -> bool {
        self.0.compare_exchange(WAITING, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    fn is_withdrawn(&self) -> bool {
        self.0.load(Ordering::SeqCst) == WITHDRAWN
    }
}

/// Why a parcel is not sent, or nothing more is.
enum Stop {
    Pipe(WireError),
    /// The session has ended.
    Over,
    Withdrawn,
    Error(TravelError),
}

impl From<WireError> for Stop {
    fn from(error: WireError) -> Self {
        Self::Pipe(error)
    }
}

impl From<TravelError> for Stop {
    fn from(error: TravelError) -> Self {
        Self::Error(error)
    }
}

/// Writes messages and parcels to an engine.
pub struct Courier<W: Write> {
    /// To the engine.
    pub pipe: W,
    /// What does not wait for files.
    pub messages: Receiver<ToWorker>,
    /// What has files.
    pub parcels: Receiver<Parcel>,
    /// The files that are there.
    pub sent: Arc<Sent>,
    /// Where to report parcels that cannot be sent.
    pub heard: Sender<Heard>,
    /// When something was last written.
    pub last: Instant,
}

impl<W: Write> Courier<W> {
    /// Writes until the session ends or the pipe breaks.
    pub fn run(mut self) {
        let (messages, parcels) = (self.messages.clone(), self.parcels.clone());
        loop {
            let done = select_biased! {
                recv(messages) -> message => match message {
                    Ok(message) => self.write(&message),
                    Err(_) => Err(Stop::Over),
                },
                recv(parcels) -> parcel => match parcel {
                    Ok(parcel) => self.deliver(parcel),
                    Err(_) => Err(Stop::Over),
                },
                default(SIGN_OF_LIFE) => self.write(&ToWorker::Alive),
            };
            match done {
                Ok(()) | Err(Stop::Withdrawn) => {}
                Err(Stop::Over) => return,
                Err(Stop::Pipe(error)) => {
                    // The reader of the other pipe notices that the engine is gone.
                    tracing::debug!(%error, "the engine does not listen");
                    return;
                }
                Err(Stop::Error(error)) => tracing::warn!(%error, "a command was not sent"),
            }
        }
    }

    fn write(&mut self, message: &ToWorker) -> Result<(), Stop> {
        write_record(&mut self.pipe, message)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Lets the messages through that wait, and says that this side is alive.
    fn attend(&mut self) -> Result<(), Stop> {
        loop {
            match self.messages.try_recv() {
                Ok(message) => self.write(&message)?,
                Err(TryRecvError::Disconnected) => return Err(Stop::Over),
                Err(TryRecvError::Empty) => break,
            }
        }
        if self.last.elapsed() >= SIGN_OF_LIFE { self.write(&ToWorker::Alive) } else { Ok(()) }
    }

    fn deliver(&mut self, Parcel { command, ticket }: Parcel) -> Result<(), Stop> {
        let mut packed = command.clone();
        match self.pack(&mut packed, &ticket) {
            Ok(()) => {}
            Err(Stop::Error(error)) => {
                if ticket.send() {
                    let failure = Failure::from(error);
                    let unsent = Heard::Unsent { command: Box::new(command), failure };
                    self.heard.send(unsent).map_err(|_| Stop::Over)?;
                }
                return Ok(());
            }
            Err(other) => return Err(other),
        }
        if !ticket.send() {
            return Err(Stop::Withdrawn);
        }
        self.write(&ToWorker::Command(Box::new(packed)))
    }

    /// Sends the files of a command and replaces their paths.
    fn pack(&mut self, command: &mut Command, ticket: &Ticket) -> Result<(), Stop> {
        match command {
            Command::Generate(job) => {
                let id = Some(job.id);
                if let Some(path) = &mut job.initial_latents {
                    *path = self.send(path, id, ticket)?;
                }
                self.pack_request(&mut job.request, id, ticket)
            }
            Command::Plan(query) => self.pack_request(&mut query.request, None, ticket),
            _ => Ok(()),
        }
    }

    fn pack_request(
        &mut self,
        request: &mut Request,
        job: Option<JobId>,
        ticket: &Ticket,
    ) -> Result<(), Stop> {
        for (role, path) in request.files_mut() {
            match role {
                FileRole::Input => *path = self.send(path, job, ticket)?,
                // One that is not here is one of the engine's computer.
                FileRole::Adapter if path.is_file() => *path = self.send_adapter(path, job, ticket)?,
                FileRole::Adapter | FileRole::Model => {}
            }
        }
        Ok(())
    }

    fn send(&mut self, path: &Path, job: Option<JobId>, ticket: &Ticket) -> Result<PathBuf, Stop> {
        let hash = self.hash(path, ticket)?;
        self.send_as(&sent_name(&hash, path), &hash, path, job, ticket)
    }

    /// Sends an adapter. The two files of a pair are found by their names, so they keep these beside each other.
    fn send_adapter(&mut self, path: &Path, job: Option<JobId>, ticket: &Ticket) -> Result<PathBuf, Stop> {
        let Some(half) = NoiseHalf::of(path).filter(|half| half.other.is_file()) else {
            return self.send(path, job, ticket);
        };
        let [own, other] = [self.hash(path, ticket)?, self.hash(&half.other, ticket)?];
        let leader = if half.is_low { other.clone() } else { own.clone() };
        self.send_as(&sent_name(&leader, &half.other), &other, &half.other, job, ticket)?;
        self.send_as(&sent_name(&leader, path), &own, path, job, ticket)
    }

    /// The SHA-256 of a file.
    fn hash(&mut self, path: &Path, ticket: &Ticket) -> Result<String, Stop> {
        if let Some(hash) = self.sent.hash(path) {
            return Ok(hash);
        }
        let stamp = FileStamp::of(path);
        let read = |cause| TravelError::Read { path: path.to_owned(), cause };
        if path.is_dir() {
            return Err(TravelError::Folder { path: path.to_owned() }.into());
        }
        let (mut file, mut hash, mut chunk) =
            (File::open(path).map_err(read)?, Sha256::new(), vec![0; CHUNK]);
        loop {
            let count = file.read(&mut chunk).map_err(read)?;
            if count == 0 {
                break;
            }
            hash.update(&chunk[..count]);
            self.attend()?;
            if ticket.is_withdrawn() {
                return Err(Stop::Withdrawn);
            }
        }
        let hash = digits(hash);
        self.sent.remember(stamp, &hash);
        Ok(hash)
    }

    /// Sends a file under a name, unless it is there. Returns the path that stands for it.
    fn send_as(
        &mut self,
        name: &str,
        sha256: &str,
        path: &Path,
        job: Option<JobId>,
        ticket: &Ticket,
    ) -> Result<PathBuf, Stop> {
        let read = |cause| TravelError::Read { path: path.to_owned(), cause };
        let file = File::open(path).map_err(read)?;
        let bytes = file.metadata().map_err(read)?.len();
        if bytes > LARGEST_FILE {
            return Err(TravelError::TooLarge { path: path.to_owned() }.into());
        }
        if self.sent.claim(job, name, path, bytes) {
            let (own, sha256) = (name.to_owned(), sha256.to_owned());
            let sent = self
                .attend()
                .and_then(|()| self.write(&ToWorker::File { name: own, bytes, sha256 }))
                .and_then(|()| self.send_contents(file, path, bytes, ticket));
            if let Err(stop) = sent {
                self.sent.is_gone(name);
                if matches!(stop, Stop::Withdrawn | Stop::Error(_)) {
                    self.write(&ToWorker::Abandon)?;
                }
                return Err(stop);
            }
        }
        Ok(marked(name))
    }

    fn send_contents(
        &mut self,
        mut file: File,
        path: &Path,
        bytes: u64,
        ticket: &Ticket,
    ) -> Result<(), Stop> {
        let mut left = bytes;
        while left > 0 {
            let mut chunk = Vec::new();
            let most = left.min(CHUNK as u64);
            let read = (&mut file).take(most).read_to_end(&mut chunk);
            read.map_err(|cause| TravelError::Read { path: path.to_owned(), cause })?;
            if chunk.len() as u64 != most {
                return Err(TravelError::Changed { path: path.to_owned() }.into());
            }
            left -= most;
            self.write(&ToWorker::Chunk { bytes: chunk })?;
            self.attend()?;
            if ticket.is_withdrawn() && left > 0 {
                return Err(Stop::Withdrawn);
            }
        }
        Ok(())
    }
}
