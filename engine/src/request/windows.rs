//! Long clips in windows.

use serde::{Deserialize, Serialize};

use super::RequestError;

/// Denoises a clip in windows of frames that overlap, so that a clip of any length takes the memory of one window. Each
/// step predicts every window, and blends the predictions where windows overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Windows {
    /// Frames of a window.
    pub frames: u32,
    /// Frames that a window shares with the one before it.
    pub overlap: u32,
}

impl Default for Windows {
    /// What models with 81 frames are used with.
    fn default() -> Self {
        Self { frames: 81, overlap: 16 }
    }
}

impl Windows {
    /// Windows of this many frames with the usual overlap, or with half of them if they are short.
    pub fn of(frames: u32) -> Self {
        Self { frames, overlap: Self::default().overlap.min(frames / 2) }
    }

    /// Checks what can be checked without the model.
    pub fn validate(&self) -> Result<(), RequestError> {
        if self.frames == 0 || self.overlap >= self.frames {
            return Err(RequestError::Windows(*self));
        }
        Ok(())
    }
}
