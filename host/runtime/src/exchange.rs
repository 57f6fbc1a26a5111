//! The request, response and error of one exchange with a supplier. The egress and the recorded
//! exchanges share them.

use crate::call_log::ExchangeOutcome;
use bytes::Bytes;
use http::{HeaderMap, Method};
use url::Url;

/// A request that may be sent.
#[derive(Debug, Clone)]
pub(crate) struct OutboundRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// A complete, decompressed response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UpstreamResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Errors of an exchange, in one sentence for operators.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExchangeError {
    #[error("{0}")]
    Denied(String),
    #[error("{0}")]
    NotSent(String),
    #[error("{0}")]
    TimedOut(String),
    #[error("{0}")]
    ConnectionLost(String),
    /// The response exceeds a limit, which `setting` changes.
    #[error("the response is larger than its limit of {bytes_max} bytes ({setting})")]
    TooLarge {
        bytes_max: usize,
        setting: &'static str,
    },
}

impl ExchangeError {
    /// Returns whether it is certain that the supplier received nothing.
    pub(crate) const fn is_unsent(&self) -> bool {
        matches!(self, Self::Denied(_) | Self::NotSent(_))
    }

    pub(crate) const fn outcome(&self) -> ExchangeOutcome {
        match self {
            Self::Denied(_) => ExchangeOutcome::Denied,
            Self::NotSent(_) => ExchangeOutcome::NotSent,
            Self::TimedOut(_) => ExchangeOutcome::TimedOut,
            Self::ConnectionLost(_) => ExchangeOutcome::ConnectionLost,
            Self::TooLarge { .. } => ExchangeOutcome::TooLarge,
        }
    }
}
