//! Attempts to deliver an event.

use crate::time::Timestamp;
use std::collections::BTreeMap;

/// One delivery attempt with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// The attempt's number within a generation, from 1.
    pub number: i64,
    /// The headers of the request by name. They contain the event's signatures, but no secret.
    pub request_headers: BTreeMap<String, String>,
    /// The status code of the endpoint's response, if there was one.
    pub response_status: Option<u16>,
    /// The start of the response body, without NUL characters, which PostgreSQL cannot store.
    pub response_body: Option<String>,
    /// The reason that there is no response, as an identifier such as `timeout`.
    pub error: Option<String>,
    pub duration_ms: i64,
    pub created_at: Timestamp,
}
