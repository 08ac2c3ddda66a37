//! ComfyUI writes the graph that it ran: nodes by number, each with a type and inputs, which are values or the outputs
//! of other nodes.

use serde_json::{Map, Value};

use super::{Draft, model_name, number, set, small, whole};
use crate::output::settings::{Origin, RestoredSettings};

/// Longest way from a sampler to the text of its prompt.
const FARTHEST: usize = 12;

type Nodes = Map<String, Value>;

/// Settings of the first sampler in a graph.
pub(super) fn read(json: &Value) -> Option<RestoredSettings> {
    let nodes = json.as_object()?;
    if !nodes.values().any(|node| node.get("class_type").is_some()) {
        return None;
    }
    let mut draft = Draft::new();
    let sampler = first_sampler(nodes);
    if let Some(sampler) = sampler {
        let input = |name: &str| value(nodes, sampler, name);
        let prompt = ["positive", "conditioning"].iter().find_map(|name| text_at(nodes, sampler, name));
        draft.request.prompt = prompt.unwrap_or_default();
        draft.request.negative_prompt = text_at(nodes, sampler, "negative").unwrap_or_default();
        set(&mut draft.request.seed, input("seed").or_else(|| input("noise_seed")).and_then(whole));
        set(&mut draft.request.steps, input("steps").and_then(small));
        set(&mut draft.request.guidance, input("cfg").and_then(number));
        if input("denoise").and_then(number).is_some_and(|share| share < 1.0) {
            draft
                .notes
                .push("It was made from an image that was made before, which is not restored.".to_owned());
        }
        if let Some(name) = input("sampler_name").and_then(Value::as_str) {
            draft.sampler(name);
        }
        if let Some(name) = input("scheduler").and_then(Value::as_str) {
            draft.schedule(name);
        }
    } else {
        draft.notes.push("The ComfyUI graph has no sampler that Sluice knows.".to_owned());
    }
    // Custom samplers keep seed, steps and names in nodes of their own.
    for (kind, node) in typed(nodes) {
        let input = |name: &str| value(nodes, node, name);
        match kind {
            "RandomNoise" => set(&mut draft.request.seed, input("noise_seed").and_then(whole)),
            "BasicScheduler" => {
                set(&mut draft.request.steps, input("steps").and_then(small));
                if let Some(name) = input("scheduler").and_then(Value::as_str) {
                    draft.schedule(name);
                }
            }
            "FluxGuidance" => set(&mut draft.request.guidance, input("guidance").and_then(number)),
            "ModelSamplingSD3" | "ModelSamplingAuraFlow" => {
                draft.request.shift = input("shift").and_then(number).filter(|shift| *shift > 0.0);
            }
            "CFGGuider" => set(&mut draft.request.guidance, input("cfg").and_then(number)),
            "KSamplerSelect" => {
                if let Some(name) = input("sampler_name").and_then(Value::as_str) {
                    draft.sampler(name);
                }
            }
            _ if kind.contains("Loader") && draft.model_name.is_empty() => {
                let name = input("unet_name").or_else(|| input("ckpt_name")).and_then(Value::as_str);
                draft.model_name = name.map(model_name).unwrap_or_default();
            }
            _ => {}
        }
        // The node with the size of the latents: EmptyHunyuanLatentVideo, WanImageToVideo and their like.
        let size = ["width", "height"].map(|name| input(name).and_then(small));
        if let ([Some(width), Some(height)], true) =
            (size, kind.contains("Latent") || kind.contains("ToVideo"))
        {
            (draft.request.width, draft.request.height) = (width, height);
            set(&mut draft.request.frames, input("length").and_then(small));
        }
        let rate = input("fps").or_else(|| input("frame_rate")).and_then(number);
        set(&mut draft.request.frame_rate, rate.filter(|rate| *rate >= 1.0));
    }
    if typed(nodes).any(|(kind, _)| kind == "LoadImage") {
        draft.notes.push("It was made from an input image, which is not included.".to_owned());
    }
    if typed(nodes).any(|(kind, _)| kind.contains("ControlNet")) {
        draft.notes.push("ControlNets took part; that is not restored.".to_owned());
    }
    for (name, weight) in loras(nodes) {
        draft.lora(&name, weight);
    }
    Some(draft.finish(Origin::ComfyUi))
}

fn typed(nodes: &Nodes) -> impl Iterator<Item = (&str, &Value)> {
    nodes.values().filter_map(|node| Some((node.get("class_type")?.as_str()?, node)))
}

/// The LoRAs that samplers and guiders get their model through, with their weights.
fn loras(nodes: &Nodes) -> Vec<(String, Option<f32>)> {
    let mut found = Vec::new();
    for start in nodes.values() {
        let kind = start.get("class_type").and_then(Value::as_str).unwrap_or_default();
        if !(kind.contains("Sampler") || kind.contains("Guider")) || kind.contains("Sampling") {
            continue;
        }
        let mut node = source(nodes, start, "model");
        for _ in 0..FARTHEST {
            let Some(at) = node else { break };
            for lora in loras_of(nodes, at) {
                if !found.contains(&lora) {
                    found.push(lora);
                }
            }
            node = source(nodes, at, "model");
        }
    }
    found
}

/// The LoRAs of one node: under `lora_name`, or several as objects.
fn loras_of(nodes: &Nodes, node: &Value) -> Vec<(String, Option<f32>)> {
    let signed = |value: &Value| value.as_f64().map(|number| number as f32);
    let name = value(nodes, node, "lora_name").and_then(Value::as_str);
    let one = name.map(|name| (name.to_owned(), value(nodes, node, "strength_model").and_then(signed)));
    let listed =
        node.get("inputs").and_then(Value::as_object).into_iter().flatten().filter_map(|(_, entry)| {
            let is_on = entry.get("on").and_then(Value::as_bool)?;
            let name = entry.get("lora")?.as_str()?;
            is_on.then(|| (name.to_owned(), entry.get("strength").and_then(signed)))
        });
    one.into_iter().chain(listed).collect()
}

/// The sampler that makes the noise: with two experts there are two samplers.
fn first_sampler(nodes: &Nodes) -> Option<&Value> {
    let samplers = || {
        typed(nodes)
            .filter(|(kind, _)| kind.contains("Sampler") || kind.contains("Guider"))
            .map(|(_, node)| node)
            .filter(|node| {
                let has = |name| node.get("inputs").is_some_and(|inputs| inputs.get(name).is_some());
                has("positive") || has("conditioning")
            })
    };
    samplers()
        .find(|node| node.pointer("/inputs/add_noise").and_then(Value::as_str) == Some("enable"))
        .or_else(|| samplers().next())
}

/// The node that an input comes from.
fn source<'a>(nodes: &'a Nodes, node: &'a Value, input: &str) -> Option<&'a Value> {
    let link = node.get("inputs")?.get(input)?.as_array()?;
    nodes.get(link.first()?.as_str()?)
}

/// The value of an input; one that is linked is looked up in a node that only holds a value.
fn value<'a>(nodes: &'a Nodes, node: &'a Value, input: &str) -> Option<&'a Value> {
    let own = node.get("inputs")?.get(input)?;
    if !own.is_array() {
        return Some(own);
    }
    let inputs = source(nodes, node, input)?.get("inputs")?;
    ["value", "seed", "int", "float", "text", "string"]
        .iter()
        .find_map(|name| inputs.get(*name))
        .filter(|value| !value.is_array())
}

/// The text that an input comes from, through nodes that change conditioning.
fn text_at(nodes: &Nodes, node: &Value, input: &str) -> Option<String> {
    let mut node = source(nodes, node, input)?;
    for _ in 0..FARTHEST {
        let text = ["text", "prompt", "positive_prompt", "t5xxl", "text_g", "clip_l"]
            .iter()
            .find_map(|name| value(nodes, node, name).filter(|text| text.is_string()));
        if let Some(text) = text.and_then(Value::as_str) {
            return Some(text.to_owned());
        }
        node = [input, "conditioning", "conditioning_1"].iter().find_map(|name| source(nodes, node, name))?;
    }
    None
}
