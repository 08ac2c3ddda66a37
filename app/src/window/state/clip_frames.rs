//! The numbers of frames that a model can generate: one, and a multiple of some number more.

use sluice_engine::request::Request;

use super::InputFiles;
use crate::language::{tr, units};

/// The nearest number of frames that a model can generate.
pub fn snap_frames(frames: u32, multiple: u32) -> u32 {
    let multiple = multiple.max(1);
    1 + (frames.saturating_sub(1).saturating_add(multiple / 2)) / multiple * multiple
}

/// The number of frames that comes closest to a duration.
pub fn frames_of(seconds: f32, rate: f32, multiple: u32) -> u32 {
    let multiple = multiple.max(1);
    let steps = ((seconds * rate - 1.0).max(0.0) / multiple as f32).round();
    1 + steps.min(100_000.0) as u32 * multiple
}

/// The frames of a request that changes a clip: no more than its range of the clip has.
pub fn shortened(request: &Request, files: &InputFiles, multiple: u32) -> u32 {
    let Some(clip) = &request.clip else { return request.frames };
    let Some(seconds) = files.seconds(&clip.path) else { return request.frames };
    let frames = (seconds * f64::from(request.frame_rate)).round() as u32;
    let there = clip.range.of(frames).len() as u32;
    let most = 1 + there.saturating_sub(1) / multiple.max(1) * multiple.max(1);
    request.frames.min(most)
}

/// A length: `2.1 s, 33 frames`.
pub fn clip_words(frames: u32, rate: f32) -> String {
    match frames {
        0 | 1 => tr!("state-still-image"),
        _ => {
            let seconds = f64::from(frames) / f64::from(rate);
            tr!("state-clip-length", duration = units::seconds(seconds), count = frames)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_snap_to_what_the_model_can() {
        for (seconds, rate, multiple, frames) in [
            (2.0, 16.0, 4, 33),
            (5.0, 16.0, 4, 81),
            (5.0, 24.0, 8, 121),
            (0.0, 16.0, 4, 1),
            (1.0, 10.0, 1, 10),
            (5.1, 16.0, 4, 81),
        ] {
            assert_eq!(frames_of(seconds, rate, multiple), frames, "{seconds} s at {rate}");
            assert_eq!(snap_frames(frames, multiple), frames);
        }
        assert_eq!(
            [0, 1, 2, 3, 6, 7, 34, 35].map(|frames| snap_frames(frames, 4)),
            [1, 1, 1, 5, 5, 9, 33, 37]
        );
    }

    #[test]
    fn a_length_is_said_in_seconds_and_frames() {
        assert_eq!(clip_words(33, 16.0), "2.1 s, 33 frames");
        assert_eq!(clip_words(121, 24.0), "5.0 s, 121 frames");
        assert_eq!(clip_words(1, 16.0), "Still image");
    }
}
