//! Schemas of arguments, piece by piece.

use serde::Serialize;
use serde_json::{Value, json};

pub(super) const PICTURE: &str = "The path of a PNG, JPEG or WebP file, or its bytes in base64";
pub(super) const CLIP: &str = "The path of an MP4 file, or its bytes in base64";

pub(super) fn text(what: &str) -> Value {
    json!({ "type": "string", "description": what })
}

pub(super) fn number(what: &str) -> Value {
    json!({ "type": "number", "description": what })
}

/// A whole number, which is at least this.
pub(super) fn whole(least: u32, what: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "description": what })
}

pub(super) fn flag(what: &str) -> Value {
    json!({ "type": "boolean", "description": what })
}

pub(super) fn picture(what: &str) -> Value {
    text(&format!("{what}. {PICTURE}."))
}

pub(super) fn one_of(what: &str, all: &impl Serialize) -> Value {
    json!({ "type": "string", "enum": all, "description": what })
}

pub(super) fn list(what: &str, items: &Value) -> Value {
    json!({ "type": "array", "description": what, "items": items })
}

/// An object with these properties and no others.
pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

pub(super) fn described_as(what: &str, mut schema: Value) -> Value {
    schema["description"] = what.into();
    schema
}
