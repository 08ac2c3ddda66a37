//! Plays the sound of clips. Where there is no device, clips play silently.

mod decode;
#[cfg(target_os = "linux")]
#[path = "alsa.rs"]
mod device;
#[cfg(not(target_os = "linux"))]
#[path = "cpal.rs"]
mod device;
mod speaker;

pub use decode::{Waves, decode};
pub use speaker::{Heard, Open, Output, Speaker};

/// Why there is no sound.
#[derive(Debug, thiserror::Error)]
pub enum SoundError {
    /// The packets of a clip cannot be decoded.
    #[error("the sound cannot be decoded: {0}")]
    Decode(String),
    /// No device plays it.
    #[error("no device plays sound: {0}")]
    Device(String),
    /// The thread could not be started.
    #[error("the thread for sound could not be started: {0}")]
    Thread(#[from] std::io::Error),
}
