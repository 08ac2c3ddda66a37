//! The schema of an order: the arguments of `generate_image` and `forecast`.

use serde_json::{Map, Value, json};
use sluice_engine::request::{BoxOrder, ControlMode, Fit, Preprocessor};

use super::schema::{CLIP, described_as, flag, list, number, object, one_of, picture, text, whole};

const START: &str = "The fraction of the steps before which it has no effect; 0 if absent";
const END: &str = "The fraction of the steps after which it has no effect; 1 if absent";

/// The fields of an order.
pub(super) fn fields() -> Value {
    let groups = [basics(), sampling(), pictures(), regions(), steering(), after()];
    let groups = groups.into_iter().filter_map(|group| match group {
        Value::Object(fields) => Some(fields),
        _ => None,
    });
    Value::Object(groups.flatten().collect::<Map<String, Value>>())
}

/// What to generate, and with what.
fn basics() -> Value {
    json!({
        "prompt": text("Describes the image"),
        "negative_prompt": text("What to avoid in the image"),
        "styles": list("Styles, which add to the prompts, by their names from list_models", &json!({ "type": "string" })),
        "model": text("A name from list_models; if absent, its default"),
        "loras": list("LoRAs by their names from list_models", &object(json!({
            "name": { "type": "string" },
            "weight": number("How strongly it counts; as it is made for if absent"),
        }), &["name"])),
        "refiner": described_as("A second model for the last steps, such as the refiner of Stable Diffusion XL", object(json!({
            "model": text("A name from list_models"),
            "switch": number("The fraction of the noise schedule at which it takes over; 0.8 if absent"),
        }), &["model"])),
        "width": whole(1, "Pixels; if absent, the model's usual width"),
        "height": whole(1, "Pixels; if absent, the model's usual height"),
        "frames": whole(1, "Frames of a clip, with models for clips"),
        "fps": number("Frames per second of a clip"),
        "batch_size": whole(1, "How many images, with the next seeds"),
    })
}

/// How it is sampled.
fn sampling() -> Value {
    json!({
        "steps": whole(1, "Denoising steps; if absent, the model's usual number"),
        "sampler": text("A sampling method, such as Euler a"),
        "schedule": text("A noise schedule, such as Karras; if absent, the model's own"),
        "shift": number("The shift of the noise levels towards noise, with models trained with flow matching"),
        "seed": whole(0, "The same seed gives the same image; random if absent"),
        "variation": described_as("Turns the noise of the seed towards that of another one", object(json!({
            "seed": whole(0, "The other seed"),
            "strength": number("How far, from 0 to 1"),
        }), &["seed", "strength"])),
        "guidance": number("How strongly to follow the prompt (CFG scale)"),
        "guidance_rescale": number("Reduces the harsh colours of strong guidance, from 0 to 1"),
        "guidance_start": number("The fraction of the steps before which there is no guidance; 0 if absent"),
        "guidance_end": number("The fraction of the steps after which there is no guidance; 1 if absent"),
        "true_cfg": number(
            "CFG scale with the negative prompt for models that are distilled for guidance, such as FLUX.1; above 1 each step \
             takes twice the time"
        ),
        "step_cache": number("Reuses predictions that differ less than this, such as 0.1: faster, and changes the image a little"),
        "clip_skip": whole(1, "The layer of CLIP that is used, counted from the end"),
    })
}

/// Images to change, and images to edit.
fn pictures() -> Value {
    json!({
        "image": picture("The input image, to change it"),
        "strength": number("Denoising strength from 0 to 1: the higher, the more the input image changes"),
        "fit": fit(),
        "mask": described_as("What of the input image is replaced", object(json!({
            "image": picture("White where the input image is replaced"),
            "blur": whole(0, "Pixels over which it fades"),
            "only_masked": whole(0, "Generate the masked area and this many pixels around it alone, in the full size"),
            "inverted": flag("Whether black and white change places"),
            "transparent": flag("Whether transparent pixels are replaced, not white ones"),
        }), &["image"])),
        "outpaint": described_as("Pixels that are added around the input image and generated", object(json!({
            "left": whole(0, "Pixels on the left"),
            "top": whole(0, "Pixels above"),
            "right": whole(0, "Pixels on the right"),
            "bottom": whole(0, "Pixels below"),
            "feather": whole(0, "Pixels over which the image fades"),
        }), &[])),
        "references": list("More images, for models that edit several", &picture("An image")),
    })
}

/// Parts of the image with prompts of their own.
fn regions() -> Value {
    json!({
        "regions": list("Parts of the image with prompts of their own, which add to the time of each step", &object(json!({
            "prompt": text("Describes what is in it"),
            "box": {
                "type": "array", "items": { "type": "number" }, "minItems": 4, "maxItems": 4,
                "description": "Left, top, width and height as parts of the image, such as [0, 0, 0.5, 1] for its left half",
            },
            "mask": picture("In place of a box: white where the region is"),
            "weight": number("How strongly it counts where regions overlap; 1 if absent"),
        }), &["prompt"])),
        "region_base": number("How much the prompt of the image counts inside of regions, from 0 to 1; 0.2 if absent"),
        "region_fade": number(
            "The part of the shorter side over which regions fade in at their edges, from 0 to 0.5; 0.05 if absent"
        ),
    })
}

/// What steers the image beside the prompt.
fn steering() -> Value {
    let for_clips: Vec<Preprocessor> = Preprocessor::of_clips().collect();
    json!({
        "control_nets": list("ControlNets, which follow the edges, depths or poses of images", &object(json!({
            "model": text("A name from list_models"),
            "image": picture("The image that it follows; not with inpaint, which takes the input image"),
            "preprocessor": one_of("What is made of it first; none if it is a map already", &Preprocessor::ALL),
            "mode": one_of("The kind of the map, for ControlNets that follow several", &ControlMode::ALL),
            "weight": number("How strongly it counts; 1 if absent"),
            "start": number(START),
            "end": number(END),
            "fit": fit(),
        }), &["model"])),
        "control": described_as("What controls a clip, with models for that (Wan VACE)", object(json!({
            "video": text(&format!("The controlling clip. {CLIP}.")),
            "range": described_as("The frames of it to use", object(json!({
                "start": whole(0, "The first frame, counted from 0"),
                "end": whole(1, "The frame after the last one; all frames if absent"),
            }), &[])),
            "preprocessor": one_of("What is made of each frame first; none if it is a map already", &for_clips),
            "mask": text("What of the clip is generated: white in this image or clip"),
            "strength": number("How strongly it controls; 1 if absent"),
            "start": number(START),
            "end": number(END),
            "fit": fit(),
        }), &[])),
        "image_prompts": list("Images that say what the result is like, through IP-Adapters", &object(json!({
            "adapter": text("A name from list_models"),
            "images": list("The images", &picture("An image")),
            "weight": number("How strongly they count; 1 if absent"),
            "start": number(START),
            "end": number(END),
        }), &["adapter", "images"])),
        "depth_model": text(&estimator("depth")),
        "pose_model": text(&estimator("pose")),
        "segment_model": text(&estimator("segments")),
        "soft_edge_model": text(&estimator("soft_edge")),
    })
}

/// What is done after the image was made.
fn after() -> Value {
    json!({
        "hires": described_as("A second pass in a larger size (hires fix)", object(json!({
            "scale": number("How many times as wide and as high the result is"),
            "strength": number("Denoising strength of the second pass, from 0 to 1"),
            "steps": whole(1, "Denoising steps of the second pass; as many as in the first one if absent"),
            "upscaler": text("A name from list_models, or latent"),
        }), &[])),
        "detailers": list("What is found in the image and inpainted again, such as faces", &object(json!({
            "model": text("The name of a detector from list_models"),
            "confidence": number("How sure it must be, from 0 to 1"),
            "most": whole(1, "The most that are inpainted"),
            "order": one_of("Which come first", &BoxOrder::ALL),
            "grow": whole(0, "Pixels by which what is found grows"),
            "blur": whole(0, "Pixels over which what is inpainted fades"),
            "padding": whole(0, "Pixels around it that the model sees"),
            "strength": number("Denoising strength from 0 to 1"),
            "steps": whole(1, "Denoising steps; as many as for the image if absent"),
            "prompt": text("Describes what is found; if absent, the prompt"),
            "negative_prompt": text("What to avoid there"),
        }), &["model"])),
    })
}

fn estimator(preprocessor: &str) -> String {
    format!(
        "The model for the preprocessor {preprocessor}: a name from list_models; if absent, the first one"
    )
}

fn fit() -> Value {
    one_of("How it is fitted to the size", &Fit::ALL)
}

#[cfg(test)]
pub(super) mod tests {
    use serde::{Serialize, de::DeserializeOwned};
    use sluice_engine::request::{FrameRange, Variation};

    use super::*;
    use crate::orders::{
        ControlNetOrder, ControlOrder, DetailerOrder, HiresOrder, ImagePromptOrder, LoraOrder, MaskOrder,
        Order, OutpaintOrder, RefinerOrder, RegionOrder,
    };

    /// The fields of an order, by what is said about one that is unknown.
    pub(in crate::serve::mcp) fn taken<T: DeserializeOwned>() -> Vec<String> {
        let Err(error) = serde_json::from_value::<T>(json!({ "unknown-field": 1 })) else {
            panic!("fields that are unknown are refused")
        };
        let mut names: Vec<String> =
            error.to_string().split('`').skip(3).step_by(2).map(str::to_owned).collect();
        names.sort();
        names
    }

    pub(in crate::serve::mcp) fn names(properties: &Value) -> Vec<String> {
        let mut names: Vec<String> = properties.as_object().unwrap().keys().cloned().collect();
        names.sort();
        names
    }

    fn written(what: &impl Serialize) -> Vec<String> {
        names(&json!(what))
    }

    #[test]
    fn the_schema_has_the_fields_of_the_orders() {
        let fields = fields();
        assert_eq!(names(&fields), taken::<Order>());
        for (list, expected) in [
            ("loras", taken::<LoraOrder>()),
            ("regions", taken::<RegionOrder>()),
            ("control_nets", taken::<ControlNetOrder>()),
            ("image_prompts", taken::<ImagePromptOrder>()),
            ("detailers", taken::<DetailerOrder>()),
        ] {
            assert_eq!(names(&fields[list]["items"]["properties"]), expected, "{list}");
        }
        for (object, expected) in [
            ("refiner", taken::<RefinerOrder>()),
            ("variation", written(&Variation { seed: 0, strength: 0.0 })),
            ("mask", taken::<MaskOrder>()),
            ("outpaint", taken::<OutpaintOrder>()),
            ("control", taken::<ControlOrder>()),
            ("hires", taken::<HiresOrder>()),
        ] {
            assert_eq!(names(&fields[object]["properties"]), expected, "{object}");
        }
        let range = &fields["control"]["properties"]["range"]["properties"];
        assert_eq!(names(range), written(&FrameRange::default()));
    }
}
