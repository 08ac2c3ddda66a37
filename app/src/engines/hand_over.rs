//! `sluice worker` leads to the fastest engine of its computer: this program hands over to that for GPUs if it starts.

use std::{
    io::{self, BufRead, BufReader, Read},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use sluice_engine::session::{Failure, WorkerProgram};

use super::{Engines, METAL, computes_on_gpus, greeting};

/// How long an engine that has nothing to read may take to end.
const LONGEST: Duration = Duration::from_secs(60);
/// Time between two looks at whether it has ended.
const LOOK: Duration = Duration::from_millis(20);
/// How long its pipes may stay open after it: a process that it started may have them.
const LEFT_OPEN: Duration = Duration::from_secs(2);

/// What it says where there is no GPU or driver, and what the system says where a library is missing.
const WITHOUT_DRIVER: [&str; 2] = ["there is no usable NVIDIA GPU", "error while loading shared libraries"];
/// How a program ends on Windows if a library is missing.
const LIBRARY_NOT_FOUND: i32 = 0xC000_0135_u32 as i32;

const DRIVER: &str = "Check that the NVIDIA driver is installed.";
const INSTALL: &str = "Install it with `sluice engine install`, or build it with packaging/cuda/build.";

/// Why an engine is not used, and what to do.
struct Reason {
    words: String,
    advice: Option<&'static str>,
}

/// Lets the engine for GPUs go on in the place of this program. Returns only if it cannot, with the reason.
pub fn hand_over() -> Option<Failure> {
    let Engines { programs, without_gpus } = match Engines::find() {
        Ok(engines) => engines,
        Err(error) => {
            return Some(Reason::from(error).of(if cfg!(target_os = "macos") { "Apple" } else { "NVIDIA" }));
        }
    };
    let Some(program) = programs.into_iter().find(|program| computes_on_gpus(&program.engine)) else {
        return without_gpus;
    };
    let reason = match starts(&program) {
        Ok(()) => Reason::from(become_program(&program)),
        Err(reason) => reason,
    };
    Some(reason.of(if program.engine == METAL { "Apple" } else { "NVIDIA" }))
}

impl From<io::Error> for Reason {
    fn from(error: io::Error) -> Self {
        Self { words: error.to_string(), advice: None }
    }
}

impl Reason {
    /// Why the engine for the GPUs of a maker is not used.
    fn of(self, maker: &str) -> Failure {
        let message = format!("the engine for {maker} GPUs does not start: {}", self.words);
        Failure { message, advice: self.advice.map(str::to_owned) }
    }
}

fn command(program: &WorkerProgram) -> Command {
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).envs(program.variables.iter().cloned());
    command
}

/// Starts an engine with nothing to read. It looks for its libraries and a GPU, says hello, and ends.
fn starts(program: &WorkerProgram) -> Result<(), Reason> {
    let mut command = command(program);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let greeted = child.stdout.take().map(|mut pipe| aside(move || greeting(&mut pipe))).transpose();
    let last = child.stderr.take().map(|pipe| aside(move || last_line(pipe))).transpose();
    let (greeted, last, status) = match (greeted, last, ended(&mut child)) {
        (Ok(greeted), Ok(last), Ok(Some(status))) => (greeted, last, status),
        (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
            end(&mut child);
            return Err(error.into());
        }
        (.., Ok(None)) => {
            end(&mut child);
            return Err(Reason { words: "it does not answer".to_owned(), advice: None });
        }
    };
    let last = last.and_then(|last| last.recv_timeout(LEFT_OPEN).ok()).flatten();
    let greeted = greeted.and_then(|greeted| greeted.recv_timeout(LEFT_OPEN).ok());
    judged(status, greeted.unwrap_or_else(|| Err("it says nothing".to_owned())), last)
}

/// What its end, its greeting and its last line say.
fn judged(status: ExitStatus, greeted: Result<(), String>, last: Option<String>) -> Result<(), Reason> {
    match (status.success(), greeted, last) {
        (true, Ok(()), _) => Ok(()),
        (true, Err(words), _) => Err(Reason { words, advice: Some(INSTALL) }),
        (false, _, Some(words)) => {
            let is_without_driver = WITHOUT_DRIVER.iter().any(|known| words.contains(known));
            Err(Reason { words, advice: is_without_driver.then_some(DRIVER) })
        }
        (false, greeted, None) => {
            let words = greeted.err().map_or_else(|| status.to_string(), |why| format!("{why}; {status}"));
            Err(Reason { words, advice: (status.code() == Some(LIBRARY_NOT_FOUND)).then_some(DRIVER) })
        }
    }
}

/// Waits until it has ended; `None` if that takes too long.
fn ended(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() <= LONGEST {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(LOOK);
    }
    Ok(None)
}

/// Does something on a thread of its own.
fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Receiver<T>> {
    let (report, result) = channel();
    thread::Builder::new().name("sluice-try-engine".to_owned()).spawn(move || {
        // Nobody waits for it any more if the receiver is gone.
        let _ = report.send(work());
    })?;
    Ok(result)
}

/// Reads to the end. Returns the last line with words, without what marks it as an error.
fn last_line(pipe: impl Read) -> Option<String> {
    let mut last = None;
    for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).trim().trim_start_matches("error: ").to_owned();
        if !line.is_empty() {
            last = Some(line);
        }
    }
    last
}

fn end(child: &mut Child) {
    if let Err(error) = child.kill().and_then(|()| child.wait()) {
        tracing::warn!(%error, "the engine that was tried does not end");
    }
}

/// Replaces this process. Returns why it cannot.
#[cfg(unix)]
fn become_program(program: &WorkerProgram) -> io::Error {
    use std::os::unix::process::CommandExt as _;
    command(program).exec()
}

/// Starts it with the pipes of this process, and ends as it does. Returns why it cannot be started.
#[cfg(not(unix))]
fn become_program(program: &WorkerProgram) -> io::Error {
    match command(program).status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
