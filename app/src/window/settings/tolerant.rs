//! Reads what was kept by another version, value by value.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Keeps every valid stored value, and uses defaults for the others.
pub(super) fn tolerant<T: Default + Serialize + DeserializeOwned>(stored: &Value) -> T {
    let Ok(mut value) = serde_json::to_value(T::default()) else { return T::default() };
    let root = value.clone();
    overlay(&mut value, stored, &mut Vec::new(), &|path, leaf| {
        let mut attempt = root.clone();
        if let Some(place) = path.iter().try_fold(&mut attempt, |value, key| value.get_mut(key)) {
            *place = leaf.clone();
        }
        serde_json::from_value::<T>(attempt).is_ok()
    });
    serde_json::from_value(value).unwrap_or_default()
}

fn overlay<'a>(
    value: &mut Value,
    stored: &'a Value,
    path: &mut Vec<&'a str>,
    fits: &dyn Fn(&[&str], &Value) -> bool,
) {
    if let (Value::Object(fields), Value::Object(stored)) = (&mut *value, stored)
        && !fields.is_empty()
        && stored.keys().any(|key| fields.contains_key(key))
    {
        for (key, stored) in stored {
            if let Some(field) = fields.get_mut(key) {
                path.push(key);
                overlay(field, stored, path, fits);
                path.pop();
            }
        }
    } else if fits(path, stored) {
        *value = stored.clone();
    } else {
        tracing::warn!(field = path.join("."), "a kept setting does not fit and has its default");
    }
}
