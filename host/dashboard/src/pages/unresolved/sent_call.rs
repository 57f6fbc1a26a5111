//! The request of an unknown outcome, in words.

use crate::path_text::path_segment;
use crate::text::{TimeText, duration_us, words};
use host_application::booking::open_outcome::SentCall;
use host_domain::request_log::LoggedCall;
use host_domain::time::Timestamp;

/// The request that was sent to the other side.
pub(super) struct SentCallText {
    /// Function of the plugin, with its duration and outcome.
    pub(super) function: String,
    /// Time at which the call began.
    pub(super) at: TimeText,
    /// HTTP requests: method, address and path, with the status or the failure.
    pub(super) exchanges: Vec<(String, String)>,
    /// Page of the API call that caused it.
    pub(super) request: Option<(String, String)>,
}

impl SentCallText {
    pub(super) fn new(sent: SentCall, now: Timestamp) -> Self {
        let call = sent.call;
        let exchange = |exchange: LoggedCall| {
            let answer = match exchange.status {
                Some(status) => status.to_string(),
                None => words(&exchange.outcome),
            };
            let answer = format!("{answer} after {}", duration_us(exchange.duration_us));
            (exchange.target, answer)
        };
        Self {
            function: format!(
                "{}.{}, {} after {}",
                call.capability,
                call.function,
                words(&call.outcome).to_lowercase(),
                duration_us(call.duration_us)
            ),
            at: TimeText::new(call.started_at, now),
            exchanges: sent.exchanges.into_iter().map(exchange).collect(),
            request: sent.request_id.map(|id| {
                let path = format!("/requests/{}", path_segment(&id));
                (path, id)
            }),
        }
    }
}
