//! SentencePiece models (Kudo & Richardson 2018, arXiv:1808.06226), which split text into pieces by
//! probability.

use tokenizers::{
    AddedToken, Tokenizer,
    models::unigram::Unigram,
    normalizers::precompiled::Precompiled,
    pre_tokenizers::{
        PreTokenizerWrapper,
        metaspace::{Metaspace, PrependScheme},
        sequence::Sequence,
        whitespace::WhitespaceSplit,
    },
};

use crate::checkpoint::Vocabulary;

const UNKNOWN: &str = "<unk>";
/// Number of T5's sentinel tokens, which come after its pieces.
const MARKS: usize = 100;

/// Pieces of words, their scores, and the normalization of text before it is split.
#[derive(Debug, Clone, PartialEq)]
pub struct Pieces {
    /// Text and log probability of each piece; its index is its id.
    pub pieces: Vec<(String, f64)>,
    replacements: Vec<u8>,
}

impl Pieces {
    /// Parses a `spiece.model`, a protocol buffer: field 1 is the pieces (1: text, 2: score); field 3 is the
    /// normalizer, whose field 2 is the replacement table. `None` if it is something else.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut model = Self { pieces: Vec::new(), replacements: Vec::new() };
        for field in fields(bytes)? {
            match field {
                (1, Value::Bytes(piece)) => {
                    let (mut text, mut score) = (None, 0.0);
                    for field in fields(piece)? {
                        match field {
                            (1, Value::Bytes(bytes)) => text = Some(std::str::from_utf8(bytes).ok()?),
                            (2, Value::Word(bits)) => score = f32::from_bits(bits).into(),
                            _ => {}
                        }
                    }
                    model.pieces.push((text?.to_owned(), score));
                }
                (3, Value::Bytes(normalising)) => {
                    for field in fields(normalising)? {
                        if let (2, Value::Bytes(table)) = field {
                            model.replacements = table.to_vec();
                        }
                    }
                }
                _ => {}
            }
        }
        (!model.pieces.is_empty()).then_some(model)
    }

    /// The pieces in a GGUF file's vocabulary; `None` if its tokenizer is of another kind.
    pub fn from_vocabulary(vocabulary: Vocabulary) -> Option<Self> {
        let Vocabulary { kind, tokens, scores, replacements, .. } = vocabulary;
        let fits = ["t5", "llama"].contains(&kind.as_str()) && scores.len() == tokens.len();
        let pieces = tokens.into_iter().zip(scores.into_iter().map(f64::from)).collect();
        fits.then_some(Self { pieces, replacements })
    }

    /// Builds T5's tokenizer from its pieces as transformers does, for an encoder with this many embeddings.
    pub fn t5_tokenizer(self, embeddings: usize) -> tokenizers::Result<Tokenizer> {
        let Self { mut pieces, replacements } = self;
        let mark = |number: usize| format!("<extra_id_{number}>");
        if !pieces.iter().any(|(piece, _)| *piece == mark(0)) {
            let marks = MARKS.min(embeddings.saturating_sub(pieces.len()));
            pieces.extend((0..marks).rev().map(|number| (mark(number), 0.0)));
        }
        let unknown = pieces.iter().position(|(piece, _)| piece == UNKNOWN);
        let is_special =
            |piece: &str| ["<pad>", "</s>", UNKNOWN].contains(&piece) || piece.starts_with("<extra_id_");
        let special: Vec<AddedToken> = pieces
            .iter()
            .filter(|(piece, _)| is_special(piece))
            .map(|(piece, _)| AddedToken::from(piece.as_str(), true).normalized(false))
            .collect();
        let mut tokenizer = Tokenizer::new(Unigram::from(pieces, unknown, false)?);
        if !replacements.is_empty() {
            if !can_be_followed(&replacements) {
                return Err("its replacement table is damaged".into());
            }
            tokenizer.with_normalizer(Some(Precompiled::from(&replacements)?))?;
        }
        tokenizer.with_pre_tokenizer(Some(Sequence::new(vec![
            PreTokenizerWrapper::WhitespaceSplit(WhitespaceSplit),
            PreTokenizerWrapper::Metaspace(Metaspace::new('▁', PrependScheme::Always, true)),
        ])));
        tokenizer.add_special_tokens(special)?;
        Ok(tokenizer)
    }
}

/// A value of a protocol buffer, as far as needed here.
enum Value<'a> {
    Bytes(&'a [u8]),
    Word(u32),
    Other,
}

/// The fields of a message with their numbers; `None` if it is not a message.
fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = variable(&mut bytes)?;
        let value = match key & 7 {
            0 => variable(&mut bytes).map(|_| Value::Other)?,
            1 => bytes.split_off(..8).map(|_| Value::Other)?,
            2 => {
                let length = usize::try_from(variable(&mut bytes)?).ok()?;
                Value::Bytes(bytes.split_off(..length)?)
            }
            5 => Value::Word(u32::from_le_bytes(bytes.split_off(..4)?.try_into().ok()?)),
            _ => return None,
        };
        fields.push((key >> 3, value));
    }
    Some(fields)
}

/// A varint: seven bits per byte, lowest first.
fn variable(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Whether every path through a replacement table stays within it; the library that follows it does not
/// check. The table consists of the byte length of a double array, the array, and the zero-terminated
/// replacements. A unit of the array has a letter, an offset, and a flag for whether a value follows (Yata
/// 2012, darts-clone).
fn can_be_followed(table: &[u8]) -> bool {
    let Some((length, rest)) = table.split_first_chunk() else { return false };
    let length = u32::from_le_bytes(*length) as usize;
    let Some((array, texts)) = rest.split_at_checked(length) else { return false };
    let (units, odd) = array.as_chunks();
    let units: Vec<usize> = units.iter().map(|unit| u32::from_le_bytes(*unit) as usize).collect();
    let Ok(texts) = std::str::from_utf8(texts) else { return false };
    let distance = |unit: usize| (unit >> 10) << ((unit & (1 << 9)) >> 6);
    let Some(&root) = units.first().filter(|_| odd.is_empty()) else { return false };
    let mut seen = vec![false; units.len()];
    let mut open = vec![distance(root)];
    while let Some(node) = open.pop() {
        for letter in 1..=usize::from(u8::MAX) {
            let place = node ^ letter;
            let Some(&unit) = units.get(place) else { return false };
            if unit & (1 << 31 | 0xff) != letter || std::mem::replace(&mut seen[place], true) {
                continue;
            }
            let next = place ^ distance(unit);
            if unit >> 8 & 1 == 1 {
                let Some(value) = units.get(next) else { return false };
                let start = value & ((1 << 31) - 1);
                if !texts.get(start..).is_some_and(|text| text.contains('\0')) {
                    return false;
                }
            }
            open.push(next);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_far_as_they_go() {
        // Piece "▁a" with score -1.5 and a type; a trainer field to skip; replacements "xyz".
        let piece = [&[10, 4][..], "▁a".as_bytes(), &[21], &(-1.5_f32).to_le_bytes(), &[24, 1]].concat();
        let message =
            [&[10, piece.len() as u8][..], &piece, &[18, 2, 8, 1, 26, 5, 18, 3, b'x', b'y', b'z']].concat();
        let model = Pieces::parse(&message).unwrap();
        assert_eq!(model, Pieces { pieces: vec![("▁a".to_owned(), -1.5)], replacements: b"xyz".to_vec() });
        for length in 0..message.len() {
            let _ = Pieces::parse(&message[..length]);
        }
        assert_eq!(Pieces::parse(&[]), None);
        assert_eq!(Pieces::parse(b"no message at all"), None);
        assert_eq!(Pieces::parse(&[10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), None);
    }

    #[test]
    fn tables_that_lead_out_of_themselves_are_refused() {
        // A root that leads to index 256 in an array of one unit.
        let lead_out = [&4_u32.to_le_bytes()[..], &(256_u32 << 10).to_le_bytes(), b"x\0"].concat();
        for table in [&[][..], &[1, 2], &[255, 255, 255, 255, 0], &[3, 0, 0, 0, 1, 2, 3, 0], &lead_out] {
            assert!(!can_be_followed(table), "{table:?}");
            let model = Pieces { pieces: vec![("<unk>".to_owned(), 0.0)], replacements: table.to_vec() };
            assert!(table.is_empty() || model.t5_tokenizer(1).is_err());
        }
    }
}
