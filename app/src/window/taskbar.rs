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
        let mut ends = None;
        Box::new(move |progress| {
            if progress.is_none() && ends.is_none() {
                return;
            }
            let (sender, receiver) = ends.get_or_insert_with(open);
            replace(sender, receiver, progress);
        })
    }

    /// Sends what the desktop has to show now, in the place of what it has not taken yet: it may be slow.
    fn replace(sender: &Sender<Option<f64>>, receiver: &Receiver<Option<f64>>, progress: Option<f64>) {
        let _not_taken = receiver.try_recv();
        if let Err(error) = sender.try_send(progress) {
            tracing::debug!(%error, "the desktop is not told of progress");
        }
    }

    /// Both ends of the way to the thread that tells the desktop.
    fn open() -> (Sender<Option<f64>>, Receiver<Option<f64>>) {
        let (sender, receiver) = bounded(1);
        let progress = receiver.clone();
        let tell = move || {
            if let Err(error) = tell(&progress) {
                tracing::info!(%error, "the desktop shows no progress");
            }
        };
        if let Err(error) = thread::Builder::new().name("taskbar".to_owned()).spawn(tell) {
            tracing::warn!(%error, "the thread for the taskbar could not be started");
        }
        (sender, receiver)
    }

    fn tell(progress: &Receiver<Option<f64>>) -> zbus::Result<()> {
        let connection = Connection::session()?;
        for share in progress {
            let properties = HashMap::from([
                ("progress", Value::from(share.unwrap_or_default())),
                ("progress-visible", Value::from(share.is_some())),
            ]);
            connection.emit_signal(None::<&str>, PATH, INTERFACE, "Update", &(PROGRAM, properties))?;
        }
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_slow_desktop_is_told_the_newest() {
            let (sender, receiver) = bounded(1);
            for progress in [Some(0.25), Some(0.5), None] {
                replace(&sender, &receiver, progress);
            }
            assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [None]);
        }
    }
}
