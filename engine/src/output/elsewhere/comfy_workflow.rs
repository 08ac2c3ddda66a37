//! ComfyUI's workflow: the graph as it was on the screen. Where only this is in a file, its nodes are turned into those of
//! the graph that ran: widgets have values in the order of their node, and links lead to outputs.

use serde_json::{Map, Value, json};

use super::comfy_ui;
use crate::output::settings::RestoredSettings;

/// The widgets of the nodes that settings are read from, in the order of their values. `_` is a widget of the screen only.
const WIDGETS: [(&str, &[&str]); 46] = [
    ("KSampler", &["seed", "_", "steps", "cfg", "sampler_name", "scheduler", "denoise"]),
    (
        "KSamplerAdvanced",
        &[
            "add_noise",
            "noise_seed",
            "_",
            "steps",
            "cfg",
            "sampler_name",
            "scheduler",
            "start_at_step",
            "end_at_step",
        ],
    ),
    ("SamplerCustom", &["add_noise", "noise_seed", "_", "cfg"]),
    ("RandomNoise", &["noise_seed", "_"]),
    ("BasicScheduler", &["scheduler", "steps", "denoise"]),
    ("KSamplerSelect", &["sampler_name"]),
    ("CFGGuider", &["cfg"]),
    ("FluxGuidance", &["guidance"]),
    ("ModelSamplingSD3", &["shift"]),
    ("ModelSamplingAuraFlow", &["shift"]),
    ("CheckpointLoaderSimple", &["ckpt_name"]),
    ("CheckpointLoaderNF4", &["ckpt_name"]),
    ("UNETLoader", &["unet_name"]),
    ("UnetLoaderGGUF", &["unet_name"]),
    ("LoraLoader", &["lora_name", "strength_model", "strength_clip"]),
    ("LoraLoaderModelOnly", &["lora_name", "strength_model"]),
    ("CLIPTextEncode", &["text"]),
    ("CLIPTextEncodeFlux", &["clip_l", "t5xxl", "guidance"]),
    ("TextEncodeQwenImageEdit", &["prompt"]),
    ("EmptyLatentImage", &["width", "height"]),
    ("EmptySD3LatentImage", &["width", "height"]),
    ("EmptyFlux2LatentImage", &["width", "height"]),
    ("EmptyHunyuanLatentVideo", &["width", "height", "length"]),
    ("WanImageToVideo", &["width", "height", "length"]),
    ("EmptyLTXVLatentVideo", &["width", "height", "length"]),
    ("CreateVideo", &["fps"]),
    ("PrimitiveString", &["value"]),
    ("PrimitiveStringMultiline", &["value"]),
    ("LoadImage", &["image"]),
    ("ControlNetLoader", &["control_net_name"]),
    ("DiffControlNetLoader", &["control_net_name"]),
    ("SetUnionControlNetType", &["type"]),
    ("ControlNetApply", &["strength"]),
    ("ControlNetApplyAdvanced", &["strength", "start_percent", "end_percent"]),
    ("ControlNetApplySD3", &["strength", "start_percent", "end_percent"]),
    ("AIO_Preprocessor", &["preprocessor"]),
    ("IPAdapterModelLoader", &["ipadapter_file"]),
    ("IPAdapter", &["weight", "start_at", "end_at"]),
    ("IPAdapterAdvanced", &["weight", "weight_type", "combine_embeds", "start_at", "end_at"]),
    ("UpscaleModelLoader", &["model_name"]),
    ("LatentUpscale", &["upscale_method", "width", "height"]),
    ("LatentUpscaleBy", &["upscale_method", "scale_by"]),
    ("ImageScale", &["upscale_method", "width", "height"]),
    ("ImageScaleBy", &["upscale_method", "scale_by"]),
    ("CLIPSetLastLayer", &["stop_at_clip_layer"]),
    ("RescaleCFG", &["multiplier"]),
];

/// Settings of a workflow.
pub(super) fn read(workflow: &Value) -> Option<RestoredSettings> {
    let nodes = workflow.get("nodes")?.as_array()?;
    let links = links(workflow.get("links"));
    let graph: Map<String, Value> = nodes
        .iter()
        // Muted and bypassed nodes did not run.
        .filter(|node| !matches!(node.get("mode").and_then(Value::as_u64), Some(2 | 4)))
        .filter_map(|node| Some((node.get("id")?.to_string(), converted(node, &links)?)))
        .collect();
    comfy_ui::read(&Value::Object(graph))
}

/// The node and the output that each link comes from.
fn links(links: Option<&Value>) -> Map<String, Value> {
    let mut known = Map::new();
    for link in links.and_then(Value::as_array).into_iter().flatten() {
        // A list, or in inner graphs an object.
        let part = |place: usize, name: &str| link.get(place).or_else(|| link.get(name)).cloned();
        if let (Some(id), Some(node), Some(slot)) =
            (part(0, "id"), part(1, "origin_id"), part(2, "origin_slot"))
        {
            known.insert(id.to_string(), json!([node.to_string(), slot]));
        }
    }
    known
}

fn converted(node: &Value, links: &Map<String, Value>) -> Option<Value> {
    let kind = node.get("type")?.as_str()?;
    let mut inputs = Map::new();
    match node.get("widgets_values") {
        Some(Value::Object(values)) => inputs.extend(values.clone()),
        Some(Value::Array(values)) => {
            let names = WIDGETS.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, names)| names);
            let named = names.iter().zip(values).filter(|(name, _)| **name != "_");
            inputs.extend(named.map(|(name, value)| ((*name).to_owned(), value.clone())));
        }
        _ => {}
    }
    for input in node.get("inputs").and_then(Value::as_array).into_iter().flatten() {
        let link = input.get("link").and_then(|link| links.get(&link.to_string()));
        if let (Some(name), Some(link)) = (input.get("name").and_then(Value::as_str), link) {
            inputs.insert(name.to_owned(), link.clone());
        }
    }
    Some(json!({"class_type": kind, "inputs": inputs}))
}
