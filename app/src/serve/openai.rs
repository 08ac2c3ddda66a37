//! OpenAI's interface for images.

use axum::{
    Json, Router,
    extract::{Multipart, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};
use sluice_engine::output::StillFormat;

use super::{
    Refusal,
    desk::{Keeping, read},
    own::{Body, Counter, format_of},
    refusal::Interface,
};
use crate::orders::{Given, MaskOrder, Order};

/// The most images of a request, as there.
const MOST_IMAGES: u64 = 10;

/// A refusal in this interface's form.
pub type Refused = super::refusal::Refused<OpenAi>;

/// The interface of this file.
#[derive(Debug)]
pub struct OpenAi;

impl Interface for OpenAi {
    fn refused(refusal: Refusal) -> Response {
        // Its clients know 400 for whatever is wrong with a request.
        let status = match refusal.status {
            StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
            other => other,
        };
        let kind = match status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            status if status.is_client_error() => "invalid_request_error",
            _ => "server_error",
        };
        let code = match (&refusal.fitting, status) {
            (Some(_), _) => json!("does_not_fit"),
            (None, StatusCode::UNAUTHORIZED) => json!("invalid_api_key"),
            _ => Value::Null,
        };
        let mut error = json!({ "message": refusal.in_words(), "type": kind, "param": null, "code": code });
        if let Some(fitting) = &refusal.fitting {
            error["fits"] = json!(fitting);
        }
        (status, Json(json!({ "error": error }))).into_response()
    }
}

/// The addresses of this interface.
pub fn routes() -> Router<Counter> {
    Router::new()
        .route("/v1/models", get(models))
        .route("/v1/images/generations", post(generate))
        .route("/v1/images/edits", post(edit))
}

async fn models(State(counter): State<Counter>) -> Json<Value> {
    let shelf = counter.desk.shelf();
    let data = shelf
        .models
        .iter()
        .map(|model| json!({ "id": model.name, "object": "model", "created": 0, "owned_by": "sluice" }));
    Json(json!({ "object": "list", "data": data.collect::<Vec<_>>() }))
}

async fn generate(
    State(counter): State<Counter>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<Value>, Refused> {
    let (order, format) = order_of(body)?;
    Ok(Json(answer(&counter, order, format).await?))
}

async fn edit(State(counter): State<Counter>, form: Multipart) -> Result<Json<Value>, Refused> {
    let Form { fields, images, mask } = read_form(form).await?;
    let (order, format) = order_of(fields)?;
    let mut images = images.into_iter();
    let Some(first) = images.next() else {
        return Err(Refusal::wrong("there is no image", "Send it as `image`.").into());
    };
    let mask = mask.map(|image| MaskOrder { image, transparent: true, ..MaskOrder::default() });
    let references: Vec<Given> = images.collect();
    let takes = counter.desk.summary(&order).await?.references;
    if !references.is_empty() && takes.is_none() {
        return Err(Refusal::wrong(
            "this model takes one image",
            "Send one image, or name a model that edits several.",
        )
        .into());
    }
    let order = Order { image: Some(first), references, mask, ..order };
    Ok(Json(answer(&counter, order, format).await?))
}

/// What a form has.
struct Form {
    fields: Map<String, Value>,
    images: Vec<Given>,
    mask: Option<Given>,
}

async fn read_form(mut form: Multipart) -> Result<Form, Refusal> {
    let wrong = |error: axum::extract::multipart::MultipartError| {
        Refusal::wrong(error.body_text(), "Send a form of the type multipart/form-data.")
    };
    let mut read = Form { fields: Map::new(), images: Vec::new(), mask: None };
    while let Some(field) = form.next_field().await.map_err(wrong)? {
        let name = field.name().unwrap_or_default().to_owned();
        match name.as_str() {
            "image" | "image[]" => read.images.push(Given::of(&field.bytes().await.map_err(wrong)?)),
            "mask" => read.mask = Some(Given::of(&field.bytes().await.map_err(wrong)?)),
            _ => {
                let text = field.text().await.map_err(wrong)?;
                // Numbers and lists come as text.
                let value = serde_json::from_str(&text).ok().filter(|value: &Value| !value.is_object());
                let value = match name.as_str() {
                    "prompt" | "model" | "size" | "negative_prompt" | "user" => Value::String(text),
                    _ => value.unwrap_or(Value::String(text)),
                };
                read.fields.insert(name, value);
            }
        }
    }
    Ok(read)
}

/// The order of a request. Fields that OpenAI does not have are Sluice's own.
fn order_of(mut body: Map<String, Value>) -> Result<(Order, StillFormat), Refusal> {
    if body.get("prompt").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
        return Err(Refusal::wrong("there is no prompt", "Send a text as `prompt`."));
    }
    body.retain(|_, value| !value.is_null());
    // What says nothing about the image, or has one meaning here.
    body.remove("user");
    only(&mut body, "response_format", &["b64_json"], "Images are sent in base64; ask for b64_json.")?;
    only(&mut body, "quality", &["auto", "standard"], "Choose the steps with `steps` instead.")?;
    only(&mut body, "style", &["vivid", "natural"], "Describe the style in the prompt.")?;
    only(&mut body, "background", &["auto", "opaque"], "Images are opaque.")?;
    only(&mut body, "moderation", &["auto", "low"], "Leave it out.")?;
    only(&mut body, "input_fidelity", &["high", "low"], "Choose `strength` instead.")?;
    if let Some(stream) = body.remove("stream").filter(|stream| *stream != Value::Bool(false)) {
        let message = format!("`stream` {stream} is not possible here");
        return Err(Refusal::wrong(message, "Progress comes from /api/jobs/{id}/events."));
    }
    body.remove("partial_images");
    let format = match body.remove("output_format") {
        Some(name) => format_of(name.as_str().unwrap_or_default())?,
        None => StillFormat::default(),
    };
    if body.remove("output_compression").is_some_and(|quality| quality != json!(100)) {
        return Err(Refusal::wrong(
            "the compression cannot be chosen",
            "Leave out `output_compression`; JPEG and WebP have Sluice's usual quality.",
        ));
    }
    if let Some(count) = body.remove("n") {
        let most = count.as_u64().filter(|count| (1..=MOST_IMAGES).contains(count));
        let most = most.ok_or_else(|| Refusal::wrong(format!("`n` {count} is not valid"), "Use 1 to 10."))?;
        body.insert("batch_size".to_owned(), json!(most));
    }
    if let Some(size) = body.remove("size").filter(|size| size != "auto") {
        let sides = size.as_str().and_then(|size| size.split_once('x'));
        let sides =
            sides.and_then(|(width, height)| Some((width.parse::<u32>().ok()?, height.parse::<u32>().ok()?)));
        let (width, height) = sides.ok_or_else(|| {
            Refusal::wrong(format!("the size {size} is not valid"), "Use one such as 1024x1024.")
        })?;
        body.insert("width".to_owned(), json!(width));
        body.insert("height".to_owned(), json!(height));
    }
    let order = serde_json::from_value(Value::Object(body)).map_err(|error| {
        Refusal::wrong(error.to_string(), "See the page on the server in Sluice's documentation.")
    })?;
    Ok((order, format))
}

/// Takes out a field that may only have some values.
fn only(body: &mut Map<String, Value>, name: &str, values: &[&str], advice: &str) -> Result<(), Refusal> {
    match body.remove(name) {
        Some(value) if !value.as_str().is_some_and(|text| values.contains(&text)) => {
            Err(Refusal::wrong(format!("`{name}` {value} is not possible here"), advice))
        }
        _ => Ok(()),
    }
}

async fn answer(counter: &Counter, order: Order, format: StillFormat) -> Result<Value, Refusal> {
    let prepared = counter.desk.prepare(order).await?;
    let mut running = counter.desk.start(prepared, Keeping::Kept(format)).await?;
    let made = running.made().await?;
    let mut data = Vec::with_capacity(made.len());
    for made in &made {
        let bytes = read(&made.path).await?;
        data.push(json!({ "b64_json": BASE64_STANDARD.encode(bytes), "seed": made.seed }));
    }
    let (width, height) = made.first().map_or((0, 0), |made| (made.width, made.height));
    Ok(json!({
        "created": seconds_now(),
        "data": data,
        "output_format": format.title().to_lowercase(),
        "size": format!("{width}x{height}"),
        "background": "opaque",
    }))
}

fn seconds_now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(json: Value) -> Result<(Order, StillFormat), Refusal> {
        order_of(json.as_object().unwrap().clone())
    }

    #[test]
    fn fields_of_openai_become_an_order() {
        let (order, format) = order(json!({
            "prompt": "a fox", "model": "starter", "n": 2, "size": "64x128", "response_format": "b64_json",
            "quality": "auto", "user": "me", "output_format": "webp", "seed": 7, "style": null,
        }))
        .unwrap();
        let expected = Order {
            prompt: "a fox".to_owned(),
            model: Some("starter".to_owned()),
            batch_size: Some(2),
            width: Some(64),
            height: Some(128),
            seed: Some(7),
            ..Order::default()
        };
        assert_eq!((order, format), (expected, StillFormat::WebP));
    }

    #[test]
    fn what_is_not_possible_is_refused_in_words() {
        for (field, value) in [
            ("response_format", json!("url")),
            ("quality", json!("hd")),
            ("background", json!("transparent")),
            ("stream", json!(true)),
            ("n", json!(11)),
            ("size", json!("large")),
            ("output_format", json!("tiff")),
            ("wibble", json!(1)),
        ] {
            let mut json = json!({ "prompt": "a fox" });
            json[field] = value;
            let refusal = order(json).unwrap_err();
            assert!(
                refusal.in_words().contains(field) || field.len() < 5 || field == "output_format",
                "{refusal:?}"
            );
        }
        assert!(order(json!({ "prompt": " " })).is_err());
    }
}
