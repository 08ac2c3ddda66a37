//! What is heard of the clip that is shown.

use std::sync::Arc;

use sluice_engine::output::Clip;

use super::{HeardPart, RecentId, State};

impl State {
    /// The clip with sound that is playing and the part of it that is heard.
    pub fn heard(&self) -> Option<(RecentId, &Arc<Clip>, HeardPart)> {
        let (id, clip) = self.with_sound().filter(|_| !self.settings.muted)?;
        Some((id, clip, self.player.playback(id)?.heard()?))
    }

    /// Whether clips are muted; `None` if the clip that is shown has no sound.
    pub fn muted(&self) -> Option<bool> {
        self.with_sound().map(|_| self.settings.muted)
    }

    fn with_sound(&self) -> Option<(RecentId, &Arc<Clip>)> {
        let shown = self.images.shown_recent()?;
        Some((shown.id, shown.clip().filter(|clip| clip.sound.is_some())?))
    }
}
