//! Sluice's own interface: jobs with progress as server-sent events, forecasts, and what is in the model folders.

use std::{
    collections::{HashSet, VecDeque},
    convert::Infallible,
    path::Path as FilePath,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{FromRequest, Path, Request, State, rejection::JsonRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response, Sse, sse},
    routing::{get, post},
};
use futures_util::{Stream, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use sluice_engine::{checkpoint::MapKind, output::StillFormat, session::JobId};
use tokio::sync::watch;

use super::{
    Refusal,
    desk::{Desk, Keeping, Running, read},
    hub::{JobState, Phase},
    refusal::Interface,
};
use crate::orders::Order;

/// How many jobs are remembered after their end.
const REMEMBERED: usize = 256;
/// How often a stream of events says something.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// A refusal in this interface's form.
pub type Refused = super::refusal::Refused<Own>;

/// The interface of this file.
#[derive(Debug)]
pub struct Own;

impl Interface for Own {
    fn refused(refusal: Refusal) -> Response {
        (refusal.status, Json(refusal.json())).into_response()
    }
}

/// A body in JSON, of which errors are refusals.
pub struct Body<T>(pub T);

impl<S: Send + Sync, T: serde::de::DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(value)) => Ok(Self(value)),
            Err(rejection) => Err(not_json(&rejection)),
        }
    }
}

fn not_json(rejection: &JsonRejection) -> Refusal {
    let advice = match rejection {
        JsonRejection::MissingJsonContentType(_) => {
            "Send JSON with the header `Content-Type: application/json`."
        }
        _ => "See the page on the server in Sluice's documentation.",
    };
    Refusal { status: rejection.status(), ..Refusal::wrong(rejection.body_text(), advice) }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        Refused::from(self).into_response()
    }
}

/// The desk, and the jobs that were ordered through this interface.
#[derive(Clone)]
pub struct Counter {
    /// The desk.
    pub desk: Arc<Desk>,
    jobs: Arc<Mutex<VecDeque<Ordered>>>,
    /// Jobs that were cancelled while the rest of their request goes on.
    skipped: Arc<Mutex<HashSet<JobId>>>,
}

/// A job that clients can ask for again.
struct Ordered {
    id: JobId,
    state: watch::Receiver<JobState>,
    /// Its pictures and, unless they are kept, its results.
    _running: Running,
}

impl Counter {
    /// At a desk.
    pub fn new(desk: Arc<Desk>) -> Self {
        Self { desk, jobs: Arc::default(), skipped: Arc::default() }
    }

    fn jobs(&self) -> MutexGuard<'_, VecDeque<Ordered>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels a job, and nothing else of its request.
    pub fn skip(&self, job: JobId) {
        self.skipped.lock().unwrap_or_else(PoisonError::into_inner).insert(job);
        self.desk.hub.cancel(job);
    }

    /// Whether that was done; asked once.
    pub fn was_skipped(&self, job: JobId) -> bool {
        self.skipped.lock().unwrap_or_else(PoisonError::into_inner).remove(&job)
    }

    fn remember(&self, running: Running) -> JobId {
        let id = running.ticket.id;
        let state = running.ticket.state();
        let Running { ticket, inputs } = running;
        let mut jobs = self.jobs();
        jobs.push_back(Ordered { id, state, _running: Running { ticket: ticket.kept(), inputs } });
        let ended = |ordered: &Ordered| ordered.state.borrow().phase.has_ended();
        while jobs.len() > REMEMBERED
            && let Some(place) = jobs.iter().position(ended)
        {
            jobs.remove(place);
        }
        id
    }

    fn state(&self, job: u64) -> Result<watch::Receiver<JobState>, Refusal> {
        let jobs = self.jobs();
        let found = jobs.iter().find(|ordered| ordered.id == JobId(job));
        found.map(|ordered| ordered.state.clone()).ok_or_else(|| {
            let message = format!("there is no job {job}");
            Refusal::missing(message, format!("The last {REMEMBERED} jobs are remembered."))
        })
    }
}

/// The addresses of this interface.
pub fn routes() -> Router<Counter> {
    Router::new()
        .route("/api/models", get(models))
        .route("/api/forecast", post(forecast))
        .route("/api/jobs", get(list).post(order))
        .route("/api/jobs/{job}", get(show).delete(cancel))
        .route("/api/jobs/{job}/events", get(events))
        .route("/api/jobs/{job}/results/{index}", get(result))
        .fallback(nothing)
}

async fn nothing() -> Refused {
    Refused::from(Refusal::missing(
        "there is nothing at this address",
        "See the page on the server in Sluice's documentation.",
    ))
}

async fn models(State(counter): State<Counter>) -> Result<Json<Value>, Refused> {
    Ok(Json(names_json(&counter.desk).await?))
}

/// Everything that an order can name.
pub async fn names_json(desk: &Desk) -> Result<Value, Refusal> {
    let styles: Vec<String> = desk.styles().await?.into_iter().map(|style| style.name).collect();
    let shelf = desk.shelf();
    Ok(json!({
        "models": shelf.models,
        "loras": shelf.adapters,
        "control_nets": shelf.control_nets,
        "ip_adapters": shelf.ip_adapters,
        "detectors": shelf.detectors,
        "upscalers": shelf.upscalers,
        "depth_models": shelf.estimators(MapKind::Depth),
        "pose_models": shelf.estimators(MapKind::Pose),
        "segment_models": shelf.estimators(MapKind::Segments),
        "soft_edge_models": shelf.estimators(MapKind::SoftEdge),
        "describers": shelf.describers,
        "styles": styles,
        "default": desk.name_of(&desk.model()),
    }))
}

async fn forecast(State(counter): State<Counter>, Body(order): Body<Order>) -> Result<Json<Value>, Refused> {
    let prepared = counter.desk.prepare(order).await?;
    let forecast = counter.desk.forecast(&prepared.request).await?;
    Ok(Json(forecast_json(&forecast)))
}

/// What clients need of a forecast.
pub fn forecast_json(forecast: &sluice_engine::memory::Forecast) -> Value {
    match &forecast.plan {
        Ok(plan) => json!({
            "fits": true,
            "model": forecast.model,
            "dtype": forecast.dtype.name(),
            "device_bytes": plan.peak_device(),
            "host_bytes": plan.peak_host(),
            "seconds": plan.seconds,
            "seconds_per_step": plan.seconds_per_step,
            "offload": plan.mode.name(),
            "in_words": forecast.sentence,
        }),
        Err(_) => {
            let refusal = Refusal::unfit(forecast);
            json!({
                "fits": false,
                "model": forecast.model,
                "in_words": refusal.in_words(),
                "would_fit": refusal.fitting,
            })
        }
    }
}

/// An order, and what becomes of its results.
#[derive(Debug, Deserialize)]
struct OrderOfJob {
    /// Whether the results are kept in the folder for them.
    #[serde(default = "yes")]
    keep: bool,
    /// Such as `png`.
    #[serde(default)]
    format: Option<String>,
    #[serde(flatten)]
    order: serde_json::Map<String, Value>,
}

fn yes() -> bool {
    true
}

/// The format of images that has this name.
pub fn format_of(name: &str) -> Result<StillFormat, Refusal> {
    let name = if name.eq_ignore_ascii_case("jpg") { "jpeg" } else { name };
    let found = StillFormat::ALL.into_iter().find(|format| format.title().eq_ignore_ascii_case(name));
    found.ok_or_else(|| Refusal::wrong(format!("{name:?} is no format of images"), "Use png, jpeg or webp."))
}

async fn order(
    State(counter): State<Counter>,
    Body(body): Body<OrderOfJob>,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let OrderOfJob { keep, format, order } = body;
    let order: Order = serde_json::from_value(Value::Object(order)).map_err(|error| {
        Refusal::wrong(error.to_string(), "See the page on the server in Sluice's documentation.")
    })?;
    let format = format.as_deref().map_or(Ok(StillFormat::default()), format_of)?;
    let prepared = counter.desk.prepare(order).await?;
    let (model, seed) = (prepared.model.clone(), prepared.request.seed);
    let keeping = if keep { Keeping::Kept(format) } else { Keeping::Sent(format) };
    let running = counter.desk.start(prepared, keeping).await?;
    let id = counter.remember(running);
    let answer = json!({
        "id": id,
        "model": model,
        "seed": seed,
        "events": format!("/api/jobs/{}/events", id.0),
    });
    Ok((StatusCode::ACCEPTED, Json(answer)))
}

async fn list(State(counter): State<Counter>) -> Json<Value> {
    let jobs = counter.jobs();
    let all: Vec<Value> =
        jobs.iter().map(|ordered| described(&counter, ordered.id, &ordered.state.borrow())).collect();
    Json(json!({ "jobs": all }))
}

async fn show(State(counter): State<Counter>, Path(job): Path<u64>) -> Result<Json<Value>, Refused> {
    let state = counter.state(job)?;
    let json = described(&counter, JobId(job), &state.borrow());
    Ok(Json(json))
}

async fn cancel(State(counter): State<Counter>, Path(job): Path<u64>) -> Result<StatusCode, Refused> {
    counter.state(job)?;
    counter.desk.hub.cancel(JobId(job));
    Ok(StatusCode::NO_CONTENT)
}

/// A job as JSON.
fn described(counter: &Counter, id: JobId, state: &JobState) -> Value {
    let mut json = json!({ "id": id, "phase": phase_name(&state.phase) });
    match &state.phase {
        Phase::Queued => json["position"] = json!(counter.desk.hub.position(id)),
        Phase::Running => {
            json["stage"] = json!(state.stage.map(|stage| stage.name()));
            json["step"] = json!(state.step);
            json["steps"] = json!(state.steps);
            json["seconds_left"] = json!(state.seconds_left);
        }
        Phase::Done { made, seconds } => {
            json["seconds"] = json!(seconds);
            let results = made.iter().enumerate().map(|(index, made)| {
                json!({
                    "seed": made.seed,
                    "width": made.width,
                    "height": made.height,
                    "frames": made.frames,
                    "path": made.path,
                    "url": format!("/api/jobs/{}/results/{index}", id.0),
                })
            });
            json["results"] = results.collect();
        }
        Phase::Cancelled => {}
        Phase::Failed(failure) => {
            json["error"] = json!(failure.message);
            json["advice"] = json!(failure.advice);
        }
    }
    json
}

fn phase_name(phase: &Phase) -> &'static str {
    match phase {
        Phase::Queued => "queued",
        Phase::Running => "running",
        Phase::Done { .. } => "done",
        Phase::Cancelled => "cancelled",
        Phase::Failed(_) => "failed",
    }
}

/// The events of a job, until it has ended: each is its state, so that a slow client misses only what no longer counts.
async fn events(
    State(counter): State<Counter>,
    Path(job): Path<u64>,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, Refused> {
    let mut state = counter.state(job)?;
    state.mark_changed();
    let told = stream::unfold(Some(state), move |state| {
        let counter = counter.clone();
        async move {
            let mut state = state?;
            match tokio::time::timeout(SIGN_OF_LIFE, state.changed()).await {
                Err(_) => Some((Ok(sse::Event::default().comment("waiting")), Some(state))),
                Ok(Err(_)) => None,
                Ok(Ok(())) => {
                    let now = state.borrow_and_update().clone();
                    let name = phase_name(&now.phase);
                    let data = described(&counter, JobId(job), &now).to_string();
                    let event = sse::Event::default().event(name).data(data);
                    Some((Ok(event), (!now.phase.has_ended()).then_some(state)))
                }
            }
        }
    });
    Ok(Sse::new(told))
}

async fn result(
    State(counter): State<Counter>,
    Path((job, index)): Path<(u64, usize)>,
) -> Result<Response, Refused> {
    let state = counter.state(job)?;
    let path = match &state.borrow().phase {
        Phase::Done { made, .. } => made.get(index).map(|made| made.path.clone()),
        _ => None,
    };
    let Some(path) = path else {
        let message = format!("job {job} has no result {index}");
        return Err(Refusal::missing(message, "Wait until it is done.").into());
    };
    let bytes = read(&path).await?;
    Ok(([(header::CONTENT_TYPE, content_type(&path))], bytes).into_response())
}

/// The type of a file by its name.
pub fn content_type(path: &FilePath) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("webp") => "image/webp",
        Some("gif") => "image/gif",
        Some("mp4") => "video/mp4",
        _ => "application/octet-stream",
    }
}
