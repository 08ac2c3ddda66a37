//! The encoder in Rust.

use rusty_h264::{EncodeError, EncoderConfig, Preset, Profile, YuvFrame};

use super::{GROUP, GroupEncoder, Planes, Setup, Unencodable};

/// Quality: visually without loss for generated clips, at about 2 Mbit/s for 832×480.
const QUANTIZER: u8 = 20;
/// Reference frames.
pub(super) const REFERENCES: u32 = 3;

pub(super) struct Encoder(pub Setup);

impl GroupEncoder for Encoder {
    fn encode(&self, frames: &[Planes]) -> Result<Vec<u8>, Unencodable> {
        let Setup { width, height, rate, level } = self.0;
        let mut config = EncoderConfig::new(width as usize, height as usize);
        config.profile = Profile::High;
        config.level_idc = level;
        config.qp = QUANTIZER;
        config.bitrate = 0;
        config.framerate = rate as f32 / 1000.0;
        config.gop_size = GROUP as u32;
        config.num_ref_frames = REFERENCES;
        config.bframes = 0;
        config.preset = Preset::Balanced;
        config.cabac = true;
        config.transform_8x8 = true;
        let failed = |error: EncodeError| Unencodable::Encoder(error.to_string());
        let mut encoder = rusty_h264::Encoder::new(config).map_err(failed)?;
        let mut bytes = Vec::new();
        for Planes { luma, blue, red } in frames {
            let frame = YuvFrame {
                width: width as usize,
                height: height as usize,
                y: luma.clone(),
                u: blue.clone(),
                v: red.clone(),
            };
            bytes.extend(encoder.try_encode(&frame).map_err(failed)?);
        }
        bytes.extend(encoder.try_flush().map_err(failed)?);
        Ok(bytes)
    }
}
