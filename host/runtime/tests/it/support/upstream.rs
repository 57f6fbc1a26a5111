//! A supplier on the loopback interface that sends exactly the given bytes and stores the received
//! requests.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The reaction after a request was read.
#[derive(Clone)]
pub(crate) enum Behaviour {
    /// Sends these bytes and closes the connection.
    Respond(Vec<u8>),
    /// Sends nothing while the other side waits.
    Silence,
}

pub(crate) struct Upstream {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    server: JoinHandle<()>,
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Upstream {
    #[expect(
        clippy::disallowed_methods,
        reason = "the task is stopped when the upstream is dropped"
    )]
    pub(crate) async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&requests);
        let server = tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let (behaviour, received) = (behaviour.clone(), Arc::clone(&received));
                tokio::spawn(async move {
                    let mut request = vec![0; 64 << 10];
                    let length = connection.read(&mut request).await.unwrap_or(0);
                    received
                        .lock()
                        .unwrap()
                        .push(String::from_utf8_lossy(request.get(..length).unwrap()).into_owned());
                    match behaviour {
                        Behaviour::Respond(bytes) => {
                            let _ = connection.write_all(&bytes).await;
                            let _ = connection.shutdown().await;
                        }
                        Behaviour::Silence => {
                            let _ = connection.read(&mut [0]).await;
                        }
                    }
                });
            }
        });
        Self {
            port,
            requests,
            server,
        }
    }

    pub(crate) async fn responding_with(head_and_body: &str) -> Self {
        Self::start(Behaviour::Respond(head_and_body.as_bytes().to_vec())).await
    }

    /// Responds with a status and no body.
    pub(crate) async fn with_status(status: &str) -> Self {
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        Self::responding_with(&head).await
    }

    /// Returns an address on which nothing listens.
    pub(crate) async fn closed_origin() -> String {
        Self::responding_with("").await.origin()
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the complete text of every request in lower case.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests
            .lock()
            .unwrap()
            .iter()
            .map(|text| text.to_lowercase())
            .collect()
    }
}
