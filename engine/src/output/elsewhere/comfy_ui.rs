//! ComfyUI writes the graph that it ran: nodes by number, each with a type and inputs, which are values or the outputs
//! of other nodes.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Draft, comfy_parts, model_name, number, set, small, whole};
use crate::{
    output::settings::{Origin, RestoredSettings},
    request::{Enlarger, Hires},
};

/// Longest way from a sampler to what it uses.
const FARTHEST: usize = 24;
/// How many times as large hires fix makes an image.
const HIRES: std::ops::RangeInclusive<f32> = 1.01..=4.0;
/// What is said of passes that are none of those that are taken over.
pub(super) const FURTHER: &str = "The graph has further passes over the image, which are not restored.";

pub(super) type Nodes = Map<String, Value>;

/// Settings of the first pass in a graph.
pub(super) fn read(json: &Value) -> Option<RestoredSettings> {
    let nodes = json.as_object()?;
    if !nodes.values().any(|node| node.get("class_type").is_some()) {
        return None;
    }
    let mut draft = Draft::new();
    let passes = passes(nodes);
    match first_pass(nodes, &passes) {
        Some(sampler) => {
            let pass = Pass::of(nodes, sampler);
            pass.give(&mut draft);
            let upscaler = second_pass(nodes, &pass, &passes, &mut draft);
            comfy_parts::read(nodes, &pass, upscaler, &mut draft);
        }
        None => {
            draft.notes.push("The ComfyUI graph has no sampler that Sluice knows.".to_owned());
            comfy_parts::note_on_control_nets(nodes, &mut draft);
        }
    }
    elsewhere_in(nodes, &mut draft);
    if typed(nodes).any(|(kind, _)| kind == "LoadImage") {
        draft.notes.push("It was made from an input image, which is not included.".to_owned());
    }
    for (name, weight) in loras(nodes) {
        draft.lora(&name, weight);
    }
    Some(draft.finish(Origin::ComfyUi))
}

/// A sampler and the nodes that have its settings. Custom samplers keep them in nodes of their own.
pub(super) struct Pass<'a> {
    nodes: &'a Nodes,
    sampler: &'a Value,
    /// It and its guider, noise, choice of sampler, and schedule.
    parts: Vec<&'a Value>,
}

impl<'a> Pass<'a> {
    fn of(nodes: &'a Nodes, sampler: &'a Value) -> Self {
        let mut parts = vec![sampler];
        parts.extend(["guider", "noise", "sampler"].iter().filter_map(|name| source(nodes, sampler, name)));
        parts.extend(chain(nodes, sampler, &["sigmas"]).skip(1));
        Self { nodes, sampler, parts }
    }

    /// The first of some values that one of its nodes has.
    fn value(&self, names: &[&str]) -> Option<&'a Value> {
        let of = |node: &'a Value| names.iter().find_map(|name| value(self.nodes, node, name));
        self.parts.iter().find_map(|node| of(node))
    }

    /// The nodes that a prompt comes through.
    pub(super) fn conditioning(&self, input: &str) -> Vec<&'a Value> {
        let names: &[&str] =
            if input == "negative" { &["negative"] } else { &["positive", "conditioning", "cond1"] };
        let of = |node: &&'a Value| names.iter().find_map(|name| source(self.nodes, node, name));
        let first = self.parts.iter().find_map(of);
        first.map(|first| chain(self.nodes, first, conditions(input)).collect()).unwrap_or_default()
    }

    /// The nodes that its model comes through.
    pub(super) fn models(&self) -> impl Iterator<Item = &'a Value> {
        self.parts.iter().flat_map(move |part| chain(self.nodes, part, &["model", "model1"]))
    }

    fn model(&self) -> Option<String> {
        self.models().find_map(|node| model_of(self.nodes, node))
    }

    fn denoise(&self) -> Option<f64> {
        self.value(&["denoise"]).and_then(Value::as_f64)
    }

    fn give(&self, draft: &mut Draft) {
        let nodes = self.nodes;
        let positive = self.conditioning("positive");
        draft.request.prompt = text_of(nodes, &positive).unwrap_or_default();
        draft.request.negative_prompt = text_of(nodes, &self.conditioning("negative")).unwrap_or_default();
        set(&mut draft.request.seed, self.value(&["seed", "noise_seed"]).and_then(whole));
        set(&mut draft.request.steps, self.value(&["steps"]).and_then(small));
        let distilled = positive.iter().find_map(|node| value(nodes, node, "guidance"));
        let scale = self.value(&["cfg", "cfg_conds"]);
        set(&mut draft.request.guidance, distilled.or(scale).and_then(number));
        if let (Some(_), Some(scale)) = (distilled, scale.and_then(number)) {
            // It is then that of a second prediction.
            draft.request.guiding.true_cfg = scale.max(1.0);
        }
        if self.denoise().is_some_and(|share| share < 1.0) {
            draft
                .notes
                .push("It was made from an image that was made before, which is not restored.".to_owned());
        }
        if let Some(name) = self.value(&["sampler_name"]).and_then(Value::as_str) {
            draft.sampler(name);
        }
        if let Some(name) = self.value(&["scheduler"]).and_then(Value::as_str) {
            draft.schedule(name);
        }
        draft.model_name = self.model().unwrap_or_default();
        let mut sampling = self.models().filter(|node| kind(node).contains("Sampling"));
        draft.request.shift = sampling.find_map(|node| shift_of(nodes, node));
        if let Some(sized) = self.latents().into_iter().find_map(|node| size_of(nodes, node)) {
            (draft.request.width, draft.request.height) = (sized.width, sized.height);
            set(&mut draft.request.frames, sized.frames);
        }
    }

    /// The nodes that its latents come from, the nearest first.
    fn latents(&self) -> Vec<&'a Value> {
        let links = ["latent_image", "samples", "latent"];
        let first = links.iter().find_map(|name| source(self.nodes, self.sampler, name));
        first.map(|first| above(self.nodes, first)).unwrap_or_default()
    }
}

/// Takes over hires fix or a refiner, if another pass is one over the first. Returns the upscaler of hires fix.
fn second_pass<'a>(
    nodes: &'a Nodes,
    first: &Pass<'a>,
    passes: &[&'a Value],
    draft: &mut Draft,
) -> Option<&'a str> {
    let others: Vec<Pass<'_>> = passes
        .iter()
        .filter(|other| !std::ptr::eq(**other, first.sampler))
        .map(|sampler| Pass::of(nodes, sampler))
        .collect();
    // Two experts, and a refiner, take turns without anything in between.
    let start = |pass: &Pass<'_>| value(nodes, pass.sampler, "start_at_step").and_then(whole);
    let goes_on = |pass: &Pass<'_>| {
        let noise = value(nodes, pass.sampler, "add_noise").and_then(Value::as_str);
        start(pass).is_some_and(|step| step > 0) || noise == Some("disable")
    };
    let found = others.iter().find_map(|pass| Some((pass, enlarged(nodes, first, pass)?)));
    if others.iter().filter(|pass| !goes_on(pass)).count() > usize::from(found.is_some()) {
        draft.notes.push(FURTHER.to_owned());
    }
    // The two experts of a model belong together.
    let is_expert = |model: &str| {
        let plain = model.to_lowercase().replace(['-', '_', ' '], "");
        ["highnoise", "lownoise"].iter().any(|name| plain.contains(name))
    };
    let is_other = |model: &String| *model != draft.model_name && !is_expert(model);
    if let Some(pass) = others.iter().find(|pass| goes_on(pass))
        && draft.request.frames == 1
        && let Some(model) = pass.model().filter(is_other)
    {
        let switch = start(pass).map(|step| step as f64 / f64::from(draft.request.steps.max(1)));
        draft.refiner(&model, switch);
    }
    let (pass, Enlarged { scale, upscaler, is_latent }) = found?;
    let enlarger = match upscaler {
        Some(name) => draft.enlarger(name),
        None if is_latent => Enlarger::Latent,
        None => Enlarger::default(),
    };
    let strength = pass.denoise().unwrap_or_default();
    let steps = pass.value(&["steps"]).and_then(small);
    draft.request.hires = Some(Hires { scale, strength, steps, enlarger });
    upscaler
}

/// How an image is enlarged between two passes.
struct Enlarged<'a> {
    scale: f32,
    upscaler: Option<&'a str>,
    is_latent: bool,
}

/// How the image of the first pass is enlarged, if another one is a second pass over it.
fn enlarged<'a>(nodes: &'a Nodes, first: &Pass<'a>, pass: &Pass<'a>) -> Option<Enlarged<'a>> {
    let latents = pass.latents();
    let follows = latents.iter().any(|node| std::ptr::eq(*node, first.sampler));
    pass.denoise().filter(|share| *share > 0.0 && *share < 1.0 && follows)?;
    let upscaler = latents.iter().find_map(|node| comfy_parts::upscaler_of(nodes, node));
    let own = first.latents().into_iter().find_map(|node| size_of(nodes, node));
    let factor = upscaler.map_or(Some(1.0), comfy_parts::factor_of);
    let between = latents.iter().take_while(|node| !std::ptr::eq(**node, first.sampler));
    let scales = between.filter_map(|node| {
        let by = value(nodes, node, "scale_by").and_then(number);
        let to = value(nodes, node, "width").and_then(number);
        match by {
            Some(by) => Some(by * factor?),
            None => Some(to? / own.as_ref()?.width as f32),
        }
    });
    let scales: Vec<f32> = scales.collect();
    let usual = factor.filter(|_| scales.is_empty());
    let scale = scales.iter().copied().chain(usual).find(|scale| HIRES.contains(scale))?;
    let is_latent = latents.iter().any(|node| kind(node).starts_with("LatentUpscale"));
    Some(Enlarged { scale, upscaler, is_latent })
}

/// What a graph says without a link to the sampler.
fn elsewhere_in(nodes: &Nodes, draft: &mut Draft) {
    for (kind, node) in typed(nodes) {
        if draft.model_name.is_empty() && kind.contains("Loader") {
            draft.model_name = model_of(nodes, node).unwrap_or_default();
        }
        let rate = value(nodes, node, "fps").or_else(|| value(nodes, node, "frame_rate")).and_then(number);
        set(&mut draft.request.frame_rate, rate.filter(|rate| *rate >= 1.0));
    }
    let is_linked = typed(nodes).any(|(_, node)| source(nodes, node, "latent_image").is_some());
    if draft.request.width == 0
        && !is_linked
        && let Some(sized) = nodes.values().find_map(|node| size_of(nodes, node))
    {
        (draft.request.width, draft.request.height) = (sized.width, sized.height);
        set(&mut draft.request.frames, sized.frames);
    }
}

pub(super) fn kind(node: &Value) -> &str {
    node.get("class_type").and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn typed(nodes: &Nodes) -> impl Iterator<Item = (&str, &Value)> {
    nodes.values().filter_map(|node| Some((node.get("class_type")?.as_str()?, node)))
}

/// The samplers that have a prompt or a guider; without any, the guiders.
fn passes(nodes: &Nodes) -> Vec<&Value> {
    let of = |name: &str, inputs: &[&str]| -> Vec<&Value> {
        let has = |node: &Value, input: &str| node.get("inputs").is_some_and(|own| own.get(input).is_some());
        let found = typed(nodes)
            .filter(|(kind, node)| kind.contains(name) && inputs.iter().any(|input| has(node, input)));
        found.map(|(_, node)| node).collect()
    };
    let samplers = of("Sampler", &["positive", "conditioning", "guider"]);
    if samplers.is_empty() { of("Guider", &["positive", "conditioning", "cond1"]) } else { samplers }
}

/// The pass that no other comes before, one that makes noise if there are several.
fn first_pass<'a>(nodes: &'a Nodes, passes: &[&'a Value]) -> Option<&'a Value> {
    let is_first = |node: &&&Value| {
        let before = above(nodes, node);
        !before.iter().skip(1).any(|other| passes.iter().any(|pass| std::ptr::eq(*pass, *other)))
    };
    let firsts: Vec<&Value> = passes.iter().filter(is_first).copied().collect();
    let makes_noise =
        |node: &&&Value| node.pointer("/inputs/add_noise").and_then(Value::as_str) == Some("enable");
    firsts.iter().find(makes_noise).or(firsts.first()).or(passes.first()).copied()
}

/// A node and all that its inputs come from, the nearest first.
fn above<'a>(nodes: &'a Nodes, node: &'a Value) -> Vec<&'a Value> {
    let mut found = vec![node];
    let mut seen: HashSet<&str> = HashSet::new();
    let mut next = 0;
    while let Some(node) = found.get(next).copied() {
        next += 1;
        let inputs = node.get("inputs").and_then(Value::as_object).into_iter().flatten();
        for (_, link) in inputs {
            let id = link.as_array().and_then(|link| link.first()?.as_str());
            if let Some((id, source)) = id.and_then(|id| Some((id, nodes.get(id)?)))
                && seen.insert(id)
            {
                found.push(source);
            }
        }
    }
    found
}

/// A node, and the nodes that it gets one of some inputs from, and so on.
pub(super) fn chain<'a>(
    nodes: &'a Nodes,
    first: &'a Value,
    inputs: &'a [&'a str],
) -> impl Iterator<Item = &'a Value> {
    let next = move |node: &&'a Value| inputs.iter().find_map(|name| source(nodes, node, name));
    std::iter::successors(Some(first), next).take(FARTHEST)
}

/// The inputs through which a prompt comes to nodes that change it.
pub(super) fn conditions(input: &str) -> &'static [&'static str] {
    match input {
        "negative" => &["negative", "conditioning", "conditioning_1"],
        _ => &["positive", "conditioning", "conditioning_1", "conditioning_to"],
    }
}

/// The text of the first node that has one.
pub(super) fn text_of(nodes: &Nodes, conditioning: &[&Value]) -> Option<String> {
    // What is placed in a part of the image is no prompt.
    let whole = conditioning.iter().filter(|node| !kind(node).starts_with("GLIGEN"));
    let mut texts = whole.filter_map(|node| {
        let names = ["text", "prompt", "positive_prompt", "t5xxl", "text_g", "clip_l", "user_prompt"];
        names.iter().find_map(|name| value(nodes, node, name)?.as_str())
    });
    texts.next().map(str::to_owned)
}

/// The name of the model that a node loads.
fn model_of(nodes: &Nodes, node: &Value) -> Option<String> {
    let name = value(nodes, node, "unet_name").or_else(|| value(nodes, node, "ckpt_name"))?;
    name.as_str().map(model_name).filter(|name| !name.is_empty())
}

fn shift_of(nodes: &Nodes, node: &Value) -> Option<f32> {
    value(nodes, node, "shift").and_then(number).filter(|shift| *shift > 0.0)
}

/// The size of what a node makes.
struct Sized {
    width: u32,
    height: u32,
    frames: Option<u32>,
}

/// That of latents, and of images that are encoded.
fn size_of(nodes: &Nodes, node: &Value) -> Option<Sized> {
    let makes = ["Latent", "ToVideo", "img2vid", "Zero123", "CameraEmbedding", "ImageScale", "ImageResize"];
    let is_one = makes.iter().any(|name| kind(node).contains(name)) && !kind(node).contains("Upscale");
    let side = |name: &str| value(nodes, node, name).and_then(small).filter(|side| *side > 0);
    let (width, height) = (side("width").filter(|_| is_one)?, side("height")?);
    Some(Sized { width, height, frames: value(nodes, node, "length").and_then(small) })
}

/// The LoRAs that samplers and guiders get their model through, with their weights.
fn loras(nodes: &Nodes) -> Vec<(String, Option<f32>)> {
    let mut found = Vec::new();
    for (kind, start) in typed(nodes) {
        if !(kind.contains("Sampler") || kind.contains("Guider")) || kind.contains("Sampling") {
            continue;
        }
        for lora in chain(nodes, start, &["model"]).skip(1).flat_map(|node| loras_of(nodes, node)) {
            if !found.contains(&lora) {
                found.push(lora);
            }
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

/// The node that an input comes from.
pub(super) fn source<'a>(nodes: &'a Nodes, node: &'a Value, input: &str) -> Option<&'a Value> {
    let link = node.get("inputs")?.get(input)?.as_array()?;
    nodes.get(link.first()?.as_str()?)
}

/// The value of an input; one that is linked is looked up in a node that only holds a value.
pub(super) fn value<'a>(nodes: &'a Nodes, node: &'a Value, input: &str) -> Option<&'a Value> {
    let own = node.get("inputs")?.get(input)?;
    if !own.is_array() {
        return Some(own);
    }
    let inputs = source(nodes, node, input)?.get("inputs")?;
    ["value", "seed", "noise_seed", "int", "float", "text", "string"]
        .iter()
        .find_map(|name| inputs.get(*name))
        .filter(|value| !value.is_array())
}
