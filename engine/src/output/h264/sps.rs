//! The sequence parameter set: what it says about a stream, and adding what players need to know about colour and time.

use super::bits::{BitReader, BitWriter};

/// Profiles whose parameter sets have the fields of High.
const HIGH_PROFILES: [u32; 13] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
/// BT.709 in the tables of colour primaries, transfer functions and matrices.
const BT709: u32 = 1;
/// An aspect ratio that is written out.
const EXTENDED_ASPECT: u32 = 255;

/// What a sequence parameter set says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sps {
    /// 1 for 4:2:0, 0 for grayscale, 2 for 4:2:2, 3 for 4:4:4.
    pub chroma: u32,
    /// Bits of a sample, the larger of luma and chroma.
    pub depth: u32,
    /// Coded pixels per row, without cropping.
    pub coded_width: u32,
    /// Coded rows, without cropping.
    pub coded_height: u32,
    /// Pixels per row after cropping.
    pub width: u32,
    /// Rows after cropping.
    pub height: u32,
    /// Whether frames may consist of two fields.
    pub interlaced: bool,
    /// Reference frames.
    pub references: u32,
    /// The colour matrix, as in H.273; 2 if unknown.
    pub matrix: u32,
    /// Whether samples use all values from 0 to 255.
    pub full_range: bool,
    /// The place of the flag for video usability information, in bits.
    usability_at: usize,
}

impl Sps {
    /// Reads a parameter set, with its header byte.
    pub fn parse(nal: &[u8]) -> Option<Self> {
        let (&header, payload) = nal.split_first()?;
        if header & 31 != 7 {
            return None;
        }
        Self::parse_payload(&unescape(payload))
    }

    fn parse_payload(payload: &[u8]) -> Option<Self> {
        let mut bits = BitReader::new(payload);
        let profile = bits.bits(8)?;
        let _constraints_and_level = bits.bits(16)?;
        let _id = bits.ue()?;
        let (mut chroma, mut depth) = (1, 8);
        if HIGH_PROFILES.contains(&profile) {
            chroma = bits.ue()?;
            if chroma == 3 {
                let _separate_planes = bits.bit()?;
            }
            let (luma_extra, chroma_extra) = (bits.ue()?, bits.ue()?);
            depth = luma_extra.max(chroma_extra).checked_add(8)?;
            let _lossless = bits.bit()?;
            if bits.bit()? {
                skip_scaling_lists(&mut bits, if chroma == 3 { 12 } else { 8 })?;
            }
        }
        let _frame_number_bits = bits.ue()?;
        match bits.ue()? {
            0 => {
                let _order_bits = bits.ue()?;
            }
            1 => {
                let _always_zero = bits.bit()?;
                let (_non_reference, _bottom) = (bits.se()?, bits.se()?);
                let cycle = bits.ue()?;
                if cycle > 255 {
                    return None;
                }
                for _ in 0..cycle {
                    let _offset = bits.se()?;
                }
            }
            _ => {}
        }
        let references = bits.ue()?;
        let _gaps = bits.bit()?;
        let coded_width = bits.ue()?.checked_add(1)?.checked_mul(16)?;
        let map_height = bits.ue()?.checked_add(1)?;
        let interlaced = !bits.bit()?;
        let coded_height = map_height.checked_mul(if interlaced { 32 } else { 16 })?;
        if interlaced {
            let _adaptive = bits.bit()?;
        }
        let _direct = bits.bit()?;
        let mut crop = [0; 4];
        if bits.bit()? {
            for side in &mut crop {
                *side = bits.ue()?;
            }
        }
        let [left, right, top, bottom] = crop;
        let across = if matches!(chroma, 1 | 2) { 2 } else { 1 };
        let down = if chroma == 1 { 2 } else { 1 } * if interlaced { 2 } else { 1 };
        let width = coded_width.checked_sub(left.checked_add(right)?.checked_mul(across)?)?;
        let height = coded_height.checked_sub(top.checked_add(bottom)?.checked_mul(down)?)?;
        if width == 0 || height == 0 {
            return None;
        }
        let usability_at = bits.position();
        let (full_range, matrix) =
            if bits.bit()? { colour(&mut bits).unwrap_or((false, 2)) } else { (false, 2) };
        Some(Self {
            chroma,
            depth,
            coded_width,
            coded_height,
            width,
            height,
            interlaced,
            references,
            matrix,
            full_range,
            usability_at,
        })
    }
}

/// Skips to the colour in the usability information: whether the range is full, and the matrix.
fn colour(bits: &mut BitReader<'_>) -> Option<(bool, u32)> {
    if bits.bit()? && bits.bits(8)? == EXTENDED_ASPECT {
        let _aspect = bits.bits(32)?;
    }
    if bits.bit()? {
        let _overscan = bits.bit()?;
    }
    if !bits.bit()? {
        return Some((false, 2));
    }
    let _format = bits.bits(3)?;
    let full_range = bits.bit()?;
    if !bits.bit()? {
        return Some((full_range, 2));
    }
    let _primaries_and_transfer = bits.bits(16)?;
    Some((full_range, bits.bits(8)?))
}

fn skip_scaling_lists(bits: &mut BitReader<'_>, lists: u32) -> Option<()> {
    for list in 0..lists {
        if !bits.bit()? {
            continue;
        }
        let (mut last, mut next) = (8, 8);
        for _ in 0..if list < 6 { 16 } else { 64 } {
            if next != 0 {
                next = (last + bits.se()?).rem_euclid(256);
            }
            last = if next == 0 { last } else { next };
        }
    }
    Some(())
}

/// A parameter set that says BT.709, limited range and the frame rate in thousandths, and that no frame waits for a
/// later one. The profile is High without further promises.
pub(super) fn with_usability(nal: &[u8], rate: u32) -> Option<Vec<u8>> {
    let (&header, payload) = nal.split_first()?;
    let payload = unescape(payload);
    let sps = Sps::parse_payload(&payload)?;
    let mut old = BitReader::new(&payload);
    let mut new = BitWriter::default();
    for place in 0..sps.usability_at {
        let bit = old.bit()?;
        let is_constraint = (8..16).contains(&place);
        new.bit(bit && !is_constraint);
    }
    new.bit(true); // There is usability information,
    new.bit(true); // with an aspect ratio
    new.bits(1, 8); // of square pixels,
    new.bit(false); // without overscan,
    new.bit(true); // with a signal
    new.bits(5, 3); // of no particular format
    new.bit(false); // in limited range,
    new.bit(true); // with primaries, transfer function and matrix
    [BT709; 3].iter().for_each(|&value| new.bits(value, 8));
    new.bit(false); // and chroma in the usual place.
    new.bit(true); // The timing:
    new.bits(1000, 32);
    new.bits(rate.checked_mul(2)?, 32);
    new.bit(true); // all frames last as long.
    new.bits(0, 3); // No buffer models, no picture structures.
    new.bit(true); // Restrictions of the stream:
    new.bit(true); // motion may point outside,
    [0, 0, 16, 16].iter().for_each(|&value| new.ue(value));
    new.ue(0); // frames are in order,
    new.ue(sps.references); // and wait for these.
    let mut nal = vec![header];
    escape_into(&mut nal, &new.finish());
    Some(nal)
}

/// Removes the bytes that keep start codes out of a unit.
fn unescape(payload: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(payload.len());
    let mut zeros = 0;
    for &byte in payload {
        if zeros >= 2 && byte == 3 {
            zeros = 0;
            continue;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        plain.push(byte);
    }
    plain
}

fn escape_into(nal: &mut Vec<u8>, payload: &[u8]) {
    let mut zeros = 0;
    for &byte in payload {
        if zeros >= 2 && byte <= 3 {
            nal.push(3);
            zeros = 0;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        nal.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn escaping_is_undone(bytes in prop::collection::vec(0_u8..5, 0..60)) {
            let mut escaped = Vec::new();
            escape_into(&mut escaped, &bytes);
            prop_assert!(!escaped.windows(3).any(|three| three[..2] == [0, 0] && three[2] < 3));
            prop_assert_eq!(unescape(&escaped), bytes);
        }

        #[test]
        fn any_bytes_are_a_parameter_set_or_none(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = Sps::parse(&[&[0x67], bytes.as_slice()].concat());
        }
    }
}
