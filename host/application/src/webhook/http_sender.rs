//! Sends one delivery attempt: a request to an address that the subscriber chose.

use crate::deadline::Stopwatch;
use crate::webhook::attempt::{self, AttemptResult, ReceiverResponse, SendError, SendFailure};
use crate::webhook::policy::DeliveryPolicy;
use crate::webhook::recipient::{ActiveSecrets, Recipient};
use crate::webhook::signature::signed_headers;
use crate::webhook::url_policy;
use host_domain::time::Timestamp;
use host_runtime::guarded_client::{self, DnsLookup};
use host_storage::StoredDelivery;
use http::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Request, Response};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use url::Url;

/// Maximum number of bytes of a response's body that are stored; the rest is not read.
const RESPONSE_BODY_BYTES_MAX: usize = 1024;
/// Maximum idle time of a pooled connection. It is shorter than servers commonly keep idle
/// connections, because an attempt on a connection that the server closes has failed.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(3);
const POOL_IDLE_PER_HOST: usize = 16;
const RESPONSE_HEADERS_MAX: usize = 128;

#[derive(Debug)]
pub struct DeliveryRequest<'a> {
    pub url: &'a str,
    /// Whether plain http and loopback addresses are allowed.
    pub allow_insecure: bool,
    /// Whether a 410 of the receiver pauses the subscription.
    pub honors_gone: bool,
    pub headers: HeaderMap,
    /// The body, byte for byte as it is signed.
    pub body: String,
}

impl DeliveryPolicy {
    pub fn delivery_request<'a>(
        &self,
        recipient: &'a Recipient,
        stored: &StoredDelivery,
        now: Timestamp,
    ) -> DeliveryRequest<'a> {
        let subscription = &recipient.subscription;
        DeliveryRequest {
            url: &subscription.url,
            allow_insecure: self.allows_insecure(&subscription.tenant),
            honors_gone: attempt::honors_gone(subscription.product),
            headers: headers(&recipient.secrets, stored, now),
            body: stored.payload.clone(),
        }
    }
}

fn headers(signers: &ActiveSecrets, stored: &StoredDelivery, now: Timestamp) -> HeaderMap {
    let delivery = &stored.delivery;
    let headers = signed_headers(
        signers.valid_at(now),
        now.0.div_euclid(1000),
        delivery.event.as_str(),
        delivery.id.as_str(),
        &stored.payload,
    );
    let headers = headers.into_iter().filter_map(|(name, value)| {
        // The values are numbers, base64 and identifiers, so they are always valid header values.
        let value = HeaderValue::from_str(&value).ok()?;
        Some((HeaderName::from_static(name), value))
    });
    headers.collect()
}

/// Returns headers by name, for the record of the attempt.
fn header_texts(headers: &HeaderMap) -> BTreeMap<String, String> {
    let texts = headers.iter().filter_map(|(name, value)| {
        let value = value.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    });
    texts.collect()
}

/// The HTTP clients for receivers. They connect only to addresses that were checked.
pub struct HttpSender {
    public: OnceLock<Client>,
    insecure: OnceLock<Client>,
    lookup: DnsLookup,
    time_max: Duration,
}

impl HttpSender {
    /// Creates the sender. `time_max` is the time limit of a whole exchange.
    pub fn new(lookup: DnsLookup, time_max: Duration) -> Self {
        Self {
            public: OnceLock::new(),
            insecure: OnceLock::new(),
            lookup,
            time_max,
        }
    }

    pub async fn send(&self, mut delivery: DeliveryRequest<'_>, now: Timestamp) -> AttemptResult {
        // They are set here, so that the record of the attempt has them.
        let (json, program) = ("application/json", guarded_client::USER_AGENT);
        for (name, value) in [(CONTENT_TYPE, json), (USER_AGENT, program)] {
            let value = HeaderValue::from_static(value);
            delivery.headers.insert(name, value);
        }
        let (stopwatch, honors_gone) = (Stopwatch::start(), delivery.honors_gone);
        let mut request_headers = BTreeMap::new();
        let response = match url_policy::parse(delivery.url, delivery.allow_insecure) {
            Ok(url) => {
                request_headers = header_texts(&delivery.headers);
                self.exchange(url, delivery).await
            }
            Err(_) => Err(SendFailure::UrlNotAllowed.into()),
        };
        AttemptResult {
            request_headers,
            ..AttemptResult::new(response, honors_gone, now, stopwatch.elapsed())
        }
    }

    async fn exchange(
        &self,
        url: Url,
        delivery: DeliveryRequest<'_>,
    ) -> Result<ReceiverResponse, SendError> {
        let deadline = Instant::now() + self.time_max;
        let client = self.client(delivery.allow_insecure);
        let client = client.ok_or(SendFailure::Connect)?;
        let mut request = Request::new(Method::POST, url);
        *request.headers_mut() = delivery.headers;
        *request.body_mut() = Some(delivery.body.into());
        let response = timeout_at(deadline, client.execute(request)).await;
        let response = response.map_err(|_| SendFailure::TimedOut)??;
        Ok(read_response(response, deadline).await)
    }

    /// Returns the client, created at its first use because loading certificates is expensive.
    fn client(&self, insecure: bool) -> Option<&Client> {
        let cell = match insecure {
            true => &self.insecure,
            false => &self.public,
        };
        if let Some(client) = cell.get() {
            return Some(client);
        }
        let scope = url_policy::address_scope(insecure);
        let built = guarded_client::client_builder(self.lookup.clone(), scope)
            .http1_only()
            .gzip(false)
            .connect_timeout(self.time_max)
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            .pool_max_idle_per_host(POOL_IDLE_PER_HOST)
            .http1_max_headers(RESPONSE_HEADERS_MAX)
            .build();
        match built {
            Ok(client) => Some(cell.get_or_init(|| client)),
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the HTTP client for webhooks could not be created, so deliveries fail and are tried again; the error names the cause"
                );
                None
            }
        }
    }
}

/// Reads the begin of the body. The status alone says whether the receiver has the event, so a body
/// that is cut off or does not end in time is kept as far as it has come.
async fn read_response(mut response: Response, deadline: Instant) -> ReceiverResponse {
    let status = response.status();
    let retry_after = response.headers_mut().remove(RETRY_AFTER);
    let mut body = Vec::new();
    while body.len() < RESPONSE_BODY_BYTES_MAX
        && let Ok(Ok(Some(chunk))) = timeout_at(deadline, response.chunk()).await
    {
        let room = RESPONSE_BODY_BYTES_MAX - body.len();
        body.extend(chunk.iter().take(room));
    }
    ReceiverResponse {
        status,
        retry_after,
        body: lossy_text(&body),
    }
}

/// Returns a body as text, without an incomplete character at its end.
fn lossy_text(body: &[u8]) -> String {
    let whole = match std::str::from_utf8(body) {
        Err(error) if error.error_len().is_none() => body.get(..error.valid_up_to()),
        _ => None,
    };
    String::from_utf8_lossy(whole.unwrap_or(body)).into_owned()
}

impl From<reqwest::Error> for SendError {
    fn from(error: reqwest::Error) -> Self {
        let failure = if guarded_client::blocked_address_reason(&error).is_some() {
            SendFailure::UrlNotAllowed
        } else if error.is_timeout() {
            SendFailure::TimedOut
        } else if error.is_builder() || error.is_connect() {
            SendFailure::Connect
        } else {
            SendFailure::ConnectionClosed
        };
        Self {
            failure,
            cause: Some(guarded_client::root_cause(&error)),
        }
    }
}

#[cfg(test)]
mod tests;
