//! Splits prompts longer than a network's context into chunks, as AUTOMATIC1111's web UI does.

use super::tokens::{Extent, Sequence, Word};

/// How a prompt is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Tokens per chunk, at least 1.
    pub length: usize,
    /// The token of a comma, if there is one.
    pub comma: Option<u32>,
    /// When a chunk is full and has a comma among this many last tokens, the tokens after the comma move to
    /// the next chunk.
    pub backtrack: usize,
}

impl Cut {
    /// A1111's default.
    pub const BACKTRACK: usize = 20;

    /// The tokens of each chunk (at least one chunk) and the extent of the prompt. Chunks are full except
    /// before a `BREAK`, before a moved comma clause, and at the end.
    pub fn chunks(&self, words: &[Word]) -> (Vec<Sequence>, Extent) {
        let mut chunks: Vec<Sequence> = Vec::new();
        let mut chunk = Sequence::default();
        let mut comma: Option<usize> = None;
        let mut next = |chunk: &mut Sequence, comma: &mut Option<usize>| {
            *comma = None;
            chunks.push(std::mem::take(chunk));
        };
        for &word in words {
            let Word::Token(id, weight) = word else {
                next(&mut chunk, &mut comma);
                continue;
            };
            let filled = chunk.ids.len();
            if Some(id) == self.comma {
                comma = Some(filled);
            } else if filled == self.length
                && let Some(place) = comma.filter(|place| filled - place <= self.backtrack)
            {
                let moved = Sequence {
                    ids: chunk.ids.split_off(place + 1),
                    weights: chunk.weights.split_off(place + 1),
                };
                next(&mut chunk, &mut comma);
                chunk = moved;
            }
            if chunk.ids.len() == self.length {
                next(&mut chunk, &mut comma);
            }
            chunk.push((id, weight));
        }
        let last = chunk.ids.len();
        if last > 0 || chunks.is_empty() {
            chunks.push(chunk);
        }
        let room = chunks.len() * self.length;
        let tokens = if last > 0 { room - self.length + last } else { room };
        let tokens = if words.is_empty() { 0 } else { tokens };
        let extent = Extent { tokens, room, chunks: chunks.len(), cut: 0 };
        (chunks, extent)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMMA: u32 = 7;
    const CUT: Cut = Cut { length: 10, comma: Some(COMMA), backtrack: 4 };

    fn lengths(words: &[Word]) -> (Vec<usize>, usize) {
        let (chunks, extent) = CUT.chunks(words);
        assert_eq!((extent.chunks, extent.room, extent.cut), (chunks.len(), 10 * chunks.len(), 0));
        (chunks.iter().map(|chunk| chunk.ids.len()).collect(), extent.tokens)
    }

    fn words(text: &str) -> Vec<Word> {
        let word = |c| match c {
            ',' => Word::Token(COMMA, 1.0),
            '|' => Word::Break,
            _ => Word::Token(1, 1.0),
        };
        text.chars().map(word).collect()
    }

    #[test]
    fn chunks_end_where_they_are_full_at_commas_and_at_breaks() {
        for (text, expected, tokens) in [
            ("", &[0][..], 0),
            ("aaaa", &[4], 4),
            ("aaaaaaaaaa", &[10], 10),
            ("aaaaaaaaaaa", &[10, 1], 11),
            // The comma is fourth from the end, then fifth.
            ("aaaaaa,aaaa", &[7, 4], 14),
            ("aaaaa,aaaaa", &[10, 1], 11),
            // A comma that comes when a chunk is full starts the next one.
            ("aaaaaaaaaa,aaaaaaaaaa", &[10, 10, 1], 21),
            ("aaaaaaaa,,a", &[10, 1], 11),
            ("aaa|aa", &[3, 2], 12),
            ("aaa|", &[3], 10),
            ("|aaa", &[0, 3], 13),
            ("|", &[0], 10),
            ("aaaaaaaaaa|a", &[10, 1], 11),
        ] {
            assert_eq!(lengths(&words(text)), (expected.to_vec(), tokens), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_token_is_lost_and_none_comes_twice(kinds in prop::collection::vec(0..9_u32, 0..80)) {
            let mut wanted = Vec::new();
            let mut given = Vec::new();
            for (number, kind) in (1000..).zip(kinds) {
                let id = if kind == 0 { COMMA } else { number };
                given.push(if kind == 1 { Word::Break } else { Word::Token(id, number as f32) });
                if kind != 1 {
                    wanted.push((id, number as f32));
                }
            }
            let (chunks, _) = CUT.chunks(&given);
            prop_assert!(chunks.iter().all(|chunk| chunk.ids.len() <= CUT.length));
            let found: Vec<(u32, f32)> =
                chunks.iter().flat_map(|chunk| chunk.ids.iter().copied().zip(chunk.weights.iter().copied())).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
