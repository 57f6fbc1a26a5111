//! Server-sent events of the dashboard.

use reqwest::Response;
use std::time::Duration;
use tokio::time::timeout;

/// Longest time without an event. The server checks for news once a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// An open stream of events.
#[derive(Debug)]
pub struct EventStream {
    response: Response,
    /// Received text that is not a whole event yet.
    text: String,
    last_id: String,
}

/// An event as the server sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerEvent {
    /// Position from which the stream can go on, or an empty text.
    pub id: String,
    /// Its name, e.g. `row`.
    pub name: String,
    /// Its lines.
    pub data: String,
}

impl EventStream {
    pub(crate) fn new(response: Response) -> Self {
        Self {
            response,
            text: String::new(),
            last_id: String::new(),
        }
    }

    /// Returns the id of the last event that had one. Browsers name it when they connect again.
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// Returns the next event, or `None` at the end of the stream. Comments are skipped, and events
    /// without a name, which only have an id.
    ///
    /// # Panics
    /// Panics if nothing comes for 20 seconds.
    pub async fn next(&mut self) -> Option<ServerEvent> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let event = parse(block);
                self.text = rest.to_owned();
                if !event.id.is_empty() {
                    self.last_id.clone_from(&event.id);
                }
                if !event.name.is_empty() {
                    return Some(event);
                }
            }
            let chunk = timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.expect("an event or the end").unwrap_or_default()?;
            self.text.push_str(&String::from_utf8_lossy(&chunk));
        }
    }

    /// Returns the first event that has this name and contains this text.
    ///
    /// # Panics
    /// Panics if the stream ends before.
    pub async fn find(&mut self, name: &str, text: &str) -> ServerEvent {
        loop {
            let event = self.next().await.expect("the stream goes on");
            if event.name == name && event.data.contains(text) {
                return event;
            }
        }
    }
}

fn parse(block: &str) -> ServerEvent {
    let mut event = ServerEvent::default();
    for line in block.lines() {
        let (field, value) = line.split_once(": ").unwrap_or((line, ""));
        match field {
            "id" => value.clone_into(&mut event.id),
            "event" => value.clone_into(&mut event.name),
            "data" => {
                if !event.data.is_empty() {
                    event.data.push('\n');
                }
                event.data.push_str(value);
            }
            _ => {}
        }
    }
    event
}
