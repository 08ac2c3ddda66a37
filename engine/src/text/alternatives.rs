//! Prompts that leave words open: `{red|blue} car` and `a __colour__ car`, as in the dynamic prompts of A1111 and in ComfyUI.
//!
//! - `{a|b|c}` becomes one of its options, which may contain more of the same. `{2$$a|b|c}` becomes two different ones, joined
//!   by a comma, `{1-2$$ and $$a|b|c}` one or two, joined by `and`. An option that begins with `3::` is three times as
//!   likely.
//! - `__name__` becomes a line of the file `name.txt`, see [`Wildcards`].
//! - Braces without a `|`, as in JSON, are text, and so are `\{`, `\|` and `\}`. One that is not closed is an error if a `|`
//!   follows, and so are more options than there are.
//!
//! The seed decides, so that the same seed gives the same prompt.

use rand_mt::Mt64;

use super::wildcards::{WildcardError, Wildcards};

/// How deep files may refer to files.
const DEEPEST: usize = 16;
/// What several options are joined by.
const USUAL_JOINT: &str = ", ";
const MARK: &str = "__";

/// Whether a prompt leaves words open, or would if its braces were closed.
pub fn leaves_open(prompt: &str) -> bool {
    let has_choice = || {
        prompt.char_indices().any(|(at, letter)| {
            letter == '{' && braces(&prompt[at..]).is_some_and(|inner| options(inner).len() > 1)
        })
    };
    has_choice()
        || prompt.match_indices(MARK).any(|(at, _)| wildcard(&prompt[at..]).is_some())
        || unclosed(prompt).is_some()
}

/// What begins with the first brace that is not closed and has options.
fn unclosed(prompt: &str) -> Option<&str> {
    let (mut open, mut is_escaped) = (Vec::new(), false);
    for (at, letter) in prompt.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '{' => open.push(at),
            '}' => {
                open.pop();
            }
            _ => (),
        }
    }
    open.into_iter().map(|at| &prompt[at..]).find(|text| options(&text[1..]).len() > 1)
}

/// A prompt with every choice made, by the seed.
///
/// # Errors
/// When a file that is named does not exist, cannot be read, has no lines, or refers to itself, when a brace before options is not
/// closed, or when more options are wanted than there are.
pub fn chosen(prompt: &str, seed: u64, wildcards: &Wildcards) -> Result<String, WildcardError> {
    if !leaves_open(prompt) {
        return Ok(prompt.to_owned());
    }
    if let Some(text) = unclosed(prompt) {
        return Err(WildcardError::Unclosed { text: text.to_owned() });
    }
    let mut dice = Dice(Mt64::new(seed));
    let mut text = String::new();
    Writer { dice: &mut dice, wildcards }.write(prompt, 0, &mut text)?;
    Ok(text)
}

struct Writer<'a> {
    dice: &'a mut Dice,
    wildcards: &'a Wildcards,
}

impl Writer<'_> {
    fn write(&mut self, prompt: &str, depth: usize, text: &mut String) -> Result<(), WildcardError> {
        let mut rest = prompt;
        while let Some(letter) = rest.chars().next() {
            let escaped = rest.strip_prefix('\\').and_then(|after| after.chars().next());
            if let Some(escaped) = escaped.filter(|letter| "{|}".contains(*letter)) {
                text.push(escaped);
                rest = &rest[2..];
            } else if let Some(inner) = rest.starts_with('{').then(|| braces(rest)).flatten() {
                rest = &rest[inner.len() + 2..];
                if options(inner).len() > 1 {
                    self.choose(inner, depth, text)?;
                } else {
                    text.push('{');
                    self.write(inner, depth, text)?;
                    text.push('}');
                }
            } else if let Some(name) = wildcard(rest) {
                rest = &rest[name.len() + 2 * MARK.len()..];
                if depth == DEEPEST {
                    return Err(WildcardError::Endless { name: name.to_owned() });
                }
                let lines = self.wildcards.lines(name)?;
                let lines: Vec<_> = lines.iter().map(|line| weighted(line)).collect();
                if let Some(line) = self.dice.draw(&lines) {
                    self.write(lines[line].1, depth + 1, text)?;
                }
            } else {
                text.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
        Ok(())
    }

    fn choose(&mut self, inner: &str, depth: usize, text: &mut String) -> Result<(), WildcardError> {
        let whole = inner;
        let (counts, joint, inner) = amount(inner);
        let mut left: Vec<_> = options(inner).into_iter().map(weighted).collect();
        if counts[0] > left.len() {
            let (wanted, options) = (counts[0], left.len());
            return Err(WildcardError::TooFewOptions { wanted, options, text: format!("{{{whole}}}") });
        }
        let count = self.dice.between(counts).min(left.len());
        for number in 0..count {
            let Some(drawn) = self.dice.draw(&left) else { break };
            if number > 0 {
                text.push_str(joint);
            }
            let (_, option) = left.remove(drawn);
            self.write(option, depth, text)?;
        }
        Ok(())
    }
}

/// What is between a brace and the one that closes it.
fn braces(text: &str) -> Option<&str> {
    let (mut depth, mut is_escaped) = (0_usize, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '{' => depth += 1,
            '}' if depth == 1 => return text.get(1..at),
            '}' => depth = depth.checked_sub(1)?,
            _ => (),
        }
    }
    None
}

/// The options between braces.
fn options(inner: &str) -> Vec<&str> {
    let (mut depth, mut is_escaped, mut start) = (0_usize, false, 0);
    let mut options = Vec::new();
    for (at, letter) in inner.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                options.push(&inner[start..at]);
                start = at + 1;
            }
            _ => (),
        }
    }
    options.push(&inner[start..]);
    options
}

/// How many options are taken, what joins them, and the rest: `2$$…`, `1-2$$…`, `2$$ and $$…`.
fn amount(inner: &str) -> ([usize; 2], &str, &str) {
    let one = ([1, 1], USUAL_JOINT, inner);
    let Some((number, rest)) = inner.split_once("$$") else { return one };
    let number = number.trim();
    let (least, most) = number.split_once('-').unwrap_or((number, number));
    let [Ok(least), Ok(most)] = [least, most].map(|count| count.trim().parse::<usize>()) else { return one };
    let (joint, rest) = rest.split_once("$$").unwrap_or((USUAL_JOINT, rest));
    ([least, most.max(least)], joint, rest)
}

/// An option and how likely it is.
fn weighted(option: &str) -> (f64, &str) {
    let Some((weight, rest)) = option.split_once("::") else { return (1.0, option) };
    match weight.trim().parse() {
        Ok(weight) if f64::is_finite(weight) && weight >= 0.0 => (weight, rest),
        _ => (1.0, option),
    }
}

/// The name between two pairs of underscores at the beginning of a text.
fn wildcard(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(MARK)?;
    let name = &rest[..rest.find(MARK)?];
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_/ ".contains(letter);
    let is_name = name.chars().all(is_plain) && name.trim() == name && !name.is_empty();
    is_name.then_some(name)
}

struct Dice(Mt64);

impl Dice {
    /// Evenly from 0 up to 1.
    fn roll(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, [least, most]: [usize; 2]) -> usize {
        least + ((most - least + 1) as f64 * self.roll()) as usize
    }

    /// The index of one of the options, by their weights.
    fn draw(&mut self, options: &[(f64, &str)]) -> Option<usize> {
        let all: f64 = options.iter().map(|(weight, _)| weight).sum();
        let mut left = self.roll() * all;
        let found = options.iter().position(|(weight, _)| {
            left -= weight;
            left < 0.0
        });
        found.or_else(|| options.len().checked_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use super::*;

    fn none() -> Wildcards {
        Wildcards::in_folders(Vec::new())
    }

    /// How often each result comes in many seeds.
    fn counted(prompt: &str, wildcards: &Wildcards) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for seed in 0..2000 {
            *counts.entry(chosen(prompt, seed, wildcards).unwrap()).or_default() += 1;
        }
        counts
    }

    #[test]
    fn one_of_the_options_is_chosen_by_the_seed() {
        let counts = counted("a {red|dark {blue|green}} car", &none());
        let all: Vec<_> = counts.keys().map(String::as_str).collect();
        assert_eq!(all, ["a dark blue car", "a dark green car", "a red car"]);
        assert!((900..1100).contains(&counts["a red car"]), "{counts:?}");
        let again = |seed| chosen("{a|b|c|d|e|f|g|h}", seed, &none()).unwrap();
        assert!((0..50).all(|seed| again(seed) == again(seed)));
    }

    #[test]
    fn likelier_options_are_chosen_more_often() {
        let counts = counted("{3::day|night|0::dusk}", &none());
        assert_eq!(counts.len(), 2);
        assert!((1400..1600).contains(&counts["day"]), "{counts:?}");
    }

    #[test]
    fn several_options_are_different_and_joined() {
        for (result, _) in counted("{2$$a|b|c}", &none()) {
            let (one, other) = result.split_once(", ").unwrap();
            assert!(one != other, "{result}");
        }
        let lengths: Vec<_> = counted("{1-3$$ and $$x|y|z}", &none()).into_keys().collect();
        assert_eq!(lengths.len(), 3 + 6 + 6, "{lengths:?}");
        assert!(lengths.contains(&"z and x and y".to_owned()));
        assert_eq!(chosen("{2-9$$a|a}", 1, &none()).unwrap(), "a, a");
    }

    #[test]
    fn braces_that_cannot_be_meant_are_said() {
        let said = |prompt: &str| chosen(prompt, 1, &none()).unwrap_err().to_string();
        for (prompt, text) in [
            ("a {red|blue house", "{red|blue house"),
            ("{a|b} and {c|{d|e}", "{c|{d|e}"),
            ("an unclosed { brace | here", "{ brace | here"),
            ("{x {a|b", "{a|b"),
        ] {
            assert!(leaves_open(prompt), "{prompt}");
            assert_eq!(said(prompt), format!("a brace in the prompt is not closed: {text}"));
        }
        assert_eq!(chosen(r"an \{ escaped | brace", 1, &none()).unwrap(), r"an \{ escaped | brace");
        assert_eq!(
            said("a {3$$red|blue} house"),
            "3 different options cannot be taken of 2 in {3$$red|blue}"
        );
    }

    #[test]
    fn other_braces_and_underscores_are_text() {
        for text in [
            r#"{"scene": {"subject": "a fox", "count": 2}}"#,
            "an unclosed { brace here",
            "snake__ and __ nothing",
            "__init__.py and ____",
            "",
        ] {
            let open = leaves_open(text);
            assert_eq!(open, text.starts_with("__init__"), "{text}");
            if !open {
                assert_eq!(chosen(text, 3, &none()).unwrap(), text);
            }
        }
        let escaped = chosen(r"{a|a} \{x\|y\} (b\)", 3, &none()).unwrap();
        assert_eq!(escaped, r"a {x|y} (b\)");
        let json = chosen(r#"{"colour": "{red|red}"}"#, 3, &none()).unwrap();
        assert_eq!(json, r#"{"colour": "red"}"#);
    }

    #[test]
    fn lines_of_files_may_leave_words_open_too() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("colour.txt", "# warm\nred\n\n2::__tones/dark__ blue\r\n");
        write("tones/dark.txt", "{deep|navy}");
        write("loop.txt", "a __loop__");
        write("empty.txt", "# nothing\n");
        let wildcards = Wildcards::in_folders(vec![folder.path().to_owned()]);
        let counts = counted("a __colour__ car", &wildcards);
        let all: Vec<_> = counts.keys().map(String::as_str).collect();
        assert_eq!(all, ["a deep blue car", "a navy blue car", "a red car"]);
        assert!(counts["a red car"] < 800, "{counts:?}");
        let wrong = |prompt: &str| chosen(prompt, 1, &wildcards).unwrap_err();
        assert!(matches!(wrong("__loop__"), WildcardError::Endless { .. }));
        assert!(matches!(wrong("__empty__"), WildcardError::Empty { .. }));
        let missing = wrong("__color__");
        assert_eq!(missing.to_string(), "there is no wildcard file named color.txt; similar names: colour");
        assert!(missing.advice().contains(&folder.path().display().to_string()), "{}", missing.advice());
        assert!(!leaves_open("__../secret__"), "files are only in the folders");
    }
}
