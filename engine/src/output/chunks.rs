//! Reads the text chunks of a PNG file without decoding it.

use std::io::{self, BufReader, Read, Seek};

use flate2::{Crc, read::ZlibDecoder};

/// Keyword of the text that holds [`Settings`](super::Settings) as JSON.
pub(super) const SLUICE: &str = "Sluice";
/// Keyword of the text in A1111's format.
pub(super) const PARAMETERS: &str = "parameters";

/// Limit for the settings in bytes, so that a file cannot claim any amount of memory.
pub(super) const TEXT_LIMIT: u32 = 1 << 20;

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
const KEYWORD_LIMIT: usize = 79;

/// The texts that may hold settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Texts {
    pub sluice: Option<String>,
    pub parameters: Option<String>,
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
        _ => return skip(file, u64::from(length) - data.len() as u64 + 4),
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
    let text = match &kind {
        b"tEXt" => data.get(keyword.len() + 1..).map(latin1),
        b"zTXt" => match data.get(keyword.len() + 1..) {
            Some([0, packed @ ..]) => Some(latin1(&inflate(packed, keyword)?)),
            _ => None,
        },
        _ => international_text(&data, keyword)?,
    };
    place.get_or_insert(text.ok_or(ChunkError::Damaged("part of it is missing"))?);
    Ok(())
}

/// An `iTXt` chunk: keyword, flag and method of compression, language, translated keyword, text.
fn international_text(data: &[u8], keyword: &'static str) -> Result<Option<String>, ChunkError> {
    let Some([flag, _method, rest @ ..]) = data.get(keyword.len() + 1..) else { return Ok(None) };
    let Some(text) = rest.splitn(3, |&byte| byte == 0).nth(2) else { return Ok(None) };
    let text = if *flag == 0 { text.to_vec() } else { inflate(text, keyword)? };
    String::from_utf8(text).map(Some).map_err(|_| ChunkError::Damaged("it is not valid UTF-8"))
}

fn inflate(packed: &[u8], keyword: &'static str) -> Result<Vec<u8>, ChunkError> {
    let mut text = Vec::new();
    ZlibDecoder::new(packed)
        .take(u64::from(TEXT_LIMIT) + 1)
        .read_to_end(&mut text)
        .map_err(|_| ChunkError::Damaged("it cannot be decompressed"))?;
    if text.len() > TEXT_LIMIT as usize { Err(ChunkError::TooLarge(keyword)) } else { Ok(text) }
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
