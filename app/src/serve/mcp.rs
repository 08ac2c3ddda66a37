//! MCP over the standard input and output: tools for programs that act for a person.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
        ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
        Tool,
    },
    service::RequestContext,
    transport::stdio,
};
use serde::Deserialize;
use serde_json::{Value, json};
use sluice_engine::output::StillFormat;

use super::{
    Refusal, ServeError,
    desk::{Desk, Keeping, Prepared, read},
    own::{content_type, forecast_json},
};
use crate::orders::{Given, LoraOrder, MaskOrder, Order, OutpaintOrder};

const GENERATE: &str = "generate_image";
const FORECAST: &str = "forecast";
const MODELS: &str = "list_models";
const UPSCALE: &str = "upscale";

/// What a client is told first.
const INSTRUCTIONS: &str = "Generates images on this computer with diffusion models, also with those that are larger than \
    the memory of its GPU. Call list_models to see the models, forecast to see how long a request takes and whether it \
    fits, generate_image to make images, upscale to enlarge one. Results are saved as files, and the answers say where.";

/// Serves the client at the other end of the pipes until it ends.
pub async fn serve(desk: Arc<Desk>) -> Result<(), ServeError> {
    let running = Tools { desk }.serve(stdio()).await.map_err(|error| ServeError::Mcp(error.to_string()))?;
    running.waiting().await.map_err(|error| ServeError::Mcp(error.to_string()))?;
    Ok(())
}

/// The tools.
struct Tools {
    desk: Arc<Desk>,
}

/// The arguments of `generate_image` and `forecast`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Wanted {
    prompt: String,
    negative_prompt: Option<String>,
    model: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    steps: Option<u32>,
    guidance: Option<f32>,
    seed: Option<u64>,
    count: Option<u32>,
    sampler: Option<String>,
    loras: Vec<LoraOrder>,
    image: Option<Given>,
    strength: Option<f64>,
    mask: Option<Given>,
    outpaint: Option<OutpaintOrder>,
    references: Vec<Given>,
}

impl From<Wanted> for Order {
    fn from(wanted: Wanted) -> Self {
        let Wanted { prompt, negative_prompt, model, width, height, steps, guidance, seed, .. } = wanted;
        Self {
            prompt,
            negative_prompt,
            model,
            width,
            height,
            steps,
            guidance,
            seed,
            batch_size: wanted.count,
            sampler: wanted.sampler,
            loras: wanted.loras,
            image: wanted.image,
            strength: wanted.strength,
            mask: wanted.mask.map(|image| MaskOrder { image, ..MaskOrder::default() }),
            outpaint: wanted.outpaint,
            references: wanted.references,
            ..Self::default()
        }
    }
}

/// The arguments of `upscale`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Enlarged {
    image: Given,
    #[serde(default = "twice")]
    scale: f32,
    #[serde(default)]
    upscaler: Option<String>,
}

fn twice() -> f32 {
    2.0
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        config.server_info = Implementation::new("sluice", env!("CARGO_PKG_VERSION"));
        config.instructions = Some(INSTRUCTIONS.to_owned());
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = match request.name.as_ref() {
            GENERATE => self.generate(arguments, &context).await,
            FORECAST => self.forecast(arguments).await,
            MODELS => self.models(),
            UPSCALE => self.upscale(arguments, &context).await,
            other => return Err(ErrorData::invalid_params(format!("there is no tool {other}"), None)),
        };
        // What the person can do about it is for the model to read, so it is a result.
        let result = result.unwrap_or_else(|refusal| {
            let mut text = refusal.in_words();
            if let Some(fitting) = &refusal.fitting {
                text += &format!("\n{}", json!({ "would_fit": fitting }));
            }
            CallToolResult::error(vec![ContentBlock::text(text)])
        });
        Ok(result.into())
    }
}

impl Tools {
    async fn generate(
        &self,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refusal> {
        let wanted: Wanted = read_arguments(arguments)?;
        if wanted.prompt.trim().is_empty() {
            return Err(Refusal::wrong("there is no prompt", "Describe the image in `prompt`."));
        }
        let prepared = self.desk.prepare(wanted.into()).await?;
        self.run(prepared, context).await
    }

    async fn upscale(
        &self,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refusal> {
        let Enlarged { image, scale, upscaler } = read_arguments(arguments)?;
        let prepared = self.desk.prepare_upscale(image, upscaler, scale).await?;
        self.run(prepared, context).await
    }

    async fn forecast(&self, arguments: Value) -> Result<CallToolResult, Refusal> {
        let wanted: Wanted = read_arguments(arguments)?;
        let prepared = self.desk.prepare(wanted.into()).await?;
        let forecast = self.desk.forecast(&prepared.request).await?;
        Ok(CallToolResult::success(vec![ContentBlock::text(forecast_json(&forecast).to_string())]))
    }

    fn models(&self) -> Result<CallToolResult, Refusal> {
        let shelf = self.desk.shelf();
        let listed = json!({
            "models": shelf.models,
            "loras": shelf.adapters,
            "upscalers": shelf.upscalers,
            "default": self.desk.name_of(&self.desk.model()),
        });
        Ok(CallToolResult::success(vec![ContentBlock::text(listed.to_string())]))
    }

    /// Runs a job, and says how far it is. If the client cancels the call, the job is cancelled.
    async fn run(
        &self,
        prepared: Prepared,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refusal> {
        let mut running = self.desk.start(prepared, Keeping::Kept(StillFormat::Png)).await?;
        let told = tell(running.ticket.state(), context);
        let made = async {
            let made = running.made();
            let (made, told) = (std::pin::pin!(made), std::pin::pin!(told));
            // Progress never ends before the job does.
            match futures_util::future::select(made, told).await {
                futures_util::future::Either::Left((made, _)) => Some(made),
                futures_util::future::Either::Right(_) => None,
            }
        };
        let cancelled = context.ct.cancelled();
        let made = match futures_util::future::select(std::pin::pin!(made), std::pin::pin!(cancelled)).await {
            futures_util::future::Either::Left((Some(made), _)) => made?,
            _ => return Err(Refusal::cancelled()),
        };
        let mut content = Vec::new();
        let mut described = Vec::new();
        for made in &made {
            let kind = content_type(&made.path);
            if kind.starts_with("image/") {
                let bytes = read(&made.path).await?;
                content.push(ContentBlock::image(BASE64_STANDARD.encode(bytes), kind));
            }
            described.push(json!({
                "path": made.path, "seed": made.seed, "width": made.width, "height": made.height,
            }));
        }
        content.push(ContentBlock::text(json!({ "results": described }).to_string()));
        Ok(CallToolResult::success(content))
    }
}

/// Tells the client about each step, if it asked for that. Never ends.
async fn tell(
    mut state: tokio::sync::watch::Receiver<super::hub::JobState>,
    context: &RequestContext<RoleServer>,
) {
    if let Some(token) = context.meta.get_progress_token() {
        let mut last = 0;
        while state.changed().await.is_ok() {
            let (step, steps, stage) = {
                let now = state.borrow_and_update();
                (now.step, now.steps, now.stage)
            };
            if step <= last {
                continue;
            }
            last = step;
            let mut progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
            progress.total = Some(f64::from(steps));
            progress.message = stage.map(|stage| stage.name().to_owned());
            if let Err(error) = context.peer.notify_progress(progress).await {
                tracing::debug!(%error, "the client does not hear about progress");
                break;
            }
        }
    }
    std::future::pending().await
}

fn read_arguments<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, Refusal> {
    serde_json::from_value(arguments)
        .map_err(|error| Refusal::wrong(error.to_string(), "Follow the schema of the tool."))
}

fn tools() -> Vec<Tool> {
    const PICTURE: &str = "The path of a PNG, JPEG or WebP file, or its bytes in base64";
    let picture = |what: &str| json!({ "type": "string", "description": format!("{what}. {PICTURE}.") });
    let wanted = json!({
        "prompt": { "type": "string", "description": "Describes the image" },
        "negative_prompt": { "type": "string", "description": "What to avoid in the image" },
        "model": { "type": "string", "description": "A name from list_models; if absent, its default" },
        "width": { "type": "integer", "description": "Pixels; if absent, the model's usual width" },
        "height": { "type": "integer", "description": "Pixels; if absent, the model's usual height" },
        "steps": { "type": "integer", "description": "Denoising steps; if absent, the model's usual number" },
        "guidance": { "type": "number", "description": "How strongly to follow the prompt (CFG scale)" },
        "seed": { "type": "integer", "minimum": 0, "description": "The same seed gives the same image; random if absent" },
        "count": { "type": "integer", "minimum": 1, "description": "How many images, with the next seeds" },
        "sampler": { "type": "string", "description": "A sampling method, such as Euler a" },
        "loras": {
            "type": "array",
            "description": "LoRAs by their names from list_models",
            "items": {
                "type": "object",
                "properties": { "name": { "type": "string" }, "weight": { "type": "number" } },
                "required": ["name"],
                "additionalProperties": false
            }
        },
        "image": picture("The input image, to change it"),
        "strength": { "type": "number", "description": "Denoising strength from 0 to 1: the higher, the more the input image changes" },
        "mask": picture("What of the input image is replaced: white in this image"),
        "outpaint": {
            "type": "object",
            "description": "Pixels that are added around the input image and generated",
            "properties": {
                "left": { "type": "integer", "minimum": 0 },
                "top": { "type": "integer", "minimum": 0 },
                "right": { "type": "integer", "minimum": 0 },
                "bottom": { "type": "integer", "minimum": 0 },
                "feather": { "type": "integer", "minimum": 0, "description": "Pixels over which the image fades" }
            },
            "additionalProperties": false
        },
        "references": { "type": "array", "description": "More images, for models that edit several", "items": { "type": "string" } },
    });
    let enlarged = json!({
        "image": picture("The image to enlarge"),
        "scale": { "type": "number", "minimum": 1, "maximum": 4, "description": "How many times as wide and as high; 2 if absent" },
        "upscaler": { "type": "string", "description": "A name from list_models; if absent, the one that comes with Sluice" },
    });
    let tool = |name: &'static str, what: &'static str, properties: Value, required: &[&str]| {
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
        Tool::new(name, what, schema)
    };
    vec![
        tool(
            GENERATE,
            "Generate images from a text, or change an image. Answers with the images and the paths of their files.",
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
        tool(MODELS, "List the models, LoRAs and upscalers on this computer.", json!({}), &[]),
        tool(
            UPSCALE,
            "Enlarge an image. Answers with the image and the path of its file.",
            enlarged,
            &["image"],
        ),
    ]
}
