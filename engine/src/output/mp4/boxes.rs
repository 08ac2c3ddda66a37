//! Boxes of MP4 and MOV files: a size, a name of four bytes, and a payload that may be boxes again.

use std::io::{self, Read, Seek, SeekFrom};

/// Boxes at the top level of a file; a fragmented clip has a few per second.
const MOST_TOP_BOXES: usize = 1 << 20;

/// A box at the top level of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TopBox {
    /// Its name.
    pub kind: [u8; 4],
    /// Where it starts in the file.
    pub start: u64,
    /// Where its payload starts in the file.
    pub payload: u64,
    /// Where it should end in the file, which may be beyond its end.
    pub end: u64,
}

/// The boxes of a file, and whether it ends inside the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The boxes in order.
    pub boxes: Vec<TopBox>,
    /// Whether the last box, or its header, is incomplete.
    pub is_truncated: bool,
}

/// Lists the boxes of a file by their headers.
pub(crate) fn top_boxes(file: &mut (impl Read + Seek)) -> io::Result<Found> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut found = Found { boxes: Vec::new(), is_truncated: false };
    let mut start = 0;
    while start < length && found.boxes.len() < MOST_TOP_BOXES {
        file.seek(SeekFrom::Start(start))?;
        let mut header = Vec::with_capacity(16);
        file.by_ref().take(16).read_to_end(&mut header)?;
        let Some((kind, size, header_bytes)) = header_of(&header) else {
            found.is_truncated = true;
            break;
        };
        let size = size.unwrap_or(length - start);
        let Some(end) = start.checked_add(size).filter(|_| size >= header_bytes) else {
            found.is_truncated = true;
            break;
        };
        found.boxes.push(TopBox { kind, start, payload: start + header_bytes, end });
        found.is_truncated = end > length;
        start = end;
    }
    Ok(found)
}

/// The payload of a box. Fails with [`io::ErrorKind::UnexpectedEof`] if the file ends inside it, and with
/// [`io::ErrorKind::FileTooLarge`] if it has more than `limit` bytes.
pub(crate) fn read_box(file: &mut (impl Read + Seek), found: TopBox, limit: u64) -> io::Result<Vec<u8>> {
    let length = found.end - found.payload;
    if length > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    file.seek(SeekFrom::Start(found.payload))?;
    let mut payload = Vec::new();
    file.by_ref().take(length).read_to_end(&mut payload)?;
    if (payload.len() as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(payload)
}

/// Name, size unless the box extends to the end, and bytes of the header.
fn header_of(bytes: &[u8]) -> Option<([u8; 4], Option<u64>, u64)> {
    let size = u32::from_be_bytes(*bytes.first_chunk()?);
    let kind = *bytes.get(4..)?.first_chunk()?;
    Some(match size {
        0 => (kind, None, 8),
        1 => (kind, Some(u64::from_be_bytes(*bytes.get(8..)?.first_chunk()?)), 16),
        size => (kind, Some(size.into()), 8),
    })
}

/// The boxes in a payload. Ends at the first one that is damaged.
#[derive(Debug, Clone)]
pub(crate) struct Boxes<'a>(pub &'a [u8]);

impl<'a> Iterator for Boxes<'a> {
    type Item = ([u8; 4], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (kind, size, header) = header_of(self.0)?;
        let size = size.map_or(Some(self.0.len()), |size| usize::try_from(size).ok())?;
        let payload = self.0.get(header as usize..size)?;
        self.0 = &self.0[size..];
        Some((kind, payload))
    }
}

/// The boxes with this name.
pub(crate) fn children<'a>(payload: &'a [u8], kind: &'a [u8; 4]) -> impl Iterator<Item = &'a [u8]> {
    Boxes(payload).filter(move |(found, _)| found == kind).map(|(_, payload)| payload)
}

/// The first box at the end of a path of names.
pub(crate) fn child<'a>(payload: &'a [u8], path: &[&[u8; 4]]) -> Option<&'a [u8]> {
    path.iter().try_fold(payload, |payload, kind| {
        Boxes(payload).find(|(found, _)| found == *kind).map(|(_, payload)| payload)
    })
}

/// The version and the rest of a box that has version and flags.
pub(crate) fn full(payload: &[u8]) -> Option<(u8, &[u8])> {
    Some((*payload.first()?, payload.get(4..)?))
}

/// Appends a box whose payload `fill` writes.
pub(super) fn write_box(out: &mut Vec<u8>, kind: &[u8; 4], fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([0; 4]);
    out.extend(kind);
    fill(out);
    let size = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
}

/// The same with a version and flags.
pub(super) fn write_full_box(
    out: &mut Vec<u8>,
    kind: &[u8; 4],
    version: u8,
    flags: u32,
    fill: impl FnOnce(&mut Vec<u8>),
) {
    write_box(out, kind, |out| {
        out.extend((u32::from(version) << 24 | flags).to_be_bytes());
        fill(out);
    });
}
