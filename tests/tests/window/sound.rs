//! The sound of clips: heard while they play, and muted.

use std::{path::Path, time::Duration};

use crossbeam_channel::{Receiver, Sender, unbounded};
use egui::Key;
use sluice::sound::{Output, SoundError, Speaker};
use sluice_engine::{
    output::Media,
    request::ModelSource,
    session::{Command, Event, JobId},
    source::read_sound,
};

use super::behaviour::nothing_is_unnamed;
use super::support::{Window, moving, starter};

/// Says when it begins to play and when it stops.
struct Listener {
    says: Sender<&'static str>,
    plays: bool,
}

impl Output for Listener {
    fn write(&mut self, _: &[f32]) -> Result<(), SoundError> {
        if !std::mem::replace(&mut self.plays, true) {
            self.says.send("plays").map_err(|_| SoundError::Device("nobody listens".to_owned()))?;
        }
        std::thread::sleep(Duration::from_millis(1));
        Ok(())
    }

    fn stop(&mut self) {
        self.says.send("stops").unwrap_or_default();
    }
}

fn listening() -> (Window, Receiver<&'static str>) {
    let (says, heard) = unbounded();
    let speaker =
        Speaker::with(Box::new(move |_, _| Ok(Box::new(Listener { says: says.clone(), plays: false }))));
    let mut window =
        Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| setup.speaker = Some(speaker.unwrap()));
    assert_eq!(window.take_commands(), [Command::Load { model: ModelSource::Starter }]);
    window.says(Event::ModelLoaded(Box::new(starter())));
    (window, heard)
}

fn finish(window: &mut Window, job: JobId, has_sound: bool) {
    window.click("Generate");
    window.take_commands();
    window.says(Event::Started { job });
    let mut picture = moving(64, 48, 12, 8.0);
    if let Media::Clip(clip) = &mut picture.media
        && has_sound
    {
        clip.sound = read_sound(Path::new("fixtures/tones/aac.mp4"), 0.0..9.0).unwrap();
    }
    window.says(Event::Finished { job, pictures: vec![picture], seconds: 1.0 });
}

fn hears(heard: &Receiver<&'static str>, what: &[&str]) {
    for what in what {
        assert_eq!(heard.recv_timeout(Duration::from_secs(20)).as_ref(), Ok(what));
    }
}

#[test]
fn a_clip_is_heard_while_it_plays_at_normal_speed() {
    let (mut window, heard) = listening();
    finish(&mut window, JobId(1), true);
    hears(&heard, &["plays"]);
    nothing_is_unnamed(&window, "a clip with sound");
    for _ in 0..4 {
        window.frames();
    }
    assert!(heard.is_empty(), "it does not start again with every frame");
    window.harness.key_press(Key::Space);
    window.frames();
    hears(&heard, &["stops"]);
    window.click("Play");
    hears(&heard, &["plays"]);
    window.click("Boomerang");
    hears(&heard, &["stops"]);
    window.click("Boomerang");
    hears(&heard, &["plays"]);
    window.click("Mute");
    hears(&heard, &["stops"]);
    assert!(window.harness.state().state().settings.muted);
    window.harness.key_press(Key::M);
    window.frames();
    hears(&heard, &["plays"]);
    finish(&mut window, JobId(2), false);
    hears(&heard, &["stops"]);
    assert!(!window.shows("Mute"), "a silent clip has nothing to mute");
}
