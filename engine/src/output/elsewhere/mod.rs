//! Settings that other video programs write, as far as they mean something here: ComfyUI's graph, Wan2GP's settings and
//! SwarmUI's parameters, all JSON.

mod comfy_ui;
mod swarm_ui;
mod wan2gp;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::settings::{Origin, RestoredSettings, Settings};
use crate::request::{Request, Sampler, Schedule};

/// Deepest nesting of values that are followed.
const DEEPEST: usize = 8;

/// Settings in a text that is JSON of one of these programs.
pub(super) fn read(text: &str) -> Option<RestoredSettings> {
    let json: Value = serde_json::from_str(text.trim()).ok()?;
    read_value(&json, DEEPEST)
}

fn read_value(json: &Value, deepest: usize) -> Option<RestoredSettings> {
    let fields = json.as_object()?;
    if let Some(parameters) = fields.get("sui_image_params") {
        return swarm_ui::read(parameters);
    }
    if wan2gp::is_settings(json) {
        return Some(wan2gp::read(json));
    }
    if let Some(restored) = comfy_ui::read(json) {
        return Some(restored);
    }
    // VideoHelperSuite's comment holds the graph under its name, as JSON or as text with JSON.
    let graph = fields.get("prompt")?;
    match graph {
        Value::String(text) if deepest > 0 => read_value(&serde_json::from_str(text).ok()?, deepest - 1),
        Value::Object(_) if deepest > 0 => read_value(graph, deepest - 1),
        _ => None,
    }
}

/// Settings under construction.
struct Draft {
    request: Request,
    model_name: String,
    notes: Vec<String>,
}

impl Draft {
    fn new() -> Self {
        Self { request: Request::default(), model_name: String::new(), notes: Vec::new() }
    }

    fn sampler(&mut self, name: &str) {
        match named::<Sampler>(name) {
            Some(sampler) => self.request.sampler = sampler,
            None => {
                let chosen = self.request.sampler.title();
                self.notes.push(format!("The sampler “{name}” is not available; {chosen} is used instead."));
            }
        }
    }

    fn schedule(&mut self, name: &str) {
        match named::<Schedule>(name) {
            Some(schedule) => self.request.schedule = schedule,
            None => {
                self.notes.push(format!("The schedule “{name}” is not available; the model default is used."))
            }
        }
    }

    fn finish(self, origin: Origin) -> RestoredSettings {
        let mut settings = Settings::new(&self.request, &self.model_name, "", 0);
        settings.sluice_version.clear();
        RestoredSettings { settings, origin, notes: self.notes }
    }
}

/// ComfyUI's names of samplers and schedules are those in which ours are stored.
fn named<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(Value::String(name.to_owned())).ok()
}

/// A whole number, also if it is written as text or as a fraction without digits.
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let number = number.as_f64()?;
            (number >= 0.0 && number.fract() == 0.0 && number < 1e15).then_some(number as u64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A whole number of 32 bits.
fn small(value: &Value) -> Option<u32> {
    whole(value).and_then(|number| u32::try_from(number).ok())
}

/// A finite number of at least 0.
fn number(value: &Value) -> Option<f32> {
    let number = match value {
        Value::Number(number) => number.as_f64()? as f32,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (number.is_finite() && number >= 0.0).then_some(number)
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// The name of a model's file without folder and extension.
fn model_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    [".safetensors", ".gguf", ".sft"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
        .unwrap_or(name)
        .to_owned()
}
