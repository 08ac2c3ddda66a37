//! Cisco's encoder, with the cargo feature `openh264`. It has no frames with a side below 16 pixels; those are left to
//! the encoder in Rust.

use openh264::{
    OpenH264API,
    encoder::{BitRate, EncoderConfig, FrameRate, IntraFramePeriod, Profile, QpRange, RateControlMode},
    formats::YUVSlices,
};

use super::{GROUP, GroupEncoder, Planes, Setup, Unencodable, rust};

/// The same quality for every frame.
const QUANTIZER: u8 = 20;
const SHORTEST_SIDE: u32 = 16;
/// No limit in practice: the quantizer decides.
const BITS_PER_SECOND: u32 = 100_000_000;

pub(super) struct Encoder(pub Setup);

impl GroupEncoder for Encoder {
    fn encode(&self, frames: &[Planes]) -> Result<Vec<u8>, Unencodable> {
        let Setup { width, height, rate, .. } = self.0;
        if width.min(height) < SHORTEST_SIDE {
            return rust::Encoder(self.0).encode(frames);
        }
        let config = EncoderConfig::new()
            .profile(Profile::High)
            .bitrate(BitRate::from_bps(BITS_PER_SECOND))
            .max_frame_rate(FrameRate::from_hz(rate as f32 / 1000.0))
            .rate_control_mode(RateControlMode::Quality)
            .qp(QpRange::new(QUANTIZER, QUANTIZER))
            .skip_frames(false)
            .intra_frame_period(IntraFramePeriod::from_num_frames(GROUP as u32));
        let failed = |error: openh264::Error| Unencodable::Encoder(error.to_string());
        let mut encoder = openh264::encoder::Encoder::with_api_config(OpenH264API::from_source(), config)
            .map_err(failed)?;
        let size = (width as usize, height as usize);
        let strides = (size.0, size.0 / 2, size.0 / 2);
        let mut bytes = Vec::new();
        for Planes { luma, blue, red } in frames {
            let frame = YUVSlices::new((luma, blue, red), size, strides);
            encoder.encode(&frame).map_err(failed)?.write_vec(&mut bytes);
        }
        Ok(bytes)
    }
}
