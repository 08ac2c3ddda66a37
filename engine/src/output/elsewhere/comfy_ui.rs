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
        draft.request.prompt = text_at(nodes, sampler, "positive").unwrap_or_default();
        draft.request.negative_prompt = text_at(nodes, sampler, "negative").unwrap_or_default();
        set(&mut draft.request.seed, input("seed").or_else(|| input("noise_seed")).and_then(whole));
        set(&mut draft.request.steps, input("steps").and_then(small));
        set(&mut draft.request.guidance, input("cfg").and_then(number));
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
            "BasicScheduler" => set(&mut draft.request.steps, input("steps").and_then(small)),
            "CFGGuider" => set(&mut draft.request.guidance, input("cfg").and_then(number)),
            "KSamplerSelect" => {
                if let Some(name) = input("sampler_name").and_then(Value::as_str) {
                    draft.sampler(name);
                }
            }
            "UNETLoader" | "UnetLoaderGGUF" | "CheckpointLoaderSimple" if draft.model_name.is_empty() => {
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
        draft.notes.push("This clip was made from an image, which is not restored.".to_owned());
    }
    if typed(nodes).any(|(kind, _)| kind.contains("Lora")) {
        draft.notes.push("This clip was made with LoRAs, which are not restored.".to_owned());
    }
    Some(draft.finish(Origin::ComfyUi))
}

fn typed(nodes: &Nodes) -> impl Iterator<Item = (&str, &Value)> {
    nodes.values().filter_map(|node| Some((node.get("class_type")?.as_str()?, node)))
}

/// The sampler that makes the noise: with two experts there are two samplers.
fn first_sampler(nodes: &Nodes) -> Option<&Value> {
    let samplers = || {
        typed(nodes)
            .filter(|(kind, _)| kind.contains("Sampler") || kind.contains("Guider"))
            .map(|(_, node)| node)
            .filter(|node| node.get("inputs").is_some_and(|inputs| inputs.get("positive").is_some()))
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
        let text = ["text", "prompt", "positive_prompt"].iter().find_map(|name| value(nodes, node, name));
        if let Some(text) = text.and_then(Value::as_str) {
            return Some(text.to_owned());
        }
        node = [input, "conditioning", "conditioning_1"].iter().find_map(|name| source(nodes, node, name))?;
    }
    None
}
