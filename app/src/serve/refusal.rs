//! What a client is told when it does not get what it asked for.

use std::marker::PhantomData;

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Value, json};
use sluice_engine::{
    memory::{Alternative, Forecast},
    session::Failure,
    units,
};

use crate::{mapping::MapError, orders::OrderError};

/// A request that is not carried out. Each interface writes it in its own form.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The kind of error.
    pub status: StatusCode,
    /// What went wrong, and what to do.
    pub failure: Failure,
    /// Of a request that does not fit: what would.
    pub fitting: Option<Fitting>,
}

/// An interface that clients speak.
pub trait Interface {
    /// A refusal in its form.
    fn refused(refusal: Refusal) -> Response;
}

/// A refusal in the form of an interface.
#[derive(Debug)]
pub struct Refused<I>(Refusal, PhantomData<I>);

impl<I, R: Into<Refusal>> From<R> for Refused<I> {
    fn from(refusal: R) -> Self {
        Self(refusal.into(), PhantomData)
    }
}

impl<I: Interface> IntoResponse for Refused<I> {
    fn into_response(self) -> Response {
        I::refused(self.0)
    }
}

/// What a machine that a request does not fit can do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fitting {
    /// The least memory of the device with which it would fit, in bytes.
    pub least_device_bytes: Option<u64>,
    /// Other ways to run the same request that fit, with what they take.
    pub ways: Vec<Way>,
}

/// A way to run a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Way {
    /// Such as `model_offload`: the value of `--offload`.
    pub id: String,
    /// In words.
    pub name: String,
    /// Bytes on the device.
    pub device_bytes: u64,
    /// Bytes in the host's memory.
    pub host_bytes: u64,
    /// Seconds of an image.
    pub seconds_per_image: f64,
}

impl Way {
    fn of(row: &Alternative) -> Self {
        let Alternative { id, name, device, host, seconds_per_image, .. } = row.clone();
        Self { id, name, device_bytes: device, host_bytes: host, seconds_per_image }
    }
}

impl Refusal {
    fn new(status: StatusCode, message: impl Into<String>, advice: impl Into<String>) -> Self {
        let failure = Failure { message: message.into(), advice: Some(advice.into()) };
        Self { status, failure, fitting: None }
    }

    /// Something in the request is wrong.
    pub fn invalid(failure: Failure) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, failure, fitting: None }
    }

    /// Something in the request is wrong, in words.
    pub fn wrong(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message, advice)
    }

    /// There is no such thing.
    pub fn missing(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message, advice)
    }

    /// Too much is waiting.
    pub fn busy() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{} jobs are waiting already", super::hub::MOST_JOBS),
            "Try again when some of them are done.",
        )
    }

    /// The engine failed.
    pub fn engine(failure: Failure) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, failure, fitting: None }
    }

    /// A file or a thread of the server failed.
    pub fn broken(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message, "The standard error of the server has details.")
    }

    /// The client, or somebody else, cancelled the job.
    pub fn cancelled() -> Self {
        Self::new(StatusCode::CONFLICT, "the job was cancelled", "Send the request again.")
    }

    /// The token is wrong.
    pub fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "the token is missing or wrong",
            "Send the token that `sluice serve` printed as `Authorization: Bearer TOKEN`, or as the password of basic \
             authentication.",
        )
    }

    /// A web page of somebody else asks.
    pub fn foreign() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "a web page from another address asks",
            "Use a program that runs on this machine, or a page from the same address.",
        )
    }

    /// The body is too large.
    pub fn too_large(most: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body has more than {}", units::memory(most as u64)),
            "Send smaller images, or start the server with a larger --max-body.",
        )
    }

    /// The body does not arrive.
    pub fn too_slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time", "Send the request again.")
    }

    /// The request does not fit: by how much, and what would.
    pub fn unfit(forecast: &Forecast) -> Self {
        let fits = |row: &&Alternative| row.available && row.device_short == 0 && row.host_short == 0;
        let mut ways: Vec<Way> = forecast.alternatives.iter().filter(fits).map(Way::of).collect();
        ways.sort_by(|one, other| one.seconds_per_image.total_cmp(&other.seconds_per_image));
        let least = forecast.least_device;
        let named = ways.first().map(|way| {
            format!(
                "{} would fit: {} of memory of the device, {} per image.",
                way.name,
                units::memory_needed(way.device_bytes),
                units::seconds(way.seconds_per_image)
            )
        });
        let advice = named.unwrap_or_else(|| "Use a smaller image or batch, or another model.".to_owned());
        Self {
            fitting: Some(Fitting { least_device_bytes: least, ways }),
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, forecast.sentence.clone(), advice)
        }
    }

    /// In Sluice's own form.
    pub fn json(&self) -> Value {
        let mut json = json!({ "error": self.failure.message, "advice": self.failure.advice });
        if let Some(fitting) = &self.fitting {
            json["fits"] = json!(fitting);
        }
        json
    }

    /// Message and advice.
    pub fn in_words(&self) -> String {
        match &self.failure.advice {
            Some(advice) => format!("{}. {advice}", self.failure.message.trim_end_matches('.')),
            None => self.failure.message.clone(),
        }
    }
}

impl From<OrderError> for Refusal {
    fn from(error: OrderError) -> Self {
        match error {
            OrderError::Write { .. } => Self::broken(error.to_string()),
            error => Self::wrong(error.to_string(), error.advice()),
        }
    }
}

impl From<MapError> for Refusal {
    fn from(error: MapError) -> Self {
        match error {
            MapError::Cancelled => Self::cancelled(),
            MapError::Source(error) => OrderError::from(error).into(),
        }
    }
}
