//! Other programs as clients: a server for what they already speak, and one for MCP.
//!
//! A client's order becomes a request for the same engine that the window and the command line use. Nothing of a client
//! is opened as a path.

mod a1111;
mod desk;
mod guard;
mod hub;
mod listener;
mod mcp;
mod openai;
mod own;
mod refusal;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, extract::DefaultBodyLimit, middleware};
use sluice_engine::session::Session;

use desk::Desk;
pub use desk::DeskOptions;
use guard::Guard;
use hub::Hub;
use refusal::Refusal;

/// How clients are served.
pub struct ServeOptions {
    /// Where to listen.
    pub address: SocketAddr,
    /// What a client has to send.
    pub token: String,
    /// The most bytes of a body.
    pub largest_body: usize,
    /// What orders have in common.
    pub desk: DeskOptions,
}

/// How long a client may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the header of a request; also how long a connection may be idle.
    pub header: Duration,
    /// Until the body of a request has arrived.
    pub body: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { header: Duration::from_secs(20), body: Duration::from_secs(60) }
    }
}

/// Why clients cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is taken, or the address is not one of this machine.
    #[error("{address} cannot be listened on: {cause}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        cause: std::io::Error,
    },
    /// A thread cannot be started.
    #[error("the server cannot be started: {0}")]
    Start(#[from] std::io::Error),
    /// The client of MCP did not begin as it should.
    #[error("the client did not begin a session of MCP: {0}")]
    Mcp(String),
}

/// Serves clients until `stop` says so. `ready` is called with the address when the port is open.
///
/// # Errors
/// When the port cannot be opened.
pub fn serve(
    session: Session,
    options: ServeOptions,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    serve_with(session, options, Patience::default(), ready, stop)
}

/// The same with another patience.
///
/// # Errors
/// When the port cannot be opened.
pub fn serve_with(
    session: Session,
    options: ServeOptions,
    patience: Patience,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let ServeOptions { address, token, largest_body, desk } = options;
    let hub = Arc::new(Hub::start(session)?);
    let desk = Arc::new(Desk::new(hub, desk));
    let guard = Guard::new(token, largest_body, patience.body);
    let app = Router::new()
        .merge(a1111::routes())
        .merge(openai::routes())
        .merge(own::routes())
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Arc::new(guard), guard::check))
        .with_state(own::Counter::new(desk));
    let served = runtime.block_on(listener::listen((address, patience.header), app, ready, stop));
    // Clients that still wait are told that the engine has ended.
    runtime.shutdown_timeout(Duration::from_secs(2));
    served
}

/// Serves one client of MCP over the standard input and output, until it ends.
///
/// # Errors
/// When the client does not begin as it should.
pub fn serve_mcp(session: Session, options: DeskOptions) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let desk = Arc::new(Desk::new(Arc::new(Hub::start(session)?), options));
    let served = runtime.block_on(mcp::serve(desk));
    runtime.shutdown_timeout(Duration::from_secs(2));
    served
}
