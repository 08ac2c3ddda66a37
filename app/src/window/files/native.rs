//! Whether the system has dialogs for files. On Linux they are those of the desktop's portal or else of zenity, and a dialog
//! that does not open looks like one that was closed.

use std::{env, ffi::OsStr, os::unix::fs::PermissionsExt, time::Duration};

use zbus::blocking::{Connection, connection::Builder};

const SERVICE: &str = "org.freedesktop.portal.Desktop";
const PATH: &str = "/org/freedesktop/portal/desktop";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
/// What a portal has only if the desktop can choose files.
const CHOOSER: &str = "org.freedesktop.portal.FileChooser";
/// The library through which `rfd` asks the portal.
const LIBRARIES: [&str; 2] = ["libdbus-1.so.3", "libdbus-1.so"];
/// How long that library waits for a portal to start.
const PATIENCE: Duration = Duration::from_secs(25);

/// Whether a dialog of the system can be opened.
pub(super) fn has_dialogs() -> bool {
    let portal = || Builder::session()?.method_timeout(PATIENCE).build().and_then(|bus| ask(&bus));
    let is_there = portal().inspect_err(|error| tracing::info!(%error, "no portal chooses files"));
    is_there.is_ok() && has_library() || has_program("zenity", &env::var_os("PATH").unwrap_or_default())
}

/// Asks a portal for something of its dialogs, which starts it.
fn ask(bus: &Connection) -> zbus::Result<()> {
    bus.call_method(Some(SERVICE), PATH, Some(PROPERTIES), "Get", &(CHOOSER, "version")).map(drop)
}

fn has_library() -> bool {
    LIBRARIES.iter().any(|name| {
        // SAFETY: loading libdbus runs no code but its own initialisation. Nothing of it is used, so it may be unloaded again;
        // whoever shows dialogs loads it anew.
        unsafe { libloading::Library::new(*name) }.is_ok()
    })
}

/// Whether one of these folders has a program.
fn has_program(name: &str, folders: &OsStr) -> bool {
    env::split_paths(folders).any(|folder| {
        let data = folder.join(name).metadata();
        data.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::net::UnixStream};

    use zbus::{Guid, interface};

    use super::*;

    /// The part of a portal that opens dialogs.
    struct Chooser;

    #[interface(name = "org.freedesktop.portal.FileChooser")]
    impl Chooser {
        #[zbus(property, name = "version")]
        fn version(&self) -> u32 {
            4
        }
    }

    /// The part of a portal that has nothing to do with files.
    struct Camera;

    #[interface(name = "org.freedesktop.portal.Camera")]
    impl Camera {
        #[zbus(property, name = "version")]
        fn version(&self) -> u32 {
            1
        }
    }

    #[test]
    fn a_portal_without_dialogs_for_files_is_none() {
        for has_chooser in [true, false] {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let serve = std::thread::spawn(move || {
                let server = Builder::async_io_unix_stream(theirs).server(Guid::generate()).unwrap().p2p();
                let server = server.serve_at(PATH, Camera).unwrap();
                let server = if has_chooser { server.serve_at(PATH, Chooser).unwrap() } else { server };
                server.build().unwrap()
            });
            let client = Builder::async_io_unix_stream(ours).p2p().build().unwrap();
            let _server = serve.join().unwrap();
            assert_eq!(ask(&client).is_ok(), has_chooser);
        }
    }

    #[test]
    fn only_what_can_be_run_is_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let (empty, full) = (folder.path().join("empty"), folder.path().join("full"));
        for folder in [&empty, &full] {
            fs::create_dir(folder).unwrap();
        }
        let folders = env::join_paths([&empty, &full]).unwrap();
        let program = full.join("zenity");
        assert!(!has_program("zenity", &folders));
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(!has_program("zenity", &folders));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(has_program("zenity", &folders));
        assert!(!has_program("zenity", OsStr::new("")));
    }
}
