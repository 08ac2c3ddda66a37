//! The thread that plays. It decodes a clip's sound when it is first heard and repeats the part that the player repeats.

use std::{
    ops::Range,
    sync::Arc,
    thread::{self, JoinHandle},
};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use sluice_engine::output::Clip;

use super::{SoundError, Waves, decode};

/// Commands that wait at most.
const COMMANDS: usize = 16;
/// Seconds that are written at once: how late the thread hears of a command.
const CHUNK: f64 = 0.02;

/// Plays samples.
pub trait Output {
    /// Plays samples of all channels in turn, after those before. Waits until there is room.
    ///
    /// # Errors
    /// Fails if the device has gone.
    fn write(&mut self, samples: &[f32]) -> Result<(), SoundError>;

    /// Stops at once.
    fn stop(&mut self);
}

/// Opens a device for a number of channels at a rate.
pub type Open = Box<dyn Fn(u16, u32) -> Result<Box<dyn Output>, SoundError> + Send>;

/// What is heard: a part of a clip, again and again.
#[derive(Debug, Clone)]
pub struct Heard {
    /// The clip.
    pub clip: Arc<Clip>,
    /// The part, in seconds.
    pub part: Range<f64>,
    /// Where it begins the first time, in seconds of the clip.
    pub from: f64,
}

/// Plays one clip at a time, on a thread of its own. Dropping it stops the sound.
#[derive(Debug)]
pub struct Speaker {
    commands: Option<Sender<Option<Heard>>>,
    thread: Option<JoinHandle<()>>,
}

impl Speaker {
    /// Starts the thread.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn start() -> Result<Self, SoundError> {
        Self::with(Box::new(super::device::open))
    }

    /// The same with devices of another kind.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn with(open: Open) -> Result<Self, SoundError> {
        let (commands, received) = bounded(COMMANDS);
        let thread = thread::Builder::new().name("sluice-sound".to_owned());
        let thread = thread.spawn(move || Playing { open, waves: None }.run(&received))?;
        Ok(Self { commands: Some(commands), thread: Some(thread) })
    }

    /// Plays this instead of what was played before, or nothing. Returns whether the thread will.
    pub fn play(&self, heard: Option<Heard>) -> bool {
        self.commands.as_ref().is_some_and(|commands| commands.try_send(heard).is_ok())
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        drop(self.commands.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread for sound panicked");
        }
    }
}

struct Playing {
    open: Open,
    /// The last clip that was decoded.
    waves: Option<(Arc<Clip>, Waves)>,
}

impl Playing {
    fn run(mut self, commands: &Receiver<Option<Heard>>) {
        let mut next = commands.recv().ok();
        while let Some(command) = next {
            next = match command.map(|heard| self.repeat(&heard, commands)) {
                Some(Ok(ended)) => ended,
                Some(Err(error)) => {
                    // A machine without sound is no failure.
                    tracing::debug!(%error, "the clip is silent");
                    commands.recv().ok()
                }
                None => commands.recv().ok(),
            };
        }
    }

    /// Plays until the next command, which is returned; `None` when there will be none.
    fn repeat(
        &mut self,
        heard: &Heard,
        commands: &Receiver<Option<Heard>>,
    ) -> Result<Option<Option<Heard>>, SoundError> {
        let waves = decoded(&mut self.waves, &heard.clip)?;
        let (part, step) = (waves.part(heard.part.clone()), chunk(waves));
        if part.is_empty() {
            return Ok(commands.recv().ok());
        }
        let before = Waves { samples: Vec::new(), ..*waves }.part(heard.part.start..heard.from).len();
        let mut output = (self.open)(waves.channels, waves.rate)?;
        let mut at = before % part.len();
        loop {
            match commands.try_recv() {
                Ok(command) => {
                    output.stop();
                    return Ok(Some(command));
                }
                Err(TryRecvError::Disconnected) => {
                    output.stop();
                    return Ok(None);
                }
                Err(TryRecvError::Empty) => {}
            }
            let end = part.len().min(at + step);
            output.write(&part[at..end])?;
            at = end % part.len();
        }
    }
}

/// The samples of a clip, which are kept until another one is heard.
fn decoded<'a>(last: &'a mut Option<(Arc<Clip>, Waves)>, clip: &Arc<Clip>) -> Result<&'a Waves, SoundError> {
    let waves = match last.take() {
        Some((known, waves)) if Arc::ptr_eq(&known, clip) => waves,
        _ => {
            let sound = clip.sound.as_ref();
            decode(sound.ok_or_else(|| SoundError::Decode("the clip has none".to_owned()))?)?
        }
    };
    Ok(&last.insert((Arc::clone(clip), waves)).1)
}

/// Samples that are written at once.
fn chunk(waves: &Waves) -> usize {
    (CHUNK * f64::from(waves.rate)).ceil().max(1.0) as usize * usize::from(waves.channels)
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use sluice_engine::source::read_sound;

    use super::*;

    /// Hands on what is played; `None` when it stops.
    struct Listener(Sender<Option<Vec<f32>>>);

    impl Output for Listener {
        fn write(&mut self, samples: &[f32]) -> Result<(), SoundError> {
            self.0.send(Some(samples.to_vec())).map_err(|_| SoundError::Device("nobody listens".to_owned()))
        }

        fn stop(&mut self) {
            self.0.send(None).unwrap();
        }
    }

    fn clip() -> Arc<Clip> {
        let sound = read_sound(Path::new("../tests/fixtures/tones/aac.mp4"), 0.0..9.0).unwrap();
        Arc::new(Clip { frames: Vec::new(), rate: 8.0, sound })
    }

    fn started(has_device: bool) -> (Speaker, Receiver<Option<Vec<f32>>>) {
        let (heard, listener) = bounded(1);
        let speaker = Speaker::with(Box::new(move |channels, rate| {
            assert_eq!((channels, rate), (2, 22_050));
            match has_device {
                true => Ok(Box::new(Listener(heard.clone()))),
                false => Err(SoundError::Device("none".to_owned())),
            }
        }));
        (speaker.unwrap(), listener)
    }

    #[test]
    fn a_part_is_repeated_until_something_else_is_played() {
        let (clip, (speaker, listener)) = (clip(), started(true));
        let waves = decode(clip.sound.as_ref().unwrap()).unwrap();
        let part = waves.part(0.1..0.3);
        assert!(speaker.play(Some(Heard { clip: Arc::clone(&clip), part: 0.1..0.3, from: 0.2 })));
        let mut played = Vec::new();
        while played.len() < 2 * part.len() {
            played.extend(listener.recv().unwrap().unwrap());
        }
        let half = part.len() / 2;
        assert_eq!(played[..half], part[half..], "it begins in the middle");
        assert_eq!(played[half..half + part.len()], part[..], "and then starts again");
        speaker.play(None);
        while listener.recv().unwrap().is_some() {}
        assert!(listener.recv_timeout(Duration::from_millis(50)).is_err(), "it is silent");
        speaker.play(Some(Heard { clip, part: 0.1..0.3, from: 0.1 }));
        let first = listener.recv().unwrap().unwrap();
        assert_eq!(first[..], part[..first.len()]);
        let listening = thread::spawn(move || listener.iter().filter(Option::is_none).count());
        drop(speaker);
        assert_eq!(listening.join().unwrap(), 1, "it stops with the window");
    }

    #[test]
    fn without_a_device_or_sound_clips_are_silent() {
        let (speaker, _) = started(false);
        for clip in [clip(), Arc::new(Clip::silent(Vec::new(), 8.0))] {
            assert!(speaker.play(Some(Heard { clip, part: 0.0..0.5, from: 0.0 })));
        }
    }
}
