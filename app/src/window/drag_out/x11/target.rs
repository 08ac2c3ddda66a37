//! The window below the pointer that takes what is dragged.

use x11rb::{
    NONE,
    errors::{ConnectionError, ReplyError},
    protocol::xproto::{AtomEnum, ConnectionExt as _, QueryPointerReply, Window},
    rust_connection::RustConnection,
};

use super::source::Atoms;

/// The oldest version that is spoken, and the newest.
const VERSIONS: std::ops::RangeInclusive<u32> = 3..=5;

/// A window that takes what is dragged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    /// The window.
    pub(super) window: Window,
    /// The one that gets its messages.
    pub(super) receiver: Window,
    /// The version that both speak.
    pub(super) version: u32,
}

/// Finds it from the root window on. The program's own window takes nothing from itself.
pub(super) fn below(
    conn: &RustConnection,
    atoms: &Atoms,
    pointer: &QueryPointerReply,
    own: Option<Window>,
) -> Result<Option<Target>, ConnectionError> {
    if pointer.child == NONE {
        return Target::of(conn, atoms, pointer.root);
    }
    let mut window = pointer.child;
    while window != NONE && Some(window) != own {
        if let Some(target) = Target::of(conn, atoms, window)? {
            return Ok(Some(target));
        }
        window = match there(conn.query_pointer(window)?.reply())? {
            Some(inside) => inside.child,
            None => return Ok(None),
        };
    }
    Ok(None)
}

impl Target {
    /// A window, if it takes what is dragged.
    fn of(conn: &RustConnection, atoms: &Atoms, window: Window) -> Result<Option<Self>, ConnectionError> {
        let proxy_of = |window| value(conn, window, atoms.proxy, AtomEnum::WINDOW.into());
        let receiver = match proxy_of(window)? {
            // One that does not name itself is left over from a program that is gone.
            Some(proxy) if proxy_of(proxy)? == Some(proxy) => proxy,
            _ => window,
        };
        let version = value(conn, receiver, atoms.aware, AtomEnum::ATOM.into())?;
        let version = version.filter(|version| version >= VERSIONS.start());
        Ok(version.map(|version| Self { window, receiver, version: version.min(*VERSIONS.end()) }))
    }
}

/// The first number of a property.
fn value(
    conn: &RustConnection,
    window: Window,
    property: u32,
    kind: u32,
) -> Result<Option<u32>, ConnectionError> {
    let reply = there(conn.get_property(false, window, property, kind, 0, 1)?.reply())?;
    Ok(reply.and_then(|reply| reply.value32()?.next()))
}

/// The reply about a window, which may be gone by now.
fn there<T>(reply: Result<T, ReplyError>) -> Result<Option<T>, ConnectionError> {
    match reply {
        Ok(reply) => Ok(Some(reply)),
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(ReplyError::ConnectionError(error)) => Err(error),
    }
}
