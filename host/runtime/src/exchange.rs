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

impl OutboundRequest {
    /// Returns whether the request may change something at the supplier.
    pub(crate) fn is_mutating(&self) -> bool {
        self.method != Method::GET && self.method != Method::HEAD
    }
}

/// A complete, decompressed response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UpstreamResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExchangeError {
    Denied(String),
    NotSent(String),
    TimedOut(String),
    ConnectionLost(String),
    TooLarge(usize),
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
            Self::TooLarge(_) => ExchangeOutcome::TooLarge,
        }
    }

    pub(crate) fn detail(&self) -> &str {
        match self {
            Self::Denied(reason)
            | Self::NotSent(reason)
            | Self::TimedOut(reason)
            | Self::ConnectionLost(reason) => reason,
            Self::TooLarge(_) => "the response is larger than the limit",
        }
    }
}
