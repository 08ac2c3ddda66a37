//! Which frame of a clip is shown when. No drawing.

/// The playback speeds, as factors.
pub const SPEEDS: [f64; 6] = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0];

/// A command of the player. Frames are numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Control {
    /// Play or pause.
    Toggle,
    /// Pause this many frames later, or earlier if it is negative. The first frame follows the last.
    Step(i32),
    /// Pause at a frame.
    Go(u32),
    /// Show a frame while the pointer holds the scrub bar.
    Scrub(u32),
    /// The pointer lets go of the scrub bar: continue if the clip was playing.
    Release,
    /// Change the speed.
    Speed(f64),
    /// Play forwards and backwards in turn, or only forwards.
    Boomerang(bool),
    /// Set the first frame of the range that is played.
    First(u32),
    /// Set the last frame of the range that is played.
    Last(u32),
    /// Play all frames.
    Whole,
}

/// The frame that a clip of another rate shows when a frame begins.
pub fn same_moment(frame: u32, rate: f64, other: f64) -> u32 {
    // A frame that begins at the same time must not be missed by an error of rounding.
    (f64::from(frame) / rate * other + 1e-6).floor() as u32
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Position {
    /// Moves through the cycle from a place in it, in frames, since a time in seconds.
    Playing { from: f64, since: f64 },
    /// Stays at a frame. `resumes` while a playing clip is scrubbed.
    Paused { frame: u32, resumes: bool },
}

/// The part of a clip that is heard again and again, in seconds of the clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeardPart {
    /// Where it starts.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// The place that was heard at `since`.
    pub from: f64,
    /// A time in seconds.
    pub since: f64,
}

impl HeardPart {
    /// The place that is heard at a time.
    pub fn at(&self, now: f64) -> f64 {
        let length = (self.end - self.start).max(f64::EPSILON);
        self.start + (self.from - self.start + (now - self.since).max(0.0)).rem_euclid(length)
    }
}

/// How a clip is played.
#[derive(Debug, Clone, PartialEq)]
pub struct Playback {
    frames: u32,
    rate: f64,
    range: (u32, u32),
    boomerang: bool,
    speed: f64,
    position: Position,
}

impl Playback {
    /// Plays a clip from its first frame on. `rate` is in frames per second, `now` in seconds.
    pub fn new(frames: u32, rate: f64, now: f64) -> Self {
        let frames = frames.max(1);
        let rate = if rate.is_finite() && rate > 0.0 { rate } else { 1.0 };
        let position = Position::Playing { from: 0.0, since: now };
        Self { frames, rate, range: (0, frames - 1), boomerang: false, speed: 1.0, position }
    }

    /// Number of frames of the clip.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// Frames per second of the clip.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The first and the last frame that are played.
    pub fn range(&self) -> (u32, u32) {
        self.range
    }

    /// Whether only a part is played.
    pub fn is_trimmed(&self) -> bool {
        self.range != (0, self.frames - 1)
    }

    /// Whether it plays forwards and backwards in turn.
    pub fn boomerang(&self) -> bool {
        self.boomerang
    }

    /// The speed as a factor.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Whether it is playing.
    pub fn is_playing(&self) -> bool {
        matches!(self.position, Position::Playing { .. })
    }

    /// Whether it plays again when the scrub bar is released.
    pub fn resumes(&self) -> bool {
        matches!(self.position, Position::Paused { resumes: true, .. })
    }

    /// When a frame begins, in seconds at normal speed.
    pub fn seconds(&self, frame: u32) -> f64 {
        f64::from(frame) / self.rate
    }

    /// The frame to show.
    pub fn frame(&self, now: f64) -> u32 {
        match self.position {
            Position::Paused { frame, .. } => frame,
            Position::Playing { from, since } => {
                let (first, last) = self.range;
                let turn = last - first;
                let place = self.place(from, since, now) as u32 % self.cycle();
                first + if place <= turn { place } else { 2 * turn - place }
            }
        }
    }

    /// Seconds until another frame is shown, if time changes it.
    pub fn until_next(&self, now: f64) -> Option<f64> {
        match self.position {
            Position::Playing { from, since } if self.range.0 < self.range.1 => {
                let place = self.place(from, since, now);
                Some((place.floor() + 1.0 - place) / (self.rate * self.speed))
            }
            _ => None,
        }
    }

    /// What is heard: the part that is repeated, in seconds of the clip, and where it was at a time. `None` unless it plays
    /// forwards at normal speed.
    pub fn heard(&self) -> Option<HeardPart> {
        match self.position {
            Position::Playing { from, since } if self.speed == 1.0 && !self.boomerang => {
                let (first, last) = self.range;
                let start = self.seconds(first);
                Some(HeardPart { start, end: self.seconds(last + 1), from: start + from / self.rate, since })
            }
            _ => None,
        }
    }

    /// Executes a command.
    pub fn control(&mut self, control: Control, now: f64) {
        let shown = self.frame(now);
        match control {
            Control::Toggle if self.is_playing() => self.pause(shown),
            Control::Toggle => self.play(shown, now),
            Control::Step(by) => {
                let target = (i64::from(shown) + i64::from(by)).rem_euclid(i64::from(self.frames));
                self.pause(target as u32);
            }
            Control::Go(frame) => self.pause(frame),
            Control::Scrub(frame) => {
                let resumes = self.is_playing() || self.resumes();
                self.position = Position::Paused { frame: frame.min(self.frames - 1), resumes };
            }
            Control::Release if self.resumes() => self.play(shown, now),
            Control::Release => {}
            Control::Speed(speed) => self.change(now, |playback| {
                playback.speed = speed.clamp(SPEEDS[0], SPEEDS[SPEEDS.len() - 1]);
            }),
            Control::Boomerang(on) => self.change(now, |playback| playback.boomerang = on),
            Control::First(frame) => self.change(now, |playback| {
                let first = frame.min(playback.frames - 1);
                playback.range = (first, playback.range.1.max(first));
            }),
            Control::Last(frame) => self.change(now, |playback| {
                let last = frame.min(playback.frames - 1);
                playback.range = (playback.range.0.min(last), last);
            }),
            Control::Whole => self.change(now, |playback| playback.range = (0, playback.frames - 1)),
        }
    }

    /// Changes how it plays, without a jump.
    fn change(&mut self, now: f64, change: impl FnOnce(&mut Self)) {
        let (frame, playing) = (self.frame(now), self.is_playing());
        change(self);
        if playing {
            self.play(frame, now);
        }
    }

    fn pause(&mut self, frame: u32) {
        self.position = Position::Paused { frame: frame.min(self.frames - 1), resumes: false };
    }

    /// Plays from a frame, or from the start of the range if the frame is outside.
    fn play(&mut self, frame: u32, now: f64) {
        let (first, last) = self.range;
        let from = if (first..=last).contains(&frame) { frame - first } else { 0 };
        self.position = Position::Playing { from: f64::from(from), since: now };
    }

    /// The number of frames until playback repeats.
    fn cycle(&self) -> u32 {
        let turn = self.range.1 - self.range.0;
        match self.boomerang && turn > 0 {
            true => 2 * turn,
            false => turn + 1,
        }
    }

    fn place(&self, from: f64, since: f64, now: f64) -> f64 {
        let passed = (now - since).max(0.0) * self.rate * self.speed;
        (from + passed).rem_euclid(f64::from(self.cycle()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 10.0;

    /// The frame in the middle of each of the first tenths of a second.
    fn played(playback: &Playback, count: u32) -> Vec<u32> {
        (0..count).map(|tenth| playback.frame(f64::from(tenth) / RATE + 0.05)).collect()
    }

    #[test]
    fn a_clip_loops_or_turns_around() {
        let mut playback = Playback::new(4, RATE, 0.0);
        assert_eq!(played(&playback, 9), [0, 1, 2, 3, 0, 1, 2, 3, 0]);
        playback.control(Control::Boomerang(true), 0.0);
        assert_eq!(played(&playback, 9), [0, 1, 2, 3, 2, 1, 0, 1, 2]);
    }

    #[test]
    fn only_the_range_is_played_and_one_frame_does_not_move() {
        let mut playback = Playback::new(6, RATE, 0.0);
        playback.control(Control::First(2), 0.0);
        playback.control(Control::Last(4), 0.0);
        assert_eq!(played(&playback, 5), [2, 3, 4, 2, 3]);
        assert!(playback.is_trimmed());
        playback.control(Control::Last(1), 0.0);
        assert_eq!((playback.range(), playback.frame(7.7), playback.until_next(7.7)), ((1, 1), 1, None));
        playback.control(Control::Boomerang(true), 0.0);
        assert_eq!(played(&playback, 3), [1, 1, 1]);
        playback.control(Control::Whole, 0.0);
        assert!(!playback.is_trimmed());
        let still = Playback::new(1, RATE, 0.0);
        assert_eq!((still.frame(3.0), still.until_next(3.0)), (0, None));
    }

    #[test]
    fn the_next_frame_is_announced_exactly() {
        let mut playback = Playback::new(30, 30.0, 5.0);
        playback.control(Control::Speed(0.5), 5.0);
        let mut now = 5.0;
        for frame in 1..100 {
            now += playback.until_next(now).unwrap() + 1e-6;
            assert_eq!(playback.frame(now), frame % 30, "at {now}");
        }
        assert!((now - 5.0 - 99.0 / 15.0).abs() < 1e-3);
    }

    #[test]
    fn only_normal_playing_is_heard() {
        let mut playback = Playback::new(8, RATE, 2.0);
        let whole = HeardPart { start: 0.0, end: 0.8, from: 0.0, since: 2.0 };
        assert_eq!(playback.heard(), Some(whole));
        assert!((whole.at(2.5) - 0.5).abs() < 1e-9 && (whole.at(3.0) - 0.2).abs() < 1e-9);
        playback.control(Control::First(3), 2.55);
        let part = HeardPart { start: 0.3, end: 0.8, from: 0.5, since: 2.55 };
        let heard = playback.heard().unwrap();
        assert!((heard.start - part.start).abs() < 1e-9 && (heard.from - part.from).abs() < 1e-9);
        assert!((heard.at(3.0) - 0.45).abs() < 1e-9, "it starts again at 0.3 s");
        for silent in [Control::Speed(0.5), Control::Boomerang(true), Control::Toggle] {
            let mut playback = playback.clone();
            playback.control(silent, 3.0);
            assert_eq!(playback.heard(), None, "{silent:?}");
        }
    }

    #[test]
    fn steps_pause_and_go_around() {
        let mut playback = Playback::new(4, RATE, 0.0);
        playback.control(Control::Step(1), 0.25);
        assert_eq!((playback.is_playing(), playback.frame(9.0)), (false, 3));
        playback.control(Control::Step(1), 9.0);
        assert_eq!(playback.frame(9.0), 0);
        playback.control(Control::Step(-1), 9.0);
        assert_eq!(playback.frame(9.0), 3);
        assert_eq!(playback.until_next(9.0), None);
        playback.control(Control::Toggle, 10.0);
        assert_eq!((playback.frame(10.05), playback.frame(10.15)), (3, 0));
    }

    #[test]
    fn scrubbing_holds_and_then_continues_only_what_was_playing() {
        let mut playback = Playback::new(8, RATE, 0.0);
        playback.control(Control::Scrub(5), 0.1);
        playback.control(Control::Scrub(6), 0.9);
        assert_eq!((playback.is_playing(), playback.frame(2.0)), (false, 6));
        playback.control(Control::Release, 2.0);
        assert_eq!((playback.is_playing(), playback.frame(2.15)), (true, 7));
        playback.control(Control::Toggle, 2.15);
        playback.control(Control::Scrub(99), 3.0);
        playback.control(Control::Release, 3.0);
        assert_eq!((playback.is_playing(), playback.frame(4.0)), (false, 7));
    }

    #[test]
    fn a_clip_of_another_rate_shows_the_same_moment() {
        assert!((0..200).all(|frame| same_moment(frame, 24.0, 24.0) == frame));
        assert_eq!([0, 1, 2, 3].map(|frame| same_moment(frame, 8.0, 16.0)), [0, 2, 4, 6]);
        assert_eq!([0, 1, 2, 3].map(|frame| same_moment(frame, 16.0, 8.0)), [0, 0, 1, 1]);
        assert_eq!(same_moment(48, 24.0, 16.0), 32);
    }

    #[test]
    fn a_change_of_speed_does_not_jump() {
        let mut playback = Playback::new(100, RATE, 0.0);
        playback.control(Control::Speed(2.0), 1.05);
        assert_eq!((playback.frame(1.05), playback.frame(1.16)), (10, 12));
        playback.control(Control::Speed(9.0), 1.16);
        assert_eq!(playback.speed(), 2.0);
    }
}
