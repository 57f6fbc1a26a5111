//! Context and outbound requests of one call. They are shared by the guest's store and the egress.

use crate::exchange::{ExchangeError, UpstreamResponse};
use host_domain::owner::Mode;
use host_domain::personal::PersonalWords;
use host_domain::supplier::Capability;
use http::Method;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use tokio::time::Instant;

/// The part of a call's state that outlives its store: the call's context, its outbound requests
/// and its peak memory.
pub(crate) struct CallScope {
    pub(crate) capability: Option<Capability>,
    pub(crate) origin: CallOrigin,
    pub(crate) deadline: Instant,
    pub(crate) time_limit: TimeLimit,
    pub(crate) sent: OutboundTracker,
    /// Peak linear memory in bytes. Linear memory never shrinks.
    pub(crate) memory_bytes: AtomicUsize,
}

/// Origin and subject of a call, for its records.
#[derive(Default)]
pub(crate) struct CallOrigin {
    pub(crate) request_id: String,
    pub(crate) organization: String,
    pub(crate) mode: Option<Mode>,
    pub(crate) booking: Option<String>,
    pub(crate) personal: PersonalWords,
}

impl CallScope {
    pub(crate) fn new(
        capability: Option<Capability>,
        origin: CallOrigin,
        (deadline, time_limit): (Instant, TimeLimit),
    ) -> Self {
        Self {
            capability,
            origin,
            deadline,
            time_limit,
            sent: OutboundTracker::default(),
            memory_bytes: AtomicUsize::new(0),
        }
    }
}

/// Limit that ends a call, in milliseconds after its start. Its text names the setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeLimit {
    /// The plugin's limit for one call.
    Call { ms: u64 },
    /// The deadline of the request that makes the call.
    Request { ms: u64 },
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { ms } => {
                write!(f, "the limit of {ms} ms for one call (limits.call_ms_max)")
            }
            Self::Request { ms } => write!(
                f,
                "the deadline of the request, {ms} ms after the call began (limits.request_s of the gateway)"
            ),
        }
    }
}

/// Effects that a request may have at the supplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestEffect {
    /// It changes nothing, as the plugin states for this request.
    StatedRead,
    /// It should change nothing, because its method is GET or HEAD.
    SafeMethod,
    /// It may change something.
    Change,
}

impl RequestEffect {
    pub(crate) fn of_method(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD => Self::SafeMethod,
            _ => Self::Change,
        }
    }
}

/// The host's own count of requests that may have reached the supplier, and facts about their
/// responses.
#[derive(Debug, Default)]
pub(crate) struct OutboundTracker {
    /// Whether the last exchange failed in a way that only a person can correct.
    requires_correction: AtomicBool,
    /// Whether the last exchange ended with a response.
    is_last_answered: AtomicBool,
    has_response: AtomicBool,
    /// Whether the last response rejected the credentials of the request.
    is_last_unauthorized: AtomicBool,
    /// The limit that a response exceeded, with its setting.
    exceeded_limit: OnceLock<String>,
    closed: AtomicBool,
    tried: AtomicU32,
    any: AtomicU32,
    changing: AtomicU32,
    /// Number of changing requests to which the supplier responded.
    answered_changes: AtomicU32,
    /// Whether the supplier responded to a changing request with a status of 5xx.
    has_failed_change: AtomicBool,
}

impl OutboundTracker {
    /// Records that a request is about to be sent; until [`mark_unsent`](Self::mark_unsent) it
    /// counts as possibly delivered. Returns `false` if the call is already closed and the request
    /// must not be sent.
    #[must_use]
    pub(crate) fn try_begin(&self, effect: RequestEffect) -> bool {
        // All operations use one total order. Either this function sees that the call is closed, or
        // the closing side sees this request.
        let (any, changing) = counts(effect);
        self.any.fetch_add(any, Ordering::SeqCst);
        self.changing.fetch_add(changing, Ordering::SeqCst);
        let open = !self.closed.load(Ordering::SeqCst);
        if !open {
            self.mark_unsent(effect);
        }
        open
    }

    /// Closes the call, even if its guest is still computing. No request is sent after this point,
    /// so the counts are final.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    /// Removes a request from the counts because it is certain that it was not sent.
    pub(crate) fn mark_unsent(&self, effect: RequestEffect) {
        let (any, changing) = counts(effect);
        self.any.fetch_sub(any, Ordering::SeqCst);
        self.changing.fetch_sub(changing, Ordering::SeqCst);
    }

    /// Reserves one of the call's requests. Returns `false` if none is left.
    pub(crate) fn try_reserve(&self, requests_max: u32) -> bool {
        self.tried.fetch_add(1, Ordering::Relaxed) < requests_max
    }

    pub(crate) fn attempted_requests(&self) -> u32 {
        self.tried.load(Ordering::Relaxed)
    }

    /// Records the result of an exchange. If the call fails after it, the same call fails again
    /// after the same response: credentials that the supplier rejects, or a currency that was not
    /// requested. A supplier that is overloaded or broken may respond differently later.
    pub(crate) fn record_result(
        &self,
        effect: RequestEffect,
        result: &Result<UpstreamResponse, ExchangeError>,
    ) {
        if let Ok(response) = result
            && effect == RequestEffect::Change
        {
            // A redirected request had no effect, and the plugin repeats it elsewhere.
            if matches!(response.status, 307 | 308) {
                self.changing.fetch_sub(1, Ordering::SeqCst);
            } else {
                self.answered_changes.fetch_add(1, Ordering::SeqCst);
            }
            let is_failure = response.status >= 500;
            self.has_failed_change
                .fetch_or(is_failure, Ordering::SeqCst);
        }
        let requires_correction = match result {
            Ok(response) => !matches!(response.status, 408 | 425 | 429 | 500..=599),
            Err(ExchangeError::Denied(_)) => true,
            Err(error @ ExchangeError::TooLarge { .. }) => {
                self.exceeded_limit.get_or_init(|| error.to_string());
                true
            }
            Err(
                ExchangeError::NotSent(_)
                | ExchangeError::TimedOut(_)
                | ExchangeError::ConnectionLost(_),
            ) => false,
        };
        self.requires_correction
            .store(requires_correction, Ordering::Relaxed);
        let is_answered = result.is_ok();
        self.is_last_answered.store(is_answered, Ordering::Relaxed);
        self.has_response.fetch_or(is_answered, Ordering::Relaxed);
        let is_unauthorized = matches!(result, Ok(response) if response.status == 401);
        self.is_last_unauthorized
            .store(is_unauthorized, Ordering::Relaxed);
    }

    /// Returns whether somebody must correct something before a call that failed can succeed: its
    /// last exchange says so, or it failed without trying to send anything, for example because it
    /// cannot read its settings or its own token.
    pub(crate) fn requires_correction(&self) -> bool {
        self.requires_correction.load(Ordering::Relaxed) || self.attempted_requests() == 0
    }

    /// Returns whether the supplier responded to the last request. Without such a response, the
    /// guest cannot know that the supplier does not have something.
    pub(crate) fn is_last_exchange_answered(&self) -> bool {
        self.is_last_answered.load(Ordering::Relaxed)
    }

    /// Returns whether the supplier responded to any request.
    pub(crate) fn has_response(&self) -> bool {
        self.has_response.load(Ordering::Relaxed)
    }

    /// Returns whether the only request of the call was rejected because of its credentials. Missing
    /// rights (403) may have other reasons than the gateway's account.
    pub(crate) fn is_unauthorized(&self) -> bool {
        self.is_last_unauthorized.load(Ordering::Relaxed) && self.attempted_requests() == 1
    }

    /// Returns the limit that a response exceeded.
    pub(crate) fn exceeded_limit(&self) -> Option<&str> {
        self.exceeded_limit.get().map(String::as_str)
    }

    /// Returns whether any request may have reached the supplier, except those of which the plugin
    /// states that they change nothing.
    pub(crate) fn has_sent(&self) -> bool {
        self.any.load(Ordering::SeqCst) > 0
    }

    /// Returns whether a request that may change something may have reached the supplier.
    pub(crate) fn has_sent_mutation(&self) -> bool {
        self.sent_changes() > 0
    }

    /// Returns the number of requests that may change something and may have reached the supplier.
    pub(crate) fn sent_changes(&self) -> u32 {
        self.changing.load(Ordering::SeqCst)
    }

    /// Returns whether the supplier may have received a request that may change something, and has
    /// not responded to it.
    pub(crate) fn has_unanswered_change(&self) -> bool {
        self.answered_changes.load(Ordering::SeqCst) < self.sent_changes()
    }

    /// Returns whether a rate limit may be reported: at most one request that may change something was
    /// sent, and the supplier responded to it otherwise than with a failure of its own.
    pub(crate) fn may_be_rate_limited(&self) -> bool {
        let has_failed = self.has_failed_change.load(Ordering::SeqCst);
        self.sent_changes() <= 1 && !self.has_unanswered_change() && !has_failed
    }
}

/// Returns what a request adds to the counts of all requests and of those that may change something.
/// A request of which the plugin states that it changes nothing counts as none.
const fn counts(effect: RequestEffect) -> (u32, u32) {
    match effect {
        RequestEffect::StatedRead => (0, 0),
        RequestEffect::SafeMethod => (1, 0),
        RequestEffect::Change => (1, 1),
    }
}
