//! Progress at the program's icon in the taskbar or dock: on Linux and Windows. macOS shows it in the title only.

#[cfg(windows)]
mod button;
#[cfg(target_os = "linux")]
mod launcher;

#[cfg(any(target_os = "linux", windows))]
use std::thread;

#[cfg(any(target_os = "linux", windows))]
use crossbeam_channel::{Receiver, Sender, bounded};

#[cfg(windows)]
use button::tell;
#[cfg(target_os = "linux")]
use launcher::tell;

/// Shows the progress of the running job; none takes it away. Connects to the desktop when there is progress for the first
/// time.
#[cfg(any(target_os = "linux", windows))]
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

/// Shows nothing.
#[cfg(not(any(target_os = "linux", windows)))]
pub fn start() -> Box<dyn FnMut(Option<f64>)> {
    Box::new(|_| ())
}

/// Sends what the desktop has to show now, in the place of what it has not taken yet: it may be slow.
#[cfg(any(target_os = "linux", windows))]
fn replace(sender: &Sender<Option<f64>>, receiver: &Receiver<Option<f64>>, progress: Option<f64>) {
    let _not_taken = receiver.try_recv();
    if let Err(error) = sender.try_send(progress) {
        tracing::debug!(%error, "the desktop is not told of progress");
    }
}

/// Both ends of the way to the thread that tells the desktop.
#[cfg(any(target_os = "linux", windows))]
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

#[cfg(all(test, any(target_os = "linux", windows)))]
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
