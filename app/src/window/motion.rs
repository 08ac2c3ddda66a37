//! Whether the system asks for less motion.

#[cfg(target_os = "macos")]
mod mac;
#[cfg(target_os = "linux")]
mod portal;
#[cfg(windows)]
mod windows;

use crossbeam_channel::{Receiver, Sender, bounded};

#[cfg(target_os = "macos")]
use mac::tell;
#[cfg(target_os = "linux")]
use portal::tell;
#[cfg(windows)]
use windows::tell;

use super::files::Wake;

/// Says whether motion is to be reduced, now and on Linux whenever that changes. Where it is not known, nothing is said.
pub fn follow(wake: Wake) -> Receiver<bool> {
    let (sender, receiver) = bounded(4);
    let follow = move || {
        let said = Said { sender, wake };
        if let Err(error) = tell(&said) {
            tracing::info!(%error, "it is not known whether the system asks for less motion");
        }
    };
    // The system answers when it likes.
    if let Err(error) = std::thread::Builder::new().name("sluice-motion".to_owned()).spawn(follow) {
        tracing::warn!(%error, "the thread that asks the system about motion could not be started");
    }
    receiver
}

/// Where it is said.
struct Said {
    sender: Sender<bool>,
    wake: Wake,
}

impl Said {
    /// Returns whether somebody listens.
    fn say(&self, reduced: bool) -> bool {
        let is_heard = self.sender.send(reduced).is_ok();
        if is_heard {
            (self.wake)();
        }
        is_heard
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn tell(_: &Said) -> Result<(), std::convert::Infallible> {
    Ok(())
}
