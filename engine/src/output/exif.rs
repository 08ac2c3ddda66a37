//! Texts in Exif data: the comment, which may be A1111's parameters, and everything else as `name:text` in text tags, as
//! ComfyUI does.

const DESCRIPTION: u16 = 0x010E;
const EXIF_POINTER: u16 = 0x8769;
const COMMENT: u16 = 0x9286;
const ASCII: u16 = 2;
const LONG: u16 = 4;
const UNDEFINED: u16 = 7;
/// What a comment in UTF-16 starts with.
const UNICODE: &[u8; 8] = b"UNICODE\0";
/// Most entries of a directory that are read.
const MOST: u16 = 256;

/// Exif data with a description and a comment.
pub(super) fn write(description: &str, comment: &str) -> Vec<u8> {
    let description = [description.as_bytes(), &[0]].concat();
    let comment: Vec<u8> =
        UNICODE.iter().copied().chain(comment.encode_utf16().flat_map(u16::to_be_bytes)).collect();
    let entry = |tag: u16, kind: u16, count: usize, value: u32| {
        [&tag.to_be_bytes()[..], &kind.to_be_bytes(), &(count as u32).to_be_bytes(), &value.to_be_bytes()]
            .concat()
    };
    // A header of 8 bytes, a directory of two entries, one of one entry, then the texts.
    let second = 8 + 2 + 2 * 12 + 4;
    let texts = second + 2 + 12 + 4;
    let first_text = texts as u32;
    let second_text = (texts + description.len().next_multiple_of(2)) as u32;
    let mut out = b"MM\0\x2A\0\0\0\x08".to_vec();
    out.extend(2_u16.to_be_bytes());
    out.extend(entry(DESCRIPTION, ASCII, description.len(), first_text));
    out.extend(entry(EXIF_POINTER, LONG, 1, second as u32));
    out.extend([0; 4]);
    out.extend(1_u16.to_be_bytes());
    out.extend(entry(COMMENT, UNDEFINED, comment.len(), second_text));
    out.extend([0; 4]);
    out.extend(&description);
    out.resize(second_text as usize, 0);
    out.extend(comment);
    out
}

/// The texts in Exif data: the comment under the name `comment`, which cameras and phones write too, others under their own.
pub(super) fn read(exif: &[u8]) -> Vec<(String, String)> {
    let tiff = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
    let mut texts = Vec::new();
    let Some(tiff) = Tiff::new(tiff) else { return texts };
    let first = tiff.long(4).unwrap_or(0);
    let comment = |entry: &Entry| Some(("comment".to_owned(), tiff.comment(entry.kind, tiff.bytes(entry)?)?));
    for entry in tiff.entries(first) {
        match entry.tag {
            EXIF_POINTER => {
                let inner = tiff.long(entry.value_at).unwrap_or(0);
                let entries = tiff.entries(inner).filter(|entry| entry.tag == COMMENT);
                texts.extend(entries.filter_map(|entry| comment(&entry)));
            }
            // Fooocus writes it into the first directory, as plain text.
            COMMENT => texts.extend(comment(&entry)),
            _ if entry.kind == ASCII => {
                let text = tiff.bytes(&entry).map(String::from_utf8_lossy);
                let text = text.as_deref().map(|text| text.trim_end_matches('\0'));
                if let Some((name, text)) = text.and_then(|text| text.split_once(':')) {
                    texts.push((name.to_lowercase(), text.to_owned()));
                }
            }
            _ => {}
        }
    }
    texts
}

struct Tiff<'a> {
    bytes: &'a [u8],
    is_big_endian: bool,
}

struct Entry {
    tag: u16,
    kind: u16,
    count: u32,
    /// Where the value is, or its place.
    value_at: u32,
}

impl<'a> Tiff<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        match bytes.get(..4)? {
            b"MM\0\x2A" => Some(Self { bytes, is_big_endian: true }),
            b"II\x2A\0" => Some(Self { bytes, is_big_endian: false }),
            _ => None,
        }
    }

    fn short(&self, at: u32) -> Option<u16> {
        let bytes = *self.bytes.get(at as usize..)?.first_chunk()?;
        Some(if self.is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn long(&self, at: u32) -> Option<u32> {
        let bytes = *self.bytes.get(at as usize..)?.first_chunk()?;
        Some(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn entries(&self, directory: u32) -> impl Iterator<Item = Entry> {
        let count = self.short(directory).unwrap_or(0).min(MOST);
        (0..u32::from(count)).map_while(move |number| {
            let at = directory.checked_add(2 + 12 * number)?;
            let after = |bytes| at.checked_add(bytes);
            Some(Entry {
                tag: self.short(at)?,
                kind: self.short(after(2)?)?,
                count: self.long(after(4)?)?,
                value_at: after(8)?,
            })
        })
    }

    /// The value of an entry whose elements have one byte.
    fn bytes(&self, entry: &Entry) -> Option<&'a [u8]> {
        let at = if entry.count <= 4 { entry.value_at } else { self.long(entry.value_at)? } as usize;
        self.bytes.get(at..at.checked_add(entry.count as usize)?)
    }

    fn comment(&self, kind: u16, bytes: &[u8]) -> Option<String> {
        let plain = |text: &[u8]| Some(String::from_utf8_lossy(text).trim_matches('\0').to_owned());
        if kind == ASCII {
            return plain(bytes);
        }
        let (code, text) = bytes.split_first_chunk::<8>()?;
        if code != UNICODE {
            return plain(text);
        }
        // Programs do not agree on the order; ASCII characters tell.
        let pairs = text.as_chunks::<2>().0;
        let high_zeros = pairs.iter().filter(|pair| pair[0] == 0).count();
        let low_zeros = pairs.iter().filter(|pair| pair[1] == 0).count();
        let is_big_endian = if high_zeros == low_zeros { self.is_big_endian } else { high_zeros > low_zeros };
        let unit = |pair: &[u8; 2]| {
            if is_big_endian { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) }
        };
        Some(String::from_utf16_lossy(&pairs.iter().map(unit).collect::<Vec<_>>()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_come_back() {
        let exif = write("Sluice:{\"a\": \"日本\"}", "ein Käse\nSteps: 3");
        let expected = [("sluice", "{\"a\": \"日本\"}"), ("comment", "ein Käse\nSteps: 3")];
        assert_eq!(read(&exif), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert_eq!(read(&[b"Exif\0\0", exif.as_slice()].concat()).len(), 2);
    }

    proptest! {
        #[test]
        fn any_change_is_an_answer(place in 0_usize..200, byte: u8) {
            let mut exif = write("Sluice:{}", &"comment ".repeat(10));
            let place = place % exif.len();
            exif[place] = byte;
            let _ = read(&exif);
        }
    }
}
