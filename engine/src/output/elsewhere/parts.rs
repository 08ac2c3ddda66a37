//! Networks that take part beside the model. Other programs write their names and not where they are, so that a path in the
//! request is only a name.

use std::{fmt::Display, path::PathBuf};

use super::{maps, model_name};
use crate::{
    checkpoint::upscaler_file,
    request::{
        ControlMode, ControlNet, Enlarger, Fit, ImagePrompt, ModelSource, Preprocessor, Refiner, Request,
        is_part_of_run,
    },
};

/// Upscalers that the web UI calls otherwise than their files.
const UPSCALERS: [(&str, &str); 6] = [
    ("R-ESRGAN 4x+", "RealESRGAN_x4plus"),
    ("R-ESRGAN 4x+ Anime6B", "RealESRGAN_x4plus_anime_6B"),
    ("R-ESRGAN 2x+", "RealESRGAN_x2plus"),
    ("R-ESRGAN General 4xV3", "realesr-general-x4v3"),
    ("R-ESRGAN General WDN 4xV3", "realesr-general-wdn-x4v3"),
    ("R-ESRGAN AnimeVideo", "realesr-animevideov3"),
];

/// Enlarging without a network.
const FILTERS: [&str; 7] = ["none", "nearest", "nearest-exact", "bilinear", "bicubic", "area", "lanczos"];

/// Endings of files of which Sluice reads another version.
const PICKLES: [&str; 4] = [".pth", ".pt", ".bin", ".onnx"];

/// A network, and in which steps it takes part how strongly.
#[derive(Debug, Clone, Default)]
pub(in crate::output) struct Part<'a> {
    pub name: &'a str,
    pub weight: Option<f32>,
    pub start: Option<f64>,
    pub end: Option<f64>,
    /// What a ControlNet's map is made by; nothing is said of others.
    pub preprocessor: &'a str,
    /// The kind of map for a union of ControlNets.
    pub mode: Option<ControlMode>,
    /// How the image of a ControlNet is fitted.
    pub fit: Fit,
}

impl Part<'_> {
    fn weight(&self, largest: f32, notes: &mut Vec<String>) -> f32 {
        let weight = self.weight.unwrap_or(1.0);
        if (0.0..=largest).contains(&weight) {
            return weight;
        }
        notes.push(misread(&format!("{}: weight", self.name), weight));
        1.0
    }

    fn range(&self, notes: &mut Vec<String>) -> [f64; 2] {
        let [start, end] = [self.start.unwrap_or(0.0), self.end.unwrap_or(1.0)];
        if is_part_of_run(start..end) {
            return [start, end];
        }
        notes.push(misread(&format!("{}: start, end", self.name), format!("{start}, {end}")));
        [0.0, 1.0]
    }
}

/// Adds a ControlNet that waits for its image.
pub(in crate::output) fn control_net(request: &mut Request, notes: &mut Vec<String>, part: &Part<'_>) {
    if is_nothing(part.name) {
        return;
    }
    if request.control_nets.len() == ControlNet::MOST {
        return notes.push(left_out(&[part.name]));
    }
    let preprocessor = match maps::preprocessor(part.preprocessor) {
        Some(known) => {
            if !known.is_same {
                let (name, chosen) = (part.preprocessor, known.preprocessor.name());
                notes.push(format!("The preprocessor “{name}” is not available; {chosen} is used instead."));
            }
            known.preprocessor
        }
        None => {
            let name = part.preprocessor;
            notes.push(format!(
                "The preprocessor “{name}” is not available; choose an image that is a map already."
            ));
            Preprocessor::None
        }
    };
    let [start, end] = part.range(notes);
    request.control_nets.push(ControlNet {
        model: file(part.name),
        preprocessor,
        mode: part.mode,
        weight: part.weight(ControlNet::LARGEST_WEIGHT, notes),
        start,
        end,
        fit: part.fit,
        ..ControlNet::default()
    });
}

/// Adds an IP-Adapter that waits for its images.
pub(in crate::output) fn image_prompt(request: &mut Request, notes: &mut Vec<String>, part: &Part<'_>) {
    if is_nothing(part.name) {
        return;
    }
    if request.image_prompts.len() == ImagePrompt::MOST {
        return notes.push(left_out(&[part.name]));
    }
    let [start, end] = part.range(notes);
    request.image_prompts.push(ImagePrompt {
        adapter: file(part.name),
        images: Vec::new(),
        weight: part.weight(ImagePrompt::LARGEST_WEIGHT, notes),
        start,
        end,
    });
}

/// Adds an IP-Adapter or a ControlNet, as its name says, for programs that list both together.
pub(in crate::output) fn by_name(request: &mut Request, notes: &mut Vec<String>, part: &Part<'_>) {
    let name = part.name.to_lowercase().replace(['_', ' '], "-");
    match name.contains("ip-adapter") || name.contains("ipadapter") {
        true => image_prompt(request, notes, part),
        false => control_net(request, notes, part),
    }
}

/// Sets the model of the last steps.
pub(in crate::output) fn refiner(
    request: &mut Request,
    notes: &mut Vec<String>,
    name: &str,
    switch: Option<f64>,
) {
    if is_nothing(name) {
        return;
    }
    let mut refiner = Refiner::new(file(name));
    match switch {
        Some(switch) if switch > 0.0 && switch < 1.0 => refiner.switch = switch,
        Some(switch) => notes.push(misread(&format!("{name}: start"), switch)),
        None => {}
    }
    request.refiner = Some(refiner);
}

/// What enlarges by the name of an upscaler. `None` for a filter that is no network.
pub(in crate::output) fn enlarger(name: &str) -> Option<Enlarger> {
    if FILTERS.contains(&name.to_lowercase().as_str()) {
        return None;
    }
    let known = UPSCALERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let path = file(known.map_or(name, |(_, file)| *file));
    let own = upscaler_file().unwrap_or_default();
    let is_own = own.file_stem().is_some_and(|own| {
        let (own, name) = (own.to_string_lossy(), path.to_string_lossy());
        own == name || own.strip_suffix("-x4") == Some(&*name)
    });
    Some(match is_own {
        true => Enlarger::default(),
        false => Enlarger::Upscaler(ModelSource::Path(path)),
    })
}

/// What has to be chosen again, because files do not have it, one sentence each.
pub(in crate::output) fn missing_images(request: &Request) -> Vec<String> {
    let waits = |net: &ControlNet| net.image.as_os_str().is_empty() && !net.preprocessor.takes_input();
    let nets = request.control_nets.iter().any(waits);
    let nets = nets.then(|| "The images of ControlNets are not in the file; choose them again.".to_owned());
    let prompts = request.image_prompts.iter().any(|prompt| prompt.images.is_empty());
    let prompts =
        prompts.then(|| "The images of IP-Adapters are not in the file; choose them again.".to_owned());
    nets.into_iter().chain(prompts).collect()
}

/// A path that is only a name. Without an extension, what follows the last dot of a name would be taken for one.
pub(in crate::output) fn file(name: &str) -> PathBuf {
    let name = model_name(without_hash(name.trim()));
    let name = PICKLES.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    match name.contains('.') {
        true => format!("{name}.safetensors").into(),
        false => name.into(),
    }
}

pub(in crate::output) fn misread(name: &str, value: impl Display) -> String {
    format!("{name} “{value}” is not valid here; the default is used.")
}

pub(in crate::output) fn left_out(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    format!("Not taken over: {}.", names.join(", "))
}

pub(in crate::output) fn taking_part(what: &str) -> String {
    format!("{what} took part; that is not restored.")
}

fn is_nothing(name: &str) -> bool {
    matches!(name.trim(), "" | "None" | "none")
}

/// A name without the hash that the web UI puts behind it: `canny [d14c016b]`.
fn without_hash(name: &str) -> &str {
    match name.strip_suffix(']').and_then(|rest| rest.rsplit_once(" [")) {
        Some((title, hash)) if hash.chars().all(|letter| letter.is_ascii_hexdigit()) => title,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files_without_their_endings() {
        for (name, expected) in [
            ("control_v11p_sd15_canny [d14c016b]", "control_v11p_sd15_canny"),
            ("SDXL/diffusers_xl_depth_full.safetensors [2f51180b]", "diffusers_xl_depth_full"),
            ("sd_xl_refiner_1.0 [7440042bbd]", "sd_xl_refiner_1.0.safetensors"),
            ("face_yolov8n.pt", "face_yolov8n"),
            ("4x-UltraSharp.pth", "4x-UltraSharp"),
            ("my [best] net", "my [best] net"),
        ] {
            assert_eq!(file(name), PathBuf::from(expected), "{name}");
        }
    }

    #[test]
    fn upscalers_are_networks_by_the_names_of_their_files() {
        let path = |name: &str| Some(Enlarger::Upscaler(ModelSource::Path(name.into())));
        for (name, expected) in [
            ("R-ESRGAN 4x+", path("RealESRGAN_x4plus")),
            ("4x_NMKD-Siax_200k.pth", path("4x_NMKD-Siax_200k")),
            ("R-ESRGAN AnimeVideo", Some(Enlarger::default())),
            ("realesr-animevideov3-x4", Some(Enlarger::default())),
            ("Lanczos", None),
            ("nearest-exact", None),
        ] {
            assert_eq!(enlarger(name), expected, "{name}");
        }
    }

    #[test]
    fn what_is_out_of_range_has_its_default_and_a_note() {
        let (mut request, mut notes) = (Request::default(), Vec::new());
        let part =
            Part { name: "canny", weight: Some(3.0), start: Some(0.9), end: Some(0.2), ..Part::default() };
        control_net(&mut request, &mut notes, &part);
        let net = &request.control_nets[0];
        assert_eq!((net.weight, net.start, net.end, notes.len()), (1.0, 0.0, 1.0, 2));
        let nothing = Part { name: "None", ..Part::default() };
        control_net(&mut request, &mut notes, &nothing);
        image_prompt(&mut request, &mut notes, &nothing);
        refiner(&mut request, &mut notes, "None", None);
        assert_eq!((request.control_nets.len(), request.image_prompts.len()), (1, 0));
        assert!(request.refiner.is_none());
        refiner(&mut request, &mut notes, "fine", Some(1.0));
        assert_eq!(request.refiner, Some(Refiner::new("fine".into())));
        assert_eq!(notes.last().unwrap(), "fine: start “1” is not valid here; the default is used.");
    }

    #[test]
    fn more_than_fit_are_named() {
        let (mut request, mut notes) = (Request::default(), Vec::new());
        for name in ["a", "b", "c", "d", "e"] {
            by_name(&mut request, &mut notes, &Part { name, ..Part::default() });
        }
        by_name(&mut request, &mut notes, &Part { name: "IP_Adapter-plus_sd15", ..Part::default() });
        assert_eq!((request.control_nets.len(), request.image_prompts.len()), (4, 1));
        assert_eq!(notes, ["Not taken over: e."]);
        assert_eq!(
            missing_images(&request),
            [
                "The images of ControlNets are not in the file; choose them again.",
                "The images of IP-Adapters are not in the file; choose them again.",
            ]
        );
    }
}
