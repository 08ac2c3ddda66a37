//! Weights provided in another encoding than stored: quantized while they are read, piece by piece.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use super::{CheckpointError, StoredTensor};
use crate::precision::{Encoding, Format, Packed, encode, scale_of};

/// Values quantized at a time, unless a group is longer.
const PIECE: usize = 1 << 18;

/// The encoding that weights are converted to.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// Of the values and their scales.
    pub encoding: Encoding,
    /// The single scale of the whole tensor in the file, if the encoding has one; computed by the first read.
    pub scale: Arc<OnceLock<f32>>,
}

/// Some values of a tensor in another encoding.
pub struct EncodedPiece<'a> {
    /// Index of the first value.
    pub start: usize,
    /// The original values.
    pub values: &'a [f32],
    /// The encoded values, without scales.
    pub bytes: &'a [u8],
    /// The scales of their groups; empty with a single scale for the tensor.
    pub scales: &'a [u8],
    /// Values and scales.
    packed: Packed<'a>,
    scale: f32,
}

impl EncodedPiece<'_> {
    /// Dequantizes as many values as fit into `out`.
    pub fn widen(&self, out: &mut [f32]) {
        self.packed.widen(0, out);
        out.iter_mut().for_each(|value| *value *= self.scale);
    }
}

impl StoredTensor {
    /// The single scale of the whole tensor in the file, of which this may be a part.
    pub fn one_scale(&self, format: Format) -> Result<f32, CheckpointError> {
        let mut scale = 0.0f32;
        self.whole().widened::<CheckpointError>(|_, values| {
            scale = scale.max(scale_of(format, values));
            Ok(())
        })?;
        Ok(scale)
    }

    /// Encodes all values in the range `needed` and passes them to `take`. `scale` is the single scale, if
    /// there is one.
    pub fn encoded<E: From<CheckpointError>>(
        &self,
        encoding: Encoding,
        scale: Option<f32>,
        needed: impl Fn(Range<usize>) -> bool,
        mut take: impl FnMut(&EncodedPiece<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let count: usize = self.shape().iter().product();
        let own = if scale.is_some() { encoding.format.into() } else { encoding };
        let scale = scale.filter(|&scale| scale > 0.0).unwrap_or(1.0);
        let unit = own.group.map_or(encoding.format.block().0, std::num::NonZeroUsize::get);
        let step = (PIECE / unit).max(1) * unit;
        let (mut values, mut scaled) = (Vec::new(), Vec::new());
        for start in (0..count).step_by(step) {
            let range = start..count.min(start + step);
            if !needed(range.clone()) {
                continue;
            }
            values.clear();
            self.widened_from::<CheckpointError>(range.clone(), |_, piece| {
                values.extend_from_slice(piece);
                Ok(())
            })?;
            scaled.clear();
            scaled.extend(values.iter().map(|value| value / scale));
            let encoded = encode(own, &scaled).ok_or_else(|| self.unwritable())?;
            let packed = Packed::new(own, values.len(), &encoded).ok_or_else(|| self.unwritable())?;
            let (bytes, scales) = encoded.split_at(own.format.bytes(values.len()));
            take(&EncodedPiece { start, values: &values, bytes, scales, packed, scale })?;
        }
        Ok(())
    }

    /// Fills `out` with the bytes of the tensor in its target encoding, from byte `first` on: the values,
    /// then the scales.
    pub(super) fn read_encoded(
        &self,
        target: &Target,
        first: usize,
        out: &mut [u8],
    ) -> Result<(), CheckpointError> {
        let encoding = target.encoding;
        let count: usize = self.shape().iter().product();
        let scale = match (encoding.scales(count), target.scale.get()) {
            (1, Some(scale)) => Some(*scale),
            (1, None) => {
                let found = self.one_scale(encoding.format)?;
                Some(*target.scale.get_or_init(|| found))
            }
            _ => None,
        };
        let window = first..first + out.len();
        let values_end = encoding.format.bytes(count);
        let scales_at = |value: usize| values_end + encoding.scales(value) * size_of::<f32>();
        let needed = |values: Range<usize>| {
            let bytes = encoding.format.bytes(values.start)..encoding.format.bytes(values.end);
            let scales = scales_at(values.start)..scales_at(values.end);
            overlaps(&window, &bytes) || (scale.is_none() && overlaps(&window, &scales))
        };
        self.encoded::<CheckpointError>(encoding, scale, needed, |piece| {
            copy_part(&window, out, encoding.format.bytes(piece.start), piece.bytes);
            copy_part(&window, out, scales_at(piece.start), piece.scales);
            Ok(())
        })?;
        if let Some(scale) = scale {
            copy_part(&window, out, values_end, &scale.to_le_bytes());
        }
        Ok(())
    }

    fn unwritable(&self) -> CheckpointError {
        let reason = "rows that are not a whole number of blocks cannot be converted".to_owned();
        CheckpointError::Header { path: self.path().to_owned(), reason }
    }
}

fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start.max(other.start) < one.end.min(other.end)
}

/// Copies the part of `bytes`, which begin at offset `at`, that lies within `window` to `out`.
fn copy_part(window: &Range<usize>, out: &mut [u8], at: usize, bytes: &[u8]) {
    let (start, end) = (window.start.max(at), window.end.min(at + bytes.len()));
    if start < end {
        out[start - window.start..end - window.start].copy_from_slice(&bytes[start - at..end - at]);
    }
}
