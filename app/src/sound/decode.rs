//! From the packets of a clip to samples.

use std::ops::Range;

use sluice_engine::output::{Sound, SoundCodec};
use symphonia::core::{
    codecs::audio::{
        AudioCodecParameters, AudioDecoderOptions,
        well_known::{CODEC_ID_AAC, CODEC_ID_MP3},
    },
    errors::Error,
    packet::Packet,
    units::{Duration, Timestamp},
};

use super::SoundError;

/// Sound as samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Waves {
    /// Channels.
    pub channels: u16,
    /// Samples per second and channel.
    pub rate: u32,
    /// The samples of all channels in turn, from −1 to 1, from the first frame of the clip on.
    pub samples: Vec<f32>,
}

impl Waves {
    /// The samples of some seconds of the clip, with silence where it has none.
    pub fn part(&self, seconds: Range<f64>) -> Vec<f32> {
        let channels = usize::from(self.channels);
        let at = |seconds: f64| (seconds.max(0.0) * f64::from(self.rate)).round() as usize * channels;
        let (start, end) = (at(seconds.start), at(seconds.end));
        let known = self.samples.get(start..end.min(self.samples.len())).unwrap_or_default();
        let mut part = known.to_vec();
        part.resize(end.saturating_sub(start), 0.0);
        part
    }
}

/// Decodes all packets.
///
/// # Errors
/// Fails if the codec is neither AAC-LC nor MP3, or its description is damaged. Damaged packets are silent.
pub fn decode(sound: &Sound) -> Result<Waves, SoundError> {
    let (codec, description) =
        sound.codec().ok_or_else(|| SoundError::Decode("its description is damaged".to_owned()))?;
    let mut parameters = AudioCodecParameters::new();
    parameters.for_codec(match codec {
        SoundCodec::Aac => CODEC_ID_AAC,
        SoundCodec::Mp3 => CODEC_ID_MP3,
    });
    parameters.with_sample_rate(sound.rate);
    if !description.is_empty() {
        parameters.with_extra_data(description.to_vec().into_boxed_slice());
    }
    let wrong = |error: Error| SoundError::Decode(error.to_string());
    let codecs = symphonia::default::get_codecs();
    let mut decoder =
        codecs.make_audio_decoder(&parameters, &AudioDecoderOptions::default()).map_err(wrong)?;
    let mut waves = Waves::default();
    let (mut rest, mut frame) = (sound.bytes.as_slice(), Vec::new());
    for packet in &sound.packets {
        let Some((bytes, after)) = rest.split_at_checked(packet.size as usize) else { break };
        rest = after;
        let duration = u64::from(packet.duration);
        match decoder.decode(&Packet::new(0, Timestamp::ZERO, Duration::from(duration), bytes)) {
            Ok(buffer) => {
                let channels = buffer.spec().channels().count() as u16;
                if waves.channels == 0 {
                    (waves.channels, waves.rate) = (channels, buffer.spec().rate());
                }
                if waves.channels != channels {
                    return Err(SoundError::Decode("the number of channels changes".to_owned()));
                }
                buffer.copy_to_vec_interleaved(&mut frame);
                waves.samples.extend_from_slice(&frame);
            }
            Err(Error::DecodeError(reason)) => {
                tracing::debug!(reason, "a packet of sound is left out");
                let silence = duration * u64::from(waves.rate) / u64::from(sound.timescale.max(1));
                let silence = silence as usize * usize::from(waves.channels);
                waves.samples.resize(waves.samples.len() + silence, 0.0);
            }
            Err(error) => return Err(wrong(error)),
        }
    }
    if waves.channels == 0 {
        return Err(SoundError::Decode("it has no packets that can be decoded".to_owned()));
    }
    Ok(heard(waves, sound))
}

/// What is heard of the decoded packets, with silence before it.
fn heard(waves: Waves, sound: &Sound) -> Waves {
    let scale = f64::from(sound.timescale.max(1));
    let seconds = |units: u64| units as f64 / scale;
    let (heard, delay) = (&sound.timing.heard, seconds(sound.timing.delay));
    let decoded = waves.part(seconds(heard.start)..seconds(heard.end));
    let mut samples = Waves { samples: Vec::new(), ..waves }.part(0.0..delay);
    samples.extend(decoded);
    Waves { samples, ..waves }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sluice_engine::source::read_sound;

    use super::*;

    /// Half a second of 441 Hz in two channels.
    #[test]
    fn aac_and_mp3_are_decoded() {
        for name in ["aac.mp4", "mp3.mp4"] {
            let path = Path::new("../tests/fixtures/tones").join(name);
            let sound = read_sound(&path, 0.0..9.0).unwrap().unwrap();
            let waves = decode(&sound).unwrap();
            assert_eq!((waves.channels, waves.rate), (2, 22_050), "{name}");
            let middle = waves.part(0.1..0.4);
            let left: Vec<f32> = middle.iter().copied().step_by(2).collect();
            let rises = left.windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count();
            assert!((131..=134).contains(&rises), "{name}: {rises} periods in 0.3 s");
            let loudest = left.iter().fold(0.0_f32, |most, sample| most.max(sample.abs()));
            assert!((0.05..0.3).contains(&loudest), "{name}: {loudest}");
            // A part begins where it should: the tone of a later part has the same phase.
            let part = decode(&read_sound(&path, 0.1..0.4).unwrap().unwrap()).unwrap();
            let (whole, part) = (waves.part(0.2..0.3), part.part(0.1..0.2));
            let shift = whole.iter().zip(&part).map(|(one, other)| (one - other).abs());
            assert!(shift.fold(0.0, f32::max) < 0.02, "{name}");
        }
    }

    #[test]
    fn damaged_sound_is_an_error_or_silence() {
        let path = Path::new("../tests/fixtures/tones/aac.mp4");
        let sound = read_sound(path, 0.0..9.0).unwrap().unwrap();
        let described = Sound { description: vec![0; 4], ..sound.clone() };
        assert!(decode(&described).is_err());
        let empty = Sound { packets: Vec::new(), ..sound.clone() };
        assert!(decode(&empty).is_err());
        let mut noise = sound;
        noise.bytes.iter_mut().skip(200).for_each(|byte| *byte ^= 0xA5);
        if let Ok(waves) = decode(&noise) {
            assert!(waves.samples.iter().all(|sample| sample.is_finite()));
        }
    }

    #[test]
    fn a_part_is_silent_where_there_is_nothing() {
        let waves = Waves { channels: 2, rate: 4, samples: (1..=8).map(|sample| sample as f32).collect() };
        assert_eq!(waves.part(0.5..1.5), [5.0, 6.0, 7.0, 8.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(waves.part(2.0..2.25), [0.0, 0.0]);
        assert!(waves.part(1.0..0.5).is_empty());
    }
}
