//! InvokeAI's ControlNets, T2I-Adapters and IP-Adapters: lists in its third version, layers of a canvas in the later ones.

use serde_json::Value;

use super::{
    Draft, fraction,
    invoke_ai::named,
    parts::{Part, taking_part},
    says, signed,
};
use crate::request::Fit;

/// Lists of networks that follow an image, with the names of their models.
const LISTS: [(&str, &str); 2] = [("controlnets", "control_model"), ("t2iAdapters", "t2i_adapter_model")];

/// Takes over what steered an image.
pub(super) fn read(json: &Value, draft: &mut Draft) {
    for (name, model) in LISTS {
        for net in list(json, name) {
            let (weight, name) = (field(net, &["control_weight", "weight"]), named(field(net, &[model])));
            let [start, end] =
                ["begin_step_percent", "end_step_percent"].map(|name| fraction(field(net, &[name])));
            note_on_mode(draft, &name, field(net, &["control_mode"]));
            draft.control_net(&Part {
                name: &name,
                weight: first(weight),
                start,
                end,
                fit: fit(field(net, &["resize_mode"])),
                ..Part::default()
            });
        }
    }
    for adapter in list(json, "ipAdapters") {
        let [start, end] =
            ["begin_step_percent", "end_step_percent"].map(|name| fraction(field(adapter, &[name])));
        let name = named(field(adapter, &["ip_adapter_model"]));
        let weight = first(field(adapter, &["weight"]));
        draft.image_prompt(&Part { name: &name, weight, start, end, ..Part::default() });
    }
    let canvas = field(json, &["canvas_v2_metadata"]);
    let older = list(field(json, &["control_layers"]), "layers");
    let layers = ["controlLayers", "referenceImages"].into_iter().flat_map(|name| list(canvas, name));
    for layer in layers.chain(older).chain(list(json, "ref_images")) {
        read_layer(layer, draft);
    }
    if !list(canvas, "regionalGuidance").is_empty() {
        draft.notes.push(taking_part("Regional guidance"));
    }
}

fn read_layer(layer: &Value, draft: &mut Draft) {
    if field(layer, &["isEnabled"]).as_bool() == Some(false) {
        return;
    }
    let kind = field(layer, &["type"]).as_str().unwrap_or_default();
    if kind == "regional_guidance_layer" {
        return draft.notes.push(taking_part("Regional guidance"));
    }
    let adapter = field(layer, &["controlAdapter", "ipAdapter", "config"]);
    if !says(adapter) {
        return;
    }
    let name = named(field(adapter, &["model"]));
    let range = field(adapter, &["beginEndStepPct"]);
    let part = Part {
        name: &name,
        weight: first(field(adapter, &["weight"])),
        start: range.get(0).and_then(fraction),
        end: range.get(1).and_then(fraction),
        preprocessor: field(adapter, &["processorConfig"])
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default(),
        ..Part::default()
    };
    match field(adapter, &["type"]).as_str() {
        Some("controlnet" | "t2i_adapter") => {
            note_on_mode(draft, &name, field(adapter, &["controlMode"]));
            draft.control_net(&part);
        }
        Some("ip_adapter") => draft.image_prompt(&part),
        _ if layer.get("ipAdapter").is_some() => draft.image_prompt(&part),
        // FLUX Redux, control LoRAs, and what later versions may have.
        other => {
            let what = if name.is_empty() { other.unwrap_or(kind).to_owned() } else { name.clone() };
            draft.leave_out(&[what]);
        }
    }
}

/// A ControlNet may count more than the prompt, which is not possible here.
fn note_on_mode(draft: &mut Draft, name: &str, mode: &Value) {
    if let Some(mode) = mode.as_str().filter(|mode| *mode != "balanced") {
        draft.leave_out(&[format!("{name} {mode}")]);
    }
}

/// The first of some fields that is there.
fn field<'a>(json: &'a Value, names: &[&str]) -> &'a Value {
    names.iter().find_map(|name| json.get(*name)).unwrap_or(&Value::Null)
}

fn list<'a>(json: &'a Value, name: &str) -> &'a [Value] {
    json.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A weight, or the first of one for each step.
fn first(weight: &Value) -> Option<f32> {
    signed(weight.get(0).unwrap_or(weight))
}

fn fit(mode: &Value) -> Fit {
    match mode.as_str() {
        Some("crop_resize") => Fit::Crop,
        Some("fill_resize") => Fit::Pad,
        _ => Fit::Stretch,
    }
}
