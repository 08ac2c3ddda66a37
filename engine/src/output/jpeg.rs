//! Texts in a JPEG file: Exif data, XMP and comments, which are segments before the pixels.

use std::io::{self, Read};

use super::exif;

/// What XMP data starts with.
const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
/// Most segments that are looked at.
const MOST: usize = 256;

/// The texts in a file after its first two bytes.
pub(super) fn read_texts(file: &mut impl Read) -> io::Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for _ in 0..MOST {
        let Some((kind, data)) = segment(file)? else { break };
        match kind {
            0xE1 if data.starts_with(b"Exif\0\0") => texts.extend(exif::read(&data)),
            0xE1 => {
                if let Some(xmp) = data.strip_prefix(XMP) {
                    texts.push(("xmp".to_owned(), String::from_utf8_lossy(xmp).into_owned()));
                }
            }
            0xFE => {
                let text = String::from_utf8_lossy(&data);
                texts.push(("comment".to_owned(), text.trim_end_matches('\0').to_owned()));
            }
            _ => {}
        }
    }
    Ok(texts)
}

/// The next segment: its kind and its contents. `None` where the pixels or the file begin to end.
fn segment(file: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut byte = [0];
    let mut next = |byte: &mut [u8; 1]| match file.read_exact(byte) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        result => result.map(|()| true),
    };
    if !next(&mut byte)? || byte[0] != 0xFF {
        return Ok(None);
    }
    // Any number of fill bytes may come before the kind.
    while byte[0] == 0xFF {
        if !next(&mut byte)? {
            return Ok(None);
        }
    }
    let kind = byte[0];
    if matches!(kind, 0xD9 | 0xDA) {
        return Ok(None);
    }
    let mut length = [[0]; 2];
    for part in &mut length {
        if !next(part)? {
            return Ok(None);
        }
    }
    let length = u16::from_be_bytes([length[0][0], length[1][0]]).saturating_sub(2);
    let mut data = Vec::new();
    file.take(length.into()).read_to_end(&mut data)?;
    Ok((data.len() == usize::from(length)).then_some((kind, data)))
}
