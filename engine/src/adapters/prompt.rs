//! `<lora:name:0.8>` in prompts, as in AUTOMATIC1111's web UI.

use super::AdapterError;

/// An adapter named in a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Tag {
    /// File name without extension.
    pub name: String,
    /// Its weight.
    pub weight: f32,
}

const START: &str = "<lora:";

/// Splits a prompt into the text without adapter tags, and the tags.
///
/// # Errors
/// Fails if a weight is not a number.
pub fn without_tags(prompt: &str) -> Result<(String, Vec<Tag>), AdapterError> {
    let (mut text, mut tags) = (String::new(), Vec::new());
    let mut rest = prompt;
    while let Some(start) = rest.find(START) {
        let (before, tag) = rest.split_at(start);
        let Some((inner, after)) = tag[START.len()..].split_once('>') else { break };
        text.push_str(before);
        tags.push(read(inner)?);
        rest = after;
    }
    if tags.is_empty() {
        return Ok((prompt.to_owned(), tags));
    }
    text.push_str(rest);
    // Removing a tag at either end leaves whitespace there.
    Ok((text.trim().to_owned(), tags))
}

fn read(inner: &str) -> Result<Tag, AdapterError> {
    let wrong = || AdapterError::Tag { tag: inner.to_owned() };
    let (name, weight) = match inner.split_once(':') {
        Some((name, weight)) => (name, weight.trim().parse().map_err(|_| wrong())?),
        None => (inner, 1.0),
    };
    let name = name.trim();
    if name.is_empty() || !f32::is_finite(weight) {
        return Err(wrong());
    }
    Ok(Tag { name: name.to_owned(), weight })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_are_taken_out_of_prompts() {
        let tag = |name: &str, weight| Tag { name: name.to_owned(), weight };
        for (prompt, text, tags) in [
            ("a fox <lora:ink:0.8>", "a fox", vec![tag("ink", 0.8)]),
            (
                "<lora:ink> a fox<lora:old film v2:-1.5>, snow",
                "a fox, snow",
                vec![tag("ink", 1.0), tag("old film v2", -1.5)],
            ),
            (" a fox <b> 1 < 2 ", " a fox <b> 1 < 2 ", vec![]),
            ("a fox <lora:ink:0.8", "a fox <lora:ink:0.8", vec![]),
            ("<lora:ink:1>", "", vec![tag("ink", 1.0)]),
        ] {
            assert_eq!(without_tags(prompt).unwrap(), (text.to_owned(), tags), "{prompt}");
        }
        for prompt in ["<lora:ink:strong>", "<lora::1>", "<lora:ink:0.5:0.7>", "<lora:ink:inf>"] {
            assert!(matches!(without_tags(prompt), Err(AdapterError::Tag { .. })), "{prompt}");
        }
    }
}
