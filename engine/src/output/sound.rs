//! The sound of a clip: packets as they are in a file, which are copied and never encoded again.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::mp4::full;

/// Packets before the first one that is heard. Decoders need them, because packets overlap.
const BEFORE: usize = 2;

/// Sound as an MP4 file has it: AAC or MP3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sound {
    /// Channels.
    pub channels: u16,
    /// Samples per second.
    pub rate: u32,
    /// The payload of the box `esds`, which says how packets are decoded.
    #[serde(with = "serde_bytes")]
    pub description: Vec<u8>,
    /// Units of time in a second.
    pub timescale: u32,
    /// The packets in order.
    pub packets: Vec<Packet>,
    /// The bytes of all packets, one after the other.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    /// What is heard, and when.
    pub timing: Timing,
}

/// How packets of sound are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SoundCodec {
    /// MPEG-4 or MPEG-2 AAC.
    Aac,
    /// MPEG-1 or MPEG-2 layer 3.
    Mp3,
}

/// A packet of sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// Bytes.
    pub size: u32,
    /// Units of time.
    pub duration: u32,
}

/// Which part of the packets is heard, and when, in units of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// The part, counted from the start of the first packet.
    pub heard: Range<u64>,
    /// The time from the first frame of the clip until it is heard.
    pub delay: u64,
}

/// A part of the packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub packets: Range<usize>,
    pub timing: Timing,
}

impl Timing {
    /// What is heard in a part of the clip, from and up to some units of time. `None` if that is nothing.
    pub(crate) fn part(&self, durations: impl Iterator<Item = u32>, wanted: Range<u64>) -> Option<Part> {
        let end = self.delay.saturating_add(self.heard.end.saturating_sub(self.heard.start));
        let (start, end) = (wanted.start.max(self.delay), wanted.end.min(end));
        if start >= end {
            return None;
        }
        let heard = self.heard.start + start - self.delay..self.heard.start + end - self.delay;
        let (mut time, mut starts) = (0_u64, Vec::new());
        for duration in durations {
            if time >= heard.end {
                break;
            }
            starts.push(time);
            time += u64::from(duration);
        }
        let first = starts.partition_point(|&start| start <= heard.start).saturating_sub(1 + BEFORE);
        let origin = *starts.get(first)?;
        // The file may have fewer packets than its header says.
        let heard = heard.start - origin..heard.end.min(time).checked_sub(origin)?;
        let timing = Timing { heard, delay: start - wanted.start };
        (!timing.heard.is_empty()).then_some(Part { packets: first..starts.len(), timing })
    }
}

impl Sound {
    /// The codec, and what its decoder has to know besides. `None` if the description is damaged.
    pub fn codec(&self) -> Option<(SoundCodec, &[u8])> {
        described(&self.description)
    }

    /// The sound of a part of the clip, in seconds. `None` if there is none.
    pub fn part(&self, seconds: Range<f64>) -> Option<Self> {
        let durations = self.packets.iter().map(|packet| packet.duration);
        let Part { packets, timing } = self.timing.part(durations, units(seconds, self.timescale))?;
        let bytes = |packets: &[Packet]| packets.iter().map(|packet| packet.size as usize).sum::<usize>();
        let start = bytes(&self.packets[..packets.start]);
        let packets = self.packets[packets].to_vec();
        let bytes = self.bytes.get(start..start + bytes(&packets))?.to_vec();
        Some(Self { packets, bytes, timing, description: self.description.clone(), ..*self })
    }
}

/// Seconds in units of time.
pub(crate) fn units(seconds: Range<f64>, timescale: u32) -> Range<u64> {
    let units = |seconds: f64| (seconds.max(0.0) * f64::from(timescale)).round() as u64;
    units(seconds.start)..units(seconds.end)
}

/// The codec that the payload of a box `esds` names, and what its decoder has to know. `None` if that is neither AAC nor
/// MP3.
pub(crate) fn described(esds: &[u8]) -> Option<(SoundCodec, &[u8])> {
    let (tag, stream) = descriptor(full(esds)?.1)?;
    let flags = *stream.get(2).filter(|_| tag == 3)?;
    let mut at = 3;
    if flags & 0x80 != 0 {
        at += 2;
    }
    if flags & 0x40 != 0 {
        at += 1 + usize::from(*stream.get(at)?);
    }
    if flags & 0x20 != 0 {
        at += 2;
    }
    let (tag, decoder) = descriptor(stream.get(at..)?)?;
    let codec = match decoder.first().filter(|_| tag == 4)? {
        0x40 | 0x66..=0x68 => SoundCodec::Aac,
        0x69 | 0x6B => SoundCodec::Mp3,
        _ => return None,
    };
    let own = decoder.get(13..).and_then(descriptor).filter(|(tag, _)| *tag == 5);
    Some((codec, own.map_or(&[], |(_, own)| own)))
}

/// The tag and the contents of a descriptor: its length has seven bits in a byte.
fn descriptor(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (tag, mut rest) = bytes.split_first()?;
    let mut length = 0_usize;
    for _ in 0..4 {
        let (byte, after) = rest.split_first()?;
        rest = after;
        length = length << 7 | usize::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            // Some files say more than there is.
            return Some((*tag, rest.get(..length).unwrap_or(rest)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten packets of 1000 units, of which the first 500 are not heard.
    fn sound(delay: u64) -> Sound {
        Sound {
            channels: 1,
            rate: 1000,
            description: vec![1, 2],
            timescale: 1000,
            packets: (1..=10).map(|size| Packet { size, duration: 1000 }).collect(),
            bytes: (1..=10).flat_map(|size| vec![size; size.into()]).collect(),
            timing: Timing { heard: 500..9500, delay },
        }
    }

    #[test]
    fn a_part_has_the_packets_that_it_needs() {
        let part = sound(0).part(4.0..6.0).unwrap();
        // From 4500 to 6500, and two packets before.
        assert_eq!(part.packets.iter().map(|packet| packet.size).collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
        assert_eq!(part.bytes, [vec![3; 3], vec![4; 4], vec![5; 5], vec![6; 6], vec![7; 7]].concat());
        assert_eq!(part.timing, Timing { heard: 2500..4500, delay: 0 });
        assert_eq!(part.description, [1, 2]);
        assert_eq!(part.part(0.0..2.0).unwrap(), part, "a part of it counts from its start");
    }

    #[test]
    fn sound_begins_later_and_ends_earlier_than_the_clip() {
        let sound = sound(3000);
        let part = sound.part(2.0..5.0).unwrap();
        assert_eq!(part.timing, Timing { heard: 500..2500, delay: 1000 });
        assert_eq!(part.packets.len(), 3);
        let end = sound.part(11.0..60.0).unwrap();
        assert_eq!(end.timing.heard.end - end.timing.heard.start, 1000);
        assert_eq!((sound.part(0.0..3.0), sound.part(12.0..13.0)), (None, None));
    }

    #[test]
    fn a_header_that_promises_more_than_there_is_gives_what_there_is() {
        let mut sound = sound(0);
        sound.timing.heard = 0..1_000_000;
        let part = sound.part(8.0..100.0).unwrap();
        assert_eq!((part.packets.len(), part.timing.heard), (4, 2000..4000));
        assert_eq!(sound.part(10.0..20.0), None);
    }
}
