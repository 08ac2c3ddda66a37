//! A server under test, and a client that may behave as badly as a test wants.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use ::sluice::serve::{DeskOptions, Patience, ServeOptions, serve_with};
use serde_json::Value;
use sluice_engine::{
    memory::MemoryPreferences,
    request::ModelSource,
    session::{Session, SessionOptions},
};
use tempfile::TempDir;
use tokio::sync::oneshot;

/// Far longer than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(120);
pub const TOKEN: &str = "a-token-for-tests";

/// The program in a folder, which is its home, too.
pub fn sluice(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    command.args(arguments).current_dir(folder).env("HOME", folder).env("SLUICE_TOKEN", TOKEN);
    // A second less for each process.
    command.env("SLUICE_UNMEASURED", "1");
    for name in ["SLUICE_LOG", "SLUICE_MODEL_FOLDERS", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// A running server. It ends with this.
pub struct Server {
    /// Unless a thread of this process serves.
    process: Option<Child>,
    /// The thread ends when it is dropped.
    _stop: Option<oneshot::Sender<()>>,
    pub address: SocketAddr,
    pub folder: TempDir,
}

impl Server {
    /// Starts one with these arguments and one thread, which keeps its results in `results`.
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_with_all_threads(&[&["--threads", "1"], arguments].concat())
    }

    /// The same with as many threads as the machine has.
    pub fn start_with_all_threads(arguments: &[&str]) -> Self {
        Self::start_as(arguments, |_, _| ())
    }

    /// Starts one that logs all that it can into the file `log`.
    pub fn start_with_log() -> Self {
        Self::start_as(&["--threads", "1"], |command, folder| {
            command.env("SLUICE_LOG", "trace").stderr(File::create(folder.join("log")).unwrap());
        })
    }

    fn start_as(arguments: &[&str], change: impl FnOnce(&mut Command, &Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let usual = ["serve", "--port", "0", "--output", "results"];
        let mut command = sluice(folder.path(), &[&usual[..], arguments].concat());
        change(&mut command, folder.path());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").expect("no address").parse().unwrap();
        Self { process: Some(process), _stop: None, address, folder }
    }

    /// Starts one that waits for its clients only so long, in a thread.
    pub fn start_with_patience(patience: Patience) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("results");
        let (stop, stopped) = oneshot::channel();
        let (ready, address) = mpsc::channel();
        thread::spawn(move || {
            let desk = DeskOptions {
                folders: Vec::new(),
                listed: None,
                output,
                memory: MemoryPreferences::default(),
                model: ModelSource::Starter,
                pictures: None,
            };
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let options = ServeOptions { address, token: TOKEN.to_owned(), largest_body: 64 << 20, desk };
            let one_thread = SessionOptions { threads: Some(1), ..SessionOptions::default() };
            let session = Session::start(one_thread).unwrap();
            let told = |address| ready.send(address).unwrap();
            let stopped = async {
                let _ = stopped.await;
            };
            serve_with(session, options, patience, told, stopped).unwrap();
        });
        let address = address.recv_timeout(PATIENCE).unwrap();
        Self { process: None, _stop: Some(stop), address, folder }
    }

    /// A request with the token.
    pub fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Response {
        let head = format!("Authorization: Bearer {TOKEN}\r\n");
        match body {
            Some(body) => {
                let head = format!("{head}Content-Type: application/json\r\n");
                self.send(method, path, &head, body.to_string().as_bytes())
            }
            None => self.send(method, path, &head, b""),
        }
    }

    pub fn post(&self, path: &str, body: &Value) -> Response {
        self.ask("POST", path, Some(body))
    }

    pub fn get(&self, path: &str) -> Response {
        self.ask("GET", path, None)
    }

    /// A request with these lines in its header, and this body.
    pub fn send(&self, method: &str, path: &str, head: &str, body: &[u8]) -> Response {
        let mut stream = self.connect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{head}Content-Length: {length}\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses a body may close before all of it is sent.
        let _ = stream.write_all(body);
        Response::read(&mut stream)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Waits until the queue is empty.
    pub fn wait_until_idle(&self) {
        let until = Instant::now() + PATIENCE;
        while self.get("/sdapi/v1/progress").json()["state"]["job_count"] != 0 {
            assert!(Instant::now() < until, "the queue is never empty");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a step of a job is done.
    pub fn wait_for_a_step(&self) {
        let until = Instant::now() + PATIENCE;
        while self.get("/sdapi/v1/progress").json()["state"]["sampling_step"] == 0 {
            assert!(Instant::now() < until, "there is no step");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Response {
    pub fn read(stream: &mut impl Read) -> Self {
        let mut bytes = Vec::new();
        // A connection that is reset after the answer has still answered.
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("no answer");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = bytes[end + 4..].to_vec();
        if head.to_lowercase().contains("transfer-encoding: chunked") {
            body = without_chunks(&body);
        }
        Self { status, head, body }
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The body of an answer that is fine.
    pub fn fine(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }
}

fn without_chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap().trim(), 16).unwrap();
        all.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = &rest[(end + 4 + length).min(rest.len())..];
        if length == 0 {
            break;
        }
    }
    all
}
