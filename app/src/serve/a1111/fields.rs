//! The fields of a request, each of which is used, refused, or said to have no effect.

use serde_json::{Map, Value};

use crate::serve::Refusal;

/// The fields that are left, and what to say about those without effect.
pub struct Fields {
    left: Map<String, Value>,
    /// What the client is told.
    pub warnings: Vec<String>,
}

impl Fields {
    /// All of a request. `null` is as good as absent.
    pub fn of(all: Map<String, Value>) -> Self {
        let left = all.into_iter().filter(|(_, value)| !value.is_null()).collect();
        Self { left, warnings: Vec::new() }
    }

    /// Takes a field as it is.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.left.remove(name)
    }

    /// Takes a text that is not empty.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok((!text.trim().is_empty()).then_some(text)),
            Some(other) => Err(not_a(name, &other, "a text")),
        }
    }

    /// Takes a number.
    pub fn number(&mut self, name: &str) -> Result<Option<f64>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| not_a(name, &value, "a number")),
        }
    }

    /// Takes a number without a fraction. Some clients send `20.0`.
    pub fn whole(&mut self, name: &str) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let from_fraction = || value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15);
        let whole = value.as_i64().or_else(|| from_fraction().map(|number| number as i64));
        whole.map(Some).ok_or_else(|| not_a(name, &value, "a whole number"))
    }

    /// Takes a whole number that is not negative.
    pub fn count(&mut self, name: &str) -> Result<Option<u32>, Refusal> {
        let Some(whole) = self.whole(name)? else { return Ok(None) };
        let count = u32::try_from(whole);
        count.map(Some).map_err(|_| not_a(name, &Value::from(whole), "a number from 0 up"))
    }

    /// Takes a switch. Some clients send 0 and 1.
    pub fn flag(&mut self, name: &str) -> Result<Option<bool>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(value) => match value.as_i64() {
                Some(number @ (0 | 1)) => Ok(Some(number == 1)),
                _ => Err(not_a(name, &value, "true or false")),
            },
        }
    }

    /// Takes a list of texts.
    pub fn texts(&mut self, name: &str) -> Result<Vec<String>, Refusal> {
        let Some(value) = self.take(name) else { return Ok(Vec::new()) };
        serde_json::from_value(value.clone()).map_err(|_| not_a(name, &value, "a list of texts"))
    }

    /// Takes an object.
    pub fn object(&mut self, name: &str) -> Result<Map<String, Value>, Refusal> {
        match self.take(name) {
            None => Ok(Map::new()),
            Some(Value::Object(map)) => Ok(map),
            Some(other) => Err(not_a(name, &other, "an object")),
        }
    }

    /// Refuses a field that would change the image, unless it has a value that changes nothing.
    pub fn refuse(&mut self, name: &str, neutral: &[&str], advice: &str) -> Result<(), Refusal> {
        match self.take(name) {
            Some(value) if !is_neutral(&value, neutral) => {
                Err(Refusal::wrong(format!("`{name}` {value} is not possible here"), advice))
            }
            _ => Ok(()),
        }
    }

    /// Warns of fields that have no effect, unless they have a value that has none either.
    pub fn warn(&mut self, names: &[&str], neutral: &[&str]) {
        for name in names {
            if let Some(value) = self.take(name).filter(|value| !is_neutral(value, neutral)) {
                self.warnings.push(format!("`{name}` {value} has no effect here"));
            }
        }
    }

    /// Leaves out fields that say nothing about the image.
    pub fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.left.remove(*name);
        }
    }

    /// What to say, also about fields that nobody knows.
    pub fn finish(mut self) -> Vec<String> {
        for (name, value) in self.left {
            if !is_neutral(&value, &[]) {
                self.warnings.push(format!("`{name}` is not known here and has no effect"));
            }
        }
        self.warnings
    }
}

/// Whether a value is empty, or one of these as JSON.
fn is_neutral(value: &Value, neutral: &[&str]) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => {
            text.is_empty() || neutral.iter().any(|known| text.eq_ignore_ascii_case(known))
        }
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(number) => {
            let number = number.as_f64();
            number == Some(0.0)
                || neutral.iter().any(|known| known.parse().ok() == number && number.is_some())
        }
        Value::Bool(true) => neutral.contains(&"true"),
    }
}

fn not_a(name: &str, value: &Value, what: &str) -> Refusal {
    let shown: String = value.to_string().chars().take(60).collect();
    Refusal::wrong(format!("`{name}` {shown} is not {what}"), "See /docs of A1111 for what it takes.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(json: Value) -> Fields {
        Fields::of(json.as_object().unwrap().clone())
    }

    #[test]
    fn numbers_come_in_many_forms() {
        let mut all =
            fields(json!({ "steps": 20.0, "seed": -1, "width": 512, "tiling": 0, "cfg": 7, "x": null }));
        assert_eq!(all.count("steps").unwrap(), Some(20));
        assert_eq!(all.whole("seed").unwrap(), Some(-1));
        assert_eq!(all.count("width").unwrap(), Some(512));
        assert_eq!(all.flag("tiling").unwrap(), Some(false));
        assert_eq!(all.number("cfg").unwrap(), Some(7.0));
        assert_eq!(all.text("x").unwrap(), None);
        assert!(all.finish().is_empty());
        let mut wrong =
            fields(json!({ "steps": 1.5, "width": -8, "tiling": "yes", "prompt": 3, "styles": "a" }));
        assert!(wrong.count("steps").is_err());
        assert!(wrong.count("width").is_err());
        assert!(wrong.flag("tiling").is_err());
        assert!(wrong.text("prompt").is_err());
        assert!(wrong.texts("styles").is_err());
    }

    #[test]
    fn nothing_is_dropped_silently() {
        let mut all = fields(json!({
            "s_churn": 3, "s_noise": 1, "restore_faces": false, "tiling": true, "wibble": 1, "wobble": []
        }));
        all.warn(&["s_churn", "s_noise"], &["1"]);
        all.refuse("restore_faces", &[], "Leave it out.").unwrap();
        assert!(all.refuse("tiling", &[], "Leave it out.").is_err());
        let warnings = all.finish();
        assert_eq!(
            warnings,
            ["`s_churn` 3 has no effect here", "`wibble` is not known here and has no effect"]
        );
    }
}
