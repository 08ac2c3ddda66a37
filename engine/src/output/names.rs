//! Names of exported files, made from a template such as `{date} {model} {seed}`.

use super::Date;

/// Most letters of a name, and of the part of it that a prompt becomes. File systems allow 255 bytes.
const LONGEST: usize = 120;
const LONGEST_PROMPT: usize = 60;

/// What a template can contain, with what it becomes.
pub const NAME_FIELDS: [(&str, &str); 8] = [
    ("name", "the name of the file"),
    ("number", "the place in the export, from 1"),
    ("date", "the day it was made"),
    ("seed", "the seed"),
    ("model", "the model"),
    ("prompt", "the beginning of the prompt"),
    ("width", "pixels in a row"),
    ("height", "rows"),
];

/// The facts that names are made from.
#[derive(Debug, Clone, Default)]
pub struct NameFacts<'a> {
    /// The name of the file without its extension.
    pub name: &'a str,
    /// The place in the export, from 1.
    pub number: usize,
    /// How many files are exported.
    pub count: usize,
    /// The day it was made.
    pub date: Option<Date>,
    /// The seed.
    pub seed: Option<u64>,
    /// The model.
    pub model: &'a str,
    /// The prompt.
    pub prompt: &'a str,
    /// Width and height in pixels.
    pub size: [u32; 2],
}

/// Why a template makes no names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It has no letters.
    #[error("type a name, such as {{name}}")]
    Empty,
    /// A field is not known.
    #[error(
        "there is no field {{{0}}}; use {{name}}, {{number}}, {{date}}, {{seed}}, {{model}}, {{prompt}}, {{width}} or {{height}}"
    )]
    Unknown(String),
    /// A brace is not closed.
    #[error("a {{ is not closed by a }}")]
    Open,
}

/// The name of a file without its extension. Characters that file systems do not allow become `_`.
pub fn file_name_of(template: &str, facts: &NameFacts<'_>) -> Result<String, NameError> {
    let mut name = String::new();
    let mut rest = template.trim();
    while let Some((before, after)) = rest.split_once('{') {
        let (field, after) = after.split_once('}').ok_or(NameError::Open)?;
        name.push_str(before);
        name.push_str(&value(field.trim(), facts)?);
        rest = after;
    }
    name.push_str(rest);
    let name = allowed(&name);
    if name.is_empty() {
        // Fields without values may leave nothing, although the template is good.
        return if template.trim().is_empty() { Err(NameError::Empty) } else { Ok("image".to_owned()) };
    }
    Ok(name)
}

fn value(field: &str, facts: &NameFacts<'_>) -> Result<String, NameError> {
    let digits = facts.count.max(1).to_string().len();
    Ok(match field {
        "name" => facts.name.to_owned(),
        "number" => format!("{:0digits$}", facts.number),
        "date" => facts.date.map(|date| date.to_string()).unwrap_or_default(),
        "seed" => facts.seed.map(|seed| seed.to_string()).unwrap_or_default(),
        "model" => facts.model.to_owned(),
        "prompt" => beginning(facts.prompt),
        "width" => facts.size[0].to_string(),
        "height" => facts.size[1].to_string(),
        unknown => return Err(NameError::Unknown(unknown.to_owned())),
    })
}

/// The first words.
fn beginning(prompt: &str) -> String {
    let mut words = String::new();
    for word in prompt.split_whitespace() {
        if words.chars().count() + word.chars().count() >= LONGEST_PROMPT && !words.is_empty() {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words.chars().take(LONGEST_PROMPT).collect()
}

/// Without what Windows, macOS or Linux do not allow in names.
fn allowed(name: &str) -> String {
    let replaced: String = name
        .chars()
        .map(|letter| match letter {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => '_',
            letter if letter.is_control() => ' ',
            letter => letter,
        })
        .take(LONGEST)
        .collect();
    replaced.trim_matches(|letter: char| letter.is_whitespace() || letter == '.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> NameFacts<'static> {
        NameFacts {
            name: "2026-11-21-0007-42",
            number: 7,
            count: 120,
            date: Some(Date { year: 2026, month: 11, day: 21 }),
            seed: Some(42),
            model: "flux1-dev",
            prompt: "a red boat: calm sea / sunset",
            size: [832, 480],
        }
    }

    #[test]
    fn fields_are_filled_in_and_names_are_allowed_everywhere() {
        for (template, expected) in [
            ("{name}", "2026-11-21-0007-42"),
            ("{number} {model} {seed}", "007 flux1-dev 42"),
            ("{ date }_{width}x{height}", "2026-11-21_832x480"),
            ("{prompt}", "a red boat_ calm sea _ sunset"),
            ("../{name}", "_2026-11-21-0007-42"),
            ("...", "image"),
        ] {
            assert_eq!(file_name_of(template, &facts()).as_deref(), Ok(expected), "{template}");
        }
        let long = NameFacts { prompt: &"endless ".repeat(400), ..facts() };
        let name = file_name_of("{prompt} {prompt} {prompt} {prompt}", &long).unwrap();
        assert!(name.chars().count() <= LONGEST && name.starts_with("endless endless"));
        let nothing = NameFacts::default();
        assert_eq!(file_name_of("{seed}", &nothing).as_deref(), Ok("image"));
    }

    #[test]
    fn a_wrong_template_says_what_is_wrong() {
        assert_eq!(file_name_of("  ", &facts()), Err(NameError::Empty));
        assert_eq!(file_name_of("{name", &facts()), Err(NameError::Open));
        assert_eq!(file_name_of("{sampler}", &facts()), Err(NameError::Unknown("sampler".to_owned())));
        for (field, _) in NAME_FIELDS {
            assert!(file_name_of(&format!("{{{field}}}"), &facts()).is_ok(), "{field}");
        }
    }
}
