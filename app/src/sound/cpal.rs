//! Sound on Windows and macOS. It has not been tried on either.

use std::collections::VecDeque;

use cpal::{
    StreamConfig,
    traits::{DeviceTrait, HostTrait, StreamTrait},
};
use crossbeam_channel::{Sender, bounded};

use super::{Output, SoundError};

/// Chunks that wait in the device at most.
const WAITING: usize = 3;

struct Device {
    chunks: Sender<Vec<f32>>,
    /// Plays until it is dropped.
    _stream: cpal::Stream,
    given: Format,
    wanted: Format,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Format {
    channels: usize,
    rate: f64,
}

/// Opens the default device in its own format.
pub(super) fn open(channels: u16, rate: u32) -> Result<Box<dyn Output>, SoundError> {
    let failed = |error: cpal::Error| SoundError::Device(error.to_string());
    let device = cpal::default_host().default_output_device();
    let device = device.ok_or_else(|| SoundError::Device("there is none".to_owned()))?;
    let config: StreamConfig = device.default_output_config().map_err(failed)?.config();
    let wanted = Format { channels: config.channels.into(), rate: config.sample_rate.into() };
    let (chunks, received) = bounded::<Vec<f32>>(WAITING);
    let mut waiting = VecDeque::new();
    let fill = move |samples: &mut [f32], _: &cpal::OutputCallbackInfo| {
        while waiting.len() < samples.len() {
            match received.try_recv() {
                Ok(chunk) => waiting.extend(chunk),
                Err(_) => break,
            }
        }
        samples.iter_mut().for_each(|sample| *sample = waiting.pop_front().unwrap_or_default());
    };
    let report = |error| tracing::debug!(%error, "the device for sound");
    let stream = device.build_output_stream(config, fill, report, None).map_err(failed)?;
    stream.play().map_err(failed)?;
    let given = Format { channels: channels.into(), rate: rate.into() };
    Ok(Box::new(Device { chunks, _stream: stream, given, wanted }))
}

impl Output for Device {
    fn write(&mut self, samples: &[f32]) -> Result<(), SoundError> {
        let converted = converted(samples, self.given, self.wanted);
        self.chunks.send(converted).map_err(|_| SoundError::Device("it has gone".to_owned()))
    }

    fn stop(&mut self) {}
}

/// Samples of another format: each channel from the one of the same number, values between two by their distance.
fn converted(samples: &[f32], from: Format, to: Format) -> Vec<f32> {
    if from == to || from.channels == 0 {
        return samples.to_vec();
    }
    let frames = samples.len() / from.channels;
    let sample = |frame: usize, channel: usize| {
        let place = frame.min(frames.saturating_sub(1)) * from.channels + channel.min(from.channels - 1);
        samples.get(place).copied().unwrap_or_default()
    };
    let count = (frames as f64 * to.rate / from.rate).round() as usize;
    let mut all = Vec::with_capacity(count * to.channels);
    for frame in 0..count {
        let place = frame as f64 * from.rate / to.rate;
        let (before, share) = (place as usize, place.fract() as f32);
        for channel in 0..to.channels {
            all.push(sample(before, channel) * (1.0 - share) + sample(before + 1, channel) * share);
        }
    }
    all
}
