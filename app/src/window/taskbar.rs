//! Progress at the program's icon in the taskbar or dock.

/// Shows the progress of the running job; none takes it away.
#[cfg(target_os = "linux")]
pub use launcher::start;

/// Windows and macOS show it in the title only.
#[cfg(not(target_os = "linux"))]
pub fn start() -> Box<dyn FnMut(Option<f64>)> {
    Box::new(|_| ())
}

/// The interface of Unity's launcher, which KDE Plasma and the docks of Ubuntu and elementary OS read, too. See
/// <https://wiki.ubuntu.com/Unity/LauncherAPI>.
#[cfg(target_os = "linux")]
mod launcher {
    use std::{collections::HashMap, thread};

    use crossbeam_channel::{Receiver, Sender, bounded};
    use zbus::{blocking::Connection, zvariant::Value};

    /// The name of the desktop file.
    const PROGRAM: &str = "application://sluice.desktop";
    const PATH: &str = "/com/canonical/unity/launcherentry/1";
    const INTERFACE: &str = "com.canonical.Unity.LauncherEntry";

    /// Connects to the desktop when there is progress for the first time.
    pub fn start() -> Box<dyn FnMut(Option<f64>)> {
        let mut sender = None;
        Box::new(move |progress| {
            if progress.is_none() && sender.is_none() {
                return;
            }
            let sender: &Sender<_> = sender.get_or_insert_with(open);
            // The desktop may be slow: what it has not taken is replaced by the next.
            if sender.try_send(progress).is_err() && progress.is_none() {
                tracing::debug!("the desktop takes no more progress");
            }
        })
    }

    fn open() -> Sender<Option<f64>> {
        let (sender, receiver) = bounded(8);
        let tell = move || {
            if let Err(error) = tell(&receiver) {
                tracing::info!(%error, "the desktop shows no progress");
            }
        };
        if let Err(error) = thread::Builder::new().name("taskbar".to_owned()).spawn(tell) {
            tracing::warn!(%error, "the thread for the taskbar could not be started");
        }
        sender
    }

    fn tell(progress: &Receiver<Option<f64>>) -> zbus::Result<()> {
        let connection = Connection::session()?;
        for first in progress {
            let newest = progress.try_iter().last().unwrap_or(first);
            let properties = HashMap::from([
                ("progress", Value::from(newest.unwrap_or_default())),
                ("progress-visible", Value::from(newest.is_some())),
            ]);
            connection.emit_signal(None::<&str>, PATH, INTERFACE, "Update", &(PROGRAM, properties))?;
        }
        Ok(())
    }
}
