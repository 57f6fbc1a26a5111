//! A webhook receiver that can be put into a state in which it does not accept deliveries.

use crate::upstream::ReceivedRequest;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures::stream;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpSocket;
use tokio::task::JoinHandle;

/// Maximum number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// A fault of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiverFault {
    /// It refuses connections, and existing ones break.
    RefusesConnections,
    /// It reads a request and never responds.
    NeverResponds,
    /// The connection breaks in the middle of the response.
    DropsConnection,
    /// It responds with 500.
    ServerError,
}

impl ReceiverFault {
    /// All faults.
    pub const ALL: [Self; 4] = [
        Self::RefusesConnections,
        Self::NeverResponds,
        Self::DropsConnection,
        Self::ServerError,
    ];
}

/// A received delivery.
#[derive(Debug)]
pub struct ReceivedDelivery {
    /// The request as it arrived.
    pub request: ReceivedRequest,
    /// Time at which its response was chosen.
    pub at: jiff::Timestamp,
    /// Whether the response was 204.
    pub accepted: bool,
}

#[derive(Default)]
struct ReceiverState {
    trouble: Mutex<Option<ReceiverFault>>,
    arrived: Mutex<Vec<ReceivedDelivery>>,
}

/// A running receiver. It stops when dropped.
pub struct Receiver {
    /// URL of the receiver.
    pub url: String,
    address: SocketAddr,
    state: Arc<ReceiverState>,
    /// Reserves the port while no listener uses it.
    _port: TcpSocket,
    serving: Option<JoinHandle<()>>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

impl Receiver {
    /// Starts a receiver that accepts every delivery.
    pub fn start() -> Self {
        let port = bound("127.0.0.1:0".parse().unwrap());
        let address = port.local_addr().unwrap();
        let mut receiver = Self {
            url: format!("http://{address}/hook"),
            address,
            state: Arc::default(),
            _port: port,
            serving: None,
        };
        receiver.open();
        receiver
    }

    /// Sets the receiver's fault or removes it.
    pub async fn set_fault(&mut self, trouble: Option<ReceiverFault>) {
        *self.state.trouble.lock().unwrap() = trouble;
        if trouble == Some(ReceiverFault::RefusesConnections) {
            self.close().await;
        } else if self.serving.is_none() {
            self.open();
        }
    }

    /// Returns the deliveries since the last call, in order.
    pub fn take_deliveries(&self) -> Vec<ReceivedDelivery> {
        std::mem::take(&mut *self.state.arrived.lock().unwrap())
    }

    fn open(&mut self) {
        let listener = bound(self.address).listen(BACKLOG).unwrap();
        let router = Router::new().fallback(receive);
        let router = router.with_state(Arc::clone(&self.state));
        let serving = async move { axum::serve(listener, router).await.unwrap() };
        self.serving = Some(tokio::spawn(serving));
    }

    async fn close(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
            // The port is free for a new listener only after the task has ended.
            let _aborted = serving.await;
        }
    }
}

/// Binds a socket. Several sockets can be bound to one address as long as only one of them listens.
fn bound(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(address).unwrap();
    socket
}

async fn receive(State(state): State<Arc<ReceiverState>>, request: Request) -> Response {
    let Ok(request) = ReceivedRequest::read(request).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let trouble = *state.trouble.lock().unwrap();
    state.arrived.lock().unwrap().push(ReceivedDelivery {
        request,
        at: jiff::Timestamp::now(),
        accepted: trouble.is_none(),
    });
    match trouble {
        None => StatusCode::NO_CONTENT.into_response(),
        Some(ReceiverFault::ServerError) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Some(ReceiverFault::NeverResponds) => std::future::pending().await,
        Some(ReceiverFault::DropsConnection | ReceiverFault::RefusesConnections) => {
            let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
            Response::new(Body::from_stream(stream::iter([Ok("{"), Err(broken)])))
        }
    }
}
