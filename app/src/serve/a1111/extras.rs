//! Enlarging images, and reading their settings.

use axum::{Json, extract::State};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};
use sluice_engine::{
    output::{OutputError, StillFormat, read_settings},
    source::size_of,
};

use super::{Refused, fields::Fields};
use crate::{
    orders::{Given, Inputs},
    serve::{
        Refusal,
        desk::{Keeping, Running, blocking, read},
        own::{Body, Counter},
    },
};

/// How an image is enlarged.
struct Enlarging {
    upscaler: Option<String>,
    size: Size,
    warnings: Vec<String>,
}

enum Size {
    Times(f32),
    Pixels([u32; 2]),
}

impl Enlarging {
    fn of(mut fields: Fields) -> Result<Self, Refusal> {
        let none = |name: &String| name == "None";
        let upscaler = fields.text("upscaler_1")?.filter(|name| !none(name));
        let size = match fields.whole("resize_mode")?.unwrap_or(0) {
            0 => Size::Times(fields.number("upscaling_resize")?.unwrap_or(2.0) as f32),
            _ => {
                let sides = [fields.count("upscaling_resize_w")?, fields.count("upscaling_resize_h")?];
                Size::Pixels(sides.map(|side| side.unwrap_or(512)))
            }
        };
        fields.refuse("gfpgan_visibility", &[], "Faces are not restored; leave it out.")?;
        fields.refuse("codeformer_visibility", &[], "Faces are not restored; leave it out.")?;
        let mixes = fields.number("extras_upscaler_2_visibility")?.unwrap_or(0.0) > 0.0;
        if fields.text("upscaler_2")?.is_some_and(|name| !none(&name) && mixes) {
            return Err(Refusal::wrong("a second upscaler is not possible here", "Leave out `upscaler_2`."));
        }
        fields.ignore(&["show_extras_results", "codeformer_weight", "upscaling_crop", "upscale_first"]);
        fields.ignore(&["upscaling_resize", "upscaling_resize_w", "upscaling_resize_h"]);
        Ok(Self { upscaler, size, warnings: fields.finish() })
    }

    async fn run(&self, counter: &Counter, image: String) -> Result<Value, Refusal> {
        let given = Given(image);
        let scale = match self.size {
            Size::Times(scale) => scale,
            Size::Pixels(wanted) => {
                let given = given.clone();
                blocking(move || {
                    let mut inputs = Inputs::of_data()?;
                    let own = size_of(&inputs.file(&given, "the image")?)
                        .map_err(|error| Refusal::wrong(error.to_string(), error.advice()))?;
                    scale_to(own, wanted)
                })
                .await??
            }
        };
        let prepared = counter.desk.prepare_upscale(given, self.upscaler.clone(), scale).await?;
        let keeping = Keeping::Sent(StillFormat::Png);
        let mut running: Running = counter.desk.start(prepared, keeping).await?;
        let made = running.made().await?;
        let made = made.first().ok_or_else(|| Refusal::broken("nothing was made"))?;
        Ok(Value::String(BASE64_STANDARD.encode(read(&made.path).await?)))
    }
}

/// The factor from one size to another of the same aspect ratio.
fn scale_to(own: [u32; 2], wanted: [u32; 2]) -> Result<f32, Refusal> {
    let [x, y] = [0, 1].map(|side| f64::from(wanted[side]) / f64::from(own[side].max(1)));
    let off = (x * f64::from(own[1]) - f64::from(wanted[1])).abs();
    if off > 1.0 {
        let [width, height] = own;
        return Err(Refusal::wrong(
            format!("an image of {width}×{height} cannot be enlarged to {}×{}", wanted[0], wanted[1]),
            "Keep the aspect ratio, or send `upscaling_resize` with `resize_mode` 0.",
        ));
    }
    Ok(x.max(y) as f32)
}

/// One image.
pub async fn enlarge(
    State(counter): State<Counter>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<Value>, Refused> {
    let mut fields = Fields::of(body);
    let image = fields.text("image")?.ok_or_else(no_image)?;
    let enlarging = Enlarging::of(fields)?;
    let image = enlarging.run(&counter, image).await?;
    Ok(Json(json!({ "html_info": enlarging.warnings.join("; "), "image": image })))
}

/// Several images, one after the other.
pub async fn enlarge_all(
    State(counter): State<Counter>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<Value>, Refused> {
    let mut fields = Fields::of(body);
    let list = fields.take("imageList").unwrap_or_default();
    let images: Vec<String> = list
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|image| Some(image.get("data")?.as_str()?.to_owned()))
        .collect();
    if images.is_empty() {
        return Err(no_image().into());
    }
    let enlarging = Enlarging::of(fields)?;
    let mut results = Vec::with_capacity(images.len());
    for image in images {
        results.push(enlarging.run(&counter, image).await?);
    }
    Ok(Json(json!({ "html_info": enlarging.warnings.join("; "), "images": results })))
}

fn no_image() -> Refusal {
    Refusal::wrong("there is no image", "Send one in base64.")
}

/// The settings in an image.
pub async fn settings_of(
    State(_): State<Counter>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<Value>, Refused> {
    let image = Fields::of(body).text("image")?.ok_or_else(no_image)?;
    let text = blocking(move || {
        let mut inputs = Inputs::of_data()?;
        let path = inputs.file(&Given(image), "the image")?;
        match read_settings(&path) {
            Ok(restored) => Ok(restored.settings.parameters()),
            // As in A1111, an image without settings is no error.
            Err(OutputError::NoSettings { .. }) => Ok(String::new()),
            Err(error) => Err(Refusal::wrong(error.to_string(), "Send the file as it was saved.")),
        }
    })
    .await??;
    Ok(Json(json!({ "info": text, "items": { "parameters": text }, "parameters": {} })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_in_pixels_keeps_the_aspect_ratio() {
        assert_eq!(scale_to([64, 32], [128, 64]).unwrap(), 2.0);
        assert_eq!(scale_to([100, 33], [150, 50]).unwrap(), 50.0 / 33.0);
        assert!(scale_to([64, 32], [128, 128]).is_err());
    }
}
