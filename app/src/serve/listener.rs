//! Connections: how many there are, and how long a client may take.

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use super::ServeError;

/// The most connections at the same time; others wait until one ends.
const CONNECTIONS: usize = 512;
/// How long to wait when the system has no more connections.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until `stop` says so. The header of a request may take as long as `patience`, and a connection may be
/// idle as long.
pub async fn listen(
    (address, patience): (SocketAddr, Duration),
    app: Router,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let bind = |cause| ServeError::Bind { address, cause };
    let listener = TcpListener::bind(address).await.map_err(bind)?;
    ready(listener.local_addr().map_err(bind)?);
    let mut stop = pin!(stop);
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accept = async {
            let permit = Arc::clone(&connections).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let accept = pin!(accept);
        let futures_util::future::Either::Left(((permit, accepted), _)) =
            futures_util::future::select(accept, stop.as_mut()).await
        else {
            return Ok(());
        };
        match accepted {
            Ok((stream, _)) => {
                let app = app.clone();
                tokio::spawn(async move {
                    converse(stream, app, patience).await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Serves one connection. When the client is gone, so is what it waits for.
async fn converse(stream: TcpStream, app: Router, patience: Duration) {
    let service = TowerToHyperService::new(app);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(patience);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection ended");
    }
}
