//! One attempt: a request to an address that somebody else chose, and what came of it.

use crate::time::Stopwatch;
use crate::webhook::address;
use host_domain::time::Timestamp;
use host_domain::webhook::SendOutcome;
use host_runtime::guard::{self, Lookup};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use reqwest::{Client, Method, Request, Response};
use std::sync::OnceLock;
use std::time::Duration;
use url::Url;

/// So much of an answer is kept; the rest is not even read.
const BODY_BYTES_KEPT: usize = 1024;
/// Shorter than servers commonly keep an idle connection: an attempt that meets the
/// end of its connection has failed.
const IDLE_TIME_MAX: Duration = Duration::from_secs(3);
const IDLE_CONNECTIONS_A_HOST: usize = 16;
const RESPONSE_HEADERS_MAX: usize = 128;

/// What is sent.
#[derive(Debug)]
pub(super) struct Letter<'a> {
    /// Where to.
    pub(super) url: &'a str,
    /// Whether plain http and this machine are allowed.
    pub(super) insecure: bool,
    /// Whether a receiver may end it all by 410.
    pub(super) may_end: bool,
    /// Beside the content type.
    pub(super) headers: HeaderMap,
    /// Byte for byte as it is signed.
    pub(super) body: String,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attempted {
    /// What that means for the delivery.
    pub(super) outcome: SendOutcome,
    /// The answer's status.
    pub(super) status: Option<u16>,
    /// The beginning of the answer's body.
    pub(super) body: Option<String>,
    /// Why there is no answer: `url_not_allowed`, `connect`, `timeout` or `cut`.
    pub(super) error: Option<&'static str>,
    /// The same for the log, where more is known; says nothing of the URL's path and query.
    pub(super) cause: Option<String>,
    /// How long it took.
    pub(super) took: Duration,
}

impl Attempted {
    /// A word for the counter: `2xx`, or why there is no answer.
    pub(super) const fn class(&self) -> &'static str {
        match (self.error, self.status) {
            (Some(error), _) => error,
            (None, Some(200..=299)) => "2xx",
            (None, Some(300..=399)) => "3xx",
            (None, Some(400..=499)) => "4xx",
            (None, _) => "5xx",
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy)]
enum Failure {
    UrlNotAllowed,
    Connect,
    TimedOut,
    Cut,
}

impl Failure {
    const fn word(self) -> &'static str {
        match self {
            Self::UrlNotAllowed => "url_not_allowed",
            Self::Connect => "connect",
            Self::TimedOut => "timeout",
            Self::Cut => "cut",
        }
    }
}

/// That there is no answer.
struct Unanswered {
    failure: Failure,
    cause: Option<String>,
}

/// The answer, as far as it is read.
struct Answer {
    status: StatusCode,
    retry_after: Option<HeaderValue>,
    body: String,
}

/// Connections to receivers. Each is made only to addresses that were judged.
pub(crate) struct Sender {
    public: OnceLock<Client>,
    insecure: OnceLock<Client>,
    lookup: Lookup,
    time_max: Duration,
}

impl Sender {
    /// `time_max`: for a whole exchange.
    pub(super) fn new(lookup: Lookup, time_max: Duration) -> Self {
        Self {
            public: OnceLock::new(),
            insecure: OnceLock::new(),
            lookup,
            time_max,
        }
    }

    /// For a whole exchange.
    pub(super) const fn time_max(&self) -> Duration {
        self.time_max
    }

    /// Sends once; at `now`.
    pub(super) async fn send(&self, letter: Letter<'_>, now: Timestamp) -> Attempted {
        let watch = Stopwatch::start();
        let may_end = letter.may_end;
        let answered = match address::read(letter.url, letter.insecure) {
            Ok(url) => tokio::time::timeout(self.time_max, self.exchange(url, letter))
                .await
                .unwrap_or(Err(Failure::TimedOut.into())),
            Err(_) => Err(Failure::UrlNotAllowed.into()),
        };
        let took = watch.elapsed();
        match answered {
            Ok(answer) => Attempted {
                outcome: answer.outcome(may_end, now),
                status: Some(answer.status.as_u16()),
                body: Some(answer.body),
                error: None,
                cause: None,
                took,
            },
            Err(Unanswered { failure, cause }) => Attempted {
                outcome: match failure {
                    Failure::UrlNotAllowed => SendOutcome::UrlNotAllowed,
                    Failure::Connect | Failure::TimedOut | Failure::Cut => SendOutcome::NotTaken {
                        retry_after_s: None,
                    },
                },
                status: None,
                body: None,
                error: Some(failure.word()),
                cause,
                took,
            },
        }
    }

    async fn exchange(&self, url: Url, letter: Letter<'_>) -> Result<Answer, Unanswered> {
        let client = self.client(letter.insecure).ok_or(Failure::Connect)?;
        let mut request = Request::new(Method::POST, url);
        *request.headers_mut() = letter.headers;
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, json);
        *request.body_mut() = Some(letter.body.into());
        let response = client.execute(request).await;
        read(response?).await
    }

    /// Made at its first use: most of a client's cost is reading the system's
    /// certificates.
    fn client(&self, insecure: bool) -> Option<&Client> {
        let cell = if insecure {
            &self.insecure
        } else {
            &self.public
        };
        if let Some(client) = cell.get() {
            return Some(client);
        }
        let built = guard::client(self.lookup.clone(), address::reach(insecure))
            .http1_only()
            .gzip(false)
            .connect_timeout(self.time_max)
            .pool_idle_timeout(IDLE_TIME_MAX)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_A_HOST)
            .http1_max_headers(RESPONSE_HEADERS_MAX)
            .build();
        match built {
            Ok(client) => Some(cell.get_or_init(|| client)),
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "no client for webhooks"
                );
                None
            }
        }
    }
}

impl Answer {
    fn outcome(&self, may_end: bool, now: Timestamp) -> SendOutcome {
        if self.status.is_success() {
            SendOutcome::Taken
        } else if may_end && self.status == StatusCode::GONE {
            SendOutcome::Gone
        } else {
            let retry_after = self.retry_after.as_ref();
            SendOutcome::NotTaken {
                retry_after_s: retry_after.and_then(|value| seconds_until(value, now)),
            }
        }
    }
}

/// Seconds, or a date.
fn seconds_until(value: &HeaderValue, now: Timestamp) -> Option<i64> {
    let text = value.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(seconds.into());
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    Some((date.timestamp().as_millisecond() - now.0).div_euclid(1000))
}

async fn read(mut response: Response) -> Result<Answer, Unanswered> {
    let status = response.status();
    let retry_after = response.headers_mut().remove(RETRY_AFTER);
    let mut body = Vec::new();
    while body.len() < BODY_BYTES_KEPT
        && let Some(chunk) = response.chunk().await?
    {
        let room = BODY_BYTES_KEPT - body.len();
        body.extend(chunk.iter().take(room));
    }
    Ok(Answer {
        status,
        retry_after,
        body: text(&body),
    })
}

/// What can be shown of a body, without half a character at its end.
fn text(body: &[u8]) -> String {
    let whole = match std::str::from_utf8(body) {
        Err(error) if error.error_len().is_none() => body.get(..error.valid_up_to()),
        _ => None,
    };
    String::from_utf8_lossy(whole.unwrap_or(body)).into_owned()
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            cause: None,
        }
    }
}

impl From<reqwest::Error> for Unanswered {
    fn from(error: reqwest::Error) -> Self {
        let failure = if guard::refused_address(&error).is_some() {
            Failure::UrlNotAllowed
        } else if error.is_timeout() {
            Failure::TimedOut
        } else if error.is_builder() || error.is_connect() {
            Failure::Connect
        } else {
            Failure::Cut
        };
        Self {
            failure,
            cause: Some(guard::sentence(&error)),
        }
    }
}

#[cfg(test)]
mod tests;
