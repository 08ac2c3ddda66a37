//! The source of a drag: what it says to windows below the pointer, and what it answers.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use x11rb::{
    NONE, atom_manager,
    connection::{Connection as _, RequestConnection as _},
    errors::ConnectionError,
    protocol::{
        Event,
        xproto::{
            AtomEnum, CLIENT_MESSAGE_EVENT, ClientMessageEvent, ConnectionExt as _, CreateWindowAux,
            EventMask, KeyButMask, PropMode, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent,
            SelectionRequestEvent, Timestamp, Window, WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use super::{
    Error,
    target::{self, Target},
    uri,
};

/// How often the pointer is asked for.
const TICK: Duration = Duration::from_millis(16);
/// How long a window may take to say whether it takes the files.
const ANSWER: Duration = Duration::from_secs(1);
/// How long it may take to fetch them, since the last time that it asked for something.
const FETCH: Duration = Duration::from_secs(10);
/// What a request needs beside its data.
const HEAD: usize = 64;

atom_manager! {
    /// The names of the protocol.
    pub(super) Atoms: AtomsCookie {
        action_copy: b"XdndActionCopy".as_slice(),
        aware: b"XdndAware",
        drop: b"XdndDrop",
        enter: b"XdndEnter",
        finished: b"XdndFinished",
        leave: b"XdndLeave",
        position: b"XdndPosition",
        proxy: b"XdndProxy",
        selection: b"XdndSelection",
        status: b"XdndStatus",
        targets: b"TARGETS",
        timestamp: b"TIMESTAMP",
        uri_list: b"text/uri-list",
        plain: b"text/plain",
        utf8: b"text/plain;charset=utf-8",
        clock: b"_SLUICE_CLOCK",
    }
}

/// How a drag has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The files were dropped on a window that took them.
    Dropped,
    /// They were dropped on a window that did not take them, or has not said that it did.
    Unfinished,
    /// The button was released where nothing takes them.
    Refused,
    /// It was cancelled, or another drag has begun.
    Cancelled,
}

/// Carries files until the button is released.
pub(super) fn carry(
    display: Option<&str>,
    own: Option<Window>,
    files: &[PathBuf],
    is_cancelled: &AtomicBool,
) -> Result<End, Error> {
    let (conn, screen) = x11rb::connect(display)?;
    let root = conn.setup().roots.get(screen).ok_or(Error::Screen(screen))?.root;
    let atoms = Atoms::new(&conn)?.reply()?;
    let window = conn.generate_id()?;
    let hears = CreateWindowAux::new().override_redirect(1).event_mask(EventMask::PROPERTY_CHANGE);
    conn.create_window(0, window, root, -1, -1, 1, 1, 0, WindowClass::INPUT_ONLY, NONE, &hears)?.check()?;
    let time = clock(&conn, &atoms, window)?;
    conn.set_selection_owner(window, atoms.selection, time)?.check()?;
    if conn.get_selection_owner(atoms.selection)?.reply()?.owner != window {
        return Err(Error::Selection);
    }
    let (uris, text) = (uri::uri_list(files), uri::text(files));
    let mut source = Source {
        conn: &conn,
        atoms,
        window,
        time,
        uris,
        text,
        over: None,
        is_replaced: false,
        is_fetched: None,
        heard: Instant::now(),
    };
    loop {
        source.take_events()?;
        if source.is_replaced || is_cancelled.load(Ordering::Acquire) {
            source.go_over(None)?;
            conn.sync()?;
            return Ok(End::Cancelled);
        }
        let pointer = conn.query_pointer(root)?.reply()?;
        source.go_over(target::below(&conn, &source.atoms, &pointer, own)?)?;
        source.tell([pointer.root_x, pointer.root_y])?;
        conn.flush()?;
        if !pointer.mask.contains(KeyButMask::BUTTON1) {
            return source.release([pointer.root_x, pointer.root_y]);
        }
        thread::sleep(TICK);
    }
}

/// The time of the X server, which a change of a property brings.
fn clock(conn: &RustConnection, atoms: &Atoms, window: Window) -> Result<Timestamp, Error> {
    conn.change_property8(PropMode::APPEND, window, atoms.clock, AtomEnum::STRING, &[])?.check()?;
    loop {
        if let Event::PropertyNotify(change) = conn.wait_for_event()? {
            return Ok(change.time);
        }
    }
}

/// The window below the pointer, and what it was told.
struct Over {
    target: Target,
    /// Whether it takes the files.
    takes: bool,
    /// Where it was told that the pointer is.
    told: Option<[i16; 2]>,
    /// When it was told something that it has not answered.
    waits_since: Option<Instant>,
}

struct Source<'a> {
    conn: &'a RustConnection,
    atoms: Atoms,
    window: Window,
    time: Timestamp,
    uris: Vec<u8>,
    text: Vec<u8>,
    over: Option<Over>,
    /// Whether another drag has begun.
    is_replaced: bool,
    /// Whether the target took the files, once it has said so.
    is_fetched: Option<bool>,
    /// When a window asked for something last.
    heard: Instant,
}

impl Source<'_> {
    /// Leaves a window for another one.
    fn go_over(&mut self, target: Option<Target>) -> Result<(), ConnectionError> {
        if self.over.as_ref().map(|over| over.target) == target {
            return Ok(());
        }
        if let Some(left) = self.over.take() {
            self.say(left.target, self.atoms.leave, [0; 4])?;
        }
        if let Some(target) = target {
            let Atoms { uri_list, utf8, plain, .. } = self.atoms;
            self.say(target, self.atoms.enter, [target.version << 24, uri_list, utf8, plain])?;
            self.over = Some(Over { target, takes: false, told: None, waits_since: None });
        }
        Ok(())
    }

    /// Tells the window where the pointer is, if it has answered before.
    fn tell(&mut self, at: [i16; 2]) -> Result<(), ConnectionError> {
        let Some(over) = &mut self.over else { return Ok(()) };
        if over.told == Some(at) || over.waits_since.is_some() {
            return Ok(());
        }
        (over.told, over.waits_since) = (Some(at), Some(Instant::now()));
        let target = over.target;
        let [x, y] = at.map(|side| u32::from(side.cast_unsigned()));
        self.say(target, self.atoms.position, [0, x << 16 | y, self.time, self.atoms.action_copy])
    }

    /// The button was released: drops the files where they are taken, and waits until they are fetched.
    fn release(&mut self, at: [i16; 2]) -> Result<End, Error> {
        let until = Instant::now() + ANSWER;
        while self.over.as_ref().is_some_and(|over| over.waits_since.is_some() || over.told != Some(at))
            && Instant::now() < until
        {
            self.take_events()?;
            self.tell(at)?;
            self.conn.flush()?;
            thread::sleep(TICK);
        }
        let Some(over) = self.over.as_ref().filter(|over| over.takes && over.waits_since.is_none()) else {
            self.go_over(None)?;
            self.conn.sync()?;
            return Ok(End::Refused);
        };
        self.say(over.target, self.atoms.drop, [0, self.time, 0, 0])?;
        self.conn.flush()?;
        self.heard = Instant::now();
        while self.is_fetched.is_none() && !self.is_replaced && self.heard.elapsed() < FETCH {
            self.take_events()?;
            self.conn.flush()?;
            thread::sleep(TICK);
        }
        Ok(if self.is_fetched == Some(true) { End::Dropped } else { End::Unfinished })
    }

    /// Sends a message of the protocol, whose first number is the source.
    fn say(&self, target: Target, kind: u32, [a, b, c, d]: [u32; 4]) -> Result<(), ConnectionError> {
        let message = ClientMessageEvent {
            response_type: CLIENT_MESSAGE_EVENT,
            format: 32,
            sequence: 0,
            window: target.window,
            type_: kind,
            data: [self.window, a, b, c, d].into(),
        };
        self.conn.send_event(false, target.receiver, EventMask::NO_EVENT, message)?.ignore_error();
        Ok(())
    }

    fn take_events(&mut self) -> Result<(), ConnectionError> {
        while let Some(event) = self.conn.poll_for_event()? {
            match event {
                Event::ClientMessage(message) if message.format == 32 => self.hear(&message),
                Event::SelectionRequest(request) => self.give(&request)?,
                Event::SelectionClear(clear) if clear.selection == self.atoms.selection => {
                    self.is_replaced = true;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A window has answered.
    fn hear(&mut self, message: &ClientMessageEvent) {
        let [from, flags, ..] = message.data.as_data32();
        let Some(over) = self.over.as_mut().filter(|over| over.target.window == from) else { return };
        if message.type_ == self.atoms.status {
            (over.takes, over.waits_since) = (flags & 1 != 0, None);
        } else if message.type_ == self.atoms.finished {
            // Before version 5 there were no flags.
            self.is_fetched = Some(over.target.version < 5 || flags & 1 != 0);
        }
    }

    /// Gives a window what it asks for.
    fn give(&mut self, request: &SelectionRequestEvent) -> Result<(), ConnectionError> {
        self.heard = Instant::now();
        let Self { conn, atoms, uris, text, .. } = self;
        let Atoms { uri_list, utf8, plain, targets, timestamp, .. } = *atoms;
        // Old programs name no property.
        let property = if request.property == NONE { request.target } else { request.property };
        let window = request.requestor;
        let put = |bytes: &[u8]| -> Result<bool, ConnectionError> {
            if bytes.len() + HEAD > conn.maximum_request_bytes() {
                tracing::warn!(bytes = bytes.len(), "too many files are dragged at once");
                return Ok(false);
            }
            conn.change_property8(PropMode::REPLACE, window, property, request.target, bytes)?.ignore_error();
            Ok(true)
        };
        let numbers = |kind: AtomEnum, numbers: &[u32]| -> Result<bool, ConnectionError> {
            conn.change_property32(PropMode::REPLACE, window, property, kind, numbers)?.ignore_error();
            Ok(true)
        };
        let is_given = match request.target {
            _ if request.selection != atoms.selection => false,
            target if target == uri_list => put(uris)?,
            target if target == plain || target == utf8 => put(text)?,
            target if target == targets => {
                numbers(AtomEnum::ATOM, &[targets, timestamp, uri_list, utf8, plain])?
            }
            target if target == timestamp => numbers(AtomEnum::INTEGER, &[self.time])?,
            _ => false,
        };
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: window,
            selection: request.selection,
            target: request.target,
            property: if is_given { property } else { NONE },
        };
        conn.send_event(false, window, EventMask::NO_EVENT, answer)?.ignore_error();
        Ok(())
    }
}
