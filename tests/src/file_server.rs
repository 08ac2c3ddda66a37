//! An HTTP server on this computer that serves files, and has the faults of real ones if it is told to.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The path with the query.
    pub path: String,
    /// The name of the server, as the client knows it.
    pub host: String,
    /// The first byte of the part that is wanted.
    pub from: Option<usize>,
    /// The token.
    pub token: Option<String>,
}

/// What is sent.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers beside those of the length and the end.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The size that is announced, if it is not that of the body.
    pub announced: Option<usize>,
    /// The connection ends after so many bytes of the body.
    pub cut: Option<usize>,
    /// Nothing is sent for so long after half of the body.
    pub stall: Option<Duration>,
    /// The body is sent in pieces of so many bytes, with a pause after each.
    pub slowly: Option<(usize, Duration)>,
}

impl Answer {
    /// A status without a body.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            announced: None,
            cut: None,
            stall: None,
            slowly: None,
        }
    }

    /// A text.
    pub fn text(text: &str) -> Self {
        Self { body: text.as_bytes().to_vec(), ..Self::status(200) }
    }

    /// A file, or the part of it that was asked for.
    pub fn file(contents: &[u8], asked: &Asked) -> Self {
        let whole = contents.len();
        let answer = match asked.from {
            None => Self { body: contents.to_vec(), ..Self::status(200) },
            Some(from) if from >= whole => {
                Self::status(416).with("Content-Range", &format!("bytes */{whole}"))
            }
            Some(from) => Self { body: contents[from..].to_vec(), ..Self::status(206) }
                .with("Content-Range", &format!("bytes {from}-{}/{whole}", whole - 1)),
        };
        answer.with("Accept-Ranges", "bytes").with("ETag", "\"first\"")
    }

    /// A redirect.
    pub fn to(address: &str) -> Self {
        Self::status(302).with("Location", address)
    }

    /// With a header, in place of another one of the same name.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// The server. It ends when it is dropped.
pub struct FileServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    is_over: Arc<AtomicBool>,
}

impl FileServer {
    /// Starts it. `answers` decides what is sent.
    ///
    /// # Errors
    /// If no port is free.
    pub fn start(answers: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let is_over = Arc::new(AtomicBool::new(false));
        let (answers, all, over) = (Arc::new(answers), Arc::clone(&asked), Arc::clone(&is_over));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let (answers, all) = (Arc::clone(&answers), Arc::clone(&all));
                thread::spawn(move || {
                    let Some(asked) = read(&stream) else { return };
                    all.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
                    // The client may have gone.
                    let _ = send(&stream, &answers(&asked));
                });
            }
        });
        Ok(Self { address, asked, is_over })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its address under another name.
    pub fn other_url(&self) -> String {
        format!("http://localhost:{}", self.address.port())
    }

    /// What was asked for until now.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener.
        drop(TcpStream::connect(self.address));
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut lines = BufReader::new(stream).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let mut asked = Asked { path, host: String::new(), from: None, token: None };
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" => asked.host = value.to_owned(),
            "range" => asked.from = value.strip_prefix("bytes=")?.trim_end_matches('-').parse().ok(),
            "authorization" => asked.token = value.strip_prefix("Bearer ").map(str::to_owned),
            _ => {}
        }
    }
    Some(asked)
}

fn send(mut stream: &TcpStream, answer: &Answer) -> io::Result<()> {
    let Answer { status, headers, body, announced, cut, stall, slowly } = answer;
    let mut head = format!("HTTP/1.1 {status} x\r\nConnection: close\r\n");
    head += &format!("Content-Length: {}\r\n", announced.unwrap_or(body.len()));
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    let body = &body[..cut.unwrap_or(body.len()).min(body.len())];
    if let Some(stall) = stall {
        let (first, rest) = body.split_at(body.len() / 2);
        stream.write_all(first)?;
        stream.flush()?;
        thread::sleep(*stall);
        return stream.write_all(rest);
    }
    match slowly {
        None => stream.write_all(body),
        Some((size, pause)) => body.chunks(*size).try_for_each(|piece| {
            stream.write_all(piece)?;
            thread::sleep(*pause);
            Ok(())
        }),
    }
}
