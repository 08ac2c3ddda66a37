//! What clients send for extensions of the web UI: ControlNets, and details that are inpainted again.

use serde_json::Value;
use sluice_engine::request::{BoxOrder, Detailer, Fit, Preprocessor};

use super::fields::Fields;
use crate::{
    orders::{ControlNetOrder, DetailerOrder, Given},
    serve::Refusal,
};

/// Where the extension for details puts the prompt of the image.
const PROMPT: &str = "[PROMPT]";
/// What its prompts have for several boxes.
const PARTS: [&str; 2] = ["[SEP]", "[SKIP]"];

/// What the extensions that run here are told.
#[derive(Debug, Default)]
pub struct Scripts {
    /// ControlNets.
    pub control_nets: Vec<ControlNetOrder>,
    /// Detailers.
    pub detailers: Vec<DetailerOrder>,
}

impl Scripts {
    /// Reads `alwayson_scripts`. `prompt` is that of the image.
    ///
    /// # Errors
    /// When another extension is to run, or one of these is told something that is not possible here.
    pub fn of(fields: &mut Fields, prompt: &str) -> Result<Self, Refusal> {
        let mut all = Self::default();
        for (name, script) in fields.object("alwayson_scripts")? {
            let units = script.get("args").cloned().unwrap_or(script);
            let units = match units {
                Value::Array(units) => units,
                Value::Null => Vec::new(),
                other => vec![other],
            };
            if name.eq_ignore_ascii_case("controlnet") {
                for unit in units {
                    all.control_nets.extend(control_net(fields, unit)?);
                }
            } else if name.eq_ignore_ascii_case("adetailer") {
                all.detailers = detailers(fields, units, prompt)?;
            } else if units.iter().any(|unit| !matches!(unit, Value::Null | Value::Bool(false))) {
                let message = format!("the extension {name} does not run here");
                return Err(Refusal::wrong(message, "Leave it out of `alwayson_scripts`."));
            }
        }
        Ok(all)
    }
}

/// The first two arguments may say whether it is on, and whether image to image is left out.
fn detailers(fields: &mut Fields, units: Vec<Value>, prompt: &str) -> Result<Vec<DetailerOrder>, Refusal> {
    let switches: Vec<bool> = units.iter().map_while(Value::as_bool).collect();
    if switches.first() == Some(&false) {
        return Ok(Vec::new());
    }
    if switches.get(1) == Some(&true) {
        let message = "ADetailer cannot leave out image to image here";
        return Err(Refusal::wrong(message, "Send false as its second argument."));
    }
    let units = units.into_iter().skip(switches.len());
    let orders = units.map(|unit| detailer(fields, unit, prompt));
    orders.filter_map(Result::transpose).collect()
}

fn detailer(fields: &mut Fields, unit: Value, prompt: &str) -> Result<Option<DetailerOrder>, Refusal> {
    let Value::Object(unit) = unit else { return Ok(None) };
    let mut unit = Fields::of(unit);
    let model = unit.text("ad_model")?.filter(|model| model != "None");
    let (Some(model), true) = (model, unit.flag("ad_tab_enable")?.unwrap_or(true)) else { return Ok(None) };
    let text = |unit: &mut Fields, name: &str| {
        let text = unit.text(name)?.unwrap_or_default();
        match PARTS.iter().find(|part| text.contains(*part)) {
            Some(part) => {
                let message = format!("`{name}` has {part}, and there is one prompt for all boxes here");
                Err(Refusal::wrong(message, "Leave it out."))
            }
            None => Ok(text.replace(PROMPT, prompt)),
        }
    };
    let steps = unit.count("ad_steps")?;
    let largest = unit.count("ad_mask_k_largest")?;
    let most = match unit.count("ad_mask_k")?.or(largest) {
        // As many as are found.
        Some(0) => Some(Detailer::MOST_BOXES),
        most => most,
    };
    let grow = unit.whole("ad_dilate_erode")?;
    if grow.is_some_and(|grow| grow < 0) {
        unit.warnings.push("`ad_dilate_erode` below 0 has no effect here".to_owned());
    }
    let order = DetailerOrder {
        model,
        confidence: unit.number("ad_confidence")?.map(|confidence| confidence as f32),
        most,
        order: match unit.text("ad_mask_filter_method")?.as_deref() {
            Some("Confidence") => Some(BoxOrder::Surest),
            _ => None,
        },
        grow: grow.map(|grow| u32::try_from(grow).unwrap_or_default()),
        blur: unit.count("ad_mask_blur")?,
        padding: unit.count("ad_inpaint_only_masked_padding")?,
        strength: unit.number("ad_denoising_strength")?,
        steps: steps.filter(|_| unit.flag("ad_use_steps").is_ok_and(|uses| uses == Some(true))),
        prompt: text(&mut unit, "ad_prompt")?,
        negative_prompt: text(&mut unit, "ad_negative_prompt")?,
    };
    if unit.flag("ad_inpaint_only_masked")? == Some(false) {
        let message = "`ad_inpaint_only_masked` false is not possible here";
        return Err(Refusal::wrong(message, "Leave it out: each box is inpainted by itself."));
    }
    let sampler = "Boxes have the settings of the image; leave it out.";
    for (name, neutral, advice) in [
        ("ad_model_classes", &[][..], "Use a detector that finds one kind of thing."),
        ("ad_mask_min_ratio", &[], "All boxes count; leave it out."),
        ("ad_mask_max_ratio", &["1"], "All boxes count; leave it out."),
        ("ad_x_offset", &[], "Boxes are not moved; leave it out."),
        ("ad_y_offset", &[], "Boxes are not moved; leave it out."),
        ("ad_mask_merge_invert", &["None"], "Each box is inpainted by itself; leave it out."),
        ("ad_use_inpaint_width_height", &[], "Boxes are inpainted in the size of the image; leave it out."),
        ("ad_use_cfg_scale", &[], sampler),
        ("ad_use_checkpoint", &[], sampler),
        ("ad_use_vae", &[], sampler),
        ("ad_use_sampler", &[], sampler),
        ("ad_use_noise_multiplier", &[], sampler),
        ("ad_use_clip_skip", &[], sampler),
        ("ad_restore_face", &[], "Faces are not restored; leave it out."),
        ("ad_controlnet_model", &["None"], "ControlNets do not act in boxes; leave it out."),
    ] {
        unit.refuse(name, neutral, advice)?;
    }
    // What these say counts only with what was refused.
    unit.ignore(&["ad_inpaint_width", "ad_inpaint_height", "ad_cfg_scale", "ad_checkpoint", "ad_vae"]);
    unit.ignore(&["ad_sampler", "ad_scheduler", "ad_noise_multiplier", "ad_clip_skip", "is_api"]);
    unit.ignore(&["ad_controlnet_module", "ad_controlnet_weight"]);
    unit.ignore(&["ad_controlnet_guidance_start", "ad_controlnet_guidance_end"]);
    fields.warnings.extend(unit.finish().into_iter().map(|warning| format!("ADetailer: {warning}")));
    Ok(Some(order))
}

fn control_net(fields: &mut Fields, unit: Value) -> Result<Option<ControlNetOrder>, Refusal> {
    let Value::Object(unit) = unit else { return Ok(None) };
    let mut unit = Fields::of(unit);
    let model = unit.text("model")?.filter(|model| model != "None");
    let (Some(model), true) = (model, unit.flag("enabled")?.unwrap_or(true)) else { return Ok(None) };
    // The extension takes the image itself or an object with it.
    let image = match unit.take("image").or_else(|| unit.take("input_image")) {
        Some(Value::Object(image)) => image.get("image").and_then(Value::as_str).map(str::to_owned),
        Some(Value::String(image)) => Some(image),
        _ => None,
    };
    let preprocessor = match unit.text("module")?.map(|module| module.to_lowercase()).as_deref() {
        None | Some("none") => Preprocessor::None,
        Some("invert (from white bg & black line)") => Preprocessor::Invert,
        Some(lines) if lines.starts_with("lineart_standard") => Preprocessor::Lineart,
        Some("scribble_xdog") => Preprocessor::Scribble,
        Some("blur_gaussian") => Preprocessor::Blur,
        Some("tile_resample") => Preprocessor::Tile,
        Some("t2ia_color_grid") => Preprocessor::Color,
        Some(inpaint) if inpaint.starts_with("inpaint") => Preprocessor::Inpaint,
        // The extension has several networks for a kind of map; here the map estimator says which.
        Some(depth) if depth.starts_with("depth") => Preprocessor::Depth,
        Some(pose) if pose.starts_with("openpose") || pose.starts_with("dw_openpose") => Preprocessor::Pose,
        Some(segments) if segments.starts_with("seg_") => Preprocessor::Segments,
        Some(edges) if edges.starts_with("softedge") || edges == "hed" => Preprocessor::SoftEdge,
        Some(name) => Preprocessor::ALL.into_iter().find(|known| known.name() == name).ok_or_else(|| {
            let message = format!("there is no preprocessor {name}");
            Refusal::wrong(message, "Use one of /controlnet/module_list, or send a map.")
        })?,
    };
    let image = match image.filter(|image| !image.is_empty()) {
        _ if preprocessor.takes_input() => String::new(),
        Some(image) => image,
        None => {
            let message = format!("the ControlNet {model} has no image");
            return Err(Refusal::wrong(message, "Send one as `image`, in base64."));
        }
    };
    let fit = match unit.take("resize_mode") {
        Some(Value::String(mode)) if mode.starts_with("Just Resize") => Fit::Stretch,
        Some(Value::String(mode)) if mode.starts_with("Resize and Fill") => Fit::Pad,
        Some(Value::Number(mode)) if mode.as_i64() == Some(0) => Fit::Stretch,
        Some(Value::Number(mode)) if mode.as_i64() == Some(2) => Fit::Pad,
        _ => Fit::Crop,
    };
    let net = ControlNetOrder {
        model,
        image: Given(image),
        preprocessor,
        mode: None,
        weight: unit.number("weight")?.map(|weight| weight as f32),
        start: unit.number("guidance_start")?,
        end: unit.number("guidance_end")?,
        fit: Some(fit),
    };
    unit.refuse("mask", &[], "Masks of ControlNets are not possible; leave it out.")?;
    unit.warn(&["control_mode"], &["Balanced"]);
    unit.warn(&["hr_option"], &["Both"]);
    unit.ignore(&["low_vram", "lowvram", "processor_res", "threshold_a", "threshold_b", "pixel_perfect"]);
    unit.ignore(&["save_detected_map", "guidance", "guessmode", "input_mode"]);
    fields.warnings.extend(unit.finish().into_iter().map(|warning| format!("ControlNet: {warning}")));
    Ok(Some(net))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(scripts: Value) -> Result<(Scripts, Vec<String>), Refusal> {
        let json = json!({ "alwayson_scripts": scripts });
        let mut fields = Fields::of(json.as_object().unwrap().clone());
        let scripts = Scripts::of(&mut fields, "a fox")?;
        Ok((scripts, fields.finish()))
    }

    /// What ADetailer's own client sends, with changes.
    fn face(changes: Value) -> Value {
        let text = r#"{
            "ad_model": "face_yolov8n.pt", "ad_model_classes": "", "ad_tab_enable": true, "ad_prompt": "",
            "ad_negative_prompt": "", "ad_confidence": 0.3, "ad_mask_filter_method": "Area", "ad_mask_k": 0,
            "ad_mask_min_ratio": 0.0, "ad_mask_max_ratio": 1.0, "ad_dilate_erode": 4, "ad_x_offset": 0,
            "ad_y_offset": 0, "ad_mask_merge_invert": "None", "ad_mask_blur": 4, "ad_denoising_strength": 0.4,
            "ad_inpaint_only_masked": true, "ad_inpaint_only_masked_padding": 32,
            "ad_use_inpaint_width_height": false, "ad_inpaint_width": 512, "ad_inpaint_height": 512,
            "ad_use_steps": false, "ad_steps": 28, "ad_use_cfg_scale": false, "ad_cfg_scale": 7.0,
            "ad_use_checkpoint": false, "ad_checkpoint": null, "ad_use_vae": false, "ad_vae": null,
            "ad_use_sampler": false, "ad_sampler": "DPM++ 2M Karras", "ad_scheduler": "Use same scheduler",
            "ad_use_noise_multiplier": false, "ad_noise_multiplier": 1.0, "ad_use_clip_skip": false,
            "ad_clip_skip": 1, "ad_restore_face": false, "ad_controlnet_model": "None",
            "ad_controlnet_module": "None", "ad_controlnet_weight": 1.0, "ad_controlnet_guidance_start": 0.0,
            "ad_controlnet_guidance_end": 1.0, "is_api": true
        }"#;
        let mut unit: Value = serde_json::from_str(text).unwrap();
        for (name, value) in changes.as_object().unwrap() {
            unit[name] = value.clone();
        }
        unit
    }

    #[test]
    fn details_are_inpainted_as_the_extension_would() {
        let second = face(json!({
            "ad_model": "hand_yolov8n.pt", "ad_prompt": "[PROMPT], a paw", "ad_mask_filter_method": "Confidence",
            "ad_mask_k": 2, "ad_use_steps": true, "ad_denoising_strength": 0.5, "ad_dilate_erode": -2,
        }));
        let off = face(json!({ "ad_model": "None" }));
        let args = json!([true, false, face(json!({})), second, off]);
        let (scripts, warnings) = read(json!({ "ADetailer": { "args": args } })).unwrap();
        let plain = DetailerOrder {
            model: "face_yolov8n.pt".to_owned(),
            confidence: Some(0.3),
            most: Some(Detailer::MOST_BOXES),
            grow: Some(4),
            blur: Some(4),
            padding: Some(32),
            strength: Some(0.4),
            ..DetailerOrder::default()
        };
        let hand = DetailerOrder {
            model: "hand_yolov8n.pt".to_owned(),
            most: Some(2),
            order: Some(BoxOrder::Surest),
            grow: Some(0),
            strength: Some(0.5),
            steps: Some(28),
            prompt: "a fox, a paw".to_owned(),
            ..plain.clone()
        };
        assert_eq!(scripts.detailers, [plain, hand]);
        assert_eq!(warnings, ["ADetailer: `ad_dilate_erode` below 0 has no effect here"]);
    }

    #[test]
    fn details_that_are_off_or_not_possible_are_told_apart() {
        for off in [
            json!([false, false, face(json!({}))]),
            json!([face(json!({ "ad_tab_enable": false }))]),
            json!([]),
        ] {
            let (scripts, warnings) = read(json!({ "adetailer": { "args": off } })).unwrap();
            assert!(scripts.detailers.is_empty() && warnings.is_empty());
        }
        for (name, value) in [
            ("ad_use_sampler", json!(true)),
            ("ad_mask_min_ratio", json!(0.1)),
            ("ad_mask_merge_invert", json!("Merge")),
            ("ad_inpaint_only_masked", json!(false)),
            ("ad_controlnet_model", json!("tile")),
            ("ad_prompt", json!("one [SEP] two")),
        ] {
            let args = json!([face(json!({ name: value }))]);
            let refusal = read(json!({ "ADetailer": { "args": args } })).unwrap_err();
            assert!(refusal.failure.message.contains(name), "{}", refusal.failure.message);
        }
        let skips = json!({ "ADetailer": { "args": [true, true, face(json!({}))] } });
        assert!(read(skips).is_err());
    }

    #[test]
    fn preprocessors_have_the_names_of_the_extension() {
        for (module, expected) in [
            ("openpose_full", Preprocessor::Pose),
            ("dw_openpose_full", Preprocessor::Pose),
            ("seg_ofade20k", Preprocessor::Segments),
            ("softedge_hed", Preprocessor::SoftEdge),
            ("soft_edge", Preprocessor::SoftEdge),
            ("segments", Preprocessor::Segments),
        ] {
            let unit = json!({ "image": "AAAA", "module": module, "model": "a" });
            let (scripts, _) = read(json!({ "ControlNet": { "args": [unit] } })).unwrap();
            assert_eq!(scripts.control_nets[0].preprocessor, expected, "{module}");
        }
    }

    #[test]
    fn other_extensions_are_refused_and_control_nets_read() {
        assert!(read(json!({ "Regional Prompter": { "args": [false] } })).is_ok());
        let refusal = read(json!({ "Regional Prompter": { "args": [true] } })).unwrap_err();
        assert!(refusal.failure.message.contains("Regional Prompter"));
        let unit = json!({
            "image": "AAAA", "module": "depth_anything_v2", "model": "edges", "weight": 0.5, "resize_mode": "Resize and Fill",
            "guidance_start": 0.0, "guidance_end": 0.8, "control_mode": "Balanced", "enabled": true, "mask": null,
        });
        let units = json!({ "ControlNet": { "args": [unit, { "enabled": false }] } });
        let (scripts, warnings) = read(units).unwrap();
        let [net] = &scripts.control_nets[..] else { panic!("{:?}", scripts.control_nets) };
        assert_eq!((net.preprocessor, net.fit, net.end), (Preprocessor::Depth, Some(Fit::Pad), Some(0.8)));
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}
