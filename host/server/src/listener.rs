//! Connections: accepts them, serves HTTP/1.1 on each, and lets running requests finish at
//! shutdown.

use crate::refusal::{RefusalStream, RefuseRequest};
use crate::unread_body;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use host_application::task_supervisor::TaskSupervisor;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Time a client has to send the head of a request, including the first one on a connection.
const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Pause after a failure to accept a connection. With too many open files, for example, other
/// connections must close first.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Serves a listener in application tasks until shutdown.
pub(crate) fn spawn_listener(
    tasks: &TaskSupervisor,
    listener: TcpListener,
    router: Router,
    refuse: RefuseRequest,
    connections_max: usize,
) {
    let permits = Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS)));
    let (own, stopping) = (tasks.clone(), tasks.shutdown_token());
    tasks.spawn("listener", async move {
        loop {
            let accepted = tokio::select! {
                () = stopping.cancelled() => return,
                accepted = accept(&listener, &permits) => accepted,
            };
            let Some((stream, peer, permit)) = accepted else {
                continue;
            };
            let (router, stopping) = (router.clone(), stopping.clone());
            let refuse = Arc::clone(&refuse);
            own.spawn("connection", async move {
                serve_connection(stream, peer, router, refuse, stopping).await;
                drop(permit);
            });
        }
    });
}

type ConnectionPermit = tokio::sync::OwnedSemaphorePermit;

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, ConnectionPermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, permit)),
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted; the listener tries again, and needs more open files if the error says that there are too many");
            let mut pause = tokio::time::interval(ACCEPT_RETRY_DELAY);
            pause.tick().await;
            pause.tick().await;
            None
        }
    }
}

async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    refuse: RefuseRequest,
    stopping: CancellationToken,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY on a connection");
    }
    let service = service_fn(move |request: Request<Incoming>| {
        let router = router.clone();
        unread_body::respond(request, move |mut request: Request<Body>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            router.oneshot(request)
        })
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(REQUEST_HEAD_TIMEOUT);
    let stream = TokioIo::new(RefusalStream::new(stream, peer.ip(), refuse));
    let mut connection = pin!(http.serve_connection(stream, service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended with an error");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::Barrier;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

    async fn start(router: Router) -> (TaskSupervisor, SocketAddr) {
        let tasks = TaskSupervisor::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let refuse: RefuseRequest =
            Arc::new(|status, _| host_api::refused_request(status, "http://api.test"));
        spawn_listener(&tasks, listener, router, refuse, 10);
        (tasks, address)
    }

    /// Sends bytes, and returns the whole response and the address.
    async fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(bytes).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn request_that_hyper_refuses_gets_a_problem_document() {
        let (_tasks, address) = start(Router::new().route("/", get(|| async { "served" }))).await;
        let line = |uri: &str| format!("GET {uri} HTTP/1.1\r\nhost: x\r\n");
        let many: String = (0..120)
            .map(|number| format!("x-{number}: 1\r\n"))
            .collect();
        let long = format!("/{}", "a".repeat(70_000));
        let large = format!("x: {}\r\n", "a".repeat(1 << 20));
        for (head, status, code) in [
            (line(&long), 414, "uri_too_long"),
            (line("/") + &many, 431, "headers_too_large"),
            (line("/") + &large, 431, "headers_too_large"),
            (line("/a b"), 400, "malformed_request"),
            (
                line("/") + "content-length: x\r\n",
                400,
                "malformed_request",
            ),
            (line("/") + "a b: x\r\n", 400, "malformed_request"),
        ] {
            let answer = exchange(address, format!("{head}\r\n").as_bytes()).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{answer}"
            );
            assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(
                head.contains("content-type: application/problem+json"),
                "{head}"
            );
            assert!(head.contains("x-request-id: req_"), "{head}");
            let length = format!("content-length: {}", body.len());
            assert!(head.contains(&length), "{head}");
            let problem: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!(problem["code"], code, "{body}");
            assert_eq!(problem["status"], status, "{body}");
        }
    }

    #[tokio::test]
    async fn refusal_follows_the_response_to_an_earlier_request() {
        let (_tasks, address) = start(Router::new().route("/", get(|| async { "served" }))).await;
        let bad = b"GET /a b HTTP/1.1\r\n\r\n";
        let answer = exchange(address, &[REQUEST, bad].concat()).await;
        let (served, refused) = answer.split_once("served").unwrap();
        assert!(served.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(refused.starts_with("HTTP/1.1 400 "), "{answer}");
        assert!(refused.contains("malformed_request"), "{answer}");
    }

    #[tokio::test]
    async fn empty_client_error_of_a_service_stays_as_it_is() {
        let (_tasks, address) = start(Router::new()).await;
        let request = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        let answer = exchange(address, request).await;
        assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    }

    #[tokio::test]
    async fn running_request_finishes_after_shutdown_and_new_connections_are_refused() {
        let barrier = Arc::new(Barrier::new(2));
        let of_handler = Arc::clone(&barrier);
        let handler = move || {
            let barrier = Arc::clone(&of_handler);
            async move {
                // The request has begun, and may then finish.
                barrier.wait().await;
                barrier.wait().await;
                "finished"
            }
        };
        let (tasks, address) = start(Router::new().route("/", get(handler))).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(REQUEST).await.unwrap();
        barrier.wait().await;
        tasks.begin_shutdown();
        assert!(!tasks.wait_for_tasks(Duration::from_millis(50)).await);
        barrier.wait().await;
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.ends_with("finished"), "{answer}");
        assert!(tasks.wait_for_tasks(Duration::from_secs(5)).await);
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[tokio::test]
    async fn idle_connection_does_not_delay_shutdown() {
        let (tasks, address) = start(Router::new()).await;
        let mut idle = TcpStream::connect(address).await.unwrap();
        idle.write_all(REQUEST).await.unwrap();
        let mut first = [0_u8; 12];
        idle.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 404");
        tasks.begin_shutdown();
        assert!(tasks.wait_for_tasks(Duration::from_secs(5)).await);
    }
}
