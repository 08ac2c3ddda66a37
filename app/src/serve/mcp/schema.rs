//! The tools as they are described to a client, with the schemas of their arguments.

use rmcp::model::{JsonObject, Tool};
use serde::Serialize;
use serde_json::{Value, json};
use sluice_engine::request::{BoxOrder, ControlMode, Fit, Preprocessor};

use super::{DESCRIBE, FORECAST, GENERATE, MAP, MODELS, UPSCALE};
use crate::{enhancing::descriptions, mapping::MAKERS};

const PICTURE: &str = "The path of a PNG, JPEG or WebP file, or its bytes in base64";
const CLIP: &str = "The path of an MP4 file, or its bytes in base64";

/// All tools.
pub(super) fn tools() -> Vec<Tool> {
    let wanted = wanted();
    vec![
        tool(
            GENERATE,
            "Generate images from a text, or change an image; or a clip, with models for clips. Answers with the images and \
             the paths of their files.",
            wanted.clone(),
            &["prompt"],
        ),
        tool(
            FORECAST,
            "Predict the memory and the time that generate_image would take with the same arguments, and whether it fits. \
             Nothing is computed.",
            wanted,
            &[],
        ),
        tool(
            MODELS,
            "List what is on this computer: models, LoRAs, ControlNets, IP-Adapters, detectors, upscalers, styles, and models \
             for maps and descriptions.",
            json!({}),
            &[],
        ),
        tool(
            UPSCALE,
            "Enlarge an image. Answers with the image and the path of its file.",
            json!({
                "image": picture("The image to enlarge"),
                "scale": { "type": "number", "minimum": 1, "maximum": 4, "description": "How many times as wide and as high; 2 if absent" },
                "upscaler": text("A name from list_models; if absent, the one that comes with Sluice"),
            }),
            &["image"],
        ),
        tool(
            MAP,
            "Make the map of an image that ControlNets follow, such as edges, depths or a pose; or of each frame of a clip. \
             Answers with the map and the path of its file.",
            json!({
                "image": text(&format!("The image or the clip. {PICTURE}; or of an MP4 file.")),
                "preprocessor": one_of("What the map shows", &MAKERS),
                "model": text("For depth, pose, segments and soft_edge a name from list_models; if absent, the first one"),
            }),
            &["image", "preprocessor"],
        ),
        tool(
            DESCRIBE,
            "Describe what images show, with a language model that sees. Answers with a text.",
            json!({
                "images": list("The images, which are described together", &picture("An image")),
                "instruction": text(&format!("What to write: {}, or what the language model is told", instructions())),
                "model": text("A name from the describers of list_models; if absent, the usual one"),
                "seed": { "type": "integer", "minimum": 0, "description": "The same seed gives the same words; random if absent" },
            }),
            &["images"],
        ),
    ]
}

/// The names of the instructions for descriptions.
fn instructions() -> String {
    descriptions().iter().map(|known| known.id.as_str()).collect::<Vec<_>>().join(", ")
}

/// The arguments of `generate_image` and `forecast`.
fn wanted() -> Value {
    let mut wanted = json!({
        "prompt": text("Describes the image"),
        "negative_prompt": text("What to avoid in the image"),
        "model": text("A name from list_models; if absent, its default"),
        "width": { "type": "integer", "description": "Pixels; if absent, the model's usual width" },
        "height": { "type": "integer", "description": "Pixels; if absent, the model's usual height" },
        "frames": { "type": "integer", "minimum": 1, "description": "Frames of a clip, with models for clips" },
        "fps": { "type": "number", "description": "Frames per second of a clip" },
        "steps": { "type": "integer", "description": "Denoising steps; if absent, the model's usual number" },
        "guidance": { "type": "number", "description": "How strongly to follow the prompt (CFG scale)" },
        "seed": { "type": "integer", "minimum": 0, "description": "The same seed gives the same image; random if absent" },
        "count": { "type": "integer", "minimum": 1, "description": "How many images, with the next seeds" },
        "sampler": text("A sampling method, such as Euler a"),
        "loras": list("LoRAs by their names from list_models", &object(json!({
            "name": { "type": "string" },
            "weight": { "type": "number" },
        }), &["name"])),
        "image": picture("The input image, to change it"),
        "strength": { "type": "number", "description": "Denoising strength from 0 to 1: the higher, the more the input image changes" },
        "mask": picture("What of the input image is replaced: white in this image"),
        "outpaint": described_as("Pixels that are added around the input image and generated", object(json!({
            "left": { "type": "integer", "minimum": 0 },
            "top": { "type": "integer", "minimum": 0 },
            "right": { "type": "integer", "minimum": 0 },
            "bottom": { "type": "integer", "minimum": 0 },
            "feather": { "type": "integer", "minimum": 0, "description": "Pixels over which the image fades" },
        }), &[])),
        "references": list("More images, for models that edit several", &json!({ "type": "string" })),
    });
    if let (Value::Object(all), Value::Object(steering)) = (&mut wanted, steering()) {
        all.extend(steering);
    }
    wanted
}

/// What steers an image beside the prompt, and what is done after it was made.
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
                "start": { "type": "integer", "minimum": 0 },
                "end": { "type": "integer", "minimum": 1 },
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
        "hires": described_as("A second pass in a larger size (hires fix)", object(json!({
            "scale": number("How many times as wide and as high the result is"),
            "strength": number("Denoising strength of the second pass, from 0 to 1"),
            "steps": { "type": "integer", "minimum": 1 },
            "upscaler": text("A name from list_models, or latent"),
        }), &[])),
        "detailers": list("What is found in the image and inpainted again, such as faces", &object(json!({
            "model": text("The name of a detector from list_models"),
            "confidence": number("How sure it must be, from 0 to 1"),
            "most": { "type": "integer", "minimum": 1, "description": "The most that are inpainted" },
            "order": one_of("Which come first", &BoxOrder::ALL),
            "grow": { "type": "integer", "description": "Pixels by which what is found grows" },
            "blur": { "type": "integer", "minimum": 0 },
            "padding": { "type": "integer", "minimum": 0, "description": "Pixels around it that the model sees" },
            "strength": number("Denoising strength from 0 to 1"),
            "steps": { "type": "integer", "minimum": 1 },
            "prompt": text("Describes what is found; if absent, the prompt"),
            "negative_prompt": text("What to avoid there"),
        }), &["model"])),
        "depth_model": text(&estimator("depth")),
        "pose_model": text(&estimator("pose")),
        "segment_model": text(&estimator("segments")),
        "soft_edge_model": text(&estimator("soft_edge")),
    })
}

const START: &str = "The fraction of the steps before which it has no effect; 0 if absent";
const END: &str = "The fraction of the steps after which it has no effect; 1 if absent";

fn estimator(preprocessor: &str) -> String {
    format!(
        "The model for the preprocessor {preprocessor}: a name from list_models; if absent, the first one"
    )
}

fn fit() -> Value {
    one_of("How it is fitted to the size", &Fit::ALL)
}

fn text(what: &str) -> Value {
    json!({ "type": "string", "description": what })
}

fn number(what: &str) -> Value {
    json!({ "type": "number", "description": what })
}

fn picture(what: &str) -> Value {
    text(&format!("{what}. {PICTURE}."))
}

fn one_of(what: &str, all: &impl Serialize) -> Value {
    json!({ "type": "string", "enum": all, "description": what })
}

fn list(what: &str, items: &Value) -> Value {
    json!({ "type": "array", "description": what, "items": items })
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn described_as(what: &str, mut schema: Value) -> Value {
    schema["description"] = what.into();
    schema
}

fn tool(name: &'static str, what: &'static str, properties: Value, required: &[&str]) -> Tool {
    let schema: JsonObject = object(properties, required).as_object().cloned().unwrap_or_default();
    Tool::new(name, what, schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::{ControlNetOrder, ControlOrder, DetailerOrder, HiresOrder, ImagePromptOrder};

    /// The fields of an order, by what is said about one that is unknown.
    fn fields<T: serde::de::DeserializeOwned>() -> Vec<String> {
        let Err(error) = serde_json::from_value::<T>(json!({ "unknown-field": 1 })) else {
            panic!("fields that are unknown are refused")
        };
        let mut names: Vec<String> =
            error.to_string().split('`').skip(3).step_by(2).map(str::to_owned).collect();
        names.sort();
        names
    }

    #[test]
    fn the_schemas_have_the_fields_of_the_orders() {
        let steering = steering();
        let properties = |schema: &Value| -> Vec<String> {
            let mut names: Vec<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
            names.sort();
            names
        };
        for (name, expected) in [
            ("control_nets", fields::<ControlNetOrder>()),
            ("image_prompts", fields::<ImagePromptOrder>()),
            ("detailers", fields::<DetailerOrder>()),
        ] {
            assert_eq!(properties(&steering[name]["items"]), expected, "{name}");
        }
        for (name, expected) in [("control", fields::<ControlOrder>()), ("hires", fields::<HiresOrder>())] {
            assert_eq!(properties(&steering[name]), expected, "{name}");
        }
        for (tool, expected) in tools().iter().zip([true, false, false, true, true, true]) {
            let required = tool.input_schema.get("required").and_then(Value::as_array).unwrap();
            assert_eq!(!required.is_empty(), expected, "{}", tool.name);
        }
        let all = properties(&object(wanted(), &[]));
        assert_eq!(all, fields::<super::super::Wanted>());
    }
}
