//! ControlNets, IP-Adapters and the refiner in the format of A1111's web UI and its extension for ControlNets.

use super::{
    a1111::{file_name, file_stem},
    elsewhere::{
        maps::control_mode,
        parts::{self, Part},
    },
};
use crate::request::{ControlNet, Fit, ImagePrompt, Preprocessor, Refiner, Request};

/// As the extension for ControlNets numbers them.
const CONTROL_NETS: [&str; ControlNet::MOST] =
    ["ControlNet 0", "ControlNet 1", "ControlNet 2", "ControlNet 3"];
/// Numbered like ControlNets.
const IP_ADAPTERS: [&str; ImagePrompt::MOST] =
    ["IP-Adapter 0", "IP-Adapter 1", "IP-Adapter 2", "IP-Adapter 3"];
/// What the names of all of them begin with.
const CONTROL_NET: &str = "ControlNet";
const IP_ADAPTER: &str = "IP-Adapter";
const REFINER: &str = "Refiner";
const SWITCH: &str = "Refiner switch at";

/// What the extension says of a ControlNet, and what it says where nothing is special; what has no such values never is. Sizes of
/// maps and where they are computed are not settings here.
const NEUTRAL: [(&str, &[&str]); 10] = [
    ("control mode", &["balanced", "controlmode.balanced"]),
    ("hr option", &["both", "hiresfixoption.both"]),
    ("enabled", &["true"]),
    ("pixel perfect", &["true", "false"]),
    ("low vram", &["true", "false"]),
    ("processor res", &[]),
    ("input mode", &["simple", "inputmode.simple"]),
    ("save detected map", &["true", "false"]),
    ("preprocessor params", &[]),
    ("images", &[]),
];
/// The thresholds of edges, which are the same here.
const THRESHOLDS: [(&str, f32); 2] = [("threshold a", 100.0), ("threshold b", 200.0)];

pub(super) fn pairs(request: &Request) -> Vec<(&'static str, String)> {
    let nets = CONTROL_NETS.into_iter().zip(request.control_nets.iter().map(control_net));
    let prompts = IP_ADAPTERS.into_iter().zip(request.image_prompts.iter().map(image_prompt));
    nets.chain(prompts).collect()
}

/// The model of the last steps.
pub(super) fn refiner_pairs(request: &Request) -> Vec<(&'static str, String)> {
    let of = |refiner: &Refiner| [(REFINER, file_stem(&refiner.path)), (SWITCH, refiner.switch.to_string())];
    request.refiner.iter().flat_map(of).collect()
}

/// A ControlNet as the extension for them writes it.
fn control_net(net: &ControlNet) -> String {
    let ControlNet { model, preprocessor, mode, weight, start, end, fit, .. } = net;
    let mode = mode.map_or_else(String::new, |mode| format!(", Union Type: {}", mode.name()));
    let resize = match fit {
        Fit::Crop => "Crop and Resize",
        Fit::Stretch => "Just Resize",
        Fit::Pad => "Resize and Fill",
    };
    format!(
        "Module: {}, Model: {}, Weight: {weight}, Resize Mode: {resize}, Guidance Start: {start}, Guidance End: {end}{mode}",
        preprocessor.name(),
        file_stem(model)
    )
}

fn image_prompt(ImagePrompt { adapter, images, weight, start, end }: &ImagePrompt) -> String {
    let images: Vec<String> = images.iter().map(|image| file_name(image)).collect();
    format!(
        "Model: {}, Images: {}, Weight: {weight}, Guidance Start: {start}, Guidance End: {end}",
        file_stem(adapter),
        images.join(" ")
    )
}

/// Whether a pair is one of those that are read here.
pub(super) fn is_read(name: &str) -> bool {
    [CONTROL_NET, IP_ADAPTER, REFINER].iter().any(|start| name.starts_with(start))
}

/// Takes over what steered an image, as far as the text says it. Returns the names of what is not taken over.
pub(super) fn restore(
    request: &mut Request,
    notes: &mut Vec<String>,
    pairs: &[(String, String)],
) -> Vec<String> {
    let mut left = Vec::new();
    let mut single = Vec::new();
    for (name, value) in pairs.iter().filter(|(name, _)| is_read(name)) {
        let number = |start: &str| name.strip_prefix(start).and_then(|rest| rest.trim().parse::<u8>().ok());
        if number(CONTROL_NET).is_some() || number(IP_ADAPTER).is_some() {
            left.extend(restore_unit(request, notes, name, &unit(value)));
        } else if let Some(field) = name.strip_prefix(CONTROL_NET) {
            // An older version had one in pairs of their own.
            single.push((field.trim().to_lowercase(), value.clone()));
        } else if !["refiner", "refiner switch at", "refiner switch"].contains(&&*name.to_lowercase()) {
            left.push(name.clone());
        }
    }
    if !single.is_empty() {
        left.extend(restore_unit(request, notes, CONTROL_NET, &single));
    }
    let value = |wanted: &str| {
        let found = pairs.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.as_str())
    };
    if let Some(name) = value(REFINER) {
        // Fooocus has a shorter name for where it begins.
        let switch = value(SWITCH).or_else(|| value("Refiner switch"));
        parts::refiner(request, notes, name, switch.and_then(|switch| switch.parse().ok()));
    }
    left
}

/// The fields of a ControlNet, by their names in small letters. Values may have commas, as names of models and ranges have.
fn unit(text: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for piece in text.split(',') {
        if let Some((name, value)) = piece.split_once(':').filter(|(name, _)| is_name(name)) {
            fields.push((name.trim().to_lowercase(), value.to_owned()));
        } else if let Some((_, value)) = fields.last_mut() {
            value.push(',');
            value.push_str(piece);
        }
    }
    fields.into_iter().map(|(name, value)| (name, value.trim().to_owned())).collect()
}

/// Whether a field may be called so.
fn is_name(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || " /-_".contains(letter);
    !text.trim().is_empty() && text.chars().all(is_plain)
}

/// Takes over one ControlNet or IP-Adapter. Returns the names of what is not taken over of it.
fn restore_unit(
    request: &mut Request,
    notes: &mut Vec<String>,
    name: &str,
    fields: &[(String, String)],
) -> Vec<String> {
    let value = |names: &[&str]| {
        let found = fields.iter().find(|(name, _)| names.contains(&name.as_str()));
        found.map(|(_, value)| value.as_str())
    };
    let Some(model) = value(&["model"]) else { return vec![name.to_owned()] };
    let range: Option<(f64, f64)> = value(&["starting/ending"]).and_then(|range| {
        let (start, end) = range.trim_matches(['(', ')']).split_once(',')?;
        Some((start.trim().parse().ok()?, end.trim().parse().ok()?))
    });
    let fraction = |names: &[&str]| value(names).and_then(|text| text.parse::<f64>().ok());
    let module = value(&["module", "preprocessor"]).unwrap_or_default();
    let part = Part {
        name: model,
        weight: value(&["weight"]).and_then(|weight| weight.parse().ok()),
        start: fraction(&["guidance start", "starting step"]).or(range.map(|(start, _)| start)),
        end: fraction(&["guidance end", "ending step"]).or(range.map(|(_, end)| end)),
        preprocessor: module,
        mode: value(&["union type", "union control type"]).and_then(control_mode),
        fit: fit(value(&["resize mode"]).unwrap_or_default()),
    };
    let is_adapter = module.to_lowercase().replace('-', "").contains("ipadapter");
    if name.starts_with(IP_ADAPTER) || is_adapter {
        parts::image_prompt(request, notes, &part);
    } else if model.eq_ignore_ascii_case("none") && !["", "none"].contains(&&*module.to_lowercase()) {
        // References without a network.
        return vec![format!("{name} {module}")];
    } else {
        parts::by_name(request, notes, &part);
    }
    let is_of_edges = module == Preprocessor::Canny.name();
    let is_left = |(field, value): &&(String, String)| {
        if let Some((_, usual)) = THRESHOLDS.iter().find(|(known, _)| known == field) {
            return is_of_edges && value.parse::<f32>().is_ok_and(|value| value != *usual);
        }
        let neutral = NEUTRAL.iter().find(|(known, _)| known == field);
        match neutral {
            Some((_, values)) => !values.is_empty() && !values.contains(&&*value.to_lowercase()),
            None => !is_known(field),
        }
    };
    fields.iter().filter(is_left).map(|(field, _)| format!("{name} {field}")).collect()
}

/// Whether a field is taken over.
fn is_known(field: &str) -> bool {
    const KNOWN: [&str; 12] = [
        "model",
        "module",
        "preprocessor",
        "weight",
        "guidance start",
        "guidance end",
        "starting step",
        "ending step",
        "starting/ending",
        "resize mode",
        "union type",
        "union control type",
    ];
    KNOWN.contains(&field) || field == "preprocessor parameters"
}

fn fit(mode: &str) -> Fit {
    match mode.to_lowercase().as_str() {
        "just resize" | "resizemode.resize" => Fit::Stretch,
        "resize and fill" | "resizemode.outer_fit" => Fit::Pad,
        _ => Fit::Crop,
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::request::ControlMode;

    /// The request, the notes, and what is left.
    fn read(pairs: &[(&str, &str)]) -> (Request, Vec<String>, Vec<String>) {
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (mut request, mut notes) = (Request::default(), Vec::new());
        let left = restore(&mut request, &mut notes, &pairs);
        (request, notes, left)
    }

    #[test]
    fn every_version_of_the_extension_is_read() {
        let new = "Module: canny, Model: control_v11p_sd15_canny [d14c016b], Weight: 0.75, \
                   Resize Mode: Resize and Fill, Processor Res: 512, Threshold A: 100.0, Threshold B: 200.0, \
                   Guidance Start: 0.1, Guidance End: 0.8, Pixel Perfect: True, Control Mode: Balanced, \
                   Hr Option: Both";
        let old = "preprocessor: canny, model: control_v11p_sd15_canny [d14c016b], weight: 0.75, \
                   starting/ending: (0.1, 0.8), resize mode: Resize and Fill, pixel perfect: True, \
                   control mode: Balanced, preprocessor params: (512, 100, 200)";
        let oldest = [
            ("ControlNet Enabled", "True"),
            ("ControlNet Preprocessor", "canny"),
            ("ControlNet Model", "control_v11p_sd15_canny [d14c016b]"),
            ("ControlNet Weight", "0.75"),
            ("ControlNet Starting Step", "0.1"),
            ("ControlNet Ending Step", "0.8"),
            ("ControlNet Resize Mode", "Resize and Fill"),
            ("ControlNet Preprocessor Parameters", "(512, 100, 200)"),
        ];
        let expected = ControlNet {
            model: "control_v11p_sd15_canny".into(),
            preprocessor: Preprocessor::Canny,
            weight: 0.75,
            start: 0.1,
            end: 0.8,
            fit: Fit::Pad,
            ..ControlNet::default()
        };
        for pairs in [&[("ControlNet 0", new)][..], &[("ControlNet 0", old)], &oldest] {
            let (request, notes, left) = read(pairs);
            assert_eq!(request.control_nets, slice::from_ref(&expected), "{pairs:?}");
            assert_eq!((notes, left), (Vec::new(), Vec::new()), "{pairs:?}");
        }
    }

    #[test]
    fn what_a_control_net_cannot_be_told_is_listed() {
        let unit = "Module: normal_bae, Model: control_v11p_sd15_normalbae [316696f1], Weight: 1.0, \
                    Guidance Start: 0.0, Guidance End: 1.0, Control Mode: ControlNet is more important, \
                    Effective Region Mask: yes";
        let canny = "Module: canny, Model: b, Threshold A: 50, Threshold B: 200";
        let reference = "Module: reference_only, Model: None, Weight: 1";
        let (request, notes, left) =
            read(&[("ControlNet 0", unit), ("ControlNet 1", canny), ("ControlNet 2", reference)]);
        assert_eq!(request.control_nets.len(), 2);
        assert_eq!(
            notes,
            ["The preprocessor “normal_bae” is not available; choose an image that is a map already."]
        );
        assert_eq!(
            left,
            [
                "ControlNet 0 control mode",
                "ControlNet 0 effective region mask",
                "ControlNet 1 threshold a",
                "ControlNet 2 reference_only",
            ]
        );
    }

    #[test]
    fn ip_adapters_among_control_nets_are_told_apart() {
        let unit = "Module: ip-adapter_clip_sd15, Model: ip-adapter-plus_sd15 [836b5c2e], Weight: 0.6, \
                    Guidance Start: 0, Guidance End: 0.5";
        let (request, ..) = read(&[("ControlNet 0", unit)]);
        assert!(request.control_nets.is_empty());
        let adapter = ImagePrompt {
            adapter: "ip-adapter-plus_sd15".into(),
            weight: 0.6,
            end: 0.5,
            ..ImagePrompt::default()
        };
        assert_eq!(request.image_prompts, [adapter]);
    }

    #[test]
    fn what_is_written_is_read_without_the_images() {
        let net = ControlNet {
            model: "/models/union.safetensors".into(),
            image: "/photos/house.png".into(),
            preprocessor: Preprocessor::SoftEdge,
            mode: Some(ControlMode::SoftEdge),
            weight: 0.5,
            start: 0.25,
            end: 0.75,
            fit: Fit::Stretch,
        };
        let prompt = ImagePrompt {
            adapter: "/models/ip.safetensors".into(),
            images: vec!["/photos/a.png".into(), "/photos/b.png".into()],
            ..ImagePrompt::default()
        };
        let refiner = Refiner { path: "/models/fine_1.0.safetensors".into(), switch: 0.7 };
        let request = Request {
            control_nets: vec![net.clone()],
            image_prompts: vec![prompt.clone()],
            refiner: Some(refiner.clone()),
            ..Request::default()
        };
        let mut written = pairs(&request);
        written.extend(refiner_pairs(&request));
        let written: Vec<(&str, &str)> =
            written.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (read, notes, left) = read(&written);
        assert_eq!(read.control_nets, [ControlNet { model: "union".into(), image: "".into(), ..net }]);
        assert_eq!(read.image_prompts, [ImagePrompt { adapter: "ip".into(), images: Vec::new(), ..prompt }]);
        assert_eq!(read.refiner, Some(Refiner { path: "fine_1.0.safetensors".into(), ..refiner }));
        assert_eq!((notes, left), (Vec::new(), Vec::new()));
    }

    #[test]
    fn names_of_models_may_have_commas_and_brackets() {
        for name in ["canny (v2", "my, net", "a), b (c, d", "weights, 2"] {
            let net = ControlNet { model: name.into(), weight: 0.5, end: 0.75, ..ControlNet::default() };
            let prompt = ImagePrompt { adapter: name.into(), weight: 0.5, ..ImagePrompt::default() };
            let request = Request {
                control_nets: vec![net.clone(), net.clone()],
                image_prompts: vec![prompt.clone()],
                ..Request::default()
            };
            let written = pairs(&request);
            let written: Vec<(&str, &str)> =
                written.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let (read, notes, left) = read(&written);
            assert_eq!(
                (read.control_nets, read.image_prompts),
                (vec![net.clone(), net], vec![prompt]),
                "{name}"
            );
            assert_eq!((notes, left), (Vec::new(), Vec::new()), "{name}");
        }
    }

    #[test]
    fn a_refiner_is_read_with_where_it_begins() {
        for switch in ["Refiner switch at", "Refiner Switch"] {
            let (request, notes, left) =
                read(&[("Refiner", "sd_xl_refiner_1.0 [7440042bbd]"), (switch, "0.6"), ("Refiner VAE", "a")]);
            let refiner = Refiner { path: "sd_xl_refiner_1.0.safetensors".into(), switch: 0.6 };
            assert_eq!((request.refiner, notes), (Some(refiner), Vec::new()));
            assert_eq!(left, ["Refiner VAE"]);
        }
    }
}
