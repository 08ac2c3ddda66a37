//! Sentences about what has a name, which may be long.

/// A sentence, and the name in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// The sentence.
    pub text: String,
    /// The name in it, which is shortened where there is not enough room; empty if there is none.
    pub name: String,
}

impl Told {
    /// A sentence about what has this name, which is in one line.
    pub fn about(name: impl Into<String>, sentence: impl FnOnce(&str) -> String) -> Self {
        let name = name.into().replace('\n', " ");
        Self { text: sentence(&name), name }
    }
}

impl From<String> for Told {
    fn from(text: String) -> Self {
        Self { text, name: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_line_breaks() {
        let told = Told::about("a fox\nin snow", |name| format!("{name} is deleted"));
        assert_eq!((told.text.as_str(), told.name.as_str()), ("a fox in snow is deleted", "a fox in snow"));
    }
}
