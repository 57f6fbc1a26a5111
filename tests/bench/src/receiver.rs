//! A webhook receiver in this process with minimal overhead. It accepts every delivery.

use crate::http_connection::HttpConnection;
use crate::sample::Samples;
use anyhow::{Context, Result};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

const TAKEN: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

/// A running receiver. It stops accepting when dropped.
pub(crate) struct Receiver {
    /// URL of the receiver.
    pub(crate) url: String,
    ages: Arc<Mutex<Samples>>,
    serving: AbortHandle,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Receiver {
    pub(crate) async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hook", listener.local_addr()?);
        let ages = Arc::<Mutex<Samples>>::default();
        let serving = tokio::spawn(accept(listener, Arc::clone(&ages))).abort_handle();
        Ok(Self { url, ages, serving })
    }

    /// Returns the number of events since the last [`take`](Self::take).
    pub(crate) fn count(&self) -> usize {
        self.ages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    /// Returns the age of each event when it had arrived completely, in order of arrival.
    pub(crate) fn take(&self) -> Samples {
        let mut ages = self.ages.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut ages)
    }
}

async fn accept(listener: TcpListener, ages: Arc<Mutex<Samples>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let ages = Arc::clone(&ages);
        tokio::spawn(async move {
            if let Err(error) = receive(HttpConnection::new(stream)?, &ages).await {
                eprintln!("  an event could not be received: {error:#}");
            }
            Ok::<_, anyhow::Error>(())
        });
    }
}

async fn receive(mut connection: HttpConnection, ages: &Mutex<Samples>) -> Result<()> {
    while let Some(event) = connection.receive().await? {
        let now = jiff::Timestamp::now();
        let made_at = made_at(&event.json()?)?;
        let age = Duration::try_from(now.duration_since(made_at)).unwrap_or_default();
        ages.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(age);
        connection.send(TAKEN).await?;
    }
    Ok(())
}

fn made_at(event: &Value) -> Result<jiff::Timestamp> {
    let text = event["created_at"].as_str();
    Ok(text.context("an event tells when it was made")?.parse()?)
}
