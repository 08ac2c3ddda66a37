//! Files on the clipboard, as file managers and chats take them.

use std::path::{Path, PathBuf};

use arboard::Clipboard;
use sluice_engine::session::Failure;

use super::FileEvent;
use crate::language::tr;

/// The clipboard, once something was copied. On X11 other programs get the files from it, so it stays.
#[derive(Default)]
pub(super) struct FileClipboard(Option<Clipboard>);

impl FileClipboard {
    /// Copies files. Says what became of it.
    pub(super) fn put(&mut self, files: Vec<PathBuf>) -> FileEvent {
        let files = match files.iter().map(|file| there(file)).collect::<Result<Vec<_>, _>>() {
            Ok(files) => files,
            Err(message) => return failed(message, tr!("files-not-copied-gone")),
        };
        match self.open().and_then(|clipboard| clipboard.set().file_list(&files)) {
            Ok(()) => FileEvent::FilesCopied(files),
            Err(error) => {
                self.0 = None;
                failed(error.to_string(), tr!("files-not-copied-advice"))
            }
        }
    }

    fn open(&mut self) -> Result<&mut Clipboard, arboard::Error> {
        let clipboard = match self.0.take() {
            Some(clipboard) => clipboard,
            None => Clipboard::new()?,
        };
        Ok(self.0.insert(clipboard))
    }
}

/// A file that exists, with its whole path.
fn there(file: &Path) -> Result<PathBuf, String> {
    let named = |error: std::io::Error| format!("{}: {error}", file.display());
    file.metadata().map_err(named)?;
    std::path::absolute(file).map_err(named)
}

fn failed(message: String, advice: String) -> FileEvent {
    FileEvent::Failed { title: tr!("files-not-copied"), failure: Failure { message, advice: Some(advice) } }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{env, fs, process::Command, thread, time::Duration};

    use x11rb::{
        NONE,
        connection::Connection as _,
        protocol::{
            Event,
            xproto::{ConnectionExt as _, CreateWindowAux, WindowClass},
        },
    };

    use super::*;
    use crate::window::x_server::Server;

    /// Where a child of the test finds the files.
    const FOLDER: &str = "SLUICE_TEST_CLIPBOARD";

    #[test]
    fn a_file_that_is_gone_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone.png");
        let FileEvent::Failed { failure, .. } = FileClipboard::default().put(vec![gone]) else {
            panic!("nothing is there");
        };
        assert!(failure.message.contains("gone.png"), "{failure:?}");
    }

    /// Copies files for [`another_program_gets_the_files`], in a process that has its X server as the display.
    #[test]
    #[ignore = "it is a part of the next test"]
    fn copies_in_a_child() {
        let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else { return };
        let mut clipboard = FileClipboard::default();
        let files = vec![folder.join("a boat, 100%.png"), folder.join("ü.mp4")];
        let event = clipboard.put(files.clone());
        assert!(matches!(&event, FileEvent::FilesCopied(copied) if *copied == files), "{event:?}");
        // Until the parent has read them.
        while folder.join("waits").exists() {
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn another_program_gets_the_files() {
        let Some(server) = Server::start() else { return };
        let folder = tempfile::tempdir().unwrap();
        let folder_path = folder.path().canonicalize().unwrap();
        for name in ["a boat, 100%.png", "ü.mp4", "waits"] {
            fs::write(folder_path.join(name), name).unwrap();
        }
        let name = module_path!().split_once("::").unwrap().1;
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", &format!("{name}::copies_in_a_child")])
            .env("DISPLAY", server.display())
            .env_remove("WAYLAND_DISPLAY")
            .env(FOLDER, &folder_path)
            .spawn()
            .unwrap();
        let list = paste(server.display());
        fs::remove_file(folder_path.join("waits")).unwrap();
        assert!(child.wait().unwrap().success());
        let lines: Vec<&str> = list.lines().collect();
        assert_eq!(lines.len(), 2, "{list}");
        for (line, name) in lines.iter().zip(["a boat, 100%.png", "ü.mp4"]) {
            let path = percent_encoding::percent_decode_str(line.strip_prefix("file://").unwrap());
            assert_eq!(fs::read_to_string(&*path.decode_utf8().unwrap()).unwrap(), name);
        }
    }

    /// The list of files on the clipboard, as soon as there is one.
    fn paste(display: &str) -> String {
        let (conn, _) = x11rb::connect(Some(display)).unwrap();
        let atom = |name: &str| conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
        let [clipboard, uri_list, property] = ["CLIPBOARD", "text/uri-list", "_SLUICE_PASTE"].map(atom);
        let (window, root) = (conn.generate_id().unwrap(), conn.setup().roots[0].root);
        let (class, aux) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
        conn.create_window(0, window, root, 0, 0, 1, 1, 0, class, 0, &aux).unwrap();
        for _ in 0..500 {
            conn.convert_selection(window, clipboard, uri_list, property, x11rb::CURRENT_TIME).unwrap();
            conn.flush().unwrap();
            loop {
                let Event::SelectionNotify(answer) = conn.wait_for_event().unwrap() else { continue };
                if answer.property != NONE {
                    let value = conn.get_property(true, window, property, uri_list, 0, 1 << 16).unwrap();
                    return String::from_utf8(value.reply().unwrap().value).unwrap();
                }
                break;
            }
            thread::sleep(Duration::from_millis(40));
        }
        panic!("nothing was copied");
    }
}
