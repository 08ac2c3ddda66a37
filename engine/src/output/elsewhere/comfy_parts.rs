//! What takes part beside the samplers of a ComfyUI graph: ControlNets, IP-Adapters, detailers and upscalers.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::{
    Draft,
    comfy_ui::{FURTHER, Nodes, Pass, chain, conditions, kind, source, text_of, typed, value},
    exact,
    maps::control_mode,
    number,
    parts::{self, Part, misread, taking_part},
    set, signed, small,
};
use crate::request::{ControlMode, Detailer, WIDEST_BLUR};

/// Parts of the names of nodes that make maps.
const MAKE_MAPS: [&str; 4] = ["Preprocessor", "Canny", "Invert", "Depth"];
/// Parts of the names of nodes that denoise parts of an image.
const PASSES: [&str; 3] = ["UltimateSDUpscale", "Detailer", "SEGSUpscaler"];
/// The inputs through which images come.
const IMAGES: [&str; 3] = ["image", "images", "pixels"];

/// Takes over what acts on the first pass, and what follows it. `upscaler` is that of hires fix.
pub(super) fn read(nodes: &Nodes, pass: &Pass<'_>, upscaler: Option<&str>, draft: &mut Draft) {
    control_nets(nodes, pass, draft);
    for node in pass.models() {
        match kind(node) {
            "RescaleCFG" => {
                set(&mut draft.request.guiding.rescale, value(nodes, node, "multiplier").and_then(number))
            }
            "EasyCache" => {
                set(&mut draft.request.step_cache, value(nodes, node, "reuse_threshold").and_then(number))
            }
            adapter if adapter.contains("IPAdapter") && !adapter.contains("Loader") => {
                ip_adapter(nodes, node, draft);
            }
            _ => {}
        }
    }
    let positive = pass.conditioning("positive");
    let mut clip = positive.iter().flat_map(|node| chain(nodes, node, &["clip"]));
    let layer = clip.find_map(|node| value(nodes, node, "stop_at_clip_layer")).and_then(Value::as_i64);
    if let Some(layer) = layer.filter(|layer| *layer < -1) {
        draft.clip_skip(u32::try_from(layer.unsigned_abs()).unwrap_or(u32::MAX));
    }
    if positive.iter().any(|node| kind(node) == "StyleModelApply") {
        draft.notes.push(taking_part("Redux"));
    }
    for (_, node) in typed(nodes).filter(|(kind, _)| kind.contains("UpscaleWithModel")) {
        let name = chain(nodes, node, &["upscale_model"]).find_map(|node| upscaler_of(nodes, node));
        if let Some(name) = name.filter(|name| Some(*name) != upscaler) {
            draft.enlarged_by(name);
        }
    }
    let is_pass = |kind: &str| PASSES.iter().any(|part| kind.contains(part)) && !kind.contains("Provider");
    let is_detailer = |node: &Value| is_pass(kind(node)) && kind(node).starts_with("FaceDetailer");
    let passes = typed(nodes).filter(|(kind, _)| is_pass(kind)).map(|(_, node)| node);
    let (mut detailers, rest): (Vec<&Value>, Vec<&Value>) = passes.partition(|node| is_detailer(node));
    // One that works on the image of another comes after it.
    detailers
        .sort_by_key(|node| chain(nodes, node, &IMAGES).skip(1).filter(|before| is_detailer(before)).count());
    let mut others = !rest.is_empty();
    for node in detailers {
        others |= detailer(nodes, node, draft).is_none();
    }
    if others && !draft.notes.iter().any(|note| note == FURTHER) {
        draft.notes.push(FURTHER.to_owned());
    }
}

/// The name of the upscaler that a node loads.
pub(super) fn upscaler_of<'a>(nodes: &'a Nodes, node: &'a Value) -> Option<&'a str> {
    let loads = kind(node).contains("UpscaleModelLoader");
    value(nodes, node, "model_name").filter(|_| loads)?.as_str()
}

/// How many times as large an upscaler makes images, by its name, such as `4x-UltraSharp` or `RealESRGAN_x2plus`.
pub(super) fn factor_of(name: &str) -> Option<f32> {
    let letters: Vec<char> = name.to_lowercase().chars().collect();
    let mut pairs = letters.windows(2).filter_map(|pair| match *pair {
        ['x', digit] | [digit, 'x'] => digit.to_digit(10),
        _ => None,
    });
    pairs.find(|factor| (1..=8).contains(factor)).map(|factor| factor as f32)
}

fn control_nets(nodes: &Nodes, pass: &Pass<'_>, draft: &mut Draft) {
    let mut applied: Vec<(&Value, &Value)> = pass
        .conditioning("positive")
        .into_iter()
        .filter_map(|node| Some((node, source(nodes, node, "control_net")?)))
        .collect();
    // The last one that acts on the prompt is the nearest to the sampler.
    applied.reverse();
    let mut are_known = !applied.is_empty();
    for (node, loader) in applied {
        let loaders = || chain(nodes, loader, &["control_net"]);
        let name = loaders().find_map(|node| value(nodes, node, "control_net_name")?.as_str());
        let Some(name) = name else {
            are_known = false;
            continue;
        };
        let mode = |node: &Value| -> Option<ControlMode> {
            let is_union = kind(node) == "SetUnionControlNetType";
            control_mode(value(nodes, node, "type").filter(|_| is_union)?.as_str()?)
        };
        let preprocessor = match kind(node).contains("Inpaint") {
            true => "inpaint",
            false => preprocessor_of(nodes, node).unwrap_or_default(),
        };
        draft.control_net(&Part {
            name,
            weight: value(nodes, node, "strength").and_then(signed),
            start: value(nodes, node, "start_percent").and_then(exact),
            end: value(nodes, node, "end_percent").and_then(exact),
            preprocessor,
            mode: loaders().find_map(mode),
            ..Part::default()
        });
    }
    if !are_known {
        note_on_control_nets(nodes, draft);
    }
}

/// Says that a graph has ControlNets that are not taken over, if it has any.
pub(super) fn note_on_control_nets(nodes: &Nodes, draft: &mut Draft) {
    if typed(nodes).any(|(kind, _)| kind.contains("ControlNet")) {
        draft.notes.push("ControlNets took part; that is not restored.".to_owned());
    }
}

/// The node that makes the map which a ControlNet follows, by the name of the node or that of its choice.
fn preprocessor_of<'a>(nodes: &'a Nodes, node: &'a Value) -> Option<&'a str> {
    let image = source(nodes, node, "image")?;
    let mut images = chain(nodes, image, &IMAGES);
    let made = images.find(|node| MAKE_MAPS.iter().any(|part| kind(node).contains(part)))?;
    value(nodes, made, "preprocessor").and_then(Value::as_str).or_else(|| Some(kind(made)))
}

fn ip_adapter(nodes: &Nodes, node: &Value, draft: &mut Draft) {
    let mut loaders = chain(nodes, node, &["ipadapter"]);
    let name = loaders.find_map(|node| value(nodes, node, "ipadapter_file")?.as_str());
    match name {
        Some(name) => draft.image_prompt(&Part {
            name,
            weight: value(nodes, node, "weight").and_then(signed),
            start: value(nodes, node, "start_at").and_then(exact),
            end: value(nodes, node, "end_at").and_then(exact),
            ..Part::default()
        }),
        // A loader that knows its file by a purpose.
        None => draft.notes.push(taking_part("IP-Adapters")),
    }
}

/// Adds what inpaints the boxes of a detector again.
fn detailer(nodes: &Nodes, node: &Value, draft: &mut Draft) -> Option<()> {
    let name = value(nodes, source(nodes, node, "bbox_detector")?, "model_name")?.as_str()?;
    value(nodes, node, "denoise").and_then(exact)?;
    if draft.request.detailers.len() == Detailer::MOST {
        return None;
    }
    let usual = Detailer::new(parts::file(name));
    let mut within = |name: &str, range: RangeInclusive<f64>, usual: f64| {
        let given = value(nodes, node, name).and_then(exact).unwrap_or(usual);
        if range.contains(&given) {
            return given;
        }
        draft.notes.push(misread(name, given));
        usual
    };
    let confidence = within("bbox_threshold", 0.01..=0.99, f64::from(usual.confidence));
    // The dilation counts both sides.
    let most = f64::from(Detailer::WIDEST_GROWTH);
    let grow = within("bbox_dilation", 0.0..=2.0 * most, f64::from(2 * usual.grow)) / 2.0;
    let blur = within("feather", 0.0..=f64::from(WIDEST_BLUR), f64::from(usual.blur));
    let strength = within("denoise", 0.01..=1.0, usual.strength);
    let own = |input: &str| -> String {
        let first = source(nodes, node, input);
        let through: Vec<&Value> =
            first.into_iter().flat_map(|first| chain(nodes, first, conditions(input))).collect();
        text_of(nodes, &through).unwrap_or_default()
    };
    let written = value(nodes, node, "wildcard").and_then(Value::as_str).unwrap_or_default().trim();
    let prompt = if written.is_empty() { own("positive") } else { written.to_owned() };
    let negative_prompt = own("negative");
    let of_image = [&draft.request.prompt, &draft.request.negative_prompt];
    let [prompt, negative_prompt] = [prompt, negative_prompt].map(|text| {
        // Those of the image need not be said again.
        if of_image.contains(&&text) { String::new() } else { text }
    });
    let detailer = Detailer {
        confidence: confidence as f32,
        most: Detailer::MOST_BOXES,
        grow: grow as u32,
        blur: blur as u32,
        strength,
        steps: value(nodes, node, "steps").and_then(small).filter(|steps| (1..=1000).contains(steps)),
        prompt,
        negative_prompt,
        ..usual
    };
    draft.request.detailers.push(detailer);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_upscalers_say_how_much_they_enlarge() {
        for (name, factor) in [
            ("4x-UltraSharp.pth", Some(4.0)),
            ("RealESRGAN_x2plus.pth", Some(2.0)),
            ("1xSkinContrast.pth", Some(1.0)),
            ("DAT_x4", Some(4.0)),
            ("LSDIR.safetensors", None),
        ] {
            assert_eq!(factor_of(name), factor, "{name}");
        }
    }
}
