//! Connections: accepts them, serves HTTP/1.1 on each, and breaks those whose response is to be
//! lost. The module is independent of the contents of responses.

use std::{convert::Infallible, io, time::Duration};

use axum::{
    Router,
    body::Body,
    response::{IntoResponse, Response},
};
use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::state::SandboxState;

/// Time for which a read that never gets a response is held.
const HANG_DURATION: Duration = Duration::from_mins(1);
/// Time in which connections may finish after the sandbox begins to stop.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// Pause after a connection that could not be accepted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(20);

/// Marks a response that must not be sent; the connection is closed instead.
#[derive(Clone, Copy)]
struct DropConnection;

/// Returns a response that is never sent: the caller sees its connection close.
pub(crate) fn drop_connection() -> Response {
    let mut response = ().into_response();
    response.extensions_mut().insert(DropConnection);
    response
}

/// Holds the request for a minute and then closes the connection without a response.
pub(crate) async fn never_respond(app: &SandboxState) -> Response {
    app.sleep_or_stop(HANG_DURATION).await;
    drop_connection()
}

/// Serves connections until stopped, then gives running requests a short time to finish.
pub(crate) async fn run_listener(
    listener: TcpListener,
    router: Router,
    stopping: CancellationToken,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stopping.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, router.clone(), stopping.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted; the sandbox tries again, and needs more open files if the error says that there are too many");
                    tokio::select! {
                        () = stopping.cancelled() => break,
                        () = wait_before_accepting() => {}
                    }
                }
            },
        }
    }
    drop(listener);
    let all_done = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, all_done)
        .await
        .is_err()
    {
        connections.shutdown().await;
    }
}

/// Waits until the cause may have passed. Accepting fails e.g. while too many files are open.
#[expect(
    clippy::disallowed_methods,
    reason = "the system does not signal when it can accept connections again"
)]
async fn wait_before_accepting() {
    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
}

async fn serve(stream: TcpStream, router: Router, stopping: CancellationToken) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set on a connection");
    }
    let service = service_fn(move |request: Request<Incoming>| {
        let router = router.clone();
        async move {
            let answered: Result<Response, Infallible> =
                router.oneshot(request.map(Body::new)).await;
            match answered {
                Ok(response) if response.extensions().get::<DropConnection>().is_some() => {
                    Err(io::Error::new(
                        io::ErrorKind::ConnectionAborted,
                        "the answer is lost on purpose",
                    ))
                }
                Ok(response) => Ok(response),
                Err(never) => match never {},
            }
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
