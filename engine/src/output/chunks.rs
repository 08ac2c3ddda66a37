//! Reads the text chunks of a PNG file without decoding it.

use std::io::{self, BufReader, Read, Seek};

use flate2::{Crc, read::ZlibDecoder};

use super::exif;

/// Keyword of the text that holds [`Settings`](super::Settings) as JSON.
pub(super) const SLUICE: &str = "Sluice";
/// Keyword of the text in A1111's format.
pub(super) const PARAMETERS: &str = "parameters";

/// Name of the text with the mark of the file that this one was made of, if there are no settings to say so.
pub(super) const MADE_OF: &str = "sluice-made-of";

/// Limit for the settings in bytes, so that a file cannot claim any amount of memory.
pub(super) const TEXT_LIMIT: u32 = 1 << 20;
/// Limit for the texts of other programs, whose graphs are large. Larger ones are left out.
const OTHERS_LIMIT: u32 = 16 << 20;

/// Keywords of other texts, most of other programs, in small letters, with the names that they have here.
const OTHERS: [(&str, &str); 12] = [
    (MADE_OF, MADE_OF),
    ("comment", "comment"),
    ("description", "description"),
    ("source", "source"),
    ("software", "software"),
    ("prompt", "prompt"),
    ("workflow", "workflow"),
    ("invokeai_metadata", "invokeai_metadata"),
    ("sd-metadata", "sd-metadata"),
    ("dream", "dream"),
    ("xml:com.adobe.xmp", "xmp"),
    ("fooocus_scheme", "fooocus_scheme"),
];

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
const KEYWORD_LIMIT: usize = 79;

/// The texts that may hold settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Texts {
    pub sluice: Option<String>,
    pub parameters: Option<String>,
    /// The others, by name.
    pub others: Vec<(String, String)>,
}

/// Why no texts were found.
#[derive(Debug)]
pub(super) enum ChunkError {
    Io(io::Error),
    NotPng,
    Truncated,
    Damaged(&'static str),
    TooLarge(&'static str),
}

impl From<io::Error> for ChunkError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated,
            _ => Self::Io(error),
        }
    }
}

/// Reads until Sluice's text or the end. In a truncated file it still finds what comes before the cut.
pub(super) fn read_texts(file: impl Read + Seek) -> Result<Texts, ChunkError> {
    let mut file = BufReader::new(file);
    let mut signature = Vec::with_capacity(SIGNATURE.len());
    (&mut file).take(SIGNATURE.len() as u64).read_to_end(&mut signature)?;
    if signature != SIGNATURE {
        return Err(ChunkError::NotPng);
    }
    let mut texts = Texts::default();
    match read_chunks(&mut file, &mut texts) {
        Err(ChunkError::Truncated) if texts != Texts::default() => Ok(texts),
        result => result.map(|()| texts),
    }
}

fn read_chunks(file: &mut BufReader<impl Read + Seek>, texts: &mut Texts) -> Result<(), ChunkError> {
    while texts.sluice.is_none() {
        let length = u32::from_be_bytes(read_array(file)?);
        let kind: [u8; 4] = read_array(file)?;
        match &kind {
            b"IEND" => break,
            b"tEXt" | b"zTXt" | b"iTXt" => read_text(file, length, kind, texts)?,
            b"eXIf" if length <= OTHERS_LIMIT => {
                let data = read_up_to(file, length)?;
                texts.others.extend(exif::read(&data));
                skip(file, 4)?;
            }
            _ => skip(file, u64::from(length) + 4)?,
        }
    }
    Ok(())
}

fn read_text(
    file: &mut BufReader<impl Read + Seek>,
    length: u32,
    kind: [u8; 4],
    texts: &mut Texts,
) -> Result<(), ChunkError> {
    let mut data = read_up_to(file, length.min(KEYWORD_LIMIT as u32 + 1))?;
    let keyword = data.split(|&byte| byte == 0).next().unwrap_or_default();
    let (keyword, place) = match keyword {
        _ if keyword == SLUICE.as_bytes() => (SLUICE, &mut texts.sluice),
        _ if keyword == PARAMETERS.as_bytes() => (PARAMETERS, &mut texts.parameters),
        _ => {
            let keyword = String::from_utf8_lossy(keyword).into_owned();
            let rest = u64::from(length) - data.len() as u64 + 4;
            let known = OTHERS.iter().find(|(known, _)| keyword.eq_ignore_ascii_case(known));
            let Some((_, name)) = known.filter(|_| length <= OTHERS_LIMIT) else { return skip(file, rest) };
            data.extend(read_up_to(file, length - data.len() as u32)?);
            skip(file, 4)?;
            // What another program wrote is used as far as it can be.
            if let Ok(Some(text)) = decoded(kind, &data, &keyword, OTHERS_LIMIT) {
                texts.others.push(((*name).to_owned(), text));
            }
            return Ok(());
        }
    };
    if length > TEXT_LIMIT {
        return Err(ChunkError::TooLarge(keyword));
    }
    data.extend(read_up_to(file, length - data.len() as u32)?);
    let mut crc = Crc::new();
    crc.update(&kind);
    crc.update(&data);
    if crc.sum() != u32::from_be_bytes(read_array(file)?) {
        return Err(ChunkError::Damaged("its checksum does not match"));
    }
    let text = decoded(kind, &data, keyword, TEXT_LIMIT).map_err(|error| error.at(keyword))?;
    place.get_or_insert(text.ok_or(ChunkError::Damaged("part of it is missing"))?);
    Ok(())
}

/// The text of a chunk after its keyword; `None` if part of it is missing.
fn decoded(kind: [u8; 4], data: &[u8], keyword: &str, limit: u32) -> Result<Option<String>, TextError> {
    let Some(rest) = data.get(keyword.len() + 1..) else { return Ok(None) };
    Ok(match &kind {
        b"tEXt" => Some(latin1(rest)),
        b"zTXt" => match rest {
            [0, packed @ ..] => Some(latin1(&inflate(packed, limit)?)),
            _ => None,
        },
        _ => international_text(rest, limit)?,
    })
}

/// Why a text cannot be decoded.
enum TextError {
    TooLarge,
    Damaged(&'static str),
}

impl TextError {
    fn at(self, keyword: &'static str) -> ChunkError {
        match self {
            Self::TooLarge => ChunkError::TooLarge(keyword),
            Self::Damaged(detail) => ChunkError::Damaged(detail),
        }
    }
}

/// An `iTXt` chunk after its keyword: flag and method of compression, language, translated keyword, text.
fn international_text(rest: &[u8], limit: u32) -> Result<Option<String>, TextError> {
    let [flag, _method, rest @ ..] = rest else { return Ok(None) };
    let Some(text) = rest.splitn(3, |&byte| byte == 0).nth(2) else { return Ok(None) };
    let text = if *flag == 0 { text.to_vec() } else { inflate(text, limit)? };
    String::from_utf8(text).map(Some).map_err(|_| TextError::Damaged("it is not valid UTF-8"))
}

fn inflate(packed: &[u8], limit: u32) -> Result<Vec<u8>, TextError> {
    let mut text = Vec::new();
    ZlibDecoder::new(packed)
        .take(u64::from(limit) + 1)
        .read_to_end(&mut text)
        .map_err(|_| TextError::Damaged("it cannot be decompressed"))?;
    if text.len() > limit as usize { Err(TextError::TooLarge) } else { Ok(text) }
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn read_array<const N: usize>(file: &mut impl Read) -> Result<[u8; N], ChunkError> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_up_to(file: &mut impl Read, length: u32) -> Result<Vec<u8>, ChunkError> {
    let mut bytes = Vec::new();
    file.take(length.into()).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize { Err(ChunkError::Truncated) } else { Ok(bytes) }
}

fn skip(file: &mut BufReader<impl Read + Seek>, bytes: u64) -> Result<(), ChunkError> {
    // A length has 32 bits, so this fits. A seek beyond the end succeeds, and the next read finds the end.
    Ok(file.seek_relative(bytes as i64)?)
}
