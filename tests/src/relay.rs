//! A relay of TCP connections, in place of a virtual address or of a network that breaks.

use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A running relay on loopback. It stops when dropped.
#[derive(Debug)]
pub struct TcpRelay {
    /// Port on which the relay listens.
    pub port: u16,
    state: Arc<watch::Sender<RelayState>>,
    accepting: JoinHandle<()>,
}

#[derive(Debug, Clone, Copy)]
struct RelayState {
    /// Port to which new connections lead.
    target: u16,
    /// Connections accepted before the last change of this number are closed.
    generation: u32,
    /// Text of the request whose response is dropped, with its connection.
    drops_response_to: Option<&'static str>,
}

impl Drop for TcpRelay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl TcpRelay {
    /// Starts a relay to a port on loopback.
    pub async fn start(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(watch::Sender::new(RelayState {
            target,
            generation: 0,
            drops_response_to: None,
        }));
        let shared = Arc::clone(&state);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(relay(client, Arc::clone(&shared)));
            }
        });
        Self {
            port,
            state,
            accepting,
        }
    }

    /// Leads new connections to another port. Existing ones stay.
    pub fn redirect(&self, target: u16) {
        self.state.send_modify(|state| state.target = target);
    }

    /// Closes every connection.
    pub fn close_connections(&self) {
        self.state.send_modify(|state| state.generation += 1);
    }

    /// Closes the connection of the next request that contains `text` after the server has
    /// responded, instead of passing the response on.
    pub fn drop_response_to(&self, text: &'static str) {
        self.state
            .send_modify(|state| state.drops_response_to = Some(text));
    }

    /// Returns whether a response was dropped since [`Self::drop_response_to`] was called last.
    pub fn has_dropped_response(&self) -> bool {
        self.state.borrow().drops_response_to.is_none()
    }
}

/// Passes bytes on until either side closes the connection, or the relay does.
async fn relay(mut client: TcpStream, state: Arc<watch::Sender<RelayState>>) {
    let mut changes = state.subscribe();
    let begun = *changes.borrow_and_update();
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", begun.target)).await else {
        return;
    };
    let (mut request, mut response) = ([0; 65_536], [0; 65_536]);
    let mut is_dropping = false;
    loop {
        tokio::select! {
            changed = changes.changed() => {
                if changed.is_err() || changes.borrow().generation != begun.generation {
                    return;
                }
            }
            read = client.read(&mut request) => {
                let Some(bytes) = received(read, &request) else { return };
                let text = state.borrow().drops_response_to;
                is_dropping |= text.is_some_and(|text| contains(bytes, text));
                if server.write_all(bytes).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut response) => {
                let Some(bytes) = received(read, &response) else { return };
                if is_dropping {
                    state.send_modify(|state| state.drops_response_to = None);
                    return;
                }
                if client.write_all(bytes).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Returns the received bytes, or `None` at the end of the connection.
fn received(read: std::io::Result<usize>, buffer: &[u8]) -> Option<&[u8]> {
    let length = read.ok().filter(|length| *length > 0)?;
    buffer.get(..length)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    let text = text.as_bytes();
    bytes.windows(text.len()).any(|window| window == text)
}
