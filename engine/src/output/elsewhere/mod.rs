//! Settings that other programs write, as far as they mean something here: ComfyUI's graph, the JSON of SwarmUI, Wan2GP,
//! Fooocus, InvokeAI, NovelAI and Draw Things, and InvokeAI's command line. A1111's text is in a module of its own.

mod comfy_parts;
mod comfy_ui;
mod comfy_workflow;
mod draw_things;
mod fooocus;
mod invoke_ai;
mod invoke_layers;
pub(super) mod maps;
pub(super) mod names;
mod novel_ai;
pub(super) mod parts;
mod swarm_ui;
mod wan2gp;

use serde_json::Value;

use super::settings::{Origin, RestoredSettings, Settings};
use crate::request::{Enlarger, Hires, LARGEST_CLIP_SKIP, Request, SCALES};
use draw_things::user_comment;
use parts::Part;

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
    if fooocus::is_settings(json) {
        return Some(fooocus::read(json));
    }
    if novel_ai::is_settings(json) {
        return Some(novel_ai::read(json, ""));
    }
    if draw_things::is_settings(json) {
        return Some(draw_things::read(json));
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

/// Settings in texts that have names of their own in a file, which say what they are.
pub(super) fn read_named(of: &dyn Fn(&str) -> Option<String>) -> Option<RestoredSettings> {
    let json = |name: &str| of(name).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    if let Some(restored) = json("invokeai_metadata").as_ref().and_then(invoke_ai::read_metadata) {
        return Some(restored);
    }
    if let Some(restored) = json("sd-metadata").as_ref().and_then(invoke_ai::read_sd_metadata) {
        return Some(restored);
    }
    if let Some(restored) = of("dream").as_deref().and_then(invoke_ai::read_dream) {
        return Some(restored);
    }
    if let Some(comment) = json("comment").filter(novel_ai::is_settings) {
        return Some(novel_ai::read(&comment, &of("source").unwrap_or_default()));
    }
    if let Some(restored) = of("xmp").as_deref().and_then(user_comment).as_deref().and_then(read) {
        return Some(restored);
    }
    // The graph that ran has the values; what was on the screen is the second best.
    let graph = json("prompt").as_ref().and_then(|graph| read_value(graph, DEEPEST));
    graph.or_else(|| comfy_workflow::read(&json("workflow")?))
}

/// Settings under construction.
struct Draft {
    request: Request,
    model_name: String,
    loras: Vec<(String, f32)>,
    notes: Vec<String>,
}

impl Draft {
    fn new() -> Self {
        // A size of 0 is not said.
        let request = Request { width: 0, height: 0, ..Request::default() };
        Self { request, model_name: String::new(), loras: Vec::new(), notes: Vec::new() }
    }

    fn sampler(&mut self, name: &str) {
        let known = names::sampler(name);
        if let Some(known) = &known {
            self.request.sampler = known.sampler;
            set(&mut self.request.schedule, known.schedule);
        }
        if known.is_none_or(|known| !known.is_same) {
            let chosen = self.request.sampler.title();
            self.notes.push(format!("The sampler “{name}” is not available; {chosen} is used instead."));
        }
    }

    fn schedule(&mut self, name: &str) {
        match names::schedule(name) {
            Some(schedule) => self.request.schedule = schedule,
            None => {
                self.notes.push(format!("The schedule “{name}” is not available; the model default is used."))
            }
        }
    }

    /// Both prompts of a text with words to avoid in `[ ]`.
    fn prompts(&mut self, text: &str) {
        let (mut prompt, mut negative) = (String::new(), Vec::new());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('[') {
            prompt.push_str(before);
            let (avoided, after) = after.split_once(']').unwrap_or((after, ""));
            negative.push(avoided.trim());
            rest = after;
        }
        prompt.push_str(rest);
        self.request.prompt = prompt.trim().to_owned();
        self.request.negative_prompt = negative.join(", ");
    }

    /// The last layer of the text encoder that is used, counted from 1.
    fn clip_skip(&mut self, skip: u32) {
        if skip <= LARGEST_CLIP_SKIP {
            self.request.clip_skip = skip;
        }
    }

    /// A LoRA by the name of its file.
    fn lora(&mut self, name: &str, weight: Option<f32>) {
        let name = model_name(name);
        if !matches!(name.as_str(), "" | "None") {
            self.loras.push((name, weight.unwrap_or(1.0)));
        }
    }

    /// A ControlNet that waits for its image.
    fn control_net(&mut self, part: &Part<'_>) {
        parts::control_net(&mut self.request, &mut self.notes, part);
    }

    /// An IP-Adapter that waits for its images.
    fn image_prompt(&mut self, part: &Part<'_>) {
        parts::image_prompt(&mut self.request, &mut self.notes, part);
    }

    /// The model of the last steps, and the share of the steps after which it begins.
    fn refiner(&mut self, name: &str, switch: Option<f64>) {
        parts::refiner(&mut self.request, &mut self.notes, name, switch);
    }

    /// Hires fix from the size of the request. Returns whether the scale is possible.
    fn hires(&mut self, hires: Hires) -> bool {
        let scale = hires.scale;
        if !SCALES.contains(&scale) {
            self.notes.push(format!(
                "It was enlarged {scale} times and denoised again, which is not possible here."
            ));
            return false;
        }
        let is_strength = hires.strength > 0.0 && hires.strength <= 1.0;
        if !is_strength {
            self.notes.push(parts::misread("Hires fix", hires.strength));
        }
        let strength = if is_strength { hires.strength } else { Hires::default().strength };
        self.request.hires = Some(Hires { strength, ..hires });
        true
    }

    /// What enlarges between the passes of hires fix, by its name.
    fn enlarger(&mut self, name: &str) -> Enlarger {
        parts::enlarger(name).unwrap_or_else(|| {
            self.notes
                .push(format!("The upscaler “{name}” is not restored; the one of Sluice is used instead."));
            Enlarger::default()
        })
    }

    /// What enlarged the image after everything else.
    fn enlarged_by(&mut self, name: &str) {
        self.notes.push(format!("The image was enlarged afterwards with “{name}”; that is not restored."));
    }

    /// Settings that are not taken over, by their names in the file.
    fn leave_out(&mut self, names: &[impl AsRef<str>]) {
        if !names.is_empty() {
            self.notes.push(parts::left_out(names));
        }
    }

    fn finish(mut self, origin: Origin) -> RestoredSettings {
        // Named in the prompt, they are looked for next to the model.
        for (name, weight) in &self.loras {
            let named = format!("<lora:{name}:");
            if !self.request.prompt.contains(&named) {
                self.request.prompt = format!("{} {named}{weight}>", self.request.prompt).trim().to_owned();
            }
        }
        if !self.loras.is_empty() {
            self.notes
                .push("The prompt names a LoRA, which Sluice looks for by the name of its file.".to_owned());
        }
        self.notes.extend(parts::missing_images(&self.request));
        let mut settings = Settings::new(&self.request, &self.model_name, "", 0);
        settings.sluice_version.clear();
        RestoredSettings { settings, origin, notes: self.notes }
    }
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

/// A number, which may be below 0.
fn signed(value: &Value) -> Option<f32> {
    match value {
        Value::Number(number) => number.as_f64().map(|number| number as f32),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A fraction of the steps, or another finite number of at least 0, as exact as it is written.
fn fraction(value: &Value) -> Option<f64> {
    exact(value).filter(|number| *number >= 0.0)
}

/// A finite number, as exact as it is written.
fn exact(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse::<f64>().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// Whether JSON says something: that a setting is on, or what it is.
fn says(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_on) => *is_on,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !matches!(text.trim(), "" | "None" | "none" | "false"),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// The name of a model's file without folder and extension.
fn model_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    [".safetensors", ".gguf", ".sft", ".ckpt"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
        .unwrap_or(name)
        .to_owned()
}
