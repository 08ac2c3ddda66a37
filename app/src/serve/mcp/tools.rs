//! The tools as they are described to a client.

use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

use super::{
    DESCRIBE, FORECAST, GENERATE, MAP, MODELS, UPSCALE, order,
    schema::{PICTURE, list, object, one_of, picture, text, whole},
};
use crate::{enhancing::descriptions, mapping::MAKERS};

/// All tools.
pub(super) fn tools() -> Vec<Tool> {
    let order = order::fields();
    vec![
        tool(
            GENERATE,
            "Generate images from a text, or change an image; or a clip, with models for clips. Answers with the images and \
             the paths of their files.",
            order.clone(),
            &["prompt"],
        ),
        tool(
            FORECAST,
            "Predict the memory and the time that generate_image would take with the same arguments, and whether it fits. \
             Nothing is computed.",
            order,
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
                "seed": whole(0, "The same seed gives the same words; random if absent"),
            }),
            &["images"],
        ),
    ]
}

/// The names of the instructions for descriptions.
fn instructions() -> String {
    descriptions().iter().map(|known| known.id.as_str()).collect::<Vec<_>>().join(", ")
}

fn tool(name: &'static str, what: &'static str, properties: Value, required: &[&str]) -> Tool {
    let schema: JsonObject = object(properties, required).as_object().cloned().unwrap_or_default();
    Tool::new(name, what, schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        orders::{DescribeOrder, MapOrder},
        serve::mcp::{
            Enlarged,
            order::tests::{names, taken},
        },
    };

    #[test]
    fn the_schemas_have_the_fields_of_what_they_become() {
        let tools = tools();
        for (name, expected) in
            [(UPSCALE, taken::<Enlarged>()), (MAP, taken::<MapOrder>()), (DESCRIBE, taken::<DescribeOrder>())]
        {
            let tool = tools.iter().find(|tool| tool.name == name).unwrap();
            assert_eq!(names(&tool.input_schema["properties"]), expected, "{name}");
        }
    }

    #[test]
    fn tools_say_what_they_need() {
        for (tool, expected) in tools().iter().zip([true, false, false, true, true, true]) {
            let required = tool.input_schema.get("required").and_then(Value::as_array).unwrap();
            assert_eq!(!required.is_empty(), expected, "{}", tool.name);
        }
    }
}
