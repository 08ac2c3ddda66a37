//! Texts in an MP4 file. Ours are in one `udta` box with two `meta` boxes, the layout that ffprobe, exiftool, mediainfo,
//! ComfyUI and Wan2GP read: named keys (`mdta`) first, then iTunes' names (`mdir`).

use super::{
    boxes::{Boxes, child, children, full, write_box, write_full_box},
    mux::write_handler,
};

/// The kind of a value that is UTF-8.
const UTF8: u32 = 1;
/// Longest text that is read, in bytes.
const LONGEST: usize = 8 << 20;
/// Most texts that are read.
const MOST: usize = 256;

/// The name of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key<'a> {
    /// A name of any length.
    Named(&'a str),
    /// Four bytes that iTunes gave a meaning.
    ITunes(&'a [u8; 4]),
}

/// A name and its text.
pub type Tag<'a> = (Key<'a>, &'a str);

/// The comment in iTunes' names.
pub const COMMENT: &[u8; 4] = b"\xA9cmt";
/// The encoding tool in iTunes' names.
pub const TOOL: &[u8; 4] = b"\xA9too";

/// Writes the contents of `udta`.
pub(super) fn write_tags(out: &mut Vec<u8>, tags: &[Tag]) {
    let named: Vec<(&str, &str)> = tags
        .iter()
        .filter_map(|(key, text)| match key {
            Key::Named(name) => Some((*name, *text)),
            Key::ITunes(_) => None,
        })
        .collect();
    write_full_box(out, b"meta", 0, 0, |out| {
        write_handler(out, b"mdta", b"");
        write_full_box(out, b"keys", 0, 0, |out| {
            out.extend((named.len() as u32).to_be_bytes());
            for (name, _) in &named {
                write_box(out, b"mdta", |out| out.extend(name.as_bytes()));
            }
        });
        write_box(out, b"ilst", |out| {
            for (number, (_, text)) in (1_u32..).zip(&named) {
                write_text(out, &number.to_be_bytes(), text);
            }
        });
    });
    write_full_box(out, b"meta", 0, 0, |out| {
        write_handler(out, b"mdir", b"");
        write_box(out, b"ilst", |out| {
            for (key, text) in tags {
                if let Key::ITunes(name) = key {
                    write_text(out, name, text);
                }
            }
        });
    });
}

fn write_text(out: &mut Vec<u8>, name: &[u8; 4], text: &str) {
    write_box(out, name, |out| {
        write_box(out, b"data", |out| {
            out.extend(UTF8.to_be_bytes());
            out.extend([0; 4]); // Any language.
            out.extend(text.as_bytes());
        });
    });
}

/// The texts in a `moov` box, with their names in lower case. iTunes' comment has the name `©cmt`.
pub fn read_tags(moov: &[u8]) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for holder in children(moov, b"udta").chain([moov]) {
        for meta in children(holder, b"meta") {
            read_meta(meta, &mut texts);
        }
        // QuickTime's own form: the texts without `meta`, each with a length and a language.
        for (kind, payload) in Boxes(holder) {
            if kind[0] == 0xA9
                && let Some(length) =
                    payload.first_chunk().map(|bytes| usize::from(u16::from_be_bytes(*bytes)))
                && let Some(text) = payload.get(4..4 + length)
            {
                add(&mut texts, name_of(kind), text);
            }
        }
    }
    texts
}

fn read_meta(meta: &[u8], texts: &mut Vec<(String, String)>) {
    // QuickTime's `meta` has no version.
    let meta = match Boxes(meta).next() {
        Some((kind, _)) if kind.iter().all(u8::is_ascii_lowercase) => meta,
        _ => full(meta).map_or(meta, |(_, rest)| rest),
    };
    let keys: Vec<&[u8]> = child(meta, &[b"keys"])
        .and_then(full)
        .and_then(|(_, rest)| rest.get(4..))
        .map(|keys| Boxes(keys).map(|(_, name)| name).take(MOST).collect())
        .unwrap_or_default();
    for (kind, item) in child(meta, &[b"ilst"]).map(Boxes).into_iter().flatten().take(MOST) {
        let number = u32::from_be_bytes(kind) as usize;
        let name = match number.checked_sub(1).and_then(|number| keys.get(number)) {
            Some(name) => String::from_utf8_lossy(name).into_owned(),
            None => name_of(kind),
        };
        if let Some((kind, text)) = child(item, &[b"data"]).and_then(|data| data.split_first_chunk::<4>())
            && u32::from_be_bytes(*kind) == UTF8
            && let Some(text) = text.get(4..)
        {
            add(texts, name, text);
        }
    }
}

/// Four bytes as text; © is one byte in them.
fn name_of(kind: [u8; 4]) -> String {
    kind.iter().copied().map(char::from).collect()
}

fn add(texts: &mut Vec<(String, String)>, name: String, text: &[u8]) {
    if texts.len() < MOST && text.len() <= LONGEST {
        let text = String::from_utf8_lossy(text).trim_end_matches('\0').to_owned();
        texts.push((name.to_lowercase(), text));
    }
}
