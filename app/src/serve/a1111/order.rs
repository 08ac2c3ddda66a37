//! The order that a request for `/txt2img` or `/img2img` is.

use serde_json::{Map, Value};
use sluice_engine::{
    output::StillFormat,
    request::{Fit, Variation},
};

use super::{fields::Fields, scripts::Scripts};
use crate::{
    orders::{Given, HiresOrder, MaskOrder, Order, RefinerOrder},
    seed::random_seed,
    serve::{Refusal, own::format_of},
};

/// Names that clients have for leaving a choice of the second pass as it is.
const THE_SAME: [&str; 4] = ["Use same checkpoint", "Use same sampler", "Use same scheduler", "None"];

/// A request of this interface.
#[derive(Debug)]
pub struct Asked {
    /// What is generated.
    pub order: Order,
    /// How many times, with further seeds.
    pub rounds: u32,
    /// Whether images are part of the answer.
    pub sends: bool,
    /// Whether files are kept.
    pub keeps: bool,
    /// The format of the images.
    pub format: StillFormat,
    /// Whether the model of `override_settings` stays chosen.
    pub stays: bool,
    /// What had no effect.
    pub warnings: Vec<String>,
}

impl Asked {
    /// Reads text to image.
    ///
    /// # Errors
    /// When something is asked for that is not possible here and would change the image.
    pub fn text(all: Map<String, Value>) -> Result<Self, Refusal> {
        let mut fields = Fields::of(all);
        let strength = fields.number("denoising_strength")?;
        let mut asked = Self::common(&mut fields)?;
        asked.order.hires = hires(&mut fields, &asked.order, strength)?;
        Ok(Self { warnings: fields.finish(), ..asked })
    }

    /// Reads image to image, and inpainting.
    ///
    /// # Errors
    /// When something is asked for that is not possible here and would change the image.
    pub fn image(all: Map<String, Value>) -> Result<Self, Refusal> {
        let mut fields = Fields::of(all);
        let mut asked = Self::common(&mut fields)?;
        let mut images = fields.texts("init_images")?.into_iter();
        let Some(image) = images.next() else {
            return Err(Refusal::wrong("there is no input image", "Send one in `init_images`, in base64."));
        };
        if images.next().is_some() {
            return Err(Refusal::wrong("there are several input images", "Send one in each request."));
        }
        asked.order.image = Some(Given(image));
        asked.order.strength = Some(fields.number("denoising_strength")?.unwrap_or(0.75));
        asked.order.fit = Some(match fields.whole("resize_mode")?.unwrap_or(0) {
            0 => Fit::Stretch,
            1 => Fit::Crop,
            2 => Fit::Pad,
            other => {
                let message = format!("`resize_mode` {other} is not possible here");
                return Err(Refusal::wrong(message, "Use 0 to stretch, 1 to crop or 2 to fill."));
            }
        });
        asked.order.mask = mask(&mut fields)?;
        fields.refuse("latent_mask", &[], "Send the mask as `mask`.")?;
        fields.warn(&["initial_noise_multiplier"], &["1"]);
        // It is of models that follow instructions, for which there is one guidance here.
        fields.ignore(&["image_cfg_scale", "include_init_images"]);
        Ok(Self { warnings: fields.finish(), ..asked })
    }

    fn common(fields: &mut Fields) -> Result<Self, Refusal> {
        let settings = fields.object("override_settings")?;
        let (model, clip_skip, format) = overridden(fields, settings)?;
        let sampler = fields.text("sampler_name")?;
        let index = fields.text("sampler_index")?;
        let guidance = guidance(fields)?;
        let seed = fields.whole("seed")?.and_then(|seed| u64::try_from(seed).ok());
        let subseed = fields.whole("subseed")?.and_then(|seed| u64::try_from(seed).ok());
        let variation = fields.number("subseed_strength")?.filter(|strength| *strength != 0.0);
        let refiner = fields.text("refiner_checkpoint")?.filter(|name| name != "None");
        let switch = fields.number("refiner_switch_at")?;
        let prompt = fields.text("prompt")?.unwrap_or_default();
        let Scripts { control_nets, detailers } = Scripts::of(fields, &prompt)?;
        let order = Order {
            model,
            prompt,
            negative_prompt: fields.text("negative_prompt")?,
            styles: fields.texts("styles")?,
            width: fields.count("width")?,
            height: fields.count("height")?,
            steps: fields.count("steps")?,
            guidance,
            seed,
            variation: variation.map(|strength| Variation {
                seed: subseed.unwrap_or_else(random_seed),
                strength: strength as f32,
            }),
            batch_size: fields.count("batch_size")?,
            sampler: sampler.or(index),
            schedule: fields.text("scheduler")?,
            clip_skip,
            control_nets,
            detailers,
            refiner: refiner.map(|model| RefinerOrder { model, switch }),
            ..Order::default()
        };
        fields.refuse("restore_faces", &[], "Faces are not restored; leave it out.")?;
        fields.refuse("tiling", &[], "Images that tile are not possible; leave it out.")?;
        fields.refuse("script_name", &["None"], "Scripts do not run here; leave it out.")?;
        fields.refuse("firstpass_image", &[], "Send it to /img2img instead.")?;
        fields.refuse("infotext", &[], "Send its settings as fields.")?;
        fields.refuse("disable_extra_networks", &[], "Remove `<lora:…>` from the prompt instead.")?;
        fields.refuse("seed_resize_from_h", &["-1"], "Leave it out.")?;
        fields.refuse("seed_resize_from_w", &["-1"], "Leave it out.")?;
        fields.warn(&["eta", "s_churn", "s_tmin", "s_tmax", "s_noise", "s_min_uncond"], &["1"]);
        let sends = fields.flag("send_images")?.unwrap_or(true);
        let keeps = fields.flag("save_images")?.unwrap_or(false);
        let stays = !fields.flag("override_settings_restore_afterwards")?.unwrap_or(true);
        let rounds = fields.count("n_iter")?.unwrap_or(1);
        if !(1..=256).contains(&rounds) {
            return Err(Refusal::wrong(format!("`n_iter` {rounds} is not valid"), "Use 1 to 256."));
        }
        let told = ["do_not_save_samples", "do_not_save_grid", "script_args", "comments", "force_task_id"];
        fields.ignore(&told);
        Ok(Self { order, rounds, sends, keeps, format, stays, warnings: Vec::new() })
    }
}

/// Forge has a guidance of its own for models that take it as an input, and leaves the other one at 1.
fn guidance(fields: &mut Fields) -> Result<Option<f32>, Refusal> {
    let scale = fields.number("cfg_scale")?;
    let distilled = fields.number("distilled_cfg_scale")?;
    Ok(match (scale, distilled) {
        (Some(1.0) | None, Some(distilled)) => Some(distilled as f32),
        (scale, None) => scale.map(|scale| scale as f32),
        (Some(scale), Some(_)) => {
            let which = "`distilled_cfg_scale` has no effect beside a `cfg_scale` other than 1";
            fields.warnings.push(which.to_owned());
            Some(scale as f32)
        }
    })
}

/// The model, the clip skip and the format of `override_settings`.
fn overridden(
    fields: &mut Fields,
    settings: Map<String, Value>,
) -> Result<(Option<String>, Option<u32>, StillFormat), Refusal> {
    let mut settings = Fields::of(settings);
    let model = settings.text("sd_model_checkpoint")?;
    let clip_skip = settings.count("CLIP_stop_at_last_layers")?;
    let format =
        settings.text("samples_format")?.map_or(Ok(StillFormat::default()), |name| format_of(&name))?;
    settings.refuse(
        "sd_vae",
        &["Automatic", "None"],
        "Autoencoders are found beside the model; leave it out.",
    )?;
    let warnings = settings.finish().into_iter();
    fields.warnings.extend(warnings.map(|warning| format!("override_settings: {warning}")));
    Ok((model, clip_skip, format))
}

fn hires(fields: &mut Fields, order: &Order, strength: Option<f64>) -> Result<Option<HiresOrder>, Refusal> {
    const ALL: [&str; 11] = [
        "hr_scale",
        "hr_upscaler",
        "hr_second_pass_steps",
        "hr_resize_x",
        "hr_resize_y",
        "hr_checkpoint_name",
        "hr_sampler_name",
        "hr_scheduler",
        "hr_prompt",
        "hr_negative_prompt",
        "hr_cfg",
    ];
    fields.refuse("firstphase_width", &[], "Use `hr_scale`.")?;
    fields.refuse("firstphase_height", &[], "Use `hr_scale`.")?;
    if !fields.flag("enable_hr")?.unwrap_or(false) {
        // As in A1111, they mean nothing then.
        fields.ignore(&ALL);
        return Ok(None);
    }
    for name in ["hr_checkpoint_name", "hr_sampler_name", "hr_scheduler", "hr_prompt", "hr_negative_prompt"] {
        fields.refuse(name, &THE_SAME, "The second pass has the settings of the first; leave it out.")?;
    }
    fields.warn(&["hr_cfg"], &["1"]);
    let scale = fields.number("hr_scale")?;
    let sides = [(fields.count("hr_resize_x")?, order.width), (fields.count("hr_resize_y")?, order.height)];
    let sides = sides.map(|(larger, side)| match (larger, side) {
        (None | Some(0), _) => Ok(None),
        (Some(larger), Some(side @ 1..)) => Ok(Some(f64::from(larger) / f64::from(side))),
        (Some(_), _) => Err(Refusal::wrong("`hr_resize_x` needs a size", "Send `width` and `height`, too.")),
    });
    let scale = match sides {
        [Err(refusal), _] | [_, Err(refusal)] => return Err(refusal),
        [Ok(Some(x)), Ok(Some(y))] if (x - y).abs() > 0.01 => {
            let message = "`hr_resize_x` and `hr_resize_y` change the aspect ratio";
            return Err(Refusal::wrong(message, "Use `hr_scale`, or the same factor for both."));
        }
        [Ok(Some(one)), _] | [_, Ok(Some(one))] => Some(one),
        [Ok(None), Ok(None)] => scale,
    };
    let upscaler = fields.text("hr_upscaler")?;
    let is_latent = |name: &String| name.starts_with("Latent");
    if let Some(name) = upscaler.as_ref().filter(|name| is_latent(name) && *name != "Latent") {
        fields.warnings.push(format!("`hr_upscaler` {name}: latents are enlarged bilinearly, as by Latent"));
    }
    let upscaler = upscaler.map(|name| if is_latent(&name) { "latent".to_owned() } else { name });
    Ok(Some(HiresOrder {
        scale: scale.map(|scale| scale as f32),
        strength,
        steps: fields.count("hr_second_pass_steps")?.filter(|steps| *steps > 0),
        upscaler,
    }))
}

fn mask(fields: &mut Fields) -> Result<Option<MaskOrder>, Refusal> {
    let image = fields.text("mask")?;
    let blur = fields.count("mask_blur")?;
    let sides = [fields.count("mask_blur_x")?, fields.count("mask_blur_y")?];
    let only_masked = fields.flag("inpaint_full_res")?.unwrap_or(true);
    let padding = fields.count("inpaint_full_res_padding")?.unwrap_or(0);
    let inverted = fields.flag("inpainting_mask_invert")?.unwrap_or(false);
    let content = fields.whole("inpainting_fill")?.unwrap_or(1);
    let Some(image) = image else { return Ok(None) };
    if content != 1 {
        let warning = "has no effect here: the masked area starts from the input image, as with 1";
        fields.warnings.push(format!("`inpainting_fill` {content} {warning}"));
    }
    if let [Some(x), Some(y)] = sides
        && x != y
    {
        fields.warnings.push("`mask_blur_y` has no effect here: `mask_blur_x` counts for both".to_owned());
    }
    Ok(Some(MaskOrder {
        image: Given(image),
        blur: blur.or(sides[0]).or(sides[1]),
        only_masked: only_masked.then_some(padding),
        inverted,
        transparent: false,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(json: Value) -> Result<Asked, Refusal> {
        Asked::text(json.as_object().unwrap().clone())
    }

    fn image(json: Value) -> Result<Asked, Refusal> {
        Asked::image(json.as_object().unwrap().clone())
    }

    /// What the client `webuiapi` sends.
    fn usual() -> Value {
        let text = r#"{
            "enable_hr": false, "hr_scale": 2, "hr_upscaler": "Latent", "hr_second_pass_steps": 0,
            "hr_resize_x": 0, "hr_resize_y": 0, "hr_checkpoint_name": null, "hr_prompt": "",
            "denoising_strength": 0.7, "firstphase_width": 0, "firstphase_height": 0, "prompt": "a fox",
            "styles": [], "seed": -1, "subseed": -1, "subseed_strength": 0.0, "seed_resize_from_h": 0,
            "batch_size": 1, "n_iter": 1, "steps": 20, "cfg_scale": 7.0, "width": 512, "height": 512,
            "restore_faces": false, "tiling": false, "do_not_save_samples": false, "eta": 1.0, "s_churn": 0,
            "s_tmax": 0, "s_tmin": 0, "s_noise": 1, "override_settings": {},
            "override_settings_restore_afterwards": true, "sampler_name": "Euler a", "scheduler": "automatic",
            "sampler_index": "Euler a", "script_name": null, "script_args": [], "send_images": true,
            "save_images": false, "alwayson_scripts": {}, "negative_prompt": ""
        }"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_a_client_sends_by_default_is_understood_without_warnings() {
        let asked = text(usual()).unwrap();
        assert_eq!(asked.warnings, Vec::<String>::new());
        let expected = Order {
            prompt: "a fox".to_owned(),
            steps: Some(20),
            guidance: Some(7.0),
            width: Some(512),
            height: Some(512),
            batch_size: Some(1),
            sampler: Some("Euler a".to_owned()),
            schedule: Some("automatic".to_owned()),
            ..Order::default()
        };
        assert_eq!(asked.order, expected);
        assert!(asked.sends && !asked.keeps && !asked.stays);
    }

    #[test]
    fn hires_fix_needs_no_scale_of_its_own_where_a_size_is_given() {
        let mut json = usual();
        json["enable_hr"] = json!(true);
        json["hr_upscaler"] = json!("Latent (nearest-exact)");
        json["hr_resize_x"] = json!(768);
        let asked = text(json.clone()).unwrap();
        let hires = HiresOrder {
            scale: Some(1.5),
            strength: Some(0.7),
            steps: None,
            upscaler: Some("latent".to_owned()),
        };
        assert_eq!(asked.order.hires, Some(hires));
        assert!(asked.warnings[0].contains("Latent (nearest-exact)"), "{:?}", asked.warnings);
        json["hr_resize_y"] = json!(512);
        assert!(text(json.clone()).unwrap_err().failure.message.contains("aspect ratio"));
        json["hr_resize_y"] = json!(0);
        json["hr_prompt"] = json!("a wolf");
        assert!(text(json).is_err());
    }

    #[test]
    fn masks_and_models_are_read() {
        let asked = image(json!({
            "init_images": ["AAAA"], "mask": "BBBB", "mask_blur": 8, "inpainting_mask_invert": 1,
            "inpaint_full_res": false, "inpainting_fill": 2, "resize_mode": 1, "denoising_strength": 0.4,
            "override_settings": {
                "sd_model_checkpoint": "a.safetensors [0123]", "CLIP_stop_at_last_layers": 2, "wibble": 7,
            },
        }))
        .unwrap();
        let mask = MaskOrder {
            image: Given("BBBB".to_owned()),
            blur: Some(8),
            inverted: true,
            ..MaskOrder::default()
        };
        let expected = Order {
            model: Some("a.safetensors [0123]".to_owned()),
            clip_skip: Some(2),
            image: Some(Given("AAAA".to_owned())),
            strength: Some(0.4),
            fit: Some(Fit::Crop),
            mask: Some(mask),
            ..Order::default()
        };
        assert_eq!(asked.order, expected);
        assert_eq!(asked.warnings.len(), 2, "{:?}", asked.warnings);
        assert!(image(json!({ "init_images": [] })).is_err());
        assert!(image(json!({ "init_images": ["a", "b"] })).is_err());
    }
}
