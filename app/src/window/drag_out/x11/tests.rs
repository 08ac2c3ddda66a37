//! Drags on a real X server, into windows that behave in every way.

use std::{
    io::IoSlice,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use x11rb::{
    NONE,
    connection::{Connection as _, RequestConnection as _},
    protocol::{
        Event,
        xproto::{
            AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Window,
            WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use super::source::{Atoms, End, carry};
use crate::window::x_server::Server;

const PATIENCE: Duration = Duration::from_secs(20);
/// Where the windows of the tests are not.
const OUTSIDE: [i16; 2] = [300, 250];
/// Where they are.
const INSIDE: [i16; 2] = [60, 40];

/// A hand on the mouse.
struct Hand(RustConnection);

impl Hand {
    fn new(server: &Server) -> Self {
        Self(x11rb::connect(Some(server.display())).unwrap().0)
    }

    /// `FakeInput` of the extension XTEST, whose feature nothing else needs.
    fn fake(&self, kind: u8, detail: u8, [x, y]: [i16; 2]) {
        let opcode = self.0.extension_information("XTEST").unwrap().unwrap().major_opcode;
        let mut bytes = [0; 36];
        bytes[..2].copy_from_slice(&[opcode, 2]);
        bytes[2..4].copy_from_slice(&9_u16.to_ne_bytes());
        bytes[4..6].copy_from_slice(&[kind, detail]);
        bytes[24..26].copy_from_slice(&x.to_ne_bytes());
        bytes[26..28].copy_from_slice(&y.to_ne_bytes());
        self.0.send_request_without_reply(&[IoSlice::new(&bytes)], Vec::new()).unwrap().check().unwrap();
    }

    fn move_to(&self, at: [i16; 2]) {
        self.fake(6, 0, at);
    }

    fn press(&self) {
        self.fake(4, 1, [0, 0]);
    }

    fn release(&self) {
        self.fake(5, 1, [0, 0]);
    }
}

/// What a window does with what is dragged over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Takes,
    Refuses,
    IsSilent,
    /// Takes files, and says never that it has them.
    NeverFinishes,
}

/// What it has seen.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Enter(Vec<String>),
    Position([u32; 2]),
    Leave,
    Drop(Vec<u8>),
}

/// A window that takes files, or does not.
struct Taker {
    conn: RustConnection,
    atoms: Atoms,
    window: Window,
    manner: Manner,
    seen: Sender<Seen>,
}

impl Taker {
    /// Opens one, with another one that gets its messages if it has a proxy. Returns its id, and what it sees.
    fn open(server: &Server, manner: Manner, has_proxy: bool) -> (Window, Receiver<Seen>) {
        let (conn, _) = x11rb::connect(Some(server.display())).unwrap();
        let atoms = Atoms::new(&conn).unwrap().reply().unwrap();
        let root = conn.setup().roots[0].root;
        let open = |parent, side| {
            let window = conn.generate_id().unwrap();
            let aux = CreateWindowAux::new().override_redirect(1);
            let class = WindowClass::INPUT_OUTPUT;
            conn.create_window(0, window, parent, 0, 0, side, side, 0, class, 0, &aux).unwrap();
            conn.map_window(window).unwrap();
            window
        };
        // As below the frame of a window manager.
        let frame = open(root, 120);
        let window = open(frame, 110);
        let mut receiver = window;
        let number = |window, name, kind, value| {
            conn.change_property32(PropMode::REPLACE, window, name, kind, &[value]).unwrap();
        };
        if has_proxy {
            receiver = open(root, 1);
            for window in [window, receiver] {
                number(window, atoms.proxy, AtomEnum::WINDOW, receiver);
            }
        }
        number(receiver, atoms.aware, AtomEnum::ATOM, 5);
        conn.sync().unwrap();
        let (seen, sees) = channel();
        let mut taker = Self { conn, atoms, window, manner, seen };
        thread::spawn(move || while taker.next().is_some() {});
        (window, sees)
    }

    /// Handles an event. The test ends it by ending the server.
    fn next(&mut self) -> Option<()> {
        let Event::ClientMessage(message) = self.conn.wait_for_event().ok()? else { return Some(()) };
        assert_eq!(message.window, self.window, "a proxy gets the messages of the window");
        let [source, a, b, c, d] = message.data.as_data32();
        let kind = message.type_;
        if kind == self.atoms.enter {
            assert_eq!(a, 5 << 24, "version 5, with three types at most");
            let names = [b, c, d].map(|atom| self.conn.get_atom_name(atom).unwrap().reply().unwrap().name);
            let names = names.into_iter().map(|name| String::from_utf8(name).unwrap()).collect();
            self.seen.send(Seen::Enter(names)).ok()?;
        } else if kind == self.atoms.position {
            assert_eq!(d, self.atoms.action_copy);
            if self.manner != Manner::IsSilent {
                let takes = u32::from(self.manner != Manner::Refuses);
                self.say(source, self.atoms.status, [takes, 0, 0, self.atoms.action_copy]);
            }
            self.seen.send(Seen::Position([b >> 16, b & 0xffff])).ok()?;
        } else if kind == self.atoms.leave {
            self.seen.send(Seen::Leave).ok()?;
        } else if kind == self.atoms.drop {
            let fetched = self.fetch(b)?;
            if self.manner != Manner::NeverFinishes {
                self.say(source, self.atoms.finished, [1, self.atoms.action_copy, 0, 0]);
            }
            self.seen.send(Seen::Drop(fetched)).ok()?;
        }
        Some(())
    }

    /// Fetches the list of files.
    fn fetch(&self, time: u32) -> Option<Vec<u8>> {
        let Atoms { selection, uri_list, clock, .. } = self.atoms;
        self.conn.convert_selection(self.window, selection, uri_list, clock, time).ok()?;
        self.conn.flush().ok()?;
        loop {
            if let Event::SelectionNotify(answer) = self.conn.wait_for_event().ok()? {
                assert_ne!(answer.property, NONE, "the files are given");
                let property = self.conn.get_property(true, self.window, clock, uri_list, 0, 1 << 20);
                return Some(property.ok()?.reply().ok()?.value);
            }
        }
    }

    fn say(&self, source: Window, kind: u32, [a, b, c, d]: [u32; 4]) {
        let message = ClientMessageEvent::new(32, source, kind, [self.window, a, b, c, d]);
        self.conn.send_event(false, source, EventMask::NO_EVENT, message).unwrap();
        self.conn.flush().unwrap();
    }
}

/// The next thing that a window sees, beside further positions.
fn next(sees: &Receiver<Seen>) -> Seen {
    loop {
        match sees.recv_timeout(PATIENCE).expect("the window sees something") {
            Seen::Position(_) => {}
            seen => return seen,
        }
    }
}

fn position(sees: &Receiver<Seen>) -> [u32; 2] {
    match sees.recv_timeout(PATIENCE).expect("the window sees something") {
        Seen::Position(at) => at,
        other => panic!("no position: {other:?}"),
    }
}

/// A drag that has begun over nothing.
struct Begun {
    hand: Hand,
    is_cancelled: Arc<AtomicBool>,
    end: thread::JoinHandle<End>,
}

impl Begun {
    fn new(server: &Server, own: Option<Window>, files: &[PathBuf]) -> Self {
        let hand = Hand::new(server);
        hand.move_to(OUTSIDE);
        hand.press();
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let (display, files, cancelled) =
            (server.display().to_owned(), files.to_vec(), Arc::clone(&is_cancelled));
        let end = thread::spawn(move || carry(Some(&display), own, &files, &cancelled).unwrap());
        Self { hand, is_cancelled, end }
    }

    /// Moves over a window and waits until it is told.
    fn enter(&self, sees: &Receiver<Seen>) {
        self.hand.move_to(INSIDE);
        let types = ["text/uri-list", "text/plain;charset=utf-8", "text/plain"];
        assert_eq!(sees.recv_timeout(PATIENCE).unwrap(), Seen::Enter(types.map(str::to_owned).to_vec()));
        assert_eq!(position(sees), INSIDE.map(|side| side as u32));
    }

    fn end(self) -> End {
        self.end.join().unwrap()
    }
}

fn file(folder: &Path) -> PathBuf {
    let path = folder.join("a boat, 100% ü.png");
    std::fs::write(&path, b"an image").unwrap();
    path
}

#[test]
fn a_window_receives_the_files_that_are_dropped_on_it() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path());
    for has_proxy in [false, true] {
        let (_, sees) = Taker::open(&server, Manner::Takes, has_proxy);
        let drag = Begun::new(&server, None, std::slice::from_ref(&path));
        drag.enter(&sees);
        drag.hand.move_to([70, 50]);
        assert_eq!(position(&sees), [70, 50]);
        drag.hand.release();
        let Seen::Drop(list) = next(&sees) else { panic!("nothing is dropped") };
        assert_eq!(drag.end(), End::Dropped);
        let list = String::from_utf8(list).unwrap();
        let encoded = list.strip_prefix("file://").unwrap().strip_suffix("\r\n").unwrap();
        assert!(encoded.ends_with("a%20boat%2C%20100%25%20%C3%BC.png"), "{encoded}");
        let received = percent_encoding::percent_decode_str(encoded).decode_utf8().unwrap();
        assert_eq!(std::fs::read(&*received).unwrap(), b"an image");
    }
}

#[test]
fn nothing_is_dropped_where_it_is_not_taken() {
    let Some(server) = Server::start() else { return };
    let files = [PathBuf::from("/a.png")];
    for manner in [Manner::Refuses, Manner::IsSilent] {
        let (_, sees) = Taker::open(&server, manner, false);
        let drag = Begun::new(&server, None, &files);
        drag.enter(&sees);
        let start = Instant::now();
        drag.hand.release();
        assert_eq!(drag.end(), End::Refused, "{manner:?}");
        assert!(start.elapsed() < PATIENCE);
        assert_eq!(next(&sees), Seen::Leave, "{manner:?}");
    }
    let (own, sees) = Taker::open(&server, Manner::Takes, false);
    let drag = Begun::new(&server, Some(own), &files);
    drag.hand.move_to(INSIDE);
    thread::sleep(Duration::from_millis(200));
    drag.hand.release();
    assert_eq!(drag.end(), End::Refused);
    assert!(sees.try_recv().is_err(), "the own window is told nothing");
}

#[test]
fn a_drag_that_is_cancelled_leaves() {
    let Some(server) = Server::start() else { return };
    let (_, sees) = Taker::open(&server, Manner::Takes, false);
    let drag = Begun::new(&server, None, &[PathBuf::from("/a.png")]);
    drag.enter(&sees);
    drag.hand.move_to(OUTSIDE);
    assert_eq!(next(&sees), Seen::Leave);
    drag.enter(&sees);
    drag.is_cancelled.store(true, Ordering::Release);
    assert_eq!(next(&sees), Seen::Leave);
    assert_eq!(drag.end(), End::Cancelled);
}

#[test]
fn a_window_that_never_finishes_is_not_waited_for_when_another_drag_begins() {
    let Some(server) = Server::start() else { return };
    let (_, sees) = Taker::open(&server, Manner::NeverFinishes, false);
    let files = [PathBuf::from("/a.png"), PathBuf::from("/b.png")];
    let drag = Begun::new(&server, None, &files);
    drag.enter(&sees);
    drag.hand.release();
    assert_eq!(next(&sees), Seen::Drop(b"file:///a.png\r\nfile:///b.png\r\n".to_vec()));
    let start = Instant::now();
    let another = Begun::new(&server, None, &files);
    assert_eq!(drag.end(), End::Unfinished);
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    another.is_cancelled.store(true, Ordering::Release);
    assert_eq!(another.end(), End::Cancelled);
}
