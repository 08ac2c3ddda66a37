//! What the engine says, in the current language.
//!
//! The engine's errors, advice and plans are English wherever they go: through pipes, into logs, reports and the command
//! line. The English texts of [`FILES`] are the templates of those sentences. A message is recognised by the template
//! that made it, and its values are put into the translation. What no template made stays as it is.

use std::{
    collections::HashMap,
    sync::{Mutex, OnceLock, PoisonError},
};

use fluent_bundle::{FluentArgs, FluentValue};
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};

use super::{Language, current, english, units};

/// Files with texts that the engine has, too, and what is in the keys of those.
const FILES: [(&str, &str); 6] =
    [("advice", ""), ("error", ""), ("note", ""), ("reason", ""), ("plan", "-row-"), ("plan", "-mode-")];
/// What the keys of the reasons of plans begin with.
const REASONS: &str = "reason-";
/// Texts are drawn in each frame and translated once; so many are kept.
const KEPT: usize = 500;
/// What is between sentences.
const BETWEEN: &str = ". ";
/// The full stop of Japanese and Chinese, which no space follows.
pub const IDEOGRAPHIC_STOP: char = '。';

/// A text with gaps.
struct Template {
    key: String,
    pieces: Vec<Piece>,
    /// Bytes of its text without the gaps.
    length: usize,
}

enum Piece {
    Text(String),
    Gap(String),
}

/// What may fill the gaps of a template. Values such as the messages of other programs may have several sentences, but
/// where several messages follow on each other, one must not be taken for a value of the next.
#[derive(Clone, Copy, PartialEq)]
enum Gaps {
    InOneSentence,
    OfAnyLength,
}

/// A message of the engine in the current language, without what is only for the command line.
pub fn said(message: &str) -> String {
    let message = for_the_window(message);
    let language = current();
    if language.tag == english().tag {
        return message.to_owned();
    }
    static KNOWN: Mutex<Option<HashMap<(&str, String), String>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if known.len() >= KEPT {
        known.clear();
    }
    known.entry((language.tag, message.to_owned())).or_insert_with(|| language.said(message)).clone()
}

/// A message up to the sentence that is for the command line, which is its last one.
fn for_the_window(message: &str) -> &str {
    message.split_once(" On the command line, ").map_or(message, |(before, _)| before)
}

/// The key of the template that made a message.
pub fn template_of(message: &str) -> Option<&'static str> {
    recognised(message, Gaps::OfAnyLength).map(|(template, _)| template.key.as_str())
}

impl Language {
    /// A message of the engine, as a whole or else sentence by sentence.
    pub fn said(&self, message: &str) -> String {
        let whole = |gaps| self.whole(message, gaps);
        whole(Gaps::InOneSentence)
            .or_else(|| self.sentences(message))
            .or_else(|| whole(Gaps::OfAnyLength))
            .unwrap_or_else(|| message.to_owned())
    }

    /// A message sentence by sentence, if at least one of them is known. Templates may have several.
    fn sentences(&self, message: &str) -> Option<String> {
        let ends: Vec<usize> =
            message.match_indices(BETWEEN).map(|(place, _)| place + 1).chain([message.len()]).collect();
        let (mut from, mut is_known, mut words) = (0, false, String::new());
        while from < message.len() {
            let later = ends.iter().copied().filter(|end| *end > from);
            let known = later
                .clone()
                .rev()
                .find_map(|end| Some((end, self.whole(&message[from..end], Gaps::InOneSentence)?)));
            is_known |= known.is_some();
            let (end, text) = known.unwrap_or_else(|| {
                let end = later.min().unwrap_or(message.len());
                (end, message[from..end].to_owned())
            });
            if !words.is_empty() && !words.ends_with(IDEOGRAPHIC_STOP) {
                words.push(' ');
            }
            words += &text;
            from = end + 1;
        }
        is_known.then_some(words)
    }

    /// The translation of a message that one template made.
    fn whole(&self, message: &str, gaps: Gaps) -> Option<String> {
        let (template, values) = recognised(message, gaps)?;
        let mut arguments = FluentArgs::new();
        for (name, value) in values {
            let value = match value.parse::<i64>() {
                Ok(number) if number.to_string() == value => FluentValue::from(number),
                _ => FluentValue::from(self.value(&template.key, value)),
            };
            arguments.set(name, value);
        }
        self.text(&template.key, Some(&arguments))
    }

    /// What fills a gap. Amounts get the decimal mark of the language, and in the reasons of plans numbers do, too; elsewhere
    /// those may be names, versions, or what somebody typed.
    fn value(&self, key: &str, value: &str) -> String {
        let is_figure = units::is_amount(value) || key.starts_with(REASONS) && units::is_decimal(value);
        if is_figure { self.figure(value) } else { self.said(value) }
    }
}

/// The template that made a message, and what filled its gaps. Of several, the one with the most text of its own.
fn recognised(message: &str, gaps: Gaps) -> Option<(&'static Template, Vec<(&'static str, &str)>)> {
    static TEMPLATES: OnceLock<Vec<Template>> = OnceLock::new();
    TEMPLATES.get_or_init(templates).iter().find_map(|template| {
        let mut values = Vec::new();
        fill(&template.pieces, message, gaps, &mut values).then_some((template, values))
    })
}

/// Divides a text into the pieces of a template.
fn fill<'text>(
    pieces: &'static [Piece],
    text: &'text str,
    gaps: Gaps,
    values: &mut Vec<(&'static str, &'text str)>,
) -> bool {
    match pieces {
        [] => text.is_empty(),
        [Piece::Text(piece), rest @ ..] => {
            text.strip_prefix(piece.as_str()).is_some_and(|text| fill(rest, text, gaps, values))
        }
        [Piece::Gap(name), rest @ ..] => {
            let depth = values.len();
            // A gap of one sentence may end in its full stop.
            let furthest = match gaps {
                Gaps::InOneSentence => text.find(BETWEEN).map_or(text.len(), |place| place + 1),
                Gaps::OfAnyLength => text.len(),
            };
            let mut ends_at = |place: usize| {
                values.truncate(depth);
                values.push((name.as_str(), &text[..place]));
                fill(rest, &text[place..], gaps, values)
            };
            match rest {
                [Piece::Text(piece), ..] => {
                    let places = text.match_indices(piece.as_str()).map(|(place, _)| place);
                    places.take_while(|place| *place <= furthest).any(ends_at)
                }
                _ => furthest == text.len() && ends_at(text.len()),
            }
        }
    }
}

/// All templates, those with the most text first.
fn templates() -> Vec<Template> {
    let mut templates = Vec::new();
    for (file, source) in english().files() {
        let parts: Vec<&str> =
            FILES.iter().filter(|(known, _)| *known == file).map(|(_, part)| *part).collect();
        if parts.is_empty() {
            continue;
        }
        let resource = fluent_syntax::parser::parse(source.as_str()).unwrap_or_else(|(readable, errors)| {
            tracing::warn!(file, ?errors, "the file has errors: some messages stay English");
            readable
        });
        for entry in resource.body {
            let Entry::Message(message) = entry else { continue };
            let Some(pattern) = message.value else { continue };
            if parts.iter().any(|part| message.id.name.contains(part)) {
                templates.extend(template(message.id.name, &pattern));
            }
        }
    }
    templates.sort_by_key(|template| std::cmp::Reverse(template.length));
    templates
}

/// A text as a template. None if it has forms for numbers, which no message of the engine has, or two gaps without a text
/// between them.
fn template(key: &str, pattern: &Pattern<&str>) -> Option<Template> {
    let mut template = Template { key: key.to_owned(), pieces: Vec::new(), length: 0 };
    for element in &pattern.elements {
        match element {
            PatternElement::TextElement { value } => template.add(value),
            PatternElement::Placeable { expression: Expression::Inline(inline) } => match inline {
                InlineExpression::StringLiteral { value } => template.add(value),
                InlineExpression::VariableReference { id } => match template.pieces.last() {
                    Some(Piece::Gap(_)) => return None,
                    _ => template.pieces.push(Piece::Gap(id.name.to_owned())),
                },
                _ => return None,
            },
            PatternElement::Placeable { .. } => return None,
        }
    }
    (template.length > 0).then_some(template)
}

impl Template {
    fn add(&mut self, text: &str) {
        self.length += text.len();
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_for_the_command_line_is_not_for_the_window() {
        let both = "Choose another model. On the command line, use `sluice map`.";
        for message in [both, "Choose another model."] {
            assert_eq!(for_the_window(message), "Choose another model.");
        }
    }
}
