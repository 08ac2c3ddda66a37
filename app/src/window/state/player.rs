//! The clip in the viewer and how it is played.

use std::collections::HashMap;

use super::{Control, Playback, RecentId};

/// Plays the clip that the viewer shows. Speed and boomerang stay for the next clip, a range belongs to its clip.
#[derive(Debug)]
pub struct Player {
    current: Option<(RecentId, Playback)>,
    ranges: HashMap<RecentId, (u32, u32)>,
    speed: f64,
    boomerang: bool,
}

impl Default for Player {
    fn default() -> Self {
        Self { current: None, ranges: HashMap::new(), speed: 1.0, boomerang: false }
    }
}

impl Player {
    /// The clip being played.
    pub fn current(&self) -> Option<(RecentId, &Playback)> {
        self.current.as_ref().map(|(id, playback)| (*id, playback))
    }

    /// How a clip is played, if it is the one being played.
    pub fn playback(&self, id: RecentId) -> Option<&Playback> {
        self.current().filter(|(current, _)| *current == id).map(|(_, playback)| playback)
    }

    /// Plays the clip that is shown now, from its start if another one was shown before. `shown` has its number of
    /// frames and their rate.
    pub fn follow(&mut self, shown: Option<(RecentId, u32, f32)>, now: f64) {
        let Some((id, frames, rate)) = shown else {
            self.current = None;
            return;
        };
        if self.current.as_ref().is_some_and(|(current, _)| *current == id) {
            return;
        }
        let mut playback = Playback::new(frames, f64::from(rate), now);
        if let Some(&(first, last)) = self.ranges.get(&id) {
            playback.control(Control::Last(last), now);
            playback.control(Control::First(first), now);
        }
        playback.control(Control::Speed(self.speed), now);
        playback.control(Control::Boomerang(self.boomerang), now);
        self.current = Some((id, playback));
    }

    /// Executes a command.
    pub fn control(&mut self, control: Control, now: f64) {
        let Some((id, playback)) = &mut self.current else { return };
        playback.control(control, now);
        (self.speed, self.boomerang) = (playback.speed(), playback.boomerang());
        match playback.is_trimmed() {
            true => drop(self.ranges.insert(*id, playback.range())),
            false => drop(self.ranges.remove(id)),
        }
    }

    /// Forgets the ranges of clips that are no longer listed.
    pub fn keep(&mut self, is_listed: impl Fn(RecentId) -> bool) {
        self.ranges.retain(|&id, _| is_listed(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_stays_with_its_clip_and_the_speed_with_the_user() {
        let (a, b) = (RecentId(1), RecentId(2));
        let mut player = Player::default();
        player.follow(Some((a, 20, 10.0)), 0.0);
        player.control(Control::First(5), 0.0);
        player.control(Control::Speed(0.5), 0.0);
        player.follow(Some((b, 30, 10.0)), 1.0);
        let playback = player.playback(b).unwrap();
        assert_eq!((playback.range(), playback.speed(), playback.frame(1.0)), ((0, 29), 0.5, 0));
        player.follow(Some((a, 20, 10.0)), 2.0);
        let playback = player.playback(a).unwrap();
        assert_eq!((playback.range(), playback.frame(2.0)), ((5, 19), 5));
        player.follow(None, 3.0);
        assert!(player.current().is_none());
        player.keep(|id| id == b);
        assert!(player.ranges.is_empty());
    }
}
