//! MCP over the standard input and output: tools for programs that act for a person.

mod order;
mod schema;
mod tools;

use std::{pin::pin, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures_util::future::{Either, select};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
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
    hub::Made,
    own::{content_type, forecast_json, names_json},
};
use crate::orders::{DescribeOrder, Given, MapOrder, Order};
use tools::tools;

const GENERATE: &str = "generate_image";
const FORECAST: &str = "forecast";
const MODELS: &str = "list_models";
const UPSCALE: &str = "upscale";
const MAP: &str = "map";
const DESCRIBE: &str = "describe";

/// What a client is told first.
const INSTRUCTIONS: &str = "Generates images on this computer with diffusion models, also with those that are larger than \
    the memory of its GPU. Call list_models to see the models, forecast to see how long a request takes and whether it \
    fits, generate_image to make images and clips, upscale to enlarge an image, map to see what a ControlNet follows, \
    describe to learn what images show. Results are saved as files, and the answers say where.";

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
            MODELS => self.models().await,
            UPSCALE => self.upscale(arguments, &context).await,
            MAP => self.map(arguments, &context).await,
            DESCRIBE => self.describe(arguments, &context).await,
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
        let order: Order = read_arguments(arguments)?;
        if order.prompt.trim().is_empty() {
            return Err(Refusal::wrong("there is no prompt", "Describe the image in `prompt`."));
        }
        let prepared = self.desk.prepare(order).await?;
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

    async fn map(
        &self,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refusal> {
        let order: MapOrder = read_arguments(arguments)?;
        if order.preprocessor.estimated().is_none() {
            let made = unless_cancelled(self.desk.map(order), context).await?;
            return shown(&[made]).await;
        }
        let prepared = self.desk.prepare_map(order).await?;
        self.run(prepared, context).await
    }

    async fn describe(
        &self,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refusal> {
        let order: DescribeOrder = read_arguments(arguments)?;
        let prepared = self.desk.prepare_describe(order).await?;
        let (_, text) = self.ended(prepared, Keeping::Told, context).await?;
        Ok(CallToolResult::success(vec![ContentBlock::text(text.unwrap_or_default())]))
    }

    async fn forecast(&self, arguments: Value) -> Result<CallToolResult, Refusal> {
        let order: Order = read_arguments(arguments)?;
        let prepared = self.desk.prepare(order).await?;
        let forecast = self.desk.forecast(&prepared.request).await?;
        Ok(CallToolResult::success(vec![ContentBlock::text(forecast_json(&forecast).to_string())]))
    }

    async fn models(&self) -> Result<CallToolResult, Refusal> {
        let listed = names_json(&self.desk).await?;
        Ok(CallToolResult::success(vec![ContentBlock::text(listed.to_string())]))
    }

    /// Runs a job, and shows what it made.
    async fn run(
        &self,
        prepared: Prepared,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Refusal> {
        let (made, _) = self.ended(prepared, Keeping::Kept(StillFormat::Png), context).await?;
        shown(&made).await
    }

    /// Runs a job until its end, and says how far it is: what it made, and the text that it wrote, if it writes one. If the client
    /// cancels the call, the job is cancelled.
    async fn ended(
        &self,
        prepared: Prepared,
        keeping: Keeping,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Vec<Made>, Option<String>), Refusal> {
        let mut running = self.desk.start(prepared, keeping).await?;
        let state = running.ticket.state();
        let told = tell(running.ticket.state(), context);
        let made = async {
            // Progress never ends before the job does.
            match select(pin!(running.made()), pin!(told)).await {
                Either::Left((made, _)) => made,
                Either::Right(_) => Err(Refusal::cancelled()),
            }
        };
        let made = unless_cancelled(made, context).await?;
        let text = state.borrow().text.clone();
        Ok((made, text))
    }
}

/// What comes of the work, or that the client has cancelled the call.
async fn unless_cancelled<T>(
    work: impl Future<Output = Result<T, Refusal>>,
    context: &RequestContext<RoleServer>,
) -> Result<T, Refusal> {
    match select(pin!(work), pin!(context.ct.cancelled())).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(Refusal::cancelled()),
    }
}

/// The images that were made, and where the files are.
async fn shown(made: &[Made]) -> Result<CallToolResult, Refusal> {
    let mut content = Vec::new();
    let mut described = Vec::new();
    for made in made {
        let kind = content_type(&made.path);
        if kind.starts_with("image/") {
            let bytes = read(&made.path).await?;
            content.push(ContentBlock::image(BASE64_STANDARD.encode(bytes), kind));
        }
        described.push(json!({
            "path": made.path, "seed": made.seed, "width": made.width, "height": made.height,
            "frames": made.frames,
        }));
    }
    content.push(ContentBlock::text(json!({ "results": described }).to_string()));
    Ok(CallToolResult::success(content))
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
