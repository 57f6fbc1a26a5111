//! `stopover listen`: receives the events of an organization without a public address and forwards
//! them, signed, to a program on this machine or nearby.

use crate::cli::api_client::{ApiClient, ApiOptions, ApiProblem, http_client, text};
use crate::cli::{CliError, event_type, print_line};
use crate::system_clock::SystemClock;
use anyhow::{Context, anyhow};
use clap::Args;
use host_application::webhook::signature::signed_headers;
use host_application::webhook::signing_secret;
use host_domain::event::EventType;
use host_domain::time::Clock;
use reqwest::{Client, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::io::{self, Write};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Time that a call waits for events, in seconds.
const WAIT_S: u64 = 15;
/// Time to wait after a call that failed.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// Number of events that are remembered, because the gateway may return them again.
const KNOWN_EVENTS_MAX: usize = 20_000;

/// Options of `stopover listen`.
#[derive(Debug, Args)]
pub(super) struct ListenOptions {
    /// URL to which events are forwarded
    #[arg(long, value_name = "URL")]
    forward_to: Url,
    /// Types of events, separated by commas; default is all
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = event_type)]
    events: Vec<EventType>,
    #[command(flatten)]
    api: ApiOptions,
}

pub(super) async fn run(options: ListenOptions) -> Result<(), CliError> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let secret = signing_secret::generate().context("no random bytes for a secret")?;
    let mut listener = Listener::begin(&options, secret).await?;
    print_line(&format!(
        "signing secret  {}",
        listener.secret.expose_secret()
    ))?;
    let forward_to = &listener.forward_to;
    print_line(&format!("forwarding to   {forward_to}"))?;
    let result = tokio::select! {
        result = listener.forward_all() => result,
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    };
    listener.end().await;
    result
}

/// A connection to the gateway and to the receiver.
struct Listener {
    api: ApiClient,
    receiver: Client,
    forward_to: Url,
    event_types: Vec<&'static str>,
    secret: SecretString,
    session: String,
    /// Id after which the next events follow.
    after: String,
    known: KnownEvents,
}

/// The latest events that were forwarded.
#[derive(Default)]
struct KnownEvents {
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl KnownEvents {
    /// Adds an event. Returns `false` if it is known.
    fn insert(&mut self, id: &str) -> bool {
        if !self.ids.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > KNOWN_EVENTS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

impl Listener {
    async fn begin(options: &ListenOptions, secret: SecretString) -> Result<Self, CliError> {
        let event_types = options.events.iter().map(|event| event.as_str()).collect();
        let mut listener = Self {
            api: ApiClient::new(&options.api)?,
            receiver: http_client()?,
            forward_to: options.forward_to.clone(),
            event_types,
            secret,
            session: String::new(),
            after: String::new(),
            known: KnownEvents::default(),
        };
        listener.begin_session().await?;
        Ok(listener)
    }

    /// Begins a session. A later one continues where an earlier one ended.
    async fn begin_session(&mut self) -> Result<(), CliError> {
        let request = json!({ "event_types": self.event_types });
        let session = self.api.post("/v1/cli/listen", Some(&request)).await?;
        text(&session, "id")?.clone_into(&mut self.session);
        if self.after.is_empty() {
            text(&session, "after")?.clone_into(&mut self.after);
        }
        Ok(())
    }

    /// Forwards events until the gateway refuses the key.
    async fn forward_all(&mut self) -> Result<(), CliError> {
        loop {
            match self.forward_next().await {
                Ok(()) => {}
                Err(error) => self.recover(error).await?,
            }
        }
    }

    async fn forward_next(&mut self) -> Result<(), CliError> {
        let (session, after) = (&self.session, &self.after);
        let path = format!("/v1/cli/listen/{session}/events?after={after}&wait_s={WAIT_S}");
        let fetched = self.api.get(&path).await?;
        let events = fetched.get("events").and_then(Value::as_array);
        let events = events.ok_or_else(|| anyhow!("the response has no events"))?;
        for event in events {
            let id = text(event, "id")?;
            if self.known.insert(id) {
                self.forward(id, text(event, "type")?, text(event, "payload")?)
                    .await?;
            }
        }
        text(&fetched, "after")?.clone_into(&mut self.after);
        Ok(())
    }

    /// Sends an event to the receiver once, and prints what came back.
    async fn forward(&self, id: &str, event_type: &str, payload: &str) -> Result<(), CliError> {
        let (_, event) = id.split_once('_').unwrap_or_default();
        let (_, session) = self.session.split_once('_').unwrap_or_default();
        let delivery = format!("dlv_{event}-{session}");
        let unix_s = SystemClock.now().0.div_euclid(1000);
        let headers = signed_headers([&self.secret], unix_s, id, &delivery, payload);
        let mut request = self.receiver.post(self.forward_to.clone());
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.header("content-type", "application/json");
        let outcome = match request.body(payload.to_owned()).send().await {
            Ok(response) => response.status().to_string(),
            Err(error) => format!("{:#}", anyhow::Error::from(error)),
        };
        print_line(&format!("{id}  {event_type}  {outcome}"))
    }

    /// Prepares the next call after one that failed. Returns the error if another call cannot
    /// succeed.
    async fn recover(&mut self, error: CliError) -> Result<(), CliError> {
        let status = error
            .downcast_ref()
            .map(|problem: &ApiProblem| problem.status);
        match status {
            Some(StatusCode::NOT_FOUND) => return self.begin_session().await,
            Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => return Err(error),
            Some(_) | None => {}
        }
        // Without an output for errors there is no place to report this.
        let _ = writeln!(io::stderr(), "warning: {error:#}; trying again");
        pause().await;
        Ok(())
    }

    async fn end(&self) {
        let path = format!("/v1/cli/listen/{}", self.session);
        if let Err(error) = self.api.delete(&path).await {
            // The session expires by itself.
            let _ = writeln!(io::stderr(), "warning: {error:#}");
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "nothing says when the gateway can be reached again, so only another call shows it"
)]
async fn pause() {
    tokio::time::sleep(RETRY_DELAY).await;
}
