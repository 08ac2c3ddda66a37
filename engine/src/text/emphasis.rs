//! Prompt emphasis, in the syntax of AUTOMATIC1111's web UI.
//!
//! `(a)` has weight 1.1, `[a]` has 1/1.1, `(a:1.4)` has 1.4; weights of nested brackets multiply. `\(`, `\)`,
//! `\[`, `\]` and `\\` are literal characters. An unclosed bracket applies to the end of the prompt; an
//! unopened one is a literal character. `BREAK` ends a chunk. Prompt editing (`[a:b:0.5]`) and `AND` are not
//! supported and read as plain text.

/// Weight of a pair of round brackets.
const ROUND: f64 = 1.1;
/// Weight of a pair of square brackets.
const SQUARE: f64 = 1.0 / ROUND;
const BREAK: &str = "BREAK";

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text.
    Text {
        /// The text to tokenize.
        text: String,
        /// Its weight; 1 by default.
        weight: f64,
    },
    /// Starts a new chunk.
    Break,
}

impl Piece {
    fn plain(text: &str) -> Self {
        Self::Text { text: text.to_owned(), weight: 1.0 }
    }
}

/// Splits a prompt into parts, merging neighbours of the same weight; a prompt without text is one empty
/// part. Never fails: anything that is not syntax is text.
///
/// `BREAK` also works inside brackets, where the web UI mistakes it for a word of negative weight.
pub fn parse(prompt: &str) -> Vec<Piece> {
    let mut parser = Parser::default();
    let mut rest = prompt;
    while let Some(first) = rest.chars().next() {
        rest = &rest[parser.next(first, rest)..];
    }
    parser.end()
}

/// The parts so far, and where among them the unclosed brackets opened.
#[derive(Default)]
struct Parser {
    pieces: Vec<Piece>,
    round: Vec<usize>,
    square: Vec<usize>,
}

impl Parser {
    /// Parses the token at the start of `rest`, whose first character is `first`; returns its length in
    /// bytes.
    fn next(&mut self, first: char, rest: &str) -> usize {
        match first {
            '\\' => {
                let escaped = rest[1..].chars().next().filter(|c| "()[]\\".contains(*c));
                let text = escaped.map_or_else(String::new, String::from);
                self.pieces.push(Piece::plain(&text));
                return 1 + text.len();
            }
            '(' => self.round.push(self.pieces.len()),
            '[' => self.square.push(self.pieces.len()),
            ')' => match self.round.pop() {
                Some(start) => self.multiply(start, ROUND),
                None => self.text(")"),
            },
            ']' => match self.square.pop() {
                Some(start) => self.multiply(start, SQUARE),
                None => self.text("]"),
            },
            ':' => {
                let Some((weight, bytes)) = closing_weight(rest) else {
                    self.text(":");
                    return 1;
                };
                match self.round.pop() {
                    Some(start) => self.multiply(start, weight),
                    None => self.text(&rest[..bytes]),
                }
                return bytes;
            }
            _ => {
                let end = rest.find(['\\', '(', ')', '[', ']', ':']).unwrap_or(rest.len());
                self.text(&rest[..end]);
                return end;
            }
        }
        1
    }

    /// Adds literal text, with the `BREAK`s in it.
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(place) = find_break(text, text.len() - rest.len()) {
            let start = text.len() - rest.len();
            self.pieces.push(Piece::plain(text[start..place].trim_end()));
            self.pieces.push(Piece::Break);
            rest = text[place + BREAK.len()..].trim_start();
        }
        self.pieces.push(Piece::plain(rest));
    }

    fn multiply(&mut self, start: usize, factor: f64) {
        for piece in &mut self.pieces[start..] {
            if let Piece::Text { weight, .. } = piece {
                *weight *= factor;
            }
        }
    }

    fn end(mut self) -> Vec<Piece> {
        for start in std::mem::take(&mut self.round) {
            self.multiply(start, ROUND);
        }
        for start in std::mem::take(&mut self.square) {
            self.multiply(start, SQUARE);
        }
        let mut merged: Vec<Piece> = Vec::new();
        for piece in self.pieces {
            if let (Some(Piece::Text { text, weight }), Piece::Text { text: more, weight: same }) =
                (merged.last_mut(), &piece)
                && weight == same
            {
                text.push_str(more);
            } else {
                merged.push(piece);
            }
        }
        if merged.is_empty() {
            merged.push(Piece::plain(""));
        }
        merged
    }
}

/// The weight in a leading `:1.4)`, and the length of that in bytes.
fn closing_weight(text: &str) -> Option<(f64, usize)> {
    let end = text.find(')')?;
    let number = &text[1..end];
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    let is_number = digits.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
    let weight = number.parse().ok().filter(|weight: &f64| is_number && (*weight as f32).is_finite())?;
    Some((weight, end + 1))
}

/// The position of the first `BREAK` in `text` that is a word of its own, from `from` on.
fn find_break(text: &str, from: usize) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut places = text[from..].match_indices(BREAK).map(|(place, _)| from + place);
    places.find(|&place| {
        let (before, after) = (&text[..place], &text[place + BREAK.len()..]);
        !before.ends_with(is_word) && !after.starts_with(is_word)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(prompt: &str) -> Vec<(String, f64)> {
        let shown = |piece| match piece {
            Piece::Text { text, weight } => (text, weight),
            Piece::Break => (BREAK.to_owned(), -1.0),
        };
        parse(prompt).into_iter().map(shown).collect()
    }

    /// Expected values of A1111's `parse_prompt_attention`; the first six cases are its own examples.
    #[test]
    fn brackets_weigh_as_in_a1111() {
        let cases: &[(&str, &[(&str, f64)])] = &[
            ("normal text", &[("normal text", 1.0)]),
            ("an (important) word", &[("an ", 1.0), ("important", 1.1), (" word", 1.0)]),
            ("(unbalanced", &[("unbalanced", 1.1)]),
            (r"\(literal\]", &[("(literal]", 1.0)]),
            ("(unnecessary)(parens)", &[("unnecessaryparens", 1.1)]),
            (
                "a (((house:1.3)) [on] a (hill:0.5), sun, (((sky))).",
                &[
                    ("a ", 1.0),
                    ("house", 1.573_000_000_000_000_4),
                    (" ", 1.1),
                    ("on", 1.0),
                    (" a ", 1.1),
                    ("hill", 0.55),
                    (", sun, ", 1.1),
                    ("sky", 1.464_100_000_000_000_6),
                    (".", 1.1),
                ],
            ),
            ("", &[("", 1.0)]),
            ("((word))", &[("word", 1.210_000_000_000_000_2)]),
            ("[word]", &[("word", 0.909_090_909_090_909_1)]),
            ("[[word]", &[("word", 0.826_446_280_991_735_4)]),
            ("a) b] :) (c:1.5", &[("a) b] :) ", 1.0), ("c:1.5", 1.1)]),
            ("a:1.4) b", &[("a:1.4) b", 1.0)]),
            ("(a:-.5)(b:+2.)", &[("a", -0.5), ("b", 2.0)]),
            ("(a: 1.3)", &[("a: 1.3", 1.1)]),
            (r"\\ \a (\(:1.3)", &[(r"\ a ", 1.0), ("(", 1.3)]),
            ("[from:to:0.5]", &[("from:to:0.5", 0.909_090_909_090_909_1)]),
            ("a AND b", &[("a AND b", 1.0)]),
            ("a BREAK b", &[("a", 1.0), ("BREAK", -1.0), ("b", 1.0)]),
            ("BREAK", &[("", 1.0), ("BREAK", -1.0), ("", 1.0)]),
            (
                "a\nBREAK, BREAKFAST BREAK BREAK",
                &[
                    ("a", 1.0),
                    ("BREAK", -1.0),
                    (", BREAKFAST", 1.0),
                    ("BREAK", -1.0),
                    ("", 1.0),
                    ("BREAK", -1.0),
                    ("", 1.0),
                ],
            ),
        ];
        for (prompt, expected) in cases {
            let expected: Vec<(String, f64)> =
                expected.iter().map(|(text, weight)| ((*text).to_owned(), *weight)).collect();
            assert_eq!(parsed(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn a_break_inside_brackets_is_one() {
        let expected = [("a".to_owned(), 2.0), (BREAK.to_owned(), -1.0), ("b".to_owned(), 2.0)];
        assert_eq!(parsed("(a BREAK b:2)"), expected);
    }

    #[test]
    fn what_is_no_number_is_text() {
        assert_eq!(parsed("(a:1.2.3)"), [("a:1.2.3".to_owned(), 1.1)]);
        assert_eq!(parsed("(a:.)"), [("a:.".to_owned(), 1.1)]);
        let huge = format!("(a:{})", "9".repeat(50));
        assert_eq!(parsed(&huge)[0].1, 1.1);
    }

    proptest! {
        #[test]
        fn any_text_can_be_parsed(text in "([()\\[\\]:\\\\ .+-]|[0-9]|BREAK|é|\\PC){0,40}") {
            let pieces = parse(&text);
            prop_assert!(!pieces.is_empty());
            for piece in pieces {
                if let Piece::Text { weight, .. } = piece {
                    prop_assert!(weight.is_finite());
                }
            }
        }

        #[test]
        fn text_without_syntax_stays_as_it_is(text in "[^()\\[\\]\\\\B]{0,40}") {
            prop_assert_eq!(parsed(&text), [(text, 1.0)]);
        }
    }
}
