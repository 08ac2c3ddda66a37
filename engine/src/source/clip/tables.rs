//! The tables that say where the frames of a track are and when they are shown.

use std::iter;

use super::demux::{long, word};
use crate::output::mp4::{child, children, full};

/// Most frames of a clip: five days at 25 frames per second.
const MOST_SAMPLES: usize = 10_000_000;

/// A frame in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    /// Where it is in the file.
    pub offset: u64,
    /// Its bytes.
    pub size: u32,
    /// When it is shown, in units of time.
    pub shown_at: i64,
    /// For how long.
    pub duration: u32,
    /// Whether decoding can start here.
    pub is_key: bool,
    /// Whether it is shown at all.
    pub is_shown: bool,
}

/// The frames in the tables of a track. `None` if the tables are damaged.
pub(super) fn sample_table(trak: &[u8], file_length: u64) -> Option<Vec<Sample>> {
    let stbl = child(trak, &[b"mdia", b"minf", b"stbl"])?;
    let table = |kind: &[u8; 4]| child(stbl, &[kind]).and_then(full).map(|(_, rest)| rest);
    let sizes = sizes(table(b"stsz")?, file_length)?;
    if sizes.is_empty() {
        return Some(Vec::new());
    }
    let offsets = chunk_offsets(table(b"stco"), table(b"co64"))?;
    let places = places(&sizes, &offsets, table(b"stsc")?)?;
    let durations = runs(table(b"stts")?)?.chain(iter::repeat(0));
    // A version of 0 means unsigned offsets, but programs write negative ones there too.
    let shifts = match table(b"ctts") {
        Some(table) => Some(runs(table)?),
        None => None,
    };
    let shifts = shifts.into_iter().flatten().chain(iter::repeat(0));
    let keys: Option<Vec<u32>> = table(b"stss").map(|table| words(table).collect());
    let mut time = 0_i64;
    let samples =
        (1_u32..).zip(places).zip(durations).zip(shifts).map(|(((number, place), duration), shift)| {
            let (offset, size) = place;
            let shown_at = time.saturating_add((shift as i32).into());
            time = time.saturating_add(duration.into());
            let is_key = keys.as_ref().is_none_or(|keys| keys.binary_search(&number).is_ok());
            Sample { offset, size, shown_at, duration, is_key, is_shown: true }
        });
    Some(samples.collect())
}

/// The entries of a table of words: a count, then as many as there are.
fn words(table: &[u8]) -> impl Iterator<Item = u32> {
    let count = word(table, 0).unwrap_or(0) as usize;
    let entries = table.get(4..).unwrap_or_default().as_chunks().0;
    entries.iter().take(count).map(|entry| u32::from_be_bytes(*entry))
}

/// Values of a table of runs: a count, then how often each value comes.
fn runs(table: &[u8]) -> Option<impl Iterator<Item = u32>> {
    let count = word(table, 0)? as usize;
    let entries = table.get(4..)?.as_chunks::<8>().0;
    Some(entries.iter().take(count).flat_map(|entry| {
        let [often, value] = [0, 4].map(|at| word(entry, at).unwrap_or(0));
        iter::repeat_n(value, often as usize)
    }))
}

fn sizes(stsz: &[u8], file_length: u64) -> Option<Vec<u32>> {
    let (all, count) = (word(stsz, 0)?, word(stsz, 4)? as usize);
    if count > MOST_SAMPLES {
        return None;
    }
    if all > 0 {
        let fits = u64::from(all).checked_mul(count as u64)? <= file_length;
        return fits.then(|| vec![all; count]);
    }
    let entries = stsz.get(8..)?.as_chunks::<4>().0;
    (entries.len() >= count)
        .then(|| entries.iter().take(count).map(|entry| u32::from_be_bytes(*entry)).collect())
}

fn chunk_offsets(stco: Option<&[u8]>, co64: Option<&[u8]>) -> Option<Vec<u64>> {
    match (stco, co64) {
        (Some(stco), _) => Some(words(stco).map(u64::from).collect()),
        (None, Some(co64)) => {
            let count = word(co64, 0)? as usize;
            let entries = co64.get(4..)?.as_chunks::<8>().0;
            Some(entries.iter().take(count).map(|entry| u64::from_be_bytes(*entry)).collect())
        }
        (None, None) => None,
    }
}

/// The place and size of each frame: chunks of several frames, whose numbers are given in runs.
fn places(sizes: &[u32], offsets: &[u64], stsc: &[u8]) -> Option<Vec<(u64, u32)>> {
    let count = word(stsc, 0)? as usize;
    let entries = stsc.get(4..)?.as_chunks::<12>().0;
    let mut runs =
        entries.iter().take(count).filter_map(|entry| Some((word(entry, 0)?, word(entry, 4)?))).peekable();
    let mut per_chunk = 0;
    let mut places = Vec::with_capacity(sizes.len());
    for (number, &offset) in (1_u32..).zip(offsets) {
        while let Some((_, more)) = runs.next_if(|(first, _)| *first <= number) {
            per_chunk = more as usize;
        }
        let mut offset = offset;
        let left = &sizes[places.len()..];
        for &size in left.iter().take(per_chunk) {
            places.push((offset, size));
            offset = offset.checked_add(size.into())?;
        }
    }
    (places.len() == sizes.len()).then_some(places)
}

/// Reads the frames of a track in a fragmented file.
pub(super) struct Fragments {
    track: u32,
    /// Duration, size and flags of frames without their own.
    defaults: [u32; 3],
    /// When the next frame is decoded.
    time: i64,
}

/// Flag of a frame that needs others.
const NOT_A_KEY: u32 = 0x1_0000;

impl Fragments {
    pub fn new(moov: &[u8], track: u32) -> Self {
        let trexs = child(moov, &[b"mvex"]).into_iter().flat_map(|mvex| children(mvex, b"trex"));
        let mut own =
            trexs.filter_map(full).map(|(_, trex)| trex).filter(|trex| word(trex, 0) == Some(track));
        let trex = own.next().unwrap_or_default();
        Self { track, defaults: [8, 12, 16].map(|at| word(trex, at).unwrap_or(0)), time: 0 }
    }

    /// Appends the frames of a fragment whose box starts at `start`.
    pub fn append(&mut self, moof: &[u8], start: u64, samples: &mut Vec<Sample>) -> Option<()> {
        for traf in children(moof, b"traf") {
            let tfhd = child(traf, &[b"tfhd"])?;
            let (flags, tfhd) = (word(tfhd, 0)? & 0xFF_FFFF, tfhd.get(4..)?);
            if word(tfhd, 0)? != self.track {
                continue;
            }
            let mut at = 4;
            let base = if flags & 1 == 0 { start } else { take(tfhd, &mut at, long, 8)? };
            if flags & 2 != 0 {
                at += 4;
            }
            let mut defaults = self.defaults;
            for (bit, default) in [8, 16, 32].into_iter().zip(&mut defaults) {
                if flags & bit != 0 {
                    *default = take(tfhd, &mut at, word, 4)?;
                }
            }
            if let Some((version, tfdt)) = child(traf, &[b"tfdt"]).and_then(full) {
                self.time = if version == 1 { long(tfdt, 0)? as i64 } else { word(tfdt, 0)?.into() };
            }
            let mut next = base;
            for trun in children(traf, b"trun") {
                next = self.run(trun, base, next, defaults, samples)?;
            }
        }
        Some(())
    }

    /// Appends the frames of a run and returns where they end.
    fn run(
        &mut self,
        trun: &[u8],
        base: u64,
        next: u64,
        [duration, size, usual]: [u32; 3],
        samples: &mut Vec<Sample>,
    ) -> Option<u64> {
        let (flags, trun) = (word(trun, 0)? & 0xFF_FFFF, trun.get(4..)?);
        let count = word(trun, 0)?;
        let mut at = 4;
        let mut offset = next;
        if flags & 1 != 0 {
            offset = base.checked_add_signed((take(trun, &mut at, word, 4)? as i32).into())?;
        }
        let first = if flags & 4 == 0 { usual } else { take(trun, &mut at, word, 4)? };
        if samples.len() + count as usize > MOST_SAMPLES {
            return None;
        }
        for number in 0..count {
            let mut own = |bit: u32, usual: u32| {
                if flags & bit == 0 { Some(usual) } else { take(trun, &mut at, word, 4) }
            };
            let usual = if number == 0 { first } else { usual };
            let (duration, size) = (own(0x100, duration)?, own(0x200, size)?);
            let (kind, shift) = (own(0x400, usual)?, own(0x800, 0)?);
            samples.push(Sample {
                offset,
                size,
                shown_at: self.time.saturating_add((shift as i32).into()),
                duration,
                is_key: kind & NOT_A_KEY == 0,
                is_shown: true,
            });
            offset = offset.checked_add(size.into())?;
            self.time = self.time.saturating_add(duration.into());
        }
        Some(offset)
    }
}

/// Reads a value of this many bytes and goes on behind it.
fn take<T>(bytes: &[u8], at: &mut usize, read: fn(&[u8], usize) -> Option<T>, size: usize) -> Option<T> {
    let value = read(bytes, *at)?;
    *at += size;
    Some(value)
}
