//! SwarmUI writes its parameters beside a clip, or as JSON into an image.

use serde_json::Value;

use super::{
    Draft, fraction,
    maps::control_mode,
    model_name, number,
    parts::{Part, misread},
    says, set, signed, small, whole,
};
use crate::{
    output::settings::{Origin, RestoredSettings},
    request::{Enlarger, Hires, Variation},
};

/// What its three ControlNets begin with.
const CONTROL_NETS: [&str; 3] = ["controlnet", "controlnettwo", "controlnetthree"];
const CONTROL_NET_FIELDS: [&str; 7] =
    ["model", "strength", "start", "end", "preprocessor", "uniontype", "imageinput"];
/// What in prompts is for a part of the image, or for a part of the steps.
const TAGS: [&str; 5] = ["<segment:", "<region:", "<object:", "<refiner>", "<video>"];

/// Parameters that are taken over.
const READ: [&str; 46] = [
    "prompt",
    "negativeprompt",
    "width",
    "height",
    "text2videoframes",
    "videoframes",
    "text2videofps",
    "videofps",
    "steps",
    "cfgscale",
    "fluxguidancescale",
    "seed",
    "model",
    "sampler",
    "scheduler",
    "loras",
    "loraweights",
    "initimage",
    "videomodel",
    "variationseed",
    "variationseedstrength",
    "sigmashift",
    "clipstopatlayer",
    "refinermethod",
    "refinercontrolpercentage",
    "refinercontrol",
    "refinermodel",
    "refinerupscale",
    "refinerupscalemethod",
    "refinersteps",
    "useipadapter",
    "ipadapterweight",
    "ipadapterstart",
    "ipadapterend",
    // What follows only says where the image is from, how it was run or shown, and what the prompt was made of.
    "aspectratio",
    "sidelength",
    "images",
    "batchsize",
    "automaticvae",
    "vae",
    "promptimages",
    "swarm_version",
    "date",
    "generation_time",
    "wildcardseed",
    "original_prompt",
];
/// What others like those of the last kind begin with.
const FACTS: [&str; 6] = ["internal", "exact", "donotsave", "personalnote", "outpath", "preferred"];

pub(super) fn read(parameters: &Value) -> Option<RestoredSettings> {
    parameters.as_object()?;
    let mut draft = Draft::new();
    let request = &mut draft.request;
    let field = |name: &str| parameters.get(name).unwrap_or(&Value::Null);
    // Parameters of a clip that was made from text have names of their own.
    let either =
        |names: [&str; 2]| names.into_iter().find_map(|name| parameters.get(name)).unwrap_or(&Value::Null);
    let text = |name: &str| field(name).as_str().unwrap_or_default().to_owned();
    request.prompt = text("prompt");
    request.negative_prompt = text("negativeprompt");
    set(&mut request.width, small(field("width")));
    set(&mut request.height, small(field("height")));
    set(&mut request.frames, small(either(["text2videoframes", "videoframes"])));
    let rate = number(either(["text2videofps", "videofps"])).filter(|rate| *rate >= 1.0);
    set(&mut request.frame_rate, rate);
    set(&mut request.steps, small(field("steps")));
    set(&mut request.guidance, number(field("cfgscale")));
    set(&mut request.seed, whole(field("seed")));
    draft.model_name = model_name(&text("model"));
    if let Some(name) = field("sampler").as_str() {
        draft.sampler(name);
    }
    if let Some(name) = field("scheduler").as_str() {
        draft.schedule(name);
    }
    let list = |name: &str| match field(name) {
        Value::Array(list) => list.clone(),
        Value::String(text) => text.split(',').map(|part| Value::String(part.trim().to_owned())).collect(),
        _ => Vec::new(),
    };
    let weights = list("loraweights");
    for (place, name) in list("loras").iter().enumerate() {
        let weight = weights.get(place).and_then(signed);
        draft.lora(name.as_str().unwrap_or_default(), weight);
    }
    if !matches!(field("initimage"), Value::Null) {
        draft.notes.push("It was made from an input image, which is not included.".to_owned());
    }
    if let Some(scale) = number(field("fluxguidancescale")) {
        // The other scale is then that of a second prediction.
        draft.request.guiding.true_cfg = number(field("cfgscale")).unwrap_or(1.0).max(1.0);
        draft.request.guidance = scale;
    }
    draft.request.shift = number(field("sigmashift")).filter(|shift| *shift > 0.0);
    if let Some(strength) = number(field("variationseedstrength")).filter(|strength| *strength > 0.0) {
        let seed = whole(field("variationseed")).unwrap_or_default();
        match strength <= 1.0 {
            true => draft.request.variation = Some(Variation { seed, strength }),
            false => draft.notes.push(misread("variationseedstrength", strength)),
        }
    }
    if let Some(layer) = signed(field("clipstopatlayer")).filter(|layer| *layer < -1.0) {
        draft.clip_skip(-layer as u32);
    }
    for start in CONTROL_NETS {
        let of = |name: &str| field(&format!("{start}{name}"));
        let of_text = |name: &str| of(name).as_str().unwrap_or_default();
        draft.control_net(&Part {
            name: of_text("model"),
            weight: signed(of("strength")),
            start: fraction(of("start")),
            end: fraction(of("end")),
            preprocessor: of_text("preprocessor"),
            mode: control_mode(of_text("uniontype")),
            ..Part::default()
        });
    }
    draft.image_prompt(&Part {
        name: field("useipadapter").as_str().unwrap_or_default(),
        weight: signed(field("ipadapterweight")),
        start: fraction(field("ipadapterstart")),
        end: fraction(field("ipadapterend")),
        ..Part::default()
    });
    second_pass(parameters, &mut draft);
    let is_read = |name: &str| {
        let of_net =
            |start: &&str| name.strip_prefix(*start).is_some_and(|field| CONTROL_NET_FIELDS.contains(&field));
        READ.contains(&name)
            || FACTS.iter().any(|start| name.starts_with(start))
            || CONTROL_NETS.iter().any(of_net)
    };
    let others = parameters.as_object().into_iter().flatten();
    let others = others.filter(|(name, value)| !is_read(name) && says(value)).map(|(name, _)| name.clone());
    let tags = TAGS.into_iter().filter(|tag| draft.request.prompt.contains(tag));
    let left: Vec<String> = others.chain(tags.map(str::to_owned)).collect();
    draft.leave_out(&left);
    if let Some(model) = field("videomodel").as_str() {
        let model = model_name(model);
        draft.notes.push(format!(
            "This clip was made from an image with the model “{model}”; the image's settings are restored."
        ));
    }
    Some(draft.finish(Origin::SwarmUi))
}

/// The refiner: a model for the last steps, or a second pass over the image, which may be enlarged before.
fn second_pass(parameters: &Value, draft: &mut Draft) {
    let field = |name: &str| parameters.get(name).unwrap_or(&Value::Null);
    let method = field("refinermethod").as_str().unwrap_or_default();
    let share = fraction(field("refinercontrolpercentage")).or_else(|| fraction(field("refinercontrol")));
    let model = field("refinermodel").as_str().filter(|model| !model.starts_with('(')).unwrap_or_default();
    let scale = number(field("refinerupscale")).unwrap_or(1.0);
    let upscaler = field("refinerupscalemethod").as_str().unwrap_or("pixel-lanczos");
    match method {
        "" => {}
        "PostApply" => {
            let enlarger = match upscaler.split_once('-') {
                Some(("model" | "latentmodel", name)) => draft.enlarger(name),
                Some(("latent", _)) => Enlarger::Latent,
                _ if scale > 1.0 => draft.enlarger(upscaler.strip_prefix("pixel-").unwrap_or(upscaler)),
                _ => Enlarger::Latent,
            };
            let steps = small(field("refinersteps")).filter(|steps| *steps > 0);
            let is_made = draft.hires(Hires { scale, strength: share.unwrap_or(0.2), steps, enlarger });
            if is_made && !model.is_empty() {
                let name = "refinermodel";
                draft.notes.push(format!("{name} is not restored; the second pass uses that of the first."));
            }
        }
        // The steps are shared, without anything in between.
        _ if scale == 1.0 => draft.refiner(model, share.map(|share| 1.0 - share)),
        _ => draft.notes.push("A refiner or an upscaler took part; that is not restored.".to_owned()),
    }
}
